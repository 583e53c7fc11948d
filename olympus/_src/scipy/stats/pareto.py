"""The Pareto distribution, with a tail that falls as a power."""

from __future__ import annotations

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import INFINITY, NAN, functions_of, where
from olympus._src.scipy.stats.formulas import log1mexp

_function = functions_of(
    "pareto", "the Pareto distribution", b="power by which the tail falls, positive."
)


@_function
def logpdf(
    x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    z = (x - loc) / scale
    below = z < 1
    inside = lax.log(b / scale) - (b + 1) * lax.log(where(below, 1, z))
    return where(below, -INFINITY, inside)


@_function
def pdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(logpdf(x, b, loc, scale))


@_function
def logsf(
    x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    z = (x - loc) / scale
    below = z < 1
    return where(below, 0, -b * lax.log(where(below, 1, z)))


@_function
def sf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(logsf(x, b, loc, scale))


@_function
def cdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return -lax.expm1(logsf(x, b, loc, scale))


@_function
def logcdf(
    x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    return log1mexp(-logsf(x, b, loc, scale))


@_function
def ppf(q: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    inside = (q >= 0) & (q <= 1)
    at = lax.exp(-lax.log1p(-where(inside, q, 0)) / b)
    return where(inside, loc + scale * at, NAN)
