"""Averages, covariances."""

from __future__ import annotations

import operator
from typing import Any, Literal, overload

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    Axes,
    DTypeLike,
    OptionalArray,
)
from olympus._src.interpreters import evaluate
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import concatenation, shaping
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import (
    arithmetic,
    contractions,
    creation,
    elementary,
    indexing,
    manipulation,
    promotion,
    reductions,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike
from olympus._src.numpy.reductions import static_axis

# -- averages --------------------------------------------------------------------------


@overload
def average(
    a: ArrayLike,
    axis: Axes = ...,
    weights: OptionalArray = ...,
    returned: Literal[False] = ...,
    keepdims: bool = ...,
) -> Array: ...
@overload
def average(
    a: ArrayLike,
    axis: Axes = ...,
    weights: OptionalArray = ...,
    *,
    returned: Literal[True],
    keepdims: bool = ...,
) -> tuple[Array, Array]: ...
@overload
def average(
    a: ArrayLike,
    axis: Axes = ...,
    weights: OptionalArray = ...,
    returned: bool = ...,
    keepdims: bool = ...,
) -> Array | tuple[Array, Array]: ...
@direct("average", named="weights")
def average(
    a: ArrayLike,
    axis: Axes = None,
    weights: OptionalArray = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Array | tuple[Array, Array]:
    """The weighted mean of elements, over some axes or all.

    Differs from NumPy: NaN where the weights sum to zero, which NumPy refuses.

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
        if not returned:
            return reductions.mean(a, axis, keepdims=keepdims)
        return _mean_and_count(a, axis=axis, keepdims=bool(keepdims))
    check_arraylike("average", a, weights)
    options = {"returned": bool(returned), "keepdims": bool(keepdims)}
    return _average(a, weights, axis=axis, **options)


@promotion.program(1, name="average")
def _mean_and_count(a: Any, *, axis: Any, keepdims: bool) -> Any:
    mean = reductions.mean(a, axis, keepdims=keepdims)
    count = aval_of(a).size // max(aval_of(mean).size, 1)
    return mean, creation.full_like(mean, count)


@promotion.program(2, name="average")
def _average(a: Any, w: Any, *, axis: Any, returned: bool, keepdims: bool) -> Any:
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
    mean = lax.div(reductions.sum(lax.mul(a, w), axis=axis, keepdims=keepdims), total)
    return (mean, total) if returned else mean


# -- covariances -----------------------------------------------------------------------


@direct("_cov")
def cov(
    m: ArrayLike,
    y: OptionalArray = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: OptionalArray = None,
    aweights: OptionalArray = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """The covariances of variables.

    Differs from NumPy: weights below 0 are not errors, and give meaningless values.

    Args:
      m: matrix of observations: variables in rows; or a vector of one variable's.
      y: further variables.
      rowvar: False where variables are in columns.
      bias: divide by the number of observations instead of one less.
      ddof: what is subtracted from the number of observations; overrides `bias`.
      fweights: how often each observation counts, integers.
      aweights: how much each observation counts.
      dtype: dtype to compute in.

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
    _check_weights("fweights", fweights)
    _check_weights("aweights", aweights)
    operands = [v for v in (y, fweights, aweights) if v is not None]
    flags = tuple([v is not None for v in (y, fweights, aweights)])
    kind = None if dtype is None else dtypes.check_user_dtype(dtype, "cov")
    if kind is not None and dtypes.kind(kind) not in "fc":
        raise ValueError(
            f"numpy.cov: dtype must be floating or complex, got {kind}; convert the "
            "result with astype"
        )
    return _cov(
        m,
        *operands,
        flags=flags,
        rowvar=bool(rowvar),
        ddof=operator.index(ddof),
        dtype=kind,
    )


def _check_weights(what: str, weights: Any) -> None:
    """Raises unless there is a number for each observation, and a count is whole."""
    if weights is None:
        return
    aval = aval_of(weights)
    if aval.ndim != 1:
        raise RuntimeError(
            f"numpy.cov: {what} must be a vector, with a number for each observation, "
            f"got {aval.short()}"
        )
    if what == "fweights" and dtypes.kind(aval.dtype) not in "iu":
        raise TypeError(
            f"numpy.cov: fweights must be integers, got {aval.short()}; weights of "
            "another kind are aweights"
        )


def _rows(x: Any, rowvar: bool) -> Any:
    x = shaping.broadcast_to_rank(x, 2)
    return x if rowvar or aval_of(x).shape[0] == 1 else shaping.transpose(x, (1, 0))


@evaluate.fuse
def _cov(
    m: Any, *operands: Any, flags: Any, rowvar: bool, ddof: int, dtype: Any
) -> Any:
    values = iter(operands)
    y, fweights, aweights = (next(values) if f else None for f in flags)
    (x,) = (
        promotion.promote_inexact(m)
        if y is None
        else (promotion.promote_inexact(m, y)[0],)
    )
    x = _rows(x, rowvar)
    if y is not None:
        x = concatenation.concatenate(
            [x, _rows(promotion.promote_inexact(m, y)[1], rowvar)], 0
        )
    if dtype is not None:
        x = lax.convert(x, dtype, False)
    elif aweights is not None:
        x = promotion.promote_inexact(x, aweights)[0]
    real = dtypes.real_dtype(aval_of(x).dtype)
    n = aval_of(x).shape[1]
    w = None
    for extra in (fweights, aweights):
        if extra is not None:
            if aval_of(extra).shape != (n,):
                raise RuntimeError(
                    "numpy.cov: fweights and aweights must have a number for each of "
                    f"the {n} observations, got {aval_of(extra).shape[0]}"
                )
            extra = lax.convert(extra, real, False)
            w = extra if w is None else lax.mul(w, extra)
    if w is None:
        mean = reductions.mean(x, axis=1, keepdims=True)
        divisor = lax.size_value(n - ddof, real)
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
    # Without a degree of freedom nothing is known, as in NumPy: infinity or NaN.
    divisor = arithmetic.maximum(divisor, promotion.scalar(0, divisor))
    divisor = lax.convert(divisor, aval_of(total).dtype, False)
    return manipulation.squeeze(arithmetic.true_divide(total, divisor))


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


@direct("_corrcoef")
def corrcoef(
    x: ArrayLike,
    y: OptionalArray = None,
    rowvar: bool = True,
    dtype: DTypeLike | None = None,
) -> Array:
    """The correlation coefficients of variables.

    Args:
      x: matrix of observations: variables in rows; or a vector of one variable's.
      y: further variables.
      rowvar: False where variables are in columns.
      dtype: dtype to compute in.

    Source: NumPy, `numpy.corrcoef`.

    Example:
      >>> jnp.corrcoef(jnp.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).round(3)
      Array([[ 1., -1.],
             [-1.,  1.]], dtype=float32)
    """
    check_arraylike("corrcoef", x)
    promotion.check_optional("corrcoef", y)
    kind = None if dtype is None else dtypes.check_user_dtype(dtype, "corrcoef")
    operands = (x,) if y is None else (x, y)
    return _corrcoef(*operands, rowvar=bool(rowvar), dtype=kind)


@evaluate.fuse
def _corrcoef(x: Any, y: Any = None, *, rowvar: bool, dtype: Any) -> Any:
    c = cov(x, y, rowvar, dtype=dtype)
    return _normalise_covariance(c) if aval_of(c).ndim else arithmetic.true_divide(c, c)


def _normalise_covariance(c: Any) -> Any:
    """Covariances divided by what they are of equal variables."""
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
