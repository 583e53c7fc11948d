"""The Bernoulli distribution, of one trial."""

from __future__ import annotations

from typing import Any

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.avals import aval_of
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import NAN, functions_of, where
from olympus._src.scipy.stats.formulas import mask_support, xlog1py, xlogy

_function = functions_of(
    "bernoulli", "the Bernoulli distribution", p="probability of a 1, from 0 to 1."
)


@_function
def logpmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    return mask_support(lambda k: xlogy(k, p) + xlog1py(1 - k, -p), k - loc, most=1)


@_function
def pmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    return lax.exp(logpmf(k, p, loc))


def _is_chance(p: Any) -> Any:
    return (p >= 0) & (p <= 1)


@_function
def cdf(k: ArrayLike, p: ArrayLike) -> Array:
    out = where(k < 0, 0, where(k < 1, 1 - p, 1))
    return where(_is_chance(p) & (k == k), out, NAN)


@_function
def ppf(q: ArrayLike, p: ArrayLike) -> Array:
    out = lax.convert(q > 1 - p, aval_of(q).dtype, False)
    return where(_is_chance(p) & _is_chance(q), out, NAN)
