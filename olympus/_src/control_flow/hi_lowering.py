"""Loops and branches with values of high types, as those of the arrays they stand for.

Where a loop carries a value of a high type, the low loop carries its arrays; rows of
such values are rows of arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from olympus._src.control_flow.bounded_while import bounded_while_p
from olympus._src.control_flow.cond import cond_p
from olympus._src.control_flow.counted_scan import counted_scan_p
from olympus._src.control_flow.scan import scan_p
from olympus._src.control_flow.while_loop import while_p
from olympus._src.core import ir
from olympus._src.interpreters import hi_lowering
from olympus._src.programs import inner_programs
from olympus._src.programs.scan_operands import Parts
from olympus._src.programs.while_operands import Parts as WhileParts


def scan(*args: Any, **params: Any) -> Any:
    """The rule of `scan_p.to_low`."""
    return _scan(scan_p.bind, args, **params)


def counted_scan(count: Any, *args: Any, **params: Any) -> Any:
    """The rule of `counted_scan_p.to_low`, whose first operand counts the steps."""
    return _scan(functools.partial(counted_scan_p.bind, count), args, **params)


def _scan(bind: Any, args: Sequence[Any], *, jaxpr: Any, **params: Any) -> Any:
    low, first = hi_lowering.lower_closed(jaxpr)
    parts = Parts(args, params)
    consts = [*first, *hi_lowering.lower_values(parts.consts)]
    carry = hi_lowering.lower_values(parts.carry)
    xs = hi_lowering.lower_values(parts.xs)
    _check_rows(low, len(consts) + len(carry), xs)
    outs = bind(
        *consts,
        *carry,
        *xs,
        **params | {"num_consts": len(consts), "num_carry": len(carry)},
        jaxpr=low.closed,
    )
    n = params["num_carry"]
    rows = [aval.with_leading_axis(params["length"]) for aval in low.out_avals[n:]]
    return hi_lowering.raise_values([*low.out_avals[:n], *rows], outs)


def _check_rows(low: hi_lowering.LowProgram, first: int, xs: Sequence[Any]) -> None:
    """Raises TypeError where rows of a high type are not rows of its arrays."""
    for aval, x in zip(low.closed.in_avals[first:], xs, strict=True):
        whole = inner_programs.aval_of(x)
        shape = whole.shape
        if not shape or shape[1:] != aval.shape:
            raise TypeError(
                "scan: arrays of a high type must have the steps along axis 0, and an "
                f"element's arrays the other axes, got {whole.short()} for rows of "
                f"{aval.short()}; see its lo_ty and dec_rank"
            )


def while_loop(*args: Any, **params: Any) -> Any:
    """The rule of `while_p.to_low`."""
    return _while_loop(while_p.bind, args, **params)


def bounded_while(*args: Any, **params: Any) -> Any:
    """The rule of `bounded_while_p.to_low`."""
    return _while_loop(bounded_while_p.bind, args, **params)


def _while_loop(
    bind: Any, args: Sequence[Any], *, cond_jaxpr: Any, body_jaxpr: Any, **params: Any
) -> Any:
    test, test_first = hi_lowering.lower_closed(cond_jaxpr)
    body, body_first = hi_lowering.lower_closed(body_jaxpr)
    parts = WhileParts(args, params)
    test_consts = [*test_first, *hi_lowering.lower_values(parts.cond_consts)]
    body_consts = [*body_first, *hi_lowering.lower_values(parts.body_consts)]
    outs = bind(
        *test_consts,
        *body_consts,
        *hi_lowering.lower_values(parts.carry),
        cond_jaxpr=test.closed,
        body_jaxpr=body.closed,
        **params | {"cond_nconsts": len(test_consts), "body_nconsts": len(body_consts)},
    )
    before = len(outs) - len(body.closed.out_avals)  # a bounded one counts its steps
    return [*outs[:before], *body.raise_results(outs[before:])]


def cond(index: Any, *operands: Any, branches: Any) -> Any:
    """The rule of `cond_p.to_low`."""
    programs, shared = inner_programs.share_consts(
        [(b.olympuspr, b.consts) for b in branches]
    )
    low = [hi_lowering.lower_program(b.olympuspr) for b in programs]
    closed, consts = inner_programs.share_consts(
        [(_open(one.closed.olympuspr, len(one.consts)), one.consts) for one in low]
    )
    outs = cond_p.bind(
        index,
        *consts,
        *hi_lowering.lower_values([*shared, *operands]),
        branches=tuple(closed),
    )
    return low[0].raise_results(outs)


def _open(program: ir.Olympuspr, n: int) -> ir.Olympuspr:
    """The program with its first inputs as constants."""
    return program.replace(constvars=program.invars[:n], invars=program.invars[n:])
