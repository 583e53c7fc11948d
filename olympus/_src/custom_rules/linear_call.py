"""`linear_call`: a linear function with a transpose that its user wrote.

Operands are constants of the functions, then residuals, then what they are linear in.

Parameters:
  call_jaxpr: the function, a `functions.Function` or, in programs, a program.
  transpose: `transpose(*residuals, *cotangents)`, a `functions.Function`.
  num_consts: how many leading operands are values that the function closes over.
  num_res: how many operands follow in which it need not be linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.core.primitive import Primitive, as_abstract_says
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.interpreters import ad, batching
from olympus._src.lax import families
from olympus._src.programs import functions


def _stage(trace: Any, args: Any, params: Any) -> Any:
    return functions.record(linear_call_p, "linear_call", trace, args, params)


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    call, fixed = params["call_jaxpr"], params["num_consts"] + params["num_res"]
    slopes = [functions.replace_float0(t) for t in tangents]
    outs = linear_call_p.bind(*primals, **params)
    total = [ad.zero_tangent(x) for x in outs]
    if any(type(t) is not Zero for t in slopes[fixed:]):
        linear = [families.instantiate(t) for t in slopes[fixed:]]
        total = linear_call_p.bind(*primals[:fixed], *linear, **params)
    if any(type(t) is not Zero for t in slopes[:fixed]):
        still = [*slopes[:fixed], *map(ad.zero_tangent, primals[fixed:])]
        _, by_residuals = ad.jvp(lambda *xs: functions.run(call, xs), primals, still)
        total = [_sum(x, y) for x, y in zip(total, by_residuals, strict=True)]
    return outs, total


def _sum(x: Any, y: Any) -> Any:
    if type(x) is Zero or type(y) is Zero:
        return y if type(x) is Zero else x
    return families.add_tangents(x, y)


def _transpose(cts: Any, *args: Any, **params: Any) -> Any:
    n, fixed = params["num_consts"], params["num_consts"] + params["num_res"]
    if any(type(x) is Linear for x in args[:fixed]):
        raise TypeError(
            "linear_call: the function is transposed with respect to residual_args, in "
            "which it need not be linear; only linear_args may be unknown"
        )
    residuals = args[n:fixed]
    nonzero_cts = [families.instantiate(ct) for ct in cts]
    call = params["call_jaxpr"]
    consts = args[:n]

    def back(*values: Any) -> Any:
        return functions.run(call, [*consts, *values])

    in_cts = linear_call_p.bind(
        *residuals,
        *nonzero_cts,
        call_jaxpr=params["transpose"],
        transpose=params["transpose"].derived(back),
        num_consts=0,
        num_res=len(residuals),
    )
    return [None] * fixed + [
        ct if type(x) is Linear else None
        for ct, x in zip(in_cts, args[fixed:], strict=True)
    ]


def _batch(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    call_jaxpr: Any,
    transpose: Any,
    num_consts: int,
    num_res: int,
) -> Any:
    mapped = functions.Mapped(axis, dims)
    mapped.needed = True  # the transpose gets results with the axis
    in_dims = dims[num_consts + num_res :]
    residual_dims = dims[num_consts : num_consts + num_res]
    # Linear operands all get the axis too, so that the transpose has nothing to sum.
    operands = [
        *args[: num_consts + num_res],
        *[
            families.at_front(axis, x, d)
            for x, d in zip(args[num_consts + num_res :], in_dims, strict=True)
        ],
    ]
    all_dims = [*dims[: num_consts + num_res], *[0] * len(in_dims)]

    def call(*values: Any) -> list[Any]:
        return mapped.run(lambda *xs: functions.run(call_jaxpr, xs), values, all_dims)

    def back(*values: Any) -> list[Any]:
        assert mapped.dims is not None  # the function has run
        results, result_dims = batching.batch(
            lambda *xs: functions.run(transpose, xs),
            axis,
            values,
            [*residual_dims, *mapped.dims],
        )
        return [
            families.at_front(axis, x, d)
            for x, d in zip(results, result_dims, strict=True)
        ]

    outs = linear_call_p.bind(
        *operands,
        call_jaxpr=functions.derive_function(call_jaxpr, call, "linear_call"),
        transpose=transpose.derived(back),
        num_consts=num_consts,
        num_res=num_res,
    )
    return outs, mapped.dims


def _print(eqn: ir.Eqn) -> Any:
    names = ("call_jaxpr", "num_consts", "num_res", "transpose")
    return [(k, eqn.params[k]) for k in names]


linear_call_p = Primitive(
    "linear_call",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=functions.abstract,
    key_reuse=functions.follow_keys,
    effects=functions.effects,
    stage=_stage,
    impl=functions.impl,
    lower=functions.lower,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    print=_print,
)
