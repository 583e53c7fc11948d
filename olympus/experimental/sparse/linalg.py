"""Systems of linear equations and eigenvectors of sparse matrices."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sparse.eigenvectors import lobpcg_standard
from olympus._src.sparse.linear_systems import spsolve, spsolve_p

__all__ = [
    "lobpcg_standard",
    "spsolve",
    "spsolve_p",
]

_claim(__name__)
