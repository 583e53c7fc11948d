"""What the cache on disk costs and saves for one program, in milliseconds.

usage: python -m bench.cache_costs

For programs of several sizes: compiling without a cache, compiling and writing,
loading. Times are those of `lowered.compile()`.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import olympus
import olympus.numpy as jnp


def _chain(steps):
    def f(x):
        for i in range(1, steps):
            x = jnp.sin(x) * (1.0 / i) + x
        return x

    return f


PROGRAMS = {
    "x + x": lambda x: x + x,
    "a sort of a product": lambda x: jnp.sort(x @ x),
    "70 equations": _chain(24),
    "700 equations": _chain(234),
}


def _median_ms(run, prepare, times=7):
    taken = []
    for _ in range(times):
        prepare()
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1e3


def main() -> None:
    folder = Path(tempfile.mkdtemp()) / "cache"
    olympus.config.update("olympus_compilation_cache_dir", folder)
    enabled = olympus.config.states["olympus_enable_compilation_cache"]
    x = jnp.ones((8, 8))

    def empty():
        olympus.clear_caches()
        for path in folder.glob("*.program"):
            path.unlink()

    print(f"{'':24}{'no cache':>10}{'filling':>10}{'warm':>10}{'file':>10}")
    for name, f in PROGRAMS.items():
        lowered = olympus.jit(f).lower(x)
        with enabled(False):
            lowered.compile()
            none = _median_ms(lowered.compile, olympus.clear_caches)
        with enabled(True):
            filling = _median_ms(lowered.compile, empty)
            warm = _median_ms(lowered.compile, olympus.clear_caches, times=30)
        (path,) = folder.glob("*.program")
        size = path.stat().st_size
        empty()
        print(f"{name:24}{none:10.2f}{filling:10.2f}{warm:10.2f}{size:10}")


if __name__ == "__main__":
    main()
