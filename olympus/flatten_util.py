"""Trees of arrays as one vector: `ravel_pytree`."""

from olympus._src.foundation.late import claim as _claim
from olympus._src.numpy.raveling import ravel_pytree

__all__ = ["ravel_pytree"]

_claim(__name__)
