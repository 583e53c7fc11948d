"""How long each instruction of a compiled program takes, by the profiler.

Each moment of a run is shared by the instructions that run then, on whatever threads
and devices, so that their times, and what is outside of them, add up to the run's. The
profiler slows small instructions down; its times are scaled to a run without it.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from olympus._src.api import profiler
from olympus._src.lowering import hlo_text

# So many runs take about this long.
_SECONDS, _FEWEST, _MOST = 0.05, 5, 10
_lock = threading.Lock()  # only one profile may be recorded at a time

# Their time is that of what they run, which is counted by itself.
_CONTAINERS = ("while", "conditional", "call")


class Times(NamedTuple):
    """Times of one run, the mean of some.

    Attributes:
      instructions: microseconds by the name of the instruction; those that run at the
        same time share it.
      outside_us: when no instruction runs: handing over arguments, starting threads.
      run_us: of a run, as its caller waits for it, without the profiler; the sum of the
        others.
    """

    instructions: dict[str, float]
    outside_us: float
    run_us: float


def measure(module: hlo_text.Module, run: Callable[[], Any]) -> Times:
    """Runs a program a few times.

    Args:
      module: the program's instructions, whose name tells its events from others.
      run: runs it and waits for its results.

    Raises:
      RuntimeError: a profile is being recorded already.
    """
    run()  # warm
    first_us = _timed(run)
    n_runs = max(_FEWEST, min(_MOST, int(_SECONDS * 1e6 / max(first_us, 1.0))))
    run_us = _median([_timed(run) for _ in range(n_runs)])
    options = profiler.ProfileOptions()
    options.python_tracer_level = 0  # it would slow the runs down
    with _lock, contextlib.ExitStack() as stack:
        session = profiler.ProfileSession(profiler_options=options)
        try:
            stack.enter_context(session)
        except RuntimeError as error:
            raise RuntimeError(
                "lens: requires that nobody else records a profile, got one that has "
                "been started; stop it first, or pass measure=False"
            ) from error
        profiled_us = sum(_timed(run) for _ in range(n_runs))
    events = _events(session.data, module)
    totals, busy_ns = share(events)
    # Clocks differ: instructions may seem to take longer than the run.
    scale = run_us / max(profiled_us, busy_ns / 1e3)
    instructions = {name: ns / 1e3 * scale for name, ns in totals.items()}
    outside_us = max(run_us - busy_ns / 1e3 * scale, 0.0)
    return Times(instructions, outside_us, run_us)


def _timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e6


def _median(numbers: list[float]) -> float:
    return sorted(numbers)[len(numbers) // 2]


class Event(NamedTuple):
    """An instruction that ran, from one time to another in nanoseconds."""

    name: str
    start: float
    end: float


def share(events: Sequence[Event]) -> tuple[dict[str, float], float]:
    """The time of each instruction, of which those that overlap have equal shares.

    Returns:
      Nanoseconds by name, and how long any ran.
    """
    changes = [(e.start, 1, e.name) for e in events]
    changes += [(e.end, -1, e.name) for e in events]
    changes.sort()
    totals: dict[str, float] = dict.fromkeys([e.name for e in events], 0.0)
    running: dict[str, int] = {}
    n_running, before, busy = 0, 0.0, 0.0
    for now, change, name in changes:
        if n_running:
            busy += now - before
            part = (now - before) / n_running
            for other, n in running.items():
                totals[other] += part * n
        before = now
        n_running += change
        count = running.get(name, 0) + change
        if count:
            running[name] = count
        else:
            del running[name]
    return totals, busy


def _events(data: Any, module: hlo_text.Module) -> list[Event]:
    """The events of a recording that are of a module's instructions."""
    containers = {
        instruction.name
        for computation in module.computations.values()
        for instruction in computation.instructions.values()
        if instruction.opcode in _CONTAINERS
    }
    events = []
    for plane in profiler.ProfileData.from_serialized_xspace(data).planes:
        for line in plane.lines:
            for event in line.events:
                known = dict(event.stats)
                name = known.get("hlo_op")
                if known.get("hlo_module") != module.name or name is None:
                    continue
                if str(name) not in containers:
                    start = event.start_ns
                    events.append(Event(str(name), start, start + event.duration_ns))
    return events
