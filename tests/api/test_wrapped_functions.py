"""Functions with transformations around them, and as functions of leaves."""

import pytest

import olympus
from olympus import api_util, tree
from olympus.extend import linear_util


def double(x, y=1):
    return x * 2, y


@linear_util.transformation
def shifted(by, *args):
    outs = yield tuple(x + by for x in args), {}
    yield [10 * out for out in outs]


@linear_util.transformation_with_aux
def with_note(note, *args):
    outs = yield args, {}
    yield outs, ("note", note)


@linear_util.transformation2
def shifted_by_function(f, by, *args):
    return [10 * out for out in f(*[x + by for x in args])]


@linear_util.transformation_with_aux2
def noted_by_function(f, store, note, *args):
    outs = f(*args)
    store.store(note)
    return outs


WRAPPED = linear_util.wrap_init(double)


def test_transformations():
    assert WRAPPED.call_wrapped(3) == (6, 1)
    assert linear_util.wrap_init(double, {"y": 5}).call_wrapped(3) == (6, 5)
    assert shifted(WRAPPED, 1).call_wrapped(3) == [80, 10]
    assert shifted_by_function(WRAPPED, 1).call_wrapped(3) == [80, 10]
    both = shifted(shifted_by_function(WRAPPED, 1), 2)
    assert both.call_wrapped(3) == [1200, 100]


@pytest.mark.parametrize("transformation", [with_note, noted_by_function])
def test_auxiliary_values(transformation):
    f, note = transformation(WRAPPED, 7)
    with pytest.raises(linear_util.StoreException, match="empty"):
        note()
    assert f.call_wrapped(3) == (6, 1)
    assert note() in (7, ("note", 7))
    with pytest.raises(linear_util.StoreException, match="occupied"):
        f.call_wrapped(3)
    _, other = transformation(WRAPPED, 8)
    assert linear_util.merge_linear_aux(note, other) == (True, note())
    assert linear_util.merge_linear_aux(other, note) == (False, note())
    with pytest.raises(linear_util.StoreException, match="got none"):
        linear_util.merge_linear_aux(other, other)


def test_equal_parts_are_equal():
    assert shifted(WRAPPED, 1) == shifted(linear_util.wrap_init(double), 1)
    assert shifted(WRAPPED, 1) != shifted(WRAPPED, 2)
    assert linear_util.wrap_init(lambda x: x) != WRAPPED
    assert "Core: double" in repr(shifted(WRAPPED, 1))


def test_results_are_remembered():
    calls = []

    @linear_util.cache
    def run(fun, x):
        calls.append(x)
        return fun.call_wrapped(x)

    for x in (1, 1, 2):
        f, note = with_note(linear_util.wrap_init(double), 7)
        assert run(f, x) == (2 * x, 1)
        assert note() == ("note", 7)
    assert calls == [1, 2]


def test_functions_of_leaves():
    def f(x, d, k=None):
        return {"out": (x, d["a"], k or 0)}

    leaves, structure = tree.flatten(((1, {"a": 2}), {"k": 3}))
    flat, out_tree = api_util.flatten_fun(linear_util.wrap_init(f), structure)
    outs = flat.call_wrapped(*leaves)
    assert tree.unflatten(out_tree(), outs) == {"out": (1, 2, 3)}
    leaves, structure = tree.flatten((1, {"a": 2}))
    flat, out_tree = api_util.flatten_fun_nokwargs(linear_util.wrap_init(f), structure)
    outs = flat.call_wrapped(*leaves)
    assert tree.unflatten(out_tree(), outs) == {"out": (1, 2, 0)}


def test_fixed_arguments():
    f = linear_util.wrap_init(lambda a, b, c: (a, b, c))
    partial, args = api_util.argnums_partial(f, (0, 2), (1, 2, 3))
    assert (partial.call_wrapped(*args), args) == ((1, 2, 3), (1, 3))
    partial, args = api_util.argnums_partial(f, -1, (1, 2, 3))
    assert (partial.call_wrapped(9), args) == ((1, 2, 9), (3,))
    with pytest.raises(ValueError, match="must be hashable, got argument 1"):
        api_util.argnums_partial(f, 0, (1, [], 3))


def test_donation():
    structure = tree.structure(((1, {"a": 2}), {"k": 3}))
    assert api_util.donation_vector((0,), (), structure) == (True, False, False)
    assert api_util.donation_vector((1,), ("k",), structure) == (False, True, True)
    assert api_util.rebase_donate_argnums((2, 3), (0,)) == (1, 2)
    with pytest.raises(ValueError, match="must not overlap"):
        api_util.rebase_donate_argnums((1,), (1,))


def test_axes_names_and_types():
    structure = tree.structure((1, {"a": 2, "b": 3}))
    assert api_util.flatten_axes("axes", structure, (0, None)) == [0, None, None]
    with pytest.raises(ValueError, match="axes: the axes must be a prefix"):
        api_util.flatten_axes("axes", structure, (0,))
    info = api_util.debug_info("test", double, ({"w": 1},), {"y": 2})
    assert (info.func_name, list(info.arg_names)) == ("double", ["x['w']", "y"])
    assert api_util.safe_map(lambda a, b: a + b, [1, 2], [3, 4]) == [4, 6]
    with pytest.raises(ValueError, match="argument 2 is shorter than argument 1"):
        api_util.safe_map(max, [1, 2], [3])
    kind = olympus.ShapeDtypeStruct((2,), "float32")
    assert api_util.shaped_abstractify(kind).shape == (2,)
    assert api_util.shaped_abstractify(1.5).weak_type


@pytest.mark.parametrize(
    "wrap",
    [
        olympus.jit,
        olympus.custom_jvp,
        olympus.custom_vjp,
        olympus.custom_batching.custom_vmap,
    ],
)
def test_wrapped_functions_have_the_text_of_the_function_or_none(wrap):
    def plain(x):
        return x

    def told(x):
        """Says it."""
        return x

    assert wrap(plain).__doc__ is None
    assert wrap(told).__doc__ == "Says it."
