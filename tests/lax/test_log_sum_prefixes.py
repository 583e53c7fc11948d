"""Derivatives of cumlogsumexp, which go step by step through shares of the sums."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from olympus import lax

INF, NAN = np.inf, np.nan


# Recorded from jax 0.10.2: jacfwd of lax.cumlogsumexp, but for numbers beside an
# infinity, where it has their exponentials.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("x", "last_row"),
    [
        ([1, INF, 2, 3], [0, 1, 0, 0]),
        ([-INF, 1, -INF, 2], [0, 0.26894, 0, 0.73106]),
        ([2, 2, INF, -INF], [0, 0, 1, 0]),
        ([-INF, -INF, 1, 2], [NAN, NAN, NAN, NAN]),
        ([1, -INF, -INF, 2], [0.26894, 0, 0, 0.73106]),
    ],
)
def test_infinities_count_as_they_do_in_pairs(x, last_row):
    jacobian = olympus.jacfwd(lax.cumlogsumexp)(np.asarray(x, np.float32))
    np.testing.assert_allclose(jacobian[-1], last_row, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("reverse", [False, True])
def test_gradient_of_a_long_sum_is_exact(reverse):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=3000) * 8).astype(np.float32)
    weights = rng.normal(size=3000).astype(np.float32)

    def loss(x):
        return (lax.cumlogsumexp(x, reverse=reverse) * weights).sum()

    line, w = (v[::-1] if reverse else v for v in (x.astype(np.float64), weights))
    sums = np.logaddexp.accumulate(line)
    shares = np.tril(np.exp(np.minimum(line[None, :] - sums[:, None], 0)))
    want = w @ shares
    got = olympus.jit(olympus.grad(loss))(x)
    np.testing.assert_allclose(got, want[::-1] if reverse else want, atol=2e-4)


@pytest.mark.slow
def test_second_derivative_and_batches():
    x = np.asarray([[0.3, -1.0, 2.0], [1.0, 1.0, -4.0]], np.float32)

    def last(x):
        return lax.cumlogsumexp(x)[-1]

    def softmax_slope(x):
        p = np.exp(x - x.max()) / np.exp(x - x.max()).sum()
        return np.diag(p) - np.outer(p, p)

    got = olympus.vmap(olympus.hessian(last))(x)
    np.testing.assert_allclose(got, [softmax_slope(v) for v in x], atol=1e-6)


COMPLEX = np.complex64([1 + 2j, 3 - 1j, -1, 2 + 5j, 3 + 0.5j])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_sums_of_complex_exponentials(reverse, axis):
    x = np.stack([COMPLEX, 2 * COMPLEX[::-1]])
    line = np.flip(x, axis) if reverse else x
    expected = np.log(np.cumsum(np.exp(line.astype(complex)), axis))
    expected = np.flip(expected, axis) if reverse else expected
    out = lax.cumlogsumexp(x, axis, reverse)
    assert out.dtype == np.complex64
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    rows = olympus.vmap(lambda x: lax.cumlogsumexp(x, 0, reverse), axis - 1, axis - 1)
    np.testing.assert_array_equal(rows(x), out)


def test_sums_of_complex_exponentials_of_infinite_numbers():
    infinite = complex(-np.inf, 1)
    x = np.complex64([infinite, infinite, 1 + 7j, infinite])
    out = np.asarray(lax.cumlogsumexp(x))
    np.testing.assert_array_equal(out.real, [-np.inf, -np.inf, 1, 1])
    np.testing.assert_allclose(out[2:].imag, 7 - 2 * np.pi, rtol=1e-5)


def test_derivatives_of_sums_of_complex_exponentials():
    def last(x):
        return lax.cumlogsumexp(x)[-1]

    x = np.append(COMPLEX, COMPLEX[1])  # the largest real part, more than once
    shares = np.exp(x.astype(complex)) / np.exp(x.astype(complex)).sum()
    slopes = olympus.grad(last, holomorphic=True)(x)
    np.testing.assert_allclose(slopes, shares, rtol=1e-5)
