"""Matrices of given patterns against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as reference

import olympus
import olympus.numpy as jnp
from olympus.scipy import linalg

V, W = np.array([3.0, -1, 4, 1, -5]), np.array([2.0, 7, 1])
CALLS = [
    ("block_diag", (V, np.ones((2, 3)), 2.5)),
    ("circulant", (V,)),
    ("toeplitz", (V, W)),
    ("toeplitz", (V,)),
    ("toeplitz", (V + 1j * V[::-1],)),
    ("hankel", (V, W)),
    ("hankel", (W,)),
    ("companion", (V,)),
    ("leslie", (V, V[1:])),
    ("fiedler", (V,)),
    *[("fiedler_companion", (np.r_[V, V][:n],)) for n in (3, 4, 5, 6, 8)],
    *[
        ("convolution_matrix", (x, n, mode))
        for x in (V, W)
        for n in (2, 6)
        for mode in ("full", "same", "valid")
    ],
    *[("dft", (n, scale)) for n in (1, 6) for scale in (None, "sqrtn", "n")],
    ("hadamard", (8,)),
    ("helmert", (5,)),
    ("helmert", (5, True)),
    ("hilbert", (4,)),
    ("invhilbert", (6,)),
    *[
        (name, (5, kind))
        for name in ("pascal", "invpascal")
        for kind in ("symmetric", "lower", "upper")
    ],
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_as_scipy(name, arguments):
    want = getattr(reference, name)(*arguments)
    with olympus.enable_x64(True):
        got = getattr(linalg, name)(*arguments)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("circulant", (V,)),
        ("toeplitz", (V, V)),
        ("companion", (V,)),
        ("fiedler_companion", (V,)),
        ("leslie", (V, V[1:])),
    ],
)
def test_stacks_of_vectors_are_mapped(name, arguments):
    f = getattr(linalg, name)
    stacked = [np.float32(np.stack([x, 2 * x + 1])) for x in arguments]
    want = np.stack([f(*(x[i] for x in stacked)) for i in range(2)])
    np.testing.assert_allclose(f(*stacked), want, rtol=1e-6)
    np.testing.assert_allclose(olympus.vmap(f)(*stacked), want, rtol=1e-6)


def test_dtypes_as_of_jax():
    # jax 0.10.2
    whole = np.arange(1, 4)
    assert linalg.toeplitz(whole).dtype == np.int32
    assert linalg.block_diag(1, np.float32(2)).dtype == np.float32
    assert linalg.companion(whole).dtype == np.float32
    assert linalg.hadamard(4).dtype == np.int32
    assert linalg.hadamard(4, dtype="complex64").dtype == np.complex64
    assert linalg.block_diag().shape == (1, 0)
    assert linalg.dft(3).dtype == np.complex64


def test_no_size_and_one():
    assert linalg.hilbert(0).shape == linalg.dft(0).shape == (0, 0)
    assert linalg.helmert(1).shape == (0, 1)
    assert linalg.circulant(2).shape == linalg.toeplitz(2.0).shape == (1, 1)
    assert linalg.fiedler_companion(jnp.array([1])).shape == (0, 0)


def test_gradient_of_a_pattern_counts_places():
    slope = olympus.grad(lambda c: linalg.toeplitz(c).sum())(np.float32(V))
    np.testing.assert_array_equal(slope, [5, 8, 6, 4, 2])


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: linalg.toeplitz({1, 2}), TypeError, "numpy.asarray"),
        (lambda: linalg.block_diag(np.ones((2, 2, 2))), ValueError, "at argument 0"),
        (lambda: linalg.companion(np.ones(1)), ValueError, "at least 2"),
        (lambda: linalg.leslie(V, V), ValueError, "one less than"),
        (lambda: linalg.hankel(1), ValueError, "1-dimensional"),
        (lambda: linalg.convolution_matrix(V, 0), ValueError, "positive integer"),
        (lambda: linalg.convolution_matrix(V, 2, "x"), ValueError, "got 'x'"),
        (lambda: linalg.hadamard(3), ValueError, "power of 2"),
        (lambda: linalg.helmert(0), ValueError, "positive"),
        (lambda: linalg.hilbert(-1), ValueError, "at least 0"),
        (lambda: linalg.pascal(3, "x"), ValueError, "symmetric"),
        (lambda: linalg.pascal(2.5), TypeError, "with int"),
        (lambda: linalg.dft(3, dtype="float32"), ValueError, "complex"),
        (lambda: linalg.dft(3, "x"), ValueError, "sqrtn"),
    ],
)
def test_errors_teach(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


@pytest.mark.parametrize("lower", [False, True])
def test_cholesky_reads_one_triangle(lower):
    """SciPy's reads it too; its gradient is zero in the other one."""
    a = np.array([[4.0, 1.0, 0.5], [0.8, 3.0, 0.2], [0.3, 0.1, 2.0]])
    z = a + 1j * np.array([[0, 0.2, 0.1], [0.3, 0, 0.4], [0.1, 0.2, 0]])
    for matrix in (a, z):
        want = reference.cholesky(matrix, lower=lower)
        for factor in (linalg.cholesky, lambda *xs: linalg.cho_factor(*xs)[0]):
            np.testing.assert_allclose(factor(matrix, lower), want, 1e-5)
    weights = np.arange(9.0).reshape(3, 3)
    grad = olympus.grad(lambda x: (linalg.cholesky(x, lower) * weights).sum())(a)
    step = 1e-6
    for i in range(3):
        for j in range(3):
            moved = a.copy()
            moved[i, j] += step
            change = reference.cholesky(moved, lower=lower)
            change = change - reference.cholesky(a, lower=lower)
            np.testing.assert_allclose(
                grad[i, j], (change * weights).sum() / step, 1e-3
            )
