"""Activation functions, elementwise.

Where a formula has a kink, the derivative there is that of JAX's convention, for
example 0 for `relu` at 0; it follows from the choice of `<` or `<=` below.
"""

from __future__ import annotations

import math
from typing import Any

from olympus._src.api.custom_jvp import custom_jvp
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import concatenation, sizes, special
from olympus._src.lax import elementwise as lax
from olympus._src.numpy import arithmetic, creation, elementary, logic, promotion
from olympus._src.numpy.arithmetic import maximum, minimum
from olympus._src.numpy.promotion import program
from olympus._src.numpy.selection import where
from olympus._src.numpy.softmax_functions import check_arrays

add, divide, multiply = arithmetic.add, arithmetic.true_divide, arithmetic.multiply


def _with(name: str, x: Any, *numbers: float) -> list[Any]:
    """An argument and numbers in the dtype they promote to."""
    check_arrays(name, x)
    return promotion.promote_dtypes(x, *numbers)


def _inexact(name: str, x: Any) -> Any:
    """An argument as floats."""
    check_arrays(name, x)
    return promotion.promote_inexact(x)[0]


def _fill_like(value: Any, x: Any) -> Any:
    """A number in the shape of `x`."""
    return promotion.full_shape(value, avals.aval_of(x).shape)


# -- rectifiers ------------------------------------------------------------------------


@program(1)
def relu(x: ArrayLike) -> Array:
    """Rectified linear unit, `max(x, 0)`; its derivative at 0 is 0.

    Args:
      x: array or number.

    Returns:
      An array of x's shape and dtype.

    Example:
      >>> import numpy as np
      >>> from olympus import nn
      >>> nn.relu(np.float32([-1, 0, 2]))
      Array([0., 0., 2.], dtype=float32)
    """
    x, zero = _with("relu", x, 0)
    if dtypes.kind(avals.aval_of(x).dtype) == "c":  # ordered by their real parts
        return maximum(x, zero)
    return _rectify(x)


@custom_jvp
def _rectify(x: Any) -> Any:
    return maximum(x, promotion.scalar(0, x))


_rectify.__name__ = "relu"  # as programs show it


@_rectify.defjvp
def _relu_jvp(primals: Any, tangents: Any) -> Any:
    """The slope is 0 at the kink, and where there is no number."""
    (x,), (t,) = primals, tangents
    rising = lax.gt(x, promotion.scalar(0, x))
    return _rectify(x), lax.select(rising, t, _fill_like(promotion.scalar(0, t), t))


@program(1)
def relu6(x: ArrayLike) -> Array:
    """Rectified linear unit cut off at 6, `min(max(x, 0), 6)`.

    Args:
      x: array or number.

    Returns:
      A floating array of x's shape.

    Source: Krizhevsky, "Convolutional deep belief networks on CIFAR-10" (2010).

    Example:
      >>> from olympus import nn
      >>> nn.relu6(jnp.array([-1.0, 3.0, 9.0]))
      Array([0., 3., 6.], dtype=float32)
    """
    return _relu6(x)


def _relu6(x: Any) -> Any:
    x, _ = _with("relu6", x, 6.0)
    return _cut_off(x)


@custom_jvp
def _cut_off(x: Any) -> Any:
    return minimum(maximum(x, promotion.scalar(0, x)), promotion.scalar(6, x))


_cut_off.__name__ = "relu6"


@_cut_off.defjvp
def _relu6_jvp(primals: Any, tangents: Any) -> Any:
    """The slope is 0 at the kinks, and where there is no number."""
    (x,), (t,) = primals, tangents
    rising = lax.bitwise_and(
        lax.gt(x, promotion.scalar(0, x)), lax.lt(x, promotion.scalar(6, x))
    )
    return _cut_off(x), lax.select(rising, t, _fill_like(promotion.scalar(0, t), t))


@program(2)
def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 1e-2) -> Array:
    """`x` where it is not negative, `negative_slope * x` elsewhere.

    Args:
      x: array or number.
      negative_slope: number or array that broadcasts against `x`.

    Returns:
      A floating array.

    Example:
      >>> from olympus import nn
      >>> nn.leaky_relu(jnp.array([-100.0, 2.0]))
      Array([-1.,  2.], dtype=float32)
    """
    check_arrays("leaky_relu", x)
    return where(logic.greater_equal(x, 0), x, multiply(negative_slope, x))


@program(2)
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """Exponential linear unit: `x` where it is positive, else `alpha (exp(x) - 1)`.

    Args:
      x: array or number.
      alpha: number or array that broadcasts against `x`.

    Returns:
      A floating array.

    Source: Clevert, Unterthiner and Hochreiter, "Fast and accurate deep network
      learning by exponential linear units" (2015).

    Example:
      >>> from olympus import nn
      >>> nn.elu(jnp.array([-jnp.inf, 0.0, 2.0]))
      Array([-1.,  0.,  2.], dtype=float32)
    """
    return _elu("elu", x, alpha)


def _elu(name: str, x: Any, alpha: Any) -> Any:
    check_arrays(name, x)
    positive = logic.greater(x, 0)
    # The branch not taken must stay finite, or its derivative would spoil the other.
    below = where(positive, 0.0, x)
    return where(positive, x, multiply(alpha, elementary.expm1(below)))


@program(2)
def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """Continuously differentiable ELU: `max(x, 0) + alpha (exp(min(x, 0)/alpha) - 1)`.

    Args:
      x: array or number.
      alpha: number or array that broadcasts against `x`.

    Returns:
      A floating array.

    Source: Barron, "Continuously differentiable exponential linear units" (2017).

    Example:
      >>> from olympus import nn
      >>> nn.celu(jnp.array([-jnp.inf, 0.0, 2.0]))
      Array([-1.,  0.,  2.], dtype=float32)
    """
    check_arrays("celu", x)
    below = elementary.expm1(divide(minimum(x, 0.0), alpha))
    return add(maximum(x, 0.0), multiply(alpha, below))


_SELU_ALPHA = 1.6732632423543772
_SELU_SCALE = 1.0507009873554805


@program(1)
def selu(x: ArrayLike) -> Array:
    """Scaled ELU, which keeps the mean and variance of normal activations.

    Args:
      x: array or number.

    Returns:
      A floating array of x's shape.

    Source: Klambauer, Unterthiner, Mayr and Hochreiter, "Self-normalizing neural
      networks" (2017).

    Example:
      >>> from olympus import nn
      >>> nn.selu(jnp.array([0.0]))
      Array([0.], dtype=float32)
    """
    return multiply(_SELU_SCALE, _elu("selu", x, _SELU_ALPHA))


# -- by the logistic function ----------------------------------------------------------


@program(1)
def sigmoid(x: ArrayLike) -> Array:
    """Logistic function, `1 / (1 + exp(-x))`.

    Args:
      x: array or number, floating or complex.

    Returns:
      An array of x's shape and dtype.

    Raises:
      TypeError: `x` is of integers or booleans.

    Example:
      >>> from olympus import nn
      >>> nn.sigmoid(jnp.array([-jnp.inf, 0.0, jnp.inf]))
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    check_arrays("sigmoid", x)
    return lax.logistic(x)


@program(1)
def silu(x: ArrayLike) -> Array:
    """Sigmoid-weighted linear unit, `x sigmoid(x)`; also called swish.

    Args:
      x: array or number, floating or complex.

    Returns:
      An array of x's shape and dtype.

    Raises:
      TypeError: `x` is of integers or booleans.

    Source: Elfwing, Uchibe and Doya, "Sigmoid-weighted linear units" (2017).

    Example:
      >>> from olympus import nn
      >>> nn.silu(jnp.array([0.0, 100.0]))
      Array([  0., 100.], dtype=float32)
    """
    check_arrays("silu", x)
    return lax.mul(x, lax.logistic(x))


@program(1)
def softplus(x: ArrayLike) -> Array:
    """`log(1 + exp(x))`, a smooth rectifier.

    Args:
      x: array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus import nn
      >>> nn.softplus(jnp.array([-jnp.inf, 100.0]))
      Array([  0., 100.], dtype=float32)
    """
    check_arrays("softplus", x)
    return elementary.logaddexp(x, 0)


@program(1)
def log_sigmoid(x: ArrayLike) -> Array:
    """Logarithm of the logistic function.

    Args:
      x: array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus import nn
      >>> nn.log_sigmoid(jnp.array([-100.0, jnp.inf]))
      Array([-100.,   -0.], dtype=float32)
    """
    check_arrays("log_sigmoid", x)
    return lax.neg(elementary.logaddexp(lax.neg(x), 0))


@program(1)
def mish(x: ArrayLike) -> Array:
    """`x tanh(softplus(x))`.

    Args:
      x: array or number.

    Returns:
      A floating array of x's shape.

    Source: Misra, "Mish: a self regularized non-monotonic activation function" (2019).

    Example:
      >>> from olympus import nn
      >>> nn.mish(jnp.array([0.0, 100.0]))
      Array([  0., 100.], dtype=float32)
    """
    check_arrays("mish", x)
    return multiply(x, lax.tanh(elementary.logaddexp(x, 0)))


@direct("glu")
def glu(x: ArrayLike, axis: int = -1) -> Array:
    """Gated linear unit: one half of the array times the sigmoid of the other.

    Args:
      x: array; its axis has an even size.
      axis: the axis that is halved.

    Returns:
      A floating array with half the size along the axis.

    Raises:
      TypeError: `x` is of integers or booleans.
      ValueError: the size is odd.

    Source: Dauphin, Fan, Auli and Grangier, "Language modeling with gated convolutional
      networks" (2016).

    Example:
      >>> from olympus import nn
      >>> nn.glu(jnp.array([3.0, 0.0]))
      Array([1.5], dtype=float32)
    """
    check_arrays("glu", x)
    aval = avals.aval_of(x)
    axis = sizes.canonicalize_axis(axis, aval.ndim, "nn.glu")
    if aval.shape[axis] % 2:
        raise ValueError(
            f"nn.glu: the axis must have an even size, got {aval.short()} and axis "
            f"{axis}; choose another axis, or pad"
        )
    return _glu(x, axis=axis)


@program(1, name="glu")
def _glu(x: Any, axis: int) -> Any:
    half = avals.aval_of(x).shape[axis] // 2
    first = concatenation.slice_in_dim(x, 0, half, axis=axis)
    gate = concatenation.slice_in_dim(x, half, 2 * half, axis=axis)
    return lax.mul(first, lax.logistic(gate))


# -- by other smooth functions ---------------------------------------------------------

_CUBIC = 0.044715


def gelu(x: ArrayLike, approximate: bool = True) -> Array:
    """Gaussian error linear unit: `x` times the normal distribution function of x.

    Args:
      x: array or number.
      approximate: whether to use tanh in place of the error function.

    Returns:
      A floating array of x's shape.

    Source: Hendrycks and Gimpel, "Gaussian error linear units" (2016).

    Example:
      >>> from olympus import nn
      >>> nn.gelu(jnp.array([-100.0, 0.0, 100.0]))
      Array([ -0.,   0., 100.], dtype=float32)
    """
    return _gelu(x, approximate=bool(approximate))


@program(1, name="gelu")
def _gelu(x: Any, approximate: bool) -> Any:
    x = _inexact("gelu", x)
    dtype = avals.aval_of(x).dtype
    x = lax.convert(x, dtype)
    n = dtype.type
    if not approximate:
        tail = special.erfc(lax.mul(lax.neg(x), n(math.sqrt(0.5))))
        return lax.mul(lax.mul(n(0.5), x), tail)
    inner = lax.add(x, lax.mul(n(_CUBIC), lax.integer_pow(x, 3)))
    bent = lax.tanh(lax.mul(n(math.sqrt(2 / math.pi)), inner))
    return lax.mul(x, lax.mul(n(0.5), lax.add(n(1), bent)))


@program(1)
def tanh(x: ArrayLike, /) -> Array:
    """Hyperbolic tangent.

    Args:
      x: array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus import nn
      >>> nn.tanh(jnp.array([0.0, jnp.inf]))
      Array([0., 1.], dtype=float32)
    """
    return lax.tanh(_inexact("tanh", x))


@program(1)
def soft_sign(x: ArrayLike) -> Array:
    """`x / (|x| + 1)`.

    Args:
      x: array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus import nn
      >>> nn.soft_sign(jnp.array([-1.0, 3.0]))
      Array([-0.5 ,  0.75], dtype=float32)
    """
    check_arrays("soft_sign", x)
    return divide(x, add(arithmetic.absolute(x), 1))


@program(2)
def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Array:
    """`(x + sqrt(x^2 + b)) / 2`, a smooth rectifier without exponentials.

    Args:
      x: array or number.
      b: smoothness; number or array that broadcasts against `x`.

    Returns:
      A floating array.

    Source: Barron, "Squareplus: a softplus-like algebraic rectifier" (2021).

    Example:
      >>> from olympus import nn
      >>> nn.squareplus(jnp.array([0.0]), b=4.0)
      Array([1.], dtype=float32)
    """
    check_arrays("squareplus", x, b)
    check_arrays("squareplus", b)
    root = elementary.sqrt(add(arithmetic.square(x), b))
    return divide(add(x, root), 2)


# -- in pieces -------------------------------------------------------------------------


@program(1)
def hard_tanh(x: ArrayLike) -> Array:
    """`x` limited to the range from -1 to 1.

    Args:
      x: array or number.

    Returns:
      An array of x's shape and dtype.

    Example:
      >>> from olympus import nn
      >>> nn.hard_tanh(jnp.array([-4.0, 0.5, 4.0]))
      Array([-1. ,  0.5,  1. ], dtype=float32)
    """
    check_arrays("hard_tanh", x)
    if dtypes.kind(dtypes.dtype_of(x)) == "u":  # nothing is below -1
        return minimum(x, 1)
    x, low, high = _with("hard_tanh", x, -1, 1)
    raised = lax.select(logic.less(x, low), _fill_like(low, x), x)
    return lax.select(logic.greater(x, high), _fill_like(high, x), raised)


@program(1)
def hard_sigmoid(x: ArrayLike) -> Array:
    """`relu6(x + 3) / 6`, a sigmoid in straight pieces.

    Args:
      x: array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus import nn
      >>> nn.hard_sigmoid(jnp.array([-4.0, 0.0, 4.0]))
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    check_arrays("hard_sigmoid", x)
    return divide(_relu6(add(x, 3.0)), 6.0)


@program(1)
def hard_silu(x: ArrayLike) -> Array:
    """`x hard_sigmoid(x)`; also called hard swish.

    Args:
      x: array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus import nn
      >>> nn.hard_silu(jnp.array([-4.0, 0.0, 4.0]))
      Array([-0.,  0.,  4.], dtype=float32)
    """
    check_arrays("hard_silu", x)
    return multiply(x, divide(_relu6(add(x, 3.0)), 6.0))


@program(1)
def sparse_plus(x: ArrayLike) -> Array:
    """0 up to -1, `(x + 1)^2 / 4` up to 1, then `x`.

    Args:
      x: array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus import nn
      >>> nn.sparse_plus(jnp.array([-2.0, 0.0, 2.0]))
      Array([0.  , 0.25, 2.  ], dtype=float32)
    """
    x, zero, low, high, four = _with("sparse_plus", x, 0.0, -1.0, 1.0, 4.0)
    curve = lax.div(lax.square(lax.add(x, high)), four)
    upper = lax.select(logic.greater_equal(x, high), x, curve)
    return lax.select(logic.less_equal(x, low), _fill_like(zero, x), upper)


@program(1)
def sparse_sigmoid(x: ArrayLike) -> Array:
    """`(x + 1) / 2` limited to the range from 0 to 1: the derivative of `sparse_plus`.

    Args:
      x: array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus import nn
      >>> nn.sparse_sigmoid(jnp.array([-2.0, 0.0, 2.0]))
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    check_arrays("sparse_sigmoid", x)
    return multiply(0.5, arithmetic.clip(add(x, 1.0), 0.0, 2.0))


def identity(x: ArrayLike) -> Array:
    """The argument as an array.

    Args:
      x: array or number.

    Returns:
      An array of x's shape and dtype.

    Example:
      >>> from olympus import nn
      >>> nn.identity(jnp.array([1, 2]))
      Array([1, 2], dtype=int32)
    """
    check_arrays("identity", x)
    return creation.asarray(x)


@program(1)
def log1mexp(x: ArrayLike) -> Array:
    """`log(1 - exp(-x))`, exact for small and for large x.

    Args:
      x: array or number, not negative.

    Returns:
      A floating array of x's shape; NaN where `x` is negative.

    Source: Mächler, "Accurately computing log(1 - exp(-|a|))" (2012).

    Example:
      >>> from olympus import nn
      >>> nn.log1mexp(jnp.array([jnp.inf]))
      Array([-0.], dtype=float32)
    """
    x = _inexact("log1mexp", x)
    near = logic.less(x, promotion.scalar(math.log(2), x))
    # Each branch sees only arguments where its derivative is finite too.
    small = lax.select(near, x, _fill_like(promotion.scalar(0.5, x), x))
    large = lax.select(near, _fill_like(promotion.scalar(1, x), x), x)
    return lax.select(
        near,
        lax.log(lax.neg(lax.expm1(lax.neg(small)))),
        lax.log1p(lax.neg(lax.exp(lax.neg(large)))),
    )
