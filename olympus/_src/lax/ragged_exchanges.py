"""`ragged_all_to_all`: slices of different sizes sent along a mapped axis.

Each element gathers all operands and picks the rows that were sent to it. That moves as
many bytes as there are elements times an operand, more than a kernel that sends the
slices alone; but it is right on all platforms, and so are its derivatives, where rows
are sent to several elements or written over.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import (
    concatenation,
    elementwise,
    families,
    gather,
    parallel,
    reductions,
    shaping,
    slicing,
)

_WHAT = "ragged_all_to_all"
_INDEX = np.dtype(np.int32)


def ragged_all_to_all(
    operand: ArrayLike,
    output: ArrayLike,
    input_offsets: ArrayLike,
    send_sizes: ArrayLike,
    output_offsets: ArrayLike,
    recv_sizes: ArrayLike,
    *,
    axis_name: Hashable,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
) -> Array:
    """Sends slices of different sizes to all elements along a mapped axis.

    With n elements and k slices, the first k / n slices of each go to element 0, the
    next to element 1, and so on. Slice i is the rows of `operand` from
    `input_offsets[i]`, as many as `send_sizes[i]`. Its receiver writes them into
    `output` from `output_offsets[i]`; of slices that overlap there, the last counts.

    Args:
      operand: array [rows, ...].
      output: array [rows of the result, ...] of the same dtype and other axes.
      input_offsets: integers [k].
      send_sizes: integers [k].
      output_offsets: integers [k], positions at the receivers.
      recv_sizes: integers [k]: the sizes of the slices that arrive, those of element 0
        first.
      axis_name: the name of a mapped axis, or a tuple of names.
      axis_index_groups: lists of one size of indices along the axis: elements exchange
        within each group.

    Returns:
      As `output`, with the received rows in it.

    Raises:
      NameError: no axis of that name is mapped.
      TypeError: dtypes differ, or offsets or sizes are no integers.
      ValueError: shapes do not fit, or k is no multiple of n.

    Example:
      >>> def exchange(x, sizes, starts, received):
      ...     return lax.ragged_all_to_all(
      ...         x, np.zeros(4, np.int32), np.array([0, 1]), sizes, starts, received,
      ...         axis_name='i')
      >>> olympus.vmap(exchange, axis_name='i')(
      ...     np.array([[1, 2, 2], [3, 4, 0]], np.int32), np.array([[1, 2], [1, 1]]),
      ...     np.array([[0, 0], [1, 2]]), np.array([[1, 1], [2, 1]]))
      Array([[1, 3, 0, 0],
             [2, 2, 4, 0]], dtype=int32)
    """
    count = parallel.axis_size(axis_name)
    if axis_index_groups is not None:
        count = len(axis_index_groups[0])
    offsets = (input_offsets, send_sizes, output_offsets, recv_sizes)
    _check(operand, output, offsets, count)
    starts, _, targets, received = [
        elementwise.convert_element_type(x, _INDEX) for x in offsets
    ]
    groups = axis_index_groups
    table = concatenation.concatenate(
        [shaping.expand_dims(x, (0,)) for x in (starts, targets)], 0
    )
    tables = parallel.all_gather(table, axis_name, axis_index_groups=groups)
    rows = parallel.all_gather(operand, axis_name, axis_index_groups=groups, tiled=True)
    each = avals.aval_of(starts).shape[0] // count
    mine = elementwise.mul(_own_index(axis_name, groups), np.int32(each))
    own = slicing.dynamic_slice_in_dim(tables, mine, each, 2)
    length = np.int32(avals.aval_of(operand).shape[0])
    first = shaping.expand_dims(
        elementwise.mul(shaping.iota(_INDEX, count), length), (1,)
    )
    source = elementwise.add(_part(own, 0), _spread(first, (count, each), (0, 1)))
    source, target = [
        shaping.reshape(x, (count * each,)) for x in (source, _part(own, 1))
    ]
    return _write(output, rows, source, target, received)


def _part(table: Any, number: int) -> Any:
    """One of the two rows of numbers that each element sent."""
    return concatenation.index_in_dim(table, number, 1, keepdims=False)


def _spread(x: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    return shaping.broadcast_in_dim(x, shape, axes)


def _write(output: Any, rows: Any, source: Any, target: Any, sizes: Any) -> Any:
    """`output` with slices of `rows` in it.

    Args:
      output: array [n, ...].
      rows: all rows there are.
      source, target, sizes: for each slice its first row, where that is written, and
        how many are.
    """
    (k,), n = avals.aval_of(source).shape, avals.aval_of(output).shape[0]
    if k == 0 or n == 0 or avals.aval_of(rows).shape[0] == 0:
        return elementwise.add(output, families.full_like(output, 0))
    position = shaping.broadcasted_iota(_INDEX, (k, n), 1)
    step = elementwise.sub(position, _spread(target, (k, n), (0,)))
    inside = elementwise.bitwise_and(
        elementwise.ge(step, families.full_like(step, 0)),
        elementwise.lt(step, _spread(sizes, (k, n), (0,))),
    )
    number = shaping.broadcasted_iota(_INDEX, (k, n), 0)
    nothing = families.full_like(number, -1)
    last = reductions.reduce_max(elementwise.select(inside, number, nothing), (0,))
    is_last = elementwise.eq(number, _spread(last, (k, n), (1,)))
    row = elementwise.add(step, _spread(source, (k, n), (0,)))
    zero = families.full_like(row, 0)
    index = reductions.reduce_sum(elementwise.select(is_last, row, zero), (0,))
    picked = gather.index_take(rows, (index,), (0,))
    written = elementwise.ge(last, families.full_like(last, 0))
    shape = avals.aval_of(output).shape
    return elementwise.select(_spread(written, shape, (0,)), picked, output)


def _own_index(axis_name: Hashable, groups: Any) -> Any:
    """The index of the element in its group."""
    index = parallel.axis_index(axis_name)
    if groups is None:
        return index
    places = np.zeros(parallel.axis_size(axis_name), _INDEX)
    for group in groups:
        for place, member in enumerate(group):
            places[member] = place
    one = gather.index_take(places, (shaping.reshape(index, (1,)),), (0,))
    return shaping.reshape(one, ())


def _check(operand: Any, output: Any, offsets: Sequence[Any], count: int) -> None:
    x, y = avals.aval_of(operand), avals.aval_of(output)
    if x.dtype != y.dtype:
        raise TypeError(
            f"{_WHAT}: operand and output must have one dtype, got {x.dtype} and "
            f"{y.dtype}; convert one of them"
        )
    if x.ndim < 1 or x.shape[1:] != y.shape[1:] or x.ndim != y.ndim:
        raise ValueError(
            f"{_WHAT}: operand and output must have rows of one shape, got "
            f"{x.short()} and {y.short()}"
        )
    names = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")
    types = [avals.aval_of(z) for z in offsets]
    for name, aval in zip(names, types, strict=True):
        if dtypes.kind(aval.dtype) not in "iu":
            raise TypeError(f"{_WHAT}: {name} must be integers, got {aval.short()}")
        if aval.ndim != 1 or aval.shape != types[0].shape:
            raise ValueError(
                f"{_WHAT}: offsets and sizes must be arrays [k] of one length, got "
                f"{aval.short()} for {name}"
            )
    if types[0].shape[0] % count:
        raise ValueError(
            f"{_WHAT}: the number of slices must be a multiple of the size of the "
            f"axis, got {types[0].shape[0]} slices for {count} elements"
        )
