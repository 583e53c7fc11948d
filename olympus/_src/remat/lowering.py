"""Keeps the recomputation separate from the first computation in compiled programs.

A compiler that sees one computation twice does it once and keeps the result, which is
what `checkpoint` is there to avoid. A barrier before the second time stops that where
compilers respect it to the end. Up to jaxlib 0.11.0 XLA removes barriers early on the
CPU; there the second time is a branch of a condition whose outcome is known only when
the program runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import dtypes, effects, ir
from olympus._src.core.avals import ShapedArray
from olympus._src.core.dtypes import issubdtype
from olympus._src.lowering import builder, types

_BOOL = ShapedArray((), "bool")
_INDEX = ShapedArray((), "int32")


def call_apart(
    ctx: Any, operands: Sequence[str], program: ir.Olympuspr, flags: Sequence[bool]
) -> list[str]:
    """Writes a call of a program that is not merged with what was computed before.

    Args:
      ctx: of the equation.
      operands: names of its operands.
      program: what is called.
      flags: operands that are held back until all of them are computed.
    """
    if ctx.platform == "cpu" and not ctx.module.keeps_barriers:
        pred = _true(ctx, [i for i, flag in enumerate(flags) if flag], operands)
        if pred is not None:
            return _branch(ctx, pred, operands, program)
    return ctx.module.call(
        ctx, program, "checkpoint", _hold_operands(ctx, operands, flags)
    )


def _hold_operands(
    ctx: Any, operands: Sequence[str], flags: Sequence[bool]
) -> list[str]:
    """Operands behind a barrier.

    It waits for the cotangents too: nothing is computed again before it is needed.
    """
    positions = [i for i, flag in enumerate(flags) if flag]
    kinds = ", ".join([types.tensor_type(ctx.avals_in[i]) for i in positions])
    listed = ", ".join([operands[i] for i in positions])
    names = ctx.block.emit_many(
        f"stablehlo.optimization_barrier {listed} : {kinds}", len(positions)
    )
    names_out = list(operands)
    for i, name in zip(positions, names, strict=True):
        names_out[i] = name
    return names_out


def _branch(
    ctx: Any, pred: str, operands: Sequence[str], program: ir.Olympuspr
) -> list[str]:
    """The call, in a branch that is always taken; the other one returns zeros."""
    order = effects.ordered(program.effects)
    out_avals = [types.token_type()] * len(order) + list(ctx.avals_out)
    main = ctx.block.inner()
    outs = ctx.module.call(
        builder.Context(ctx.module, main, ctx.eqn), program, "checkpoint", operands
    )
    other = ctx.block.inner()
    zeros = [other.splat(0, aval.storage) for aval in ctx.avals_out]
    regions = [
        block.region((), (), [block.tokens[e] for e in order] + results, out_avals)
        for block, results in ((other, zeros), (main, outs))
    ]
    # Shardings pass through a case, not through an if: results would be gathered.
    index = ctx.block.convert(pred, _BOOL, _INDEX)
    results_out = ctx.block.op(
        "stablehlo.case", [index], [_INDEX], out_avals, regions=regions
    )
    ctx.block.tokens.update(zip(order, results_out, strict=False))
    return results_out[len(order) :]


def _true(ctx: Any, held: Sequence[int], operands: Sequence[str]) -> str | None:
    """A condition that always holds, which only the data tells.

    It reads the first and the last of the operands that are held: an argument or a kept
    value, and a cotangent. None where none has a number to read.
    """
    fit = [
        i
        for i in held
        if type(ctx.eqn.invars[i]) is not ir.Literal and _is_readable(ctx.avals_in[i])
    ]
    if not fit:
        return None
    bits = [
        _is_at_most_one(ctx, operands[i], ctx.avals_in[i]) for i in {fit[0], fit[-1]}
    ]
    if len(bits) == 1:
        return bits[0]
    return ctx.block.elementwise("stablehlo.and", bits, _BOOL)


def _is_readable(aval: Any) -> bool:
    if isinstance(aval.dtype, dtypes.ExtendedDType) or not aval.size:
        return False
    return aval.dtype.itemsize >= 2 and issubdtype(aval.dtype, np.floating)


def _is_at_most_one(ctx: Any, x: str, aval: Any) -> str:
    """Whether the last bit of an array's first number is at most one."""
    block = ctx.block
    scalar = ShapedArray((), aval.dtype)
    if aval.shape:
        first = ShapedArray((1,) * aval.ndim, aval.dtype)
        x = block.slice(x, aval, first, [0] * aval.ndim, [1] * aval.ndim)
        x = block.reshape(x, first, scalar)
    bits = ShapedArray((), f"uint{8 * aval.dtype.itemsize}")
    one = block.constant(1, bits)
    x = block.op1("stablehlo.bitcast_convert", [x], [scalar], bits)
    x = block.elementwise("stablehlo.and", [x, one], bits)
    return block.compare("LE", x, one, bits, "UNSIGNED", _BOOL)
