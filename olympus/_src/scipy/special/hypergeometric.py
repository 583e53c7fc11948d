"""Hypergeometric functions, by their series and transformations of the argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from olympus._src.api.forward_mode import jvp
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import special
from olympus._src.numerics import converging_loop
from olympus._src.numpy import arithmetic, elementary, logic
from olympus._src.numpy.manipulation import broadcast_arrays
from olympus._src.numpy.promotion import program
from olympus._src.numpy.selection import where
from olympus._src.scipy.checks import as_array
from olympus._src.scipy.special.arguments import (
    custom_jvp_of_arrays,
    epsilon,
    floats,
    reals,
    wide,
)
from olympus._src.scipy.special.gamma import gammasgn

minimum, maximum = arithmetic.minimum, arithmetic.maximum
exp, log = elementary.exp, elementary.log
lgamma = special.lgamma


def _step(n: Any, state: Any, operands: Any) -> Any:
    """Adds the next term of the series with parameters a, b over c."""
    term, total = state
    a, b, c, x = operands
    k = n - 1
    term = term * ((a + k) / (c + k) * ((b + k) / n) * x)
    unfinished = abs(term) > abs(total) * (epsilon(x) / 16)
    # Terms may grow at first, and be small before a parameter passes 0.
    early = k < maximum(maximum(-a, -b), -c)
    return (term, total + term), (unfinished | early) & (term != 0)


def _confluent_step(n: Any, state: Any, operands: Any) -> Any:
    """Adds the next term of the series with parameter a over b."""
    term, total = state
    a, b, x = operands
    k = n - 1
    term = term * ((a + k) / (b + k) * (x / n))
    unfinished = abs(term) > abs(total) * (epsilon(x) / 16)
    early = k < maximum(-a, -b)
    return (term, total + term), (unfinished | early) & (term != 0)


def _start(*operands: Any) -> Any:
    """The first term, and the sum of it."""
    one = operands[-1] * 0 + 1
    return one, one


# The slopes in parameters go on where the series is a polynomial, so that they have a
# loop that ends when they have converged too.
_GAUSS = converging_loop.Loop(_start, _step, 2)
_CONFLUENT = converging_loop.Loop(_start, _confluent_step, 2)


def _sum(series: converging_loop.Loop, *operands: Any) -> Any:
    return series(*broadcast_arrays(*operands))[-1]


def _is_pole(x: Any) -> Any:
    return (x <= 0) & (arithmetic.floor(x) == x)


def _slope_of(fun: Callable[..., Any], position: int) -> Callable[..., Any]:
    """The derivative in a parameter, carried through the series as a tangent."""

    def slope(t: Any, out: Any, *args: Any) -> Any:
        tangents = [x * 0 + (1 if i == position else 0) for i, x in enumerate(args)]
        return t * jvp(fun, args, tuple(tangents))[1]

    return slope


# -- the confluent function ------------------------------------------------------------

_FAR = 100.0


def _far_step(n: Any, state: Any, operands: Any) -> Any:
    """The next term of the asymptotic series, while terms become smaller."""
    term, total = state
    a, b, x = operands
    following = term * (n - a) * (b - a + n - 1) / (n * x)
    smaller = abs(following) < abs(term)
    unfinished = smaller & (abs(following) > abs(total) * (epsilon(x) / 16))
    return (following, total + where(smaller, following, 0)), unfinished


_FAR_SERIES = converging_loop.Loop(_start, _far_step, 2)


def _confluent(a: Any, b: Any, x: Any) -> Any:
    # Kummer: the terms at -x alternate, those at x do not.
    negative = x < 0
    p, size = where(negative, b - a, a), abs(x)
    near, far = minimum(size, _FAR), maximum(size, _FAR)
    sums = _sum(_CONFLUENT, p, b, near)
    is_far = (size > _FAR) & ~_is_pole(p)
    q = where(is_far, p, 1)
    tail = _sum(_FAR_SERIES, q, b, far)
    sign = gammasgn(b) * gammasgn(q)
    size_of_log = lgamma(b) - lgamma(q) + (q - b) * log(far)
    # A polynomial needs no asymptotic series.
    whole = where(_is_pole(p), p, 0)
    ends = _sum(_CONFLUENT, whole, b, size)
    sums = where((size > _FAR) & _is_pole(p), ends, sums)
    growth = where(negative, 0, size)
    usual = where(negative, exp(-near), 1) * sums
    usual = where(negative & (size > _FAR), exp(-size) * sums, usual)
    out = where(is_far, sign * exp(size_of_log + growth) * tail, usual)
    out = where(x == 0, 1, out)
    return where(_is_pole(b), math.inf, out)


@custom_jvp_of_arrays
def _hyp1f1(a: Any, b: Any, x: Any) -> Any:
    return _confluent(a, b, x)


_hyp1f1.defjvps(
    _slope_of(_confluent, 0),
    _slope_of(_confluent, 1),
    lambda t, out, a, b, x: t * (a / b * _hyp1f1(a + 1, b + 1, x)),
)


@program(3)
def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Kummer's confluent hypergeometric function.

    Differs from SciPy: complex numbers are refused.

    Args:
      a: real array or number.
      b: real array or number, not 0, -1, -2, ...
      x: real array or number.

    Returns:
      A floating array of the common shape. Digits are lost where parameters are large
      compared with x and differ in sign.

    Raises:
      ValueError: an argument is complex.

    Example:
      >>> from olympus.scipy import special
      >>> print(f"{special.hyp1f1(1.0, 1.0, 1.0):.4f}")
      2.7183
    """
    return wide(_hyp1f1)(*floats("hyp1f1", *map(as_array, (a, b, x)), weak=False))


# -- Gauss's function ------------------------------------------------------------------


def _gamma_ratio(tops: Any, bottoms: Any) -> Any:
    """A product of two gamma functions over one of two; 0 at poles below."""
    size: Any = 0
    sign: Any = 1
    vanishes: Any = False
    for x in tops:
        size, sign = size + lgamma(x), sign * gammasgn(x)
    for x in bottoms:
        pole = _is_pole(x)
        safe = where(pole, 1, x)
        vanishes = vanishes | pole
        size, sign = size - lgamma(safe), sign * gammasgn(safe)
    return where(vanishes, 0, sign * exp(size))


def _sum_unit_interval(a: Any, b: Any, c: Any, x: Any) -> Any:
    """For x from 0 to 1: by the series, or two in 1 - x where that is shorter."""
    excess = c - a - b
    apart = abs(excess - arithmetic.rint(excess)) > 1e-2
    is_close = (x > 0.9) & apart & ~_is_pole(a) & ~_is_pole(b)
    direct = _sum(_GAUSS, a, b, c, where(is_close, 0, x))
    y = where(is_close, 1 - x, 0.1)
    d = where(is_close, excess, 0.5)
    first = _gamma_ratio((c, d), (c - a, c - b)) * _sum(_GAUSS, a, b, 1 - d, y)
    second = _gamma_ratio((c, -d), (a, b)) * _sum(_GAUSS, c - a, c - b, 1 + d, y)
    return where(is_close, first + exp(d * log(y)) * second, direct)


def _gauss(a: Any, b: Any, c: Any, x: Any) -> Any:
    polynomial = _is_pole(a) | _is_pole(b)
    # Pfaff: from below 0 to between 0 and 1.
    use_pfaff = (x < 0) & ~(polynomial & (x > -1))
    at_one, beyond = x == 1, x > 1
    safe = where(at_one | (beyond & ~polynomial), 0, x)
    base = where(use_pfaff, 1 - safe, 1)
    # The parameter that stays keeps a polynomial one.
    swap = _is_pole(b) & ~_is_pole(a)
    p, q = where(swap, b, a), where(swap, a, b)
    y = where(
        use_pfaff, where(use_pfaff, safe, 0) / (where(use_pfaff, safe, 0) - 1), safe
    )
    inner = _sum_unit_interval(p, where(use_pfaff, c - q, q), c, y)
    out = where(use_pfaff, exp(-p * log(base)) * inner, inner)
    excess = c - a - b
    converges = (excess > 0) | polynomial
    sums = where(at_one & (excess > 0), excess, 0.5)
    at_end = _gamma_ratio((c, sums), (c - a, c - b))
    ends = _sum(_GAUSS, a, b, c, where(at_one & polynomial, x, 0))
    at_end = where(polynomial, ends, where(converges, at_end, math.inf))
    out = where(at_one, at_end, where(beyond & ~polynomial, math.inf, out))
    out = where(x == 0, 1, out)
    unknown = logic.isnan(a + b + c + x)
    return where(unknown, math.nan, where(_is_pole(c) & (x != 0), math.inf, out))


@custom_jvp_of_arrays
def _hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    return _gauss(a, b, c, x)


_hyp2f1.defjvps(
    _slope_of(_gauss, 0),
    _slope_of(_gauss, 1),
    _slope_of(_gauss, 2),
    lambda t, out, a, b, c, x: t * (a * b / c * _hyp2f1(a + 1, b + 1, c + 1, x)),
)


@program(4)
def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> Array:
    """Gauss's hypergeometric function.

    Differs from SciPy: complex numbers are refused.

    Args:
      a: real array or number.
      b: real array or number.
      c: real array or number, not 0, -1, -2, ...
      x: real array or number, up to 1.

    Returns:
      A floating array of the common shape; infinite above 1, unless a or b makes the
      series a polynomial. Within 0.1 of 1 and below it, digits are lost where
      c - a - b is close to an integer.

    Raises:
      ValueError: an argument is complex.

    Example:
      >>> from olympus.scipy import special
      >>> print(f"{special.hyp2f1(1.0, 1.0, 2.0, 0.5):.4f}")
      1.3863
    """
    return wide(_hyp2f1)(*reals("hyp2f1", *map(as_array, (a, b, c, x)), weak=False))
