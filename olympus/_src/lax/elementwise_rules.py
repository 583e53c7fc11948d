"""Pieces that the rules of elementwise operations share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import avals
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.lax import families
from olympus._src.lowering import types


def map_zero(f: Callable[[Any], Any], ct: Any, x: Any) -> Any:
    """`f` of a cotangent; a symbolic zero stays one, of x's type."""
    return Zero(x.aval) if type(ct) is Zero else f(ct)


def unspread(ct: Any, aval: Any) -> Any:
    """A cotangent summed to the operand's shape, where scalars were broadcast."""
    have = avals.aval_of(ct)
    if have.shape == aval.shape:
        return ct
    return families.reduce_sum_p.bind(ct, axes=tuple(range(have.ndim)))


def transpose_each(
    cts: Any, operands: Sequence[Any], *maps: Callable[[Any], Any]
) -> list[Any]:
    """The transpose of an operation that is a sum of linear ones, one to an operand.

    Args:
      cts: the cotangent of its one result.
      operands: the operands.
      maps: for each operand the transpose of what is applied to it.
    """
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval) if type(x) is Linear else None for x in operands]
    return [
        unspread(f(ct), x.aval) if type(x) is Linear else None
        for f, x in zip(maps, operands, strict=True)
    ]


def emit_select(ctx: Any, which: str, yes: str, no: str, flag: Any, aval: Any) -> str:
    """Writes the choice between two operands of one type by a flag.

    Values such as keys are held in arrays of more axes than they have; the flag, which
    has theirs, is repeated along the rest.
    """
    shape = types.physical(aval)[0]
    if flag.shape and len(flag.shape) < len(shape):
        wide = avals.ShapedArray(shape, flag.dtype)
        which = ctx.block.broadcast(which, flag, wide, range(len(flag.shape)))
        flag = wide
    return ctx.block.emit(
        f"stablehlo.select {which}, {yes}, {no} : {types.tensor_type(flag)}, "
        f"{types.tensor_type(aval)}"
    )
