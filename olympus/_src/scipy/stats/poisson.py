"""The Poisson distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.numerics import igamma
from olympus._src.numpy import reductions
from olympus._src.scipy.stats.arguments import INFINITY, NAN, functions_of, where
from olympus._src.scipy.stats.formulas import alike, log_poisson, mask_support

_function = functions_of(
    "poisson", "the Poisson distribution", mu="its mean, not negative."
)


@_function
def logpmf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    return mask_support(lambda k: log_poisson(k, mu), k - loc, integers=True)


@_function
def pmf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    return lax.exp(logpmf(k, mu, loc))


@_function
def cdf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    k = k - loc
    below = k < 0
    most = lax.floor(where(below, 0, k))
    return where(below, 0, igamma.igammac(*alike(most + 1, mu)))


_TERMS = 128
_SMALL = 36.0  # up to here those terms hold all of the sum but 1e-16
# The coefficients of mu^-1, mu^-2, ... from R. J. Evans, J. Boersma, N. M. Blachman,
# A. A. Jagers, "The entropy of a Poisson distribution", SIAM Review 30 (1988).
_SERIES = (1 / 12, 1 / 24, 19 / 360, 9 / 80, 863 / 2520, 1375 / 1008)


@_function
def entropy(mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    mu, _ = alike(mu, loc)
    small = mu < _SMALL
    summed = _entropy_by_sum(where(small, mu, 1))
    large = where(small, _SMALL, mu)
    tail = 0 * large
    for coefficient in reversed(_SERIES):
        tail = (tail + coefficient) / large
    expanded = lax.log(2 * math.pi * math.e * large) / 2 - tail
    out = where(small, summed, where(mu < INFINITY, expanded, INFINITY))
    return where(mu >= 0, out, NAN)


def _entropy_by_sum(mu: Any) -> Any:
    aval = avals.aval_of(mu)
    counts = np.arange(_TERMS, dtype=aval.dtype)
    logs = logpmf(counts.reshape(-1, *[1] * aval.ndim), mu)
    terms = lax.exp(logs) * where(logs < -1e30, 0, logs)
    return -reductions.sum(terms, 0)
