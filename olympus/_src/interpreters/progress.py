"""What a trace, a lowering or a compilation that takes long says of itself.

After two seconds a line on stderr says what is done, and how long that took before;
from then on, every ten seconds one says which lines of the user's program have most
operations and what would compile sooner, or which line the trace is at; the last one
how long it took. In a notebook it is one line that changes. Where stderr is no
terminal, nothing is said unless the setting `compile_progress` asks for it.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from olympus._src.core import ir
from olympus._src.foundation import config, setting_states, source_info
from olympus._src.interpreters import progress_display

FIRST_S, EVERY_S = 2.0, 10.0
_MAX_LINES = 3
_MAX_CODE = 50
_MIN_COPIES = 8  # of an operation on one line, from which it is a loop written out


def is_on() -> bool:
    """Whether what takes long says so."""
    chosen = config.compile_progress.value
    if chosen != "auto":
        return bool(chosen == "on")
    stream = sys.stderr
    if stream is not _stream.known:
        _stream.known, _stream.is_watched = stream, _is_watched(stream)
    return _stream.is_watched


def _is_watched(stream: Any) -> bool:
    if stream is None:
        return False
    if stream.isatty():
        return True
    return "IPython" in sys.modules and progress_display.notebook() is not None


class _Stream:
    """The last stderr that was looked at, which costs a call of the system."""

    known: Any = None
    is_watched = False


_stream = _Stream()


class Watch:
    """Says that what a `with` block does takes long.

    Args:
      verbs: what is done and was done, as in ('compiling', 'compiled').
      name: of the function.
      first: gives what is said first of it, after its name.
      again: gives what is said of it later.
      last_s: gives the seconds it took before; None where that is not known.
    """

    __slots__ = (
        "_again",
        "_display",
        "_first",
        "_keep",
        "_last_s",
        "_lock",
        "_name",
        "_next",
        "_seconds_before",
        "_start",
        "_text",
        "_verbs",
        "is_over",
        "thread_id",
    )

    def __init__(
        self,
        verbs: tuple[str, str],
        name: str,
        first: Callable[[], str],
        again: Callable[[], str],
        last_s: Callable[[], float | None] | None = None,
    ) -> None:
        self._verbs, self._name = verbs, name
        self._first, self._again, self._last_s = first, again, last_s
        # The folder of the cache is a setting, which this thread may have changed.
        self._keep = None if last_s is None else setting_states.keep_overrides()
        self._lock = threading.Lock()
        self._display: Any = None  # once something was said
        self._text = ""
        self._seconds_before: float | None = None
        self.is_over = False
        self.thread_id = threading.get_ident()
        self._start = time.perf_counter()
        self._next = self._start + FIRST_S

    def __enter__(self) -> None:
        _speaker.add(self)

    def __exit__(self, *error: object) -> None:
        _speaker.remove(self)
        with self._lock:
            self.is_over = True
            if self._display is not None:
                seconds = time.perf_counter() - self._start
                done = "failed after" if error[0] is not None else "in"
                verb = self._verbs[0] if error[0] is not None else self._verbs[1]
                text = f"{verb} {self._name} {done} {seconds:.1f} s"
                self._display.show(text, is_last=True)

    def speak(self, now: float) -> float:
        """Says what is due; returns when there is more to say."""
        with self._lock:
            if now >= self._next and not self.is_over:
                self._say(now)
            return self._next

    def _say(self, now: float) -> None:
        verb, name, seconds = self._verbs[0], self._name, now - self._start
        if self._display is None:
            self._display = progress_display.choose()
            if self._last_s is not None and self._keep is not None:
                self._seconds_before = self._keep(self._last_s)
            self._text = f"{verb} {name}{self._first()}{self._before()}"
            self._display.show(self._text, self._share(seconds))
            self._next = self._start + (self._display.every_s or EVERY_S)
        elif seconds < EVERY_S:
            self._display.show(f"{self._text}; {seconds:.0f} s", self._share(seconds))
        else:
            text = f"{verb} {name} for {seconds:.0f} s{self._again()}"
            self._display.show(text, self._share(seconds))
        while self._next <= now:
            self._next += self._display.every_s or EVERY_S

    def _before(self) -> str:
        before = self._seconds_before
        return "" if before is None else f"; the last time it took {before:.1f} s"

    def _share(self, seconds: float) -> float | None:
        before = self._seconds_before
        return min(seconds / before, 0.99) if before else None


class _Speaker:
    """The thread that speaks for all watches, while there are any."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets all, in a process that was forked."""
        self._lock = threading.Lock()
        self._watches: list[Watch] = []
        self._is_running = False

    def add(self, watch: Watch) -> None:
        """Speaks for one more."""
        with self._lock:
            self._watches.append(watch)
            if self._is_running:
                return
            self._is_running = True
        thread = threading.Thread(target=self._run, name="olympus progress")
        thread.daemon = True
        try:
            thread.start()
        except RuntimeError:  # at exit; or the system has no more threads
            self._is_running = False

    def remove(self, watch: Watch) -> None:
        """Speaks no more for one."""
        with self._lock:
            self._watches.remove(watch)

    def is_watching(self, thread_id: int) -> bool:
        """Whether something of a thread is spoken for."""
        return any(watch.thread_id == thread_id for watch in self._watches)

    def _run(self) -> None:
        while True:
            with self._lock:
                # Of one thread only the last is spoken for, which the others wait for.
                due = list({w.thread_id: w for w in self._watches}.values())
                if not due:
                    self._is_running = False
                    return
            now = time.perf_counter()
            nexts = [watch.speak(now) for watch in due]
            time.sleep(max(min(min(nexts) - now, FIRST_S), 0.0))


_speaker = _Speaker()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_speaker.reset)


_NOTHING: contextlib.AbstractContextManager[None] = contextlib.nullcontext()


def watch_compilation(
    program: ir.Olympuspr, name: str, last_s: Callable[[], float | None]
) -> Watch:
    """Says that a compilation takes long.

    Args:
      program: what is compiled.
      name: of the function.
      last_s: gives the seconds it took before; None where that is not known.
    """
    return Watch(
        ("compiling", "compiled"),
        name,
        lambda: f", {_location(program)}{_count(program)}",
        functools.cache(lambda: _facts(program, _TIERS)),
        last_s,
    )


def watch_lowering(
    program: ir.Olympuspr, name: str
) -> contextlib.AbstractContextManager[None]:
    """Says that lowering a program takes long."""
    if not is_on() or _speaker.is_watching(threading.get_ident()):
        return _NOTHING
    first = lambda: f", {_location(program)}{_count(program)}"  # noqa: E731
    facts = functools.cache(lambda: _facts(program))
    return Watch(("lowering", "lowered"), name, first, facts)


def watch_trace(info: ir.DebugInfo) -> contextlib.AbstractContextManager[None]:
    """Says that tracing a function takes long, and where in it the trace is."""
    if not is_on() or _speaker.is_watching(threading.get_ident()):
        return _NOTHING
    where, thread_id = info.func_location, threading.get_ident()
    return Watch(
        ("tracing", "traced"),
        info.func_name,
        lambda: (f", {where}" if where else "") + _running_line(thread_id),
        lambda: _running_line(thread_id),
    )


def _running_line(thread_id: int) -> str:
    """The user's line that a thread is at."""
    frame = sys._current_frames().get(thread_id)
    while frame is not None and source_info.is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return ""
    file, line = frame.f_code.co_filename, frame.f_lineno
    return f"; now at {source_info.short_file(file)}:{line} {_code(file, line)}"


def _count(program: ir.Olympuspr) -> str:
    return f"{sum(1 for _ in _equations(program))} operations"


def _location(program: ir.Olympuspr) -> str:
    info = program.debug_info
    where = info.func_location if info is not None else ""
    return f"{where}, " if where else ""


def _facts(program: ir.Olympuspr, other_hint: str = "") -> str:
    """The lines of most operations, and what would take less time."""
    lines: Counter[tuple[str, int]] = Counter()
    copies: Counter[Any] = Counter()
    for eqn in _equations(program):
        if eqn.source is not None:
            lines[eqn.source.file, eqn.source.line] += 1
            types = tuple([v.aval for v in eqn.outvars])
            copies[eqn.source, eqn.primitive.name, types, eqn.scope] += 1
    total = sum(lines.values())
    if not total:
        return ""
    shares = [
        f"{source_info.short_file(file)}:{line} {_code(file, line)} "
        f"({100 * n // total}%)"
        for (file, line), n in lines.most_common(_MAX_LINES)
    ]
    return f"; most operations are of {', '.join(shares)}{_hint(copies) or other_hint}"


def _code(file: str, line: int) -> str:
    code = linecache.getline(file, line).strip()
    return code if len(code) <= _MAX_CODE else code[: _MAX_CODE - 3] + "..."


_TIERS = (
    ". With olympus_compiler_tier='auto' a build that is compiled sooner runs until "
    "the full one is ready"
)


def _hint(copies: Counter[Any]) -> str:
    ((position, *_), n), *_ = copies.most_common(1)
    if n >= _MIN_COPIES:
        place = f"{source_info.short_file(position.file)}:{position.line}"
        return (
            f". {place} is in the program {n} times: a loop that is written out; "
            "lax.scan over stacked arguments compiles its body once"
        )
    return ""


def _equations(program: ir.Olympuspr) -> Iterator[Any]:
    """The equations of a program and of those within."""
    for eqn in program.eqns:
        yield eqn
        for inner in ir.subprograms(eqn.params):
            yield from _equations(inner)
