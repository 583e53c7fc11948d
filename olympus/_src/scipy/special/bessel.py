"""Bessel functions: modified ones of orders 0 and 1, the first kind of all orders."""

from __future__ import annotations

import math
import operator
from functools import partial
from typing import Any

import numpy as np

from olympus._src.api.custom_jvp import custom_jvp
from olympus._src.control_flow.scan import scan
from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.lax import bessel, concatenation
from olympus._src.numpy import arithmetic, elementary, logic
from olympus._src.numpy.promotion import program
from olympus._src.numpy.selection import where
from olympus._src.scipy.checks import as_array
from olympus._src.scipy.special.arguments import (
    polynomial,
    reals,
    wide,
)

minimum, maximum = arithmetic.minimum, arithmetic.maximum


@program(1)
def i0(x: ArrayLike) -> Array:
    """Modified Bessel function of the first kind, of order 0.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.i0(0.0))
      1.0
    """
    return bessel.bessel_i0_p.bind(*reals("i0", x))


@program(1)
def i0e(x: ArrayLike) -> Array:
    """`exp(-|x|) i0(x)`, which does not overflow.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.i0e(jnp.array([0.0]))
      Array([1.], dtype=float32)
    """
    return bessel.bessel_i0e(*reals("i0e", x))


@program(1)
def i1(x: ArrayLike) -> Array:
    """Modified Bessel function of the first kind, of order 1.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.i1(jnp.array([0.0]))
      Array([0.], dtype=float32)
    """
    return bessel.bessel_i1_p.bind(*reals("i1", x))


@program(1)
def i1e(x: ArrayLike) -> Array:
    """`exp(-|x|) i1(x)`, which does not overflow.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.i1e(jnp.array([0.0]))
      Array([0.], dtype=float32)
    """
    return bessel.bessel_i1e(*reals("i1e", x))


# -- the first kind --------------------------------------------------------------------

_FAR = 25.0


def _hankel(order: int) -> tuple[list[float], list[float]]:
    """Coefficients in (25/z)^2 of the two series of Hankel's expansion, highest first.

    Abramowitz, Stegun 9.2.9 and 9.2.10; scaled, so that float32 holds them.
    """
    even: list[float] = []
    odd: list[float] = []
    term = 1.0
    for k in range(24):
        (odd if k % 2 else even).append((-1) ** (k // 2) * term)
        term *= (4 * order * order - (2 * k + 1) ** 2) / ((k + 1) * 8 * _FAR)
    return even[::-1], odd[::-1]


def _far_values(z: Any) -> tuple[Any, Any]:
    """J0 and J1 at z of at least 25."""
    inverse = 1 / z
    sine, cosine = elementary.sin(z), elementary.cos(z)
    scale = elementary.sqrt(inverse / math.pi)
    values = []
    for order in (0, 1):
        even, odd = _hankel(order)
        u = _FAR * inverse
        p = polynomial(u * u, even)
        q = u * polynomial(u * u, odd)
        # Cosine and sine of z less an odd number of eighths of a turn, times root 2.
        plus, minus = cosine + sine, sine - cosine
        c, s = (minus, -plus) if order else (plus, minus)
        values.append(scale * (p * c - q * s))
    return values[0], values[1]


def _upward(z: Any, count: int) -> Any:
    """Orders 0 to count - 1 by the recurrence, which is stable up to order z."""

    def body(carry: Any, n: Any) -> Any:
        below, above = carry
        return (above, n / z * above - below), below

    double = (2 * np.arange(1, count + 1)).astype(avals.aval_of(z).dtype)
    return scan(body, _far_values(z), double)[1]


_SHRINK = 1e-15


def _downward(z: Any, count: int, start: int) -> Any:
    """The same by Miller's algorithm: from far above, where all begins with 0.

    The sum J0 + 2 (J2 + J4 + ...) is 1 and gives the scale. Values are kept from
    overflowing by a factor, and with each is kept how often that was applied.
    """
    size = abs(z)
    tiny = size < 1e-3
    safe = where(tiny, 1, size)
    dtype = avals.aval_of(z).dtype

    def body(carry: Any, step: Any) -> Any:
        low, high, total, shrunk = carry
        double, weight = step
        low, high = double / safe * low - high, low
        total = total + weight * low
        shrinks = abs(low) > 1 / _SHRINK
        factor = where(shrinks, _SHRINK, 1)
        shrunk = shrunk + where(shrinks, 1, 0)
        low, high, total = low * factor, high * factor, total * factor
        return (low, high, total, shrunk), (low, shrunk)

    orders = np.arange(start - 1, -1, -1)
    weights = np.where(orders % 2 == 0, 2, 0) - (orders == 0)
    steps = (2 * (orders + 1)).astype(dtype), weights.astype(dtype)
    zero = safe * 0
    first = zero + _SHRINK, zero, zero, zero
    (_, _, total, shrunk), (values, marks) = scan(body, first, steps)
    values, marks = values[::-1][:count], marks[::-1][:count]
    values = values * arithmetic.power(_SHRINK, shrunk[None] - marks) / total[None]
    return where(tiny[None], _power_series(where(tiny, size, 0) / 2, count), values)


def _power_series(half: Any, count: int) -> Any:
    """The first three terms near 0."""
    square = half * half

    def body(lead: Any, n: Any) -> Any:
        factor = 1 - square / (n + 1) * (1 - square / (2 * n + 4))
        return lead * half / (n + 1), lead * factor

    orders = np.arange(count).astype(avals.aval_of(half).dtype)
    return scan(body, half * 0 + 1, orders)[1]


def _all_orders(z: Any, count: int, n_iter: int) -> Any:
    """Orders 0 to count - 1, stacked before the axes of z."""
    size = abs(z)
    # Above order and argument the functions fall fast: 50 more orders are none.
    bound = max(_FAR, float(count))
    near = _downward(minimum(size, bound), count, int(bound) + max(n_iter, 50))
    finite = where(logic.isinf(z), bound, maximum(size, bound))
    far = where(logic.isinf(z), 0, _upward(finite, count))
    orders = np.arange(count).reshape((count,) + (1,) * avals.aval_of(z).ndim)
    is_negated = (orders % 2 == 1) & (z < 0)[None]
    out = where((size < bound)[None], near, far)
    return where(is_negated, -out, out)


@partial(custom_jvp, nondiff_argnums=(1, 2))
def _bessel_jn(z: Any, v: int, n_iter: int) -> Any:
    return _all_orders(z, v + 1, n_iter)


@_bessel_jn.defjvp
def _bessel_jn_jvp(v: int, n_iter: int, primals: Any, tangents: Any) -> Any:
    """Each slope is half the difference of the neighbours."""
    (z,), (t,) = primals, tangents
    values = _bessel_jn(z, v + 1, n_iter)
    below = concatenation.concatenate([-values[1:2], values[:v]], 0)
    return values[: v + 1], t[None] * ((below - values[1:]) / 2)


@program(1, "bessel_jn")
def _jn(z: Any, v: int, n_iter: int) -> Any:
    (z,) = reals("bessel_jn", as_array(z), weak=False)
    return wide(lambda x: _bessel_jn(x, v, n_iter))(z)


def bessel_jn(z: ArrayLike, *, v: int, n_iter: int = 50) -> Array:
    """Bessel functions of the first kind, of orders 0 to v.

    Args:
      z: real array or number.
      v: the highest order, not negative.
      n_iter: how many orders above v and z the recurrence begins, at least 50.

    Returns:
      A floating array with the orders before the axes of z: of shape `(v + 1, ...)`.

    Raises:
      TypeError: v or `n_iter` is not an integer.
      ValueError: v or `n_iter` is negative, or z is complex.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.bessel_jn(0.0, v=2))
      [1. 0. 0.]
    """
    counts = []
    for name, value in (("v", v), ("n_iter", n_iter)):
        try:
            count = operator.index(value)
        except TypeError:
            raise TypeError(
                f"scipy.special.bessel_jn: {name} must be an integer, got "
                f"{type(value)}; pass an int"
            ) from None
        if count < 0:
            raise ValueError(
                f"scipy.special.bessel_jn: {name} must not be negative, got {count}; "
                "pass an int of at least 0"
            )
        counts.append(count)
    return _jn(z, v=counts[0], n_iter=counts[1])
