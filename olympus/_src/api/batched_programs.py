"""Entry points to batched functions and programs, for libraries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.interpreters import batching, partial_eval
from olympus._src.lax import families
from olympus._src.programs.wrapped_functions import Store, transformation_with_aux2


@transformation_with_aux2
def batch_subtrace(
    f: Callable[..., Any],
    store: Store,
    tag: Any,
    axis_data: batching.AxisData,
    in_dims: Sequence[int | None],
    *in_vals: Any,
) -> list[Any]:
    """The function of batches of its arguments, and what returns where results are.

    The function is called with a tag, which has no effect, the mapped axis, for each
    argument where it is mapped, and the arguments.
    """
    del tag
    outs, dims = batching.batch(lambda *xs: list(f(*xs)), axis_data, in_vals, in_dims)
    store.store(dims)
    return outs


class ZeroIfMapped:
    """Where a result has its mapped axis: in front, if it has one."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "zero_if_mapped"


zero_if_mapped = ZeroIfMapped()


def batch_olympuspr_axes(
    closed_olympuspr: ir.ClosedOlympuspr,
    axis_data: batching.AxisData,
    in_axes: Sequence[int | None],
    out_axes_dest: Sequence[Any],
) -> tuple[ir.ClosedOlympuspr, list[bool]]:
    """The program that computes a batch of a program's results.

    Args:
      closed_olympuspr: the program.
      axis_data: the mapped axis, as batching rules are given it.
      in_axes: for each input where it is mapped, or None.
      out_axes_dest: for each output where it is to be mapped; None, or
        `zero_if_mapped` for 0 where it is mapped at all.

    Returns:
      The program, and which of its outputs have the mapped axis.

    Raises:
      ValueError: an output is mapped, and has None.
    """
    is_mapped: list[bool] = []

    def run(*args: Any) -> list[Any]:
        evaluate = ir.program_as_function(closed_olympuspr)
        outs, dims = batching.batch(evaluate, axis_data, args, in_axes)
        placed = []
        for x, dim, wanted in zip(outs, dims, out_axes_dest, strict=True):
            x, mapped = _place(axis_data, x, dim, wanted)
            placed.append(x)
            is_mapped.append(mapped)
        return placed

    in_avals = [
        a if d is None else a.with_axis(d, axis_data.size, axis_data.entry)
        for a, d in zip(closed_olympuspr.in_avals, in_axes, strict=True)
    ]
    info = closed_olympuspr.olympuspr.debug_info or ir.DebugInfo("vmap", "program")
    program, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
    return ir.ClosedOlympuspr(program, consts), is_mapped


def _place(axis: batching.AxisData, x: Any, dim: Any, wanted: Any) -> tuple[Any, bool]:
    if wanted is zero_if_mapped:
        return (x, False) if dim is None else (families.move_axis(x, dim, 0), True)
    if wanted is None and dim is not None:
        raise ValueError(
            "batch_olympuspr_axes: an output is mapped, got None for it in "
            "out_axes_dest; give it an axis, or zero_if_mapped"
        )
    if wanted is None:
        return x, False
    if dim is None:
        return families.insert_axis(x, wanted, axis.size), True
    return families.move_axis(x, dim, wanted), True
