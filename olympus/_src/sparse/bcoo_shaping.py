"""Shapes of a BCOO: broadcasting, joining, reshaping, reversal, sums over axes."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.lax import concatenation, elementwise, shaping
from olympus._src.lax import sizes as lax_sizes
from olympus._src.numpy import reductions as np_reductions
from olympus._src.sparse import bcoo_layout, layouts, rows
from olympus._src.sparse.bcoo import BCOO
from olympus._src.sparse.bcoo_functions import check_bcoo

aval_of = avals.aval_of


def canonical_axes(name: str, axes: Any, rank: int) -> tuple[int, ...]:
    """Axes counted from the front.

    Raises:
      ValueError: an axis is not there, or named twice.
    """
    axes = (axes,) if not isinstance(axes, Sequence) else axes
    numbers = tuple([operator.index(a) for a in axes])
    if any(not -rank <= a < rank for a in numbers):
        raise ValueError(
            f"{name}: axes must be between {-rank} and {rank - 1}, got {numbers}"
        )
    numbers = tuple([a % rank for a in numbers])
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"{name}: axes must differ, got {numbers}; name each once")
    return numbers


def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
    """The sum of a BCOO over axes.

    Args:
      mat: BCOO.
      axes: axes of it; may be negative.

    Returns:
      A BCOO of the other axes. Positions along sparse axes are left out, so that
      others may occur more than once. Narrow integers become wide ones, as in
      `numpy.sum`.

    Raises:
      ValueError: an axis is not there, or named twice.
      TypeError: `mat` is no BCOO.

    Example:
      >>> from olympus.experimental import sparse
      >>> print(sparse.bcoo_reduce_sum(sparse.eye(3), axes=(0,)).todense())
      [1. 1. 1.]
    """
    check_bcoo("bcoo_reduce_sum", "mat", mat)
    axes = canonical_axes("bcoo_reduce_sum", axes, mat.ndim)
    if mat.dtype != np.dtype(np.bool_):
        wide = np_reductions.sum_dtype(mat.dtype)
        data = elementwise.convert_element_type(mat.data, wide)
        mat = BCOO(
            (data, mat.indices),
            shape=mat.shape,
            indices_sorted=mat.indices_sorted,
            unique_indices=mat.unique_indices,
        )
    return sum_axes(mat, axes)


def sum_axes(mat: BCOO, axes: Sequence[int]) -> BCOO:
    """The sum over axes, in the dtype of the array."""
    if not axes:
        return mat
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    data = rows.sum_axes(mat.data, [a - m + n + 1 for a in axes if a >= m])
    indices = mat.indices
    sparse = [a - n for a in axes if n <= a < m]
    if sparse:
        kept = [a for a in range(mat.n_sparse) if a not in sparse]
        data, indices = drop_columns(data, indices, mat.shape[n:m], kept)
    batch = [a for a in axes if a < n]
    if batch:
        data, indices = _merge_batch(data, indices, mat.shape[:n], batch)
    shape = tuple([s for a, s in enumerate(mat.shape) if a not in axes])
    return BCOO((data, indices), shape=shape)


def drop_columns(data: Any, indices: Any, shape: Any, kept: Any) -> Any:
    """Elements without their positions along some axes; padding stays padding."""
    inside = rows.mark_inside(indices, shape)
    left = rows.take_columns(indices, kept)
    if kept:
        left = rows.move_outside(left, inside, [shape[a] for a in kept])
    n_batch = aval_of(indices).ndim - 2
    batch = [
        max(a, b) if min(a, b) else 0
        for a, b in zip(
            aval_of(data).shape[:n_batch], aval_of(indices).shape[:n_batch], strict=True
        )
    ]
    data = layouts.fill_batch(data, batch)
    nse = aval_of(inside).shape[n_batch]
    inside = layouts.fill_batch(inside, (*batch, nse))
    return rows.choose_rows(inside, data), left


def _merge_batch(data: Any, indices: Any, batch: Any, axes: Any) -> Any:
    """All elements of a batch along some axes as elements of one list."""
    n = len(batch)
    kept = [a for a in range(n) if a not in axes]
    total = math.prod([batch[a] for a in axes])
    buffers = []
    for x in (data, indices):
        x = layouts.fill_batch(x, batch)
        rank = aval_of(x).ndim
        x = shaping.transpose(x, (*kept, *axes, *range(n, rank)))
        shape = aval_of(x).shape
        flat = (*shape[: len(kept)], total * shape[n], *shape[n + 1 :])
        buffers.append(shaping.reshape(x, flat))
    return buffers


def bcoo_broadcast_in_dim(
    mat: BCOO,
    *,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    sharding: None = None,
) -> BCOO:
    """A BCOO repeated along new axes, and along axes of size 1.

    New axes before the first sparse axis are batch axes, those after the last one are
    dense, and those between are sparse.

    Args:
      mat: BCOO.
      shape: of the result.
      broadcast_dimensions: for each axis of `mat`, in ascending order, its axis in the
        result.
      sharding: not supported, as in JAX.

    Raises:
      ValueError: sizes or axes do not fit.
      TypeError: `mat` is no BCOO.

    Example:
      >>> from olympus.experimental import sparse
      >>> mat, axes = sparse.eye(3), (1, 2)
      >>> sparse.bcoo_broadcast_in_dim(mat, shape=(2, 3, 3), broadcast_dimensions=axes)
      BCOO(float32[2, 3, 3], nse=3, n_batch=1)
    """
    name = "bcoo_broadcast_in_dim"
    del sharding
    check_bcoo(name, "mat", mat)
    shape = lax_sizes.canonicalize_shape(shape)
    targets = tuple([operator.index(a) for a in broadcast_dimensions])
    _check_broadcast(name, mat, shape, targets)
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    if mat.n_sparse:
        first, last = targets[n], targets[m - 1] + 1
    else:
        first = last = targets[m] if mat.n_dense else len(shape)
    nse = mat.nse
    data = shaping.broadcast_in_dim(
        mat.data,
        (*shape[:first], nse, *shape[last:]),
        (*targets[:n], first, *[a - last + first + 1 for a in targets[m:]]),
    )
    indices = shaping.broadcast_in_dim(
        mat.indices,
        (*shape[:first], nse, mat.n_sparse),
        (*targets[:n], first, first + 1),
    )
    for target in range(first, last):
        column = targets.index(target) - n if target in targets else None
        own = 1 if column is None else mat.shape[n + column]
        size = shape[target]
        place = target - first
        if column is None:
            indices = _insert_column(indices, place)
        if size != own:
            data, indices = _repeat_elements(data, indices, place, first, size)
    return BCOO((data, indices), shape=shape)


def _check_broadcast(name: str, mat: BCOO, shape: Any, targets: Any) -> None:
    if len(targets) != mat.ndim or list(targets) != sorted(set(targets)):
        raise ValueError(
            f"{name}: broadcast_dimensions must be {mat.ndim} axes in ascending order, "
            f"got {targets}; transpose the array first"
        )
    if targets and not (targets[0] >= 0 and targets[-1] < len(shape)):
        raise ValueError(
            f"{name}: broadcast_dimensions must be axes of the shape {shape}, got "
            f"{targets}"
        )
    for axis, target in enumerate(targets):
        if mat.shape[axis] not in (1, shape[target]):
            raise ValueError(
                f"{name}: axes must have size 1 or that of the result, got "
                f"{mat.shape} for axes {targets} of {shape}"
            )


def _insert_column(indices: Any, place: int) -> Any:
    """Index vectors with one more entry, 0."""
    aval = aval_of(indices)
    zero = shaping.full((*aval.shape[:-1], 1), 0, aval.dtype)
    before = rows.take_columns(indices, range(place))
    after = rows.take_columns(indices, range(place, aval.shape[-1]))
    return rows.join_columns(before, zero, after)


def _repeat_elements(
    data: Any, indices: Any, place: int, n_batch: int, size: int
) -> Any:
    """Elements at position 0 of an axis of size 1, at each position of a longer one."""
    aval = aval_of(indices)
    *batch, nse, k = aval.shape
    inside = rows.mark_inside(rows.take_columns(indices, [place]), (1,))
    wide = (*batch, size, nse)
    spots = (*range(n_batch), n_batch + 1)
    number = shaping.broadcasted_iota(aval.dtype, (*wide, 1), n_batch)
    mask = shaping.broadcast_in_dim(inside, wide, spots)
    number = rows.move_outside(number, mask, (size,))
    indices = shaping.broadcast_in_dim(indices, (*wide, k), (*spots, n_batch + 2))
    before = rows.take_columns(indices, range(place))
    after = rows.take_columns(indices, range(place + 1, k))
    indices = rows.join_columns(before, number, after)
    dense = aval_of(data).shape[n_batch + 1 :]
    more = tuple(range(n_batch + 2, n_batch + 2 + len(dense)))
    data = shaping.broadcast_in_dim(data, (*wide, *dense), (*spots, *more))
    total = size * nse
    return (
        shaping.reshape(data, (*batch, total, *dense)),
        shaping.reshape(indices, (*batch, total, k)),
    )


def bcoo_concatenate(operands: Sequence[BCOO], *, dimension: int) -> BCOO:
    """BCOO joined along an axis.

    Args:
      operands: BCOO with equal layouts, and sizes of the other axes.
      dimension: the axis.

    Raises:
      ValueError: there are none, or layouts or sizes differ.
      TypeError: an operand is no BCOO.

    Example:
      >>> from olympus.experimental import sparse
      >>> sparse.bcoo_concatenate([sparse.eye(2), sparse.eye(2)], dimension=1)
      BCOO(float32[2, 4], nse=4)
    """
    name = "bcoo_concatenate"
    operands = list(operands)
    for mat in operands:
        check_bcoo(name, "operands", mat)
    if not operands:
        raise ValueError(f"{name}: operands must not be empty, got []; pass a BCOO")
    first = operands[0]
    (dimension,) = canonical_axes(name, dimension, first.ndim)
    for mat in operands[1:]:
        if (mat.n_batch, mat.n_dense, mat.ndim) != (
            first.n_batch,
            first.n_dense,
            first.ndim,
        ):
            raise ValueError(
                f"{name}: requires inputs to have matching nbatch and ndense, got "
                f"{operands}; change one with bcoo_update_layout"
            )
        if any(
            a != b
            for i, (a, b) in enumerate(zip(mat.shape, first.shape, strict=True))
            if i != dimension
        ):
            raise ValueError(
                f"{name}: sizes of axes other than {dimension} must be equal, got "
                f"{[m.shape for m in operands]}"
            )
    dtype = dtypes.result_type(*[m.dtype for m in operands])
    size = sum(m.shape[dimension] for m in operands)
    shape = (*first.shape[:dimension], size, *first.shape[dimension + 1 :])
    parts = [bcoo_layout.fill_buffers(m)[:2] for m in operands]
    parts = [(elementwise.convert_element_type(d, dtype), i) for d, i in parts]
    n, m = first.n_batch, first.n_batch + first.n_sparse
    if dimension < n:
        nse = max(mat.nse for mat in operands)
        parts = [_pad_elements(d, i, nse, n, first.shape[n:m]) for d, i in parts]
        data, indices = (
            concatenation.concatenate(list(xs), dimension)
            for xs in zip(*parts, strict=True)
        )
        return BCOO((data, indices), shape=shape)
    offset, shifted = 0, []
    for mat, (d, i) in zip(operands, parts, strict=True):
        if dimension < m:
            i = _shift_column(i, mat.shape[n:m], shape[n:m], dimension - n, offset)
        else:
            d = _pad_dense(d, dimension - m + n + 1, offset, size)
        shifted.append((d, i))
        offset += mat.shape[dimension]
    data = concatenation.concatenate([d for d, _ in shifted], n)
    index_dtype = dtypes.result_type(*[i for _, i in shifted])
    lists = [elementwise.convert_element_type(i, index_dtype) for _, i in shifted]
    return BCOO((data, concatenation.concatenate(lists, n)), shape=shape)


def _pad_elements(data: Any, indices: Any, nse: int, n: int, shape: Any) -> Any:
    """More stored elements, which are padding."""
    aval = aval_of(indices)
    more = nse - aval.shape[n]
    if not more:
        return data, indices
    blank = shaping.full((*aval.shape[:n], more, aval.shape[-1]), 0, aval.dtype)
    blank = rows.limits(blank, shape)
    d = aval_of(data)
    zeros = shaping.full((*d.shape[:n], more, *d.shape[n + 1 :]), 0, d.dtype)
    return (
        concatenation.concatenate([data, zeros], n),
        concatenation.concatenate([indices, blank], n),
    )


def _shift_column(indices: Any, own: Any, shape: Any, axis: int, offset: int) -> Any:
    """Positions along an axis of a longer array; padding stays outside."""
    inside = rows.mark_inside(indices, own)
    aval = aval_of(indices)
    steps = [offset if a == axis else 0 for a in range(aval.shape[-1])]
    shift = rows.limits(indices, steps)
    return rows.move_outside(indices + shift, inside, shape)


def _pad_dense(data: Any, axis: int, offset: int, size: int) -> Any:
    aval = aval_of(data)
    config = [(0, 0, 0)] * aval.ndim
    config[axis] = (offset, size - offset - aval.shape[axis], 0)
    zero = shaping.full((), 0, aval.dtype)
    return concatenation.pad(data, zero, config)


def bcoo_reshape(
    mat: BCOO,
    *,
    new_sizes: Sequence[int],
    dimensions: Sequence[int] | None = None,
    sharding: None = None,
) -> BCOO:
    """A BCOO with the same elements, in order, in another shape.

    Batch and dense axes stay what they are where the new shape can be divided so;
    otherwise all axes become sparse.

    Args:
      mat: BCOO.
      new_sizes: the shape of the result.
      dimensions: transpose to this order of axes first.
      sharding: not supported, as in JAX.

    Raises:
      ValueError: the shapes have different numbers of elements, or the positions do
        not fit into the dtype of the indices.
      TypeError: `mat` is no BCOO.

    Example:
      >>> from olympus.experimental import sparse
      >>> sparse.bcoo_reshape(sparse.eye(4), new_sizes=(2, 8)).todense().sum(1).tolist()
      [2.0, 2.0]
    """
    name = "bcoo_reshape"
    del sharding
    check_bcoo(name, "mat", mat)
    new = lax_sizes.canonicalize_shape(new_sizes)
    if dimensions is not None:
        order = canonical_axes(name, dimensions, mat.ndim)
        if order != tuple(range(mat.ndim)):
            mat = _transpose_any(mat, order)
    if math.prod(new) != mat.size:
        raise ValueError(
            f"{name}: new_sizes must have as many elements as {mat.shape}, got {new}"
        )
    if not mat.size:
        return BCOO._empty(new, dtype=mat.dtype)  # noqa: SLF001
    cuts = _divide_shape(mat, new)
    if cuts is None:
        mat = bcoo_layout.as_sparse(mat)
        cuts = (0, len(new))
    start, stop = cuts
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    data, indices, shape = bcoo_layout.fill_buffers(mat)
    nse = mat.nse
    data = shaping.reshape(data, (*new[:start], nse, *new[stop:]))
    inside = rows.mark_inside(indices, shape[n:m])
    indices = _regroup(name, indices, shape[n:m], new[start:stop])
    indices = rows.move_outside(indices, inside, new[start:stop])
    if stop == start and m > n:
        inside = shaping.reshape(inside, (*new[:start], nse))
        data = rows.choose_rows(inside, data)
    indices = shaping.reshape(indices, (*new[:start], nse, stop - start))
    return BCOO((data, indices), shape=new)


def _transpose_any(mat: BCOO, order: Any) -> BCOO:
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    kinds = [sum(a >= x for x in (n, m)) for a in order]
    if kinds != sorted(kinds):
        mat = bcoo_layout.as_sparse(mat)
    return mat.transpose(order)


def _divide_shape(mat: BCOO, new: Any) -> tuple[int, int] | None:
    """Where the sparse axes of a new shape begin and end; None if they cannot."""
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    batch, dense = math.prod(mat.shape[:n]), math.prod(mat.shape[m:])
    ranks = range(len(new) + 1)
    starts = [i for i in ranks if math.prod(new[:i]) == batch] if n else [0]
    stops = [i for i in ranks if math.prod(new[i:]) == dense]
    stops = stops if mat.n_dense else [len(new)]
    pairs = [(a, b) for a in starts[:1] for b in stops[-1:] if a <= b]
    return pairs[0] if pairs else None


def _regroup(name: str, indices: Any, old: Any, new: Any) -> Any:
    """Index vectors of one shape as those of another with as many elements."""
    limit = dtypes.iinfo(aval_of(rows.as_positions(indices)).dtype).max
    columns: list[Any] = []
    for ours, theirs in _group_axes(old, new):
        sizes_ = [old[a] for a in ours]
        if math.prod(sizes_) > limit:
            raise ValueError(
                f"{name}: positions must fit into the dtype of the indices, got "
                f"{math.prod(sizes_)} of them; use indices of dtype int64"
            )
        flat = None
        for a in ours:
            column = rows.as_positions(rows.take_columns(indices, [a]))
            flat = column if flat is None else flat * old[a] + column
        if flat is None:
            flat = shaping.full((*aval_of(indices).shape[:-1], 1), 0, rows.INT)
        part: list[Any] = []
        for a in reversed(theirs):
            part.append(flat % new[a])
            flat = flat // new[a]
        columns += reversed(part)
    if not columns:
        return rows.take_columns(indices, [])
    joined = rows.join_columns(*columns)
    return elementwise.convert_element_type(joined, aval_of(indices).dtype)


def _group_axes(old: Any, new: Any) -> list[tuple[list[int], list[int]]]:
    """The shortest runs of axes of two shapes that have as many elements."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        ours: list[int] = []
        theirs: list[int] = []
        a = b = 1
        if i < len(old):
            ours.append(i)
            a, i = old[i], i + 1
        while a != b or (not theirs and j < len(new) and new[j] == 1):
            if b < a and j < len(new):
                theirs.append(j)
                b, j = b * new[j], j + 1
            elif a < b and i < len(old):
                ours.append(i)
                a, i = a * old[i], i + 1
            else:
                theirs.append(j)
                b, j = b * new[j], j + 1
        if i == len(old):
            theirs += range(j, len(new))
            j = len(new)
        groups.append((ours, theirs))
    return groups


def bcoo_rev(operand: BCOO, dimensions: Sequence[int]) -> BCOO:
    """A BCOO with the order of elements reversed along axes.

    Args:
      operand: BCOO.
      dimensions: axes of it.

    Raises:
      ValueError: an axis is not there, or named twice.
      TypeError: `operand` is no BCOO.

    Example:
      >>> from olympus.experimental import sparse
      >>> print(sparse.bcoo_rev(sparse.eye(2), (0,)).todense())
      [[0. 1.]
       [1. 0.]]
    """
    check_bcoo("bcoo_rev", "operand", operand)
    axes = canonical_axes("bcoo_rev", dimensions, operand.ndim)
    n, m = operand.n_batch, operand.n_batch + operand.n_sparse
    batch = [a for a in axes if a < n]
    dense = [a - m + n + 1 for a in axes if a >= m]
    sparse = [a - n for a in axes if n <= a < m]
    data = shaping.rev(operand.data, (*batch, *dense))
    indices = shaping.rev(operand.indices, batch) if batch else operand.indices
    if sparse:
        shape = operand.shape[n:m]
        inside = rows.mark_inside(indices, shape)
        columns = [
            _mirror(rows.take_columns(indices, [a]), shape[a])
            if a in sparse
            else rows.take_columns(indices, [a])
            for a in range(operand.n_sparse)
        ]
        indices = rows.move_outside(rows.join_columns(*columns), inside, shape)
    return BCOO(
        (data, indices), shape=operand.shape, unique_indices=operand.unique_indices
    )


def _mirror(column: Any, size: int) -> Any:
    dtype = aval_of(column).dtype
    return elementwise.convert_element_type(size - 1 - rows.as_positions(column), dtype)


def bcoo_squeeze(arr: BCOO, *, dimensions: Sequence[int]) -> BCOO:
    """A BCOO without axes of size 1.

    Args:
      arr: BCOO.
      dimensions: axes of it.

    Raises:
      ValueError: an axis has another size, is not there, or is named twice.
      TypeError: `arr` is no BCOO.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> mat = sparse.BCOO.fromdense(jnp.array([[0, 3]]))
      >>> sparse.bcoo_squeeze(mat, dimensions=(0,))
      BCOO(int32[2], nse=1)
    """
    check_bcoo("bcoo_squeeze", "arr", arr)
    axes = canonical_axes("bcoo_squeeze", dimensions, arr.ndim)
    if any(arr.shape[a] != 1 for a in axes):
        raise ValueError(
            f"bcoo_squeeze: axes must have size 1, got {axes} of {arr.shape}; sum over "
            "others"
        )
    if not axes:
        return arr
    n, m = arr.n_batch, arr.n_batch + arr.n_sparse
    batch = tuple([a for a in axes if a < n])
    dense = tuple([a - m + n + 1 for a in axes if a >= m])
    data, indices = arr.data, arr.indices
    sparse = [a - n for a in axes if n <= a < m]
    if sparse:
        kept = [a for a in range(arr.n_sparse) if a not in sparse]
        data, indices = drop_columns(data, indices, arr.shape[n:m], kept)
    data = shaping.squeeze(data, (*batch, *dense))
    indices = shaping.squeeze(indices, batch) if batch else indices
    return BCOO(
        (data, indices),
        shape=tuple([s for a, s in enumerate(arr.shape) if a not in axes]),
        indices_sorted=arr.indices_sorted,
        unique_indices=arr.unique_indices and (arr.n_sparse > len(sparse)),
    )
