"""The right-skewed Gumbel distribution, of the largest of many values."""

from __future__ import annotations

from typing import Any

from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import INFINITY, NAN, functions_of, where
from olympus._src.scipy.stats.formulas import log1mexp, positive

_function = functions_of("gumbel_r", "the right-skewed Gumbel distribution")


@_function
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    z = (x - loc) / scale
    lowest = z == -INFINITY  # the sum below has no value there
    z = where(lowest, 0, z)
    return where(lowest, -INFINITY, -(z + lax.exp(-z))) - lax.log(positive(scale))


@_function
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return lax.exp(logpdf(x, loc, scale))


@_function
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return -lax.exp((loc - x) / positive(scale))


@_function
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return lax.exp(logcdf(x, loc, scale))


@_function
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return -lax.expm1(logcdf(x, loc, scale))


@_function
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return log1mexp(-logcdf(x, loc, scale))


@_function
def ppf(p: Any, loc: Any = 0, scale: Any = 1) -> Any:
    inside = (p >= 0) & (p <= 1)
    at = -lax.log(-lax.log(where(inside, p, 0.5)))
    return where(inside, loc + positive(scale) * at, NAN)
