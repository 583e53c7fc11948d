"""The von Mises distribution on the circle."""

from __future__ import annotations

import math

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import bessel
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import NAN, functions_of, where

_function = functions_of(
    "vonmises", "the von Mises distribution", kappa="concentration, not negative."
)


@_function
def logpdf(x: ArrayLike, kappa: ArrayLike) -> Array:
    # i0e holds exp(-kappa), which is why 1 is taken from the cosine: twice this square.
    square = lax.square(lax.sin(x / 2))
    scale = math.log(2 * math.pi) + lax.log(bessel.bessel_i0e(kappa))
    return where(kappa >= 0, -2 * kappa * square - scale, NAN)


@_function
def pdf(x: ArrayLike, kappa: ArrayLike) -> Array:
    return lax.exp(logpdf(x, kappa))
