"""Times one group of programs with one library and prints JSON: by name the seconds of
a case, or its bytes, and the seconds of the processors or null.

usage: python -m bench.worker LIBRARY GROUP
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
from typing import Any

# Time spent on each case of one group in one process, to warm up and again to measure.
BUDGET_S = float(os.environ.get("BENCH_SECONDS", "0.25"))
PREPARED = 7  # turns of a case that prepares each
FEW = 3  # repetitions of cases that take longer than that

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


def measure(f: Any, wait: Any) -> Figure:
    """Seconds of one call, waited for: the least of several means. Or bytes."""
    if hasattr(f, "count"):
        return f.count(), None
    if hasattr(f, "prepare"):
        return _least([_once(f) for _ in range(getattr(f, "turns", PREPARED))])
    start = _clock()
    wait(f())
    once, _ = _since(start)
    # What a loop settles to: caches filled, and memory that results may reuse.
    warm_until = time.perf_counter() + BUDGET_S
    while time.perf_counter() < warm_until:
        wait(f())
    number = max(1, int(BUDGET_S / 5 / max(once, 1e-7)))
    turns = []
    for _ in range(5 if once < BUDGET_S / 5 else FEW):
        start = _clock()
        for _ in range(number):
            out = f()
        wait(out)
        turns.append(_since(start, number))
    return _least(turns)


def _least(turns: list[tuple[float, float]]) -> Figure:
    """The least of each."""
    walls, cpus = zip(*turns, strict=True)
    return min(walls), min(cpus)


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
    cases, wait = _cases(lib, group)
    gc.collect()
    gc.disable()
    print(json.dumps({name: measure(f, _waiting(wait)) for name, f in cases.items()}))


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
        indexing,
        kernels,
        meshes,
        ode,
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
        **refs.GROUPS,
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
