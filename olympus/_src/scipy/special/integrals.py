"""Exponential, sine and cosine integrals, the dilogarithm, Owen's T."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from olympus._src.control_flow.loops import fori_loop
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.lax import special
from olympus._src.numerics import converging_loop
from olympus._src.numpy import arithmetic, elementary, logic
from olympus._src.numpy.promotion import program
from olympus._src.numpy.selection import where
from olympus._src.scipy.checks import as_array
from olympus._src.scipy.special.arguments import (
    custom_jvp_of_arrays,
    default_floats,
    epsilon,
    floats,
    polynomial,
    reals,
    wide,
)

minimum, maximum = arithmetic.minimum, arithmetic.maximum
exp, log = elementary.exp, elementary.log

_EULER = 0.57721566490153286061


# -- exponential integrals -------------------------------------------------------------


def _power_sum(n: Any, state: Any, operands: Any) -> Any:
    """Adds `x^n / (n n!)`."""
    total, power = state
    (x,) = operands
    power = power * x / n
    term = power / n
    return (total + term, power), abs(term) > abs(total) * (epsilon(x) / 4)


def _entire(x: Any) -> Any:
    """The sum over n from 1 of `x^n / (n n!)`."""
    return converging_loop.iterate(_power_sum, (x * 0, x * 0 + 1), (x,))[0]


def _evaluate_fraction(n: Any, x: Any, steps: int) -> Any:
    """`exp(x)` times the exponential integral of order n, by its even fraction.

    Abramowitz, Stegun 5.1.22; a number of steps that suffices for float64 from x = 1.
    """

    def body(i: Any, tail: Any) -> Any:
        k = lax.convert(steps - i, avals.aval_of(x).dtype)
        return k * (n - 1 + k) / (x + n + 2 * k - tail)

    return 1 / (x + n - fori_loop(0, steps, body, x * 0))


@custom_jvp_of_arrays
def _expi(x: Any) -> Any:
    size = abs(x)
    moderate = arithmetic.clip(x, -1, 40)
    # log(0) at 0, which is right.
    series = _EULER + log(arithmetic.clip(size, 0, 40)) + _entire(moderate)
    series = where(x == 0, -math.inf, series)
    large = maximum(x, 40)
    inverse = 1 / large
    terms = [1.0]
    for k in range(1, 40):
        terms.append(terms[-1] * k / 40)  # scaled, so that float32 holds them
    high = exp(large) * inverse * polynomial(40 * inverse, terms[::-1])
    high = where(x == math.inf, x, high)
    low = minimum(x, -1)
    below = -exp(low) * _evaluate_fraction(1, -low, 90)
    below = where(x == -math.inf, 0, below)
    out = where(x < -1, below, where(x > 40, high, series))
    return where(logic.isnan(x), x, out)


_expi.defjvps(lambda t, out, x: t * (exp(x) / x))


@program(1)
def expi(x: ArrayLike) -> Array:
    """Exponential integral Ei: the integral of `exp(t) / t` from -infinity to x.

    Differs from SciPy: complex numbers are refused.

    Args:
      x: real array or number; the principal value is taken above 0.

    Returns:
      A floating array of x's shape.

    Raises:
      ValueError: x is complex.

    Example:
      >>> from olympus.scipy import special
      >>> print(f"{special.expi(1.0):.4f}")
      1.8951
    """
    return wide(_expi)(*floats("expi", x, weak=False))


@program(1)
def exp1(x: ArrayLike) -> Array:
    """Exponential integral E1: the integral of `exp(-t) / t` from x to infinity.

    Differs from SciPy: complex numbers are refused.

    Args:
      x: real array or number; NaN results below 0.

    Returns:
      A floating array of x's shape.

    Raises:
      ValueError: x is complex.

    Example:
      >>> from olympus.scipy import special
      >>> print(f"{special.exp1(1.0):.4f}")
      0.2194
    """
    (x,) = floats("exp1", x, weak=False)
    is_low = x < 0
    safe = where(is_low, 1, x)
    return where(is_low, math.nan, -wide(_expi)(-safe))


def _order_sum(k: Any, state: Any, operands: Any) -> Any:
    """Adds `(-x)^k / ((n - 1 - k) k!)`, where k is not n - 1."""
    total, power = state
    n, x = operands
    power = power * -x / k
    gap = n - 1 - k
    term = where(gap == 0, 0, power / where(gap == 0, 1, gap))
    unfinished = (abs(power) > abs(total) * (epsilon(x) / 4)) | (k < n)
    return (total + term, power), unfinished & (power != 0)


@custom_jvp_of_arrays
def _expn(n: Any, x: Any) -> Any:
    near = arithmetic.clip(x, 0, 1)
    low = maximum(n, 1)
    first = where(low == 1, 0, 1 / where(low == 1, 1, low - 1))
    total = converging_loop.iterate(_order_sum, (first, near * 0 + 1), (low, near))[0]
    size = log(near) * (low - 1) - special.lgamma(low)
    sign = where(arithmetic.remainder(low, 2) == 1, 1, -1)
    pole = sign * where(near == 0, 0, exp(where(near == 0, 0, size)))
    jump = special.digamma(low) - log(where(near == 0, 1, near))
    series = total + pole * jump
    at_zero = where(low > 1, first, math.inf)
    series = where(x == 0, at_zero, series)
    large = maximum(x, 1)
    finite = where(large == math.inf, 1, large)
    far = where(large == math.inf, 0, exp(-large) * _evaluate_fraction(low, finite, 90))
    out = where(x <= 1, series, far)
    out = where(n == 0, exp(-x) / x, out)
    bad = (n < 0) | (arithmetic.floor(n) != n) | ~(x >= 0)
    return where(bad, math.nan, out)


_expn.defjvps(
    None,
    # The order below 0 is exp(-x) (1 + x) / x^2.
    lambda t, out, n, x: (
        t
        * where(
            n == 0, -exp(-x) * (1 + x) / (x * x), -_expn(where(n == 0, 1, n - 1), x)
        )
    ),
)


@program(2)
def expn(n: ArrayLike, x: ArrayLike) -> Array:
    """Generalized exponential integral: of `exp(-x t) / t^n` from 1 to infinity.

    Args:
      n: array or number, nonnegative integers; not differentiated.
      x: real array or number, not negative.

    Returns:
      A floating array of the common shape; NaN for other arguments.

    Raises:
      ValueError: an argument is complex.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.expn(2, 0.0))
      1.0
    """
    return wide(_expn)(*floats("expn", *map(as_array, (n, x)), weak=False))


# -- sine and cosine integrals ---------------------------------------------------------


def _compute_coefficients(first: int) -> list[float]:
    """Coefficients in -x^2 of the sum over x^k / (k k!), k = first, first + 2, ..."""
    powers = range(first + 30, first - 1, -2)
    return [1 / (k * math.factorial(k)) for k in powers]


_ODD, _EVEN = _compute_coefficients(1), _compute_coefficients(2)


@custom_jvp_of_arrays
def _sici(x: Any) -> tuple[Any, Any]:
    size = abs(x)
    near = minimum(size, 4)
    negative = -near * near
    near_sine = near * polynomial(negative, _ODD)
    near_cosine = _EULER + log(near) + negative * polynomial(negative, _EVEN)
    # The exponential integral of ix is -Ci(x) + i (Si(x) - pi/2).
    far = arithmetic.clip(size, 4, 1e30)
    scaled = _evaluate_fraction(1, lax.complex_(far * 0, far), 60)
    real, imag = lax.real(scaled), lax.imag(scaled)
    sine, cosine = elementary.sin(far), elementary.cos(far)
    far_sine = math.pi / 2 + imag * cosine - real * sine
    far_cosine = -(real * cosine + imag * sine)
    # There is nothing but the leading terms, whatever the size.
    beyond = where(size > 1e30, size, 1)
    wave = elementary.sin(where(size == math.inf, 0, beyond)) / beyond
    far_cosine = where(size > 1e30, wave, far_cosine)
    unbounded = size == math.inf
    far_sine = where(unbounded, math.pi / 2, far_sine)
    far_cosine = where(unbounded, 0, far_cosine)
    out_sine = where(size < 4, near_sine, far_sine)
    out_cosine = where(size < 4, near_cosine, far_cosine)
    unknown = logic.isnan(x)
    # At -infinity the cosine integral has no real limit.
    return (
        where(unknown, x, arithmetic.copysign(out_sine, x)),
        where(unknown | (x == -math.inf), math.nan, out_cosine),
    )


@_sici.defjvp
def _sici_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    is_zero = x == 0
    # Small, so that the quotient is 1 even where XLA decides once more otherwise.
    safe = where(is_zero, math.sqrt(float(dtypes.finfo(avals.aval_of(x).dtype).eps)), x)
    sine = where(is_zero, 1, elementary.sin(safe) / safe)
    return _sici(x), (t * sine, t * (elementary.cos(x) / x))


@program(1)
def sici(x: ArrayLike) -> tuple[Array, Array]:
    """Sine integral and cosine integral.

    Differs from SciPy: complex numbers are refused.

    Args:
      x: real array or number.

    Returns:
      Two floating arrays of x's shape: the integral of `sin(t) / t` from 0 to x, and
      Euler's constant plus `log(|x|)` plus that of `(cos(t) - 1) / t`.

    Raises:
      ValueError: x is complex.

    Example:
      >>> from olympus.scipy import special
      >>> special.sici(jnp.array([0.0]))
      (Array([0.], dtype=float32), Array([-inf], dtype=float32))
    """
    return wide(_sici)(*floats("sici", x, weak=False))


# -- the dilogarithm -------------------------------------------------------------------


@functools.cache
def _dilogarithm() -> tuple[float, ...]:
    """Bernoulli numbers B_2k / (2k + 1)! in u^2, highest first."""
    numbers = [Fraction(1)]
    for m in range(1, 25):
        total = sum((math.comb(m + 1, j) * numbers[j] for j in range(m)), Fraction(0))
        numbers.append(-total / (m + 1))
    return tuple(
        float(numbers[k] / math.factorial(k + 1)) for k in reversed(range(0, 25, 2))
    )


@custom_jvp_of_arrays
def _spence(x: Any) -> Any:
    inverted = x > 2
    y = where(inverted, 1 / where(inverted, x, 1), x)
    reflected = y < 0.5
    z = where(reflected, 1 - y, y)
    # Li2(1 - z) with u = -log(z): the sum of B_k u^(k + 1) / (k + 1)!.
    u = -elementary.log1p(z - 1)
    u = where(reflected, -elementary.log1p(-where(reflected, y, 0)), u)
    out = u * polynomial(u * u, _dilogarithm()) - u * u / 4
    cross = where(y == 0, 0, log(where(y == 0, 1, y)) * u)
    out = where(reflected, math.pi**2 / 6 + cross - out, out)
    size = log(where(inverted, x, 1))
    out = where(inverted, -out - size * size / 2, out)
    return where(x < 0, math.nan, out)


def _spence_slope(x: Any) -> Any:
    gap = x - 1
    # The derivatives of the quotient have few digits close to 1, and none at 1.
    is_close = abs(gap) < 0.1
    safe = where(is_close, 1, gap)
    series = polynomial(-where(is_close, gap, 0), _LOGARITHM)
    return where(is_close, series, -elementary.log1p(safe) / safe)


# Of -log(1 - u) / u.
_LOGARITHM = [-1 / k for k in range(20, 0, -1)]


_spence.defjvps(lambda t, out, x: t * _spence_slope(x))


@program(1)
def spence(x: ArrayLike) -> Array:
    """Spence's function: the integral of `log(t) / (1 - t)` from 1 to x.

    Differs from SciPy: complex numbers are refused.

    Args:
      x: real array or number; NaN results below 0.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> print(f"{special.spence(0.0):.4f}")
      1.6449
    """
    return wide(_spence)(*reals("spence", as_array(x), weak=False))


# -- Owen's T --------------------------------------------------------------------------


@functools.cache
def _gauss() -> tuple[tuple[float, float], ...]:
    """Nodes and weights of Gauss's rule from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(28)
    return tuple(zip((nodes + 1) / 2, weights / 2, strict=True))


_FAR = 1e4  # where the tail of the normal distribution is 0 in all dtypes


def _owens_integral(h: Any, a: Any) -> Any:
    """The defining integral, for a from 0 to 1; it ends where nothing is left of it."""
    end = minimum(a, 9 / maximum(h, 1))
    total: Any = 0
    for node, weight in _gauss():
        t = end * float(node)
        place = h * t
        total = total + float(weight) * exp(-0.5 * (place * place)) / (1 + t * t)
    return total * end * exp(-0.5 * h * h) / (2 * math.pi)


def _bell(x: Any) -> Any:
    """exp(-x^2 / 2), whose square does not overflow."""
    return exp(-0.5 * minimum(abs(x), _FAR) ** 2)


def _product_or_zero(a: Any, h: Any) -> Any:
    """`a h`, and 0 where h is, for an infinite slope too."""
    return where((h == 0) & logic.isinf(a), 0, a) * h


@custom_jvp_of_arrays
def _owens_t(h: Any, a: Any) -> Any:
    h, size = abs(h), abs(a)
    # Nothing is above infinity; an infinite slope leaves half of what is above h.
    beyond, upright = h == math.inf, size == math.inf
    h, size = where(beyond, 0, h), where(upright, 1, size)
    # Far from 0 nothing is left, and squares would overflow.
    h = minimum(h, _FAR)
    steep = size > 1
    product = minimum(h * where(steep, size, 1), _FAR)
    inner = _owens_integral(
        where(steep, product, h), where(steep, 1 / where(steep, size, 1), size)
    )
    # T(h, a) + T(ah, 1/a) in upper tails of the normal distribution.
    p = 0.5 * special.erfc(h * math.sqrt(0.5))
    q = 0.5 * special.erfc(product * math.sqrt(0.5))
    out = where(steep, 0.5 * (p + q) - p * q - inner, inner)
    out = where(upright, 0.5 * p, out)
    return arithmetic.copysign(where(beyond & ~logic.isnan(a), 0, out), a)


_owens_t.defjvps(
    lambda t, out, h, a: (
        t
        * (
            special.erf(_product_or_zero(a, h) * math.sqrt(0.5))
            * _bell(h)
            * (-0.5 / math.sqrt(2 * math.pi))
        )
    ),
    lambda t, out, h, a: (
        t * (_bell(h) * _bell(_product_or_zero(a, h)) / (1 + a * a) / (2 * math.pi))
    ),
)


@program(2)
def owens_t(h: ArrayLike, a: ArrayLike) -> Array:
    """Owen's T: the probability that X > h and 0 < Y < a X, both standard normal.

    Args:
      h: real array or number.
      a: real array or number.

    Returns:
      A floating array of the common shape.

    Raises:
      ValueError: an argument is complex.

    Example:
      >>> from olympus.scipy import special
      >>> print(f"{special.owens_t(0.0, 1.0):.4f}")
      0.1250
    """
    h, a = floats("owens_t", h, a, weak=False)
    return _owens_t(*default_floats(h, a))
