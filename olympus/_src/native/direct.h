/* Direct: an operation on arrays that is one program, called outside of traces. A part of
   `calls.c`. */

/* Stands for a function of the library: an error that leaves it loses the library's own
   frames. If `learn` is not None, calls whose arrays are arrays, and whose other
   arguments are told by value, run a program at once that it found for them. */
typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *fun;
  PyObject *learn; /* gives what runs calls like one, or None */
  PyObject *table; /* by key: how many calls there were, a Runner, or False for never */
  PyObject *named; /* arguments that are as the leading operands, if given by name */
  PyObject *dict, *weakrefs;
  Py_ssize_t operands; /* how many leading arguments are arrays, where they are numbers */
} Direct;

#define MAX_DIRECT 1024
#define PLAIN_CALLS 4 /* of a kind, before one is learnt: most have no more */

/* A dtype, or what stands for one: a class is told by its identity. */
static int walk_dtype(Walk *walk, PyObject *value) {
  if (Py_IS_TYPE(value, shared.scalar_type)) { /* past its methods, which are Python's */
    TRY(row_add(&walk->tokens, (PyObject *)shared.scalar_type));
    TRY(row_take(&walk->tokens, PyObject_GetAttr(value, names.dtype)));
    return WALKED;
  }
  if (!PyType_CheckExact(value) && !PyObject_TypeCheck(value, shared.dtype))
    return UNKNOWN;
  TRY(row_add(&walk->tokens, (PyObject *)Py_TYPE(value)));
  TRY(row_add(&walk->tokens, value));
  return WALKED;
}

/* Whether an integer of NumPy's keeps its value in an array of 32 bits; others may. */
static int keeps_value(PyObject *value) {
  if (!PyObject_TypeCheck(value, shared.generic) || !PyIndex_Check(value)) return 1;
  PyObject *number = PyNumber_Index(value);
  if (number == NULL) { /* a boolean */
    PyErr_Clear();
    return 1;
  }
  int overflow;
  long long n = PyLong_AsLongLongAndOverflow(number, &overflow);
  Py_DECREF(number);
  return !overflow && n >= INT32_MIN && n <= INT32_MAX;
}

/* Whether a value of the host stands for an array: NumPy's arrays do, and among the
   leading operands numbers too, which are told by value anywhere else. Functions may
   know what to do with an integer that an array would not keep. */
static int is_host_operand(PyObject *value, int leading) {
  if (!leading) return Py_IS_TYPE(value, shared.ndarray);
  int known = PySet_Contains(shared.host_types, (PyObject *)Py_TYPE(value));
  return known > 0 ? keeps_value(value) : known;
}

static int walk_operand(Walk *walk, PyObject *value, int leading) {
  if (Py_IS_TYPE(value, shared.array_type)) return walk_array(walk, value);
  int is_list = PyList_CheckExact(value);
  if (is_list || PyTuple_CheckExact(value)) {
    TRY(row_add(&walk->tokens, (PyObject *)Py_TYPE(value)));
    TRY(row_take(&walk->tokens, PyLong_FromSsize_t(Py_SIZE(value))));
    if (Py_EnterRecursiveCall(" in the arguments of a call")) return FAILED;
    int outcome = WALKED;
    for (Py_ssize_t i = 0; outcome == WALKED && i < Py_SIZE(value); i++) {
      PyObject *item = Py_NewRef(is_list ? PyList_GET_ITEM(value, i)
                                         : PyTuple_GET_ITEM(value, i));
      outcome = walk_operand(walk, item, leading);
      Py_DECREF(item);
    }
    Py_LeaveRecursiveCall();
    return outcome;
  }
  int known = is_host_operand(value, leading);
  if (known != 0) return known < 0 ? FAILED : walk_host_value(walk, value);
  if (!PyUnicode_CheckExact(value) && !PyLong_CheckExact(value) &&
      !PyFloat_CheckExact(value) && !PyBool_Check(value) && value != Py_None)
    return walk_dtype(walk, value);
  return walk_static(walk, value);
}

static int find_direct_key(Direct *self, Walk *walk, PyObject *const *args,
                           Py_ssize_t nargs, PyObject *kwnames, PyObject **key) {
  Row *tokens = &walk->tokens;
  TRY(row_take(tokens, PyObject_CallNoArgs(shared.trace_context)));
  TRY(row_take(tokens, PyLong_FromSsize_t(nargs)));
  look_for_committed(walk, args, nargs);
  for (Py_ssize_t i = 0; i < nargs; i++) {
    int outcome = walk_operand(walk, args[i], i < self->operands);
    if (outcome != WALKED) return outcome;
  }
  Py_ssize_t nkw = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
  for (Py_ssize_t i = 0; i < nkw; i++) {
    PyObject *name = PyTuple_GET_ITEM(kwnames, i);
    TRY(row_add(tokens, name));
    int is_operand = PySet_Contains(self->named, name);
    TRY(is_operand);
    int outcome = walk_operand(walk, args[nargs + i], is_operand);
    if (outcome != WALKED) return outcome;
  }
  return row_as_tuple(tokens, key);
}

static void remember_calls(Direct *self, PyObject *key, long calls) {
  PyObject *number = PyLong_FromLong(calls);
  if (number != NULL) PyDict_SetItem(self->table, key, number);
  Py_XDECREF(number);
}

/* Finds what runs the call; nothing, without an error, if the function does. */
static void find_runner(Direct *self, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames, Found *found) {
  Walk walk;
  PyObject *key = NULL;
  walk_start(&walk);
  int outcome = find_direct_key(self, &walk, args, nargs, kwnames, &key);
  if (outcome == WALKED) {
    PyObject *known = PyDict_GetItemWithError(self->table, key); /* borrowed */
    if (known == NULL && !PyErr_Occurred()) {
      if (PyDict_GET_SIZE(self->table) >= MAX_DIRECT) PyDict_Clear(self->table);
      remember_calls(self, key, 1);
    } else if (known != NULL && PyLong_CheckExact(known)) {
      long calls = PyLong_AsLong(known);
      if (calls < PLAIN_CALLS) {
        remember_calls(self, key, calls + 1);
      } else { /* worth learning */
        PyObject *learned = PyObject_Vectorcall(self->learn, args, nargs, kwnames);
        if (learned != NULL) {
          PyDict_SetItem(self->table, key, learned == Py_None ? Py_False : learned);
          Py_DECREF(learned);
        }
      }
    } else if (known != NULL && Py_IS_TYPE(known, runner_type)) {
      found->call = Py_NewRef(known);
      found->buffers = ordered(&walk, Py_None);
    }
    Py_DECREF(key);
  }
  walk_end(&walk);
  place_found(found);
}

static PyObject *direct_vectorcall(PyObject *object, PyObject *const *args,
                                   size_t nargsf, PyObject *kwnames) {
  Direct *self = (Direct *)object;
  Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
  int learns = self->learn != Py_None, evaluating = learns ? is_evaluating() : 0;
  if (evaluating < 0) return NULL;
  if (evaluating) {
    Found found = {NULL, NULL, NULL, NULL};
    find_runner(self, args, nargs, kwnames, &found);
    if (found.call != NULL) {
      PyObject *out = run_found(&found);
      found_end(&found);
      if (out != NULL || !PyErr_ExceptionMatches(PyExc_Exception)) return out;
      PyErr_Clear(); /* the function raises it with all that it says */
    } else if (PyErr_Occurred()) {
      return NULL;
    }
  }
  PyObject *out = PyObject_Vectorcall(self->fun, args, nargsf, kwnames);
  if (out == NULL) hide_frames();
  return out;
}

static PyObject *direct_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"fun", "learn", "operands", "named", NULL};
  PyObject *fun, *learn, *named = NULL;
  Py_ssize_t operands;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOn|O!", words, &fun, &learn, &operands,
                                   &PyFrozenSet_Type, &named))
    return NULL;
  Direct *self = (Direct *)type->tp_alloc(type, 0);
  if (self == NULL) return NULL;
  self->vectorcall = direct_vectorcall;
  self->fun = Py_NewRef(fun);
  self->learn = Py_NewRef(learn);
  self->operands = operands;
  self->named = named == NULL ? PyFrozenSet_New(NULL) : Py_NewRef(named);
  self->table = PyDict_New();
  self->dict = PyDict_New();
  if (self->named == NULL || self->table == NULL || self->dict == NULL) {
    Py_DECREF(self);
    return NULL;
  }
  return (PyObject *)self;
}

COLLECTED(direct, Direct, fun, dict)

static void direct_end(PyObject *self) {
  if (((Direct *)self)->weakrefs != NULL) PyObject_ClearWeakRefs(self);
  direct_dealloc(self);
}

static PyObject *direct_get(PyObject *self, PyObject *instance, PyObject *owner) {
  (void)owner;
  if (instance == NULL || instance == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

/* What is not its own is the function's: its code, defaults, annotations, ... */
static PyObject *direct_getattr(PyObject *object, PyObject *name) {
  PyObject *value = PyObject_GenericGetAttr(object, name);
  if (value != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return value;
  PyErr_Clear();
  return PyObject_GetAttr(((Direct *)object)->fun, name);
}

static PyObject *direct_class(PyObject *self, void *unused) {
  (void)self;
  (void)unused;
  return Py_NewRef((PyObject *)&PyFunction_Type); /* `inspect` asks this */
}

static PyObject *direct_repr(PyObject *self) {
  return PyObject_Repr(((Direct *)self)->fun);
}

/* It equals what it stands for, which tables of functions may have as a key. */
static PyObject *direct_compare(PyObject *left, PyObject *right, int operation) {
  PyObject *fun = ((Direct *)left)->fun;
  if (Py_IS_TYPE(right, Py_TYPE(left))) right = ((Direct *)right)->fun;
  if ((operation != Py_EQ && operation != Py_NE) || !PyFunction_Check(right))
    Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((fun == right) == (operation == Py_EQ));
}

static Py_hash_t direct_hash(PyObject *self) {
  return PyObject_Hash(((Direct *)self)->fun);
}

static PyObject *direct_reduce(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyObject_GetAttrString(self, "__qualname__");
}

static PyObject *direct_forget(PyObject *self, PyObject *unused) {
  (void)unused;
  PyDict_Clear(((Direct *)self)->table);
  Py_RETURN_NONE;
}

static PyMethodDef direct_methods[] = {
    {"__reduce__", direct_reduce, METH_NOARGS, "It is pickled by its name."},
    {"forget", direct_forget, METH_NOARGS, "Forgets what it learnt."},
    {NULL}};

static PyGetSetDef direct_getters[] = {
    {"__class__", direct_class, NULL, "As of the function it stands for.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL}};

static PyMemberDef direct_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Direct, vectorcall), READONLY},
    {"__dictoffset__", T_PYSSIZET, offsetof(Direct, dict), READONLY},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Direct, weakrefs), READONLY},
    {"table", T_OBJECT_EX, offsetof(Direct, table), READONLY},
    {NULL}};

static PyType_Slot direct_slots[] = {
    {Py_tp_new, direct_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_repr, direct_repr},
    {Py_tp_richcompare, direct_compare},
    {Py_tp_hash, direct_hash},
    {Py_tp_getattro, direct_getattr},
    {Py_tp_descr_get, direct_get},
    {Py_tp_traverse, direct_traverse},
    {Py_tp_clear, direct_clear},
    {Py_tp_dealloc, direct_end},
    {Py_tp_methods, direct_methods},
    {Py_tp_getset, direct_getters},
    {Py_tp_members, direct_members},
    {0, NULL}};

static PyType_Spec direct_spec = {
    "olympus._src.native.calls.Direct", sizeof(Direct), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
        Py_TPFLAGS_METHOD_DESCRIPTOR,
    direct_slots};

static PyTypeObject *direct_type;
