"""Calls of kernels on stacks of matrices, whatever library they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from olympus._src.lowering import dynamic_shapes, partitioning, types

Attributes = Mapping[str, "str | int | bool | np.uint8"] | None


def no_lowering(ctx: Any, what: str) -> NotImplementedError:
    """The error of a function that the platform has no kernel for."""
    return NotImplementedError(
        f"lax.linalg.{what}: there is no lowering for platform {ctx.platform}; "
        "move the operand to the CPU with olympus.device_put"
    )


def emit(
    ctx: Any,
    name: str,
    operands: Sequence[str],
    in_avals: Sequence[Any],
    out_avals: Sequence[Any],
    *,
    rank: int,
    reused: Mapping[int, int],
    attributes: Attributes = None,
    by_rows: bool = False,
) -> list[str]:
    """Writes a call of a kernel, which takes matrices column by column.

    Args:
      ctx: what the lowering rule was given.
      name: the kernel's whole name.
      operands: names of the operands.
      in_avals: their types.
      out_avals: the types of the results.
      rank: the number of axes of a stack of matrices.
      reused: for each result that the kernel writes in the place of an operand, which.
      attributes: the kernel's switches: a letter, a word, a number or a boolean.
      by_rows: the kernel takes matrices row by row.
    """
    n, more = len(operands), ""
    if any(map(types.has_symbolic_size, out_avals)):
        shapes, kinds, more = dynamic_shapes.result_shapes(ctx.block, out_avals, n)
        operands, in_avals = [*operands, *shapes], [*in_avals, *kinds]
    columns = -1 if by_rows else rank
    operand_layouts, result_layouts = (
        "["
        + ", ".join([_layout(a.ndim, a.ndim == columns and i < n) for i, a in group])
        + "]"
        for group in (enumerate(in_avals), enumerate(out_avals, -len(out_avals)))
    )
    switches = ", ".join(
        [f"{k} = {_switch(v)}" for k, v in sorted((attributes or {}).items())]
    )
    text = (
        f"call_target_name = {types.string(name)}, api_version = 4 : i32, "
        f"backend_config = {{{switches}}}, operand_layouts = {operand_layouts}, "
        f"result_layouts = {result_layouts}, "
        f"output_operand_aliases = [{_aliases(reused, len(out_avals))}]"
    )
    text += f", {more}" if more else ""
    if ctx.module.divided_over is not None and rank > 2:
        rule = partitioning.batch_rule([*in_avals[:n], *out_avals], n, rank - 2)
        text += f", {rule}"
    return ctx.block.op("stablehlo.custom_call", operands, in_avals, out_avals, text)


def emit_builtin(
    ctx: Any,
    name: str,
    operands: Sequence[str],
    out_avals: Sequence[Any] | None = None,
    *,
    config: str = "",
    version: int = 1,
) -> list[str]:
    """Writes a call of an operation that the compiler of TPUs expands itself."""
    text = (
        f"call_target_name = {types.string(name)}, api_version = {version} : i32, "
        f"backend_config = {types.string(config)}"
    )
    outs = ctx.avals_out if out_avals is None else out_avals
    return ctx.block.op("stablehlo.custom_call", operands, ctx.avals_in, outs, text)


def _aliases(reused: Mapping[int, int], count: int) -> str:
    """Which results are written over which operands, so that nothing is copied."""
    return ", ".join(
        [
            "#stablehlo.output_operand_alias<output_tuple_indices = "
            f"{types.int_list([result] if count > 1 else [])}, operand_index = "
            f"{operand}, operand_tuple_indices = []>"
            for result, operand in reused.items()
        ]
    )


def _switch(value: str | int | bool | np.uint8) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"{ord(value)} : ui8" if len(value) == 1 else types.string(value)
    return f"{value} : {'ui8' if isinstance(value, np.uint8) else 'i32'}"


def _layout(rank: int, is_matrix: bool) -> str:
    """Axes from the fastest to the slowest; columns of matrices lie together."""
    order = list(range(rank - 1, -1, -1))
    if is_matrix:
        order[:2] = order[1::-1]
    return f"dense<{types.int_list(order)}> : tensor<{rank}xindex>"
