"""Gathers and scatters of a single window: lowered as slices at a computed position.

As operations on windows they have short derivatives: what adds to a window passes its
cotangent on unchanged, and no transposed step copies the array. The backends are quick
with slices, which they update in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.sizes import is_constant_shape
from olympus._src.lax import (
    concatenation,
    elementwise,
    families,
    gather,
    scatter,
    scatter_functions,
    shaping,
    slicing,
    stacking,
)


def accumulate(name: str, x: Any, starts: Sequence[Any], updates: Any) -> Any:
    """An array with a window combined with updates, by one scatter.

    Args:
      name: 'scatter_add' or 'scatter_sub'.
      x: array.
      starts: the window's first position along each axis; it is moved inside.
      updates: array of the window's shape.
    """
    sizes, shape = avals.aval_of(updates).shape, avals.aval_of(x).shape
    axes = [a for a, n in enumerate(shape) if sizes[a] != n]
    numbers = gather.ScatterDimensionNumbers(tuple(range(len(shape))), (), tuple(axes))
    indices = stacking.stack([starts[a] for a in axes])
    return getattr(scatter_functions, name)(
        x,
        indices,
        updates,
        numbers,
        indices_are_sorted=True,
        unique_indices=True,
        mode=gather.CLIP,
    )


def _is_one_window(x: Any, indices: Any, dn: Any) -> bool:
    return (
        indices.dtype.kind in "iu"
        and all(n == 1 for n in indices.shape[:-1])
        and x.ndim > 0
        and x.size > 0
        and not dn[3]
    )


def _starts(indices: Any, axes: Sequence[int], rank: int) -> list[Any]:
    """A scalar for each axis of the operand, from one index vector."""
    aval = avals.aval_of(indices)
    row = shaping.reshape(indices, (len(axes),))
    starts = [families.number_of(0, aval.dtype)] * rank
    for k, axis in enumerate(axes):
        starts[axis] = concatenation.index_in_dim(row, k, keepdims=False)
    return starts


def slice_instead(
    platform: str,
    x: Any,
    indices: Any,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    mode: Any,
    fill_value: Any,
    **_: Any,
) -> Callable[..., Any] | None:
    """The field `rewrite` of gathers: what that of one window is lowered as."""
    dn = dimension_numbers
    if 0 in slice_sizes:
        return None
    if not _is_one_window(x, indices, dn):
        return None
    collapsed = dn.collapsed_slice_dims
    offsets = [n for a, n in enumerate(slice_sizes) if a not in collapsed]
    shape = [1] * (len(offsets) + indices.ndim - 1)
    for axis, n in zip(dn.offset_dims, offsets, strict=True):
        shape[axis] = n
    last = None
    if mode is gather.FILL_OR_DROP:
        if isinstance(x.dtype, dtypes.ExtendedDType):
            return None
        last = gather.limits(x.shape, slice_sizes, dn.start_index_map, indices.dtype)

    def read(x: Any, indices: Any) -> Any:
        starts = _starts(indices, dn.start_index_map, avals.aval_of(x).ndim)
        is_inside = None
        if last is not None:
            starts, is_inside = _move_inside(starts, dn.start_index_map, last)
        window = slicing.dynamic_slice_p.bind(x, *starts, slice_sizes=slice_sizes)
        if is_inside is not None:
            fill = gather.fill_of(fill_value, window.dtype)
            outside = families.fill_shape(slice_sizes, fill, window.dtype)
            window = elementwise.select(is_inside, window, outside)
        return shaping.reshape(window, tuple(shape))

    return read


def update_instead(
    platform: str,
    x: Any,
    indices: Any,
    updates: Any,
    *,
    dimension_numbers: Any,
    mode: Any,
    update_jaxpr: Any,
    update_consts: Any,
    **_: Any,
) -> Callable[..., Any] | None:
    """The field `rewrite` of scatters: what that of one window is lowered as.

    XLA would write the same, but reads what stays from a wrong position where the array
    is itself a slice at a computed position, in which the window is not (jaxlib 0.10).
    """
    dn = dimension_numbers
    if not updates.size or not _is_one_window(x, indices, dn):
        return None
    combine = None
    if update_jaxpr is not None:
        eqns = update_jaxpr.eqns
        if len(eqns) != 1 or eqns[0].invars != update_jaxpr.invars:
            return None
        combine = eqns[0].primitive
    axes = dn.scatter_dims_to_operand_dims
    sizes = tuple(scatter.window_sizes(dn, x, updates))
    last = gather.limits(x.shape, sizes, axes, indices.dtype)

    def write(x: Any, indices: Any, updates: Any) -> Any:
        starts = _starts(indices, axes, avals.aval_of(x).ndim)
        # Read and written at the same position, or XLA makes two kernels of it.
        starts, is_inside = _move_inside(starts, axes, last)
        if mode is gather.CLIP:  # other windows that are not inside write nothing
            is_inside = None
        window = shaping.reshape(updates, sizes)
        old: Any = None
        if combine is not None or is_inside is not None:
            old = slicing.dynamic_slice_p.bind(x, *starts, slice_sizes=sizes)
        if combine is not None:
            window = combine.bind(old, window)
        if is_inside is not None:
            window = elementwise.select(is_inside, window, old)
        return slicing.dynamic_update_slice_p.bind(x, window, *starts)

    return write


def _move_inside(
    starts: Sequence[Any], axes: Sequence[int], last: Any
) -> tuple[list[Any], Any]:
    """Positions moved into the range up to `last`, and whether all were inside."""
    moved = list(starts)
    is_inside = None
    for axis, end in zip(axes, last, strict=True):
        start = starts[axis]
        dtype = avals.aval_of(start).dtype
        low, high = families.number_of(0, dtype), families.number_of(end, dtype)
        moved[axis] = elementwise.clamp_p.bind(low, start, high)
        same = elementwise.eq(start, moved[axis])
        is_inside = (
            same if is_inside is None else elementwise.and_p.bind(is_inside, same)
        )
    return moved, is_inside


# -- cotangents of windows -------------------------------------------------------------

# In smaller arrays, or where windows are most of them, one fused sum of padded windows
# is quicker than updates one after another, each of which ends a fusion. So it is where
# windows are few, or where others are that large: `roll` reads nearly all, and a row.
_LARGE, _SHARE = 1 << 12, 4
_FEW, _MEAN_SHARE = 2, 2.5
# Each step of a loop would read the whole array again to add to a part of it.
_LARGE_REPEATED = 1 << 6


def _add_window(total: Any, reads: Any, ct: Any, starts: Sequence[Any]) -> Any:
    """The cotangent of an array, to which that of a window is added; or None."""
    whole, part = avals.aval_of(total), avals.aval_of(ct)
    if not _is_part(total, ct) or part.size * _SHARE > whole.size:
        return None
    if reads.n_elements * _MEAN_SHARE > whole.size * reads.n:
        return None
    if reads.is_repeated:
        least = _LARGE_REPEATED
    elif reads.n <= _FEW:
        return None
    else:
        least = _LARGE
    if whole.size < least:
        return None
    return accumulate("scatter_add", total, starts, ct)


def _is_part(total: Any, ct: Any) -> bool:
    """Whether a cotangent, of known size, is of a part of what `total` is of."""
    whole, part = avals.aval_of(total), avals.aval_of(ct)
    if not is_constant_shape((*whole.shape, *part.shape)):
        return False
    return whole.dtype == part.dtype and 0 < part.size < whole.size


def add_slice(
    total: Any,
    reads: Any,
    cts: Any,
    x: Any,
    *,
    start_indices: Any,
    limit_indices: Any,
    strides: Any,
) -> Any:
    """The field `transpose_into` of `slice`."""
    if strides is not None and set(strides) != {1}:
        return None
    shape = avals.aval_of(total).shape
    if not is_constant_shape((*shape, *start_indices)):
        return None
    kind = np.int32 if max(shape, default=0) < 2**31 else np.int64
    return _add_window(total, reads, cts[0], [kind(i) for i in start_indices])


def add_dynamic_slice(
    total: Any, reads: Any, cts: Any, x: Any, *starts: Any, slice_sizes: Any
) -> Any:
    """The field `transpose_into` of `dynamic_slice`.

    Of any size: an update of zeros at a computed position is fused with no sum.
    """
    if len({avals.aval_of(i).dtype for i in starts}) > 1:
        return None
    if not _is_part(total, cts[0]):
        return None
    return accumulate("scatter_add", total, starts, cts[0])


def add_gather(
    total: Any,
    reads: Any,
    cts: Any,
    x: Any,
    indices: Any,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    fill_value: Any,
    **promises: Any,
) -> Any:
    """The field `transpose_into` of `gather`."""
    if avals.aval_of(total).dtype != avals.aval_of(cts[0]).dtype:
        return None
    numbers = gather.ScatterDimensionNumbers(*dimension_numbers)
    return scatter_functions.scatter_add(total, indices, cts[0], numbers, **promises)
