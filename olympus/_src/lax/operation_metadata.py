"""Attributes for the compiler of the operation that a value comes from."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core.primitive import Cost, Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import sharding_rules


def _lower(ctx: Any, x: str, *, xla_metadata_kvs: Any) -> str:
    ctx.block.tag(x, xla_metadata_kvs)
    return x


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    out = xla_metadata_value_p.bind(*primals, **params)
    (t,) = tangents
    return out, t if type(t) is Zero else xla_metadata_value_p.bind(t, **params)


xla_metadata_value_p: Primitive = Primitive(
    "xla_metadata_value",
    shard=sharding_rules.keep,
    abstract=lambda operand, **params: operand,
    lower=_lower,
    jvp=_jvp,
    transpose=lambda cts, x, **params: list(cts),  # other operations make it
    batch=lambda axis, args, dims, **params: (
        xla_metadata_value_p.bind(*args, **params),
        dims[0],
    ),
    reference=lambda x, **params: np.array(x),
    cost=Cost.BITS,
    may_make_nan=False,
)
