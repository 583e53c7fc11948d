"""Boxes: parts of an array between a first and a last index along each axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

Box = tuple[tuple[int, int], ...]  # along each axis the first index and the one after


def from_slices(index: Sequence[slice], shape: Sequence[int]) -> Box:
    """The box that slices without steps select."""
    rows = zip(index, shape, strict=True)
    return tuple([s.indices(n)[:2] for s, n in rows])


def whole(shape: Sequence[int]) -> Box:
    """The box that is all of an array."""
    return tuple([(0, n) for n in shape])


def shape_of(box: Box) -> tuple[int, ...]:
    """The sizes of a box."""
    return tuple([stop - start for start, stop in box])


def size(box: Box) -> int:
    """The number of elements of a box."""
    return math.prod(shape_of(box))


def intersect(a: Box, b: Box) -> Box:
    """What two boxes share; its size is 0 where that is nothing."""
    out = []
    for (a_start, a_stop), (b_start, b_stop) in zip(a, b, strict=True):
        start = max(a_start, b_start)
        out.append((start, max(start, min(a_stop, b_stop))))
    return tuple(out)


def relative_to(box: Box, outer: Box) -> Box:
    """The box in the coordinates of a box around it."""
    rows = zip(box, outer, strict=True)
    return tuple([(start - at, stop - at) for (start, stop), (at, _) in rows])


def slices(box: Box) -> tuple[slice, ...]:
    """The slices that select a box."""
    return tuple([slice(start, stop) for start, stop in box])
