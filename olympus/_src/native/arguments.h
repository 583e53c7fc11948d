/* A walk over the arguments of a call, which gives tokens of its key and its operands. A
   part of `calls.c`. */

#define INLINE 40

/* Tokens and buffers, each owned; both start in the memory of the walk itself. */
typedef struct {
  PyObject **items;
  Py_ssize_t size, capacity;
  PyObject *first[INLINE];
} Row;

typedef struct {
  Row tokens, buffers;
  PyObject *beside; /* the first committed array, borrowed, where it tells something */
  int hosts;        /* how many values of the host there were */
} Walk;

static void row_start(Row *row) {
  row->items = row->first;
  row->size = 0;
  row->capacity = INLINE;
}

static void row_end(Row *row) {
  for (Py_ssize_t i = 0; i < row->size; i++) Py_DECREF(row->items[i]);
  if (row->items != row->first) PyMem_Free(row->items);
  row_start(row);
}

static int row_grow(Row *row) {
  Py_ssize_t capacity = 4 * row->capacity;
  PyObject **items = PyMem_New(PyObject *, capacity);
  if (items == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  memcpy(items, row->items, row->size * sizeof(PyObject *));
  if (row->items != row->first) PyMem_Free(row->items);
  row->items = items;
  row->capacity = capacity;
  return 0;
}

/* Takes over a reference, which may be NULL after an error. */
static inline int row_take(Row *row, PyObject *item) {
  if (item == NULL) return -1;
  if (row->size == row->capacity && row_grow(row) < 0) {
    Py_DECREF(item);
    return -1;
  }
  row->items[row->size++] = item;
  return 0;
}

static inline int row_add(Row *row, PyObject *item) {
  return row_take(row, Py_NewRef(item));
}

static void walk_start(Walk *walk) {
  row_start(&walk->tokens);
  row_start(&walk->buffers);
  walk->beside = NULL;
  walk->hosts = 0;
}

static void walk_end(Walk *walk) {
  row_end(&walk->tokens);
  row_end(&walk->buffers);
}

enum { FAILED = -1, UNKNOWN = 0, WALKED = 1 };

#define TRY(condition) \
  do {                 \
    if ((condition) < 0) return FAILED; \
  } while (0)

/* The row as a tuple, which takes over what the row owns. */
static int row_as_tuple(Row *row, PyObject **tuple) {
  if ((*tuple = PyTuple_New(row->size)) == NULL) return FAILED;
  for (Py_ssize_t i = 0; i < row->size; i++)
    PyTuple_SET_ITEM(*tuple, i, row->items[i]);
  row->size = 0;
  return WALKED;
}

/* What stands for a sharding in keys: itself, it would be hashed and compared by Python
   in each call. */
static PyObject *place_of(PyObject *buffer) {
  PyObject *sharding = PyObject_GetAttr(buffer, names.sharding);
  if (sharding == NULL) return NULL;
  for (int i = 0; i < N_PLACES; i++)
    if (shared.places[i].sharding == sharding) {
      Py_DECREF(sharding);
      return Py_NewRef(shared.places[i].number);
    }
  PyObject *number = PyObject_CallOneArg(shared.place_number, sharding);
  if (number == NULL) {
    Py_DECREF(sharding);
    return NULL;
  }
  int i = shared.next_place;
  shared.next_place = (i + 1) % N_PLACES;
  PyObject *old_sharding = shared.places[i].sharding, *old = shared.places[i].number;
  shared.places[i].sharding = sharding;
  shared.places[i].number = Py_NewRef(number);
  Py_XDECREF(old_sharding); /* which may run Python */
  Py_XDECREF(old);
  return number;
}

/* What says where an array lies, borrowed: its buffer, or its memory. */
static PyObject *holder_of(PyObject *array) {
  PyObject *buffer = slot_of(array, shared.buffer);
  if (buffer != NULL) return buffer;
  if (memory_of(array) != NULL) return slot_of(array, shared.parts);
  /* A part of another array has no buffer until it is asked for it. */
  Py_XDECREF(PyObject_GetAttr(array, names.buffer));
  buffer = slot_of(array, shared.buffer);
  if (buffer == NULL && !PyErr_Occurred())
    PyErr_SetString(PyExc_SystemError, "an array has no buffer");
  return buffer;
}

/* Notes an array that says where a call runs; values of the host go there. */
static inline void note_committed(Walk *walk, PyObject *value) {
  if (walk->beside == NULL && Py_IS_TYPE(value, shared.array_type) &&
      slot_of(value, shared.committed) == Py_True)
    walk->beside = value;
}

/* The same for the arguments of a call, of which some may come before it. */
static void look_for_committed(Walk *walk, PyObject *const *args, Py_ssize_t n) {
  for (Py_ssize_t i = 0; shared.several_devices && i < n; i++)
    note_committed(walk, args[i]);
}

static int walk_array(Walk *walk, PyObject *array) {
  PyObject *aval = slot_of(array, shared.aval), *holder;
  PyObject *committed = slot_of(array, shared.committed);
  if (aval == NULL || committed == NULL) return UNKNOWN;
  if ((holder = holder_of(array)) == NULL) return FAILED;
  TRY(row_add(&walk->buffers, array));
  TRY(row_add(&walk->tokens, aval));
  if (shared.several_devices) {
    note_committed(walk, array);
    TRY(row_take(&walk->tokens, place_of(holder)));
    TRY(row_add(&walk->tokens, committed));
  }
  return WALKED;
}

static int walk_value(Walk *walk, PyObject *value);

static int walk_items(Walk *walk, PyObject *type, PyObject *const *items,
                      Py_ssize_t n) {
  TRY(row_add(&walk->tokens, type));
  TRY(row_take(&walk->tokens, PyLong_FromSsize_t(n)));
  for (Py_ssize_t i = 0; i < n; i++) {
    int outcome = walk_value(walk, items[i]);
    if (outcome != WALKED) return outcome;
  }
  return WALKED;
}

/* Whether the first key is a string; 1 and 1.0 are equal keys. */
static int has_plain_names(PyObject *dict) {
  PyObject *name;
  Py_ssize_t at = 0;
  return !PyDict_Next(dict, &at, &name, NULL) || PyUnicode_CheckExact(name);
}

/* In the dict's own order, which the key tells; other orders are other keys. */
static int walk_dict(Walk *walk, PyObject *dict) {
  TRY(row_add(&walk->tokens, (PyObject *)&PyDict_Type));
  TRY(row_take(&walk->tokens, PyLong_FromSsize_t(PyDict_GET_SIZE(dict))));
  PyObject *name, *value;
  Py_ssize_t at = 0;
  while (PyDict_Next(dict, &at, &name, &value)) {
    if (!PyUnicode_CheckExact(name)) return UNKNOWN;
    TRY(row_add(&walk->tokens, name));
    Py_INCREF(value); /* as converting it may run Python, which may change the dict */
    int outcome = walk_value(walk, value);
    Py_DECREF(value);
    if (outcome != WALKED) return outcome;
  }
  return WALKED;
}

#include "host_values.h"

/* An object of a class that the user registered: its structure, which holds what is
   static in it, and its leaves. */
static int walk_registered(Walk *walk, PyObject *value) {
  PyObject *flat = PyObject_CallOneArg(shared.flatten, value);
  if (flat == NULL) return unknown_or_failed();
  PyObject *leaves = PyTuple_GET_ITEM(flat, 0);
  Py_ssize_t n = PyList_GET_SIZE(leaves);
  int is_leaf = n == 1 && PyList_GET_ITEM(leaves, 0) == value;
  int outcome = is_leaf ? UNKNOWN : WALKED;
  if (!is_leaf && row_add(&walk->tokens, PyTuple_GET_ITEM(flat, 1)) < 0) outcome = FAILED;
  for (Py_ssize_t i = 0; i < n && outcome == WALKED; i++)
    outcome = walk_value(walk, PyList_GET_ITEM(leaves, i));
  Py_DECREF(flat);
  return outcome;
}

static int walk_node(Walk *walk, PyObject *value) {
  PyObject *type = (PyObject *)Py_TYPE(value);
  if (PyTuple_CheckExact(value))
    return walk_items(walk, type, &PyTuple_GET_ITEM(value, 0), PyTuple_GET_SIZE(value));
  if (PyList_CheckExact(value)) {
    /* Of its own, as converting a value may run Python, which may change the list. */
    PyObject *items = PyList_AsTuple(value);
    if (items == NULL) return FAILED;
    int outcome =
        walk_items(walk, type, &PyTuple_GET_ITEM(items, 0), PyTuple_GET_SIZE(items));
    Py_DECREF(items);
    return outcome;
  }
  if (PyDict_CheckExact(value) && has_plain_names(value)) return walk_dict(walk, value);
  int known = PySet_Contains(shared.host_types, type);
  if (known < 0) return FAILED;
  if (known) return walk_host_value(walk, value);
  known = PyTuple_Check(value) ? PySet_Contains(shared.record_types, type) : 0;
  if (known < 0) return FAILED;
  if (!known) return walk_registered(walk, value);
  return walk_items(walk, type, &PyTuple_GET_ITEM(value, 0), PyTuple_GET_SIZE(value));
}

static int walk_value(Walk *walk, PyObject *value) {
  if (Py_IS_TYPE(value, shared.array_type)) return walk_array(walk, value);
  if (value == Py_None) {
    TRY(row_add(&walk->tokens, Py_None));
    return WALKED;
  }
  if (Py_EnterRecursiveCall(" in the arguments of a call")) return FAILED;
  int outcome = walk_node(walk, value);
  Py_LeaveRecursiveCall();
  return outcome;
}

/* A static value is told by its type and itself, a tuple by its items, and what is
   equal to values of another meaning as the Python side tells it. */
static int walk_static(Walk *walk, PyObject *value) {
  if (PyTuple_CheckExact(value)) {
    Py_ssize_t n = PyTuple_GET_SIZE(value);
    TRY(row_add(&walk->tokens, (PyObject *)&PyTuple_Type));
    TRY(row_take(&walk->tokens, PyLong_FromSsize_t(n)));
    if (Py_EnterRecursiveCall(" in a static argument of a call")) return FAILED;
    int outcome = WALKED;
    for (Py_ssize_t i = 0; i < n && outcome == WALKED; i++)
      outcome = walk_static(walk, PyTuple_GET_ITEM(value, i));
    Py_LeaveRecursiveCall();
    return outcome;
  }
  if (PyFloat_CheckExact(value) || PyComplex_CheckExact(value) || PyTuple_Check(value) ||
      PyFrozenSet_CheckExact(value) || PyObject_TypeCheck(value, shared.generic)) {
    TRY(row_add(&walk->tokens, Py_Ellipsis));
    TRY(row_take(&walk->tokens, PyObject_CallOneArg(shared.exact, value)));
    return WALKED;
  }
  TRY(row_add(&walk->tokens, (PyObject *)Py_TYPE(value)));
  TRY(row_add(&walk->tokens, value));
  return WALKED;
}
