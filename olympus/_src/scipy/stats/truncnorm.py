"""The normal distribution cut to an interval."""

from __future__ import annotations

from typing import Any

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.special import erf_ndtr
from olympus._src.scipy.stats import norm
from olympus._src.scipy.stats.arguments import INFINITY, NAN, functions_of, where
from olympus._src.scipy.stats.formulas import log1mexp

_function = functions_of(
    "truncnorm",
    "the truncated normal distribution",
    a="where it is cut below, in the units of the standard normal distribution.",
    b="where it is cut above, in the same units; greater than a.",
    loc="mean of the distribution that is cut.",
    scale="its standard deviation, positive.",
)


def _log_weight(low: Any, high: Any) -> Any:
    """Logarithm of the standard normal's weight from low to high, low <= high.

    It is the difference of two tails, on the side where these are small; where the
    interval holds the middle, what is left of 1 without both tails.
    """
    right = low > 0
    apart = (low <= 0) & (high >= 0)
    near = where(right, -low, high)
    far = where(right, -high, low)
    near, far = where(apart, 1, near), where(apart, -1, far)
    log_near, log_far = erf_ndtr.log_ndtr(near), erf_ndtr.log_ndtr(far)
    one_sided = log_near + log1mexp(
        where(far == -INFINITY, INFINITY, log_near - log_far)
    )
    outer = erf_ndtr.ndtr(where(apart, low, -1)) + erf_ndtr.ndtr(
        where(apart, -high, -1)
    )
    return where(apart, lax.log1p(-outer), one_sided)


def _apply_interval(out: Any, x: Any, a: Any, b: Any, below: Any, above: Any) -> Any:
    """`out` inside of the interval, constants outside, NaN where there is none."""
    out = where(x < a, below, where(x > b, above, out))
    return where((a < b) & (x == x), out, NAN)


def _replace_outside(x: Any, a: Any, b: Any) -> Any:
    return where((x >= a) & (x <= b), x, (where(a == -INFINITY, b, a)))


@_function
def logpdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    z = (x - loc) / scale
    out = norm.logpdf(_replace_outside(z, a, b)) - lax.log(scale) - _log_weight(a, b)
    return _apply_interval(out, z, a, b, -INFINITY, -INFINITY)


@_function
def pdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    return lax.exp(logpdf(x, a, b, loc, scale))


@_function
def logcdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    z = (x - loc) / scale
    at = _replace_outside(z, a, b)
    return _apply_interval(_share(a, at, at, b, a, b), z, a, b, -INFINITY, 0)


@_function
def logsf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    z = (x - loc) / scale
    at = _replace_outside(z, a, b)
    return _apply_interval(_share(at, b, a, at, a, b), z, a, b, 0, -INFINITY)


def _share(low: Any, high: Any, low_rest: Any, high_rest: Any, a: Any, b: Any) -> Any:
    """Logarithm of the share of the weight from low to high.

    Where that is nearly all, it is what the rest leaves.
    """
    whole = _log_weight(a, b)
    share = _log_weight(low, high) - whole
    complement = _log_weight(low_rest, high_rest) - whole
    most = share > -0.1
    return where(most, lax.log1p(-lax.exp(where(most, complement, -1))), share)


@_function
def cdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    return lax.exp(logcdf(x, a, b, loc, scale))


@_function
def sf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    return lax.exp(logsf(x, a, b, loc, scale))
