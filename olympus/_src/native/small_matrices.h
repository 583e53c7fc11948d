/* LU factors of many small matrices, and solutions with them, as XLA calls them on CPUs.

   LAPACK takes one matrix after another. Here the same eliminations, with the same
   exchanges of rows, run on several matrices at once, each in one lane of vectors. */

#define LANES 8 /* matrices at once */
#define MOST 16 /* rows, and columns; `matrix_kernels.py` has the same */

typedef struct {
  const void *matrices, *sides;
  void *out;
  int32_t *pivots, *order;
  int64_t count;
  int n, m, is_transposed;
} Stack;

#define DEFINE_SMALL_MATRICES(NAME, T, INTEGER, FOR)                                     \
  /* One lane for each matrix. Comparisons set all bits of a lane of integers, or none. */ \
  typedef T NAME##_lanes __attribute__((vector_size(LANES * sizeof(T))));                \
  typedef INTEGER NAME##_flags __attribute__((vector_size(LANES * sizeof(T))));          \
  /* Lanes that are left over take the first matrix again. */                            \
  FOR static void NAME##_load(const T *x, int size, int used, NAME##_lanes *to) {        \
    for (int l = 0; l < LANES; l++) {                                                    \
      const T *from = x + (l < used ? l : 0) * size;                                     \
      for (int e = 0; e < size; e++) to[e][l] = from[e];                                 \
    }                                                                                    \
  }                                                                                      \
  FOR static void NAME##_store(T *x, int size, int used, const NAME##_lanes *from) {     \
    for (int l = 0; l < used; l++)                                                       \
      for (int e = 0; e < size; e++) x[l * size + e] = from[e][l];                       \
  }                                                                                      \
  /* The pivot is the first of the largest elements of a column; what is below one of 0  \
     stays as it is. */                                                                  \
  FOR static void NAME##_eliminate(NAME##_lanes *a, NAME##_flags *pivots, int n) {       \
    typedef NAME##_lanes Lanes;                                                          \
    typedef NAME##_flags Flags;                                                          \
    const Lanes zero = {0};                                                              \
    for (int k = 0; k < n; k++) {                                                        \
      Lanes *row = a + k * n;                                                            \
      Lanes largest = CHOOSE(row[k] < zero, -row[k], row[k]);                            \
      Flags pivot = (Flags){0} + k;                                                      \
      for (int i = k + 1; i < n; i++) {                                                  \
        const Lanes x = a[i * n + k], size = CHOOSE(x < zero, -x, x);                    \
        const Flags is_larger = size > largest;                                          \
        largest = CHOOSE(is_larger, size, largest);                                      \
        pivot = (is_larger & i) | (~is_larger & pivot);                                  \
      }                                                                                  \
      pivots[k] = pivot;                                                                 \
      for (int i = k + 1; i < n; i++) {                                                  \
        Lanes *other = a + i * n;                                                        \
        const Flags is_pivot = pivot == i;                                               \
        for (int j = 0; j < n; j++) {                                                    \
          const Lanes x = row[j], y = other[j];                                          \
          row[j] = CHOOSE(is_pivot, y, x);                                               \
          other[j] = CHOOSE(is_pivot, x, y);                                             \
        }                                                                                \
      }                                                                                  \
      const Lanes divisor = CHOOSE(row[k] == zero, zero + 1, row[k]);                    \
      for (int i = k + 1; i < n; i++) {                                                  \
        Lanes *below = a + i * n;                                                        \
        const Lanes factor = below[k] / divisor;                                         \
        below[k] = factor;                                                               \
        for (int j = k + 1; j < n; j++) below[j] -= factor * row[j];                     \
      }                                                                                  \
    }                                                                                    \
  }                                                                                      \
  FOR static void NAME##_factor(const Stack *s, int64_t start, int used) {               \
    NAME##_lanes a[MOST * MOST];                                                         \
    NAME##_flags pivots[MOST];                                                           \
    const int n = s->n;                                                                  \
    NAME##_load((const T *)s->matrices + start * n * n, n * n, used, a);                 \
    NAME##_eliminate(a, pivots, n);                                                      \
    NAME##_store((T *)s->out + start * n * n, n * n, used, a);                           \
    for (int l = 0; l < used; l++) {                                                     \
      int32_t *pivot = s->pivots + (start + l) * n, *order = s->order + (start + l) * n; \
      for (int i = 0; i < n; i++) order[i] = i;                                          \
      for (int i = 0; i < n; i++) {                                                      \
        const int32_t from = (int32_t)pivots[i][l], first = order[i];                    \
        pivot[i] = from;                                                                 \
        order[i] = order[from];                                                          \
        order[from] = first;                                                             \
      }                                                                                  \
    }                                                                                    \
  }                                                                                      \
  /* L U x = P b, or U' L' P x = b. */                                                   \
  FOR static void NAME##_solve(const Stack *s, int64_t start, int used) {                \
    NAME##_lanes a[MOST * MOST], x[MOST * MOST];                                         \
    const int n = s->n, m = s->m, is_transposed = s->is_transposed;                      \
    const int next_row = is_transposed ? 1 : n, next_column = is_transposed ? n : 1;     \
    const T *b = (const T *)s->sides + start * n * m;                                    \
    T *out = (T *)s->out + start * n * m;                                                \
    NAME##_load((const T *)s->matrices + start * n * n, n * n, used, a);                 \
    for (int l = 0; l < LANES; l++)                                                      \
      for (int i = 0; i < n; i++) {                                                      \
        const int64_t lane = l < used ? l : 0;                                           \
        const int from = is_transposed ? i : s->order[(start + lane) * n + i];           \
        for (int c = 0; c < m; c++) x[i * m + c][l] = b[(lane * n + from) * m + c];      \
      }                                                                                  \
    for (int step = 0; step < 2 * n; step++) {                                           \
      const int is_first = step < n, i = is_first ? step : 2 * n - 1 - step;             \
      for (int j = is_first ? 0 : i + 1; j < (is_first ? i : n); j++) {                  \
        const NAME##_lanes factor = a[i * next_row + j * next_column];                   \
        for (int c = 0; c < m; c++) x[i * m + c] -= factor * x[j * m + c];               \
      }                                                                                  \
      if (is_first == is_transposed) /* the diagonal is of U */                          \
        for (int c = 0; c < m; c++) x[i * m + c] /= a[i * n + i];                        \
    }                                                                                    \
    for (int l = 0; l < used; l++)                                                       \
      for (int i = 0; i < n; i++) {                                                      \
        const int to = is_transposed ? s->order[(start + l) * n + i] : i;                \
        for (int c = 0; c < m; c++) out[(l * n + to) * m + c] = x[i * m + c][l];         \
      }                                                                                  \
  }

/* x where flags are set and y elsewhere, within the functions above. */
#define CHOOSE(flags, x, y)                                                              \
  ((Lanes)(((flags) & (Flags)(x)) | (~(flags) & (Flags)(y))))

#pragma GCC push_options
#pragma GCC optimize("O3")

DEFINE_SMALL_MATRICES(lu_float, float, int32_t, ANY)
DEFINE_SMALL_MATRICES(lu_double, double, int64_t, ANY)
#ifdef WIDE
DEFINE_SMALL_MATRICES(lu_float_wide, float, int32_t, WIDE)
DEFINE_SMALL_MATRICES(lu_double_wide, double, int64_t, WIDE)
#else
#define lu_float_wide_factor lu_float_factor
#define lu_double_wide_factor lu_double_factor
#define lu_float_wide_solve lu_float_solve
#define lu_double_wide_solve lu_double_solve
#endif

#pragma GCC pop_options

typedef void HandleLanes(const Stack *, int64_t, int);

/* For any processor, for a wide one. */
static HandleLanes *const factors[2][2] = {{lu_float_factor, lu_float_wide_factor},
                                           {lu_double_factor, lu_double_wide_factor}};
static HandleLanes *const solvers[2][2] = {{lu_float_solve, lu_float_wide_solve},
                                           {lu_double_solve, lu_double_wide_solve}};

static void *handle_all(const Stack *stack, HandleLanes *handle) {
  for (int64_t start = 0; start < stack->count; start += LANES) {
    const int64_t left = stack->count - start;
    handle(stack, start, left < LANES ? (int)left : LANES);
  }
  return NULL;
}

/* How many there are in a stack, of which each has the last axes. */
static int64_t count_in(const Buffer *x, int axes) {
  int64_t count = 1;
  for (int64_t d = 0; d < x->rank - axes; d++) count *= x->dims[d];
  return count;
}

static int side_of(const Buffer *x) { return (int)x->dims[x->rank - 1]; }

static int are_small_matrices(const Buffer *x) {
  return (x->type == FLOAT || x->type == DOUBLE) && x->rank >= 2 &&
         x->dims[x->rank - 1] >= 1 && x->dims[x->rank - 1] <= MOST &&
         x->dims[x->rank - 2] == x->dims[x->rank - 1];
}

static int are_rows_of(const Buffer *x, const Buffer *matrices) {
  return x->type == INT32 && x->rank == matrices->rank - 1 &&
         side_of(x) == side_of(matrices) && count_in(x, 1) == count_in(matrices, 2);
}

static int are_sides_of(const Buffer *x, const Buffer *matrices) {
  return x->type == matrices->type && x->rank == matrices->rank &&
         x->dims[x->rank - 2] == side_of(matrices) && side_of(x) <= MOST &&
         count_in(x, 2) == count_in(matrices, 2);
}

/* Operand: matrices [..., n, n]. Results: factors in one [..., n, n], row i was exchanged
   with row pivots[i] [..., n], and the order of rows [..., n]. */
static void *factor_small(Call *call) {
  if (answer(call)) return NULL;
  const char *unknown = "olympus_small_lu: unknown operands";
  if (call->size < sizeof *call || call->operands.count != 1 || call->results.count != 3)
    return fail(call, unknown);
  const Buffer *x = call->operands.buffers[0];
  Buffer **results = call->results.buffers;
  if (!are_small_matrices(x) || !are_sides_of(results[0], x) ||
      !are_rows_of(results[1], x) || !are_rows_of(results[2], x))
    return fail(call, unknown);
  const Stack stack = {.matrices = x->data,
                       .out = results[0]->data,
                       .pivots = results[1]->data,
                       .order = results[2]->data,
                       .count = count_in(x, 2),
                       .n = side_of(x)};
  return handle_all(&stack, factors[x->type == DOUBLE][IS_WIDE != 0]);
}

/* Operands: factors and order of rows as above, right-hand sides [..., n, m]. */
static void *solve_small(Call *call, int is_transposed) {
  if (answer(call)) return NULL;
  const char *unknown = "olympus_small_lu_solve: unknown operands";
  if (call->size < sizeof *call || call->operands.count != 3 || call->results.count != 1)
    return fail(call, unknown);
  const Buffer *x = call->operands.buffers[0], *order = call->operands.buffers[1];
  const Buffer *b = call->operands.buffers[2], *out = call->results.buffers[0];
  if (!are_small_matrices(x) || !are_rows_of(order, x) || !are_sides_of(b, x) ||
      !are_sides_of(out, x))
    return fail(call, unknown);
  const Stack stack = {.matrices = x->data,
                       .sides = b->data,
                       .out = out->data,
                       .order = order->data,
                       .count = count_in(x, 2),
                       .n = side_of(x),
                       .m = side_of(b),
                       .is_transposed = is_transposed};
  for (int64_t i = 0; i < stack.count * stack.n; i++)
    if (stack.order[i] < 0 || stack.order[i] >= stack.n)
      return fail(call, "olympus_small_lu_solve: rows must be in an order of all");
  return handle_all(&stack, solvers[x->type == DOUBLE][IS_WIDE != 0]);
}

static void *solve_small_plain(Call *call) { return solve_small(call, 0); }
static void *solve_small_transposed(Call *call) { return solve_small(call, 1); }
