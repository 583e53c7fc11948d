"""Values in another memory of their device."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import families, sharding_rules
from olympus._src.lowering import types

# Platforms whose programs may keep values in the memory of the host.
_WITH_HOST_MEMORY = ("cuda", "rocm", "gpu", "tpu")


def lower_move(ctx: Any, x: str, *, memory_kind: str) -> str:
    """A value in another memory, within a program."""
    if ctx.platform not in _WITH_HOST_MEMORY:
        return x  # its memory is the host's
    kind = types.tensor_type(ctx.avals_in[0])
    return ctx.block.emit(
        f"stablehlo.custom_call @annotate_device_placement({x}) {{has_side_effect = "
        "true, mhlo.frontend_attributes = {_xla_buffer_placement = "
        f'"{memory_kind}"}}}} : ({kind}) -> {kind}'
    )


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
