"""The geometric distribution, of the number of trials up to a success."""

from __future__ import annotations

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import functions_of
from olympus._src.scipy.stats.formulas import mask_support, xlog1py

_function = functions_of(
    "geom", "the geometric distribution", p="probability of success, up to 1."
)


@_function
def logpmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    return mask_support(lambda k: xlog1py(k - 1, -p) + lax.log(p), k - loc, least=1)


@_function
def pmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    return lax.exp(logpmf(k, p, loc))
