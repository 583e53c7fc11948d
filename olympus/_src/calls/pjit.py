"""`pjit`: a program applied as one equation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.checkify import control_flow
from olympus._src.core import ir, trace
from olympus._src.core.primitive import LateRule, Primitive, as_abstract_says
from olympus._src.core.symbolic_values import Linear
from olympus._src.explanations import operations
from olympus._src.foundation import config, vocabulary
from olympus._src.interpreters import (
    ad,
    batching,
    compiled_programs,
    concrete_arrays,
    discharge,
    evaluate,
    lowered_programs,
    partial_eval,
    residuals,
)
from olympus._src.programs import (
    call_metadata,
    call_rules,
    inner_programs,
    rematerialization,
    series,
)
from olympus._src.sharding import contexts
from olympus._src.sharding.unspecified import UNSPECIFIED


def _abstract(*args: Any, jaxpr: ir.ClosedOlympuspr, **params: Any) -> Any:
    return jaxpr.out_avals


def _effects(*args: Any, jaxpr: ir.ClosedOlympuspr, **params: Any) -> Any:
    return jaxpr.effects


def _check(*args: Any, jaxpr: ir.ClosedOlympuspr, name: str, **params: Any) -> None:
    for position, (aval, expected) in enumerate(zip(args, jaxpr.in_avals, strict=True)):
        if aval.strip_weak_type() is not expected.strip_weak_type():
            raise TypeError(
                f"operand {position} of {name} has type {aval.short()}, its program "
                f"takes {expected.short()}"
            )


def _lower(
    ctx: Any,
    *operands: str,
    jaxpr: Any,
    name: str,
    metadata: call_metadata.CallMetadata | None = None,
    **params: Any,
) -> Any:
    if jaxpr.consts:
        consts = [
            ctx.block.constant(c, v.aval)
            for c, v in zip(jaxpr.consts, jaxpr.olympuspr.constvars, strict=True)
        ]
        operands = (*consts, *operands)
    program = jaxpr.olympuspr.derived("hoisted", ir.hoist_consts)
    attributes = () if metadata is None else metadata.attributes
    return ctx.module.call(ctx, program, name, operands, attributes)


def _batch(axis: Any, args: Any, dims: Any, *, jaxpr: Any, **params: Any) -> Any:
    batched, out_dims = batching.batch_olympuspr(jaxpr, axis, tuple(dims))
    if axis.active is not None:  # it may be among the constants, and traced
        args = [*batched.consts, *args]
        batched = ir.ClosedOlympuspr(ir.hoist_consts(batched.olympuspr))
        params["donated_invars"] = (False,) * len(args)
    return pjit_p.bind(*args, jaxpr=batched, **params), out_dims


def _jvp(primals: Any, tangents: Any, *, jaxpr: Any, **params: Any) -> Any:
    nonzero = call_rules.nonzero_flags(tangents)
    program, out_nonzero = jaxpr.olympuspr.derived(
        ("jvp", nonzero), lambda p: ad.jvp_olympuspr(p, nonzero)
    )
    slopes = call_rules.nonzero_values(tangents)
    params["donated_invars"] = (False,) * (len(primals) + len(slopes))
    outs = pjit_p.bind(*jaxpr.consts, *primals, *slopes, jaxpr=program, **params)
    n = len(out_nonzero)
    avals = jaxpr.out_avals
    return outs[:n], call_rules.fill_zeros(out_nonzero, outs[n:], avals)


def _linearize(primals: Any, tangents: Any, *, jaxpr: Any, **params: Any) -> Any:
    """Runs the program once, keeping what its derivative needs."""
    nonzero = call_rules.nonzero_flags(tangents)
    forward, source, linear, out_zeros = jaxpr.olympuspr.derived(
        ("linearized", nonzero, trace.current.pushes_forward),
        lambda p: _split_program(p, nonzero),
    )
    n = len(jaxpr.out_avals)
    params["donated_invars"] = (False,) * len(primals)
    operands = [*jaxpr.consts, *primals]
    outs = pjit_p.bind(*operands, jaxpr=forward, **params)
    residual_values = source.find([*forward.consts, *operands], outs[n:])
    slopes = call_rules.nonzero_values(tangents)
    params = call_metadata.derive(params)
    params["donated_invars"] = (False,) * (len(residual_values) + len(slopes))

    def apply() -> list[Any]:
        out_slopes = iter(
            pjit_p.bind(*residual_values, *slopes, jaxpr=linear, **params)
        )
        return [next(out_slopes) if z is None else z for z in out_zeros]

    return outs[:n], apply


def _split_program(program: ir.Olympuspr, nonzero: Sequence[bool]) -> tuple[Any, ...]:
    """The forward program, where its residuals are, and the linear program."""
    forward, linear, zeros = ad.linearize_olympuspr(program, nonzero)
    return *residuals.forward_sources(forward, len(program.outvars)), linear, zeros


def _transpose(cts: Any, *args: Any, jaxpr: Any, **params: Any) -> Any:
    linear = tuple([type(x) is Linear for x in args])
    nonzero = call_rules.nonzero_flags(cts)
    program, in_nonzero = jaxpr.olympuspr.derived(
        ("transposed", linear, nonzero),
        lambda p: ad.transpose_olympuspr(p, linear, nonzero),
    )
    known = [x for x in args if type(x) is not Linear]
    nonzero_cts = call_rules.nonzero_values(cts)
    params["donated_invars"] = (False,) * (len(known) + len(nonzero_cts))
    in_cts = pjit_p.bind(*known, *nonzero_cts, jaxpr=program, **params)
    return inner_programs.assign_cotangents(args, in_nonzero, in_cts)


def _discharge(
    context: discharge.Context, args: Any, *, jaxpr: Any, **params: Any
) -> Any:
    own = [*jaxpr.consts, *args]
    context = context.with_consts(jaxpr.consts)
    context.check_distinct(params["name"], jaxpr.olympuspr)
    without = discharge.discharge(jaxpr.olympuspr, context.keeps_rules)
    operands = [*without.consts, *own]
    params["donated_invars"] = (False,) * len(operands)
    outs = pjit_p.bind(*operands, jaxpr=without.closed, **params)
    outs, last = without.split(outs)
    return outs, without.last_of(last, len(own))[len(jaxpr.consts) :]


def _dce(used: list[bool], eqn: ir.Eqn) -> Any:
    if "in_layouts" not in eqn.params:
        return call_rules.drop_unused(used, eqn, ("donated_invars",))
    return call_rules.drop_unused(used, eqn, _BY_OPERAND, _BY_RESULT)


def _partial_eval(trace_: Any, *tracers: Any, jaxpr: Any, **params: Any) -> Any:
    """Applies what is known of the program, where it is known in part."""
    known = [x.is_known() for x in tracers]
    if any(known) and not all(known):
        with trace.set_current(trace_):
            return ir.eval_olympuspr(jaxpr.olympuspr, jaxpr.consts, *tracers)
    return trace_.default_process_primitive(pjit_p, tracers, {"jaxpr": jaxpr, **params})


def _print(eqn: ir.Eqn) -> Any:
    shown = ("metadata", "name", "jaxpr")
    return [(k, eqn.params[k]) for k in shown if k in eqn.params]


def run(*args: Any, jaxpr: Any, name: str, **params: Any) -> Any:
    """Runs the program as one compiled unit; replays outside of jit do so too."""
    if config.jit_disabled():
        return ir.eval_olympuspr(jaxpr.olympuspr, jaxpr.consts, *args)
    program = jaxpr.olympuspr
    used = None
    if concrete_arrays.several_devices():
        used = partial_eval.used_inputs(program)
    device = concrete_arrays.common_device(args, used)
    key = ("compiled", device, config.trace_context())

    def build(program: ir.Olympuspr) -> Any:
        hoisted = ir.hoist_consts(program)
        shown = {"jaxpr": jaxpr, **params}
        avals = hoisted.in_avals
        with operations.noted_application("jit", avals, shown, device) as note:
            lowered = lowered_programs.lower(hoisted, (), name=name, device=device)
            return note.adopt(lowered, compiled_programs.build(lowered))

    compiled = program.derived(key, build)
    # Constants are operands: what is compiled is kept with the open program, which
    # others may close with other values. They do not say where it runs.
    args = (*jaxpr.consts, *args)
    used = None if used is None else [True] * len(jaxpr.consts) + used
    buffers = concrete_arrays.on_device(args, device, used)
    if config.debug_key_reuse.value:
        return evaluate.follow_run(compiled, args, buffers)
    return compiled.run(buffers)


# Parameters that have an entry for each operand or result, where equations have them.
_BY_OPERAND = ("donated_invars", "in_shardings", "in_layouts")
_BY_RESULT = ("out_shardings", "out_layouts")


def _list_jax_parameters(n_operands: int, n_results: int) -> dict[str, Any]:
    """Parameters of JAX's for what here other equations say: constraints on values."""
    return {
        "in_shardings": (UNSPECIFIED,) * n_operands,
        "out_shardings": (UNSPECIFIED,) * n_results,
        "in_layouts": (None,) * n_operands,
        "out_layouts": (None,) * n_results,
        "ctx_mesh": contexts.get_abstract_mesh(),
    }


class _Jit(Primitive):
    """The primitive of `jit`, which JAX's libraries know by JAX's name.

    Prints have one name wherever a program runs. Interpreters of JAX's programs read
    all of JAX's parameters.
    """

    def bind(self, *args: Any, **params: Any) -> Any:
        if vocabulary.is_jax():
            params |= _list_jax_parameters(len(args), len(params["jaxpr"].out_avals))
        return super().bind(*args, **params)

    @property
    def name(self) -> str:
        return "jit" if vocabulary.is_jax() else str(self.__dict__["name"])

    @name.setter
    def name(self, name: str) -> None:
        self.__dict__["name"] = name

    def printed_name(self, eqn: Any) -> str:
        del eqn
        return str(self.__dict__["name"])


pjit_p = _Jit(
    "pjit",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=_abstract,
    key_reuse=inner_programs.follow_keys,
    effects=_effects,
    check=_check,
    lower=_lower,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    dce=_dce,
    partial_eval=_partial_eval,
    print=_print,
    impl=run,
    is_call=True,
    needs_full_build=True,
    checkify=control_flow.call,
    discharge=_discharge,
    to_low=LateRule("calls.hi_lowering", "call"),
    taylor=series.call,
    split=rematerialization.call,
)


def bind_program(
    program: ir.Olympuspr,
    consts: list[Any],
    args: list[Any],
    *,
    name: str,
    donated: tuple[bool, ...] = (),
    keep_unused: bool = False,
    inline: bool = False,
    compiler_options: tuple[Any, ...] = (),
    **marks: Any,
) -> list[Any]:
    """Applies a traced function in the current interpreter; marks are parameters."""
    if inline:
        return ir.eval_olympuspr(program, consts, *args)
    hoisted = program.derived(
        "closed", lambda p: ir.ClosedOlympuspr(p.derived("hoisted", ir.hoist_consts))
    )
    return pjit_p.bind(
        *consts,
        *args,
        jaxpr=hoisted,
        name=name,
        donated_invars=(False,) * len(consts) + (donated or (False,) * len(args)),
        keep_unused=keep_unused,
        inline=False,
        compiler_options_kvs=compiler_options,
        **marks,
    )
