"""What the compiler keeps apart from what is around it: calls of programs, and values.

Both are written into programs that are about to be lowered: no other rule sees them.
"""

from __future__ import annotations

from typing import Any

from olympus._src.core import ir
from olympus._src.core.primitive import Primitive

_APART = (("inlineable", "false"),)


def _abstract(*avals: Any, jaxpr: ir.ClosedOlympuspr) -> Any:
    return jaxpr.out_avals


def _lower(ctx: Any, *operands: str, jaxpr: ir.ClosedOlympuspr) -> Any:
    return ctx.module.call(ctx, jaxpr.olympuspr, "separate", operands, _APART)


separate_call_p: Primitive = Primitive(
    "separate_call",
    multiple_results=True,
    abstract=_abstract,
    lower=_lower,
    may_make_nan=False,
)

# A value that many elements of one result are made of: to be kept, not made again for
# each. `fusion_limits` puts a barrier there, or a call where there may be no barrier.
kept_p: Primitive = Primitive(
    "kept",
    abstract=lambda x: x,
    lower=lambda ctx, x: x,
    may_make_nan=False,
)
