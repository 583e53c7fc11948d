"""The generalized normal distribution."""

from __future__ import annotations

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.lax import special
from olympus._src.numerics import igamma
from olympus._src.scipy.stats.arguments import functions_of, where
from olympus._src.scipy.stats.formulas import alike

_function = functions_of(
    "gennorm",
    "the generalized normal distribution",
    beta="power of the exponent, positive: 1 is Laplace's, 2 the normal one.",
)


@_function
def logpdf(x: ArrayLike, beta: ArrayLike) -> Array:
    return lax.log(beta / 2) - special.lgamma(1 / beta) - lax.pow_(lax.abs_(x), beta)


@_function
def pdf(x: ArrayLike, beta: ArrayLike) -> Array:
    return lax.exp(logpdf(x, beta))


@_function
def cdf(x: ArrayLike, beta: ArrayLike) -> Array:
    # Half the weight lies beyond |x|; the other half says how much within.
    shape, power = alike(1 / beta, lax.pow_(lax.abs_(x), beta))
    within = igamma.igamma(shape, power)
    beyond = igamma.igammac(shape, power)
    return where(x < 0, beyond / 2, (1 + within) / 2)
