"""How states of checks pass through calls, branches and loops.

Each function is the field `checkify` of one operation: it replaces the programs that
the operation holds by programs that also compute a state, and joins what comes out with
the state of the program around. See `checkify.checks`, whose `Checks` the rules
get as `checks`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import ir
from olympus._src.core.primitive import takes_primitive
from olympus._src.interpreters import partial_eval
from olympus._src.programs import inner_programs, scan_operands


@takes_primitive
def call(p: Any, checks: Any, *args: Any, jaxpr: Any, **params: Any) -> list[Any]:
    """A program applied as one equation."""
    checked = checks.program(jaxpr)
    if checked is None:
        return p.bind(*args, jaxpr=jaxpr, **params)
    consts = [*checked.consts, *jaxpr.consts]
    if "donated_invars" in params:
        params["donated_invars"] = (False,) * len(consts) + params["donated_invars"]
    inner = ir.ClosedOlympuspr(ir.hoist_consts(checked.program))
    outs = p.bind(*consts, *args, jaxpr=inner, **params)
    checks.join_checked(checked, outs[: checked.size])
    return outs[checked.size :]


@takes_primitive
def cond(p: Any, checks: Any, index: Any, *operands: Any, branches: Any) -> list[Any]:
    """Each branch returns the state of all of them; those not taken add nothing."""
    programs = [checks.program(branch) for branch in branches]
    if all(checked is None for checked in programs):
        return p.bind(index, *operands, branches=branches)
    sites = [site for checked in programs if checked for site in checked.sites]
    in_avals = [avals_.aval_of(x) for x in operands]
    traced, offset = [], 0
    for branch, checked in zip(branches, programs, strict=True):
        run = _branch(checks, branch, checked, sites, offset)
        traced.append(_trace(run, branch, in_avals))
        offset += len(checked.sites) if checked else 0
    closed, consts = inner_programs.share_consts(traced)
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
    info = inner_programs.forget_argument_names(closed.olympuspr.debug_info)
    info = info or ir.DebugInfo("checkify", "program")
    return partial_eval.trace_to_olympuspr(run, in_avals, info)


@takes_primitive
def scan(p: Any, checks: Any, *args: Any, **params: Any) -> list[Any]:
    """The state is one more carry."""
    return _scan(p.bind, checks, args, params)


@takes_primitive
def counted_scan(
    p: Any, checks: Any, count: Any, *args: Any, **params: Any
) -> list[Any]:
    """A scan whose first operand says how many steps to take."""
    return _scan(functools.partial(p.bind, count), checks, args, params)


def _scan(bind: Any, checks: Any, args: Any, params: Any) -> list[Any]:
    body = params["jaxpr"]
    checked = checks.program(body)
    if checked is None:
        return bind(*args, **params)
    parts, size = scan_operands.Parts(args, params), checked.size
    n = len(parts.consts)
    inner = body.in_avals
    start = checks.nothing_failed(checked.sites)

    def run(*values: Any) -> list[Any]:
        before, operands = values[n : n + size], values[n + size :]
        state, outs = checked.run(*body.consts, *values[:n], *operands)
        return [*checks.advance(before, state), *outs]

    in_avals = [*inner[:n], *map(avals_.aval_of, start), *inner[n:]]
    program, consts = _trace(run, body, in_avals)
    params = {
        **params,
        "jaxpr": ir.ClosedOlympuspr(ir.hoist_consts(program)),
        "num_carry": params["num_carry"] + size,
        "num_consts": len(consts) + n,
    }
    outs = bind(*consts, *parts.consts, *start, *parts.carry, *parts.xs, **params)
    checks.join_checked(checked, outs[:size])
    return outs[size:]


@takes_primitive
def while_loop(
    p: Any, checks: Any, *args: Any, before: int = 0, **params: Any
) -> list[Any]:
    """The state is one more carry; the body also runs the condition's checks.

    The condition is tested once before the body, and once after each run of it. Of the
    operation's results `before` many come before the carries.
    """
    loop = _While(checks, params)
    if not loop.sites:
        return p.bind(*args, **params)
    if params["cond_jaxpr"].out_avals[0].shape:
        raise ValueError(
            "checkify: a while_loop whose condition is mapped by vmap also runs for "
            "elements that are done, so their checks cannot be separated; put the "
            "vmap outside, as in vmap(checkify(f))"
        )
    n, m, size = loop.n_test, loop.n_body, checks.size_of(loop.sites)
    test_consts, body_consts, carry = args[:n], args[n : n + m], args[n + m :]
    first = loop.tested([*test_consts, *carry])[0]
    avals = [avals_.aval_of(x) for x in args]
    state_avals = [avals_.aval_of(x) for x in first]
    body, more_body = _trace(
        loop.run_body,
        params["body_jaxpr"],
        [*avals[: n + m], *state_avals, *avals[n + m :]],
    )
    test, more_test = _trace(
        loop.run_test,
        params["cond_jaxpr"],
        [*avals[:n], *state_avals, *avals[n + m :]],
    )
    test, _ = partial_eval.dce_olympuspr(test, [True], instantiate=True)
    params = {
        **params,
        "cond_jaxpr": ir.ClosedOlympuspr(ir.hoist_consts(test)),
        "cond_nconsts": len(more_test) + n,
        "body_jaxpr": ir.ClosedOlympuspr(ir.hoist_consts(body)),
        "body_nconsts": len(more_body) + n + m,
    }
    test_consts = (*more_test, *test_consts)
    body_consts = (*more_body, *args[: n + m])
    outs = p.bind(*test_consts, *body_consts, *first, *carry, **params)
    state = outs[before : before + size]
    checks.join(state[0], loop.sites, state[1:])
    return outs[:before] + outs[before + size :]


class _While:
    """The programs of a loop, with a state before the carry.

    Attributes:
      sites: what may fail in either.
      n_test, n_body: how many constants each takes.
    """

    def __init__(self, checks: Any, params: Any) -> None:
        self._checks = checks
        self._body, self._test = params["body_jaxpr"], params["cond_jaxpr"]
        self._in_body = checks.program(self._body)
        self._in_test = checks.program(self._test)
        body_sites = self._in_body.sites if self._in_body else ()
        test_sites = self._in_test.sites if self._in_test else ()
        self.sites = [*body_sites, *test_sites]
        self.n_test, self.n_body = params["cond_nconsts"], params["body_nconsts"]

    def tested(self, values: Sequence[Any]) -> tuple[list[Any], Any]:
        """The state of one test of the condition, and its result."""
        if self._in_test is None:
            outs = ir.program_as_function(self._test)(*values)
            return self._checks.nothing_failed(self.sites), outs[0]
        state, (pred,) = self._in_test.run(*self._test.consts, *values)
        offset = len(self.sites) - len(self._in_test.sites)
        return self._widen(state, self._in_test, offset), pred

    def _widen(self, state: Any, checked: Any, offset: int) -> list[Any]:
        return self._checks.widen(state, checked.sites, self.sites, offset)

    def run_body(self, *values: Any) -> list[Any]:
        """Takes both programs' constants, the state and the carry."""
        size, ends = self._checks.size_of(self.sites), self.n_test + self.n_body
        consts, state = values[:ends], values[ends : ends + size]
        inputs = [*consts[self.n_test :], *values[ends + size :]]
        if self._in_body is None:
            new = ir.program_as_function(self._body)(*inputs)
            state = self._checks.advance(state, None)
        else:
            state_in_body, new = self._in_body.run(*self._body.consts, *inputs)
            state_in_body = self._widen(state_in_body, self._in_body, 0)
            state = self._checks.advance(state, state_in_body)
        if self._in_test is not None:
            n_carry = len(values) - ends - size
            tested, _ = self.tested([*consts[: self.n_test], *new[:n_carry]])
            state = self._checks.merge(state, tested)
        return [*state, *new]

    def run_test(self, *values: Any) -> list[Any]:
        """Takes the condition's constants, the state and the carry."""
        carry = values[self.n_test + self._checks.size_of(self.sites) :]
        return [self.tested([*values[: self.n_test], *carry])[1]]


@takes_primitive
def solver(
    p: Any, checks: Any, *args: Any, const_lengths: Any, jaxprs: Any
) -> list[Any]:
    """A root or a linear solve: the state is one more result, after the solution."""
    method = jaxprs.solve
    checked = checks.program(method)
    if checked is None:
        return p.bind(*args, const_lengths=const_lengths, jaxprs=jaxprs)

    def run(*values: Any) -> list[Any]:
        state, outs = checked.run(*method.consts, *values)
        return [*outs, *state]

    new = ir.ClosedOlympuspr(*_trace(run, method, method.in_avals))
    outs = p.bind(*args, const_lengths=const_lengths, jaxprs=jaxprs._replace(solve=new))
    size = len(method.out_avals)
    checks.join_checked(checked, outs[size:])
    return outs[:size]
