"""Values in another memory of their device."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import families, sharding_rules
from olympus._src.lowering import memory_kinds, types


def lower_move(ctx: Any, x: str, *, memory_kind: str) -> str:
    """A value in a memory of its device, where its program uses more than one."""
    if not ctx.module.has_other_memories:
        return x
    kind = types.tensor_type(ctx.avals_in[0])
    return memory_kinds.emit_move(ctx.block, ctx.platform, x, kind, memory_kind)


def _jvp(primals: Any, tangents: Any, *, memory_kind: str) -> Any:
    out = move_to_memory_p.bind(*primals, memory_kind=memory_kind)
    (t,) = tangents
    if type(t) is not Zero:
        t = move_to_memory_p.bind(t, memory_kind=memory_kind)
    return out, t


move_to_memory_p: Primitive = Primitive(
    "move_to_memory",
    shard=sharding_rules.keep,
    abstract=lambda operand, *, memory_kind: operand,
    lower=lower_move,
    jvp=_jvp,
    transpose=lambda cts, x, *, memory_kind: list(cts),
    batch=lambda axis, args, dims, **params: (
        move_to_memory_p.bind(*args, **params),
        dims[0],
    ),
    reference=lambda x, *, memory_kind: np.array(x),
    taylor=families.linear_series(),
)
