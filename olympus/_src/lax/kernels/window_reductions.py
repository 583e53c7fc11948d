"""Reductions over windows as operations on shifted arrays, for the CPU.

XLA walks over the elements of each window. Folding shifted copies of the whole array,
an axis after another, works on vectors (8 x 56 x 56 x 64, 3 x 3: sums 1.3 ms, not 5).
The gradient of a maximum finds the place of the selected element in each window that
way, and then adds up what each place receives (2 x 2: 0.5 ms, not 20).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.lax import (
    concatenation,
    elementwise,
    families,
    separate_calls,
    shaping,
    shifting,
)
from olympus._src.lax.kernels import thresholds

Params = dict[str, Any]


def choose_fold(
    platform: str, x: Any, out: Any, op: Callable[..., Any], start: Any, params: Params
) -> Callable[[Any], Any] | None:
    """What to lower in place of a reduction over windows, or None.

    Args:
      platform: where it will run.
      x, out: the types of operand and result.
      op: folds two arrays.
      start: what padding holds.
      params: the operation's parameters.
    """
    window = params["window_dimensions"]
    count = math.prod(window)
    keeps_nan = _keeps_nan(x.dtype, op)
    is_apart = keeps_nan and not _overlap(params)
    least = thresholds.FOLD_WORK
    if is_apart:
        least = 0 if count <= thresholds.MOST_APART else thresholds.APART_WORK
    if platform != "cpu" or not out.size or out.size * count < least:
        return None
    fewest = 2 if keeps_nan else thresholds.FEWEST_FOLDED
    if count < fewest or max(window) > thresholds.LONGEST_WINDOW:
        return None
    return lambda operand: _fold_windows(operand, op, start, params)


def _keeps_nan(dtype: Any, op: Callable[..., Any]) -> bool:
    """Whether XLA's own fold would have to compare, to keep NaN."""
    is_extreme = op is elementwise.max_ or op is elementwise.min_
    return is_extreme and dtypes.issubdtype(dtype, np.floating)


def _overlap(params: Params) -> bool:
    """Whether some element may be in two windows."""
    rows = zip(
        params["window_dimensions"],
        params["window_strides"],
        params["window_dilation"],
        strict=True,
    )
    return any((size - 1) * holes >= step for size, step, holes in rows)


def _fold_windows(x: Any, op: Callable[..., Any], start: Any, params: Params) -> Any:
    dtype = avals.aval_of(x).dtype
    if op is elementwise.add and _is_small_float(dtype):
        wide = elementwise.convert(x, np.float32)
        return elementwise.convert(_fold_windows(wide, op, start, params), dtype)
    steps, holes = params["window_strides"], params["window_dilation"]
    padding = list(params["padding"])
    apart = _axes_apart(avals.aval_of(x).shape, op, params)
    for axis in apart:
        padding[axis] = (0, 0)
    x = shifting.pad_interior(x, start, padding, params["base_dilation"])
    for axis, count in enumerate(params["window_dimensions"]):
        if axis in apart:
            x = _fold_axis_apart(x, axis, op, params)
            continue
        reach = (count - 1) * holes[axis] + 1
        size = (avals.aval_of(x).shape[axis] - reach) // steps[axis] + 1
        x = _fold_axis(
            x, axis, [i * holes[axis] for i in range(count)], size, op, steps
        )
    return x


def _fold_axis(
    x: Any, axis: int, starts: Any, size: int, op: Callable[..., Any], steps: Any
) -> Any:
    """Slices of an axis that begin at some positions, folded."""
    total = None
    for start in starts:
        part = shifting.strided_slice(x, [axis], [start], [size], [steps[axis]])
        total = part if total is None else op(total, part)
    return total


def _axes_apart(shape: Any, op: Callable[..., Any], params: Params) -> list[int]:
    """Axes whose last window alone has padding, and is folded apart without it.

    That costs less than an array with padding around it, and the others read the array
    as it is. With the first window apart they would begin inside of a vector. Of sums
    padding is a term: it makes a zero of a sum of negative ones.
    """
    if op is not elementwise.max_ and op is not elementwise.min_:
        return []
    axes = []
    for axis, (low, high) in enumerate(params["padding"]):
        window, step = _step_of(axis, params)
        is_plain = params["base_dilation"][axis] == params["window_dilation"][axis] == 1
        n_padded = (shape[axis] + high - window) // step + 1
        n_inner = (shape[axis] - window) // step + 1
        if is_plain and low == 0 < high < window and 0 < n_inner == n_padded - 1:
            axes.append(axis)
    return axes


def _fold_axis_apart(x: Any, axis: int, op: Callable[..., Any], params: Params) -> Any:
    """The same, with a last window of the elements that are left."""
    size, (window, step) = avals.aval_of(x).shape[axis], _step_of(axis, params)
    n, steps = (size - window) // step + 1, params["window_strides"]
    body = _fold_axis(x, axis, range(window), n, op, steps)
    last = _fold_axis(x, axis, range(n * step, size), 1, op, steps)
    return concatenation.concatenate([body, last], axis)


def _step_of(axis: int, params: Params) -> tuple[int, int]:
    """The size of a window along an axis, and the distance to the next."""
    return params["window_dimensions"][axis], params["window_strides"][axis]


def _is_small_float(dtype: Any) -> bool:
    return dtypes.issubdtype(dtype, np.floating) and dtype.itemsize < 4


# -- gradients of maxima ---------------------------------------------------------------


def choose_scatter(
    platform: str,
    source: Any,
    operand: Any,
    prefers: Callable[..., Any],
    params: Params,
) -> Callable[[Any, Any], Any] | None:
    """What to lower in place of `select_and_scatter_add`, or None.

    Args:
      platform: where it will run.
      source, operand: the types of the operands.
      prefers: whether the first of two elements stays selected.
      params: the operation's parameters.
    """
    count = math.prod(params["window_dimensions"])
    if platform != "cpu" or not 1 < count <= thresholds.MOST_SCATTERED:
        return None
    if not source.size:
        return None
    is_simple = _is_fused(params)
    if not is_simple and source.size * count < thresholds.SCATTER_WORK:
        return None
    return lambda source, operand: _scatter_sources(source, operand, prefers, params)


def _is_fused(params: Params) -> bool:
    """Whether each element may compare its window again: it is one of few, in one."""
    window, steps = params["window_dimensions"], params["window_strides"]
    is_apart = all(size <= step for size, step in zip(window, steps, strict=True))
    return is_apart and math.prod(window) <= thresholds.FEWEST_KEPT


def _scatter_sources(source: Any, operand: Any, prefers: Any, params: Params) -> Any:
    """Each element receives the sources of the windows that selected it."""
    aval, shape = avals.aval_of(source), avals.aval_of(operand).shape
    selected = _select_places(operand, aval.shape, prefers, params)
    steps, padding = params["window_strides"], params["padding"]
    if not _is_fused(params):
        selected = separate_calls.kept_p.bind(selected)
    if _is_small_float(aval.dtype):
        source = elementwise.convert(source, np.float32)
    zero = families.full_like(source, 0)
    total = None
    for n, place in enumerate(_places(params)):
        here = elementwise.eq(selected, families.full_like(selected, n))
        part = elementwise.select(here, source, zero)
        back = []
        for size, many, i, step, (low, _) in zip(
            shape, aval.shape, place, steps, padding, strict=True
        ):
            back.append((i - low, size - (i - low) - (many - 1) * step - 1))
        part = shifting.pad_interior(part, 0, back, steps)
        total = part if total is None else elementwise.add(total, part)
    return elementwise.convert(total, aval.dtype)


def _places(params: Params) -> Any:
    return itertools.product(*map(range, params["window_dimensions"]))


def _select_places(x: Any, shape: Any, prefers: Any, params: Params) -> Any:
    """Which place of its window each has selected; padding never is.

    Of equal elements it is the first, in the order of the array.
    """
    sizes = avals.aval_of(x).shape
    padding, steps = params["padding"], params["window_strides"]
    has_padding = any(low or high for low, high in padding)
    padded = shifting.pad_interior(x, 0, padding, (1,) * len(shape))
    best: Any = None
    selected: Any = None
    for n, place in enumerate(_places(params)):
        part = shifting.strided_slice(padded, range(len(shape)), place, shape, steps)
        number = shaping.full(shape, n, np.int32)
        inside = _mask_inside(shape, sizes, place, params)
        if best is None:
            best, selected = part, number
            if inside is not None:
                nothing = shaping.full(shape, -1, np.int32)
                selected = elementwise.select(inside, number, nothing)
            continue
        better = elementwise.bitwise_not(prefers(best, part))
        if has_padding:
            empty = elementwise.lt(selected, families.full_like(selected, 0))
            better = elementwise.bitwise_or(better, empty)
        if inside is not None:
            better = elementwise.bitwise_and(better, inside)
        best = elementwise.select(better, part, best)
        selected = elementwise.select(better, number, selected)
    return selected


def _mask_inside(shape: Any, sizes: Any, place: Any, params: Params) -> Any:
    """Where a place of the window is not in the padding; None: everywhere."""
    mask = None
    for axis, ((low, _), step) in enumerate(
        zip(params["padding"], params["window_strides"], strict=True)
    ):
        first = place[axis] - low
        if first >= 0 and first + (shape[axis] - 1) * step < sizes[axis]:
            continue
        at = shaping.broadcasted_iota(np.int32, shape, axis)
        at = elementwise.mul(at, families.full_like(at, step))
        for test in (
            elementwise.ge(at, families.full_like(at, -first)),
            elementwise.lt(at, families.full_like(at, sizes[axis] - first)),
        ):
            mask = test if mask is None else elementwise.bitwise_and(mask, test)
    return mask
