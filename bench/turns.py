"""Processes of several sides that run the cases of a group in turns.

The speed of a machine changes within seconds. A turn of a case takes milliseconds, and
the sides take theirs one after the other, so that such a change falls on all of them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.comparing import Figure

# A case that takes longer than this in a turn has few of them.
LONG_S = 1.0
FEW = 3
HERE = Path(__file__).resolve().parent.parent
BYTECODE = Path(tempfile.gettempdir()) / "olympus-bench-bytecode"


# Groups of programs that one thread runs: both sides stay on one core, so that neither
# is moved to a core that is cold, or slower.
ONE_CORE = (
    "calls",
    "call_forms",
    "small_operations",
    "remade",
    "eager",
    "eager_grad",
    "tracing",
    "lowering",
    "printing",
    "refs",
)


class Side(NamedTuple):
    """A library, and the checkout that holds it and the benchmark."""

    name: str
    library: str
    root: Path


def environment(side: Side, group: str) -> dict[str, str]:
    """The environment of a process that times a group."""
    env = {**os.environ, "PYTHONPATH": str(side.root), "TF_CPP_MIN_LOG_LEVEL": "2"}
    # Bytecode is kept, as it is where a package is installed.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPYCACHEPREFIX"] = str(BYTECODE)
    # A compilation is timed as one; `disk` turns the cache on where it is asked for.
    env["OLYMPUS_ENABLE_COMPILATION_CACHE"] = "0"
    if group.startswith("mesh_"):
        env["OLYMPUS_NUM_CPU_DEVICES"] = env["JAX_NUM_CPU_DEVICES"] = "8"
    return env


def command(side: Side, group: str) -> list[str]:
    """What starts a process that times a group."""
    return [sys.executable, "-m", "bench.worker", side.library, group]


class Player:
    """One side's process, which runs what it is asked to, a line at a time."""

    def __init__(self, side: Side, group: str) -> None:
        self._name = f"{side.name} {group}"
        self._failed = False
        # Kept until the end of the process; a pipe would fill up.
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            command(side, group),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=environment(side, group),
            cwd=side.root,
        )
        assert self._process.stdin
        assert self._process.stdout
        if group in ONE_CORE and hasattr(os, "sched_setaffinity"):
            cores = os.sched_getaffinity(0)
            os.sched_setaffinity(self._process.pid, {max(cores)})
        self._input, self._output = self._process.stdin, self._process.stdout
        self.cases: list[str] = self._answer() or []

    def warm(self, case: str) -> int:
        """Runs a case until it is settled; how many turns it takes, 0 if it fails."""
        return self._ask("warm", case) or 0

    def turn(self, case: str) -> Figure | None:
        """One turn of a case; None if it fails."""
        answer = self._ask("turn", case)
        return None if answer is None else Figure(*answer)

    def end(self) -> None:
        """Ends the process, and shows what it said about cases that failed."""
        self._process.kill()
        self._process.communicate()
        self._errors.seek(0)
        said = self._errors.read()
        if self._failed:
            sys.stderr.write(f"{self._name}:\n{said[-2000:]}\n")
        self._errors.close()

    def _ask(self, *words: str) -> Any:
        try:
            self._input.write(json.dumps(words) + "\n")
            self._input.flush()
        except BrokenPipeError:
            return None
        return self._answer()

    def _answer(self) -> Any:
        """The next line, read; None where a case, or the process, has failed."""
        line = self._output.readline()
        answer = json.loads(line) if line else None
        self._failed |= answer is None
        return answer


def play(
    sides: Sequence[Side], group: str, only: Sequence[str] = ()
) -> dict[str, dict[str, Figure]]:
    """Runs the cases of a group in turns, in one process of each side.

    Args:
      sides: what is timed.
      group: the name of the group.
      only: cases that are run; all if there are none.

    Returns:
      By side and case, the median of its turns.
    """
    players = {side.name: Player(side, group) for side in sides}
    try:
        cases = dict.fromkeys(c for p in players.values() for c in p.cases)
        found: dict[str, dict[str, Figure]] = {name: {} for name in players}
        for case in [c for c in cases if not only or c in only]:
            present = {n: p for n, p in players.items() if case in p.cases}
            for name, figure in _case(present, case).items():
                found[name][case] = figure
        return found
    finally:
        for player in players.values():
            player.end()


def _case(players: Mapping[str, Player], case: str) -> dict[str, Figure]:
    """The median of the turns of each side; sides that fail have none."""
    most = {name: player.warm(case) for name, player in players.items()}
    figures: dict[str, list[Figure]] = {name: [] for name, n in most.items() if n}
    left = min([most[name] for name in figures], default=0)
    while left > 0:
        for name in list(figures) if left % 2 else list(figures)[::-1]:
            figure = players[name].turn(case)
            if figure is None:
                del figures[name]
                continue
            figures[name].append(figure)
            if figure.wall > LONG_S and figure.cpu is not None:
                left = min(left, 1 + FEW - len(figures[name]))
        left -= 1
    return {name: _median(turns) for name, turns in figures.items() if turns}


def _median(turns: Sequence[Figure]) -> Figure:
    walls = [figure.wall for figure in turns]
    cpus = [figure.cpu for figure in turns if figure.cpu is not None]
    return Figure(statistics.median(walls), statistics.median(cpus) if cpus else None)
