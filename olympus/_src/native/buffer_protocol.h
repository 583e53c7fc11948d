/* Reading an array through Python's buffer protocol. A part of `calls.c`. */

static int is_plain_type(PyObject *aval) {
  if (aval == shared.plain_aval) return 1; /* most reads in a row are of one type */
  PyObject *storage = PyObject_GetAttr(aval, names.storage), *explicit_ = NULL;
  int plain = storage == aval; /* else its elements stand for others */
  if (plain) {
    explicit_ = PyObject_GetAttr(aval, names.explicit_);
    plain = explicit_ == Py_None; /* else it may be a sum still to be taken */
  }
  Py_XDECREF(storage);
  Py_XDECREF(explicit_);
  clear_exception();
  if (plain) Py_XSETREF(shared.plain_aval, Py_NewRef(aval));
  return plain;
}

/* "=i" means the same as "i", which `memoryview` reads; longs may have other sizes. What
   "=q" is, NumPy takes for a type beside int64 where a long has 64 bits as well. */
static void use_native_format(Py_buffer *view) {
  const char *format = view->format;
  if (format == NULL || format[0] != '=' || strchr("lLnN", format[1]) != NULL) return;
  if (sizeof(long) == 8 && format[1] == 'q')
    view->format = "l";
  else if (sizeof(long) == 8 && format[1] == 'Q')
    view->format = "L";
  else
    view->format++;
}

/* How Python calls the elements of a dtype; NULL if it has no name for them. */
static const char *element_format(PyObject *aval) {
  static const char *formats[] = {"?", "b", "B", "h", "H", "i", "I",  "l",
                                  "L", "e", "f", "d", "Zf", "Zd"};
  static const char characters[] = "?bBhHiIlLefdFD"; /* NumPy's */
  PyObject *dtype = PyObject_GetAttr(aval, names.dtype), *character = NULL;
  if (dtype != NULL) character = PyObject_GetAttr(dtype, names.character);
  Py_XDECREF(dtype);
  const char *text = character == NULL ? NULL : PyUnicode_AsUTF8(character);
  const char *place = text != NULL && text[0] ? strchr(characters, text[0]) : NULL;
  Py_XDECREF(character);
  return place == NULL ? NULL : formats[place - characters];
}

/* The sizes of the axes, and the bytes from one element to the next, in new memory. */
static Py_ssize_t *rows_of(PyObject *aval, Py_ssize_t itemsize, Py_ssize_t size, int *ndim) {
  PyObject *shape = PyObject_GetAttr(aval, names.shape);
  Py_ssize_t n = shape != NULL && PyTuple_Check(shape) ? PyTuple_GET_SIZE(shape) : -1;
  Py_ssize_t *rows = n < 0 ? NULL : PyMem_New(Py_ssize_t, 2 * n + 1);
  Py_ssize_t stride = itemsize;
  for (Py_ssize_t i = n - 1; rows != NULL && i >= 0; i--) {
    rows[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i));
    rows[n + i] = stride;
    stride *= rows[i];
  }
  Py_XDECREF(shape);
  *ndim = (int)n;
  if (rows != NULL && (PyErr_Occurred() || stride != size)) {
    PyMem_Free(rows);
    return NULL;
  }
  return rows;
}

static Py_ssize_t element_size(const char *format) {
  switch (format[strlen(format) - 1]) {
    case '?': case 'b': case 'B': return 1;
    case 'h': case 'H': case 'e': return 2;
    case 'i': case 'I': return 4;
    case 'f': return format[0] == 'Z' ? 8 : 4;
    default: return format[0] == 'Z' ? 16 : 8;
  }
}

/* A read-only view of a memory, which stays when a program takes that; -1, without an
   error, if there is none. */
static int view_memory(HostMemory *memory, Py_buffer *view, int flags) {
  Py_ssize_t size = memory->block == NULL ? -1 : memory->block->size;
  Block *block = NULL;
  char *bytes = size < 0 ? NULL : memory_address(memory, size, &block);
  PyObject *owner = bytes == NULL || (flags & PyBUF_WRITABLE) ? NULL : bytes_new(block);
  if (owner == NULL) return -1;
  int ndim;
  const char *format = element_format(memory->aval);
  Py_ssize_t *rows =
      format == NULL ? NULL : rows_of(memory->aval, element_size(format), size, &ndim);
  if (rows == NULL) {
    Py_DECREF(owner);
    return -1;
  }
  *view = (Py_buffer){.buf = bytes, .obj = owner, .len = size, .readonly = 1};
  view->itemsize = element_size(format);
  view->format = flags & PyBUF_FORMAT ? (char *)format : NULL;
  view->internal = rows;
  view->ndim = ndim;
  view->shape = rows;
  view->strides = rows + ndim;
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS &&
      !PyBuffer_IsContiguous(view, 'F')) {
    PyBuffer_Release(view);
    return -1;
  }
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) view->strides = NULL;
  if (!(flags & PyBUF_ND)) { /* as jaxlib's: of readers, some look at sizes that are none */
    view->shape = NULL;
    view->ndim = 0;
  }
  return 0;
}

/* A read-only view of a value that is computed. Everything else is refused, and then
   whoever reads asks `__array__`, which waits, converts, or says what is wrong. */
static int array_getbuffer(PyObject *array, Py_buffer *view, int flags) {
  PyObject *buffer = slot_of(array, shared.buffer), *aval = slot_of(array, shared.aval);
  HostMemory *memory = memory_of(array);
  view->obj = NULL;
  if (aval != NULL && is_plain_type(aval)) {
    if (memory != NULL && view_memory(memory, view, flags) == 0) return 0;
    clear_exception();
    if (buffer != NULL && !PyErr_Occurred() && is_readable(buffer) &&
        PyObject_GetBuffer(buffer, view, flags) == 0) {
      use_native_format(view);
      return 0;
    }
    clear_exception();
  }
  if (!PyErr_Occurred())
    PyErr_SetString(PyExc_BufferError,
                    "Array: a view of the memory requires a computed value of one of "
                    "Python's own element types on the CPU; use numpy.asarray");
  return -1;
}
