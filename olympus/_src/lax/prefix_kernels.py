"""Cumulative operations by the kernels in C that olympus brings, where they were built.

XLA has no operation for them: in windows each element is a sum of up to 16, and in
blocks a program is compiled for half a second. A kernel goes through the array once.
"""

from __future__ import annotations

import math
from typing import Any

from olympus._src import native
from olympus._src.core.primitive import Primitive
from olympus._src.lax.families import ShapedArray

_DTYPES = frozenset(["float32", "float64", "int32", "int64"])
# 2000 sums take what windows do, which XLA's runtime need not start, and compile in a
# tenth of the time; 8192 take 6 us in place of 37 (decision 50).
FEWEST = 1 << 11
# Windows make 16 exponentials for each element: 64 take 19 us in place of 6.
FEWEST_EXPONENTIALS = 1 << 6
_SHORT = 8  # windows along axes of so few take 6 us too, for 500 x 10
_ROWS = "dense<[2, 1, 0]> : tensor<3xindex>"


def suits(platform: str, aval: Any, axis: int, fewest: int = FEWEST) -> bool:
    """Whether there is a kernel for an array that pays, of so many elements or more."""
    return (
        platform == "cpu"
        and aval.dtype.name in _DTYPES
        and aval.size >= fewest
        and aval.shape[axis] > _SHORT
        and native.load_products() is not None
    )


def kernel_for(name: str, prefixes: str, plain: Primitive) -> Primitive:
    """The operation that a kernel does.

    Args:
      name: of the operation.
      prefixes: of the cumulative operation that it stands for.
      plain: the same in operations of XLA, for other processes and divided programs.
    """

    def lower(ctx: Any, x: str, *, axis: int, reverse: bool) -> str:
        (aval,) = ctx.avals_in
        before, after = math.prod(aval.shape[:axis]), math.prod(aval.shape[axis + 1 :])
        rows = ShapedArray((before, aval.shape[axis], after), aval.dtype)
        target = f"olympus_{prefixes}{native.REVERSE if reverse else ''}"
        out = ctx.block.op1(
            "stablehlo.custom_call",
            [ctx.block.reshape(x, aval, rows)],
            [rows],
            rows,
            f'call_target_name = "{target}", api_version = 4 : i32, backend_config = '
            f"{{}}, operand_layouts = [{_ROWS}], result_layouts = [{_ROWS}]",
        )
        return str(ctx.block.reshape(out, rows, aval))

    return Primitive(
        name,
        abstract=lambda x, **params: ShapedArray(x.shape, x.dtype, x.weak_type),
        lower=lower,
        decompose=plain.bind,
        needs_full_build=True,
    )
