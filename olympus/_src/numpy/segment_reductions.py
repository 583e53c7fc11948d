"""Reductions over segments: rows of an array grouped by a number for each."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    IndexMode,
    Indices,
    Placement,
)
from olympus._src.core.sizes import as_size
from olympus._src.lax import (
    concatenation,
    families,
    gather,
    reductions,
    scatter_functions,
    shaping,
)
from olympus._src.lax import elementwise as lax
from olympus._src.numpy import promotion
from olympus._src.numpy.promotion import aval_of, program
from olympus._src.numpy.searching import concrete


class _Kind:
    """How a segment is reduced: what an empty one gives, and two operations."""

    def __init__(self, name: str, empty: Any, combine: Any, reduce: Any) -> None:
        self.name = name
        self.empty = empty  # of a dtype
        self.combine = combine  # a scatter
        self.reduce = reduce  # over the first axis


_KINDS = {
    kind.name: kind
    for kind in (
        _Kind(
            "segment_sum",
            lambda _: 0,
            scatter_functions.scatter_add,
            reductions.reduce_sum,
        ),
        _Kind(
            "segment_prod",
            lambda _: 1,
            scatter_functions.scatter_mul,
            reductions.reduce_prod,
        ),
        _Kind(
            "segment_max",
            families.lowest,
            scatter_functions.scatter_max,
            reductions.reduce_max,
        ),
        _Kind(
            "segment_min",
            families.highest,
            scatter_functions.scatter_min,
            reductions.reduce_min,
        ),
    )
}


def _reduce_segments(
    name: str,
    data: Any,
    segment_ids: Any,
    segments: Any,
    promises: tuple[bool, bool],
    bucket: Any,
    mode: Any,
) -> Any:
    promotion.check_arraylike(name, data, segment_ids)
    data_aval, ids = aval_of(data), aval_of(segment_ids)
    if not dtypes.issubdtype(ids.dtype, np.integer):
        raise TypeError(
            f"ops.{name}: segment_ids must be integers, got {ids.short()}; convert "
            "them with astype(int)"
        )
    if ids.ndim == 1 and (not data_aval.shape or data_aval.shape[0] == 1):
        # One row for all segments.
        row = shaping.reshape(data, (1, *data_aval.shape[1:]))
        dims = tuple(range(max(data_aval.ndim, 1)))
        data = shaping.broadcast_in_dim(row, (*ids.shape, *data_aval.shape[1:]), dims)
        data_aval = aval_of(data)
    if data_aval.shape[: ids.ndim] != ids.shape or ids.ndim != 1:
        raise ValueError(
            f"ops.{name}: segment_ids must be a vector with a number for each row of "
            f"data, got {ids.short()} for {data_aval.short()}"
        )
    if segments is None:
        values = concrete(name, segment_ids, "pass the argument `num_segments`")
        segments = int(values.max()) + 1 if values.size else 0
    segments = as_size(segments)
    if segments < 0:
        raise ValueError(
            f"ops.{name}: num_segments must be non-negative, got {segments}"
        )
    mode = gather.GatherScatterMode.from_any(mode)
    if bucket is not None and operator.index(bucket) < 1:
        raise ValueError(f"ops.{name}: bucket_size must be positive, got {bucket}")
    return _combine_segments(
        data,
        segment_ids,
        name=name,
        segments=segments,
        bucket=bucket,
        mode=mode,
        indices_are_sorted=promises[0],
        unique_indices=promises[1],
    )


@program(2, name="segment_reduction")
def _combine_segments(
    data: Any,
    ids: Any,
    *,
    name: str,
    segments: int,
    bucket: int | None,
    mode: Any,
    indices_are_sorted: bool,
    unique_indices: bool,
) -> Any:
    kind = _KINDS[name]
    data = promotion.cast(data, aval_of(data).dtype, False)
    aval = aval_of(data)
    rows, row_shape = aval.shape[0], aval.shape[1:]
    index = shaping.reshape(ids, (rows, 1))
    lead: tuple[int, ...] = (segments,)
    if bucket is not None:
        step = shaping.reshape(shaping.iota(aval_of(ids).dtype, rows), (rows, 1))
        bucket_of = lax.div(step, families.scalar_like(step, bucket))
        index = concatenation.concatenate([bucket_of, index], 1)
        lead = (-(-rows // bucket), segments)
    empty = kind.empty(aval.dtype)
    start = families.fill_shape((*lead, *row_shape), empty, aval.dtype)
    out = kind.combine(
        start,
        index,
        data,
        gather.ScatterDimensionNumbers(
            update_window_dims=tuple(range(1, aval.ndim)),
            inserted_window_dims=tuple(range(len(lead))),
            scatter_dims_to_operand_dims=tuple(range(len(lead))),
        ),
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
    )
    return out if bucket is None else kind.reduce(out, (0,))


@promotion.divides_result("ops.segment_sum")
def segment_sum(
    data: ArrayLike,
    segment_ids: Indices,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: IndexMode | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Sum of the rows of each segment.

    Args:
      data: array whose first axis holds the rows.
      segment_ids: vector of integers: the segment of each row. Rows with a number below
        0, or of `num_segments` and above, are ignored.
      num_segments: how many segments there are; needed while tracing. Default: one more
        than the largest number.
      indices_are_sorted: promises that the numbers ascend.
      unique_indices: promises that no number repeats.
      bucket_size: combine rows in groups of this size first, which is more exact.
      mode: what happens to numbers out of range, as in `Array.at`.
      out_sharding: how the result is divided over a mesh.

    Returns:
      An array [num_segments, ...] of data's dtype; empty segments hold 0.

    Raises:
      TypeError: the numbers are not integers.
      ValueError: the numbers do not fit the rows, or `num_segments` is negative.
      ConcretizationTypeError: the numbers are traced and `num_segments` is not given.

    Source: `stablehlo.scatter`.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus import ops
      >>> ops.segment_sum(onp.arange(5.0), onp.array([0, 0, 1, 1, 3]), num_segments=4)
      Array([1., 5., 0., 4.], dtype=float32)
    """
    return _reduce_segments(
        "segment_sum",
        data,
        segment_ids,
        num_segments,
        (indices_are_sorted, unique_indices),
        bucket_size,
        mode,
    )


@promotion.divides_result("ops.segment_prod")
def segment_prod(
    data: ArrayLike,
    segment_ids: Indices,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: IndexMode | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Product of the rows of each segment.

    Args:
      data: array whose first axis holds the rows.
      segment_ids: vector of integers: the segment of each row. Rows with a number below
        0, or of `num_segments` and above, are ignored.
      num_segments: how many segments there are; needed while tracing. Default: one more
        than the largest number.
      indices_are_sorted: promises that the numbers ascend.
      unique_indices: promises that no number repeats.
      bucket_size: combine rows in groups of this size first, which is more exact.
      mode: what happens to numbers out of range, as in `Array.at`.
      out_sharding: how the result is divided over a mesh.

    Returns:
      An array [num_segments, ...] of data's dtype; empty segments hold 1.

    Raises:
      TypeError: the numbers are not integers.
      ValueError: the numbers do not fit the rows, or `num_segments` is negative.
      ConcretizationTypeError: the numbers are traced and `num_segments` is not given.

    Source: `stablehlo.scatter`.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus import ops
      >>> ops.segment_prod(onp.arange(5.0), onp.array([0, 0, 1, 1, 3]), num_segments=4)
      Array([0., 6., 1., 4.], dtype=float32)
    """
    return _reduce_segments(
        "segment_prod",
        data,
        segment_ids,
        num_segments,
        (indices_are_sorted, unique_indices),
        bucket_size,
        mode,
    )


@promotion.divides_result("ops.segment_max")
def segment_max(
    data: ArrayLike,
    segment_ids: Indices,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: IndexMode | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Largest of the rows of each segment.

    Args:
      data: array whose first axis holds the rows.
      segment_ids: vector of integers: the segment of each row. Rows with a number below
        0, or of `num_segments` and above, are ignored.
      num_segments: how many segments there are; needed while tracing. Default: one more
        than the largest number.
      indices_are_sorted: promises that the numbers ascend.
      unique_indices: promises that no number repeats.
      bucket_size: combine rows in groups of this size first, which is more exact.
      mode: what happens to numbers out of range, as in `Array.at`.
      out_sharding: how the result is divided over a mesh.

    Returns:
      An array [num_segments, ...] of data's dtype; empty segments hold the
        least value of the dtype.

    Raises:
      TypeError: the numbers are not integers.
      ValueError: the numbers do not fit the rows, or `num_segments` is negative.
      ConcretizationTypeError: the numbers are traced and `num_segments` is not given.

    Source: `stablehlo.scatter`.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus import ops
      >>> ops.segment_max(onp.arange(4), onp.array([1, 1, 0, 1]), num_segments=2)
      Array([2, 3], dtype=int32)
    """
    return _reduce_segments(
        "segment_max",
        data,
        segment_ids,
        num_segments,
        (indices_are_sorted, unique_indices),
        bucket_size,
        mode,
    )


@promotion.divides_result("ops.segment_min")
def segment_min(
    data: ArrayLike,
    segment_ids: Indices,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: IndexMode | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Smallest of the rows of each segment.

    Args:
      data: array whose first axis holds the rows.
      segment_ids: vector of integers: the segment of each row. Rows with a number below
        0, or of `num_segments` and above, are ignored.
      num_segments: how many segments there are; needed while tracing. Default: one more
        than the largest number.
      indices_are_sorted: promises that the numbers ascend.
      unique_indices: promises that no number repeats.
      bucket_size: combine rows in groups of this size first, which is more exact.
      mode: what happens to numbers out of range, as in `Array.at`.
      out_sharding: how the result is divided over a mesh.

    Returns:
      An array [num_segments, ...] of data's dtype; empty segments hold the
        largest value of the dtype.

    Raises:
      TypeError: the numbers are not integers.
      ValueError: the numbers do not fit the rows, or `num_segments` is negative.
      ConcretizationTypeError: the numbers are traced and `num_segments` is not given.

    Source: `stablehlo.scatter`.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus import ops
      >>> ops.segment_min(onp.arange(4), onp.array([1, 1, 0, 1]), num_segments=2)
      Array([2, 0], dtype=int32)
    """
    return _reduce_segments(
        "segment_min",
        data,
        segment_ids,
        num_segments,
        (indices_are_sorted, unique_indices),
        bucket_size,
        mode,
    )
