"""The logistic distribution."""

from __future__ import annotations

from typing import Any

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import functions_of

_function = functions_of("logistic", "the logistic distribution")


@_function
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    # The density is even; on the right side its exponential cannot overflow.
    z = lax.abs_((x - loc) / scale)
    return -z - 2 * lax.log1p(lax.exp(-z)) - lax.log(scale)


@_function
def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(logpdf(x, loc, scale))


@_function
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.logistic((x - loc) / scale)


@_function
def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.logistic((loc - x) / scale)


def _log_odds(q: Any) -> Any:
    return lax.log(q) - lax.log1p(-q)


@_function
def ppf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return loc + scale * _log_odds(x)


@_function
def isf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return loc - scale * _log_odds(x)
