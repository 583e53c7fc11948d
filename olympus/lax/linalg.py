"""Factorizations of matrices, and solutions of linear systems.

Operations work on the last two axes and on any number of leading ones. They run on the
CPU, by LAPACK. `olympus.numpy.linalg` is built on these.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.lax.linalg.cholesky_decomposition import (
    cholesky,
    cholesky_p,
    cholesky_update,
    cholesky_update_p,
)
from olympus._src.lax.linalg.eigenvectors import (
    EigImplementation,
    eig,
    eig_p,
)
from olympus._src.lax.linalg.hermitian_eigenvectors import (
    EighImplementation,
    eigh,
    eigh_p,
)
from olympus._src.lax.linalg.lu_decomposition import (
    lu,
    lu_p,
    lu_pivots_to_permutation,
    lu_pivots_to_permutation_p,
)
from olympus._src.lax.linalg.products import (
    symmetric_product,
    symmetric_product_p,
)
from olympus._src.lax.linalg.qr_decomposition import (
    householder_product,
    householder_product_p,
    ormqr,
    ormqr_p,
    qr,
    qr_p,
)
from olympus._src.lax.linalg.schur_hessenberg import (
    hessenberg,
    hessenberg_p,
    schur,
    schur_p,
)
from olympus._src.lax.linalg.singular_values import (
    SvdAlgorithm,
    svd,
    svd_p,
)
from olympus._src.lax.linalg.triangular import (
    triangular_solve,
    triangular_solve_p,
)
from olympus._src.lax.linalg.tridiagonal import (
    tridiagonal,
    tridiagonal_p,
    tridiagonal_solve,
    tridiagonal_solve_p,
)
from olympus._src.numerics.polar import qdwh

__all__ = [
    "EigImplementation",
    "EighImplementation",
    "SvdAlgorithm",
    "cholesky",
    "cholesky_p",
    "cholesky_update",
    "cholesky_update_p",
    "eig",
    "eig_p",
    "eigh",
    "eigh_p",
    "hessenberg",
    "hessenberg_p",
    "householder_product",
    "householder_product_p",
    "lu",
    "lu_p",
    "lu_pivots_to_permutation",
    "lu_pivots_to_permutation_p",
    "ormqr",
    "ormqr_p",
    "qdwh",
    "qr",
    "qr_p",
    "schur",
    "schur_p",
    "svd",
    "svd_p",
    "symmetric_product",
    "symmetric_product_p",
    "triangular_solve",
    "triangular_solve_p",
    "tridiagonal",
    "tridiagonal_p",
    "tridiagonal_solve",
    "tridiagonal_solve_p",
]

_claim(__name__)
