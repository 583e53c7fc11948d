"""Notes of misses: what was called, when a program had to be made for it.

Each line of code has its last misses, in a table that its code object's life bounds, so
that a function object which is made again finds those of the objects before it. Causes
are looked for when somebody reads them.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import primitive, trace
from olympus._src.explanations.snapshots import Function, Snapshot
from olympus._src.foundation import caching, config, logs, source_info

_MAX_MISSES = 48  # of one line of code
_explain = primitive.LateRule("explanations.causes", "explain")
_explain_failure = primitive.LateRule("explanations.causes", "explain_failure")
_numbers = itertools.count()


class Root:
    """An argument: its name, how it was passed, and its structure."""

    __slots__ = ("name", "passed", "structure")

    def __init__(self, name: str, passed: str, structure: Any) -> None:
        self.name = name
        self.passed = passed
        self.structure = structure


class Static:
    """A static argument: its name, how it was passed, its hash, and its value."""

    __slots__ = ("hash", "name", "passed", "value")

    def __init__(self, name: str, passed: str, hash: int, value: Snapshot) -> None:
        self.name = name
        self.passed = passed
        self.hash = hash
        self.value = value


class Signature:
    """The arguments of a call, without their values.

    Attributes:
      structure: of all arguments, to tell calls with the same one at once.
      avals: the types of the leaves.
      roots: gives the arguments by name, in the order of the leaves.
      static: each static argument.
      places: where each leaf is committed to; () where there is one device.
      attribute: what a static value is called.
    """

    __slots__ = ("attribute", "avals", "places", "roots", "static", "structure")

    def __init__(
        self,
        structure: Any,
        avals: Sequence[Any],
        roots: Callable[[], Sequence[Root]],
        static: Sequence[Static] = (),
        places: Sequence[Any] = (),
        attribute: str = "static value",
    ) -> None:
        self.structure = structure
        self.avals = avals
        self.roots = roots
        self.static = static
        self.places = places
        self.attribute = attribute


class Retrace:
    """One time that a program was made: why, and what it cost.

    Attributes:
      function: name and place.
      site: the user's line that called it, as "file:line"; '' if there is none.
      changes: what differs from the most similar of the earlier calls.
      cause: the same in words, of five lines at most.
      cure: what to change, where there is something.
      cure_kind: one word for that.
      trace_s, lower_s, compile_s: seconds; 0 where the stage has not run.
      program_reused: whether an equal program had been compiled before.
      disk: what the cache on disk had, in words.
    """

    def __init__(
        self,
        what: str,
        function: Function,
        signature: Signature,
        *,
        owner: Any = None,
        options: Any = None,
        generation: Any = None,
        trace_s: float = 0.0,
    ) -> None:
        self.number = next(_numbers)
        self.what = what
        self.subject = function
        self.signature = signature
        self.owner = owner
        self.options = options
        self.generation = generation
        self.settings = config.trace_context()
        self.axes = trace.current.axis_env
        self.position = source_info.capture()
        self.trace_s = trace_s
        self.lower_s = self.compile_s = 0.0
        self.program_reused = False
        self.disk = ""
        self.history: History | None = None
        self._explanation: Any = None

    __slots__ = (
        "__weakref__",
        "_explanation",
        "axes",
        "compile_s",
        "disk",
        "generation",
        "history",
        "lower_s",
        "number",
        "options",
        "owner",
        "position",
        "program_reused",
        "settings",
        "signature",
        "subject",
        "trace_s",
        "what",
    )

    @property
    def function(self) -> str:
        """Name and place of the function."""
        where = self.subject.place
        return f"{self.subject.name} at {where}" if where else self.subject.name

    @property
    def site(self) -> str:
        """The user's line that called it."""
        position = self.position
        if position is None:
            return ""
        return f"{source_info.shown_file(position.file)}:{position.line}"

    @property
    def seconds(self) -> float:
        """What it cost in all."""
        return self.trace_s + self.lower_s + self.compile_s

    @property
    def changes(self) -> tuple[Any, ...]:
        """What differs from the most similar of the earlier calls."""
        return tuple(self._explained().changes)

    @property
    def cause(self) -> str:
        """What differs, in words."""
        return str(self._explained().cause)

    @property
    def cure(self) -> str:
        """What to change."""
        return str(self._explained().cure)

    @property
    def cure_kind(self) -> str:
        """One word for the cure."""
        return str(self._explained().cure_kind)

    def _explained(self) -> Any:
        if self._explanation is None:
            try:
                self._explanation = _explain(self)
            except Exception as error:  # of a user's class that was compared or shown
                self._explanation = _explain_failure(error)
        return self._explanation

    def is_again(self) -> bool:
        """Whether there were misses of the same line of code before this one."""
        return self.history is not None and len(self.history) > 1

    def earlier(self) -> list[Retrace]:
        """The misses of the same line of code before this one, as far as kept."""
        if self.history is None:
            return []
        return [r for r in self.history.snapshot() if r.number < self.number]

    def __repr__(self) -> str:
        return str(_describe(self))


_describe = primitive.LateRule("explanations.wording", "describe")


def load_words() -> None:
    """Loads what explains misses."""
    _explain.load()
    _describe.load()


class History:
    """The last misses of one line of code, for all threads."""

    __slots__ = ("__weakref__", "_misses")

    def __init__(self) -> None:
        self._misses: deque[Retrace] = deque(maxlen=_MAX_MISSES)

    def add(self, record: Retrace) -> None:
        """Keeps a miss, in place of the oldest where there are too many."""
        record.history = self
        self._misses.append(record)

    def snapshot(self) -> list[Retrace]:
        """The misses, oldest first."""
        return list(self._misses.copy())

    def __len__(self) -> int:
        return len(self._misses)


# Not a cache: what emptied a cache is among the causes, so it outlives that.
_MAX_LINES = 1024
_by_code = caching.ByIdentity(_MAX_LINES, None)
# Code is compared here by what it does, since what runs again makes it again.
_by_place = caching.Bounded(_MAX_LINES)
_CELL = "<ipython-input-"
_MAX_NAMES = 512
_by_name = caching.Bounded(_MAX_NAMES)


def history_of(function: Function, what: str) -> History:
    """The misses of what the same line of code has made, in one form of use."""
    if function.code is None:
        return History()
    key = (what, function.chain[:-1])
    by_use = _by_code.get(function.code)
    if by_use is None:
        by_use = _by_code.setdefault(function.code, _of_equal_code(function.code))
    history: History | None = by_use.get(key)
    return by_use.setdefault(key, History()) if history is None else history


def _of_equal_code(code: Any) -> dict[Any, History]:
    """The histories of a line that was run again, as a cell of a notebook."""
    file = code.co_filename
    if file.startswith(_CELL):  # they are numbered
        file = re.sub(rf"^{_CELL}\d+-", _CELL, file)
    place = file, code.co_qualname, code.co_firstlineno
    known = _by_place.get(place)
    by_use = known[1] if known is not None and known[0] == code else {}
    _by_place[place] = code, by_use
    return by_use


def history_by_name(name: str) -> History:
    """The misses of an operation."""
    history: History | None = _by_name.get(name)
    return _by_name.setdefault(name, History()) if history is None else history


def forget() -> None:
    """Forgets all misses, for tests."""
    _by_code.clear()
    _by_place.clear()
    _by_name.clear()


def all_records() -> list[Retrace]:
    """All misses that are kept, oldest first."""
    histories = [h for by_use in _by_code.values() for h in by_use.values()]
    histories += _by_name.values()
    kept = [r for history in histories for r in history.snapshot()]
    return sorted(kept, key=lambda r: r.number)


# -- telling ---------------------------------------------------------------------------

_listeners: tuple[Callable[[Retrace], None], ...] = ()
_lock = threading.Lock()


def listen(listener: Callable[[Retrace], None]) -> Callable[[], None]:
    """Has a function called with each miss; returns what ends that."""
    global _listeners
    with _lock:
        _listeners = (*_listeners, listener)

    def stop() -> None:
        global _listeners
        with _lock:
            _listeners = tuple([f for f in _listeners if f is not listener])

    return stop


def report(record: Retrace) -> None:
    """Tells of a miss, if anybody asked."""
    for listener in _listeners:
        listener(record)
    if config.explain_cache_misses.value:
        logs.warning(f"TRACING CACHE MISS: {record}")


_start_summary = primitive.LateRule("explanations.summary", "start")
_keep = primitive.LateRule("explanations.summary", "keep")
_stop_keeping: list[Callable[[], None]] = []


def _follow_report(is_wanted: bool) -> None:
    if is_wanted and not _stop_keeping:
        _start_summary()
        _stop_keeping.append(listen(_keep))
    elif not is_wanted and _stop_keeping:
        _stop_keeping.pop()()


config.report.watch(_follow_report)
_follow_report(config.report.value)
