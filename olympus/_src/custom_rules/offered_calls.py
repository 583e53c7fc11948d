"""Functions with custom derivatives, as interpreters of a library's own see them.

Such an interpreter gets wrapped functions of flat values, and may apply the operation
again to wrapped functions of its own making.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import avals, trace
from olympus._src.core.symbolic_values import SymbolicZero, Zero
from olympus._src.custom_rules.custom_jvp import custom_jvp_call_p
from olympus._src.custom_rules.custom_vjp import custom_vjp_call_p
from olympus._src.interpreters import ad
from olympus._src.lax import families
from olympus._src.programs import functions
from olympus._src.programs.wrapped_functions import WrappedFun, wrap_init


def _wrap(call: Callable[..., Any], stands_for: Any) -> WrappedFun:
    """A wrapped function that is shown by the name of the user's."""
    wrapped = wrap_init(call)
    wrapped.f = getattr(stands_for, "fun", stands_for)
    return wrapped


def _as_value(t: Any, symbolic: bool) -> Any:
    """A tangent for an interpreter: an array, or a zero that says so."""
    if type(t) is not Zero:
        return t
    if symbolic:
        return SymbolicZero(t.aval)
    if avals.is_float0(t.aval):
        return np.zeros(t.aval.shape, t.aval.dtype)
    return families.instantiate(t)


def _as_tangent(t: Any) -> Any:
    if type(t) is SymbolicZero:
        return Zero(t.aval)
    aval = avals.aval_of(t)
    return Zero(aval) if avals.is_float0(aval) else t


# -- custom_jvp ------------------------------------------------------------------------


def offer_custom_jvp(trace_: trace.Trace, args: Sequence[Any], params: Any) -> Any:
    """The rule `offer` of `custom_jvp_call`."""
    call, jvp, n = params["call_jaxpr"], params["jvp"], params["num_consts"]
    symbolic = params["symbolic_zeros"]

    def run_jvp(*values: Any) -> list[Any]:
        half = len(values) // 2
        primals, tangents = values[:half], list(map(_as_tangent, values[half:]))
        outs, out_tangents = jvp(primals[:n], primals[n:], tangents[n:])
        return [*outs, *[_as_value(t, symbolic) for t in out_tangents]]

    return trace_.process_custom_jvp_call(
        custom_jvp_call_p,
        _wrap(lambda *xs: list(functions.run(call, xs)), call),
        _wrap(run_jvp, jvp),
        args,
        symbolic_zeros=symbolic,
    )


def offer_decomposition(
    p: Any, trace_: trace.Trace, args: Sequence[Any], params: Any
) -> Any:
    """Offers an operation as the function that it decomposes to."""
    if type(trace_).process_custom_jvp_call is trace.Trace.process_custom_jvp_call:
        return trace_.process_primitive(p, args, params)

    def as_list(results: Any) -> list[Any]:
        return list(results) if p.multiple_results else [results]

    def run_jvp(*values: Any) -> list[Any]:
        half = len(values) // 2
        tangents = list(map(_as_tangent, values[half:]))
        outs, out_tangents = p.jvp(values[:half], tangents, **params)
        slopes = [_as_value(t, symbolic=False) for t in as_list(out_tangents)]
        return [*as_list(outs), *slopes]

    outs = trace_.process_custom_jvp_call(
        custom_jvp_call_p,
        _wrap(lambda *xs: as_list(p.decompose(*xs, **params)), p.decompose),
        _wrap(run_jvp, p.jvp),
        args,
        symbolic_zeros=False,
    )
    return outs if p.multiple_results else outs[0]


def enter_custom_jvp(args: Sequence[Any], params: dict[str, Any]) -> Any:
    """Operands and parameters of `custom_jvp_call`, from wrapped functions."""
    fun, jvp, *operands = args

    def run_jvp(consts: Any, primals: Any, tangents: Any) -> Any:
        values = [_as_value(t, params.get("symbolic_zeros", False)) for t in tangents]
        outs = list(jvp.call_wrapped(*primals, *values))
        half = len(outs) // 2
        return outs[:half], list(map(_as_tangent, outs[half:]))

    return tuple(operands), {
        "call_jaxpr": functions.Function(fun.call_wrapped, fun.f),
        "jvp": functions.Function(run_jvp, jvp.f),
        "num_consts": 0,
        "name": fun.__name__,
        "symbolic_zeros": params.get("symbolic_zeros", False),
    }


# -- custom_vjp ------------------------------------------------------------------------


def offer_custom_vjp(trace_: trace.Trace, args: Sequence[Any], params: Any) -> Any:
    """The rule `offer` of `custom_vjp_call`."""
    call, fwd, n = params["call_jaxpr"], params["fwd"], params["num_consts"]
    # What the last call of `fwd` gave: the pullback is a part of its result.
    last: dict[str, Any] = {}

    def run_fwd(*values: Any) -> list[Any]:
        primals, perturbed = values[::2], values[1::2]
        outs, residuals, last["pullback"] = fwd(primals[:n], primals[n:], perturbed[n:])
        last["trees"] = tuple(
            [tree.tree_structure(tuple(xs)) for xs in (outs, residuals)]
        )
        return [*residuals, *outs]

    def run_bwd(*values: Any) -> list[Any]:
        count = last["trees"][1].num_leaves
        cts = list(map(_as_tangent, values[count:]))
        arg_cts = last["pullback"](values[:count], cts)
        symbolic = params["symbolic_zeros"]
        zeros = [families.instantiate(ad.zero_tangent(x)) for x in args[:n]]
        return [*zeros, *[_as_value(ct, symbolic) for ct in arg_cts]]

    return trace_.process_custom_vjp_call(
        custom_vjp_call_p,
        _wrap(lambda *xs: list(functions.run(call, xs)), call),
        _wrap(run_fwd, fwd),
        _wrap(run_bwd, params["bwd"]),
        args,
        out_trees=lambda: (*last["trees"], [None] * last["trees"][1].num_leaves),
        symbolic_zeros=params["symbolic_zeros"],
    )


def enter_custom_vjp(args: Sequence[Any], params: dict[str, Any]) -> Any:
    """Operands and parameters of `custom_vjp_call`, from wrapped functions."""
    fun, fwd, bwd, *operands = args
    out_trees, symbolic = params["out_trees"], params.get("symbolic_zeros", False)
    run_bwd = getattr(bwd, "call_wrapped", bwd)
    stands_for = getattr(bwd, "f", bwd)

    def run_fwd(consts: Any, primals: Any, perturbed: Any) -> Any:
        pairs = zip(primals, perturbed, strict=True)
        values = list(fwd.call_wrapped(*[x for pair in pairs for x in pair]))
        count = out_trees()[1].num_leaves

        def pull(residuals: Any, cts: Any) -> list[Any]:
            flat = [_as_value(ct, symbolic) for ct in cts]
            return list(map(_as_tangent, run_bwd(*residuals, *flat)))

        pullback = functions.Function(pull, stands_for)
        return values[count:], values[:count], pullback

    return tuple(operands), {
        "call_jaxpr": functions.Function(fun.call_wrapped, fun.f),
        "fwd": functions.Function(run_fwd, fwd.f),
        "bwd": functions.Function(run_bwd, stands_for),
        "num_consts": 0,
        "name": fun.__name__,
        "symbolic_zeros": symbolic,
        "optimize_remat": False,
    }
