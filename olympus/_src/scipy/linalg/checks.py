"""Checks and conversions of the arguments of matrix functions."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals
from olympus._src.lax import sizes
from olympus._src.numpy import promotion
from olympus._src.scipy import checks

aval_of = avals.aval_of


def as_arrays(name: str, *args: Any) -> list[Any]:
    """Arguments, with arrays in place of sequences and of what NumPy makes arrays of.

    Raises:
      TypeError: one is neither.
    """
    return checks.as_arrays(f"linalg.{name}", *args)


def check_vectors(name: str, what: str, x: Any) -> None:
    """Raises ValueError for a scalar."""
    if not aval_of(x).ndim:
        raise ValueError(
            f"scipy.linalg.{name}: {what} must be at least 1-dimensional, got a "
            "scalar; reshape it"
        )


def check_square(name: str, what: str, x: Any) -> None:
    """Raises ValueError unless `x` holds square matrices."""
    aval = aval_of(x)
    if aval.ndim < 2 or aval.shape[-1] != aval.shape[-2]:
        raise ValueError(
            f"scipy.linalg.{name}: expected {what} to hold square matrices "
            f"[..., n, n], got {aval.short()}; reshape it"
        )


def one_of(name: str, what: str, value: Any, known: tuple[Any, ...]) -> None:
    """Raises ValueError unless `value` is one of those known."""
    if value not in known:
        listed = ", ".join(map(repr, known))
        raise ValueError(
            f"scipy.linalg.{name}: Expected {what} to be one of {listed}; got {value!r}"
        )


def as_columns(name: str, a: Any, b: Any) -> tuple[Any, Any, bool]:
    """Matrices and right sides of equal leading axes; whether `b` is one vector."""
    a_aval, b_aval = aval_of(a), aval_of(b)
    is_vector = b_aval.ndim == 1
    rows = b_aval.shape[-1 if is_vector else -2] if b_aval.ndim else None
    if rows != a_aval.shape[-1]:
        raise ValueError(
            f"scipy.linalg.{name}: b must be [n] or [..., n, k] for matrices "
            f"[..., n, n], got {a_aval.short()} and {b_aval.short()}; for one vector "
            "to each matrix pass b[..., None]"
        )
    b = b[:, None] if is_vector else b
    a, b = spread(name, a, b)
    return a, b, is_vector


def spread(name: str, *xs: Any) -> list[Any]:
    """Stacks of matrices with their leading axes broadcast."""
    shapes = [aval_of(x).shape for x in xs]
    try:
        lead = sizes.broadcast_shapes(*[s[:-2] for s in shapes])
    except ValueError:
        raise ValueError(
            f"scipy.linalg.{name}: Incompatible shapes for broadcasting: leading axes "
            f"of {', '.join(map(str, shapes))} must be equal or 1"
        ) from None
    return [
        promotion.broadcast_to_shape(x, (*lead, *s[-2:]))
        for x, s in zip(xs, shapes, strict=True)
    ]
