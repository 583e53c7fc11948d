"""Derivatives of diagonals, which are masked where matrices are large."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus.test_util import check_grads

RNG = np.random.default_rng(0)
SHAPES = [(20, 20), (18, 30), (30, 18), (3, 20), (2, 17, 17), (4, 4)]


@pytest.mark.parametrize("offset", [0, 1, -2, 25, -40])
@pytest.mark.parametrize("shape", SHAPES)
def test_derivatives(shape, offset):
    x = RNG.normal(size=shape).astype(np.float32)

    def f(x):
        return jnp.diagonal(x, offset, -2, -1)

    expected = np.diagonal(x, offset, -2, -1)
    np.testing.assert_array_equal(f(x), expected)
    out, tangent = olympus.jvp(f, (x,), (2 * x,))
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(tangent, 2 * expected)
    weights = RNG.normal(size=expected.shape).astype(np.float32)
    got = olympus.jit(olympus.grad(lambda x: (f(x) * weights).sum()))(x)
    cotangent = np.zeros_like(x)
    for i in range(expected.shape[-1]):
        row, column = i + max(-offset, 0), i + max(offset, 0)
        cotangent[..., row, column] = weights[..., i]
    np.testing.assert_array_equal(got, cotangent)


def test_other_axes_maps_and_orders():
    x = RNG.normal(size=(18, 2, 20)).astype(np.float32)

    def f(x):
        return jnp.sin(jnp.diagonal(x, 1, 2, 0)).sum()

    check_grads(f, (x,), order=2, rtol=2e-2, atol=2e-2)
    rows = np.stack([x, 2 * x])
    mapped = olympus.vmap(olympus.grad(f), 1, 1)(np.moveaxis(rows, 0, 1))
    for i in range(2):
        np.testing.assert_allclose(mapped[:, i], olympus.grad(f)(rows[i]), rtol=1e-6)


def test_nan_elsewhere_stays_there():
    x = np.full((20, 20), np.nan, np.float32)
    np.fill_diagonal(x, 1.0)
    _, tangent = olympus.jvp(jnp.diagonal, (x,), (x,))
    np.testing.assert_array_equal(tangent, np.ones(20))
    assert olympus.jvp(jnp.trace, (x,), (x,)) == (20, 20)


def test_programs_pad_no_matrix():
    x = jnp.ones((100, 100))
    grad = olympus.jit(olympus.grad(lambda x: (jnp.diagonal(x) ** 2).sum()))
    assert "stablehlo.pad" not in grad.lower(x).as_text()
    assert "reduce" not in olympus.jit(jnp.diagonal).lower(x).as_text()


@pytest.mark.parametrize("dtype", ["int32", "bool", "complex64", "bfloat16"])
def test_dtypes(dtype):
    x = jnp.asarray(RNG.integers(0, 2, (20, 30)), dtype)
    assert jnp.diagonal(x, 2).dtype == x.dtype
    np.testing.assert_array_equal(jnp.diagonal(x, 2), np.diagonal(np.asarray(x), 2))
