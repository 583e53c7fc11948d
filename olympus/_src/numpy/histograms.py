"""Counts: of numbers, of values in bins, and the bins' edges."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import dtypes, trace
from olympus._src.core.array_type import Array, ArrayLike, OptionalArray, Placement
from olympus._src.core.sizes import as_size, maximum
from olympus._src.interpreters import evaluate
from olympus._src.lax import concatenation, families, shaping, stacking
from olympus._src.lax import elementwise as lax
from olympus._src.numpy import (
    arithmetic,
    at,
    creation,
    logic,
    manipulation,
    promotion,
    ranges,
    reductions,
    searching,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike


@promotion.divides_result("numpy.bincount")
def bincount(
    x: ArrayLike,
    weights: OptionalArray = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: Placement = None,
) -> Array:
    """How often each non-negative integer occurs.

    Differs from NumPy: under `jit` the length must be known: pass `length`; numbers
    below 0 count as 0.

    Args:
      x: vector of integers; negative ones count as zero.
      weights: how much each occurrence counts.
      minlength: least size of the result.
      length: size of the result; needed while tracing. Larger numbers are left out.
      out_sharding: where the result lives.

    Source: NumPy, `numpy.bincount`.

    Example:
      >>> jnp.bincount(jnp.array([1, 1, 4]))
      Array([0, 2, 0, 0, 1], dtype=int32)
    """
    del out_sharding
    check_arraylike("bincount", x)
    if dtypes.kind(aval_of(x).dtype) not in "iub":
        raise TypeError(
            f"x argument to bincount must have an integer type; got {aval_of(x).dtype}"
        )
    if aval_of(x).ndim != 1:
        raise ValueError("only 1-dimensional input supported; numpy.bincount")
    if length is None:
        known = searching.concrete("bincount", x, "pass the argument `length`")
        length = max(int(minlength), int(known.max()) + 1 if known.size else 0, 0)
    else:
        length = maximum(as_size(length), as_size(minlength))
    if weights is None:
        weights = dtypes.canonicalize_dtype(int).type(1)
        return _bincount(x, weights, length=length)
    check_arraylike("bincount", x, weights)
    if aval_of(weights).shape != aval_of(x).shape:
        raise ValueError(
            "numpy.bincount: weights must have the shape of x, got "
            f"{aval_of(weights).short()} for {aval_of(x).short()}; spread them with "
            "broadcast_to"
        )
    return _bincount(x, weights, length=length)


@promotion.program(2, name="bincount")
def _bincount(x: Any, weights: Any, *, length: int) -> Any:
    kind = aval_of(weights).dtype
    start = promotion.full_shape(np.zeros((), kind)[()], (length,))
    x = promotion.promote_numeric(x)[0]
    x = lax.max_(x, promotion.scalar(0, x))
    return at.IndexUpdateHelper(start)[x].add(weights, mode="drop")


def histogram_bin_edges(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[ArrayLike] | None = None,
    weights: OptionalArray = None,
) -> Array:
    """The edges of a histogram's bins.

    Differs from NumPy: the number of bins must be a Python integer: rules such as
    "auto" are not supported.

    Args:
      a: array of values.
      bins: how many bins of equal widths, or their edges.
      range: the pair of the first and last edge; default those of the values.
      weights: have no effect.

    Source: NumPy, `numpy.histogram_bin_edges`.

    Example:
      >>> jnp.histogram_bin_edges(jnp.array([1, 2, 2, 3]), bins=2)
      Array([1., 2., 3.], dtype=float32)
    """
    del weights
    return _edges("histogram_bin_edges", a, bins, range)


def _edges(name: str, a: Any, bins: Any, range: Any) -> Any:
    if isinstance(bins, str):
        raise NotImplementedError(
            f"numpy.{name}: bins must be a number or edges, got {bins!r}"
        )
    check_arraylike(name, a, bins if not isinstance(bins, (list, tuple)) else 0)
    if np.ndim(bins) == 1:
        kind = dtypes.to_inexact_dtype(aval_of(a).dtype)
        return promotion.strong(creation.asarray(bins, kind))
    count = operator.index(bins)
    if count < 0:
        raise ValueError(f"numpy.{name}: bins must not be negative, got {count}")
    kind = dtypes.to_inexact_dtype(aval_of(a).dtype)
    if range is None:
        if not aval_of(a).size:
            range = (0.0, 1.0)
        else:
            low, high = reductions.min(a), reductions.max(a)
            flat = logic.equal(low, high)
            shift = creation.astype(flat, kind)
            low, high = (promotion.cast(v, kind, False) for v in (low, high))
            low = arithmetic.subtract(low, arithmetic.multiply(shift, 0.5))
            high = arithmetic.add(high, arithmetic.multiply(shift, 0.5))
            return ranges.linspace(low, high, count + 1, dtype=kind)
    low, high = range
    if not isinstance(low, trace.Tracer) and low == high:
        low, high = low - 0.5, high + 0.5
    return ranges.linspace(low, high, count + 1, dtype=kind)


@promotion.divides_result("numpy.histogram")
def histogram(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[ArrayLike] | None = None,
    weights: OptionalArray = None,
    density: bool | None = None,
    out_sharding: Placement = None,
) -> tuple[Array, Array]:
    """How many values fall in each bin.

    Differs from NumPy: under `jit` the range need not be known; a NaN among the data
    gives meaningless bins, where NumPy raises.

    Args:
      a: array of values.
      bins: how many bins of equal widths, or their edges.
      range: the pair of the first and last edge.
      weights: how much each value counts.
      density: divide by the total and the bins' widths.
      out_sharding: where the result lives.

    Returns:
      The pair of counts and edges.

    Source: NumPy, `numpy.histogram`.

    Example:
      >>> jnp.histogram(jnp.array([1, 2, 2, 3]), bins=2)
      (Array([1., 3.], dtype=float32), Array([1., 2., 3.], dtype=float32))
    """
    del out_sharding
    check_arraylike("histogram", a)
    if weights is not None:
        check_arraylike("histogram", weights)
        a, weights = promotion.promote_inexact(a, weights)
        if aval_of(weights).shape != aval_of(a).shape:
            raise ValueError(
                "numpy.histogram: weights must have the shape of a, got "
                f"{aval_of(weights).short()} and {aval_of(a).short()}"
            )
    edges = _edges("histogram", a, bins, range)
    w = np.float32(1) if weights is None else weights
    counts = _histogram(a, w, edges, weighted=weights is not None)
    if density:
        widths = arithmetic.subtract(edges[1:], edges[:-1])
        counts = arithmetic.true_divide(
            counts, arithmetic.multiply(widths, reductions.sum(counts))
        )
    return counts, edges


@promotion.program(3, name="histogram")
def _histogram(a: Any, w: Any, edges: Any, *, weighted: bool) -> Any:
    values, edges = promotion.promote_mixed(a, edges)
    n = aval_of(edges).shape[0]
    flat = shaping.reshape(values, (aval_of(values).size,))
    kind = aval_of(w).dtype if weighted else aval_of(values).dtype
    w = promotion.full_shape(lax.convert(w, kind, False), aval_of(a).shape)
    w = shaping.reshape(w, (aval_of(values).size,))
    where, inside = _bins_of(flat, edges)
    w = lax.select(inside, w, families.full_like(w, 0))
    start = promotion.full_shape(np.zeros((), kind)[()], (n - 1,))
    return at.IndexUpdateHelper(start)[where].add(w, mode="drop")


def _bins_of(values: Any, edges: Any) -> tuple[Any, Any]:
    """For each element of a vector its bin, and whether it lies in any."""
    n = aval_of(edges).shape[0]
    where = searching.binary_search(edges, values, "right")
    first, last = (
        shaping.squeeze(concatenation.slice_in_dim(edges, i, i + 1), (0,))
        for i in (0, n - 1)
    )
    one = aval_of(where).dtype.type(1)
    # The last bin holds its right edge.
    top = families.full_like(where, n - 1)
    where = lax.select(lax.eq(values, last), top, where)
    inside = lax.bitwise_and(lax.ge(values, first), lax.le(values, last))
    return lax.max_(lax.sub(where, one), promotion.scalar(0, where)), inside


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: ArrayLike | Sequence[ArrayLike] = 10,
    range: Sequence[Sequence[ArrayLike]] | None = None,
    weights: OptionalArray = None,
    density: bool | None = None,
) -> tuple[Array, Array, Array]:
    """How many points of the plane fall in each bin.

    Differs from NumPy: counts are integers unless there are weights or `density` is
    set; a NaN among the data gives meaningless bins, where NumPy raises.

    Args:
      x, y: the points' coordinates: vectors [n].
      bins: how many bins of equal widths, or their edges; or a pair of those.
      range: a pair, for each axis the pair of its first and last edge, or None for
        those of the values.
      weights: how much each point counts [n].
      density: divide by the total and the bins' areas.

    Returns:
      The counts [bins of x, bins of y], the edges along x, and those along y.

    Raises:
      TypeError: `x` and `y` are not vectors of one length.
      ValueError: `range` or `weights` do not fit.

    Source: NumPy, `numpy.histogram2d`.

    Example:
      >>> import olympus.numpy as onp
      >>> x = onp.array([0.0, 1.0, 1.0])
      >>> counts, _, _ = onp.histogram2d(x, x, bins=2)
      >>> print(counts)
      [[1 0]
       [0 2]]
    """
    check_arraylike("histogram2d", x, y)
    if aval_of(x).ndim != 1 or aval_of(x).shape != aval_of(y).shape:
        raise TypeError(
            "numpy.histogram2d: x and y must be vectors of one length, got "
            f"{aval_of(x).short()} and {aval_of(y).short()}"
        )
    each: Any = bins
    if not _is_number(bins) and len(each) not in (1, 2):
        each = [bins, bins]
    sample = stacking.stack(promotion.promote_dtypes(x, y), 1)
    counts, edges = histogramdd(sample, each, range, weights, density)
    return counts, edges[0], edges[1]


def histogramdd(
    sample: ArrayLike,
    bins: ArrayLike | Sequence[ArrayLike] = 10,
    range: Sequence[Sequence[ArrayLike] | None] | None = None,
    weights: OptionalArray = None,
    density: bool | None = None,
) -> tuple[Array, list[Array]]:
    """How many points fall in each bin of a space of several dimensions.

    Differs from NumPy: counts are integers unless there are weights or `density` is
    set; a NaN among the data gives meaningless bins, where NumPy raises.

    Args:
      sample: the points [n, d].
      bins: how many bins of equal widths along each axis; or d of such numbers, or
        vectors of edges.
      range: for each axis the pair of its first and last edge, or None for those of
        the values.
      weights: how much each point counts [n].
      density: divide by the total and the bins' volumes.

    Returns:
      The pair of counts, with d axes, and the list of edges. Counts are integers, and
      floats with weights or as densities.

    Raises:
      ValueError: `sample` does not have two axes, or `bins`, `range` or `weights` do
        not fit.

    Source: NumPy, `numpy.histogramdd`.

    Example:
      >>> import olympus.numpy as onp
      >>> counts, edges = onp.histogramdd(onp.eye(2), bins=2)
      >>> print(counts)
      [[0 1]
       [1 0]]
    """
    check_arraylike("histogramdd", sample)
    if aval_of(sample).ndim != 2:
        raise ValueError(
            "numpy.histogramdd: sample must be points [n, d], got "
            f"{aval_of(sample).short()}; write sample[:, None] for one dimension"
        )
    n, d = aval_of(sample).shape
    if weights is not None:
        check_arraylike("histogramdd", sample, weights)
        if aval_of(weights).shape != (n,):
            raise ValueError(
                "numpy.histogramdd: weights must be one for each of the points "
                f"{aval_of(sample).short()}, got {aval_of(weights).short()}"
            )
    if weights is not None:
        (sample, _) = promotion.promote_inexact(sample, weights)
    edges = _edges_of_axes(sample, d, bins, range)
    counts = _histogramdd(
        sample, 1 if weights is None else weights, *edges, weighted=weights is not None
    )
    if density:
        counts = arithmetic.true_divide(counts, reductions.sum(counts))
        for i, edge in enumerate(edges):
            shape = [-1 if j == i else 1 for j in _axes(d)]
            widths = manipulation.reshape(
                arithmetic.subtract(edge[1:], edge[:-1]), shape
            )
            counts = arithmetic.true_divide(counts, widths)
    return counts, edges


_axes = range  # the parameter of that name hides it


def _is_number(bins: Any) -> bool:
    return not isinstance(bins, (list, tuple)) and not getattr(bins, "ndim", 0)


def _edges_of_axes(sample: Any, d: int, bins: Any, limits: Any) -> list[Any]:
    """The edges of the bins along each axis."""
    each = [bins] * d if _is_number(bins) else bins
    if len(each) != d:
        raise ValueError(
            f"numpy.histogramdd: bins must be a number or one for each of {d} axes, "
            f"got {len(each)}"
        )
    limits = [None] * d if limits is None else limits
    if len(limits) != d or any(x is not None and len(x) != 2 for x in limits):
        raise ValueError(
            f"numpy.histogramdd: range must be None, or a pair or None for each of {d} "
            f"axes, got {limits!r}"
        )
    return [
        _edges("histogramdd", sample[:, i], b, limit)
        for i, (b, limit) in enumerate(zip(each, limits, strict=True))
    ]


def _joint_counts(sample: Any, w: Any, *edges: Any, weighted: bool) -> Any:
    kind = dtypes.canonicalize_dtype(int)
    if weighted:
        sample, w = promotion.promote_inexact(sample, w)
        kind = aval_of(w).dtype
    n, _d = aval_of(sample).shape
    sizes = [aval_of(e).shape[0] - 1 for e in edges]
    where, inside = [], promotion.full_shape(np.bool_(True), (n,))
    for i, edge in enumerate(edges):
        column = shaping.squeeze(
            concatenation.slice_in_dim(sample, i, i + 1, axis=1), (1,)
        )
        bin_, within = _bins_of(*promotion.promote_mixed(column, edge))
        where.append(bin_)
        inside = lax.bitwise_and(inside, within)
    w = promotion.full_shape(lax.convert(w, kind, False), (n,))
    w = lax.select(inside, w, families.full_like(w, 0))
    start = promotion.full_shape(np.zeros((), kind)[()], tuple(sizes))
    return at.IndexUpdateHelper(start)[tuple(where)].add(w, mode="drop")


_joint_counts.__name__ = "histogramdd"
_histogramdd = evaluate.fuse(_joint_counts)
