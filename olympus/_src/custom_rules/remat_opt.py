"""`remat_opt`: a forward rule that is replaced by its function where none is read.

`custom_vjp` binds it for functions with `optimize_remat`. Its results are those of the
function and residuals. Where a program reads no residual, as when `checkpoint` computes
them again later, the equation applies the function alone.

Parameters:
  call_jaxpr: the rule `fwd`, a `functions.Function` or, in programs, a program.
  fun_jaxpr: the function, likewise.
  num_consts: how many leading operands are values that the two close over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import ir
from olympus._src.core.primitive import Primitive, as_abstract_says
from olympus._src.interpreters import ad, batching, partial_eval
from olympus._src.programs import functions, inner_programs


def _stage(trace: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
    call, fun = params["call_jaxpr"], params["fun_jaxpr"]
    if isinstance(trace, ad.TangentTape):
        return functions.run(call, args)
    if type(call) is ir.ClosedOlympuspr:
        return trace.record(remat_opt_p, args, params)
    in_avals = [avals_.aval_of(x) for x in args]
    info = ir.DebugInfo("custom_vjp", functions.describe(call.fun))
    traced = [
        partial_eval.trace_to_olympuspr(
            lambda *xs, f=f: functions.run(f, xs), in_avals, info
        )
        for f in (call, fun)
    ]
    (call, fun), shared = inner_programs.share_consts(traced)
    total = len(shared) + params["num_consts"]
    params = {"call_jaxpr": call, "fun_jaxpr": fun, "num_consts": total}
    return trace.record(remat_opt_p, [*shared, *args], params)


def _jvp(primals: Any, tangents: Any, *, call_jaxpr: Any, **params: Any) -> Any:
    """The rule is differentiated as what it computes."""
    with ad.splitting(functions.current.trace):
        return ad.jvp(lambda *xs: functions.run(call_jaxpr, xs), primals, tangents)


def _batch(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    call_jaxpr: Any,
    fun_jaxpr: Any,
    num_consts: int,
) -> Any:
    mapped = functions.Mapped(axis, dims)

    def call(*values: Any) -> list[Any]:
        return mapped.run(lambda *xs: functions.run(call_jaxpr, xs), values, dims)

    def fun(*values: Any) -> list[Any]:
        outs, dims_found = batching.batch(
            lambda *xs: functions.run(fun_jaxpr, xs), axis, values, dims
        )
        assert mapped.dims is not None  # the rule has run
        out_dims = mapped.dims[: len(outs)]
        return [
            functions.with_axis(x, d, w, axis.size)
            for x, d, w in zip(outs, dims_found, out_dims, strict=True)
        ]

    outs = remat_opt_p.bind(
        *args,
        call_jaxpr=functions.derive_function(call_jaxpr, call, "fwd"),
        fun_jaxpr=functions.derive_function(fun_jaxpr, fun, "fun"),
        num_consts=num_consts,
    )
    return outs, mapped.dims


def _dce(used: list[bool], eqn: ir.Eqn) -> Any:
    """The function in place of the rule, where no residual is read."""
    fun, call = eqn.params["fun_jaxpr"], eqn.params["call_jaxpr"]
    count = len(fun.out_avals)
    if any(used[count:]) or call is fun:
        return [True] * len(eqn.invars), eqn
    smaller = eqn.replace(
        outvars=eqn.outvars[:count],
        params=dict(eqn.params, call_jaxpr=fun),
        effects=fun.effects,
    )
    return [True] * len(eqn.invars), smaller


def _effects(*args: Any, call_jaxpr: Any, fun_jaxpr: Any, **_: Any) -> Any:
    return call_jaxpr.effects | fun_jaxpr.effects


def _print(eqn: ir.Eqn) -> Any:
    names = ("call_jaxpr", "fun_jaxpr", "num_consts")
    labels = ("fwd_olympuspr", "fun_jaxpr", "num_consts")
    return [(k, eqn.params[n]) for k, n in zip(labels, names, strict=True)]


remat_opt_p: Primitive = Primitive(
    "remat_opt",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=functions.abstract,
    key_reuse=functions.follow_keys,
    effects=_effects,
    stage=_stage,
    impl=functions.impl,
    lower=functions.lower,
    jvp=_jvp,
    batch=_batch,
    dce=_dce,
    print=_print,
)
