"""Programs with values of high types whose derivative computes again, of arrays."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import ir
from olympus._src.interpreters import hi_lowering
from olympus._src.remat.remat import bind


def remat(*args: Any, jaxpr: ir.Olympuspr, **params: Any) -> Any:
    """The rule of `remat_p.to_low`."""
    low = hi_lowering.lower_program(jaxpr)
    flags = params["prevent_cse"]
    if isinstance(flags, tuple):
        types = [avals_.aval_of(x) for x in args]
        flags = tuple(hi_lowering.repeat_for_lows(flags, types))
        params["prevent_cse"] = (*[True] * len(low.consts), *flags)
    operands = [*low.consts, *hi_lowering.lower_values(args)]
    return low.raise_results(bind(low.closed.olympuspr, operands, **params))
