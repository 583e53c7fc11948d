"""Calls of LAPACK's kernels, and NaN where a kernel reports that it failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from olympus._src.lax import elementwise_rules
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.linalg import custom_calls
from olympus._src.lowering import types

LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def status(aval: Any) -> Any:
    """The type of the word that a kernel returns for each matrix of `aval`."""
    return ShapedArray(aval.shape[:-2], np.dtype(np.int32))


def call(
    ctx: Any,
    what: str,
    kernel: str | tuple[str, str],
    operands: Sequence[str],
    in_avals: Sequence[Any],
    out_avals: Sequence[Any],
    *,
    rank: int,
    reused: Mapping[int, int],
    attributes: custom_calls.Attributes = None,
) -> list[str]:
    """Writes a call of LAPACK, as `call_kernel`.

    Args:
      kernel: LAPACK's name without its first letter; or one for real numbers and one
        for complex numbers, as with "syevd" and "heevd". The first dtype among
        `in_avals` chooses it.
    """
    letter = LETTERS[in_avals[0].dtype.name]
    if not isinstance(kernel, str):
        kernel = kernel[letter in "cz"]
    name = f"lapack_{letter}{kernel}_ffi"
    return call_kernel(
        ctx,
        what,
        name,
        operands,
        in_avals,
        out_avals,
        rank=rank,
        reused=reused,
        attributes=attributes,
    )


def call_kernel(
    ctx: Any,
    what: str,
    name: str,
    operands: Sequence[str],
    in_avals: Sequence[Any],
    out_avals: Sequence[Any],
    *,
    rank: int,
    reused: Mapping[int, int],
    attributes: custom_calls.Attributes = None,
) -> list[str]:
    """Writes a call of a kernel, which takes matrices column by column.

    Args:
      ctx: what the lowering rule was given.
      what: the user's function, for messages.
      name: the kernel's whole name.
      operands: names of the operands.
      in_avals: their types.
      out_avals: the types of the results.
      rank: the number of axes of a stack of matrices.
      reused: for each result that the kernel writes in the place of an operand, which.
      attributes: the kernel's switches: a letter, a number or a boolean.
    """
    if ctx.platform != "cpu":
        raise custom_calls.no_lowering(ctx, what)
    return custom_calls.emit(
        ctx,
        name,
        operands,
        in_avals,
        out_avals,
        rank=rank,
        reused=reused,
        attributes=attributes,
    )


def nan_unless(
    ctx: Any,
    info: str,
    direction: str,
    outs: Sequence[str],
    out_avals: Sequence[Any],
    telling: Any = None,
) -> list[str]:
    """`outs` with NaN in place of all results of a matrix whose kernel failed.

    Args:
      ctx: what the lowering rule was given; its last operand is a stack of matrices.
      info: the kernel's words, one for each matrix.
      direction: "EQ" or "GE": how the word of a success compares with zero.
      outs: names of floating or complex results.
      out_avals: their types.
      telling: the kernel takes NaN for a success: the name and the type of a result,
        with a line for each matrix, that tells where it was.
    """
    words = status(ctx.avals_in[-1])
    flags = ShapedArray(words.shape, np.dtype(np.bool_))
    block = ctx.block
    zero = block.splat(0, words)
    fine = block.compare(direction, info, zero, words, "SIGNED", flags)
    if telling is not None:
        x, aval = telling
        are_numbers = _emit_are_numbers(block, x, aval, flags)
        fine = block.elementwise("stablehlo.and", (fine, are_numbers), flags)
    filled = []
    for name, aval in zip(outs, out_avals, strict=True):
        wide = ShapedArray(aval.shape, flags.dtype)
        mask = block.broadcast(fine, flags, wide, range(len(words.shape)))
        nan = block.splat(_NAN[aval.dtype.kind], aval)
        filled.append(elementwise_rules.emit_select(ctx, mask, name, nan, wide, aval))
    return filled


def _emit_are_numbers(block: Any, x: str, aval: Any, flags: Any) -> str:
    """Writes for each line whether no element of it is NaN."""
    each = ShapedArray(aval.shape, flags.dtype)
    is_number = block.compare("EQ", x, x, aval, "FLOAT", each)
    true = ShapedArray((), flags.dtype)
    t = types.tensor_type
    name: str = block.emit(
        f"stablehlo.reduce({is_number} init: {block.constant(True, true)}) applies "
        f"stablehlo.and across dimensions = [{len(flags.shape)}] : "
        f"({t(each)}, {t(true)}) -> {t(flags)}"
    )
    return name


_NAN = {"f": float("nan"), "c": complex(float("nan"), float("nan"))}


def emit_triangle(ctx: Any, x: str, aval: Any, *, lower: bool) -> str:
    """Writes zeros above (below) the diagonals of matrices."""
    zeros = ctx.block.splat(0, aval)
    return _emit_by_place(ctx, "GE" if lower else "LE", x, zeros, aval)


def emit_identity(ctx: Any, aval: Any) -> str:
    """Writes unit matrices."""
    zeros, ones = (ctx.block.splat(i, aval) for i in (0, 1))
    return _emit_by_place(ctx, "EQ", ones, zeros, aval)


def _emit_by_place(ctx: Any, direction: str, yes: str, no: str, aval: Any) -> str:
    """Writes a choice for each element, by how its row compares with its column."""
    block = ctx.block
    positions = ShapedArray(aval.shape, np.dtype(np.int32))
    flags = ShapedArray(aval.shape, np.dtype(np.bool_))
    row, column = (
        block.iota(axis, positions) for axis in (aval.ndim - 2, aval.ndim - 1)
    )
    inside = block.compare(direction, row, column, positions, "SIGNED", flags)
    return elementwise_rules.emit_select(ctx, inside, yes, no, flags, aval)
