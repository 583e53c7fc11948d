"""Derivatives with respect to the elements of sparse arrays."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sparse.derivatives import (
    grad,
    jacfwd,
    jacobian,
    jacrev,
    value_and_grad,
)

__all__ = [
    "grad",
    "jacfwd",
    "jacobian",
    "jacrev",
    "value_and_grad",
]

_claim(__name__)
