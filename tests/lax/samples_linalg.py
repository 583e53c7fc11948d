"""Samples of factorizations of matrices."""

from __future__ import annotations

import numpy as np

from olympus._src.lax.linalg import linear_systems, qr_decomposition
from olympus.lax import linalg
from tests.lax.sampling import Sample, array, c64, f32, i32

S = Sample


def later(*args, **params):
    """A sample for the slow tests alone."""
    return Sample(*args, slow=True, **params)


def definite(shape, dtype=f32):
    """Hermitian, positive definite matrices."""
    x = array(shape, dtype)
    return x @ np.conj(x.swapaxes(-1, -2)) + 2 * np.eye(shape[-1], dtype=dtype)


def upper(shape):
    """Upper triangular matrices with a positive diagonal."""
    return np.triu(array(shape)) + 4 * np.eye(shape[-1], dtype=f32)


def distinct(shape, dtype=f32):
    """Square matrices with real eigenvalues far from each other."""
    more = np.diag(np.arange(shape[-1], dtype=f32) * 9)
    return (array(shape, dtype, low=-1, high=1) + more).astype(dtype)


QR = {"pivoting": False, "full_matrices": False, "use_magma": None}
SOLVE = {
    "left_side": True,
    "lower": True,
    "transpose_a": False,
    "conjugate_a": False,
    "unit_diagonal": False,
}
EIGH = {
    "lower": True,
    "sort_eigenvalues": True,
    "subset_by_index": None,
    "algorithm": None,
}
SVD = {
    "full_matrices": False,
    "compute_uv": True,
    "subset_by_index": None,
    "algorithm": None,
}
EIG = {
    "compute_left_eigenvectors": False,
    "compute_right_eigenvectors": True,
    "enable_eigvec_derivs": True,
    "implementation": None,
}
SCHUR = {"sort_eig_vals": False, "select_callable": None}


def factored(shape, dtype=f32):
    """A matrix, its factors, and the order of its rows."""
    x = array(shape, dtype)
    packed, _, order = linalg.lu(x)
    return x, np.asarray(packed), np.asarray(order)


SAMPLES = [
    # The rules of cholesky and eigh take Hermitian tangents: test_linalg has those.
    *(
        S(linalg.cholesky_p, definite(shape), smooth=False)
        for shape in [(3, 3), (2, 4, 4)]
    ),
    S(linalg.cholesky_p, definite((3, 3), c64), smooth=False),
    S(linalg.cholesky_p, array((0, 0)), smooth=False),
    *(
        S(linalg.qr_p, array(shape, kind), **QR | {"full_matrices": full})
        for shape, kind, full in [
            ((4, 3), f32, False),
            ((4, 3), c64, True),
            ((3, 5), f32, True),
            ((2, 3, 3), c64, False),
        ]
    ),
    # The last columns of Q are not unique here, so there is no difference to test.
    S(linalg.qr_p, array((4, 3)), smooth=False, **QR | {"full_matrices": True}),
    S(linalg.qr_p, array((3, 5)), **QR | {"pivoting": True}),
    later(qr_decomposition.geqrf_p, array((4, 3))),
    later(qr_decomposition.geqrf_p, array((2, 3, 4), c64)),
    later(
        qr_decomposition.geqp3_p,
        array((4, 3)),
        np.zeros(3, i32),
        use_magma=None,
    ),
    later(linalg.householder_product_p, array((4, 3)), array((3,))),
    later(linalg.householder_product_p, array((2, 4, 3), c64), array((2, 2), c64)),
    *(
        later(linalg.ormqr_p, array((3, 2)), array((2,)), c, left=left, transpose=t)
        for c, left in [(array((3, 4)), True), (array((4, 3)), False)]
        for t in (False, True)
    ),
    later(
        linalg.ormqr_p,
        array((3, 2), c64),
        array((2,), c64),
        array((3, 4), c64),
        left=True,
        transpose=True,
    ),
    *(
        S(
            linalg.triangular_solve_p,
            definite((2, 3, 3), kind),
            array((2, 3, 2) if left else (2, 2, 3), kind),
            linear=(1,),
            tolerance=1e-3,
            slow=not (left and lower and kind is f32),
            **SOLVE
            | {
                "left_side": left,
                "lower": lower,
                "transpose_a": transpose,
                "conjugate_a": kind is c64 and lower,
                "unit_diagonal": unit,
            },
        )
        for kind, left, lower, transpose, unit in [
            (f32, True, True, False, False),
            (f32, True, False, True, False),
            (f32, False, False, False, True),
            (c64, True, True, False, True),
            (c64, False, True, True, False),
        ]
    ),
    S(
        linalg.triangular_solve_p,
        definite((3, 3)),
        array((3, 2)),
        linear=(1,),
        tolerance=1e-3,
        slow=True,
        **SOLVE,
    ),
    *(S(linalg.lu_p, array(shape)) for shape in [(3, 3), (4, 2), (2, 4), (2, 3, 3)]),
    S(linalg.lu_p, array((3, 3), c64)),
    *(
        S(
            linalg.lu_pivots_to_permutation_p,
            np.array(pivots, i32),
            permutation_size=4,
        )
        for pivots in ([2, 3, 2], [[1, 1, 3], [3, 3, 3]], [])
    ),
    *(
        later(
            linear_systems.lu_solve_p,
            *factored(shape, kind),
            array((*shape[:-1], 2), kind),
            linear=(3,),
            # The matrix and its factors belong together.
            smooth=False,
            loop=False,
            tolerance=1e-3,
            transpose_a=transpose,
            conjugate_a=kind is c64,
        )
        for shape, kind in [((3, 3), f32), ((2, 3, 3), c64)]
        for transpose in (False, True)
    ),
    *(
        S(linalg.eigh_p, definite(shape, kind), smooth=False, tolerance=1e-4, **EIGH)
        for shape, kind in [((3, 3), f32), ((2, 3, 3), c64), ((0, 0), f32)]
    ),
    *(
        later(linalg.svd_p, array(shape, kind), tolerance=1e-4, **SVD)
        for shape, kind in [((4, 2), f32), ((2, 2, 3), f32), ((3, 3), c64)]
    ),
    later(linalg.svd_p, array((3, 4)), **SVD | {"compute_uv": False}),
    later(linalg.svd_p, array((3, 4)), smooth=False, **SVD | {"full_matrices": True}),
    later(linalg.svd_p, array((3, 0)), smooth=False, **SVD | {"full_matrices": True}),
    later(linalg.eig_p, distinct((3, 3)), tolerance=1e-4, **EIG),
    later(linalg.eig_p, distinct((2, 2, 2), c64), tolerance=1e-4, **EIG),
    later(linalg.eig_p, array((3, 3)), **EIG | {"compute_right_eigenvectors": False}),
    later(linalg.schur_p, array((3, 3)), compute_schur_vectors=True, **SCHUR),
    later(linalg.schur_p, array((3, 3), c64), compute_schur_vectors=False, **SCHUR),
    later(linalg.hessenberg_p, array((4, 4))),
    later(linalg.hessenberg_p, array((2, 3, 3), c64)),
    *(
        later(linalg.cholesky_update_p, upper(shape), array(shape[:-1]), tolerance=1e-4)
        for shape in [(3, 3), (2, 4, 4), (0, 0)]
    ),
    later(
        linalg.symmetric_product_p,
        array((3, 2)),
        array((3, 3)),
        alpha=2.0,
        beta=0.5,
    ),
    later(linalg.tridiagonal_p, definite((4, 4)), lower=True),
    later(linalg.tridiagonal_p, definite((2, 3, 3), c64), lower=False),
    *(
        later(
            linalg.tridiagonal_solve_p,
            array(shape, kind),
            array(shape, kind, seed=1) + 7,
            array(shape, kind, seed=2),
            array((*shape, 2), kind),
            linear=(3,),
            # Diagonals in another order may be close to singular.
            tolerance=1e-3,
            perturb_singular=False,
        )
        for shape, kind in [((4,), f32), ((2, 3), c64), ((1,), f32)]
    ),
]

ERRORS = [
    ("cholesky", lambda: linalg.cholesky(array((2, 3)))),
    ("cholesky", lambda: linalg.cholesky(array((3,)))),
    ("cholesky", lambda: linalg.cholesky(array((2, 2), i32))),
    ("qr", lambda: linalg.qr(array((3,)))),
    ("qr", lambda: linalg.qr(array((3, 3), i32))),
    (
        "householder_product",
        lambda: linalg.householder_product(array((2, 3)), array((2,))),
    ),
    (
        "householder_product",
        lambda: linalg.householder_product(array((3, 2)), array((3,))),
    ),
    ("ormqr", lambda: linalg.ormqr(array((3, 2)), array((2,)), array((2, 2)))),
    ("triangular_solve", lambda: linalg.triangular_solve(array((2, 2)), array((3, 3)))),
    ("triangular_solve", lambda: linalg.triangular_solve(array((2, 3)), array((3, 3)))),
    (
        "triangular_solve",
        lambda: linalg.triangular_solve(array((2, 2)), array((2, 2), c64)),
    ),
    ("lu", lambda: linalg.lu(array((3,)))),
    (
        "lu_pivots_to_permutation",
        lambda: linalg.lu_pivots_to_permutation(array((3,)), 3),
    ),
    (
        "lu_pivots_to_permutation",
        lambda: linalg.lu_pivots_to_permutation(np.zeros(3, i32), 2),
    ),
    ("eigh", lambda: linalg.eigh(array((2, 3)))),
    ("svd", lambda: linalg.svd(array((3,)))),
    ("eig", lambda: linalg.eig(array((2, 3)))),
    ("schur", lambda: linalg.schur(array((2, 3)))),
    ("hessenberg", lambda: linalg.hessenberg(array((2, 3)))),
    ("cholesky_update", lambda: linalg.cholesky_update(array((2, 2)), array((3,)))),
    (
        "cholesky_update",
        lambda: linalg.cholesky_update(array((2, 2), c64), array((2,), c64)),
    ),
    (
        "symmetric_product",
        lambda: linalg.symmetric_product(array((3, 2)), array((2, 2))),
    ),
    ("tridiagonal", lambda: linalg.tridiagonal(array((2, 3)))),
    (
        "tridiagonal_solve",
        lambda: linalg.tridiagonal_solve(*[array((3,))] * 3, array((3,))),
    ),
    (
        "tridiagonal_solve",
        lambda: linalg.tridiagonal_solve(array((2,)), *[array((3,))] * 3),
    ),
]
