"""Compiles and runs programs of many classes beside jax, and prints where we lose.

usage: python -m bench.blowups [--classes NAME,...] [--seeds N,...] [--rounds N]
                               [--limit SECONDS] [--ours PYTHON] [--theirs PYTHON]
                               [--peer LIBRARY] [--all]

Programs of `blowup_programs` are compiled in one process for each library and class, in
turns. A figure is the least processor time, with that of the compiler's threads, of
tracing, lowering and compiling, and of a call. Printed are programs that take more than
1.5 of the peer's time to compile or 1.1 to run; the others too with --all. A program is
endless where its process takes longer than the limit. `--peer olympus` compares two
jaxlibs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bench import blowup_programs, models

COMPILE, RUN = 1.5, 1.1  # ratios that are reported
SAMPLES, SAMPLE_S = 7, 0.01  # samples of run time, and the least length of one
LEAST_S = 2e-6  # differences of run time below this are calls, not programs


class Program(NamedTuple):
    """One program of a class."""

    name: str
    size: int
    seed: int
    gradient: bool

    def __str__(self) -> str:
        kind = "gradient of " if self.gradient else ""
        return f"{kind}{self.name} {self.size}, seed {self.seed}"


class Figures(NamedTuple):
    """Seconds; infinite where a program did not end, NaN where it failed."""

    compile: float
    run: float


ENDLESS = Figures(math.inf, math.inf)
FAILED = Figures(math.nan, math.nan)


def programs(names: Iterable[str], seeds: Iterable[int]) -> list[Program]:
    """Every class at its two sizes, and the gradients, for each seed."""
    seeds = list(seeds)
    return [
        Program(name, size, seed, gradient)
        for name in names
        for size in blowup_programs.SIZES[blowup_programs.CLASSES[name]]
        for seed in seeds
        for gradient in (False, True)
    ]


# -- in the process of one library -----------------------------------------------------


def measure(lib: models.Library, program: Program) -> Figures:
    """Seconds of processor time to compile a program, and to call it."""
    name, size, seed, gradient = program
    f, args = blowup_programs.make(lib, name, size, seed, gradient=gradient)
    start = time.process_time()
    compiled = lib.top.jit(f).lower(*args).compile()
    taken = time.process_time() - start
    return Figures(taken, _call(lib, compiled, args))


def _call(lib: models.Library, compiled: Any, args: Any) -> float:
    number = 1
    while (second := _calls(lib, compiled, args, number)) < SAMPLE_S:
        number = math.ceil(number * 1.5 * SAMPLE_S / max(second, SAMPLE_S / 10))
    samples = (_calls(lib, compiled, args, number) for _ in range(SAMPLES))
    return min(samples) / number


def _calls(lib: models.Library, compiled: Any, args: Any, number: int) -> float:
    start = time.process_time()
    for _ in range(number):
        lib.wait(compiled(*args))
    return time.process_time() - start


def worker(library: str, todo: Sequence[Program]) -> None:
    """Prints a line of figures for each program."""
    lib = models.Library(library)
    lib.wait(lib.top.jit(lambda x: x + 1)(lib.np.ones(3)))
    for program in todo:
        try:
            figures = measure(lib, program)
        except Exception as error:
            print(f"{library}: {program}: {error!r:.300}", file=sys.stderr)
            figures = FAILED
        print(json.dumps(figures), flush=True)


# -- the processes ---------------------------------------------------------------------


def figures(
    python: str, library: str, todo: Sequence[Program], limit: float
) -> list[Figures]:
    """Figures of all programs, where one that passes the limit is left out."""
    found: list[Figures] = []
    while len(found) < len(todo):
        rest = todo[len(found) :]
        lines, ended = _process(python, library, rest, limit)
        found += [Figures(*json.loads(line)) for line in lines]
        if len(found) < len(todo):
            found.append(FAILED if ended else ENDLESS)
    return found


def _process(
    python: str, library: str, todo: Sequence[Program], limit: float
) -> tuple[list[str], bool]:
    """The lines of one process, and whether it ended before the limit."""
    off = {"OLYMPUS_ENABLE_COMPILATION_CACHE": "0", "JAX_ENABLE_COMPILATION_CACHE": "0"}
    command = [python, "-m", "bench.blowups", "--one", library, json.dumps(todo)]
    try:
        out = subprocess.run(
            command,
            env=os.environ | off,
            stdout=subprocess.PIPE,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired as cut:
        written = cut.stdout or b""
        text = written.decode() if isinstance(written, bytes) else written
        return text.split("\n")[:-1], False
    return out.stdout.splitlines(), True


def best(rounds: Sequence[Figures]) -> Figures:
    """The least figures of several processes."""
    return Figures(min(r.compile for r in rounds), min(r.run for r in rounds))


def ratios(ours: Figures, theirs: Figures) -> Figures:
    """Our part of the peer's time; calls that differ by next to nothing are equal."""
    near = abs(ours.run - theirs.run) < LEAST_S
    run = 1.0 if near else _ratio(ours.run, theirs.run)
    return Figures(_ratio(ours.compile, theirs.compile), run)


def _ratio(ours: float, theirs: float) -> float:
    if math.isinf(theirs):
        return 1.0 if math.isinf(ours) else 0.0
    return ours / theirs


def lost(ratio: Figures) -> bool:
    """Whether a program is worth a look."""
    return ratio.compile > COMPILE or ratio.run > RUN


def row(program: Program, ours: Figures, theirs: Figures) -> str:
    """A line of the table."""
    ratio = ratios(ours, theirs)
    cells = [
        f"{ours.compile * 1e3:.0f} ms",
        f"{theirs.compile * 1e3:.0f} ms",
        f"{ratio.compile:.2f}",
        f"{ours.run * 1e6:.1f} us",
        f"{theirs.run * 1e6:.1f} us",
        f"{ratio.run:.2f}",
    ]
    return f"| {program} | {' | '.join(cells)} |"


def summary(rows: Mapping[Program, Figures]) -> str:
    """Geometric means of the ratios, and how many are lost."""
    known = [r for r in rows.values() if 0 < r.compile < math.inf and r.run > 0]
    if not known:
        return "no program has figures of both"
    compiling = statistics.geometric_mean(r.compile for r in known)
    running = statistics.geometric_mean(r.run for r in known)
    behind = sum(map(lost, rows.values()))
    return (
        f"{len(rows)} programs: compile {compiling:.2f}, run {running:.2f} "
        f"(geometric means); {behind} behind"
    )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", nargs=2, metavar=("LIBRARY", "PROGRAMS"))
    parser.add_argument("--classes", default=",".join(blowup_programs.CLASSES))
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--ours", default=sys.executable)
    parser.add_argument("--theirs", default=sys.executable)
    parser.add_argument("--peer", default="jax")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args(argv)
    if options.one:
        library, todo = options.one
        worker(library, [Program(*p) for p in json.loads(todo)])
        return
    sides = ((options.ours, "olympus"), (options.theirs, options.peer))
    print("| program | compile | peer | ratio | call | peer | ratio |")
    print("|---|--:|--:|--:|--:|--:|--:|", flush=True)
    table = {}
    for name in options.classes.split(","):
        todo = programs([name], map(int, options.seeds.split(",")))
        turns = [
            [figures(python, library, todo, options.limit) for python, library in sides]
            for _ in range(options.rounds)
        ]
        for i, program in enumerate(todo):
            ours, theirs = (best([t[side][i] for t in turns]) for side in (0, 1))
            table[program] = ratios(ours, theirs)
            if options.all or lost(table[program]):
                print(row(program, ours, theirs), flush=True)
    print(f"\n{summary(table)}")


if __name__ == "__main__":
    main()
