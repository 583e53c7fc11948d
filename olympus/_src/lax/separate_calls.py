"""Calls of programs that the compiler keeps apart from what is around them."""

from __future__ import annotations

from typing import Any

from olympus._src.core import ir
from olympus._src.core.primitive import Primitive

_APART = (("inlineable", "false"),)


def _abstract(*avals: Any, jaxpr: ir.ClosedOlympuspr) -> Any:
    return jaxpr.out_avals


def _lower(ctx: Any, *operands: str, jaxpr: ir.ClosedOlympuspr) -> Any:
    return ctx.module.call(ctx, jaxpr.olympuspr, "separate", operands, _APART)


# Written into programs that are about to be lowered: no other rule ever sees it.
separate_call_p: Primitive = Primitive(
    "separate_call",
    multiple_results=True,
    abstract=_abstract,
    lower=_lower,
    may_make_nan=False,
)
