"""`vmap`: axes of arguments and results, and what it says of bad ones."""

from __future__ import annotations

import collections
import functools
import inspect
import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax, tree_util
from olympus._src.interpreters import batching
from olympus.interpreters import batching as public_batching
from tests.comparing import assert_close

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.arange(12, dtype=np.float32).reshape(4, 3)
Pair = collections.namedtuple("Pair", "a b")


close = functools.partial(assert_close, rtol=1e-6, atol=0)


# -- axes ------------------------------------------------------------------------------


@pytest.mark.parametrize(("axis", "out"), [(0, 1), (1, -1), (2, 0), (-1, -2), (-3, 1)])
def test_axes_of_arguments_and_results(axis, out):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    got = olympus.vmap(lambda e: e.sum(0), axis, out)(x)
    rows = [e.sum(0) for e in np.moveaxis(x, axis, 0)]
    close(got, np.stack(rows, out))


def test_some_arguments_are_mapped():
    got = olympus.vmap(lambda a, b: a + b, in_axes=(0, None))(X, Y[0])
    close(got, X + Y[0])
    got = olympus.vmap(lambda a, b: a.sum() + b, in_axes=[1, 0])(X, Y[0])
    close(got, X.sum(0) + Y[0])


def test_keywords_are_mapped_over_their_first_axis():
    got = olympus.vmap(lambda a, b: a + b.sum(), in_axes=1)(X, b=Y[:3])
    close(got, X.T + Y[:3].sum(1)[:, None])
    close(olympus.vmap(lambda a, b=2.0: a * b)(X), X * 2)


def test_axes_by_tree():
    def f(first, second):
        return first["a"][0] + first["a"][1] + first["b"] + second.a + second.b

    args = {"a": (X, X.T), "b": np.ones(3, np.float32)}, Pair(X, np.float32(2))
    run = olympus.vmap(f, in_axes=({"a": (0, 1), "b": None}, Pair(0, None)))
    close(run(*args), 3 * X + 1 + 2)
    run = olympus.vmap(lambda d, e: d["a"][0] + e, in_axes=({"a": 0, "b": None}, 0))
    close(run({"a": (X, X), "b": "not an array"}, X), 2 * X)


def test_results_by_tree():
    def f(x):
        return {"a": x, "b": (x, 1.0)}, [x]

    run = olympus.vmap(f, out_axes=({"a": 1, "b": (0, None)}, [-1]))
    first, second = run(X)
    close(first["a"], X.T)
    close(first["b"][0], X)
    assert first["b"][1] == 1.0
    close(second[0], X.T)
    one, half = olympus.vmap(lambda x: (1, 0.5), out_axes=0)(X)
    close(one, [1, 1])
    assert (one.dtype, one.weak_type, half.weak_type) == (np.int32, True, True)


@tree_util.register_pytree_node_class
class Box:
    def __init__(self, inner, tag):
        self.inner, self.tag = inner, tag

    def tree_flatten(self):
        return (self.inner,), self.tag

    @classmethod
    def tree_unflatten(cls, tag, children):
        return cls(*children, tag)


def test_registered_nodes_pass():
    out = olympus.vmap(lambda box: Box(box.inner * 2, box.tag + "!"))(Box(X, "t"))
    assert out.tag == "t!"
    close(out.inner, X * 2)
    run = olympus.vmap(lambda box, y: box.inner + y, in_axes=(Box(1, "t"), 0))
    close(run(Box(X, "t"), Y[:3, :2]), X.T + Y[:3, :2])


def test_size_from_nothing_but_the_argument():
    close(olympus.vmap(lambda: onp.ones(2), axis_size=3)(), np.ones((3, 2)))
    close(olympus.vmap(lambda x: x, None, axis_size=2)(X[0]), [X[0], X[0]])
    assert olympus.vmap(lambda x: x * 2, axis_size=np.int64(2))(X).shape == (2, 3)
    assert olympus.vmap(lambda x: onp.sin(x).sum())(np.ones((0, 3))).shape == (0,)
    close(olympus.vmap(lambda n, x: x)(None, X), X)
    close(olympus.vmap(lambda n, x: x, in_axes=((None, 0), 0))((None, X), X), X)


def test_nested_maps_take_their_own_axes():
    f = olympus.vmap(olympus.vmap(lambda a, b: a @ b, (None, 1)), (0, None))
    close(f(X, Y.T[:, :2] * 1.0), X @ Y.T[:, :2])
    close(olympus.jit(f)(X, Y.T), X @ Y.T)
    both = olympus.vmap(olympus.vmap(lambda a: a * 2, 0, 0), 1, 1)
    close(both(X), X * 2)


class Affine:
    """Doubles its argument."""

    def __call__(self, x):
        return x * 2

    def shifted(self, x):
        return x + 1


def test_callables_of_all_kinds():
    close(olympus.vmap(Affine())(X), X * 2)
    close(olympus.vmap(Affine().shifted)(X), X + 1)
    close(olympus.vmap(functools.partial(lambda a, x: a * x, 3.0))(X), X * 3)
    close(olympus.vmap(olympus.jit(onp.sin))(X), np.sin(X))
    close(olympus.jit(olympus.vmap(onp.sin))(X), np.sin(X))


def test_the_function_keeps_its_name_and_signature():
    def named(x, *, y=2):
        """What it does."""

    mapped = olympus.vmap(named)
    assert (mapped.__name__, mapped.__doc__) == ("named", "What it does.")
    assert str(inspect.signature(mapped)) == "(x, *, y=2)"
    assert mapped.__wrapped__ is named


def test_keys_are_mapped():
    keys = olympus.random.split(olympus.random.key(1), 3)
    draw = functools.partial(olympus.random.uniform, shape=(2,))
    close(olympus.vmap(draw)(keys), np.stack([draw(k) for k in keys]))


def test_mesh_names_and_sums_are_taken():
    close(
        olympus.vmap(lambda x: x * 2, spmd_axis_name="data", sum_match=True)(X), X * 2
    )
    close(olympus.vmap(lambda x: x, spmd_axis_name=("a", "b"))(X), X)
    one = batching.AxisData("i", 3, ("data",))
    assert one == batching.AxisData("i", 3, ("data",))
    assert one != batching.AxisData("i", 3)
    assert len({one, batching.AxisData("i", 3), batching.AxisData("i", 4)}) == 3
    assert repr(one) == "AxisData(name='i', size=3)"


def test_rules_are_told_the_axis():
    seen = []
    p = olympus.extend.core.Primitive("doubled_for_vmap_test")
    p.def_abstract_eval(lambda x: x)
    p.def_impl(lambda x: x * 2)

    def rule(axis, args, dims):
        seen.append((axis.name, axis.size, axis.spmd_name, dims))
        return p.bind(*args), dims[0]

    public_batching.fancy_primitive_batchers[p] = rule
    assert public_batching.axis_primitive_batchers[p] is rule
    close(olympus.vmap(p.bind, 1, axis_name="n", spmd_axis_name="m")(X), X.T * 2)
    assert seen == [("n", 3, ("m",), (1,))]
    assert lax.psum_p in public_batching.axis_primitive_batchers


def test_doors_for_batching_rules():
    p = olympus.extend.core.Primitive("outer_sum_for_vmap_test")
    p.def_impl(lambda x, y: x + y)
    public_batching.defbroadcasting(p)
    close(olympus.vmap(p.bind)(Y, Y), Y + Y)
    close(olympus.vmap(p.bind, (0, None))(X, Y[:1]), X[:, None] + Y[:1])
    wide = olympus.vmap(p.bind, (0, 1))(Y[:, 0], np.stack([X] * 4, 1))
    close(wide, np.stack([X] * 4) + Y[:, :1, None])
    q = olympus.extend.core.Primitive("total_for_vmap_test")
    q.def_impl(lambda x, axes: x.sum(axes))
    public_batching.defreducer(q)
    close(olympus.vmap(lambda x: q.bind(x, axes=(0,)), 1)(X), X.sum(0))
    assert public_batching.broadcast(X, 4, -1).shape == (2, 3, 4)
    assert public_batching.bdim_at_front(X, 1, 3).shape == (3, 2)
    none = public_batching.not_mapped
    assert public_batching.bdim_at_front(X, none, 5).shape == (5, 2, 3)
    with pytest.raises(NotImplementedError, match="mesh_axis must be None"):
        public_batching.broadcast(X, 4, 0, "data")


def test_doors_to_what_is_mapped():
    core = olympus.extend.core
    seen = []

    def look(x):
        seen.append(
            (
                core.unsafe_am_i_under_a_vmap_DO_NOT_USE(),
                core.unsafe_get_axis_names_DO_NOT_USE(),
                core.nonempty_axis_env_DO_NOT_USE(),
            )
        )
        return x

    look(X)
    olympus.vmap(look)(X)
    olympus.vmap(olympus.vmap(olympus.jit(look), axis_name="b"), axis_name="a")(X)
    assert seen == [(False, [], False), (True, [], False), (True, ["a", "b"], True)]
    whole = olympus.typeof(X)
    one = core.mapped_aval(3, 1, whole)
    assert one.shape == (2,)
    assert core.unmapped_aval(3, 1, one) is whole
    assert core.mapped_aval(3, None, whole) is core.unmapped_aval(3, None, whole)
    with pytest.raises(ValueError, match=r"axis 1 of .* must have size 4"):
        core.mapped_aval(4, 1, whole)


def test_derivatives_on_either_side():
    def f(x):
        return onp.sin(x) * x

    x = X[1]
    want = np.cos(x) * x + np.sin(x)
    close(olympus.vmap(olympus.grad(f))(x), want)
    close(olympus.grad(lambda x: olympus.vmap(f)(x).sum())(x), want)


def test_tangents_of_integers_are_mapped():
    def f(x):
        return olympus.grad(lambda x: x.astype("float32").sum(), allow_int=True)(x)

    x = np.arange(6).reshape(2, 3)
    for run in (olympus.vmap(f), olympus.vmap(f, 1, 1), olympus.vmap(olympus.vmap(f))):
        out = run(x)
        assert (out.shape, out.dtype) == ((2, 3), olympus.float0)
    pushed = olympus.vmap(lambda x, t: olympus.jvp(lambda x: x * 2.0, (x,), (t,))[1])(
        x, np.zeros((2, 3), olympus.float0)
    )
    close(pushed, np.zeros((2, 3)))


def test_numpy_arrays_become_arrays():
    out, shared = olympus.vmap(lambda x, y: (x, y), (0, None), (0, None))(X, Y)
    assert isinstance(out, olympus.Array)
    assert shared is Y
    assert isinstance(olympus.vmap(olympus.device_put)(X), olympus.Array)


def test_several_threads_map_at_once():
    got = {}

    def work(i):
        name = f"axis{i}"
        total = olympus.vmap(lambda x: lax.psum(x * i, name), axis_name=name)
        got[i] = np.asarray(total(X))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i in range(4):
        close(got[i], np.stack([X.sum(0) * i] * 2))


def test_why_a_jitted_function_is_traced_for_other_axes():
    f = olympus.jit(lambda x: x / lax.axis_size("i"))
    for n in (2, 3, 2):
        close(olympus.vmap(f, axis_name="i")(np.ones(n)), np.ones(n) / n)
    first, second = f.cache_info().retraces
    assert first.cause == "first call"
    assert second.cause == (
        "the named axes around the call changed from 'i' of size 2 to 'i' of size 3"
    )


# -- errors ----------------------------------------------------------------------------


def loss(params, x, *rest, scale=1.0):
    return params["w"].sum() + x.sum()


def test_sizes_that_differ_are_listed_by_argument():
    with pytest.raises(ValueError, match="one size") as caught:
        olympus.vmap(loss)({"w": X, "b": [X]}, X, Y, scale=np.ones(5))
    assert str(caught.value).split("\n(olympus")[0] == (
        "vmap: the mapped axes of the arguments of loss must have one size, got\n"
        "  size 2: axis 0 of argument params['b'][0] of type f32[2,3]\n"
        "          axis 0 of argument params['w'] of type f32[2,3]\n"
        "          axis 0 of argument x of type f32[2,3]\n"
        "  size 4: axis 0 of argument rest[0] of type f32[4,3]\n"
        "  size 5: axis 0 of argument scale of type f32[5]\n"
        "Use None in in_axes for arguments that all elements share."
    )
    with pytest.raises(ValueError, match="axis_size=7\n  size 2: axis 1 of argument x"):
        olympus.vmap(lambda x: x, 1, axis_size=7)(Y[:, :2])
    with pytest.raises(ValueError, match="and 3 more"):
        olympus.vmap(lambda x: x)([X] * 6 + [Y])


def test_names_of_arguments_of_methods_and_jitted_functions():
    for f, name in (
        (Affine().shifted, "x"),
        (Affine(), "x"),
        (olympus.jit(lambda one: one), "one"),
        (functools.partial(lambda a, b: b, 1), "b"),
        (olympus.vmap(lambda inner: inner), "inner"),
    ):
        with pytest.raises(ValueError, match=f"argument {name} of .* at least 1 axis"):
            olympus.vmap(f)(1.0)


BAD_CALLS = {
    r"argument params\['w'\] of loss must have at least 3 axes .* axis 2, got f32\[2,3\]": (  # noqa: E501
        ValueError,
        lambda: olympus.vmap(loss, 2)({"w": X}, X),
    ),
    "argument x of loss must have at least 1 axis .* axis -1, got f32": (
        ValueError,
        lambda: olympus.vmap(loss, (0, -1))({"w": X}, 1.0),
    ),
    "argument x of loss must be an array .* got 'text' of type str; use None": (
        TypeError,
        lambda: olympus.vmap(loss)({"w": X}, "text"),
    ),
    "entry for each positional argument of loss, got 1 entries for 2": (
        ValueError,
        lambda: olympus.vmap(loss, (0,))({"w": X}, X),
    ),
    r"in_axes and args must agree .* at in_axes\[0\] .* at args\[0\], only in_axes": (
        ValueError,
        lambda: olympus.vmap(loss, ({"w": 0, "b": 0}, 0))({"w": X}, X),
    ),
    r"a tuple of 3 at in_axes\[1\] and one of 2 at args\[1\]": (
        ValueError,
        lambda: olympus.vmap(loss, (0, (0, 0, 0)))({"w": X}, (X, X)),
    ),
    "at least one argument of loss must be mapped, got in_axes None for all": (
        ValueError,
        lambda: olympus.vmap(loss, (None, None))({"w": X}, X),
    ),
    "at least one argument of .* must be mapped, got no arrays": (
        ValueError,
        lambda: olympus.vmap(lambda: 1)(),
    ),
    r"must return arrays, got 'a' of type str at result\['k'\]": (
        TypeError,
        lambda: olympus.vmap(lambda x: {"k": "a"})(X),
    ),
    r"result\[1\] of .* depends on mapped arguments, got None": (
        ValueError,
        lambda: olympus.vmap(lambda x: (x, x), out_axes=(0, None))(X),
    ),
    r"out_axes for result\['a'\] of .* must be below 2, since it has 1 axis and": (
        ValueError,
        lambda: olympus.vmap(lambda x: {"a": x}, out_axes=2)(X),
    ),
    "out_axes for the result of .* must be below 1, since it has 0 axes": (
        ValueError,
        lambda: olympus.vmap(lambda x: 1.0, out_axes=-2)(X),
    ),
    "out_axes and result must agree .* a list at out_axes and a tuple at result": (
        ValueError,
        lambda: olympus.vmap(lambda x: (x, x), out_axes=[0, 0])(X),
    ),
}


@pytest.mark.parametrize("message", BAD_CALLS)
def test_bad_calls(message):
    kind, call = BAD_CALLS[message]
    with pytest.raises(kind, match="vmap: .*" + message):
        call()


def test_bad_ways_of_mapping():
    with pytest.raises(TypeError, match="vmap: expected a callable, got 3"):
        olympus.vmap(3)
    for axes in ("a", 1.0, True, np.int32(0), {"a": 0}):
        with pytest.raises(TypeError, match="vmap: in_axes must be an int, None, or a"):
            olympus.vmap(loss, in_axes=axes)
    with pytest.raises(TypeError, match=r"in_axes .*, got 'a' of type str in \('a',\)"):
        olympus.vmap(loss, in_axes=("a",))
    for axes in ("a", (0, 1.5), {"k": True}):
        with pytest.raises(TypeError, match="vmap: out_axes must be an int, None, or"):
            olympus.vmap(loss, out_axes=axes)
    for size in (2.5, "a", True):
        with pytest.raises(TypeError, match="vmap: axis_size must be an int, got"):
            olympus.vmap(lambda x: x, axis_size=size)(X)
        with pytest.raises(TypeError, match="vmap: axis_size must be an int, got"):
            olympus.vmap(lambda: 1.0, axis_size=size)()
        with pytest.raises(TypeError, match="vmap: axis_size must be an int, got"):
            olympus.vmap(lambda: 1.0, None, None, axis_name="i", axis_size=size)()
        assert olympus.vmap(lambda: (), axis_size=size)() == ()
        assert olympus.vmap(lambda x: x, None, None, axis_size=size)(2.0) == 2.0
    with pytest.raises(ValueError, match="axis_size must not be negative, got -2"):
        olympus.vmap(lambda: 1.0, axis_size=-2)()
    with pytest.raises(TypeError, match="unhashable"):
        olympus.vmap(loss, axis_name=["i"])


def test_a_mapped_value_is_no_python_number():
    with pytest.raises(
        olympus.errors.TracerBoolConversionError, match="mapped by vmap"
    ):
        olympus.vmap(lambda x: x if x.sum() > 0 else -x)(X)


def test_errors_of_the_function_show_its_line():
    def fails(x):
        return onp.dot(x, np.ones(7))

    with pytest.raises(TypeError, match="contracted sizes") as caught:
        olympus.vmap(fails)(X)
    names = [entry.name for entry in caught.traceback]
    assert "fails" in names
    assert names.index("fails") == len(names) - 1
