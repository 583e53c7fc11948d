"""Softmax and logarithms of sums over all axes, unless one is chosen."""

from __future__ import annotations

from typing import Literal, overload

from olympus._src.core.array_type import Array, ArrayLike, Axes, OptionalArray
from olympus._src.numpy import softmax_functions
from olympus._src.scipy.special.arguments import check


def softmax(x: ArrayLike, /, *, axis: Axes = None) -> Array:
    """Exponentials divided by their sum: positive numbers that add up to 1.

    Args:
      x: array or number.
      axis: the axis or axes summed over; None for all.

    Returns:
      A floating array of x's shape.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import special
      >>> print(special.softmax(np.float32([0, 0])))
      [0.5 0.5]
    """
    check("softmax", x)
    return softmax_functions.softmax(x, axis)


def log_softmax(x: ArrayLike, /, *, axis: Axes = None) -> Array:
    """Logarithm of `softmax`, exact where that is close to 0.

    Args:
      x: array or number.
      axis: the axis or axes summed over; None for all.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.log_softmax(jnp.array([0.0, -jnp.inf]))
      Array([  0., -inf], dtype=float32)
    """
    check("log_softmax", x)
    return softmax_functions.log_softmax(x, axis)


@overload
def logsumexp(
    a: ArrayLike,
    axis: Axes = ...,
    b: OptionalArray = ...,
    keepdims: bool = ...,
    return_sign: Literal[False] = ...,
    where: OptionalArray = ...,
) -> Array: ...
@overload
def logsumexp(
    a: ArrayLike,
    axis: Axes = ...,
    b: OptionalArray = ...,
    keepdims: bool = ...,
    *,
    return_sign: Literal[True],
    where: OptionalArray = ...,
) -> tuple[Array, Array]: ...
@overload
def logsumexp(
    a: ArrayLike,
    axis: Axes = ...,
    b: OptionalArray = ...,
    keepdims: bool = ...,
    return_sign: bool = ...,
    where: OptionalArray = ...,
) -> Array | tuple[Array, Array]: ...
def logsumexp(
    a: ArrayLike,
    axis: Axes = None,
    b: OptionalArray = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: OptionalArray = None,
) -> Array | tuple[Array, Array]:
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

    Example:
      >>> from olympus.scipy import special
      >>> special.logsumexp(jnp.array([-jnp.inf, 1.0]))
      Array(1., dtype=float32)
    """
    check("logsumexp", a, *[x for x in (b, where) if x is not None])
    return softmax_functions.logsumexp(a, axis, b, keepdims, return_sign, where)
