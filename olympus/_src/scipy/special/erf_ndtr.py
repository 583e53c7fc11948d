"""Error functions and the normal distribution's."""

from __future__ import annotations

import math
from typing import Any

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import special
from olympus._src.numpy import arithmetic, elementary
from olympus._src.numpy.promotion import program
from olympus._src.numpy.selection import where
from olympus._src.scipy.checks import as_array
from olympus._src.scipy.special.arguments import (
    custom_jvp_of_arrays,
    floats,
    ratio,
    reals,
    wide,
)

exp, log, log1p = elementary.exp, elementary.log, elementary.log1p
minimum, maximum = arithmetic.minimum, arithmetic.maximum

_ROOT_TWO = math.sqrt(2)
_ROOT_PI = math.sqrt(math.pi)


# -- error functions -------------------------------------------------------------------


@program(1)
def erf(x: ArrayLike) -> Array:
    """Error function: `2 / sqrt(pi)` times the integral of `exp(-t^2)` from 0 to x.

    Differs from SciPy: complex numbers are refused.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.erf(0.0))
      0.0
    """
    return special.erf(*reals("erf", x))


@program(1)
def erfc(x: ArrayLike) -> Array:
    """One minus the error function, exact where that is close to 1.

    Differs from SciPy: complex numbers are refused.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.erfc(jnp.array([0.0, jnp.inf]))
      Array([1., 0.], dtype=float32)
    """
    return special.erfc(*reals("erfc", x))


@program(1)
def erfinv(x: ArrayLike) -> Array:
    """Inverse of the error function.

    Args:
      x: real array or number; from -1 to 1, NaN results elsewhere.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.erfinv(jnp.array([0.0, 1.0]))
      Array([ 0., inf], dtype=float32)
    """
    return special.erf_inv(*reals("erfinv", x))


@program(1)
def erfcinv(y: ArrayLike) -> Array:
    """Inverse of `erfc`, exact for small y.

    Args:
      y: real array or number; from 0 to 2, NaN results elsewhere.

    Returns:
      A floating array of y's shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.erfcinv(jnp.array([1.0, 0.0]))
      Array([-0., inf], dtype=float32)
    """
    return wide(_erfcinv)(*floats("erfcinv", y))


@custom_jvp_of_arrays
def _erfcinv(y: Any) -> Any:
    return _ndtri(y / 2) / -_ROOT_TWO


_erfcinv.defjvps(
    lambda t, out, y: t * _ndtri_slope(out * -_ROOT_TWO, y / 2) / (-2 * _ROOT_TWO)
)

# W. J. Cody, "Rational Chebyshev approximations for the error function", Math. Comp. 23
# (1969), 631-637: exp(x^2) erfc(x) for x from 0.46875 to 4, and from there
# 1/sqrt(pi) - x exp(x^2) erfc(x) in 1/x^2.
_MIDDLE = (
    (
        2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594,
        6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2,
        1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3,
    ),
    (
        1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
        1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3,
        3.43936767414372164e3, 1.23033935480374942e3,
    ),
)  # fmt: skip
_TAIL = (
    (
        1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
        1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4,
    ),
    (
        1.0, 2.56852019228982242, 1.87295284992346725, 5.27905102951428412e-1,
        6.05183413124413191e-2, 2.33520497626869185e-3,
    ),
)  # fmt: skip


def _tail(x: Any) -> Any:
    """`1/sqrt(pi) - x erfcx(x)` for x of 4 or more."""
    inverse = 1 / (x * x)
    return inverse * ratio(inverse, *_TAIL)


def _square_exp(x: Any) -> Any:
    """`exp(x^2)`; the square is split, since its rounding error would be magnified."""
    head = arithmetic.trunc(x * 16) / 16
    return exp(head * head) * exp((x - head) * (x + head))


@custom_jvp_of_arrays
def scaled_erfc(x: Any) -> Any:
    """`exp(x^2) erfc(x)` of a real array."""
    size = abs(x)
    small = minimum(size, 0.46875)
    near = exp(small * small) * special.erfc(small)
    middle = ratio(arithmetic.clip(size, 0.46875, 4), *_MIDDLE)
    large = maximum(size, 4)
    far = (1 / _ROOT_PI - _tail(large)) / large
    out = where(size < 0.46875, near, where(size < 4, middle, far))
    low = maximum(minimum(x, 0), -30)
    return where(x < 0, 2 * _square_exp(low) - out, out)


def _scaled_erfc_slope(out: Any, x: Any) -> Any:
    """`2 x out - 2 / sqrt(pi)`, whose terms cancel for large x."""
    # Not by maximum and minimum, which halve the slope of this at 4.
    is_near = x < 4
    far = -2 * _tail(where(is_near, 4, x))
    return where(is_near, 2 * where(is_near, x, 4) * out - 2 / _ROOT_PI, far)


scaled_erfc.defjvps(lambda t, out, x: t * _scaled_erfc_slope(out, x))


# -- the normal distribution -----------------------------------------------------------


@program(1)
def ndtr(x: ArrayLike) -> Array:
    """Distribution function of the standard normal distribution.

    Differs from SciPy: complex numbers are refused.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.ndtr(0.0))
      0.5
    """
    return wide(_ndtr)(*reals("ndtr", as_array(x), weak=False))


def _ndtr(x: Any) -> Any:
    return 0.5 * special.erfc(x * -math.sqrt(0.5))


# M. J. Wichura, "Algorithm AS 241: the percentage points of the normal distribution",
# Applied Statistics 37 (1988), 477-484, in double precision: the middle, and tails in
# the root of the logarithm of the probability, below and above 5.
_CENTER = (
    (
        2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
        4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
        1.3314166789178437745e2, 3.3871328727963666080,
    ),
    (
        5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
        2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
        4.2313330701600911252e1, 1.0,
    ),
)  # fmt: skip
_SIDE = (
    (
        7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
        1.27045825245236838258, 3.64784832476320460504, 5.76949722146069140550,
        4.63033784615654529590, 1.42343711074968357734,
    ),
    (
        1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
        1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940,
        2.05319162663775882187, 1.0,
    ),
)  # fmt: skip
_END = (
    (
        2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
        2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580,
        5.46378491116411436990, 6.65790464350110377720,
    ),
    (
        2.04426310338993978e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
        7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
        5.99832206555887937690e-1, 1.0,
    ),
)  # fmt: skip


@program(1)
def ndtri(p: ArrayLike) -> Array:
    """Inverse of `ndtr`: the point below which the probability is p.

    Args:
      p: real array or number; from 0 to 1, NaN results elsewhere.

    Returns:
      A floating array of p's shape.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.ndtri(0.5))
      0.0
    """
    return wide(_ndtri)(*reals("ndtri", p, weak=False))


@custom_jvp_of_arrays
def _ndtri(p: Any) -> Any:
    q = p - 0.5
    is_middle = abs(q) <= 0.425
    q_middle = where(is_middle, q, 0)
    middle = q_middle * ratio(0.180625 - q_middle * q_middle, *_CENTER)
    tail = minimum(p, 1 - p)
    is_tail = (tail > 0) & ~is_middle
    root = elementary.sqrt(-log(where(is_tail, tail, 0.05)))
    side = ratio(minimum(root, 5) - 1.6, *_SIDE)
    end = ratio(maximum(root, 5) - 5, *_END)
    size = where(tail == 0, math.inf, where(root <= 5, side, end))
    outside = ~((p >= 0) & (p <= 1))
    out = where(is_middle, middle, where(q < 0, -size, size))
    return where(outside, math.nan, out)


def _ndtri_slope(out: Any, p: Any) -> Any:
    """One by the density at `out`, which the tail's probability gives more exactly.

    The rounding of `out` would be magnified by its square.
    """
    tail = minimum(p, 1 - p)
    is_tail = (tail > 0) & (tail < 0.075)
    size = where(is_tail, abs(out), 1)
    by_tail = scaled_erfc(size / _ROOT_TWO) / where(is_tail, tail, 1)
    by_density = 2 * exp(where(is_tail, 0, out * out / 2))
    return math.sqrt(math.pi / 2) * where(is_tail, by_tail, by_density)


_ndtri.defjvps(lambda t, out, p: t * _ndtri_slope(out, p))


@program(1)
def log_ndtr(x: ArrayLike, series_order: int = 3) -> Array:
    """Logarithm of `ndtr`, exact in both tails.

    Differs from SciPy: complex numbers are refused; `series_order` has no
    effect.

    Args:
      x: real array or number.
      series_order: from 0 to 30; the number of terms of a series for the lower tail
        in implementations that use one. Here the tail is exact for all.

    Returns:
      A floating array of x's shape.

    Raises:
      TypeError: `series_order` is not an integer.
      ValueError: `series_order` is not from 0 to 30.

    Example:
      >>> from olympus.scipy import special
      >>> print(f"{special.log_ndtr(-1000.0):.0f}")
      -500008
    """
    if not isinstance(series_order, int):
        raise TypeError(
            "scipy.special.log_ndtr: series_order must be a Python integer, got "
            f"{type(series_order)}; pass an int from 0 to 30"
        )
    if not 0 <= series_order <= 30:
        bound = "non-negative" if series_order < 0 else "<= 30"
        raise ValueError(
            f"scipy.special.log_ndtr: series_order must be {bound}, got "
            f"{series_order}; pass an int from 0 to 30"
        )
    return wide(_log_ndtr)(*reals("log_ndtr", as_array(x), weak=False))


@custom_jvp_of_arrays
def _log_ndtr(x: Any) -> Any:
    high = log1p(-_ndtr(-maximum(x, -1)))
    low = minimum(x, -1)
    tail = log(scaled_erfc(low * -math.sqrt(0.5)) / 2) - low * low / 2
    return where(x < -1, tail, high)


def _log_ndtr_slope(x: Any) -> Any:
    """The density over the distribution function."""
    # Not by maximum and minimum, which halve the slope of this at 0.
    is_low = x < 0
    above = where(is_low, 0, x)
    high = exp(above * above / -2) / _ndtr(above) / math.sqrt(2 * math.pi)
    low = math.sqrt(2 / math.pi) / scaled_erfc(where(is_low, x, 0) * -math.sqrt(0.5))
    return where(is_low, low, high)


_log_ndtr.defjvps(lambda t, out, x: t * _log_ndtr_slope(x))
