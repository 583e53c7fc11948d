"""What keeping freed host memory costs and gains, by the allocator's thresholds.

    python -m bench.host_memory

Each row is a process of its own: glibc's thresholds cannot be set back.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np

_LIMITS = {"off": 0, "64 MiB": 1 << 26, "256 MiB": 1 << 28, "1 GiB": 1 << 30}
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def _resident_mb() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def _best(f: Any, *args: Any) -> float:
    import olympus

    times = []
    for _ in range(12):
        start = time.perf_counter()
        olympus.block_until_ready(f(*args))
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e3


def measure(limit: int) -> dict[str, float]:
    """Milliseconds of operations, and resident MB, under one limit (0: glibc's own)."""
    os.environ["OLYMPUS_KEEP_HOST_MEMORY"] = "0"
    if limit:
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, limit)
        mallopt(_TRIM_THRESHOLD, limit)
    import olympus
    import olympus.numpy as jnp

    rng = np.random.default_rng(0)
    jit = olympus.jit
    x = jnp.asarray(rng.normal(size=10_000_000).astype("float32"))
    m = jnp.asarray(rng.normal(size=(3000, 3000)).astype("float32"))
    found = {
        "add 1e7": _best(jit(lambda x: x + x), x),
        "exp 1e7": _best(jit(jnp.exp), x),
        "transpose 3000²": _best(jit(lambda m: m.T + 0), m),
        "add 1e6": _best(jit(lambda x: x + x), x[:1_000_000]),
    }
    w = jnp.asarray(rng.normal(size=(1024, 1024)).astype("float32") * 0.01)
    batch = jnp.asarray(rng.normal(size=(512, 1024)).astype("float32"))

    @jit
    def train(w: Any) -> Any:
        loss = lambda w: jnp.mean(jnp.tanh(jnp.tanh(batch @ w) @ w) ** 2)  # noqa: E731
        return w - 0.1 * olympus.grad(loss)(w)

    found["training step"] = _best(train, w)
    before = _resident_mb()
    kept = [jit(lambda x, i=i: x + i)(x) for i in range(4)]
    kept = [olympus.block_until_ready(kept[0] + float(i)) for i in range(20)]
    found["MB, 20 live"] = _resident_mb() - before
    del kept
    found["MB, freed"] = _resident_mb() - before
    for n in np.geomspace(1e4, 2e7, 60).astype(int):
        olympus.block_until_ready(jnp.zeros(int(n)) + 1.0)
    found["MB, many sizes"] = _resident_mb() - before

    def work() -> None:
        for _ in range(5):
            np.asarray(jnp.sin(x))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found["MB, four threads"] = _resident_mb() - before
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        start = time.perf_counter()
        trim(0)
        found["trim ms"] = (time.perf_counter() - start) * 1e3
        found["MB, trimmed"] = _resident_mb() - before
    return found


def main() -> None:
    """Prints a table of all limits."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
        return
    rows = {}
    for name, limit in _LIMITS.items():
        command = [sys.executable, "-m", "bench.host_memory", str(limit)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows[name] = json.loads(done.stdout)
    print("| |", " | ".join(rows), "|")
    print("|---|" + "--:|" * len(rows))
    for what in next(iter(rows.values())):
        print(f"| {what} |", " | ".join(f"{r[what]:.1f}" for r in rows.values()), "|")


if __name__ == "__main__":
    main()
