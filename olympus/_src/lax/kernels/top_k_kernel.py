"""The few largest elements of many lines, on the CPU.

An element becomes one integer of 64 bits: its key over its position, counted from the
end. The largest is a maximum; the next is the maximum of those below it. The maxima go
over 32 elements and then over what those give, which XLA turns into vector
instructions: of 50 000 lines of 64 floats the largest 4 take 3 ms, in place of 19.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.lax import concatenation, gather, sort_keys
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.kernels import thresholds
from olympus._src.lowering import types

_I32, _I64 = np.dtype(np.int32), np.dtype(np.int64)
_LOWEST = int(np.iinfo(np.int64).min)


def suits(aval: Any, k: int) -> bool:
    """Whether the `k` largest along the last axis are found quicker so."""
    return (
        1 <= k <= thresholds.MOST_LARGEST
        and 1 < aval.shape[-1] <= thresholds.LONGEST_TOP_K_LINE
        and aval.size >= thresholds.FEWEST_TOP_K
        and sort_keys.packs(aval.dtype)
    )


def emit_top_k(ctx: Any, x: str, aval: Any, k: int) -> list[str]:
    """Writes the `k` largest elements of the last axis's lines, and their positions.

    Floats are in the order of their bits: 0 is above -0, NaN outermost by its sign.
    """
    block = ctx.block
    *lead, n = aval.shape
    packed, wide = _pack_keys(ctx, x, aval)
    line = ShapedArray((*lead, 1), _I64)
    maxima = [_largest(ctx, packed, wide)]
    while len(maxima) < k:
        below = _mask_below(block, packed, wide, maxima[-1], line)
        maxima.append(_largest(ctx, below, wide))
    out = ShapedArray((*lead, k), _I64)
    best = maxima[0]
    if k > 1:
        best = block.op1(
            "stablehlo.concatenate", maxima, [line] * k, out,
            f"dimension = {len(lead)} : i64",
        )  # fmt: skip
    low = block.elementwise("stablehlo.and", (best, block.splat(2**32 - 1, out)), out)
    last = block.splat(n - 1, out)
    places = block.elementwise("stablehlo.subtract", (last, low), out)
    positions = ShapedArray(out.shape, _I32)
    places = block.convert(places, out, positions)
    values = gather.emit_along(ctx, x, aval, places, positions, len(lead))
    return [values, places]


def _pack_keys(ctx: Any, x: str, aval: Any) -> tuple[str, Any]:
    """Keys over positions from the end."""
    block = ctx.block
    *lead, n = aval.shape
    key, key_aval = x, aval
    if dtypes.issubdtype(aval.dtype, np.floating):
        key, key_aval = sort_keys.emit_total_order(ctx, x, aval)
    wide = ShapedArray(aval.shape, _I64)
    count = block.iota(len(lead), wide)
    last = block.splat(n - 1, wide)
    count = block.elementwise("stablehlo.subtract", (last, count), wide)
    return sort_keys.emit_packed(ctx, key, key_aval, count), wide


def _apart(ctx: Any, x: str, aval: Any) -> str:
    """Keeps XLA from merging what is before with what is after into one slow loop."""
    return ctx.block.emit(
        f"stablehlo.optimization_barrier {x} : {types.tensor_type(aval)}"
    )


def _mask_below(block: Any, packed: str, wide: Any, limit: str, line: Any) -> str:
    """What is below its line's limit; the lowest integer for the rest."""
    flag = ShapedArray(wide.shape, np.bool_)
    limit = block.broadcast(limit, line, wide, range(wide.ndim))
    is_below = block.compare("LT", packed, limit, wide, "SIGNED", flag)
    t = types.tensor_type
    return block.emit(
        f"stablehlo.select {is_below}, {packed}, {block.splat(_LOWEST, wide)} : "
        f"{t(flag)}, {t(wide)}"
    )


def _largest(ctx: Any, x: str, aval: Any) -> str:
    """The maximum of each line, as a line of one."""
    *lead, n = aval.shape
    tail = n % thresholds.UNROLLED_SUM if n > thresholds.UNROLLED_SUM else n
    out, maxima = ShapedArray(tuple(lead), _I64), []
    if n > tail:
        parts = ShapedArray(
            (*lead, n // thresholds.UNROLLED_SUM, thresholds.UNROLLED_SUM), _I64
        )
        whole, whole_aval = _part(ctx, x, aval, 0, n - tail)
        whole = _maximum(ctx, ctx.block.reshape(whole, whole_aval, parts), parts)
        each = ShapedArray((*lead, n // thresholds.UNROLLED_SUM), _I64)
        maxima.append(_maximum(ctx, _apart(ctx, whole, each), each))
    if tail:
        maxima.append(_maximum(ctx, *_part(ctx, x, aval, n - tail, n)))
    best = maxima[0]
    if len(maxima) > 1:
        best = ctx.block.elementwise("stablehlo.maximum", maxima, out)
    return ctx.block.reshape(best, out, ShapedArray((*lead, 1), _I64))


def _part(ctx: Any, x: str, aval: Any, start: int, stop: int) -> tuple[str, Any]:
    """Some of the elements of each line."""
    *lead, n = aval.shape
    if stop - start == n:
        return x, aval
    out = ShapedArray((*lead, stop - start), aval.dtype)
    starts, limits = [*[0] * len(lead), start], [*lead, stop]
    return concatenation.emit_slice(ctx, x, aval, out, starts, limits), out


def _maximum(ctx: Any, x: str, aval: Any) -> str:
    scalar = ShapedArray((), _I64)
    lowest = ctx.block.constant(_LOWEST, scalar)
    out = ShapedArray(aval.shape[:-1], _I64)
    t = types.tensor_type
    return ctx.block.emit(
        f"stablehlo.reduce({x} init: {lowest}) applies stablehlo.maximum across "
        f"dimensions = [{aval.ndim - 1}] : ({t(aval)}, {t(scalar)}) -> {t(out)}"
    )
