"""Checks of the arguments of SciPy's functions."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals
from olympus._src.numpy import promotion

aval_of = avals.aval_of


def check_arrays(name: str, *args: Any) -> None:
    """Raises TypeError unless all are arrays or numbers; lists are not."""
    promotion.check_arrays("scipy", name, *args)


def one_of(name: str, what: str, value: Any, known: tuple[Any, ...]) -> None:
    """Raises ValueError unless `value` is one of those known."""
    if value not in known:
        listed = ", ".join(map(repr, known))
        raise ValueError(f"scipy.{name}: {what} must be one of {listed}; got {value!r}")
