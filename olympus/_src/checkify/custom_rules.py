"""How states of checks leave functions with rules of users; see `checkify.checks`.

The state is computed beside the operation, by the function's program, and has no
derivative. The operation itself goes on with the function and its rules without their
checks, so that the rules apply as before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import ir
from olympus._src.core.primitive import takes_primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import ad, partial_eval
from olympus._src.lax import barriers


def apply(
    rule: str, quiet_rule: Callable[..., Callable[..., Any]]
) -> Callable[..., list[Any]]:
    """The field `checkify` of an operation that holds a function and a rule.

    Args:
      rule: the parameter that is the rule.
      quiet_rule: makes of a rule one without checks, by what makes an interpreter that
        takes them out.
    """

    @takes_primitive
    def checkify(p: Any, checks: Any, /, *args: Any, **params: Any) -> list[Any]:
        return _apply(p, checks, args, params, rule, quiet_rule)

    return checkify


def _apply(
    p: Any, checks: Any, args: Any, params: Any, rule: str, quiet_rule: Any
) -> list[Any]:
    closed = params["call_jaxpr"]
    if checks.of_users:
        quiet = quiet_rule(checks.only_of_users, params[rule])
        params[rule] = params[rule].derived(quiet)
    checked = checks.program(closed)
    if checked is None:
        return p.bind(*args, **params)
    state, _ = checked.run(*closed.consts, *map(barriers.stop_gradient, args))
    if checks.of_users:
        params["call_jaxpr"] = _quiet_program(checks, closed)
    outs = p.bind(*args, **params)
    checks.join_checked(checked, state)
    return outs


def _quiet_program(checks: Any, closed: ir.ClosedOlympuspr) -> ir.ClosedOlympuspr:
    """A program without its state, and without the operations only that needs."""
    checked = checks.only_of_users().program(closed)
    if checked is None:
        return closed
    program = checked.program
    used = [i >= checked.size for i in range(len(program.outvars))]
    smaller, _ = partial_eval.dce_olympuspr(program, used, instantiate=True)
    return ir.ClosedOlympuspr(smaller, checked.consts)


def _quietly(
    make: Callable[[], Any], name: str, fun: Callable[..., Any], values: Sequence[Any]
) -> list[Any]:
    """Results of a function of flat values, in which no check is made."""
    in_avals = [avals_.aval_of(x) for x in values]
    info = ir.DebugInfo("checkify", name)
    program, consts = partial_eval.trace_to_olympuspr(fun, in_avals, info)
    return make().evaluate(program, consts, *values)


def jvp_rule(make: Any, jvp: Any) -> Callable[..., Any]:
    """A rule of `custom_jvp_call` without checks."""

    def quiet(consts: Any, primals: Any, tangents: Any) -> Any:
        nonzero = [i for i, t in enumerate(tangents) if type(t) is not Zero]
        n, m = len(consts), len(consts) + len(primals)
        count = 0
        out_nonzero: list[int] = []

        def run(*values: Any) -> list[Any]:
            nonlocal count
            full_tangents = [ad.zero_tangent(x) for x in values[n:m]]
            for i, t in zip(nonzero, values[m:], strict=True):
                full_tangents[i] = t
            outs, out_tangents = jvp(values[:n], values[n:m], full_tangents)
            count = len(outs)
            out_nonzero[:] = [
                i for i, t in enumerate(out_tangents) if type(t) is not Zero
            ]
            return [*outs, *[out_tangents[i] for i in out_nonzero]]

        values = [*consts, *primals, *[tangents[i] for i in nonzero]]
        results = _quietly(make, repr(jvp), run, values)
        outs = results[:count]
        out_tangents: list[Any] = [ad.zero_tangent(x) for x in outs]
        for i, t in zip(out_nonzero, results[count:], strict=True):
            out_tangents[i] = t
        return outs, out_tangents

    return quiet


def forward_rule(make: Any, fwd: Any) -> Callable[..., Any]:
    """A rule of `custom_vjp_call` without checks, in its pullback neither."""

    def quiet(consts: Any, primals: Any, perturbed: Any) -> Any:
        n = len(consts)
        count, pullback = 0, None

        def run(*values: Any) -> list[Any]:
            nonlocal count, pullback  # the traced values must not outlive the trace
            outs, residuals, pullback = fwd(values[:n], values[n:], perturbed)
            count = len(outs)
            return [*outs, *residuals]

        values: Any = _quietly(make, repr(fwd), run, [*consts, *primals])
        derived: Any = pullback
        return (
            values[:count],
            values[count:],
            derived.derived(_quiet_back(make, derived)),
        )

    return quiet


def _quiet_back(make: Any, pullback: Any) -> Callable[..., Any]:
    def quiet(residuals: Any, cts: Any) -> list[Any]:
        n = len(residuals)
        nonzero = [i for i, ct in enumerate(cts) if type(ct) is not Zero]
        total: list[Any] = []

        def run(*values: Any) -> list[Any]:
            full_cts = [
                ct if type(ct) is Zero else Zero(avals_.aval_of(ct)) for ct in cts
            ]
            for i, ct in zip(nonzero, values[n:], strict=True):
                full_cts[i] = ct
            in_cts = pullback(values[:n], full_cts)
            there = [ct for ct in in_cts if ct is not None and type(ct) is not Zero]
            total[:] = [ct is not None and type(ct) is not Zero for ct in in_cts]
            return there

        values = [*residuals, *[cts[i] for i in nonzero]]
        results = iter(_quietly(make, repr(pullback), run, values))
        return [next(results) if there else None for there in total]

    return quiet


def vmap_rule(make: Any, rule: Any) -> Callable[..., Any]:
    """A rule of `custom_vmap_call` without checks."""

    def quiet(size: int, mapped: Sequence[bool], args: Sequence[Any]) -> Any:
        out_mapped: list[bool] = []

        def run(*values: Any) -> list[Any]:
            outs, out_mapped[:] = rule(size, mapped, list(values))
            return outs

        return _quietly(make, repr(rule), run, args), out_mapped

    return quiet
