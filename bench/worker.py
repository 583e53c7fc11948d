"""Times one group of programs with one library and prints JSON: by name the seconds of
a case, or its bytes, and the seconds of the processors or null.

usage: python -m bench.worker LIBRARY GROUP

Groups of cases print the names of theirs and then answer requests, a line of JSON each:
`["warm", CASE]` runs a case until it is settled and says how many turns it takes at
most, `["turn", CASE]` times it. An answer is null for a case that has raised.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Mapping
from typing import Any

# Time spent on each case of one group in one process to warm up.
BUDGET_S = float(os.environ.get("BENCH_SECONDS", "0.25"))
# A turn of a case that takes less than this runs it as often as that takes.
TURN_S = BUDGET_S / 10
TURNS = 9

FIRST_TWENTY = """
import {lib}, {lib}.numpy as jnp
x = jnp.arange(6.0).reshape(2, 3)
y = x + 1; y = y * 2; y = jnp.exp(-y); y = jnp.log(y + 3); y = jnp.sum(y)
z = x @ x.T; z = jnp.where(z > 1, z, 0.0); z = z[0]; z = z[1:]; w = x.at[0].set(1.0)
v = jnp.concatenate([x, w]); v = jnp.mean(v, axis=0); v = jnp.maximum(v, 0)
u = jnp.zeros((3, 3)) + jnp.eye(3); u = jnp.sqrt(u); u = u.astype('int32')
t = jnp.stack([v, v]); t = jnp.max(t); s = float(t); r = jnp.sin(x); r = r / 2
r.block_until_ready()
"""


Figure = tuple[float, float | None]


def _clock() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(start: tuple[float, float], number: int = 1) -> tuple[float, float]:
    wall, cpu = _clock()
    return (wall - start[0]) / number, (cpu - start[1]) / number


class Case:
    """A program that is run in turns.

    Args:
      run: what is timed: a function; or an object with `count`, whose bytes are the
        figure; or one with `prepare` and `run`, for what needs something new each time.
      wait: waits for a result.
    """

    def __init__(self, run: Any, wait: Any) -> None:
        self._run = run
        self._wait = wait
        self._number = 1
        self._bytes: float | None = None

    def warm(self) -> int:
        """Runs until caches are filled and memory that results may reuse is there.

        Returns:
          How many turns there are at most.
        """
        if hasattr(self._run, "count"):
            self._bytes = self._run.count()
            return 1
        if not hasattr(self._run, "prepare"):
            self._number = max(1, int(TURN_S / max(self._settle(), 1e-7)))
        return getattr(self._run, "turns", TURNS)

    def _settle(self) -> float:
        """Seconds of one run, after others: the least."""
        least, until = float("inf"), time.perf_counter() + BUDGET_S
        while True:
            start = _clock()
            self._wait(self._run())
            least = min(least, _since(start)[0])
            if time.perf_counter() > until:
                return least

    def turn(self) -> Figure:
        """Seconds of one run, waited for: the mean of a few. Or bytes."""
        if self._bytes is not None:
            return self._bytes, None
        if hasattr(self._run, "prepare"):
            return _once(self._run)
        start = _clock()
        for _ in range(self._number):
            out = self._run()
        self._wait(out)
        return _since(start, self._number)


def _once(case: Any) -> tuple[float, float]:
    """Seconds of one turn of a case that needs something new each time."""
    new = case.prepare()
    start = _clock()
    case.run(new)
    return _since(start)


def process(lib: str, group: str) -> dict[str, Figure]:
    """Cases that need a process of their own."""
    start = _clock()
    if group == "import":
        exec(f"import {lib}, {lib}.numpy", {})
    else:
        exec(FIRST_TWENTY.format(lib=lib), {})
    return {group: _since(start)}


def main() -> None:
    lib, group = sys.argv[1:]
    if group in ("import", "first twenty operations"):
        print(json.dumps(process(lib, group)))
        return
    if group == "disk":
        from bench import disk

        print(json.dumps({case: (s, None) for case, s in disk.times(lib).items()}))
        return
    if group == "peaks":
        from bench import peaks

        print(json.dumps({case: (n, None) for case, n in peaks.peaks(lib).items()}))
        return
    serve(*_cases(lib, group))


def serve(programs: Mapping[str, Any], wait: Any) -> None:
    """Answers requests about the cases of a group until there are no more."""
    cases = {name: Case(f, _waiting(wait)) for name, f in programs.items()}
    gc.collect()
    gc.disable()
    _say(list(cases))
    for line in sys.stdin:
        verb, name = json.loads(line)
        try:
            _say(cases[name].warm() if verb == "warm" else cases[name].turn())
        except Exception:  # the case fails, and the others go on
            traceback.print_exc()
            _say(None)


def _say(answer: Any) -> None:
    print(json.dumps(answer), flush=True)


def _cases(lib: str, group: str) -> tuple[dict[str, Any], Any]:
    """The cases of a group, and what waits for a result."""
    if lib == "torch":
        from bench import torch_cases

        return torch_cases.GROUPS[group](importlib.import_module(lib)), lambda x: x
    from bench import models

    library = models.Library(lib)
    return groups()[group](library), library.wait


def groups() -> dict[str, Any]:
    """What makes the cases of each group."""
    from bench import (
        applications,
        calls,
        convolutions,
        eager,
        foreign,
        gpus,
        indexing,
        kernels,
        meshes,
        ode,
        pallas_kernels,
        programs,
        refs,
        sparse,
    )

    return {
        **programs.GROUPS,
        **calls.GROUPS,
        **eager.GROUPS,
        **indexing.GROUPS,
        **kernels.GROUPS,
        **convolutions.GROUPS,
        **meshes.GROUPS,
        **foreign.GROUPS,
        **gpus.GROUPS,
        **refs.GROUPS,
        **pallas_kernels.GROUPS,
        **ode.GROUPS,
        **sparse.GROUPS,
        **applications.GROUPS,
    }


def _waiting(wait: Any) -> Any:
    def waited(x: Any) -> None:
        if hasattr(x, "block_until_ready") or isinstance(x, (list, tuple, dict)):
            wait(x)

    return waited


if __name__ == "__main__":
    main()
