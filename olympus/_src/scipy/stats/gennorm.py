"""The generalized normal distribution."""

from __future__ import annotations

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import barriers, special
from olympus._src.lax import elementwise as lax
from olympus._src.numerics import igamma
from olympus._src.scipy.stats.arguments import INFINITY, functions_of, where
from olympus._src.scipy.stats.formulas import alike

_function = functions_of(
    "gennorm",
    "the generalized normal distribution",
    beta="power of the exponent, positive: 1 is Laplace's, 2 the normal one.",
)


@_function
def logpdf(x: ArrayLike, beta: ArrayLike) -> Array:
    size = lax.abs_(x)
    power = lax.pow_(size, beta)
    # Where the power has left the floats, products with its slope would be NaN.
    inside = (power > 0) & (power < INFINITY)
    curved = lax.pow_(where(inside, size, 1), beta)
    power = where(inside, curved, barriers.stop_gradient(power))
    return lax.log(beta / 2) - special.lgamma(1 / beta) - power


@_function
def pdf(x: ArrayLike, beta: ArrayLike) -> Array:
    return lax.exp(logpdf(x, beta))


@_function
def cdf(x: ArrayLike, beta: ArrayLike) -> Array:
    size = lax.abs_(x)
    power = lax.pow_(size, beta)
    # Around 0 the density is flat, and the power may be too small for a float.
    is_flat = power < float(dtypes.finfo(avals.aval_of(x).dtype).eps)
    is_far = power == INFINITY
    place = lax.pow_(where(is_flat | is_far, 1, size), beta)
    shape, place = alike(1 / beta, place)
    # Half the weight lies beyond |x|; the other half says how much within.
    within = where(is_far, 1, igamma.igamma(shape, place))
    beyond = where(is_far, 0, igamma.igammac(shape, place))
    curved = where(x < 0, beyond / 2, (1 + within) / 2)
    flat = (1 + where(is_flat, x, 0) * lax.exp(-special.lgamma(1 + 1 / beta))) / 2
    return where(is_flat, flat, curved)
