"""Functions of olympus.lax.linalg."""

from __future__ import annotations

from olympus import lax
from tests.public_functions.entries import entries
from tests.public_functions.points import (
    REGULAR,
    TALL,
    WIDE,
    X,
    make_definite,
    signed_values,
)
from tests.public_functions.reasons import DISCRETE, NO_RULE, SAMPLES

entry = entries("lax.linalg", undrawn=SAMPLES)

ENTRIES = [
    *entry(
        "cholesky",
        smooth=(lambda a: lax.linalg.cholesky(make_definite(a)), REGULAR),
        types="s",
    ),
    *entry(
        "eigh", smooth=(lambda a: lax.linalg.eigh(make_definite(a)), REGULAR), types="s"
    ),
    *entry(
        "eig",
        smooth=(
            lambda a: lax.linalg.eig(
                a, compute_left_eigenvectors=False, compute_right_eigenvectors=False
            ),
            REGULAR,
        ),
        types="s",
    ),
    *entry(
        "svd",
        smooth=(lambda a: lax.linalg.svd(a, full_matrices=False), TALL),
        types="s",
    ),
    *entry(
        "qr", smooth=(lambda a: lax.linalg.qr(a, full_matrices=False), TALL), types="s"
    ),
    *entry(
        "lu",
        smooth=[(lambda a: lax.linalg.lu(a)[0], m) for m in (REGULAR, TALL, WIDE)],
        types="s",
    ),
    *entry(
        "triangular_solve",
        smooth=[
            (
                lambda a, b, o=o: lax.linalg.triangular_solve(a, b, **o),
                REGULAR,
                REGULAR.T,
            )
            for o in (
                {"left_side": True, "lower": True},
                {"left_side": False, "lower": False, "transpose_a": True},
                {"left_side": True, "lower": True, "unit_diagonal": True},
            )
        ],
        types="s, t",
    ),
    *entry(
        "tridiagonal_solve",
        smooth=(
            lambda d, b: lax.linalg.tridiagonal_solve(d / 4, d + 1, d / 3, b),
            X,
            signed_values(5, 2),
        ),
        types="v, w, v, s",
    ),
    *entry(
        "symmetric_product",
        smooth=(lambda a, c: lax.linalg.symmetric_product(a, c + c.T), WIDE, REGULAR),
        types="s, t",
    ),
    *entry("cholesky_update householder_product", smooth=NO_RULE, types="s, v"),
    *entry("hessenberg qdwh schur tridiagonal", smooth=NO_RULE, types="s"),
    *entry("lu_pivots_to_permutation", smooth=DISCRETE, types="v, 3"),
    *entry("ormqr", smooth=NO_RULE, types="s, v, t"),
]
