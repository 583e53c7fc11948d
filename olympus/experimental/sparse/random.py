"""Random sparse arrays."""

from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.sparse.random import random_bcoo

__all__ = [
    "random_bcoo",
]

_claim(__name__)
