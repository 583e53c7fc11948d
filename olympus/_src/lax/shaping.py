"""Operations that arrange elements in another shape: reshape, concatenate, pad, ..."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, Placement, Shape
from olympus._src.core.primitive import Cost, Exact, LateRule, Primitive, Remade
from olympus._src.core.sizes import as_size
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import (
    elementwise,
    families,
    sharding_constraints,
    sharding_rules,
    sizes,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import types

# -- reshape ---------------------------------------------------------------------------


def _reshape_abstract(
    operand: Any, *, new_sizes: Any, dimensions: Any, sharding: Any
) -> Any:
    if any(d < 0 for d in new_sizes if type(d) is int):
        raise TypeError(
            f"lax.reshape: sizes must be non-negative, got {tuple(new_sizes)} for "
            f"{operand.short()}"
        )
    if math.prod(new_sizes) != operand.size:
        raise TypeError(
            f"cannot reshape array of shape {operand.shape} (size {operand.size}) into "
            f"shape {tuple(new_sizes)} (size {math.prod(new_sizes)}); lax.reshape "
            "keeps the number of elements"
        )
    if dimensions is not None and sorted(dimensions) != list(range(operand.ndim)):
        raise TypeError(
            "lax.reshape: dimensions must be a permutation of the operand's axes, got "
            f"{tuple(dimensions)} for {operand.short()}"
        )
    return ShapedArray(tuple(new_sizes), operand.dtype, operand.weak_type)


def _reshape_lower(
    ctx: Any, x: str, *, new_sizes: Any, dimensions: Any, sharding: Any
) -> str:
    aval = families.storage(ctx.avals_in[0])
    if dimensions is not None:
        order = (*dimensions, *range(len(dimensions), aval.ndim))
        permuted_aval = ShapedArray(tuple([aval.shape[i] for i in order]), aval.dtype)
        x = families.emit_transpose(ctx, x, aval, permuted_aval, order)
        aval = permuted_aval
    return ctx.block.reshape(x, aval, ctx.avals_out[0])


def _reshape_transpose(
    cts: Any, x: Any, *, new_sizes: Any, dimensions: Any, sharding: Any
) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval)]
    if dimensions is None:
        return [reshape(ct, x.aval.shape)]
    permuted_ct = reshape(ct, [x.aval.shape[d] for d in dimensions])
    return [transpose(permuted_ct, [int(i) for i in np.argsort(dimensions)])]


def _reshape_batch(
    axis: Any, args: Any, dims: Any, *, new_sizes: Any, dimensions: Any, sharding: Any
) -> Any:
    x = families.move_axis(args[0], dims[0], 0)
    if dimensions is not None:
        dimensions = (0, *[d + 1 for d in dimensions])
    out = reshape_p.bind(
        x, new_sizes=(axis.size, *new_sizes), dimensions=dimensions, sharding=None
    )
    return out, 0


def _reshape_reference(
    x: Any, *, new_sizes: Any, dimensions: Any, sharding: Any
) -> Any:
    permuted = x if dimensions is None else np.transpose(x, dimensions)
    return np.reshape(permuted, new_sizes)


reshape_p = Primitive(
    "reshape",
    shard=sharding_rules.linear_in(sharding_rules.reshape),
    abstract=_reshape_abstract,
    lower=_reshape_lower,
    transpose=_reshape_transpose,
    batch=_reshape_batch,
    reference=_reshape_reference,
    cost=Cost.MOVE,
    remade=Remade.OF_OPERAND,
    may_make_nan=False,
    exact=Exact.MOVES,
    **families.LINEAR,
)


def reshape(
    operand: ArrayLike,
    new_sizes: int | Shape,
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """The operand's elements in another shape, in row-major order.

    Args:
      operand: array.
      new_sizes: the new shape; its product is the operand's size.
      dimensions: axes of the operand, in the order they are read; default all in order.
      out_sharding: where the result lives.

    Raises:
      TypeError: the sizes are traced, or hold another number of elements.

    Source: `stablehlo.reshape`.

    Example:
      >>> lax.reshape(jnp.arange(4), (2, 2), dimensions=(0,))
      Array([[0, 1],
             [2, 3]], dtype=int32)
    """
    aval = avals.aval_of(operand)
    shape = sizes.canonicalize_shape(new_sizes)
    order = None
    if dimensions is not None:
        order = tuple([int(d) for d in dimensions])
        order = None if order == tuple(range(aval.ndim)) else order
    same = order is None and shape == aval.shape and not np.isscalar(operand)
    if same and out_sharding is None:
        return elementwise.unchanged(operand)
    params: dict[str, Any] = {"new_sizes": shape, "dimensions": order}
    if out_sharding is not None:
        return _bind_divided("reshape", reshape_p, out_sharding, operand, **params)
    return reshape_p.bind(operand, **params, sharding=None)


def _bind_divided(
    name: str, p: Primitive, out_sharding: Any, *operands: Any, **params: Any
) -> Any:
    """Applies an operation, of which it is given how the result is divided."""
    what = f"lax.{name} out_sharding"
    sharding = sharding_constraints.resolve(out_sharding, what, *operands)
    in_type = sharding_constraints.of_types(sharding)
    out = p.bind(*operands, **params, sharding=in_type)
    return sharding_constraints.finish(out, sharding)


def collapse(
    operand: ArrayLike, start_dimension: int, stop_dimension: int | None = None
) -> Array:
    """The operand with the axes from `start_dimension` up to `stop_dimension` joined.

    Args:
      operand: array.
      start_dimension: first axis joined; may be negative.
      stop_dimension: one past the last axis joined; default all that follow.

    Example:
      >>> lax.collapse(np.zeros((2, 3, 4)), 0, 2).shape
      (6, 4)
    """
    shape = avals.aval_of(operand).shape
    start, stop, _ = slice(start_dimension, stop_dimension).indices(len(shape))
    if stop < start:
        raise ValueError(
            "lax.collapse: stop_dimension must not be less than start_dimension, got "
            f"{start_dimension} and {stop_dimension} for {len(shape)} axes"
        )
    merged_size = math.prod(shape[start:stop])
    return reshape(operand, (*shape[:start], merged_size, *shape[stop:]))


# -- squeeze and expand_dims -----------------------------------------------------------


def _squeeze_abstract(operand: Any, *, dimensions: Any) -> Any:
    families.check_axes("squeeze", operand, dimensions)
    if any(operand.shape[d] != 1 for d in dimensions):
        raise ValueError(
            "cannot select an axis to squeeze out which has size not equal to one, got "
            f"shape={operand.shape} and dimensions={tuple(dimensions)} in lax.squeeze"
        )
    shape = tuple([s for i, s in enumerate(operand.shape) if i not in dimensions])
    return ShapedArray(shape, operand.dtype, operand.weak_type)


def _squeeze_transpose(cts: Any, x: Any, *, dimensions: Any) -> Any:
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    return [reshape(cts[0], x.aval.shape)]


squeeze_p = Primitive(
    "squeeze",
    shard=sharding_rules.linear_in(sharding_rules.squeeze),
    abstract=_squeeze_abstract,
    lower=lambda ctx, x, *, dimensions: ctx.block.reshape(
        x, ctx.avals_in[0], ctx.avals_out[0]
    ),
    transpose=_squeeze_transpose,
    batch=lambda axis, args, dims, *, dimensions: _squeeze_batch(
        args, dims, dimensions
    ),
    reference=lambda x, *, dimensions: np.squeeze(x, dimensions),
    cost=Cost.MOVE,
    remade=Remade.OF_OPERAND,
    may_make_nan=False,
    exact=Exact.MOVES,
    **families.LINEAR,
)


def _squeeze_batch(args: Any, dims: Any, dimensions: Any) -> Any:
    (dim,) = dims
    shifted = tuple([d + (d >= dim) for d in dimensions])
    out = squeeze_p.bind(args[0], dimensions=shifted)
    return out, dim - sum(d < dim for d in shifted)


def squeeze(array: ArrayLike, dimensions: int | Shape) -> Array:
    """The array without some axes of size 1.

    Args:
      array: array.
      dimensions: axes to leave out; may be negative.

    Raises:
      ValueError: such an axis does not exist or is not of size 1.

    Source: `stablehlo.reshape`.

    Example:
      >>> lax.squeeze(jnp.ones((1, 3, 1)), (0,)).shape
      (3, 1)
    """
    rank = avals.aval_of(array).ndim
    axes = sizes.canonicalize_axes(dimensions, rank, "lax.squeeze")
    if not axes and not np.isscalar(array):
        return elementwise.unchanged(array)
    return squeeze_p.bind(array, dimensions=axes)


def expand_dims(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """The array with new axes of size 1 at the positions `dimensions` of the result.

    Args:
      array: array.
      dimensions: positions in the result's shape; may be negative.

    Source: `stablehlo.broadcast_in_dim`.

    Example:
      >>> lax.expand_dims(jnp.ones(3), (0, 2)).shape
      (1, 3, 1)
    """
    shape = avals.aval_of(array).shape
    if not hasattr(dimensions, "__len__"):
        dimensions = tuple(dimensions)
    rank = len(shape) + len(dimensions)
    new = sizes.canonicalize_axes(dimensions, rank, "lax.expand_dims")
    old_axes = tuple([i for i in range(rank) if i not in new])
    out = [1] * rank
    for i, size in zip(old_axes, shape, strict=True):
        out[i] = size
    return broadcast_in_dim(array, tuple(out), old_axes)


# -- transpose and broadcasts ----------------------------------------------------------


def transpose(operand: ArrayLike, permutation: Sequence[int] | np.ndarray) -> Array:
    """The operand with its axes in another order.

    Args:
      operand: array.
      permutation: for each axis of the result, the operand's axis.

    Raises:
      TypeError: it is not a permutation of the axes.

    Source: `stablehlo.transpose`.

    Example:
      >>> lax.transpose(jnp.array([[1, 2], [3, 4]]), (1, 0))
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    order = tuple([int(i) for i in permutation])
    if order == tuple(range(len(order))) and len(order) == avals.aval_of(operand).ndim:
        return _canonical(operand)
    return families.transpose_p.bind(operand, permutation=order)


def _canonical(x: Any) -> Any:
    """`x`; of a NumPy array of 64 bits where those are off, one of 32."""
    if type(x) is np.ndarray:
        x = elementwise.convert(x, avals.aval_of(x).dtype)
    return elementwise.unchanged(x)


def broadcast_in_dim(
    operand: ArrayLike,
    shape: Shape,
    broadcast_dimensions: Sequence[int],
    *,
    out_sharding: Placement = None,
) -> Array:
    """The operand repeated to fill `shape`.

    Args:
      operand: array.
      shape: the result's shape.
      broadcast_dimensions: for each axis of the operand, its axis in the result; the
        operand's size there is 1 or the result's.
      out_sharding: where the result lives.

    Raises:
      TypeError: sizes do not agree.

    Source: `stablehlo.broadcast_in_dim`.

    Example:
      >>> lax.broadcast_in_dim(jnp.array([1, 2]), (2, 3), (0,))
      Array([[1, 1, 1],
             [2, 2, 2]], dtype=int32)
    """
    shape = sizes.canonicalize_shape(shape)
    dims = tuple([int(d) for d in broadcast_dimensions])
    if len(dims) == avals.aval_of(operand).ndim and dims != tuple(sorted(dims)):
        order = sorted(range(len(dims)), key=dims.__getitem__)
        operand, dims = transpose(operand, order), tuple(sorted(dims))
    same = avals.aval_of(operand).shape == shape and dims == tuple(range(len(shape)))
    if same and not np.isscalar(operand) and out_sharding is None:
        return _canonical(operand)
    p = families.broadcast_in_dim_p
    params = {"shape": shape, "broadcast_dimensions": dims}
    if out_sharding is not None:
        return _bind_divided("broadcast_in_dim", p, out_sharding, operand, **params)
    return p.bind(operand, **params, sharding=None)


def broadcast(
    operand: ArrayLike, sizes: Shape, *, out_sharding: Placement = None
) -> Array:
    """The operand repeated along new leading axes.

    Args:
      operand: array.
      sizes: sizes of the axes added in front.
      out_sharding: where the result lives.

    Source: `stablehlo.broadcast_in_dim`.

    Example:
      >>> lax.broadcast(jnp.array([1, 2]), (3,)).shape
      (3, 2)
    """
    lead = tuple(sizes)
    if not lead and not np.isscalar(operand) and out_sharding is None:
        return elementwise.unchanged(operand)
    shape = avals.aval_of(operand).shape
    dims = tuple(range(len(lead), len(lead) + len(shape)))
    return broadcast_in_dim(operand, (*lead, *shape), dims, out_sharding=out_sharding)


_LARGEST_RANK = 1 << 12


def check_rank(what: str, rank: int) -> None:
    """Refuses a number of axes that is a mistake, and would fill the memory."""
    if rank > _LARGEST_RANK:
        raise ValueError(f"{what} must be at most {_LARGEST_RANK}, got {rank}")


def broadcast_to_rank(x: ArrayLike, rank: int) -> Array:
    """`x` with axes of size 1 added in front until it has `rank` axes.

    Example:
      >>> lax.broadcast_to_rank(jnp.ones((2, 3)), 4).shape
      (1, 1, 2, 3)
    """
    have = avals.aval_of(x).ndim
    if have > rank:
        raise ValueError(
            f"lax.broadcast_to_rank: rank must be at least the operand's {have}, got "
            f"{rank}"
        )
    check_rank("lax.broadcast_to_rank: rank", rank)
    if have == rank:
        return elementwise.unchanged(x)
    return expand_dims(x, range(rank - have))


# -- filled arrays ---------------------------------------------------------------------


def full(
    shape: int | Shape,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    sharding: Placement = None,
) -> Array:
    """An array filled with one value.

    Args:
      shape: sizes of the axes.
      fill_value: scalar.
      dtype: default the value's own.
      sharding: where the result lives.

    Source: `stablehlo.broadcast_in_dim`.

    Example:
      >>> lax.full((2, 2), 7, jnp.int32)
      Array([[7, 7],
             [7, 7]], dtype=int32)
    """
    shape = sizes.canonicalize_shape(shape)
    sizes.check_sizes("full", shape)
    if type(fill_value) is int and dtype is not None:
        kind = dtypes.canonicalize_dtype(dtype, True)
        fill_value = elementwise.integer_as(fill_value, kind)
    value = avals.aval_of(fill_value)
    if value.shape:
        raise TypeError(
            f"lax.full: fill_value must be a scalar, got {value.short()}; use "
            "lax.broadcast_in_dim to repeat arrays"
        )
    weak = dtype is None and value.weak_type
    kind = value.dtype if dtype is None else dtypes.canonicalize_dtype(dtype, True)
    converted = elementwise.convert(fill_value, kind, weak)
    out_aval = ShapedArray(shape, kind, weak)
    return _fill("lax.full", converted, out_aval, sharding, sharding)


_fill_in_place = LateRule("interpreters.placed_values", "fill")
_place_like = LateRule("interpreters.placed_values", "place_like")


def _fill(what: str, value: Any, aval: Any, place: Any, division: Any) -> Any:
    """An array filled with one value.

    Args:
      what: the function, for messages.
      value: a scalar of the result's dtype.
      aval: the type of the result.
      place: where it is; None where no place was chosen.
      division: how a program divides it that is traced.
    """
    if place is not None:
        if sharding_constraints.is_over_mesh(place):
            place = sharding_constraints.resolve(place, what)
        array = _fill_in_place(value, aval, place)
        if array is not None:
            return array
    if not sharding_constraints.is_over_mesh(division):
        division = None
    return broadcast(value, aval.shape, out_sharding=division)


def full_like(
    x: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: int | Shape | None = None,
    sharding: Placement = None,
) -> Array:
    """An array like `x` filled with one value.

    Args:
      x: array whose shape and dtype are taken.
      fill_value: scalar.
      dtype: replaces that of `x`.
      shape: replaces that of `x`.
      sharding: where the result is; default where `x` is committed.

    Example:
      >>> lax.full_like(jnp.array([1, 2]), 7)
      Array([7, 7], dtype=int32)
    """
    aval = avals.aval_of(x)
    weak = dtype is None and aval.weak_type
    kind = aval.dtype if dtype is None else dtypes.canonicalize_dtype(dtype, True)
    if dtypes.is_extended(kind):
        raise TypeError(f"lax.full_like: cannot fill {aval.short()} with numbers")
    if type(fill_value) is complex and dtypes.kind(kind) not in "bc":
        raise TypeError(
            f"lax.full_like: a Python complex number cannot be of dtype {kind}, got "
            f"{fill_value}; take its real part"
        )
    shape = aval.shape if shape is None else sizes.canonicalize_shape(shape)
    if type(fill_value) is int and not weak:
        fill_value = elementwise.integer_as(fill_value, kind)
    value = avals.aval_of(fill_value)
    if value.shape:
        raise TypeError(
            f"lax.full_like: fill_value must be a scalar, got {value.short()}"
        )
    place, division = sharding, sharding
    if sharding is None:
        place = _place_like(x, shape)
        division = aval.explicit if shape == aval.shape else None
    converted = elementwise.convert(fill_value, kind, weak)
    out_aval = ShapedArray(shape, kind, weak)
    return _fill("lax.full_like", converted, out_aval, place, division)


def empty(shape: Shape, dtype: DTypeLike, *, out_sharding: Placement = None) -> Array:
    """An array with unspecified values (they are zero).

    Example:
      >>> lax.empty((2, 3), jnp.float32).shape
      (2, 3)
    """
    return full(shape, 0, dtype, sharding=out_sharding)


# -- iota ------------------------------------------------------------------------------


def _iota_abstract(*, dtype: Any, shape: Any, dimension: int, sharding: Any) -> Any:
    families.check_dtype("iota", ShapedArray((), dtype), families.NUMERIC, "its dtype")
    sizes.check_sizes("iota", shape)
    if not 0 <= dimension < len(shape):
        raise ValueError(
            "lax.iota: dimension must be an axis of the result, got "
            f"{dimension} for shape {tuple(shape)}"
        )
    return ShapedArray(tuple(shape), dtype)


def _iota_reference(*, dtype: Any, shape: Any, dimension: int, sharding: Any) -> Any:
    line = np.arange(shape[dimension]).astype(dtype)
    stretched = [-1 if i == dimension else 1 for i in range(len(shape))]
    return np.broadcast_to(line.reshape(stretched), shape)


iota_p = Primitive(
    "iota",
    shard=sharding_rules.iota,
    abstract=_iota_abstract,
    lower=lambda ctx, *, dimension, **_: ctx.block.iota(dimension, ctx.avals_out[0]),
    reference=_iota_reference,
    cost=Cost.SPREAD,
    remade=Remade.OF_OPERAND,
    may_make_nan=False,
    exact=Exact.MOVES,
)


def iota(dtype: DTypeLike, size: int) -> Array:
    """The numbers 0, 1, ..., size - 1.

    Args:
      dtype: integer, floating or complex dtype.
      size: how many.

    Source: `stablehlo.iota`.

    Example:
      >>> lax.iota(jnp.int32, 4)
      Array([0, 1, 2, 3], dtype=int32)
    """
    return broadcasted_iota(dtype, (size,), 0)


def counting(size: Any) -> Any:
    """The numbers 0 to size - 1 in int32: NumPy's, or computed for a symbolic size."""
    kind = np.dtype(np.int32)
    return np.arange(size, dtype=kind) if type(size) is int else iota(kind, size)


def broadcasted_iota(
    dtype: DTypeLike, shape: Shape, dimension: int, *, out_sharding: Placement = None
) -> Array:
    """An array whose elements are their own positions along an axis.

    Args:
      dtype: integer, floating or complex dtype.
      shape: the result's shape.
      dimension: the axis counted; may be negative.
      out_sharding: where the result lives.

    Source: `stablehlo.iota`.

    Example:
      >>> lax.broadcasted_iota(jnp.int32, (2, 3), 1)
      Array([[0, 1, 2],
             [0, 1, 2]], dtype=int32)
    """
    shape = sizes.canonicalize_shape(shape)
    dimension = sizes.canonicalize_axis(dimension, len(shape), "lax.broadcasted_iota")
    kind = dtypes.canonicalize_dtype(dtypes.as_dtype(dtype))
    params = {"dtype": kind, "shape": shape, "dimension": dimension}
    if out_sharding is not None:
        return _bind_divided("broadcasted_iota", iota_p, out_sharding, **params)
    return iota_p.bind(**params, sharding=None)


# -- rev -------------------------------------------------------------------------------


def _rev_abstract(operand: Any, *, dimensions: Any) -> Any:
    families.check_axes("rev", operand, dimensions)
    return ShapedArray(operand.shape, operand.dtype, operand.weak_type)


def _rev_transpose(cts: Any, x: Any, *, dimensions: Any) -> Any:
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    return [rev_p.bind(cts[0], dimensions=dimensions)]


def _rev_batch(axis: Any, args: Any, dims: Any, *, dimensions: Any) -> Any:
    (dim,) = dims
    shifted = tuple([d + (d >= dim) for d in dimensions])
    return rev_p.bind(args[0], dimensions=shifted), dim


rev_p = Primitive(
    "rev",
    shard=sharding_rules.keep,
    abstract=_rev_abstract,
    lower=lambda ctx, x, *, dimensions: ctx.block.emit(
        f"stablehlo.reverse {x}, dims = {types.int_list(dimensions)} : "
        f"{types.tensor_type(ctx.avals_out[0])}"
    ),
    transpose=_rev_transpose,
    batch=_rev_batch,
    reference=lambda x, *, dimensions: np.flip(x, dimensions),
    cost=Cost.MOVE,
    may_make_nan=False,
    exact=Exact.MOVES,
    **families.LINEAR,
)


def rev(operand: ArrayLike, dimensions: Sequence[int]) -> Array:
    """The operand with the order along some axes reversed.

    Args:
      operand: array.
      dimensions: the axes; may be negative.

    Source: `stablehlo.reverse`.

    Example:
      >>> lax.rev(jnp.array([[1, 2], [3, 4]]), (1,))
      Array([[2, 1],
             [4, 3]], dtype=int32)
    """
    rank = avals.aval_of(operand).ndim
    axes = sizes.canonicalize_axes(dimensions, rank, "lax.rev")
    if not axes:
        return elementwise.unchanged(operand)
    return rev_p.bind(operand, dimensions=axes)


# -- tile ------------------------------------------------------------------------------


def _tile_abstract(operand: Any, *, reps: Any) -> Any:
    if len(reps) != operand.ndim or any(r < 0 for r in reps):
        raise ValueError(
            "lax.tile: reps must give a non-negative number for each of the operand's "
            f"{operand.ndim} axes, got {tuple(reps)} for {operand.short()}"
        )
    shape = tuple([r * s for r, s in zip(reps, operand.shape, strict=True)])
    return ShapedArray(shape, operand.dtype, operand.weak_type)


def _tile_decompose(x: Any, *, reps: Any) -> Any:
    shape = avals.aval_of(x).shape
    pairs = [n for pair in zip(reps, shape, strict=True) for n in pair]
    spread = broadcast_in_dim(x, tuple(pairs), range(1, len(pairs), 2))
    return reshape(spread, tuple([r * s for r, s in zip(reps, shape, strict=True)]))


def _tile_transpose(cts: Any, x: Any, *, reps: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval)]
    pairs = [n for pair in zip(reps, x.aval.shape, strict=True) for n in pair]
    grouped = reshape(ct, tuple(pairs))
    return [families.reduce_sum_p.bind(grouped, axes=tuple(range(0, len(pairs), 2)))]


def _tile_batch(axis: Any, args: Any, dims: Any, *, reps: Any) -> Any:
    (dim,) = dims
    return tile_p.bind(args[0], reps=(*reps[:dim], 1, *reps[dim:])), dim


tile_p = Primitive(
    "tile",
    shard=sharding_rules.tile,
    abstract=_tile_abstract,
    decompose=_tile_decompose,
    transpose=_tile_transpose,
    batch=_tile_batch,
    reference=lambda x, *, reps: np.tile(x, reps),
    cost=Cost.MOVE,
    may_make_nan=False,
    exact=Exact.MOVES,
    **families.LINEAR,
)


def tile(operand: ArrayLike, reps: Sequence[int]) -> Array:
    """The operand repeated along its axes.

    Args:
      operand: array.
      reps: for each axis, the number of copies.

    Example:
      >>> lax.tile(jnp.array([1, 2]), (3,))
      Array([1, 2, 1, 2, 1, 2], dtype=int32)
    """
    return tile_p.bind(operand, reps=tuple([as_size(r) for r in reps]))


# -- bits and copies -------------------------------------------------------------------


def _bitcast_abstract(operand: Any, *, new_dtype: Any) -> Any:
    old, new = dtypes.itemsize_bits(operand.dtype), dtypes.itemsize_bits(new_dtype)
    shape = operand.shape
    if old > new:
        shape = (*shape, old // new)
    elif old < new:
        if not shape or shape[-1] != new // old:
            raise ValueError(
                f"lax.bitcast_convert_type: the last axis must have size {new // old} "
                f"to become {new_dtype}, got {operand.short()}"
            )
        shape = shape[:-1]
    kinds = [dtypes.kind(d) for d in (operand.dtype, new_dtype)]
    if kinds[0] != kinds[1] and ("b" in kinds or "c" in kinds):
        raise TypeError(
            "lax.bitcast_convert_type: bools and complex numbers must keep their "
            f"kind, got {operand.short()} and {new_dtype}; use "
            "lax.convert_element_type, or lax.real and lax.imag"
        )
    return ShapedArray(shape, new_dtype)


def _bitcast_lower(ctx: Any, x: str, *, new_dtype: Any) -> str:
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    if aval.dtype == new_dtype:
        return x
    if aval.ndim != out.ndim and types.has_symbolic_size(out):
        return _emit_pieces(ctx, x, aval, out)
    return ctx.block.op1("stablehlo.bitcast_convert", [x], [aval], out)


def _emit_pieces(ctx: Any, x: str, aval: Any, out: Any) -> str:
    """Writes a change of width by shifts, as refinement needs for dynamic sizes."""
    block = ctx.block
    narrow, wide = sorted((aval, out), key=lambda a: dtypes.itemsize_bits(a.dtype))
    bits = dtypes.itemsize_bits(narrow.dtype)
    word = np.dtype(f"uint{dtypes.itemsize_bits(wide.dtype)}")
    parts = ShapedArray(narrow.shape, word)
    step = block.elementwise(
        "stablehlo.multiply",
        (block.iota(parts.ndim - 1, parts), block.splat(bits, parts)),
        parts,
    )

    def cast(x: str, have: Any, dtype: Any) -> str:
        if have.dtype == dtype:
            return x
        cast_aval = ShapedArray(have.shape, dtype)
        return str(block.op1("stablehlo.bitcast_convert", [x], [have], cast_aval))

    piece = ShapedArray(narrow.shape, np.dtype(f"uint{bits}"))
    if narrow is out:
        whole = ShapedArray(wide.shape, word)
        x = block.broadcast(cast(x, aval, word), whole, parts, range(whole.ndim))
        x = block.elementwise("stablehlo.shift_right_logical", (x, step), parts)
        return cast(block.convert(x, parts, piece), piece, out.dtype)
    x = block.convert(cast(x, aval, piece.dtype), piece, parts)
    x = block.elementwise("stablehlo.shift_left", (x, step), parts)
    whole, scalar = ShapedArray(wide.shape, word), ShapedArray((), word)
    t = types.tensor_type
    x = block.emit(
        f"stablehlo.reduce({x} init: {block.constant(0, scalar)}) applies "
        f"stablehlo.or across dimensions = [{whole.ndim}] : ({t(parts)}, {t(scalar)}) "
        f"-> {t(whole)}"
    )
    return cast(x, whole, out.dtype)


def _bitcast_batch(axis: Any, args: Any, dims: Any, *, new_dtype: Any) -> Any:
    x = families.move_axis(args[0], dims[0], 0)
    return bitcast_convert_type_p.bind(x, new_dtype=new_dtype), 0


def _bitcast_reference(x: Any, *, new_dtype: Any) -> Any:
    old, new = x.dtype.itemsize, np.dtype(new_dtype).itemsize
    x = np.ascontiguousarray(x)
    if old == new:
        return x.view(new_dtype)
    if old < new:
        return x.view(new_dtype)[..., 0]
    return x.reshape(*x.shape, 1).view(new_dtype)


bitcast_convert_type_p = Primitive(
    "bitcast_convert_type",
    shard=sharding_rules.bitcast_convert_type,
    abstract=_bitcast_abstract,
    lower=_bitcast_lower,
    batch=_bitcast_batch,
    reference=_bitcast_reference,
    cost=Cost.BITS,
    may_make_nan=False,
    jvp=families.no_tangent,
    exact=Exact.MOVES,
)


def bitcast_convert_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """The operand's bits read as another dtype.

    Args:
      operand: array.
      new_dtype: a dtype; where its elements are narrower or wider, the last axis of the
        result or operand counts the pieces.

    Raises:
      ValueError: the last axis does not fill whole elements.

    Source: `stablehlo.bitcast_convert`.

    Example:
      >>> lax.bitcast_convert_type(jnp.array([1.0]), jnp.int32)
      Array([1065353216], dtype=int32)
    """
    kind = dtypes.canonicalize_dtype(dtypes.as_dtype(new_dtype))
    return bitcast_convert_type_p.bind(operand, new_dtype=kind)


copy_p: Primitive = Primitive(
    "copy",
    shard=sharding_rules.linear_in(sharding_rules.keep),
    abstract=lambda operand: operand,
    lower=lambda ctx, x: x,
    transpose=lambda cts, x: list(cts),
    batch=lambda axis, args, dims: (copy_p.bind(*args), dims[0]),
    reference=lambda x: np.array(x),
    cost=Cost.BITS,
    may_make_nan=False,
    exact=Exact.MOVES,
    **families.LINEAR,
)


def broadcast_like(arr: ArrayLike, like_arr: ArrayLike) -> Array:
    """`arr` broadcast to the shape of another array, by NumPy's rule.

    Args:
      arr: array.
      like_arr: array whose shape is taken.

    Example:
      >>> lax.broadcast_like(jnp.array([1, 2]), jnp.ones((3, 2))).shape
      (3, 2)
    """
    shape, own = avals.aval_of(like_arr).shape, avals.aval_of(arr).shape
    return broadcast_in_dim(arr, shape, range(len(shape) - len(own), len(shape)))
