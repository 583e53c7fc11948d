"""How states of checks pass through calls, branches and loops.

Each function is the field `checkify` of one operation: it replaces the programs that
the operation holds by programs that also compute a state, and joins what comes out with
the state of the program around. See `higher_order.checks`, whose `Checks` the rules
get as `checks`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import ir
from olympus._src.higher_order import programs, scan_parts
from olympus._src.interpreters import partial_eval


def call(p: Any, checks: Any, *args: Any, olympuspr: Any, **params: Any) -> list[Any]:
    """A program applied as one equation."""
    checked = checks.program(olympuspr)
    if checked is None:
        return p.bind(*args, olympuspr=olympuspr, **params)
    consts = [*checked.consts, *olympuspr.consts]
    if "donated_invars" in params:
        params["donated_invars"] = (False,) * len(consts) + params["donated_invars"]
    inner = ir.ClosedOlympuspr(ir.hoist_consts(checked.program))
    outs = p.bind(*consts, *args, olympuspr=inner, **params)
    checks.join_checked(checked, outs[: checked.size])
    return outs[checked.size :]


def cond(p: Any, checks: Any, index: Any, *operands: Any, branches: Any) -> list[Any]:
    """Each branch returns the state of all of them; those not taken add nothing."""
    found = [checks.program(branch) for branch in branches]
    if all(checked is None for checked in found):
        return p.bind(index, *operands, branches=branches)
    sites = [site for checked in found if checked for site in checked.sites]
    in_avals = [avals_.aval_of(x) for x in operands]
    traced, offset = [], 0
    for branch, checked in zip(branches, found, strict=True):
        run = _branch(checks, branch, checked, sites, offset)
        traced.append(_trace(run, branch, in_avals))
        offset += len(checked.sites) if checked else 0
    closed, consts = programs.share_consts(traced)
    outs = p.bind(index, *consts, *operands, branches=tuple(closed))
    size = checks.size_of(sites)
    checks.join(outs[0], sites, outs[1:size])
    return outs[size:]


def _branch(
    checks: Any, branch: Any, checked: Any, sites: Any, offset: int
) -> Callable[..., list[Any]]:
    """One branch as a function that returns the state of all `sites`."""

    def run(*args: Any) -> list[Any]:
        if checked is None:
            outs = ir.eval_olympuspr(branch.olympuspr, branch.consts, *args)
            return [*checks.nothing_failed(sites), *outs]
        state, outs = checked.run(*branch.consts, *args)
        return [*checks.widen(state, checked.sites, sites, offset), *outs]

    return run


def _trace(run: Any, closed: Any, in_avals: Sequence[Any]) -> tuple[Any, list[Any]]:
    info = programs.unnamed(closed.olympuspr.debug_info)
    info = info or ir.DebugInfo("checkify", "program")
    return partial_eval.trace_to_olympuspr(run, in_avals, info)


def scan(p: Any, checks: Any, *args: Any, **params: Any) -> list[Any]:
    """The state is one more carry."""
    return _scan(p.bind, checks, args, params)


def counted_scan(
    p: Any, checks: Any, count: Any, *args: Any, **params: Any
) -> list[Any]:
    """A scan whose first operand says how many steps to take."""
    return _scan(functools.partial(p.bind, count), checks, args, params)


def _scan(bind: Any, checks: Any, args: Any, params: Any) -> list[Any]:
    body = params["olympuspr"]
    checked = checks.program(body)
    if checked is None:
        return bind(*args, **params)
    parts, size = scan_parts.Parts(args, params), checked.size
    n = len(parts.consts)
    inner = body.in_avals
    start = checks.nothing_failed(checked.sites)

    def run(*values: Any) -> list[Any]:
        before, rest = values[n : n + size], values[n + size :]
        state, outs = checked.run(*body.consts, *values[:n], *rest)
        return [*checks.merge(before, state), *outs]

    in_avals = [*inner[:n], *map(avals_.aval_of, start), *inner[n:]]
    program, consts = _trace(run, body, in_avals)
    params = {
        **params,
        "olympuspr": ir.ClosedOlympuspr(ir.hoist_consts(program)),
        "num_carry": params["num_carry"] + size,
        "num_consts": len(consts) + n,
    }
    outs = bind(*consts, *parts.consts, *start, *parts.carry, *parts.xs, **params)
    checks.join_checked(checked, outs[:size])
    return outs[size:]


def while_loop(
    p: Any, checks: Any, *args: Any, before: int = 0, **params: Any
) -> list[Any]:
    """The state is one more carry; the body also runs the condition's checks.

    The condition is tested once before the body, and once after each run of it. Of the
    operation's results `before` many come before the carries.
    """
    body, test = params["body_olympuspr"], params["cond_olympuspr"]
    in_body, in_test = checks.program(body), checks.program(test)
    if in_body is None and in_test is None:
        return p.bind(*args, **params)
    if test.out_avals[0].shape:
        raise ValueError(
            "checkify: a while_loop whose condition is mapped by vmap goes on for "
            "elements that are done, so its checks cannot be told apart; put the vmap "
            "outside, as in vmap(checkify(f))"
        )
    n, m = params["cond_nconsts"], params["body_nconsts"]
    test_consts, body_consts, carry = args[:n], args[n : n + m], args[n + m :]
    body_sites = in_body.sites if in_body else ()
    sites = [*body_sites, *(in_test.sites if in_test else ())]
    size = checks.size_of(sites)

    def tested(values: Sequence[Any]) -> tuple[list[Any], Any]:
        if in_test is None:
            run = ir.program_as_function(test)
            return checks.nothing_failed(sites), run(*values)[0]
        state, (pred,) = in_test.run(*test.consts, *values)
        return checks.widen(state, in_test.sites, sites, len(body_sites)), pred

    def run_body(*values: Any) -> list[Any]:
        own, rest = values[: n + m], values[n + m :]
        state, old = rest[:size], rest[size:]
        if in_body is None:
            new = ir.eval_olympuspr(body.olympuspr, body.consts, *own[n:], *old)
        else:
            found, new = in_body.run(*body.consts, *own[n:], *old)
            state = checks.merge(state, checks.widen(found, body_sites, sites, 0))
        if in_test is not None:
            state = checks.merge(state, tested([*own[:n], *new])[0])
        return [*state, *new]

    def run_test(*values: Any) -> list[Any]:
        return [tested([*values[:n], *values[n + size :]])[1]]

    first = tested([*test_consts, *carry])[0]
    avals = [avals_.aval_of(x) for x in args]
    state_avals = [avals_.aval_of(x) for x in first]
    new_body, new_body_consts = _trace(
        run_body, body, [*avals[: n + m], *state_avals, *avals[n + m :]]
    )
    new_test, new_test_consts = _trace(
        run_test, test, [*avals[:n], *state_avals, *avals[n + m :]]
    )
    new_test, _ = partial_eval.dce_olympuspr(new_test, [True], instantiate=True)
    outs = p.bind(
        *new_test_consts,
        *test_consts,
        *new_body_consts,
        *test_consts,
        *body_consts,
        *first,
        *carry,
        **{
            **params,
            "cond_olympuspr": ir.ClosedOlympuspr(ir.hoist_consts(new_test)),
            "cond_nconsts": len(new_test_consts) + n,
            "body_olympuspr": ir.ClosedOlympuspr(ir.hoist_consts(new_body)),
            "body_nconsts": len(new_body_consts) + n + m,
        },
    )
    state = outs[before : before + size]
    checks.join(state[0], sites, state[1:])
    return outs[:before] + outs[before + size :]


def solver(
    p: Any, checks: Any, *args: Any, const_lengths: Any, olympusprs: Any
) -> list[Any]:
    """A root or a linear solve: the state is one more result beside the solution."""
    method = olympusprs.solve
    checked = checks.program(method)
    if checked is None:
        return p.bind(*args, const_lengths=const_lengths, olympusprs=olympusprs)

    def run(*values: Any) -> list[Any]:
        state, outs = checked.run(*method.consts, *values)
        return [*outs, *state]

    new = ir.ClosedOlympuspr(*_trace(run, method, method.in_avals))
    outs = p.bind(
        *args, const_lengths=const_lengths, olympusprs=olympusprs._replace(solve=new)
    )
    size = len(method.out_avals)
    checks.join_checked(checked, outs[size:])
    return outs[:size]
