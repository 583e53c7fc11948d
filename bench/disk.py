"""Whole processes, from before the first import to the first result: without a cache on
disk, filling an empty one, and with the cache that the one before filled.

usage: python -m bench.disk LIBRARY PROGRAM     one process; prints its seconds
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# jax keeps what took a second to compile, unless told so; that would be little here.
_JAX_KEEPS_ALL = {
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}


def environment(lib: str, folder: str | None) -> dict[str, str]:
    """The environment of a process with its cache in a folder, or without one."""
    env = dict(os.environ)
    if lib == "jax":
        kept = {"JAX_COMPILATION_CACHE_DIR": folder, **_JAX_KEEPS_ALL}
        return {**env, **kept} if folder else env
    if folder is None:
        return {**env, "OLYMPUS_ENABLE_COMPILATION_CACHE": "0"}
    env.pop("OLYMPUS_ENABLE_COMPILATION_CACHE", None)
    return {**env, "OLYMPUS_CACHE_DIR": folder}


def _process(lib: str, program: str, folder: str | None) -> float:
    done = subprocess.run(
        [sys.executable, "-m", "bench.disk", lib, program],
        env=environment(lib, folder),
        capture_output=True,
        text=True,
        check=True,
    )
    return float(json.loads(done.stdout.strip().splitlines()[-1]))


def times(lib: str) -> dict[str, float]:
    """Seconds of a process of each program, by its name and the cache's state."""
    found = {}
    for program in PROGRAMS:
        found[f"process, {program}, no cache"] = _process(lib, program, None)
        with tempfile.TemporaryDirectory() as folder:
            # The library makes it, and so owns it as it wants to.
            inside = str(Path(folder) / "cache")
            for state in ("filling", "warm"):
                name = f"process, {program}, {state}"
                found[name] = _process(lib, program, inside)
    return found


# -- programs --------------------------------------------------------------------------


def _chain(lib: Any) -> Any:
    """700 equations."""
    jnp = lib.np

    def f(x: Any) -> Any:
        for i in range(1, 234):
            x = jnp.sin(x) * (1.0 / i) + x
        return x

    return f, (jnp.ones((8, 8)),)


def _mlp(lib: Any) -> Any:
    from bench import models

    loss, params, x = models.mlp(lib, 10)
    return lib.top.grad(loss), (params, x)


def _transformer(lib: Any) -> Any:
    from bench import models

    loss, params, x = models.transformer(lib, 4)
    return lib.top.grad(loss), (params, x)


def _operations(lib: Any) -> Any:
    from bench import worker

    code = worker.FIRST_TWENTY.format(lib=lib.name)
    return code, None


PROGRAMS = {
    "700 equations": _chain,
    "grad MLP-10": _mlp,
    "grad transformer-4": _transformer,
    "first twenty operations": _operations,
}


def main() -> None:
    start = time.perf_counter()
    name, program = sys.argv[1:]
    from bench import models

    lib = models.Library(name)
    f, args = PROGRAMS[program](lib)
    if args is None:
        exec(f, {})
    else:
        lib.wait(lib.top.jit(f)(*args))
    print(json.dumps(time.perf_counter() - start))


if __name__ == "__main__":
    main()
