"""Programs exported for symbolic sizes: calls are calls of the function."""

from __future__ import annotations

import numpy as np
import pytest
from fresh import run

import olympus
import olympus.numpy as jnp
from export.symbolic_cases import CASES, ROWS
from olympus import export

SIZES = ({"b": 3, "c": 5}, {"b": 2, "c": 4}, {"b": 7, "c": 1})


def specs(types):
    scope = export.SymbolicScope()
    return [
        olympus.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope), dtype)
        for text, dtype in types
    ]


def draw(types, sizes, seed=0):
    rng = np.random.default_rng(seed)
    found = []
    for text, dtype in types:
        shape = [sizes.get(d.strip()) or int(d) for d in text.split(",") if d.strip()]
        values = rng.standard_normal(shape) * 2
        if np.dtype(dtype).kind in "iu":
            values = np.abs(values)
        found.append(values.astype(dtype))
    return found


def assert_equal(found, wanted):
    found, wanted = olympus.tree.leaves(found), olympus.tree.leaves(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=3e-5, atol=3e-5)


def check(f, types):
    f = olympus.jit(f)
    exported = export.export(f)(*specs(types))
    exported = export.deserialize(exported.serialize())
    for sizes in SIZES:
        args = draw(types, sizes)
        assert_equal(exported.call(*args), f(*args))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["reshape", "sort of pairs", "scan of open carry"])
def test_call_is_the_function(name):
    f, *types = CASES[name]
    check(f, types)


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", CASES)
def test_each_operation(name):
    f, *types = CASES[name]
    check(f, types)


# -- what it says, and what it refuses -------------------------------------------------


@pytest.fixture(scope="module")
def kept():
    def f(x, y):
        return {"product": x @ y, "unused": x.shape[0]}

    b, c = export.symbolic_shape("2*b + 1, c", constraints=["c <= 4"])
    shapes = [(b, 3), (3, c)]
    structs = [olympus.ShapeDtypeStruct(s, np.float32) for s in shapes]
    return export.export(olympus.jit(f))(*structs)


@pytest.mark.slow
def test_loops_over_axes_that_may_have_no_elements():
    def f(x):
        rest = x[1:]
        last, rows = olympus.lax.scan(lambda c, r: (c + r, (c, r > 0)), x[0], rest)
        back = olympus.lax.map(lambda r: r * 2, x, batch_size=2)
        return last, rows, back, jnp.cumsum(rest, 0), jnp.logaddexp.reduce(x)

    exported = export.export(olympus.jit(f))(*specs([ROWS]))
    for rows in (1, 2, 3):
        (x,) = draw([ROWS], {"b": rows})
        assert_equal(exported.call(x), olympus.jit(f)(x))


def test_types_show_the_sizes(kept):
    assert [str(d) for d in kept.in_avals[0].shape] == ["2*b + 1", "3"]
    assert [str(d) for d in kept.out_avals[0].shape] == ["2*b + 1", "c"]
    text = kept.mlir_module()
    assert "tensor<?x3xf32>" in text
    assert "shape_assertion" in text


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        (4, 2, r"args\[0\].shape\[0\] is '2\*b \+ 1', got 4"),
        (1, 2, "'b' would be 0, and must be at least 1"),
        (5, 5, "constraint 'c <= 4'"),
    ],
)
def test_refuses_other_sizes(kept, rows, columns, message):
    x, y = np.ones((rows, 3), np.float32), np.ones((3, columns), np.float32)
    with pytest.raises(ValueError, match=message):
        kept.call(x, y)
    with pytest.raises(ValueError, match=message):
        olympus.jit(kept.call)(x, y)


def test_refuses_sizes_that_do_not_agree():
    f = olympus.jit(lambda x, y: x + y)
    exported = export.export(f)(*specs([("b", np.float32), ("b", np.float32)]))
    with pytest.raises(ValueError, match=r"args\[1\].shape\[0\] is 'b', got 3"):
        exported.call(np.ones(2, np.float32), np.ones(3, np.float32))


def test_refuses_sizes_that_no_argument_tells():
    f = olympus.jit(lambda x: x)
    with pytest.raises(ValueError, match="Cannot solve for values of dimension"):
        export.export(f)(*specs([("b*c", np.float32)]))


def test_plain_lowering_refuses_dynamic_sizes():
    lower = olympus.jit(lambda x: jnp.zeros(x.shape)).lower
    with pytest.raises(ValueError, match=r"lowered by olympus\.export\.export"):
        lower(*specs([ROWS]))


# -- where it is called ----------------------------------------------------------------


def test_call_in_another_program_of_dynamic_sizes():
    inner = export.export(olympus.jit(lambda x: jnp.cumsum(x, 0) * x.shape[0]))
    inner = inner(*specs([ROWS]))

    def outer(x):
        return inner.call(olympus.lax.concatenate([x, x], 0)).sum(1)

    exported = export.export(olympus.jit(outer))(*specs([("d, 3", np.float32)]))
    assert str(exported.out_avals[0].shape[0]) == "2*d"
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = np.cumsum(np.concatenate([x, x]), 0).sum(1) * 4
    np.testing.assert_allclose(exported.call(x), expected)


def test_gradient_through_the_call():
    def f(x, w):
        return (jnp.tanh(x @ w) ** 2).sum() / x.shape[0]

    exported = export.export(olympus.jit(f))(*specs([ROWS, ("3, 2", np.float32)]))
    x, w = draw([ROWS, ("3, 2", np.float32)], {"b": 5})
    found = olympus.jit(olympus.grad(exported.call, (0, 1)))(x, w)
    assert_equal(found, olympus.grad(f, (0, 1))(x, w))


def test_symbolic_sizes_are_not_loaded_before_they_are_needed():
    run("""
import sys
import olympus.numpy
olympus.jit(lambda x: x + 1).lower(1.0)
assert not [m for m in sys.modules if m.startswith("olympus._src.core.symbolic.")]
""")


@pytest.mark.parametrize("by", ["b", "6"])
def test_a_symbolic_number_of_largest_elements(by):
    scope = export.SymbolicScope([f"k <= {by}"])
    shapes = [export.symbolic_shape(text, scope=scope) for text in (by, "k")]
    types = [olympus.ShapeDtypeStruct(shape, "float32") for shape in shapes]
    largest = olympus.jit(lambda x, k: olympus.lax.top_k(x, k.shape[0]))
    exported = export.export(largest)(*types)
    x = np.float32([3, 1, 5, 2, 4, 0])
    for k in (1, 4):
        values, positions = exported.call(x, np.zeros(k, np.float32))
        np.testing.assert_array_equal(values, np.sort(x)[::-1][:k])
        np.testing.assert_array_equal(positions, np.argsort(-x)[:k])
