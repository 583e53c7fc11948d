/* Sums, products, maxima, minima and logarithms of sums of exponentials of all elements up
   to each one, as XLA calls them on CPUs, along the middle axis of an array
   [outer, n, inner].

   Elements are joined in blocks, and each with what all blocks before it come to, which
   sums keep in a wider type: errors of rounding do not add up over the axis. */

#define SEGMENT 32  /* elements that one chain of operations joins */
#define CHAINS 8    /* segments of a row that are joined beside one another */
#define COLUMNS 512 /* elements of rows along another axis that are joined at a time */

#define ADD(v, x) ((v) + (x))
#define MULTIPLY(v, x) ((v) * (x))
#define LARGER(v, x) ((x) > (v) || (x) != (x) ? (x) : (v)) /* NaN stays */
#define SMALLER(v, x) ((x) < (v) || (x) != (x) ? (x) : (v))

/* `NAME##_row`: of n elements that follow one another, backwards if `step` is -1.
   `NAME##_columns`: of n rows of m elements. `NAME`: of a whole array. T is the type, and
   WIDE that in which blocks are joined. */
#define DEFINE_PREFIXES(NAME, T, WIDE, JOIN, START)                                      \
  static void NAME##_row(const T *x, T *out, int64_t n, int64_t step) {                  \
    WIDE before = START;                                                                 \
    int64_t done = 0;                                                                    \
    for (; n - done >= SEGMENT * CHAINS; done += SEGMENT * CHAINS) {                     \
      const T *in = x + done * step;                                                     \
      T *to = out + done * step, v[CHAINS], offsets[CHAINS];                             \
      for (int c = 0; c < CHAINS; c++) v[c] = START;                                     \
      for (int64_t i = 0; i < SEGMENT; i++)                                              \
        for (int c = 0; c < CHAINS; c++) {                                               \
          v[c] = JOIN(v[c], in[(c * SEGMENT + i) * step]);                               \
          to[(c * SEGMENT + i) * step] = v[c];                                           \
        }                                                                                \
      for (int c = 0; c < CHAINS; c++) {                                                 \
        offsets[c] = (T)before;                                                          \
        before = JOIN(before, (WIDE)v[c]);                                               \
      }                                                                                  \
      for (int c = 0; c < CHAINS; c++) {                                                 \
        const T offset = offsets[c];                                                     \
        T *part = to + (step > 0 ? c * SEGMENT : -(c + 1) * SEGMENT + 1);                \
        for (int i = 0; i < SEGMENT; i++) part[i] = JOIN(offset, part[i]);               \
      }                                                                                  \
    }                                                                                    \
    while (done < n) {                                                                   \
      const int64_t end = n - done < SEGMENT ? n : done + SEGMENT;                       \
      const T offset = (T)before;                                                        \
      T v = START;                                                                       \
      for (; done < end; done++) {                                                       \
        v = JOIN(v, x[done * step]);                                                     \
        out[done * step] = JOIN(offset, v);                                              \
      }                                                                                  \
      before = JOIN(before, (WIDE)v);                                                    \
    }                                                                                    \
  }                                                                                      \
  static void NAME##_columns(const T *x, T *out, int64_t n, int64_t m, int64_t stride) { \
    WIDE before[COLUMNS];                                                                \
    T offsets[COLUMNS], v[COLUMNS];                                                      \
    for (int64_t c = 0; c < m; c++) before[c] = START;                                   \
    for (int64_t start = 0; start < n; start += SEGMENT) {                               \
      const int64_t end = n - start < SEGMENT ? n : start + SEGMENT;                     \
      for (int64_t c = 0; c < m; c++) {                                                  \
        offsets[c] = (T)before[c];                                                       \
        v[c] = START;                                                                    \
      }                                                                                  \
      for (int64_t i = start; i < end; i++) {                                            \
        const T *restrict in = x + i * stride;                                           \
        T *restrict to = out + i * stride;                                               \
        for (int64_t c = 0; c < m; c++) {                                                \
          v[c] = JOIN(v[c], in[c]);                                                      \
          to[c] = JOIN(offsets[c], v[c]);                                                \
        }                                                                                \
      }                                                                                  \
      for (int64_t c = 0; c < m; c++) before[c] = JOIN(before[c], (WIDE)v[c]);           \
    }                                                                                    \
  }                                                                                      \
  static void NAME(const void *data, void *result, const int64_t *dims, int reverse) {   \
    const int64_t n = dims[1], inner = dims[2];                                          \
    for (int64_t k = 0; k < dims[0]; k++) {                                              \
      const T *x = (const T *)data + k * n * inner;                                      \
      T *out = (T *)result + k * n * inner;                                              \
      const int64_t last = reverse ? n - 1 : 0;                                          \
      if (inner == 1) {                                                                  \
        NAME##_row(x + last, out + last, n, reverse ? -1 : 1);                           \
        continue;                                                                        \
      }                                                                                  \
      for (int64_t c = 0; c < inner; c += COLUMNS) {                                     \
        const int64_t at = last * inner + c, m = inner - c;                              \
        NAME##_columns(x + at, out + at, n, m < COLUMNS ? m : COLUMNS,                   \
                       reverse ? -inner : inner);                                        \
      }                                                                                  \
    }                                                                                    \
  }

#pragma GCC push_options
#pragma GCC optimize("O3")

/* Integers wrap around, which only those without a sign may do in C. */
DEFINE_PREFIXES(sum_float, float, double, ADD, 0)
DEFINE_PREFIXES(sum_double, double, long double, ADD, 0)
DEFINE_PREFIXES(sum_32, uint32_t, uint32_t, ADD, 0)
DEFINE_PREFIXES(sum_64, uint64_t, uint64_t, ADD, 0)
DEFINE_PREFIXES(product_float, float, float, MULTIPLY, 1)
DEFINE_PREFIXES(product_double, double, double, MULTIPLY, 1)
DEFINE_PREFIXES(product_32, uint32_t, uint32_t, MULTIPLY, 1)
DEFINE_PREFIXES(product_64, uint64_t, uint64_t, MULTIPLY, 1)
DEFINE_PREFIXES(max_float, float, float, LARGER, -__builtin_inff())
DEFINE_PREFIXES(max_double, double, double, LARGER, -__builtin_inf())
DEFINE_PREFIXES(max_32, int32_t, int32_t, LARGER, INT32_MIN)
DEFINE_PREFIXES(max_64, int64_t, int64_t, LARGER, INT64_MIN)
DEFINE_PREFIXES(min_float, float, float, SMALLER, __builtin_inff())
DEFINE_PREFIXES(min_double, double, double, SMALLER, __builtin_inf())
DEFINE_PREFIXES(min_32, int32_t, int32_t, SMALLER, INT32_MAX)
DEFINE_PREFIXES(min_64, int64_t, int64_t, SMALLER, INT64_MAX)

/* log(exp x + ... ) of the elements up to each one, as the largest of them and the
   logarithm of what the others come to beside it: `others` is the sum of exp(x - largest)
   of all but one that is the largest, and -1 before the first element. */
#define DEFINE_LOG_SUMS(NAME, T, WIDE)                                                   \
  static void NAME(const void *data, void *result, const int64_t *dims, int reverse) {   \
    const int64_t n = dims[1], inner = dims[2];                                          \
    const int64_t step = reverse ? -inner : inner, last = reverse ? (n - 1) * inner : 0; \
    for (int64_t k = 0; k < dims[0]; k++)                                                \
      for (int64_t c = 0; c < inner; c++) {                                              \
        const T *x = (const T *)data + k * n * inner + last + c;                         \
        T *out = (T *)result + k * n * inner + last + c;                                 \
        double largest = -__builtin_inf();                                               \
        WIDE others = -1;                                                                \
        for (int64_t i = 0; i < n; i++) {                                                \
          const double v = x[i * step];                                                  \
          if (v > largest) {                                                             \
            others = (1 + others) * exp(largest - v);                                    \
            largest = v;                                                                 \
          } else {                                                                       \
            others += v == largest ? 1 : exp(v - largest);                               \
          }                                                                              \
          out[i * step] = (T)(largest + log1p((double)others));                          \
        }                                                                                \
      }                                                                                  \
  }

DEFINE_LOG_SUMS(log_sum_float, float, double)
DEFINE_LOG_SUMS(log_sum_double, double, long double)

#pragma GCC pop_options

typedef void (*Prefixes)(const void *, void *, const int64_t *, int);

static const Prefixes prefixes[][4] = {
    {sum_float, sum_double, sum_32, sum_64},
    {product_float, product_double, product_32, product_64},
    {max_float, max_double, max_32, max_64},
    {min_float, min_double, min_32, min_64},
    {log_sum_float, log_sum_double, NULL, NULL},
};

/* Operand and result: [outer, n, inner] of one type. */
static void *fold_prefixes(Call *call, int operation, int reverse) {
  if (answer(call)) return NULL;
  const int types[] = {FLOAT, DOUBLE, INT32, INT64};
  if (call->size < sizeof *call || call->operands.count != 1 || call->results.count != 1)
    return fail(call, "prefixes: unknown operands");
  const Buffer *x = call->operands.buffers[0], *out = call->results.buffers[0];
  for (int k = 0; k < 4; k++)
    if (x->type == types[k] && out->type == types[k] && x->rank == 3 && out->rank == 3 &&
        prefixes[operation][k] != NULL) {
      prefixes[operation][k](x->data, out->data, x->dims, reverse);
      return NULL;
    }
  return fail(call, "prefixes: unknown types");
}

#define DEFINE_KERNELS(NAME, OPERATION)                                                  \
  static void *NAME(Call *call) { return fold_prefixes(call, OPERATION, 0); }            \
  static void *NAME##_reverse(Call *call) { return fold_prefixes(call, OPERATION, 1); }

DEFINE_KERNELS(cumsum, 0)
DEFINE_KERNELS(cumprod, 1)
DEFINE_KERNELS(cummax, 2)
DEFINE_KERNELS(cummin, 3)
DEFINE_KERNELS(cumlogsumexp, 4)
