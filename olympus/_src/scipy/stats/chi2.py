"""The chi-squared distribution: the gamma distribution of half the degrees."""

from __future__ import annotations

from typing import Any

from olympus._src.scipy.stats import gamma
from olympus._src.scipy.stats.arguments import functions_of

_function = functions_of(
    "chi2", "the chi-squared distribution", df="degrees of freedom."
)


@_function
def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return gamma.logpdf(x, df / 2, loc, 2 * scale)


@_function
def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return gamma.pdf(x, df / 2, loc, 2 * scale)


@_function
def cdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return gamma.cdf(x, df / 2, loc, 2 * scale)


@_function
def logcdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return gamma.logcdf(x, df / 2, loc, 2 * scale)


@_function
def sf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return gamma.sf(x, df / 2, loc, 2 * scale)


@_function
def logsf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return gamma.logsf(x, df / 2, loc, 2 * scale)
