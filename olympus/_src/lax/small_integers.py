"""Integers of less than a byte, for which XLA lacks kernels, or ends the process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.lax.choice import convert

_I8, _U8 = np.dtype(np.int8), np.dtype(np.uint8)
_WIDE = {"int2": _I8, "int4": _I8, "uint2": _U8, "uint4": _U8}


def lacks_kernels(platform: str, operands: Sequence[Any]) -> bool:
    """Whether an operation that moves elements must be done in bytes."""
    return platform == "cpu" and any(str(x.dtype) in _WIDE for x in operands)


def run_in_bytes(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` on bytes in place of narrower integers.

    Args:
      f: takes arrays, and returns one or several, of the operands' dtypes in turn.
    """

    def run(*xs: Any) -> Any:
        kinds = [avals.aval_of(x).dtype for x in xs]
        wide = [_WIDE.get(str(k), k) for k in kinds]
        out = f(*[convert(x, k) for x, k in zip(xs, wide, strict=True)])
        if not isinstance(out, (tuple, list)):
            return convert(out, kinds[0])
        # Results beyond the operands, such as positions, stay as they are.
        many = min(len(kinds), len(out))
        moved = [convert(x, k) for x, k in zip(out[:many], kinds[:many], strict=True)]
        return [*moved, *out[many:]]

    return run


def whole_bytes(aval: Any) -> Any:
    """The aval, or that of int8 or uint8 for integers of less than a byte.

    The compiler has no kernels for these in windows, products and indices, or ends the
    process over them. What they give modulo a power of two stays the same.
    """
    dtype = aval.dtype
    if isinstance(dtype, dtypes.ExtendedDType) or dtypes.itemsize_bits(dtype) >= 8:
        return aval
    if not dtypes.issubdtype(dtype, np.integer):
        return aval
    signed = dtypes.issubdtype(dtype, np.signedinteger)
    return avals.ShapedArray(aval.shape, np.dtype(np.int8 if signed else np.uint8))


def refuse_two_bits(name: str, operands: Sequence[Any]) -> None:
    """Raises TypeError for int2 and uint2, for which the compiler has no kernel."""
    for aval in operands:
        if dtypes.itemsize_bits(aval.dtype) == 2:
            raise TypeError(
                f"{name}: operands must have elements of 4 bits or more, got "
                f"{aval.short()}; convert it with astype"
            )
