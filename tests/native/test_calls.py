"""Calls through the part in C give what the Python path gives, and what Python says."""

from __future__ import annotations

import collections
import contextlib
import copy
import functools
import gc
import inspect
import operator
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import olympus
import olympus.numpy as jnp
from olympus import errors, lax, tree_util
from olympus._src import native, tree
from olympus._src.api.jit_function import JitFunction

needs_native = pytest.mark.skipif(
    native.calls is None, reason="the part in C was not built here"
)

Pair = collections.namedtuple("Pair", "left right")


def known(f: JitFunction) -> int:
    """How many kinds of calls C knows of a function."""
    return len(f._state.native_entries)


def trees(leaves):
    keys = st.text("abcxyz", min_size=1, max_size=3)
    return st.recursive(
        leaves | st.none(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.lists(inner, max_size=3).map(tuple)
            | st.dictionaries(keys, inner, max_size=3)
            | st.builds(Pair, inner, inner)
        ),
        max_leaves=8,
    )


def leaf_values():
    return st.sampled_from(
        (
            2,
            -1.5,
            True,
            1j,
            np.float32(3),
            np.arange(3, dtype=np.int8),
            np.zeros((0, 2), np.float16),
            jnp.arange(4.0),
            jnp.ones((2, 1), jnp.bfloat16),
            jnp.int32(7),
        )
    )


def same(a, b) -> None:
    leaves, structure = tree.flatten(a)
    others, other_structure = tree.flatten(b)
    assert structure == other_structure
    for x, y in zip(leaves, others, strict=True):
        assert x.dtype == y.dtype
        assert x.aval is y.aval
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


@settings(max_examples=60, deadline=None)
@given(args=st.lists(trees(leaf_values()), max_size=3), data=st.data())
def test_trees_of_all_kinds(args, data):
    kwargs = data.draw(st.dictionaries(st.sampled_from("pqr"), trees(leaf_values())))

    @olympus.jit
    def f(*args, **kwargs):
        return {"z": args, "a": kwargs, "m": Pair([None], args[:1])}

    expected = f._call_slowly(*args, **kwargs)
    same(f(*args, **kwargs), expected)
    same(f(*args, **kwargs), expected)
    # The same arguments by name in another order.
    backwards = dict(reversed(kwargs.items()))
    same(f(*args, **backwards), expected)
    same(f(*args, **backwards), expected)


def test_orders_of_dicts():
    @olympus.jit
    def f(d):
        return d["b"] - 10 * d["a"]

    one, two = jnp.float32(1), jnp.float32(2)
    for _ in range(3):
        assert f({"a": one, "b": two}) == -8
        assert f({"b": two, "a": one}) == -8
        assert f({"b": one, "a": two}) == -19


@needs_native
def test_which_calls_are_known():
    @olympus.jit
    def f(*args, **kwargs):
        return jnp.float32(len(args)), kwargs

    x = jnp.ones(3)
    for i, call in enumerate(
        (
            lambda: f(x),
            lambda: f(x, x),
            lambda: f((x, x)),
            lambda: f([x, x]),
            lambda: f({"a": x}),
            lambda: f({"b": x}),
            lambda: f(a=x),
            lambda: f(Pair(x, None)),
            lambda: f(2.0),
            lambda: f(np.ones(3, np.float32)[:2]),
        )
    ):
        call()
        call()
        assert known(f) == i + 1


def test_nodes_of_other_classes():
    class Dict(dict):
        pass

    class Box:
        def __init__(self, x, name):
            self.x, self.name = x, name

    tree_util.register_pytree_node(
        Box, lambda b: ((b.x,), b.name), lambda name, xs: Box(*xs, name)
    )

    @olympus.jit
    def f(v):
        if isinstance(v, Box):
            return v.x * (2 if v.name == "two" else 3)
        if isinstance(v, dict):
            return sum(v.values())
        return v

    x = jnp.arange(3.0)
    for _ in range(3):
        same(f(Box(x, "two")), 2 * x)
        same(f(Box(x, "three")), 3 * x)
        same(f(collections.OrderedDict(b=x, a=x)), x + x)
        same(f({1: x, 2: x}), x + x)
        with pytest.raises(TypeError, match="abstract array"):
            f(Dict(a=x))


class _Module:
    def __init__(self, weights, name):
        self.weights, self.name = weights, name


tree_util.register_pytree_node(
    _Module, lambda m: ((m.weights,), m.name), lambda name, xs: _Module(*xs, name)
)


@needs_native
def test_registered_classes_are_known():
    seen = []

    @olympus.jit
    def f(d, other=None):
        seen.append(d)
        module = d["m"][0]
        scale = {"two": 2, "three": 3}[module.name]
        return scale * (d["b"] - module.weights["b"] - 10 * module.weights["a"])

    one, two, three = jnp.float32(1), jnp.float32(2), jnp.float32(3)
    for name, scale in (("two", 2), ("three", 3)):
        # Dicts in a class are taken in the order of trees, others in their own.
        module = _Module({"b": one, "a": two}, name)
        backwards = _Module({"a": two, "b": one}, name)
        for _ in range(3):
            for m in (module, backwards):
                assert f({"m": [m], "b": three}) == scale * -18
                assert f({"b": three, "m": [m]}) == scale * -18
                assert f({"b": three, "m": [m]}, other=m) == scale * -18
                assert f({"b": three, "m": [m]}, m) == scale * -18
    assert len(seen) == 6
    assert known(f) == 8
    with pytest.raises(KeyError, match="four"):
        f({"m": [_Module(module.weights, "four")], "b": three})
    # Values of the host in them, and none at all.
    for value in (2.0, np.float32(2), np.ones(3)):
        for _ in range(2):
            same(
                f({"m": [_Module({"b": 1, "a": value}, "two")], "b": 3}),
                4 - 20 * jnp.asarray(value),
            )
    assert olympus.jit(lambda m: len(m.weights))(_Module((), "two")) == 0


@needs_native
def test_compiled_programs_are_known():
    x = jnp.arange(3.0)
    compiled = olympus.jit(lambda d, y: d["b"] - d["a"] * y).lower({"b": x, "a": x}, x)
    compiled = compiled.compile()
    for i, d in enumerate(({"b": x, "a": x + 1}, {"a": x + 1, "b": x})):
        for _ in range(3):
            same(compiled(d, x), x - (x + 1) * x)
        assert len(compiled._entries) == i + 1


@needs_native
@pytest.mark.eight_devices
def test_registered_classes_are_known_on_several_devices():
    f = olympus.jit(lambda m: _Module(m.weights + 1, m.name))
    for i, device in enumerate(olympus.devices()[:3]):
        module = _Module(olympus.device_put(jnp.arange(3.0), device), "two")
        for _ in range(3):
            module = f(module)
            assert module.weights.devices() == {device}
        same(module.weights, jnp.arange(3.0) + 3)
        assert known(f) == i + 1
    apart = [
        olympus.device_put(jnp.ones(2), device) for device in olympus.devices()[:2]
    ]
    g = olympus.jit(lambda m: m.weights[0] + m.weights[1])
    for _ in range(2):
        with pytest.raises(ValueError, match="device"):
            g(_Module(tuple(apart), "two"))


@needs_native
def test_registered_classes_that_flatten_to_new_leaves():
    class Fresh:
        def __init__(self, n):
            self.n = n

    tree_util.register_pytree_node(
        Fresh,
        lambda v: ((np.full(2, v.n, np.float32),), None),
        lambda _, xs: Fresh(*xs),
    )
    f = olympus.jit(lambda v, x: v.n + x)
    for n in (1, 2, 3):
        same(f(Fresh(n), jnp.float32(1)), jnp.full(2, n + 1, jnp.float32))


def test_registered_classes_that_fail():
    broken = [False]

    class Broken:
        pass

    def children(_):
        if broken[0]:
            raise LookupError("no children")
        return (jnp.ones(2),), None

    tree_util.register_pytree_node(Broken, children, lambda _, xs: Broken())
    f = olympus.jit(lambda v: 1)
    for _ in range(3):
        assert f(Broken()) == 1
    broken[0] = True
    for _ in range(2):
        with pytest.raises(LookupError, match="no children"):
            f(Broken())
    broken[0] = False
    assert f(Broken()) == 1


def test_a_class_that_empties_the_dict_that_it_is_in(few_objects):
    class Emptying:
        def __init__(self, x):
            self.x = x

    holder = {}

    def children(v):
        holder.clear()
        gc.collect()
        return (v.x,), None

    tree_util.register_pytree_node(Emptying, children, lambda _, xs: Emptying(*xs))
    f = olympus.jit(lambda d: sum(x.x for x in d.values()))
    f({"a": Emptying(jnp.ones(2)), "b": Emptying(jnp.ones(2))})
    for _ in range(20):
        holder.update({name: Emptying(jnp.ones(2)) for name in "ab"})
        with contextlib.suppress(KeyError):
            f(holder)


def test_a_namedtuple_with_methods_of_its_own():
    class Rows(collections.namedtuple("Rows", "values weights")):
        __slots__ = ()

        def __len__(self):
            return self.values.shape[0]

        def __iter__(self):
            return (self.values[i] for i in range(len(self)))

        def __getitem__(self, at):
            return self.values[at]

        def __bool__(self):
            raise ValueError("ambiguous")

        def __eq__(self, other):
            raise ValueError("ambiguous")

        __hash__ = None

    @olympus.jit
    def f(rows, nest):
        return Rows(rows.weights, rows.values * nest["a"].weights), len(rows)

    rows = Rows(jnp.arange(3.0), jnp.ones(2))
    for i in range(4):
        out, count = f(rows, {"b": None, "a": Rows(jnp.ones(1), jnp.full(3, float(i)))})
        assert type(out) is Rows
        assert count == 3
        same(out.values, jnp.ones(2))
        same(out.weights, i * jnp.arange(3.0))
    assert known(f) == (native.calls is not None)


def test_a_namedtuple_that_is_registered_later():
    class Tagged(collections.namedtuple("Tagged", "x tag")):
        __slots__ = ()

    @olympus.jit
    def f(v):
        return v.x * v.tag

    x = jnp.ones(2)
    same(f(Tagged(x, 3)), 3 * x)
    same(f(Tagged(x, 3)), 3 * x)
    # From now on the tag is static: part of the structure.
    tree_util.register_pytree_node(
        Tagged, lambda t: ((t.x,), t.tag), lambda tag, xs: Tagged(*xs, tag)
    )
    for tag in (3, 5, 0, 5, 3):
        same(f(Tagged(x, tag)), tag * x)


def test_static_values():
    @functools.partial(olympus.jit, static_argnums=(1,), static_argnames=("mode",))
    def f(x, s, *, mode="none"):
        return x, jnp.zeros(len(repr((s, mode))))

    def lengths(s, **kwargs):
        return f(jnp.ones(2), s, **kwargs)[1].size

    values = (
        1, True, 1.0, "1", None, 0.0, -0.0, (1, 2), (1, 2.0), (True, 2), 1 + 0j,
        np.float32(1), b"1", int, frozenset({1}), "a" * 50,
    )  # fmt: skip
    for _ in range(3):
        for s in values:
            assert lengths(s) == len(repr((s, "none")))
            assert lengths(s, mode=s) == len(repr((s, s)))


def test_static_values_inside_of_tuples():
    @functools.partial(olympus.jit, static_argnums=1)
    def f(x, values):
        return x + len(repr(values))

    x = jnp.float32(0)
    one = np.float32(1)
    kinds = [1, 1.0, True, one, 1 + 0j, "1", 0.0, -0.0, None, ..., frozenset({1})]
    kinds += [frozenset({1.0}), (), (1,), (1.0,), Pair(1, 2), (1, 2), Pair(1.0, 2), int]
    shapes = [lambda v: (v,), lambda v: (v, v), lambda v: ((v,),), lambda v: ((), v)]
    every = [shape(kind) for shape in shapes for kind in kinds]
    for _ in range(2):
        for values in every:
            assert int(f(x, values)) == len(repr(values)), values
    if native.calls is not None:
        assert known(f) == len({repr(values) for values in every})


@needs_native
def test_results_of_registered_classes():
    class Box:
        def __init__(self, first, second):
            self.items = [first, second]

    tree_util.register_pytree_node(
        Box, lambda box: (box.items, None), lambda _, items: Box(*items)
    )
    f = olympus.jit(
        lambda x: {"b": (Box(x, Box(x + 1, None)), x + 2), "a": [Box(3, x)]}
    )
    for _ in range(3):
        out = f(jnp.float32(1))
        outer, last = out["b"]
        assert type(outer) is type(outer.items[1]) is type(out["a"][0]) is Box
        assert outer.items[1].items[1] is None
        assert [float(outer.items[0]), float(outer.items[1].items[0])] == [1, 2]
        assert [float(last), *map(float, out["a"][0].items)] == [3, 3, 1]
    assert known(f) == 1

    def refuse(_, items):
        raise KeyError("no box")

    class Broken(Box):
        pass

    tree_util.register_pytree_node(Broken, lambda box: (box.items, None), refuse)
    g = olympus.jit(lambda x: Broken(x, x))
    for _ in range(3):
        with pytest.raises(KeyError, match="no box"):
            g(1.0)


def test_a_static_value_that_changes():
    class Config:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n

        def __hash__(self):
            return hash(self.n)

    @functools.partial(olympus.jit, static_argnums=0)
    def f(config, x):
        return x * config.n

    config, x = Config(2), jnp.ones(2)
    for n in (2, 2, 3, 3, 2, 4):
        config.n = n
        same(f(config, x), n * x)
        same(f(Config(n), x), n * x)


def test_static_values_that_cannot_be_compared():
    class Odd:
        broken = False

        def __eq__(self, other):
            if Odd.broken:
                raise ValueError("no comparison")
            return self is other

        def __hash__(self):
            return 3

    @functools.partial(olympus.jit, static_argnums=0)
    def f(odd, x):
        return x + 1

    x = jnp.ones(2)
    f(Odd(), x)
    f(Odd(), x)
    Odd.broken = True
    with pytest.raises(ValueError, match="no comparison"):
        f(Odd(), x)
    with pytest.raises(ValueError, match="Non-hashable static argument"):
        f([], x)


def test_negative_positions_of_static_arguments():
    @functools.partial(olympus.jit, static_argnums=-1)
    def f(x, n):
        return x * n

    x = jnp.ones(2)
    for n in (2, 3, 2, 3):
        same(f(x, n), n * x)


def test_settings_are_part_of_the_key():
    @olympus.jit
    def f(x):
        return x * 2.5

    x = np.arange(3)
    for _ in range(3):
        assert f(x).dtype == jnp.float32
        with olympus.enable_x64(True):
            assert f(x).dtype == jnp.float64
        with olympus.disable_jit():
            assert f(jnp.ones(2)).shape == (2,)


def test_calls_within_other_transformations():
    @olympus.jit
    def f(x, d):
        return (x * d["w"]).sum()

    x, d = jnp.arange(3.0), {"w": jnp.ones(3)}
    f(x, d)
    f(x, d)
    same(olympus.grad(f)(x, d), jnp.ones(3))
    same(olympus.vmap(f, (0, None))(jnp.stack([x, x]), d), jnp.array([3.0, 3.0]))
    same(olympus.jit(lambda x: f(x, d))(x), f(x, d))


def test_bad_numbers_are_found_where_the_program_is_known():
    f = olympus.jit(jnp.log)
    x = jnp.array([-1.0])
    f(x)
    f(x)
    with olympus.debug_nans(True):
        for _ in range(2):
            with pytest.raises(errors.BadNumberError, match="log"):
                f(x)
    assert np.isnan(f(x)).all()


@pytest.mark.parametrize("compile", [False, True])
def test_donated_arguments(compile):
    x = jnp.arange(4.0)
    f = olympus.jit(lambda x, y: (x + y, y), donate_argnums=0)
    g = f.lower(x, x).compile() if compile else f
    for _ in range(3):
        out, _ = g(x, jnp.ones(4))
        assert x.is_deleted()
        x = out
    gone = jnp.ones(4)
    g(gone, x)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"deleted|donated"):
            g(gone, x)
    with pytest.raises(RuntimeError, match=r"deleted|donated"):
        g(x, gone)
    same(x, jnp.array([3.0, 4.0, 5.0, 6.0]))


@needs_native
def test_errors_of_known_calls_name_the_argument():
    @olympus.jit
    def update(params, x):
        return params["w"] + x

    w, x = jnp.ones(2), jnp.ones(2)
    update({"w": w}, x)
    update({"w": w}, x)
    w.delete()
    with pytest.raises(RuntimeError, match=r"update: argument 0 of type f32\[2\]") as e:
        update({"w": w}, x)
    names = [str(entry.path) for entry in e.traceback]
    assert names == [__file__]


class Model:
    scale = 3.0

    @functools.partial(olympus.jit, static_argnums=0)
    def scaled(self, x, *, shift=0.0):
        """Scales."""
        return self.scale * x + shift


def test_methods():
    model, x = Model(), jnp.ones(2)
    for _ in range(3):
        same(model.scaled(x), 3 * x)
        same(model.scaled(x, shift=x), 4 * x)
        same(Model.scaled(model, x), 3 * x)
    assert model.scaled.__self__ is model
    assert model.scaled.__func__ is Model.scaled
    assert model.scaled.__name__ == "scaled"
    assert model.scaled.__doc__ == "Scales."
    assert model.scaled == model.scaled
    assert model.scaled != Model().scaled
    assert len({model.scaled, model.scaled}) == 1
    assert model.scaled.lower(x).compile()(x).shape == (2,)
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = model.scaled.nothing_such


def test_names_that_the_caller_uses_itself():
    @olympus.jit
    def f(self, error=None, entry=None, **kwargs):
        return self, error, entry, kwargs

    x = jnp.ones(1)
    for _ in range(3):
        out = f(self=x, error=x, entry=x, args=x, kwargs=x, name=x)
        assert sorted(out[3]) == ["args", "kwargs", "name"]


def test_wrong_calls_say_so_each_time():
    @olympus.jit
    def f(x):
        return x

    x = jnp.ones(1)
    f(x)
    f(x)
    for _ in range(2):
        with pytest.raises(TypeError, match="positional argument"):
            f(x, x)
        with pytest.raises(TypeError, match="abstract array"):
            f("no")
        with pytest.raises(TypeError, match="unexpected keyword"):
            f(x, y=x)


def test_forgotten_programs_are_made_again():
    traces = []

    @olympus.jit
    def f(x):
        traces.append(1)
        return x + len(traces)

    x = jnp.zeros(())
    f(x)
    assert f(x) == 1
    f.clear_cache()
    assert f(x) == 2
    olympus.clear_caches()
    assert f(x) == 3
    assert f(x) == 3


def test_compiled_functions_check_their_arguments():
    x = jnp.ones(3)
    f = olympus.jit(lambda d, y: {"s": d["a"] + y}).lower({"a": x}, x).compile()
    for _ in range(3):
        same(f({"a": x}, x), {"s": x + x})
        same(f.call({"a": x}, 2 * x), {"s": 3 * x})
        same(f({"a": np.ones(3, np.float32)}, x), {"s": x + x})
    with pytest.raises(TypeError, match="compiled with float32"):
        f({"a": x}, jnp.ones(4))
    with pytest.raises(TypeError, match="does not match"):
        f({"b": x}, x)
    with pytest.raises(TypeError, match="Tracer"):
        olympus.jit(lambda y: f({"a": x}, y))(x)

    class Holder:
        run = f

    same(Holder().run({"a": x}, x), {"s": x + x})


def test_threads_that_call_and_forget():
    @olympus.jit
    def f(d, n):
        return d["x"] * n

    stop = threading.Event()
    wrong = []

    def work(k):
        x = jnp.full((k,), float(k))
        while not stop.is_set():
            out = f({"x": x}, 2.0)
            if out.shape != (k,) or out[0] != 2 * k:
                wrong.append(out)

    threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for _ in range(15):
        f.clear_cache()
        f({"x": jnp.ones(4)}, 1.0)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


# -- nothing is kept, and nothing is lost ----------------------------------------------


@needs_native
def test_references_are_counted():
    class Static:
        pass

    @functools.partial(olympus.jit, static_argnums=1)
    def f(d, s):
        return d["a"] + 1, {"b": d["a"]}

    x, s = jnp.ones(3), Static()
    d = {"a": x}
    for _ in range(3):
        f(d, s)
    watched = (x, s, d, x.aval, f, x._buffer, None.__class__, True.__class__)
    gc.collect()
    before = [sys.getrefcount(v) for v in watched]
    for _ in range(200):
        f(d, s)
        with pytest.raises(TypeError):
            f(d, s, x)
    gc.collect()
    after = [sys.getrefcount(v) for v in watched]
    assert all(abs(a - b) < 20 for a, b in zip(after, before, strict=True))


@needs_native
def test_programs_with_constants_run_without_python():
    held, more = jnp.arange(4.0), jnp.full(4, 10.0)
    x, y = jnp.ones(4), jnp.full(4, 2.0)
    cases = [
        (lambda a, b: {"sum": a + held, "more": (b * more,)}, (x, y)),
        (lambda a, b: a * held - more, (x, y)),  # the second is not used
        (lambda a, b: [b + 1, None, b], (x, y)),
        (lambda: (held + more, held), ()),
        (lambda a: a - 1, (y,)),
    ]
    for f, args in cases:
        jitted = olympus.jit(f)
        for call in (jitted, jitted.lower(*args).compile()):
            for _ in range(3):
                tree_util.tree_map(same, call(*args), f(*args))
        ((entry, _),) = jitted._state.native_entries.values()
        assert type(entry.call) is native.calls.Runner
    donating = olympus.jit(lambda a: a + held, donate_argnums=0)
    for _ in range(3):
        same(donating(held), jnp.arange(4.0) * 2)  # a constant is not given away
        same(donating(jnp.ones(4)), jnp.arange(1.0, 5.0))
    watched = held._buffer, more._buffer
    before = [sys.getrefcount(v) for v in watched]
    f, args = cases[0]
    jitted = olympus.jit(f)
    for _ in range(200):
        jitted(*args)
    del jitted
    gc.collect()
    after = [sys.getrefcount(v) for v in watched]
    assert all(abs(a - b) < 20 for a, b in zip(after, before, strict=True))


@needs_native
def test_programs_that_call_python_run_without_python():
    def check(x):
        shape = olympus.ShapeDtypeStruct((), x.dtype)

        def refuse(x):
            return olympus.pure_callback(_refuse, shape, x)

        return lax.cond(x > 9, refuse, lambda x: x + held, x)

    held = jnp.float32(1)
    f = olympus.jit(lambda x, unused: {"a": check(x)})
    for _ in range(4):
        same(f(jnp.float32(2), jnp.ones(3))["a"], jnp.float32(3))
    ((entry, _),) = f._state.native_entries.values()
    assert type(entry.call) is native.calls.Runner
    for _ in range(3):
        with pytest.raises(RuntimeError, match="too large"):
            f(jnp.float32(10), jnp.ones(3))
        same(f(jnp.float32(2), jnp.ones(3))["a"], jnp.float32(3))
    donating = olympus.jit(check, donate_argnums=0)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="too large"):
            donating(jnp.float32(10))
        x = jnp.float32(5)
        same(donating(x), jnp.float32(6))
        assert x.is_deleted()
    with pytest.raises(RuntimeError, match="deleted"):
        donating(x)


def _refuse(x):
    raise ValueError("too large")


@needs_native
def test_programs_that_call_python_run_inside_each_other():
    inner = olympus.jit(
        lambda x: olympus.pure_callback(lambda v: np.asarray(v) + 1, x, x)
    )
    nested = olympus.jit(lambda x: olympus.pure_callback(lambda v: inner(v), x, x) * 2)
    for _ in range(3):
        same(nested(jnp.float32(1)), jnp.float32(4))
        same(inner(jnp.float32(1)), jnp.float32(2))
    results = []
    threads = [
        threading.Thread(
            target=lambda i=i: results.append(nested(jnp.float32(i)) - 2 * i)
        )
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [float(r) for r in results] == [2.0] * 8


@needs_native
def test_functions_are_freed():
    def make():
        big = np.ones(1000)
        f = olympus.jit(lambda x: x + big)
        f(jnp.ones(1000))
        f(jnp.ones(1000))
        return weakref.ref(f)

    refs = [make() for _ in range(3)]
    gc.collect()
    assert not any(ref() is not None for ref in refs)


@needs_native
def test_arguments_of_c_itself_are_checked():
    calls = native.calls
    for bad in (
        lambda: calls.Runner(),
        lambda: calls.Runner(len, [], (), False, (), len, ...),
        lambda: calls.Runner(len, [], (), False, (), len, (dict, (...,))),
        lambda: calls.Runner(len, [], (), False, (), len, 3),
        lambda: calls.Caller().keep(1, 2, 3),
        lambda: calls.Caller().look_up({}, ("a",), frozenset()),
        lambda: calls.connect(),
        lambda: calls.BoundCaller(),
        lambda: calls.Direct(len),
    ):
        with pytest.raises((TypeError, ValueError)):
            bad()
    runner = calls.Runner(len, [], (), False, (), len, (list, ()))
    with pytest.raises(TypeError, match="one list"):
        runner(1)
    for bad in (1, [], None):
        with pytest.raises(TypeError):
            runner.taking(bad)
    for bad in ([], None, (1, 2)):
        with pytest.raises(TypeError):
            runner.in_turn(bad)
    for positions in ((2,), (-1,)):
        with pytest.raises(IndexError):
            runner.taking(positions)([1, 2])


# -- functions that are one program ----------------------------------------------------


@needs_native
def test_direct_calls_have_the_bits_of_others():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(5, 7)).astype(np.float32))
    rows = {
        "sum": lambda f: f(x, axis=0),
        "mean": lambda f: f(x, (0, 1)),
        "var": lambda f: f(x, axis=-1, keepdims=True),
        "std": lambda f: f(x),
        "max": lambda f: f(x, 1),
        "argmax": lambda f: f(x, axis=1),
        "sin": lambda f: f(x),
        "add": lambda f: f(x, 1),
        "multiply": lambda f: f(2.5, x),
        "where": lambda f: f(x > 0, x, 0.0),
        "clip": lambda f: f(x, -1.0, 1.0),
        "any": lambda f: f(x > 2),
    }
    for name, call in rows.items():
        olympus.clear_caches()
        f = getattr(jnp, name)
        expected = call(f)
        for _ in range(7):
            same(call(f), expected)


@needs_native
def test_direct_calls_are_learnt_at_the_fifth_call():
    olympus.clear_caches()
    x = jnp.ones((2, 3))
    plain = [jnp.sum(x, axis=1) for _ in range(4)]
    assert not any(type(v) is native.calls.Runner for v in jnp.sum.table.values())
    learnt = [*plain, *[jnp.sum(x, axis=1) for _ in range(2)]]
    assert any(type(v) is native.calls.Runner for v in jnp.sum.table.values())
    for out in learnt:
        same(out, jnp.array([3.0, 3.0]))


def test_axes_of_equal_value_are_told_apart():
    x = jnp.arange(6.0).reshape(2, 3)
    for _ in range(7):
        assert jnp.sum(x, axis=1).shape == (2,)
        assert jnp.sum(x, keepdims=1).shape == (1, 1)
        assert jnp.sum(x, axis=(1,)).shape == (2,)
        with pytest.raises(ValueError, match="axis"):
            jnp.sum(x, axis=2)


def test_operands_that_are_numbers():
    x = jnp.arange(3, dtype=jnp.int8)
    for _ in range(7):
        assert (x + 1).dtype == jnp.int8
        assert (x + 1.5).dtype == jnp.float32
        assert (x + True).dtype == jnp.int8
        assert (x + 1j).dtype == jnp.complex64
        same(jnp.multiply(x, 2), jnp.array([0, 2, 4], jnp.int8))
        same(jnp.multiply(x, 3), jnp.array([0, 3, 6], jnp.int8))
        with olympus.numpy_dtype_promotion("strict"):
            assert (x + 1).dtype == jnp.int8
            with pytest.raises(errors.TypePromotionError):
                _ = x + jnp.ones(3)


def test_settings_about_ranks():
    x = jnp.ones((11, 3))
    for _ in range(7):
        jnp.add(x, jnp.ones(3))
    with (
        olympus.numpy_rank_promotion("warn"),
        pytest.warns(UserWarning, match="broadcast"),
    ):
        jnp.add(x, jnp.ones(3))
    with olympus.numpy_rank_promotion("raise"):
        for _ in range(7):
            with pytest.raises(ValueError, match="not be broadcast together"):
                jnp.add(x, jnp.ones(3))


def test_deleted_operands_say_so():
    x = jnp.ones(3)
    for _ in range(7):
        jnp.sum(x)
        _ = x + x
    x.delete()
    for f in (jnp.sum, operator.neg, lambda x: x + 1):
        with pytest.raises(RuntimeError, match="deleted"):
            f(x)


def test_direct_functions_pass_as_functions():
    f = jnp.sum
    assert inspect.isfunction(f)
    assert f.__name__ == f.__qualname__ == "sum"
    assert f.__module__ == "olympus.numpy"
    assert "axis" in inspect.signature(f).parameters
    assert "The sum" in f.__doc__
    assert pickle.loads(pickle.dumps(f)) is f
    assert weakref.ref(f)() is f
    assert "sum" in repr(f)

    class Holder:
        total = f

    assert Holder.total is f


def test_direct_calls_in_transformations():
    x = jnp.arange(3.0)
    for _ in range(7):
        jnp.sum(x)
    same(olympus.grad(jnp.sum)(x), jnp.ones(3))
    same(olympus.vmap(jnp.sum)(jnp.stack([x, x])), jnp.array([3.0, 3.0]))
    same(olympus.vmap(lambda v: v.sum())(jnp.stack([x, x])), jnp.array([3.0, 3.0]))
    assert "reduce_sum" in str(olympus.make_olympuspr(jnp.sum)(x))
    with olympus.disable_jit():
        same(jnp.sum(x), jnp.float32(3))


def test_what_direct_functions_take_and_refuse():
    for _ in range(7):
        same(jnp.sum(np.ones(3, np.float32)), jnp.float32(3))
        same(jnp.sum(jnp.array([True, True])), jnp.int32(2))
        with pytest.raises(TypeError):
            jnp.sum([1, 2])
        with pytest.raises(TypeError):
            jnp.sum("text")
        with pytest.raises(TypeError):
            jnp.sum(olympus.random.key(0))


# -- reading ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["float32", "int8", "bool", "complex64", "bfloat16", "float16", "int4"]
)
def test_reading_through_the_buffer(dtype):
    x = olympus.jit(lambda: jnp.arange(6).astype(dtype).reshape(2, 3))()
    host = np.asarray(x)
    assert host.shape == (2, 3)
    assert host.dtype == x.dtype
    assert not host.flags.writeable
    expected = np.arange(6) > 0 if dtype == "bool" else range(6)
    np.testing.assert_array_equal(host.astype("complex64").ravel(), expected)
    has_buffers = native.calls is not None or sys.version_info >= (3, 12)
    if has_buffers and dtype not in ("bfloat16", "int4"):
        assert memoryview(x).shape == (2, 3)


def test_views_outlive_the_array():
    x = jnp.arange(1000.0) + 1
    view = np.asarray(x)
    donate = olympus.jit(lambda x: x * 0, donate_argnums=0)
    donate(x)
    assert x.is_deleted()
    del x
    gc.collect()
    np.testing.assert_array_equal(view, np.arange(1000.0) + 1)


def test_what_cannot_be_read():
    x = jnp.ones(3)
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(x)
    with pytest.raises(TypeError):
        np.asarray(olympus.random.key(0))
    bad = olympus.jit(
        lambda x: olympus.pure_callback(
            lambda v: 1 // 0, olympus.ShapeDtypeStruct((), jnp.float32), x
        )
    )
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        np.asarray(bad(jnp.float32(1)))


def test_rows_by_programs():
    short, long = jnp.arange(8.0).reshape(4, 2), jnp.arange(150)
    for _ in range(40):
        for x in (short, long):
            rows = list(x)
            assert len(rows) == x.shape[0]
            np.testing.assert_array_equal(np.stack(rows), np.asarray(x))
            assert {r.aval for r in rows} == {x[0].aval}
    a, *_, d = short
    same((a, d), (short[0], short[3]))
    with pytest.raises(ValueError, match="unpack"):
        _, _ = short
    with pytest.raises(TypeError, match="0-d"):
        iter(jnp.float32(1))
    assert list(jnp.zeros((0, 3))) == []


def test_values_of_linspace():
    for _ in range(7):
        np.testing.assert_array_equal(
            jnp.linspace(0, 1, 5), np.linspace(0, 1, 5).astype(np.float32)
        )
        assert jnp.linspace(0, 1.0, True, dtype=int).dtype == jnp.int32
        assert jnp.linspace(0, 1, 5, False)[1] == np.float32(0.2)
        with olympus.enable_x64(True):
            assert jnp.linspace(0, 1, 5).dtype == jnp.float64
        with pytest.raises(ValueError, match="non-negative"):
            jnp.linspace(0, 1, -1)
        assert jnp.linspace(0, 1, 0).shape == (0,)
    x = jnp.linspace(0, 1, 5)
    x.delete()
    assert not jnp.linspace(0, 1, 5).is_deleted()


def test_loops_run_by_known_calls():
    step = olympus.jit(lambda c, x: (c + x, lax.sin(c)))
    c = jnp.float32(0)
    for _ in range(50):
        c, y = step(c, 1.0)
    assert c == 50
    assert y.shape == ()


def test_copies_call_the_same_programs():
    f = olympus.jit(lambda x, n: x * n, static_argnums=1)
    x = jnp.ones(2)
    f(x, 2)
    f(x, 2)
    compiled = f.lower(x, 2).compile()
    for other in (copy.copy(f), copy.deepcopy(f)):
        for n in (2, 3, 2):
            same(other(x, n), n * x)
    for other in (copy.copy(compiled), copy.deepcopy(compiled)):
        same(other(x), 2 * x)


@needs_native
def test_methods_are_called_without_an_object_between():
    class Model:
        @functools.partial(olympus.jit, static_argnums=0)
        def scale(self, x):
            return 2 * x

    class Other(native.calls.Caller):
        def __call__(self, *args):
            return "called"

        def _call_slowly(self, *args):
            return "found"

    has_vectorcall, is_method = 1 << 11, 1 << 17  # as in CPython's object.h
    flags = type(vars(Model)["scale"]).__flags__
    assert flags & has_vectorcall
    assert flags & is_method
    assert not type(Other()).__flags__ & is_method
    assert Other()(1) == "called"
    model = Model()
    assert model.scale(3) == Model.scale(model, 3) == 6
    model.scale = lambda x: x
    assert model.scale(3) == 3


@needs_native
def test_numbers_are_told_by_type_value_and_sign():
    x = jnp.asarray(np.array([1.0, -2.0], np.float32))
    for _ in range(8):
        for number in (1, True, -0.0, 0.0, 3.5):
            assert (x + number).dtype == np.float32
            signs = np.signbit(np.asarray(jnp.zeros(2) * 0 + number))
            assert not signs.any()
        assert np.signbit(np.asarray(jnp.multiply(x, -0.0))).tolist() == [True, False]
        assert np.signbit(np.asarray(jnp.multiply(x, 0.0))).tolist() == [False, True]
        with olympus.enable_x64():
            assert (jnp.asarray(np.float64(1)) + 1).dtype == np.float64
            assert (jnp.asarray(np.int64(2**40)) + 2**40) == 2**41
