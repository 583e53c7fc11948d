"""Constraints on the order of a value's elements in memory, inside of programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import families, sharding_rules
from olympus._src.lowering import types


def _lower(ctx: Any, x: str, *, layout: Any) -> str:
    aval = ctx.avals_in[0]
    axes = [*layout.major_to_minor, *range(aval.ndim, aval.storage.ndim)]
    return _emit(ctx, x, aval, axes)


def emit_row_major(ctx: Any, x: str, aval: Any) -> str:
    """A value whose last axis has the smallest strides."""
    return _emit(ctx, x, aval, range(aval.storage.ndim))


def _emit(ctx: Any, x: str, aval: Any, axes: Sequence[int]) -> str:
    order = ", ".join(map(str, reversed(axes)))
    dense = f"[dense<[{order}]> : tensor<{len(axes)}xindex>]"
    if not axes:
        return x
    return ctx.block.op1(
        "stablehlo.custom_call",
        [x],
        [aval],
        aval,
        f'call_target_name = "LayoutConstraint", backend_config = {types.string("")}, '
        f"operand_layouts = {dense}, result_layouts = {dense}",
    )


def _batch(axis: Any, args: Any, dims: Any, *, layout: Any) -> Any:
    """The mapped axis has the largest strides."""
    (x,), (dim,) = args, dims
    x = families.move_axis(x, dim, 0)
    wider = layout.update(major_to_minor=(0, *[i + 1 for i in layout.major_to_minor]))
    return layout_constraint_p.bind(x, layout=wider), 0


def _transpose(cts: Any, x: Any, *, layout: Any) -> Any:
    (ct,) = cts
    return [ct if type(ct) is Zero else layout_constraint_p.bind(ct, layout=layout)]


layout_constraint_p = Primitive(
    "layout_constraint",
    needs_full_build=True,
    abstract=lambda operand, *, layout: operand,
    shard=sharding_rules.keep,
    lower=_lower,
    batch=_batch,
    transpose=_transpose,
    reference=lambda x, *, layout: np.array(x),
    **families.LINEAR,
)
