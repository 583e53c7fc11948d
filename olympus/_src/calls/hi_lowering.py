"""Calls of programs with values of high types, as those of the arrays."""

from __future__ import annotations

from typing import Any

from olympus._src.calls.pjit import pjit_p
from olympus._src.calls.shard_map import refuse_high_type, shard_map_p
from olympus._src.core import avals as avals_
from olympus._src.interpreters import hi_lowering
from olympus._src.lax.manual_axes import manual_of, manual_over
from olympus._src.sharding.specs import PartitionSpec


def call(*args: Any, jaxpr: Any, **params: Any) -> Any:
    """The rule of `pjit_p.to_low`."""
    low, first = hi_lowering.lower_closed(jaxpr)
    types = [avals_.aval_of(x) for x in args]
    donated = hi_lowering.repeat_for_lows(params["donated_invars"], types)
    params["donated_invars"] = (*[False] * len(first), *donated)
    operands = [*first, *hi_lowering.lower_values(args)]
    return low.raise_results(pjit_p.bind(*operands, jaxpr=low.closed, **params))


def shard_map(*args: Any, jaxpr: Any, **params: Any) -> Any:
    """The rule of `shard_map_p.to_low`, whose function uses high types inside only."""
    for aval in (*jaxpr.in_avals, *jaxpr.out_avals):
        if aval.is_high:
            raise refuse_high_type(aval)
    with manual_over(manual_of(params)):
        low, first = hi_lowering.lower_closed(jaxpr)
    params["in_specs"] = (PartitionSpec(),) * len(first) + params["in_specs"]
    return shard_map_p.bind(*first, *args, jaxpr=low.closed, **params)
