"""Pieces that the formulas of several distributions share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from olympus._src.core import avals, dtypes
from olympus._src.lax import barriers, special
from olympus._src.lax import elementwise as lax
from olympus._src.numerics import betainc, igamma
from olympus._src.numerics import gamma_terms as terms
from olympus._src.numpy import promotion
from olympus._src.scipy.special.beta_binomial import betaln
from olympus._src.scipy.stats.arguments import INFINITY, NAN, where


def alike(*args: Any) -> list[Any]:
    """Arrays of one dtype filled up to one shape, scalars too."""
    shape = max((avals.aval_of(x).shape for x in args), key=len)
    return [promotion.full_shape(x, shape) for x in args]


def positive(scale: Any) -> Any:
    """A scale, NaN where it is not positive."""
    return where(scale > 0, scale, NAN)


def log1mexp(x: Any) -> Any:
    """`log(1 - exp(-x))` for x >= 0, exact near 0 and for large x; slope 0 at 0."""
    none, near = x == 0, x < math.log(2)
    by_difference = lax.log(-lax.expm1(-where(near & ~none, x, 1)))
    by_power = lax.log1p(-lax.exp(-where(near, 1, x)))
    return where(none, -INFINITY, where(near, by_difference, by_power))


def finite_exp(x: Any) -> Any:
    """`exp(x)`, held below the largest float.

    What is exponentiated again has the slope 0 there, and not 0 times infinity.
    """
    most = math.log(float(dtypes.finfo(avals.aval_of(x).dtype).max)) - 1
    return lax.exp(lax.min_(x, most))


def log1mexp_of_exp(x: Any) -> Any:
    """`log1mexp(exp(x))`, also where that power is too small for a float."""
    is_small = x < -20
    power = finite_exp(x)
    small = where(is_small, x, 0) - where(is_small, power, 0) / 2
    return where(is_small, small, log1mexp(where(is_small, 1, power)))


def log1p_square(x: Any) -> Any:
    """`log(1 + x^2)`, also where the square is no float any more."""
    is_large = lax.abs_(x) > float(dtypes.finfo(avals.aval_of(x).dtype).max) ** 0.25
    near = lax.log1p(lax.square(where(is_large, 0, x)))
    return where(is_large, 2 * lax.log(lax.abs_(where(is_large, x, 1))), near)


def log_of_chance(p: Any) -> Any:
    """`log(p)`, with the slope 0 where p is 0 and may be 0 around."""
    none = p == 0
    return where(none, -INFINITY, lax.log(where(none, 1, p)))


def log_of_more_than_half(p: Any, rest: Callable[[Any], Any], otherwise: Any) -> Any:
    """`log(p)` by what p lacks of 1 where it is more than half.

    Args:
      p: probabilities.
      rest: gives `1 - p` where its argument, an array of booleans, is true.
      otherwise: the logarithm where p is less.
    """
    is_most = p > 0.5
    return where(is_most, lax.log1p(-where(is_most, rest(is_most), 0)), otherwise)


def xlogy(x: Any, y: Any) -> Any:
    """`x log(y)`, 0 where both are 0, and with the slope 0 in y there.

    That is the slope of a probability of 0 counts, or of a power of 0.
    """
    return x * lax.log(where((x == 0) & (y == 0), 1, y))


def xlog1py(x: Any, y: Any) -> Any:
    """`x log(1 + y)`, 0 where x is 0 and y is -1, and with the slope 0 in y there."""
    return x * lax.log1p(where((x == 0) & (y == -1), 0, y))


# From here on Stirling's formula holds, which chances of large parameters need.
LARGE = 20


def log_beta_density(x: Any, a: Any, b: Any) -> Any:
    """Logarithm of the density of the beta distribution from 0 to 1.

    Of large parameters it is that of how far x is from the mean: the logarithms of
    gamma functions have few digits of it.
    """
    x, a, b = alike(x, a, b)
    inside = (x > 0) & (x < 1) & (a > 0) & (b > 0)
    is_large = inside & ((a > LARGE) | (b > LARGE)) & (a + b < INFINITY)
    by_distance = betainc.log_density(
        where(is_large, a, LARGE), where(is_large, b, LARGE), where(is_large, x, 0.5)
    )
    a, b = where(is_large, 1, a), where(is_large, 1, b)
    plain = xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b)
    return where(is_large, by_distance, plain)


def log_poisson(k: Any, mean: Any) -> Any:
    """`k log(mean) - mean - log k!`, of large k by how far it is from the mean."""
    k, mean = alike(k, mean)
    endless = mean == INFINITY
    mean = where(endless, 1, mean)
    is_large = (k > LARGE) & (mean > 0) & (k < INFINITY)
    by_distance = log_poisson_of_large(is_large, k, mean)
    k = where(is_large, 1, k)
    plain = xlogy(k, mean) - special.lgamma(k + 1) - mean
    return where(endless, -INFINITY, where(is_large, by_distance, plain))


def log_poisson_of_large(is_large: Any, k: Any, mean: Any) -> Any:
    """The same where k is large."""
    return terms.wide(igamma.log_scale_of_large)(
        where(is_large, k, 2 * LARGE), where(is_large, mean, 2 * LARGE)
    )


def log_choices(n: Any, k: Any) -> Any:
    """Logarithm of the number of ways to choose k of n; 0 for none or all, exactly."""
    out = -(lax.log1p(n) + betaln(n - k + 1, k + 1))
    single = (k == 0) | (k == n)
    return out - barriers.stop_gradient(where(single, out, 0))


def mask_support(
    inside: Any, k: Any, least: float = 0, most: Any = None, integers: bool = False
) -> Any:
    """`inside(k)` for counts of the support, -inf elsewhere.

    Elsewhere the formula is evaluated at `least`: what it would give there is dropped,
    and derivatives of what is dropped must not be NaN.
    """
    outside = k < least
    if most is not None:
        outside = outside | (k > most)
    if integers:
        outside = outside | ((k != lax.round(k)) & (k == k))
    return where(outside, -INFINITY, inside(where(outside, least, k)))
