"""The chi-squared distribution: the gamma distribution of half the degrees."""

from __future__ import annotations

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.scipy.stats import gamma
from olympus._src.scipy.stats.arguments import functions_of

_function = functions_of(
    "chi2", "the chi-squared distribution", df="degrees of freedom."
)


@_function
def logpdf(
    x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    return gamma.logpdf(x, df / 2, loc, 2 * scale)


@_function
def pdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return gamma.pdf(x, df / 2, loc, 2 * scale)


@_function
def cdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return gamma.cdf(x, df / 2, loc, 2 * scale)


@_function
def logcdf(
    x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    return gamma.logcdf(x, df / 2, loc, 2 * scale)


@_function
def sf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return gamma.sf(x, df / 2, loc, 2 * scale)


@_function
def logsf(
    x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    return gamma.logsf(x, df / 2, loc, 2 * scale)
