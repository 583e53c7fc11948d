"""Sines of numbers of half turns, which are reduced without rounding."""

from __future__ import annotations

import math
from typing import Any

from olympus._src.core import avals, dtypes
from olympus._src.lax import elementwise as e
from olympus._src.lax import families

_number = families.scalar_like


def sine_of_pi(x: Any) -> Any:
    """`sin(pi x)`: zero at integers, and as exact for large real x as for small."""
    if dtypes.kind(avals.aval_of(x).dtype) != "c":
        x = _near_zero(x)
    return e.sin(e.mul(x, _number(x, math.pi)))


def _near_zero(x: Any) -> Any:
    """Numbers within a half of zero whose sines, times pi, are those of `x`."""
    two = _number(x, 2)
    turns = e.round(e.div(x, two), e.RoundingMethod.TO_NEAREST_EVEN)
    remainder = e.sub(x, e.mul(turns, two))
    is_beyond = e.gt(e.abs_(remainder), _number(x, 0.5))
    return e.select(is_beyond, e.sub(e.sign(remainder), remainder), remainder)
