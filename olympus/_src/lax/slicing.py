"""Slices at computed positions of fixed size, and their updates in place of them.

Positions are moved so that the slice lies inside the operand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, Arrays, Shape
from olympus._src.core.primitive import Cost, Exact, LateRule, Primitive
from olympus._src.core.sizes import as_size, at_least, is_symbolic
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.foundation import config
from olympus._src.lax import (
    concatenation,
    elementwise,
    families,
    gather,
    scatter,
    shaping,
    sharding_rules,
    sizes,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import partitioning

# -- positions -------------------------------------------------------------------------


def _check_indices(name: str, operand: Any, indices: Sequence[Any]) -> None:
    if len(indices) != operand.ndim:
        raise TypeError(
            f"lax.{name}: must have a start index for each of the operand's "
            f"{operand.ndim} axes, got {len(indices)} for {operand.short()}"
        )
    for aval in indices:
        if aval.shape or not dtypes.issubdtype(aval.dtype, np.integer):
            raise TypeError(
                f"lax.{name}: start indices must be integer scalars, got {aval.short()}"
            )


def _emit_indices(ctx: Any, names: Sequence[str], in_avals: Sequence[Any]) -> Any:
    """Positions in one dtype, and hidden zeros for the words of keys."""
    kinds = {a.dtype for a in in_avals}
    dtype: Any = np.dtype(np.int32)
    if len(kinds) == 1 and dtypes.itemsize_bits(next(iter(kinds))) >= 32:
        (dtype,) = kinds
    elif any(dtypes.itemsize_bits(k) > 32 or k == np.uint32 for k in kinds):
        dtype = np.dtype(np.int64)
    scalar = ShapedArray((), dtype)
    return [
        ctx.block.convert(n, a, scalar) for n, a in zip(names, in_avals, strict=True)
    ], scalar


def _positions(
    shape: Any, start_indices: Any, allow_negative: Any, where: str
) -> list[Any]:
    """Scalars that count from the beginning, of 32 bits or more."""
    is_array = not isinstance(start_indices, (tuple, list))
    if is_array and avals.aval_of(start_indices).ndim != 1:
        raise ValueError(
            f"{where}: start indices must be a sequence, one for each of the operand's "
            f"{len(shape)} axes, got {avals.aval_of(start_indices).short()}; write "
            "(i,) for one axis"
        )
    n = avals.aval_of(start_indices).shape[0] if is_array else len(start_indices)
    if n != len(shape):  # before an array is taken apart, which may be long
        raise ValueError(
            f"{where}: must have a start index for each of the operand's {len(shape)} "
            f"axes, got {n}"
        )
    if is_array:
        start_indices = [
            concatenation.index_in_dim(start_indices, i, 0, keepdims=False)
            for i in range(n)
        ]
    if not isinstance(allow_negative, (tuple, list)):
        allow_negative = [bool(allow_negative)] * n
    return [
        position(i, size, negative)
        for i, size, negative in zip(start_indices, shape, allow_negative, strict=True)
    ]


def position(index: Any, size: int, allow_negative: bool = True) -> Any:
    """An index counted from the beginning: negative ones count from the end."""
    if is_symbolic(index):
        from_end = allow_negative and not at_least(index, 0) and index < 0
        return elementwise.size_value(
            index + size if from_end else index, np.dtype(np.int32)
        )
    if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
        wraps = allow_negative and index < 0
        return _scalar(int(index) + size if wraps else int(index), size)
    aval = avals.aval_of(index)
    if dtypes.issubdtype(aval.dtype, np.integer):
        narrow = dtypes.itemsize_bits(aval.dtype) < 32
        index = elementwise.convert(index, np.dtype(np.int32)) if narrow else index
    if not allow_negative or not dtypes.issubdtype(aval.dtype, np.signedinteger):
        return index
    counter, kind = sizes.position_dtype(size), avals.aval_of(index).dtype
    strong = elementwise.convert(
        index, counter if kind.itemsize < counter.itemsize else kind
    )
    kind = avals.aval_of(strong).dtype.type
    wrapped = elementwise.add(strong, elementwise.size_value(size, np.dtype(kind)))
    return elementwise.select(elementwise.lt(strong, kind(0)), wrapped, strong)


def _scalar(index: int, size: Any) -> Any:
    # Starts are clamped to the array anyway, so one beyond any array stays beyond it.
    kind = np.int32 if -(2**31) <= index < 2**31 else _widest_index()
    if index > sizes.MAX_NARROW:
        sizes.position_dtype(size)  # raises if the array reaches farther than int32
    limits = np.iinfo(kind)
    return kind(min(max(index, int(limits.min)), int(limits.max)))


def _widest_index() -> type[np.int32 | np.int64]:
    return np.int64 if config.x64_enabled() else np.int32


# -- dynamic_slice ---------------------------------------------------------------------


def _slice_abstract(operand: Any, *indices: Any, slice_sizes: Any) -> Any:
    _check_indices("dynamic_slice", operand, indices)
    if not sizes.fits_slices(slice_sizes, operand.shape):
        raise TypeError(
            "lax.dynamic_slice: slice sizes must be within the operand's, one for each "
            f"axis, got {tuple(slice_sizes)} for {operand.short()}"
        )
    return ShapedArray(tuple(slice_sizes), operand.dtype, operand.weak_type)


def _emit_clamped(
    ctx: Any, starts: Any, scalar: Any, shape: Shape, slice_sizes: Shape
) -> list[str]:
    """Positions moved inside, where XLA may not know that a slice is moved as a whole.

    It moves each part of a slice that it divides by itself; and adds the positions of
    slices of slices without moving the first (up to jaxlib 0.11).
    """
    lasts = gather.limits(shape, slice_sizes, range(len(shape)), scalar.dtype)
    if type(lasts) is tuple:  # sizes that are known by name, in programs not divided
        return list(starts)
    zero = ctx.block.constant(0, scalar)
    clamped = []
    for start, last in zip(starts, lasts, strict=True):
        bounds = (zero, start, ctx.block.constant(last, scalar))
        if not last:
            clamped.append(zero)
            continue
        position = ctx.block.elementwise("stablehlo.clamp", bounds, scalar)
        clamped.append(partitioning.hide(ctx, position, scalar))
    return clamped


def _slice_lower(ctx: Any, x: str, *indices: str, slice_sizes: Any) -> str:
    aval, *index_avals = ctx.avals_in
    if not aval.shape:  # MLIR prints such a slice in a form that it cannot read
        return x
    storage = families.storage(aval)
    starts, scalar = _emit_indices(ctx, indices, index_avals)
    if ctx.module.moves_slices:
        starts = _emit_clamped(ctx, starts, scalar, aval.shape, slice_sizes)
    hidden = storage.shape[aval.ndim :]
    starts += [ctx.block.constant(0, scalar)] * len(hidden)
    return ctx.block.dynamic_slice(x, aval, ctx.avals_out[0], starts, scalar)


def _slice_transpose(cts: Any, x: Any, *indices: Any, slice_sizes: Any) -> Any:
    (ct,) = cts
    nothing = [None] * len(indices)
    if type(ct) is Zero:
        return [Zero(x.aval), *nothing]
    zeros = shaping.full(x.aval.shape, 0, x.aval.dtype)
    return [dynamic_update_slice_p.bind(zeros, ct, *indices), *nothing]


def _index_vectors(axis: Any, indices: Any, dims: Any) -> tuple[Any, int | None]:
    """Positions as index vectors [n] or, if some are mapped, [size, n]."""
    mapped = any(d is not None for d in dims)
    widest = np.result_type(*[avals.aval_of(i).dtype for i in indices])
    columns = []
    for i, d in zip(indices, dims, strict=True):
        i = elementwise.convert(i, widest)
        if mapped and d is None:
            columns.append(shaping.broadcast(i, (axis.size, 1)))
        else:
            columns.append(shaping.expand_dims(i, (int(mapped),)))
    return concatenation.concatenate(columns, int(mapped)), 0 if mapped else None


def _slice_batch(axis: Any, args: Any, dims: Any, *, slice_sizes: Any) -> Any:
    x, *indices = args
    dx, *index_dims = dims
    if all(d is None for d in index_dims):
        starts = [*indices[:dx], np.int32(0), *indices[dx:]]
        window = (*slice_sizes[:dx], axis.size, *slice_sizes[dx:])
        return dynamic_slice_p.bind(x, *starts, slice_sizes=window), dx
    vectors, vector_dim = _index_vectors(axis, indices, index_dims)
    every = tuple(range(len(indices)))
    return gather.batch_gather(
        axis,
        (x, vectors),
        (dx, vector_dim),
        dimension_numbers=gather.GatherDimensionNumbers(every, (), every),
        slice_sizes=tuple(slice_sizes),
        unique_indices=True,
        indices_are_sorted=True,
        mode=gather.CLIP,
        fill_value=None,
    )


def _starts(shape: Any, indices: Any, window: Any) -> tuple[slice, ...]:
    slices = []
    for size, i, w in zip(shape, indices, window, strict=True):
        start = min(max(int(i), 0), size - w)
        slices.append(slice(start, start + w))
    return tuple(slices)


def _check_positions(checks: Any, x: Any, window: Any, indices: Any) -> None:
    shape = avals.aval_of(x).shape
    last = [s - w for s, w in zip(shape, window, strict=True)]
    checks.indices(indices, last, range(len(shape)), shape)


def _slice_checkify(checks: Any, x: Any, *indices: Any, slice_sizes: Any) -> Any:
    _check_positions(checks, x, slice_sizes, indices)
    return dynamic_slice_p.bind(x, *indices, slice_sizes=slice_sizes)


dynamic_slice_p = Primitive(
    "dynamic_slice",
    shard=sharding_rules.linear_in(sharding_rules.same_rank, 0),
    abstract=_slice_abstract,
    lower=_slice_lower,
    transpose=_slice_transpose,
    batch=_slice_batch,
    reference=lambda x, *indices, slice_sizes: x[
        _starts(x.shape, indices, slice_sizes)
    ],
    cost=Cost.MOVE,
    exact=Exact.MOVES,
    **families.LINEAR,
    checkify=_slice_checkify,
    transpose_into=LateRule("lax.single_windows", "add_dynamic_slice"),
)


def dynamic_slice(
    operand: ArrayLike,
    start_indices: Arrays,
    slice_sizes: Shape,
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """A part of fixed size of an array, from a computed position.

    Args:
      operand: array.
      start_indices: an integer scalar for each axis; negative ones count from the end,
        and a part that would reach outside is moved inside.
      slice_sizes: the part's size along each axis.
      allow_negative_indices: False where none is negative: saves instructions.

    Raises:
      TypeError: numbers of indices or sizes do not fit.

    Source: `stablehlo.dynamic_slice`.

    Example:
      >>> lax.dynamic_slice(jnp.arange(5), (3,), (2,))
      Array([3, 4], dtype=int32)
    """
    shape = avals.aval_of(operand).shape
    window = sizes.canonicalize_shape(slice_sizes)
    starts = _positions(
        shape, start_indices, allow_negative_indices, "lax.dynamic_slice"
    )
    return dynamic_slice_p.bind(operand, *starts, slice_sizes=window)


# -- dynamic_update_slice --------------------------------------------------------------


def _update_abstract(operand: Any, update: Any, *indices: Any) -> Any:
    dtype = families.common_dtype("dynamic_update_slice", (operand, update))
    if update.ndim != operand.ndim or any(
        u > d for u, d in zip(update.shape, operand.shape, strict=False)
    ):
        raise TypeError(
            "lax.dynamic_update_slice: update must have the operand's number of axes "
            f"and fit in it, got {update.short()} for {operand.short()}"
        )
    _check_indices("dynamic_update_slice", operand, indices)
    return ShapedArray(operand.shape, dtype)


def _update_lower(ctx: Any, x: str, update: str, *indices: str) -> str:
    aval, update_aval, *index_avals = ctx.avals_in
    starts, scalar = _emit_indices(ctx, indices, index_avals)
    if ctx.module.divided_over is not None:
        starts = _emit_clamped(ctx, starts, scalar, aval.shape, update_aval.shape)
    update = partitioning.divide_evenly(ctx, update, update_aval)
    rank = families.storage(aval).ndim
    starts += [ctx.block.constant(0, scalar)] * (rank - aval.ndim)
    return ctx.block.op1(
        "stablehlo.dynamic_update_slice",
        [x, update, *starts],
        [aval, update_aval, *[scalar] * rank],
        ctx.avals_out[0],
    )


def _update_jvp(primals: Any, tangents: Any) -> Any:
    x, update, *indices = primals
    out = dynamic_update_slice_p.bind(x, update, *indices)
    tx, tu = tangents[:2]
    if type(tx) is Zero and type(tu) is Zero:
        return out, Zero(avals.aval_of(out).to_tangent())
    parts = (families.instantiate(tx), families.instantiate(tu))
    return out, dynamic_update_slice_p.bind(*parts, *indices)


def _update_transpose(cts: Any, x: Any, update: Any, *indices: Any) -> Any:
    (ct,) = cts
    for_x = for_update = None
    aval = update.aval if type(update) is Linear else avals.aval_of(update)
    if type(x) is Linear:
        for_x = Zero(x.aval)
        if type(ct) is not Zero:
            hole = shaping.full(aval.shape, 0, aval.dtype)
            for_x = dynamic_update_slice_p.bind(ct, hole, *indices)
    if type(update) is Linear:
        for_update = Zero(aval)
        if type(ct) is not Zero:
            for_update = dynamic_slice_p.bind(ct, *indices, slice_sizes=aval.shape)
    return [for_x, for_update, *[None] * len(indices)]


def _update_batch(axis: Any, args: Any, dims: Any) -> Any:
    x, update, *indices = args
    dx, du, *index_dims = dims
    if all(d is None for d in index_dims):
        if dx is None:
            x, dx = families.insert_axis(x, 0, axis.size), 0
        if du is None:
            update = families.insert_axis(update, dx, axis.size)
        else:
            update = families.move_axis(update, du, dx)
        starts = [*indices[:dx], np.int32(0), *indices[dx:]]
        return dynamic_update_slice_p.bind(x, update, *starts), dx
    vectors, vector_dim = _index_vectors(axis, indices, index_dims)
    every = tuple(range(len(indices)))
    return scatter.batch_scatter(
        scatter.scatter_p,
        axis,
        (x, vectors, update),
        (dx, vector_dim, du),
        dimension_numbers=gather.ScatterDimensionNumbers(every, (), every),
        indices_are_sorted=True,
        unique_indices=True,
        mode=gather.CLIP,
        update_jaxpr=None,
        update_consts=(),
    )


def _update_reference(x: Any, update: Any, *indices: Any) -> Any:
    out = np.array(x)
    out[_starts(x.shape, indices, update.shape)] = update
    return out


def _update_checkify(checks: Any, x: Any, update: Any, *indices: Any) -> Any:
    _check_positions(checks, x, avals.aval_of(update).shape, indices)
    return dynamic_update_slice_p.bind(x, update, *indices)


dynamic_update_slice_p = Primitive(
    "dynamic_update_slice",
    shard=sharding_rules.dynamic_update_slice,
    abstract=_update_abstract,
    lower=_update_lower,
    jvp=_update_jvp,
    transpose=_update_transpose,
    batch=_update_batch,
    reference=_update_reference,
    checkify=_update_checkify,
    overwrites=True,
    taylor=families.linear_series(),
    exact=Exact.MOVES,
)


def dynamic_update_slice(
    operand: ArrayLike,
    update: ArrayLike,
    start_indices: Arrays,
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """An array with a part replaced, at a computed position.

    Args:
      operand: array.
      update: array of the same dtype and number of axes, what is put there.
      start_indices: an integer scalar for each axis; negative ones count from the end,
        and a part that would reach outside is moved inside.
      allow_negative_indices: False where none is negative: saves instructions.

    Raises:
      TypeError: the update does not fit.

    Source: `stablehlo.dynamic_update_slice`.

    Example:
      >>> lax.dynamic_update_slice(jnp.zeros(4), jnp.ones(2), (1,))
      Array([0., 1., 1., 0.], dtype=float32)
    """
    starts = _positions(
        avals.aval_of(operand).shape,
        start_indices,
        allow_negative_indices,
        "lax.dynamic_update_slice",
    )
    return dynamic_update_slice_p.bind(operand, update, *starts)


# -- along one axis --------------------------------------------------------------------


def _list_starts(
    operand: Any, axis: Any, index: Any, where: str
) -> tuple[int, list[Any]]:
    rank = avals.aval_of(operand).ndim
    axis = sizes.canonicalize_axis(axis, rank, where)
    starts: list[Any] = [0] * rank
    starts[axis] = index
    return axis, starts


def dynamic_slice_in_dim(
    operand: ArrayLike,
    start_index: ArrayLike,
    slice_size: int,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """A part of fixed size along one axis, from a computed position.

    Args:
      operand: array.
      start_index: integer scalar; see `dynamic_slice`.
      slice_size: the part's size.
      axis: the axis; may be negative.
      allow_negative_indices: False where none is negative: saves instructions.

    Example:
      >>> lax.dynamic_slice_in_dim(jnp.arange(5), 4, 2)
      Array([3, 4], dtype=int32)
    """
    axis, starts = _list_starts(operand, axis, start_index, "lax.dynamic_slice_in_dim")
    window = list(avals.aval_of(operand).shape)
    window[axis] = as_size(slice_size)
    return dynamic_slice(
        operand, starts, window, allow_negative_indices=allow_negative_indices
    )


def dynamic_index_in_dim(
    operand: ArrayLike,
    index: ArrayLike,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """The slice of an array at one computed position of an axis.

    Args:
      operand: array.
      index: integer scalar; see `dynamic_slice`.
      axis: the axis; may be negative.
      keepdims: keep the axis, with size 1.
      allow_negative_indices: False where none is negative: saves instructions.

    Example:
      >>> lax.dynamic_index_in_dim(jnp.array([10, 20, 30]), 1, keepdims=False)
      Array(20, dtype=int32)
    """
    out = dynamic_slice_in_dim(
        operand, index, 1, axis, allow_negative_indices=allow_negative_indices
    )
    return out if keepdims else shaping.squeeze(out, (axis,))


def dynamic_update_slice_in_dim(
    operand: ArrayLike,
    update: ArrayLike,
    start_index: ArrayLike,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """An array with a part replaced along one axis, at a computed position.

    Args:
      operand: array.
      update: what is put there; of the operand's size along the other axes.
      start_index: integer scalar; see `dynamic_slice`.
      axis: the axis; may be negative.
      allow_negative_indices: False where none is negative: saves instructions.

    Example:
      >>> lax.dynamic_update_slice_in_dim(jnp.zeros(4), jnp.ones(2), 1, 0)
      Array([0., 1., 1., 0.], dtype=float32)
    """
    _, starts = _list_starts(
        operand, axis, start_index, "lax.dynamic_update_slice_in_dim"
    )
    return dynamic_update_slice(
        operand, update, starts, allow_negative_indices=allow_negative_indices
    )


def dynamic_update_index_in_dim(
    operand: ArrayLike,
    update: ArrayLike,
    index: ArrayLike,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """An array with the slice at one computed position of an axis replaced.

    Args:
      operand: array.
      update: what is put there, with the axis (of size 1) or without it.
      index: integer scalar; see `dynamic_slice`.
      axis: the axis; may be negative.
      allow_negative_indices: False where none is negative: saves instructions.

    Example:
      >>> lax.dynamic_update_index_in_dim(jnp.zeros(3), 1.0, 2, 0)
      Array([0., 0., 1.], dtype=float32)
    """
    rank = avals.aval_of(operand).ndim
    axis = sizes.canonicalize_axis(axis, rank, "lax.dynamic_update_index_in_dim")
    if avals.aval_of(update).ndim != rank:
        update = shaping.expand_dims(update, (axis,))
    return dynamic_update_slice_in_dim(
        operand, update, index, axis, allow_negative_indices=allow_negative_indices
    )
