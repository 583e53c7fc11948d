"""`custom_vjp_call`: a function with a reverse-mode derivative that its user wrote.

Parameters:
  call_jaxpr: the function, a `functions.Function` or, in programs, a program.
  fwd: `fwd(consts, primals, perturbed) -> (results, residuals, pullback)`, where
    `pullback(residuals, cotangents)` gives a cotangent (or Zero) for each primal.
  bwd: the user's function, for print.
  num_consts: how many leading operands are values that the function closes over. The
    rules do not cover them, so they must have no tangents.
  name: the user's function.
  symbolic_zeros: whether the user's rules see zeros as such.
  optimize_remat: whether the function replaces `fwd` where no residual is read.

Differentiation runs `fwd` and leaves one equation, `custom_lin`, among the operations
on tangents. It can be transposed, by `pullback`, and nothing else: there is no
derivative in the other direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.checkify import custom_rules
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir
from olympus._src.core.primitive import LateRule, Primitive, as_abstract_says
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.custom_rules.remat_opt import remat_opt_p
from olympus._src.interpreters import ad, batching, concrete_arrays, evaluate
from olympus._src.interpreters.discharge import CustomRuleOnRefs
from olympus._src.lax import families, reductions
from olympus._src.programs import captured, functions, series

# -- the function ----------------------------------------------------------------------


def _stage(trace: Any, args: Any, params: Any) -> Any:
    if functions.is_recorded(trace, params) and captured.must_be_traced(
        params["fwd"], params["bwd"]
    ):
        recorded = captured.with_vjp("custom_vjp", args, params)
        if recorded is not None:
            return trace.record(custom_vjp_call_p, *recorded)
    return functions.stage(custom_vjp_call_p, "custom_vjp", trace, args, params)


def _forward(primals: Any, tangents: Any, params: Any) -> Any:
    """Results of `fwd`, and a function of no arguments that applies `custom_lin`."""
    n, name, call = params["num_consts"], params["name"], params["call_jaxpr"]
    functions.check_fixed("custom_vjp", name, tangents[:n])
    slopes = [functions.replace_float0(t) for t in tangents[n:]]
    perturbed = tuple([type(t) is not Zero for t in slopes])
    outs, residuals, pullback = _run_forward(primals, perturbed, params)
    if type(call) is ir.ClosedOlympuspr:
        functions.check_results("custom_vjp", name, params["fwd"], outs, call)

    def apply() -> list[Any]:
        tangents_out: list[Any] = [ad.zero_tangent(x) for x in outs]
        if not any(perturbed) or not outs:
            return tangents_out
        out_slopes = custom_lin_p.bind(
            *residuals,
            *[t for t in slopes if type(t) is not Zero],
            num_res=len(residuals),
            bwd=pullback,
            in_zeros=tuple([not p for p in perturbed]),
            out_avals=tuple([z.aval for z in tangents_out]),
            symbolic_zeros=params["symbolic_zeros"],
        )
        return [functions.replace_float0(t) for t in out_slopes]

    return outs, apply


def _run_forward(primals: Any, perturbed: Any, params: Any) -> Any:
    """What `fwd` returns; as one operation, where the function may take its place."""
    fwd, n = params["fwd"], params["num_consts"]
    if type(params["call_jaxpr"]) is ir.ClosedOlympuspr:
        primals = functions.literals_as_arrays(primals)
    if not params["optimize_remat"]:
        return fwd(primals[:n], primals[n:], perturbed)
    forward_results: Any = None

    def call(*values: Any) -> list[Any]:
        nonlocal forward_results
        forward_results = fwd(values[:n], values[n:], perturbed)
        return [*forward_results[0], *forward_results[1]]

    # The function keeps its rules, for derivatives of higher order.
    fun = functions.Function(lambda *xs: custom_vjp_call_p.bind(*xs, **params), fwd.fun)
    outs = remat_opt_p.bind(
        *primals,
        call_jaxpr=fwd.derived(call),
        fun_jaxpr=fun,
        num_consts=n,
    )
    count = len(forward_results[0])
    return outs[:count], outs[count:], forward_results[2]


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    outs, apply = _forward(primals, tangents, params)
    return outs, apply()


def _linearize(primals: Any, tangents: Any, **params: Any) -> Any:
    return _forward(primals, tangents, params)


def _batch(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    call_jaxpr: Any,
    fwd: Any,
    num_consts: int,
    **params: Any,
) -> Any:
    # A rule may sum cotangents over the axis by name: each element needs its own.
    mapped = functions.Mapped(axis, dims, force=axis.name is not None)

    def call(*values: Any) -> list[Any]:
        return mapped.run(lambda *xs: functions.run(call_jaxpr, xs), values, dims)

    def rule(consts: Any, primals: Any, perturbed: Any) -> Any:
        # Values that were captured since stand in front.
        own = consts[len(consts) - num_consts :]
        return _mapped_forward(mapped, fwd, own, primals, perturbed, dims)

    outs = custom_vjp_call_p.bind(
        *args,
        call_jaxpr=functions.derive_function(call_jaxpr, call, params["name"]),
        fwd=fwd.derived(rule),
        num_consts=num_consts,
        **params,
    )
    return outs, mapped.dims


def _mapped_forward(
    mapped: functions.Mapped,
    fwd: Callable[..., Any],
    consts: Sequence[Any],
    primals: Sequence[Any],
    perturbed: Any,
    dims: Sequence[int | None],
) -> Any:
    """`fwd` with its operands mapped, and the pullback to its results."""
    n = len(consts)
    forward_results: Any = None

    def run(*values: Any) -> list[Any]:
        nonlocal forward_results
        forward_results = fwd(values[:n], values[n:], perturbed)
        return [*forward_results[0], *forward_results[1]]

    values, out_dims = batching.batch(run, mapped.axis, [*consts, *primals], dims)
    count = len(forward_results[0])
    outs = mapped.settle(values[:count], out_dims[:count])
    assert mapped.dims is not None  # settled above
    back = _mapped_pullback(
        forward_results[2], mapped.axis, out_dims[count:], mapped.dims, dims[n:]
    )
    return outs, values[count:], back


def _mapped_pullback(
    pullback: Any,
    axis: Any,
    residual_dims: Sequence[int | None],
    out_dims: Sequence[int | None],
    in_dims: Sequence[int | None],
) -> functions.Function:
    """A pullback under a mapped axis.

    Cotangents of operands without the axis are summed over it.
    """

    def back(residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        indices = [i for i, ct in enumerate(cts) if type(ct) is not Zero]
        count = len(residuals)
        nonzero: list[int] = []
        total = 0

        def run(*values: Any) -> list[Any]:
            nonlocal total
            full_cts = [
                _without_axis(ct, d) for ct, d in zip(cts, out_dims, strict=True)
            ]
            for i, ct in zip(indices, values[count:], strict=True):
                full_cts[i] = ct
            arg_cts = pullback(values[:count], full_cts)
            total = len(arg_cts)
            nonzero[:] = [i for i, ct in enumerate(arg_cts) if _flows(ct)]
            return [arg_cts[i] for i in nonzero]

        values = [*residuals, *[cts[i] for i in indices]]
        dims = [*residual_dims, *[out_dims[i] for i in indices]]
        batched_cts, ct_dims = batching.batch(run, axis, values, dims)
        result: list[Any] = [None] * total
        for i, ct, d in zip(nonzero, batched_cts, ct_dims, strict=True):
            result[i] = _as_operand(ct, d, in_dims[i], axis.size)
        return result

    return pullback.derived(back)


def _flows(ct: Any) -> bool:
    return ct is not None and type(ct) is not Zero


def _without_axis(ct: Any, dim: int | None) -> Any:
    """A Zero of the type that the unmapped function sees; other values are replaced."""
    aval = ct.aval if type(ct) is Zero else avals_.aval_of(ct)
    if dim is None:
        return Zero(aval)
    shape = (*aval.shape[:dim], *aval.shape[dim + 1 :])
    return Zero(aval.update(shape=shape))


def _as_operand(ct: Any, dim: int | None, in_dim: int | None, size: int) -> Any:
    if in_dim is None:
        return ct if dim is None else reductions.reduce_sum(ct, (dim,))
    return functions.with_axis(ct, dim, in_dim, size)


def _print(eqn: ir.Eqn) -> Any:
    names = ("name", "bwd", "call_jaxpr", "fwd", "symbolic_zeros")
    return [(k, eqn.params[k]) for k in names]


custom_vjp_call_p = functions.FunctionPrimitive(
    "custom_vjp_call",
    offer=LateRule("custom_rules.offered_calls", "offer_custom_vjp"),
    enter=LateRule("custom_rules.offered_calls", "enter_custom_vjp"),
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
    taylor=series.function,
    checkify=custom_rules.apply("fwd", custom_rules.forward_rule),
)


# -- its derivative --------------------------------------------------------------------


def _refuse(bwd: Any) -> TypeError:
    return TypeError(
        "can't apply forward-mode differentiation (jvp) to a custom_vjp function: its "
        f"rule {bwd!r} gives cotangents of arguments from those of results only; use "
        "reverse mode (grad, vjp, jacrev), or write the derivative with custom_jvp, "
        "which serves both modes"
    )


def _lin_abstract(*args: Any, out_avals: Any, **params: Any) -> Any:
    return list(out_avals)


def _lin_impl(*args: Any, bwd: Any, **params: Any) -> Any:
    raise _refuse(bwd)


def _lin_lower(ctx: Any, *operands: str, bwd: Any, **params: Any) -> Any:
    raise _refuse(bwd)


def _lin_jvp(primals: Any, tangents: Any, *, bwd: Any, **params: Any) -> Any:
    raise _refuse(bwd)


def _lin_transpose(
    cts: Any, *args: Any, num_res: int, bwd: Any, in_zeros: Any, **params: Any
) -> Any:
    if any(type(x) is Linear for x in args[:num_res]):
        raise _refuse(bwd)
    in_cts = bwd(args[:num_res], cts)
    nonzero = [ct for ct, zero in zip(in_cts, in_zeros, strict=True) if not zero]
    # As values, also where they are zero: another rule may follow that gives more than
    # a multiple of its cotangent, such as a statistic of this step.
    back = [
        _as_value(functions.vary_as("custom_vjp", repr(bwd), ct, x.aval))
        if type(x) is Linear
        else None
        for ct, x in zip(nonzero, args[num_res:], strict=True)
    ]
    return [None] * num_res + back


def _as_value(ct: Any) -> Any:
    if type(ct) is not Zero or ct.aval.dtype == dtypes.float0:
        return ct
    zero = families.instantiate(ct)
    if evaluate.is_evaluating() and isinstance(zero, (float, complex)):
        return concrete_arrays.as_array(zero)  # a gradient is an array
    return zero


def _lin_discharge(context: Any, args: Any, **params: Any) -> Any:
    raise CustomRuleOnRefs(
        "custom_vjp: a rule that keeps a ref for the backward pass must not be "
        "differentiated inside a loop or branch; take the call out of the loop"
    )


def _lin_batch(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    num_res: int,
    bwd: Any,
    in_zeros: Any,
    out_avals: Any,
    **params: Any,
) -> Any:
    remaining = iter(dims[num_res:])
    in_dims = [None if zero else next(remaining) for zero in in_zeros]
    out_dims = [0] * len(out_avals)
    back = _mapped_pullback(bwd, axis, dims[:num_res], out_dims, in_dims)
    mapped = tuple([a.with_leading_axis(axis.size) for a in out_avals])
    outs = custom_lin_p.bind(
        *args, num_res=num_res, bwd=back, in_zeros=in_zeros, out_avals=mapped, **params
    )
    return outs, out_dims


custom_lin_p = Primitive(
    "custom_lin",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=_lin_abstract,
    impl=_lin_impl,
    lower=_lin_lower,
    jvp=_lin_jvp,
    transpose=_lin_transpose,
    discharge=_lin_discharge,
    to_low=_lin_impl,
    batch=_lin_batch,
)
