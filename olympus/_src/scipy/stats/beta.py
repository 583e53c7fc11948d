"""The beta distribution."""

from __future__ import annotations

from typing import Any

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.numerics import betainc
from olympus._src.scipy.stats.arguments import INFINITY, functions_of, where
from olympus._src.scipy.stats.formulas import (
    alike,
    log_beta_density,
    log_of_chance,
    log_of_more_than_half,
)

_function = functions_of(
    "beta",
    "the beta distribution",
    a="its first shape, positive.",
    b="its second shape, positive.",
    loc="lower end of its interval.",
    scale="length of its interval, positive.",
)


@_function
def logpdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    z = (x - loc) / scale
    outside = (x < loc) | (z > 1)
    z = where(outside, 0.5, z)
    inside = log_beta_density(z, a, b) - lax.log(scale)
    return where(outside, -INFINITY, inside)


@_function
def pdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    return lax.exp(logpdf(x, a, b, loc, scale))


def _place(x: Any, loc: Any, scale: Any) -> Any:
    """The standardized place, moved into the support."""
    z = (x - loc) / scale
    return where(z <= 0, 0, where(z >= 1, 1, z))


@_function
def cdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    return betainc.betainc(*alike(a, b, _place(x, loc, scale)))


@_function
def logcdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    a, b, z = alike(a, b, _place(x, loc, scale))
    p = betainc.betainc(a, b, z)
    return log_of_more_than_half(
        p, lambda most: betainc.betaincc(a, b, where(most, z, 0)), log_of_chance(p)
    )


@_function
def sf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    return betainc.betaincc(*alike(a, b, _place(x, loc, scale)))


@_function
def logsf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    a, b, z = alike(a, b, _place(x, loc, scale))
    p = betainc.betaincc(a, b, z)
    return log_of_more_than_half(
        p, lambda most: betainc.betainc(a, b, where(most, z, 0)), log_of_chance(p)
    )
