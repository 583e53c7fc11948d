"""Programs that are known by the function they were traced from and by what it reads.

Control flow traces a function object at its first call only. A new value that a closure
or a module binds to a name in between would then be missed; so a traced function is
remembered with all that it reads (`core.reads`), and traced again where that differs.
This decides nothing but when to trace more often: two of a user's function objects are
never treated as one. The library's wrappers and `functools.partial` are not compared
themselves: two of them are equal if they wrap the same.
"""

from __future__ import annotations

import functools
import types
from typing import Any

from olympus._src.core import reads
from olympus._src.foundation import caching

_MAX_SIGNATURES = 64
_MAX_VARIANTS = 4  # wrappers of one function, or values that a name takes in turn
_MAX_UNKNOWN = 64  # calls until a function that cannot be known is looked at again
_MAX_SIBLINGS = 15  # calls of new functions of the same code until one of them is


class Remembered:
    """Programs by function, for as long as it reads the same.

    Args:
      maxsize: functions to remember at most.
      name: what is kept, in words.
    """

    __slots__ = ("_by_owner", "_siblings", "_unknown")

    def __init__(self, maxsize: int, name: str) -> None:
        self._by_owner = caching.ByIdentity(maxsize, name)
        self._unknown = caching.ByIdentity(maxsize, f"{name} that cannot be known")
        # By code, once a function of it could not be known: in a list, how many more
        # are taken for functions of which that holds too.
        self._siblings = caching.ByIdentity(maxsize, f"code of {name}")

    def programs_of(self, fun: Any) -> Programs:
        """The cached programs of a function, for look-up and insertion."""
        calls = self._unknown.get(fun)
        if calls and calls.pop():
            return NOTHING
        owner = _owner_of(fun)
        entries = self._by_owner.get(owner) or ()
        code = _code_of(fun)
        siblings = None if entries else self._siblings.get(code)
        if siblings is not None and siblings[0]:
            siblings[0] -= 1
            return NOTHING
        try:
            values = reads.values_read_by(fun)
        except reads.Unknown:
            self._unknown[fun] = [False] + [True] * _MAX_UNKNOWN
            self._siblings[code] = [0 if siblings is None else _MAX_SIBLINGS]
            return NOTHING
        self._siblings.pop(code)
        for i, entry in enumerate(entries):
            if reads.are_same(entry.values, values):
                if i:
                    entries = (entry, *[e for e in entries if e is not entry])
                    self._by_owner[owner] = entries
                return Programs(self, fun, owner, entry)
        return Programs(self, fun, owner, _Entry(reads.hold(values)))

    def keep(self, owner: Any, entry: _Entry) -> None:
        """Stores an entry, and removes those of deleted objects."""
        entries = [e for e in self._by_owner.get(owner) or () if e is not entry]
        entries = [e for e in entries if not reads.is_gone(e.values)]
        self._by_owner[owner] = (entry, *entries[: _MAX_VARIANTS - 1])

    def __len__(self) -> int:
        return len(self._by_owner)


class _Entry:
    __slots__ = ("programs", "values")

    def __init__(self, values: list[Any]) -> None:
        self.values = values
        self.programs: dict[Any, Any] = {}


class Programs:
    """The programs of one function, by signature."""

    __slots__ = ("_entry", "_fun", "_owner", "_remembered")

    def __init__(
        self, remembered: Remembered, fun: Any, owner: Any, entry: _Entry
    ) -> None:
        self._remembered = remembered
        self._fun = fun
        self._owner = owner
        self._entry = entry

    def get(self, key: Any) -> Any:
        """The program of a signature, or None."""
        return self._entry.programs.get(key)

    def keep(self, key: Any, program: Any) -> None:
        """Remembers a program that was just traced.

        Not where tracing changed what the function reads: what it writes is to be
        written each time.
        """
        entry = self._entry
        try:
            unchanged = reads.are_same(entry.values, reads.values_read_by(self._fun))
        except reads.Unknown:
            return
        if not unchanged:
            return
        if len(entry.programs) >= _MAX_SIGNATURES:
            entry.programs.clear()
        entry.programs[key] = program
        self._remembered.keep(self._owner, entry)


class _Nothing:
    """The programs of a function that is traced at each call."""

    __slots__ = ()

    def get(self, key: Any) -> None:
        """None."""

    def keep(self, key: Any, program: Any) -> None:
        """Does nothing."""


NOTHING: Any = _Nothing()


def _code_of(fun: Any) -> types.CodeType | None:
    """The code of a function, of a method's or of what a wrapper wraps."""
    fun = _unwrap(fun)
    if type(fun) is types.MethodType:
        fun = fun.__func__
    return fun.__code__ if type(fun) is types.FunctionType else None


def _unwrap(fun: Any) -> Any:
    """What the library's wrappers and partials apply."""
    while True:
        if type(fun) is functools.partial:
            fun = fun.func
        elif reads.is_wrapper(fun):
            fun = fun.__wrapped__
        else:
            return fun


def _owner_of(fun: Any) -> Any:
    """The object whose life bounds that of the programs.

    Wrappers, partials and bound methods are often created again for each call.
    """
    fun = _unwrap(fun)
    if type(fun) is not types.MethodType:
        return fun
    return fun.__self__ if type(fun.__self__).__weakrefoffset__ else fun.__func__
