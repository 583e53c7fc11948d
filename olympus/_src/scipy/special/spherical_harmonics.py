"""Spherical harmonics."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes, trace
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.foundation import errors
from olympus._src.lax import elementwise as lax
from olympus._src.lax import shaping
from olympus._src.numpy import arithmetic, elementary
from olympus._src.numpy.promotion import program
from olympus._src.numpy.selection import where
from olympus._src.scipy.checks import as_array
from olympus._src.scipy.special.arguments import check, default_floats, reals


@program(4)
def _harmonics(n: Any, m: Any, theta: Any, phi: Any, top: int) -> Any:
    n, m, theta, phi = reals("sph_harm_y", n, m, theta, phi, weak=False)
    n, m, theta, phi = default_floats(n, m, theta, phi)
    order = abs(m)
    legendre = _legendre(n, order, theta, top)
    # Orders below 0 are the conjugates of those above, with signs in turn.
    sign = where((m < 0) & (arithmetic.remainder(order, 2) == 1), -1, 1)
    legendre = where(order <= n, sign * legendre, 0)
    legendre = where((n < 0) | (n > top), math.nan, legendre)
    angle = m * phi
    return lax.complex_(
        legendre * elementary.cos(angle), legendre * elementary.sin(angle)
    )


def _legendre(n: Any, m: Any, theta: Any, top: int) -> Any:
    """Normalised associated Legendre functions of the cosine, for m from 0 to n.

    By the recurrence in the degree, from the function whose degree is the order.
    """
    cosine, sine = elementary.cos(theta), elementary.sin(theta)
    diagonal = shaping.full_like(theta, math.sqrt(1 / (4 * math.pi)))
    out = below = above = shaping.full_like(theta, 0)
    for degree in range(top + 1):
        if degree:
            factor = math.sqrt((2 * degree + 1) / (2 * degree))
            diagonal = -factor * sine * diagonal
        # Beyond the order: a recurrence of three terms with these factors.
        inner = where(m < degree, m, 0)
        span = max(degree, 1) ** 2 - inner * inner
        a = elementary.sqrt((4 * max(degree, 1) ** 2 - 1) / span)
        previous = max(degree - 1, 0) ** 2
        inside = where(m < degree - 1, previous - inner * inner, 0)
        b = elementary.sqrt(where(inside == 0, 0, inside) / max(4 * previous - 1, 1))
        following = a * (cosine * above - b * below)
        below, above = above, where(m == degree, diagonal, following)
        above = where(m > degree, 0, above)
        out = where(n == degree, above, out)
    return out


def sph_harm_y(
    n: ArrayLike,
    m: ArrayLike,
    theta: ArrayLike,
    phi: ArrayLike,
    diff_n: int | None = None,
    n_max: int | None = None,
) -> Array:
    """Spherical harmonics of degree n and order m, with the Condon-Shortley phase.

    Differs from SciPy: derivatives are not returned: `diff_n` must be None; a negative
    degree gives NaN, where SciPy gives 0.

    Args:
      n: array or number of an integer dtype: degrees, not negative.
      m: array or number of an integer dtype: orders, from -n to n; 0 results outside.
      theta: real array or number: polar angles, from 0 to pi.
      phi: real array or number: azimuthal angles.
      diff_n: must be None; differentiate with `jacfwd`.
      n_max: the largest degree; needed where n is traced.

    Returns:
      A complex array of the common shape; NaN where n is negative or above `n_max`.

    Raises:
      NotImplementedError: `diff_n` is given.
      TypeError: n or m are not integers, or n is traced and `n_max` is None
        (`ConcretizationTypeError`).

    Example:
      >>> from olympus.scipy import special
      >>> print(f"{special.sph_harm_y(0, 0, 0.5, 0.3).real:.4f}")
      0.2821
    """
    if diff_n is not None:
        raise NotImplementedError(
            f"scipy.special.sph_harm_y: diff_n must be None, got {diff_n}; "
            "differentiate with olympus.jacfwd"
        )
    n, m, theta, phi = map(as_array, (n, m, theta, phi))
    check("sph_harm_y", n, m, theta, phi)
    for name, x in (("n", n), ("m", m)):
        dtype = avals.aval_of(x).dtype
        if dtypes.kind(dtype) not in "iu":
            raise TypeError(
                f"scipy.special.sph_harm_y: {name} must have an integer dtype, got "
                f"{dtype}; convert it with astype"
            )
    return _harmonics(n, m, theta, phi, top=_top_degree(n, n_max))


def _top_degree(n: Any, n_max: Any) -> int:
    if n_max is not None:
        try:
            return max(operator.index(n_max), 0)
        except TypeError:
            raise TypeError(
                "scipy.special.sph_harm_y: n_max must be an integer, got "
                f"{type(n_max)}; pass an int"
            ) from None
    if isinstance(n, trace.Tracer):
        raise errors.ConcretizationTypeError(
            "scipy.special.sph_harm_y: n_max must be given where n is traced, got "
            f"None with n of type {avals.aval_of(n)}; pass the largest degree"
        )
    degrees = np.asarray(n)
    return max(int(degrees.max()), 0) if degrees.size else 0
