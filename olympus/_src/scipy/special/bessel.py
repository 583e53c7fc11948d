"""Bessel functions: modified ones of orders 0 and 1, the first kind of all orders."""

from __future__ import annotations

import math
import operator
from functools import partial
from typing import Any

from olympus._src.api.custom_jvp import custom_jvp
from olympus._src.core import avals
from olympus._src.higher_order.loops import fori_loop
from olympus._src.lax import bessel, joining
from olympus._src.lax import elementwise as lax
from olympus._src.numpy import arithmetic, elementary, logic
from olympus._src.numpy.promotion import program
from olympus._src.numpy.selection import where
from olympus._src.scipy.special.arguments import floats, polynomial, wide

minimum, maximum = arithmetic.minimum, arithmetic.maximum


@program(1)
def i0(x: Any) -> Any:
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
    return bessel.bessel_i0_p.bind(*floats("i0", x))


@program(1)
def i0e(x: Any) -> Any:
    """`exp(-|x|) i0(x)`, which does not overflow.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.
    """
    return bessel.bessel_i0e(*floats("i0e", x))


@program(1)
def i1(x: Any) -> Any:
    """Modified Bessel function of the first kind, of order 1.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.
    """
    return bessel.bessel_i1_p.bind(*floats("i1", x))


@program(1)
def i1e(x: Any) -> Any:
    """`exp(-|x|) i1(x)`, which does not overflow.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.
    """
    return bessel.bessel_i1e(*floats("i1e", x))


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


def _upward(z: Any, count: int) -> list[Any]:
    """Orders 0 to count - 1 by the recurrence, which is stable up to order z."""
    below, above = _far_values(z)
    values = [below, above]
    for n in range(1, count - 1):
        values.append(2 * n / z * values[n] - values[n - 1])
    return values[:count]


def _downward(z: Any, count: int, start: int) -> list[Any]:
    """The same by Miller's algorithm: from far above, where all begins with 0.

    The sum J0 + 2 (J2 + J4 + ...) is 1 and gives the scale.
    """
    size = abs(z)
    tiny = size < 1e-3
    safe = where(tiny, 1, size)

    def body(i: Any, carry: Any) -> Any:
        low, high, total = carry
        n = start - i
        factor = lax.convert(2 * n, avals.aval_of(z).dtype) / safe
        low, high = factor * low - high, low
        even = where(arithmetic.remainder(n, 2) == 1, 2 * low, 0)
        total = total + even
        # Kept from overflowing; what is far above vanishes beside what follows.
        shrink = where(abs(low) > 1e15, 1e-15, 1)
        return low * shrink, high * shrink, total * shrink

    steps = start - count
    one = safe * 0
    low, high, total = fori_loop(0, steps, body, (one + 1e-15, one, one))
    values = [low]
    for n in range(count, 0, -1):
        low, high = 2 * n / safe * low - high, low
        values.append(low)
        total = total + (low * (2 if n > 1 else 1) if n % 2 else 0)
        shrink = where(abs(low) > 1e15, 1e-15, 1)
        low, high, total = low * shrink, high * shrink, total * shrink
        values = [v * shrink for v in values]
    values = [v / total for v in reversed(values)][:count]
    half = where(tiny, size, 0) / 2
    square = half * half
    near, lead = [], one + 1
    for n in range(count):  # the first three terms of the power series
        rest = 1 - square / (n + 1) * (1 - square / (2 * n + 4))
        near.append(lead * rest)
        lead = lead * half / (n + 1)
    return [where(tiny, a, b) for a, b in zip(near, values, strict=True)]


def _all_orders(z: Any, count: int, n_iter: int) -> Any:
    """Orders 0 to count - 1, stacked before the axes of z."""
    size = abs(z)
    # Above order and argument the functions fall fast: 50 more orders are none.
    reach = max(count, int(_FAR)) + max(n_iter, 50)
    near = _downward(minimum(size, max(_FAR, float(count))), count, reach)
    far = _upward(maximum(size, max(_FAR, float(count))), max(count, 2))[:count]
    is_near = size < max(_FAR, float(count))
    values = [where(is_near, a, b) for a, b in zip(near, far, strict=True)]
    values = [where((z < 0), -v, v) if n % 2 else v for n, v in enumerate(values)]
    values = [where(logic.isinf(z), 0, v) for v in values]
    return joining.concatenate([v[None] for v in values], 0)


@partial(custom_jvp, nondiff_argnums=(1, 2))
def _bessel_jn(z: Any, v: int, n_iter: int) -> Any:
    return _all_orders(z, v + 1, n_iter)


@_bessel_jn.defjvp
def _bessel_jn_jvp(v: int, n_iter: int, primals: Any, tangents: Any) -> Any:
    """Each slope is half the difference of the neighbours."""
    (z,), (t,) = primals, tangents
    values = _bessel_jn(z, v + 1, n_iter)
    slopes = [-values[1]]
    slopes += [(values[n - 1] - values[n + 1]) / 2 for n in range(1, v + 1)]
    return values[: v + 1], joining.concatenate([(t * s)[None] for s in slopes], 0)


@program(1, "bessel_jn")
def _jn(z: Any, v: int, n_iter: int) -> Any:
    (z,) = floats("bessel_jn", z, weak=False)
    return wide(lambda x: _bessel_jn(x, v, n_iter))(z)


def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> Any:
    """Bessel functions of the first kind, of orders 0 to v.

    Args:
      z: real array or number.
      v: the highest order, not negative.
      n_iter: how many orders above v and z the recurrence begins, at least 50.

    Returns:
      A floating array with the orders before the axes of z: of shape `(v + 1, ...)`.

    Raises:
      TypeError: v or `n_iter` is no integer.
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
