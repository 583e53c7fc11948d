"""Python functions that compiled programs call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def compile_arguments(callbacks: Sequence[Callable[..., Any]]) -> dict[str, Any]:
    """The keyword arguments by which a program is compiled with its callbacks."""
    return {"host_callbacks": list(callbacks)} if callbacks else {}
