"""`call` and `closed_call`: a program applied as one equation, for libraries.

The parameter `call_jaxpr` is the program. Derivatives and batches are those of its
operations. Olympus's own calls are `pjit`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import ir, trace
from olympus._src.core.primitive import Primitive, as_abstract_says
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.foundation import source_info
from olympus._src.interpreters import ad, batching, partial_eval
from olympus._src.programs import call_rules

current = trace.current


def _close(program: Any) -> ir.ClosedOlympuspr:
    return ir.ClosedOlympuspr(program) if type(program) is ir.Olympuspr else program


def run(*args: Any, call_jaxpr: Any, **params: Any) -> list[Any]:
    """The results of the program, by its operations."""
    closed = _close(call_jaxpr)
    return ir.eval_olympuspr(closed.olympuspr, closed.consts, *args)


def _abstract(*args: Any, call_jaxpr: Any, **params: Any) -> Any:
    return call_jaxpr.out_avals


def _effects(*args: Any, call_jaxpr: Any, **params: Any) -> Any:
    return call_jaxpr.effects


def _lower(ctx: Any, *operands: str, call_jaxpr: Any, **params: Any) -> Any:
    closed = _close(call_jaxpr)
    rows = zip(closed.consts, closed.olympuspr.constvars, strict=True)
    consts = [ctx.block.constant(c, v.aval) for c, v in rows]
    program = closed.olympuspr.derived("hoisted", ir.hoist_consts)
    name = params.get("name", ctx.eqn.primitive.name)
    return ctx.module.call(ctx, program, name, (*consts, *operands))


def _jvp(primals: Any, tangents: Any, *, call_jaxpr: Any, **params: Any) -> Any:
    def call(*xs: Any) -> list[Any]:
        return run(*xs, call_jaxpr=call_jaxpr)

    return ad.jvp(call, primals, tangents)


def _batch(axis: Any, args: Any, dims: Any, *, call_jaxpr: Any, **params: Any) -> Any:
    def call(*xs: Any) -> list[Any]:
        return run(*xs, call_jaxpr=call_jaxpr)

    return batching.batch(call, axis, args, dims)


def transpose(
    cts: Sequence[Any], *args: Any, call_jaxpr: Any, **params: Any
) -> list[Any]:
    """Cotangents of the operands that are not known, and None for the others."""
    closed = _close(call_jaxpr)
    program = closed.olympuspr
    rows = list(zip(program.invars, args, strict=True))
    known = [(v, x) for v, x in rows if type(x) is not Linear]
    linear = [v for v, x in rows if type(x) is Linear]
    tape = program.replace(
        constvars=[*program.constvars, *[v for v, _ in known]], invars=linear
    )
    values = [*closed.consts, *[x for _, x in known]]
    in_cts = iter(ad.backward_pass(tape, values, cts))
    return [next(in_cts) if type(x) is Linear else None for x in args]


def dce_olympuspr_call_rule(
    used_outputs: list[bool], live_ins: Any, eqn: ir.Eqn | None = None
) -> tuple[list[bool], Any]:
    """The rule `dce` of calls for libraries: `(used_outputs, live_ins, eqn)`.

    Args:
      used_outputs: which results are used.
      live_ins: which refs among the operands are read later; or the equation, where it
        is the last argument, as in JAX 0.10.
      eqn: the equation.

    Returns:
      Which operands the equation still needs, and the equation, None for no more.
    """
    if eqn is None:
        return _dce(used_outputs, live_ins)
    return _dce(used_outputs, eqn, live_ins)


def _dce(
    used_outputs: Sequence[bool], eqn: ir.Eqn, live_ins: bool | Sequence[bool] = True
) -> tuple[list[bool], Any]:
    """Drops unused results of a call, and then unused operands."""
    held = eqn.params["call_jaxpr"]
    closed = _close(held)
    if not any(used_outputs) and not eqn.effects:
        return [False] * len(eqn.invars), None
    small, used_inputs = partial_eval.dce_olympuspr(
        closed.olympuspr, used_outputs, live_inputs=live_ins
    )
    program: Any = small
    if type(held) is ir.ClosedOlympuspr:
        program = ir.ClosedOlympuspr(small, held.consts)
    smaller = eqn.replace(
        invars=call_rules.select(eqn.invars, used_inputs),
        outvars=call_rules.select(eqn.outvars, used_outputs),
        params={**eqn.params, "call_jaxpr": program},
        effects=small.effects,
    )
    return used_inputs, smaller


def dce_olympuspr_closed_call_rule(
    used_outputs: list[bool], live_ins: Any, eqn: ir.Eqn | None = None
) -> tuple[list[bool], Any]:
    """`dce_olympuspr_call_rule`: calls with and without constants have one rule."""
    return dce_olympuspr_call_rule(used_outputs, live_ins, eqn)


class CallPrimitive(Primitive):
    """An operation that is applied to a program, or to a wrapped function first.

    A trace that records a program turns the function into one. Others call it, so that
    Python's control flow works on concrete values.
    """

    __slots__ = ()

    def bind(self, *args: Any, **params: Any) -> Any:
        if not args or not hasattr(args[0], "call_wrapped"):
            return super().bind(*args, **params)
        fun, *operands = args
        t = current.trace
        if t.is_adopted:
            return t.process_call(self, fun, operands, params)
        if type(t) is not partial_eval.DynamicOlympusprTrace:
            return fun.call_wrapped(*operands)
        name = source_info.function_name(fun.f)
        info = fun.debug_info or ir.DebugInfo(self.name, name)
        in_avals = list(map(avals_.aval_of, operands))
        program, consts = partial_eval.trace_to_olympuspr(
            lambda *xs: list(fun.call_wrapped(*xs)), in_avals, info
        )
        params = {"name": name, **params}
        closed = ir.ClosedOlympuspr(ir.hoist_consts(program))
        return super().bind(*consts, *operands, call_jaxpr=closed, **params)


RULES: dict[str, Any] = {
    "vary": as_abstract_says,
    "abstract": _abstract,
    "effects": _effects,
    "impl": run,
    "lower": _lower,
    "jvp": _jvp,
    "transpose": transpose,
    "batch": _batch,
    "dce": _dce,
}


def create_call_primitive(name: str, inline_jax_late: bool = False) -> CallPrimitive:
    """A new operation that applies a program.

    Args:
      name: the printed name.
      inline_jax_late: has no effect: calls are always inlined by the compiler.

    Example:
      >>> import olympus
      >>> from olympus.extend import core, linear_util
      >>> my_call_p = core.create_call_primitive('my_call')
      >>> f = linear_util.wrap_init(lambda x: [2.0 * x])
      >>> olympus.grad(lambda x: my_call_p.bind(f, x)[0])(3.0)
      Array(2., dtype=float32, weak_type=True)
    """
    del inline_jax_late
    return CallPrimitive(
        name, multiple_results=True, file="the library that defines it", **RULES
    )


def eval_olympuspr_transpose(
    prim: Primitive,
    ct: Sequence[Any],
    *args: Any,
    call_jaxpr: Any,
    **params: Any,
) -> list[Any]:
    """The cotangents of a call's operands, by those of its program's operations.

    Args:
      prim: the call; has no effect.
      ct: the cotangents of its results.
      *args: operands; an `UndefinedPrimal` for each that is not known.
      call_jaxpr: the program.
      **params: the other parameters.

    Returns:
      A cotangent for each operand, None for known ones.
    """
    del prim
    cts = [
        Zero(a.to_cotangent()) if c is None else c
        for c, a in zip(ct, call_jaxpr.out_avals, strict=True)
    ]
    return transpose(cts, *args, call_jaxpr=call_jaxpr, **params)


call_p = CallPrimitive("call", multiple_results=True, **RULES)
closed_call_p = CallPrimitive("closed_call", multiple_results=True, **RULES)
