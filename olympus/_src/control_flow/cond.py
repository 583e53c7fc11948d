"""`cond` and `switch`: one of several programs, chosen by an index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.checkify import control_flow
from olympus._src.control_flow import cond_derivatives, loop_batching
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, effects, ir
from olympus._src.core.array_type import ArrayLike, PyTree
from olympus._src.core.primitive import LateRule, Primitive, as_abstract_says
from olympus._src.foundation import config
from olympus._src.interpreters import batching, concrete_arrays, evaluate, partial_eval
from olympus._src.lax import barriers, elementwise, families
from olympus._src.lowering import types
from olympus._src.programs import (
    divided_results,
    inner_programs,
    rematerialization,
    series,
)

INDEX = avals_.ShapedArray((), np.dtype(np.int32))


def _abstract(index: Any, *operands: Any, branches: Any) -> Any:
    outs = branches[0].out_avals
    if not index.vma:
        return outs
    # Devices that take other branches have other results.
    return [a.update(vma=a.vma | index.vma) for a in outs]


def _effects(index: Any, *operands: Any, branches: Any) -> Any:
    return inner_programs.join_effects("cond", *branches)


def _check(index: Any, *operands: Any, branches: Any) -> None:
    if not inner_programs.same_type(index, INDEX):
        raise TypeError(f"cond: the index must be i32[], got {index.short()}")
    for i, branch in enumerate(branches):
        inner_programs.check_operand_types(
            f"cond, branch {i}", operands, branch.in_avals
        )
        for x, y in zip(branch.out_avals, branches[0].out_avals, strict=True):
            if not inner_programs.same_type(x, y):
                raise TypeError(
                    f"cond: branch {i} returns {x.short()} where branch 0 returns "
                    f"{y.short()}"
                )


def refuse_dead_lock(what: str, index: Any, branches: Any) -> None:
    """Raises ValueError where devices would wait for others that never come.

    Args:
      what: the function, and what of it runs on some devices only.
      index: the type of the value by which each device chooses.
      branches: programs that run on devices that choose them.
    """
    if not index.vma:
        return
    for branch in branches:
        collective = _collective_over(branch.olympuspr, index.vma)
        if collective is not None:
            eqn, name = collective
            at = "" if eqn.source is None else f" at {eqn.source}"
            raise ValueError(
                f"{what} must not hold a collective over the axis, got "
                f"{eqn.primitive}{at} over {name!r}, along which the predicate varies: "
                "the devices would wait for each other forever; compute on all of them "
                "and choose with numpy.where, make the predicate the same on all, as "
                f"with lax.pmax(pred, {name!r}), or move the collective out. A "
                "derivative sums the cotangents of a value that is cast inside: cast "
                f"it before, with lax.pcast(x, {name!r}, to='varying')"
            )


def _collective_over(program: ir.Olympuspr, axes: Any) -> Any:
    """The first equation over one of some mesh axes, and that axis; else None."""
    for eqn in program.eqns:
        if eqn.primitive.axes is not None and eqn.primitive.communicates:
            for name in eqn.primitive.axes(**eqn.params):
                if name in axes:
                    return eqn, name
        for inner in ir.subprograms(eqn.params):
            collective = _collective_over(inner, axes)
            if collective is not None:
                return collective
    return None


def _lower(ctx: Any, index: str, *operands: str, branches: Any) -> list[str]:
    known = ctx.block.known.get(index)
    if known is not None:
        return inner_programs.lower_closed(ctx, ctx.block, branches[known], operands)
    what = "cond: a branch that devices choose differently"
    refuse_dead_lock(what, ctx.avals_in[0], branches)
    ordered = effects.ordered(frozenset().union(*(b.effects for b in branches)))
    out_avals = [types.token_type()] * len(ordered) + list(ctx.avals_out)
    regions = []
    for branch in branches:
        block = ctx.block.inner()
        outs = inner_programs.lower_closed(ctx, block, branch, operands)
        outs = [block.tokens[e] for e in ordered] + outs
        regions.append(block.region((), (), outs, out_avals))
    results = ctx.block.op(
        "stablehlo.case", [index], [INDEX], out_avals, regions=regions
    )
    ctx.block.tokens.update(zip(ordered, results, strict=False))
    return results[len(ordered) :]


# -- batching --------------------------------------------------------------------------


def _batch(axis: Any, args: Any, dims: Any, *, branches: Any) -> Any:
    index, *operands = args
    index_dim, *operand_dims = dims
    if index_dim is not None:
        hoisted = inner_programs.batch_with_hoisted_effects(
            cond_p, axis, args, dims, {"branches": branches}
        )
        return hoisted or _batch_all(
            axis, index, index_dim, operands, operand_dims, branches
        )
    in_dims = tuple(operand_dims)
    dims_of = [batching.batch_olympuspr(b, axis, in_dims)[1] for b in branches]
    mapped = tuple(any(d is not None for d in ds) for ds in zip(*dims_of, strict=True))
    batched = [batching.batch_olympuspr(b, axis, in_dims, mapped)[0] for b in branches]
    closed, consts = inner_programs.share_consts(
        [(b.olympuspr, b.consts) for b in batched]
    )
    outs = cond_p.bind(index, *consts, *operands, branches=tuple(closed))
    return outs, loop_batching.front_dims(branches[0].out_avals, mapped)


def _batch_all(
    axis: Any, index: Any, index_dim: int, operands: Any, dims: Any, branches: Any
) -> tuple[list[Any], list[int]]:
    """An index for each element: runs all branches and selects among results."""
    _refuse_unmasked(branches)
    types = [*branches[0].in_avals, *branches[0].out_avals]
    loop_batching.refuse_high_types("cond", "predicate", types)
    results = []
    index = families.move_axis(index, index_dim, 0)
    for i, branch in enumerate(branches):
        run = ir.program_as_function(branch)
        inputs = [
            x
            if d is None
            else _only_where_chosen(index, i, families.move_axis(x, d, 0))
            for x, d in zip(operands, dims, strict=True)
        ]
        in_dims = [None if d is None else 0 for d in dims]
        outs, out_dims = batching.batch(run, axis, inputs, in_dims)
        results.append(
            [families.at_front(axis, x, d) for x, d in zip(outs, out_dims, strict=True)]
        )
    chosen = [select_rows(index, cases) for cases in zip(*results, strict=True)]
    return chosen, [0] * len(chosen)


def _only_where_chosen(index: Any, i: int, x: Any) -> Any:
    """`x`, which passes gradients only where branch `i` is chosen.

    A branch's derivative may be infinite elsewhere, and infinity times zero
    is NaN.
    """
    if not dtypes.issubdtype(avals_.aval_of(x).dtype, np.inexact):
        return x
    chosen = elementwise.eq(index, np.int32(i))
    return select_rows(chosen, [barriers.stop_gradient_p.bind(x), x])


def select_rows(index: Any, cases: Sequence[Any]) -> Any:
    """For each element of `index`, the row of that case."""
    if len(cases) == 1:
        return cases[0]
    shape, rank = avals_.aval_of(cases[0]).shape, avals_.aval_of(index).ndim
    if len(shape) != rank:
        index = families.broadcast_in_dim_p.bind(
            index,
            shape=shape,
            broadcast_dimensions=tuple(range(rank)),
            sharding=None,
        )
    return elementwise.select_n_p.bind(index, *cases)


def _refuse_unmasked(branches: Any) -> None:
    joined = inner_programs.join_effects("cond", *branches)
    refused = [e for e in joined if not e.speculative]
    if refused:
        raise NotImplementedError(
            "cond: under vmap with a mapped predicate both branches run, which "
            f"{refused[0]!r} effects do not allow; take the call out of the branches, "
            "or map with lax.map"
        )


# -- dead code -------------------------------------------------------------------------


def _dce(used: list[bool], eqn: ir.Eqn) -> Any:
    branches = eqn.params["branches"]
    # Once for each branch: twice would be 2**n times in branches n deep.
    done = [partial_eval.dce_olympuspr(b.olympuspr, used) for b in branches]
    used_operands = [any(flags) for flags in zip(*[f for _, f in done], strict=True)]
    smaller = [
        ir.ClosedOlympuspr(
            partial_eval.restore_inputs(small, b.olympuspr, used, used_operands),
            b.consts,
        )
        for (small, _), b in zip(done, branches, strict=True)
    ]
    rows = zip(smaller, branches, strict=True)
    if all(partial_eval.is_whole(p.olympuspr, b.olympuspr) for p, b in rows):
        return [True] * len(eqn.invars), eqn
    operands = [v for v, k in zip(eqn.invars[1:], used_operands, strict=True) if k]
    new = eqn.replace(
        invars=[eqn.invars[0], *operands],
        outvars=[v for v, u in zip(eqn.outvars, used, strict=True) if u],
        params={"branches": tuple(smaller)},
    )
    return [True, *used_operands], new


cond_p = Primitive(
    "cond",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=_abstract,
    key_reuse=LateRule("control_flow.key_reuse", "cond"),
    effects=_effects,
    check=_check,
    lower=_lower,
    batch=_batch,
    dce=_dce,
    impl=inner_programs.compiled_impl(),
    checkify=control_flow.cond,
    discharge=LateRule("control_flow.discharging", "cond"),
    to_low=LateRule("control_flow.hi_lowering", "cond"),
    taylor=series.cond,
    jvp=cond_derivatives.jvp,
    linearize=cond_derivatives.linearize,
    transpose=cond_derivatives.transpose,
    split=rematerialization.cond,
)


# -- what users call -------------------------------------------------------------------


_NONE = object()  # no operand, where None may be one


def cond(
    pred: ArrayLike,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: PyTree,
    operand: PyTree = _NONE,
) -> PyTree:
    """Applies one of two functions, chosen by a boolean.

    Only the chosen function runs, unless `vmap` gives each element its own predicate:
    then both run and results are selected.

    Args:
      pred: boolean scalar; a number counts as true where it is not zero.
      true_fun: applied to the operands where `pred` is true.
      false_fun: applied otherwise; must return arrays of the same types in the same
        structure.
      *operands: arrays, and trees of them.
      operand: the only operand, in place of `*operands`.

    Returns:
      What the chosen function returns.

    Raises:
      TypeError: `pred` is not a scalar, or the functions return different types.

    Source: `stablehlo.case`.

    Example:
      >>> from olympus import lax
      >>> lax.cond(True, lambda x: x + 1.0, lambda x: x - 1.0, 3.0)
      Array(4., dtype=float32, weak_type=True)
    """
    if not callable(true_fun) or not callable(false_fun):
        old_form = _five_arguments(true_fun, false_fun, operands, operand)
        if old_form is not None:
            return old_form(pred)
    operands = _operands_of("cond", operands, operand)
    inner_programs.check_callable("cond", true_fun=true_fun, false_fun=false_fun)
    if isinstance(pred, (int, float, np.integer)):
        # Asked before the default dtype rounds a tiny one to 0 or cuts bits off.
        pred = bool(pred)
    aval = _predicate_aval(pred)
    if config.jit_disabled() and evaluate.is_evaluating():
        return (true_fun if concrete_arrays.as_array(pred) else false_fun)(*operands)
    names = ("true_fun", "false_fun")
    bodies, leaves = _trace_branches("cond", (true_fun, false_fun), operands)
    _check_branches("cond", bodies, names)
    if aval.dtype != np.bool_:
        pred = elementwise.ne(pred, np.zeros((), aval.dtype)[()])
    index = elementwise.convert(pred, INDEX.dtype)
    return _bind(index, bodies[::-1], leaves)


def _five_arguments(
    true_operand: Any, true_fun: Any, others: Any, operand: Any
) -> Callable[[Any], Any] | None:
    """The older form: pred, true_operand, true_fun, false_operand, false_fun."""
    if (
        operand is not _NONE
        or len(others) != 2
        or not callable(true_fun)
        or not callable(others[1])
    ):
        return None
    false_operand, false_fun = others
    return lambda pred: cond(
        pred,
        lambda x, y: true_fun(x),
        lambda x, y: false_fun(y),
        true_operand,
        false_operand,
    )


def switch(
    index: ArrayLike,
    branches: Sequence[Callable[..., Any]],
    *operands: PyTree,
    operand: PyTree = _NONE,
) -> PyTree:
    """Applies one of several functions, chosen by an integer.

    Args:
      index: integer scalar; values out of range choose the nearest branch.
      branches: functions that return arrays of the same types in the same structure.
      *operands: arrays, and trees of them.
      operand: the only operand, in place of `*operands`.

    Returns:
      What `branches[index]` returns.

    Raises:
      TypeError: `index` is not an integer scalar, or the functions return different
        types.
      ValueError: there are no branches.

    Source: `stablehlo.case`.

    Example:
      >>> from olympus import lax
      >>> lax.switch(1, [lambda x: x, lambda x: -x], 3.0)
      Array(-3., dtype=float32, weak_type=True)
    """
    operands = _operands_of("switch", operands, operand)
    branches = tuple(branches)
    if not branches:
        raise ValueError(
            "switch: branches must be one function or more, got an empty sequence; "
            "add a branch"
        )
    inner_programs.check_callable(
        "switch", **{f"branches[{i}]": f for i, f in enumerate(branches)}
    )
    aval = _index_aval(index)
    if len(branches) == 1:
        return branches[0](*operands)
    if config.jit_disabled() and evaluate.is_evaluating():
        chosen = int(np.asarray(concrete_arrays.as_array(index)))
        return branches[min(max(chosen, 0), len(branches) - 1)](*operands)
    names = [f"branches[{i}]" for i in range(len(branches))]
    if aval.dtype != INDEX.dtype:
        index = _as_int32(index, aval, len(branches))
    last = np.int32(len(branches) - 1)
    return choose(
        "switch",
        lambda: elementwise.clamp(np.int32(0), index, last),
        dict(zip(names, branches, strict=True)),
        operands,
    )


def choose(
    what: str,
    index: Callable[[], Any],
    branches: dict[str, Any],
    operands: tuple[Any, ...],
) -> Any:
    """Applies the function at an index, which must be in range.

    Args:
      what: the public function, for messages.
      index: gives the index, an int32 scalar, once the branches are traced.
      branches: functions, by the names that messages give them.
      operands: trees of arrays.
    """
    bodies, leaves = _trace_branches(what, tuple(branches.values()), operands)
    _check_branches(what, bodies, list(branches))
    return _bind(index(), bodies, leaves)


def _as_int32(index: Any, aval: Any, count: int) -> Any:
    """An index as int32; wider ones are clamped first, so that none wraps around."""
    if aval.dtype.itemsize >= INDEX.dtype.itemsize:
        low, high = (families.number_of(v, aval.dtype) for v in (0, count - 1))
        index = elementwise.clamp(low, index, high)
    return elementwise.convert(index, INDEX.dtype)


def _operands_of(what: str, operands: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
    if operand is _NONE:
        return operands
    if operands:
        raise TypeError(
            f"{what}: operands must be given by position or as `operand`, got both; "
            "drop `operand`"
        )
    return (operand,)


def _predicate_aval(pred: Any) -> Any:
    if pred is None or not avals_.is_array_like(pred):
        raise TypeError(
            f"cond: pred must be a boolean scalar, got "
            f"{inner_programs.value_text(pred)}; compare values to get one"
        )
    aval = avals_.aval_of(pred)
    if aval.shape:
        raise TypeError(
            f"cond: pred must be a scalar, got {aval.short()}; reduce it with "
            "numpy.all or numpy.any, or choose by element with numpy.where"
        )
    if aval.dtype != np.bool_ and dtypes.kind(aval.dtype) not in "iuf":
        raise TypeError(
            f"cond: pred must be a boolean or a real number, got {aval.short()}; "
            "compare values to get one"
        )
    return aval


def _index_aval(index: Any) -> Any:
    if not avals_.is_array_like(index):
        raise TypeError(
            "switch: index must be an integer scalar, got "
            f"{inner_programs.value_text(index)}; "
            "look it up in a list of names first"
        )
    aval = avals_.aval_of(index)
    if aval.shape:
        raise TypeError(
            f"switch: index must be a scalar, got {aval.short()}; map over it with vmap"
        )
    if not dtypes.issubdtype(aval.dtype, np.integer):
        raise TypeError(
            f"switch: index must be an integer, got {aval.short()}; convert it with "
            "astype(int), or use lax.cond for a boolean"
        )
    return aval


def _trace_branches(
    what: str, functions: Sequence[Any], operands: tuple[Any, ...]
) -> tuple[list[inner_programs.Body], list[Any]]:
    leaves, structure = inner_programs.flatten_operands(what, "operands", operands)
    in_avals = [avals_.aval_of(x) for x in leaves]
    traced = [
        inner_programs.trace_body(f, what, structure, in_avals) for f in functions
    ]
    return divided_results.divide_alike(traced), leaves


def _check_branches(
    what: str, bodies: Sequence[inner_programs.Body], names: Sequence[str]
) -> None:
    first = bodies[0]
    for body, name in zip(bodies[1:], names[1:], strict=True):
        cure = f"\n{names[0]} is {inner_programs.fun_text(first.fun)}\n"
        cure += f"{name} is {inner_programs.fun_text(body.fun)}"
        if body.out_tree != first.out_tree:
            places = inner_programs.structure_mismatch(
                first.out_tree,
                body.out_tree,
                names[0] + "'s result",
                f"{name}'s result",
            )
            raise TypeError(
                f"{what}: {names[0]} and {name} must return the same structure, got "
                f"{places}; make the branches return the same tree{cure}"
            )
        wrong = inner_programs.type_mismatches(
            first.out_tree, body.out_avals, first.out_avals, "result"
        )
        if wrong:
            way = "convert one branch's result, as with astype"
            if not inner_programs.have_equal_shapes(body.out_avals, first.out_avals):
                way = "give one branch's result the shape of the other's, as with "
                way += "numpy.full_like or numpy.broadcast_to"
            raise TypeError(
                f"{what}: {names[0]} and {name} must return equal types; "
                f"{'; '.join(wrong)} (which {names[0]} returns); {way}{cure}"
            )


def _bind(index: Any, bodies: Sequence[inner_programs.Body], leaves: list[Any]) -> Any:
    """Applies the primitive, without results that are operands in every branch."""
    # Branches that were traced before join as they did then.
    first, *others = [b.program for b in bodies]
    places: dict[int, int] = {}
    shared = [
        tuple([places.setdefault(id(x), len(places)) for x in b.consts]) for b in bodies
    ]
    key = ("branches", tuple(others), tuple(shared))
    closed, forwarded = first.derived(key, lambda _: _join_branches(bodies))
    values = {id(x): x for b in bodies for x in b.consts}
    operands = [*values.values(), *leaves]
    results = iter(cond_p.bind(index, *operands, branches=closed))
    outs = [
        next(results) if f is None else inner_programs.passed_on(operands[f])
        for f in forwarded
    ]
    return bodies[0].out_tree.unflatten(outs)


def _join_branches(
    bodies: Sequence[inner_programs.Body],
) -> tuple[Any, list[int | None]]:
    """The branches with equal operands and results, and results that are operands."""
    closed, _ = inner_programs.share_consts([(b.program, b.consts) for b in bodies])
    closed = _equally_varying(_equally_weak(closed))
    forwarded = _forwarded_operands(closed)
    if any(f is not None for f in forwarded):
        closed = [_without_results(c, forwarded) for c in closed]
    return tuple(closed), forwarded


def _equally_weak(closed: list[ir.ClosedOlympuspr]) -> list[ir.ClosedOlympuspr]:
    """Converts results to the weakness that the first branch's have."""
    weak = [a.weak_type for a in closed[0].out_avals]
    return [closed[0], *[_with_weakness(c, weak) for c in closed[1:]]]


def _equally_varying(closed: list[ir.ClosedOlympuspr]) -> list[ir.ClosedOlympuspr]:
    """Results that vary along all axes of a mesh that those of any branch do."""
    rows = list(zip(*[c.out_avals for c in closed], strict=True))
    joined = [frozenset().union(*[getattr(a, "vma", ()) for a in row]) for row in rows]
    if not any(joined):
        return closed
    return [
        ir.ClosedOlympuspr(
            inner_programs.with_varying_results(
                c.olympuspr,
                [j - a.vma for j, a in zip(joined, c.out_avals, strict=True)],
            ),
            c.consts,
        )
        for c in closed
    ]


def _with_weakness(closed: ir.ClosedOlympuspr, weak: Sequence[bool]) -> Any:
    avals = closed.out_avals
    if all(w == a.weak_type for w, a in zip(weak, avals, strict=True)):
        return closed
    run = ir.program_as_function(closed)

    def converted(*args: Any) -> list[Any]:
        return [
            x if w == a.weak_type else elementwise.convert(x, a.dtype, w)
            for x, w, a in zip(run(*args), weak, avals, strict=True)
        ]

    info = closed.olympuspr.debug_info or ir.DebugInfo("cond", "branch")
    program, consts = partial_eval.trace_to_olympuspr(converted, closed.in_avals, info)
    return ir.ClosedOlympuspr(program, consts)


def _forwarded_operands(closed: list[ir.ClosedOlympuspr]) -> list[int | None]:
    """For each result the operand it is in every branch, or None."""
    positions = [{v: i for i, v in enumerate(c.olympuspr.invars)} for c in closed]
    sources: list[int | None] = []
    for outs in zip(*(c.olympuspr.outvars for c in closed), strict=True):
        places = {
            None if type(v) is ir.Literal else at.get(v)
            for v, at in zip(outs, positions, strict=True)
        }
        sources.append(places.pop() if len(places) == 1 else None)
    return sources


def _without_results(closed: Any, dropped: Sequence[int | None]) -> Any:
    program = closed.olympuspr
    outvars = [v for v, d in zip(program.outvars, dropped, strict=True) if d is None]
    return ir.ClosedOlympuspr(program.replace(outvars=outvars), closed.consts)
