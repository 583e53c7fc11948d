"""Functions of arrays, applied to sparse arrays."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sparse.sparsify import SparseTracer, sparsify

__all__ = [
    "SparseTracer",
    "sparsify",
]

_claim(__name__)
