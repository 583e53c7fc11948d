"""Division as StableHLO, where the compiler alone gives wrong quotients."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import types


def emit_quotient(ctx: Any, x: str, y: str) -> str:
    """Writes `x / y`, where an integer divided by zero has all bits set."""
    block, out = ctx.block, ctx.avals_out[0]
    literal = block.literal(y)
    if literal is None or not _has_subnormal_reciprocal(literal, out.dtype):
        return emit_division(ctx, "stablehlo.divide", x, y, None)
    # The compiler multiplies by the reciprocal of a literal, and flushes this one to 0;
    # so the divisor is written as one that depends on `x`.
    kind = types.tensor_type(out)
    y = block.emit(f"stablehlo.clamp {y}, {x}, {y} : {kind}")
    return block.elementwise("stablehlo.divide", [x, y], out)


def _has_subnormal_reciprocal(literal: Any, dtype: Any) -> bool:
    if dtypes.kind(dtype) != "f":
        return False
    return 1 < abs(float(literal)) * float(dtypes.finfo(dtype).smallest_normal) < np.inf


def emit_division(ctx: Any, op: str, x: str, y: str, by_zero: str | None) -> str:
    """Writes a division or remainder that gives a value where the divisor is zero.

    The compiler folds what it can of integers before it has given divisions by
    zero a value, and there a zero that it has computed ends the process. So it never
    sees one, except where a literal divisor shows that there is none.

    Args:
      ctx: of the rule; operands have the type of the result.
      op: the operation.
      x, y: names of the dividend and the divisor.
      by_zero: the name of what the result is where `y` is 0; None for all bits.
    """
    block, out = ctx.block, ctx.avals_out[0]
    kind = dtypes.kind(out.dtype)
    if kind not in "iu" or block.literal(y) is not None:
        return block.elementwise(op, [x, y], out)
    flags = ShapedArray(out.shape, np.dtype(np.bool_))
    order = "SIGNED" if kind == "i" else "UNSIGNED"
    is_zero = block.compare("EQ", y, block.splat(0, out), out, order, flags)
    kinds = f"{types.tensor_type(flags)}, {types.tensor_type(out)}"
    one = block.splat(1, out)
    y = block.emit(f"stablehlo.select {is_zero}, {one}, {y} : {kinds}")
    if by_zero is None:
        by_zero = block.splat(np.asarray(-1).astype(out.dtype), out)
    quotient = block.elementwise(op, [x, y], out)
    return block.emit(f"stablehlo.select {is_zero}, {by_zero}, {quotient} : {kinds}")
