"""Softmax, logsumexp, standardize, one_hot against NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import olympus
import olympus.numpy as jnp
from olympus import nn

X = np.random.default_rng(1).normal(size=(3, 4, 5)).astype(np.float32) * 4
MASK = np.random.default_rng(2).random((3, 4, 5)) < 0.7
AXES = [-1, 0, (0, 2), None]


def close(got, want, **options):
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6, **options)


@pytest.mark.parametrize("axis", AXES)
def test_softmax_and_its_logarithm(axis):
    close(nn.softmax(X, axis), special.softmax(X, axis))
    close(nn.log_softmax(X, axis), special.log_softmax(X, axis))


def test_softmax_of_masked_elements():
    hidden = np.where(MASK, X, -np.inf)
    close(nn.softmax(X, where=MASK), special.softmax(hidden, -1))
    close(nn.log_softmax(X, where=MASK), special.log_softmax(hidden, -1))


def test_softmax_of_large_small_and_no_numbers():
    close(nn.softmax(np.float32([1e30, 1e30])), [0.5, 0.5])
    close(nn.softmax(np.float32([-np.inf, 0])), [0, 1])
    assert nn.softmax(np.zeros((0,), np.float32)).shape == (0,)
    assert nn.softmax(np.arange(3)).dtype == np.float32


def test_softmax_s_derivative():
    s = special.softmax(X[0, 0])
    want = np.diag(s) - np.outer(s, s)
    rows = [olympus.grad(lambda x, i=i: nn.softmax(x)[i])(X[0, 0]) for i in range(5)]
    close(np.stack(rows), want)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
def test_logsumexp(axis, keepdims):
    close(
        nn.logsumexp(X, axis, keepdims=keepdims),
        special.logsumexp(X, axis, keepdims=keepdims),
    )
    close(
        nn.logmeanexp(X, axis, keepdims=keepdims),
        np.log(np.mean(np.exp(np.float64(X)), axis, keepdims=keepdims)),
    )


def test_logsumexp_with_factors_and_signs():
    b = np.random.default_rng(3).normal(size=X.shape).astype(np.float32)
    want, sign = special.logsumexp(X, 1, b, return_sign=True)
    got, got_sign = nn.logsumexp(X, 1, b, return_sign=True)
    close(got, want)
    close(got_sign, sign)
    plain = np.asarray(nn.logsumexp(X, 1, b))
    np.testing.assert_array_equal(np.isnan(plain), sign < 0)


def test_logsumexp_of_masked_elements():
    want = special.logsumexp(np.where(MASK, X, -np.inf), 2)
    close(nn.logsumexp(X, 2, where=MASK), want)
    means = np.log(np.mean(np.exp(np.float64(X)), 2, where=MASK))
    close(nn.logmeanexp(X, 2, MASK), means)


@pytest.mark.parametrize(
    ("x", "want"),
    [
        ([-np.inf, -np.inf], -np.inf),
        ([np.inf, 1], np.inf),
        ([1e30, 1e30], 1e30),
        ([np.nan, 1], np.nan),
    ],
)
def test_logsumexp_at_its_limits(x, want):
    close(nn.logsumexp(np.float32(x)), want)


def test_logsumexp_s_derivative_is_softmax():
    close(olympus.grad(nn.logsumexp)(X), special.softmax(X))


@pytest.mark.parametrize("algorithm", ["fast", "stable"])
@pytest.mark.parametrize("axis", [-1, 0, (1, 2)])
def test_standardize(axis, algorithm):
    mean, var = X.mean(axis, keepdims=True), X.var(axis, keepdims=True)
    want = (X - mean) / np.sqrt(var + 1e-5)
    close(nn.standardize(X, axis, algorithm=algorithm), want)


def test_standardize_with_given_moments_and_masks():
    close(nn.standardize(X, mean=1.0, variance=4.0, epsilon=0), (X - 1) / 2)
    mean = X.mean(-1, keepdims=True, where=MASK)
    var = X.var(-1, keepdims=True, where=MASK)
    want = (X - mean) / np.sqrt(var + 1e-5)
    close(nn.standardize(X, where=MASK), want)
    with pytest.raises(ValueError, match="'fast' or 'stable'"):
        nn.standardize(X, algorithm="x")


def test_one_hot():
    codes = np.array([[0, 2], [5, -1]])
    want = np.zeros((2, 2, 3), np.float32)
    want[0, 0, 0] = want[0, 1, 2] = 1
    np.testing.assert_array_equal(nn.one_hot(codes, 3), want)
    np.testing.assert_array_equal(
        nn.one_hot(codes, 3, axis=0), np.moveaxis(want, -1, 0)
    )
    assert nn.one_hot(codes, 3, dtype="int8").dtype == np.int8
    assert nn.one_hot(1, 3).tolist() == [0, 1, 0]
    assert nn.one_hot(jnp.array([0.0, 1.0]), 2).tolist() == [[1, 0], [0, 1]]


def test_one_hot_refuses_bad_axes_and_traced_sizes():
    with pytest.raises(ValueError, match=r"nn\.one_hot: axis 5"):
        nn.one_hot(np.array([0]), 3, axis=5)
    with pytest.raises(TypeError, match="static_argnums"):
        olympus.jit(lambda x, n: nn.one_hot(x, n))(np.array([0]), 3)


def test_one_hot_takes_lists_and_refuses_negative_sizes():
    np.testing.assert_array_equal(nn.one_hot([1, 0], 2), [[0, 1], [1, 0]])
    with pytest.raises(TypeError, match="num_classes must not be negative, got -1"):
        nn.one_hot(np.array([1]), -1)
