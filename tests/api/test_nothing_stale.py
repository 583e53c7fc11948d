"""A function object that is new is traced, whatever it looks like.

Each case makes a function anew three times. What it reads while it is traced differs
from time to time, in a way that no look at the function itself could tell; it must give
what plain Python gives. What it writes while it is traced must be written each time.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import dataclasses
import enum
import functools
import gc
import importlib
import itertools
import operator
import os
import random
import sys
import types
import warnings
import weakref

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.foundation import caching
from olympus.experimental import io_callback

X = np.float32(3.0)
XS = np.full(2, 3.0, np.float32)
VALUES = (2.0, 5.0, 7.0)

# -- what functions read ---------------------------------------------------------------

G = 0.0
TABLE = {"k": 0.0}
LIST = [0.0]
SETTINGS = types.SimpleNamespace(k=0.0)
module = types.ModuleType("olympus_test_settings")
sys.modules[module.__name__] = module


class Config:
    k = 0.0

    @staticmethod
    def static():
        return Config.k

    @classmethod
    def of_class(cls):
        return cls.k

    @property
    def prop(self):
        return Config.k

    def method(self):
        return Config.k

    def __call__(self):
        return Config.k

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Config.k

    def __getitem__(self, i):
        return Config.k

    def __len__(self):
        return int(Config.k)

    def __iter__(self):
        return iter([Config.k])

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1


@dataclasses.dataclass(eq=True, frozen=True)
class Frozen:
    name: str = "same"

    def __call__(self):
        return G


def set_all(k):
    global G
    G = k
    TABLE["k"] = LIST[0] = SETTINGS.k = module.k = Config.k = k
    builtins.olympus_test_k = k
    os.environ["OLYMPUS_TEST_K"] = str(k)
    reader.k = jitted.k = ruled.k = k
    reader.__defaults__ = (k,)
    ORDER.clear()
    ORDER.update([int(k), 100])


ORDER = set()
config_object, frozen = Config(), Frozen()


def plain():
    return G


def plain_of(_):
    return G


def reader(default=0.0):
    return default


def nested():
    return plain()


def generator():
    yield G


@contextlib.contextmanager
def manager():
    yield G


@functools.singledispatch
def dispatched(x):
    return G


@functools.wraps(np.sin)
def named_as_a_library_function():
    return G


@functools.cache
def cached(k):
    return k


@olympus.jit
def jitted(x):
    return x


@olympus.custom_jvp
def ruled(x):
    return x


ruled.defjvp(lambda p, t: (p[0], t[0]))


@olympus.vmap
def mapped(x):
    return x * G


@olympus.grad
def slope(x):
    return x * G


@olympus.jacfwd
def forward(x):
    return x * G


@olympus.jacrev
def reverse(x):
    return x * G


@functools.partial(np.vectorize, otypes=[np.float32])
def by_numpy(x):
    return G


@functools.partial(jnp.vectorize, signature="()->()")
def vectorized(x):
    return x * G


@olympus.named_call
def named(x):
    return x * G


@olympus.checkpoint
def kept(x):
    return x * G


@functools.lru_cache
def helper_of(name):
    return lambda: globals()["G"]


class Kind(enum.Enum):
    ONE = 1

    def read(self):
        return G


def read_argument_error():
    with np.errstate(over="raise" if G == 2.0 else "ignore"):
        return {"raise": 2.0}.get(np.geterr()["over"], G)


def read_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error" if G == 2.0 else "ignore")
        return 2.0 if warnings.filters[0][0] == "error" else G


def read_frompyfunc():
    return float(np.frompyfunc(lambda a: a * G, 1, 1)(1.0))


def read_random():
    random.seed(G)
    return random.random()


def read_file(folder={}):  # noqa: B006
    name = os.path.join(folder["path"], "k.npy")
    np.save(name, np.float32(G))
    return float(np.load(name))


# Each gives a number by a way of its own.
READERS = {
    "global": lambda: G,
    "function": lambda: plain(),
    "nested function": lambda: nested(),
    "dictionary": lambda: TABLE["k"],
    "get": lambda: TABLE.get("k"),
    "list": lambda: LIST[0],
    "star": lambda: max(*LIST, 0.0),
    "namespace": lambda: SETTINGS.k,
    "vars": lambda: vars(SETTINGS)["k"],
    "getattr": lambda: getattr(SETTINGS, "k"),  # noqa: B009
    "hasattr": lambda: 1.0 if hasattr(module, f"v{int(G)}") else G,
    "attrgetter": lambda: operator.attrgetter("k")(SETTINGS),
    "itemgetter": lambda: operator.itemgetter(0)(LIST),
    "methodcaller": lambda: operator.methodcaller("method")(config_object),
    "module attribute": lambda: module.k,
    "import_module": lambda: importlib.import_module("olympus_test_settings").k,
    "sys.modules": lambda: sys.modules["olympus_test_settings"].k,
    "__import__": lambda: __import__("olympus_test_settings").k,
    "globals()": lambda: globals()["G"],
    "eval": lambda: eval("G"),
    "exec": lambda: exec("out.append(G)", globals(), {"out": (o := [])}) or o[0],
    "builtins": lambda: olympus_test_k,  # noqa: F821
    "getenv": lambda: float(os.getenv("OLYMPUS_TEST_K")),
    "environ": lambda: float(os.environ["OLYMPUS_TEST_K"]),
    "environ.get": lambda: float(os.environ.get("OLYMPUS_TEST_K", 0)),
    "class attribute": lambda: Config.k,
    "static method": lambda: Config.static(),
    "class method": lambda: Config.of_class(),
    "property": lambda: config_object.prop,
    "method": lambda: config_object.method(),
    "bound method": functools.partial(config_object.method),
    "__call__": lambda: config_object(),
    "callable itself": config_object,
    "__getattr__": lambda: config_object.anything,
    "__getitem__": lambda: config_object[0],
    "__len__": lambda: float(len(config_object)),
    "__iter__": lambda: next(iter(config_object)),
    "frozen dataclass": lambda: frozen(),
    "enum": lambda: Kind.ONE.read(),
    "function attribute": lambda: reader.k,
    "changed default": lambda: reader(),
    "jitted attribute": lambda: jitted.k,
    "custom_jvp attribute": lambda: ruled.k,
    "generator": lambda: next(generator()),
    "comprehension": lambda: dict.fromkeys(range(1), G)[0],
    "context manager": lambda: contextlib.ExitStack().enter_context(manager()),
    "singledispatch": lambda: dispatched(1),
    "wraps": lambda: named_as_a_library_function(),
    "lru_cache": lambda: helper_of("x")(),
    "cache by value": lambda: cached(G),
    "reduce": lambda: functools.reduce(lambda a, b: a + b * G, [1.0], 0.0),
    "partial": functools.partial(lambda: G),
    "nested partial": functools.partial(functools.partial(plain)),
    "map": lambda: next(iter(builtins.map(plain_of, [0]))),
    "sorted key": lambda: sorted([1.0, 2.0], key=lambda v: v * G)[0] * G,
    "itertools": lambda: next(itertools.chain(LIST)),
    "set order": lambda: float(min(ORDER)),
    "chain map": lambda: collections.ChainMap(TABLE)["k"],
    "errstate": read_argument_error,
    "warnings": read_warnings,
    "frompyfunc": read_frompyfunc,
    "np.vectorize": lambda: float(by_numpy(1.0)),
    "random": read_random,
    "file": read_file,
    "weak reference": lambda: weakref.ref(config_object)().k,
    "exception": lambda: float(str(_caught())),
    "format": lambda: float(f"{G}"),
    "type()": lambda: type("T", (), {"k": G}).k,
    "super": lambda: type("T", (Config,), {}).of_class(),
    "recursion": lambda: _recursive(3),
}


def _caught():
    try:
        raise ValueError(G)
    except ValueError as error:
        return error


def _recursive(n):
    return G if n == 0 else _recursive(n - 1)


# Functions of arrays, decorated at the level of the module.
DECORATED = {
    "vmap": lambda x: mapped(jnp.stack([x]))[0],
    "grad": lambda x: slope(x) * x,
    "jacfwd": lambda x: forward(x) * x,
    "jacrev": lambda x: reverse(x) * x,
    "vectorize": lambda x: vectorized(x),
    "named_call": lambda x: named(x),
    "checkpoint": lambda x: kept(x),
}

# -- where functions are traced --------------------------------------------------------


def _float(x):
    return float(np.ravel(x)[0])


ENTRIES = {
    "jit": lambda f: olympus.jit(f)(X),
    "jit, static": lambda f: olympus.jit(lambda x, n: f(x), static_argnums=1)(X, 1),
    "jit in jit": lambda f: olympus.jit(lambda x: olympus.jit(lambda y: f(y))(x))(X),
    "jit of vmap": lambda f: olympus.jit(olympus.vmap(f))(XS),
    "scan": lambda f: lax.scan(lambda c, _: (c, f(c)), X, None, length=1)[1],
    "fori": lambda f: lax.fori_loop(0, 1, lambda i, c: f(c), X),
    "while": lambda f: lax.while_loop(
        lambda c: c[0] < 1, lambda c: (c[0] + 1, f(c[1])), (0, X)
    )[1],
    "cond": lambda f: lax.cond(True, lambda x: f(x), lambda x: x, X),
    "switch": lambda f: lax.switch(0, [lambda x: f(x), lambda x: x], X),
    "map": lambda f: lax.map(lambda x: f(x), XS),
    "checkpoint": lambda f: olympus.checkpoint(lambda x: f(x))(X),
    "linearize": lambda f: olympus.linearize(lambda x: f(x), X)[0],
    "custom_vjp": lambda f: _custom_vjp(f),
}


def _custom_vjp(f):
    g = olympus.custom_vjp(lambda x: f(x))
    g.defvjp(lambda x: (f(x), None), lambda _, ct: (ct,))
    return olympus.jit(olympus.value_and_grad(g))(X)[0]


def check(make, enter):
    for k in VALUES:
        set_all(k)
        f = make()
        wanted = _float(f(X))
        set_all(k)
        assert _float(enter(make())) == pytest.approx(wanted, rel=1e-6)


@pytest.fixture(autouse=True)
def folder(tmp_path):
    read_file.__defaults__[0]["path"] = str(tmp_path)


@pytest.mark.parametrize("name", READERS)
def test_what_jitted_functions_read(name):
    read = READERS[name]
    check(lambda: lambda x: x * read(), ENTRIES["jit"])


@pytest.mark.parametrize("name", DECORATED)
def test_what_decorated_functions_read(name):
    check(lambda: lambda x: DECORATED[name](x), ENTRIES["jit"])
    check(lambda: lambda x: DECORATED[name](x), ENTRIES["scan"])


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", ["global", "getenv", "class attribute", "jit object"])
def test_where_functions_are_traced(entry, name):
    read = READERS.get(name, lambda: jitted.k)
    check(lambda: lambda x: x * read(), ENTRIES[entry])


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", READERS)
def test_all_readers_everywhere(entry, name):
    read = READERS[name]
    check(lambda: lambda x: x * read(), ENTRIES[entry])


def test_values_in_closures_and_arguments():
    for wrap in (list, tuple, np.array, lambda v: {"k": v[0]}, jnp.array):
        for k in VALUES:
            value = wrap([k])
            first = (lambda v: v["k"]) if isinstance(value, dict) else lambda v: v[0]
            f = lambda x, first=first, value=value: x * first(value)  # noqa: E731
            assert float(olympus.jit(f)(X)) == 3 * k
            assert float(olympus.jit(functools.partial(f, value=value))(X)) == 3 * k


def test_modules_passed_as_values():
    def make(m):
        return olympus.jit(lambda x: x * m.k)

    for k in VALUES:
        module.k = k
        assert float(make(module)(X)) == 3 * k


def test_a_cleared_function_is_no_example_for_others():
    def make():
        return olympus.jit(lambda x: x * G)

    set_all(1.0)
    first = make()
    assert float(first(X)) == 3
    set_all(3.0)
    first.clear_cache()
    assert float(first(X)) == 9
    set_all(2.0)
    assert float(make()(X)) == 6


def test_equal_callables_are_not_the_same():
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, x, _=None):
            return x * self.k

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

    for k in VALUES:
        assert float(olympus.jit(Scale(k))(X)) == 3 * k
        assert float(lax.cond(True, Scale(k), lambda x: x, X)) == 3 * k
        assert float(olympus.checkpoint(Scale(k))(X)) == 3 * k


def test_static_values_that_are_equal_are_not_the_same():
    f = olympus.jit(lambda x, v: x * str(v).count("."), static_argnums=1)
    assert [float(f(1.0, v)) for v in (1, 1.0, True, 1)] == [0, 1, 0, 0]
    g = olympus.jit(lambda x, v: x * (1 if str(v[0]) == "1" else 2), static_argnums=1)
    assert [float(g(1.0, v)) for v in ((1,), (1.0,), (True,))] == [1, 2, 2]
    h = olympus.jit(lambda x, v: jnp.copysign(x, v), static_argnums=1)
    assert [float(h(1.0, v)) for v in (0.0, -0.0)] == [1, -1]
    assert [float(h(1.0, v)) for v in (-0.0, 0.0)] == [-1, 1]


# -- functions that are the same object ------------------------------------------------


def test_a_body_is_read_again_when_its_names_are_bound_anew():
    k, box, thing = 2.0, [2.0], types.SimpleNamespace(k=2.0)

    def by_name(x):
        return x * k

    def by_list(x):
        return x * box[0]

    def by_attribute(x):
        return x * thing.k

    for value in VALUES:
        k = box[0] = thing.k = value
        for f in (by_name, by_list, by_attribute):
            for name in ("scan", "fori", "while", "cond", "switch", "map"):
                got = {
                    "scan": lambda f=f: lax.scan(lambda c, _: (f(c), 0), X, XS[:1])[0],
                    "fori": lambda f=f: lax.fori_loop(0, 1, lambda i, c: f(c), X),
                    "while": lambda f=f: lax.while_loop(lambda c: c == X, f, X),
                    "cond": lambda f=f: lax.cond(True, f, f, X),
                    "switch": lambda f=f: lax.switch(0, [f, f], X),
                    "map": lambda f=f: lax.map(f, XS),
                }[name]()
                assert _float(got) == 3 * value, name


def test_methods_of_ufuncs_read_the_function_again():
    k = 0.0

    def f(a, b):
        return a + b * k

    fold = jnp.frompyfunc(f, 2, 1)
    ones = np.ones(3, np.float32)
    for k in VALUES:
        assert float(fold.reduce(ones)) == 1 + 2 * k
        assert float(fold.accumulate(ones)[-1]) == 1 + 2 * k
        assert float(fold(1.0, 1.0)) == 1 + k
        assert float(fold.at(ones, np.array([0]), 1.0, inplace=False)[0]) == 1 + k
        assert float(jnp.frompyfunc(f, 2, 1).reduce(ones)) == 1 + 2 * k


# -- wrappers as bodies, and in them ---------------------------------------------------


class Layer:
    """What a method may read: fields, the class, and more of its class."""

    scale = 0.0

    def __init__(self, k):
        self.k = k

    def run(self, x):
        return x * self.k

    def by_class(self, x):
        return x * self.scale

    def by_other(self, x):
        return self.run(x)

    @staticmethod
    def by_static(x):
        return x * Layer.scale

    @classmethod
    def by_classmethod(cls, x):
        return x * cls.scale

    @property
    def twice(self):
        return 2 * self.k


class Slotted:
    __slots__ = ("k",)

    def __call__(self, x):
        return x * self.k


def by_global(x):
    return x * G


def by_default(x, k=0.0):
    return x * k


def by_keyword(x, *, k=0.0):
    return x * k


def by_attribute(x):
    return x * by_attribute.k


def by_module(x):
    return x * module.k


def of_module(m, x):
    return x * m.k


def by_builtin(x):
    return x * olympus_test_k  # noqa: F821


def by_class(x):
    return x * Layer.scale


def by_table(x):
    return x * TABLE["k"]


def by_list(x):
    return x * LIST[0]


def by_import(x):
    import olympus_test_settings as settings

    return x * settings.k


def by_property(x):
    return x * layer.twice / 2


def by_bound_builtin(x, get=TABLE.get):
    return x * get("k")


def by_tuple(x):
    return x * PAIR[1][0]


def by_array(x):
    return x * ARRAY


def by_code(x):
    return x


def maybe_scaled(x):
    return x if MAYBE is None else x * MAYBE


@olympus.jit
def jitted_global(x):
    return x * jitted_global.k


@olympus.custom_jvp
def with_rule(x):
    return x * with_rule.k


with_rule.defjvp(lambda p, t: (with_rule(p[0]), t[0]))


@olympus.custom_vjp
def with_pullback(x):
    return by_global(x)


with_pullback.defvjp(lambda x: (by_global(x), None), lambda _, ct: (ct,))

layer, slotted = Layer(0.0), Slotted()
partial = functools.partial(by_keyword, k=0.0)
PAIR, ARRAY, MAYBE = (0, [0.0]), 0.0, None


def write_everywhere(k):
    """Writes a number wherever the functions above read one."""
    global PAIR, ARRAY
    set_all(k)
    layer.k = slotted.k = Layer.scale = k
    by_default.__defaults__ = (k,)
    by_keyword.__kwdefaults__["k"] = partial.keywords["k"] = k
    by_attribute.k = with_rule.k = jitted_global.k = k
    jitted_global.clear_cache()
    PAIR, ARRAY = (0, [k]), jnp.asarray(k)
    by_code.__code__ = (lambda x, k=k: eval(f"lambda x: x * {k}"))(0).__code__


READING = {
    f.__name__: f
    for f in (
        by_global,
        by_default,
        by_attribute,
        by_module,
        by_builtin,
        by_class,
        by_table,
        by_list,
        by_import,
        by_property,
        by_bound_builtin,
        by_tuple,
        by_array,
        by_code,
        jitted_global,
        with_rule,
        with_pullback,
    )
} | {
    "keyword default": lambda x: by_keyword(x),
    "module as an argument": lambda x: of_module(module, x),
    "partial": partial,
    "method": layer.run,
    "method that reads the class": layer.by_class,
    "method that calls another": layer.by_other,
    "static method": layer.by_static,
    "class method": Layer.by_classmethod,
    "instance": slotted,
}

WRAPPERS = {
    "itself": lambda f: f,
    "called": lambda f: lambda x: f(x),
    "partial": lambda f: functools.partial(lambda g, x: g(x), f),
    "vmap": lambda f: lambda x: olympus.vmap(f)(x[None])[0],
    "value_and_grad": lambda f: lambda x: olympus.value_and_grad(f)(x)[0],
    "named_call": olympus.named_call,
    "checkpoint": olympus.checkpoint,
    "method": lambda f: types.MethodType(lambda self, x: f(x), object()),
}


@pytest.mark.slow
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_wrapped_bodies_read_again(wrapper):
    wrapped = {name: WRAPPERS[wrapper](f) for name, f in READING.items()}
    for k in VALUES:
        write_everywhere(k)
        for name, f in wrapped.items():
            out = lax.cond(True, f, lambda x: x, X)
            assert _float(out) == 3 * k, name
            write_everywhere(k)  # in the same way: nothing may change
            out = lax.fori_loop(0, 1, lambda i, c, f=f: f(c), X)
            assert _float(out) == 3 * k, name


def test_what_is_gone_is_not_taken_for_none():
    global MAYBE
    for value, wanted in ((2.0, 6), (None, 3), (5.0, 15), (None, 3)):
        MAYBE = None if value is None else jnp.asarray(value)
        assert _float(lax.cond(True, maybe_scaled, lambda x: x, X)) == wanted


def test_rules_that_are_defined_later_are_used():
    @olympus.custom_jvp
    def f(x):
        return x

    def slope():
        return float(olympus.grad(lambda x: lax.cond(True, f, lambda y: y, x))(X))

    for k in VALUES:
        f.defjvp(lambda p, t, k=k: (p[0], k * t[0]))
        assert slope() == k
    g = olympus.custom_vjp(lambda x: x)
    for k in VALUES:
        g.defvjp(lambda x: (x, None), lambda _, ct, k=k: (k * ct,))
        out = olympus.grad(lambda x: lax.fori_loop(0, 2, lambda i, c: g(c), x))(X)
        assert float(out) == k * k


def test_methods_and_functions_that_are_replaced():
    class Thing:
        def run(self, x):
            return x

    thing, space = Thing(), types.SimpleNamespace(run=None)
    bodies = (
        lambda x: thing.run(x),
        lambda x: space.run(x),
        lambda x: module.run(x),
        olympus.vmap(lambda x: thing.run(x), axis_size=1, in_axes=None, out_axes=None),
    )
    for k in VALUES:
        Thing.run = lambda self, x, k=k: x * k
        space.run = module.run = lambda x, k=k: x * k
        for f in bodies:
            assert _float(lax.cond(True, f, lambda x: x, X)) == 3 * k
        assert _float(lax.cond(True, thing.run, lambda x: x, X)) == 3 * k
    thing.run = lambda x: x * 11  # of the instance, before that of the class
    assert _float(lax.cond(True, bodies[0], lambda x: x, X)) == 33


def test_a_cleared_jitted_function_is_traced_again_in_bodies():
    @olympus.jit
    def inner(x):
        return x * G

    def run():
        return _float(lax.cond(True, inner, lambda x: x, X))

    set_all(2.0)
    assert [run(), run(), run()] == [6, 6, 6]
    set_all(5.0)
    assert [run(), run()] == [6, 6]  # a jitted function is traced once
    inner.clear_cache()
    assert [run(), run()] == [15, 15]


@pytest.mark.parametrize("wrap", [lambda f: f, olympus.vmap, functools.partial])
def test_what_wrapped_bodies_write_is_written_each_time(wrap):
    log, table, count = [], {}, 0

    def f(x):
        nonlocal count
        count += 1
        table["n"] = count
        log.append(count)
        return x

    body = wrap(f)
    for _ in range(3):
        log.clear(), table.clear()
        count = 0
        lax.cond(True, body, lambda x: x, XS)
        assert (log, table, count) == ([1], {"n": 1}, 1)


def test_wrappers_are_told_apart():
    def f(x, k=1.0):
        return x * k

    def run(body):
        return _float(lax.cond(True, body, lambda x: x, X))

    for _ in range(2):
        for k in (2, 2.0, 5.0):
            assert run(functools.partial(f, k=k)) == 3 * k
        assert run(olympus.grad(f)) == 1
        assert run(functools.partial(olympus.grad(f), k=4.0)) == 4
        assert run(lambda x: f(x)) == 3
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    for axis in (0, 1, -1, 0):
        body = olympus.vmap(jnp.sum, in_axes=axis, out_axes=0)
        out = lax.cond(True, body, body, rows)
        np.testing.assert_array_equal(out, rows.sum(axis=1 - axis % 2))
    signs = [
        run(functools.partial(lambda k, x: jnp.copysign(x, k), k)) for k in (0.0, -0.0)
    ]
    assert signs == [3, -3]


def says_that_it_is_traced(x):
    print("traced")  # what is printed is nothing that a function reads
    return x * 2


def total(x):
    return jnp.sum(says_that_it_is_traced(x))


ruled_speaker = olympus.custom_jvp(says_that_it_is_traced)
ruled_speaker.defjvp(lambda p, t: (ruled_speaker(p[0]), t[0]))
pulled_speaker = olympus.custom_vjp(says_that_it_is_traced)
pulled_speaker.defvjp(lambda x: (x, None), lambda _, ct: (ct,))
jitted_speaker = olympus.jit(lambda x: says_that_it_is_traced(x))


class Speaker:
    def run(self, x):
        return says_that_it_is_traced(x)


speaker = Speaker()

# Bodies that are known by what they wrap, made anew at each call where they can be.
KNOWN = {
    "jit": lambda: jitted_speaker,
    "vmap": lambda: olympus.vmap(says_that_it_is_traced),
    "grad": lambda: olympus.grad(total),
    "value_and_grad": lambda: olympus.value_and_grad(total),
    "jacfwd": lambda: olympus.jacfwd(says_that_it_is_traced),
    "partial": lambda: functools.partial(says_that_it_is_traced),
    "partial of vmap": lambda: functools.partial(olympus.vmap(says_that_it_is_traced)),
    "checkpoint": lambda: olympus.checkpoint(says_that_it_is_traced),
    "custom_jvp": lambda: ruled_speaker,
    "custom_vjp": lambda: pulled_speaker,
    "method": lambda: speaker.run,
    "in a body": lambda: in_a_body,
}


def in_a_body(x):
    return olympus.vmap(says_that_it_is_traced)(jnp.sin(lax.add(x, x)))


@pytest.mark.parametrize("name", KNOWN)
def test_wrapped_bodies_are_traced_once(name, capsys):
    for _ in range(4):
        lax.map(KNOWN[name](), XS[:, None])
    assert capsys.readouterr().out == "traced\n"


# -- what tracing writes ---------------------------------------------------------------


def writers():
    """Functions that write while they are traced, and what they have written."""
    count = 0
    items, table, thing = [], {}, types.SimpleNamespace(n=0)

    def by_nonlocal(x):
        nonlocal count
        count += 1
        return x

    def by_append(x):
        items.append(1)
        return x

    def by_key(x):
        table["n"] = table.get("n", 0) + 1
        return x

    def by_attribute(x):
        thing.n += 1
        return x

    return {
        "nonlocal": (by_nonlocal, lambda: count),
        "append": (by_append, lambda: len(items)),
        "key": (by_key, lambda: table.get("n", 0)),
        "attribute": (by_attribute, lambda: thing.n),
    }


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("how", ["nonlocal", "append", "key", "attribute"])
def test_what_tracing_writes_is_written_each_time(entry, how):
    for _ in VALUES:
        write, written = writers()[how]
        ENTRIES[entry](lambda x, write=write: write(x) * 2)
        assert written() >= 1


def test_structures_come_out_of_functions():
    def outer(value):
        structure = None

        def flat(x):
            nonlocal structure
            leaves, structure = olympus.tree.flatten(dict.fromkeys(value, x))
            return leaves

        leaves = olympus.jit(flat)(X)
        return olympus.tree.unflatten(structure, leaves)

    for value in ("ab", "cd", "ab"):
        assert sorted(outer(value)) == list(value)


# -- callbacks -------------------------------------------------------------------------

CALLS = {
    "debug.callback": lambda f, x: (olympus.debug.callback(f, x), x)[1],
    "ordered debug.callback": lambda f, x: (
        olympus.debug.callback(f, x, ordered=True),
        x,
    )[1],
    "io_callback": lambda f, x: (io_callback(f, None, x), x)[1],
    "ordered io_callback": lambda f, x: (io_callback(f, None, x, ordered=True), x)[1],
    "pure_callback": lambda f, x: olympus.pure_callback(
        lambda v: (f(v), v)[1], olympus.ShapeDtypeStruct((), np.float32), x
    ),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "entry", ["jit", "jit in jit", "scan", "while", "cond", "checkpoint"]
)
def test_callbacks_write_to_their_own_objects(call, entry):
    logs = []
    for k in VALUES:
        log = []
        logs.append(log)
        f = lambda x, log=log, k=k: CALLS[call](  # noqa: E731
            lambda v: log.append(float(v) * k), x
        )
        np.asarray(ENTRIES[entry](f))
        olympus.effects_barrier()
    assert [set(log) for log in logs] == [{3 * k} for k in VALUES]


def test_programs_that_differ_in_callbacks_are_compiled_once():
    def run(log):
        def f(x):
            olympus.debug.callback(lambda v: log.append(float(v)), x)
            call = CALLS["pure_callback"]
            # Equal calls on known values would be made once.
            values = np.array([3.0, 4.0], np.float32)
            return lax.scan(lambda c, v: (c + v, call(log.append, v)), x, values)

        g = olympus.jit(f)
        g(X)
        olympus.effects_barrier()
        return g.cache_info().retraces[0].program_reused

    logs = [[], [], []]
    assert [run(log) for log in logs] == [False, True, True]
    assert [len(log) for log in logs] == [3, 3, 3]


def test_both_programs_of_one_text_call_their_own_functions_later():
    logs = ([], [])
    f, g = (
        olympus.jit(lambda x, log=log: CALLS["io_callback"](log.append, x))
        for log in logs
    )
    for _ in range(3):
        f(X), g(X)
    olympus.effects_barrier()
    assert [len(log) for log in logs] == [3, 3]


# -- what is shared --------------------------------------------------------------------


def test_a_remade_function_is_traced_again_and_compiled_once():
    def make():
        return olympus.jit(lambda x: 2 * x + 1)

    records = []
    for _ in range(3):
        f = make()
        f(X)
        (record,) = f.cache_info().retraces
        records.append(record)
    assert [r.program_reused for r in records] == [False, True, True]
    assert "traced again, program reused" in repr(records[1])
    assert "new function object" in records[1].cause


def test_one_object_is_traced_once_whoever_jits_it():
    count = 0

    def f(x):
        nonlocal count
        count += 1
        return x + 1

    for _ in range(3):
        olympus.jit(f)(X)
    assert count == 1


def test_dropped_functions_leave_nothing():
    gc.collect()
    before = caching.cache_sizes()["states of jitted functions"]
    arrays = []
    for i in range(5):
        table = jnp.full(1000, float(i))
        arrays.append(weakref.ref(table))
        olympus.jit(lambda x, table=table: x + jnp.sum(table))(X)
        lax.fori_loop(0, 2, lambda _, c, table=table: c + jnp.sum(table), X)
    del table
    gc.collect()
    assert not any(r() is not None for r in arrays)
    assert caching.cache_sizes()["states of jitted functions"] <= before


def test_one_program_closed_with_other_constants():
    """What was compiled for a program's first constants is not run for others."""
    from olympus._src.core import ir

    (call,) = olympus.make_olympuspr(olympus.jit(lambda x: x * 2))(1.0).eqns
    program = olympus.make_olympuspr(lambda x, c, r: x * c + r)(
        1.0, 2.0, np.ones(2, np.float32)
    )
    c, r = program.jaxpr.invars[1:]
    open_ = program.jaxpr.replace(constvars=[c, r], invars=program.jaxpr.invars[:1])

    def apply(c, r):
        consts = [olympus.device_put(np.float32(c)), olympus.device_put(np.float32(r))]
        closed = ir.ClosedOlympuspr(open_, consts)
        params = {**call.params, "jaxpr": closed}
        eager = call.primitive.bind(1.0, **params)[0]
        jitted = olympus.jit(lambda x: call.primitive.bind(x, **params)[0])(1.0)
        np.testing.assert_array_equal(eager, jitted)
        return list(map(float, eager))

    assert apply(2, [0, 0]) == [2, 2]
    assert apply(3, [0, 0]) == [3, 3]
    assert apply(3, [4, 5]) == [7, 8]
