"""The Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import elementwise as lax
from olympus._src.scipy.stats.arguments import NAN, functions_of, where
from olympus._src.scipy.stats.formulas import log1p_square

_function = functions_of("cauchy", "the Cauchy distribution")


@_function
def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    z = (x - loc) / scale
    return -(lax.log(math.pi * scale) + log1p_square(z))


@_function
def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return lax.exp(logpdf(x, loc, scale))


def _upper(z: Any) -> Any:
    """The probability above z, whose digits the inverse of a large z keeps."""
    far = lax.abs_(z) > 1
    angle = lax.atan(where(far, 1 / where(far, z, 1), z)) / math.pi
    return where(far, where(z < 0, 1 + angle, angle), 0.5 - angle)


_FAR = 1e8  # from here on `atan(1/z)` is 1/z to more digits than its logarithm has


def _log_upper(z: Any) -> Any:
    """Its logarithm, of what it lacks of 1 where it is more than half."""
    most, far = z < 0, z > _FAR
    near = lax.log1p(-_upper(-where(most, z, -1)))
    plain = lax.log(_upper(where(most | far, 1, z)))
    by_power = -(math.log(math.pi) + lax.log(where(far, z, 1)))
    return where(most, near, where(far, by_power, plain))


@_function
def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return _upper((loc - x) / scale)


@_function
def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return _log_upper((loc - x) / scale)


@_function
def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return _upper((x - loc) / scale)


@_function
def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return _log_upper((x - loc) / scale)


def _cotangent_of_turn(q: Any) -> Any:
    """cot(pi q) for q from 0 to 1, exact also near both ends."""
    middle = lax.tan(math.pi * (0.5 - q))
    low, high = 1 / lax.tan(math.pi * q), -1 / lax.tan(math.pi * (1 - q))
    value = where(q < 0.25, low, where(q > 0.75, high, middle))
    return where((q >= 0) & (q <= 1), value, NAN)


@_function
def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return loc - scale * _cotangent_of_turn(q)


@_function
def isf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    return loc + scale * _cotangent_of_turn(q)
