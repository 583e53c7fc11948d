"""The step and the condition of a loop for mapped operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import high_values, ir
from olympus._src.core.high_values import MappingSpec
from olympus._src.foundation import errors
from olympus._src.interpreters import batching
from olympus._src.lax import families


def batch_step(
    axis: Any,
    body: ir.ClosedOlympuspr,
    const_dims: Sequence[Any],
    carry_dims: Sequence[Any],
    x_dims: Sequence[Any] = (),
) -> tuple[ir.ClosedOlympuspr, Sequence[Any], list[bool]]:
    """The program of a step for mapped operands.

    A carry that is mapped after one step is mapped in all: the step is traced until no
    more of them are.

    Args:
      axis: what is mapped over.
      body: takes constants, carries and slices; returns carries and more.
      const_dims: the batch dimensions of its constants.
      carry_dims: those of the carries before the first step.
      x_dims: those of the slices.

    Returns:
      The program; the batch dimensions of its results; and which carries are mapped.
    """
    mapped = [d is not None for d in carry_dims]
    n_carry = len(mapped)
    unforced = [False] * (len(body.out_avals) - n_carry)
    for _ in range(1 + n_carry):
        in_dims = (*const_dims, *[0 if m else None for m in mapped], *x_dims)
        force = (*mapped, *unforced)
        batched, out_dims = batching.batch_olympuspr(body, axis, in_dims, force)
        after_step = [
            m or d is not None for m, d in zip(mapped, out_dims[:n_carry], strict=True)
        ]
        if after_step == mapped:
            return batched, out_dims, mapped
        mapped = after_step
    raise errors.InternalError("the mapped carries of a loop do not settle")


def batch_condition(
    axis: Any,
    params: dict[str, Any],
    cond_const_dims: Sequence[Any],
    body_const_dims: Sequence[Any],
    carry_dims: Sequence[Any],
) -> tuple[ir.ClosedOlympuspr, int | None, list[bool]]:
    """The condition of a while loop for mapped operands.

    Returns:
      The program; the batch dimension of its result; and which carries are mapped
      after any number of steps.
    """
    body, condition = params["body_jaxpr"], params["cond_jaxpr"]
    *_, mapped = batch_step(axis, body, body_const_dims, carry_dims)
    in_dims = (*cond_const_dims, *[0 if m else None for m in mapped])
    batched, (dim,) = batching.batch_olympuspr(condition, axis, in_dims)
    return batched, dim, mapped


def carry_at_front(
    axis: Any, carry: Sequence[Any], dims: Sequence[Any], mapped: Sequence[bool]
) -> list[Any]:
    """The first carries, those that will be mapped with the mapped axis in front."""
    return [
        families.at_front(axis, x, d) if m else x
        for x, d, m in zip(carry, dims, mapped, strict=True)
    ]


def front_dims(avals: Sequence[Any], mapped: Sequence[bool]) -> list[Any]:
    """The batch dimensions of carries of some types that are mapped in front."""
    return [
        high_values.front_of(a) if m else None
        for a, m in zip(avals, mapped, strict=True)
    ]


def refuse_high_types(what: str, chooser: str, avals: Sequence[Any]) -> None:
    """Raises NotImplementedError where elements of high types would be chosen among."""
    for aval in avals:
        if aval.is_high:
            raise NotImplementedError(
                f"{what}: under vmap with a mapped {chooser} operands and results must "
                f"be arrays, among which is chosen, got the high type {aval.short()}; "
                "pass the arrays that it is made of, or map with lax.map"
            )


def behind_steps(dims: Sequence[Any]) -> list[Any]:
    """The batch dimensions of results that are stacked along the axis of the steps."""
    for d in dims:
        if isinstance(d, MappingSpec):
            raise NotImplementedError(
                "vmap of scan: outputs of steps that are mapped must be arrays, got a "
                f"value of a high type that is mapped by {d!r}; return the arrays it "
                "is made of"
            )
    return [None if d is None else d + 1 for d in dims]


def keep_scanned_axes(
    xs: Sequence[Any], dims: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Scanned operands with the scanned axis in front, and their batch dimensions.

    Raises:
      NotImplementedError: rows of a high type are mapped.
    """
    for x, d in zip(xs, dims, strict=True):
        if isinstance(d, MappingSpec):
            raise NotImplementedError(
                f"vmap of scan: xs of the high type {avals_.aval_of(x).short()} must "
                f"not be mapped, got {d!r}; pass the arrays it is made of as xs"
            )
    moved = [
        families.move_axis(x, 0, 1) if d == 0 else x
        for x, d in zip(xs, dims, strict=True)
    ]
    return moved, [None if d is None else max(d, 1) for d in dims]
