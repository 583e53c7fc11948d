"""The most memory that a process holds, by what it does.

usage: python -m bench.peaks LIBRARY PROGRAM     one process; prints its bytes
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from typing import Any

from bench import models


def peaks(lib: str) -> dict[str, float]:
    """Bytes beyond those of a process that only imports the library, by program."""
    empty = _process(lib, "nothing")
    return {
        f"peak {name}": _process(lib, name) - empty
        for name in PROGRAMS
        if name != "nothing"
    }


def _process(lib: str, program: str) -> float:
    done = subprocess.run(
        [sys.executable, "-m", "bench.peaks", lib, program],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(json.loads(done.stdout.strip().splitlines()[-1]))


def _nothing(lib: Any) -> None:
    lib.wait(lib.np.ones(3) + 1)


def _training(lib: Any) -> None:
    """A hundred steps of gradient descent."""
    top = lib.top
    loss, params, x = models.mlp(lib, 10, 512, 256)
    move = lambda p, s: p - 1e-3 * s  # noqa: E731
    step = top.jit(lambda p: top.tree_util.tree_map(move, p, top.grad(loss)(p, x)))
    for _ in range(100):
        params = step(params)
    lib.wait(params)


def _transient(lib: Any) -> None:
    """Twenty arrays of 100 MB, none of which is kept."""
    for i in range(20):
        lib.wait(lib.np.full(25_000_000, float(i), "float32") + 1)


def _programs(lib: Any) -> None:
    """A thousand compiled programs."""
    x = lib.np.ones(3)
    fs = [lib.top.jit(lambda x, i=i: x * i + i) for i in range(1000)]
    lib.wait([f(x) for f in fs])
    del fs


PROGRAMS = {
    "nothing": _nothing,
    "training loop": _training,
    "20 transient arrays": _transient,
    "1000 programs": _programs,
}


def main() -> None:
    name, program = sys.argv[1:]
    PROGRAMS[program](models.Library(name))
    print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))


if __name__ == "__main__":
    main()
