"""Modified Bessel functions of the first kind, scaled by exp(-|x|).

Order 0 is its power series up to 8 (Abramowitz, Stegun 9.6.12), and beyond that a
Chebyshev series in 16/x - 1 of the scaled function times the root of x (9.7.1 tells that
this tends to a constant). Its coefficients interpolate values of 50 digits (mpmath) at
Chebyshev points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.primitive import Primitive
from olympus._src.lax import elementwise as e
from olympus._src.lax import families

_FILE = "lax/bessel.py"

# In (x/8)^2: 16^k / k!^2. What is beyond is none of float64 up to 8.
_NEAR = tuple(16.0**k / math.factorial(k) ** 2 for k in range(27))
_FAR = (
    0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05,
    2.8913705208347567e-06, 2.0489185894690638e-07, 2.266668990498178e-08,
    3.3962320257083865e-09, 4.94060238822497e-10, 1.1889147107846439e-11,
    -3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12,
    7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14,
    -4.150569347287222e-14, -9.554846698828307e-15, 3.8116806693526224e-15,
    1.7725601330565263e-15, -3.425485619677219e-16, -2.8276239805165836e-16,
    3.461222867697461e-17, 4.46562142029676e-17, -4.830504485944182e-18,
)  # fmt: skip


def chebyshev(t: Any, coefficients: Sequence[float]) -> Any:
    """The series at t from -1 to 1, by Clenshaw's recurrence."""
    later = ahead = families.scalar_like(t, 0)
    twice = e.mul(t, families.scalar_like(t, 2))
    for c in reversed(coefficients[1:]):
        product = e.sub(e.mul(twice, later), ahead)
        later, ahead = e.add(product, families.scalar_like(t, c)), later
    return e.add(
        e.sub(e.mul(t, later), ahead), families.scalar_like(t, coefficients[0])
    )


def _near(size: Any) -> Any:
    """The function of order 0 from 0 to 8: a sum of positive terms, which are exact."""
    eighth = e.mul(size, families.scalar_like(size, 0.125))
    square = e.mul(eighth, eighth)
    total = families.scalar_like(size, _NEAR[-1])
    for c in reversed(_NEAR[:-1]):
        total = e.add(e.mul(total, square), families.scalar_like(size, c))
    return total


def _far(size: Any) -> Any:
    """The scaled function of order 0 from 8."""
    t = e.sub(e.div(families.scalar_like(size, 16), size), families.scalar_like(size, 1))
    return e.mul(chebyshev(t, _FAR), e.rsqrt(size))


def _order_zero(x: Any, scaled: bool) -> Any:
    dtype = avals.aval_of(x).dtype
    if dtypes.itemsize_bits(dtype) < 32:
        single = e.convert(x, np.dtype(np.float32))
        return e.convert(_order_zero(single, scaled), dtype)
    size = e.abs_(x)
    eight = families.scalar_like(x, 8)
    near, far = _near(e.min_(size, eight)), _far(e.max_(size, eight))
    if scaled:
        near = e.mul(e.exp(e.neg(size)), near)
    else:
        far = e.mul(e.exp(size), far)
    return e.select(e.le(size, eight), near, far)


def _order_one_lower(ctx: Any, x: str) -> str:
    return ctx.block.chlo("bessel_i1e", [x], ctx.avals_out[0])


bessel_i0e_p = families.elementwise(
    "bessel_i0e",
    accepts=families.FLOAT,
    decompose=lambda x: _order_zero(x, True),
    derivatives=(lambda t, out, x: e.mul(t, _slope_zero(out, x)),),
    file=_FILE,
)
bessel_i0e_p.lower = None
bessel_i1e_p = families.elementwise(
    "bessel_i1e",
    accepts=families.FLOAT,
    lower=_order_one_lower,
    derivatives=(lambda t, out, x: e.mul(t, _slope_one(out, x)),),
    file=_FILE,
)


def _slope_zero(out: Any, x: Any) -> Any:
    return e.sub(bessel_i1e(x), e.mul(e.sign(x), out))


def _slope_one(out: Any, x: Any) -> Any:
    """I1' = I0 - I1/x, and the scale's own part."""
    return e.sub(e.sub(bessel_i0e(x), _by_x(out, x)), e.mul(e.sign(x), out))


def _by_x(out: Any, x: Any) -> Any:
    """I1/x, which tends to 1/2 at 0."""
    is_zero = e.eq(x, families.scalar_like(x, 0))
    safe = e.select(is_zero, families.scalar_like(x, 1), x)
    return e.select(is_zero, families.scalar_like(x, 0.5), e.div(out, safe))


# The functions themselves have records of their own, since the derivatives of exp(|x|)
# and of the scaled functions cancel, and at 0 each has a jump.
bessel_i0_p: Primitive = families.elementwise(
    "bessel_i0",
    accepts=families.FLOAT,
    decompose=lambda x: _order_zero(x, False),
    derivatives=(lambda t, out, x: e.mul(t, bessel_i1_p.bind(x)),),
    file=_FILE,
)
bessel_i0_p.lower = None
bessel_i1_p: Primitive = families.elementwise(
    "bessel_i1",
    accepts=families.FLOAT,
    decompose=lambda x: e.mul(e.exp(e.abs_(x)), bessel_i1e(x)),
    derivatives=(
        lambda t, out, x: e.mul(t, e.sub(bessel_i0_p.bind(x), _by_x(out, x))),
    ),
    file=_FILE,
)
bessel_i1_p.lower = None


def bessel_i0e(x: Any) -> Any:
    """exp(-|x|) I0(x), elementwise: the Bessel function of order 0, scaled.

    Args:
      x: floating array.

    Example:
      >>> lax.bessel_i0e(jnp.array([0.0]))
      Array([1.], dtype=float32)
    """
    return bessel_i0e_p.bind(x)


def bessel_i1e(x: Any) -> Any:
    """exp(-|x|) I1(x), elementwise: the Bessel function of order 1, scaled.

    Args:
      x: floating array.

    Source: `chlo.bessel_i1e`.

    Example:
      >>> lax.bessel_i1e(jnp.array([0.0]))
      Array([0.], dtype=float32)
    """
    return bessel_i1e_p.bind(x)
