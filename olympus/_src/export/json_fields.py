"""Values of JSON from elsewhere, checked as they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from olympus._src.foundation.container import Unreadable

_T = TypeVar("_T")


class Fields:
    """An object of JSON whose values are requested by name and kind.

    Args:
      values: the object.
      where: what it is, for messages.

    Raises:
      Unreadable: it is not an object, or (by the methods) a value is absent or of
        another kind.
    """

    __slots__ = ("values", "where")

    def __init__(self, values: Any, where: str) -> None:
        if type(values) is not dict:
            raise Unreadable(f"{where}: must be an object, got {_shorten(values)}")
        self.values = values
        self.where = where

    def text(self, name: str) -> str:
        """A string."""
        return self._of_kind(name, str, "a string")

    def flag(self, name: str) -> bool:
        """A boolean."""
        return self._of_kind(name, bool, "true or false")

    def integer(self, name: str, low: int = 0, high: int | None = None) -> int:
        """An integer from `low` to `high`, both included."""
        value = self._of_kind(name, int, "an integer")
        if value < low or (high is not None and value > high):
            limit = "" if high is None else f" and at most {high}"
            raise self.wrong(name, f"at least {low}{limit}", value)
        return value

    def items(self, name: str, length: int | None = None) -> list[Any]:
        """A list, of this length."""
        values = self._of_kind(name, list, "a list")
        if length is not None and len(values) != length:
            raise self.wrong(name, f"{length} values", values)
        return values

    def each(
        self, name: str, read: Callable[[Any, str], _T], length: int | None = None
    ) -> list[_T]:
        """A list, each of whose values `read(value, where)` takes."""
        return [
            read(value, f"{self.where}.{name}[{i}]")
            for i, value in enumerate(self.items(name, length))
        ]

    def texts(self, name: str, length: int | None = None) -> list[str]:
        """A list of strings."""
        return self._all(name, str, "strings", length)

    def flags(self, name: str, length: int | None = None) -> list[bool]:
        """A list of booleans."""
        return self._all(name, bool, "truth values", length)

    def texts_by_name(self, name: str) -> dict[str, str]:
        """An object whose values are strings."""
        value = self._of_kind(name, dict, "an object")
        if any(type(x) is not str for x in value.values()):
            raise self.wrong(name, "an object of strings", value)
        return value

    def inner(self, name: str) -> Fields:
        """A nested object."""
        return Fields(self._get(name), f"{self.where}.{name}")

    def has(self, name: str) -> bool:
        """Whether there is a value that is not null."""
        return self.values.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def wrong(self, name: str, requirement: str, value: Any) -> Unreadable:
        """The error for a value that is not what it must be."""
        return Unreadable(
            f"{self.where}.{name}: must be {requirement}, got {_shorten(value)}"
        )

    def _get(self, name: str) -> Any:
        if name not in self.values:
            raise Unreadable(f"{self.where}: must have {name!r}, got none")
        return self.values[name]

    def _of_kind(self, name: str, kind: type, requirement: str) -> Any:
        value = self._get(name)
        if type(value) is not kind:
            raise self.wrong(name, requirement, value)
        return value

    def _all(self, name: str, kind: type, requirement: str, length: int | None) -> Any:
        values = self.items(name, length)
        if any(type(x) is not kind for x in values):
            raise self.wrong(name, f"a list of {requirement}", values)
        return values


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."
