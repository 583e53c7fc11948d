"""The beta-binomial distribution."""

from __future__ import annotations

from typing import Any

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.special.beta_binomial import betaln
from olympus._src.scipy.stats.arguments import functions_of
from olympus._src.scipy.stats.formulas import log_choices, mask_support

_function = functions_of(
    "betabinom",
    "the beta-binomial distribution",
    n="number of trials.",
    a="first shape of the beta distribution of the chance, positive.",
    b="its second shape, positive.",
)


@_function
def logpmf(
    k: ArrayLike, n: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0
) -> Array:
    def inside(k: Any) -> Any:
        return log_choices(n, k) + betaln(k + a, n - k + b) - betaln(a, b)

    return mask_support(inside, lax.floor(k) - loc, most=n)


@_function
def pmf(
    k: ArrayLike, n: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0
) -> Array:
    return lax.exp(logpmf(k, n, a, b, loc))
