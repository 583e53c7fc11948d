/* Values in memory of the host, of which jaxlib knows nothing until it needs a buffer. A
   part of `calls.c`.

   `HostMemory` is where a result of host kernels lies. It becomes a buffer of jaxlib's,
   over the same memory, when something needs one; the next kernels do not. */

#define ALIGNMENT 64 /* of all arrays, which compiled code relies on */

/* Bytes that objects share: a memory, and what jaxlib's buffer keeps of it. */
typedef struct {
  Py_ssize_t refs, size;
  void *start; /* of what was allocated */
} Block;

static inline char *bytes_of(Block *block) { return (char *)block + ALIGNMENT; }

static Block *block_new(Py_ssize_t size) {
  void *start = PyMem_Malloc(size + 2 * ALIGNMENT);
  if (start == NULL) return (Block *)PyErr_NoMemory();
  Block *block = (Block *)(((uintptr_t)start + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
  block->refs = 1;
  block->size = size;
  block->start = start;
  return block;
}

static void block_release(Block *block) {
  if (--block->refs == 0) PyMem_Free(block->start);
}

/* What keeps a block, and gives its bytes to readers. */
typedef struct {
  PyObject_HEAD
  Block *block;
} Bytes;

static PyTypeObject *bytes_type;

static int bytes_getbuffer(PyObject *object, Py_buffer *view, int flags) {
  Block *block = ((Bytes *)object)->block;
  return PyBuffer_FillInfo(view, object, bytes_of(block), block->size, 1, flags);
}

/* Frees the shape that a view may have; see `view_memory`. */
static void bytes_releasebuffer(PyObject *object, Py_buffer *view) {
  (void)object;
  PyMem_Free(view->internal);
}

static PyObject *bytes_new(Block *block) {
  Bytes *bytes = (Bytes *)bytes_type->tp_alloc(bytes_type, 0);
  if (bytes == NULL) return NULL;
  block->refs++;
  bytes->block = block;
  return (PyObject *)bytes;
}

static void bytes_dealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  block_release(((Bytes *)object)->block);
  type->tp_free(object);
  Py_DECREF(type);
}

static PyType_Slot bytes_slots[] = {
    {Py_bf_getbuffer, bytes_getbuffer},
    {Py_bf_releasebuffer, bytes_releasebuffer},
    {Py_tp_dealloc, bytes_dealloc},
    {0, NULL}};

static PyType_Spec bytes_spec = {
    "olympus._src.native.calls.Bytes", sizeof(Bytes), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, bytes_slots};

typedef struct {
  PyObject_HEAD
  Block *block;
  PyObject *aval, *place; /* what it holds, and the device that has it */
  PyObject *buffer;       /* jaxlib's, or NULL until one is needed */
  int was_lent;           /* a copy, to a program that needs a buffer */
} HostMemory;

static PyTypeObject *memory_base;

static inline int is_memory(PyObject *object) {
  return Py_IS_TYPE(object, shared.memory_type);
}

/* A memory of uninitialised bytes. */
static HostMemory *memory_new(Py_ssize_t size, PyObject *aval, PyObject *place) {
  HostMemory *self = (HostMemory *)shared.memory_type->tp_alloc(shared.memory_type, 0);
  if (self == NULL) return NULL;
  self->aval = Py_NewRef(aval);
  self->place = Py_NewRef(place);
  if ((self->block = block_new(size)) == NULL) Py_CLEAR(self);
  return self;
}

static HostMemory *memory_with(const void *bytes, Py_ssize_t size, PyObject *aval,
                               PyObject *place) {
  HostMemory *self = memory_new(size, aval, place);
  if (self != NULL) memcpy(bytes_of(self->block), bytes, size);
  return self;
}

/* Lets go of the bytes, which a program took; those of its buffer are not touched. */
static void memory_end(HostMemory *self) {
  if (self->block != NULL) block_release(self->block);
  self->block = NULL;
}

static void memory_dealloc(PyObject *object) {
  HostMemory *self = (HostMemory *)object;
  PyTypeObject *type = Py_TYPE(object);
  memory_end(self);
  Py_XDECREF(self->aval);
  Py_XDECREF(self->place);
  Py_XDECREF(self->buffer);
  type->tp_free(object);
  Py_DECREF(type);
}

static PyObject *memory_bytes(PyObject *object, PyObject *unused) {
  (void)unused;
  Block *block = ((HostMemory *)object)->block;
  return block ? bytes_new(block) : PyErr_Format(PyExc_ValueError, "a program took it");
}

/* keep(buffer): the memory's buffer, which is the first one that was kept. */
static PyObject *memory_keep(PyObject *object, PyObject *buffer) {
  HostMemory *self = (HostMemory *)object;
  if (self->buffer == NULL) self->buffer = Py_NewRef(buffer);
  return Py_NewRef(self->buffer);
}

/* end(): lets go of the bytes; gives the buffer, which keeps them, or None. */
static PyObject *memory_let_go(PyObject *object, PyObject *unused) {
  (void)unused;
  HostMemory *self = (HostMemory *)object;
  memory_end(self);
  return Py_NewRef(self->buffer != NULL ? self->buffer : Py_None);
}

/* make_memory(content, aval, place): a memory with a copy of bytes. */
static PyObject *make_memory(PyObject *module, PyObject *args) {
  (void)module;
  Py_buffer content;
  PyObject *aval, *place;
  if (!PyArg_ParseTuple(args, "y*OO", &content, &aval, &place)) return NULL;
  HostMemory *memory = memory_with(content.buf, content.len, aval, place);
  PyBuffer_Release(&content);
  return (PyObject *)memory;
}

static PyObject *memory_has_ended(PyObject *object, void *unused) {
  (void)unused;
  return PyBool_FromLong(((HostMemory *)object)->block == NULL);
}

static PyGetSetDef memory_getters[] = {
    {"has_ended", memory_has_ended, NULL, "Whether a program took its bytes.", NULL},
    {NULL}};

/* An array whose value lies in a memory. */
static PyObject *new_array_in(PyObject *memory, PyObject *aval, PyObject *committed) {
  PyObject *array = shared.array_type->tp_alloc(shared.array_type, 0);
  if (array == NULL) return NULL;
  set_slot(array, shared.parts, memory);
  set_slot(array, shared.position, shared.zero);
  set_slot(array, shared.aval, aval);
  set_slot(array, shared.committed, committed);
  set_slot(array, shared.host, Py_None);
  return array;
}

/* put(value, aval, place, committed): an array with a copy of a NumPy array of the aval's
   dtype; None where that is not plainly copied, or memories are not in use. */
static PyObject *put_value(PyObject *module, PyObject *const *args, Py_ssize_t n) {
  (void)module;
  Py_buffer content;
  if (n != 4) return PyErr_Format(PyExc_TypeError, "put: takes four arguments");
  if (shared.kernels_after < 0) Py_RETURN_NONE;
  if (PyObject_GetBuffer(args[0], &content, PyBUF_STRIDED_RO) < 0) {
    PyErr_Clear();
    Py_RETURN_NONE;
  }
  PyObject *array = NULL;
  HostMemory *memory = memory_new(content.len, args[1], args[2]);
  if (memory != NULL &&
      PyBuffer_ToContiguous(bytes_of(memory->block), &content, content.len, 'C') == 0)
    array = new_array_in((PyObject *)memory, args[1], args[3]);
  PyBuffer_Release(&content);
  Py_XDECREF(memory);
  return array;
}

static PyMethodDef memory_methods[] = {
    {"bytes", memory_bytes, METH_NOARGS, "What keeps its bytes, and gives them to read."},
    {"end", memory_let_go, METH_NOARGS,
     "Lets go of its bytes; gives its buffer, which keeps them, or None."},
    {"keep", memory_keep, METH_O,
     "keep(buffer): its buffer, which is the first one that was kept."},
    {NULL}};

static PyMemberDef memory_members[] = {
    {"aval", T_OBJECT_EX, offsetof(HostMemory, aval), READONLY},
    {"place", T_OBJECT_EX, offsetof(HostMemory, place), READONLY},
    {"buffer", T_OBJECT, offsetof(HostMemory, buffer), READONLY},
    {NULL}};

static PyType_Slot memory_slots[] = {{Py_tp_dealloc, memory_dealloc},
                                     {Py_tp_methods, memory_methods},
                                     {Py_tp_members, memory_members},
                                     {Py_tp_getset, memory_getters},
                                     {0, NULL}};

static PyType_Spec memory_spec = {
    "olympus._src.native.calls.HostMemory", sizeof(HostMemory), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    memory_slots};

/* The memory of an array, borrowed; NULL if it has none. */
static inline HostMemory *memory_of(PyObject *array) {
  PyObject *parts = slot_of(array, shared.parts);
  return parts != NULL && is_memory(parts) ? (HostMemory *)parts : NULL;
}

/* The buffer of a memory, which is made when it is first needed. */
static PyObject *buffer_of_memory(PyObject *memory) {
  PyObject *buffer = ((HostMemory *)memory)->buffer;
  return buffer ? Py_NewRef(buffer) : PyObject_CallMethodNoArgs(memory, names.to_buffer);
}

static PyObject *buffer_of_array(PyObject *array) {
  PyObject **slot = (PyObject **)((char *)array + shared.buffer);
  if (*slot != NULL) return Py_NewRef(*slot);
  if (memory_of(array) == NULL) return PyObject_GetAttr(array, names.buffer); /* a part */
  PyObject *buffer = buffer_of_memory(slot_of(array, shared.parts));
  if (buffer == NULL && PyErr_ExceptionMatches(PyExc_Exception)) {
    PyErr_Clear();
    return PyObject_GetAttr(array, names.buffer); /* which says who took it */
  }
  if (buffer != NULL && *slot == NULL) *slot = Py_NewRef(buffer);
  return buffer;
}

/* The buffer of an operand, which is an array, a memory, or a buffer. */
static PyObject *as_buffer(PyObject *operand) {
  if (Py_IS_TYPE(operand, shared.array_type)) return buffer_of_array(operand);
  return is_memory(operand) ? buffer_of_memory(operand) : Py_NewRef(operand);
}

/* Puts copies in the place of arrays that later calls take too, such as of numbers. */
static int own_numbers(PyObject *list) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
    PyObject *item = PyList_GET_ITEM(list, i), *copy;
    if (!Py_IS_TYPE(item, shared.array_type) ||
        slot_of(item, shared.position) != shared.kept)
      continue;
    copy = PyObject_CallMethodNoArgs(item, names.copy);
    if (copy == NULL || PyList_SetItem(list, i, copy) < 0) return -1;
  }
  return 0;
}

/* ---- operands that have buffers ---------------------------------------------------- */

/* Whether a buffer can be read now; in this order: jaxlib ends the process where a
   deleted array is asked more. */
static int is_readable(PyObject *buffer) {
  int readable =
      says(buffer, names.is_deleted, Py_False) && says(buffer, names.is_ready, Py_True);
  if (!readable) clear_exception();
  return readable;
}

/* Where a value of some bytes lies, in `block` too; NULL, without an error, if it is gone.
   Whoever asks Python for anything before the value is read holds the block. */
static char *memory_address(HostMemory *memory, int64_t size, Block **block) {
  if (memory->buffer != NULL && !says(memory->buffer, names.is_deleted, Py_False)) {
    clear_exception();
    return NULL;
  }
  *block = memory->block; /* asked after the buffer, which another thread may delete */
  return *block == NULL || (*block)->size != size ? (*block = NULL, NULL) : bytes_of(*block);
}

#define MAX_COPIED 4096 /* bytes of an array */

/* Gives an array with a buffer a memory too, which takes over the reference to it. */
static void attach_memory(PyObject *array, PyObject *buffer, PyObject *memory) {
  PyObject **parts = (PyObject **)((char *)array + shared.parts);
  PyObject **position = (PyObject **)((char *)array + shared.position);
  if (*parts != Py_None) { /* another thread was first */
    Py_DECREF(memory);
    return;
  }
  Py_XSETREF(((HostMemory *)memory)->buffer, Py_NewRef(buffer));
  if (*position == NULL) *position = Py_NewRef(shared.zero);
  Py_SETREF(*parts, memory);
}

/* Keeps a copy of an array's value, which takes less time to find than its buffer's. */
static void keep_copy(PyObject *array, PyObject *buffer, const Py_buffer *view,
                      PyObject *place) {
  if (view->len > MAX_COPIED || slot_of(array, shared.parts) != Py_None) return;
  PyObject *aval = slot_of(array, shared.aval);
  HostMemory *memory = memory_with(view->buf, view->len, aval, place);
  if (memory != NULL) attach_memory(array, buffer, (PyObject *)memory);
  PyErr_Clear();
}

/* The same for an array whose elements Python's buffer protocol does not know. */
static char *copy_foreign(PyObject *array, PyObject *buffer, int64_t size, Block **block) {
  PyObject *memory = NULL;
  if (size <= MAX_COPIED) memory = PyObject_CallOneArg(shared.copy_to_memory, array);
  if (memory != NULL && is_memory(memory) && ((HostMemory *)memory)->block->size == size) {
    attach_memory(array, buffer, Py_NewRef(memory));
    Py_DECREF(memory);
    memory = slot_of(array, shared.parts);
    return is_memory(memory) ? memory_address((HostMemory *)memory, size, block) : NULL;
  }
  Py_XDECREF(memory);
  clear_exception();
  return NULL;
}

/* Whether an operand may lie on another device than the program's. */
static int is_elsewhere(PyObject *holder, PyObject *place) {
  if (!shared.several_devices) return 0;
  PyObject *mine = PyObject_GetAttr(place, names.place_sharding);
  PyObject *its = mine == NULL ? NULL : PyObject_GetAttr(holder, names.sharding);
  int elsewhere = mine == NULL || its != mine;
  Py_XDECREF(mine);
  Py_XDECREF(its);
  clear_exception();
  return elsewhere;
}
