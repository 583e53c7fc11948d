/* Host kernels: what XLA compiled of a small program for the CPU, called without XLA's
   runtime, which takes longer to start such a program than that takes to run. A part of
   `calls.c`.

   `Kernels` is a program: its machine code, and the steps that the runtime would take. The
   Python side, which reads them, has compared results with the runtime's. */

/* Of XLA's interface of such code, `XLA_CPU_KernelCallFrame`. */
typedef struct {
  uint64_t x, y, z;
} Groups;

typedef struct {
  void *data;
  size_t size;
} KernelArgument;

typedef struct {
  const Groups *groups, *group;
  size_t n_arguments;
  const KernelArgument *arguments;
} CallFrame;

typedef void *(*Kernel)(const CallFrame *); /* gives NULL, or an error */

/* Says whether the first of each pair of elements comes before the second ones. */
typedef void (*Comparator)(char *is_less, const void *, char *const *pairs, const void *,
                           const void *, const void *);

#define MAX_SLICES 256 /* of a step */
#define MAX_SORTED 8   /* of them that are sorted together */
#define MAX_ELEMENT 16 /* bytes of an element */
#define MAX_BASES 512  /* operands, results, memory between steps, and constants */

/* A part of an operand, a result, the memory between steps or the constants. */
typedef struct {
  int64_t base, offset, size;
} Slice;

/* A kernel that is called on slices; a comparator by which they are sorted, each `groups`
   of z, x and y elements along the axes after, of and before that; or, if there is none,
   a copy of the first to the second one. */
typedef struct {
  Kernel kernel;
  Comparator comparator;
  Groups groups;
  int64_t n_slices, first;
} Step;

typedef struct {
  PyObject_HEAD
  PyObject *place; /* of the device that has the results */
  Block *constants;
  char *code;
  size_t code_size;
  int n_operands, n_results, n_steps, most_slices; /* of a step */
  int64_t sizes[MAX_BASES];
  Step *steps;
  Slice *slices;
} Kernels;

static PyTypeObject *kernels_type;

static void kernels_dealloc(PyObject *object) {
  Kernels *self = (Kernels *)object;
  PyTypeObject *type = Py_TYPE(object);
#if HAS_HOST_KERNELS
  if (self->code != NULL) munmap(self->code, self->code_size);
#endif
  if (self->constants != NULL) block_release(self->constants);
  PyMem_Free(self->steps);
  PyMem_Free(self->slices);
  Py_XDECREF(self->place);
  type->tp_free(object);
  Py_DECREF(type);
}

/* Writes addresses into machine code: pairs of a place and, from `origin`, an address. */
static int write_addresses(Kernels *self, const Py_buffer *pairs, uint64_t origin) {
  const int64_t *pair = pairs->buf;
  for (Py_ssize_t i = 0; i + 1 < pairs->len / 8; i += 2) {
    if (pair[i] < 0 || pair[i] > (int64_t)self->code_size - 8) {
      PyErr_SetString(PyExc_ValueError, "Kernels: an address lies outside of the code");
      return -1;
    }
    uint64_t address = origin + (uint64_t)pair[i + 1];
    memcpy(self->code + pair[i], &address, 8);
  }
  return 0;
}

/* Puts machine code where it can be called. `relative` has places of addresses in it and
   what they are of, from its start; `absolute` places of addresses of functions. */
static int load_code(Kernels *self, const Py_buffer *image, const Py_buffer *relative,
                     const Py_buffer *absolute) {
#if HAS_HOST_KERNELS
  void *pages =
      mmap(NULL, image->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages != MAP_FAILED) {
    self->code = pages;
    self->code_size = image->len;
    memcpy(pages, image->buf, image->len);
    if (write_addresses(self, relative, (uintptr_t)pages) < 0 ||
        write_addresses(self, absolute, 0) < 0)
      return -1;
    if (mprotect(pages, image->len, PROT_READ | PROT_EXEC) == 0) return 0;
  }
  PyErr_SetFromErrno(PyExc_OSError);
#else
  (void)write_addresses, (void)self, (void)image, (void)relative, (void)absolute;
  PyErr_SetString(PyExc_OSError, "Kernels: code of this machine cannot be called");
#endif
  return -1;
}

/* Whether slices have as many bytes as a step sorts. */
static int can_sort(const Step *step, const Slice *slices) {
  Groups groups = step->groups;
  uint64_t n = groups.x * groups.y * groups.z, most = 1 << 20;
  int good = groups.x < most && groups.y < most && groups.z < most && n > 0;
  good = good && step->n_slices > 0 && step->n_slices <= MAX_SORTED;
  for (int k = 0; good && k < step->n_slices; k++)
    good = slices[k].size % n == 0 && slices[k].size / n - 1 < MAX_ELEMENT;
  return good;
}

/* Reads `(kernel, -1, or -2 - comparator, x, y, z, n, n slices)` of each step. */
static int read_steps(Kernels *self, const int64_t *words, Py_ssize_t n) {
  int n_bases = self->n_operands + self->n_results + 2;
  Py_ssize_t n_slices = 0;
  for (Py_ssize_t at = 0; at < n; self->n_steps++) {
    if (at + 5 > n || words[at + 4] < 0 || words[at + 4] > MAX_SLICES ||
        at + 5 + 3 * words[at + 4] > n)
      goto wrong;
    n_slices += words[at + 4];
    at += 5 + 3 * words[at + 4];
  }
  self->steps = PyMem_New(Step, self->n_steps ? self->n_steps : 1);
  self->slices = PyMem_New(Slice, n_slices ? n_slices : 1);
  if (self->steps == NULL || self->slices == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  n_slices = 0;
  for (int i = 0; i < self->n_steps; i++) {
    Step *step = &self->steps[i];
    int is_copy = words[0] == -1;
    int64_t start = words[0] < 0 ? -2 - words[0] : words[0];
    if (!is_copy && (size_t)start >= self->code_size) goto wrong;
    step->kernel = words[0] < 0 ? NULL : (Kernel)(void *)(self->code + start);
    step->comparator =
        words[0] < -1 ? (Comparator)(void *)(self->code + start) : NULL;
    step->groups = (Groups){words[1], words[2], words[3]};
    step->n_slices = words[4];
    if (step->n_slices > self->most_slices) self->most_slices = step->n_slices;
    step->first = n_slices;
    words += 5;
    for (int k = 0; k < step->n_slices; k++, words += 3) {
      Slice slice = {words[0], words[1], words[2]};
      if (slice.base < 0 || slice.base >= n_bases || slice.offset < 0 || slice.size < 0 ||
          slice.size > self->sizes[slice.base] - slice.offset)
        goto wrong;
      self->slices[n_slices++] = slice;
    }
    const Slice *slices = &self->slices[step->first];
    if (is_copy && (step->n_slices != 2 || slices[0].size != slices[1].size)) goto wrong;
    if (step->comparator != NULL && !can_sort(step, slices)) goto wrong;
  }
  return 0;
wrong:
  PyErr_SetString(PyExc_ValueError, "Kernels: the steps are none");
  return -1;
}

/* Kernels(image, relative, absolute, constants, n_operands, sizes, steps, place): `sizes`
   are those of the operands, the results, and the memory between steps. */
static PyObject *kernels_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  Py_buffer image, relative, absolute, constants, sizes, steps;
  int n_operands;
  PyObject *place;
  if (kwargs != NULL) return PyErr_Format(PyExc_TypeError, "Kernels: takes no names");
  if (!PyArg_ParseTuple(args, "y*y*y*y*iy*y*O", &image, &relative, &absolute, &constants,
                        &n_operands, &sizes, &steps, &place))
    return NULL;
  Kernels *self = (Kernels *)type->tp_alloc(type, 0);
  int n = (int)(sizes.len / 8), done = -1;
  if (self != NULL && n_operands >= 0 && n_operands < n && n < MAX_BASES) {
    self->place = Py_NewRef(place);
    self->n_operands = n_operands;
    self->n_results = n - n_operands - 1;
    memcpy(self->sizes, sizes.buf, sizes.len);
    self->sizes[n] = constants.len;
    if ((self->constants = block_new(constants.len)) != NULL) {
      memcpy(bytes_of(self->constants), constants.buf, constants.len);
      done = load_code(self, &image, &relative, &absolute);
      if (done == 0) done = read_steps(self, steps.buf, steps.len / 8);
    }
  } else if (self != NULL) {
    PyErr_SetString(PyExc_ValueError, "Kernels: too many operands and results");
  }
  Py_buffer *views[] = {&image, &relative, &absolute, &constants, &sizes, &steps};
  for (int i = 0; i < 6; i++) PyBuffer_Release(views[i]);
  if (done < 0) Py_CLEAR(self);
  return (PyObject *)self;
}

/* Sorts a row in each array, keeping the order of equal elements; from one element to
   the next there are `strides` bytes. */
static void sort_row(const Step *step, char *const *rows, const size_t *sizes,
                     const size_t *strides) {
  _Alignas(MAX_ELEMENT) char moved[MAX_SORTED][MAX_ELEMENT];
  char *pairs[2 * MAX_SORTED], is_less;
  int n = (int)step->n_slices;
  for (size_t i = 1; i < step->groups.x; i++) {
    size_t low = 0, high = i; /* the place of the next element among those before it */
    for (int k = 0; k < n; k++)
      pairs[2 * k] = memcpy(moved[k], rows[k] + i * strides[k], sizes[k]);
    while (low < high) {
      size_t middle = (low + high) / 2;
      for (int k = 0; k < n; k++) pairs[2 * k + 1] = rows[k] + middle * strides[k];
      step->comparator(&is_less, NULL, pairs, NULL, NULL, NULL);
      if (is_less) high = middle;
      else low = middle + 1;
    }
    for (int k = 0; k < n; k++) {
      for (size_t at = i; at > low; at--)
        memcpy(rows[k] + at * strides[k], rows[k] + (at - 1) * strides[k], sizes[k]);
      memcpy(rows[k] + low * strides[k], moved[k], sizes[k]);
    }
  }
}

static void sort_rows(const Step *step, const KernelArgument *arrays) {
  uint64_t n = step->groups.x, inner = step->groups.z, rows = step->groups.y * inner;
  size_t sizes[MAX_SORTED], strides[MAX_SORTED];
  char *starts[MAX_SORTED];
  for (int k = 0; k < step->n_slices; k++) {
    sizes[k] = arrays[k].size / (n * rows);
    strides[k] = sizes[k] * inner;
  }
  for (uint64_t i = 0; i < rows; i++) {
    for (int k = 0; k < step->n_slices; k++)
      starts[k] = (char *)arrays[k].data + (i / inner * n * inner + i % inner) * sizes[k];
    sort_row(step, starts, sizes, strides);
  }
}

/* Takes all steps on memory; false if a kernel gives an error. */
static int take_steps(Kernels *self, char *const *bases) {
  KernelArgument arguments[self->most_slices + 1];
  for (int i = 0; i < self->n_steps; i++) {
    const Step *step = &self->steps[i];
    for (int k = 0; k < step->n_slices; k++) {
      const Slice *slice = &self->slices[step->first + k];
      arguments[k].data = bases[slice->base] + slice->offset;
      arguments[k].size = slice->size;
    }
    if (step->comparator != NULL) {
      sort_rows(step, arguments);
      continue;
    }
    if (step->kernel == NULL) {
      memcpy(arguments[1].data, arguments[0].data, arguments[0].size);
      continue;
    }
    Groups group;
    CallFrame frame = {&step->groups, &group, step->n_slices, arguments};
    for (group.z = 0; group.z < step->groups.z; group.z++)
      for (group.y = 0; group.y < step->groups.y; group.y++)
        for (group.x = 0; group.x < step->groups.x; group.x++)
          if (step->kernel(&frame) != NULL) return 0;
  }
  return 1;
}

/* The same, rounding to nearest and with subnormal numbers as zero, as XLA's runtime. */
static int take_steps_as_xla(Kernels *self, char *const *bases) {
#if HAS_HOST_KERNELS
  const unsigned flushing = 0x9fc0; /* no exceptions either */
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(flushing);
  int done = take_steps(self, bases);
  __builtin_ia32_ldmxcsr(before);
  return done;
#else
  return take_steps(self, bases);
#endif
}

/* What keeps the value of an operand: another thread may donate it while the next ones
   are looked at. */
typedef struct {
  Py_buffer view;
  Block *block;
} Hold;

/* Where the value of an operand lies; NULL if that cannot be said, perhaps with an error. */
static char *operand_address(Kernels *self, PyObject *operand, int64_t size, Hold *hold) {
  PyObject *buffer = operand;
  int is_array = Py_IS_TYPE(operand, shared.array_type);
  HostMemory *memory = is_array             ? memory_of(operand)
                       : is_memory(operand) ? (HostMemory *)operand
                                            : NULL;
  if (is_array && memory == NULL) buffer = slot_of(operand, shared.buffer);
  if (memory != NULL) buffer = (PyObject *)memory;
  if (buffer == NULL || is_elsewhere(buffer, self->place)) return NULL;
  if (memory != NULL) return memory_address(memory, size, &hold->block);
  if (!is_readable(buffer)) return NULL;
  if (PyObject_GetBuffer(buffer, &hold->view, PyBUF_SIMPLE) == 0) {
    if (hold->view.len == size && (uintptr_t)hold->view.buf % ALIGNMENT == 0) {
      if (is_array) keep_copy(operand, buffer, &hold->view, self->place);
      return hold->view.buf;
    }
    PyBuffer_Release(&hold->view);
  }
  hold->view.obj = NULL;
  PyErr_Clear();
  return is_array ? copy_foreign(operand, buffer, size, &hold->block) : NULL;
}

#define FEW_OPERANDS 8 /* what keeps so many is on the stack, of which threads may have little */

/* Runs a program on operands, a list of arrays, memories and buffers. The results are
   memories in a new list; None if the runtime must run it; NULL with an error set. */
static PyObject *run_kernels(Kernels *self, PyObject *operands, PyObject *avals) {
  if (PyList_GET_SIZE(operands) != self->n_operands) Py_RETURN_NONE;
  char *bases[self->n_operands + self->n_results + 2];
  Hold few[FEW_OPERANDS], *holds = few;
  if (self->n_operands > FEW_OPERANDS &&
      (holds = PyMem_New(Hold, self->n_operands)) == NULL)
    return PyErr_NoMemory();
  int n = 0, n_held = 0, done = 1;
  for (; done && n < self->n_operands; n++) {
    Hold *hold = &holds[n_held++];
    hold->view.obj = NULL;
    hold->block = NULL;
    bases[n] = operand_address(self, PyList_GET_ITEM(operands, n), self->sizes[n], hold);
    if (hold->block != NULL) hold->block->refs++;
    done = bases[n] != NULL;
  }
  Block *between = NULL;
  PyObject *raw = NULL;
  if (done && (raw = PyList_New(self->n_results)) != NULL) {
    for (int i = 0; i < self->n_results && raw != NULL; i++, n++) {
      HostMemory *memory =
          memory_new(self->sizes[n], PyTuple_GET_ITEM(avals, i), self->place);
      if (memory == NULL) {
        Py_CLEAR(raw);
      } else {
        bases[n] = bytes_of(memory->block);
        PyList_SET_ITEM(raw, i, (PyObject *)memory);
      }
    }
    bases[n + 1] = bytes_of(self->constants);
    if (raw != NULL && self->sizes[n] > 0) {
      between = block_new(self->sizes[n]);
      if (between == NULL) Py_CLEAR(raw);
      else bases[n] = bytes_of(between);
    }
    if (raw != NULL && !take_steps_as_xla(self, bases))
      Py_SETREF(raw, Py_NewRef(Py_None));
    if (between != NULL) block_release(between);
  } else if (!done && !PyErr_Occurred()) {
    raw = Py_NewRef(Py_None);
  }
  while (n_held > 0) {
    Hold *hold = &holds[--n_held];
    if (hold->view.obj != NULL) PyBuffer_Release(&hold->view);
    if (hold->block != NULL) block_release(hold->block);
  }
  if (holds != few) PyMem_Free(holds);
  return raw;
}

/* run(operands, avals): the memories of the results, or None. */
static PyObject *kernels_call(PyObject *object, PyObject *args) {
  PyObject *operands, *avals;
  if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &operands, &PyTuple_Type, &avals))
    return NULL;
  if (PyTuple_GET_SIZE(avals) != ((Kernels *)object)->n_results)
    return PyErr_Format(PyExc_ValueError, "Kernels: another number of results");
  return run_kernels((Kernels *)object, operands, avals);
}

static PyMethodDef kernels_methods[] = {
    {"run", kernels_call, METH_VARARGS,
     "run(operands, avals): the memories of the results; None if the runtime must."},
    {NULL}};

static PyType_Slot kernels_slots[] = {{Py_tp_new, kernels_new},
                                      {Py_tp_dealloc, kernels_dealloc},
                                      {Py_tp_methods, kernels_methods},
                                      {0, NULL}};

static PyType_Spec kernels_spec = {"olympus._src.native.calls.Kernels", sizeof(Kernels), 0,
                                   Py_TPFLAGS_DEFAULT, kernels_slots};
