"""Linear algebra with SciPy's names: systems, factors, functions, patterns.

Differs from SciPy: integers and Python numbers give float32 unless 64-bit dtypes are
switched on; arguments are arrays or numbers, not lists; values cause no errors or
warnings, since a traced function cannot raise them: NaN or infinity means that there is
no result.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.scipy.linalg.decompositions import (
        cho_factor,
        cho_solve,
        cholesky,
        det,
        eigh,
        inv,
        lu,
        lu_factor,
        lu_solve,
        qr,
        qr_multiply,
        solve,
        solve_triangular,
        svd,
    )
    from olympus._src.scipy.linalg.matrix_functions import (
        expm,
        expm_frechet,
        funm,
        solve_sylvester,
        sqrtm,
    )
    from olympus._src.scipy.linalg.reduced_forms import (
        eigh_tridiagonal,
        hessenberg,
        polar,
        rsf2csf,
        schur,
    )
    from olympus._src.scipy.linalg.special_matrices import (
        dft,
        hadamard,
        helmert,
        hilbert,
        invhilbert,
        invpascal,
        pascal,
    )
    from olympus._src.scipy.linalg.structured_matrices import (
        block_diag,
        circulant,
        companion,
        convolution_matrix,
        fiedler,
        fiedler_companion,
        hankel,
        leslie,
        toeplitz,
    )

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "circulant",
    "companion",
    "convolution_matrix",
    "det",
    "dft",
    "eigh",
    "eigh_tridiagonal",
    "expm",
    "expm_frechet",
    "fiedler",
    "fiedler_companion",
    "funm",
    "hadamard",
    "hankel",
    "helmert",
    "hessenberg",
    "hilbert",
    "inv",
    "invhilbert",
    "invpascal",
    "leslie",
    "lu",
    "lu_factor",
    "lu_solve",
    "pascal",
    "polar",
    "qr",
    "qr_multiply",
    "rsf2csf",
    "schur",
    "solve",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "svd",
    "toeplitz",
]

# Loaded at their first use, by the file they come from.
_LATE = {
    "scipy.linalg.decompositions": (
        "cho_factor cho_solve cholesky det eigh inv lu lu_factor lu_solve qr "
        "qr_multiply solve solve_triangular svd"
    ),
    "scipy.linalg.matrix_functions": "expm expm_frechet funm solve_sylvester sqrtm",
    "scipy.linalg.reduced_forms": "eigh_tridiagonal hessenberg polar rsf2csf schur",
    "scipy.linalg.special_matrices": (
        "dft hadamard helmert hilbert invhilbert invpascal pascal"
    ),
    "scipy.linalg.structured_matrices": (
        "block_diag circulant companion convolution_matrix fiedler "
        "fiedler_companion hankel leslie toeplitz"
    ),
}

_late = _Late(__name__, (), _LATE)

_claim(__name__)
