"""Groups of an axis as a separate axis, and back."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals
from olympus._src.lax import families, shaping


def split(x: Any, axis: int, outer: int) -> Any:
    """`x` with an axis divided in `outer` groups: a new axis in front of it."""
    shape = avals.aval_of(x).shape
    inner = shape[axis] // outer if outer else 0
    return shaping.reshape(x, (*shape[:axis], outer, inner, *shape[axis + 1 :]))


def merge(x: Any, source: int, into: int) -> Any:
    """`x` with the axis `source` made the outer part of the axis `into`.

    `into` is numbered as in the result, which lacks `source`.
    """
    x = families.move_axis(x, source, into)
    shape = avals.aval_of(x).shape
    merged_size = shape[into] * shape[into + 1]
    return shaping.reshape(x, (*shape[:into], merged_size, *shape[into + 2 :]))


def regroup(x: Any, source: int, target: int, groups: int) -> Any:
    """Groups of the axis `source` made the outer part of the axis `target`."""
    if groups == 1:
        return x
    return merge(split(x, source, groups), source, target)
