"""Linear algebra on matrices and stacks of them: systems, decompositions, norms."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.numpy.decompositions import (
        cholesky,
        eig,
        eigh,
        eigvals,
        eigvalsh,
        matrix_rank,
        qr,
        svd,
        svdvals,
    )
    from olympus._src.numpy.linalg import (
        cond,
        cross,
        diagonal,
        matmul,
        matrix_norm,
        matrix_power,
        matrix_transpose,
        multi_dot,
        norm,
        outer,
        tensordot,
        trace,
        vecdot,
        vector_norm,
    )
    from olympus._src.numpy.linear_systems import (
        det,
        inv,
        lstsq,
        pinv,
        slogdet,
        solve,
        tensorinv,
        tensorsolve,
    )

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

# Loaded at their first use, by the file they come from.
_LATE = {
    "numpy.decompositions": (
        "cholesky eig eigh eigvals eigvalsh matrix_rank qr svd svdvals"
    ),
    "numpy.linalg": (
        "cond cross diagonal matmul matrix_norm matrix_power matrix_transpose "
        "multi_dot norm outer tensordot trace vecdot vector_norm"
    ),
    "numpy.linear_systems": "det inv lstsq pinv slogdet solve tensorinv tensorsolve",
}

_late = _Late(__name__, (), _LATE)

_claim(__name__)
