"""Terms of formulas of gamma and beta functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.primitive import Primitive
from olympus._src.lax import elementwise as e
from olympus._src.lax import families, shaping


def number(x: Any, value: float) -> Any:
    """A number of the dtype of x."""
    return families.number_of(value, avals.aval_of(x).dtype)


def like(x: Any, value: float) -> Any:
    """An array like x, of one value."""
    return shaping.full_like(x, value)


def epsilon(x: Any) -> Any:
    """The gap between 1 and the next number."""
    return number(x, float(dtypes.finfo(avals.aval_of(x).dtype).eps))


def is_double(x: Any) -> bool:
    return dtypes.itemsize_bits(avals.aval_of(x).dtype) == 64


def log1p_without_lead(x: Any) -> Any:
    """log(1 + x) - x, whose terms cancel near 0."""
    near = e.lt(e.abs_(x), number(x, 0.1))
    small = e.select(near, x, like(x, 0))
    last = 16 if is_double(x) else 8
    total = like(x, -1 / last)
    for k in range(last - 1, 1, -1):
        total = e.add(e.mul(total, small), number(x, (-1) ** (k + 1) / k))
    series = e.mul(e.mul(small, small), total)
    return e.select(near, series, e.sub(e.log1p(x), x))


def expm1_without_lead(x: Any) -> Any:
    """exp(x) - 1 - x, whose terms cancel near 0."""
    near = e.lt(e.abs_(x), number(x, 1))
    small = e.select(near, x, like(x, 0))
    last = 20 if is_double(x) else 11
    total = like(x, 1 / math.factorial(last))
    for k in range(last - 1, 1, -1):
        total = e.add(e.mul(total, small), number(x, 1 / math.factorial(k)))
    series = e.mul(e.mul(small, small), total)
    return e.select(near, series, e.sub(e.expm1(x), x))


# B_2n / (2n (2n - 1)) for n = 1, 2, ...: Abramowitz, Stegun 6.1.41.
STIRLING = (
    1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156,
    -3617 / 122400, 43867 / 244188,
)  # fmt: skip


def stirling(a: Any, count: int = 4) -> Any:
    """Stirling's correction to the logarithm of the gamma function of a + 1.

    Args:
      a: array of floats; four terms are exact to float32 and float64 from 20 on.
      count: how many terms.
    """
    inverse = e.div(number(a, 1), a)
    square = e.mul(inverse, inverse)
    *others, last = STIRLING[:count]
    total = number(a, last)
    for c in reversed(others):
        total = e.add(e.mul(total, square), number(a, c))
    return e.mul(total, inverse)


def divide_exactly(n: Any, d: Any) -> tuple[Any, Any]:
    """`n / d` rounded, and the share of itself that it lacks (T. J. Dekker, 1971)."""
    q = e.div(n, d)
    return q, e.div(e.sub(e.sub(n, e.mul(q, d)), product_tail(q, d)), n)


def subtract_exactly(x: Any, y: Any) -> tuple[Any, Any]:
    """`x - y` rounded, and what it lacks (D. E. Knuth, 1969)."""
    difference = e.sub(x, y)
    part = e.sub(difference, x)
    lack = e.sub(e.sub(x, e.sub(difference, part)), e.add(y, part))
    return difference, lack


def product_tail(x: Any, y: Any) -> Any:
    """What rounding takes from x * y."""
    (xh, xl), (yh, yl) = _halves(x), _halves(y)
    tail = e.sub(e.mul(xh, yh), e.mul(x, y))
    for u, v in ((xh, yl), (xl, yh), (xl, yl)):
        tail = e.add(tail, e.mul(u, v))
    return tail


def _halves(x: Any) -> tuple[Any, Any]:
    """A number as a sum of two of half as many digits."""
    moved = e.mul(x, number(x, 2.0**27 + 1 if is_double(x) else 2.0**12 + 1))
    high = e.sub(moved, e.sub(moved, x))
    return high, e.sub(x, high)


def times_log(power: Any, log: Any) -> Any:
    """`power * log`, and 0 where the power is, for the logarithm of 0^0 = 1."""
    nothing = e.eq(power, number(power, 0))
    return e.select(nothing, like(log, 0), e.mul(power, log))


def wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """Computes small floats in float32, and scalars with arrays as arrays."""

    def run(*xs: Any) -> Any:
        kinds = [avals.aval_of(x) for x in xs]
        shape = max([k.shape for k in kinds], key=len)
        dtype = kinds[0].dtype
        wide = dtype if dtypes.itemsize_bits(dtype) >= 32 else np.dtype(np.float32)
        grown = [
            e.convert(x if k.shape == shape else shaping.broadcast(x, shape), wide)
            for x, k in zip(xs, kinds, strict=True)
        ]
        return e.convert(function(*grown), dtype)

    return run


def elementwise(name: str, decompose: Any, derivatives: Any) -> Primitive:
    return families.elementwise(
        name,
        accepts=families.FLOAT,
        decompose=decompose,
        derivatives=derivatives,
    )
