"""`bounded_while`: a loop until a condition fails, of at most so many steps.

The bound is the size of the derivative's buffers: what each step's derivative needs is
written into buffers of that many rows, and the loop of cotangents runs back over the
rows that were filled. Nothing runs for the steps that were not taken.

To keep less, the steps are divided among nested loops. All but the innermost keep only
the carry of each of their steps and repeat the step when the derivative needs it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.checkify import control_flow
from olympus._src.control_flow import (
    counted_scan,
    loop_batching,
    loop_lowering,
    scan,
    scan_derivatives,
    while_operands,
)
from olympus._src.core import avals as avals_
from olympus._src.core import effects, ir
from olympus._src.core.primitive import (
    LateRule,
    Primitive,
    as_abstract_says,
    takes_primitive,
)
from olympus._src.interpreters import batching
from olympus._src.lax import elementwise, families, reductions
from olympus._src.programs import inner_programs
from olympus._src.programs.scan_operands import Parts as ScanParts
from olympus._src.programs.while_operands import Parts

ShapedArray = avals_.ShapedArray


class _AsScan:
    """Applies a bounded loop as `scan_p` is applied, so that rules of `scan` serve it.

    Attributes:
      count: the number of steps, once it was applied.
    """

    __slots__ = ("_cond_consts", "_params", "count")

    def __init__(self, cond_consts: list[Any], params: Any) -> None:
        self._cond_consts = cond_consts
        self._params = params
        self.count: Any = None

    def bind(
        self, *args: Any, jaxpr: Any, num_consts: int, num_carry: int, **_: Any
    ) -> list[Any]:
        """Applies it; carries that the condition does not know follow those it does."""
        test = self._params["cond_jaxpr"].olympuspr
        known = len(self._cond_consts) + num_carry
        more = [ir.Var(aval) for aval in jaxpr.out_avals[:num_carry]]
        more = more[len(test.invars) - known + num_carry :]
        if more:
            info = inner_programs.forget_argument_names(test.debug_info)
            test = test.replace(invars=test.invars + more, debug_info=info)
        self.count, *outs = bounded_while_p.bind(
            *self._cond_consts,
            *args,
            **{
                **self._params,
                "body_jaxpr": jaxpr,
                "body_nconsts": num_consts,
                "cond_jaxpr": ir.ClosedOlympuspr(test),
            },
        )
        return outs


class _LinearLoop:
    """Applies the loop of tangents, which runs over the rows that were filled."""

    __slots__ = ("_forward",)

    def __init__(self, forward: _AsScan) -> None:
        self._forward = forward

    def bind(self, *args: Any, **params: Any) -> list[Any]:
        """As `scan_p.bind`."""
        return counted_scan.Counted(self._forward.count).bind(*args, **params)


def _scan_params(params: Any) -> dict[str, Any]:
    """The parameters by the names that `scan` has for them."""
    body = params["body_jaxpr"]
    n_carry = len(params["cond_jaxpr"].in_avals) - params["cond_nconsts"]
    return {
        "jaxpr": body,
        "num_consts": params["body_nconsts"],
        "num_carry": n_carry,
        "length": params["max_steps"],
        "reverse": False,
        "keep": params["keep"],
    }


# -- rules -----------------------------------------------------------------------------


def _abstract(*args: Any, body_jaxpr: Any, max_steps: int, **params: Any) -> Any:
    n_carry = len(args) - params["cond_nconsts"] - params["body_nconsts"]
    outs = body_jaxpr.out_avals
    rows = [scan.stacked_aval(a, max_steps) for a in outs[n_carry:]]
    return [loop_lowering.counter(max_steps), *outs[:n_carry], *rows]


def _effects(*args: Any, body_jaxpr: Any, cond_jaxpr: Any, **params: Any) -> Any:
    return inner_programs.join_effects("while_loop", body_jaxpr, cond_jaxpr)


def _check(*args: Any, **params: Any) -> None:
    parts = Parts(args, params)
    test = params["cond_jaxpr"]
    operands = parts.cond_consts + parts.carry
    inner_programs.check_operand_types(
        "bounded_while, condition", operands, test.in_avals
    )
    (pred,) = test.out_avals
    if not inner_programs.same_type(pred, loop_lowering.FLAG):
        raise TypeError(f"bounded_while: the condition has type {pred.short()}")
    scan.check(*parts.body_consts, *parts.carry, **_scan_params(params))


def _lower(ctx: Any, *operands: str, **params: Any) -> list[str]:
    body, test = params["body_jaxpr"], params["cond_jaxpr"]
    n_test, bound = params["cond_nconsts"], params["max_steps"]
    as_scan = _scan_params(params)
    kind = loop_lowering.counter(bound)

    def write_test(block: Any, i: str, consts: list[str], carry: list[str]) -> str:
        end = block.constant(bound, kind)
        is_below_bound = block.compare("LT", i, end, kind, "SIGNED", loop_lowering.FLAG)
        args = consts[:n_test] + carry
        (more,) = inner_programs.lower_closed(ctx, block, test, args)
        return block.elementwise(
            "stablehlo.and", (is_below_bound, more), loop_lowering.FLAG
        )

    n_carry = as_scan["num_carry"]
    loop = loop_lowering.Scan(
        ctx,
        length=bound,
        reverse=False,
        unroll=1,
        num_carry=n_carry,
        ordered=effects.ordered(body.effects),
        body=lambda block, args: inner_programs.lower_closed(
            ctx, block, body, args[n_test:]
        ),
        y_avals=ctx.avals_out[1 + n_carry :],
        test=write_test,
    )
    as_scan["num_consts"] += n_test
    parts = ScanParts(operands, as_scan)
    count, outs = loop.write(parts, ScanParts(ctx.avals_in, as_scan))
    return [count, *outs]


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    n = params["cond_nconsts"]
    p = _AsScan(list(primals[:n]), params)
    outs, slopes = scan_derivatives.jvp(
        p, primals[n:], tangents[n:], **_scan_params(params)
    )
    return [p.count, *outs], [scan_derivatives.zero_of(p.count), *slopes]


def _linearize(primals: Any, tangents: Any, **params: Any) -> Any:
    n = params["cond_nconsts"]
    p = _AsScan(list(primals[:n]), params)
    outs, apply = scan_derivatives.linearize(
        p,
        primals[n:],
        tangents[n:],
        linear_p=_LinearLoop(p),
        split=counted_scan.SPLITS[params["keep"]],
        **_scan_params(params),
    )
    zero = scan_derivatives.zero_of(p.count)
    return [p.count, *outs], lambda: [zero, *apply()]


# -- batching --------------------------------------------------------------------------


def _batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    parts, dims_of = Parts(args, params), Parts(dims, params)
    tests, pred_dim, _ = loop_batching.batch_condition(
        axis, params, dims_of.cond_consts, dims_of.body_consts, dims_of.carry
    )
    if pred_dim is not None:
        hoisted = inner_programs.batch_with_hoisted_effects(
            bounded_while_p, axis, args, dims, params
        )
        return hoisted or _batch_masked(axis, parts, dims_of, params)
    tests, test_consts = inner_programs.absorb(tests)
    new = {
        **params,
        "cond_jaxpr": tests,
        "cond_nconsts": len(test_consts) + params["cond_nconsts"],
    }
    p = _AsScan(test_consts + parts.cond_consts, new)
    operands = parts.body_consts + parts.carry
    operand_dims = dims_of.body_consts + dims_of.carry
    outs, out_dims = scan.batch(p, axis, operands, operand_dims, **_scan_params(params))
    return [p.count, *outs], [None, *out_dims]


def _batch_masked(axis: Any, parts: Parts, dims_of: Parts, params: Any) -> Any:
    """A condition for each element: the loop runs while it holds for an element.

    The carry has two more values: whether the element continues, and how many steps it
    took. An element that is done keeps its carry. What then runs for it runs on its
    first carry, so that the derivative is as finite as that of its own steps.
    """
    body, test = params["body_jaxpr"], params["cond_jaxpr"]
    inner_programs.refuse_unmasked("while_loop", body, test)
    loop_batching.refuse_high_types(
        "while_loop with max_steps", "condition", body.out_avals
    )
    all_carries = [True] * len(parts.carry)
    carry = loop_batching.carry_at_front(axis, parts.carry, dims_of.carry, all_carries)
    n = len(carry)
    in_dims = (*dims_of.cond_consts, *[0] * n)
    tests, _ = batching.batch_olympuspr(test, axis, in_dims, True)
    (first,) = ir.program_as_function(tests)(*parts.cond_consts, *carry)
    fixed, fixed_dims = counted_scan.settled_operands(
        first, parts.body_consts + carry, dims_of.body_consts + [0] * n
    )
    consts = parts.cond_consts + fixed
    const_dims = (*dims_of.cond_consts, *fixed_dims)
    zero = np.zeros((), loop_lowering.counter(params["max_steps"]).dtype)[()]
    carry = [first, families.insert_axis(zero, 0, axis.size), *carry]
    force = (*[True] * len(carry), *[False] * (len(body.out_avals) - n))
    batched, out_dims = batching.batch_olympuspr(
        _with_condition(params), axis, (*const_dims, *[0] * len(carry)), force
    )
    batched, more = inner_programs.absorb(batched)
    new = {
        **params,
        "body_jaxpr": batched,
        "body_nconsts": len(more) + len(consts),
        "cond_jaxpr": _any_goes_on([avals_.aval_of(x) for x in carry]),
        "cond_nconsts": 0,
    }
    outs = bounded_while_p.bind(*more, *consts, *carry, **new)
    _, _, count, *outs = outs
    y_dims = [None if d is None else d + 1 for d in out_dims[len(carry) :]]
    return [count, *outs], [0, *[0] * n, *y_dims]


def _with_condition(params: Any) -> ir.ClosedOlympuspr:
    """A step of one element, which carries whether it continues and its steps."""
    body, test = params["body_jaxpr"], params["cond_jaxpr"]
    n_test = params["cond_nconsts"]
    n = n_test + params["body_nconsts"]
    n_carry = len(test.in_avals) - n_test
    kind = loop_lowering.counter(params["max_steps"])

    def step(*args: Any) -> list[Any]:
        consts, operands = args[:n], args[n:]
        firsts, (active, count, *carry) = operands[:n_carry], operands[n_carry:]
        inputs = [
            counted_scan.instead(active, x, first)
            for x, first in zip(carry, firsts, strict=True)
        ]
        outs = ir.program_as_function(body)(*consts[n_test:], *inputs)
        outs = counted_scan.keep_done(active, carry, outs)
        new = outs[: len(carry)]
        (more,) = ir.program_as_function(test)(*consts[:n_test], *new)
        increment = elementwise.convert(active, kind.dtype)
        goes_on = elementwise.bitwise_and(active, more)
        return [goes_on, elementwise.add(count, increment), *outs]

    test_consts, carry = test.in_avals[:n_test], test.in_avals[n_test:]
    consts = test_consts + body.in_avals[: n - n_test]
    in_avals = [*consts, *carry, loop_lowering.FLAG, kind, *carry]
    return _trace_step(step, in_avals, body)


def _any_goes_on(carry_avals: Sequence[Any]) -> ir.ClosedOlympuspr:
    def test(active: Any, *rest: Any) -> list[Any]:
        return [reductions.reduce_or_p.bind(active, axes=(0,))]

    return _trace_step(test, carry_avals, None)


def _trace_step(run: Any, in_avals: Sequence[Any], closed: Any) -> ir.ClosedOlympuspr:
    return inner_programs.retrace(run, in_avals, closed, "while_loop", "condition")


# -- the record ------------------------------------------------------------------------


def _print(eqn: ir.Eqn) -> Any:
    return [(k, eqn.params[k]) for k in _PRINTED]


_PRINTED = (
    "body_jaxpr",
    "body_nconsts",
    "cond_jaxpr",
    "cond_nconsts",
    "keep",
    "max_steps",
)

bounded_while_p = Primitive(
    "bounded_while",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=_abstract,
    key_reuse=LateRule("control_flow.key_reuse", "bounded_while"),
    effects=_effects,
    check=_check,
    lower=_lower,
    jvp=_jvp,
    linearize=_linearize,
    batch=_batch,
    dce=functools.partial(while_operands.drop_unused, before=1),
    discharge=LateRule("control_flow.discharging", "bounded_while"),
    to_low=LateRule("control_flow.hi_lowering", "bounded_while"),
    print=_print,
    needs_full_build=True,
    impl=inner_programs.compiled_impl(),
    checkify=takes_primitive(functools.partial(control_flow.while_loop, before=1)),
)


# -- loops in loops --------------------------------------------------------------------


def levels(max_steps: int, checkpoints: Any) -> list[int]:
    """How many steps each of the nested loops takes, the outermost first.

    Args:
      max_steps: how many steps they must allow together.
      checkpoints: `"all"`, `"sqrt"`, `"log"`, or about how many carries to keep.
    """
    depth = 1
    if checkpoints == "sqrt":
        depth = 2
    elif checkpoints == "log":
        depth = max(math.ceil(math.log10(max(max_steps, 1))), 1)
    elif checkpoints != "all":
        most = max(max_steps, 2).bit_length()
        capacities = [(sum(_split_evenly(max_steps, d)), d) for d in range(1, most + 1)]
        fitting = [d for capacity, d in capacities if capacity <= checkpoints]
        depth = fitting[0] if fitting else min(capacities)[1]
    return _split_evenly(max_steps, depth)


def _split_evenly(max_steps: int, depth: int) -> list[int]:
    """Numbers as equal as may be whose product is `max_steps` or a little more."""
    factors = []
    quotient = max_steps
    for left in range(depth, 1, -1):
        n = max(round(quotient ** (1.0 / left)), 1)
        factors.append(n)
        quotient = -(-quotient // n)
    return [*factors, quotient]


def apply_bounded_while(
    test: ir.ClosedOlympuspr,
    body: ir.ClosedOlympuspr,
    consts: tuple[list[Any], list[Any]],
    carry: list[Any],
    max_steps: int,
    checkpoints: Any,
) -> list[Any]:
    """Applies a bounded loop that keeps what `checkpoints` says.

    Args:
      test, body: programs of constants and the carry.
      consts: those of the condition and those of the body.
      carry: its first values.
      max_steps: the maximal number of steps.
      checkpoints: see `levels`.

    Returns:
      The last carry.
    """
    sizes = levels(max_steps, checkpoints)
    test_consts, body_consts = consts
    if len(sizes) == 1:
        return _bind(test, body, test_consts, body_consts, carry, max_steps, "all")[1:]
    # The steps of all levels are counted together.
    n_test, consts_ = len(test_consts), [*test_consts, *body_consts]
    test, body = _add_counter(test, body, n_test, len(consts_), max_steps)
    keep = "all"
    for size in sizes[:0:-1]:
        body = _level(test, body, n_test, len(consts_), size, keep)
        keep = "carry"
    zero = np.zeros((), loop_lowering.counter(max_steps).dtype)[()]
    start = [zero, *carry]
    return _bind(test, body, test_consts, consts_, start, sizes[0], keep)[2:]


def _bind(
    test: Any,
    body: Any,
    test_consts: list[Any],
    body_consts: list[Any],
    carry: Sequence[Any],
    max_steps: int,
    keep: str,
) -> list[Any]:
    return bounded_while_p.bind(
        *test_consts,
        *body_consts,
        *carry,
        body_jaxpr=body,
        body_nconsts=len(body_consts),
        cond_jaxpr=test,
        cond_nconsts=len(test_consts),
        keep=keep,
        max_steps=max_steps,
    )


def _add_counter(
    test: Any, body: Any, n_test: int, n: int, max_steps: int
) -> tuple[ir.ClosedOlympuspr, ir.ClosedOlympuspr]:
    """The loop's programs with the number of steps taken as first carry.

    The body takes the constants of the condition and then its own.
    """
    kind = loop_lowering.counter(max_steps)

    def counting_test(*args: Any) -> list[Any]:
        consts, (i, *carry) = args[:n_test], args[n_test:]
        (more,) = ir.eval_olympuspr(test.olympuspr, test.consts, *consts, *carry)
        below_limit = elementwise.lt(i, families.number_of(max_steps, kind.dtype))
        return [elementwise.bitwise_and(below_limit, more)]

    def counting_body(*args: Any) -> list[Any]:
        consts, (i, *carry) = args[n_test:n], args[n:]
        outs = ir.eval_olympuspr(body.olympuspr, body.consts, *consts, *carry)
        return [elementwise.add(i, np.ones((), kind.dtype)[()]), *outs]

    test_consts, carry = test.in_avals[:n_test], test.in_avals[n_test:]
    consts = test_consts + body.in_avals[: n - n_test]
    return (
        _trace_step(counting_test, [*test_consts, kind, *carry], test),
        _trace_step(counting_body, [*consts, kind, *carry], body),
    )


def _level(
    test: Any, body: Any, n_test: int, n: int, size: int, keep: str
) -> ir.ClosedOlympuspr:
    """The body of the loop around: up to `size` steps of this one."""

    def run(*args: Any) -> list[Any]:
        consts, carry = list(args[:n]), args[n:]
        return _bind(test, body, consts[:n_test], consts, carry, size, keep)[1:]

    return _trace_step(run, body.in_avals, body)
