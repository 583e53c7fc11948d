"""`counted_scan`: a scan over the first rows of arrays, counted when it runs.

This is what a bounded loop becomes when it is differentiated: the loop itself finds the
number of steps and fills buffers that have room for all it may take; the loop of
tangents, and that of cotangents in the other direction, go over the rows that were
filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.checkify import control_flow
from olympus._src.control_flow import (
    loop_batching,
    loop_lowering,
    scan,
    scan_derivatives,
)
from olympus._src.control_flow.cond import select_rows
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, effects, ir
from olympus._src.core.primitive import LateRule, Primitive, as_abstract_says
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import ad, partial_eval
from olympus._src.lax import (
    barriers,
    concatenation,
    elementwise,
    families,
    reductions,
    slicing,
)
from olympus._src.programs import inner_programs
from olympus._src.programs.scan_operands import Parts


class Counted:
    """Applies the primitive to a given number of steps, as `scan_p` is applied.

    The rules of `scan` take it in place of that primitive.
    """

    __slots__ = ("count",)

    def __init__(self, count: Any) -> None:
        self.count = count

    def bind(self, *args: Any, **params: Any) -> Any:
        """`scan_p.bind`, for as many rows as are counted."""
        params.pop("unroll", None)
        return counted_scan_p.bind(self.count, *args, **params)


# -- what is kept for the derivative ---------------------------------------------------


def linearize_with_recomputation(
    program: ir.Olympuspr, nonzero: Sequence[bool], instantiate: Sequence[bool] = ()
) -> tuple[ir.ClosedOlympuspr, ir.ClosedOlympuspr, list[Any]]:
    """As `ad.linearize_olympuspr`, but keeps inputs only and computes the rest again.

    The linear program runs the program itself first, so that nothing of what it makes
    on its way has to be kept.
    """
    n = len(program.invars)
    zeros: list[Any] = []

    def run(*args: Any) -> list[Any]:
        primals, slopes_in = list(args[:n]), args[n:]
        chosen = [i for i, m in enumerate(nonzero) if m]

        def of_nonzero(*some: Any) -> list[Any]:
            inputs = list(primals)
            for i, x in zip(chosen, some, strict=True):
                inputs[i] = x
            return ir.eval_olympuspr(program, (), *inputs)

        info = inner_programs.forget_argument_names(program.debug_info) or _INFO
        values = [primals[i] for i in chosen]
        _, linear = ad.linearize(of_nonzero, values, info, instantiate)
        zeros[:] = linear.outs
        return [t for t in linear.apply(slopes_in) if type(t) is not Zero]

    slopes = [
        v.aval.to_tangent() for v, m in zip(program.invars, nonzero, strict=True) if m
    ]
    info = inner_programs.forget_argument_names(program.debug_info) or _INFO
    tangent, consts = partial_eval.trace_to_olympuspr(
        run, program.in_avals + slopes, info
    )
    force = [False] * n + [True] * len(slopes)
    small, used = partial_eval.dce_olympuspr(
        tangent, [True] * len(tangent.outvars), force
    )
    inputs = [v for v, k in zip(program.invars, used[:n], strict=True) if k]
    forward = ir.ClosedOlympuspr(
        program.replace(
            constvars=small.constvars,
            outvars=program.outvars + small.constvars + inputs,
        ),
        consts,
    )
    return forward, ir.ClosedOlympuspr(ir.hoist_consts(small)), zeros


_INFO = ir.DebugInfo("differentiation", "loop")
SPLITS = {"all": ad.linearize_olympuspr, "carry": linearize_with_recomputation}


# -- rules -----------------------------------------------------------------------------


def _abstract(
    count: Any, *args: Any, jaxpr: Any, num_carry: int, length: Any, **_: Any
) -> Any:
    outs = jaxpr.out_avals
    rows = [scan.stacked_aval(a, length) for a in outs[num_carry:]]
    return outs[:num_carry] + rows


def _effects(count: Any, *args: Any, jaxpr: Any, **params: Any) -> Any:
    return inner_programs.join_effects("while_loop", jaxpr)


def _check(count: Any, *args: Any, **params: Any) -> None:
    want = loop_lowering.counter(params["length"])
    if not inner_programs.same_type(count, want):
        raise TypeError(
            f"counted_scan: the count must be {want.short()}, got {count.short()}"
        )
    scan.check(*args, **params)


def _lower(ctx: Any, count: str, *operands: str, **params: Any) -> list[str]:
    body, length = params["jaxpr"], params["length"]
    kind = loop_lowering.counter(length)

    def test(block: Any, i: str, consts: list[str], carry: list[str]) -> str:
        return block.compare("LT", i, consts[0], kind, "SIGNED", loop_lowering.FLAG)

    def last(block: Any, consts: list[str]) -> str:
        pair = (consts[0], block.constant(1, kind))
        return block.elementwise("stablehlo.subtract", pair, kind)

    loop = loop_lowering.Scan(
        ctx,
        length=length,
        reverse=params["reverse"],
        unroll=1,
        num_carry=params["num_carry"],
        ordered=effects.ordered(body.effects),
        body=lambda block, args: inner_programs.lower_closed(
            ctx, block, body, args[1:]
        ),
        y_avals=ctx.avals_out[params["num_carry"] :],
        test=test,
        last=last,
    )
    # The count is one more constant of the loop.
    params = {**params, "num_consts": params["num_consts"] + 1}
    parts = Parts([count, *operands], params)
    return loop.write(parts, Parts(ctx.avals_in, params))[1]


def _batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    count, *operands = args
    count_dim, *operand_dims = dims
    if count_dim is None:
        p = Counted(count)
        return scan.batch(p, axis, operands, operand_dims, **params)
    return _batch_masked(axis, count, operands, operand_dims, params)


def _batch_masked(
    axis: Any, count: Any, operands: Any, operand_dims: Any, params: Any
) -> Any:
    """A count for each element: the loop runs to the greatest of them.

    An element that has taken its steps keeps its carry. What then runs for it runs on
    the slices of its first step, so that its derivative is as finite as theirs.
    """
    parts, dims_of = Parts(operands, params), Parts(operand_dims, params)
    length, scalar = params["length"], loop_lowering.counter(params["length"])
    xs, x_dims = loop_batching.keep_scanned_axes(parts.xs, dims_of.xs)
    firsts, first_dims = [], []
    if length:
        firsts = [concatenation.index_in_dim(x, 0, 0, keepdims=False) for x in xs]
        first_dims = [None if d is None else d - 1 for d in x_dims]
    # An element that takes another branch of a `cond` brings the count of that branch.
    count = elementwise.min_p.bind(count, families.full_like(count, length))
    some = elementwise.gt(count, np.zeros((), scalar.dtype)[()])
    fixed, fixed_dims = settled_operands(
        some, firsts + parts.consts, first_dims + dims_of.consts
    )
    closed, more = inner_programs.absorb(_mask_step(params, len(firsts)))
    rows = np.arange(length, dtype=scalar.dtype)
    most = reductions.reduce_max_p.bind(count, axes=(0,))
    inputs = [*more, count, *fixed, *parts.carry, rows, *xs]
    in_dims = [*[None] * len(more), 0, *fixed_dims, *dims_of.carry, None, *x_dims]
    n_consts = len(more) + 1 + len(fixed)
    params = {**params, "jaxpr": closed, "num_consts": n_consts}
    return scan.batch(Counted(most), axis, inputs, in_dims, **params)


def _mask_step(params: Any, n_firsts: int) -> ir.ClosedOlympuspr:
    """A step of one element, which does nothing once the element has taken its own.

    It takes more constants: the element's count, and the slices of its first step. Of
    what is scanned over, the number of the row comes first.
    """
    body, n_carry = params["jaxpr"], params["num_carry"]
    start = 1 + n_firsts
    ends = start + params["num_consts"], start + params["num_consts"] + n_carry

    def run(*args: Any) -> list[Any]:
        count, *firsts = args[:start]
        consts, carry = args[start : ends[0]], args[ends[0] : ends[1]]
        row, *xs = args[ends[1] :]
        active = elementwise.lt(row, count)
        inputs = [instead(active, x, x) for x in carry]
        inputs += [instead(active, x, y) for x, y in zip(xs, firsts or xs, strict=True)]
        outs = ir.program_as_function(body)(*consts, *inputs)
        return keep_done(active, carry, outs)

    avals = body.in_avals
    scalar = loop_lowering.counter(params["length"])
    n = params["num_consts"] + n_carry
    firsts = avals[n : n + n_firsts]
    in_avals = [scalar, *firsts, *avals[:n], scalar, *avals[n:]]
    info = inner_programs.forget_argument_names(body.olympuspr.debug_info) or _INFO
    return ir.ClosedOlympuspr(*partial_eval.trace_to_olympuspr(run, in_avals, info))


def settled_operands(
    some: Any, operands: Sequence[Any], dims: Sequence[int | None]
) -> tuple[list[Any], list[int | None]]:
    """Operands of a batch, where elements that take no step get harmless values.

    A step still runs for them, and its derivative may be infinite, which times zero is
    NaN. They get the operands of an element that takes steps.

    Args:
      some: bool [batch], which elements take a step.
      operands: values, mapped as `dims` says.
      dims: the mapped axis of each, or None.

    Returns:
      The operands, mapped in front, and where that is.
    """
    size = avals_.aval_of(some).shape[0]
    if not size:
        return list(operands), list(dims)
    with_steps = reductions.argmax(some, 0, np.int32)
    return [
        x
        if d is None
        else _fill_unselected(some, with_steps, families.move_axis(x, d, 0))
        for x, d in zip(operands, dims, strict=True)
    ], [None if d is None else 0 for d in dims]


def _fill_unselected(some: Any, chosen: Any, x: Any) -> Any:
    shape = avals_.aval_of(x).shape
    other = slicing.dynamic_index_in_dim(barriers.stop_gradient_p.bind(x), chosen, 0)
    other = families.broadcast_in_dim_p.bind(
        other,
        shape=shape,
        broadcast_dimensions=tuple(range(len(shape))),
        sharding=None,
    )
    return select_rows(some, [other, x])


def instead(active: Any, x: Any, other: Any) -> Any:
    """`x` where a step is taken; elsewhere a value that passes no derivatives."""
    if other is x and not is_inexact(x):
        return x
    return choose(active, x, barriers.stop_gradient_p.bind(other))


def is_inexact(x: Any) -> bool:
    """Whether values of this type have derivatives."""
    return dtypes.issubdtype(avals_.aval_of(x).dtype, np.inexact)


def choose(active: Any, x: Any, y: Any) -> Any:
    """`x` where `active`, a scalar, is true; `y` elsewhere."""
    return elementwise.select_n_p.bind(active, y, x)


def keep_done(active: Any, carry: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
    """Results of a step: the carry as it was, and zeros, where no step is taken."""
    n = len(carry)
    new = [choose(active, x, old) for x, old in zip(outs[:n], carry, strict=True)]
    return new + [
        choose(active, y, families.full_like(y, 0)) if _is_number(y) else y
        for y in outs[n:]
    ]


def _is_number(x: Any) -> bool:
    return not isinstance(avals_.aval_of(x).dtype, dtypes.ExtendedDType)


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    p = Counted(primals[0])
    return scan_derivatives.jvp(p, primals[1:], tangents[1:], **params)


def _linearize(primals: Any, tangents: Any, **params: Any) -> Any:
    return scan_derivatives.linearize(
        Counted(primals[0]),
        primals[1:],
        tangents[1:],
        split=SPLITS[params["keep"]],
        **params,
    )


def _transpose(cts: Any, count: Any, *args: Any, **params: Any) -> Any:
    operand_cts = scan_derivatives.transpose(Counted(count), cts, *args, **params)
    return [None, *operand_cts]


def _print(eqn: ir.Eqn) -> Any:
    return [(k, eqn.params[k]) for k in _PRINTED]


_PRINTED = (
    "jaxpr",
    "keep",
    "length",
    "num_carry",
    "num_consts",
    "reverse",
)

counted_scan_p = Primitive(
    "counted_scan",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=_abstract,
    key_reuse=LateRule("control_flow.key_reuse", "counted_scan"),
    effects=_effects,
    check=_check,
    lower=_lower,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    dce=lambda used, eqn: scan.dce(used, eqn, 1),
    print=_print,
    needs_full_build=True,
    checkify=control_flow.counted_scan,
    impl=inner_programs.compiled_impl(),
    to_low=LateRule("control_flow.hi_lowering", "counted_scan"),
)
