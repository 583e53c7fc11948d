"""What the CPU lowers in place of LAPACK for many small matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import olympus
from olympus import lax
from olympus import numpy as jnp
from olympus._src.lax.linalg import matrix_kernels, small_matrices

MANY = small_matrices.FEWEST


@pytest.fixture(autouse=True)
def _without_kernels(monkeypatch):
    monkeypatch.setattr(matrix_kernels, "MOST", 0)


def _matrices(n, dtype="float32", seed=0):
    x = np.random.default_rng(seed).normal(size=(MANY, n, n))
    return x.astype(dtype)


def _by_lapack(f, *args):
    """As many matrices as LAPACK is asked for, part by part."""
    half = MANY // 2
    parts = [
        olympus.jit(f)(*[a[i : i + half] for a in args]) for i in range(0, MANY, half)
    ]
    return [np.concatenate(p) for p in zip(*map(_listed, parts), strict=True)]


def _listed(out):
    return list(out) if isinstance(out, (tuple, list)) else [out]


def _compare(f, *args, rtol=1e-4):
    lowered = olympus.jit(f).lower(*args)
    assert "custom_call" not in lowered.as_text()
    found = _listed(lowered.compile()(*args))
    for got, want in zip(found, _by_lapack(f, *args), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(
    "n", [2, *[pytest.param(i, marks=pytest.mark.slow) for i in (1, 3)]]
)
def test_lu_has_the_exchanges_of_lapack(n):
    _compare(lax.linalg.lu, _matrices(n))


@pytest.mark.parametrize("n", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_cholesky(n):
    x = _matrices(n)
    x = x @ np.swapaxes(x, -1, -2) + np.eye(n, dtype="float32")
    x[3] = -x[3]
    x[4, 0, 0] = 0
    x[5, 1, 0] = x[5, 0, 1] = np.nan
    with np.errstate(invalid="ignore"):
        _compare(lambda x: lax.linalg.cholesky(x, symmetrize_input=False), x)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("switches", list(itertools.product([True, False], repeat=4)))
def test_triangular_solve(switches):
    names = ("left_side", "lower", "transpose_a", "unit_diagonal")
    params = dict(zip(names, switches, strict=True))
    a = _matrices(3) + 4 * np.eye(3, dtype="float32")
    b = _matrices(4, seed=1)[:, :3, :2]
    b = b if params["left_side"] else np.swapaxes(b, 1, 2)

    def solve(a, b):
        return lax.linalg.triangular_solve(a, b, **params)

    _compare(solve, a, b)


@pytest.mark.parametrize("n", [3])
def test_solutions_are_as_near_as_those_of_lapack(n):
    a, b = _matrices(n), _matrices(n, seed=1)[..., :1]
    found = np.asarray(olympus.jit(jnp.linalg.solve)(a, b))
    theirs = np.linalg.solve(a, b)

    def backward(x):
        rest = np.linalg.norm(a.astype("float64") @ x - b, axis=(1, 2))
        size = np.linalg.norm(a, axis=(1, 2)) * np.linalg.norm(x, axis=(1, 2))
        return rest / (size + np.linalg.norm(b, axis=(1, 2)))

    assert backward(found).max() < 1e-6
    assert backward(found).mean() < 2 * backward(theirs).mean()


def test_pivots_are_chosen():
    """Without exchanges of rows these lose all their digits."""
    a = np.tile(np.array([[1e-12, 1.0], [1.0, 1.0]], "float32"), (MANY, 1, 1))
    b = np.tile(np.array([[1.0], [2.0]], "float32"), (MANY, 1, 1))
    np.testing.assert_allclose(olympus.jit(jnp.linalg.solve)(a, b), 1.0, rtol=1e-6)


SINGULAR = {
    "zeros": np.zeros((3, 3)),
    "ones": np.ones((3, 3)),
    "first": np.diag([0.0, 1.0, 1.0]),
    "last": np.diag([1.0, 1.0, 0.0]),
    "rank two": np.arange(9.0).reshape(3, 3),
    "small": np.eye(3) * 1e-40,
    "large": np.eye(3) * 1e38,
    "whole": np.array([[0.0, 2.0, 1.0], [2.0, 1.0, 0.0], [2.0, -1.0, 3.0]]),
}


def test_singular_matrices_are_those_of_lapack_and_touch_no_others():
    a = np.tile(np.eye(3, dtype="float32"), (MANY, 1, 1))
    a[: len(SINGULAR)] = np.stack(list(SINGULAR.values()))
    a[100, 1, 1] = np.nan
    for b in (np.ones((MANY, 3, 1), "float32"), np.zeros((MANY, 3, 1), "float32")):
        found = np.asarray(olympus.jit(jnp.linalg.solve)(a, b))
        (want,) = _by_lapack(jnp.linalg.solve, a, b)
        rest = slice(0, len(SINGULAR))
        np.testing.assert_allclose(found[rest], want[rest], rtol=1e-5)
        np.testing.assert_array_equal(np.delete(found, 100, 0)[8:], b[9:])


@pytest.mark.slow
def test_functions_over_them_and_their_derivatives():
    x = _matrices(3) + 3 * np.eye(3, dtype="float32")
    b = _matrices(3, seed=1)[..., :1]
    _compare(jnp.linalg.inv, x, rtol=1e-3)
    _compare(jnp.linalg.slogdet, x)

    def slope(a, b):
        return olympus.grad(lambda a: jnp.sum(jnp.linalg.solve(a, b)))(a)

    _compare(slope, x, b, rtol=1e-3)
    np.testing.assert_allclose(
        olympus.vmap(jnp.linalg.solve)(x, b), np.linalg.solve(x, b), rtol=1e-3
    )


def test_few_matrices_and_complex_ones_are_left_to_lapack():
    for x in (_matrices(3)[1:], _matrices(3).astype("complex64"), _matrices(5)):
        assert "custom_call" in olympus.jit(lax.linalg.lu).lower(x).as_text()
