"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.special import erf_ndtr
from olympus._src.scipy.stats.arguments import functions_of

_function = functions_of(
    "norm", "the normal distribution", loc="its mean.", scale="its standard deviation."
)


@_function
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    z = (x - loc) / scale
    at_one: Any = -(z * z + math.log(2 * math.pi)) / 2
    return at_one - lax.log(lax.abs_(scale))


@_function
def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(logpdf(x, loc, scale))


@_function
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return erf_ndtr.ndtr((x - loc) / scale)


@_function
def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return erf_ndtr.log_ndtr((x - loc) / scale)


@_function
def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return erf_ndtr.ndtr((loc - x) / scale)


@_function
def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return erf_ndtr.log_ndtr((loc - x) / scale)


@_function
def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    out: Any = loc + scale * erf_ndtr.ndtri(q)
    return out


@_function
def isf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    out: Any = loc - scale * erf_ndtr.ndtri(q)
    return out
