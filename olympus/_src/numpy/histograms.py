"""Counts: of numbers, of values in bins, and the bins' edges."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from olympus._src.core import dtypes, trace
from olympus._src.lax import elementwise as lax
from olympus._src.lax import families, joining, shaping
from olympus._src.numpy import (
    arithmetic,
    at,
    creation,
    logic,
    promotion,
    reductions,
    search,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike


def bincount(
    x: Any,
    weights: Any = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: Any = None,
) -> Any:
    """How often each non-negative integer occurs.

    Args:
      x: vector of integers; negative ones count as zero.
      weights: how much each occurrence counts.
      minlength: least size of the result.
      length: size of the result; needed while tracing. Larger numbers are left out.
      out_sharding: where the result lives.

    Source: NumPy, `numpy.bincount`.
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
        known = search.concrete("bincount", x, "pass the argument `length`")
        length = max(int(minlength), int(known.max()) + 1 if known.size else 0, 0)
    else:
        length = max(int(minlength), operator.index(length))
    if weights is None:
        weights = np.int32(1)
    check_arraylike("bincount", x, weights)
    return _bincount(x, weights, length=length)


@promotion.program(2, name="bincount")
def _bincount(x: Any, weights: Any, *, length: int) -> Any:
    kind = aval_of(weights).dtype
    start = promotion.full_shape(np.zeros((), kind)[()], (length,))
    x = promotion.promote_numeric(x)[0]
    x = lax.max_(x, promotion.scalar(0, x))
    return at.IndexUpdateHelper(start)[x].add(weights, mode="drop")


def histogram_bin_edges(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None
) -> Any:
    """The edges of a histogram's bins.

    Args:
      a: array of values.
      bins: how many bins of equal widths, or their edges.
      range: the pair of the first and last edge; default those of the values.
      weights: have no effect.

    Source: NumPy, `numpy.histogram_bin_edges`.
    """
    del weights
    if isinstance(bins, str):
        raise NotImplementedError(
            "numpy.histogram_bin_edges: bins must be a number or edges"
        )
    check_arraylike(
        "histogram_bin_edges", a, bins if not isinstance(bins, (list, tuple)) else 0
    )
    if np.ndim(bins) == 1:
        return creation.asarray(bins, dtypes.to_inexact_dtype(aval_of(a).dtype))
    count = operator.index(bins)
    kind = dtypes.to_inexact_dtype(aval_of(a).dtype)
    if range is None:
        if not aval_of(a).size:
            range = (0.0, 1.0)
        else:
            low, high = reductions.min(a), reductions.max(a)
            flat = logic.equal(low, high)
            shift = creation.astype(flat, kind)
            low = arithmetic.subtract(low, arithmetic.multiply(shift, 0.5))
            high = arithmetic.add(high, arithmetic.multiply(shift, 0.5))
            return creation.linspace(low, high, count + 1, dtype=kind)
    low, high = range
    if not isinstance(low, trace.Tracer) and low == high:
        low, high = low - 0.5, high + 0.5
    return creation.linspace(low, high, count + 1, dtype=kind)


def histogram(
    a: Any,
    bins: Any = 10,
    range: Any = None,
    weights: Any = None,
    density: bool | None = None,
) -> tuple[Any, Any]:
    """How many values fall in each bin.

    Args:
      a: array of values.
      bins: how many bins of equal widths, or their edges.
      range: the pair of the first and last edge.
      weights: how much each value counts.
      density: divide by the total and the bins' widths.

    Returns:
      The pair of counts and edges.

    Source: NumPy, `numpy.histogram`.
    """
    edges = histogram_bin_edges(a, bins, range, weights)
    check_arraylike("histogram", a)
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
    values, edges = promotion.promote_inexact(a, edges)
    n = aval_of(edges).shape[0]
    flat = shaping.reshape(values, (aval_of(values).size,))
    kind = aval_of(w).dtype if weighted else aval_of(values).dtype
    w = promotion.full_shape(lax.convert(w, kind, False), aval_of(a).shape)
    w = shaping.reshape(w, (aval_of(values).size,))
    where = search.binary_search(edges, flat, "right")
    first, last = (
        shaping.squeeze(joining.slice_in_dim(edges, i, i + 1), (0,)) for i in (0, n - 1)
    )
    one = aval_of(where).dtype.type(1)
    # The last bin holds its right edge.
    top = families.full_like(where, n - 1)
    where = lax.select(lax.eq(flat, last), top, where)
    inside = lax.bitwise_and(lax.ge(flat, first), lax.le(flat, last))
    w = lax.select(inside, w, families.full_like(w, 0))
    start = promotion.full_shape(np.zeros((), kind)[()], (n - 1,))
    return at.IndexUpdateHelper(start)[
        lax.max_(lax.sub(where, one), promotion.scalar(0, where))
    ].add(w, mode="drop")
