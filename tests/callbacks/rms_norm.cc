// Rows divided by their root mean square, and the derivative of that.

#include <cmath>
#include <cstdint>
#include <string_view>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

static ffi::Error RmsNorm(float eps, ffi::Buffer<ffi::F32> x,
                          ffi::ResultBuffer<ffi::F32> y,
                          ffi::ResultBuffer<ffi::F32> scale) {
  if (x.dimensions().size() == 0) {
    return ffi::Error::InvalidArgument("RmsNorm: x must have an axis");
  }
  const int64_t n = x.dimensions().back();
  const int64_t rows = n == 0 ? 0 : x.element_count() / n;
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x.typed_data() + r * n;
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += in[i] * in[i];
    const float factor = 1 / std::sqrt(sum / n + eps);
    scale->typed_data()[r] = factor;
    for (int64_t i = 0; i < n; ++i) y->typed_data()[r * n + i] = in[i] * factor;
  }
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(RmsNormHandler, RmsNorm,
                              ffi::Ffi::Bind()
                                  .Attr<float>("eps")
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());

// Succeeds if all attributes arrive as they were given.
static ffi::Error CheckAttributes(ffi::Span<const int64_t> sizes,
                                  ffi::Span<const float> weights,
                                  std::string_view name, bool flag, int64_t big,
                                  double wide, uint8_t letter,
                                  ffi::Dictionary options,
                                  ffi::ResultBuffer<ffi::S32> out) {
  auto depth = options.get<int64_t>("depth");
  const bool fits = sizes.size() == 2 && sizes[1] == 5 && weights.size() == 3 &&
                    weights[2] == 2.5f && name == "a \"name\"" && flag &&
                    big == (int64_t{1} << 40) && wide == 0.1 && letter == 'L' &&
                    depth.has_value() && *depth == 7;
  out->typed_data()[0] = fits;
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(CheckAttributesHandler, CheckAttributes,
                              ffi::Ffi::Bind()
                                  .Attr<ffi::Span<const int64_t>>("sizes")
                                  .Attr<ffi::Span<const float>>("weights")
                                  .Attr<std::string_view>("name")
                                  .Attr<bool>("flag")
                                  .Attr<int64_t>("big")
                                  .Attr<double>("wide")
                                  .Attr<uint8_t>("letter")
                                  .Attr<ffi::Dictionary>("options")
                                  .Ret<ffi::Buffer<ffi::S32>>());
