"""The Cauchy distribution wrapped around the circle."""

from __future__ import annotations

import math

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import INFINITY, NAN, functions_of, where

_function = functions_of(
    "wrapcauchy",
    "the wrapped Cauchy distribution",
    x="angle from 0 to 2 pi; array or number.",
    c="concentration, between 0 and 1.",
)


@_function
def logpdf(x: ArrayLike, c: ArrayLike) -> Array:
    # 1 + c^2 - 2 c cos(x), without the cancellation of c close to 1 and small angles.
    distance = lax.square(1 - c) + 4 * c * lax.square(lax.sin(x / 2))
    inside = lax.log1p(-c) + lax.log1p(c) - lax.log(distance)
    on_circle = ~((x < 0) | (x > 2 * math.pi))
    out = where(on_circle, inside - math.log(2 * math.pi), -INFINITY)
    return where((c > 0) & (c < 1), out, NAN)


@_function
def pdf(x: ArrayLike, c: ArrayLike) -> Array:
    return lax.exp(logpdf(x, c))
