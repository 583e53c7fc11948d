"""Removing linear trends or means from signals."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import concatenation, sizes
from olympus._src.numpy import manipulation, promotion, reductions
from olympus._src.scipy import checks

aval_of = checks.aval_of


def detrend(
    data: ArrayLike,
    axis: int = -1,
    type: str = "linear",
    bp: int | Sequence[int] | ArrayLike = 0,
    overwrite_data: None = None,
) -> Array:
    """A signal minus its mean, or minus the least-squares line.

    Differs from SciPy: arrays are never changed in place, so `overwrite_data` must be
    None; "l" and "c" are not types.

    Args:
      data: array.
      axis: the axis.
      type: "linear" or "constant".
      bp: positions at which another line begins.
      overwrite_data: None.

    Returns:
      A floating or complex array of the same shape.

    Raises:
      ValueError: there is no such type or axis, or positions are beyond the data.
      NotImplementedError: data are to be overwritten.

    Source: SciPy, `scipy.signal.detrend`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import signal
      >>> print(signal.detrend(np.float32([1, 2, 6]), type="constant"))
      [-2. -1.  3.]
    """
    (data,) = checks.as_arrays("signal.detrend", data)
    if overwrite_data is not None:
        raise NotImplementedError(
            "scipy.signal.detrend: overwrite_data must be None, since arrays are never "
            f"changed in place, got {overwrite_data!r}"
        )
    if type not in ("linear", "constant"):
        raise ValueError(
            "scipy.signal.detrend: Trend type must be 'linear' or 'constant', got "
            f"{type!r}"
        )
    aval = aval_of(data)
    place = sizes.canonicalize_axis(operator.index(axis), aval.ndim, "signal.detrend")
    n = aval.shape[place]
    starts = {0} if type == "constant" else {0, *map(int, np.ravel(bp))}
    if min(starts) < 0 or (max(starts) >= n > 0):
        raise ValueError(
            "scipy.signal.detrend: Breakpoints must be non-negative and less than "
            f"length of data along given axis, {n}, got {bp}"
        )
    bounds = (*sorted(starts), n)
    return _detrend(data, axis=place, bounds=bounds, lines=type == "linear")


@promotion.program(1, name="detrend")
def _detrend(x: Any, *, axis: int, bounds: Any, lines: bool) -> Any:
    (x,) = promotion.promote_inexact(x)
    if not aval_of(x).size:
        return x
    x = manipulation.moveaxis(x, axis, -1)
    parts = [
        _level(x[..., start:stop], lines) for start, stop in itertools.pairwise(bounds)
    ]
    out = concatenation.concatenate(parts, aval_of(x).ndim - 1)
    return manipulation.moveaxis(out, -1, axis)


def _level(x: Any, lines: bool) -> Any:
    """`x` [..., n] less its mean, and less its slope."""
    centred = x - reductions.mean(x, axis=-1, keepdims=True)
    n = aval_of(x).shape[-1]
    if not lines or n < 2:
        return centred
    places = np.arange(n) - (n - 1) / 2
    unit = (places / np.sqrt((places**2).sum())).astype(aval_of(x).dtype)
    unit = unit[(None,) * (aval_of(x).ndim - 1)]
    return centred - reductions.sum(centred * unit, axis=-1, keepdims=True) * unit
