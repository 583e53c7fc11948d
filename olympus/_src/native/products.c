/* Products of sparse matrices with dense arrays, as XLA calls them on CPUs; `prefixes.h`
   has cumulative sums and their kind, `small_matrices.h` factors of small matrices.

   Two kernels of products: of rows of elements (CSR), and of elements in any order (COO). Both skip
   elements whose positions lie outside, and add those of one position. Rows of the result
   are shared out to the threads of the program, and each row is added in the elements'
   order, so that the result does not depend on how many threads there are.

   What XLA hands to a kernel is declared here, as far as it is read: the headers come with
   jaxlib, which is not there while this is built. The parts declared have been the same
   since version 0.2 of that interface; sizes are checked at each call. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 4 /* of the kernels' operands; `__init__.py` has the same */

/* ---- what XLA hands over ------------------------------------------------------------ */

typedef struct Extension {
  size_t size;
  int kind; /* 1: the call asks for the kernel's facts */
  struct Extension *next;
} Extension;

typedef struct {
  size_t size;
  Extension *extensions;
  int major, minor;
} Version;

typedef struct {
  size_t size;
  Version version;
  uint32_t traits;
} Facts;

typedef struct {
  Extension base;
  Facts *facts;
} Question;

typedef struct {
  size_t size;
  Extension *extensions;
  int type; /* 4: int32, 11: float, 12: double */
  void *data;
  int64_t rank;
  int64_t *dims;
} Buffer;

typedef struct {
  size_t size;
  Extension *extensions;
  int64_t count;
  int *kinds;
  Buffer **buffers;
} Buffers;

typedef struct {
  size_t size;
  Extension *extensions;
  const char *message;
  int code;
} ErrorText;

typedef struct {
  size_t size;
  Extension *extensions;
  void *error;
} DestroyedError;

typedef struct {
  size_t size;
  Extension *extensions;
  void *context;
  void (*task)(void *);
  void *data;
} Scheduled;

typedef struct {
  size_t size;
  Extension *extensions;
  void *context;
  int64_t *count;
} ThreadCount;

typedef struct {
  size_t size;
  Extension *extensions;
  Version version;
  const void *internal;
  void *(*create_error)(ErrorText *);
  void *unused_message;
  void (*destroy_error)(DestroyedError *);
  void *unused[8];
  void *(*schedule)(Scheduled *);
  void *(*count_threads)(ThreadCount *);
} Interface;

typedef struct {
  size_t size;
  Extension *extensions;
  const Interface *interface;
  void *context;
  int stage;
  Buffers operands, results;
} Call;

enum { INT32 = 4, INT64 = 5, FLOAT = 11, DOUBLE = 12 };

static void *fail(const Call *call, const char *message) {
  ErrorText text = {sizeof text, NULL, message, 3};
  return call->interface->create_error(&text);
}

static void drop(const Call *call, void *error) {
  DestroyedError dropped = {sizeof dropped, NULL, error};
  if (error != NULL) call->interface->destroy_error(&dropped);
}

/* ---- the products ------------------------------------------------------------------- */

typedef struct {
  const void *data, *x;
  void *out;
  const int32_t *write, *read; /* of element k: write[k * stride] and read[k * stride] */
  const int32_t *starts;       /* of rows; NULL where elements are in any order */
  int64_t stride, n_elements, n_read, n_rows, n_columns;
  int is_double;
  /* what the threads share */
  int parts;
  atomic_int next, done, holders;
} Product;

/* Rows of whole vectors lie anywhere in memory: they are asked for a few elements ahead. */
#define AHEAD 4
#define LINE 64 /* bytes that the processor fetches at once */

static inline void fetch(const char *row, int64_t size) {
  for (int64_t b = 0; b < size; b += LINE) __builtin_prefetch(row + b);
}

/* Rows of elements, and elements in any order: those of the result's rows [lo, hi). */
#define DEFINE_PRODUCTS(T, ROWS, LIST, FOR)                                              \
  FOR static void ROWS(const Product *p, int64_t lo, int64_t hi) {                       \
    const T *data = p->data, *x = p->x;                                                  \
    T *all = p->out;                                                                     \
    const int32_t *read = p->read, *starts = p->starts;                                  \
    const int64_t m = p->n_columns, n_read = p->n_read;                                  \
    for (int64_t i = lo; m == 1 && i < hi; i++) {                                        \
      const int32_t end = starts[i + 1];                                                 \
      T sum = 0;                                                                         \
      for (int32_t k = starts[i]; k < end; k++) {                                        \
        const uint32_t j = (uint32_t)read[k];                                            \
        if (j < n_read) sum += data[k] * x[j];                                           \
      }                                                                                  \
      all[i] = sum;                                                                      \
    }                                                                                    \
    const int32_t last = starts[hi] - AHEAD;                                             \
    for (int64_t i = lo; m != 1 && i < hi; i++) {                                        \
      const int32_t end = starts[i + 1];                                                 \
      T *restrict out = all + i * m;                                                     \
      for (int64_t c = 0; c < m; c++) out[c] = 0;                                        \
      for (int32_t k = starts[i]; k < end; k++) {                                        \
        if (k < last) {                                                                  \
          const uint32_t next = (uint32_t)read[k + AHEAD];                               \
          if (next < n_read) fetch((const char *)(x + next * m), m * sizeof(T));         \
        }                                                                                \
        const uint32_t j = (uint32_t)read[k];                                            \
        if (j >= n_read) continue;                                                       \
        const T factor = data[k], *row = x + j * m;                                      \
        for (int64_t c = 0; c < m; c++) out[c] += factor * row[c];                       \
      }                                                                                  \
    }                                                                                    \
  }                                                                                      \
  FOR static void LIST(const Product *p, int64_t lo, int64_t hi) {                       \
    const T *data = p->data, *x = p->x;                                                  \
    T *all = p->out;                                                                     \
    const int32_t *write = p->write, *read = p->read;                                    \
    const int64_t n = p->n_elements, m = p->n_columns, n_read = p->n_read;               \
    const int64_t stride = p->stride;                                                    \
    memset(all + lo * m, 0, (hi - lo) * m * sizeof(T));                                  \
    int64_t at = -1; /* what is added to one row in turn is added in a register */       \
    T sum = 0;                                                                           \
    for (int64_t k = 0; m == 1 && k < n; k++) {                                          \
      const int64_t i = write[k * stride];                                               \
      const uint32_t j = (uint32_t)read[k * stride];                                     \
      if (i < lo || i >= hi || j >= n_read) continue;                                    \
      if (i != at) {                                                                     \
        if (at >= 0) all[at] += sum;                                                     \
        at = i;                                                                          \
        sum = 0;                                                                         \
      }                                                                                  \
      sum += data[k] * x[j];                                                             \
    }                                                                                    \
    if (at >= 0) all[at] += sum;                                                         \
    for (int64_t k = 0; m != 1 && k < n; k++) {                                          \
      if (k + AHEAD < n) {                                                               \
        const int64_t i = write[(k + AHEAD) * stride];                                   \
        const uint32_t j = (uint32_t)read[(k + AHEAD) * stride];                         \
        if (i >= lo && i < hi && j < n_read) {                                           \
          fetch((const char *)(x + j * m), m * sizeof(T));                               \
          fetch((const char *)(all + i * m), m * sizeof(T));                             \
        }                                                                                \
      }                                                                                  \
      const int64_t i = write[k * stride];                                               \
      const uint32_t j = (uint32_t)read[k * stride];                                     \
      if (i < lo || i >= hi || j >= n_read) continue;                                    \
      T *restrict out = all + i * m;                                                     \
      const T factor = data[k], *row = x + j * m;                                        \
      for (int64_t c = 0; c < m; c++) out[c] += factor * row[c];                         \
    }                                                                                    \
  }

#define ANY
DEFINE_PRODUCTS(float, add_rows_of_floats, add_list_of_floats, ANY)
DEFINE_PRODUCTS(double, add_rows_of_doubles, add_list_of_doubles, ANY)

/* The same for processors with wider registers; without fused products, so that all
   processors give the same results. */
#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE __attribute__((target("avx2")))
DEFINE_PRODUCTS(float, add_rows_of_floats_wide, add_list_of_floats_wide, WIDE)
DEFINE_PRODUCTS(double, add_rows_of_doubles_wide, add_list_of_doubles_wide, WIDE)
#define IS_WIDE __builtin_cpu_supports("avx2")
#else
#define add_rows_of_floats_wide add_rows_of_floats
#define add_list_of_floats_wide add_list_of_floats
#define add_rows_of_doubles_wide add_rows_of_doubles
#define add_list_of_doubles_wide add_list_of_doubles
#define IS_WIDE 0
#endif

typedef void AddPart(const Product *, int64_t, int64_t);

static AddPart *const adders[2][2][2] = {
    /* of lists, of rows; of floats, of doubles; for any processor, for a wide one */
    {{add_list_of_floats, add_list_of_floats_wide},
     {add_list_of_doubles, add_list_of_doubles_wide}},
    {{add_rows_of_floats, add_rows_of_floats_wide},
     {add_rows_of_doubles, add_rows_of_doubles_wide}},
};

static void multiply_part(const Product *p, int part) {
  const int64_t lo = p->n_rows * part / p->parts, hi = p->n_rows * (part + 1) / p->parts;
  adders[p->starts != NULL][p->is_double][IS_WIDE != 0](p, lo, hi);
}

/* ---- threads ------------------------------------------------------------------------- */

static void take_parts(Product *p) {
  int part;
  while ((part = atomic_fetch_add(&p->next, 1)) < p->parts) {
    multiply_part(p, part);
    atomic_fetch_add(&p->done, 1);
  }
}

static void release(Product *p) {
  if (atomic_fetch_sub(&p->holders, 1) == 1) free(p);
}

/* A task may begin long after all parts were taken: it holds the product, not its data. */
static void help(void *data) {
  take_parts(data);
  release(data);
}

static int64_t threads_of(const Call *call) {
  int64_t count = 1;
  ThreadCount asked = {sizeof asked, NULL, call->context, &count};
  void *error = call->interface->count_threads(&asked);
  drop(call, error);
  return error == NULL && count > 0 ? count : 1;
}

/* Below so many products of numbers, waking a thread takes longer than they do. */
#define FEWEST_PRODUCTS 100000
#define PARTS_PER_THREAD 4

static void *run(const Call *call, Product product) {
  const int64_t m = product.n_columns;
  const int is_list = product.starts == NULL;
  /* Each part of a list reads all positions, which pays where elements meet whole rows. */
  int threads = 1;
  if (product.n_elements * m >= FEWEST_PRODUCTS && (!is_list || m >= 8)) {
    const int64_t count = threads_of(call);
    threads = count < 64 ? (int)count : 64;
  }
  int64_t parts = threads == 1 || is_list ? threads : threads * PARTS_PER_THREAD;
  product.parts = (int)(parts < product.n_rows ? parts : product.n_rows);
  if (product.parts <= 1) {
    product.parts = 1;
    multiply_part(&product, 0);
    return NULL;
  }
  Product *p = malloc(sizeof *p);
  if (p == NULL) return fail(call, "sparse product: there is no memory left");
  *p = product;
  atomic_init(&p->next, 0);
  atomic_init(&p->done, 0);
  atomic_init(&p->holders, 1);
  for (int i = 1; i < threads && i < p->parts; i++) {
    Scheduled task = {sizeof task, NULL, call->context, help, p};
    atomic_fetch_add(&p->holders, 1);
    void *error = call->interface->schedule(&task);
    if (error == NULL) continue;
    atomic_fetch_sub(&p->holders, 1); /* this thread does it all */
    drop(call, error);
    break;
  }
  take_parts(p);
  while (atomic_load(&p->done) < p->parts) sched_yield(); /* the last parts of others */
  release(p);
  return NULL;
}

/* ---- the kernels --------------------------------------------------------------------- */

static int answer(const Call *call) {
  for (Extension *e = call->extensions; e != NULL; e = e->next)
    if (e->kind == 1) {
      Facts *facts = ((Question *)e)->facts;
      facts->version.major = call->interface->version.major;
      facts->version.minor = call->interface->version.minor;
      facts->traits = 0;
      return 1;
    }
  return 0;
}

static int has_types(const Call *call, int n_operands) {
  if (call->size < sizeof *call || call->operands.count != n_operands ||
      call->results.count != 1)
    return 0;
  const int type = call->results.buffers[0]->type;
  Buffer **operands = call->operands.buffers;
  return (type == FLOAT || type == DOUBLE) && operands[0]->type == type &&
         operands[1]->type == INT32 && operands[2]->type == INT32 &&
         operands[3]->type == type;
}

static Product product_of(const Call *call) {
  Buffer **operands = call->operands.buffers, *x = operands[3];
  Buffer *out = call->results.buffers[0];
  return (Product){
      .data = operands[0]->data,
      .x = x->data,
      .out = out->data,
      .n_elements = operands[0]->dims[0],
      .n_read = x->dims[0],
      .n_rows = out->dims[0],
      .n_columns = x->rank > 1 ? x->dims[1] : 1,
      .is_double = out->type == DOUBLE,
      .stride = 1,
  };
}

static int is_ordered(const int32_t *starts, int64_t n_rows, int64_t n_elements) {
  if (starts[0] < 0 || starts[n_rows] > n_elements) return 0;
  for (int64_t i = 0; i < n_rows; i++)
    if (starts[i] > starts[i + 1]) return 0;
  return 1;
}

/* Where rows do not follow one another, an element's row is the number of rows that end
   before it. */
static void *multiply_unordered(const Call *call, Product product) {
  const int32_t *starts = product.starts;
  const int64_t n = product.n_elements, n_rows = product.n_rows;
  int32_t *row = calloc(n + 1, sizeof *row);
  if (row == NULL) return fail(call, "sparse product: there is no memory left");
  for (int64_t i = 1; i <= n_rows; i++)
    if (starts[i] >= 0 && starts[i] < n) row[starts[i]]++;
  for (int64_t k = 1; k < n; k++) row[k] += row[k - 1];
  for (int64_t k = 0; k < n && k < starts[0]; k++) row[k] = (int32_t)n_rows;
  product.write = row;
  product.starts = NULL;
  void *error = run(call, product);
  free(row);
  return error;
}

/* Operands: data [n], columns [n], starts of rows [rows + 1], x. */
static void *multiply_rows(Call *call) {
  if (answer(call)) return NULL;
  if (!has_types(call, 4)) return fail(call, "olympus_csr_product: unknown operands");
  Product product = product_of(call);
  product.read = call->operands.buffers[1]->data;
  product.starts = call->operands.buffers[2]->data;
  if (!is_ordered(product.starts, product.n_rows, product.n_elements))
    return multiply_unordered(call, product);
  return run(call, product);
}

/* Operands: data [n], two of positions, x. The positions are [n] each, or twice the same
   [n, 2], of which the first says where to write, or the second if `is_flipped`. */
static void *multiply_list(Call *call, int is_flipped) {
  if (answer(call)) return NULL;
  if (!has_types(call, 4)) return fail(call, "olympus_coo_product: unknown operands");
  Product product = product_of(call);
  product.write = call->operands.buffers[1]->data;
  product.read = call->operands.buffers[2]->data;
  if (call->operands.buffers[1]->rank > 1) {
    product.stride = 2;
    product.write += is_flipped;
    product.read += !is_flipped;
  }
  return run(call, product);
}

static void *multiply_list_forward(Call *call) { return multiply_list(call, 0); }
static void *multiply_list_flipped(Call *call) { return multiply_list(call, 1); }

#include "prefixes.h"
#include "small_matrices.h"

/* ---- the module ----------------------------------------------------------------------- */

static const struct {
  const char *name;
  void *(*kernel)(Call *);
} kernels[] = {
    {"olympus_csr_product", multiply_rows},
    {"olympus_coo_product", multiply_list_forward},
    {"olympus_coo_product_flipped", multiply_list_flipped},
    {"olympus_cumsum", cumsum},
    {"olympus_cumsum_reverse", cumsum_reverse},
    {"olympus_cumprod", cumprod},
    {"olympus_cumprod_reverse", cumprod_reverse},
    {"olympus_cummax", cummax},
    {"olympus_cummax_reverse", cummax_reverse},
    {"olympus_cummin", cummin},
    {"olympus_cummin_reverse", cummin_reverse},
    {"olympus_cumlogsumexp", cumlogsumexp},
    {"olympus_cumlogsumexp_reverse", cumlogsumexp_reverse},
    {"olympus_small_lu", factor_small},
    {"olympus_small_lu_solve", solve_small_plain},
    {"olympus_small_lu_solve_transposed", solve_small_transposed},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "olympus._src.native.products",
    "Kernels that XLA calls: `KERNELS` has them by name.", -1, NULL,
};

PyMODINIT_FUNC PyInit_products(void) {
  PyObject *module = PyModule_Create(&definition), *table = PyDict_New();
  if (module == NULL || table == NULL) goto failed;
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    PyObject *capsule =
        PyCapsule_New((void *)kernels[i].kernel, "xla._CUSTOM_CALL_TARGET", NULL);
    if (capsule == NULL || PyDict_SetItemString(table, kernels[i].name, capsule) < 0) {
      Py_XDECREF(capsule);
      goto failed;
    }
    Py_DECREF(capsule);
  }
  if (PyModule_AddIntConstant(module, "VERSION", VERSION) < 0 ||
      PyModule_AddObjectRef(module, "KERNELS", table) < 0)
    goto failed;
  Py_DECREF(table);
  return module;
failed:
  Py_XDECREF(module);
  Py_XDECREF(table);
  return NULL;
}
