"""Fits and roots of polynomials, against NumPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus._src.foundation import errors
from tests.comparing import assert_close

pytestmark = pytest.mark.usefixtures("x64")

RNG = np.random.default_rng(3)
X = RNG.uniform(-1, 2, 9)
Y = RNG.normal(size=9)
YS = RNG.normal(size=(9, 3))
W = RNG.uniform(0.5, 2, 9)


close = functools.partial(assert_close, rtol=1e-8, atol=1e-10)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("y", [Y, YS], ids=["vector", "matrix"])
@pytest.mark.parametrize("w", [None, W], ids=["plain", "weighted"])
def test_polyfit(y, w):
    wanted, squares, rank, s, rcond = np.polyfit(X, y, 3, full=True, w=w)
    found = jnp.polyfit(X, y, 3, full=True, w=w)
    close(found[0], wanted)
    close(found[1], squares)
    assert int(found[2]) == rank
    close(found[3], s)
    assert float(found[4]) == rcond
    close(jnp.polyfit(X, y, 3, w=w), wanted)
    for cov in (True, "unscaled"):
        for got, expected in zip(
            jnp.polyfit(X, y, 3, w=w, cov=cov),
            np.polyfit(X, y, 3, w=w, cov=cov),
            strict=True,
        ):
            close(got, expected)


@pytest.mark.slow
def test_polyfit_of_integers_and_few_points():
    close(jnp.polyfit(np.arange(4), np.arange(4) * 2 + 1, 1), [2, 1])
    found, _, rank, *_ = jnp.polyfit(X[:2], Y[:2], 3, full=True)
    assert int(rank) == 2
    close(np.polyval(np.asarray(found), X[:2]), Y[:2])


def test_polyfit_under_jit_and_grad():
    def last(y):
        return jnp.polyfit(X, y, 1)[-1]

    slope = olympus.jit(olympus.grad(last))(Y)
    close(slope, np.linalg.pinv(np.vander(X, 2))[1])


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ((X, Y, -1), ValueError, "deg >= 0, got -1"),
        ((X[:0], Y[:0], 1), TypeError, "non-empty"),
        ((X[None], Y, 1), TypeError, "1D vector for x"),
        ((X, Y[:3], 1), TypeError, "same length"),
        ((X, Y[:, None, None], 1), TypeError, "one or two axes"),
        ((X, Y, 1, None, False, W[:2]), TypeError, "w of x's length"),
        ((X[:2], Y[:2], 1, None, False, None, True), ValueError, "cov='unscaled'"),
        (([1.0, 2.0], [1.0, 2.0], 1), TypeError, "asarray"),
    ],
)
def test_polyfit_refuses(arguments, kind, message):
    with pytest.raises(kind, match=message):
        jnp.polyfit(*arguments)


def by_value(z):
    return np.sort_complex(np.asarray(z))


@pytest.mark.slow
@pytest.mark.parametrize(
    "p",
    [[3.0, -2, 5, 1], [0, 0, 1.0, 2, 3], [1.0, 2, 0, 0], [2.0, 1], [4.0], [0.0, 0], []],
    ids=str,
)
def test_roots(p):
    found = jnp.roots(np.array(p))
    assert found.dtype == np.complex128
    np.testing.assert_allclose(by_value(found), by_value(np.roots(p)), atol=1e-12)


def test_roots_without_stripping_end_in_nan():
    p = np.array([0, 0, 1.0, 2, 3, 0])
    found = olympus.jit(lambda p: jnp.roots(p, strip_zeros=False))(p)
    assert np.isnan(found[3:]).all()
    np.testing.assert_allclose(by_value(found[:3]), by_value(np.roots(p)), atol=1e-12)
    assert np.isnan(jnp.roots(np.zeros(3), strip_zeros=False)).all()


@pytest.mark.slow
def test_roots_move_with_the_coefficients():
    def largest(p):
        return jnp.max(jnp.roots(p, strip_zeros=False).real)

    # p = (x - 1)(x - 3): dx/dc0 = -1 / p'(3) at the root 3.
    slope = olympus.grad(largest)(np.array([1.0, -4, 3]))
    close(slope, np.array([9, 3, 1]) / -2)


def test_roots_refuses():
    with pytest.raises(ValueError, match="vector of coefficients"):
        jnp.roots(np.ones((2, 2)))
    with pytest.raises(TypeError, match="asarray"):
        jnp.roots([1, 2])
    with pytest.raises(errors.ConcretizationTypeError, match="strip_zeros=False"):
        olympus.jit(jnp.roots)(np.ones(3))


def test_a_root_that_is_not_a_number_leaves_the_leading_coefficient():
    for roots in ([np.nan], [1.0, np.nan, 2.0], [np.inf, 1.0]):
        with np.errstate(invalid="ignore"):
            expected = np.poly(np.float32(roots))
        np.testing.assert_array_equal(jnp.poly(jnp.float32(roots)), expected)


def test_the_polynomial_of_a_matrix_is_its_characteristic_one():
    m = np.array([[2.0, 1.0], [1.0, 3.0]])
    found = jnp.poly(m)
    assert found.dtype == np.complex128
    close(found, [1, -5, 5])
    with pytest.raises(ValueError, match="or a square matrix"):
        jnp.poly(np.ones((2, 3)))
