"""Logarithms times numbers, entropies, the logit and the Box-Cox transform."""

from __future__ import annotations

import math
from typing import Any

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.numpy import elementary, logic
from olympus._src.numpy.promotion import program, strong_with_axes
from olympus._src.numpy.selection import where
from olympus._src.scipy.special.arguments import (
    custom_jvp_of_arrays,
    floats,
    inexact,
    polynomial,
    wide,
)

exp, log, log1p = elementary.exp, elementary.log, elementary.log1p


# -- products with logarithms ----------------------------------------------------------


@program(2)
def xlogy(x: ArrayLike, y: ArrayLike) -> Array:
    """`x log(y)`, which is 0 where x is 0.

    Args:
      x: array or number.
      y: array or number.

    Returns:
      A floating or complex array of the common shape.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import special
      >>> print(special.xlogy(np.float32([0, 2]), np.float32([0, 1])))
      [0. 0.]
    """
    return _xlogy(*inexact("xlogy", x, y))


@custom_jvp_of_arrays
def _xlogy(x: Any, y: Any) -> Any:
    vanishes = (x == 0) & ~logic.isnan(y)
    return where(vanishes, 0, x * log(where(vanishes, 1, y)))


_xlogy.defjvps(
    lambda t, out, x, y: t * log(y),
    lambda t, out, x, y: t * (x / y),
)


@program(2)
def xlog1py(x: ArrayLike, y: ArrayLike) -> Array:
    """`x log(1 + y)`, exact for small y, and 0 where x is 0.

    Args:
      x: array or number.
      y: array or number.

    Returns:
      A floating or complex array of the common shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.xlog1py(jnp.array([0.0, 2.0]), jnp.array([-1.0, 0.0]))
      Array([0., 0.], dtype=float32)
    """
    return _xlog1py(*inexact("xlog1py", x, y))


@custom_jvp_of_arrays
def _xlog1py(x: Any, y: Any) -> Any:
    vanishes = (x == 0) & ~logic.isnan(y)
    return where(vanishes, 0, x * log1p(where(vanishes, 0, y)))


_xlog1py.defjvps(
    lambda t, out, x, y: t * log1p(y),
    lambda t, out, x, y: t * (x / (1 + y)),
)


# -- entropies -------------------------------------------------------------------------


@program(1)
def entr(x: ArrayLike) -> Array:
    """Entropy of a probability, `-x log(x)`; 0 at 0 and -inf below.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.

    Raises:
      ValueError: x is complex.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.entr(1.0))
      -0.0
    """
    return _entr(*floats("entr", x))


@custom_jvp_of_arrays
def _entr(x: Any) -> Any:
    return where(x < 0, -math.inf, -_xlogy(x, x))


_entr.defjvps(lambda t, out, x: t * (-1 - log(x)))


@program(2)
def rel_entr(p: ArrayLike, q: ArrayLike) -> Array:
    """Relative entropy of a pair of probabilities, `p log(p / q)`.

    Args:
      p: real array or number.
      q: real array or number.

    Returns:
      A floating array of the common shape: 0 where p is 0 and q is not negative,
      infinite elsewhere unless both are positive.

    Raises:
      ValueError: an argument is complex.

    Example:
      >>> from olympus.scipy import special
      >>> special.rel_entr(jnp.array([0.0, 1.0]), jnp.array([2.0, 1.0]))
      Array([0., 0.], dtype=float32)
    """
    p, q = floats("rel_entr", p, q)
    return strong_with_axes(wide(_rel_entr)(p, q))


# atanh(v) = v + v^3 (1/3 + v^2/5 + ...), highest power first; up to v = 1/3.
_ARTANH = [1 / (2 * k + 3) for k in reversed(range(16))]


def _close(p: Any, q: Any) -> tuple[Any, Any]:
    """Whether p / q is from 1/2 to 2, and `v = (p - q) / (p + q)` there, else 0.

    The difference is exact there, and `log(p / q)` is `2 atanh(v)`: the logarithm of
    the quotient would lose the digits that p and q share.
    """
    total = p + q
    close = (3 * abs(p - q) <= total) & (total < math.inf)
    return close, where(close, p - q, 0) / where(close, total, 1)


def _rel_entr(p: Any, q: Any, shifted: bool = False) -> Any:
    """`p log(p / q)`, `shifted` by q - p."""
    unknown = logic.isnan(p) | logic.isnan(q)
    usual = ((p > 0) & (q > 0)) | unknown
    top, bottom = where(usual, p, 1), where(usual, q, 1)
    quotient = top / bottom
    # The quotient can overflow or vanish where its logarithm is far from that.
    safe = (quotient > 1e-30) & (quotient < 1e30)
    logs = where(safe, log(where(safe, quotient, 1)), log(top) - log(bottom))
    close, v = _close(top, bottom)
    square = v * v
    cube = v * square * polynomial(square, _ARTANH)
    if shifted:
        out = top * logs - top + bottom
        near = (top + bottom) * (square + (1 + v) * cube)
        outside = where((p == 0) & (q >= 0), q, math.inf)
    else:
        out, near = top * logs, 2 * top * (v + cube)
        outside = where((p == 0) & (q >= 0), 0, math.inf)
    return where(usual, where(close, near, out), outside)


@program(2)
def kl_div(p: ArrayLike, q: ArrayLike) -> Array:
    """Term of the Kullback-Leibler divergence, `p log(p / q) - p + q`.

    Args:
      p: real array or number.
      q: real array or number.

    Returns:
      A floating array of the common shape; infinite where `rel_entr` is.

    Raises:
      ValueError: an argument is complex.

    Example:
      >>> from olympus.scipy import special
      >>> special.kl_div(jnp.array([0.0, 1.0]), jnp.array([2.0, 1.0]))
      Array([2., 0.], dtype=float32)
    """
    p, q = floats("kl_div", p, q)
    return strong_with_axes(_rel_entr(p, q, shifted=True))


# -- logit and its inverse -------------------------------------------------------------


@program(1)
def expit(x: ArrayLike) -> Array:
    """Logistic function, `1 / (1 + exp(-x))`.

    Differs from SciPy: complex numbers are accepted, too.

    Args:
      x: array or number.

    Returns:
      A floating or complex array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.expit(0.0))
      0.5
    """
    (x,) = inexact("expit", x)
    return lax.logistic(x)


@program(1)
def logit(x: ArrayLike) -> Array:
    """Logarithm of the odds, `log(x / (1 - x))`.

    Differs from SciPy: complex numbers are accepted, too.

    Args:
      x: array or number.

    Returns:
      A floating or complex array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.logit(jnp.array([0.0, 0.5, 1.0]))
      Array([-inf,   0.,  inf], dtype=float32)
    """
    return strong_with_axes(_logit(*inexact("logit", x)))


@custom_jvp_of_arrays
def _logit(x: Any) -> Any:
    # Near 1/2 the odds are close to 1, where their logarithm loses digits.
    gap = 2 * (x - 0.5)
    is_near = abs(gap) < 0.5
    near = where(is_near, gap, 0)
    return where(is_near, log1p(near) - log1p(-near), log(x / (1 - x)))


_logit.defjvps(lambda t, out, x: t / (x * (1 - x)))


# -- powers as transforms --------------------------------------------------------------


@program(2)
def boxcox(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """Box-Cox transform, `(x^lmbda - 1) / lmbda`, or `log(x)` where lmbda is 0.

    Differs from SciPy: complex numbers are accepted, too.

    Args:
      x: array or number.
      lmbda: array or number.

    Returns:
      A floating or complex array of the common shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.boxcox(jnp.array([3.0]), 2.0)
      Array([4.], dtype=float32)
    """
    x, power = inexact("boxcox", x, lmbda)
    return _power_of_log(log(x), power)


@program(2)
def boxcox1p(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """Box-Cox transform of 1 + x, exact for small x.

    Differs from SciPy: complex numbers are accepted, too.

    Args:
      x: array or number.
      lmbda: array or number.

    Returns:
      A floating or complex array of the common shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.boxcox1p(jnp.array([2.0]), 2.0)
      Array([4.], dtype=float32)
    """
    x, power = inexact("boxcox1p", x, lmbda)
    return _power_of_log(log1p(x), power)


@custom_jvp_of_arrays
def _power_of_log(log_x: Any, power: Any) -> Any:
    is_zero = power == 0
    safe = where(is_zero, 1, power)
    return where(is_zero, log_x, elementary.expm1(safe * log_x) / safe)


# (exp(u) (u - 1) + 1) / u^2, the slope of (exp(u) - 1) / u, as a power series.
_SLOPE = [1 / (math.factorial(k) * (k + 2)) for k in reversed(range(19))]


def _slope_in_power(out: Any, log_x: Any, power: Any) -> Any:
    u = log_x * power
    is_small = abs(u) < 1
    small = log_x * log_x * polynomial(where(is_small, u, 0), _SLOPE)
    safe = where(is_small, 1, power)
    return where(is_small, small, (_times_exp(log_x, u) - out) / safe)


def _times_exp(x: Any, u: Any) -> Any:
    """`x exp(u)`, which is 0 where the exponential is."""
    factor = exp(u)
    return where(factor == 0, 0, where(factor == 0, 0, x) * factor)


_power_of_log.defjvps(
    lambda t, out, log_x, power: t * exp(power * log_x),
    lambda t, out, log_x, power: t * _slope_in_power(out, log_x, power),
)
