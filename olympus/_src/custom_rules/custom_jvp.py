"""`custom_jvp_call`: a function with a forward-mode derivative that its user wrote.

Parameters:
  call_jaxpr: the function, a `functions.Function` or, in programs, a program.
  jvp: `jvp(consts, primals, tangents) -> (results, tangents)`; a tangent may be a Zero.
  num_consts: how many leading operands are values that the function closes over. The
    rule does not cover them, so they must have no tangents.
  name: the user's function.
  symbolic_zeros: whether the user's rule sees zeros as such.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.checkify import custom_rules
from olympus._src.core import avals as avals_
from olympus._src.core import ir, trace
from olympus._src.core.primitive import LateRule, as_abstract_says
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import ad, batching
from olympus._src.programs import captured, functions

current = trace.current


def _stage(trace: Any, args: Any, params: Any) -> Any:
    if functions.is_recorded(trace, params) and captured.must_be_traced(params["jvp"]):
        recorded = captured.with_jvp("custom_jvp", args, params)
        if recorded is not None:
            return trace.record(custom_jvp_call_p, *recorded)
    return functions.stage(custom_jvp_call_p, "custom_jvp", trace, args, params)


def _jvp(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    call_jaxpr: Any,
    jvp: Any,
    num_consts: int,
    name: str,
    **params: Any,
) -> Any:
    functions.check_fixed("custom_jvp", name, tangents[:num_consts])
    slopes = [functions.replace_float0(t) for t in tangents[num_consts:]]
    if all(type(t) is Zero for t in slopes):
        outs = custom_jvp_call_p.bind(
            *primals,
            call_jaxpr=call_jaxpr,
            jvp=jvp,
            num_consts=num_consts,
            name=name,
            **params,
        )
        return outs, [ad.zero_tangent(x) for x in outs]
    is_program = type(call_jaxpr) is ir.ClosedOlympuspr
    if is_program:
        primals = functions.literals_as_arrays(primals)
    with ad.splitting(current.trace):
        outs, out_tangents = jvp(primals[:num_consts], primals[num_consts:], slopes)
    if is_program:
        functions.check_results("custom_jvp", name, jvp, outs, call_jaxpr)
    if current.join is not None:
        out_tangents = [
            functions.vary_as("custom_jvp", name, t, avals_.aval_of(x))
            for x, t in zip(outs, out_tangents, strict=True)
        ]
    return outs, out_tangents


def _batch(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    call_jaxpr: Any,
    jvp: Any,
    num_consts: int,
    **params: Any,
) -> Any:
    mapped = functions.Mapped(axis, dims)

    def call(*values: Any) -> list[Any]:
        return mapped.run(lambda *xs: functions.run(call_jaxpr, xs), values, dims)

    def rule(consts: Any, primals: Any, tangents: Any) -> Any:
        # Values that were captured since stand in front.
        own = consts[len(consts) - num_consts :]
        return _mapped_rule(mapped, jvp, own, primals, tangents, dims)

    outs = custom_jvp_call_p.bind(
        *args,
        call_jaxpr=functions.derive_function(call_jaxpr, call, params["name"]),
        jvp=jvp.derived(rule),
        num_consts=num_consts,
        **params,
    )
    return outs, mapped.dims


def _mapped_rule(
    mapped: functions.Mapped,
    jvp: Callable[..., Any],
    consts: Sequence[Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    dims: Sequence[int | None],
) -> tuple[list[Any], list[Any]]:
    """The user's rule with its operands mapped; a tangent moves with its primal."""
    n, m, size = len(consts), len(primals), mapped.axis.size
    nonzero = [i for i, t in enumerate(tangents) if type(t) is not Zero]
    out_nonzero: list[int] = []

    def run(*values: Any) -> list[Any]:
        zeros = [ad.zero_tangent(x) for x in values[n : n + m]]
        for i, t in zip(nonzero, values[n + m :], strict=True):
            zeros[i] = t
        outs, out_tangents = jvp(values[:n], values[n : n + m], zeros)
        out_nonzero[:] = [i for i, t in enumerate(out_tangents) if type(t) is not Zero]
        return [*outs, *[out_tangents[i] for i in out_nonzero]]

    values = [*consts, *primals, *[tangents[i] for i in nonzero]]
    in_dims = [*dims, *[dims[n + i] for i in nonzero]]
    results, result_dims = batching.batch(run, mapped.axis, values, in_dims)
    count = len(results) - len(out_nonzero)
    dims_out = list(result_dims[:count])
    for i, d in zip(out_nonzero, result_dims[count:], strict=True):
        if dims_out[i] is None:  # constant, but its tangent is not
            results[i], dims_out[i] = functions.with_axis(results[i], None, d, size), d
    outs = mapped.settle(results[:count], dims_out)
    out_tangents: list[Any] = [ad.zero_tangent(x) for x in outs]
    assert mapped.dims is not None  # settled above
    for i, t, d in zip(out_nonzero, results[count:], result_dims[count:], strict=True):
        out_tangents[i] = functions.with_axis(t, d, mapped.dims[i], size)
    return outs, out_tangents


def _print(eqn: ir.Eqn) -> Any:
    names = ("name", "call_jaxpr", "jvp", "symbolic_zeros")
    return [(k, eqn.params[k]) for k in names]


custom_jvp_call_p = functions.FunctionPrimitive(
    "custom_jvp_call",
    offer=LateRule("custom_rules.offered_calls", "offer_custom_jvp"),
    enter=LateRule("custom_rules.offered_calls", "enter_custom_jvp"),
    vary=as_abstract_says,
    multiple_results=True,
    abstract=functions.abstract,
    key_reuse=functions.follow_keys,
    effects=functions.effects,
    stage=_stage,
    impl=functions.impl,
    discharge=functions.discharge,
    to_low=functions.impl,
    lower=functions.lower,
    jvp=_jvp,
    transpose=functions.transpose,
    batch=_batch,
    print=_print,
    checkify=custom_rules.apply("jvp", custom_rules.jvp_rule),
)
