"""Reading and adding rows of arrays at index vectors, of which some are padding.

Nothing here trusts what a sparse array says of its positions: they may be unsorted,
occur twice, or lie outside. Outside, reads give zeros and additions are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.lax import (
    choice,
    concatenation,
    cumulative,
    elementwise,
    families,
    gather,
    reductions,
    scatter_functions,
    shaping,
    sorting,
)
from olympus._src.lax.gather import GatherDimensionNumbers, ScatterDimensionNumbers
from olympus._src.numpy import join_split, selection

aval_of = avals.aval_of
INT = np.dtype(np.int32)


def as_positions(indices: Any) -> Any:
    """Positions in a dtype in which the sizes of axes can be compared with them."""
    dtype = aval_of(indices).dtype
    if dtype.itemsize < 4 or dtype == np.dtype(np.uint32):
        return elementwise.convert_element_type(indices, INT)
    return indices


def limits(indices: Any, shape: Sequence[int]) -> Any:
    """The sizes of axes, of the form and dtype of an array of index vectors."""
    aval = aval_of(indices)
    columns = [shaping.full((*aval.shape[:-1], 1), n, aval.dtype) for n in shape]
    if not columns:
        return shaping.full(aval.shape, 0, aval.dtype)
    return concatenation.concatenate(columns, aval.ndim - 1)


def mark_inside(indices: Any, shape: Sequence[int]) -> Any:
    """Which index vectors [..., n] lie inside of a shape; booleans [...]."""
    indices = as_positions(indices)
    inside = None
    for axis, size in enumerate(shape):
        column = take_column(indices, axis)
        here = (column >= 0) & (column < size)
        inside = here if inside is None else inside & here
    if inside is None:
        return shaping.full(aval_of(indices).shape[:-1], True, np.dtype(np.bool_))
    return inside


def take_column(indices: Any, axis: int) -> Any:
    """One entry of all index vectors."""
    last = aval_of(indices).ndim - 1
    return concatenation.index_in_dim(indices, axis, last, keepdims=False)


def take_columns(indices: Any, axes: Sequence[int]) -> Any:
    """Some entries of all index vectors."""
    aval = aval_of(indices)
    if list(axes) == list(range(aval.shape[-1])):
        return indices
    if not axes:
        return shaping.full((*aval.shape[:-1], 0), 0, aval.dtype)
    columns = [
        concatenation.slice_in_dim(indices, a, a + 1, axis=aval.ndim - 1) for a in axes
    ]
    return concatenation.concatenate(columns, aval.ndim - 1)


def join_columns(*columns: Any) -> Any:
    """Index vectors of the entries of others, one after another."""
    dtype = dtypes.result_type(*columns)
    columns = tuple([elementwise.convert_element_type(c, dtype) for c in columns])
    return concatenation.concatenate(columns, aval_of(columns[0]).ndim - 1)


def choose_rows(mask: Any, x: Any, other: Any = 0) -> Any:
    """`x` where a mask of its leading axes is true, and a number elsewhere."""
    aval, mask_aval = aval_of(x), aval_of(mask)
    if aval.ndim > mask_aval.ndim:
        mask = shaping.broadcast_in_dim(mask, aval.shape, tuple(range(mask_aval.ndim)))
    return choice.select(mask, x, shaping.full_like(x, other))


def move_outside(indices: Any, mask: Any, shape: Sequence[int]) -> Any:
    """Index vectors, and the sizes of the axes where a mask is false: padding."""
    aval = aval_of(indices)
    wide = shaping.broadcast_in_dim(mask, aval.shape, tuple(range(aval.ndim - 1)))
    return choice.select(wide, indices, limits(indices, shape))


def take_rows(x: Any, indices: Any) -> Any:
    """The rows of `x` at index vectors [n, k], which go over its first k axes.

    Returns:
      An array [n, ...] of the other axes; zeros for vectors outside.
    """
    x_aval, aval = aval_of(x), aval_of(indices)
    out = take_clipped_rows(x, indices)
    if not aval_of(out).size or not x_aval.size or not aval.shape[1]:
        return out
    return choose_rows(mark_inside(indices, x_aval.shape[: aval.shape[1]]), out)


def take_clipped_rows(x: Any, indices: Any) -> Any:
    """As `take_rows`; but some row of `x` for vectors outside."""
    x_aval, aval = aval_of(x), aval_of(indices)
    n, k = aval.shape
    row = x_aval.shape[k:]
    if not x_aval.size or not n:
        return shaping.full((n, *row), 0, x_aval.dtype)
    if not k:
        return shaping.broadcast_in_dim(x, (n, *row), tuple(range(1, 1 + len(row))))
    numbers = GatherDimensionNumbers(
        tuple(range(1, 1 + len(row))), tuple(range(k)), tuple(range(k))
    )
    return gather.gather(x, as_positions(indices), numbers, (1,) * k + row, mode="clip")


def add_rows(updates: Any, indices: Any, shape: Sequence[int]) -> Any:
    """The sum of the rows of `updates` at each place of a shape.

    Args:
      updates: array [n, ...].
      indices: index vectors [n, k].
      shape: k sizes.

    Returns:
      An array [*shape, ...]; zeros where there is no row.
    """
    aval = aval_of(updates)
    row = aval.shape[1:]
    if aval.dtype == np.dtype(np.bool_):
        counts = elementwise.convert_element_type(updates, INT)
        return elementwise.ne(add_rows(counts, indices, shape), INT.type(0))
    k = len(shape)
    if not k:
        return sum_axes(updates, (0,))
    zeros = families.fill_shape((*shape, *row), 0, aval.dtype)
    if not aval.size or not aval_of(zeros).size:
        return zeros
    numbers = ScatterDimensionNumbers(
        tuple(range(1, 1 + len(row))), tuple(range(k)), tuple(range(k))
    )
    return scatter_functions.scatter_add(
        zeros, as_positions(indices), updates, numbers, mode="drop"
    )


def sum_axes(x: Any, axes: Sequence[int]) -> Any:
    """The sum over axes; of booleans, whether any is true."""
    if not axes:
        return x
    if aval_of(x).dtype == np.dtype(np.bool_):
        return reductions.reduce_or(x, tuple(axes))
    return reductions.reduce_sum(x, tuple(axes))


# -- order -----------------------------------------------------------------------------


def sort_order(indices: Any) -> tuple[Any, Any]:
    """Index vectors [n, k] in ascending order, and from which places they come."""
    n, k = aval_of(indices).shape
    places = shaping.iota(INT, n)
    if not k or n < 2:
        return indices, places
    columns = [take_column(indices, a) for a in range(k)]
    *columns, places = sorting.sort([*columns, places], dimension=0, num_keys=k)
    return join_split.stack(columns, 1), places


def mark_first(indices: Any) -> Any:
    """Which index vectors [n, k], in order, differ from the one before; booleans."""
    n, _k = aval_of(indices).shape
    if not n:
        return shaping.full((0,), True, np.dtype(np.bool_))
    before = concatenation.slice_in_dim(indices, 0, n - 1)
    after = concatenation.slice_in_dim(indices, 1, n)
    changes = reductions.reduce_or(elementwise.ne(before, after), (1,))
    first = shaping.full((1,), True, np.dtype(np.bool_))
    return concatenation.concatenate([first, changes], 0)


class Groups:
    """Index vectors [n, k] by their values: each value inside of a shape has a number.

    Attributes:
      number: for each vector, that of its value; `n` for padding.
      count: how many values there are.
      sorted_indices, places, is_first: the vectors in order, where they come from, and
        which are the first of their value.
    """

    def __init__(self, indices: Any, shape: Sequence[int]) -> None:
        indices = as_positions(indices)
        n = aval_of(indices).shape[0]
        inside = mark_inside(indices, shape)
        cleaned = move_outside(indices, inside, shape)
        self.sorted_indices, self.places = sort_order(cleaned)
        kept = mark_inside(self.sorted_indices, shape)
        self.is_first = mark_first(self.sorted_indices) & kept
        ones = elementwise.convert_element_type(self.is_first, INT)
        ranks = cumulative.cumsum(ones) - INT.type(1)
        ranks = selection.where(kept, ranks, INT.type(n))
        self.number = place_rows(ranks, self.places)
        self.count = reductions.reduce_sum(ones, (0,))
        self.ranks = ranks


def place_rows(x: Any, places: Any) -> Any:
    """Rows moved to places, which are a permutation."""
    aval = aval_of(x)
    if not aval.size:
        return x
    numbers = ScatterDimensionNumbers(tuple(range(1, aval.ndim)), (0,), (0,))
    return scatter_functions.scatter(
        shaping.full(aval.shape, 0, aval.dtype),
        shaping.expand_dims(places, (1,)),
        x,
        numbers,
        unique_indices=True,
        mode="drop",
    )
