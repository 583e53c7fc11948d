"""Statistics of samples: ranks, most frequent values, errors of means."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from olympus._src import tree
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, Axis
from olympus._src.interpreters import concrete_arrays, evaluate
from olympus._src.lax import cumulative, shaping, sizes
from olympus._src.lax import elementwise as lax
from olympus._src.numpy import (
    arg_extremes,
    cumulative_sums,
    index_routines,
    logic,
    nan_functions,
    reductions,
    sorting,
)
from olympus._src.scipy.stats.arguments import where


@tree.returned_by("olympus.scipy.stats.mode")
class ModeResult(NamedTuple):
    """The most frequent values, and how often they occur."""

    mode: Array
    count: Any


def _check(name: str, a: Any, nan_policy: str) -> None:
    if not avals.is_array_like(a):
        raise TypeError(
            f"scipy.stats.{name}: a must be an array or a number, got "
            f"{type(a).__name__}; convert it with numpy.asarray"
        )
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError(
            f"scipy.stats.{name}: nan_policy must be 'propagate' or 'omit', got "
            f"{nan_policy!r}"
        )


def _only_propagate(name: str, nan_policy: str) -> None:
    if nan_policy != "propagate":
        raise NotImplementedError(
            f"scipy.stats.{name}: nan_policy must be 'propagate', got {nan_policy!r}; "
            "remove the NaN or check for them first"
        )


def _lines(name: str, a: Any, axis: Axis) -> tuple[Any, int]:
    """The array, raveled for axis None, and the axis counted from the front."""
    a = (
        concrete_arrays.as_array(a)
        if isinstance(a, (int, float, complex, np.ndarray))
        else a
    )
    aval = avals.aval_of(a)
    if axis is None or not aval.ndim:
        return shaping.reshape(a, (aval.size,)), 0
    return a, sizes.canonicalize_axis(axis, aval.ndim, f"scipy.stats.{name}")


def _axis(axis: Any) -> int | None:
    return None if axis is None else operator.index(axis)


_METHODS = ("average", "min", "max", "dense", "ordinal")


def rankdata(
    a: ArrayLike,
    method: str = "average",
    *,
    axis: Axis = None,
    nan_policy: str = "propagate",
) -> Array:
    """Ranks of elements from 1 on, the smallest first.

    Differs from SciPy: ranks are floating for all methods; NaN cannot be omitted.

    Args:
      a: array or number.
      method: what elements that are equal get: the 'average', 'min' or 'max' of the
        ranks that they take up together; 'dense' ranks are consecutive;
        'ordinal' ones are all different, in the order of the elements.
      axis: rank along this axis; None ranks all elements, as one vector.
      nan_policy: 'propagate': all ranks are NaN where an element is.

    Returns:
      A floating array of a's shape, raveled for axis None.

    Raises:
      ValueError: method, policy or axis are not known.
      NotImplementedError: the policy is 'omit' or 'raise'.

    Source: SciPy, `scipy.stats.rankdata`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import stats
      >>> stats.rankdata(np.array([30, 10, 30]))
      Array([2.5, 1. , 2.5], dtype=float32)
    """
    _check("rankdata", a, nan_policy)
    _only_propagate("rankdata", nan_policy)
    if method not in _METHODS:
        raise ValueError(
            f"scipy.stats.rankdata: method must be one of {_METHODS}, got {method!r}"
        )
    return _rankdata(a, method=method, axis=_axis(axis))


@evaluate.fuse
def _rankdata(a: Any, *, method: str, axis: Axis) -> Any:
    a, axis = _lines("rankdata", a, axis)
    aval = avals.aval_of(a)
    n = aval.shape[axis]
    dtype = dtypes.canonicalize_dtype(np.float64)
    order = sorting.argsort(a, axis)
    place = sorting.argsort(order, axis)
    if method == "ordinal" or not n:
        ranks = lax.convert(place + 1, dtype)
    else:
        ordered = index_routines.take_along_axis(a, order, axis)
        ranks = lax.convert(_rank_ties(ordered, n, axis, method), dtype)
        ranks = index_routines.take_along_axis(ranks, place, axis)
    nothing = reductions.any(logic.isnan(a), axis, keepdims=True)
    return where(nothing, np.nan, ranks)


def _rank_ties(ordered: Any, n: int, axis: int, method: str) -> Any:
    """Ranks of sorted elements, whose equals stand side by side."""
    shape = avals.aval_of(ordered).shape
    at = shaping.broadcasted_iota(np.int32, shape, axis)
    places = shaping.counting(n)
    first_place, last_place = np.int32(0), lax.size_value(n - 1, np.dtype(np.int32))
    previous = lax.max_(lax.sub(places, np.int32(1)), first_place)
    before = index_routines.take(ordered, previous, axis)
    starts = (at == 0) | (ordered != before)
    if method == "dense":
        return cumulative_sums.cumsum(lax.convert(starts, np.dtype(np.int32)), axis)
    # The start of each run, carried on to its end; and the same from behind.
    first = cumulative.cummax(where(starts, at, 0), axis=axis)
    following = lax.min_(lax.add(places, np.int32(1)), last_place)
    after = index_routines.take(starts, following, axis)
    ends = (at == n - 1) | after
    last = cumulative.cummin(where(ends, at, n - 1), axis=axis, reverse=True)
    if method == "min":
        return first + 1
    return last + 1 if method == "max" else (first + last) / 2 + 1


def mode(
    a: ArrayLike,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> ModeResult:
    """The most frequent value along an axis, the smallest of several, and its count.

    Differs from SciPy: NaN cannot be omitted.

    Args:
      a: array or number. NaN are equal to each other, and greater than numbers.
      axis: along which to count; None counts all elements.
      nan_policy: 'propagate'.
      keepdims: keep the axis, with size 1.

    Returns:
      A named tuple `(mode, count)`: an array of a's dtype and one of integers. Where
      there is no element both are floating: NaN, and 0.

    Raises:
      ValueError: policy or axis are not known.
      NotImplementedError: the policy is 'omit' or 'raise'.

    Source: SciPy, `scipy.stats.mode`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import stats
      >>> print(stats.mode(np.array([3, 1, 3])).mode)
      3
    """
    _check("mode", a, nan_policy)
    _only_propagate("mode", nan_policy)
    return ModeResult(*_mode(a, axis=_axis(axis), keepdims=bool(keepdims)))


@evaluate.fuse
def _mode(a: Any, *, axis: Axis, keepdims: bool) -> Any:
    shape = avals.aval_of(a).shape
    a, line = _lines("mode", a, axis)
    whole = axis is None or not shape
    keepdims_shape = (
        [1] * len(shape) if whole else [*shape[:line], 1, *shape[line + 1 :]]
    )
    out_shape = (
        keepdims_shape
        if keepdims
        else []
        if whole
        else [*shape[:line], *shape[line + 1 :]]
    )
    aval = avals.aval_of(a)
    n = aval.shape[line]
    if not n:
        float_ = dtypes.canonicalize_dtype(np.float64)
        return tuple(shaping.full(out_shape, v, float_) for v in (np.nan, 0))
    ordered = sorting.sort(a, line)
    # A run of equals is as long as its last place is from its first.
    before = index_routines.take(ordered, np.maximum(np.arange(n) - 1, 0), line)
    same = (ordered == before) | ((ordered != ordered) & (before != before))
    integer = dtypes.canonicalize_dtype(np.int64)
    at = shaping.broadcasted_iota(integer, aval.shape, line)
    starts = (at == 0) | ~same
    length = at - cumulative.cummax(where(starts, at, 0), axis=line) + 1
    best = arg_extremes.argmax(length, line, keepdims=True)
    value = index_routines.take_along_axis(ordered, best, line)
    count = reductions.max(length, line, keepdims=True)
    return tuple(shaping.reshape(v, out_shape) for v in (value, count))


def sem(
    a: ArrayLike,
    axis: Axis = 0,
    ddof: int | None = 1,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """Standard error of the mean: the deviation over the root of the count.

    Differs from SciPy: NaN raise no error; `axis` is one axis, or None.

    Args:
      a: array or number.
      axis: along which to average; None averages all elements.
      ddof: the deviation's sum of squares is divided by the count less this; None is
        0.
      nan_policy: 'propagate', or 'omit' to leave NaN out.
      keepdims: keep the axis, with size 1.

    Returns:
      A floating array.

    Raises:
      ValueError: the policy is another one, or there is no such axis.

    Source: SciPy, `scipy.stats.sem`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import stats
      >>> print(stats.sem(np.float32([1, 2, 3, 4]), ddof=0))
      0.559017
    """
    _check("sem", a, nan_policy)
    if nan_policy == "raise":
        raise ValueError(
            "scipy.stats.sem: nan_policy must be 'propagate' or 'omit', got 'raise'; "
            "values are not known while a function is traced"
        )
    omit = nan_policy == "omit"
    ddof = 0 if ddof is None else ddof
    return _sem(a, axis=_axis(axis), ddof=ddof, omit=omit, keepdims=bool(keepdims))


@evaluate.fuse
def _sem(a: Any, *, axis: Axis, ddof: int, omit: bool, keepdims: bool) -> Any:
    ndim = avals.aval_of(a).ndim
    a, line = _lines("sem", a, axis)
    if omit:
        deviation = nan_functions.nanstd(a, line, ddof=ddof, keepdims=keepdims)
        count = reductions.sum(~logic.isnan(a), line, keepdims=keepdims)
    else:
        deviation = reductions.std(a, line, ddof=ddof, keepdims=keepdims)
        count = avals.aval_of(a).shape[line]
    dtype = dtypes.real_dtype(avals.aval_of(deviation).dtype)
    # Short floats do not hold large counts.
    wide = dtypes.at_least_single(dtype)
    out = lax.convert(deviation, wide) / lax.sqrt(lax.convert(count, wide))
    out = lax.convert(out, dtype)
    return shaping.reshape(out, [1] * ndim) if keepdims and axis is None else out
