"""Student's t distribution."""

from __future__ import annotations

import math

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.lax import special
from olympus._src.scipy.stats.arguments import INFINITY, functions_of, where
from olympus._src.scipy.stats.formulas import LARGE, log1p_square

_function = functions_of("t", "Student's t distribution", df="degrees of freedom.")


@_function
def logpdf(
    x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    z = (x - loc) / scale
    # Of infinitely many degrees it is the normal distribution, as of very many.
    many = float(dtypes.finfo(avals.aval_of(df).dtype).max) ** 0.75
    df = where(df == INFINITY, many, df)
    half = df / 2
    is_large = half > LARGE
    near = where(is_large, 1, half)
    near_total = special.lgamma(near) - special.lgamma(near + 0.5)
    # Of large degrees by Stirling's formula, whose leading terms cancel.
    far = where(is_large, half, LARGE)
    inverse = 1 / far
    square = inverse * inverse
    series = 1 / 8 - square * (1 / 192 - square * (1 / 640 - square * 17 / 14336))
    total = where(is_large, inverse * series - lax.log(far) / 2, near_total)
    total = total + lax.log(math.pi * df) / 2 + lax.log(scale)
    return -(total + (df + 1) / 2 * log1p_square(z / lax.sqrt(df)))


@_function
def pdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(logpdf(x, df, loc, scale))
