"""Checks of what the functions of this room are given."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals


def check_arrays(name: str, *args: Any) -> None:
    """Raises TypeError unless all are arrays or numbers, or None; lists are not."""
    for position, x in enumerate(args):
        if x is None or avals.is_array_like(x) or hasattr(x, "__olympus_array__"):
            continue
        raise TypeError(
            f"nn.{name} requires ndarray or scalar arguments, got {type(x)} at "
            f"position {position}; convert it with numpy.asarray"
        )
