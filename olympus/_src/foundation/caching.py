"""Caches: each has a name, a bound, and is emptied by `clear_all`."""

from __future__ import annotations

import atexit
import contextlib
import functools
import threading
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

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
    """Registers a cache, so that `clear_all` empties it.

    Args:
      clear: empties the cache. The bound method `clear` of a dict or a `Bounded` gives
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


# As Python ends its collector goes over all objects several times. What the caches hold
# is most of them, and costs less to free before.
atexit.register(clear_all)


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
        entry = self._data.get(key, _MISSING)
        if entry is _MISSING:
            return default
        try:  # noqa: SIM105 - suppress() would double the time of a hit
            self._data.move_to_end(key)
        except KeyError:  # another thread removed it in between
            pass
        return entry

    def __getitem__(self, key: Any) -> Any:
        entry = self.get(key, _MISSING)
        if entry is _MISSING:
            raise KeyError(key)
        return entry

    def __setitem__(self, key: Any, value: Any) -> None:
        with self._lock:
            self._data[key] = value
            self._data.move_to_end(key)
            while len(self._data) > self.maxsize:
                self._data.popitem(last=False)

    def setdefault(self, key: Any, value: Any) -> Any:
        """The present entry, or else `value`, which is entered; one for all threads."""
        with self._lock:
            entry = self.get(key, _MISSING)
            if entry is not _MISSING:
                return entry
            self[key] = value
            return value

    def discard(self, key: Any, value: Any) -> None:
        """Removes an entry if its value is this object."""
        with self._lock:
            if self._data.get(key) is value:
                del self._data[key]

    def pop(self, key: Any, default: Any = None) -> Any:
        """Removes an entry and returns it, or `default`."""
        with self._lock:
            return self._data.pop(key, default)

    def values(self) -> list[Any]:
        """The values, the one unused for longest first."""
        with self._lock:
            return list(self._data.values())

    def __contains__(self, key: Any) -> bool:
        return key in self._data

    def __len__(self) -> int:
        return len(self._data)

    def clear(self) -> None:
        """Forgets all entries."""
        with self._lock:
            self._data.clear()


class BoundedBytes(Bounded):
    """A `Bounded` that also forgets entries until the sum of their sizes fits.

    The last entry stays, whatever its size.

    Args:
      maxsize: entries it holds at most.
      max_bytes: the largest sum of sizes.
      size_of: the bytes of an entry, by its key.
      name: what it holds.
    """

    __slots__ = ("_size_of", "max_bytes", "total_bytes")

    def __init__(
        self, maxsize: int, max_bytes: int, size_of: Callable[[Any], int], name: str
    ) -> None:
        super().__init__(maxsize, name)
        self._size_of = size_of
        self.max_bytes = max_bytes
        self.total_bytes = 0

    def __setitem__(self, key: Any, value: Any) -> None:
        with self._lock:
            if key not in self._data:
                self.total_bytes += self._size_of(key)
            self._data[key] = value
            self._data.move_to_end(key)
            while len(self._data) > self.maxsize or self._is_heavy():
                oldest, _ = self._data.popitem(last=False)
                self.total_bytes -= self._size_of(oldest)

    def _is_heavy(self) -> bool:
        return self.total_bytes > self.max_bytes and len(self._data) > 1

    def discard(self, key: Any, value: Any) -> None:
        """Removes an entry if its value is this object."""
        with self._lock:
            if self._data.get(key) is value:
                self.pop(key)

    def pop(self, key: Any, default: Any = None) -> Any:
        """Removes an entry and returns it, or `default`."""
        with self._lock:
            if key not in self._data:
                return default
            self.total_bytes -= self._size_of(key)
            return self._data.pop(key)

    def clear(self) -> None:
        """Forgets all entries."""
        with self._lock:
            self._data.clear()
            self.total_bytes = 0


# Whose values are equal where they are the same.
_EXACT = frozenset((int, bool, str, type(None)))


def exact(value: Any) -> Any:
    """A key that only values of one type and one meaning share.

    In Python 1, 1.0 and True are equal, and 0.0 and -0.0; programs made for one of them
    are not programs for the others. Values of other classes are compared by `==`.
    """
    kind = type(value)
    if kind in _EXACT:
        return kind, value
    if kind is float:
        return kind, value.hex()
    if kind is complex:
        return kind, value.real.hex(), value.imag.hex()
    if isinstance(value, tuple):
        return kind, tuple([exact(x) for x in value])
    if kind is frozenset:
        return kind, frozenset([exact(x) for x in value])
    if isinstance(value, np.generic):
        return kind, value.dtype, value.tobytes()
    return kind, value


class ByIdentity:
    """A mapping from objects, which are compared by identity and not by `==`.

    An entry is removed with its object. Objects without weak references, and methods,
    which Python creates at each access, are not remembered.

    Args:
      maxsize: entries it holds at most.
      name: what it holds; None keeps it out of `clear_all`.
    """

    __slots__ = ("_entries", "_lock")

    def __init__(self, maxsize: int, name: str | None) -> None:
        self._entries = Bounded(maxsize, name)
        self._lock = threading.RLock()

    def get(self, owner: Any) -> Any:
        """The value of an object, or None."""
        entry = self._entries.get(id(owner))
        return entry[1] if entry is not None and entry[0]() is owner else None

    def setdefault(self, owner: Any, value: Any) -> Any:
        """The value that is there, or `value`, which then is if `owner` can be kept."""
        with self._lock:
            known = self._entries.get(id(owner))
            if known is not None and known[0]() is owner:
                return known[1]
            self[owner] = value
            return value

    def __setitem__(self, owner: Any, value: Any) -> None:
        if isinstance(owner, types.MethodType):
            return
        key, entries = id(owner), self._entries

        def forget(reference: Any) -> None:
            entry = entries.get(key)
            if entry is not None and entry[0] is reference:
                entries.discard(key, entry)

        with contextlib.suppress(TypeError):
            entries[key] = (weakref.ref(owner, forget), value)

    def pop(self, owner: Any) -> None:
        """Forgets an object."""
        self._entries.pop(id(owner))

    def clear(self) -> None:
        """Forgets all objects."""
        self._entries.clear()

    def values(self) -> list[Any]:
        """The values, in no order that counts."""
        return [value for _, value in self._entries.values()]

    def __len__(self) -> int:
        return len(self._entries)


def bounded_cache(maxsize: int, name: str, *, typed: bool = False) -> Callable[[F], F]:
    """Keeps the results of a function for its last `maxsize` different arguments.

    Args:
      maxsize: results to keep.
      name: what they are.
      typed: distinguish equal arguments of different types, such as 1 and True.
    """

    def decorate(fun: F) -> F:
        cached = functools.lru_cache(maxsize, typed)(fun)
        register(cached.cache_clear, name, lambda: cached.cache_info().currsize)
        return cached  # type: ignore[return-value]

    return decorate
