"""Convolutions in groups as other operations, where the CPU's own are slow.

XLA's convolution on the CPU is a product of matrices where there are no groups. With
groups it walks over single elements. A depthwise convolution is better written as a sum
over the elements of the kernel, each times the input shifted (8 x 56 x 56 x 64, 3 x 3:
1 ms, not 42), and so is one of a single channel, as of a signal or a grey image
(100 000 by 31: 0.2 ms, not 5). The gradient in a kernel with groups is taken from that
in a kernel without, of which the blocks on the diagonal are kept (8 groups: 3 ms, not
300).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.lax import (
    axis_groups,
    elementwise,
    families,
    reductions,
    shaping,
    shifting,
    stacking,
)
from olympus._src.lax.kernels import thresholds


def choose(
    convolve: Callable[..., Any],
    platform: str,
    lhs: Any,
    rhs: Any,
    out: Any,
    params: dict[str, Any],
) -> Callable[[Any, Any], Any] | None:
    """What to lower in place of a convolution, or None for itself.

    Args:
      convolve: binds the operation.
      platform: where it will run.
      lhs, rhs, out: the types of the operands and of the result.
      params: the operation's parameters.
    """
    groups, batches = params["feature_group_count"], params["batch_group_count"]
    if platform != "cpu" or not out.size:
        return None
    dn = params["dimension_numbers"]
    window = [rhs.shape[d] for d in dn.rhs_spec[2:]]
    inputs = rhs.shape[dn.rhs_spec[1]]
    work = out.size * inputs * math.prod(window)
    if batches == 1:
        least = thresholds.DEPTHWISE_WORK if groups > 1 else thresholds.SINGLE_WORK
        single = inputs == 1 and (groups > 1 or out.shape[dn.out_spec[1]] == 1)
        if (
            single
            and 1 <= math.prod(window) <= thresholds.MOST_KERNEL_ELEMENTS
            and work >= least
        ):
            return lambda x, w: _depthwise(x, w, out, params)
        return None
    if work < thresholds.GROUPED_WORK:
        return None
    places = [out.shape[d] for d in dn.out_spec[2:]]
    single = lhs.shape[dn.lhs_spec[0]] == rhs.shape[dn.rhs_spec[0]] == batches
    if (
        single
        and work * batches >= thresholds.DENSE_WORK
        and math.prod(places) <= thresholds.MOST_KERNEL_ELEMENTS
    ):
        return lambda x, w: _depthwise_sums(x, w, out, params)
    if single:  # this one XLA writes so itself
        return None
    return lambda x, w: _diagonal(convolve, x, w, params)


# -- depthwise, as a sum of shifted products -------------------------------------------


def _work_dtype(out: Any) -> Any:
    """In which dtype sums are taken: small floats in 32 bits."""
    small = dtypes.issubdtype(out.dtype, np.floating) and out.dtype.itemsize < 4
    return np.dtype(np.float32) if small else out.dtype


def _pad_input(x: Any, axes: Sequence[int], params: dict[str, Any]) -> Any:
    """The input with its padding, and with holes between its elements."""
    ndim = avals.aval_of(x).ndim
    padding, spread = [(0, 0)] * ndim, [1] * ndim
    for n, axis in enumerate(axes):
        padding[axis], spread[axis] = params["padding"][n], params["lhs_dilation"][n]
    return shifting.pad_interior(x, 0, padding, spread)


def _places(sizes: Sequence[int]) -> Any:
    return itertools.product(*map(range, sizes))


def _depthwise(x: Any, w: Any, out: Any, params: dict[str, Any]) -> Any:
    """For each element of the kernel the input shifted, times it; summed."""
    dn = params["dimension_numbers"]
    work = _work_dtype(out)
    x, w = elementwise.convert(x, work), elementwise.convert(w, work)
    features, axes = dn.lhs_spec[1], list(dn.lhs_spec[2:])
    x = _pad_input(x, axes, params)
    sizes = [out.shape[d] for d in dn.out_spec[2:]]
    w_shape = avals.aval_of(w).shape
    outputs, window = w_shape[dn.rhs_spec[0]], [w_shape[d] for d in dn.rhs_spec[2:]]
    each = outputs // avals.aval_of(x).shape[features]
    total = None
    for place in _places(window):
        start = [i * by for i, by in zip(place, params["rhs_dilation"], strict=True)]
        part = shifting.strided_slice(x, axes, start, sizes, params["window_strides"])
        part = _repeat_elements(part, features, each)
        ones = [1] * len(window)
        one = shifting.strided_slice(w, dn.rhs_spec[2:], place, ones, ones)
        factor = shaping.reshape(one, (outputs,))
        shape = avals.aval_of(part).shape
        product = elementwise.mul(
            part, shaping.broadcast_in_dim(factor, shape, (features,))
        )
        total = product if total is None else elementwise.add(total, product)
    return elementwise.convert(
        _reorder_axes(total, dn.lhs_spec, dn.out_spec), out.dtype
    )


def _repeat_elements(x: Any, axis: int, times: int) -> Any:
    """Each element along an axis, several times in a row."""
    if times == 1:
        return x
    shape = avals.aval_of(x).shape
    wide = (*shape[: axis + 1], times, *shape[axis + 1 :])
    old_axes = [d for d in range(len(wide)) if d != axis + 1]
    x = shaping.broadcast_in_dim(x, wide, old_axes)
    merged_size = shape[axis] * times
    return shaping.reshape(x, (*shape[:axis], merged_size, *shape[axis + 1 :]))


def _reorder_axes(
    x: Any, source_spec: Sequence[int], target_spec: Sequence[int]
) -> Any:
    """An array whose axes mean what the first spec says, in the order of the second."""
    order = [0] * len(source_spec)
    for source, target in zip(source_spec, target_spec, strict=True):
        order[target] = source
    return x if order == sorted(order) else shaping.transpose(x, order)


# -- gradients in kernels with groups --------------------------------------------------


def _depthwise_sums(x: Any, w: Any, out: Any, params: dict[str, Any]) -> Any:
    """Groups of one example and one output: a sum of products for each place."""
    dn = params["dimension_numbers"]
    work = _work_dtype(out)
    x, w = elementwise.convert(x, work), elementwise.convert(w, work)
    axes = list(dn.lhs_spec[2:])
    x = _pad_input(x, axes, params)
    w = _reorder_axes(w, dn.rhs_spec, dn.lhs_spec)
    window = [avals.aval_of(w).shape[d] for d in axes]
    sizes = [out.shape[d] for d in dn.out_spec[2:]]
    summed = [d for d in range(avals.aval_of(x).ndim) if d != dn.lhs_spec[0]]
    sums = []
    for place in _places(sizes):
        start = [i * by for i, by in zip(place, params["window_strides"], strict=True)]
        part = shifting.strided_slice(x, axes, start, window, params["rhs_dilation"])
        sums.append(reductions.reduce_sum(elementwise.mul(part, w), summed))
    count = avals.aval_of(sums[0]).shape[0]
    whole = shaping.reshape(stacking.stack(sums, 0), (*sizes, 1, count))
    rank = len(sizes)
    whole = _reorder_axes(whole, (rank, rank + 1, *range(rank)), dn.out_spec)
    return elementwise.convert(whole, out.dtype)


def _diagonal(
    convolve: Callable[..., Any], x: Any, w: Any, params: dict[str, Any]
) -> Any:
    """All of the batch with all output features; of that, what is of one group."""
    groups = params["batch_group_count"]
    dn = params["dimension_numbers"]
    out = convolve(x, w, **{**params, "batch_group_count": 1})
    batch, features = dn.out_spec[:2]
    # The later axis first, so that the number of the earlier stays.
    for axis in sorted((batch, features), reverse=True):
        out = axis_groups.split(out, axis, groups)
    first = batch + (features < batch)
    second = features + (batch < features)
    shape = avals.aval_of(out).shape
    of_batch, of_features = (
        shaping.broadcasted_iota(np.int32, shape, axis) for axis in (first, second)
    )
    same = elementwise.eq(of_batch, of_features)
    out = elementwise.select(same, out, families.full_like(out, 0))
    out = reductions.reduce_sum(out, (first,))
    # What is left: groups and features within them are next to each other.
    return axis_groups.merge(out, second - (first < second), features)
