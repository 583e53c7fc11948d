"""Positions of extremes among floats of eight bits, as integers over positions.

XLA writes a comparison of such floats as conversions of both sides. Here each element
becomes one integer: its place in the order of the floats over its position, counted so
that of equal elements the first is the extreme. One reduction of integers is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.lax import elementwise as e
from olympus._src.lax import shaping

_I32 = np.dtype(np.int32)
_SIGN_ONLY = np.int32(-1)  # the key of -0, which equals 0
_LARGEST, _LEAST = np.int32(0x7FFF), np.int32(-0x8000)  # keys of NaN
_ABOVE_INFINITY = np.int32(0x7F80)
_POSITION_BITS = 15


def can_pack(aval: Any, axis: int) -> bool:
    """Whether elements and positions of an axis fit in integers of 32 bits."""
    is_narrow = dtypes.issubdtype(aval.dtype, np.floating) and aval.dtype.itemsize == 1
    size = aval.shape[axis]
    return is_narrow and type(size) is int and size <= 1 << _POSITION_BITS


def find_first(x: Any, axis: int, reduce_p: Any, largest: bool) -> Any:
    """The least position of the extreme along an axis; of a NaN, if any."""
    shape = avals.aval_of(x).shape
    key = _order(x, _LARGEST if largest else _LEAST)
    at = shaping.broadcasted_iota(_I32, shape, axis)
    last = np.int32(shape[axis] - 1)
    if largest:  # so that the first is greater
        at = e.sub(last, at)
    packed = e.bitwise_or(e.shift_left(key, np.int32(_POSITION_BITS)), at)
    extreme = reduce_p.bind(packed, axes=(axis,))
    position = e.bitwise_and(extreme, np.int32((1 << _POSITION_BITS) - 1))
    return e.sub(last, position) if largest else position


def _order(x: Any, of_nan: Any) -> Any:
    """Integers of 16 bits and a sign in the order of the floats, as int32."""
    single = e.convert(x, np.dtype(np.float32))
    # The upper half is all of it: it has seven bits of fraction.
    bits = e.shift_right_arithmetic(
        shaping.bitcast_convert_type(single, _I32), np.int32(16)
    )
    size = e.bitwise_and(bits, _LARGEST)
    key = e.select(e.lt(bits, np.int32(0)), e.bitwise_xor(bits, _LARGEST), bits)
    key = e.select(e.eq(key, _SIGN_ONLY), np.int32(0), key)
    return e.select(e.gt(size, _ABOVE_INFINITY), of_nan, key)
