"""Loops inside the lowering of one operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import types

COUNTER = ShapedArray((), np.dtype(np.int32))
_FLAG = ShapedArray((), np.dtype(np.bool_))


def emit_counted(
    block: Any,
    steps: int,
    operands: Sequence[str],
    avals: Sequence[Any],
    write: Callable[[Any, str, list[str]], list[str]],
) -> list[str]:
    """Writes a loop of a known number of steps.

    Args:
      block: where to write.
      steps: how many.
      operands: the first state.
      avals: its types.
      write: given a block, the name of the counter and the state, writes one step and
        returns the next state.
    """
    carried = [COUNTER, *avals]
    test, body = block.inner(), block.inner()
    names = test.arguments(carried)
    end = test.constant(steps, COUNTER)
    more = test.compare("LT", names[0], end, COUNTER, "SIGNED", _FLAG)
    regions = [test.region(names, carried, [more], [_FLAG])]
    names = body.arguments(carried)
    outs = write(body, names[0], names[1:])
    one = body.constant(1, COUNTER)
    following = body.elementwise("stablehlo.add", [names[0], one], COUNTER)
    regions.append(body.region(names, carried, [following, *outs], carried))
    start = [block.constant(0, COUNTER), *operands]
    return block.op("stablehlo.while", start, carried, carried, "", regions)[1:]


def emit_at(block: Any, x: str, aval: Any, position: str, axis: int) -> str:
    """Writes the slice of `x` at a position along an axis, which it drops."""
    zero = block.constant(0, COUNTER)
    starts = [position if i == axis else zero for i in range(aval.ndim)]
    sizes = [1 if i == axis else d for i, d in enumerate(aval.shape)]
    thin = ShapedArray(tuple(sizes), aval.dtype)
    thin_slice = block.dynamic_slice(x, aval, thin, starts, COUNTER)
    flat = ShapedArray((*aval.shape[:axis], *aval.shape[axis + 1 :]), aval.dtype)
    return block.reshape(thin_slice, thin, flat)


def emit_chosen(block: Any, x: str, flags: str, aval: Any, out: Any) -> str:
    """Writes the one element along the last axis that a flag marks."""
    t = types.tensor_type
    flag_aval = ShapedArray(aval.shape, np.dtype(np.bool_))
    masked_values = block.emit(
        f"stablehlo.select {flags}, {x}, {block.splat(0, aval)} : {t(flag_aval)}, "
        f"{t(aval)}"
    )
    scalar = ShapedArray((), aval.dtype)
    zero = block.constant(0, scalar)
    return block.emit(
        f"stablehlo.reduce({masked_values} init: {zero}) applies stablehlo.add across "
        f"dimensions = [{aval.ndim - 1}] : ({t(aval)}, {t(scalar)}) -> {t(out)}"
    )


def emit_set(block: Any, x: str, aval: Any, part: str, position: str, axis: int) -> str:
    """Writes `x` with the slice at a position along an axis replaced."""
    zero = block.constant(0, COUNTER)
    starts = [position if i == axis else zero for i in range(aval.ndim)]
    flat = ShapedArray((*aval.shape[:axis], *aval.shape[axis + 1 :]), aval.dtype)
    sizes = tuple([1 if i == axis else d for i, d in enumerate(aval.shape)])
    thin = ShapedArray(sizes, aval.dtype)
    update = block.reshape(part, flat, thin)
    return block.dynamic_update_slice(x, aval, update, thin, starts, COUNTER)
