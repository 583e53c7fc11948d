"""Quantiles, percentiles, medians: by sorting."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    Axes,
    OptionalArray,
    Placement,
)
from olympus._src.interpreters import evaluate
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import (
    concatenation,
    cumulative,
    families,
    shaping,
    sharding_constraints,
)
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sorting as lax_sorting
from olympus._src.numpy import (
    arithmetic,
    docstring_examples,
    indexing,
    promotion,
    reductions,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike
from olympus._src.numpy.reductions import static_axis

if TYPE_CHECKING:
    from olympus._src.numpy import function_types

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf")


@evaluate.fuse
def _quantile(
    a: Any,
    q: Any,
    *weights: Any,
    name: str,
    axis: Any,
    keepdims: bool,
    method: str,
    ignore_nan: bool,
    percent: bool,
) -> Any:
    if percent:
        q = arithmetic.true_divide(q, 100)
    if dtypes.kind(aval_of(q).dtype) == "c":
        raise TypeError(
            f"numpy.quantile: q must be real, got {aval_of(q).short()}; take its real "
            "part"
        )
    a, *promoted_weights = [
        promotion.strong(v) for v in promotion.promote_inexact(a, *weights)
    ]
    wide = dtypes.at_least_single(aval_of(a).dtype)  # of positions within lines
    q = promotion.cast(q, wide, False)
    if dtypes.kind(aval_of(a).dtype) == "c":
        raise ValueError("numpy.quantile: arrays must be real, got complex")
    if aval_of(q).ndim > 1:
        raise ValueError(f"q must be have rank <= 1, got shape {aval_of(q).shape}")
    axes = reductions.axes_of("quantile", a, axis)
    kept_shape = [1 if i in axes else d for i, d in enumerate(aval_of(a).shape)]
    if ignore_nan and 0 in [aval_of(a).shape[i] for i in axes]:
        a, promoted_weights = _nan_for_nothing(a, kept_shape), []
    lines, n = _lines(a, axes)
    if promoted_weights:
        w = promotion.cast(promoted_weights[0], wide, False)
        w = _align_weights(name, w, a, axes, axis is None)
        out = _select_by_weights(lines, _lines(w, axes)[0], q, ignore_nan)
    else:
        ordered = lax_sorting.sort(lines, dimension=-1)
        out = _interpolate_lines(ordered, q, n, method, ignore_nan)
    if keepdims:
        out = shaping.reshape(out, (*aval_of(q).shape, *kept_shape))
    return out


def _align_weights(
    name: str, w: Any, a: Any, axes: tuple[int, ...], of_all: bool
) -> Any:
    """Weights in the shape of the array: given for it, or for the reduced axes."""
    shape, own = aval_of(a).shape, aval_of(w).shape
    if own == shape:
        return w
    if of_all or own != tuple([shape[i] for i in axes]):
        reduced = shape if of_all else tuple([shape[i] for i in axes])
        raise ValueError(
            f"numpy.{name}: weights must have the shape of the array or of its reduced "
            f"axes, {reduced}, got {own}"
        )
    w = shaping.transpose(w, sorted(range(len(axes)), key=lambda i: axes[i]))
    return shaping.broadcast_in_dim(w, shape, sorted(axes))


def _select_by_weights(x: Any, w: Any, q: Any, ignore_nan: bool) -> Any:
    """The first elements of sorted lines up to which the weights sum to q's part."""
    lead, q_rank = aval_of(x).shape[:-1], aval_of(q).ndim
    rank = len(lead)
    if ignore_nan:
        w = lax.select(lax.ne(x, x), families.full_like(w, 0), w)
    ordered, w = lax_sorting.sort((x, w), dimension=-1, num_keys=1)
    sums = cumulative.cumsum(w, rank)
    shape = aval_of(x).shape
    full = (*aval_of(q).shape, *shape)
    total = shaping.broadcast_in_dim(_element(sums, -1), shape, range(rank))
    parts = lax.div(sums, total)
    parts = shaping.broadcast_in_dim(parts, full, range(q_rank, len(full)))
    wide_q = shaping.broadcast_in_dim(q, full, range(q_rank))
    before = lax.convert(lax.lt(parts, wide_q), np.dtype(np.int32))
    place = families.reduce_sum_p.bind(before, axes=(len(full) - 1,))
    out = _pick(ordered, place, lead, aval_of(q).shape)
    # NaN sorts last. Weights that are NaN or negative, or of NaN alone, say nothing.
    bad = lax.bitwise_not(lax.ge(w, families.full_like(w, 0)))
    if not ignore_nan:
        bad = lax.bitwise_or(bad, lax.ne(ordered, ordered))
    bad = reductions.any(bad, axis=-1)
    if ignore_nan:
        first = _element(ordered, 0)
        bad = lax.bitwise_or(bad, lax.ne(first, first))
    bad = shaping.broadcast_in_dim(
        bad, aval_of(out).shape, range(q_rank, len(full) - 1)
    )
    return lax.select(bad, families.full_like(out, np.nan), out)


def _element(x: Any, i: int) -> Any:
    """One element of the last axis."""
    axis = aval_of(x).ndim - 1
    i %= aval_of(x).shape[axis]
    return shaping.squeeze(concatenation.slice_in_dim(x, i, i + 1, axis=axis), (axis,))


def _nan_for_nothing(a: Any, kept_shape: list[int]) -> Any:
    """One NaN for each line without elements, which counts as one of NaN alone."""
    nan = families.number_of(np.nan, aval_of(a).dtype)
    return shaping.broadcast_in_dim(nan, kept_shape, ())


def _lines(a: Any, axes: tuple[int, ...]) -> tuple[Any, int]:
    """The array with the reduced axes joined into one, at the end."""
    shape = aval_of(a).shape
    other_axes = [i for i in range(len(shape)) if i not in axes]
    n = math.prod([shape[i] for i in axes])
    if not n:
        raise ValueError(
            f"numpy.quantile: arrays must have elements, got {aval_of(a).short()}"
        )
    lines = shaping.transpose(a, (*other_axes, *axes))
    return shaping.reshape(lines, (*[shape[i] for i in other_axes], n)), n


def _interpolate_lines(x: Any, q: Any, n: int, method: str, ignore_nan: bool) -> Any:
    """Values at fractions `q` of sorted lines, q's axis first."""
    dtype = aval_of(q).dtype
    lead = aval_of(x).shape[:-1]
    q_shape = aval_of(q).shape
    full = (*q_shape, *lead)
    isnan = lax.convert(lax.ne(x, x), np.dtype(np.int32))
    bad = families.reduce_sum_p.bind(isnan, axes=(len(lead),))
    wide_bad = shaping.broadcast_in_dim(bad, full, range(len(q_shape), len(full)))
    wide_q = shaping.broadcast_in_dim(q, full, range(len(q_shape)))
    count = lax.size_value(n, dtype)
    good = lax.sub(count, lax.convert(wide_bad, dtype)) if ignore_nan else count
    one, zero = families.number_of(1, dtype), families.number_of(0, dtype)
    last = lax.sub(good, one)
    if method == "inverted_cdf":
        # The first element up to which at least q's part of them lies.
        at_ = lax.sub(lax.ceil(lax.mul(wide_q, promotion.full_shape(good, full))), one)
        out = _pick(x, lax.max_(at_, zero), lead, q_shape)
        return _or_nan(out, wide_bad, good, ignore_nan)
    at_ = lax.mul(wide_q, last)
    at_ = (
        lax.min_(lax.max_(at_, zero), lax.max_(last, zero))
        if ignore_nan
        else (lax.min_(lax.max_(at_, zero), last))
    )
    low, high = lax.floor(at_), lax.ceil(at_)
    share = lax.sub(at_, low)
    below, above = (_pick(x, i, lead, q_shape) for i in (low, high))
    out = _mix(below, above, share, at_, x, lead, q_shape, method)
    return _or_nan(out, wide_bad, good, ignore_nan)


def _or_nan(out: Any, bad: Any, good: Any, ignore_nan: bool) -> Any:
    """NaN where a line has a NaN, or has nothing else."""
    if ignore_nan:
        edge = lax.le(good, families.number_of(0, aval_of(good).dtype))
    else:
        edge = lax.gt(bad, np.int32(0))
    edge = promotion.full_shape(edge, aval_of(out).shape)
    return lax.select(edge, families.full_like(out, np.nan), out)


def _pick(x: Any, at_: Any, lead: Any, q_shape: Any) -> Any:
    """Elements of the last axis at (floating) positions [*q, *lead]."""
    places: list[Any] = []
    rank = len(q_shape) + len(lead)
    for i, size in enumerate(lead):
        sizes = [1] * rank
        sizes[len(q_shape) + i] = size
        places.append(shaping.counting(size).reshape(sizes))
    places.append(lax.convert(at_, np.dtype(np.int32)))
    explicit = aval_of(x).explicit
    if explicit is None:
        return indexing.take(x, tuple(places), mode="clip")
    entries = [*[None] * len(q_shape), *explicit.spec.partitions[:-1]]
    spec = explicit.spec.update(partitions=entries)
    return sharding_constraints.divide_result(
        lambda *xs: indexing.take(xs[0], xs[1:], mode="clip"),
        explicit.update(spec=spec),
        "numpy.quantile",
        x,
        *places,
    )


def _mix(
    below: Any,
    above: Any,
    share: Any,
    at_: Any,
    x: Any,
    lead: Any,
    q_shape: Any,
    method: str,
) -> Any:
    if method == "lower":
        return below
    if method == "higher":
        return above
    if method == "nearest":
        near = lax.ceil(lax.sub(at_, promotion.scalar(0.5, at_)))
        return _pick(x, near, lead, q_shape)
    wide, dtype = aval_of(share).dtype, aval_of(x).dtype
    below, above = lax.convert(below, wide), lax.convert(above, wide)
    if method == "midpoint":
        share = promotion.scalar(0.5, below)
    complement = lax.sub(promotion.scalar(1, share), share)
    mean = lax.add(lax.mul(below, complement), lax.mul(above, share))
    return lax.convert(mean, dtype)


def _start_quantile(
    name: str,
    a: Any,
    q: Any,
    axis: Any,
    out: Any,
    method: str,
    keepdims: Any,
    weights: Any,
    ignore_nan: bool,
    percent: bool,
) -> Any:
    check_arraylike(name, a, q)
    promotion.check_out(name, out)
    if method not in _METHODS:
        raise ValueError(
            f"method can only be {', '.join(map(repr, _METHODS))}; numpy.{name} got "
            f"{method!r}"
        )
    operands = () if weights is None else (weights,)
    check_arraylike(name, *operands)
    if operands and method != "inverted_cdf":
        raise NotImplementedError(
            f"numpy.{name}: {method} doesn't support weights; only method "
            "'inverted_cdf' does"
        )
    if operands and dtypes.kind(aval_of(weights).dtype) == "c":
        raise ValueError(
            f"numpy.{name}: weights must be real, got {aval_of(weights).short()}"
        )
    return _quantile(
        a,
        q,
        *operands,
        name=name,
        axis=static_axis(axis),
        keepdims=bool(keepdims),
        method=method,
        ignore_nan=ignore_nan,
        percent=percent,
    )


def _quantile_function(
    name: str, ignore_nan: bool, percent: bool
) -> function_types.Quantile:
    @direct("_quantile", 2)
    def call(
        a: ArrayLike,
        q: ArrayLike,
        axis: Axes = None,
        out: None = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: OptionalArray = None,
    ) -> Array:
        if overwrite_input:
            raise ValueError(f"numpy.{name}: overwrite_input must be False")
        return _start_quantile(
            name, a, q, axis, out, method, keepdims, weights, ignore_nan, percent
        )

    scale = "100" if percent else "1"
    return docstring_examples.describe(
        call,
        name,
        f"""The values below which given fractions of the elements lie.

    Differs from NumPy: `out` must be None and `overwrite_input` False; q has at most
    one axis; there are six methods; weights that are negative or NaN give NaN.

    Args:
      a: real array{", whose NaN are left out" if ignore_nan else ""}.
      q: the quantiles, from 0 to {scale}: a number or a vector.
      axis: an axis, several, or None for all.
      out, overwrite_input: must be None or False.
      method: between two elements "linear", "lower", "higher", "midpoint" or "nearest"
        (of two that are as near the lower, as in JAX; NumPy takes the one at an even
        position); or "inverted_cdf", the first element up to which a fraction of at
        least q lies.
      keepdims: keep the reduced axes, with size 1.
      weights: how much each element counts, for "inverted_cdf": of a's shape, or of the
        shape of the reduced axes.

    Returns:
      An array whose first axis is q's, where it has one.

    Source: NumPy, `numpy.{name}`.
""",
    )


quantile = _quantile_function("quantile", False, False)
nanquantile = _quantile_function("nanquantile", True, False)
nanpercentile = _quantile_function("nanpercentile", True, True)


@promotion.divides_result("numpy.percentile")
def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: OptionalArray = None,
    out_sharding: Placement = None,
) -> Array:
    """The values below which given fractions of the elements lie.

    Differs from NumPy: `out` must be None and `overwrite_input` False; q has at most
    one axis; there are six methods; weights that are negative or NaN give NaN.

    Args:
      a: real array.
      q: the percentiles, from 0 to 100: a number or a vector.
      axis: an axis, several, or None for all.
      out, overwrite_input: must be None or False.
      method: between two elements "linear", "lower", "higher", "midpoint" or "nearest"
        (of two that are as near the lower, as in JAX; NumPy takes the one at an even
        position); or "inverted_cdf", the first element up to which a fraction of at
        least q lies.
      keepdims: keep the reduced axes, with size 1.
      weights: how much each element counts, for "inverted_cdf": of a's shape, or of the
        shape of the reduced axes.
      out_sharding: where the result lives.

    Returns:
      An array whose first axis is q's, where it has one.

    Source: NumPy, `numpy.percentile`.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.percentile(onp.array([1.0, 2.0, 4.0]), 75)
      Array(3., dtype=float32)
    """
    del out_sharding
    return _percentile(
        a, q, axis, out, overwrite_input, method, keepdims, weights=weights
    )


_percentile = _quantile_function("percentile", False, True)


@direct("_median")
def median(
    a: ArrayLike,
    axis: Axes = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The middle element, or the mean of the two in the middle.

    Differs from NumPy: `out` must be None and `overwrite_input` False.

    Args:
      a: real array.
      axis: an axis, several, or None for all.
      out, overwrite_input: must be None or False.
      keepdims: keep the reduced axes, with size 1.

    Source: NumPy, `numpy.median`.

    Example:
      >>> jnp.median(jnp.array([3.0, 1.0, 10.0]))
      Array(3., dtype=float32)
    """
    check_arraylike("median", a)
    promotion.check_out("median", out)
    if overwrite_input:
        raise ValueError("numpy.median: overwrite_input must be False")
    return _median(a, axis=static_axis(axis), keepdims=bool(keepdims))


@evaluate.fuse
def _median(a: Any, *, axis: Any, keepdims: bool) -> Any:
    return quantile(a, 0.5, axis, None, False, "midpoint", keepdims)


@direct("_quantile")
def nanmedian(
    a: ArrayLike,
    axis: Axes = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The middle of the elements that are not NaN.

    Differs from NumPy: `out` must be None and `overwrite_input` False; there is no
    warning where all are NaN.

    Args:
      a: real array.
      axis: an axis, several, or None for all.
      out, overwrite_input: must be None or False.
      keepdims: keep the reduced axes, with size 1.

    Source: NumPy, `numpy.nanmedian`.

    Example:
      >>> jnp.nanmedian(jnp.array([2.0, jnp.nan, 4.0]))
      Array(3., dtype=float32)
    """
    check_arraylike("nanmedian", a)
    return nanquantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)
