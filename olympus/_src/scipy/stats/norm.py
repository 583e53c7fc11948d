"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

from olympus._src.lax import elementwise as lax
from olympus._src.scipy.special import erf_ndtr
from olympus._src.scipy.stats.arguments import functions_of

_function = functions_of(
    "norm", "the normal distribution", loc="its mean.", scale="its standard deviation."
)


@_function
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    z = (x - loc) / scale
    return -(z * z + lax.log(2 * math.pi * scale * scale)) / 2


@_function
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return lax.exp(logpdf(x, loc, scale))


@_function
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return erf_ndtr.ndtr((x - loc) / scale)


@_function
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return erf_ndtr.log_ndtr((x - loc) / scale)


@_function
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return erf_ndtr.ndtr((loc - x) / scale)


@_function
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return erf_ndtr.log_ndtr((loc - x) / scale)


@_function
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return loc + scale * erf_ndtr.ndtri(q)


@_function
def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return loc - scale * erf_ndtr.ndtri(q)
