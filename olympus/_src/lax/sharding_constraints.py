"""Constraints on where values live, as an operation of programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import families, memory_kinds
from olympus._src.lowering import partitioning
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import UNCONSTRAINED


def _lower(ctx: Any, x: str, *, sharding: Any) -> str:
    """On one device the whole value is there anyway."""
    if not isinstance(sharding, NamedSharding):
        return x
    symbol = ctx.module.mesh(sharding.mesh)
    aval = ctx.avals_out[0]
    x = ctx.block.emit(partitioning.constraint(symbol, sharding.spec, x, aval))
    kind = sharding.other_memory_kind
    return x if kind is None else memory_kinds.lower_move(ctx, x, memory_kind=kind)


def _batch(axis: Any, args: Any, dims: Any, *, sharding: Any) -> Any:
    """Leaves the mapped axis to the compiler, unless it is one of the mesh."""
    if isinstance(sharding, NamedSharding):
        entry = UNCONSTRAINED if axis.spmd_name is None else axis.spmd_name
        sharding = with_axis(sharding, dims[0], entry)
    return sharding_constraint_p.bind(*args, sharding=sharding), dims[0]


def with_axis(sharding: NamedSharding, axis: int, entry: Any) -> NamedSharding:
    """The sharding of arrays with one more axis.

    Args:
      sharding: without it.
      axis: the position of the new axis.
      entry: which mesh axes divide it.
    """
    entries = list(sharding.spec.partitions)
    if axis < len(entries) or entry is not None:
        entries += [None] * (axis - len(entries))
        entries.insert(axis, entry)
    return sharding.update(spec=sharding.spec.update(partitions=entries))


def _transpose(cts: Any, x: Any, **params: Any) -> Any:
    (ct,) = cts
    return [ct if type(ct) is Zero else sharding_constraint_p.bind(ct, **params)]


sharding_constraint_p = Primitive(
    "sharding_constraint",
    abstract=lambda operand, **params: operand,
    lower=_lower,
    batch=_batch,
    transpose=_transpose,
    reference=lambda x, **params: np.array(x),
    **families.LINEAR,
)
