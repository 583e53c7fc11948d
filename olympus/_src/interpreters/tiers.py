"""Two builds of a program: a quick one, and the full one compiled in a thread.

A quick build leaves out most of the compiler's optimisations. In the tier 'auto' a
program runs its quick build until a thread has compiled the full one, which then takes
its place: whoever holds the program is told once, and calls cost the same before and
after.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.foundation import caching, config, events, logs
from olympus._src.foundation import compiler_settings as compiler
from olympus._src.interpreters import compilation, portable
from olympus._src.interpreters.compiled_programs import CompiledProgram, build
from olympus._src.interpreters.lowered_programs import LoweredProgram

TIERS = ("full", "quick", "auto")
_OPTION = "tier"
_EVENTS = "/olympus/core/compile/"


def split_tier(
    options: Sequence[tuple[str, Any]], function: str = "jit"
) -> tuple[str | None, tuple[tuple[str, Any], ...]]:
    """The tier among compiler options, and the others, which are XLA's.

    Args:
      options: by name.
      function: which user's function they were given to, for the message of an error.

    Raises:
      ValueError: the tier is not one of `TIERS`.
    """
    xla_options = tuple([pair for pair in options if pair[0] != _OPTION])
    if len(xla_options) == len(options):
        return None, xla_options
    tier = dict(options)[_OPTION]
    if not isinstance(tier, str) or tier not in TIERS:
        raise ValueError(
            f"{function}: compiler_options['tier'] must be one of "
            f"{', '.join(map(repr, TIERS))}, got {tier!r}"
        )
    return tier, xla_options


def compile(
    lowered: LoweredProgram | portable.PortableProgram,
    options: Sequence[tuple[str, Any]],
    default: str | None = None,
) -> tuple[CompiledProgram, Upgrade | None]:
    """Compiles a program in the tier that options or settings request.

    Args:
      lowered: the program; one for several platforms is refused.
      options: XLA's by name, and perhaps a tier.
      default: the tier if the options name none; None for the setting's.

    Returns:
      The program that runs now, and what builds a better one when it is started.
    """
    tier, xla_options = split_tier(options)
    if isinstance(lowered, portable.PortableProgram):
        lowered.refuse_compilation()
    tier = tier or default or compiler.compiler_tier.value
    if tier == "full" or not is_suited(lowered):
        return build(lowered, xla_options), None
    chosen = dict(compilation.quick_options(lowered.platform))
    chosen.update(xla_options)  # the user's own come first
    quick = tuple(sorted(chosen.items()))
    if tier == "quick":
        return _quick_build(lowered, quick, ""), None
    built = compilation.build_options_of(lowered, xla_options)
    if compilation.is_ready(lowered, built):
        return build(lowered, xla_options), None
    program = _quick_build(lowered, quick, "; the full build continues in a thread")
    return program, Upgrade(lowered, xla_options, built)


def _quick_build(lowered: LoweredProgram, options: Any, more: str) -> CompiledProgram:
    program = build(lowered, tuple(options))
    events.record_event_duration_secs(
        _EVENTS + "quick_build_duration",
        program.duration_s,
        fun_name=lowered.module_name,
    )
    if config.log_compiles.value:
        logs.warning(
            f"{lowered.module_name} runs a quick build, compiled in "
            f"{program.duration_s:.4f} s{more}"
        )
    return program


def is_suited(lowered: LoweredProgram) -> bool:
    """Whether a quick build of a program is worth having.

    It is for programs of the CPU that take a while to compile and have no effects.
    """
    if lowered.callbacks is not None or lowered.has_effects:
        return False
    return compilation.has_quick_build(lowered.platform, lowered.text)


# -- the full build --------------------------------------------------------------------


class Upgrade:
    """The full build of a program, to be compiled by a thread.

    Args:
      lowered: the program.
      options: the user's, without the tier.
      built: the same, complete, for the settings of the thread that asks.
    """

    def __init__(self, lowered: Any, options: Any, built: Any) -> None:
        self._lowered = lowered
        self._options = options
        self._built = built
        self._logs = bool(config.log_compiles.value)
        self._checks = bool(config.debug_nans.value or config.debug_infs.value)
        self._adopt: Callable[[], Any] | None = None
        self.done = threading.Event()

    def start(self, adopt: Callable[[CompiledProgram], None]) -> None:
        """Schedules the build; the result is passed to a method of the program's owner.

        Nothing is compiled for an object that is no longer there.
        """
        self._adopt = weakref.WeakMethod(adopt)
        _builder.add(self)

    def build(self) -> None:
        """Compiles the build; if that fails, reports it and keeps the quick one."""
        try:
            self._build()
        except Exception as error:
            logs.warning(
                f"{self._lowered.module_name} keeps its quick build, since the full "
                f"one failed: {error}"
            )
        finally:
            self.done.set()

    def _build(self) -> None:
        if self._adopt is None or self._adopt() is None:
            return
        loaded = compilation.load(self._lowered, self._built)
        program = build(
            self._lowered, self._options, loaded, checks_numbers=self._checks
        )
        adopt = self._adopt()
        if adopt is None:
            return
        adopt(program)
        name = self._lowered.module_name
        events.record_event(_EVENTS + "full_build_adopted", fun_name=name)
        if self._logs:
            logs.warning(f"{name} runs its full build from now on")


class _Builder:
    """The thread that compiles one program after another, while there are any."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Upgrade] = deque()
        self._running = False

    def add(self, upgrade: Upgrade) -> None:
        """Compiles an upgrade after those before it."""
        with self._lock:
            self._waiting.append(upgrade)
            if self._running:
                return
            self._running = True
        try:
            threading.Thread(target=self._run, name="olympus full builds").start()
        except RuntimeError as error:  # at exit; or the system has no more threads
            with self._lock:
                self._running = False
            logs.debug(f"no full build: {error}")

    def clear(self) -> None:
        """Drops what is waiting; the one under way is finished."""
        with self._lock:
            dropped, self._waiting = self._waiting, deque()
        for upgrade in dropped:
            upgrade.done.set()

    def __len__(self) -> int:
        return len(self._waiting)

    def _run(self) -> None:
        # At exit Python waits for this thread, which ends with the program it is at.
        while True:
            with self._lock:
                ends = not threading.main_thread().is_alive()
                if ends or not self._waiting:
                    self._running = False
                    return
                upgrade = self._waiting.popleft()
            upgrade.build()


_builder = _Builder()
caching.register(_builder.clear, "full builds to be made", _builder.__len__)
if hasattr(os, "register_at_fork"):
    # A forked process has no such thread, and may have found the lock taken.
    os.register_at_fork(after_in_child=_builder._forget)
