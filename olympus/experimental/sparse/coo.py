"""Matrices as lists of elements with their rows and columns."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sparse.coo import (
    COO,
    coo_fromdense,
    coo_fromdense_p,
    coo_matmat,
    coo_matmat_p,
    coo_matvec,
    coo_matvec_p,
    coo_todense,
    coo_todense_p,
)

__all__ = [
    "COO",
    "coo_fromdense",
    "coo_fromdense_p",
    "coo_matmat",
    "coo_matmat_p",
    "coo_matvec",
    "coo_matvec_p",
    "coo_todense",
    "coo_todense_p",
]

_claim(__name__)
