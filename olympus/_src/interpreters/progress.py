"""What a compilation that takes long says of itself, on stderr.

After two seconds a line says what is compiled, and how long that took before; from then
on, every ten seconds one says which lines of the user's program have most operations,
and what would compile sooner; the last one how long it took. Where stderr is no
terminal, nothing is said unless the setting `compile_progress` asks for it.
"""

from __future__ import annotations

import linecache
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from olympus._src.core import ir
from olympus._src.foundation import config, setting_states

FIRST_S, EVERY_S = 2.0, 10.0
_MAX_LINES = 3
_MAX_CODE = 50
_MIN_COPIES = 8  # of an operation on one line, from which it is a loop written out


def is_on() -> bool:
    """Whether compilations say that they take long."""
    chosen = config.compile_progress.value
    if chosen != "auto":
        return bool(chosen == "on")
    stream = sys.stderr
    return stream is not None and (stream.isatty() or _is_notebook())


def _is_notebook() -> bool:
    shell = sys.modules.get("IPython")
    instance = shell.get_ipython() if shell is not None else None
    return type(instance).__name__ == "ZMQInteractiveShell"


class Watch:
    """Says that what a `with` block does takes long.

    Args:
      program: what is compiled.
      name: of the function.
      last_s: gives the seconds it took before; None where that is not known.
    """

    def __init__(
        self, program: ir.Olympuspr, name: str, last_s: Callable[[], float | None]
    ) -> None:
        self._program = program
        self._name = name
        # The folder of the cache is a setting, which this thread may have changed.
        keep = setting_states.keep_overrides()
        self._last_s = lambda: keep(last_s)
        self._done = threading.Event()
        self._has_spoken = False
        self._start = time.perf_counter()

    def __enter__(self) -> None:
        thread = threading.Thread(
            target=self._speak, name="olympus progress", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:  # at exit; or the system has no more threads
            return

    def __exit__(self, *error: object) -> None:
        self._done.set()
        if self._has_spoken and error[0] is None:
            seconds = time.perf_counter() - self._start
            _say(f"compiled {self._name} in {seconds:.1f} s")

    def _speak(self) -> None:
        if self._done.wait(FIRST_S):
            return
        self._has_spoken = True
        _say(f"compiling {self._name}, {_first_facts(self._program, self._last_s())}")
        if self._done.wait(EVERY_S - FIRST_S):
            return
        facts = _facts(self._program)
        while True:
            seconds = time.perf_counter() - self._start
            _say(f"compiling {self._name} for {seconds:.0f} s{facts}")
            if self._done.wait(EVERY_S):
                return


def _say(text: str) -> None:
    stream = sys.stderr
    if stream is not None:
        print(f"olympus: {text}", file=stream, flush=True)


def _first_facts(program: ir.Olympuspr, last_s: float | None) -> str:
    n = len(list(_equations(program)))
    place = _location(program)
    before = "" if last_s is None else f"; the last time it took {last_s:.1f} s"
    return f"{place}{n} operations{before}"


def _location(program: ir.Olympuspr) -> str:
    info = program.debug_info
    where = info.func_location if info is not None else ""
    return f"{where}, " if where else ""


def _facts(program: ir.Olympuspr) -> str:
    """The lines of most operations, and what would compile sooner."""
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
        f"{os.path.basename(file)}:{line} {_code(file, line)} ({100 * n // total}%)"
        for (file, line), n in lines.most_common(_MAX_LINES)
    ]
    return f"; most operations are of {', '.join(shares)}{_hint(copies)}"


def _code(file: str, line: int) -> str:
    code = linecache.getline(file, line).strip()
    return code if len(code) <= _MAX_CODE else code[: _MAX_CODE - 3] + "..."


def _hint(copies: Counter[Any]) -> str:
    ((position, *_), n), *_ = copies.most_common(1)
    if n >= _MIN_COPIES:
        place = f"{os.path.basename(position.file)}:{position.line}"
        return (
            f". {place} is in the program {n} times: a loop that is written out; "
            "lax.scan over stacked arguments compiles its body once"
        )
    return (
        ". With olympus_compiler_tier='auto' a build that is compiled sooner runs "
        "until the full one is ready"
    )


def _equations(program: ir.Olympuspr) -> Iterator[Any]:
    """The equations of a program and of those within."""
    for eqn in program.eqns:
        yield eqn
        for inner in ir.subprograms(eqn.params):
            yield from _equations(inner)
