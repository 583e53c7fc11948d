"""Student's t distribution."""

from __future__ import annotations

import math

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.lax import special
from olympus._src.scipy.stats.arguments import functions_of

_function = functions_of("t", "Student's t distribution", df="degrees of freedom.")


@_function
def logpdf(
    x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    z = (x - loc) / scale
    total = special.lgamma(df / 2) - special.lgamma((df + 1) / 2)
    total = total + lax.log(math.pi * df) / 2 + lax.log(scale)
    return -(total + (df + 1) / 2 * lax.log1p(z * z / df))


@_function
def pdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(logpdf(x, df, loc, scale))
