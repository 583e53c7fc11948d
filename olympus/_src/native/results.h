/* The results of a program, put together as the function gives them. A part of
   `calls.c`. */

/* The next of the results, wrapped. */
static PyObject *next_array(Runner *self, PyObject *raw, Py_ssize_t *next) {
  Py_ssize_t i = (*next)++;
  PyObject *value = PyList_GET_ITEM(raw, i), *aval = PyTuple_GET_ITEM(self->avals, i);
  return (is_memory(value) ? new_array_in : new_array)(value, aval, self->committed);
}

/* Calls what puts results together, with the next `count` ones in a list. */
static PyObject *build_by_call(Runner *self, PyObject *unflatten, PyObject *count,
                               PyObject *raw, Py_ssize_t *next) {
  Py_ssize_t n = PyLong_AsSsize_t(count);
  PyObject *arrays = PyList_New(n), *out;
  if (arrays == NULL) return NULL;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *array = next_array(self, raw, next);
    if (array == NULL) {
      Py_DECREF(arrays);
      return NULL;
    }
    PyList_SET_ITEM(arrays, i, array);
  }
  out = PyObject_CallOneArg(unflatten, arrays);
  Py_DECREF(arrays);
  return out;
}

/* Puts results together by a form: `...` is a result, None is None, and a tuple is
   `(tuple, forms)`, `(list, forms)`, `(dict, forms, names)`, `(record type, forms)`, or
   `(callable, count)`. */
static PyObject *build(Runner *self, PyObject *form, PyObject *raw, Py_ssize_t *next) {
  if (form == Py_Ellipsis) return next_array(self, raw, next);
  if (form == Py_None) Py_RETURN_NONE;
  PyObject *kind = PyTuple_GET_ITEM(form, 0), *forms = PyTuple_GET_ITEM(form, 1);
  if (!PyTuple_Check(forms)) return build_by_call(self, kind, forms, raw, next);
  Py_ssize_t n = PyTuple_GET_SIZE(forms);
  if (kind == (PyObject *)&PyDict_Type) {
    PyObject *keys = PyTuple_GET_ITEM(form, 2), *dict = PyDict_New();
    for (Py_ssize_t i = 0; dict != NULL && i < n; i++) {
      PyObject *value = build(self, PyTuple_GET_ITEM(forms, i), raw, next);
      if (value == NULL || PyDict_SetItem(dict, PyTuple_GET_ITEM(keys, i), value) < 0)
        Py_CLEAR(dict);
      Py_XDECREF(value);
    }
    return dict;
  }
  int is_list = kind == (PyObject *)&PyList_Type;
  PyObject *items = is_list ? PyList_New(n) : PyTuple_New(n);
  if (items == NULL) return NULL;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *value = build(self, PyTuple_GET_ITEM(forms, i), raw, next);
    if (value == NULL) {
      Py_DECREF(items);
      return NULL;
    }
    if (is_list) PyList_SET_ITEM(items, i, value);
    else PyTuple_SET_ITEM(items, i, value);
  }
  if (is_list || kind == (PyObject *)&PyTuple_Type) return items;
  PyObject *record = PyObject_CallObject(kind, items);
  Py_DECREF(items);
  return record;
}

/* How many results a form takes; -1 with an error if it is none. */
static Py_ssize_t count_results(PyObject *form) {
  if (form == Py_Ellipsis) return 1;
  if (form == Py_None) return 0;
  if (!PyTuple_Check(form) || PyTuple_GET_SIZE(form) < 2) goto wrong;
  if (PyLong_CheckExact(PyTuple_GET_ITEM(form, 1)) &&
      PyCallable_Check(PyTuple_GET_ITEM(form, 0)))
    return PyLong_AsSsize_t(PyTuple_GET_ITEM(form, 1));
  if (!PyType_Check(PyTuple_GET_ITEM(form, 0)) ||
      !PyTuple_Check(PyTuple_GET_ITEM(form, 1)))
    goto wrong;
  PyObject *forms = PyTuple_GET_ITEM(form, 1);
  if (PyTuple_GET_ITEM(form, 0) == (PyObject *)&PyDict_Type &&
      (PyTuple_GET_SIZE(form) != 3 || !PyTuple_Check(PyTuple_GET_ITEM(form, 2)) ||
       PyTuple_GET_SIZE(PyTuple_GET_ITEM(form, 2)) != PyTuple_GET_SIZE(forms)))
    goto wrong;
  Py_ssize_t total = 0;
  if (Py_EnterRecursiveCall(" in a form of results")) return -1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(forms) && total >= 0; i++) {
    Py_ssize_t n = count_results(PyTuple_GET_ITEM(forms, i));
    total = n < 0 ? -1 : total + n;
  }
  Py_LeaveRecursiveCall();
  return total;
wrong:
  PyErr_SetString(PyExc_ValueError, "Runner: the form of the results is none");
  return -1;
}

/* Looks for host kernels of a program that was run often; -1 with an error set. */
static int find_kernels(Runner *self) {
  PyObject *find = self->find_kernels;
  self->find_kernels = NULL; /* at most once */
  PyObject *kernels = PyObject_CallNoArgs(find);
  Py_DECREF(find);
  if (kernels == NULL) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return -1;
    PyErr_Clear(); /* the runtime runs it, as before */
  } else if (Py_IS_TYPE(kernels, kernels_type) &&
             ((Kernels *)kernels)->n_results == PyTuple_GET_SIZE(self->avals)) {
    self->kernels = kernels;
  } else {
    Py_DECREF(kernels);
  }
  return 0;
}

/* What an operand has its value in, borrowed; arrays may share it. */
static PyObject *owner_of(PyObject *operand) {
  if (!Py_IS_TYPE(operand, shared.array_type)) return operand;
  PyObject *buffer = slot_of(operand, shared.buffer);
  HostMemory *memory = memory_of(operand);
  if (buffer == NULL && memory != NULL)
    buffer = memory->buffer != NULL ? memory->buffer : (PyObject *)memory;
  return buffer != NULL ? buffer : operand;
}

/* Whether a donated operand is another operand too. */
static int is_donated_twice(Runner *self, PyObject *operands) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->donated); i++) {
    Py_ssize_t at = PyLong_AsSsize_t(PyTuple_GET_ITEM(self->donated, i));
    if (at < 0 || at >= PyList_GET_SIZE(operands)) return 1;
    PyObject *owner = owner_of(PyList_GET_ITEM(operands, at));
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(operands); k++)
      if (k != at && owner_of(PyList_GET_ITEM(operands, k)) == owner) return 1;
  }
  return 0;
}

/* Frees the memory of donated operands, whose values kernels have used. */
static int end_donated(Runner *self, PyObject *operands) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->donated); i++) {
    PyObject *operand =
        PyList_GET_ITEM(operands, PyLong_AsSsize_t(PyTuple_GET_ITEM(self->donated, i)));
    PyObject *buffer = operand;
    if (Py_IS_TYPE(operand, shared.array_type)) {
      HostMemory *memory = memory_of(operand);
      PyObject **host = (PyObject **)((char *)operand + shared.host);
      buffer = slot_of(operand, shared.buffer);
      if (memory != NULL) {
        if (buffer == NULL) buffer = memory->buffer;
        memory_end(memory);
      }
      Py_XSETREF(*host, Py_NewRef(Py_None)); /* a view of it */
    } else if (is_memory(operand)) {
      continue; /* a copy of a value of the host */
    }
    if (buffer == NULL) continue;
    PyObject *done = PyObject_CallOneArg(shared.delete_buffer, buffer);
    if (done == NULL) return -1;
    Py_DECREF(done);
  }
  return 0;
}

/* What host kernels give, as the function gives it; None if the runtime must run. */
static PyObject *run_by_kernels(Runner *self, PyObject *buffers) {
  if (PyTuple_GET_SIZE(self->donated) > 0 && is_donated_twice(self, buffers))
    Py_RETURN_NONE; /* of which the runtime says that it is wrong */
  PyObject *raw = run_kernels((Kernels *)self->kernels, buffers, self->avals);
  if (raw == NULL || raw == Py_None) return raw;
  if (end_donated(self, buffers) < 0) {
    Py_DECREF(raw);
    return NULL;
  }
  Py_ssize_t next = 0;
  PyObject *out = build(self, self->form, raw, &next);
  Py_DECREF(raw);
  return out;
}

