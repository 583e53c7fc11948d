"""Factors, systems and functions of matrices against SciPy, and by what they mean."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import scipy.linalg as reference

import olympus
import olympus.numpy as jnp
from olympus.scipy import linalg
from olympus.test_util import check_grads
from tests.comparing import assert_close

pytestmark = [pytest.mark.sampled(6), pytest.mark.usefixtures("x64")]

N = 5
RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(N, N))
C = A + 1j * RANDOM.normal(size=(N, N))
P = A @ A.T + N * np.eye(N)
H = C @ C.conj().T + N * np.eye(N)
TALL = RANDOM.normal(size=(7, 4))
b, B = RANDOM.normal(size=N), RANDOM.normal(size=(N, 3))
EYE = np.eye(N)


close = functools.partial(assert_close, rtol=1e-9, atol=1e-9)


# Those of SciPy's functions whose result is one thing: name, arguments, options.
CALLS = [
    *[("cholesky", (x, lower), {}) for x in (P, H) for lower in (False, True)],
    *[("lu", (x, p), {}) for x in (A, C, TALL, TALL.T) for p in (False, True)],
    ("lu_factor", (A,), {}),
    *[("qr", (x,), {"mode": m}) for x in (TALL, TALL.T) for m in ("full", "r")],
    ("qr", (TALL,), {"mode": "economic", "pivoting": True}),
    ("qr_multiply", (TALL, np.ones((4, 3)), "left"), {"pivoting": True}),
    ("qr_multiply", (TALL, np.ones((2, 7))), {}),
    ("svd", (TALL,), {"compute_uv": False}),
    ("eigh", (P,), {"eigvals_only": True}),
    *[("eigh", (H, P), {"eigvals_only": True, "type": kind}) for kind in (1, 2, 3)],
    ("inv", (A,), {}),
    ("det", (A,), {}),
    ("solve", (A, B), {}),
    ("solve", (P, b), {"assume_a": "pos"}),
    ("solve", (P, B), {"assume_a": "sym"}),
    *[("solve_triangular", (C, b, t), {"lower": True}) for t in (0, "T", 2)],
    ("solve_triangular", (A, B, 1), {"unit_diagonal": True}),
    ("hessenberg", (C,), {"calc_q": True}),
    *[("polar", (x, s), {}) for x in (A, C) for s in ("left", "right")],
    ("polar", (TALL,), {}),
    ("eigh_tridiagonal", (A[0], A[1, :-1]), {"eigvals_only": True}),
    (
        "eigh_tridiagonal",
        (A[0], A[1, :-1]),
        {"eigvals_only": True, "select": "i", "select_range": (1, 2)},
    ),
    *[("expm", (x,), {}) for x in (A, C, 30 * A, 0.01 * A, 0 * A, np.triu(C))],
    ("expm_frechet", (A, P), {}),
    ("expm_frechet", (A, P), {"compute_expm": False}),
    *[("sqrtm", (x,), {}) for x in (A, P, C)],
    ("solve_sylvester", (A, P[:3, :3], B), {}),
    ("solve_sylvester", (C, P[:3, :3], B), {}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments", "options"), CALLS)
def test_as_scipy(name, arguments, options):
    want = getattr(reference, name)(*arguments, **options)
    got = getattr(linalg, name)(*arguments, **options)
    close(got, want, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("lower", [False, True])
def test_factors_solve_what_they_are_of(lower):
    for matrix, right in ((P, b), (H, B)):
        want = np.linalg.solve(matrix, right)
        close(linalg.cho_solve(linalg.cho_factor(matrix, lower), right), want)
        close(linalg.solve(matrix, right, lower, assume_a="pos"), want)
    for trans, matrix in enumerate((C, C.T, C.conj().T)):
        want = np.linalg.solve(matrix, B)
        close(linalg.lu_solve(linalg.lu_factor(C), B, trans), want)
        close(linalg.lu_solve(linalg.lu_factor(C), B[:, 0], trans), want[:, 0])


@pytest.mark.slow
def test_one_factor_for_a_stack_of_right_sides():
    stack = np.stack([B, 2 * B])
    want = np.stack([np.linalg.solve(P, x) for x in stack])
    close(linalg.cho_solve(linalg.cho_factor(P), stack), want)
    twice = np.stack([P, H.real])
    close(linalg.lu_solve(linalg.lu_factor(twice), b)[1], np.linalg.solve(H.real, b))


@pytest.mark.slow
def test_eigenvectors_of_pairs_of_matrices():
    for kind, left, right, norm in (
        (1, H, P, P),
        (2, H @ P, EYE, P),
        (3, P @ H, EYE, np.linalg.inv(P)),
    ):
        values, vectors = linalg.eigh(H, P, type=kind)
        close(left @ vectors, right @ vectors * values)
        close(vectors.conj().T @ norm @ vectors, EYE)
    stack, _ = linalg.eigh(np.stack([P, H.real]), P)
    close(stack[0], np.ones(N))
    derivative = olympus.grad(lambda x: linalg.eigh(P, x, eigvals_only=True)[-1])(P)
    _, vectors = linalg.eigh(P, P)  # of the largest value, w' = -v^H db v w
    assert derivative.shape == (N, N)
    close(np.trace(derivative @ P), -1)


ROWS = [[4.0, 1.0], [1.0, 3.0]]
OF_LISTS = [
    ("cholesky", (ROWS,)),
    ("cho_solve", ((ROWS, True), [1.0, 2.0])),
    ("eigh", (ROWS,)),
    ("expm", (ROWS,)),
    ("funm", (ROWS, jnp.sin)),
    ("lu", (ROWS,)),
    ("lu_factor", (ROWS,)),
    ("polar", (ROWS,)),
    ("qr", (ROWS,)),
    ("solve", (ROWS, [1.0, 2.0])),
    ("solve_sylvester", (ROWS, ROWS, ROWS)),
    ("solve_triangular", (ROWS, [1.0, 2.0])),
    ("svd", (ROWS,)),
    ("toeplitz", ([1.0, 2.0],)),
]


@pytest.mark.parametrize(("name", "arguments"), OF_LISTS)
def test_matrices_that_are_lists(name, arguments):
    def arrays(x):
        if isinstance(x, list):
            return np.array(x)
        return tuple(map(arrays, x)) if isinstance(x, tuple) else x

    got = getattr(linalg, name)(*arguments)
    want = getattr(linalg, name)(*arrays(arguments))
    olympus.tree.map(np.testing.assert_array_equal, got, want)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_triangular_systems_of_half_precision(dtype):
    a, right = jnp.array(ROWS, dtype=dtype), jnp.array([8, 6], dtype=dtype)
    out = linalg.solve_triangular(a, right)
    assert out.dtype == dtype
    np.testing.assert_array_equal(out.astype(float), [1.5, 2])
    transposed = linalg.solve_triangular(a, right, trans=1, lower=True)
    np.testing.assert_array_equal(transposed.astype(float), [1.5, 2])


def test_the_complex_schur_form_of_integers():
    t, z = linalg.schur(np.array([[0, 1], [-1, 0]]), "complex")
    close(z @ t @ z.conj().T, [[0, 1], [-1, 0]])


@pytest.mark.slow
def test_schur_forms():
    for output in ("real", "complex"):
        t, z = linalg.schur(A, output)
        close(z @ t @ z.conj().T, A)
    t, z = linalg.rsf2csf(*reference.schur(A))
    close(z @ t @ z.conj().T, A)
    close(z @ z.conj().T, EYE)
    assert not np.tril(t, -1).any()
    close(np.sort_complex(np.diag(t)), np.sort_complex(np.linalg.eigvals(A)))


@pytest.mark.slow
def test_vectors_of_three_diagonals():
    e = C[1, :-1]
    values, vectors = linalg.eigh_tridiagonal(A[0] + 0j, e)
    whole = np.diag(A[0]) + np.diag(e, 1) + np.diag(e.conj(), -1)
    close(whole @ vectors, vectors * values)


RNG = np.random.default_rng(0)
THREE_DIAGONALS = {
    "of 300 rows": (RNG.normal(size=300), RNG.normal(size=299)),
    "of pivots that vanish": (RNG.integers(-1, 2, 200), RNG.integers(-1, 2, 199)),
    "apart": (np.arange(40), np.zeros(39)),
    "equal": (np.full(5, 2), np.zeros(4)),
    "zero": (np.zeros(5), np.zeros(4)),
    "of large numbers": (1e37 * RNG.normal(size=9), 1e37 * RNG.normal(size=8)),
    "of small numbers": (1e-36 * RNG.normal(size=9), 1e-36 * RNG.normal(size=8)),
    "of one row": (np.array([3.0]), np.zeros(0)),
}


@pytest.mark.parametrize("name", THREE_DIAGONALS)
def test_values_of_three_diagonals(name):
    d, e = (x.astype("float32") for x in THREE_DIAGONALS[name])
    values = linalg.eigh_tridiagonal(d, e, eigvals_only=True)
    whole = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    want = np.linalg.eigvalsh(whole.astype("float64"))
    close(values, want, rtol=0, atol=4e-7 * np.abs(want).max())
    assert np.all(np.diff(values) >= 0)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_values_of_diagonals_that_are_not_finite(bad):
    d, e = np.array([1, bad, 2], "float32"), np.ones(2, "float32")
    assert np.isnan(linalg.eigh_tridiagonal(d, e, eigvals_only=True)).all()
    assert np.isnan(
        linalg.eigh_tridiagonal(e.repeat(2)[:3], d[:2], eigvals_only=True)
    ).all()


@pytest.mark.slow
def test_functions_of_matrices():
    close(linalg.funm(A, jnp.exp), reference.expm(A))
    found, error = linalg.funm(C, jnp.sin, disp=False)
    want, want_error = reference.funm(C, np.sin, disp=False)
    close(found, want)
    close(error, want_error, rtol=1e-3, atol=1e-3)
    close(linalg.expm(np.triu(C), upper_triangular=True), reference.expm(np.triu(C)))
    close(
        linalg.solve_sylvester(A, P[:3, :3], B, method="eigen"),
        reference.solve_sylvester(A, P[:3, :3], B),
    )


@pytest.mark.slow
def test_matrices_of_a_stack_are_squared_as_often_as_each_needs():
    stack = np.stack([0.001 * A, A, 40 * A])
    for whole in (linalg.expm(stack), olympus.vmap(linalg.expm)(stack)):
        for one, x in zip(whole, stack, strict=True):
            close(one, reference.expm(x))
    slopes = olympus.vmap(olympus.grad(lambda x: linalg.expm(x).sum()))(stack[:2])
    for slope, x in zip(slopes, stack, strict=False):
        close(slope, olympus.grad(lambda x: linalg.expm(x).sum())(x))


@pytest.mark.slow
def test_where_there_is_no_answer():
    assert jnp.isnan(linalg.expm(1e6 * A)).all()
    assert jnp.isnan(linalg.expm(8.0 * np.eye(2), max_squarings=0)).all()
    assert jnp.isnan(linalg.solve_sylvester(A, -A, A)).all()
    close(linalg.sqrtm(np.diag([0.0, 4, 0])), np.diag([0, 2, 0]))
    assert jnp.isnan(linalg.sqrtm(np.array([[0.0, 1], [0, 0]]))).any()


@pytest.mark.slow
def test_dtypes_as_of_jax():
    # jax 0.10.2
    with olympus.enable_x64(False):
        whole = np.array([[4, 1], [1, 3]])
        assert linalg.expm(whole).dtype == np.float32
        assert linalg.sqrtm(whole).dtype == np.complex64
        assert linalg.cholesky(whole).dtype == np.float32
        assert linalg.lu_factor(whole)[1].dtype == np.int32
        close(linalg.expm(np.float32(A)), reference.expm(A), rtol=1e-4, atol=1e-4)


SMALL, OTHER = A[:3, :3], P[:3, :3]
STEADY = {
    "expm": (linalg.expm, (SMALL,)),
    "solve_sylvester": (linalg.solve_sylvester, (SMALL, OTHER, SMALL)),
    "sqrtm": (lambda x: linalg.sqrtm(x).real, (OTHER,)),
    "cho_solve": (
        lambda a, c: linalg.cho_solve(linalg.cho_factor(a @ a.T + 3 * np.eye(3)), c),
        (SMALL, SMALL),
    ),
    "lu_solve": (
        lambda a, c: linalg.lu_solve(linalg.lu_factor(a), c, 1),
        (SMALL, SMALL),
    ),
    "polar": (lambda a: linalg.polar(a, method="svd"), (SMALL,)),
    "eigh_tridiagonal": (
        lambda d, e: linalg.eigh_tridiagonal(d, e, eigvals_only=True),
        (SMALL[0], SMALL[1, :2]),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STEADY)
def test_derivatives(name):
    f, arguments = STEADY[name]
    check_grads(f, arguments, 2 if name == "expm" else 1)


MAPPED = {
    "expm": linalg.expm,
    "sqrtm": linalg.sqrtm,
    "hessenberg": lambda a: linalg.hessenberg(a, calc_q=True),
    "polar": linalg.polar,
    "lu": linalg.lu,
    "rsf2csf": lambda a: linalg.rsf2csf(*linalg.schur(a)),
    "solve_sylvester": lambda a: linalg.solve_sylvester(a, OTHER, SMALL),
}


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0)])
def test_hessenberg_of_empty_matrices(shape):
    form, q = linalg.hessenberg(np.zeros(shape, "float32"), calc_q=True)
    assert form.shape == q.shape == shape
    assert form.dtype == q.dtype == np.float32


@pytest.mark.slow
@pytest.mark.parametrize("name", MAPPED)
def test_stacks_and_maps_are_loops(name):
    f, stack = MAPPED[name], np.stack([SMALL, OTHER, SMALL.T])
    singly = [f(x) for x in stack]
    want = (
        [np.stack(parts) for parts in zip(*singly, strict=True)]
        if isinstance(singly[0], tuple)
        else np.stack(singly)
    )
    close(f(stack), want)
    close(olympus.jit(olympus.vmap(f))(stack), want)


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: linalg.solve_triangular(A, b, "x"), ValueError, "Invalid 'trans'"),
        (lambda: linalg.solve_triangular(A, b[:3]), ValueError, r"b\[..., None\]"),
        (lambda: linalg.solve_triangular(A, "x"), TypeError, "texts are no arrays"),
        (lambda: linalg.solve(A, b, assume_a="x"), ValueError, "assume_a"),
        (lambda: linalg.lu_solve(linalg.lu_factor(A), b, 3), ValueError, "trans"),
        (lambda: linalg.cho_solve((np.ones((2, 3)), True), b), ValueError, "square"),
        (lambda: linalg.cholesky(TALL), ValueError, "square"),
        (lambda: linalg.qr(A, mode="raw"), ValueError, "economic"),
        (lambda: linalg.qr_multiply(A, B), ValueError, "c @ Q"),
        (lambda: linalg.eigh(P, P, type=4), ValueError, "type"),
        (lambda: linalg.eigh(P, P[:2, :2]), ValueError, "of one size"),
        (lambda: linalg.eigh(P, eigvals=(0, 1)), NotImplementedError, "eigvals=None"),
        (lambda: linalg.cholesky(None), TypeError, "leave the argument out"),
        (lambda: linalg.schur(A, "x"), ValueError, "output"),
        (lambda: linalg.rsf2csf(A, TALL), ValueError, "square"),
        (lambda: linalg.polar(TALL, "left"), NotImplementedError, "method='svd'"),
        (lambda: linalg.polar(A, method="x"), ValueError, "qdwh"),
        (lambda: linalg.polar(np.ones((2, 2), int)), ValueError, "not inexact"),
        (lambda: linalg.eigh_tridiagonal(b, b), TypeError, "incompatible"),
        (
            lambda: linalg.eigh_tridiagonal(b, b[1:], select="v"),
            NotImplementedError,
            "v",
        ),
        (lambda: linalg.eigh_tridiagonal(b, b[1:], select="i"), ValueError, "range"),
        (lambda: linalg.expm(b), ValueError, "square"),
        (lambda: linalg.expm_frechet(A, np.eye(3)), ValueError, "same shape"),
        (lambda: linalg.sqrtm(A, 2), NotImplementedError, "blocksize"),
        (lambda: linalg.funm(TALL, jnp.exp), ValueError, "square"),
        (lambda: linalg.solve_sylvester(A, A, TALL), ValueError, "Sylvester"),
        (lambda: linalg.solve_sylvester(A, A, A, method="x"), ValueError, "schur"),
    ],
)
def test_errors_teach(call, kind, said):
    with pytest.raises(kind, match=said):
        call()
