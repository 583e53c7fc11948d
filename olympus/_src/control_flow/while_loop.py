"""`while`: applies a program to a carry while a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.checkify import control_flow
from olympus._src.control_flow import (
    bounded_while,
    cond,
    loop_batching,
    loop_lowering,
    scan,
    scan_derivatives,
    while_operands,
)
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, effects, ir, trace
from olympus._src.core.array_type import ArrayLike, PyTree
from olympus._src.core.primitive import LateRule, Primitive, as_abstract_says
from olympus._src.foundation import config, errors
from olympus._src.interpreters import batching, partial_eval
from olympus._src.lax import families, reductions
from olympus._src.lowering import types
from olympus._src.programs import divided_results, inner_programs, series
from olympus._src.programs.while_operands import Parts

BOOL = np.dtype(np.bool_)
ShapedArray = avals_.ShapedArray


def _abstract(*args: Any, body_jaxpr: Any, **params: Any) -> Any:
    return body_jaxpr.out_avals


def _effects(*args: Any, body_jaxpr: Any, cond_jaxpr: Any, **params: Any) -> Any:
    return inner_programs.join_effects("while_loop", body_jaxpr, cond_jaxpr)


def _check(*args: Any, **params: Any) -> None:
    parts = Parts(args, params)
    body, test = params["body_jaxpr"], params["cond_jaxpr"]
    inner_programs.check_operand_types(
        "while, body", parts.body_consts + parts.carry, body.in_avals
    )
    inner_programs.check_operand_types(
        "while, condition", parts.cond_consts + parts.carry, test.in_avals
    )
    inner_programs.check_operand_types("while, next carry", body.out_avals, parts.carry)
    (pred,) = test.out_avals
    n = pred.ndim
    if pred.dtype != BOOL or any(a.shape[:n] != pred.shape for a in parts.carry):
        raise TypeError(
            f"while: the condition has type {pred.short()}; it must be of dtype bool "
            "and have the first sizes of every carry"
        )


# -- lowering --------------------------------------------------------------------------


def _lower(ctx: Any, *operands: str, **params: Any) -> list[str]:
    body, test = params["body_jaxpr"], params["cond_jaxpr"]
    (pred_aval,) = test.out_avals
    cond.refuse_dead_lock(
        "while_loop: a loop whose condition devices find differently",
        pred_aval,
        [body, test],
    )
    in_test = effects.ordered(test.effects)
    if pred_aval.shape or in_test:
        return _lower_tested_in_body(ctx, operands, params)
    parts, avals = Parts(operands, params), Parts(ctx.avals_in, params)
    n = len(operands) - len(parts.carry)

    def write_test(block: Any, names: list[str]) -> str:
        inner = names[: len(parts.cond_consts)] + names[n:]
        return inner_programs.lower_closed(ctx, block, test, inner)[0]

    def write_body(block: Any, names: list[str]) -> list[str]:
        inner = names[len(parts.cond_consts) :]
        return names[:n] + inner_programs.lower_closed(ctx, block, body, inner)

    carried = avals.cond_consts + avals.body_consts + avals.carry
    ordered = effects.ordered(body.effects)
    return loop_lowering.emit_while(
        ctx.block, ordered, operands, carried, write_test, write_body
    )[n:]


def _lower_tested_in_body(ctx: Any, operands: Any, params: Any) -> list[str]:
    """Carries the condition's value along.

    So each element of a mapped condition stops by itself, and tokens of effects in the
    condition get out of it, which the region for conditions does not allow.
    """
    body, test = params["body_jaxpr"], params["cond_jaxpr"]
    parts, avals = Parts(operands, params), Parts(ctx.avals_in, params)
    (pred_aval,) = test.out_avals
    n = len(operands) - len(parts.carry)

    def evaluate_test(block: Any, names: Sequence[str]) -> str:
        inner = [*names[: len(parts.cond_consts)], *names[n:]]
        return inner_programs.lower_closed(ctx, block, test, inner)[0]

    def write_test(block: Any, names: list[str]) -> str:
        return _any(block, names[0], pred_aval)

    def write_body(block: Any, names: list[str]) -> list[str]:
        pred, *operands = names
        inner = operands[len(parts.cond_consts) :]
        new = inner_programs.lower_closed(ctx, block, body, inner)
        if pred_aval.shape:
            new = [
                _keep_finished(block, pred, pred_aval, x, old, aval)
                for x, old, aval in zip(new, operands[n:], avals.carry, strict=True)
            ]
        operands = operands[:n] + new
        return [evaluate_test(block, operands), *operands]

    first = evaluate_test(ctx.block, operands)
    carried = [pred_aval, *avals.cond_consts, *avals.body_consts, *avals.carry]
    ordered = effects.ordered(body.effects | test.effects)
    outs = loop_lowering.emit_while(
        ctx.block, ordered, [first, *operands], carried, write_test, write_body
    )
    return outs[1 + n :]


def _any(block: Any, pred: str, aval: Any) -> str:
    """Whether some element is true."""
    if not aval.shape:
        return pred
    scalar = ShapedArray((), aval.dtype)
    inner = block.inner()
    x, y = inner.arguments([scalar, scalar])
    out = inner.elementwise("stablehlo.or", (x, y), scalar)
    region = inner.region((x, y), (scalar, scalar), (out,), (scalar,))
    return block.op1(
        "stablehlo.reduce",
        [pred, block.constant(False, scalar)],
        [aval, scalar],
        scalar,
        f"dimensions = {types.i64_array(range(aval.ndim))}",
        [region],
    )


def _keep_finished(
    block: Any, pred: str, pred_aval: Any, new: str, old: str, aval: Any
) -> str:
    """The new carry where the condition held, the old one elsewhere."""
    aval = families.storage(aval)
    if aval.shape != pred_aval.shape:
        wide = ShapedArray(aval.shape, BOOL)
        pred = block.broadcast(pred, pred_aval, wide, range(pred_aval.ndim))
        pred_aval = wide
    kinds = f"{types.tensor_type(pred_aval)}, {types.tensor_type(aval)}"
    return block.emit(f"stablehlo.select {pred}, {new}, {old} : {kinds}")


# -- batching --------------------------------------------------------------------------


def _batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    body, test = params["body_jaxpr"], params["cond_jaxpr"]
    parts, dims_of = Parts(args, params), Parts(dims, params)
    tests, pred_dim, mapped = loop_batching.batch_condition(
        axis, params, dims_of.cond_consts, dims_of.body_consts, dims_of.carry
    )
    carry_dims = loop_batching.front_dims(body.out_avals, mapped)
    # The sizes in front of a mapped condition are those in front of each carry.
    nested = any(mapped) and bool(test.out_avals[0].shape)
    if pred_dim is not None or nested:
        hoisted = inner_programs.batch_with_hoisted_effects(
            while_p, axis, args, dims, params
        )
        if hoisted is not None:
            return hoisted
        inner_programs.refuse_unmasked("while_loop", body, test)
        carried_twice = _find_coupled(body.out_avals)
        if (test.effects or carried_twice) and not test.out_avals[0].shape:
            return _batch_masked(axis, parts, dims_of, body, test)
        mapped = [True] * len(mapped)
        carry_dims = loop_batching.front_dims(body.out_avals, mapped)
        in_dims = (*dims_of.cond_consts, *carry_dims)
        tests, _ = batching.batch_olympuspr(test, axis, in_dims, True)
    in_dims = (*dims_of.body_consts, *carry_dims)
    bodies, _ = batching.batch_olympuspr(body, axis, in_dims, tuple(mapped))
    carry = loop_batching.carry_at_front(axis, parts.carry, dims_of.carry, mapped)
    tests, new_test_consts = inner_programs.absorb(tests)
    bodies, new_body_consts = inner_programs.absorb(bodies)
    outs = while_p.bind(
        *new_test_consts,
        *parts.cond_consts,
        *new_body_consts,
        *parts.body_consts,
        *carry,
        body_jaxpr=bodies,
        body_nconsts=len(new_body_consts) + len(parts.body_consts),
        cond_jaxpr=tests,
        cond_nconsts=len(new_test_consts) + len(parts.cond_consts),
    )
    return outs, carry_dims


def _find_coupled(carry: Sequence[Any]) -> list[int]:
    """Which values have rows that the computation of other rows may read."""
    kinds = [getattr(aval, "dtype", None) for aval in carry]
    return [i for i, kind in enumerate(kinds) if dtypes.couples_rows(kind)]


def _batch_masked(axis: Any, parts: Parts, dims_of: Parts, body: Any, test: Any) -> Any:
    """The condition under debugging, which looks at the elements that are not done.

    So the carry has what the condition was, and each step asks it for the next one.

    Rows that others read are carried twice: as they were when their element was done,
    and as further steps make them. Otherwise an element that is done would give the
    others the same random numbers in every step, of which they might accept none.
    """
    loop_batching.refuse_high_types("while_loop", "condition", body.out_avals)
    all_carries = [True] * len(parts.carry)
    carry = loop_batching.carry_at_front(axis, parts.carry, dims_of.carry, all_carries)
    consts = parts.cond_consts + parts.body_consts
    ends = len(parts.cond_consts), len(consts)
    coupled, count = _find_coupled(body.out_avals), len(carry)

    def map_program(
        closed: Any, where: Any, first: Any, dims: Any, carried: Any
    ) -> Any:
        in_dims = (*dims, *[0] * len(carried))
        closed, _ = batching.batch_olympuspr(closed, where, in_dims, True)
        return ir.program_as_function(closed)(*first, *carried)

    def ask(where: Any, first: Any, carried: Any) -> Any:
        return map_program(test, where, first, dims_of.cond_consts, carried)[0]

    def step(*args: Any) -> list[Any]:
        (active, *old), body_consts = args[ends[1] :], args[ends[0] : ends[1]]
        old, running = old[:count], dict(zip(coupled, old[count:], strict=True))
        values = [running.get(i, x) for i, x in enumerate(old)]
        outs = map_program(body, axis, body_consts, dims_of.body_consts, values)
        pairs = zip(old, outs, strict=True)
        new = [cond.select_rows(active, pair) for pair in pairs]
        active = ask(axis.where(active), args[: ends[0]], new)
        return [active, *new, *[outs[i] for i in coupled]]

    def goes_on(active: Any, *_: Any) -> list[Any]:
        # A condition of several elements would choose in what is carried twice, too.
        return [reductions.reduce_or(active, (0,)) if coupled else active]

    first = ask(axis, parts.cond_consts, carry)
    carry = [first, *carry, *[carry[i] for i in coupled]]
    avals = [avals_.aval_of(x) for x in (*consts, *carry)]
    info = inner_programs.forget_argument_names(
        body.olympuspr.debug_info
    ) or ir.DebugInfo("vmap", "body")
    program, more = partial_eval.trace_to_olympuspr(step, avals, info)
    steps, more = inner_programs.absorb(ir.ClosedOlympuspr(program, more))
    info = ir.DebugInfo("vmap", "condition")
    test, _ = partial_eval.trace_to_olympuspr(
        goes_on, [avals_.aval_of(x) for x in carry], info
    )
    outs = while_p.bind(
        *more,
        *consts,
        *carry,
        body_jaxpr=steps,
        body_nconsts=len(more) + len(consts),
        cond_jaxpr=ir.ClosedOlympuspr(test),
        cond_nconsts=0,
    )
    return outs[1 : 1 + count], [0] * count


# -- derivatives -----------------------------------------------------------------------


def _settle_tangents(body: ir.Olympuspr, start: Parts) -> tuple[Any, list[bool]]:
    """The body with tangents, and which carries have nonzero ones in any step."""
    carry = start.carry
    while True:
        flags = [*start.body_consts, *carry]
        closed, out_nonzero = scan_derivatives.jvp_body(body, flags, carry)
        if out_nonzero == carry:
            return closed, carry
        carry = out_nonzero


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    body, test = params["body_jaxpr"].olympuspr, params["cond_jaxpr"].olympuspr
    values, slopes = Parts(primals, params), Parts(tangents, params)
    nonzero = Parts(scan_derivatives.nonzero_flags(tangents), params)
    n = len(values.carry)
    closed, nonzero.carry = _settle_tangents(body, nonzero)
    closed, new_consts = inner_programs.absorb(closed)
    carry_slopes = scan_derivatives.instantiate_flagged(slopes.carry, nonzero.carry)
    const_slopes = scan_derivatives.instantiate_flagged(
        slopes.body_consts, nonzero.body_consts
    )
    consts = [*new_consts, *values.body_consts]
    ends = len(consts), len(consts) + n, len(consts) + n + len(const_slopes)
    inputs = closed.olympuspr.invars
    reordered = closed.olympuspr.replace(
        invars=[
            *inputs[: ends[0]],
            *inputs[ends[1] : ends[2]],
            *inputs[ends[0] : ends[1]],
            *inputs[ends[2] :],
        ],
        debug_info=inner_programs.forget_argument_names(body.debug_info),
    )
    more = [ir.Var(v.aval) for v in inputs[ends[2] :]]
    info = inner_programs.forget_argument_names(test.debug_info)
    outs = while_p.bind(
        *values.cond_consts,
        *consts,
        *const_slopes,
        *values.carry,
        *carry_slopes,
        body_jaxpr=ir.ClosedOlympuspr(reordered),
        body_nconsts=len(consts) + len(const_slopes),
        cond_jaxpr=ir.ClosedOlympuspr(
            test.replace(invars=test.invars + more, debug_info=info)
        ),
        cond_nconsts=len(values.cond_consts),
    )
    avals = params["body_jaxpr"].out_avals
    return outs[:n], scan_derivatives.with_zeros(iter(outs[n:]), nonzero.carry, avals)


def _linearize(primals: Any, tangents: Any, **params: Any) -> Any:
    """The values by the loop itself; the tangents by the loop of both, on the tape.

    The number of steps is not known, so there is no place to keep what each step's
    derivative needs.
    """
    outs = while_p.bind(*primals, **params)
    return outs, lambda: _jvp(primals, tangents, **params)[1]


def _transpose(*args: Any, body_jaxpr: Any, **params: Any) -> Any:
    info = body_jaxpr.olympuspr.debug_info
    body = ""
    if info is not None and info.func_location:
        body = f" whose body is {info.func_name} at {info.func_location},"
    position = trace.current.position
    place = f" at {position}" if position is not None else ""
    raise ValueError(
        "while_loop: reverse-mode differentiation (grad, vjp) needs a bound on the "
        f"number of steps, got a while_loop, or a fori_loop with traced bounds,{body} "
        f"called{place} without one; pass max_steps=..., or use scan, or fori_loop "
        "with bounds that are Python integers, or forward mode (jvp, jacfwd)"
    )


# -- the record ------------------------------------------------------------------------


def _print(eqn: ir.Eqn) -> Any:
    return [(k, eqn.params[k]) for k in _PRINTED]


_PRINTED = ("body_jaxpr", "body_nconsts", "cond_jaxpr", "cond_nconsts")

while_p = Primitive(
    "while",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=_abstract,
    key_reuse=LateRule("control_flow.key_reuse", "while_loop"),
    effects=_effects,
    check=_check,
    lower=_lower,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    dce=while_operands.drop_unused,
    print=_print,
    needs_full_build=True,
    impl=inner_programs.compiled_impl(),
    checkify=control_flow.while_loop,
    discharge=LateRule("control_flow.discharging", "while_loop"),
    to_low=LateRule("control_flow.hi_lowering", "while_loop"),
    taylor=series.while_loop,
)


# -- what users call -------------------------------------------------------------------


def while_loop(
    cond_fun: Callable[[Any], ArrayLike],
    body_fun: Callable[[Any], Any],
    init_val: PyTree,
    *,
    max_steps: int | None = None,
    checkpoints: int | str = "all",
) -> PyTree:
    """Applies `body_fun` to a carry while `cond_fun` of it is true.

    The number of steps may depend on the data. Without a bound on it the loop has
    forward mode only. With `max_steps` it can be differentiated in reverse too: values
    are those of the plain loop, and both directions stop where it does.

    Args:
      cond_fun: takes the carry, returns a boolean scalar.
      body_fun: takes the carry, returns the next one: same structure, shapes, dtypes.
      init_val: the first carry, an array or a tree of arrays.
      max_steps: the maximal number of steps. After so many the loop stops, even where
        `cond_fun` is still true of the carry it returns.
      checkpoints: what the gradient keeps of n = `max_steps` steps. `"all"`: what each
        step's derivative needs, n times. `"sqrt"`: about 2 sqrt(n) carries; each step
        is taken twice. `"log"`: about 10 log10(n) carries; each step is taken about
        1 + log10(n) times. An integer: about so many carries, and as few repetitions as
        they allow.

    Returns:
      The first carry for which `cond_fun` is false, or the carry after `max_steps`.

    Raises:
      TypeError: `cond_fun` returns no boolean scalar, the carry changes its type, or
        `max_steps` is not an integer.
      ValueError: `max_steps` is negative, or `checkpoints` is none of the above or is
        given without `max_steps`.

    Source: `stablehlo.while`; nested checkpoints as in Griewank and Walther, Evaluating
    Derivatives (2008), chapter 12.

    Example:
      >>> import olympus
      >>> from olympus import lax
      >>> lax.while_loop(lambda x: x < 100, lambda x: x * 3, 1)
      Array(243, dtype=int32, weak_type=True)
      >>> def doubled(x):
      ...     return lax.while_loop(lambda c: c < 9.0, lambda c: 2 * c, x, max_steps=9)
      >>> olympus.grad(doubled)(3.0)
      Array(4., dtype=float32, weak_type=True)
    """
    inner_programs.check_callable("while_loop", cond_fun=cond_fun, body_fun=body_fun)
    bound = checked_bound("while_loop", max_steps, checkpoints)
    if max_steps is None and checkpoints != "all":
        raise ValueError(
            f"while_loop: checkpoints={checkpoints!r} needs max_steps, got none; pass "
            "the maximal number of steps"
        )
    if config.jit_disabled():
        try:
            return _python_loop(cond_fun, body_fun, init_val, max_steps)
        except errors.ConcretizationTypeError:
            pass  # the condition is traced: stage the loop
    leaves, structure = inner_programs.flatten_operands(
        "while_loop", "init_val", init_val
    )
    in_tree = tree.tree_structure((init_val,))
    test, body = _trace(cond_fun, body_fun, in_tree, leaves)
    _check_structure(body, structure)
    in_avals = [avals_.aval_of(x) for x in leaves]
    while True:
        next_avals = _vary_with_condition(test, body.out_avals)
        promoted = inner_programs.promote_carry(leaves, in_avals, next_avals)
        if promoted is None:
            break
        leaves = promoted
        test, body = _trace(cond_fun, body_fun, in_tree, leaves)
        in_avals = [avals_.aval_of(x) for x in leaves]
    body = inner_programs.vary_results(body, in_avals)
    body, divisions = divided_results.leave_undivided(body, in_avals)
    inner_programs.check_carry("while_loop", "body_fun", body, structure, in_avals)
    outs = _bind(test, body, leaves, bound)
    return structure.unflatten(divided_results.divide(outs, divisions))


def checked_bound(
    what: str, max_steps: Any, checkpoints: Any
) -> tuple[int | None, Any]:
    """The bound on the number of steps, if there is one, and what to keep of them."""
    named = isinstance(checkpoints, str) and checkpoints in ("all", "sqrt", "log")
    number = hasattr(checkpoints, "__index__") and not isinstance(checkpoints, bool)
    if not named and not (number and checkpoints.__index__() > 0):
        raise ValueError(
            f"{what}: checkpoints must be 'all', 'sqrt', 'log' or a positive integer, "
            f"got {checkpoints!r}; pass one of those"
        )
    if max_steps is None:
        return None, checkpoints
    if isinstance(max_steps, bool) or not hasattr(max_steps, "__index__"):
        raise TypeError(
            f"{what}: max_steps must be an integer, got "
            f"{inner_programs.value_text(max_steps)}; "
            "pass an int"
        )
    try:
        max_steps = max_steps.__index__()
    except errors.TracerIntegerConversionError as e:
        raise TypeError(
            f"{what}: max_steps must be known when the loop is traced, since it is "
            "the size of the buffers for residuals, got a traced value; pass an int, "
            f"or make the argument static\n{e}"
        ) from None
    if max_steps < 0:
        raise ValueError(
            f"{what}: max_steps must not be negative, got {max_steps}; pass the "
            "maximal number of steps"
        )
    return max_steps, checkpoints


def _trace(cond_fun: Any, body_fun: Any, in_tree: Any, leaves: list[Any]) -> Any:
    in_avals = [avals_.aval_of(x) for x in leaves]
    test = inner_programs.trace_body(cond_fun, "while_loop", in_tree, in_avals)
    _check_condition(test)
    return test, inner_programs.trace_body(body_fun, "while_loop", in_tree, in_avals)


def _python_loop(cond_fun: Any, body_fun: Any, value: Any, max_steps: Any) -> Any:
    steps = 0
    while (max_steps is None or steps < max_steps) and cond_fun(value):
        value = body_fun(value)
        steps += 1
    return value


def _check_condition(test: inner_programs.Body) -> None:
    fine = tree.is_one_leaf(test.out_tree)
    if fine and type(test.out_avals[0]) is ShapedArray:
        aval = test.out_avals[0].strip_weak_type().update(vma=frozenset())
        if aval is ShapedArray((), BOOL):
            return
    got = test.out_avals[0].short() if fine else f"the structure {test.out_tree}"
    raise TypeError(
        f"while_loop: cond_fun {inner_programs.fun_text(test.fun)} must return a "
        "boolean "
        f"scalar, got {got}; compare values, and reduce arrays with numpy.all or "
        "numpy.any"
    )


def _vary_with_condition(test: inner_programs.Body, avals: Sequence[Any]) -> list[Any]:
    """Types of carries where devices whose conditions differ take other steps."""
    axes = test.out_avals[0].vma
    if not axes:
        return list(avals)
    return [a if a.is_high else a.update(vma=a.vma | axes) for a in avals]


def _check_structure(body: inner_programs.Body, structure: Any) -> None:
    if body.out_tree != structure:
        places = inner_programs.structure_mismatch(
            structure, body.out_tree, "the carry", "the result"
        )
        raise TypeError(
            f"while_loop: body_fun {inner_programs.fun_text(body.fun)} must return "
            "a carry "
            f"of the input's structure, got {places}; return every part of the carry"
        )


def _bind(
    test: inner_programs.Body,
    body: inner_programs.Body,
    leaves: list[Any],
    bound: tuple[int | None, Any],
) -> list[Any]:
    """Applies the primitive; carries that never change become constants."""
    fixed = _fixed_carries(test.program, body.program)
    body_consts = body.consts + [x for x, f in zip(leaves, fixed, strict=True) if f]
    closed_body = body.program.derived(
        ("fixed", tuple(fixed)),
        lambda p: ir.ClosedOlympuspr(ir.hoist_consts(scan.fix_inputs(p, fixed))),
    )
    closed_test = test.program.derived(
        ("fixed", tuple(fixed)),
        lambda p: ir.ClosedOlympuspr(ir.hoist_consts(scan.drop_inputs(p, fixed))),
    )
    varying = [x for x, f in zip(leaves, fixed, strict=True) if not f]
    max_steps, checkpoints = bound
    if max_steps is not None:
        consts = (list(test.consts), body_consts)
        last = bounded_while.apply_bounded_while(
            closed_test, closed_body, consts, varying, max_steps, checkpoints
        )
    else:
        last = while_p.bind(
            *test.consts,
            *body_consts,
            *varying,
            body_jaxpr=closed_body,
            body_nconsts=len(body_consts),
            cond_jaxpr=closed_test,
            cond_nconsts=len(test.consts),
        )
    outs = iter(last)
    return [
        inner_programs.loop_invariant_result(x) if f else next(outs)
        for x, f in zip(leaves, fixed, strict=True)
    ]


def _fixed_carries(test: ir.Olympuspr, body: ir.Olympuspr) -> list[bool]:
    """Carries that the body returns as they are and the condition does not read."""
    read = {v for eqn in test.eqns for v in eqn.invars if type(v) is not ir.Literal}
    read.update(v for v in test.outvars if type(v) is not ir.Literal)
    rows = zip(body.invars, body.outvars, test.invars, strict=True)
    return [x is y and t not in read for x, y, t in rows]
