"""Checks of the arguments of SciPy's functions."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals
from olympus._src.numpy import creation, promotion

aval_of = avals.aval_of


def check_arrays(name: str, *args: Any) -> None:
    """Raises TypeError unless all are arrays or numbers; lists are not."""
    promotion.check_arrays("scipy", name, *args)


def as_arrays(name: str, *args: Any) -> list[Any]:
    """Arguments, with arrays in place of sequences and of what NumPy makes arrays of.

    Raises:
      TypeError: one is neither.
    """
    arrays = [as_array(x) for x in args]
    check_arrays(name, *arrays)
    return arrays


def as_array(x: Any) -> Any:
    """An argument, or the array that a sequence or another object is."""
    if isinstance(x, (list, tuple)):
        return creation.asarray(x)
    if not avals.is_array_like(x) and hasattr(x, "__array__"):
        return creation.asarray(x)
    return promotion.resolve(x)


def one_of(name: str, what: str, value: Any, known: tuple[Any, ...]) -> None:
    """Raises ValueError unless `value` is one of those known."""
    if value not in known:
        listed = ", ".join(map(repr, known))
        raise ValueError(f"scipy.{name}: {what} must be one of {listed}; got {value!r}")
