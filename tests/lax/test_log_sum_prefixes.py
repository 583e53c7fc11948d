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
