"""Pytrees of arrays as one vector: `ravel_pytree`."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.numpy.tree_raveling import ravel_pytree

__all__ = ["ravel_pytree"]

_claim(__name__)
