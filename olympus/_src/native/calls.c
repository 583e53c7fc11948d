/* The way of a call from the user's arguments to the results, without Python's frames.

   Three types: `Runner` runs a loaded program on buffers and wraps what comes back,
   `Caller` finds the program of a call in a table and hands it to its runner, and
   `BoundCaller` is a caller as the method of an instance. Whatever is not found here
   goes to the Python path, which gives the same results and enters what it found.

   A key is a sequence of tokens that says all that the choice of a program depends on:
   the settings, the containers of the arguments with their lengths and names, the type
   of each array, where it lies if there are several devices, and the static values.
   Sequences are prefix-free, so that two calls of different structure never share one.
   Types of arrays are interned: they compare by identity. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <structmember.h>

#if defined(__linux__) && defined(__x86_64__)
#include <dlfcn.h>
#include <sys/mman.h>
#define HAS_HOST_KERNELS 1 /* elsewhere XLA's runtime runs all programs */
#else
#define HAS_HOST_KERNELS 0
#endif

#define VERSION 14 /* of what Python passes to and takes from this module */

#define N_PLACES 4

/* ---- what the Python side connects ------------------------------------------------ */

static struct {
  PyTypeObject *array_type;   /* ArrayImpl */
  PyTypeObject *generic;      /* the base of NumPy's scalars */
  PyTypeObject *ndarray, *dtype; /* NumPy's */
  PyTypeObject *scalar_type;  /* the class of `numpy.float32` and others */
  PyTypeObject *memory_type; /* HostMemory, with what Python adds */
  Py_ssize_t buffer, aval, committed, host, parts, position; /* offsets of its slots */
  PyObject *current;          /* what tracing knows of the running thread */
  PyObject *eval_trace;       /* its trace when nothing is traced */
  PyObject *trace_context;    /* gives the settings that tracing depends on */
  PyObject *exact;            /* the key of a static value */
  PyObject *as_operand;       /* the array of a value of the host */
  PyObject *operand_beside;   /* the same, beside a committed array */
  PyObject *staged_types;     /* by settings, dtype and shape; None: never staged */
  PyObject *find_staged_type; /* finds and enters one */
  PyObject *slots;            /* by such a type a list of slots that nobody uses */
  PyObject *add_slot;         /* makes another slot for a type */
  PyObject *scalars;          /* arrays of numbers that were operands, by a key */
  PyObject *default_mesh;     /* a setting; in its blocks numbers are somewhere else */
  PyObject *host_types;       /* the types of such values, a set */
  PyObject *record_types;     /* namedtuples that are known to be nodes, a set */
  PyObject *flatten;          /* the leaves of a value, and its structure */
  PyObject *bound_attribute;  /* an attribute of a bound caller */
  PyObject *hide;             /* takes the library's own frames out of an error */
  PyObject *plain_aval;       /* the last type that was found to be plain */
  PyObject *place_number;     /* a number that equal shardings share */
  PyObject *delete_buffer;    /* frees the memory of a buffer */
  PyObject *copy_to_memory;   /* of an array whose buffer cannot be read from here */
  PyObject *zero;             /* the position of a value that lies in host memory */
  PyObject *kept;             /* the same of an array that later calls take too */
  struct {
    PyObject *sharding, *number;
  } places[N_PLACES];         /* those that were met last */
  int next_place;
  int several_devices, stages;
  int at_home; /* whether a program that takes turns runs */
  long kernels_after; /* so many runs of a program; negative: never */
} shared;

static struct {
  PyObject *storage, *explicit_, *is_ready;
  PyObject *dtype, *shape, *trace, *call, *sharding, *buffer, *consume, *is_deleted;
  PyObject *slow, *failed;
  PyObject *depth, *block, *copy, *to_buffer, *itemsize, *place_sharding, *character, *blocks;
  PyObject *consume_token, *with_tokens; /* the second is a tuple of that name */
} names;

static inline PyObject *slot_of(PyObject *self, Py_ssize_t offset) {
  return *(PyObject **)((char *)self + offset); /* borrowed; NULL if unset */
}

static inline void set_slot(PyObject *self, Py_ssize_t offset, PyObject *value) {
  *(PyObject **)((char *)self + offset) = Py_NewRef(value);
}

/* ---- what objects hold: references in a row, from one field to another ------------- */

#define HELD(type, first, last) offsetof(type, first), offsetof(type, last)

static int visit_held(PyObject *self, size_t first, size_t last, visitproc visit,
                      void *arg) {
  Py_VISIT(Py_TYPE(self));
  for (size_t at = first; at <= last; at += sizeof(PyObject *))
    Py_VISIT(*(PyObject **)((char *)self + at));
  return 0;
}

static int clear_held(PyObject *self, size_t first, size_t last) {
  for (size_t at = first; at <= last; at += sizeof(PyObject *)) {
    PyObject **held = (PyObject **)((char *)self + at);
    Py_CLEAR(*held);
  }
  return 0;
}

static void free_object(PyObject *self, inquiry clear) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/* What the collector and the last reference do to a type with these fields. */
#define COLLECTED(name, type, first, last)                                     \
  static int name##_traverse(PyObject *self, visitproc visit, void *arg) {     \
    return visit_held(self, HELD(type, first, last), visit, arg);              \
  }                                                                            \
  static int name##_clear(PyObject *self) {                                    \
    return clear_held(self, HELD(type, first, last));                          \
  }                                                                            \
  static void name##_dealloc(PyObject *self) { free_object(self, name##_clear); }

/* ---- errors that the Python side looks at ------------------------------------------- */

typedef struct {
  PyObject *type, *error, *traceback;
} Raised;

/* Takes the error that is set, with its traceback in it. */
static Raised take_error(void) {
  Raised raised;
  PyErr_Fetch(&raised.type, &raised.error, &raised.traceback);
  PyErr_NormalizeException(&raised.type, &raised.error, &raised.traceback);
  if (raised.traceback != NULL)
    PyException_SetTraceback(raised.error, raised.traceback);
  return raised;
}

/* Sets it again, unless another one is set; the Python side may have shortened it. */
static void set_error(Raised raised) {
  if (PyErr_Occurred()) {
    Py_XDECREF(raised.type);
    Py_XDECREF(raised.error);
    Py_XDECREF(raised.traceback);
    return;
  }
  Py_XSETREF(raised.traceback, PyException_GetTraceback(raised.error));
  PyErr_Restore(raised.type, raised.error, raised.traceback);
}

/* Clears an error that another way gets past; an interrupt stays set. */
static void clear_exception(void) {
  if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();
}

/* Whether a method gives a certain object. */
static int says(PyObject *object, PyObject *method, PyObject *expected) {
  PyObject *answer = PyObject_CallMethodNoArgs(object, method);
  Py_XDECREF(answer);
  return answer == expected;
}

/* ---- Runner: buffers in, the user's results out ------------------------------------ */

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *run;       /* takes a list of buffers */
  PyObject *handlers;  /* a list, one for each result */
  PyObject *avals;     /* a tuple, the same */
  PyObject *committed; /* True or False */
  PyObject *donated;   /* a tuple of positions */
  PyObject *on_error;  /* raises what a user should see; takes the error and buffers */
  PyObject *form;      /* how results are put together; see `build` */
  /* None, or for a program over a mesh a tuple of: the shardings of the arguments, a
     tuple; what puts arguments there; and what is told the token of each run. */
  PyObject *division;
  /* None where it takes the caller's buffers, or a tuple of what it takes: buffers of its
     own, and positions of the caller's. */
  PyObject *taken;
  /* None, or for a program that calls Python a tuple of: an object whose `depth` says how
     many callbacks the thread is inside; what runs the program elsewhere; what waits for
     a result, and says why there is none; and what must live as long as the runner. */
  PyObject *turn;
  /* NULL, or what gives the program's host kernels or None; and these, once found. */
  PyObject *find_kernels, *kernels;
  long runs;       /* before they were found */
  int stages;      /* how often it may still be running when its call returns */
} Runner;

static PyObject *new_array(PyObject *buffer, PyObject *aval, PyObject *committed) {
  PyObject *array = shared.array_type->tp_alloc(shared.array_type, 0);
  if (array == NULL) return NULL;
  set_slot(array, shared.buffer, buffer);
  set_slot(array, shared.parts, Py_None);
  set_slot(array, shared.aval, aval);
  set_slot(array, shared.committed, committed);
  set_slot(array, shared.host, Py_None);
  return array;
}

#include "host_memory.h"
#include "buffer_protocol.h"
#include "host_kernels.h"

/* Frees the memory of donated arguments that the program did not take. */
static int delete_donated(Runner *self, PyObject *buffers) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->donated); i++) {
    Py_ssize_t at = PyLong_AsSsize_t(PyTuple_GET_ITEM(self->donated, i));
    PyObject *buffer = PyList_GetItem(buffers, at);
    if (buffer == NULL) return -1;
    if (says(buffer, names.is_deleted, Py_True)) continue;
    if (PyErr_Occurred()) return -1;
    PyObject *done = PyObject_CallOneArg(shared.delete_buffer, buffer);
    if (done == NULL) return -1;
    Py_DECREF(done);
  }
  return 0;
}

#include "results.h"

/* Has the Python side raise what a user should see for the error that is set. */
static void explain_error(Runner *self, PyObject *buffers) {
  Raised raised = take_error();
  PyObject *args[] = {raised.error, buffers};
  Py_XDECREF(PyObject_Vectorcall(self->on_error, args, 2, NULL));
  set_error(raised);
}

static PyObject *check_results(Runner *self, PyObject *raw) {
  if (PyList_CheckExact(raw) && PyList_GET_SIZE(raw) == PyTuple_GET_SIZE(self->avals))
    return raw;
  PyErr_SetString(PyExc_SystemError, "a program gave another number of results");
  Py_DECREF(raw);
  return NULL;
}

/* The raw results of a run, which `results` is, or an error set. */
static PyObject *take_results(Runner *self, PyObject *results) {
  PyObject *args[] = {results, self->handlers};
  PyObject *raw = PyObject_VectorcallMethod(
      names.consume, args, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
  return raw == NULL ? NULL : check_results(self, raw);
}

/* Whether each buffer lies where the program takes it; -1 with an error set.

   The program would read the wrong parts of one that is divided in another way. Equal
   shardings are one object; donated buffers have more checks, on the Python side. */
static int are_in_place(Runner *self, PyObject *buffers) {
  PyObject *shardings = PyTuple_GET_ITEM(self->division, 0);
  Py_ssize_t n = PyList_GET_SIZE(buffers);
  if (PyTuple_GET_SIZE(self->donated) > 0 || PyTuple_GET_SIZE(shardings) != n) return 0;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *buffer = PyList_GET_ITEM(buffers, i);
    PyObject *sharding = PyObject_GetAttr(buffer, names.sharding);
    if (sharding == NULL) return -1;
    Py_DECREF(sharding); /* the buffer holds it */
    if (sharding != PyTuple_GET_ITEM(shardings, i)) return 0;
  }
  return 1;
}

/* Runs a program over a mesh on buffers that are in place, and tells of the run. */
static PyObject *run_in_place(Runner *self, PyObject *buffers) {
  PyObject *args[] = {buffers, Py_True};
  PyObject *results = PyObject_Vectorcall(self->run, args, 1, names.with_tokens);
  if (results == NULL) return NULL;
  PyObject *token = PyObject_CallMethodNoArgs(results, names.consume_token);
  PyObject *raw = token == NULL ? NULL : take_results(self, results);
  Py_DECREF(results);
  if (raw != NULL) {
    PyObject *told = PyObject_CallOneArg(PyTuple_GET_ITEM(self->division, 2), token);
    if (told == NULL) Py_CLEAR(raw);
    Py_XDECREF(told);
  }
  Py_XDECREF(token);
  return raw;
}

/* The raw results of a program over a mesh; puts other buffers in the list's place. */
static PyObject *run_divided(Runner *self, PyObject **buffers) {
  int in_place = are_in_place(self, *buffers);
  if (in_place < 0) return NULL;
  if (!in_place) {
    PyObject *put = PyTuple_GET_ITEM(self->division, 1);
    PyObject *placed = PyObject_CallOneArg(put, *buffers);
    if (placed == NULL) return NULL;
    Py_SETREF(*buffers, placed);
    if (!PyList_CheckExact(placed)) {
      PyErr_SetString(PyExc_SystemError, "arguments were not put in a list");
      return NULL;
    }
  }
  PyObject *raw = run_in_place(self, *buffers);
  if (raw == NULL) explain_error(self, *buffers);
  return raw;
}

static PyObject *run_plain(Runner *self, PyObject *buffers) {
  PyObject *results = PyObject_CallOneArg(self->run, buffers), *raw = NULL;
  if (results != NULL) {
    raw = take_results(self, results);
    Py_DECREF(results);
  }
  if (raw == NULL) explain_error(self, buffers);
  return raw;
}

/* Waits for a result. */
static int finish(Runner *self, PyObject *result) {
  PyObject *done = NULL;
  if (says(result, names.is_ready, Py_True))
    done = PyObject_CallMethodNoArgs(result, names.block);
  clear_exception();
  if (done == NULL && !PyErr_Occurred())
    done = PyObject_CallOneArg(PyTuple_GET_ITEM(self->turn, 2), result);
  Py_XDECREF(done);
  return done == NULL ? -1 : 0;
}

/* Runs a program that calls Python to its end: on the usual client if no callback runs
   it and no other one is there, else elsewhere. */
static PyObject *run_in_turn(Runner *self, PyObject *buffers) {
  PyObject *depth = PyObject_GetAttr(PyTuple_GET_ITEM(self->turn, 0), names.depth);
  if (depth == NULL) return NULL;
  int nested = PyObject_IsTrue(depth);
  Py_DECREF(depth);
  if (nested || shared.at_home) {
    PyObject *raw = PyObject_CallOneArg(PyTuple_GET_ITEM(self->turn, 1), buffers);
    return raw == NULL ? NULL : check_results(self, raw);
  }
  shared.at_home = 1;
  PyObject *raw = run_plain(self, buffers);
  if (raw != NULL && finish(self, PyList_GET_ITEM(raw, 0)) < 0) Py_CLEAR(raw);
  shared.at_home = 0;
  return raw;
}

/* The buffers that the program takes: its own, and of the caller's. */
static PyObject *select_buffers(Runner *self, PyObject *buffers) {
  if (self->taken == Py_None) return Py_NewRef(buffers);
  Py_ssize_t n = PyTuple_GET_SIZE(self->taken);
  PyObject *selected = PyList_New(n);
  for (Py_ssize_t i = 0; selected != NULL && i < n; i++) {
    PyObject *buffer = PyTuple_GET_ITEM(self->taken, i);
    if (PyLong_CheckExact(buffer))
      buffer = PyList_GetItem(buffers, PyLong_AsSsize_t(buffer));
    if (buffer == NULL) Py_CLEAR(selected);
    else PyList_SET_ITEM(selected, i, Py_NewRef(buffer));
  }
  return selected;
}

static int has_ended(Runner *self, PyObject *raw);
static int use_buffers(Runner *self, PyObject *list, PyObject **slots);

/* Runs the program on operands. `slots` is NULL, or a list, or NULL for none, of those
   among them: lists those that it takes too, and says in `ended` whether the program has
   ended, so that nothing reads them any more. */
static PyObject *run_buffers(Runner *self, PyObject *buffers, PyObject **slots, int *ended) {
  buffers = select_buffers(self, buffers);
  if (buffers == NULL) return NULL;
  if (PyTuple_GET_SIZE(self->donated) > 0 && own_numbers(buffers) < 0) {
    Py_DECREF(buffers);
    return NULL;
  }
  if (self->find_kernels != NULL && shared.kernels_after >= 0 &&
      ++self->runs > shared.kernels_after && find_kernels(self) < 0) {
    Py_DECREF(buffers);
    return NULL;
  }
  if (self->kernels != NULL && shared.kernels_after >= 0) {
    PyObject *out = run_by_kernels(self, buffers);
    if (out != Py_None) {
      Py_DECREF(buffers);
      *ended = 1;
      return out;
    }
    Py_DECREF(out);
  }
  if (use_buffers(self, buffers, slots) < 0) {
    Py_DECREF(buffers);
    return NULL;
  }
  PyObject *out = NULL, *raw = self->division != Py_None ? run_divided(self, &buffers)
                               : self->turn != Py_None   ? run_in_turn(self, buffers)
                                                         : run_plain(self, buffers);
  if (raw == NULL) {
    Py_DECREF(buffers);
    return NULL;
  }
  if (slots != NULL && *slots != NULL) *ended = has_ended(self, raw);
  if (PyTuple_GET_SIZE(self->donated) == 0 || delete_donated(self, buffers) == 0) {
    Py_ssize_t next = 0;
    out = build(self, self->form, raw, &next);
  }
  Py_DECREF(raw);
  Py_DECREF(buffers);
  return out;
}

static PyObject *runner_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                                   PyObject *kwnames) {
  if (PyVectorcall_NARGS(nargsf) != 1 || kwnames != NULL || !PyList_Check(args[0])) {
    PyErr_SetString(PyExc_TypeError, "a Runner takes one list of buffers");
    return NULL;
  }
  int ended;
  return run_buffers((Runner *)self, args[0], NULL, &ended);
}

static PyObject *runner_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"run",     "handlers", "avals", "committed",
                          "donated", "on_error", "form",  "division", NULL};
  PyObject *run, *handlers, *avals, *committed, *donated, *on_error, *form;
  PyObject *division = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!O!O!O!OO|O", words, &run,
                                   &PyList_Type, &handlers, &PyTuple_Type, &avals,
                                   &PyBool_Type, &committed, &PyTuple_Type, &donated,
                                   &on_error, &form, &division))
    return NULL;
  if (division != Py_None &&
      (!PyTuple_Check(division) || PyTuple_GET_SIZE(division) != 3 ||
       !PyTuple_Check(PyTuple_GET_ITEM(division, 0)))) {
    PyErr_SetString(PyExc_ValueError, "Runner: the division is none");
    return NULL;
  }
  if (shared.array_type == NULL) {
    PyErr_SetString(PyExc_RuntimeError, "Runner: call `connect` first");
    return NULL;
  }
  Py_ssize_t n = count_results(form);
  if (n < 0) return NULL;
  if (n != PyTuple_GET_SIZE(avals)) {
    PyErr_SetString(PyExc_ValueError, "Runner: the form takes another number of results");
    return NULL;
  }
  Runner *self = (Runner *)type->tp_alloc(type, 0);
  if (self == NULL) return NULL;
  self->vectorcall = runner_vectorcall;
  self->run = Py_NewRef(run);
  self->handlers = Py_NewRef(handlers);
  self->avals = Py_NewRef(avals);
  self->committed = Py_NewRef(committed);
  self->donated = Py_NewRef(donated);
  self->on_error = Py_NewRef(on_error);
  self->form = Py_NewRef(form);
  self->division = Py_NewRef(division);
  self->taken = Py_NewRef(Py_None);
  self->turn = Py_NewRef(Py_None);
  return (PyObject *)self;
}

COLLECTED(runner, Runner, run, kernels)

/* A runner of the same program whose results have another form. */
static PyObject *runner_with_form(PyObject *object, PyObject *form) {
  Runner *self = (Runner *)object;
  PyObject *other = PyObject_CallFunctionObjArgs(
      (PyObject *)Py_TYPE(object), self->run, self->handlers, self->avals,
      self->committed, self->donated, self->on_error, form, self->division, NULL);
  if (other != NULL) {
    Py_SETREF(((Runner *)other)->taken, Py_NewRef(self->taken));
    Py_SETREF(((Runner *)other)->turn, Py_NewRef(self->turn));
    ((Runner *)other)->stages = self->stages;
    ((Runner *)other)->find_kernels = Py_XNewRef(self->find_kernels);
    ((Runner *)other)->kernels = Py_XNewRef(self->kernels);
  }
  return other;
}

/* A runner of the same program, with one of its tuples. */
static PyObject *with_tuple(PyObject *object, PyObject *tuple, size_t field, int least) {
  if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) < least) {
    PyErr_SetString(PyExc_TypeError, "Runner: takes a tuple of what it holds");
    return NULL;
  }
  PyObject *other = runner_with_form(object, ((Runner *)object)->form);
  if (other != NULL) {
    PyObject **place = (PyObject **)((char *)other + field);
    Py_SETREF(*place, Py_NewRef(tuple));
  }
  return other;
}

static PyObject *runner_taking(PyObject *object, PyObject *taken) {
  return with_tuple(object, taken, offsetof(Runner, taken), 0);
}

static PyObject *runner_in_turn(PyObject *object, PyObject *turn) {
  return with_tuple(object, turn, offsetof(Runner, turn), 3);
}

static PyMethodDef runner_methods[] = {
    {"with_form", runner_with_form, METH_O,
     "A runner of the same program whose results have another form."},
    {"taking", runner_taking, METH_O,
     "A runner that takes buffers of its own, and of the caller's those at positions."},
    {"in_turn", runner_in_turn, METH_O,
     "A runner of a program that calls Python, of which one at a time is at home."},
    {NULL}};

static PyMemberDef runner_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Runner, vectorcall), READONLY},
    {"form", T_OBJECT_EX, offsetof(Runner, form), READONLY},
    {"turn", T_OBJECT_EX, offsetof(Runner, turn), READONLY},
    {"stages", T_INT, offsetof(Runner, stages), 0},
    {"find_kernels", T_OBJECT, offsetof(Runner, find_kernels), 0},
    {"kernels", T_OBJECT, offsetof(Runner, kernels), READONLY},
    {NULL}};

static PyType_Slot runner_slots[] = {
    {Py_tp_doc, "Runs a loaded program on buffers and wraps its results."},
    {Py_tp_new, runner_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, runner_traverse},
    {Py_tp_clear, runner_clear},
    {Py_tp_dealloc, runner_dealloc},
    {Py_tp_methods, runner_methods},
    {Py_tp_members, runner_members},
    {0, NULL}};

static PyType_Spec runner_spec = {
    "olympus._src.native.calls.Runner", sizeof(Runner), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, runner_slots};

static PyTypeObject *runner_type;

#include "arguments.h"

/* ---- Caller: the program of a call, found and run ---------------------------------- */

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *table;        /* programs by key: `(entry, order or None)` */
  PyObject *static_nums;  /* a tuple of positions, perhaps negative */
  PyObject *static_names; /* a frozenset */
} Caller;

static int is_static_position(Caller *self, Py_ssize_t i, Py_ssize_t nargs) {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(self->static_nums); k++) {
    Py_ssize_t at = PyLong_AsSsize_t(PyTuple_GET_ITEM(self->static_nums, k));
    if (at == i || at + nargs == i) return 1;
  }
  return 0;
}

static int walk_argument(Walk *walk, PyObject *value, int is_static) {
  if (Py_IS_TYPE(value, shared.array_type) && !is_static)
    return walk_array(walk, value);
  return is_static ? walk_static(walk, value) : walk_value(walk, value);
}

/* The key of a call and its buffers; the key is NULL if it is not WALKED. */
static int find_key(Caller *self, Walk *walk, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames, PyObject **key) {
  Row *tokens = &walk->tokens;
  int has_static = PyTuple_GET_SIZE(self->static_nums) > 0;
  TRY(row_take(tokens, PyObject_CallNoArgs(shared.trace_context)));
  TRY(row_take(tokens, PyLong_FromSsize_t(nargs)));
  look_for_committed(walk, args, nargs);
  for (Py_ssize_t i = 0; i < nargs; i++) {
    int is_static = has_static && is_static_position(self, i, nargs);
    int outcome = walk_argument(walk, args[i], is_static);
    if (outcome != WALKED) return outcome;
  }
  Py_ssize_t nkw = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
  for (Py_ssize_t i = 0; i < nkw; i++) {
    PyObject *name = PyTuple_GET_ITEM(kwnames, i);
    TRY(row_add(tokens, name));
    int is_static = PySet_Contains(self->static_names, name);
    if (is_static < 0) return FAILED;
    int outcome = walk_argument(walk, args[nargs + i], is_static);
    if (outcome != WALKED) return outcome;
  }
  return row_as_tuple(tokens, key);
}

/* The buffers in the order in which the program takes them. */
static PyObject *ordered(Walk *walk, PyObject *order) {
  Row *row = &walk->buffers;
  PyObject *list = PyList_New(row->size);
  if (list == NULL) return NULL;
  for (Py_ssize_t i = 0; i < row->size; i++) {
    Py_ssize_t at = i;
    if (order != Py_None) at = PyLong_AsSsize_t(PyTuple_GET_ITEM(order, i));
    PyList_SET_ITEM(list, i, Py_NewRef(row->items[at]));
  }
  return list;
}

static int is_evaluating(void) {
  PyObject *trace = PyObject_GetAttr(shared.current, names.trace);
  if (trace == NULL) return -1;
  Py_DECREF(trace);
  return trace == shared.eval_trace;
}

/* Calls a method of the Python side with the user's own arguments after `first`. */
static PyObject *call_method(PyObject *self, PyObject *name, PyObject *const *first,
                             Py_ssize_t nfirst, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames) {
  Py_ssize_t nkw = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
  Py_ssize_t total = 1 + nfirst + nargs + nkw;
  PyObject *small[16], **all = small;
  if (total > 16 && (all = PyMem_New(PyObject *, total)) == NULL)
    return PyErr_NoMemory();
  all[0] = self;
  for (Py_ssize_t i = 0; i < nfirst; i++) all[1 + i] = first[i];
  if (nargs + nkw > 0)
    memcpy(all + 1 + nfirst, args, (nargs + nkw) * sizeof(PyObject *));
  PyObject *out = PyObject_VectorcallMethod(name, all, 1 + nfirst + nargs, kwnames);
  if (all != small) PyMem_Free(all);
  return out;
}

/* Lets the Python side raise a better error than the one that is set. */
static void explain_call(PyObject *self, PyObject *entry, PyObject *const *args,
                         Py_ssize_t nargs, PyObject *kwnames) {
  Raised raised = take_error();
  PyObject *first[] = {raised.error, entry};
  Py_XDECREF(call_method(self, names.failed, first, 2, args, nargs, kwnames));
  set_error(raised);
}

/* What runs a call, and on what. */
typedef struct {
  PyObject *entry, *call; /* the second is the entry's */
  PyObject *buffers;      /* a list */
  PyObject *slots;        /* those among the buffers, a list, or NULL for none */
} Found;

static void found_end(Found *found) {
  Py_CLEAR(found->entry);
  Py_CLEAR(found->call);
  Py_CLEAR(found->buffers);
  Py_CLEAR(found->slots);
}

/* Puts the buffers in place, or finds nothing if something failed: the Python path says
   what, such as an argument that cannot be hashed, compared or moved. */
static void place_found(Found *found) {
  if (found->call == NULL || found->buffers == NULL ||
      place_hosts(found->call, found->buffers, &found->slots) != WALKED)
    found_end(found);
  clear_exception();
}

static PyObject *run_found(Found *found) {
  if (!Py_IS_TYPE(found->call, runner_type)) {
    if (use_buffers(NULL, found->buffers, NULL) < 0) return NULL;
    return PyObject_CallOneArg(found->call, found->buffers);
  }
  int ended = 0;
  PyObject *out =
      run_buffers((Runner *)found->call, found->buffers, &found->slots, &ended);
  Py_CLEAR(found->buffers);
  if (ended && found->slots != NULL) lay_back(found->slots);
  return out;
}

/* Finds what runs a call; its entry is NULL, without an error, if that is unknown. */
static void find_entry(Caller *self, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames, Found *found) {
  Walk walk;
  PyObject *key = NULL;
  walk_start(&walk);
  int outcome = find_key(self, &walk, args, nargs, kwnames, &key);
  if (outcome == WALKED) {
    PyObject *known = PyDict_GetItemWithError(self->table, key); /* borrowed */
    if (known != NULL) {
      found->entry = Py_NewRef(PyTuple_GET_ITEM(known, 0));
      found->buffers = ordered(&walk, PyTuple_GET_ITEM(known, 1));
      found->call = PyObject_GetAttr(found->entry, names.call);
    }
    Py_DECREF(key);
  }
  walk_end(&walk);
  place_found(found);
}

static PyObject *caller_vectorcall(PyObject *object, PyObject *const *args,
                                   size_t nargsf, PyObject *kwnames) {
  Caller *self = (Caller *)object;
  Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
  int evaluating = is_evaluating();
  if (evaluating < 0) return NULL;
  if (evaluating && PyDict_GET_SIZE(self->table) > 0) {
    Found found = {NULL, NULL, NULL, NULL};
    find_entry(self, args, nargs, kwnames, &found);
    if (found.entry != NULL) {
      PyObject *out = run_found(&found);
      if (out == NULL) explain_call(object, found.entry, args, nargs, kwnames);
      found_end(&found);
      return out;
    }
    if (PyErr_Occurred()) return NULL;
  }
  return call_method(object, names.slow, NULL, 0, args, nargs, kwnames);
}

/* Whether values of the host among the operands, if there are some, lie where the
   program takes them: in the place of this number, or anywhere if it is None. */
static int are_hosts_in(PyObject *place, Walk *walk) {
  int in_place = 1;
  if (walk->hosts == 0 || place == Py_None) return in_place;
  for (Py_ssize_t i = 0; in_place == 1 && i < walk->buffers.size; i++) {
    PyObject *holder = holder_of(walk->buffers.items[i]);
    PyObject *number = holder == NULL ? NULL : place_of(holder);
    in_place = number == NULL ? FAILED : PyObject_RichCompareBool(place, number, Py_EQ);
    Py_XDECREF(number);
  }
  return in_place;
}

/* keep(entry, order, place, *args, **kwargs): the entry for calls like this one. */
static PyObject *caller_keep(PyObject *object, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames) {
  Caller *self = (Caller *)object;
  if (nargs < 3 || !(args[1] == Py_None || PyTuple_Check(args[1]))) {
    PyErr_SetString(PyExc_TypeError, "keep: takes entry, order, place, and the arguments");
    return NULL;
  }
  Walk walk;
  PyObject *key = NULL;
  walk_start(&walk);
  int outcome = find_key(self, &walk, args + 3, nargs - 3, kwnames, &key);
  Py_ssize_t count = walk.buffers.size;
  if (outcome == WALKED && (outcome = are_hosts_in(args[2], &walk)) != WALKED)
    Py_CLEAR(key);
  walk_end(&walk);
  if (outcome == FAILED) return NULL;
  if (outcome == UNKNOWN) Py_RETURN_FALSE;
  int done = -1;
  if (args[1] != Py_None && PyTuple_GET_SIZE(args[1]) != count) {
    PyErr_SetString(PyExc_ValueError, "keep: the order is of another number of arrays");
  } else {
    PyObject *found = PyTuple_Pack(2, args[0], args[1]);
    if (found != NULL) done = PyDict_SetItem(self->table, key, found);
    Py_XDECREF(found);
  }
  Py_DECREF(key);
  if (done < 0) return NULL;
  Py_RETURN_TRUE;
}

static PyObject *caller_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)args;
  (void)kwargs;
  Caller *self = (Caller *)type->tp_alloc(type, 0);
  if (self == NULL) return NULL;
  self->vectorcall = caller_vectorcall;
  self->table = PyDict_New();
  self->static_nums = PyTuple_New(0);
  self->static_names = PyFrozenSet_New(NULL);
  if (!self->table || !self->static_nums || !self->static_names) {
    Py_DECREF(self);
    return NULL;
  }
  return (PyObject *)self;
}

/* look_up(table, nums, names): where programs are found, and what is static. */
static PyObject *caller_look_up(PyObject *object, PyObject *args) {
  Caller *self = (Caller *)object;
  PyObject *table, *nums, *names_;
  if (!PyArg_ParseTuple(args, "O!O!O!", &PyDict_Type, &table, &PyTuple_Type, &nums,
                        &PyFrozenSet_Type, &names_))
    return NULL;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(nums); i++)
    if (PyLong_AsSsize_t(PyTuple_GET_ITEM(nums, i)) == -1 && PyErr_Occurred())
      return NULL;
  Py_SETREF(self->table, Py_NewRef(table));
  Py_SETREF(self->static_nums, Py_NewRef(nums));
  Py_SETREF(self->static_names, Py_NewRef(names_));
  Py_RETURN_NONE;
}

COLLECTED(caller, Caller, table, static_names)

/* ---- BoundCaller: a caller as the method of an instance ---------------------------- */

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *function, *instance;
} BoundCaller;

static PyTypeObject *bound_type;

static PyObject *bound_vectorcall(PyObject *object, PyObject *const *args,
                                  size_t nargsf, PyObject *kwnames) {
  BoundCaller *self = (BoundCaller *)object;
  Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
  Py_ssize_t total = nargs + (kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames));
  PyObject *small[16], **all = small;
  if (total + 1 > 16 && (all = PyMem_New(PyObject *, total + 1)) == NULL)
    return PyErr_NoMemory();
  all[0] = self->instance;
  if (total > 0) memcpy(all + 1, args, total * sizeof(PyObject *));
  PyObject *out = PyObject_Vectorcall(self->function, all, nargs + 1, kwnames);
  if (all != small) PyMem_Free(all);
  return out;
}

static PyObject *caller_get(PyObject *self, PyObject *instance, PyObject *owner) {
  (void)owner;
  if (instance == NULL || instance == Py_None) return Py_NewRef(self);
  BoundCaller *bound = (BoundCaller *)bound_type->tp_alloc(bound_type, 0);
  if (bound == NULL) return NULL;
  bound->vectorcall = bound_vectorcall;
  bound->function = Py_NewRef(self);
  bound->instance = Py_NewRef(instance);
  return (PyObject *)bound;
}

static PyObject *bound_getattr(PyObject *object, PyObject *name) {
  PyObject *value = PyObject_GenericGetAttr(object, name);
  if (value != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return value;
  PyErr_Clear();
  BoundCaller *self = (BoundCaller *)object;
  return PyObject_CallFunctionObjArgs(shared.bound_attribute, self->function,
                                      self->instance, name, NULL);
}

static PyObject *bound_doc(PyObject *object, void *unused) {
  (void)unused;
  return PyObject_GetAttrString(((BoundCaller *)object)->function, "__doc__");
}

static PyGetSetDef bound_getters[] = {{"__doc__", bound_doc, NULL, NULL, NULL}, {NULL}};

static PyObject *bound_compare(PyObject *left, PyObject *right, int operation) {
  if ((operation != Py_EQ && operation != Py_NE) || !Py_IS_TYPE(right, bound_type))
    Py_RETURN_NOTIMPLEMENTED;
  BoundCaller *a = (BoundCaller *)left, *b = (BoundCaller *)right;
  int same = a->function == b->function && a->instance == b->instance;
  return PyBool_FromLong(same == (operation == Py_EQ));
}

static Py_hash_t bound_hash(PyObject *object) {
  BoundCaller *self = (BoundCaller *)object;
  Py_hash_t mixed = ((Py_hash_t)(size_t)self->function >> 4) ^
                    (((Py_hash_t)(size_t)self->instance >> 4) * 31);
  return mixed == -1 ? -2 : mixed;
}

COLLECTED(bound, BoundCaller, function, instance)

static PyMemberDef bound_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(BoundCaller, vectorcall), READONLY},
    {"__func__", T_OBJECT_EX, offsetof(BoundCaller, function), READONLY},
    {"__self__", T_OBJECT_EX, offsetof(BoundCaller, instance), READONLY},
    {NULL}};

static PyType_Slot bound_slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_getattro, bound_getattr},
    {Py_tp_getset, bound_getters},
    {Py_tp_richcompare, bound_compare},
    {Py_tp_hash, bound_hash},
    {Py_tp_traverse, bound_traverse},
    {Py_tp_clear, bound_clear},
    {Py_tp_dealloc, bound_dealloc},
    {Py_tp_members, bound_members},
    {0, NULL}};

static PyType_Spec bound_spec = {
    "olympus._src.native.calls.BoundCaller", sizeof(BoundCaller), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    bound_slots};

/* A class of Python takes over how its base is called, but not, up to Python 3.11, that it
   is called so without a tuple of the arguments; and never that calls of a method need no
   bound object, which `caller_get` would make. */
static PyObject *caller_init_subclass(PyObject *cls, PyObject *unused) {
  (void)unused;
  PyTypeObject *type = (PyTypeObject *)cls;
  if (type->tp_call == PyVectorcall_Call && type->tp_descr_get == caller_get) {
    type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
    PyType_Modified(type);
  }
  Py_RETURN_NONE;
}

static PyMethodDef caller_methods[] = {
    {"__init_subclass__", caller_init_subclass, METH_NOARGS | METH_CLASS, NULL},
    {"keep", (PyCFunction)(void (*)(void))caller_keep, METH_FASTCALL | METH_KEYWORDS,
     "keep(entry, order, *args, **kwargs): the entry for calls like this one; says "
     "whether such calls can be kept."},
    {"look_up", caller_look_up, METH_VARARGS,
     "look_up(table, static_nums, static_names): where programs are found."},
    {NULL}};

static PyMemberDef caller_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Caller, vectorcall), READONLY},
    {NULL}};

static PyType_Slot caller_slots[] = {
    {Py_tp_doc, "Finds the program of a call and runs it."},
    {Py_tp_new, caller_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_descr_get, caller_get},
    {Py_tp_traverse, caller_traverse},
    {Py_tp_clear, caller_clear},
    {Py_tp_dealloc, caller_dealloc},
    {Py_tp_methods, caller_methods},
    {Py_tp_members, caller_members},
    {0, NULL}};

static PyType_Spec caller_spec = {
    "olympus._src.native.calls.Caller", sizeof(Caller), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
        Py_TPFLAGS_HAVE_VECTORCALL,
    caller_slots};

/* Takes the library's own frames out of the error that is set. */
static void hide_frames(void) {
  if (shared.hide == NULL || !PyErr_ExceptionMatches(PyExc_Exception)) return;
  Raised raised = take_error();
  PyObject *done = PyObject_CallOneArg(shared.hide, raised.error);
  if (done == NULL) PyErr_Clear();
  Py_XDECREF(done);
  set_error(raised);
}

#include "direct.h"

/* ---- the module --------------------------------------------------------------------- */

/* The offset of a slot of a Python class. */
static int find_offset(PyObject *type, const char *name, Py_ssize_t *offset) {
  PyObject *slot = PyObject_GetAttrString(type, name);
  if (slot == NULL) return -1;
  int found = Py_IS_TYPE(slot, &PyMemberDescr_Type);
  if (found) *offset = ((PyMemberDescrObject *)slot)->d_member->offset;
  else PyErr_Format(PyExc_TypeError, "connect: %s is no slot of the class", name);
  Py_DECREF(slot);
  return found ? 0 : -1;
}

/* connect(**objects): all of `shared` that is an object of the Python side. */
static PyObject *connect(PyObject *module, PyObject *args, PyObject *objects) {
  (void)module;
  struct {
    const char *name;
    PyObject **place;
    PyTypeObject *type; /* NULL for any */
  } rows[] = {{"array_type", (PyObject **)&shared.array_type, &PyType_Type},
              {"current", &shared.current, NULL},
              {"eval_trace", &shared.eval_trace, NULL},
              {"trace_context", &shared.trace_context, NULL},
              {"exact", &shared.exact, NULL},
              {"as_operand", &shared.as_operand, NULL},
              {"operand_beside", &shared.operand_beside, NULL},
              {"scalars", &shared.scalars, &PyDict_Type},
              {"default_mesh", &shared.default_mesh, NULL},
              {"host_types", &shared.host_types, &PyFrozenSet_Type},
              {"record_types", &shared.record_types, &PySet_Type},
              {"flatten", &shared.flatten, NULL},
              {"bound_attribute", &shared.bound_attribute, NULL},
              {"hide", &shared.hide, NULL},
              {"place_number", &shared.place_number, NULL},
              {"staged_types", &shared.staged_types, &PyDict_Type},
              {"find_staged_type", &shared.find_staged_type, NULL},
              {"slots", &shared.slots, &PyDict_Type},
              {"add_slot", &shared.add_slot, NULL},
              {"delete_buffer", &shared.delete_buffer, NULL},
              {"memory_type", (PyObject **)&shared.memory_type, &PyType_Type},
              {"copy_to_memory", &shared.copy_to_memory, NULL},
              {"generic", (PyObject **)&shared.generic, &PyType_Type},
              {"ndarray", (PyObject **)&shared.ndarray, &PyType_Type},
              {"dtype", (PyObject **)&shared.dtype, NULL},
              {"scalar_type", (PyObject **)&shared.scalar_type, &PyType_Type}};
  const Py_ssize_t n = sizeof(rows) / sizeof(rows[0]);
  PyObject *values[sizeof(rows) / sizeof(rows[0])];
  if (PyTuple_GET_SIZE(args) > 0 || objects == NULL || PyDict_GET_SIZE(objects) != n)
    return PyErr_Format(PyExc_TypeError, "connect: takes %zd objects by name", n);
  for (Py_ssize_t i = 0; i < n; i++) {
    values[i] = PyDict_GetItemString(objects, rows[i].name);
    if (values[i] == NULL || (rows[i].type && !Py_IS_TYPE(values[i], rows[i].type)))
      return PyErr_Format(PyExc_TypeError, "connect: %s is missing, or of another type",
                          rows[i].name);
  }
  PyObject *array_type = values[0];
  if (!PyType_HasFeature((PyTypeObject *)array_type, Py_TPFLAGS_HEAPTYPE)) {
    PyErr_SetString(PyExc_TypeError, "connect: the array type is no class of Python");
    return NULL;
  }
  if (find_offset(array_type, "_own_buffer", &shared.buffer) < 0 ||
      find_offset(array_type, "aval", &shared.aval) < 0 ||
      find_offset(array_type, "_committed", &shared.committed) < 0 ||
      find_offset(array_type, "_parts", &shared.parts) < 0 ||
      find_offset(array_type, "_position", &shared.position) < 0 ||
      find_offset(array_type, "_host", &shared.host) < 0)
    return NULL;
  ((PyHeapTypeObject *)array_type)->as_buffer.bf_getbuffer = array_getbuffer;
  for (Py_ssize_t i = 0; i < n; i++) Py_XSETREF(*rows[i].place, Py_NewRef(values[i]));
  Py_RETURN_NONE;
}

static PyObject *set_flag(int *flag, PyObject *value) {
  int is_true = PyObject_IsTrue(value);
  if (is_true < 0) return NULL;
  *flag = is_true;
  Py_RETURN_NONE;
}

static PyObject *use_several_devices(PyObject *module, PyObject *value) {
  (void)module;
  return set_flag(&shared.several_devices, value);
}

static PyObject *use_staging(PyObject *module, PyObject *value) {
  (void)module;
  return set_flag(&shared.stages, value);
}

/* find_symbol(name, version): the address of a function of the C library; 0 for none. */
static PyObject *find_symbol(PyObject *module, PyObject *args) {
  (void)module;
  const char *name, *version;
  if (!PyArg_ParseTuple(args, "ss", &name, &version)) return NULL;
#if HAS_HOST_KERNELS && defined(__GLIBC__)
  return PyLong_FromVoidPtr(dlvsym(RTLD_DEFAULT, name, version));
#else
  return PyLong_FromLong(0);
#endif
}

static PyObject *use_kernels(PyObject *module, PyObject *runs) {
  (void)module;
  long after = PyLong_AsLong(runs);
  if (after == -1 && PyErr_Occurred()) return NULL;
  shared.kernels_after = after;
  Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"connect", (PyCFunction)(void (*)(void))connect, METH_VARARGS | METH_KEYWORDS,
     "Gives the module what it needs of the Python side."},
    {"use_several_devices", use_several_devices, METH_O,
     "Whether keys tell where arrays lie."},
    {"use_staging", use_staging, METH_O, "Whether NumPy arguments may be staged."},
    {"use_kernels", use_kernels, METH_O,
     "After how many runs programs may have host kernels; a negative number: never."},
    {"make_memory", make_memory, METH_VARARGS,
     "make_memory(content, aval, place): a memory with a copy of bytes."},
    {"put", (PyCFunction)(void (*)(void))put_value, METH_FASTCALL,
     "put(value, aval, place, committed): an array with a copy of a NumPy array."},
    {"find_symbol", find_symbol, METH_VARARGS,
     "find_symbol(name, version): the address of a function of the C library, or 0."},
    {NULL}};

static int intern_names(void) {
  struct {
    PyObject **place;
    const char *text;
  } rows[] = {{&names.storage, "storage"},
              {&names.explicit_, "explicit"},
              {&names.is_ready, "is_ready"},
              {&names.dtype, "dtype"},
              {&names.shape, "shape"},
              {&names.trace, "trace"},
              {&names.call, "call"},
              {&names.sharding, "_sharding"},
              {&names.buffer, "_buffer"},
              {&names.consume, "consume_with_handlers"},
              {&names.consume_token, "consume_token"},
              {&names.is_deleted, "is_deleted"},
              {&names.depth, "depth"},
              {&names.block, "block_until_ready"},
              {&names.copy, "__copy__"},
              {&names.to_buffer, "to_buffer"},
              {&names.itemsize, "itemsize"},
              {&names.character, "char"},
              {&names.blocks, "blocks"},
              {&names.place_sharding, "sharding"},
              {&names.slow, "_call_slowly"},
              {&names.failed, "_explain_failure"}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    if ((*rows[i].place = PyUnicode_InternFromString(rows[i].text)) == NULL) return -1;
  names.with_tokens = Py_BuildValue("(s)", "with_tokens");
  return names.with_tokens == NULL ? -1 : 0;
}

static int add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **place) {
  *place = (PyTypeObject *)PyType_FromSpec(spec);
  return *place == NULL ? -1 : PyModule_AddType(module, *place);
}

static PyTypeObject *caller_type;

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "calls",
    .m_doc = "The way of a call from the user's arguments to the results.",
    .m_size = -1,
    .m_methods = module_methods,
};

PyMODINIT_FUNC PyInit_calls(void) {
  PyObject *module = PyModule_Create(&module_definition);
  if (module == NULL) return NULL;
  if (intern_names() < 0 || add_type(module, &runner_spec, &runner_type) < 0 ||
      add_type(module, &caller_spec, &caller_type) < 0 ||
      add_type(module, &bound_spec, &bound_type) < 0 ||
      add_type(module, &direct_spec, &direct_type) < 0 ||
      add_type(module, &bytes_spec, &bytes_type) < 0 ||
      add_type(module, &memory_spec, &memory_base) < 0 ||
      add_type(module, &kernels_spec, &kernels_type) < 0 ||
      (shared.zero = PyLong_FromLong(0)) == NULL ||
      (shared.kept = PyLong_FromLong(-1)) == NULL ||
      PyModule_AddIntConstant(module, "VERSION", VERSION) < 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
