"""Gathering of slices at computed positions, and what scatters share with it."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    Arrays,
    IndexMode,
    Indices,
    OptionalArray,
    Shape,
)
from olympus._src.core.primitive import Cost, LateRule, Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import (
    concatenation,
    elementwise,
    families,
    shaping,
    sharding_rules,
    sizes,
    small_integers,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import dynamic_shapes, partitioning, types

# -- vocabulary ------------------------------------------------------------------------

Axes = tuple[int, ...]


class GatherDimensionNumbers(NamedTuple):
    """Which axes of a gather's operand, indices and result belong together.

    Attributes:
      offset_dims: axes of the result that run inside a slice.
      collapsed_slice_dims: axes of the operand of slice size 1, left out of the result.
      start_index_map: for each entry of an index vector, the operand's axis.
      operand_batching_dims: the operand's axes that are paired with the indices'.
      start_indices_batching_dims: the axes of the indices they are paired with.

    Source: `stablehlo.gather`.
    """

    offset_dims: Axes
    collapsed_slice_dims: Axes
    start_index_map: Axes
    operand_batching_dims: Axes = ()
    start_indices_batching_dims: Axes = ()


class ScatterDimensionNumbers(NamedTuple):
    """Which axes of a scatter's operand, indices and updates belong together.

    Attributes:
      update_window_dims: axes of the updates that run inside a window.
      inserted_window_dims: axes of the operand of window size 1 that updates lack.
      scatter_dims_to_operand_dims: for each entry of an index vector, the operand's
        axis.
      operand_batching_dims: the operand's axes that are paired with the indices'.
      scatter_indices_batching_dims: the axes of the indices they are paired with.

    Source: `stablehlo.scatter`.
    """

    update_window_dims: Axes
    inserted_window_dims: Axes
    scatter_dims_to_operand_dims: Axes
    operand_batching_dims: Axes = ()
    scatter_indices_batching_dims: Axes = ()


class GatherScatterMode(enum.Enum):
    """How positions out of bounds are handled.

    CLIP moves them inside; FILL_OR_DROP reads a fill value there and writes nothing;
    PROMISE_IN_BOUNDS says there are none; ONE_HOT reads and writes by products with
    one-hot matrices.
    """

    CLIP = 1
    FILL_OR_DROP = 2
    PROMISE_IN_BOUNDS = 3
    ONE_HOT = 4

    @staticmethod
    def from_any(mode: Any) -> GatherScatterMode:
        """The mode of a name such as 'clip', 'fill', 'drop'; itself for a mode.

        Raises:
          ValueError: there is no such mode.
        """
        if isinstance(mode, GatherScatterMode):
            return mode
        if mode not in _MODES:
            known = ", ".join([repr(m) for m in _MODES if m])
            raise ValueError(
                f'Unknown gather mode "{mode}"; give a GatherScatterMode or one of '
                f"{known}"
            )
        return _MODES[mode]


_MODES = {
    None: GatherScatterMode.FILL_OR_DROP,
    "clip": GatherScatterMode.CLIP,
    "fill": GatherScatterMode.FILL_OR_DROP,
    "drop": GatherScatterMode.FILL_OR_DROP,
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
    "one_hot": GatherScatterMode.ONE_HOT,
}

CLIP = GatherScatterMode.CLIP
FILL_OR_DROP = GatherScatterMode.FILL_OR_DROP


def canonical_indices(indices: Any, where: str) -> Any:
    """Integer indices of at least 32 bits, so that every size fits."""
    aval = avals.aval_of(indices)
    if not dtypes.issubdtype(aval.dtype, np.integer):
        raise ValueError(f"{where}: indices must be integers, got {aval.short()}")
    if dtypes.itemsize_bits(aval.dtype) < 32:
        return elementwise.convert(indices, np.dtype(np.int32))
    return elementwise.convert(indices, aval.dtype)


def check_numbers(where: str, operand: Any, indices: Any, named: Any) -> None:
    """Refuses dimension numbers that do not fit the operand and the indices.

    Args:
      where: the function, for messages.
      operand: aval.
      indices: aval.
      named: pairs of (name, axes) that together are the operand's own axes; then the
        index map, the operand's and the indices' batching axes.
    """
    window, (map_name, index_map), (_, batching), (other_name, others) = named
    if not dtypes.issubdtype(indices.dtype, np.integer):
        raise ValueError(
            f"{where}: indices must be integers, got {indices.short()}; convert them "
            "with astype"
        )
    if indices.ndim < 1 or indices.shape[-1] != len(index_map):
        raise TypeError(
            f"{where}: the last axis of the indices must have one entry for each of "
            f"{map_name}={tuple(index_map)}, got {indices.short()}"
        )
    for name, axes in (window, named[1], named[2]):
        if any(not 0 <= d < operand.ndim for d in axes) or len(set(axes)) < len(axes):
            raise TypeError(
                f"{where}: {name} must be distinct axes of {operand.short()}, got "
                f"{tuple(axes)}"
            )
    if len(batching) != len(others) or any(
        operand.shape[d] != indices.shape[e]
        for d, e in zip(batching, others, strict=False)
    ):
        raise TypeError(
            f"{where}: batching axes must pair axes of equal size, got "
            f"operand_batching_dims={tuple(batching)} and {other_name}={tuple(others)} "
            f"for {operand.short()} and {indices.short()}"
        )


def limits(operand_shape: Any, window: Any, index_map: Any, dtype: Any) -> Any:
    """The last position at which a window fits, for each entry of an index vector.

    An array of the dtype; a tuple where a size is symbolic.
    """
    top = dtypes.iinfo(dtype).max
    sizes_ = [operand_shape[d] - window[d] for d in index_map]
    if dynamic_shapes.any_symbolic(sizes_):
        return tuple(sizes_)
    return np.array([min(s, top) for s in sizes_], np.int64).astype(dtype)


def emit_whole_bytes(ctx: Any, indices: str, aval: Any) -> tuple[str, Any]:
    """Writes indices as bytes at least; gives their type too."""
    wide = small_integers.whole_bytes(aval)
    return ctx.block.convert(indices, aval, wide), wide


def emit_clamp(ctx: Any, indices: str, aval: Any, last: Any) -> str:
    """Writes indices moved into the range from 0 to `last`."""
    high = _emit_row(ctx, last, aval)
    low = ctx.block.splat(0, aval)
    return ctx.block.elementwise("stablehlo.clamp", (low, indices, high), aval)


def emit_inside(ctx: Any, indices: str, aval: Any, last: Any) -> Any:
    """Writes whether the window at each index vector is inside; gives its type too."""
    block = ctx.block
    flags = ShapedArray(aval.shape, np.bool_)
    kind = "SIGNED" if dtypes.issubdtype(aval.dtype, np.signedinteger) else "UNSIGNED"
    high = _emit_row(ctx, last, aval)
    zero = block.splat(0, aval)
    above = block.compare("GE", indices, zero, aval, kind, flags)
    below = block.compare("LE", indices, high, aval, kind, flags)
    both = block.elementwise("stablehlo.and", (above, below), flags)
    out = ShapedArray(aval.shape[:-1], np.bool_)
    flag = ShapedArray((), np.bool_)
    start = block.constant(np.True_, flag)
    t = types.tensor_type
    inside = block.emit(
        f"stablehlo.reduce({both} init: {start}) applies stablehlo.and across "
        f"dimensions = [{aval.ndim - 1}] : ({t(flags)}, {t(flag)}) -> {t(out)}"
    )
    return inside, out


def _emit_row(ctx: Any, last: Any, aval: Any) -> str:
    row = ShapedArray((len(last),), aval.dtype)
    if type(last) is tuple:
        name = dynamic_shapes.row_below(ctx.block, last, row)
    else:
        name = ctx.block.constant(last, row)
    if row.shape == aval.shape:
        return name
    return ctx.block.broadcast(name, row, aval, (aval.ndim - 1,))


# -- gather ----------------------------------------------------------------------------


def _abstract(
    operand: Any,
    indices: Any,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    fill_value: Any,
    **_: Any,
) -> Any:
    dn = dimension_numbers
    check_numbers(
        "lax.gather",
        operand,
        indices,
        (
            ("collapsed_slice_dims", dn.collapsed_slice_dims),
            ("start_index_map", dn.start_index_map),
            ("operand_batching_dims", dn.operand_batching_dims),
            ("start_indices_batching_dims", dn.start_indices_batching_dims),
        ),
    )
    if not sizes.fits_slices(slice_sizes, operand.shape):
        raise TypeError(
            "lax.gather: slice_sizes must give a size within the operand for each of "
            f"its axes, got {tuple(slice_sizes)} for {operand.short()}"
        )
    left_out = (*dn.collapsed_slice_dims, *dn.operand_batching_dims)
    if any(slice_sizes[d] > 1 for d in left_out):
        raise TypeError(
            "lax.gather: collapsed and batching axes must have slice size 1, got "
            f"slice_sizes={tuple(slice_sizes)} and {dn}"
        )
    inner = [s for d, s in enumerate(slice_sizes) if d not in left_out]
    if len(inner) != len(dn.offset_dims):
        raise TypeError(
            f"lax.gather: offset_dims must name {len(inner)} axes of the result, one "
            f"for each axis kept of the slice, got {tuple(dn.offset_dims)}"
        )
    return ShapedArray(
        result_shape(indices.shape[:-1], inner, dn.offset_dims),
        operand.dtype,
        operand.weak_type,
    )


def result_shape(outer: Any, inner: Any, inner_dims: Any) -> tuple[int, ...]:
    """Sizes of a result with `inner` on the axes `inner_dims`, `outer` on the rest."""
    remaining, within = iter(outer), iter(inner)
    return tuple(
        [
            next(within) if d in inner_dims else next(remaining)
            for d in range(len(outer) + len(inner))
        ]
    )


def attributes(dn: Any, slice_sizes: Any, index_dim: int, is_sorted: bool) -> str:
    """The attributes of `stablehlo.gather`; dynamic sizes are an operand instead."""
    lists = types.int_list
    is_dynamic = dynamic_shapes.any_symbolic(slice_sizes)
    sizes_ = "" if is_dynamic else f", slice_sizes = {types.i64_array(slice_sizes)}"
    batching = ""
    if dn.operand_batching_dims:
        batching = (
            f"operand_batching_dims = {lists(dn.operand_batching_dims)}, "
            f"start_indices_batching_dims = {lists(dn.start_indices_batching_dims)}, "
        )
    return (
        "dimension_numbers = #stablehlo.gather<"
        f"offset_dims = {lists(dn.offset_dims)}, "
        f"collapsed_slice_dims = {lists(dn.collapsed_slice_dims)}, {batching}"
        f"start_index_map = {lists(dn.start_index_map)}, "
        f"index_vector_dim = {index_dim}>{sizes_}"
        f", indices_are_sorted = {'true' if is_sorted else 'false'}"
    )


def _lower(
    ctx: Any,
    x: str,
    indices: str,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    indices_are_sorted: bool,
    mode: Any,
    fill_value: Any,
    **_: Any,
) -> str:
    dn = dimension_numbers
    (aval, index_aval), (out,) = ctx.avals_in, ctx.avals_out
    indices, index_aval = emit_whole_bytes(ctx, indices, index_aval)
    # XLA stops where it divided the axis of the index vectors.
    vector = [index_aval.ndim - 1]
    indices = partitioning.keep_whole(ctx, indices, index_aval, vector)
    storage, storage_out = families.storage(aval), families.storage(out)
    hidden = storage.shape[aval.ndim :]
    sizes_ = (*slice_sizes, *hidden)
    extra = range(out.ndim, out.ndim + len(hidden))
    storage_numbers = dn._replace(offset_dims=(*dn.offset_dims, *extra))
    # Positions outside are moved inside by the operation itself: CLIP needs no more.
    got = _emit_gather(
        ctx.block,
        [x, indices],
        [aval, index_aval],
        out,
        sizes_,
        attributes(storage_numbers, sizes_, index_aval.ndim - 1, indices_are_sorted),
    )
    if mode is not FILL_OR_DROP or not dn.start_index_map or not out.size:
        return got
    last = limits(aval.shape, slice_sizes, dn.start_index_map, index_aval.dtype)
    inside, flag = emit_inside(ctx, indices, index_aval, last)
    wide = ShapedArray(storage_out.shape, np.bool_)
    outer = [d for d in range(out.ndim) if d not in dn.offset_dims]
    mask = ctx.block.broadcast(inside, flag, wide, outer)
    other = ctx.block.splat(fill_of(fill_value, storage_out.dtype), storage_out)
    t = types.tensor_type
    return ctx.block.emit(
        f"stablehlo.select {mask}, {got}, {other} : {t(wide)}, {t(storage_out)}"
    )


def _emit_gather(
    block: Any, operands: Any, in_avals: Any, out: Any, sizes_: Any, text: str
) -> str:
    if dynamic_shapes.any_symbolic(sizes_):
        return dynamic_shapes.gather(block, operands, in_avals, out, sizes_, text)
    return block.op1("stablehlo.gather", operands, in_avals, out, text)


def emit_along(
    ctx: Any, x: str, aval: Any, places: str, places_aval: Any, axis: int
) -> str:
    """Writes the elements of `x` at positions along an axis, which must be inside."""
    rank = aval.ndim
    vectors = ShapedArray((*places_aval.shape, 1), places_aval.dtype)
    places = ctx.block.reshape(places, places_aval, vectors)
    text = attributes(*along_axis(rank, axis), rank, False)
    out = ShapedArray(places_aval.shape, aval.dtype)
    return ctx.block.op1("stablehlo.gather", [x, places], [aval, vectors], out, text)


def fill_of(fill_value: Any, dtype: Any) -> Any:
    """The value read outside: as given, else NaN, the least or the largest number."""
    if fill_value is not None:
        return np.asarray(fill_value).astype(dtype)[()]
    if dtypes.issubdtype(dtype, np.inexact):
        return np.asarray(np.nan).astype(dtype)[()]
    if dtypes.issubdtype(dtype, np.signedinteger):
        return dtypes.iinfo(dtype).min
    return families.highest(dtype)


def batch_gather(
    axis: Any,
    args: Any,
    dims: Any,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    **params: Any,
) -> Any:
    """The batching rule of gather."""
    x, indices = args
    dx, di = dims
    dn = shift_dimension_numbers(
        dimension_numbers, x_mapped=dx is not None, indices_mapped=di is not None
    )
    offsets = dimension_numbers.offset_dims
    if dx is not None:
        x = families.move_axis(x, dx, 0)
        slice_sizes = (1 if di is not None else axis.size, *slice_sizes)
    if di is not None:
        indices = families.move_axis(indices, di, 0)
        dn = dn._replace(offset_dims=tuple([d + 1 for d in offsets]))
    else:
        dn = dn._replace(offset_dims=(0, *[d + 1 for d in offsets]))
    if axis.size == 0 and dx is not None and di is not None:
        slice_sizes = (0, *slice_sizes[1:])
    out = gather_p.bind(
        x, indices, dimension_numbers=dn, slice_sizes=slice_sizes, **params
    )
    return out, 0


def shift_dimension_numbers(dn: Any, *, x_mapped: bool, indices_mapped: bool) -> Any:
    """Dimension numbers, but for the first field, with an axis more in front."""
    _, left_out, index_map, batching, others = dn
    if x_mapped:
        left_out = tuple([d + 1 for d in left_out])
        index_map = tuple([d + 1 for d in index_map])
        batching = tuple([d + 1 for d in batching])
    if indices_mapped:
        others = tuple([d + 1 for d in others])
    if x_mapped and indices_mapped:
        batching, others = (0, *batching), (0, *others)
    return type(dn)(dn[0], left_out, index_map, batching, others)


def windows(dn: Any, inner: Any, left_out: Any, indices: np.ndarray) -> Any:
    """For the meanings in NumPy: each index vector's place and its window's start."""
    own = [d for d in range(inner) if d not in left_out]
    batching, others = dn[3], dn[4]
    for place in np.ndindex(*indices.shape[:-1]):
        start = [0] * inner
        for value, d in zip(indices[place], dn[2], strict=True):
            start[d] = int(value)
        for d, e in zip(batching, others, strict=True):
            start[d] = place[e]
        yield place, start, own


def _reference(
    x: Any,
    indices: Any,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    mode: Any,
    fill_value: Any,
    **_: Any,
) -> Any:
    dn = dimension_numbers
    left_out = (*dn.collapsed_slice_dims, *dn.operand_batching_dims)
    inner = [s for d, s in enumerate(slice_sizes) if d not in left_out]
    shape = result_shape(indices.shape[:-1], inner, dn.offset_dims)
    out = np.empty(shape, x.dtype)
    last = [d - s for d, s in zip(x.shape, slice_sizes, strict=True)]
    for place, start, _ in windows(dn, x.ndim, left_out, indices):
        where: list[Any] = list(place)
        for d in dn.offset_dims:
            where.insert(d, slice(None))
        outside = any(not 0 <= a <= b for a, b in zip(start, last, strict=True))
        if outside and mode is FILL_OR_DROP:
            out[tuple(where)] = fill_of(fill_value, x.dtype)
            continue
        start = [min(max(a, 0), b) for a, b in zip(start, last, strict=True)]
        part = x[
            tuple([slice(a, a + s) for a, s in zip(start, slice_sizes, strict=True)])
        ]
        out[tuple(where)] = part.reshape(inner)
    return out


def _jvp(primals: Any, tangents: Any, *, fill_value: Any, **params: Any) -> Any:
    """Nothing moves what is read outside, so tangents read zeros there."""
    (x, indices), (t, _) = primals, tangents
    out = gather_p.bind(x, indices, fill_value=fill_value, **params)
    if type(t) is Zero:
        return out, Zero(avals.aval_of(out).to_tangent())
    fill = None if fill_value is None else 0
    return out, gather_p.bind(t, indices, fill_value=fill, **params)


def _checkify(
    checks: Any, x: Any, indices: Any, *, dimension_numbers: Any, **params: Any
) -> Any:
    shape, index_map = avals.aval_of(x).shape, dimension_numbers.start_index_map
    dtype = avals.aval_of(indices).dtype
    last = limits(shape, params["slice_sizes"], index_map, dtype)
    checks.indices(indices, last, index_map, shape)
    return gather_p.bind(x, indices, dimension_numbers=dimension_numbers, **params)


gather_p = Primitive(
    "gather",
    shard=sharding_rules.gather,
    abstract=_abstract,
    lower=_lower,
    batch=batch_gather,
    reference=_reference,
    cost=Cost.MOVE,
    needs_full_build=True,
    taylor=families.linear_series(0),
    jvp=_jvp,
    checkify=_checkify,
    transpose=LateRule("lax.scatter_functions", "transpose_gather"),
    transpose_into=LateRule("lax.single_windows", "add_gather"),
    rewrite=LateRule("lax.single_windows", "slice_instead"),
)


def gather(
    operand: ArrayLike,
    start_indices: Indices,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: IndexMode | None = None,
    fill_value: OptionalArray = None,
) -> Array:
    """Slices of the operand at positions given by an array of index vectors.

    Args:
      operand: array.
      start_indices: integers [..., n]; the last axis holds index vectors.
      dimension_numbers: how the axes belong together.
      slice_sizes: the size of a slice along each axis of the operand.
      unique_indices: promises that no slices overlap.
      indices_are_sorted: promises that the index vectors ascend.
      mode: a `GatherScatterMode` or its name; default promises positions inside.
      fill_value: what is read outside in mode 'fill'; default NaN for floats, the least
        signed or largest unsigned integer, True.

    Raises:
      TypeError: axes or sizes do not fit.

    Source: `stablehlo.gather`.

    Example:
      >>> lax.gather(
      ...     jnp.arange(12).reshape(3, 4),
      ...     jnp.array([[2], [0]]),
      ...     lax.GatherDimensionNumbers((1,), (0,), (0,)),
      ...     (1, 4),
      ... )
      Array([[ 8,  9, 10, 11],
             [ 0,  1,  2,  3]], dtype=int32)
    """
    parsed = GatherScatterMode.PROMISE_IN_BOUNDS
    if mode is not None:
        parsed = GatherScatterMode.from_any(mode)
    dtype = avals.aval_of(operand).dtype
    fill = None
    if parsed is FILL_OR_DROP and not dtypes.is_extended(dtype):
        fill = np.asarray(fill_of(fill_value, dtype)).item()
        fill = fill if fill == fill else _NAN
    return gather_p.bind(
        operand,
        canonical_indices(start_indices, "lax.gather"),
        dimension_numbers=GatherDimensionNumbers(*map(tuple, dimension_numbers)),
        slice_sizes=sizes.canonicalize_shape(slice_sizes),
        unique_indices=bool(unique_indices),
        indices_are_sorted=bool(indices_are_sorted),
        mode=parsed,
        fill_value=fill,
    )


def along_axis(rank: int, axis: int) -> tuple[GatherDimensionNumbers, tuple[int, ...]]:
    """Numbers and slice sizes that pick elements along an axis, all others paired."""
    others = tuple([d for d in range(rank) if d != axis])
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    return numbers, (1,) * rank


def take_along(x: Any, positions: Any, axis: int) -> Any:
    """Elements of `x` at positions along an axis, which must be inside.

    Args:
      x: array.
      positions: integers, of the shape of `x` except along the axis.
      axis: the axis.
    """
    aval = avals.aval_of(x)
    rank = aval.ndim
    if not aval.size:  # no window of one element fits
        shape = avals.aval_of(positions).shape
        return x if shape == aval.shape else shaping.full(shape, 0, aval.dtype)
    numbers, window = along_axis(rank, axis)
    vectors = shaping.expand_dims(positions, (rank,))
    return gather(x, vectors, numbers, window)


# One object, since NaN is equal to itself only by identity, and parameters are keys.
_NAN = float("nan")


def index_take(src: ArrayLike, idxs: Arrays, axes: Sequence[int]) -> Array:
    """The elements of `src` at integer positions along some axes.

    Args:
      src: array.
      idxs: one array [n] of integers for each of `axes`; negative ones count from the
        end.
      axes: axes of `src`.

    Returns:
      An array [n, ...] of the axes of `src` not in `axes`.

    Example:
      >>> lax.index_take(jnp.arange(12).reshape(3, 4), (jnp.array([0, 2]),), (0,))
      Array([[ 0,  1,  2,  3],
             [ 8,  9, 10, 11]], dtype=int32)
    """
    aval = avals.aval_of(src)
    columns = []
    for index, axis in zip(idxs, axes, strict=True):
        index = canonical_indices(index, "lax.index_take")
        dtype = avals.aval_of(index).dtype
        size = elementwise.size_value(aval.shape[axis], dtype)
        wrapped = elementwise.select(
            elementwise.lt(index, families.number_of(0, dtype)),
            elementwise.add(index, size),
            index,
        )
        columns.append(shaping.expand_dims(wrapped, (1,)))
    vectors = concatenation.concatenate(columns, 1)
    gathered_axes = tuple([int(a) for a in axes])
    return gather(
        src,
        vectors,
        GatherDimensionNumbers(
            tuple(range(1, aval.ndim - len(gathered_axes) + 1)),
            gathered_axes,
            gathered_axes,
        ),
        [1 if d in gathered_axes else s for d, s in enumerate(aval.shape)],
    )
