"""The binomial distribution."""

from __future__ import annotations

from typing import Any

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import functions_of
from olympus._src.scipy.stats.formulas import log_choices, mask_support, xlog1py, xlogy

_function = functions_of(
    "binom",
    "the binomial distribution",
    n="number of trials.",
    p="probability of success, from 0 to 1.",
)


@_function
def logpmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    def inside(k: Any) -> Any:
        return log_choices(n, k) + xlogy(k, p) + xlog1py(n - k, -p)

    return mask_support(inside, k - loc, most=n)


@_function
def pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    return lax.exp(logpmf(k, n, p, loc))
