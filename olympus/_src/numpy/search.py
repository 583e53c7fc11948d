"""Finding elements: nonzero, argwhere, searchsorted, compress.

Results whose size depends on values are made on the host where the values are known;
while tracing the caller states the size.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from olympus._src.core import dtypes, trace
from olympus._src.foundation import errors
from olympus._src.interpreters import evaluate
from olympus._src.lax import cumulative, joining, shaping, stacking
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import creation, indexing, logic, promotion
from olympus._src.numpy.promotion import aval_of, check_arraylike


def concrete(name: str, x: Any, cure: str) -> np.ndarray:
    """The values of `x` on the host, or an error that says why there are none."""
    if isinstance(x, trace.Tracer):
        raise x.refusal(
            errors.ConcretizationTypeError,
            f"numpy.{name}: the size of the result depends on values that are not "
            "known while tracing, got a traced value of type "
            f"{x.aval.short()}; {cure}.",
        )
    return np.asarray(x)


def nonzero(
    a: Any, *, size: int | None = None, fill_value: Any = None
) -> tuple[Any, ...]:
    """The positions of elements that are not zero.

    Args:
      a: array.
      size: how many positions to return; needed while tracing. More are cut off.
      fill_value: what fills the result where there are fewer; default 0. A number, or
        one for each axis.

    Returns:
      For each axis an integer array.

    Raises:
      ConcretizationTypeError: `a` is traced and `size` not given.

    Source: NumPy, `numpy.nonzero`.
    """
    check_arraylike("nonzero", a)
    if aval_of(a).ndim == 0:
        raise ValueError(
            "numpy.nonzero: calling nonzero on 0d arrays is not allowed; use "
            "atleast_1d(a).nonzero()"
        )
    if size is None:
        found = np.nonzero(concrete("nonzero", a, "pass the argument `size`"))
        kind = dtypes.canonicalize_dtype(int)
        return tuple([creation.asarray(i.astype(kind)) for i in found])
    return _nonzero_sized(a, operator.index(size), fill_value)


def _nonzero_sized(a: Any, size: int, fill_value: Any) -> tuple[Any, ...]:
    rank = aval_of(a).ndim
    fills = (
        fill_value if isinstance(fill_value, (tuple, list)) else (fill_value,) * rank
    )
    if len(fills) != rank:
        raise ValueError(
            f"numpy.nonzero: fill_value must give a number for each of the {rank} "
            f"axes, got {len(fills)}"
        )
    fills = [0 if f is None else f for f in fills]
    return tuple(_nonzero_program(a, *fills, size=size))


@evaluate.fuse
def _nonzero_program(a: Any, *fills: Any, size: int) -> Any:
    kind = dtypes.canonicalize_dtype(int)
    aval = aval_of(a)
    total = aval.size
    values = [promotion.cast(f, kind, False) for f in fills]
    if not total or not size:
        return [promotion.full_shape(f, (size,)) for f in values]
    flags = shaping.reshape(logic.truth(a), (total,))
    ranks = cumulative.cumsum(lax.convert(flags, kind), 0)
    flat, count = _positions(ranks, size), _last(ranks)
    valid = lax.lt(shaping.iota(kind, size), promotion.full_shape(count, (size,)))
    outs = []
    step = total
    for length, f in zip(aval.shape, values, strict=True):
        step //= length
        at = lax.rem(lax.div(flat, kind.type(step)), kind.type(length))
        outs.append(lax.select(valid, at, promotion.full_shape(f, (size,))))
    return outs


def _last(x: Any) -> Any:
    n = aval_of(x).shape[0]
    return shaping.squeeze(joining.slice_in_dim(x, n - 1, n), (0,))


def _positions(ranks: Any, size: int) -> Any:
    """For 1, 2, ... size the first place where the non-decreasing `ranks` reach it."""
    kind = aval_of(ranks).dtype
    wanted = lax.add(shaping.iota(kind, size), kind.type(1))
    return binary_search(ranks, wanted, "left")


def binary_search(line: Any, values: Any, side: str) -> Any:
    """Where values go in a sorted vector; steps of halving, for all at once."""
    n = aval_of(line).shape[0]
    kind = dtypes.canonicalize_dtype(int)
    sizes = aval_of(values).shape
    low = promotion.full_shape(kind.type(0), sizes)
    if not n:
        return low
    high = promotion.full_shape(kind.type(n), sizes)
    before = _before(side)
    for _ in range(n.bit_length()):
        middle = lax.div(lax.add(low, high), kind.type(2))
        at = indexing.getitem(line, (lax.min_(middle, kind.type(n - 1)),))
        open_ = lax.lt(low, high)
        right = lax.bitwise_and(open_, before(at, values))
        left = lax.bitwise_and(open_, lax.bitwise_not(right))
        low = lax.select(right, lax.add(middle, kind.type(1)), low)
        high = lax.select(left, middle, high)
    return low


def _before(side: str) -> Any:
    """Whether an element stands before the place of a value; NaN stands last."""

    def is_nan(x: Any) -> Any:
        return lax.ne(x, x)

    def before(at: Any, value: Any) -> Any:
        floating = dtypes.kind(aval_of(at).dtype) in "fc"
        smaller = (
            logic.less(at, value) if side == "left" else logic.less_equal(at, value)
        )
        if not floating:
            return smaller
        value_last = is_nan(value)
        if side == "left":
            value_last = lax.bitwise_and(value_last, lax.bitwise_not(is_nan(at)))
        return lax.bitwise_or(smaller, value_last)

    return before


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The positions, in the flattened array, of elements that are not zero.

    Args:
      a: array.
      size, fill_value: see `nonzero`.

    Source: NumPy, `numpy.flatnonzero`.
    """
    check_arraylike("flatnonzero", a)
    flat = shaping.reshape(evaluate_or_traced(a), (aval_of(a).size,))
    return nonzero(flat, size=size, fill_value=fill_value)[0]


def evaluate_or_traced(x: Any) -> Any:
    """`x` as an array, where it is a number or NumPy's."""
    return x if hasattr(x, "aval") else evaluate.as_array(x)


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The positions of elements that are not zero, one in each row.

    Args:
      a: array.
      size, fill_value: see `nonzero`.

    Returns:
      An integer matrix [number of positions, number of axes].

    Source: NumPy, `numpy.argwhere`.
    """
    check_arraylike("argwhere", a)
    kind = dtypes.canonicalize_dtype(int)
    if aval_of(a).ndim == 0:
        flat = shaping.reshape(evaluate_or_traced(a), (1,))
        count = nonzero(flat, size=size, fill_value=fill_value)[0]
        return creation.zeros((aval_of(count).shape[0], 0), kind)
    found = nonzero(a, size=size, fill_value=fill_value)
    return _columns(*found)


@evaluate.fuse
def _columns(*xs: Any) -> Any:
    return stacking.stack(xs, 1)


def compress(
    condition: Any,
    a: Any,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: Any = 0,
    out: None = None,
) -> Any:
    """The slices of an array where a condition holds.

    Args:
      condition: vector of truth values, no longer than the axis.
      a: array.
      axis: the axis; None for the flattened array.
      size: size of the result's axis; needed while tracing.
      fill_value: what fills the result where fewer slices are found.
      out: must be None.

    Source: NumPy, `numpy.compress`.
    """
    promotion.check_out("compress", out)
    if isinstance(condition, (list, tuple)):
        condition = np.asarray(condition)
    check_arraylike("compress", condition, a)
    if aval_of(condition).ndim != 1:
        raise ValueError(
            "numpy.compress: condition must have one axis, got "
            f"{aval_of(condition).short()}"
        )
    x = evaluate_or_traced(a)
    if axis is None:
        axis, x = 0, shaping.reshape(x, (aval_of(a).size,))
    axis = sizes_.canonicalize_axis(axis, aval_of(x).ndim, "numpy.compress")
    lead = (slice(None),) * axis
    if size is None:
        mask = concrete("compress", condition, "pass the argument `size`").astype(bool)
        where = np.nonzero(mask)[0]
        return indexing.getitem(x, (*lead, where.astype(np.int32)))
    length = aval_of(x).shape[axis]
    where = nonzero(condition, size=size, fill_value=length)[0]
    return indexing.take(x, (*lead, where), mode="fill", fill_value=fill_value)


def searchsorted(
    a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan"
) -> Any:
    """Where values would be inserted in a sorted vector to keep its order.

    Args:
      a: sorted vector.
      v: array of values.
      side: "left" for the first such place, "right" for the last.
      sorter: integers that would sort `a`.
      method: has no effect on the result.

    Returns:
      An integer array of v's shape.

    Raises:
      ValueError: `side` is neither, or `a` is no vector.

    Source: NumPy, `numpy.searchsorted`.
    """
    if side not in ("left", "right"):
        raise ValueError(
            f"{side!r} is an invalid value for keyword 'side'; numpy.searchsorted "
            "takes 'left' and 'right'"
        )
    if method not in ("scan", "scan_unrolled", "sort", "compare_all"):
        raise ValueError(
            f"{method!r} is an invalid value for keyword 'method'; numpy.searchsorted "
            "takes 'scan', 'scan_unrolled', 'sort' and 'compare_all'"
        )
    check_arraylike("searchsorted", a, v)
    if aval_of(a).ndim != 1:
        raise ValueError(
            f"numpy.searchsorted: a should be 1-dimensional, got {aval_of(a).short()}"
        )
    if sorter is not None:
        check_arraylike("searchsorted", a, sorter)
        a = indexing.getitem(evaluate_or_traced(a), (sorter,))
    return _searchsorted(a, v, side=side)


@promotion.program(2, name="searchsorted")
def _searchsorted(a: Any, v: Any, *, side: str) -> Any:
    a, v = promotion.promote_dtypes(a, v)
    return binary_search(a, v, side)


def digitize(
    x: Any, bins: Any, right: bool = False, *, method: str | None = None
) -> Any:
    """The number of the bin that each value falls in.

    Args:
      x: array of values.
      bins: monotonic vector of edges.
      right: whether bins contain their right edges.
      method: has no effect on the result.

    Returns:
      An integer array of x's shape.

    Source: NumPy, `numpy.digitize`.
    """
    del method
    check_arraylike("digitize", x, bins)
    if aval_of(bins).ndim != 1:
        raise ValueError(
            f"numpy.digitize: bins must be a vector, got {aval_of(bins).short()}"
        )
    return _digitize(x, bins, right=bool(right))


@promotion.program(2, name="digitize")
def _digitize(x: Any, bins: Any, *, right: bool) -> Any:
    n = aval_of(bins).shape[0]
    x, bins = promotion.promote_dtypes(x, bins)
    if not n:
        return promotion.full_shape(
            dtypes.canonicalize_dtype(int).type(0), aval_of(x).shape
        )
    side = "left" if right else "right"
    rising = binary_search(bins, x, side)
    falling = binary_search(shaping.rev(bins, (0,)), x, side)
    falling = lax.sub(aval_of(falling).dtype.type(n), falling)
    ends = joining.slice_in_dim(bins, n - 1, n), joining.slice_in_dim(bins, 0, 1)
    down = shaping.squeeze(lax.lt(*ends), (0,))
    return lax.select_n(down, rising, falling)
