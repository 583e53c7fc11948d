"""Looks for programs that compile or run much longer than jax's.

usage: python -m bench.blowups [--classes NAME,...] [--sizes N,...] [--seeds N,...]
                               [--limit SECONDS] [--all]

Programs of `bench.program_classes` are compiled and run by both libraries in turns,
each library in a process of its own, which is ended and started again where a program
takes longer than the limit. Figures are of processor time, with that of the compiler's
threads. Printed are the programs beyond 1.5 of jax's time to compile or 1.1 of its time
to run; with `--all` every one.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bench import models, program_classes

LIBRARIES = ("olympus", "jax")
COMPILE, RUN = 1.5, 1.1
# Shorter differences are noise: seconds to compile, and to run.
_LEAST_COMPILE, _LEAST_RUN = 0.05, 5e-6


class Figure(NamedTuple):
    """Processor seconds of a program: to trace, lower and compile, and of a run."""

    compile_s: float
    run_s: float


# -- one library -----------------------------------------------------------------------


class Programs:
    """The programs of a library, compiled once each and run when asked.

    Args:
      library: its name.
    """

    def __init__(self, library: str) -> None:
        self._lib = models.Library(library)
        for name in ("nn", "scipy.special"):
            importlib.import_module(f"{library}.{name}")
        self._lib.wait(self._lib.top.jit(lambda x: x + 1)(self._lib.np.ones(3)))
        self._loaded: Any = None

    def compile(self, name: str, size: int, seed: int) -> float:
        """Compiles a program, which `run` takes from then on."""
        make = program_classes.CLASSES[name]
        f, args = make(self._lib, size, np.random.default_rng(seed))
        self._lib.wait(args)
        start = time.process_time()
        compiled = self._lib.top.jit(f).lower(*args).compile()
        seconds = time.process_time() - start
        self._loaded = compiled, args
        self._lib.wait(compiled(*args))
        return seconds

    def run(self) -> float:
        """The least processor time of a run."""
        compiled, args = self._loaded
        runs, times = 1, []
        while len(times) < 7:
            start = time.process_time()
            for _ in range(runs):
                self._lib.wait(compiled(*args))
            seconds = (time.process_time() - start) / runs
            if seconds * runs < 2e-3 and runs < 1000:
                runs *= 4
            else:
                times.append(seconds)
        return min(times)


def _serve(library: str) -> None:
    programs = Programs(library)
    for line in sys.stdin:
        request = json.loads(line)
        answer = programs.compile(*request) if request else programs.run()
        print(json.dumps(answer), flush=True)


class Server:
    """A process of one library; one that is too slow is replaced."""

    def __init__(self, library: str, limit: float) -> None:
        self._library = library
        self._limit = limit
        self._process: Any = None

    def ask(self, *request: Any) -> float | None:
        """The answer in seconds; None after the limit, or where the process ends."""
        if self._process is None:
            self._process = self._start()
        process = self._process
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], self._limit)
        answer = process.stdout.readline() if ready else ""
        if not answer:
            self.end()
            return None
        return float(answer)

    def _start(self) -> Any:
        off = {
            "OLYMPUS_ENABLE_COMPILATION_CACHE": "0",
            "JAX_ENABLE_COMPILATION_CACHE": "0",
        }
        return subprocess.Popen(
            [sys.executable, "-m", "bench.blowups", "--serve", self._library],
            env=os.environ | off,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def end(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


# -- both ------------------------------------------------------------------------------


def measure(
    servers: Mapping[str, Server], name: str, size: int, seed: int
) -> dict[str, Figure | None]:
    """A program's figures by library; None beyond the limit."""
    compiled = {k: server.ask(name, size, seed) for k, server in servers.items()}
    runs: dict[str, list[float | None]] = {k: [] for k in servers}
    for _ in range(3):
        for k, server in servers.items():
            runs[k].append(None if compiled[k] is None else server.ask())
    figures: dict[str, Figure | None] = {}
    for k, seconds in compiled.items():
        times = [t for t in runs[k] if t is not None]
        figures[k] = None
        if seconds is not None and times:
            figures[k] = Figure(seconds, statistics.median(times))
    return figures


def is_beyond(ours: Figure | None, theirs: Figure | None) -> bool:
    """Whether a program compiles or runs much longer than jax's."""
    if ours is None or theirs is None:
        return ours is None and theirs is not None
    compiles = ours.compile_s > COMPILE * theirs.compile_s + _LEAST_COMPILE
    return compiles or ours.run_s > RUN * theirs.run_s + _LEAST_RUN


def row(title: str, ours: Figure | None, theirs: Figure | None) -> str:
    """A row of the table."""
    if ours is None or theirs is None:
        texts = ["over the limit" if f is None else "-" for f in (ours, theirs)]
        return f"| {title} | {texts[0]} | {texts[1]} | | | | |"
    return (
        f"| {title} | {ours.compile_s:.2f} s | {theirs.compile_s:.2f} s "
        f"| {ours.compile_s / theirs.compile_s:.2f} | {ours.run_s * 1e6:.1f} µs "
        f"| {theirs.run_s * 1e6:.1f} µs | {ours.run_s / theirs.run_s:.2f} |"
    )


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", choices=LIBRARIES)
    parser.add_argument("--classes", default=",".join(program_classes.CLASSES))
    parser.add_argument("--sizes", type=_numbers, default=[3, 12])
    parser.add_argument("--seeds", type=_numbers, default=[0])
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args(argv)
    if options.serve:
        _serve(options.serve)
        return
    servers = {name: Server(name, options.limit) for name in LIBRARIES}
    print("| program | compile, olympus | jax | ratio | run, olympus | jax | ratio |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name in options.classes.split(","):
        for size in options.sizes:
            for seed in options.seeds:
                figures = measure(servers, name, size, seed)
                ours, theirs = (figures[library] for library in LIBRARIES)
                if options.all or is_beyond(ours, theirs):
                    title = f"{name}, size {size}, seed {seed}"
                    print(row(title, ours, theirs), flush=True)
    for server in servers.values():
        server.end()


if __name__ == "__main__":
    main()
