"""Systems solved by iteration against NumPy's solve."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import olympus
from olympus.scipy.sparse import linalg
from olympus.test_util import check_grads
from tests.comparing import assert_close

pytestmark = [pytest.mark.sampled(4), pytest.mark.usefixtures("x64")]

RANDOM = np.random.default_rng(0)
A, b = RANDOM.normal(size=(6, 6)), RANDOM.normal(size=6)
POSITIVE, REGULAR = A @ A.T + np.eye(6), A + 6 * np.eye(6)
MATRICES = {"cg": POSITIVE, "bicgstab": REGULAR, "gmres": REGULAR}


@pytest.fixture(params=MATRICES)
def method(request):
    return getattr(linalg, request.param), MATRICES[request.param]


close = functools.partial(assert_close, rtol=1e-9, atol=1e-10)


@pytest.mark.slow
def test_solutions_are_those_of_elimination(method):
    f, matrix = method
    want = np.linalg.solve(matrix, b)
    inverse = np.diag(1 / np.diag(matrix))
    close(f(matrix, b, tol=1e-12)[0], want)
    close(f(lambda x: matrix @ x, b, tol=1e-12)[0], want)
    close(f(matrix, b, tol=1e-12, M=inverse)[0], want)
    close(f(matrix, b, tol=1e-12, M=lambda x: inverse @ x)[0], want)
    close(f(matrix, b, x0=want, maxiter=1)[0], want)
    close(f(matrix, 0 * b)[0], 0 * b)
    turned = matrix + 0.3j * (A - A.T)
    close(f(turned, 1j * b, tol=1e-12)[0], np.linalg.solve(turned, 1j * b))


@pytest.mark.slow
def test_trees_and_dtypes(method):
    f, _ = method
    got = f(lambda x: {"a": 2 * x["a"], "c": 3 * x["c"]}, {"a": b, "c": np.float64(3)})
    close(got[0]["a"], b / 2)
    close(got[0]["c"], 1)
    with olympus.enable_x64(False):
        whole = f(np.array([[4, 1], [1, 3]]), np.array([1, 2]))[0]
        assert whole.dtype == np.float32
        np.testing.assert_allclose(whole, [1 / 11, 7 / 11], rtol=1e-5)


@pytest.mark.slow
def test_arrays_of_any_shape(method):
    f, matrix = method
    c = np.stack([b, b[::-1]], 1)
    want = np.linalg.solve(matrix, c)
    close(f(lambda x: matrix @ x, c, tol=1e-12)[0], want)
    close(f(lambda x: [matrix @ x[0]], [c], tol=1e-12)[0][0], want)
    close(f(lambda x: 4 * x, np.ones((2, 1, 3)))[0], np.full((2, 1, 3), 0.25))
    close(f(lambda x: 4 * x, 2.0)[0], 0.5)
    halved = olympus.grad(lambda c: f(lambda x: 4 * x, c)[0].sum())
    close(halved(np.ones((2, 3))), np.full((2, 3), 0.25))


def test_what_comes_beside_the_solution():
    # jax 0.10.2: None of cg and bicgstab, 0 of gmres.
    eye = np.eye(2)
    assert linalg.cg(eye, b[:2])[1] is None
    assert linalg.gmres(eye, b[:2])[1] == 0


@pytest.mark.slow
def test_restarts():
    want = np.linalg.solve(REGULAR, b)
    for solve_method in ("batched", "incremental"):
        found = linalg.gmres(
            REGULAR, b, restart=2, tol=1e-12, solve_method=solve_method
        )
        close(found[0], want)
    close(linalg.gmres(np.eye(4), np.arange(4.0))[0], np.arange(4.0))


@pytest.mark.slow
def test_few_steps_and_large_tolerances():
    close(linalg.cg(np.eye(2) * 2, b[:2], maxiter=0)[0], [0, 0])
    close(linalg.cg(POSITIVE, b, tol=2.0)[0], 0 * b)
    close(linalg.cg(POSITIVE, b, atol=1e3)[0], 0 * b)


@pytest.mark.slow
def test_derivatives_maps_and_jit(method):
    f, matrix = method

    def solution(a, c):
        whole = a @ a.T + np.eye(6) if f is linalg.cg else a
        return f(whole, c, tol=1e-13)[0]

    check_grads(solution, (REGULAR, b), 1)
    both = np.stack([b, 2 * b])
    want = np.stack([np.linalg.solve(matrix, x) for x in both])
    rows = olympus.vmap(lambda m, x: f(m, x, tol=1e-12)[0], in_axes=(None, 0))
    close(olympus.jit(rows)(matrix, both), want)


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "said"),
    [
        ((np.ones((2, 3)), b), {}, ValueError, "square matrix"),
        ((3, b), {}, TypeError, "function or ndarray"),
        ((lambda x: {"a": x}, b), {}, TypeError, "structure of b"),
        ((POSITIVE, b), {"x0": b[:2]}, ValueError, "matching shapes"),
        ((POSITIVE, b), {"x0": {"a": b}}, ValueError, "structure of b"),
        ((POSITIVE, b[:2]), {}, TypeError, "contracted sizes"),
        ((POSITIVE, ["x"]), {}, TypeError, "numpy.asarray"),
        ((POSITIVE, b), {"M": lambda x: x[:1]}, ValueError, "matching shapes"),
    ],
)
def test_errors_teach(arguments, options, kind, said):
    for f in (linalg.cg, linalg.bicgstab, linalg.gmres):
        with pytest.raises(kind, match=said):
            f(*arguments, **options)


def test_gmres_knows_two_methods():
    with pytest.raises(ValueError, match="invalid solve_method"):
        linalg.gmres(POSITIVE, b, solve_method="x")
    with pytest.raises(ValueError, match="restart must be positive"):
        linalg.gmres(POSITIVE, b, restart=0)
