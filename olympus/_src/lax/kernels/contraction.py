"""Products of many tiny matrices as sums of elementwise products.

XLA on the CPU unrolls products of up to 27 multiplications, and larger ones it hands to
a library, one matrix after another: 10 000 products of 4 x 4 take 5 ms, where adding
up four products of whole columns and rows takes 0.1. From 8 x 8 on the library wins.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.lax import concatenation, elementwise, shaping
from olympus._src.lax.kernels import thresholds

_OF_LIBRARY = frozenset(["float32", "float64"])


def choose(
    platform: str, x: Any, y: Any, out: Any, dimension_numbers: Any, precision: Any
) -> Callable[[Any, Any], Any] | None:
    """What to lower in place of `dot_general`, or None for itself.

    Args:
      platform: where it will run.
      x, y, out: the types of the operands and of the result.
      dimension_numbers, precision: the operation's parameters.
    """
    (cx, cy), (bx, by) = dimension_numbers
    if platform != "cpu" or not bx or not isinstance(precision, (tuple, type(None))):
        return None
    plain = x.dtype == y.dtype == out.dtype and out.dtype.itemsize >= 4
    if not plain or not dtypes.issubdtype(out.dtype, np.inexact):
        return None
    terms = math.prod([x.shape[d] for d in cx])
    many = math.prod([x.shape[d] for d in bx])
    rows, columns = (a.size // max(terms * many, 1) for a in (x, y))
    work = rows * terms * columns
    if not (2 <= terms <= thresholds.MOST_PRODUCT_TERMS and rows > 1 and columns > 1):
        return None
    if many < thresholds.FEWEST_PRODUCTS:
        return None
    if not thresholds.UNROLLED_PRODUCT < work <= thresholds.LARGEST_PRODUCT:
        return None
    # Where the axes of an operand lie in the result; others are what it repeats along.
    places = (
        _places(x.ndim, bx, cx, len(bx)),
        _places(y.ndim, by, cy, x.ndim - len(cx)),
    )
    if any(list(p) != sorted(p) for p in places):
        return None
    return lambda a, b: _sum_of_products(a, b, out, (cx, cy), places)


def order_for_library(
    platform: str, x: Any, y: Any, out: Any, dimension_numbers: Any, precision: Any
) -> list[int] | None:
    """The order of the first operand's axes in which many small products are fast.

    The library that XLA calls for each product takes long to begin where the axes that
    are contracted lie before the others in the first matrix.

    Args:
      platform, x, y, out, dimension_numbers, precision: as of `choose`.

    Returns:
      Axes of the batch, others, and those that are contracted; None if there is no need
      to reorder them.
    """
    (cx, _), (bx, _) = dimension_numbers
    if platform != "cpu" or list(bx) != list(range(len(bx))) or x.ndim - 1 in cx:
        return None
    if not x.dtype == y.dtype == out.dtype or out.dtype.name not in _OF_LIBRARY:
        return None
    many = math.prod([x.shape[d] for d in bx])
    if many < thresholds.FEWEST_PRODUCTS or not x.size or not y.size:
        return None
    terms = math.prod([x.shape[d] for d in cx])
    rows, columns = (a.size // (terms * many) for a in (x, y))
    # XLA writes out the smallest, and products with a vector.
    if min(rows, columns) == 1 or max(rows, columns) == 2 or terms <= 2:
        return None
    if rows * terms > thresholds.LARGEST_TRANSPOSED:
        return None
    others = [d for d in range(x.ndim) if d not in (*bx, *cx)]
    return [*bx, *others, *cx]


def _places(
    rank: int, batch: Sequence[int], contracted: Sequence[int], start: int
) -> tuple[int, ...]:
    """For each axis that is not contracted, its axis in the result."""
    out_axes = []
    for d in range(rank):
        if d in batch:
            out_axes.append(list(batch).index(d))
        elif d not in contracted:
            out_axes.append(start)
            start += 1
    return tuple(out_axes)


def _sum_of_products(x: Any, y: Any, out: Any, contracted: Any, places: Any) -> Any:
    sizes = [avals.aval_of(x).shape[d] for d in contracted[0]]
    total = None
    for at in itertools.product(*map(range, sizes)):
        parts = [
            shaping.broadcast_in_dim(_slice_at(v, axes, at), out.shape, dims)
            for v, axes, dims in zip((x, y), contracted, places, strict=True)
        ]
        product = elementwise.mul(*parts)
        total = product if total is None else elementwise.add(total, product)
    return total


def _slice_at(x: Any, axes: Sequence[int], at: Sequence[int]) -> Any:
    """The part of an array at one position of some axes, which it drops."""
    shape = avals.aval_of(x).shape
    low, high = [0] * len(shape), list(shape)
    for axis, i in zip(axes, at, strict=True):
        low[axis], high[axis] = i, i + 1
    return shaping.squeeze(concatenation.slice_(x, low, high), tuple(axes))
