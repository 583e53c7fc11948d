"""Trees of arrays in folders, saved and loaded by all processes of a program."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus.experimental.array_serialization import (
    pytree_serialization,
    serialization,
)

__all__ = ["pytree_serialization", "serialization"]

_claim(__name__)
