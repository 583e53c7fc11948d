"""`scan`: a loop over the leading axis of arrays that carries values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.checkify import control_flow
from olympus._src.control_flow import (
    loop_batching,
    loop_lowering,
    operand_groups,
    scan_derivatives,
)
from olympus._src.core import avals as avals_
from olympus._src.core import effects, ir, refs
from olympus._src.core.array_type import PyTree
from olympus._src.core.primitive import (
    LateRule,
    Primitive,
    as_abstract_says,
    takes_primitive,
)
from olympus._src.core.sizes import as_size, at_least
from olympus._src.foundation import config, errors
from olympus._src.interpreters import partial_eval
from olympus._src.lax import concatenation, sharding_rules, stacking
from olympus._src.programs import (
    divided_results,
    inner_programs,
    rematerialization,
    series,
)
from olympus._src.programs.scan_operands import Parts

ShapedArray = avals_.ShapedArray


def stacked_aval(aval: Any, length: Any) -> Any:
    """The type of as many rows as there are steps."""
    return aval.with_leading_axis(length)


def _slice_of(aval: Any, length: Any) -> Any:
    return aval.without_axis(0, length) if aval.is_high else aval.without_axis(0)


def _row_type(aval: Any, length: Any) -> Any:
    """The type of a row that the user's function takes."""
    if aval.explicit is not None:
        try:
            sharding_rules.refuse_divided(aval, (0,), "the axis of the steps")
        except errors.ShardingTypeError as error:
            raise errors.ShardingTypeError(f"scan: {error}") from None
    return _slice_of(aval, length)


def _abstract(*args: Any, jaxpr: Any, num_carry: int, length: Any, **_: Any) -> Any:
    outs = jaxpr.out_avals
    return outs[:num_carry] + [stacked_aval(a, length) for a in outs[num_carry:]]


def _effects(*args: Any, jaxpr: Any, **params: Any) -> Any:
    return inner_programs.join_effects("scan", jaxpr)


def check(*args: Any, **params: Any) -> None:
    """The rule of `scan_p.check`."""
    body, length = params["jaxpr"], params["length"]
    parts = Parts(args, params)
    for x in parts.xs:
        if not x.is_high and (not x.shape or x.shape[0] != length):
            raise TypeError(f"scan: {x.short()} is scanned over for {length} steps")
    slices = [_slice_of(x, length) for x in parts.xs]
    operands = parts.consts + parts.carry + slices
    inner_programs.check_operand_types("scan, body", operands, body.in_avals)
    carry_out = body.out_avals[: params["num_carry"]]
    inner_programs.check_operand_types("scan, next carry", carry_out, parts.carry)


# -- lowering --------------------------------------------------------------------------


def _lower(ctx: Any, *operands: str, **params: Any) -> list[str]:
    body, length = params["jaxpr"], params["length"]
    loop = loop_lowering.Scan(
        ctx,
        length=length,
        reverse=params["reverse"],
        unroll=max(params["unroll"], 1),
        num_carry=params["num_carry"],
        ordered=effects.ordered(body.effects),
        body=lambda block, args: inner_programs.lower_closed(ctx, block, body, args),
        y_avals=ctx.avals_out[params["num_carry"] :],
    )
    parts, avals = Parts(operands, params), Parts(ctx.avals_in, params)
    return loop.write(parts, avals)[1]


# -- batching --------------------------------------------------------------------------


@takes_primitive
def batch(p: Any, axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    """The rule of `scan_p.batch`, for every loop that is applied like it."""
    body = params["jaxpr"]
    parts, dims_of = Parts(args, params), Parts(dims, params)
    xs, x_dims = loop_batching.keep_scanned_axes(parts.xs, dims_of.xs)
    batched, out_dims, mapped = loop_batching.batch_step(
        axis,
        body,
        dims_of.consts,
        dims_of.carry,
        [None if d is None else d - 1 for d in x_dims],
    )
    carry_dims = loop_batching.front_dims(body.out_avals[: len(mapped)], mapped)
    carry = loop_batching.carry_at_front(axis, parts.carry, dims_of.carry, mapped)
    batched, new_consts = inner_programs.absorb(batched)
    params = {
        **params,
        "jaxpr": batched,
        "num_consts": len(new_consts) + params["num_consts"],
    }
    outs = p.bind(*new_consts, *parts.consts, *carry, *xs, **params)
    y_dims = loop_batching.behind_steps(out_dims[len(mapped) :])
    return outs, carry_dims + y_dims


# -- dead code -------------------------------------------------------------------------


def prune_carries(
    program: ir.Olympuspr,
    n_consts: int,
    used_carry: Sequence[bool],
    used_rest: Sequence[bool] = (),
) -> tuple[ir.Olympuspr, list[bool]]:
    """Removes carries of a loop that no used result depends on.

    Args:
      program: takes constants, carries and more; returns carries and more.
      n_consts: how many constants it takes.
      used_carry: which carries are used.
      used_rest: which further results are used.

    Returns:
      The smaller program, and which inputs it still takes.
    """
    used_carry = list(used_carry)
    end = n_consts + len(used_carry)
    n_rest = len(program.invars) - end
    while True:
        instantiate = [False] * n_consts + used_carry + [False] * n_rest
        small, used_inputs = partial_eval.dce_olympuspr(
            program, [*used_carry, *used_rest], instantiate
        )
        if used_inputs[n_consts:end] == used_carry:
            return small, used_inputs
        used_carry = used_inputs[n_consts:end]


def dce(used: list[bool], eqn: ir.Eqn, first: int = 0) -> Any:
    """The rule of `scan_p.dce`; `first` operands come before those of the scan."""
    params = eqn.params
    body, n_carry = params["jaxpr"], params["num_carry"]
    small, used_inputs = prune_carries(
        body.olympuspr, params["num_consts"], used[:n_carry], used[n_carry:]
    )
    parts = Parts(used_inputs, params)
    used = parts.carry + used[n_carry:]
    if partial_eval.is_whole(small, body.olympuspr):
        return [True] * len(eqn.invars), eqn
    used_inputs = [True] * first + used_inputs
    new = eqn.replace(
        invars=[v for v, k in zip(eqn.invars, used_inputs, strict=True) if k],
        outvars=[v for v, u in zip(eqn.outvars, used, strict=True) if u],
        params={
            **params,
            "jaxpr": ir.ClosedOlympuspr(small, body.consts),
            "num_consts": sum(parts.consts),
            "num_carry": sum(parts.carry),
        },
    )
    return used_inputs, new


def _print(eqn: ir.Eqn) -> Any:
    return [(k, eqn.params[k]) for k in _PRINTED]


_PRINTED = ("jaxpr", "length", "num_carry", "num_consts", "reverse", "unroll")


def _offer(trace_: Any, args: Any, params: Any) -> Any:
    described = operand_groups.describe_operands(len(args), params)
    return trace_.process_primitive(scan_p, args, described)


class _Scan(Primitive):
    """`scan`, which libraries may also apply with groups of operands."""

    __slots__ = ()

    def bind(self, *args: Any, **params: Any) -> Any:
        if "ft_in" in params:
            params = operand_groups.count_operands(params)
        return super().bind(*args, **params)


scan_p = _Scan(
    "scan",
    offer=_offer,
    vary=as_abstract_says,
    multiple_results=True,
    abstract=_abstract,
    key_reuse=LateRule("control_flow.key_reuse", "scan"),
    effects=_effects,
    check=check,
    lower=_lower,
    dce=dce,
    print=_print,
    needs_full_build=True,
    impl=inner_programs.compiled_impl(),
    batch=batch,
    checkify=control_flow.scan,
    discharge=LateRule("control_flow.discharging", "scan"),
    to_low=LateRule("control_flow.hi_lowering", "scan"),
    taylor=series.scan,
    jvp=scan_derivatives.jvp,
    linearize=scan_derivatives.linearize,
    transpose=scan_derivatives.transpose,
    split=rematerialization.scan,
)


# -- what users call -------------------------------------------------------------------


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: PyTree,
    xs: PyTree = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
) -> tuple[PyTree, PyTree]:
    """Applies `f` to a carry and to each slice of arrays along their first axis.

    In Python, with stacking along a new first axis::

        carry, ys = init, []
        for x in xs:
            carry, y = f(carry, x)
            ys.append(y)

    Args:
      f: takes the carry and a slice, returns the next carry and an output.
      init: the first carry, an array or a tree of arrays.
      xs: array [length, ...] or a tree of those; None to scan over no arrays. Of a ref
        each step gets its row as a ref, and may write to it.
      length: number of steps; required if `xs` has no arrays.
      reverse: go from the last slice to the first.
      unroll: steps to write out in each turn of the compiled loop, or True for all.

    Returns:
      The last carry, and the outputs stacked: each [length, ...].

    Raises:
      TypeError: the carry changes its structure, shape or dtype.
      ValueError: the arrays differ in length, or no length is known.

    Source: `stablehlo.while`.

    Example:
      >>> import numpy as np
      >>> from olympus import lax
      >>> lax.scan(lambda total, x: (total + x, total), 0, np.arange(4))
      (Array(6, dtype=int32), Array([0, 0, 1, 3], dtype=int32, weak_type=True))
    """
    inner_programs.check_callable("scan", f=f)
    xs_leaves, xs_tree = inner_programs.flatten_operands("scan", "xs", xs)
    steps = scan_length(xs, xs_leaves, length)
    turns = _unroll(unroll, steps)
    if config.jit_disabled():
        return _python_scan(f, init, xs_leaves, xs_tree, steps, reverse)
    leaves, init_tree = inner_programs.flatten_operands("scan", "init", init)
    x_avals = [_row_type(avals_.aval_of(x), steps) for x in xs_leaves]
    in_tree = tree.treedef_tuple((init_tree, xs_tree))
    body = _trace(f, in_tree, leaves, x_avals)
    _check_structure(body, init_tree)
    in_avals = [avals_.aval_of(x) for x in leaves]
    carry_out = body.out_avals[: len(leaves)]
    while True:
        promoted = inner_programs.promote_carry(leaves, in_avals, carry_out)
        if promoted is None:
            break
        leaves = promoted
        body = _trace(f, in_tree, leaves, x_avals)
        in_avals = [avals_.aval_of(x) for x in leaves]
        carry_out = body.out_avals[: len(leaves)]
    body = inner_programs.vary_results(body, in_avals)
    body, divisions = divided_results.leave_undivided(body, in_avals)
    inner_programs.check_carry("scan", "f", body, init_tree, in_avals)
    outs = _bind(body, leaves, xs_leaves, steps, bool(reverse), turns)
    outs = divided_results.divide(outs, divisions)
    carry_tree, ys_tree = body.trees
    n = len(leaves)
    return carry_tree.unflatten(outs[:n]), ys_tree.unflatten(outs[n:])


def _trace(f: Any, in_tree: Any, leaves: list[Any], x_avals: list[Any]) -> Any:
    in_avals = [avals_.aval_of(x) for x in leaves] + x_avals

    def pair(result: Any) -> Sequence[Any]:
        if isinstance(result, (tuple, list)) and len(result) == 2:
            return result
        got = inner_programs.value_text(result)
        if isinstance(result, (tuple, list)):
            got = f"{len(result)} values"
        raise TypeError(
            f"scan: f {inner_programs.fun_text(f)} must return a pair of the carry "
            "and an "
            f"output, got {got}; return (carry, None) for no output"
        )

    return inner_programs.trace_body(f, "scan", in_tree, in_avals, pair)


def _check_structure(body: inner_programs.Body, structure: Any) -> None:
    if body.trees[0] != structure:
        places = inner_programs.structure_mismatch(
            structure, body.trees[0], "the carry", "the result"
        )
        raise TypeError(
            f"scan: f {inner_programs.fun_text(body.fun)} must return a carry of the "
            f"input's structure, got {places}; return every part of the carry"
        )


def scan_length(xs: Any, leaves: list[Any], length: Any) -> Any:
    """The number of steps, from the arrays and the argument `length`."""
    sizes = []
    for x in leaves:
        aval = avals_.aval_of(x)
        if aval.is_high:
            if length is None:
                raise ValueError(
                    "scan: length must be given where xs holds values of high types, "
                    f"got {_leaf_name(xs, x)} of type {aval.short()}, whose leading "
                    "size is not known; pass length=..."
                )
            continue
        shape = aval.shape
        if not shape:
            raise ValueError(
                f"scan: xs must have a leading axis to scan over, got "
                f"{_leaf_name(xs, x)} of type {avals_.aval_of(x).short()}; close over "
                "scalars, or put them in the carry"
            )
        sizes.append(shape[0])
    if length is not None:
        return _check_length(length, sizes)
    if not sizes:
        raise ValueError(
            "scan: xs must hold an array or length must be given, got neither; pass "
            "length=..."
        )
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "scan: all of xs must have one leading size, got "
            f"{_listed_sizes(xs, sizes)}; slice them to the same length"
        )
    return sizes[0]


def _listed_sizes(xs: Any, sizes: Sequence[Any]) -> str:
    rows = zip(sizes, tree.tree_leaves_with_path(xs), strict=True)
    return ", ".join([f"{n} for xs{tree.keystr(path)}" for n, (path, _) in rows])


def _check_length(length: Any, sizes: Sequence[Any]) -> Any:
    if isinstance(length, float) and length.is_integer():  # as of n / 2
        length = int(length)
    try:
        length = as_size(length)
    except TypeError:
        raise TypeError(
            f"scan: length must be an integer, got {length!r}; pass an int"
        ) from None
    if not at_least(length, 0) and length < 0:
        raise ValueError(
            f"scan: length must not be negative, got {length}; pass the number of steps"
        )
    if any(size != length for size in sizes):
        raise ValueError(
            f"scan: length must be the leading size of xs, got length={length} and "
            f"sizes {', '.join(map(str, sizes))}; leave length out"
        )
    return length


def _leaf_name(xs: Any, leaf: Any) -> str:
    for path, x in tree.tree_flatten_with_path(xs)[0]:
        if x is leaf:
            return f"xs{tree.keystr(path)}"
    return "xs"


def _unroll(unroll: Any, length: Any) -> int:
    if isinstance(unroll, bool):
        return max(length, 1) if unroll else 1
    if not hasattr(unroll, "__index__") or unroll.__index__() < 0:
        raise ValueError(
            f"scan: unroll must be a bool or an integer that is not negative, got "
            f"{unroll!r}; pass True to unroll all steps"
        )
    return unroll.__index__()


def _python_scan(
    f: Any, carry: Any, xs: list[Any], xs_tree: Any, length: int, reverse: bool
) -> tuple[Any, Any]:
    """The loop in Python, for `disable_jit`."""
    if length == 0:
        raise ValueError(
            "scan: under disable_jit there must be a step, since its result tells the "
            "output's type, got length 0; run this scan with jit"
        )
    rows = range(length - 1, -1, -1) if reverse else range(length)
    ys = []
    for i in rows:
        carry, y = f(carry, xs_tree.unflatten([_row_of(x, i) for x in xs]))
        ys.append(y)
    if reverse:
        ys.reverse()
    columns = [tree.tree_flatten(y)[0] for y in ys]
    structure = tree.tree_structure(ys[0])
    stacked = [stacking.stack(column) for column in zip(*columns, strict=True)]
    return carry, structure.unflatten(stacked)


def _row_of(x: Any, i: int) -> Any:
    if refs.is_ref_type(avals_.aval_of(x)):
        return x.at[i]
    return concatenation.index_in_dim(x, i, 0, keepdims=False)


# -- carries that never change ---------------------------------------------------------


def _bind(
    body: inner_programs.Body,
    carry: list[Any],
    xs: list[Any],
    length: Any,
    reverse: bool,
    unroll: int,
) -> list[Any]:
    """Applies the primitive.

    A carry that never changes becomes a constant, and an output that is a slice of `xs`
    is that array: neither has to pass through the loop.
    """
    program, n = body.program, len(carry)
    rows = zip(program.invars[:n], program.outvars[:n], strict=True)
    fixed = [x is y for x, y in rows]
    slices = {v: i for i, v in enumerate(program.invars[n:])}
    passed = [
        None if type(v) is ir.Literal else slices.get(v) for v in program.outvars[n:]
    ]
    dropped = [p is not None for p in passed]
    closed = program.derived(
        ("fixed", tuple(fixed), tuple(dropped)),
        lambda p: ir.ClosedOlympuspr(ir.hoist_consts(fix_inputs(p, fixed, dropped))),
    )
    consts = body.consts + [x for x, f in zip(carry, fixed, strict=True) if f]
    varying = [x for x, f in zip(carry, fixed, strict=True) if not f]
    outs = iter(
        scan_p.bind(
            *consts,
            *varying,
            *xs,
            jaxpr=closed,
            length=length,
            num_carry=len(varying),
            num_consts=len(consts),
            reverse=reverse,
            unroll=unroll,
        )
    )
    last = [
        inner_programs.loop_invariant_result(x) if f else next(outs)
        for x, f in zip(carry, fixed, strict=True)
    ]
    return last + [
        next(outs) if p is None else inner_programs.passed_on(xs[p]) for p in passed
    ]


def fix_inputs(
    program: ir.Olympuspr,
    fixed: Sequence[bool],
    dropped: Sequence[bool] = (),
) -> ir.Olympuspr:
    """A loop's body with some carries as constants, and without their results.

    Args:
      program: takes carries, then more; returns carries, then more.
      fixed: which carries never change.
      dropped: which further results to leave out.
    """
    if not any(fixed) and not any(dropped):
        return program
    n = len(fixed)
    first = [v for v, f in zip(program.invars[:n], fixed, strict=True) if f]
    variable = [v for v, f in zip(program.invars[:n], fixed, strict=True) if not f]
    outvars = [v for v, f in zip(program.outvars[:n], fixed, strict=True) if not f]
    more = program.outvars[n:]
    flags = list(dropped) or [False] * len(more)
    outvars += [v for v, d in zip(more, flags, strict=True) if not d]
    return program.replace(
        constvars=program.constvars + first,
        invars=variable + program.invars[n:],
        outvars=outvars,
        debug_info=_drop_names(program.debug_info, fixed),
    )


def drop_inputs(program: ir.Olympuspr, dropped: Sequence[bool]) -> ir.Olympuspr:
    """The program without inputs it does not read."""
    if not any(dropped):
        return program
    invars = [v for v, d in zip(program.invars, dropped, strict=True) if not d]
    return program.replace(
        invars=invars, debug_info=_drop_names(program.debug_info, dropped)
    )


def _drop_names(info: Any, removed: Sequence[bool]) -> Any:
    """Names of the inputs that are left."""
    if info is None or info.arg_names is None:
        return info
    names = list(info.arg_names)
    remaining = [n for n, r in zip(names, removed, strict=False) if not r]
    return info.with_names(remaining + names[len(removed) :], info.result_paths)
