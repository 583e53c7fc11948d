"""The beta-binomial distribution."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import barriers
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.special.beta_binomial import betaln
from olympus._src.scipy.stats.arguments import INFINITY, functions_of, where
from olympus._src.scipy.stats.formulas import (
    LARGE,
    log_beta_density,
    log_choices,
    mask_support,
)

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
        plain = log_choices(n, k) + betaln(k + a, n - k + b) - betaln(a, b)
        # The quotient of densities is the same everywhere, so it has no slope there.
        total = a + b + n
        is_large = (total > 2 * LARGE) & (a > 0) & (b > 0) & (total < INFINITY)
        counts = (where(is_large, v, 1) for v in (k, n - k, a, b))
        wins, losses, first, second = counts
        raised = (first + wins, second + losses)
        here = raised[0] / (raised[0] + raised[1])
        last = 1 - float(dtypes.finfo(avals.aval_of(here).dtype).eps)
        here = barriers.stop_gradient(where(here < last, here, last))
        by_density = log_beta_density(here, wins + 1, losses + 1)
        by_density = by_density + log_beta_density(here, first, second)
        by_density = by_density - lax.log1p(n)
        by_density = by_density - log_beta_density(here, *raised)
        return where(is_large, by_density, plain)

    return mask_support(inside, lax.floor(k) - loc, most=n)


@_function
def pmf(
    k: ArrayLike, n: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0
) -> Array:
    return lax.exp(logpmf(k, n, a, b, loc))
