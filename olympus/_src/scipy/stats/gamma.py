"""The gamma distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src.control_flow import cond
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.lax import families, special
from olympus._src.numerics import igamma
from olympus._src.numpy import reductions
from olympus._src.scipy.stats.arguments import INFINITY, functions_of, where
from olympus._src.scipy.stats.formulas import (
    LARGE,
    alike,
    log_of_chance,
    log_of_more_than_half,
    log_poisson_of_large,
    xlogy,
)

_function = functions_of("gamma", "the gamma distribution", a="its shape, positive.")


def _log_density(z: Any, a: Any) -> Any:
    """Logarithm of the density of scale 1, inside of its support."""
    is_large = (a > LARGE) & (z > 0) & (a < INFINITY)
    small, shape, place = (
        where(is_large, 1, a),
        where(is_large, a, 1),
        where(is_large, z, 1),
    )
    plain = xlogy(small - 1, z) - z - special.lgamma(small)
    by_distance = log_poisson_of_large(is_large, a, z)
    by_distance = by_distance + lax.log(shape) - lax.log(place)
    return where(is_large, by_distance, plain)


@_function
def logpdf(
    x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    z = (x - loc) / scale
    outside = (x < loc) | (z == INFINITY)
    a, z = alike(a, where(outside, 1, z))
    return where(outside, -INFINITY, _log_density(z, a) - lax.log(scale))


@_function
def pdf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(logpdf(x, a, loc, scale))


def _place(x: Any, a: Any, loc: Any, scale: Any) -> Any:
    """The standardized place, 0 below the support; derivatives are finite there.

    At the lower end the density is infinite for a < 1, and has no formula at infinity.
    """
    below = (x < loc) | ((x == loc) & (a < 1))
    largest = dtypes.finfo(avals.aval_of(x).dtype).max
    return where(below, 0, where(x == INFINITY, largest, (x - loc) / scale))


@_function
def cdf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return igamma.igamma(*alike(a, _place(x, a, loc, scale)))


# Steps of continued fractions so far from the mean that chances are no floats any more.
_STEPS = 8


def _fraction(terms: Callable[[int], tuple[Any, Any]]) -> Any:
    """`b_0 + c_0 / (b_1 + c_1 / ...)`, whose tail is taken for a repeated term."""
    b, c = terms(_STEPS)
    total = (b + lax.sqrt(b * b + 4 * c)) / 2
    for k in reversed(range(_STEPS)):
        b, c = terms(k)
        total = b + c / total
    return total


def _lower_fraction(a: Any, z: Any) -> Any:
    """The density over the chance below, times z."""
    return _fraction(lambda k: ((a - z) + k, (k + 1) * z))


def _upper_fraction(a: Any, z: Any) -> Any:
    """The density over the chance above, times z (DLMF 8.9.2, contracted)."""
    return _fraction(lambda k: ((z - a) + (2 * k + 1), (k + 1) * (a - (k + 1))))


def _log_of_lost(p: Any, a: Any, z: Any, fraction: Callable[[Any, Any], Any]) -> Any:
    """`log(p)` also where the chance p is too small for a float."""
    tiny = float(dtypes.finfo(avals.aval_of(p).dtype).tiny)
    lost = (p < tiny) & (z > 0) & (a > 0) & (a < INFINITY)
    lost = lost & (z < dtypes.finfo(avals.aval_of(z).dtype).max)
    fits = fraction is _lower_fraction
    shape, place = where(lost, a, 2 if fits else 1), where(lost, z, 1 if fits else 100)
    # Few calls have such places, and the logarithm of the density is not cheap.
    far = cond.cond(
        reductions.any(lost),
        lambda a, z: _log_density(z, a) + lax.log(z) - lax.log(fraction(a, z)),
        lambda a, z: families.full_like(z, 0),
        shape,
        place,
    )
    return where(lost, far, log_of_chance(where(lost, 1, p)))


@_function
def logcdf(
    x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    a, z = alike(a, _place(x, a, loc, scale))
    p = igamma.igamma(a, z)
    small = _log_of_lost(p, a, z, _lower_fraction)
    return log_of_more_than_half(
        p, lambda most: igamma.igammac(a, where(most, z, 0)), small
    )


@_function
def sf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return igamma.igammac(*alike(a, _place(x, a, loc, scale)))


@_function
def logsf(
    x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    a, z = alike(a, _place(x, a, loc, scale))
    p = igamma.igammac(a, z)
    small = _log_of_lost(p, a, z, _upper_fraction)
    return log_of_more_than_half(
        p, lambda most: igamma.igamma(a, where(most, z, 0)), small
    )
