"""Normal numbers between two bounds on one side of 0 and far from it.

There the distribution function is rounded to 1, and its inverse knows few numbers or
one. What is inverted instead, by Newton's method, is the logarithm of the tail:
`-x^2 / 2 + log(R(x))` but for a constant, where R is Mills' ratio (Abramowitz, Stegun
26.2.14).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.lax import elementwise as ew
from olympus._src.lax import families

# Up to here erf leaves some ten thousand numbers between itself and 1.
_NEAREST_SINGLE, _NEAREST_DOUBLE = 3.0, 6.0
_LEVELS, _STEPS = 16, 3


def may_be_far(lower: Any, upper: Any) -> bool:
    """Whether bounds can be far out on one side: numbers tell, arrays do not."""
    if not all(isinstance(x, (int, float, np.generic)) for x in (lower, upper)):
        return True
    return max(float(lower), -float(upper)) > _NEAREST_SINGLE


def is_far(lower: Any, upper: Any) -> Any:
    """Where both bounds are on one side of 0, and far from it."""
    is_double = dtypes.itemsize_bits(avals.aval_of(lower).dtype) == 64
    nearest = _NEAREST_DOUBLE if is_double else _NEAREST_SINGLE
    return ew.gt(ew.max_(lower, ew.neg(upper)), _number(lower, nearest))


def far_normal(u: Any, lower: Any, upper: Any) -> Any:
    """The quantiles `u`, from 0 to 1, of what is between two such bounds."""
    dtype = avals.aval_of(u).dtype
    if dtypes.itemsize_bits(dtype) < 32:
        wide = [ew.convert(x, np.dtype(np.float32)) for x in (u, lower, upper)]
        return ew.convert(far_normal(*wide), dtype)
    is_above = ew.gt(lower, _number(lower, 0))
    near = ew.select(is_above, lower, ew.neg(upper))
    far = ew.select(is_above, upper, ew.neg(lower))
    size = ew.add(near, _distance(u, near, far))
    return ew.select(is_above, size, ew.neg(size))


def _distance(u: Any, near: Any, far: Any) -> Any:
    """How far the quantiles are from the nearer bound."""
    half, two = _number(u, 0.5), _number(u, 2)
    first = _mills_ratio(near)
    gap = ew.mul(half, ew.mul(ew.sub(far, near), ew.add(far, near)))
    log_quotient = ew.sub(ew.log(ew.div(_mills_ratio(far), first)), gap)
    log_tail = ew.log1p(ew.mul(u, ew.expm1(log_quotient)))
    square = ew.sub(ew.mul(near, near), ew.mul(two, log_tail))
    distance = ew.div(ew.mul(_number(u, -2), log_tail), ew.add(near, ew.sqrt(square)))
    for _ in range(_STEPS):
        ratio = _mills_ratio(ew.add(near, distance))
        power = ew.mul(distance, ew.add(near, ew.mul(half, distance)))
        excess = ew.sub(ew.log(ew.div(ratio, first)), ew.add(power, log_tail))
        distance = ew.add(distance, ew.mul(excess, ratio))
    return distance


def _mills_ratio(x: Any) -> Any:
    """The tail of the normal distribution over its density, by a continued fraction."""
    total = x
    for level in range(_LEVELS, 0, -1):
        total = ew.add(x, ew.div(_number(x, level), total))
    return ew.div(_number(x, 1), total)


def _number(x: Any, value: float) -> Any:
    return families.number_of(value, avals.aval_of(x).dtype)
