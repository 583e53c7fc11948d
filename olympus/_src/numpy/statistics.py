"""Reductions that ignore NaN; quantiles; averages, covariances."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.interpreters import evaluate
from olympus._src.lax import elementwise as lax
from olympus._src.lax import families, joining, shaping
from olympus._src.lax import sizes as sizes_
from olympus._src.lax import sorting as lax_sorting
from olympus._src.numpy import (
    arithmetic,
    contractions,
    creation,
    elementary,
    examples,
    indexing,
    manipulation,
    promotion,
    reductions,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike
from olympus._src.numpy.reductions import static_axis

# -- averages --------------------------------------------------------------------------


def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Any:
    """The weighted mean of elements, over some axes or all.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      weights: of a's shape, or a vector along the axis; default all one.
      returned: also return the sum of weights.
      keepdims: keep the reduced axes, with size 1.

    Source: NumPy, `numpy.average`.

    Example:
      >>> jnp.average(jnp.array([1.0, 2.0]), weights=jnp.array([3.0, 1.0]))
      Array(1.25, dtype=float32)
    """
    check_arraylike("average", a)
    axis = static_axis(axis)
    if weights is None:
        mean = reductions.mean(a, axis, keepdims=keepdims)
        if not returned:
            return mean
        count = aval_of(a).size // max(aval_of(mean).size, 1)
        return mean, creation.full_like(mean, count)
    check_arraylike("average", a, weights)
    mean, total = _average(a, weights, axis=axis, keepdims=bool(keepdims))
    return (mean, total) if returned else mean


@promotion.program(2, name="average")
def _average(a: Any, w: Any, *, axis: Any, keepdims: bool) -> Any:
    a, w = promotion.promote_inexact(a, w)
    shape = aval_of(a).shape
    if aval_of(w).shape != shape:
        if axis is None or isinstance(axis, tuple):
            raise ValueError(
                "numpy.average: axis must be an integer where weights have another "
                f"shape, got {aval_of(a).short()} and {aval_of(w).short()}"
            )
        i = sizes_.canonicalize_axis(axis, len(shape), "numpy.average")
        if aval_of(w).ndim != 1 or aval_of(w).shape[0] != shape[i]:
            raise ValueError(
                "numpy.average: weights must be a vector of the axis's size, got "
                f"{aval_of(w).short()} along axis {i} of {aval_of(a).short()}"
            )
        w = shaping.broadcast_in_dim(w, shape, (i,))
    total = reductions.sum(w, axis=axis, keepdims=keepdims)
    return lax.div(
        reductions.sum(lax.mul(a, w), axis=axis, keepdims=keepdims), total
    ), total


# -- quantiles -------------------------------------------------------------------------

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


@promotion.program(2, name="quantile")
def _quantile(
    a: Any, q: Any, *, axis: Any, keepdims: bool, method: str, ignore_nan: bool
) -> Any:
    if dtypes.kind(aval_of(q).dtype) == "c":
        raise TypeError(
            f"numpy.quantile: q must be real, got {aval_of(q).short()}; take its real "
            "part"
        )
    a = promotion.strong(promotion.promote_inexact(a)[0])
    q = promotion.cast(q, aval_of(a).dtype, False)
    if dtypes.kind(aval_of(a).dtype) == "c":
        raise ValueError("numpy.quantile: arrays must be real, got complex")
    if aval_of(q).ndim > 1:
        raise ValueError(f"q must be have rank <= 1, got shape {aval_of(q).shape}")
    axes = reductions.axes_of("quantile", a, axis)
    kept_shape = [1 if i in axes else d for i, d in enumerate(aval_of(a).shape)]
    lines, n = _lines(a, axes)
    ordered = lax_sorting.sort(lines, dimension=-1)
    out = _interpolated(ordered, q, n, method, ignore_nan)
    if keepdims:
        out = shaping.reshape(out, (*aval_of(q).shape, *kept_shape))
    return out


def _lines(a: Any, axes: tuple[int, ...]) -> tuple[Any, int]:
    """The array with the reduced axes joined into one, at the end."""
    shape = aval_of(a).shape
    rest = [i for i in range(len(shape)) if i not in axes]
    n = int(np.prod([shape[i] for i in axes], dtype=np.int64))
    if not n:
        raise ValueError(
            f"numpy.quantile: arrays must have elements, got {aval_of(a).short()}"
        )
    turned = shaping.transpose(a, (*rest, *axes))
    return shaping.reshape(turned, (*[shape[i] for i in rest], n)), n


def _interpolated(x: Any, q: Any, n: int, method: str, ignore_nan: bool) -> Any:
    """Values at fractions `q` of sorted lines, q's axis first."""
    dtype = aval_of(x).dtype
    lead = aval_of(x).shape[:-1]
    q_shape = aval_of(q).shape
    full = (*q_shape, *lead)
    isnan = lax.convert(lax.ne(x, x), np.dtype(np.int32))
    bad = families.reduce_sum_p.bind(isnan, axes=(len(lead),))
    wide_bad = shaping.broadcast_in_dim(bad, full, range(len(q_shape), len(full)))
    wide_q = shaping.broadcast_in_dim(q, full, range(len(q_shape)))
    count = np.asarray(n).astype(dtype)[()]
    good = lax.sub(count, lax.convert(wide_bad, dtype)) if ignore_nan else count
    one, zero = np.asarray(1, dtype)[()], np.asarray(0, dtype)[()]
    last = lax.sub(good, one)
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
    nothing = lax.convert(wide_bad, dtype)
    edge = lax.le(good, zero) if ignore_nan else lax.gt(nothing, zero)
    edge = promotion.full_shape(edge, full)
    return lax.select(edge, families.full_like(out, np.nan), out)


def _pick(x: Any, at_: Any, lead: Any, q_shape: Any) -> Any:
    """Elements of the last axis at (floating) positions [*q, *lead]."""
    places: list[Any] = []
    rank = len(q_shape) + len(lead)
    for i, size in enumerate(lead):
        sizes = [1] * rank
        sizes[len(q_shape) + i] = size
        places.append(np.arange(size, dtype=np.int32).reshape(sizes))
    places.append(lax.convert(at_, np.dtype(np.int32)))
    return indexing.take(x, tuple(places), mode="clip")


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
    half = promotion.scalar(0.5, below)
    if method == "lower":
        return below
    if method == "higher":
        return above
    if method == "midpoint":
        return lax.mul(lax.add(below, above), half)
    if method == "nearest":
        near = lax.round(at_, lax.RoundingMethod.TO_NEAREST_EVEN)
        return _pick(x, near, lead, q_shape)
    rest = lax.sub(promotion.scalar(1, share), share)
    return lax.add(lax.mul(below, rest), lax.mul(above, share))


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
    if weights is not None:
        raise NotImplementedError(f"numpy.{name}: weights must be None")
    if method not in _METHODS:
        raise ValueError(
            f"method can only be {', '.join(map(repr, _METHODS))}; numpy.{name} got "
            f"{method!r}"
        )
    if percent:
        q = arithmetic.true_divide(q, 100)
    return _quantile(
        a,
        q,
        axis=static_axis(axis),
        keepdims=bool(keepdims),
        method=method,
        ignore_nan=ignore_nan,
    )


def _quantile_function(name: str, ignore_nan: bool, percent: bool) -> Any:
    def call(
        a: Any,
        q: Any,
        axis: Any = None,
        out: None = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: None = None,
    ) -> Any:
        if overwrite_input:
            raise ValueError(f"numpy.{name}: overwrite_input must be False")
        return _start_quantile(
            name, a, q, axis, out, method, keepdims, weights, ignore_nan, percent
        )

    call.__name__ = call.__qualname__ = name
    scale = "100" if percent else "1"
    call.__doc__ = f"""The values below which given parts of the elements lie.

    Args:
      a: real array{", whose NaN are left out" if ignore_nan else ""}.
      q: the parts, from 0 to {scale}: a number or a vector.
      axis: an axis, several, or None for all.
      out, overwrite_input, weights: must be None or False.
      method: between two elements "linear", "lower", "higher", "midpoint" or "nearest".
      keepdims: keep the reduced axes, with size 1.

    Returns:
      An array whose first axis is q's, where it has one.

    Source: NumPy, `numpy.{name}`.
{examples.of(name)}    """
    return call


quantile = _quantile_function("quantile", False, False)
nanquantile = _quantile_function("nanquantile", True, False)
nanpercentile = _quantile_function("nanpercentile", True, True)


def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: None = None,
    out_sharding: Any = None,
) -> Any:
    """The values below which given parts of the elements lie.

    Differs from NumPy: `out` must be None and `overwrite_input` False; weights are not
    taken.

    Args:
      a: real array.
      q: the parts, from 0 to 100: a number or a vector.
      axis: an axis, several, or None for all.
      out, overwrite_input, weights: must be None or False.
      method: between two elements "linear", "lower", "higher", "midpoint" or "nearest".
      keepdims: keep the reduced axes, with size 1.
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


def median(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    """The middle element, or the mean of the two in the middle.

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
    return quantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)


def nanmedian(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    """The middle of the elements that are not NaN.

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


# -- covariances -----------------------------------------------------------------------


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Any:
    """The covariances of variables.

    Args:
      m: matrix of observations: variables in rows; or a vector of one variable's.
      y: further variables.
      rowvar: False where variables are in columns.
      bias: divide by the number of observations instead of one less.
      ddof: what is taken from the number of observations; overrides `bias`.
      fweights: how often each observation counts, integers.
      aweights: how much each observation counts.
      dtype: element type of the work.

    Source: NumPy, `numpy.cov`.

    Example:
      >>> jnp.cov(jnp.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
      Array([[ 1., -1.],
             [-1.,  1.]], dtype=float32)
    """
    check_arraylike("cov", m)
    promotion.check_optional("cov", y, fweights, aweights)
    if aval_of(m).ndim > 2 or (y is not None and aval_of(y).ndim > 2):
        raise ValueError("m has more than 2 dimensions; numpy.cov takes one or two")
    if ddof is None:
        ddof = 0 if bias else 1
    given = [v for v in (y, fweights, aweights) if v is not None]
    flags = tuple([v is not None for v in (y, fweights, aweights)])
    kind = None if dtype is None else dtypes.check_user_dtype(dtype, "cov")
    if kind is not None and dtypes.kind(kind) not in "fc":
        raise ValueError(
            f"numpy.cov: dtype must be floating or complex, got {kind}; convert the "
            "result with astype"
        )
    return _cov(
        m,
        *given,
        flags=flags,
        rowvar=bool(rowvar),
        ddof=operator.index(ddof),
        dtype=kind,
    )


def _rows(x: Any, rowvar: bool) -> Any:
    x = shaping.broadcast_to_rank(x, 2)
    return x if rowvar or aval_of(x).shape[0] == 1 else shaping.transpose(x, (1, 0))


@evaluate.fuse
def _cov(m: Any, *given: Any, flags: Any, rowvar: bool, ddof: int, dtype: Any) -> Any:
    values = iter(given)
    y, fweights, aweights = (next(values) if f else None for f in flags)
    (x,) = (
        promotion.promote_inexact(m)
        if y is None
        else (promotion.promote_inexact(m, y)[0],)
    )
    x = _rows(x, rowvar)
    if y is not None:
        x = joining.concatenate(
            [x, _rows(promotion.promote_inexact(m, y)[1], rowvar)], 0
        )
    if dtype is not None:
        x = lax.convert(x, dtype, False)
    real = dtypes.real_dtype(aval_of(x).dtype)
    n = aval_of(x).shape[1]
    w = None
    for extra in (fweights, aweights):
        if extra is not None:
            extra = lax.convert(extra, real, False)
            w = extra if w is None else lax.mul(w, extra)
    if w is None:
        mean = reductions.mean(x, axis=1, keepdims=True)
        divisor = np.asarray(n - ddof, real)[()]
    else:
        mean, divisor = _weighted_center(x, w, aweights, ddof)
    gap = lax.sub(x, promotion.full_shape(mean, aval_of(x).shape))
    other = lax.conj(gap) if dtypes.kind(aval_of(gap).dtype) == "c" else gap
    left = gap
    if w is not None:
        wide = shaping.broadcast_in_dim(
            lax.convert(w, aval_of(gap).dtype), aval_of(gap).shape, (1,)
        )
        left = lax.mul(gap, wide)
    total = contractions.dot(left, manipulation.transpose(other))
    out = arithmetic.true_divide(total, divisor)
    return manipulation.squeeze(out)


def _weighted_center(x: Any, w: Any, aweights: Any, ddof: int) -> tuple[Any, Any]:
    dtype = aval_of(x).dtype
    total = reductions.sum(w)
    wide = shaping.broadcast_in_dim(lax.convert(w, dtype), aval_of(x).shape, (1,))
    mean = lax.div(
        reductions.sum(lax.mul(x, wide), axis=1, keepdims=True),
        lax.convert(total, dtype),
    )
    if ddof == 0:
        return mean, total
    lost = promotion.scalar(ddof, total)
    if aweights is not None:
        share = reductions.sum(lax.mul(w, lax.convert(aweights, aval_of(w).dtype)))
        lost = lax.mul(lost, lax.div(share, total))
    return mean, lax.sub(total, lost)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Any:
    """The correlation coefficients of variables.

    Args:
      x: matrix of observations: variables in rows; or a vector of one variable's.
      y: further variables.
      rowvar: False where variables are in columns.
      dtype: element type of the work.

    Source: NumPy, `numpy.corrcoef`.

    Example:
      >>> jnp.corrcoef(jnp.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).round(3)
      Array([[ 1., -1.],
             [-1.,  1.]], dtype=float32)
    """
    check_arraylike("corrcoef", x)
    c = cov(x, y, rowvar, dtype=dtype)
    if aval_of(c).ndim == 0:
        return arithmetic.true_divide(c, c)
    return _normalised(c)


@promotion.program(1, name="corrcoef")
def _normalised(c: Any) -> Any:
    n = aval_of(c).shape[0]
    size = elementary.sqrt(
        arithmetic.real(indexing.getitem(c, (np.arange(n), np.arange(n))))
    )
    size = lax.convert(size, aval_of(c).dtype)
    rows = shaping.broadcast_in_dim(size, (n, n), (0,))
    columns = shaping.broadcast_in_dim(size, (n, n), (1,))
    out = lax.div(lax.div(c, rows), columns)
    if dtypes.kind(aval_of(out).dtype) == "c":
        return lax.complex_(
            *[arithmetic.clip(p, -1, 1) for p in (lax.real(out), lax.imag(out))]
        )
    return arithmetic.clip(out, -1, 1)
