"""The gamma distribution."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.lax import special
from olympus._src.numerics import igamma
from olympus._src.scipy.stats.arguments import INFINITY, functions_of, where
from olympus._src.scipy.stats.formulas import (
    LARGE,
    alike,
    log_of_chance,
    log_poisson_of_large,
    xlogy,
)

_function = functions_of("gamma", "the gamma distribution", a="its shape, positive.")


@_function
def logpdf(
    x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    z = (x - loc) / scale
    outside = (x < loc) | (z == INFINITY)
    z = where(outside, 1, z)
    a, z = alike(a, z)
    is_large = (a > LARGE) & (z > 0) & (a < INFINITY)
    small, shape, place = (
        where(is_large, 1, a),
        where(is_large, a, 1),
        where(is_large, z, 1),
    )
    plain = xlogy(small - 1, z) - z - special.lgamma(small)
    by_distance = log_poisson_of_large(is_large, a, z)
    by_distance = by_distance + lax.log(shape) - lax.log(place)
    inside = where(is_large, by_distance, plain)
    return where(outside, -INFINITY, inside - lax.log(scale))


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


@_function
def logcdf(
    x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    return log_of_chance(cdf(x, a, loc, scale))


@_function
def sf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return igamma.igammac(*alike(a, _place(x, a, loc, scale)))


@_function
def logsf(
    x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    return log_of_chance(sf(x, a, loc, scale))
