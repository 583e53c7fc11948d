"""Modified Bessel functions of the first kind, scaled by exp(-|x|).

Up to 8 they are their power series (Abramowitz, Stegun 9.6.10), and beyond that
Chebyshev series in 16/x - 1 of the scaled function times the root of x (9.7.1 shows
that this tends to a constant). Their coefficients interpolate values of 50 digits
(mpmath) at Chebyshev points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Primitive
from olympus._src.lax import elementwise as e
from olympus._src.lax import families
from olympus._src.lax.offered_operations import offer_decomposition

# In (x/8)^2: 16^k / (k! (k + order)!). What is beyond is none of float64 up to 8.
_NEAR = tuple(
    tuple(16.0**k / (math.factorial(k) * math.factorial(k + order)) for k in range(27))
    for order in (0, 1)
)
_FAR_ZERO = (
    0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05,
    2.8913705208347567e-06, 2.0489185894690638e-07, 2.266668990498178e-08,
    3.3962320257083865e-09, 4.94060238822497e-10, 1.1889147107846439e-11,
    -3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12,
    7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14,
    -4.150569347287222e-14, -9.554846698828307e-15, 3.8116806693526224e-15,
    1.7725601330565263e-15, -3.425485619677219e-16, -2.8276239805165836e-16,
    3.461222867697461e-17, 4.46562142029676e-17, -4.830504485944182e-18,
)  # fmt: skip
_FAR_ONE = (
    0.38928811750914005, -0.009761097491361469, -0.00011058893876262371,
    -3.882564808877691e-06, -2.512236237870209e-07, -2.6314688468895196e-08,
    -3.835380385964237e-09, -5.589743462196584e-10, -1.8974958123505413e-11,
    3.2526035830154884e-11, 1.4125807436613782e-11, 2.0356285441470896e-12,
    -7.198551776245908e-13, -4.0835511110921974e-13, -2.1015418427726643e-14,
    4.2724400167119517e-14, 1.0420276984128802e-14, -3.814403072437007e-15,
    -1.8803547755107805e-15, 3.30820231092085e-16, 2.9626289976460157e-16,
    -3.209525921991637e-17, -4.6503053684947827e-17, 4.414348323093937e-18,
)  # fmt: skip
_FAR = (_FAR_ZERO, _FAR_ONE)


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


def _near(size: Any, order: int) -> Any:
    """The function from 0 to 8: a sum of positive terms, which is exact."""
    eighth = e.mul(size, families.scalar_like(size, 0.125))
    square = e.mul(eighth, eighth)
    first, *others = reversed(_NEAR[order])
    total = families.scalar_like(size, first)
    for c in others:
        total = e.add(e.mul(total, square), families.scalar_like(size, c))
    half = e.mul(size, families.scalar_like(size, 0.5))
    return e.mul(half, total) if order else total


def _far(size: Any, order: int) -> Any:
    """The scaled function from 8."""
    t = e.sub(
        e.div(families.scalar_like(size, 16), size), families.scalar_like(size, 1)
    )
    return e.mul(chebyshev(t, _FAR[order]), e.rsqrt(size))


def _evaluate(x: Any, order: int, scaled: bool) -> Any:
    dtype = avals.aval_of(x).dtype
    if dtypes.itemsize_bits(dtype) < 32:
        single = e.convert(x, np.dtype(np.float32))
        return e.convert(_evaluate(single, order, scaled), dtype)
    size = e.abs_(x)
    eight = families.scalar_like(x, 8)
    near, far = _near(e.min_(size, eight), order), _far(e.max_(size, eight), order)
    if scaled:
        near = e.mul(e.exp(e.neg(size)), near)
    else:
        far = e.mul(e.exp(size), far)
    out = e.select(e.le(size, eight), near, far)
    is_turned = e.lt(x, families.scalar_like(x, 0))
    return e.select(is_turned, e.neg(out), out) if order else out


bessel_i0e_p = families.elementwise(
    "bessel_i0e",
    accepts=families.FLOAT,
    decompose=lambda x: _evaluate(x, 0, scaled=True),
    derivatives=(lambda t, out, x: e.mul(t, _slope_zero(out, x)),),
)
bessel_i1e_p = families.elementwise(
    "bessel_i1e",
    accepts=families.FLOAT,
    decompose=lambda x: _evaluate(x, 1, scaled=True),
    derivatives=(lambda t, out, x: e.mul(t, _slope_one(out, x)),),
)


# In 1/x, of (I0 - I1) exp(-x) sqrt(2 pi x): the difference of both expansions
# (Abramowitz, Stegun 9.7.1), whose leading terms cancel.
_EXCESS = (1 / 2, 3 / 16, 45 / 256, 525 / 2048, 33075 / 65536)


def _excess(size: Any, zero: Any, one: Any) -> Any:
    """I0 - I1, scaled, for x >= 0; far out by its own expansion."""
    is_wide = dtypes.itemsize_bits(avals.aval_of(size).dtype) > 32
    least = families.full_like(size, 2000 if is_wide else 30)
    is_finite = e.lt(size, families.scalar_like(size, math.inf))
    is_far = e.bitwise_and(e.gt(size, least), is_finite)
    safe = e.select(is_far, size, least)
    inverse = e.div(families.scalar_like(size, 1), safe)
    total = families.scalar_like(size, 0)
    for c in reversed(_EXCESS):
        total = e.mul(e.add(total, families.scalar_like(size, c)), inverse)
    root = e.rsqrt(e.mul(safe, families.scalar_like(size, 2 * math.pi)))
    return e.select(is_far, e.mul(total, root), e.sub(zero, one))


def _slope_zero(out: Any, x: Any) -> Any:
    change = _excess(e.abs_(x), out, e.abs_(bessel_i1e(x)))
    return e.neg(e.mul(e.sign(x), change))


def _slope_one(out: Any, x: Any) -> Any:
    """I1' = I0 - I1/x, and the scale's own part."""
    change = _excess(e.abs_(x), bessel_i0e(x), e.abs_(out))
    return e.sub(change, _divide_by_x(out, x))


def _divide_by_x(out: Any, x: Any) -> Any:
    """I1/x, which tends to 1/2 at 0."""
    is_zero = e.eq(x, families.scalar_like(x, 0))
    safe = e.select(is_zero, families.scalar_like(x, 1), x)
    return e.select(is_zero, families.scalar_like(x, 0.5), e.div(out, safe))


# The functions themselves have records of their own, since the derivatives of exp(|x|)
# and of the scaled functions cancel, and at 0 each has a jump.
bessel_i0_p: Primitive = families.elementwise(
    "bessel_i0",
    accepts=families.FLOAT,
    decompose=lambda x: _evaluate(x, 0, scaled=False),
    derivatives=(lambda t, out, x: e.mul(t, bessel_i1_p.bind(x)),),
    offer=offer_decomposition,
)
bessel_i1_p: Primitive = families.elementwise(
    "bessel_i1",
    accepts=families.FLOAT,
    decompose=lambda x: _evaluate(x, 1, scaled=False),
    derivatives=(
        lambda t, out, x: e.mul(t, e.sub(bessel_i0_p.bind(x), _divide_by_x(out, x))),
    ),
    offer=offer_decomposition,
)


def bessel_i0e(x: ArrayLike) -> Array:
    """exp(-|x|) I0(x), elementwise: the Bessel function of order 0, scaled.

    Args:
      x: floating array.

    Example:
      >>> lax.bessel_i0e(jnp.array([0.0]))
      Array([1.], dtype=float32)
    """
    return bessel_i0e_p.bind(x)


def bessel_i1e(x: ArrayLike) -> Array:
    """exp(-|x|) I1(x), elementwise: the Bessel function of order 1, scaled.

    Args:
      x: floating array.

    Example:
      >>> lax.bessel_i1e(jnp.array([0.0]))
      Array([0.], dtype=float32)
    """
    return bessel_i1e_p.bind(x)
