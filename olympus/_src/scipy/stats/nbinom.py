"""The negative binomial distribution, of the failures before n successes."""

from __future__ import annotations

from typing import Any

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.lax import special
from olympus._src.scipy.special.beta_binomial import betaln
from olympus._src.scipy.stats.arguments import functions_of, where
from olympus._src.scipy.stats.formulas import (
    LARGE,
    log_beta_density,
    mask_support,
    xlog1py,
)

_function = functions_of(
    "nbinom",
    "the negative binomial distribution",
    n="number of successes, positive.",
    p="probability of success, up to 1.",
)


@_function
def logpmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    def inside(k: Any) -> Any:
        ways = special.lgamma(k + n) - special.lgamma(n) - special.lgamma(k + 1)
        plain = ways + n * lax.log(p) + xlog1py(k, -p)
        is_large = (n + k > LARGE) & (k > 0) & (n > 0) & (p > 0) & (p < 1)
        total, chance = where(is_large, n + k, 1), where(is_large, p, 0.5)
        by_density = log_beta_density(chance, n, k + 1) + lax.log(chance)
        by_density = by_density - lax.log(total)
        # Below one success that would lose n / p in 1 / p, and the ways are exact.
        is_few = is_large & (n < 1)
        few = where(is_few, n, 1)
        ways = -betaln(few, where(is_few, k, 1) + 1) - lax.log(total)
        by_ways = ways + few * lax.log(chance) + xlog1py(k, -chance)
        return where(is_few, by_ways, where(is_large, by_density, plain))

    return mask_support(inside, k - loc)


@_function
def pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    return lax.exp(logpmf(k, n, p, loc))
