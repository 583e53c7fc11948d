"""Kernel density estimates against SciPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import stats as reference

import olympus
from olympus.scipy import stats
from tests.comparing import assert_close

pytestmark = pytest.mark.sampled(2)

DATA = np.random.default_rng(3).normal(size=(2, 6)).astype(np.float32)
POINTS = np.float32([[0, 1, 2], [1, 0, 1]])
WEIGHTS = np.float32([1, 2, 1, 1, 1, 3])


close = functools.partial(assert_close, rtol=2e-4, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("method", ["scott", "silverman", 0.5, lambda kde: 0.3])
def test_estimates_of_points(method, weights):
    ours = stats.gaussian_kde(DATA, method, weights)
    theirs = reference.gaussian_kde(DATA, method, weights)
    close(ours.covariance, theirs.covariance)
    close(ours.inv_cov, theirs.inv_cov)
    close(ours.neff, theirs.neff)
    close(ours(POINTS), theirs(POINTS))
    close(ours.logpdf(POINTS[:, 0]), theirs.logpdf(POINTS[:, 0]))
    cov = np.eye(2, dtype=np.float32)
    close(
        ours.integrate_gaussian(POINTS[:, 0], cov),
        theirs.integrate_gaussian(POINTS[:, 0], cov),
    )
    close(ours.integrate_kde(ours), theirs.integrate_kde(theirs))


@pytest.mark.slow
def test_estimates_of_numbers():
    ours, theirs = stats.gaussian_kde(DATA[0]), reference.gaussian_kde(DATA[0])
    close(ours.pdf(0.5), theirs.pdf(0.5))
    close(ours.integrate_box_1d(0, 1), theirs.integrate_box_1d(0, 1))
    close(ours.integrate_gaussian(0.0, 2.0), theirs.integrate_gaussian(0.0, 2.0))


@pytest.mark.slow
def test_estimates_are_trees_and_have_derivatives():
    def total(data):
        return stats.gaussian_kde(data).pdf(0.0)[0]

    slope = olympus.grad(total)(DATA[0])
    step = np.float32([0.01, 0, 0, 0, 0, 0])
    want = (total(DATA[0] + step) - total(DATA[0] - step)) / 0.02
    np.testing.assert_allclose(slope[0], want, rtol=0.01)
    estimate = stats.gaussian_kde(DATA)
    close(olympus.jit(lambda kde, x: kde.pdf(x))(estimate, POINTS), estimate(POINTS))


@pytest.mark.slow
def test_draws_have_the_moments_of_the_estimate():
    estimate = stats.gaussian_kde(DATA)
    draws = np.asarray(estimate.resample(olympus.random.key(0), (20000,)))
    assert draws.shape == (2, 20000)
    want = np.cov(DATA, bias=True) + np.asarray(estimate.covariance)
    np.testing.assert_allclose(draws.mean(1), DATA.mean(1), atol=0.05)
    np.testing.assert_allclose(np.cov(draws), want, atol=0.08)
    assert estimate.resample(olympus.random.key(0)).shape == (2,)


@pytest.mark.slow
def test_estimates_say_what_is_wrong():
    with pytest.raises(ValueError, match="several points"):
        stats.gaussian_kde(np.float32([1]))
    with pytest.raises(TypeError, match="dataset must be an array"):
        stats.gaussian_kde([1.0, 2.0])
    with pytest.raises(ValueError, match="weights must be a vector of length 6"):
        stats.gaussian_kde(DATA, weights=WEIGHTS[:3])
    with pytest.raises(ValueError, match="bw_method must be"):
        stats.gaussian_kde(DATA, "wide")
    with pytest.raises(NotImplementedError, match="complex"):
        stats.gaussian_kde(DATA * 1j)
    estimate = stats.gaussian_kde(DATA)
    with pytest.raises(ValueError, match="points must have 2 rows"):
        estimate(POINTS.T)
    with pytest.raises(ValueError, match="integrate_box_1d"):
        estimate.integrate_box_1d(0, 1)
