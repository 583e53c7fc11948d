"""Values that rules exchange: symbolic zeros and linear placeholders."""

from __future__ import annotations

from typing import Any


class Zero:
    """A tangent or cotangent that is zero, known without computing it."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Zero({self.aval.short()})"


class Linear:
    """Marks, in a transposition, an argument the operation is linear in."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Linear({self.aval.short()})"


def is_linear(x: Any) -> bool:
    """Whether `x` stands for an unknown that is transposed."""
    return type(x) is Linear
