"""Reductions by a user's computation: along axes, over windows, and at positions.

Where the computation is an operation of `lax` that has a specialized reduction, and the
reduction starts from its identity, that one is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.control_flow import equal_computations
from olympus._src.core import avals, ir, trace
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    IndexMode,
    Indices,
    Padding,
    Placement,
    PyTree,
    Shape,
)
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import ad, batching, evaluate, partial_eval
from olympus._src.lax import (
    concatenation,
    elementwise,
    families,
    gather,
    reductions,
    scatter,
    shaping,
    sharding_constraints,
    sharding_rules,
    sizes,
    window_lowering,
    windows,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import module, types

# -- computations as programs ----------------------------------------------------------


def _trace(what: str, fun: Any, run: Callable[..., Any], scalars: Sequence[Any]) -> Any:
    """A computation on scalars as a program without constants."""
    info = ir.DebugInfo.of(what, fun)
    program, consts = partial_eval.trace_to_olympuspr(run, scalars, info)
    if any(isinstance(c, trace.Tracer) for c in consts):
        raise TypeError(
            f"{what}: the computation {info.func_name} closes over a traced value; it "
            "may use only its arguments and constants"
        )
    if consts:
        raise TypeError(
            f"{what}: the computation {info.func_name} closes over an array; it may "
            "use only its arguments and Python numbers"
        )
    return program


def _check_results(what: str, program: Any, expected: Sequence[Any]) -> None:
    got = [a.strip_weak_type() for a in program.out_avals]
    if got != [a.strip_weak_type() for a in expected]:
        listed = ", ".join([a.short() for a in got])
        needed = ", ".join([a.short() for a in expected])
        raise TypeError(
            f"{what}: the computation must return values of the types that it "
            f"reduces, {needed}, got {listed}"
        )


def _region(ctx: Any, program: Any, pairs: Sequence[Any]) -> str:
    inner = ctx.block.inner()
    names = inner.arguments(pairs)
    outs = _fold(ctx, inner, program, names)
    return inner.region(names, pairs, outs, pairs[: len(outs)])


def _fold(ctx: Any, block: Any, program: Any, names: Sequence[str]) -> list[str]:
    block.folds = True
    return module.lower_program(ctx.module, block, program, (), names)


def _check_equal_shapes(what: str, operands: Sequence[Any]) -> None:
    if any(a.shape != operands[0].shape for a in operands):
        listed = ", ".join([a.short() for a in operands])
        raise TypeError(f"{what}: operands must have equal shapes, got {listed}")


# -- reduce ----------------------------------------------------------------------------


def _abstract(*args: Any, jaxpr: Any, dimensions: Any, **_: Any) -> Any:
    operands = args[: len(args) // 2]
    _check_equal_shapes("lax.reduce", operands)
    families.check_axes("reduce", operands[0], dimensions)
    shape = [s for d, s in enumerate(operands[0].shape) if d not in dimensions]
    return [ShapedArray(tuple(shape), a.dtype, a.weak_type) for a in operands]


def _lower(ctx: Any, *args: str, jaxpr: Any, dimensions: Any, **_: Any) -> Any:
    count = len(args) // 2
    scalars = [ShapedArray((), a.dtype) for a in ctx.avals_in[:count]]
    return ctx.block.op(
        "stablehlo.reduce",
        args,
        [*ctx.avals_in[:count], *scalars],
        ctx.avals_out,
        f"dimensions = {types.i64_array(dimensions)}",
        [_region(ctx, jaxpr.olympuspr, scalars * 2)],
    )


def _batch(axis: Any, args: Any, dims: Any, *, dimensions: Any, **params: Any) -> Any:
    count = len(args) // 2
    if any(d is not None for d in dims[count:]):
        return _batch_starts(axis, args, dims, dimensions, params)
    moved = [
        families.at_front(axis, x, d)
        for x, d in zip(args[:count], dims[:count], strict=True)
    ]
    shifted = tuple([d + 1 for d in dimensions])
    outs = reduce_p.bind(*moved, *args[count:], dimensions=shifted, **params)
    return outs, [0] * count


def _batch_starts(axis: Any, args: Any, dims: Any, dimensions: Any, params: Any) -> Any:
    """Mapped initial values: folded in by halves, as one more element."""
    moved = [families.at_front(axis, x, d) for x, d in zip(args, dims, strict=True)]

    def fold(*one: Any) -> Any:
        return _fold_by_halves(params["jaxpr"].olympuspr, dimensions, one)

    outs, out_dims = batching.batch(fold, axis, moved, (0,) * len(moved))
    return outs, out_dims


def _apply(program: Any, size: int, args: Sequence[Any]) -> list[Any]:
    """A program of scalars on each element of arrays of one axis."""
    axis = batching.AxisData(None, size)

    def evaluate(*scalars: Any) -> Any:
        return ir.eval_olympuspr(program, (), *scalars)

    outs, dims = batching.batch(evaluate, axis, args, (0,) * len(args))
    return [families.at_front(axis, x, d) for x, d in zip(outs, dims, strict=True)]


def _fold_by_halves(program: Any, dimensions: Any, args: Sequence[Any]) -> list[Any]:
    """The reduction in operations that can be differentiated."""
    count = len(args) // 2
    starts = args[count:]
    shape = avals.aval_of(args[0]).shape
    outer_axes = [d for d in range(len(shape)) if d not in dimensions]
    outer = [shape[d] for d in outer_axes]
    width = math.prod(outer)
    length = math.prod([shape[d] for d in dimensions])
    lines = [
        shaping.reshape(
            shaping.transpose(x, (*dimensions, *outer_axes)), (length, width)
        )
        for x in args[:count]
    ]
    while length > 1:
        half = length // 2
        parts = [
            shaping.reshape(concatenation.slice_in_dim(x, a, a + half), (half * width,))
            for a in (0, half)
            for x in lines
        ]
        folded = _apply(program, half * width, parts)
        folded = [shaping.reshape(x, (half, width)) for x in folded]
        if length % 2:
            folded = [
                concatenation.concatenate(
                    [f, concatenation.slice_in_dim(x, length - 1, length)], 0
                )
                for f, x in zip(folded, lines, strict=True)
            ]
        lines, length = folded, half + length % 2
    first = [shaping.broadcast(s, (width,)) for s in starts]
    if length:
        rows = [shaping.reshape(x, (width,)) for x in lines]
        first = _apply(program, width, [*first, *rows])
    return [shaping.reshape(x, tuple(outer)) for x in first]


def _jvp(primals: Any, tangents: Any, *, jaxpr: Any, dimensions: Any, **_: Any) -> Any:
    return ad.jvp(
        lambda *xs: _fold_by_halves(jaxpr.olympuspr, dimensions, xs),
        primals,
        tangents,
    )


reduce_p = Primitive(
    "reduce",
    shard=sharding_rules.reduce,
    multiple_results=True,
    abstract=_abstract,
    lower=_lower,
    jvp=_jvp,
    batch=_batch,
)

_REDUCTIONS = {
    elementwise.add: (families.reduce_sum_p, lambda dtype: 0),
    elementwise.mul: (reductions.reduce_prod_p, lambda dtype: 1),
    elementwise.max_: (reductions.reduce_max_p, families.lowest),
    elementwise.min_: (reductions.reduce_min_p, families.highest),
    elementwise.bitwise_and: (reductions.reduce_and_p, families.all_bits),
    elementwise.bitwise_or: (reductions.reduce_or_p, lambda dtype: 0),
    elementwise.bitwise_xor: (reductions.reduce_xor_p, lambda dtype: 0),
}


def _known_reduction(computation: Any, operands: Any, starts: Any) -> Primitive | None:
    """The specialized reduction of a computation, where it can be used."""
    try:
        entry = _REDUCTIONS.get(computation)
    except TypeError:  # a computation that has no hash
        return None
    if entry is None or len(operands) != 1 or isinstance(starts[0], trace.Tracer):
        return None
    p, identity = entry
    aval = avals.aval_of(operands[0])
    start = np.asarray(starts[0])
    if not start.shape and start == np.asarray(identity(aval.dtype)).astype(aval.dtype):
        return p
    return None


def reduce(
    operands: PyTree,
    init_values: PyTree,
    computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int],
    out_sharding: Placement = None,
) -> PyTree:
    """Reduces axes of arrays with a computation.

    Args:
      operands: a pytree of arrays of one shape.
      init_values: a pytree of scalars of the same structure and dtypes.
      computation: takes two such pytrees of scalars and returns one; it must be
        associative and commutative, with `init_values` as its identity.
      dimensions: the axes to reduce; the result is without them.
      out_sharding: the sharding of the result.

    Raises:
      TypeError: structures or types do not agree, or the computation closes over
        arrays.

    Source: `stablehlo.reduce`.

    Example:
      >>> lax.reduce(np.array([3, 1, 2], np.int32), 0, lambda x, y: x + y, (0,))
      Array(6, dtype=int32)
    """
    xs, structure = tree.tree_flatten(operands)
    starts, start_structure = tree.tree_flatten(init_values)
    if structure != start_structure or not xs:
        raise TypeError(
            "lax.reduce: operands and init_values must have the same structure, got "
            f"{structure} and {start_structure}"
        )
    rank = avals.aval_of(xs[0]).ndim
    axes = sizes.canonicalize_axes(dimensions, rank, "lax.reduce")
    if out_sharding is not None:
        what = "lax.reduce"
        place = sharding_constraints.resolve(out_sharding, f"{what} out_sharding", *xs)
        free = [sharding_constraints.leave_to_compiler(x) for x in xs]
        result = reduce(structure.unflatten(free), init_values, computation, dimensions)
        return tree.tree_map(
            lambda x: sharding_constraints.divide(x, place, what), result
        )
    p = _known_reduction(computation, xs, starts)
    if p is not None:
        return structure.unflatten([p.bind(xs[0], axes=axes)])
    program, starts = _of_pairs("lax.reduce", computation, xs, starts, structure)
    outs = reduce_p.bind(
        *xs,
        *starts,
        computation=None if evaluate.is_evaluating() else computation,
        jaxpr=program,
        dimensions=axes,
    )
    return structure.unflatten(outs)


def _of_pairs(
    what: str,
    computation: Any,
    xs: Sequence[Any],
    starts: Sequence[Any],
    structure: Any,
) -> tuple[Any, list[Any]]:
    """The computation as a program of two elements, and the values it starts from."""
    starts = [_start(what, s, x) for s, x in zip(starts, xs, strict=True)]
    scalars = [ShapedArray((), avals.aval_of(x).dtype) for x in xs]

    def run(*pairs: Any) -> Any:
        one, other = pairs[: len(xs)], pairs[len(xs) :]
        out = computation(structure.unflatten(one), structure.unflatten(other))
        return tree.tree_leaves(out)

    program = _trace(what, computation, run, scalars * 2)
    _check_results(what, program, scalars)
    if evaluate.is_evaluating():
        return equal_computations.find_equal(program), starts
    return ir.ClosedOlympuspr(program), starts


def _start(what: str, start: Any, operand: Any) -> Any:
    """An initial value in its operand's dtype; Python numbers follow the operand."""
    have, want = avals.aval_of(start), avals.aval_of(operand)
    if have.shape or (have.dtype != want.dtype and not have.weak_type):
        raise TypeError(
            f"{what}: init_values must be scalars of the operands' dtypes, got "
            f"{have.short()} for {want.short()}"
        )
    return elementwise.convert(start, want.dtype)


# -- reduce_window ---------------------------------------------------------------------


def _window_abstract(*args: Any, jaxpr: Any, **params: Any) -> Any:
    operands = args[: len(args) // 2]
    _check_equal_shapes("lax.reduce_window", operands)
    windows.check("reduce_window", operands[0], params)
    shape = windows.reduce_window_shape_tuple(
        operands[0].shape, *[params[k] for k in windows.LISTS]
    )
    return [ShapedArray(shape, a.dtype, a.weak_type) for a in operands]


def _window_lower(ctx: Any, *args: str, jaxpr: Any, **params: Any) -> Any:
    operands, outs = ctx.avals_in[: len(args) // 2], ctx.avals_out
    scalars = [ShapedArray((), a.dtype) for a in operands]
    if not outs[0].size:
        return [ctx.block.splat(0, out) for out in outs]
    return window_lowering.emit_fold(
        ctx,
        args,
        [*operands, *scalars],
        outs,
        params,
        scalars,
        lambda block, names: _fold(ctx, block, jaxpr.olympuspr, names),
    )


def _window_batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    count = len(args) // 2
    if any(d is not None for d in dims[count:]):
        raise NotImplementedError(
            "lax.reduce_window: init_value may not be mapped by vmap where the "
            "computation is a function; combine it with the result afterwards"
        )
    moved = [
        families.at_front(axis, x, d)
        for x, d in zip(args[:count], dims[:count], strict=True)
    ]
    outs = reduce_window_p.bind(*moved, *args[count:], **windows.with_axis(params, 0))
    return outs, [0] * count


def _window_elements(x: Any, start: Any, params: Any) -> Any:
    """The elements of each window: array [elements, windows]."""
    shape = avals.aval_of(x).shape
    config = [
        (low, high, spread - 1)
        for (low, high), spread in zip(
            params["padding"], params["base_dilation"], strict=True
        )
    ]
    x = concatenation.pad(x, start, config)
    padded = avals.aval_of(x).shape
    out = windows.reduce_window_shape_tuple(shape, *[params[k] for k in windows.LISTS])
    places = np.arange(math.prod(padded), dtype=np.int32).reshape(padded)
    window = params["window_dimensions"]
    for axis, (step, hole) in enumerate(
        zip(params["window_strides"], params["window_dilation"], strict=True)
    ):
        first = np.arange(out[axis])[None, :] * step
        reach = np.arange(window[axis])[:, None] * hole
        # The axes walked so far lie in front in pairs (within windows, windows).
        places = np.take(places, first + reach, axis=2 * axis)
    rank = len(shape)
    order = [2 * d for d in range(rank)] + [2 * d + 1 for d in range(rank)]
    places = places.transpose(order).reshape(math.prod(window), math.prod(out))
    flat = shaping.reshape(x, (math.prod(padded),))
    elements = gather.index_take(flat, [places.reshape(-1)], (0,))
    return shaping.reshape(elements, places.shape)


def _window_jvp(primals: Any, tangents: Any, *, jaxpr: Any, **params: Any) -> Any:
    """Through the same reduction of the windows' elements, arranged along one axis."""
    outs = reduce_window_p.bind(*primals, jaxpr=jaxpr, **params)
    count = len(outs)
    if not avals.aval_of(outs[0]).size:
        return outs, [Zero(avals.aval_of(out).to_tangent()) for out in outs]

    def fold(*args: Any) -> Any:
        # What stands in the gaps is an identity, which does not move.
        elements = [
            _window_elements(x, start, params)
            for x, start in zip(args[:count], primals[count:], strict=True)
        ]
        folded = _fold_by_halves(jaxpr.olympuspr, (0,), (*elements, *args[count:]))
        shape = avals.aval_of(outs[0]).shape
        return [shaping.reshape(x, shape) for x in folded]

    _, out_tangents = ad.jvp(fold, primals, tangents)
    return outs, out_tangents


reduce_window_p = Primitive(
    "reduce_window",
    shard=sharding_rules.reduce_windows,
    multiple_results=True,
    abstract=_window_abstract,
    lower=_window_lower,
    jvp=_window_jvp,
    batch=_window_batch,
)


def reduce_window(
    operand: PyTree,
    init_value: PyTree,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> PyTree:
    """Reduces the elements in windows that slide along the axes.

    Args:
      operand: array, or a pytree of arrays of one shape.
      init_value: scalar that each window's reduction starts from, or such a pytree.
      computation: takes two scalars, or two such pytrees of them, and returns one; it
        must be associative and commutative, with `init_value` as its identity.
      window_dimensions: size of the window along each axis.
      window_strides: step of the window along each axis; default 1.
      padding: 'SAME', 'SAME_LOWER', 'VALID', or (before, after) for each axis.
      base_dilation: distance of the operand's elements; default 1.
      window_dilation: distance of the window's elements; default 1.

    Raises:
      TypeError: numbers of axes or types do not agree.
      ValueError: a size is not positive.

    Source: `stablehlo.reduce_window`.

    Example:
      >>> x = np.array([1.0, 3.0, 2.0, 5.0], np.float32)
      >>> lax.reduce_window(x, 0.0, lambda x, y: x + y, (2,), (2,))
      Array([4., 7.], dtype=float32)
    """
    xs, structure = tree.tree_flatten(operand)
    starts, start_structure = tree.tree_flatten(init_value)
    if structure != start_structure or not xs:
        raise ValueError(
            "lax.reduce_window: operand and init_value must be pytrees of one "
            f"structure, of one array or more, got {structure} and {start_structure}"
        )
    spread = {"base_dilation": base_dilation, "window_dilation": window_dilation}
    shape = avals.aval_of(xs[0]).shape
    params = windows.parameters(
        shape, window_dimensions, window_strides, padding, **spread
    )
    known = None
    if len(xs) == 1:
        dtype = avals.aval_of(xs[0]).dtype
        known = windows.known_reduction(computation, starts[0], dtype)
    if known is not None:
        return structure.unflatten([known.bind(xs[0], **params)])
    program, starts = _of_pairs("lax.reduce_window", computation, xs, starts, structure)
    outs = reduce_window_p.bind(*xs, *starts, jaxpr=program, **params)
    return structure.unflatten(outs)


# -- scatter_apply ---------------------------------------------------------------------


def scatter_apply(
    operand: ArrayLike,
    scatter_indices: Indices,
    func: Callable[[Any], Any],
    dimension_numbers: gather.ScatterDimensionNumbers,
    *,
    update_shape: Shape = (),
    mode: IndexMode | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
) -> Array:
    """The operand with a function applied to its elements at computed positions.

    Where positions repeat, the function is applied as often.

    Args:
      operand: array.
      scatter_indices: integers [..., n]; the last axis holds index vectors.
      func: takes a scalar and returns one of the same dtype.
      dimension_numbers: how the axes correspond.
      update_shape: the shape that updates would have: one window for each index vector.
      mode: a `GatherScatterMode` or its name; default changes nothing outside.
      unique_indices: promises that no windows overlap.
      indices_are_sorted: promises that the index vectors ascend.

    Raises:
      TypeError: axes, sizes or dtypes do not fit.

    Source: `stablehlo.scatter`.

    Example:
      >>> lax.scatter_apply(
      ...     jnp.arange(3.0),
      ...     jnp.array([[1]]),
      ...     lambda x: -x,
      ...     lax.ScatterDimensionNumbers((), (0,), (0,)),
      ...     update_shape=(1,),
      ... )
      Array([ 0., -1.,  2.], dtype=float32)
    """
    dtype = avals.aval_of(operand).dtype
    scalar = ShapedArray((), dtype)
    program = _trace(
        "lax.scatter_apply", func, lambda x, _: [func(x)], [scalar, scalar]
    )
    _check_results("lax.scatter_apply", program, [scalar])
    return scatter.scatter_p.bind(
        operand,
        gather.canonical_indices(scatter_indices, "lax.scatter_apply"),
        shaping.full(update_shape, 0, dtype),
        update_jaxpr=program,
        update_consts=(),
        dimension_numbers=gather.ScatterDimensionNumbers(
            *map(tuple, dimension_numbers)
        ),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=gather.GatherScatterMode.from_any(mode),
    )
