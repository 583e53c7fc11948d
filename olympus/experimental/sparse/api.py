"""Sparse arrays of any format, and their dense form."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sparse.bcoo import BCOO
from olympus._src.sparse.bcsr import BCSR
from olympus._src.sparse.conversion import empty, eye, todense, todense_p
from olympus._src.sparse.coo import COO
from olympus._src.sparse.csr import CSC, CSR
from olympus._src.sparse.formats import JAXSparse

__all__ = [
    "BCOO",
    "BCSR",
    "COO",
    "CSC",
    "CSR",
    "JAXSparse",
    "empty",
    "eye",
    "todense",
    "todense_p",
]

_claim(__name__)
