"""Random sparse arrays."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sparse.random import random_bcoo

__all__ = [
    "random_bcoo",
]

_claim(__name__)
