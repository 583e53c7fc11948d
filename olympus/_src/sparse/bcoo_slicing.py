"""Parts of a BCOO: slices, dynamic slices and gathers."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

from olympus._src.api import vmap
from olympus._src.core import avals
from olympus._src.core.array_type import ArrayLike, Indices
from olympus._src.lax import concatenation, elementwise, gather, shaping, slicing
from olympus._src.numpy import selection
from olympus._src.sparse import bcoo_functions, bcoo_ordering, bcoo_shaping, rows
from olympus._src.sparse.bcoo import BCOO
from olympus._src.sparse.bcoo_functions import check_bcoo
from olympus._src.sparse.layouts import SparseInfo

aval_of = avals.aval_of


def bcoo_slice(
    mat: BCOO,
    *,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> BCOO:
    """A part of a BCOO, as `lax.slice`.

    Args:
      mat: BCOO.
      start_indices, limit_indices: where the part begins and ends along each axis.
      strides: the steps; default 1.

    Returns:
      A BCOO; elements that are not in it are padding.

    Raises:
      ValueError: limits do not fit the shape.
      TypeError: `mat` is no BCOO.

    Example:
      >>> from olympus.experimental import sparse
      >>> mat = sparse.eye(4)
      >>> sparse.bcoo_slice(mat, start_indices=(0, 1), limit_indices=(4, 3))
      BCOO(float32[4, 2], nse=4)
    """
    name = "bcoo_slice"
    check_bcoo(name, "mat", mat)
    starts = tuple(map(operator.index, start_indices))
    stops = tuple(map(operator.index, limit_indices))
    steps = (1,) * mat.ndim if strides is None else tuple(map(operator.index, strides))
    if not len(starts) == len(stops) == len(steps) == mat.ndim:
        raise ValueError(
            f"{name}: start_indices, limit_indices and strides must have an entry for "
            f"each of the {mat.ndim} axes, got {starts}, {stops} and {steps}"
        )
    if any(
        not 0 <= a <= b <= size or step < 1
        for a, b, size, step in zip(starts, stops, mat.shape, steps, strict=True)
    ):
        raise ValueError(
            f"{name}: must have 0 <= start <= limit <= size and positive strides, got "
            f"{starts}, {stops} and {steps} for {mat.shape}"
        )
    shape = tuple(
        [-(-(b - a) // step) for a, b, step in zip(starts, stops, steps, strict=True)]
    )
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    data, indices = (
        _slice_axes(x, mat.shape, range(n), starts, stops, steps, 0)
        for x in (mat.data, mat.indices)
    )
    dense = range(m, mat.ndim)
    data = _slice_axes(data, mat.shape, dense, starts, stops, steps, n + 1 - m)
    first = [shaping.full((), starts[a], rows.INT) for a in range(n, m)]
    return _cut_elements(mat, data, indices, first, steps[n:m], shape)


def _slice_axes(
    x: Any, shape: Any, axes: Any, starts: Any, stops: Any, steps: Any, shift: int
) -> Any:
    for a in axes:
        here = a + shift
        if aval_of(x).shape[here] == shape[a]:
            x = concatenation.slice_in_dim(x, starts[a], stops[a], steps[a], axis=here)
        elif stops[a] == starts[a]:  # one element for the whole batch, and none is left
            x = concatenation.slice_in_dim(x, 0, 0, axis=here)
    return x


def _cut_elements(
    mat: BCOO, data: Any, indices: Any, first: Any, steps: Any, shape: Any
) -> BCOO:
    """The elements inside of a window along the sparse axes."""
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    sizes, new = mat.shape[n:m], shape[n:m]
    whole = all(a == b for a, b in zip(sizes, new, strict=True))
    if whole and all(s == 1 for s in steps):
        return BCOO((data, indices), shape=shape)
    inside = rows.mark_inside(indices, sizes)
    columns = []
    for axis, (start, step) in enumerate(zip(first, steps, strict=True)):
        column = rows.as_positions(rows.take_columns(indices, [axis]))
        offset = column - elementwise.convert_element_type(start, aval_of(column).dtype)
        part = shaping.squeeze(offset, (aval_of(offset).ndim - 1,))
        inside = inside & (part >= 0)
        if step != 1:
            inside = inside & (part % step == 0)
            offset = offset // step
        inside = inside & (part < new[axis] * step)
        columns.append(offset)
    dtype = aval_of(indices).dtype
    moved = elementwise.convert_element_type(rows.join_columns(*columns), dtype)
    indices = rows.move_outside(moved, inside, new)
    data, indices = bcoo_shaping.drop_columns(data, indices, new, range(len(new)))
    nse = min(mat.nse, math.prod(new))
    if nse < mat.nse:
        data, indices = bcoo_ordering.bcoo_sum_duplicates_p.bind(
            data, indices, spinfo=SparseInfo(shape), nse=nse
        )
    return BCOO((data, indices), shape=shape)


def bcoo_dynamic_slice(
    mat: BCOO, start_indices: Sequence[ArrayLike], slice_sizes: Sequence[int]
) -> BCOO:
    """A part of a BCOO at a computed place, as `lax.dynamic_slice`.

    Args:
      mat: BCOO.
      start_indices: scalars, one for each axis, moved so that the part is inside.
      slice_sizes: the shape of the part.

    Returns:
      A BCOO; elements that are not in it are padding.

    Raises:
      ValueError: sizes do not fit the shape.
      TypeError: `mat` is no BCOO.

    Example:
      >>> from olympus.experimental import sparse
      >>> sparse.bcoo_dynamic_slice(sparse.eye(4), (1, 1), (2, 3))
      BCOO(float32[2, 3], nse=4)
    """
    name = "bcoo_dynamic_slice"
    check_bcoo(name, "mat", mat)
    shape = tuple(map(operator.index, slice_sizes))
    starts = list(start_indices)
    if not len(starts) == len(shape) == mat.ndim:
        raise ValueError(
            f"{name}: start_indices and slice_sizes must have an entry for each of the "
            f"{mat.ndim} axes, got {len(starts)} and {len(shape)}"
        )
    if any(not 0 <= a <= b for a, b in zip(shape, mat.shape, strict=True)):
        raise ValueError(
            f"{name}: slice_sizes must be at most the sizes of {mat.shape}, got {shape}"
        )
    starts = [
        _clamp(slicing.position(s, size), size - part)
        for s, size, part in zip(starts, mat.shape, shape, strict=True)
    ]
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    data, indices = (
        _dynamic_slice_axes(x, mat.shape, range(n), starts, shape, 0)
        for x in (mat.data, mat.indices)
    )
    dense = range(m, mat.ndim)
    data = _dynamic_slice_axes(data, mat.shape, dense, starts, shape, n + 1 - m)
    return _cut_elements(mat, data, indices, starts[n:m], (1,) * (m - n), shape)


def _clamp(start: Any, last: int) -> Any:
    start = elementwise.convert_element_type(start, rows.INT)
    return selection.where(start < 0, 0, selection.where(start > last, last, start))


def _dynamic_slice_axes(
    x: Any, shape: Any, axes: Any, starts: Any, part: Any, shift: int
) -> Any:
    for a in axes:
        here = a + shift
        size = aval_of(x).shape[here]
        if size == shape[a]:
            zeros: list[Any] = [0] * aval_of(x).ndim
            zeros[here] = starts[a]
            sizes = list(aval_of(x).shape)
            sizes[here] = part[a]
            x = slicing.dynamic_slice(x, zeros, sizes)
        elif part[a] == 0:
            x = concatenation.slice_in_dim(x, 0, 0, axis=here)
    return x


def bcoo_gather(
    operand: BCOO,
    start_indices: Indices,
    dimension_numbers: Any,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> BCOO:
    """Parts of a BCOO at places given by an array of index vectors, as `lax.gather`.

    Args:
      operand: BCOO.
      start_indices: integers [..., n]; their leading axes become batch axes, if they
        come first in the result.
      dimension_numbers: a `GatherDimensionNumbers`.
      slice_sizes: the size of a part along each axis of `operand`.
      unique_indices, indices_are_sorted: not used.
      mode: what happens outside: 'fill' reads zeros; otherwise positions are moved
        inside.
      fill_value: None or 0; others would make the result dense.

    Raises:
      NotImplementedError: axes are paired, or another fill value is given.
      TypeError: `operand` is no BCOO.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> sparse.eye(4)[jnp.array([2, 0])]
      BCOO(float32[2, 4], nse=4, n_batch=1)
    """
    name = "bcoo_gather"
    check_bcoo(name, "operand", operand)
    del unique_indices, indices_are_sorted
    numbers = gather.GatherDimensionNumbers(*map(tuple, dimension_numbers))
    start_indices = gather.canonical_indices(start_indices, name)
    lead = aval_of(start_indices).ndim - 1
    kept = [a for a in range(operand.ndim) if a not in numbers.collapsed_slice_dims]
    if numbers.operand_batching_dims or numbers.start_indices_batching_dims:
        raise NotImplementedError(
            f"{name}: batching dimensions must be empty, got {numbers}; index with "
            "vmap instead"
        )
    if fill_value not in (None, 0) and fill_value == fill_value:
        raise NotImplementedError(
            f"{name}: fill_value must be None or 0, got {fill_value}; use todense()"
        )
    parsed = None if mode is None else gather.GatherScatterMode.from_any(mode)
    fills = parsed is gather.FILL_OR_DROP
    sizes = tuple(slice_sizes)

    def take(vector: Any) -> BCOO:
        starts: list[Any] = [0] * operand.ndim
        inside: Any = True
        for i, axis in enumerate(numbers.start_index_map):
            start = starts[axis] = concatenation.index_in_dim(vector, i, keepdims=False)
            last = operand.shape[axis] - sizes[axis]
            inside = inside & (start >= 0) & (start <= last)
            starts[axis] = _clamp(start, last)
        part = bcoo_dynamic_slice(operand, starts, sizes)
        if fills:
            data = selection.where(inside, part.data, aval_of(part.data).dtype.type(0))
            part = BCOO((data, part.indices), shape=part.shape)
        return bcoo_shaping.bcoo_squeeze(part, dimensions=numbers.collapsed_slice_dims)

    def take_buffers(vector: Any) -> Any:
        part = take(vector)
        return part.data, part.indices

    if not lead:
        return take(start_indices)
    fun = take_buffers
    for _ in range(lead):
        fun = vmap.vmap(fun)
    data, indices = fun(start_indices)
    batch = aval_of(start_indices).shape[:-1]
    shape = (*batch, *[sizes[a] for a in kept])
    return _place_axes(BCOO((data, indices), shape=shape), lead, numbers.offset_dims)


def _place_axes(mat: BCOO, lead: int, offset_dims: Any) -> BCOO:
    """The array with its axes behind the first `lead` ones at places in the result."""
    first = [a for a in range(mat.ndim) if a not in offset_dims]
    order = [0] * mat.ndim
    for axis, place in enumerate((*first, *offset_dims)):
        order[place] = axis
    if order == list(range(mat.ndim)):
        return mat
    if mat.n_batch or mat.n_dense:  # axes of different kinds change places
        mat = mat.update_layout(n_batch=0, n_dense=0)
    return bcoo_functions.bcoo_transpose(mat, permutation=order)
