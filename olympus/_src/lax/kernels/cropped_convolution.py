"""Convolutions with negative padding, which XLA's CPU computes wrongly.

It reads memory beyond the input where an axis is cropped on one side and padded on the
other (jaxlib 0.10.2 to 0.12.0). So the input is cropped by an operation of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src.core import avals
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import concatenation, families


def choose(
    convolve: Callable[..., Any], lhs: Any, out: Any, params: dict[str, Any]
) -> Callable[[Any, Any], Any] | None:
    """What to lower in place of a convolution, or None for itself.

    Args:
      convolve: binds the operation.
      lhs, out: the types of the input and of the result.
      params: the operation's parameters, with a padding that is known.
    """
    if all(n >= 0 for pair in params["padding"] for n in pair):
        return None
    axes = params["dimension_numbers"].lhs_spec[2:]
    rows = zip(axes, params["padding"], params["lhs_dilation"], strict=True)
    limits: dict[int, tuple[int, int]] = {}
    padding = []
    for axis, (low, high), dilation in rows:
        start, low = _crop(low, dilation)
        dropped, high = _crop(high, dilation)
        limits[axis] = start, lhs.shape[axis] - dropped
        padding.append((low, high))
    if any(start >= limit for start, limit in limits.values()):
        nothing = Zero(out)  # is left but padding
        return lambda x, y: families.instantiate(nothing)
    cropped = {**params, "padding": tuple(padding)}
    return lambda x, y: convolve(_slice(x, limits), y, **cropped)


def _crop(pad: int, dilation: int) -> tuple[int, int]:
    """The elements to drop at one side, and the padding that is due then.

    A dilated input has holes between its elements: cropping may end in one.
    """
    if pad >= 0:
        return 0, pad
    dropped = -(pad // dilation)
    return dropped, dropped * dilation + pad


def _slice(x: Any, limits: dict[int, tuple[int, int]]) -> Any:
    for axis, (start, limit) in limits.items():
        if (start, limit) != (0, avals.aval_of(x).shape[axis]):
            x = concatenation.slice_in_dim(x, start, limit, axis=axis)
    return x
