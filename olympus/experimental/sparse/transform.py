"""Functions of arrays, applied to sparse arrays."""

from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sparse.sparsify import SparseTracer, sparsify

__all__ = [
    "SparseTracer",
    "sparsify",
]

_claim(__name__)
