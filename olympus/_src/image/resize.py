"""Images of other sizes: resized, scaled and moved."""

from __future__ import annotations

import enum
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.sizes import check_elements
from olympus._src.image import resize_kernels
from olympus._src.lax import sizes
from olympus._src.lax.linalg import matrices
from olympus._src.lax.precision import Precision, PrecisionLike
from olympus._src.numpy import contractions, index_routines, manipulation, promotion

aval_of = avals.aval_of


class ResizeMethod(enum.Enum):
    """Methods of interpolation; see `resize`."""

    NEAREST, LINEAR, LANCZOS3, LANCZOS5, CUBIC, CUBIC_PYTORCH, AREA = range(7)

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """The method of a name, such as "linear", "bicubic" or "lanczos3".

        Args:
          s: the name.

        Raises:
          ValueError: there is no such method.

        Example:
          >>> from olympus import image
          >>> image.ResizeMethod.from_string("bilinear").name
          'LINEAR'
        """
        method = _METHODS.get(s)
        if method is None:
            raise ValueError(
                f'image.ResizeMethod: Unknown resize method "{s}"; take one of '
                f"{', '.join(sorted(_METHODS))}"
            )
        return method


_METHODS = {
    "nearest": ResizeMethod.NEAREST,
    "linear": ResizeMethod.LINEAR,
    "bilinear": ResizeMethod.LINEAR,
    "trilinear": ResizeMethod.LINEAR,
    "triangle": ResizeMethod.LINEAR,
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    "cubic": ResizeMethod.CUBIC,
    "bicubic": ResizeMethod.CUBIC,
    "tricubic": ResizeMethod.CUBIC,
    "cubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "bicubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "area": ResizeMethod.AREA,
}
_NAMES = {
    ResizeMethod.LINEAR: "linear",
    ResizeMethod.LANCZOS3: "lanczos3",
    ResizeMethod.LANCZOS5: "lanczos5",
    ResizeMethod.CUBIC: "cubic",
    ResizeMethod.CUBIC_PYTORCH: "cubic-pytorch",
    ResizeMethod.AREA: "area",
}


def _checked_shape(name: str, image: Any, shape: Any) -> tuple[int, ...]:
    if not avals.is_array_like(image):
        raise TypeError(
            f"image.{name}: image must be an array, got {type(image)}; convert it with "
            "numpy.asarray"
        )
    out_shape = sizes.canonicalize_shape(shape, f"image.{name}")
    if len(out_shape) != aval_of(image).ndim:
        raise ValueError(
            f"image.{name}: shape must have length equal to the number of dimensions "
            f"of the image, got {out_shape} for {aval_of(image).short()}; name every "
            "axis"
        )
    check_elements(f"image.{name}", out_shape)
    return out_shape


def _method(method: Any) -> ResizeMethod:
    return ResizeMethod.from_string(method) if isinstance(method, str) else method


def _resize_by_weights(
    image: Any,
    shape: Sequence[int],
    axes: Sequence[int],
    scales: Sequence[Any],
    translations: Sequence[Any],
    method: ResizeMethod,
    antialias: bool,
    precision: Any,
) -> Any:
    (image,) = promotion.promote_inexact(image)
    dtype = aval_of(image).dtype
    real = dtype if dtypes.kind(dtype) == "f" else matrices.real_dtype(dtype)
    # Half precision has too few places even for the numbers of samples.
    exact = real if dtypes.itemsize_bits(real) >= 32 else np.dtype(np.float32)
    order = list(range(aval_of(image).ndim))  # the axes of the array as it lies
    for axis, scale, translation in zip(axes, scales, translations, strict=True):
        weights = resize_kernels.weights(
            _NAMES[method],
            aval_of(image).shape[order.index(axis)],
            shape[axis],
            promotion.cast(scale, exact, False),
            promotion.cast(translation, exact, False),
            antialias,
        )
        weights = promotion.cast(weights, dtype, False)
        place = order.index(axis)
        # New axes come first, but for that of the last product, which comes last.
        is_first = place == 0 or axis != axes[-1]
        pair = (weights, image) if is_first else (image, weights)
        axes_of_pair = (0, place) if is_first else (place, 0)
        image = contractions.tensordot(*pair, axes_of_pair, precision=precision)
        del order[place]
        order.insert(0 if is_first else len(order), axis)
    if order != sorted(order):  # once, of the result
        image = manipulation.transpose(image, [order.index(a) for a in sorted(order)])
    return image


# -- resize ----------------------------------------------------------------------------


def resize(
    image: ArrayLike,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: PrecisionLike = Precision.HIGHEST,
) -> Array:
    """An image resampled to another size.

    The methods: "nearest"; "linear" (also "bilinear", "trilinear", "triangle"); "cubic"
    (also "bicubic", "tricubic"), by Keys' kernel; "lanczos3" and "lanczos5", windowed
    sincs of these radii; "area", the mean over the cell of each new sample;
    "cubic-pytorch" (also "bicubic-pytorch"), which differs from "cubic" without
    antialiasing: there its kernel is steeper, and edges are repeated.

    Args:
      image: array.
      shape: the new shape, of as many axes; axes whose size stays are left alone.
      method: a `ResizeMethod` or its name.
      antialias: widen the kernel where samples get fewer, so that all of them count.
      precision: how exactly products are summed, see `lax.Precision`.

    Returns:
      An array of that shape; floating, except for the method "nearest", which keeps the
      dtype.

    Raises:
      ValueError: the shape has another number of axes, or there is no such method.
      TypeError: the image is not an array.

    Source: Keys, Cubic convolution interpolation, 1981, for "cubic".

    Example:
      >>> import numpy as np
      >>> from olympus import image
      >>> print(image.resize(np.array([0.0, 1.0, 2.0, 3.0], "float32"), (2,), "area"))
      [0.5 2.5]
    """
    out_shape = _checked_shape("resize", image, shape)
    chosen = _method(method)
    if chosen is ResizeMethod.NEAREST:
        return _nearest(image, shape=out_shape)
    return _resize(
        image,
        shape=out_shape,
        method=chosen,
        antialias=bool(antialias),
        precision=precision,
    )


@promotion.program(1, name="resize")
def _resize(
    image: Any, *, shape: Any, method: Any, antialias: bool, precision: Any
) -> Any:
    own = aval_of(image).shape
    axes = [i for i, (m, n) in enumerate(zip(own, shape, strict=True)) if m != n]
    scales = [shape[i] / own[i] if own[i] else 1.0 for i in axes]
    return _resize_by_weights(
        image, shape, axes, scales, [0.0] * len(axes), method, antialias, precision
    )


@promotion.program(1, name="resize")
def _nearest(image: Any, *, shape: Any) -> Any:
    for axis, count in enumerate(shape):
        size = aval_of(image).shape[axis]
        if size == count:
            continue
        if not size:
            raise ValueError(
                f"image.resize: an image without samples has no nearest one, got "
                f"{aval_of(image).short()}"
            )
        # (j + 1/2) size / count, rounded down, in exact arithmetic.
        places = (2 * np.arange(count) + 1) * size // (2 * max(count, 1))
        image = index_routines.take(image, places.astype(np.int32), axis=axis)
    return image


# -- scale and translate ---------------------------------------------------------------


def scale_and_translate(
    image: ArrayLike,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: ArrayLike,
    translation: ArrayLike,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: PrecisionLike = Precision.HIGHEST,
) -> Array:
    """An image scaled and then moved, in a frame of a given shape.

    What lies at x of the input lies at `x * scale + translation` of the result, where
    sample i is the cell from i to i + 1. Places that show nothing of the input are 0.
    The result can be differentiated by the image, the scale and the translation.

    Args:
      image: array.
      shape: the new shape, of as many axes.
      spatial_dims: the axes that are scaled and moved; others keep their size.
      scale, translation: vectors with a number for each of these axes.
      method: as in `resize`, except for "nearest".
      antialias: widen the kernel where samples get fewer, so that all of them count.
      precision: how exactly products are summed, see `lax.Precision`.

    Returns:
      A floating array of that shape.

    Raises:
      ValueError: numbers of axes do not agree, an axis is named twice or does not
        exist, or the method is "nearest".
      TypeError: an argument is not an array.

    Example:
      >>> import numpy as np
      >>> from olympus import image
      >>> line, one = np.array([1.0, 2.0, 3.0], "float32"), np.ones(1, "float32")
      >>> print(image.scale_and_translate(line, (4,), (0,), one, one, "linear"))
      [0. 1. 2. 3.]
    """
    out_shape = _checked_shape("scale_and_translate", image, shape)
    chosen = _method(method)
    if chosen is ResizeMethod.NEAREST:
        raise ValueError(
            "image.scale_and_translate: method must not be nearest, which is not "
            "supported here; take linear, or image.resize"
        )
    axes = _spatial_axes(image, out_shape, spatial_dims)
    for name, x in (("scale", scale), ("translation", translation)):
        if not avals.is_array_like(x):
            raise TypeError(
                f"image.scale_and_translate: {name} must be an array, got {type(x)}; "
                "convert it with numpy.asarray"
            )
        if aval_of(x).shape != (len(axes),):
            raise ValueError(
                f"image.scale_and_translate: {name} must have one number for each of "
                f"the {len(axes)} spatial_dims, got {aval_of(x).short()}"
            )
    return _scale_and_translate(
        image,
        scale,
        translation,
        shape=out_shape,
        axes=axes,
        method=chosen,
        antialias=bool(antialias),
        precision=precision,
    )


def _spatial_axes(image: Any, shape: Any, spatial_dims: Any) -> tuple[int, ...]:
    where, own = "image.scale_and_translate", aval_of(image).shape
    axes = tuple(
        [
            sizes.canonicalize_axis(operator.index(a), len(own), where)
            for a in spatial_dims
        ]
    )
    if len(set(axes)) != len(axes):
        raise ValueError(f"{where}: spatial_dims must differ, got {spatial_dims}")
    for i, (m, n) in enumerate(zip(own, shape, strict=True)):
        if m != n and i not in axes:
            raise ValueError(
                f"{where}: only spatial_dims may change their size, got {m} and {n} "
                f"for axis {i}; add it to {tuple(spatial_dims)}"
            )
    return axes


@promotion.program(3, name="scale_and_translate")
def _scale_and_translate(
    image: Any,
    scale: Any,
    translation: Any,
    *,
    shape: Any,
    axes: Any,
    method: Any,
    antialias: bool,
    precision: Any,
) -> Any:
    count = range(len(axes))
    return _resize_by_weights(
        image,
        shape,
        axes,
        [scale[i] for i in count],
        [translation[i] for i in count],
        method,
        antialias,
        precision,
    )
