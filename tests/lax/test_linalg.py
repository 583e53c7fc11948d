"""Factorizations multiply to what they came from."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from olympus._src.lax import linalg
from tests.lax.samples_linalg import definite
from tests.lax.sampling import array, c64, f32

SHAPES = [(4, 3), (3, 5), (3, 3), (2, 4, 3), (0, 0), (2, 0, 3), (1, 1)]


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("kind", [f32, c64])
@pytest.mark.parametrize("shape", SHAPES)
def test_qr(shape, kind, full):
    x = array(shape, kind)
    q, r = map(np.asarray, linalg.qr(x, full_matrices=full))
    want_q, want_r = np.linalg.qr(x, "complete" if full else "reduced")
    assert (q.shape, r.shape) == (want_q.shape, want_r.shape)
    np.testing.assert_allclose(q @ r, x, atol=1e-5)
    np.testing.assert_array_equal(np.tril(r, -1), np.zeros_like(r))
    unit = np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], *[q.shape[-1]] * 2))
    np.testing.assert_allclose(adjoint(q) @ q, unit, atol=1e-5)


@pytest.mark.parametrize("kind", [f32, c64])
def test_cholesky(kind):
    x = definite((2, 4, 4), kind)
    want = np.linalg.cholesky(x)
    np.testing.assert_allclose(linalg.cholesky(x), want, rtol=1e-4, atol=1e-5)
    mapped = olympus.vmap(linalg.cholesky)(x)
    np.testing.assert_allclose(mapped, want, rtol=1e-4, atol=1e-5)


def test_cholesky_takes_both_triangles_or_the_lower_alone():
    x = definite((3, 3))
    skewed = x + np.triu(np.ones_like(x), 1)
    lower = linalg.cholesky(skewed, symmetrize_input=False)
    np.testing.assert_allclose(lower, np.linalg.cholesky(x), rtol=1e-4, atol=1e-5)
    halfway = np.linalg.cholesky((skewed + skewed.T) / 2)
    np.testing.assert_allclose(linalg.cholesky(skewed), halfway, rtol=1e-4, atol=1e-5)


def test_cholesky_of_an_indefinite_matrix_is_nan():
    out = np.asarray(linalg.cholesky(-definite((3, 3))))
    assert np.isnan(np.diag(out)).any()
