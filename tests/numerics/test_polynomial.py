"""Polynomials by Horner's rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.test_util import check_grads

X = np.linspace(-1.5, 1.5, 6).reshape(2, 3).astype(np.float32)
COEFFS = np.array([1, 2, -3, 0.5, 4], np.float32)


def want(x: Any, coeffs: Any) -> Any:
    return np.polyval(np.asarray(coeffs, np.float64)[::-1], x)


@pytest.mark.parametrize("unroll", [1, 2, 16])
def test_values(unroll: int) -> None:
    got = lax.polynomial(X, COEFFS, unroll=unroll)
    np.testing.assert_allclose(got, want(X, COEFFS), rtol=1e-5)
    listed = lax.polynomial(X, [1, 2, -3, 0.5, 4], unroll=unroll)
    np.testing.assert_allclose(listed, got, rtol=1e-6)


@pytest.mark.parametrize("coeffs", [[], [3], [3, 1]])
def test_few_coefficients(coeffs: list[int]) -> None:
    got = lax.polynomial(X, coeffs)
    assert (got.shape, got.dtype) == (X.shape, X.dtype)
    np.testing.assert_allclose(got, want(X, coeffs) if coeffs else 0 * X, rtol=1e-6)
    slope = olympus.grad(lambda x: lax.polynomial(x, coeffs))(np.float32(2.0))
    assert slope == (1 if len(coeffs) == 2 else 0)


def test_integers_and_traced_coefficients() -> None:
    assert lax.polynomial(np.int32(2), np.array([1, 0, 3], np.int32)) == 13
    assert olympus.jit(lambda a: lax.polynomial(2.0, [a, 1.0]))(5.0) == 7.0


@pytest.mark.slow
@pytest.mark.parametrize("unroll", [2, 16])
def test_derivatives_in_both(unroll: int) -> None:
    def f(x: Any, coeffs: Any) -> Any:
        return lax.polynomial(x, coeffs, unroll=unroll)

    check_grads(f, (X, COEFFS), order=2, atol=0.05, rtol=0.05)
    each = np.broadcast_to(COEFFS[:, None, None], (5, 2, 3))
    check_grads(f, (X, each), order=1, atol=0.05, rtol=0.05)


@pytest.mark.parametrize("mapped", [(0, None), (None, 0), (1, 1)])
def test_maps(mapped: Any) -> None:
    many = np.stack([COEFFS, 2 * COEFFS, -COEFFS])
    x = X if mapped[0] is not None or mapped[1] is None else X[0]
    coeffs = COEFFS if mapped[1] is None else (many if mapped[1] == 0 else many.T)
    got = olympus.vmap(lambda x, c: lax.polynomial(x, c), mapped)(x, coeffs)
    for i in range(got.shape[0]):
        one = x if mapped[0] is None else np.take(x, i, mapped[0])
        own = coeffs if mapped[1] is None else np.take(coeffs, i, mapped[1])
        np.testing.assert_allclose(got[i], want(one, own), rtol=1e-5)


@pytest.mark.parametrize(
    "coeffs",
    [[1, 2], (1.0, 2.0), np.array([1, 2]), np.array([1, 2], np.float32), []],
    ids=str,
)
def test_coefficients_are_converted_to_the_type_of_the_variable(coeffs) -> None:
    arrays = [np.array([1, 2], d) for d in (np.int32, np.float32, jnp.bfloat16)]
    for x in [2, 2.5, *arrays]:
        out = lax.polynomial(x, coeffs)
        assert out.dtype == jnp.asarray(x).dtype
        assert out.weak_type == isinstance(x, (int, float))
        expected = 1 + 2 * np.asarray(x, np.float32) if len(coeffs) else 0 * x
        np.testing.assert_array_equal(np.asarray(out, np.float32), expected)


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match=r"coeffs must have shape \(n,\)"):
        lax.polynomial(X, np.ones((2, 2), np.float32))
    with pytest.raises(ValueError, match="unroll must be 1 or more"):
        lax.polynomial(X, COEFFS, unroll=0)
