"""Softmax and its kin, standardization, one-hot codes."""

from __future__ import annotations

import math
import operator
from typing import Any

from olympus._src.core import avals, dtypes
from olympus._src.interpreters import evaluate
from olympus._src.lax import barriers, shaping, sizes
from olympus._src.lax import elementwise as lax
from olympus._src.nn.arguments import check_arrays
from olympus._src.numpy import arithmetic, elementary, logic, promotion, reductions
from olympus._src.numpy.selection import where as choose

multiply, subtract = arithmetic.multiply, arithmetic.subtract


def _axes(axis: Any) -> Any:
    """An axis, a tuple of them or None, hashable."""
    if axis is None:
        return None
    if isinstance(axis, (tuple, list)):
        return tuple([operator.index(a) for a in axis])
    return operator.index(axis)


def _given(*arrays: Any) -> tuple[tuple[Any, ...], tuple[bool, ...]]:
    """The arrays that are not None, and which of them are there."""
    return (
        tuple([x for x in arrays if x is not None]),
        tuple([x is not None for x in arrays]),
    )


def _spread(given: Any, flags: Any) -> list[Any]:
    """Undoes `_given`."""
    found = iter(given)
    return [next(found) if there else None for there in flags]


# -- softmax ---------------------------------------------------------------------------


def softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """Exponentials divided by their sum: positive numbers that add up to 1.

    Args:
      x: array or number.
      axis: the axis or axes summed over; None for all.
      where: mask of the elements that take part; the others get 0.

    Returns:
      A floating array of x's shape.

    Example:
      >>> import numpy as np
      >>> from olympus import nn
      >>> nn.softmax(np.float32([0, 0]))
      Array([0.5, 0.5], dtype=float32)
    """
    check_arrays("softmax", x, where)
    given, flags = _given(x, where)
    return _softmax(*given, axis=_axes(axis), flags=flags)


@evaluate.fuse
def _softmax(*given: Any, axis: Any, flags: Any) -> Any:
    x, where = _spread(given, flags)
    shifted = _shifted(x, axis, where)
    powers = elementary.exp(shifted)
    out = lax.div(
        *_alike(powers, reductions.sum(powers, axis, None, None, True, where=where))
    )
    return out if where is None else choose(where, out, 0)


def _alike(x: Any, y: Any) -> list[Any]:
    return list(promotion.promote_args("nn.softmax", x, y))


def _shifted(x: Any, axis: Any, where: Any) -> Any:
    """`x` less its largest element, which keeps exponentials from overflowing.

    The largest element is a constant for derivatives: it cancels out.
    """
    (x,) = promotion.promote_inexact(x)
    if not avals.aval_of(x).size:
        return x
    still = barriers.stop_gradient(x)
    largest = reductions.max(still, axis, None, True, initial=-math.inf, where=where)
    safe = x if where is None else choose(where, x, -math.inf)
    return subtract(safe, largest)


def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """Logarithm of `softmax`, exact where that is close to 0.

    Args:
      x: array or number.
      axis: the axis or axes summed over; None for all.
      where: mask of the elements that take part; the others get -inf.

    Returns:
      A floating array of x's shape.
    """
    check_arrays("log_softmax", x, where)
    given, flags = _given(x, where)
    return _log_softmax(*given, axis=_axes(axis), flags=flags)


@evaluate.fuse
def _log_softmax(*given: Any, axis: Any, flags: Any) -> Any:
    x, where = _spread(given, flags)
    shifted = _shifted(x, axis, where)
    total = reductions.sum(elementary.exp(shifted), axis, None, None, True, where=where)
    out = subtract(shifted, elementary.log(total))
    return out if where is None else choose(where, out, -math.inf)


# -- sums of exponentials --------------------------------------------------------------


def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """Logarithm of a sum of exponentials, `log(sum(b exp(a)))`, without overflow.

    Args:
      a: array or number.
      axis: the axis or axes summed over; None for all.
      b: factors of the exponentials; may be negative.
      keepdims: keep the axes, with size 1.
      return_sign: return the logarithm of the magnitude of the sum, and its sign.
      where: mask of the elements that take part.

    Returns:
      A floating array, or two of them. Without `return_sign` negative sums are NaN.

    Source: SciPy, `scipy.special.logsumexp`.
    """
    check_arrays("logsumexp", a, b, where)
    given, flags = _given(a, b, where)
    return _logsumexp(
        *given,
        axis=_axes(axis),
        keepdims=bool(keepdims),
        return_sign=bool(return_sign),
        flags=flags,
    )


@evaluate.fuse
def _logsumexp(
    *given: Any, axis: Any, keepdims: bool, return_sign: bool, flags: Any
) -> Any:
    a, b, where = _spread(given, flags)
    if b is None:
        (a,) = promotion.promote_inexact(a)
    else:
        a, b = promotion.promote_args_inexact("nn.logsumexp", a, b)
        a = choose(logic.not_equal(b, 0), a, -math.inf)
    top = _finite_top(a, axis, where)
    powers = elementary.exp(subtract(a, top))
    if b is not None:
        powers = multiply(powers, b)
    total = reductions.sum(powers, axis, None, None, keepdims, where=where)
    sign = arithmetic.sign(total)
    is_complex = dtypes.kind(avals.aval_of(total).dtype) == "c"
    if return_sign or not is_complex:
        total = arithmetic.absolute(total)
    top = top if keepdims else shaping.reshape(top, avals.aval_of(total).shape)
    out = arithmetic.add(elementary.log(total), top)
    if return_sign:
        return out, sign
    if b is not None and not is_complex:
        out = choose(logic.less(sign, 0), math.nan, out)
    return out


def _finite_top(a: Any, axis: Any, where: Any) -> Any:
    """The largest element as a constant, or 0 where that is infinite."""
    real = arithmetic.real(a)
    top = reductions.max(real, axis, None, True, initial=-math.inf, where=where)
    return barriers.stop_gradient(choose(logic.isfinite(top), top, 0))


def logmeanexp(
    x: Any, axis: Any = None, where: Any = None, keepdims: bool = False
) -> Any:
    """Logarithm of a mean of exponentials, `log(mean(exp(x)))`, without overflow.

    Args:
      x: array or number.
      axis: the axis or axes averaged over; None for all.
      where: mask of the elements that take part.
      keepdims: keep the axes, with size 1.

    Returns:
      A floating array.
    """
    total = logsumexp(x, axis, keepdims=keepdims, where=where)
    shape = avals.aval_of(x).shape
    mask = promotion.full_shape(True, shape) if where is None else where
    if avals.aval_of(mask).shape != shape:
        mask = promotion.full_shape(mask, shape)
    count = reductions.sum(mask, axis, None, None, keepdims)
    return subtract(total, elementary.log(count))


# -- standardization -------------------------------------------------------------------


def standardize(
    x: Any,
    axis: Any = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 1e-5,
    where: Any = None,
    *,
    algorithm: str = "fast",
) -> Any:
    """Elements less their mean, divided by their standard deviation.

    Args:
      x: array or number.
      axis: the axis or axes that mean and variance are taken over.
      mean: used in place of the elements' own.
      variance: used in place of the elements' own.
      epsilon: added to the variance, so that it is not 0.
      where: mask of the elements that mean and variance are taken of.
      algorithm: how the variance is computed: 'fast' from the mean square, 'stable'
        from the squares of the differences.

    Returns:
      A floating array.

    Raises:
      ValueError: the algorithm is unknown.
    """
    if algorithm not in ("fast", "stable"):
        raise ValueError(
            f"nn.standardize: Unknown algorithm {algorithm!r}. Expected 'fast' or "
            "'stable'."
        )
    check_arrays("standardize", x, mean, variance, epsilon, where)
    given, flags = _given(x, mean, variance, epsilon, where)
    stable = algorithm == "stable"
    return _standardize(*given, axis=_axes(axis), stable=stable, flags=flags)


@evaluate.fuse
def _standardize(*given: Any, axis: Any, stable: bool, flags: Any) -> Any:
    x, mean, variance, epsilon, where = _spread(given, flags)
    (x,) = promotion.promote_inexact(x)
    if mean is None:
        mean = reductions.mean(x, axis, None, None, True, where=where)
    if variance is None:
        variance = _variance(x, axis, mean, where, stable)
    centered = subtract(x, mean)
    scale = lax.rsqrt(arithmetic.add(variance, epsilon))
    return multiply(centered, scale)


def _variance(x: Any, axis: Any, mean: Any, where: Any, stable: bool) -> Any:
    if stable:
        squares = _square(subtract(x, mean))
        return reductions.mean(squares, axis, None, None, True, where=where)
    # One pass over the data: mean and mean square need not wait for each other.
    mean_square = reductions.mean(_square(x), axis, None, None, True, where=where)
    return subtract(mean_square, _square(mean))


def _square(x: Any) -> Any:
    if dtypes.kind(avals.aval_of(x).dtype) != "c":
        return arithmetic.square(x)
    return arithmetic.add(
        arithmetic.square(arithmetic.real(x)), arithmetic.square(arithmetic.imag(x))
    )


# -- one-hot codes ---------------------------------------------------------------------


def one_hot(
    x: Any,
    num_classes: int,
    *,
    dtype: Any = None,
    axis: int = -1,
    out_sharding: Any = None,
) -> Any:
    """Vectors of zeros with a 1 at the given positions.

    Args:
      x: array of positions; one outside the range gives a vector of zeros.
      num_classes: size of the vectors.
      dtype: of the result; default the default float.
      axis: where the new axis goes.
      out_sharding: None.

    Returns:
      An array of x's shape with one more axis.

    Raises:
      ValueError: there is no such axis.
      TypeError: `num_classes` is no integer, or is traced.

    Example:
      >>> import numpy as np
      >>> from olympus import nn
      >>> nn.one_hot(np.array([0, 2]), 3)
      Array([[1., 0., 0.],
             [0., 0., 1.]], dtype=float32)
    """
    check_arrays("one_hot", x)
    if out_sharding is not None:
        raise NotImplementedError(
            f"nn.one_hot: out_sharding is not supported, got {out_sharding!r}; move "
            "the result with olympus.device_put"
        )
    dtype = dtypes.check_user_dtype(float if dtype is None else dtype, "nn.one_hot")
    rank = avals.aval_of(x).ndim + 1
    axis = sizes.canonicalize_axis(axis, rank, "nn.one_hot")
    (count,) = sizes.canonicalize_shape((num_classes,), "nn.one_hot")
    return _one_hot(x, count=count, axis=axis, dtype=dtype)


@evaluate.fuse
def _one_hot(x: Any, *, count: int, axis: int, dtype: Any) -> Any:
    aval = avals.aval_of(x)
    shape = (*aval.shape[:axis], count, *aval.shape[axis:])
    kept = tuple([i for i in range(len(shape)) if i != axis])
    positions = shaping.broadcast_in_dim(x, shape, kept)
    classes = shaping.broadcasted_iota(aval.dtype, shape, axis)
    return lax.convert(lax.eq(positions, classes), dtype)
