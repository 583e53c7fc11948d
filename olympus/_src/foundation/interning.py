"""Interned values: of equal ones there is one object, so that equality is identity."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Hashable
from typing import Any, ClassVar, NoReturn

_lock = threading.Lock()


class Interned:
    """Base of immutable classes whose equal values are one object.

    A subclass names its fields in `__slots__` and calls `_intern` in its `__new__`.
    Values live as long as anybody refers to them.
    """

    __slots__ = ("__weakref__",)
    _known: ClassVar[weakref.WeakValueDictionary[Hashable, Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._known = weakref.WeakValueDictionary()

    @classmethod
    def _intern(cls, key: Hashable, **fields: Any) -> Any:
        """The value of a key; one with these fields is made where there is none."""
        value = cls._known.get(key)
        if value is not None:
            return value
        with _lock:
            value = cls._known.get(key)
            if value is None:
                value = object.__new__(cls)
                for name, field in fields.items():
                    getattr(cls, name).__set__(value, field)  # the slot's own
                cls._known[key] = value
        return value

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(
            f"{type(self).__name__}: the value must stay as it was made, got an "
            f"assignment to {name!r}; make another one"
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}: {name!r} cannot be deleted")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self
