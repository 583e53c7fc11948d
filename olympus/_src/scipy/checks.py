"""What functions of SciPy's pages check of their arguments."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals

aval_of = avals.aval_of


def check_arrays(name: str, *args: Any) -> None:
    """Raises TypeError unless all are arrays or numbers; lists are not."""
    for position, x in enumerate(args):
        if avals.is_array_like(x) or hasattr(x, "__olympus_array__"):
            continue
        raise TypeError(
            f"scipy.{name} requires ndarray or scalar arguments, got {type(x)} at "
            f"position {position}; convert it with numpy.asarray"
        )


def one_of(name: str, what: str, value: Any, known: tuple[Any, ...]) -> None:
    """Raises ValueError unless `value` is one of those known."""
    if value not in known:
        listed = ", ".join(map(repr, known))
        raise ValueError(f"scipy.{name}: {what} must be one of {listed}; got {value!r}")
