"""All prefixes of a fold, by combining whole slices in a tree.

About 2 log2(n) combinations of 2 n elements in all. G. E. Blelloch, Prefix Sums and
Their Applications, 1990.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.lax import concatenation, elementwise, shaping, stacking

Leaves = list[Any]


def prefixes(
    combine: Callable[[Leaves, Leaves], Leaves], x: Leaves, axes: Any
) -> Leaves:
    """All prefixes: those that end at odd places from pairs, then those between."""
    n = size_along(x[0], axes[0])
    if n < 2:
        return x
    first, second = _every_second(x, axes, 0, n - 1), _every_second(x, axes, 1, n)
    odd = prefixes(combine, combine(first, second), axes)
    head = [_part(v, a, 0, 1) for v, a in zip(x, axes, strict=True)]
    if n == 2:
        return _join_leaves(head, odd, axes)
    before = [_part(v, a, 0, (n - 1) // 2) for v, a in zip(odd, axes, strict=True)]
    even = _join_leaves(head, combine(before, _every_second(x, axes, 2, n)), axes)
    return [_interleave(e, o, a) for e, o, a in zip(even, odd, axes, strict=True)]


def accumulate(
    combine: Callable[[Leaves, Leaves], Leaves], x: Leaves, axes: Any, reverse: bool
) -> Leaves:
    """The same, or the folds of all ends."""
    if not reverse:
        return prefixes(combine, x, axes)
    return reversed_along(prefixes(combine, reversed_along(x, axes), axes), axes)


def size_along(x: Any, axis: int) -> int:
    return avals.aval_of(x).shape[axis]


def reversed_along(leaves: Leaves, axes: Any) -> Leaves:
    return [shaping.rev(x, (a,)) for x, a in zip(leaves, axes, strict=True)]


def _every_second(leaves: Leaves, axes: Any, start: int, stop: int) -> Leaves:
    return [_part(x, a, start, stop, 2) for x, a in zip(leaves, axes, strict=True)]


def _part(x: Any, axis: int, start: int, stop: int, stride: int = 1) -> Any:
    if start == 0 and stride == 1 and stop == size_along(x, axis):
        return x
    return concatenation.slice_in_dim(x, start, stop, stride, axis)


def _join_leaves(x: Leaves, y: Leaves, axes: Any) -> Leaves:
    return [
        concatenation.concatenate(pair, a) for *pair, a in zip(x, y, axes, strict=True)
    ]


def _interleave(even: Any, odd: Any, axis: int) -> Any:
    """even[0], odd[0], even[1], odd[1], ...; `even` may be longer by one."""
    m, n = size_along(odd, axis), size_along(even, axis)
    aval = avals.aval_of(even)
    if dtypes.issubdtype(aval.dtype, np.number):
        zero = np.zeros((), aval.dtype)[()]
        no_padding = [(0, 0, 0)] * aval.ndim
        gaps = [list(no_padding), list(no_padding)]
        gaps[0][axis], gaps[1][axis] = (0, 1 - (n - m), 1), (1, n - m, 1)
        return elementwise.add(
            concatenation.pad(even, zero, gaps[0]),
            concatenation.pad(odd, zero, gaps[1]),
        )
    shape = list(avals.aval_of(odd).shape)
    pairs = stacking.stack([_part(even, axis, 0, m), odd], axis + 1)
    shape[axis] = 2 * m
    merged = shaping.reshape(pairs, tuple(shape))
    if n == m:
        return merged
    return concatenation.concatenate([merged, _part(even, axis, m, n)], axis)
