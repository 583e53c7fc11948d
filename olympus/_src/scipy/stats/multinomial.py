"""The multinomial distribution, of counts of several outcomes."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.interpreters import evaluate
from olympus._src.lax import elementwise as lax
from olympus._src.lax import special
from olympus._src.numpy import reductions
from olympus._src.scipy.stats.arguments import (
    INFINITY,
    check,
    floating,
    mixed_dtype,
    where,
)
from olympus._src.scipy.stats.formulas import xlogy

_NAME = "scipy.stats.multinomial.logpmf"


@evaluate.fuse
def _logpmf(x: Any, n: Any, p: Any) -> Any:
    check(_NAME, ("x", "n", "p"), (x, n, p))
    for key, value in (("x", x), ("n", n)):
        aval = avals.aval_of(value)
        if dtypes.kind(aval.dtype) not in "iu":
            raise ValueError(
                f"{_NAME}: {key} must hold integers, got {aval.short()}; convert it "
                "with astype(int)"
            )
    x, n, p = mixed_dtype(x, n, p)
    counts, chances = floating(_NAME, ("x", "p"), (x, p))
    terms = xlogy(counts, chances) - special.lgamma(counts + 1)
    out = special.lgamma(n + 1) + reductions.sum(terms, -1)
    fits = (reductions.sum(counts, -1) == n) & reductions.all(counts >= 0, -1)
    return where(fits, out, -INFINITY)


def logpmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Logarithm of the probability of counts in the multinomial distribution.

    Args:
      x: counts of the outcomes along the last axis, integers. Those that do not add up
        to n have no probability.
      n: number of trials, an integer or an array of them.
      p: probabilities of the outcomes along the last axis.

    Returns:
      A floating array of the broadcast shape of x and p without its last axis.

    Raises:
      ValueError: counts or trials are not integers, or shapes do not broadcast.

    Source: SciPy, `scipy.stats.multinomial`.
    """
    return _logpmf(x, n, p)


@evaluate.fuse
def _pmf(x: Any, n: Any, p: Any) -> Any:
    return lax.exp(logpmf(x, n, p))


def pmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Probability of counts in the multinomial distribution; see `logpmf`.

    Args:
      x: counts of the outcomes along the last axis, integers.
      n: number of trials, an integer or an array of them.
      p: probabilities of the outcomes along the last axis.

    Returns:
      A floating array of the broadcast shape of x and p without its last axis.
    """
    return _pmf(x, n, p)
