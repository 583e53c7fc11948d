"""Arrays padded and shifted: what kernels made of elementwise operations work on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.lax import concatenation


def pad_interior(
    x: Any, value: Any, padding: Sequence[tuple[int, int]], spread: Sequence[int]
) -> Any:
    """The array with `value` around it, and `spread - 1` times between elements."""
    config = [
        (low, high, by - 1) for (low, high), by in zip(padding, spread, strict=True)
    ]
    scalar = np.asarray(value).astype(avals.aval_of(x).dtype)[()]
    return concatenation.pad(x, scalar, config)


def strided_slice(
    x: Any,
    axes: Sequence[int],
    start: Sequence[int],
    sizes: Sequence[int],
    steps: Sequence[int],
) -> Any:
    """From `start` on, `sizes` elements in steps along some axes; all along others."""
    shape = avals.aval_of(x).shape
    low, high, strides = [0] * len(shape), list(shape), [1] * len(shape)
    for axis, first, size, step in zip(axes, start, sizes, steps, strict=True):
        low[axis], high[axis] = first, first + (size - 1) * step + 1
        strides[axis] = step
    return concatenation.slice_(x, low, high, strides)
