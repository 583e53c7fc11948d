"""Records of named values, without what importing dataclasses costs."""

from __future__ import annotations

from typing import Any


class Record:
    """Named values, equal where all of them are; those of `__slots__`, or all."""

    __slots__: tuple[str, ...] = ()

    def _fields(self) -> dict[str, Any]:
        if self.__slots__:
            return {name: getattr(self, name) for name in self.__slots__}
        return vars(self)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._fields() == self._fields()

    def __hash__(self) -> int:
        return hash((type(self), *self._fields().values()))

    def __repr__(self) -> str:
        fields = [f"{name}={value!r}" for name, value in self._fields().items()]
        return f"{type(self).__name__}({', '.join(fields)})"
