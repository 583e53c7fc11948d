"""The uniform distribution on an interval."""

from __future__ import annotations

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import INFINITY, NAN, functions_of, where

_function = functions_of(
    "uniform",
    "the uniform distribution",
    loc="lower end of the interval.",
    scale="its length.",
)


@_function
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    outside = (x < loc) | ((x - loc) / scale > 1)
    density = where(x == x, -lax.log(scale), NAN)
    return where(outside, -INFINITY, density)


@_function
def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(logpdf(x, loc, scale))


@_function
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    z = (x - loc) / scale
    return where(x < loc, 0, where(z > 1, 1, z))


@_function
def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return where((q >= 0) & (q <= 1), loc + scale * q, NAN)
