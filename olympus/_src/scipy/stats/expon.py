"""The exponential distribution."""

from __future__ import annotations

from typing import Any

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import INFINITY, NAN, functions_of, where
from olympus._src.scipy.stats.formulas import log1mexp

_function = functions_of("expon", "the exponential distribution")


@_function
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return where(x < loc, -INFINITY, -((x - loc) / scale + lax.log(scale)))


@_function
def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(logpdf(x, loc, scale))


def _place(x: Any, loc: Any, scale: Any) -> Any:
    """The standardized place, 0 below the support."""
    z = (x - loc) / scale
    return where(x < loc, 0, z)


@_function
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return -lax.expm1(-_place(x, loc, scale))


@_function
def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return log1mexp(_place(x, loc, scale))


@_function
def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(logsf(x, loc, scale))


@_function
def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return -_place(x, loc, scale)


@_function
def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    inside = (q >= 0) & (q <= 1)
    return where(inside, loc - scale * lax.log1p(-where(inside, q, 0)), NAN)
