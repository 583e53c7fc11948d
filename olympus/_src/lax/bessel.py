"""Modified Bessel functions of the first kind, scaled by exp(-|x|).

Order 0 is a Chebyshev series in x/4 - 1 up to 8, and beyond that one in 16/x - 1 of the
function times the root of x (Abramowitz, Stegun 9.7.1 tells that this tends to a
constant). The coefficients interpolate SciPy's values at Chebyshev points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.primitive import Primitive
from olympus._src.lax import elementwise as e
from olympus._src.lax import families
from olympus._src.lowering import types

_FILE = "lax/bessel.py"

_NEAR = (
    0.33839763720473803, -0.30468267234319835, 0.17162090152220866,
    -0.09490109704804756, 0.0493052842396706, -0.02373741480589942,
    0.010546460394594982, -0.0043243099950506176, 0.0016394756169414303,
    -0.0005763755745386508, 0.00018850288509594159, -5.754195010083698e-05,
    1.6448448070681465e-05, -4.416738358362173e-06, 1.1173875389531062e-06,
    -2.670793852751227e-07, 6.046995008400219e-08, -1.3000250029149197e-08,
    2.6598236692709656e-09, -5.189795312201744e-10, 9.675806236777058e-11,
    -1.7268247165649802e-11, 2.955065940785614e-12, -4.855811785382392e-13,
    7.655592029008407e-14, -1.140938391257896e-14,
)  # fmt: skip
_FAR = (
    0.40224520550705434, 0.003369116478255694, 6.889758346908841e-05,
    2.8913705208239447e-06, 2.0489185887242103e-07, 2.266668990530124e-08,
    3.3962320029531785e-09, 4.940602365184181e-10, 1.1889231149577118e-11,
    -3.149915250605489e-11, -1.3215691472587112e-11, -1.7941744135350854e-12,
    7.17974971934253e-13, 3.85270579984385e-13, 1.5237364063287973e-14,
    -4.1505600751626905e-14, -9.672323931960893e-15, 3.812447344733349e-15,
)  # fmt: skip


def _chebyshev(t: Any, coefficients: Sequence[float]) -> Any:
    """The series at t from -1 to 1, by Clenshaw's recurrence."""
    later = ahead = families.scalar_like(t, 0)
    twice = e.mul(t, families.scalar_like(t, 2))
    for c in reversed(coefficients[1:]):
        product = e.sub(e.mul(twice, later), ahead)
        later, ahead = e.add(product, families.scalar_like(t, c)), later
    return e.add(
        e.sub(e.mul(t, later), ahead), families.scalar_like(t, coefficients[0])
    )


def _order_zero(x: Any) -> Any:
    dtype = avals.aval_of(x).dtype
    if dtypes.itemsize_bits(dtype) < 32:
        return e.convert(_order_zero(e.convert(x, np.dtype(np.float32))), dtype)
    size = e.abs_(x)
    one, eight = families.scalar_like(x, 1), families.scalar_like(x, 8)
    inner = e.min_(size, eight)
    near = _chebyshev(e.sub(e.mul(inner, families.scalar_like(x, 0.25)), one), _NEAR)
    outer = e.max_(size, eight)
    t = e.sub(e.div(families.scalar_like(x, 16), outer), one)
    far = e.mul(_chebyshev(t, _FAR), e.rsqrt(outer))
    return e.select(e.le(size, eight), near, far)


def _order_one_lower(ctx: Any, x: str) -> str:
    t = types.tensor_type(ctx.avals_out[0])
    return ctx.block.emit(f"chlo.bessel_i1e {x} : {t} -> {t}")


bessel_i0e_p = families.elementwise(
    "bessel_i0e",
    accepts=families.FLOAT,
    decompose=_order_zero,
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
    decompose=lambda x: e.mul(e.exp(e.abs_(x)), bessel_i0e(x)),
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
