"""What `jax.numpy` still takes, with a warning."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from olympus._src.numpy import manipulation


def _warn_of(name: str, a: Any) -> None:
    text = f"{name} requires ndarray or scalar arguments, got {type(a)} at position 0"
    warnings.warn(text, DeprecationWarning, stacklevel=3)


def shape(a: Any) -> tuple[int, ...]:
    """The shape of an array, or what NumPy says of another value."""
    try:
        return manipulation.shape(a)
    except TypeError:
        _warn_of("shape", a)
        return np.shape(a)


def ndim(a: Any) -> int:
    """The number of axes of an array, or what NumPy says of another value."""
    try:
        return manipulation.ndim(a)
    except TypeError:
        _warn_of("ndim", a)
        return np.ndim(a)


def size(a: Any, axis: Any = None) -> int:
    """The number of elements of an array, or what NumPy says of another value."""
    try:
        return manipulation.size(a, axis)
    except TypeError:
        _warn_of("size", a)
        # NumPy's own function counts one element where it finds a shape alone.
        return math.prod(np.shape(a)) if axis is None else np.size(a, axis)


__all__ = ["ndim", "shape", "size"]
