"""What `jax.numpy` still takes, with a warning."""

from __future__ import annotations

import warnings
from typing import Any

from olympus._src.numpy import manipulation


def shape(a: Any) -> tuple[int, ...]:
    """The shape of an array; of None, as JAX says, that of a number."""
    if a is None:
        text = "shape requires ndarray or scalar arguments, got NoneType"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return ()
    return manipulation.shape(a)


__all__ = ["shape"]
