/* The results of a program, put together as the function gives them. A part of
   `calls.c`. */

/* The next of the results, wrapped. */
static PyObject *next_array(Runner *self, PyObject *raw, Py_ssize_t *next) {
  Py_ssize_t i = (*next)++;
  return new_array(PyList_GET_ITEM(raw, i), PyTuple_GET_ITEM(self->avals, i),
                   self->committed);
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
