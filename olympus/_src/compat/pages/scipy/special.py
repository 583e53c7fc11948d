"""Tables of associated Legendre functions, which JAX has still."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.numpy import elementary
from olympus._src.numpy.join_split import stack
from olympus._src.numpy.selection import where


def _check(name: str, m: int, n: int, z: Any) -> Any:
    aval = avals.aval_of(z)
    if dtypes.kind(aval.dtype) != "f":
        raise TypeError(
            f"scipy.special.{name}: z must be of a floating dtype, got {aval.short()}"
        )
    if aval.ndim != 1:
        raise ValueError(
            f"scipy.special.{name}: z must be a 1D array, got {aval.short()}"
        )
    if m != n or m < 0:
        raise NotImplementedError(
            f"scipy.special.{name}: m and n must be equal and not negative, got {m} "
            f"and {n}"
        )
    return z


def _rows(top: int, z: Any, is_normalized: bool) -> list[list[Any]]:
    """The functions by order and degree, 0 where the order is larger.

    Upwards in the degree from the one whose degree is the order (DLMF 14.10.3); the
    factors of normalised ones are taken into the recurrence.
    """
    root = elementary.sqrt(1 - z * z)
    zero = abs(z) * 0
    rows = []
    diagonal = zero + (math.sqrt(0.25 / math.pi) if is_normalized else 1.0)
    for m in range(top + 1):
        if m:
            factor = math.sqrt((2 * m + 1) / (2 * m)) if is_normalized else 2 * m - 1
            diagonal = -factor * root * diagonal
        row = [zero] * m + [diagonal]
        for n in range(m + 1, top + 1):
            a, b = _factors(m, n, is_normalized)
            row.append(a * z * row[n - 1] - b * (row[n - 2] if n > m + 1 else zero))
        rows.append(row)
    return rows


def _factors(m: int, n: int, is_normalized: bool) -> tuple[float, float]:
    """Of the functions of the last degree, times z, and of the one before."""
    if not is_normalized:
        return (2 * n - 1) / (n - m), (n + m - 1) / (n - m)
    a = math.sqrt((4 * n * n - 1) / (n * n - m * m))
    before = (n - 1) * (n - 1)
    return a, a * math.sqrt((before - m * m) / (4 * before - 1)) if n > 1 else 0.0


def lpmn_values(m: int, n: int, z: Any, is_normalized: bool) -> Any:
    """Associated Legendre functions of all orders to m and degrees to n.

    Args:
      m, n: the largest order and degree, which must be equal.
      z: a vector of floats.
      is_normalized: of norm 1 on the sphere, as spherical harmonics are made of.

    Returns:
      An array of shape (m + 1, n + 1, len(z)).
    """
    z = _check("lpmn_values", m, n, z)
    return stack([stack(row) for row in _rows(m, z, is_normalized)])


def lpmn(m: int, n: int, z: Any) -> tuple[Any, Any]:
    """Associated Legendre functions, not normalised, and their derivatives.

    Args:
      m, n: the largest order and degree, which must be equal.
      z: a vector of floats.
    """
    z = _check("lpmn", m, n, z)
    rows = _rows(m, z, False)
    slopes = [[_slope(rows, i, k, z) for k in range(n + 1)] for i in range(m + 1)]
    return stack([stack(row) for row in rows]), stack([stack(row) for row in slopes])


def _slope(rows: list[list[Any]], m: int, n: int, z: Any) -> Any:
    """The derivative of one function (DLMF 14.10.5), with its limits at both ends."""
    if m > n or n == 0:
        return abs(z) * 0
    before = rows[m][n - 1]
    at_end = abs(z) == 1
    span = where(at_end, 1, 1 - z * z)
    inside = ((n + m) * before - n * z * rows[m][n]) / span
    return where(at_end, _slope_at_end(m, n, z), inside)


def _slope_at_end(m: int, n: int, z: Any) -> Any:
    sign = where(z > 0, 1, (-1) ** (n + m + 1))
    if m == 0:
        return sign * (n * (n + 1) / 2)
    if m == 1:
        return sign * np.inf
    return sign * (-(n - 1) * n * (n + 1) * (n + 2) / 4 if m == 2 else 0.0)


_NOTE = "no replacement is planned"
DEPRECATED = {"lpmn": _NOTE, "lpmn_values": _NOTE}

__all__ = ["lpmn", "lpmn_values"]
