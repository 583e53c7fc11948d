"""The gamma distribution."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals, dtypes
from olympus._src.lax import elementwise as lax
from olympus._src.lax import special
from olympus._src.numerics import igamma_betainc
from olympus._src.scipy.stats.arguments import INFINITY, functions_of, where
from olympus._src.scipy.stats.formulas import alike, log_of_chance, xlogy

_function = functions_of("gamma", "the gamma distribution", a="its shape, positive.")


@_function
def logpdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
    z = (x - loc) / scale
    outside = (x < loc) | (z == INFINITY)
    z = where(outside, 1, z)
    inside = xlogy(a - 1, z) - z - special.lgamma(a) - lax.log(scale)
    return where(outside, -INFINITY, inside)


@_function
def pdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return lax.exp(logpdf(x, a, loc, scale))


def _place(x: Any, a: Any, loc: Any, scale: Any) -> Any:
    """The standardized place, 0 below the support; derivatives are finite there.

    At the lower end the density is infinite for a < 1, and has no formula at infinity.
    """
    below = (x < loc) | ((x == loc) & (a < 1))
    largest = dtypes.finfo(avals.aval_of(x).dtype).max
    return where(below, 0, where(x == INFINITY, largest, (x - loc) / scale))


@_function
def cdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return igamma_betainc.igamma(*alike(a, _place(x, a, loc, scale)))


@_function
def logcdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return log_of_chance(cdf(x, a, loc, scale))


@_function
def sf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return igamma_betainc.igammac(*alike(a, _place(x, a, loc, scale)))


@_function
def logsf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return log_of_chance(sf(x, a, loc, scale))
