"""Calls that programs for NumPy or JAX make, in forms that are seldom used."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax

X = np.arange(3.0, dtype=np.float32)
M = np.arange(6.0, dtype=np.float32).reshape(2, 3)
ONES_BELOW = np.float32([[0, 0, 0], [1, 1, 1]])

EINSUM = [(X, (0,), X, (0,)), (X, (0,), X, (1,)), (M, (1, 0)), (M, (..., 0), X, (0,))]


@pytest.mark.parametrize("form", EINSUM)
def test_axes_of_einsum_in_tuples(form):
    lists = [list(a) if isinstance(a, tuple) else a for a in form]
    np.testing.assert_allclose(jnp.einsum(*form), np.einsum(*lists))
    np.testing.assert_allclose(jnp.einsum(*form, ()), np.sum(np.einsum(*lists)))
    assert jnp.einsum_path(*form)[0] == jnp.einsum_path(*lists)[0]


def test_polynomials_side_by_side():
    columns = jnp.polyadd(M, np.ones((1, 3), np.float32))
    np.testing.assert_array_equal(columns, ONES_BELOW + M)
    difference = jnp.polysub(np.ones((1, 3), np.float32), M)
    np.testing.assert_array_equal(difference, ONES_BELOW - M)
    with pytest.raises(ValueError, match=r"polyadd: .* but for the first axis, or "):
        jnp.polyadd(M, X)


@pytest.mark.parametrize("shape", [(1,), (1, 3), (1, 1), (2, 1), (2, 3)])
def test_fewer_powers_broadcast_to_the_last_ones(shape):
    few = 1 + np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    expected = M.copy()
    expected[-len(few) :] += few
    np.testing.assert_array_equal(jnp.polyadd(M, few), expected)
    np.testing.assert_array_equal(jnp.polyadd(few, M), expected)
    expected[-len(few) :] -= 2 * few
    np.testing.assert_array_equal(jnp.polysub(M, few), expected)
    np.testing.assert_array_equal(jnp.polysub(few, M), -expected)


@pytest.mark.parametrize("number", [2.0, np.float32(2), jnp.float32(2)])
def test_numbers_are_constant_polynomials(number):
    np.testing.assert_array_equal(jnp.polyadd(M, number), 2 * ONES_BELOW + M)
    np.testing.assert_array_equal(jnp.polysub(number, M), 2 * ONES_BELOW - M)
    np.testing.assert_array_equal(jnp.polyadd(X, number), np.polyadd(X, 2))


def test_conditions_of_piecewise_in_one_array():
    functions = [lambda x: -x, lambda x: 10 * x]
    conditions = np.stack([X < 1, X > 1])
    expected = np.piecewise(X, conditions, functions)
    np.testing.assert_array_equal(jnp.piecewise(X, conditions, functions), expected)
    traced = olympus.jit(lambda x, c: jnp.piecewise(x, c, [*functions, 7]))
    np.testing.assert_array_equal(traced(X, conditions), [0, 7, 20])
    listed = jnp.piecewise(X, [[True, False, True]], [-1, 2])
    np.testing.assert_array_equal(listed, [-1, 2, -1])
    # One condition of the array's own rank stays one.
    np.testing.assert_array_equal(jnp.piecewise(X, X < 1, [-1, 1]), [-1, 1, 1])
    # Where that does not fit, they are numbers, as in JAX.
    numbers = jnp.array([False, True, False])
    np.testing.assert_array_equal(jnp.piecewise(X, numbers, [1, 2, 3]), [2, 2, 2])
    np.testing.assert_array_equal(jnp.piecewise(X, numbers[:2], [1, 2]), [2, 2, 2])
    with pytest.raises(ValueError, match=r"with 3 condition\(s\), either 3 or 4 "):
        jnp.piecewise(X, numbers, [1, 2, 3, 4, 5])


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("name", ["r_", "c_"])
@pytest.mark.parametrize(
    "directive", ["0,2,-2", "0,2,0", "0,3,-2", "1,3,-3", "0,3,1", "0,2", "r", "c"]
)
def test_directives(name, directive):
    def join(np_):
        rows = getattr(np_, name)
        return rows[directive, [1, 2, 3], [4, 5, 6]]

    out, expected = join(jnp), np.asarray(join(np))
    np.testing.assert_array_equal(out, expected)


def test_broadcast_in_dim_may_exchange_axes():
    out = lax.broadcast_in_dim(M, (3, 2), (1, 0))
    np.testing.assert_array_equal(out, M.T)
    out = lax.broadcast_in_dim(M, (3, 4, 2), (2, 0))
    np.testing.assert_array_equal(out, np.broadcast_to(M.T[:, None], (3, 4, 2)))
    slope = olympus.grad(lambda m: lax.broadcast_in_dim(m, (3, 2), (1, 0))[2, 1])(M)
    np.testing.assert_array_equal(slope, [[0, 0, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match="broadcast_dimensions"):
        lax.broadcast_in_dim(M, (3, 2), (1, 1))


@pytest.mark.parametrize("ignores_nan", [False, True])
def test_of_two_nearest_elements_the_lower_one(ignores_nan):
    """As the documentation of JAX's `percentile` has it; NumPy goes by position."""
    prefix = "nan" if ignores_nan else ""
    rows = [
        (2, 50, 0),
        (4, 50, 1),
        (6, 50, 2),
        (5, 12.5, 0),
        (5, 37.5, 1),
        (5, 62.5, 2),
    ]
    others = [(2, 51, 1), (4, 49, 1), (4, 51, 2), (5, 62.6, 3), (5, 0, 0), (5, 100, 4)]
    for size, q, want in rows + others:
        line = np.arange(size, dtype=np.float32)
        if ignores_nan:
            line = np.append(line, np.nan).astype(np.float32)
        got = getattr(jnp, f"{prefix}percentile")(line, q, method="nearest")
        assert got == want
        assert (
            getattr(jnp, f"{prefix}quantile")(line, q / 100, method="nearest") == want
        )
    line = np.array([0, 1, 2, 3, 4, 5, 6])
    got = jnp.percentile(line, jnp.array([25, 50, 75]), method="nearest")
    np.testing.assert_array_equal(got, [1, 3, 4])


def test_results_without_an_axis_are_summed_on_request():
    def f(x):
        return {"sum": x * 2, "each": x, "same": 3.0}

    axes = {"sum": None, "each": 0, "same": None}
    out = olympus.vmap(f, out_axes=axes, sum_match=True)(X)
    assert out["sum"] == 6
    assert out["same"] == 3
    np.testing.assert_array_equal(out["each"], X)
    with pytest.raises(ValueError, match="got None for it in out_axes"):
        olympus.vmap(f, out_axes=axes)(X)
