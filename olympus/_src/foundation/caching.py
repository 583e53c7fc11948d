"""Caches: each has a name, a bound, and is emptied by `clear_all`."""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

lock = threading.RLock  # a lock that its holder may take again


class _Entry:
    __slots__ = ("clear", "name", "size")

    def __init__(
        self, name: str, clear: Callable[[], object], size: Callable[[], int] | None
    ) -> None:
        self.name = name
        self.clear = clear
        self.size = size


_entries: list[_Entry] = []
_MISSING = object()


def register(
    clear: Callable[[], object], name: str, size: Callable[[], int] | None = None
) -> None:
    """Makes a cache known, so that `clear_all` empties it.

    Args:
      clear: empties the cache. The bound method `clear` of a dict or a `Bounded` tells
        its size too.
      name: what it holds, in words.
      size: counts its entries.
    """
    if size is None:
        owner = getattr(clear, "__self__", None)
        size = None if owner is None else getattr(owner, "__len__", None)
    _entries.append(_Entry(name, clear, size))


def clear_all() -> None:
    """Empties every cache."""
    for entry in _entries:
        entry.clear()


def cache_sizes() -> dict[str, int]:
    """Entries in each cache, by its name; caches of one name are added up."""
    sizes: dict[str, int] = {}
    for entry in _entries:
        if entry.size is not None:
            sizes[entry.name] = sizes.get(entry.name, 0) + entry.size()
    return sizes


class Bounded:
    """A mapping that forgets the entry unused for longest when it is full.

    Args:
      maxsize: entries it holds at most.
      name: what it holds; None keeps it out of `clear_all`, for caches that belong to
        an object which may go away.
    """

    __slots__ = ("_data", "_lock", "maxsize")

    def __init__(self, maxsize: int, name: str | None = None) -> None:
        if maxsize < 1:
            raise ValueError(
                f"Bounded: maxsize must be positive, got {maxsize}; use a plain dict "
                "where nothing may be kept"
            )
        self.maxsize = maxsize
        self._data: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.RLock()
        if name is not None:
            register(self.clear, name)

    def get(self, key: Any, default: Any = None) -> Any:
        """The entry, now the most recently used, or `default`."""
        found = self._data.get(key, _MISSING)
        if found is _MISSING:
            return default
        try:  # noqa: SIM105 - suppress() would double the time of a hit
            self._data.move_to_end(key)
        except KeyError:  # another thread removed it in between
            pass
        return found

    def __getitem__(self, key: Any) -> Any:
        found = self.get(key, _MISSING)
        if found is _MISSING:
            raise KeyError(key)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        with self._lock:
            self._data[key] = value
            self._data.move_to_end(key)
            while len(self._data) > self.maxsize:
                self._data.popitem(last=False)

    def setdefault(self, key: Any, value: Any) -> Any:
        """The entry that is there, or `value`, which then is; one for all threads."""
        with self._lock:
            found = self.get(key, _MISSING)
            if found is not _MISSING:
                return found
            self[key] = value
            return value

    def pop(self, key: Any, default: Any = None) -> Any:
        """Removes an entry and returns it, or `default`."""
        with self._lock:
            return self._data.pop(key, default)

    def __contains__(self, key: Any) -> bool:
        return key in self._data

    def __len__(self) -> int:
        return len(self._data)

    def clear(self) -> None:
        """Forgets all entries."""
        with self._lock:
            self._data.clear()


def bounded_cache(maxsize: int, name: str, *, typed: bool = False) -> Callable[[F], F]:
    """Keeps the results of a function for its last `maxsize` different arguments.

    Args:
      maxsize: results to keep.
      name: what they are.
      typed: tell equal arguments of different types apart, such as 1 and True.
    """

    def decorate(fun: F) -> F:
        cached = functools.lru_cache(maxsize, typed)(fun)
        register(cached.cache_clear, name, lambda: cached.cache_info().currsize)
        return cached  # type: ignore[return-value]

    return decorate
