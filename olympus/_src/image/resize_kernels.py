"""How much each sample of a line counts in each sample of another: matrices of weights.

A sample is a cell of width 1; sample i lies at i + 1/2. Output sample j then lies at
`(j + 1/2 - translation) / scale` of the input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.lax import shaping
from olympus._src.numpy import arithmetic, elementary, reductions, selection, ufunc

aval_of = avals.aval_of
clip, where = arithmetic.clip, selection.where


def _triangle(x: Any) -> Any:
    return ufunc.maximum(0, 1 - x)


def _cubic(a: float) -> Callable[[Any], Any]:
    """Keys' cubic convolution with slope `a` at 1, of distances x >= 0."""

    def kernel(x: Any) -> Any:
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return where(x <= 1, near, where(x < 2, far, 0))

    return kernel


def _lanczos(radius: int) -> Callable[[Any], Any]:
    """A sinc under the middle lobe of a wider one."""

    def kernel(x: Any) -> Any:
        inside = elementary.sinc(x) * elementary.sinc(x / radius)
        return where(x < radius, inside, 0)

    return kernel


# By the names of methods; Keys, 1981, finds that the slope -1/2 has the least error.
KERNELS: dict[str, Callable[[Any], Any]] = {
    "linear": _triangle,
    "cubic": _cubic(-0.5),
    "cubic-pytorch": _cubic(-0.5),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
}
_STEEP_CUBIC = _cubic(-0.75)


def _numbers(count: int, dtype: Any, rank: int, axis: int) -> Any:
    shape = [1] * rank
    shape[axis] = count
    return shaping.broadcasted_iota(dtype, tuple(shape), axis)


def _normalize_columns(weights: Any) -> Any:
    """Columns that sum to 1, except for those that are all but zero."""
    total = reductions.sum(weights, axis=0, keepdims=True)
    tiny = 1000 * float(dtypes.finfo(aval_of(weights).dtype).eps)
    small = arithmetic.absolute(total) <= tiny
    return where(small, 0, weights / where(small, 1, total))


def weights(
    method: str, size: int, count: int, scale: Any, translation: Any, antialias: bool
) -> Any:
    """The matrix [size, count] that takes a line of samples to another.

    Args:
      method: a key of `KERNELS`, or "area".
      size: how many samples there are.
      count: size of the result.
      scale, translation: numbers of one floating dtype, which is the result's.
      antialias: widen the kernel where samples get fewer.
    """
    dtype = aval_of(scale).dtype
    if not size or not count:
        return np.zeros((size, count), dtype)
    inputs = _numbers(size, dtype, 2, 0)
    outputs = _numbers(count, dtype, 2, 1)
    if method == "area":
        return _overlaps(inputs, (outputs - translation) / scale, 1 / scale)
    places = (outputs + 0.5 - translation) / scale - 0.5
    if method == "cubic-pytorch" and not antialias:
        columns = _clamped_cubic(inputs, places, size)
    else:
        width = ufunc.maximum(1 / scale, 1) if antialias else 1
        distance = arithmetic.absolute(places - inputs) / width
        columns = _normalize_columns(KERNELS[method](distance))
    # A sample beyond the input's cells is nothing: no edge is repeated.
    return where((places >= -0.5) & (places <= size - 0.5), columns, 0)


def _overlaps(inputs: Any, starts: Any, width: Any) -> Any:
    """What part of each output's cell each input's cell covers."""
    low = ufunc.maximum(inputs, starts)
    high = ufunc.minimum(inputs + 1, starts + width)
    return _normalize_columns(ufunc.maximum(high - low, 0))


def _clamped_cubic(inputs: Any, places: Any, size: int) -> Any:
    """Four neighbours each; beyond an edge its own sample stands in for them."""
    first = arithmetic.floor(places)
    total: Any = 0
    for step in (-1, 0, 1, 2):
        neighbour = first + step
        share = _STEEP_CUBIC(arithmetic.absolute(places - neighbour))
        total = total + where(clip(neighbour, 0, size - 1) == inputs, share, 0)
    return total
