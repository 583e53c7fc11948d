"""`remat2`: a program whose derivative computes its intermediate values again.

Its value is that of the program. Linearised, the program runs once and passes on only
its inputs and what the policy keeps; all that the derivative needs beside is computed
again by the one equation that is left on the tape, and by its transpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.calls import pjit as jit_
from olympus._src.core import effects, ir, trace
from olympus._src.core.primitive import LateRule, Primitive, as_abstract_says
from olympus._src.core.symbolic_values import Linear
from olympus._src.foundation import config, errors
from olympus._src.interpreters import (
    ad,
    batching,
    concrete_arrays,
    discharge,
    partial_eval,
)
from olympus._src.programs import call_rules, inner_programs, series
from olympus._src.remat import lowering, policies, splitting

Flags = bool | tuple[bool, ...]


def bind(
    program: ir.Olympuspr,
    args: Sequence[Any],
    *,
    policy: policies.Policy | None,
    prevent_cse: Flags,
    differentiated: bool = False,
) -> list[Any]:
    """Applies a program without constants as one equation."""
    if isinstance(prevent_cse, tuple) and len(set(prevent_cse)) == 1:
        prevent_cse = prevent_cse[0]
    return remat_p.bind(
        *args,
        differentiated=differentiated,
        jaxpr=program,
        policy=policy,
        prevent_cse=prevent_cse,
    )


def _join_flags(
    prevent_cse: Flags, first: int, old: Sequence[bool], more: int
) -> Flags:
    """The setting for new operands, some of the old ones, and more new ones."""
    if isinstance(prevent_cse, bool):
        return prevent_cse
    remaining = [p for p, keep in zip(prevent_cse, old, strict=True) if keep]
    return (*[True] * first, *remaining, *[True] * more)


def _without_constants(closed: ir.ClosedOlympuspr) -> tuple[ir.Olympuspr, list[Any]]:
    closed, consts = inner_programs.absorb(closed)
    return closed.olympuspr, consts


# -- what it computes ------------------------------------------------------------------


def _abstract(*args: Any, jaxpr: ir.Olympuspr, **params: Any) -> Any:
    return jaxpr.out_avals


def _effects(*args: Any, jaxpr: ir.Olympuspr, **params: Any) -> Any:
    return jaxpr.effects


def _check(*args: Any, jaxpr: ir.Olympuspr, **params: Any) -> None:
    inner_programs.check_operand_types("checkpoint", args, jaxpr.in_avals)


def _lower(
    ctx: Any,
    *operands: str,
    jaxpr: ir.Olympuspr,
    policy: Any,
    prevent_cse: Flags,
    differentiated: bool,
) -> Any:
    flags = prevent_cse
    if isinstance(flags, bool):
        flags = (flags,) * len(operands)
    if differentiated and any(flags):
        return lowering.call_apart(ctx, operands, jaxpr, flags)
    return ctx.module.call(ctx, jaxpr, "checkpoint", operands)


def _impl(
    *args: Any, jaxpr: ir.Olympuspr, differentiated: bool = False, **params: Any
) -> list[Any]:
    if any(effect.raises_at_once for effect in jaxpr.effects):
        outs = ir.eval_olympuspr(jaxpr, (), *args)
        return [concrete_arrays.as_array(x) for x in outs]
    closed = jaxpr.derived("closed", ir.ClosedOlympuspr)
    if differentiated and config.debug_key_reuse.value:
        with config.debug_key_reuse(False):  # keys are used again, see `_follow_keys`
            return jit_.run(*args, jaxpr=closed, name="checkpoint")
    return jit_.run(*args, jaxpr=closed, name="checkpoint")


# -- transformations -------------------------------------------------------------------


def _batch(axis: Any, args: Any, dims: Any, *, jaxpr: Any, **params: Any) -> Any:
    closed = jaxpr.derived("closed", ir.ClosedOlympuspr)
    batched, out_dims = batching.batch_olympuspr(closed, axis, tuple(dims))
    program, consts = _without_constants(batched)
    params["prevent_cse"] = _join_flags(
        params["prevent_cse"], len(consts), [True] * len(args), 0
    )
    return bind(program, [*consts, *args], **params), out_dims


def _jvp(primals: Any, tangents: Any, *, jaxpr: Any, **params: Any) -> Any:
    nonzero = call_rules.nonzero_flags(tangents)
    closed, out_nonzero = jaxpr.derived(
        ("jvp", nonzero), lambda p: ad.jvp_olympuspr(p, nonzero)
    )
    program, consts = _without_constants(closed)
    params["prevent_cse"] = _join_flags(
        params["prevent_cse"], len(consts), [True] * len(primals), sum(nonzero)
    )
    slopes = call_rules.nonzero_values(tangents)
    outs = bind(program, [*consts, *primals, *slopes], **params)
    n = len(out_nonzero)
    avals = jaxpr.out_avals
    return outs[:n], call_rules.fill_zeros(out_nonzero, outs[n:], avals)


class _Linearized:
    """A program's derivative, with what computes again what it needs.

    Attributes:
      consts: values that come first among the inputs of `split.once`.
      split: the program that runs once, and what it passes on.
      program: takes that, some inputs, and tangents; returns tangents.
      zeros: for each result a Zero, or None where its tangent is nonzero.
    """

    __slots__ = ("consts", "program", "split", "zeros")

    def __init__(self, program: ir.Olympuspr, nonzero: Any, policy: Any) -> None:
        forward, tangent, self.zeros = ad.linearize_olympuspr(program, nonzero)
        whole, self.consts = _without_constants(forward)
        self.split = splitting.split(whole, len(program.outvars), policy)
        again = self.split.again
        n, n_residuals = len(again.invars), len(again.outvars)

        def run(*args: Any) -> list[Any]:
            residuals = ir.eval_olympuspr(again, (), *args[:n])
            return ir.eval_olympuspr(
                tangent.olympuspr, tangent.consts, *residuals, *args[n:]
            )

        in_avals = again.in_avals + tangent.in_avals[n_residuals:]
        info = inner_programs.forget_argument_names(program.debug_info)
        info = info or ir.DebugInfo("linearize", "checkpoint")
        self.program, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
        if consts:
            raise errors.InternalError("a linear program made constants")


def _linearize(primals: Any, tangents: Any, *, jaxpr: Any, **params: Any) -> Any:
    effects.check_allowed("checkpoint", jaxpr.effects, "in_remat")
    nonzero, policy = call_rules.nonzero_flags(tangents), params["policy"]
    linearized = jaxpr.derived(
        ("linearized", nonzero, policy, trace.current.pushes_forward),
        lambda p: _Linearized(p, nonzero, policy),
    )
    split = linearized.split
    inputs = [*linearized.consts, *primals]
    outs = _run_once(split.once, inputs, params)
    n = len(jaxpr.outvars)
    operands = outs[n:] + [x for x, u in zip(inputs, split.inputs, strict=True) if u]
    slopes = call_rules.nonzero_values(tangents)
    flags = params["prevent_cse"]
    if not split.again.eqns:
        flags = False  # nothing is computed again
    elif isinstance(flags, tuple):
        flags = (*[True] * len(linearized.consts), *flags)
    flags = _join_flags(flags, split.n_kept, split.inputs, len(slopes))

    def apply() -> list[Any]:
        out_slopes = iter(
            bind(
                linearized.program,
                [*operands, *slopes],
                policy=policy,
                prevent_cse=flags,
                differentiated=True,
            )
        )
        return [next(out_slopes) if z is None else z for z in linearized.zeros]

    return outs[:n], apply


def _run_once(program: ir.Olympuspr, args: list[Any], params: Any) -> list[Any]:
    """What is not computed again: staged as it is, or run as one compiled program."""
    if params["differentiated"]:
        # The derivative of what is computed again stays apart from the first time.
        params = {**params, "prevent_cse": True}
        return bind(program, args, **params)
    if trace.current.trace is trace.base():
        return _impl(*args, jaxpr=program)
    return ir.eval_olympuspr(program, (), *args)


def _transpose(cts: Any, *args: Any, jaxpr: Any, **params: Any) -> Any:
    linear = tuple([type(x) is Linear for x in args])
    nonzero = call_rules.nonzero_flags(cts)
    program, consts, in_nonzero = jaxpr.derived(
        ("transposed", linear, nonzero),
        lambda p: _transpose_program(p, linear, nonzero),
    )
    known = [x for x in args if type(x) is not Linear]
    nonzero_cts = call_rules.nonzero_values(cts)
    params["prevent_cse"] = _join_flags(
        params["prevent_cse"], len(consts), [not f for f in linear], len(nonzero_cts)
    )
    in_cts = bind(program, [*consts, *known, *nonzero_cts], **params)
    return inner_programs.assign_cotangents(args, in_nonzero, in_cts)


def _transpose_program(program: ir.Olympuspr, linear: Any, flowing: Any) -> Any:
    closed, in_nonzero = ad.transpose_olympuspr(program, linear, flowing)
    transposed, consts = _without_constants(closed)
    needed = [True] * len(transposed.outvars)
    small, _ = partial_eval.dce_olympuspr(transposed, needed, instantiate=True)
    return small, consts, in_nonzero


def _dce(used: list[bool], eqn: ir.Eqn) -> Any:
    """Drops unused results, and then unused operands."""
    program, params = eqn.params["jaxpr"], eqn.params
    smaller, used_inputs = program.derived(
        ("dce", tuple(used)), lambda p: partial_eval.dce_olympuspr(p, used)
    )
    if not smaller.eqns and not smaller.outvars:
        return [False] * len(eqn.invars), None
    new = eqn.replace(
        invars=[v for v, k in zip(eqn.invars, used_inputs, strict=True) if k],
        outvars=[v for v, u in zip(eqn.outvars, used, strict=True) if u],
        params={
            **params,
            "jaxpr": smaller,
            "prevent_cse": _join_flags(params["prevent_cse"], 0, used_inputs, 0),
        },
        effects=smaller.effects,
    )
    return used_inputs, new


def _discharge(
    context: discharge.Context, args: Any, *, jaxpr: ir.Olympuspr, **params: Any
) -> Any:
    context.check_distinct("checkpoint", jaxpr)
    without = discharge.discharge(jaxpr, context.keeps_rules)
    n = len(without.consts)
    params["prevent_cse"] = _join_flags(params["prevent_cse"], n, [True] * len(args), 0)
    outs = bind(without.closed.olympuspr, [*without.consts, *args], **params)
    outs, last = without.split(outs)
    return outs, without.last_of(last, len(args))


def _follow_keys(uses: Any, eqn: ir.Eqn, operands: Any) -> Any:
    """A derivative uses again what was used, with the same numbers."""
    if eqn.params["differentiated"]:
        return None
    return inner_programs.follow_keys(uses, eqn, operands)


def _print(eqn: ir.Eqn) -> Any:
    params = dict(eqn.params, policy=policies.format_policy(eqn.params["policy"]))
    return sorted(params.items())


def _checkify(checks: Any, *args: Any, jaxpr: ir.Olympuspr, **params: Any) -> Any:
    """The program with its checks, whose state is computed once more if it is."""
    closed = jaxpr.derived("closed", ir.ClosedOlympuspr)
    checked = checks.program(closed)
    if checked is None:
        return bind(jaxpr, args, **params)
    n = len(checked.consts)
    params["prevent_cse"] = _join_flags(params["prevent_cse"], n, [True] * len(args), 0)
    program = ir.hoist_consts(checked.program)
    outs = bind(program, [*checked.consts, *args], **params)
    checks.join_checked(checked, outs[: checked.size])
    return outs[checked.size :]


remat_p: Primitive = Primitive(
    "remat2",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=_abstract,
    key_reuse=_follow_keys,
    effects=_effects,
    check=_check,
    lower=_lower,
    impl=_impl,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    dce=_dce,
    print=_print,
    checkify=_checkify,
    discharge=_discharge,
    to_low=LateRule("remat.hi_lowering", "remat"),
    needs_full_build=True,
    taylor=series.call,
)
