"""How long each instruction of a compiled program takes, by the profiler."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from olympus._src.api import profiler
from olympus._src.lowering import hlo_text

_RUNS = 5
_lock = threading.Lock()  # only one profile may be recorded at a time

# Their time is that of what they run, which is counted by itself.
_CONTAINERS = ("while", "conditional", "call")


class Times(NamedTuple):
    """Times of one run, the mean of some.

    Attributes:
      instructions: microseconds by the name of the instruction, over all threads; the
        mean of the devices, where there are several.
      run_us: of a run, as its caller waits for it, without the profiler.
    """

    instructions: dict[str, float]
    run_us: float


def measure(module: hlo_text.Module, n_devices: int, run: Callable[[], Any]) -> Times:
    """Runs a program a few times.

    Args:
      module: the program's instructions, whose name tells its events from others.
      n_devices: how many run it together.
      run: runs it and waits for its results.

    Raises:
      RuntimeError: a profile is being recorded already.
    """
    run()  # warm
    seconds = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
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
        for _ in range(_RUNS):
            run()
    sums = _totals(session.data, module.name)
    totals = {operation: us / n_devices for operation, us in sums.items()}
    for computation in module.computations.values():
        for instruction in computation.instructions.values():
            if instruction.opcode in _CONTAINERS:
                totals.pop(instruction.name, None)
    return Times(totals, min(seconds) * 1e6)


def _totals(data: Any, name: str) -> dict[str, float]:
    """Microseconds of a run by instruction, of a recording of all runs."""
    totals: dict[str, float] = {}
    for plane in profiler.ProfileData.from_serialized_xspace(data).planes:
        for line in plane.lines:
            for event in line.events:
                known = dict(event.stats)
                if known.get("hlo_module") == name and "hlo_op" in known:
                    operation = str(known["hlo_op"])
                    us = event.duration_ns / 1e3 / _RUNS
                    totals[operation] = totals.get(operation, 0.0) + us
    return totals
