"""The larger and the smaller of two complex numbers, in StableHLO.

Its own operations of complex numbers are in no order that XLA keeps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.avals import ShapedArray
from olympus._src.lowering import types

_DIRECTIONS = {"stablehlo.maximum": "GT", "stablehlo.minimum": "LT"}


def emit(block: Any, hlo: str, x: str, y: str, aval: Any) -> str:
    """Writes what is first by the real parts, then by the imaginary ones.

    Args:
      block: where to write.
      hlo: the operation of real numbers that does the same.
      x, y: the names of two values.
      aval: their type.
    """
    part = ShapedArray(aval.shape, dtypes.real_dtype(aval.dtype))
    flag = ShapedArray(aval.shape, np.bool_)
    whole, real, bools = map(types.tensor_type, (aval, part, flag))
    (x_real, y_real), (x_imag, y_imag) = (
        [block.emit(f"{f} {v} : ({whole}) -> {real}") for v in (x, y)]
        for f in ("stablehlo.real", "stablehlo.imag")
    )
    direction = _DIRECTIONS[hlo]
    same = block.compare("EQ", x_real, y_real, part, "FLOAT", flag)
    by_real = block.compare(direction, x_real, y_real, part, "FLOAT", flag)
    by_imag = block.compare(direction, x_imag, y_imag, part, "FLOAT", flag)
    first = block.emit(
        f"stablehlo.select {same}, {by_imag}, {by_real} : {bools}, {bools}"
    )
    return str(block.emit(f"stablehlo.select {first}, {x}, {y} : {bools}, {whole}"))
