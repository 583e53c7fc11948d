"""Quotients and products of gamma functions: beta, binomials; incomplete integrals."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import special
from olympus._src.numerics import betainc as incomplete_beta
from olympus._src.numerics import gamma_terms, igamma
from olympus._src.numpy import arithmetic, creation, elementary
from olympus._src.numpy.promotion import program
from olympus._src.numpy.selection import where
from olympus._src.scipy.special.arguments import (
    custom_jvp_of_arrays,
    floats,
    is_double,
    polynomial,
    reals,
    wide,
)
from olympus._src.scipy.special.gamma import gammasgn, positive_gamma, real_gamma

exp, log, log1p = elementary.exp, elementary.log, elementary.log1p
floor = arithmetic.floor
minimum, maximum = arithmetic.minimum, arithmetic.maximum
lgamma, digamma = special.lgamma, special.digamma


# -- beta functions --------------------------------------------------------------------


@program(2)
def betaln(a: ArrayLike, b: ArrayLike) -> Array:
    """Logarithm of the magnitude of the beta function.

    Args:
      a: real array or number.
      b: real array or number.

    Returns:
      A floating array of the common shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.betaln(jnp.array([1.0]), jnp.array([1.0]))
      Array([0.], dtype=float32)
    """
    return wide(_betaln)(*reals("betaln", a, b))


@custom_jvp_of_arrays
def _betaln(a: Any, b: Any) -> Any:
    small, large = minimum(a, b), maximum(a, b)
    plain = lgamma(small) + lgamma(large) - lgamma(small + large)
    is_far = large >= 10
    safe = where(is_far, large, 10)
    first = where(is_far, small, 1)
    usual = lgamma(first) + _log_fall(first, safe)
    both = (small >= 10) & is_far
    large_pair = _both_large(where(both, small, 10), safe)
    out = where(both, large_pair, where(is_far & (small > 0), usual, plain))
    return where((small == 0) & (large > 0), math.inf, out)


def _correction(x: Any) -> Any:
    """Stirling's correction to the logarithm of the gamma function, for x of 10 on."""
    inverse = 1 / x
    return inverse * polynomial(inverse * inverse, gamma_terms.STIRLING[::-1])


def _log_fall(a: Any, b: Any) -> Any:
    """`lgamma(b) - lgamma(a + b)` for large b, whose leading terms cancel."""
    both = a + b
    lead = (b - 0.5) * log1p(a / b) + a * (log(both) - 1)
    return _correction(b) - _correction(both) - lead


def _both_large(a: Any, b: Any) -> Any:
    """The logarithm for a up to b, both large (DiDonato, Morris 1992)."""
    share = a / b
    lead = (a - 0.5) * log(share / (1 + share)) - b * log1p(share)
    correction = _correction(a) + _correction(b) - _correction(a + b)
    return lead - 0.5 * log(b) + 0.5 * math.log(2 * math.pi) + correction


def _two_quotient(n: Any, d: Any) -> tuple[Any, Any]:
    """`n / d` rounded, and by what share of itself the rounding changed it."""
    q = n / d
    # q * d exactly, as a sum of two (T. J. Dekker, 1971).
    (qh, ql), (dh, dl) = _halves(q), _halves(d)
    product = q * d
    tail = ((qh * dh - product) + qh * dl + ql * dh) + ql * dl
    return q, ((n - product) - tail) / n


def _halves(x: Any) -> tuple[Any, Any]:
    """A number as a sum of two of half as many digits."""
    moved = x * (2.0**27 + 1 if is_double(x) else 2.0**12 + 1)
    high = moved - (moved - x)
    return high, x - high


def _beta_of_large(a: Any, b: Any) -> Any:
    """The beta function for a up to b, both from 10 on, by powers.

    The exponential of its logarithm would lose as many digits as that has before the
    point. The sum of a and b is rounded, too.
    """
    both = a + b
    lost = (a - (both - (both - a))) + (b - (both - a))
    (p, in_p), (q, in_q) = _two_quotient(a, both), _two_quotient(b, both)
    powers = arithmetic.power(p, a / 2) * arithmetic.power(q, b / 2)
    mended = 0.5 * (a * in_p + b * in_q - lost)
    correction = exp(_correction(a) + _correction(b) - _correction(both))
    lead = elementary.sqrt(2 * math.pi * (1 / a + 1 / b)) * correction
    return powers * (1 + mended) * lead * (powers * (1 + mended))


def _digamma_fall(a: Any, b: Any) -> Any:
    """`digamma(b) - digamma(a + b)`, whose leading terms cancel for small a.

    For positive numbers it is the difference ten steps on (Abramowitz, Stegun 6.3.6,
    6.3.18), and what the steps add: all of it has one sign.
    """
    usual = (a > 0) & (b > 0)
    first, low = where(usual, a, 1), where(usual, b, 1)
    total = 0
    for k in range(10):
        total = total + first / (first + low + k) / (low + k)
    low = low + 10
    high = first + low
    gap = first / high / low
    total = total + log1p(first / low) + gap / 2
    # The series' divided difference, by Horner's rule, times that of its arguments.
    slope, value = 0, _IN_DIGAMMA[-1]
    for c in (*reversed(_IN_DIGAMMA[:-1]), 0):
        slope, value = slope / (low * low) + value, value / (high * high) + c
    total = total + slope * gap * (1 / low + 1 / high)
    return where(usual, -total, digamma(b) - digamma(a + b))


# B_2n / 2n for n = 1, 2, ..., exact to float64 from 10 on.
_IN_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)

_betaln.defjvps(
    lambda t, out, a, b: t * _digamma_fall(b, a),
    lambda t, out, a, b: t * _digamma_fall(a, b),
)


@program(2)
def beta(a: ArrayLike, b: ArrayLike) -> Array:
    """Beta function, `gamma(a) gamma(b) / gamma(a + b)`.

    Args:
      a: real array or number.
      b: real array or number.

    Returns:
      A floating array of the common shape.

    Raises:
      ValueError: an argument is complex.

    Example:
      >>> from olympus.scipy import special
      >>> special.beta(jnp.array([1.0]), jnp.array([2.0]))
      Array([0.49999997], dtype=float32)
    """
    return wide(_beta)(*floats("beta", a, b, weak=False))


@custom_jvp_of_arrays
def _beta(a: Any, b: Any) -> Any:
    low, high = minimum(a, b), maximum(a, b)
    direct = (low >= 0.5) & (high < 15)
    x, y = where(direct, low, 1), where(direct, high, 1)
    near = positive_gamma(x) / positive_gamma(x + y) * positive_gamma(y)
    sign = gammasgn(a) * gammasgn(b) * gammasgn(a + b)
    out = where(direct, near, sign * exp(_betaln(a, b)))
    large = (low >= 10) & (high < 1e4) & ~direct
    return where(
        large, _beta_of_large(where(large, low, 10), where(large, high, 10)), out
    )


_beta.defjvps(
    lambda t, out, a, b: t * (out * _digamma_fall(b, a)),
    lambda t, out, a, b: t * (out * _digamma_fall(a, b)),
)


@program(3)
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Regularized incomplete beta function.

    Differs from SciPy: NaN where a or b is 0, where SciPy returns limits.

    Args:
      a: real array or number, positive.
      b: real array or number, positive.
      x: real array or number, from 0 to 1: the end of the integral.

    Returns:
      A floating array of the common shape.

    Example:
      >>> from olympus.scipy import special
      >>> print(f"{special.betainc(1.0, 1.0, 0.25):.4f}")
      0.2500
    """
    return incomplete_beta.betainc(*floats("betainc", a, b, x))


@program(2)
def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """Regularized lower incomplete gamma function.

    Args:
      a: real array or number, positive.
      x: real array or number, not negative: the end of the integral.

    Returns:
      A floating array of the common shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.gammainc(1.0, jnp.array([0.0, jnp.inf]))
      Array([0., 1.], dtype=float32)
    """
    return igamma.igamma(*reals("gammainc", a, x))


@program(2)
def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """Regularized upper incomplete gamma function: one minus the lower one.

    Args:
      a: real array or number, positive.
      x: real array or number, not negative: the start of the integral.

    Returns:
      A floating array of the common shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.gammaincc(1.0, jnp.array([0.0, jnp.inf]))
      Array([1., 0.], dtype=float32)
    """
    return igamma.igammac(*reals("gammaincc", a, x))


@program(1)
def _multigammaln(a: Any, d: int) -> Any:
    (a,) = reals("multigammaln", a, weak=False)
    out = lgamma(a)
    for i in range(1, d):
        out = out + lgamma(a - i / 2)
    return out + d * (d - 1) / 4 * math.log(math.pi)


def multigammaln(a: ArrayLike, d: ArrayLike) -> Array:
    """Logarithm of the multivariate gamma function.

    Differs from SciPy: a number below the bound gives a meaningless value and no
    error.

    Args:
      a: real array or number, above `(d - 1) / 2`.
      d: the dimension, an integer of at least 1.

    Returns:
      A floating array of a's shape.

    Raises:
      TypeError: d is traced or no number.
      ValueError: d is not an integer of at least 1.

    Example:
      >>> from olympus.scipy import special
      >>> special.multigammaln(jnp.array([3.0]), 2).round(4)
      Array([1.5502], dtype=float32)
    """
    try:
        number: Any = d
        size = int(number)
        is_whole = size == float(number) and size >= 1
    except (TypeError, ValueError) as error:
        if isinstance(error, ValueError) or hasattr(d, "aval"):
            raise
        raise TypeError(
            f"scipy.special.multigammaln: d must be an integer, got {type(d)}; pass "
            "an int of at least 1"
        ) from None
    if not is_whole:
        raise ValueError(
            f"scipy.special.multigammaln: d must be a positive integer, got {d}; pass "
            "an int of at least 1"
        )
    return _multigammaln(a, d=size)


# -- factorials ------------------------------------------------------------------------


@program(1)
def _factorial(n: Any) -> Any:
    (n,) = reals("factorial", n)
    safe = where(n < 0, 0, n)
    return where(n < 0, 0, wide(real_gamma)(safe + 1))


def factorial(n: ArrayLike, exact: bool = False) -> Array:
    """Factorial, `gamma(n + 1)`, of floats too; 0 below 0.

    Differs from SciPy: `exact` must be False, and there is no `extend`.

    Args:
      n: real array or number.
      exact: must be False: there are no unbounded integers.

    Returns:
      A floating array of n's shape.

    Raises:
      NotImplementedError: `exact` is true.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.factorial(4.0))
      24.0
    """
    if exact:
        raise NotImplementedError(
            "scipy.special.factorial: exact must be False, since arrays hold no "
            "unbounded integers, got exact=True; use math.factorial"
        )
    return _factorial(n)


@program(2)
def poch(z: ArrayLike, m: ArrayLike) -> Array:
    """Pochhammer symbol, `gamma(z + m) / gamma(z)`.

    Args:
      z: real array or number.
      m: real array or number.

    Returns:
      A floating array of the common shape.

    Raises:
      ValueError: an argument is complex.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.poch(2.0, 0.0))
      1.0
    """
    return wide(_poch)(*floats("poch", z, m, weak=False))


def _is_pole(x: Any) -> Any:
    return (x <= 0) & (floor(x) == x)


@custom_jvp_of_arrays
def _poch(z: Any, m: Any) -> Any:
    end = z + m
    # Between two poles the quotient is finite: reflect both.
    reflect = _is_pole(z) & _is_pole(end)
    top, bottom = where(reflect, 1 - z, end), where(reflect, 1 - end, z)
    odd = arithmetic.remainder(where(reflect, m, 0), 2) == 1
    out = _gamma_quotient(top, bottom)
    out = where(_is_pole(z) & ~reflect, 0, where(odd, -out, out))
    return where(m == 0, 1, where(_is_pole(end) & ~_is_pole(z), math.inf, out))


def _gamma_quotient(top: Any, bottom: Any) -> Any:
    """`gamma(top) / gamma(bottom)` away from the poles of both."""
    near = (arithmetic.maximum(abs(top), abs(bottom)) < 30) & ~_is_pole(bottom)
    x, y = where(near, top, 1), where(near, bottom, 1)
    direct = real_gamma(x) / real_gamma(y)
    large = (minimum(top, bottom) >= 10) & ~near
    fall = _log_fall(where(large, top - bottom, 1), where(large, bottom, 10))
    plain = lgamma(top) - lgamma(bottom)
    sign = gammasgn(top) * gammasgn(bottom)
    return where(near, direct, sign * exp(where(large, -fall, plain)))


_poch.defjvps(
    lambda t, out, z, m: t * (out * -_digamma_fall(m, z)),
    lambda t, out, z, m: t * (out * digamma(z + m)),
)


@program(2)
def _comb(N: ArrayLike, k: Any, repetition: bool) -> Any:
    count, k = reals("comb", N, k)
    if not repetition:
        return wide(_binomial)(count, k)
    # Nothing is chosen in one way, of no things too.
    nothing = (k == 0) & (count >= 0)
    return where(nothing, 1, wide(_binomial)(count + k - 1, k))


def _binomial(count: Any, k: Any) -> Any:
    valid = (k >= 0) & (k <= count)
    n, k = where(valid, count, 1), where(valid, k, 0)
    value = _smooth_binomial(n, k)
    whole = (floor(n) == n) & (floor(k) == k) & (value < 2.0**20)
    # Integers are rounded to those; the slope is that of the smooth function.
    value = value + where(whole, _still(arithmetic.rint(value) - value), 0)
    return where(valid, value, 0)


@custom_jvp_of_arrays
def _still(x: Any) -> Any:
    return x


_still.defjvps(lambda t, out, x: 0 * t)


@custom_jvp_of_arrays
def _smooth_binomial(n: Any, k: Any) -> Any:
    near = n < 12
    a, b = where(near, n, 1), where(near, k, 1)
    direct = real_gamma(a + 1) / (real_gamma(b + 1) * real_gamma(a - b + 1))
    return where(near, direct, exp(-_betaln(k + 1, n - k + 1) - log1p(n)))


_smooth_binomial.defjvps(
    lambda t, out, n, k: t * (out * (digamma(n + 1) - digamma(n - k + 1))),
    lambda t, out, n, k: t * (out * (digamma(n - k + 1) - digamma(k + 1))),
)


def comb(N: ArrayLike, k: ArrayLike, *, repetition: bool = False) -> Array:
    """Number of ways to choose k of N things; 0 where k is below 0 or above N.

    Differs from SciPy: there is no `exact`.

    Args:
      N: real array or number.
      k: real array or number.
      repetition: a thing may be chosen more than once.

    Returns:
      A floating array of the common shape.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.comb(5, 2), special.comb(5, 2, repetition=True))
      10.0 15.0
    """
    return _comb(N, k, repetition=bool(repetition))


def bernoulli(n: int) -> Array:
    """Bernoulli numbers B_0 to B_n, with B_1 = -1/2.

    Args:
      n: index of the last, a number that is not negative.

    Returns:
      An array of n + 1 numbers in the default floating dtype.

    Raises:
      TypeError: n is not an integer.
      ValueError: n is negative.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.bernoulli(2))
      [ 1.         -0.5         0.16666667]
    """
    try:
        last = operator.index(n)
    except TypeError:
        raise TypeError(
            f"scipy.special.bernoulli: n must be an integer, got {type(n)}; pass an int"
        ) from None
    if last < 0:
        raise ValueError(
            f"scipy.special.bernoulli: n must be a non-negative integer, got {n}; "
            "pass an int of at least 0"
        )
    dtype = dtypes.canonicalize_dtype(np.float64)
    with np.errstate(over="ignore"):
        values = np.asarray(_bernoulli_numbers(last), np.float64).astype(dtype)
    return creation.asarray(values)


_EXACT = 20


def _bernoulli_numbers(last: int) -> list[float]:
    """The first by the recurrence in fractions, later ones by the zeta function."""
    exact = [Fraction(1)]
    for m in range(1, _EXACT + 1):
        total = sum((math.comb(m + 1, j) * exact[j] for j in range(m)), Fraction(0))
        exact.append(-total / (m + 1))
    out = [float(b) for b in exact]
    value = out[_EXACT]
    for m in range(_EXACT + 2, last + 1, 2):
        # B_m = 2 (-1)^(m/2 + 1) m! / (2 pi)^m, as zeta(m) is 1 but for 3^-m and 2^-m.
        growth = _zeta_of(m) / _zeta_of(m - 2)
        value *= -m * (m - 1) / (4 * math.pi * math.pi) * growth
        out += [0.0, value]
    out.append(0.0)
    return out[: last + 1]


def _zeta_of(m: int) -> float:
    return 1 + 2.0**-m + 3.0**-m + 4.0**-m
