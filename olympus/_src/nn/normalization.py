"""Means of exponentials, standardization, one-hot codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    Axes,
    DTypeLike,
    OptionalArray,
    Placement,
)
from olympus._src.interpreters import evaluate
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import elementwise as lax
from olympus._src.lax import shaping, sizes
from olympus._src.numpy import (
    arithmetic,
    creation,
    elementary,
    promotion,
    reductions,
)
from olympus._src.numpy.softmax_functions import (
    axes_of,
    check_arrays,
    logsumexp,
    pack_optional,
    spread_arrays,
)

multiply, subtract = arithmetic.multiply, arithmetic.subtract


@direct("_logmeanexp")
def logmeanexp(
    x: ArrayLike,
    axis: Axes = None,
    where: OptionalArray = None,
    keepdims: bool = False,
) -> Array:
    """Logarithm of a mean of exponentials, `log(mean(exp(x)))`, without overflow.

    Args:
      x: array or number.
      axis: the axis or axes averaged over; None for all.
      where: mask of the elements that take part.
      keepdims: keep the axes, with size 1.

    Returns:
      A floating array.

    Example:
      >>> from olympus import nn
      >>> nn.logmeanexp(jnp.array([1.0, 1.0]))
      Array(1., dtype=float32)
    """
    operands, flags = pack_optional(x, where)
    options = {"axis": axes_of(axis), "keepdims": bool(keepdims), "flags": flags}
    return _logmeanexp(*operands, **options)


@evaluate.fuse
def _logmeanexp(*operands: Any, axis: Any, keepdims: bool, flags: Any) -> Any:
    x, where = spread_arrays(operands, flags)
    total = logsumexp(x, axis, keepdims=keepdims, where=where)
    shape = avals.aval_of(x).shape
    mask = promotion.full_shape(True, shape) if where is None else where
    if avals.aval_of(mask).shape != shape:
        mask = promotion.full_shape(mask, shape)
    count = reductions.sum(mask, axis, None, None, keepdims)
    dtype = dtypes.real_dtype(avals.aval_of(total).dtype)
    return subtract(total, lax.convert(elementary.log(count), dtype))


# -- standardization -------------------------------------------------------------------


@direct("_standardize")
def standardize(
    x: ArrayLike,
    axis: Axes = -1,
    mean: OptionalArray = None,
    variance: OptionalArray = None,
    epsilon: ArrayLike = 1e-5,
    where: OptionalArray = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """Elements minus their mean, divided by their standard deviation.

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

    Example:
      >>> from olympus import nn
      >>> nn.standardize(jnp.array([1.0, 3.0]), epsilon=0.0)
      Array([-1.,  1.], dtype=float32)
    """
    if algorithm not in ("fast", "stable"):
        raise ValueError(
            f"nn.standardize: Unknown algorithm {algorithm!r}. Expected 'fast' or "
            "'stable'."
        )
    check_arrays("standardize", x, mean, variance, epsilon, where)
    # A number is part of the program: it is the same in all calls.
    known = epsilon if type(epsilon) in (int, float) else None
    array = epsilon if known is None else None
    operands, flags = pack_optional(x, mean, variance, array, where)
    options = {"stable": algorithm == "stable", "epsilon": known, "flags": flags}
    return _standardize(*operands, axis=axes_of(axis), **options)


@evaluate.fuse
def _standardize(
    *operands: Any, axis: Any, stable: bool, epsilon: Any, flags: Any
) -> Any:
    x, mean, variance, array, where = spread_arrays(operands, flags)
    epsilon = array if epsilon is None else epsilon
    if mean is None or variance is None:
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
    # Rounding may make the difference negative, and so may a mean that was given.
    return arithmetic.clip(subtract(mean_square, _square(mean)), 0)


def _square(x: Any) -> Any:
    if dtypes.kind(avals.aval_of(x).dtype) != "c":
        return arithmetic.square(x)
    return arithmetic.add(
        arithmetic.square(arithmetic.real(x)), arithmetic.square(arithmetic.imag(x))
    )


# -- one-hot codes ---------------------------------------------------------------------


@promotion.divides_result("nn.one_hot")
def one_hot(
    x: ArrayLike | Sequence[ArrayLike],
    num_classes: int,
    *,
    dtype: DTypeLike | None = None,
    axis: int = -1,
    out_sharding: Placement = None,
) -> Array:
    """Vectors of zeros with a 1 at the given positions.

    Args:
      x: array or list of positions; one outside the range gives a vector of zeros.
      num_classes: size of the vectors.
      dtype: of the result; default the default float.
      axis: where the new axis goes.
      out_sharding: how the result is divided over a mesh.

    Returns:
      An array of x's shape with one more axis.

    Raises:
      ValueError: there is no such axis.
      TypeError: `num_classes` is not an integer, is negative, or is traced.

    Example:
      >>> import numpy as np
      >>> from olympus import nn
      >>> nn.one_hot(np.array([0, 2]), 3)
      Array([[1., 0., 0.],
             [0., 0., 1.]], dtype=float32)
    """
    if not avals.is_array_like(x) and not isinstance(x, str):
        x = creation.asarray(x)
    check_arrays("one_hot", x)
    dtype = dtypes.check_user_dtype(float if dtype is None else dtype, "nn.one_hot")
    rank = avals.aval_of(x).ndim + 1
    axis = sizes.canonicalize_axis(axis, rank, "nn.one_hot")
    dtype_given = getattr(num_classes, "dtype", None)
    if dtype_given is not None and dtypes.kind(dtype_given) not in "iu":
        raise TypeError(
            f"nn.one_hot: num_classes must be an integer, got {num_classes!r}; it is "
            "the size of the vectors"
        )
    (count,) = sizes.canonicalize_shape((num_classes,), "nn.one_hot")
    if type(count) is int and count < 0:
        raise TypeError(
            f"nn.one_hot: num_classes must not be negative, got {count}; 0 gives "
            "vectors without elements"
        )
    return _one_hot(x, count=count, axis=axis, dtype=dtype)


@evaluate.fuse
def _one_hot(x: Any, *, count: int, axis: int, dtype: Any) -> Any:
    aval = avals.aval_of(x)
    shape = (*aval.shape[:axis], count, *aval.shape[axis:])
    axes = tuple([i for i in range(len(shape)) if i != axis])
    positions = shaping.broadcast_in_dim(x, shape, axes)
    wanted = aval.dtype  # of 64 bits too where they are off, which `iota` narrows
    classes = shaping.broadcasted_iota(dtypes.canonicalize_dtype(wanted), shape, axis)
    return lax.convert(lax.eq(positions, lax.convert(classes, wanted)), dtype)
