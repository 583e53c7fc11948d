"""The right-skewed Gumbel distribution, of the largest of many values."""

from __future__ import annotations

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import INFINITY, NAN, functions_of, where
from olympus._src.scipy.stats.formulas import finite_exp, log1mexp_of_exp, positive

_function = functions_of("gumbel_r", "the right-skewed Gumbel distribution")


@_function
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    z = (x - loc) / scale
    lowest = z == -INFINITY  # the sum below has no value there
    z = where(lowest, 0, z)
    return where(lowest, -INFINITY, -(z + lax.exp(-z))) - lax.log(positive(scale))


@_function
def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(logpdf(x, loc, scale))


@_function
def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return -lax.exp((loc - x) / positive(scale))


@_function
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(-finite_exp((loc - x) / positive(scale)))


@_function
def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return -lax.expm1(-finite_exp((loc - x) / positive(scale)))


@_function
def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return log1mexp_of_exp((loc - x) / positive(scale))


@_function
def ppf(p: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    inside = (p >= 0) & (p <= 1)
    at = -lax.log(-lax.log(where(inside, p, 0.5)))
    return where(inside, loc + positive(scale) * at, NAN)
