"""`custom_vmap_call`: a function with a rule for vmap that its user wrote.

Parameters:
  call_jaxpr: the function, a `functions.Function` or, in programs, a program.
  rule: `rule(axis_size, mapped, args) -> (results, mapped)` on flat values, with the
    mapped axis in front of operands and results that are flagged.
  num_consts: how many leading operands are values that the function closes over. The
    rule knows nothing of them.
  name: the user's function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.checkify import custom_rules
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir
from olympus._src.core.primitive import Primitive, as_abstract_says
from olympus._src.core.symbolic_values import Zero
from olympus._src.foundation import errors
from olympus._src.interpreters import ad
from olympus._src.lax import families
from olympus._src.programs import functions


def _stage(trace: Any, args: Any, params: Any) -> Any:
    return functions.stage(custom_vmap_call_p, "custom_vmap", trace, args, params)


# -- vmap ------------------------------------------------------------------------------


def _batch(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> Any:
    n = params["num_consts"]
    if all(d is None for d in dims[n:]):
        return _batch_captured(axis, args, dims, params)
    if any(d is not None for d in dims[:n]):
        raise errors.UnexpectedTracerError(
            f"custom_vmap: {params['name']} closes over a mapped value, which its rule "
            "does not get; pass the value to it as an argument"
        )
    mapped = [d is not None for d in dims[n:]]
    moved = [
        x if d is None else families.move_axis(x, d, 0)
        for x, d in zip(args[n:], dims[n:], strict=True)
    ]
    outs, out_mapped = params["rule"](axis.size, mapped, moved)
    return outs, [0 if m else None for m in out_mapped]


def _batch_captured(axis: Any, args: Any, dims: Any, params: Any) -> Any:
    """The function itself is batched where only what it closes over is mapped."""
    mapped = functions.Mapped(axis, dims)
    function = params["call_jaxpr"]

    def call(*values: Any) -> list[Any]:
        return mapped.run(lambda *xs: functions.run(function, xs), values, dims)

    params["call_jaxpr"] = functions.derive_function(function, call, params["name"])
    outs = custom_vmap_call_p.bind(*args, **params)
    return outs, mapped.dims


# -- derivatives -----------------------------------------------------------------------


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    """Another function with a rule: values and tangents, and the derivative of the rule
    by the tangents.
    """
    call, n = params["call_jaxpr"], params["num_consts"]
    slopes = [functions.replace_float0(t) for t in tangents]
    nonzero = [type(t) is not Zero for t in slopes]
    consts = [i for i in range(n) if nonzero[i]]
    others = [i for i in range(n, len(slopes)) if nonzero[i]]
    count = len(primals)
    # Tangents of what is closed over come next to it, before the arguments.
    order = [*range(n), *[count + i for i in consts], *range(n, count)]
    order += [count + i for i in others]
    place = {where: i for i, where in enumerate(order)}
    operands = [*primals, *slopes]

    def both(*values: Any) -> list[Any]:
        inner = [values[place[i]] for i in range(count)]
        inner_tangents = [
            values[place[count + i]] if m else ad.zero_tangent(inner[i])
            for i, m in enumerate(nonzero)
        ]
        outs, out_tangents = ad.jvp(
            lambda *xs: functions.run(call, xs), inner, inner_tangents
        )
        return [*outs, *map(_value, out_tangents)]

    params = dict(
        params,
        call_jaxpr=functions.derive_function(call, both, params["name"]),
        rule=params["rule"].derived(_rule_jvp(params["rule"], nonzero[n:])),
        num_consts=n + len(consts),
    )
    results = custom_vmap_call_p.bind(*[operands[i] for i in order], **params)
    half = len(results) // 2
    outs = results[:half]
    zeros = [ad.zero_tangent(x) for x in outs]
    return outs, [
        zero if avals_.is_float0(zero.aval) else t
        for zero, t in zip(zeros, results[half:], strict=True)
    ]


def _aval(t: Any) -> Any:
    return t.aval if type(t) is Zero else avals_.aval_of(t)


def _value(t: Any) -> Any:
    """A tangent as a result of a program; False in place of one of an integer."""
    if avals_.is_float0(_aval(t)):
        return np.False_
    return families.instantiate(t)


def _rule_jvp(rule: Any, nonzero: Sequence[bool]) -> Callable[..., Any]:
    """The rule for values and tangents, from the rule for values."""

    def both(size: int, mapped: Sequence[bool], args: Sequence[Any]) -> Any:
        count = len(nonzero)
        flags = list(mapped[:count])
        values, slopes = list(args[:count]), list(args[count:])
        chosen = [i for i, m in enumerate(nonzero) if m]
        tangents = [ad.zero_tangent(x) for x in values]
        for i, t, m in zip(chosen, slopes, mapped[count:], strict=True):
            if m and not flags[i]:
                values[i], flags[i] = families.insert_axis(values[i], 0, size), True
            elif flags[i] and not m:
                t = families.insert_axis(t, 0, size)
            tangents[i] = t
        tangents = [
            ad.zero_tangent(x) if type(t) is Zero else t
            for x, t in zip(values, tangents, strict=True)
        ]
        out_mapped: list[bool] = []

        def apply(*xs: Any) -> Any:
            outs, out_flags = rule(size, flags, list(xs))
            out_mapped[:] = out_flags
            return outs

        outs, out_tangents = ad.jvp(apply, values, tangents)
        moves = [
            m and _aval(t).dtype != dtypes.float0
            for m, t in zip(out_mapped, out_tangents, strict=True)
        ]
        return [*outs, *map(_value, out_tangents)], [*out_mapped, *moves]

    return both


def _linearize(primals: Any, tangents: Any, **params: Any) -> Any:
    """Values by the function with its rule, tangents by what it computes."""
    outs = custom_vmap_call_p.bind(*primals, **params)
    slopes = [functions.replace_float0(t) for t in tangents]

    def apply() -> list[Any]:
        call = params["call_jaxpr"]
        return ad.jvp(lambda *xs: functions.run(call, xs), primals, slopes)[1]

    return outs, apply


def _print(eqn: ir.Eqn) -> Any:
    names = ("name", "call_jaxpr", "rule")
    return [(k, eqn.params[k]) for k in names]


custom_vmap_call_p = Primitive(
    "custom_vmap_call",
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
    linearize=_linearize,
    transpose=functions.transpose,
    batch=_batch,
    print=_print,
    checkify=custom_rules.apply("rule", custom_rules.vmap_rule),
)
