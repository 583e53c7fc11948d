"""The binomial distribution."""

from __future__ import annotations

from typing import Any

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import functions_of, where
from olympus._src.scipy.stats.formulas import (
    LARGE,
    log_beta_density,
    log_choices,
    mask_support,
    xlog1py,
    xlogy,
)

_function = functions_of(
    "binom",
    "the binomial distribution",
    n="number of trials.",
    p="probability of success, from 0 to 1.",
)


@_function
def logpmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    def inside(k: Any) -> Any:
        plain = log_choices(n, k) + xlogy(k, p) + xlog1py(n - k, -p)
        is_mixed = (k > 0) & (k < n)
        is_large = (n > LARGE) & is_mixed & (p > 0) & (p < 1)
        by_density = log_beta_density(p, k + 1, n - k + 1) - lax.log1p(n)
        return where(is_large, by_density, plain)

    return mask_support(inside, k - loc, most=n)


@_function
def pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    return lax.exp(logpmf(k, n, p, loc))
