"""The Laplace distribution."""

from __future__ import annotations

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import functions_of, where

_function = functions_of("laplace", "the Laplace distribution")


@_function
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return -(lax.abs_(x - loc) / scale + lax.log(2 * scale))


@_function
def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(logpdf(x, loc, scale))


@_function
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    z = (x - loc) / scale
    # Each half has its own exponential, so that the slope at the middle is right too.
    lower = z <= 0
    below = lax.exp(where(lower, z, 0)) / 2
    above = 1 - lax.exp(where(lower, 0, -z)) / 2
    return where(lower, below, above)
