"""Incomplete gamma and beta functions, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import olympus
from olympus import lax
from olympus._src.foundation import config

A = np.array([0.1, 0.5, 1, 2.5, 10, 50, 300])[:, None] * np.ones(9)
X = np.array([1e-6, 0.05, 0.5, 1, 2, 9, 20, 60, 400]) * np.ones((7, 1))
Y = np.array([0, 1e-4, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999, 1]) * np.ones((7, 1))


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float32", 2e-4), ("float64", 1e-11)]
)
@pytest.mark.slow
def test_values_are_scipy_s(dtype, tolerance):
    with config.enable_x64(True):
        a, x, y = (v.astype(dtype) for v in (A, X, Y))
        b = a[::-1]
        for got, want in [
            (lax.igamma(a, x), scipy.special.gammainc(a, x)),
            (lax.igammac(a, x), scipy.special.gammaincc(a, x)),
            (lax.betainc(a, b, y), scipy.special.betainc(a, b, y)),
        ]:
            assert got.dtype == dtype
            np.testing.assert_allclose(got, want, rtol=tolerance * 10, atol=tolerance)


LARGE = np.array([4.9e4, 5e4, 1e6, 1e8, 1e12])[:, None] * np.ones(4)
SPREADS = np.array([-3, -1, 0, 2]) * np.ones((5, 1))  # from the mean


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-4), ("float64", 1e-9)])
def test_large_shapes_need_no_steps(dtype, tolerance):
    """Loops of 2000 steps ended before they had converged."""
    with config.enable_x64(True):
        a = LARGE.astype(dtype)
        x = (LARGE + SPREADS * np.sqrt(LARGE)).astype(dtype)
        wide, at = a.astype(np.float64), x.astype(np.float64)
        far = np.concatenate([a * 0.89, a * 0.91, a * 1.09, a * 1.11])
        for got, want in [
            (lax.igamma(a, x), scipy.special.gammainc(wide, at)),
            (lax.igammac(a, x), scipy.special.gammaincc(wide, at)),
            (lax.igamma(np.tile(a, (4, 1)), far), far > np.tile(a, (4, 1))),
        ]:
            assert got.dtype == dtype
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=1e-30)


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-4), ("float64", 1e-9)])
def test_densities_of_large_shapes(dtype, tolerance):
    with config.enable_x64(True):
        a = LARGE[1:].astype(dtype)
        x = (LARGE + SPREADS * np.sqrt(LARGE))[1:].astype(dtype)
        wide, at = a.astype(np.float64), x.astype(np.float64)
        gap = (at - wide) / wide
        # x^a exp(-x) over a^a exp(-a), and Stirling's formula.
        power = wide * (np.log1p(gap) - gap) - 1 / (12 * wide)
        want = np.exp(power) * np.sqrt(wide / (2 * np.pi)) / at
        got = olympus.grad(lambda x: lax.igamma(a, x).sum())(x)
        assert got.dtype == dtype
        # The difference from the mean has few digits of numbers so large.
        np.testing.assert_allclose(got, want, rtol=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-5), ("float64", 1e-9)])
@pytest.mark.parametrize("side", [0.97, 1.03])
def test_slopes_below_the_expansion(dtype, tolerance, side):
    """The logarithms of gamma functions of large shapes have no digits of the slope."""
    with config.enable_x64(True):
        a = np.array([25.0, 900, 4.9e4], dtype)
        x = a + np.sqrt(a) * np.array(side * 20 - 20, dtype)
        wide, at = a.astype(np.float64), x.astype(np.float64)
        in_a, in_x = olympus.grad(lambda a, x: lax.igamma(a, x).sum(), (0, 1))(a, x)
        gap = (at - wide) / wide
        power = wide * (np.log1p(gap) - gap) - 1 / (12 * wide) + 1 / (360 * wide**3)
        want = np.exp(power) * np.sqrt(wide / (2 * np.pi)) / at
        np.testing.assert_allclose(in_x, want, rtol=tolerance)
        step = wide * 1e-4
        oracle = scipy.special.gammainc
        want = oracle(wide + step, at) - oracle(wide - step, at)
        np.testing.assert_allclose(
            in_a, want / (2 * step), rtol=max(20 * tolerance, 1e-4)
        )


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_slopes_of_large_variates_are_those_of_their_expansion(dtype):
    """A variate is a + z sqrt(a) + (z^2 - 1) / 3 + ..., by Cornish and Fisher."""
    with config.enable_x64(True):
        z = np.array([-3, -1, 0, 2], dtype)
        a = np.full_like(z, 1e6)
        x = a + z * np.sqrt(a) + (z**2 - 1) / 3
        slope = lax.random_gamma_grad(a, x)
        np.testing.assert_allclose(slope, 1 + z / 2e3, rtol=1e-6)
        density = lax.random_gamma_grad(a, x) * olympus.grad(
            lambda x: lax.igamma(a, x).sum()
        )(x)
        np.testing.assert_allclose(lax.igamma_grad_a(a, x), -density, rtol=1e-5)


@pytest.mark.slow
def test_ends_and_outside():
    inf, nan = np.float32(np.inf), np.float32(np.nan)
    x = np.array([0, inf, -1, nan], np.float32)
    np.testing.assert_array_equal(lax.igamma(np.float32(2), x), [0, 1, nan, nan])
    np.testing.assert_array_equal(lax.igammac(np.float32(2), x), [1, 0, nan, nan])
    x = np.array([0, 1, -0.1, 1.1], np.float32)
    two = np.float32(2)
    np.testing.assert_array_equal(lax.betainc(two, two, x), [0, 1, nan, nan])


@pytest.mark.slow
def test_slopes_are_differences():
    with config.enable_x64(True):
        a, x = A[:-1, 1:7], X[:-1, 1:7]
        step = 1e-5

        def slope(f, argnum):
            return olympus.grad(lambda a, x: lax.reduce_sum(f(a, x), (0, 1)), argnum)

        for f, oracle in [
            (lax.igamma, scipy.special.gammainc),
            (lax.igammac, scipy.special.gammaincc),
        ]:
            in_a = (oracle(a + step, x) - oracle(a - step, x)) / (2 * step)
            in_x = (oracle(a, x + step) - oracle(a, x - step)) / (2 * step)
            np.testing.assert_allclose(slope(f, 0)(a, x), in_a, rtol=1e-4, atol=1e-7)
            np.testing.assert_allclose(slope(f, 1)(a, x), in_x, rtol=1e-4, atol=1e-7)


@pytest.mark.slow
def test_beta_slope_and_its_limits():
    with config.enable_x64(True):
        got = olympus.grad(lax.betainc, 2)(2.0, 3.0, 0.3)
        assert float(got) == pytest.approx(12 * 0.3 * 0.7**2)


@pytest.mark.slow
def test_beta_slopes_in_its_parameters_are_differences():
    with config.enable_x64(True):
        a = np.array([0.5, 2.0, 2.5, 30.0, 1.0, 0.1])
        b = np.array([0.5, 1.5, 4.0, 20.0, 1.0, 0.2])
        x, step = np.array([0.25, 0.5, 0.75, 0.6, 0.3, 0.9]), 1e-6
        oracle = scipy.special.betainc

        def total(a, b):
            return lax.reduce_sum(lax.betainc(a, b, x), (0,))

        in_a, in_b = olympus.grad(total, (0, 1))(a, b)
        for got, high, low in [
            (in_a, oracle(a + step, b, x), oracle(a - step, b, x)),
            (in_b, oracle(a, b + step, x), oracle(a, b - step, x)),
        ]:
            np.testing.assert_allclose(got, (high - low) / (2 * step), rtol=1e-6)


@pytest.mark.slow
def test_the_slope_in_a_has_a_slope_in_x():
    with config.enable_x64(True):
        a, x, step = 2.0, 1.3, 1e-5
        got = olympus.grad(lax.igamma_grad_a, 1)(a, x)
        high, low = (lax.igamma_grad_a(a, x + s) for s in (step, -step))
        assert float(got) == pytest.approx(float(high - low) / (2 * step), rel=1e-6)


@pytest.mark.slow
def test_slopes_at_the_ends():
    two, x = np.float32(2), np.array([0, 1], np.float32)
    one = np.ones(2, np.float32)
    assert olympus.grad(lax.betainc, 2)(two, np.float32(1.5), x[0]) == 0
    _, slope = olympus.jvp(lambda x: lax.betainc(1.0, 1.0, x), (x,), (one,))
    np.testing.assert_allclose(slope, one, rtol=1e-5)


@pytest.mark.slow
def test_gamma_variates_move_with_their_shape():
    """The quantile moves by what scipy's quantile function says."""
    with config.enable_x64(True):
        a, q = np.array([0.5, 2.0, 9.0]), 0.4
        x = scipy.special.gammaincinv(a, q)
        step = 1e-6
        want = (
            scipy.special.gammaincinv(a + step, q)
            - scipy.special.gammaincinv(a - step, q)
        ) / (2 * step)
        np.testing.assert_allclose(lax.random_gamma_grad(a, x), want, rtol=1e-6)


@pytest.mark.slow
def test_small_floats_scalars_and_maps():
    x = np.linspace(0.5, 3, 4, dtype=np.float16)
    got = olympus.jit(lax.igamma)(np.float16(2), x)
    assert got.dtype == np.float16
    np.testing.assert_allclose(got, scipy.special.gammainc(2, x), rtol=2e-3)
    mapped = olympus.vmap(lax.igamma, (None, 0))(np.float16(2), x)
    np.testing.assert_array_equal(mapped, got)


@pytest.mark.slow
@pytest.mark.sampled(12)  # 20 s each
@pytest.mark.parametrize("again", [olympus.jacrev, olympus.jacfwd])
@pytest.mark.parametrize(
    ("function", "where"),
    [
        (lax.igamma, (2.5, 1.3)),
        (lax.igamma, (0.7, 4.0)),
        (lax.igammac, (2.0, 9.0)),
        (lax.betainc, (2.0, 3.5, 0.3)),
        (lax.betainc, (0.8, 1.7, 0.9)),
    ],
)
def test_second_derivatives_are_differences_of_first_ones(function, where, again):
    with config.enable_x64(True):
        wrt = tuple(range(len(where)))
        slope = olympus.jit(olympus.grad(function, wrt))
        got = np.array(again(slope, wrt)(*where))
        step = 1e-5 * np.eye(len(where))
        want = np.transpose(
            [
                (np.array(slope(*(where + s))) - np.array(slope(*(where - s)))) / 2e-5
                for s in step
            ]
        )
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
def test_a_third_derivative_in_reverse():
    with config.enable_x64(True):
        second = olympus.jit(olympus.grad(olympus.grad(lax.igamma)))
        got = olympus.grad(olympus.grad(olympus.grad(lax.igamma)))(2.0, 1.3)
        want = (second(2.0 + 1e-5, 1.3) - second(2.0 - 1e-5, 1.3)) / 2e-5
        assert float(got) == pytest.approx(float(want), rel=1e-6)
        outside = olympus.grad(olympus.grad(lax.igamma))
        assert np.isnan(outside(2.0, -1.0))
        assert outside(2.0, 0.0) == 0
