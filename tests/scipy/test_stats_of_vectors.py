"""Distributions of vectors, and statistics of samples, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as reference

import olympus
from olympus.scipy import stats

pytestmark = pytest.mark.sampled(2)

COV = np.array([[2.0, 0.5], [0.5, 1.0]])
MEAN = np.array([1.0, 2.0])
SAMPLE = np.array([[3, 1, 2, 2], [1, 1, 5, 2], [3, 1, 2, 5]])


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2,), (3, 2), (3, 1, 2)])
def test_normal_vectors(shape, rng):
    x = rng.normal(size=shape)
    with olympus.enable_x64(True):
        got = stats.multivariate_normal.logpdf(x, MEAN, COV)
        density = stats.multivariate_normal.pdf(x, MEAN, COV)
        many = stats.multivariate_normal.logpdf(x, MEAN, np.stack([COV] * 3))
    want = np.asarray(reference.multivariate_normal.logpdf(x, MEAN, COV))
    np.testing.assert_allclose(np.asarray(got).reshape(want.shape), want, rtol=1e-12)
    np.testing.assert_allclose(np.exp(got), density, rtol=1e-12)
    assert got.shape == shape[:-1]
    np.testing.assert_allclose(many, np.broadcast_to(got, many.shape), rtol=1e-12)


def test_normal_vectors_with_numbers_for_mean_and_covariance():
    x = np.float32([1, 2, 3])
    each = stats.multivariate_normal.logpdf(x, 0.0, 2.0)
    np.testing.assert_allclose(each, reference.norm.logpdf(x, 0, 2**0.5), rtol=1e-5)
    joint = stats.multivariate_normal.logpdf(x, np.zeros(3, np.float32), 2.0)
    np.testing.assert_allclose(joint, np.sum(each), rtol=1e-5)


@pytest.mark.slow
def test_derivatives_of_normal_vectors():
    y = np.array([0.0, 1.0])
    grads = olympus.grad(stats.multivariate_normal.logpdf, (0, 1, 2))(y, MEAN, COV)
    inverse = np.linalg.inv(COV)
    pull = inverse @ (y - MEAN)
    np.testing.assert_allclose(grads[0], -pull, rtol=1e-5)
    np.testing.assert_allclose(grads[1], pull, rtol=1e-5)
    want = (np.outer(pull, pull) - inverse) / 2
    np.testing.assert_allclose(grads[2], want, rtol=1e-4)


def test_normal_vectors_refuse_shapes_that_do_not_fit():
    logpdf = stats.multivariate_normal.logpdf
    for x, mean, cov in [(3, 2, (2, 2)), (2, 2, (2, 3)), (2, 2, (2,)), (2, 3, (2, 2))]:
        with pytest.raises(ValueError, match="x and mean must be vectors"):
            logpdf(np.zeros(x), np.zeros(mean), np.zeros(cov))
    with pytest.raises(NotImplementedError, match="allow_singular"):
        logpdf(MEAN, MEAN, COV, allow_singular=True)


def test_dirichlet():
    alpha, x = np.array([1, 2, 0.5]), np.array([0.2, 0.3, 0.5])
    with olympus.enable_x64(True):
        for given in (x, x[:2], np.stack([x, x[::-1]], 1)):
            want = reference.dirichlet.logpdf(given, alpha)
            np.testing.assert_allclose(
                stats.dirichlet.logpdf(given, alpha), want, rtol=1e-12
            )
        np.testing.assert_allclose(
            stats.dirichlet.pdf(x, alpha), reference.dirichlet.pdf(x, alpha)
        )
        assert stats.dirichlet.logpdf(2 * x, alpha) == -np.inf
    assert stats.dirichlet.pdf(np.array([-0.2, 0.7, 0.5]), alpha) == 0
    with pytest.raises(ValueError, match="first axis of x"):
        stats.dirichlet.logpdf(x[:1], alpha)
    with pytest.raises(ValueError, match="alpha must be a vector"):
        stats.dirichlet.logpdf(x, 2.0)


def test_multinomial():
    x, p = np.array([[1, 2, 3], [2, 2, 2]]), np.array([0.2, 0.3, 0.5])
    with olympus.enable_x64(True):
        got = stats.multinomial.logpmf(x, 6, p)
        np.testing.assert_allclose(got, reference.multinomial.logpmf(x, 6, p))
        np.testing.assert_allclose(stats.multinomial.pmf(x, 6, p), np.exp(got))
    assert stats.multinomial.pmf(x[0], 5, p) == 0
    assert stats.multinomial.pmf(np.array([-1, 4, 3]), 6, p) == 0
    with pytest.raises(ValueError, match="x must hold integers"):
        stats.multinomial.logpmf(np.float32([1, 2, 3]), 6, p)


@pytest.mark.slow
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_ranks(method, axis):
    got = stats.rankdata(SAMPLE, method, axis=axis)
    want = reference.rankdata(SAMPLE, method, axis=axis)
    np.testing.assert_array_equal(np.asarray(got).reshape(want.shape), want)
    assert got.dtype == np.float32


@pytest.mark.slow
def test_ranks_of_nan_none_and_one():
    x = np.array([[1, np.nan], [3, 2]])
    want = [[np.nan, np.nan], [2, 1]]
    np.testing.assert_array_equal(stats.rankdata(x, axis=1), want)
    assert stats.rankdata(np.zeros(0)).shape == (0,)
    np.testing.assert_array_equal(stats.rankdata(3.0), [1])
    with pytest.raises(ValueError, match="method must be one of"):
        stats.rankdata(x, "best")
    with pytest.raises(NotImplementedError, match="'propagate'"):
        stats.rankdata(x, nan_policy="omit")
    with pytest.raises(ValueError, match="nan_policy"):
        stats.rankdata(x, nan_policy="other")
    with pytest.raises(TypeError, match="a must be an array"):
        stats.rankdata([1, 2])


@pytest.mark.slow
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_modes(axis, keepdims):
    got = stats.mode(SAMPLE, axis, keepdims=keepdims)
    want = reference.mode(SAMPLE, axis, keepdims=keepdims)
    np.testing.assert_array_equal(got.mode, want.mode)
    np.testing.assert_array_equal(got.count, want.count)
    assert got.mode.shape == want.mode.shape


def test_modes_of_nan_none_and_one():
    found = stats.mode(np.float32([1, np.nan, 2, np.nan]))
    assert np.isnan(found.mode)
    assert found.count == 2
    found = stats.mode(np.zeros((2, 0)), axis=1)
    np.testing.assert_array_equal(found.mode, [np.nan, np.nan])
    np.testing.assert_array_equal(found.count, [0, 0])
    assert stats.mode(3.0).count == 1


@pytest.mark.slow
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_standard_errors(axis, keepdims):
    got = stats.sem(SAMPLE, axis, keepdims=keepdims)
    want = reference.sem(SAMPLE, axis, keepdims=keepdims)
    np.testing.assert_allclose(got, want, rtol=1e-6)
    x = np.float32([1, np.nan, 2, 4])
    want = reference.sem(np.float32([1, 2, 4]))
    np.testing.assert_allclose(stats.sem(x, nan_policy="omit"), want, rtol=1e-6)
    assert np.isnan(stats.sem(x))
    with pytest.raises(ValueError, match="'propagate' or 'omit'"):
        stats.sem(x, nan_policy="raise")
