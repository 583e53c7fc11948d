"""The uniform distribution on an interval."""

from __future__ import annotations

from typing import Any

from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import INFINITY, NAN, functions_of, where

_function = functions_of(
    "uniform",
    "the uniform distribution",
    loc="lower end of the interval.",
    scale="its length.",
)


@_function
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    outside = (x < loc) | (x > loc + scale)
    density = where(x == x, -lax.log(scale), NAN)
    return where(outside, -INFINITY, density)


@_function
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return lax.exp(logpdf(x, loc, scale))


@_function
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
    above = where(x > loc + scale, 1, (x - loc) / scale)
    return where(x < loc, 0, above)


@_function
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return where((q >= 0) & (q <= 1), loc + scale * q, NAN)
