/* Values of the host among arguments: numbers, and NumPy's arrays. A part of `calls.c`.

   Small arrays are staged, which is to copy them to memory that is used again: jaxlib
   takes as long to make a buffer of an array as to run a small program. A slot is a
   buffer over memory of ours: `(buffer, address, size, type)`. Who takes one out of
   `shared.slots` is the only one to have it, and copies an argument there. It is laid
   back only after its program has ended and while nobody else holds the buffer, so that
   nobody reads what the next argument is written over. Any other slot is dropped, and
   is a buffer like all others. */

#define MAX_FREE_SLOTS 8 /* of a type */
#define MAX_LENT 4096    /* bytes of an array that is copied to a slot */

/* The type of a NumPy value that may be staged, or None; the first token is the
   settings, on which it depends. */
static PyObject *staged_type(Walk *walk, PyObject *value) {
  PyObject *dtype = PyObject_GetAttr(value, names.dtype), *type = NULL;
  PyObject *shape = dtype == NULL ? NULL : PyObject_GetAttr(value, names.shape);
  PyObject *key =
      shape == NULL ? NULL : PyTuple_Pack(3, walk->tokens.items[0], dtype, shape);
  if (key != NULL) {
    type = Py_XNewRef(PyDict_GetItemWithError(shared.staged_types, key));
    if (type == NULL && !PyErr_Occurred())
      type = PyObject_CallFunctionObjArgs(shared.find_staged_type, key, value, NULL);
  }
  Py_XDECREF(dtype);
  Py_XDECREF(shape);
  Py_XDECREF(key);
  return type;
}

static int unknown_or_failed(void) {
  clear_exception(); /* the Python path raises it with the argument's name */
  return PyErr_Occurred() ? FAILED : UNKNOWN;
}

/* The array of a Python number that was an operand before; NULL, perhaps with an error, if
   it is not known. The key is as on the Python side, which enters it. */
static PyObject *find_scalar(Walk *walk, PyObject *value) {
  if (!PyFloat_CheckExact(value) && !PyLong_CheckExact(value) && !PyBool_Check(value))
    return NULL;
  PyObject *blocks = PyObject_GetAttr(shared.default_mesh, names.blocks);
  int is_divided = blocks == NULL ? -1 : PyObject_IsTrue(blocks);
  Py_XDECREF(blocks);
  if (is_divided != 0) return NULL;
  PyObject *number = PyObject_IsTrue(value) ? Py_NewRef(value) : PyObject_Repr(value);
  PyObject *key = number == NULL ? NULL
                                 : PyTuple_Pack(4, Py_TYPE(value), number,
                                                walk->tokens.items[0], Py_None);
  Py_XDECREF(number);
  if (key == NULL) return NULL;
  PyObject *array = Py_XNewRef(PyDict_GetItemWithError(shared.scalars, key));
  Py_DECREF(key);
  HostMemory *memory = array == NULL ? NULL : memory_of(array);
  Block *block;
  if (memory != NULL && memory->block != NULL &&
      memory_address(memory, memory->block->size, &block) != NULL)
    return array;
  Py_XDECREF(array);
  return NULL;
}

/* A NumPy array that may be staged is kept as `(type, array)`: see `place_hosts`. */
static int walk_host_value(Walk *walk, PyObject *value) {
  if (shared.stages && !shared.several_devices && PyObject_CheckBuffer(value)) {
    PyObject *type = staged_type(walk, value);
    if (type == NULL) return unknown_or_failed();
    if (type != Py_None) {
      int kept = row_take(&walk->buffers, PyTuple_Pack(2, type, value));
      TRY(row_take(&walk->tokens, type));
      return kept < 0 ? FAILED : WALKED;
    }
    Py_DECREF(type);
  }
  PyObject *array = NULL;
  walk->hosts++;
  if (walk->beside != NULL) {
    array = PyObject_CallFunctionObjArgs(shared.operand_beside, value, walk->beside, NULL);
  } else {
    array = find_scalar(walk, value);
    if (array == NULL && !PyErr_Occurred())
      array = PyObject_CallOneArg(shared.as_operand, value);
  }
  if (array == NULL) return unknown_or_failed();
  int outcome = UNKNOWN;
  if (Py_IS_TYPE(array, shared.array_type)) outcome = walk_array(walk, array);
  Py_DECREF(array);
  return outcome;
}

/* Copies numbers of 64 bits to half the memory, as NumPy converts them; 0 where they
   are others, or one overflows, of which NumPy warns. */
static int copy_narrowed(void *memory, PyObject *value, Py_ssize_t size) {
  Py_buffer from;
  if (PyObject_GetBuffer(value, &from, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
    PyErr_Clear();
    return 0;
  }
  Py_ssize_t n = from.itemsize == 8 && from.len == 2 * size ? size / 4 : 0, i = 0;
  char kind = from.format != NULL && from.format[1] == 0 ? from.format[0] : 0;
  if (kind == 'l' || kind == 'L' || kind == 'q' || kind == 'Q') {
    for (; i < n; i++) ((uint32_t *)memory)[i] = (uint32_t)((const uint64_t *)from.buf)[i];
  } else if (kind == 'd') {
    for (; i < n; i++) {
      double number = ((const double *)from.buf)[i];
      float narrow = ((float *)memory)[i] = (float)number;
      if (isinf(narrow) && !isinf(number)) break;
    }
  }
  PyBuffer_Release(&from);
  return n > 0 && i == n;
}

/* Copies a value to the memory of a slot; 0, perhaps with an error, if it cannot. */
static int copy_value(void *memory, PyObject *value, Py_ssize_t size) {
  Py_buffer from;
  if (memory != NULL && is_memory(value)) {
    Block *block;
    char *bytes = memory_address((HostMemory *)value, size, &block);
    if (bytes != NULL) memcpy(memory, bytes, size);
    return bytes != NULL;
  }
  if (memory == NULL || PyObject_GetBuffer(value, &from, PyBUF_STRIDED_RO) < 0) {
    if (memory != NULL) PyErr_Clear();
    return 0;
  }
  int fits = size == from.len, narrows = from.len == 2 * size;
  if (fits) fits = PyBuffer_ToContiguous(memory, &from, size, 'C') == 0;
  PyBuffer_Release(&from);
  return fits || (narrows && copy_narrowed(memory, value, size));
}

/* A slot that holds the value; NULL without an error where there is none for it. */
static PyObject *take_slot(PyObject *type, PyObject *value) {
  PyObject *row = PyDict_GetItemWithError(shared.slots, type); /* borrowed */
  Py_ssize_t last = row == NULL ? -1 : PyList_GET_SIZE(row) - 1;
  if (last < 0) { /* there will be one for the next call */
    if (!PyErr_Occurred()) Py_XDECREF(PyObject_CallOneArg(shared.add_slot, type));
    return NULL;
  }
  PyObject *slot = Py_NewRef(PyList_GET_ITEM(row, last));
  Py_ssize_t size = PyLong_AsSsize_t(PyTuple_GET_ITEM(slot, 2));
  if (PyList_SetSlice(row, last, last + 1, NULL) < 0) {
    Py_CLEAR(slot);
  } else if (!copy_value(PyLong_AsVoidPtr(PyTuple_GET_ITEM(slot, 1)), value, size)) {
    if (!PyErr_Occurred()) PyList_Append(row, slot);
    Py_CLEAR(slot);
  }
  return slot;
}

/* Whether a program is known to have ended: all that it gave is computed. */
static int has_ended(Runner *self, PyObject *raw) {
  int ended = PyList_GET_SIZE(raw) > 0;
  for (Py_ssize_t i = 0; ended && i < PyList_GET_SIZE(raw); i++)
    ended = says(PyList_GET_ITEM(raw, i), names.is_ready, Py_True);
  PyErr_Clear();
  if (!ended) self->stages--;
  return ended;
}

static void lay_back(PyObject *slots) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(slots); i++) {
    PyObject *slot = PyList_GET_ITEM(slots, i), *buffer = PyTuple_GET_ITEM(slot, 0);
    PyObject *row = PyDict_GetItemWithError(shared.slots, PyTuple_GET_ITEM(slot, 3));
    if (row != NULL && PyList_GET_SIZE(row) < MAX_FREE_SLOTS && Py_REFCNT(buffer) == 1)
      PyList_Append(row, slot);
  }
  PyErr_Clear();
}

/* A new array of a value that has a type. */
static PyObject *array_of(PyObject *value, PyObject *type) {
  PyObject *array = PyObject_CallOneArg(shared.as_operand, value);
  if (array == NULL) return NULL;
  if (Py_IS_TYPE(array, shared.array_type) && slot_of(array, shared.aval) == type)
    return array;
  Py_DECREF(array); /* another thread changed its dtype or its shape */
  PyErr_SetString(PyExc_RuntimeError, "a NumPy argument changed during the call");
  return NULL;
}

/* The memory of a NumPy argument; NULL, perhaps with an error, if it is not plainly
   copied. */
static PyObject *memory_of_value(Kernels *kernels, PyObject *value, PyObject *type) {
  PyObject *dtype = PyObject_GetAttr(type, names.dtype), *itemsize = NULL;
  if (dtype != NULL) itemsize = PyObject_GetAttr(dtype, names.itemsize);
  Py_XDECREF(dtype);
  Py_ssize_t bytes = itemsize == NULL ? -1 : PyLong_AsSsize_t(itemsize);
  Py_XDECREF(itemsize);
  Py_buffer view;
  if (bytes < 0 || PyObject_GetBuffer(value, &view, PyBUF_STRIDED_RO) < 0) return NULL;
  Py_ssize_t n = view.itemsize > 0 ? view.len / view.itemsize * bytes : 0;
  PyBuffer_Release(&view);
  HostMemory *memory = memory_new(n, type, kernels->place);
  if (memory != NULL && !copy_value(bytes_of(memory->block), value, n)) Py_CLEAR(memory);
  return (PyObject *)memory;
}

/* The buffer of a slot that holds a value, which is listed in `slots`; NULL, perhaps with
   an error, if there is none for it. */
static PyObject *stage(PyObject *type, PyObject *value, PyObject **slots) {
  if (*slots == NULL && (*slots = PyList_New(0)) == NULL) return NULL;
  PyObject *slot = take_slot(type, value), *buffer = NULL;
  if (slot != NULL && PyList_Append(*slots, slot) == 0)
    buffer = Py_NewRef(PyTuple_GET_ITEM(slot, 0));
  Py_XDECREF(slot);
  return buffer;
}

/* The memory of an array of which a copy is lent, instead of making a buffer: not twice,
   as the buffer would be used again. */
static HostMemory *lendable(PyObject *operand) {
  HostMemory *memory = Py_IS_TYPE(operand, shared.array_type) ? memory_of(operand) : NULL;
  if (memory == NULL || memory->buffer != NULL || memory->block == NULL ||
      memory->was_lent || memory->block->size == 0 || memory->block->size > MAX_LENT ||
      !is_plain_type(memory->aval))
    return NULL;
  memory->was_lent = 1;
  return memory;
}

/* Puts buffers in the place of operands; `slots` is NULL, or lists slots among them. */
static int use_buffers(Runner *self, PyObject *list, PyObject **slots) {
  int stages = slots != NULL && self->stages > 0 && shared.stages && !shared.several_devices;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
    PyObject *operand = PyList_GET_ITEM(list, i), *buffer = NULL;
    HostMemory *memory = stages ? lendable(operand) : NULL;
    if (memory != NULL) buffer = stage(memory->aval, (PyObject *)memory, slots);
    if (buffer == NULL && !PyErr_Occurred()) buffer = as_buffer(operand);
    if (buffer == NULL || PyList_SetItem(list, i, buffer) < 0) return -1;
  }
  return 0;
}

/* Puts operands in the place of NumPy arguments; notes slots that it takes in `slots`. */
static int place_hosts(PyObject *call, PyObject *buffers, PyObject **slots) {
  Runner *runner = Py_IS_TYPE(call, runner_type) ? (Runner *)call : NULL;
  PyObject *kernels =
      runner == NULL || shared.kernels_after < 0 ? NULL : runner->kernels;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(buffers); i++) {
    PyObject *item = PyList_GET_ITEM(buffers, i), *buffer = NULL;
    if (!PyTuple_CheckExact(item)) continue;
    PyObject *value = PyTuple_GET_ITEM(item, 1), *type = PyTuple_GET_ITEM(item, 0);
    if (kernels != NULL) buffer = memory_of_value((Kernels *)kernels, value, type);
    else if (runner != NULL && runner->stages > 0) buffer = stage(type, value, slots);
    if (buffer == NULL && !PyErr_Occurred()) buffer = array_of(value, type);
    TRY(buffer == NULL ? -1 : PyList_SetItem(buffers, i, buffer));
  }
  return WALKED;
}
