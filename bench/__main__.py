"""Times olympus against jax, or against another commit of it, and prints a table.

usage: python -m bench [--rounds N] [--groups NAME,...] [--json FILE]
                       [--beside numpy,torch] [--against REF]

A round runs both sides in fresh processes of this interpreter. They take each case in
turns of some milliseconds, so that what the machine does beside falls on both. Small
programs stay on one core. A case's figure in a round is the median of its turns, its
ratio the median of the rounds' ratios. Noise is how far these differ: the distance of
their quartiles, as a part of the median.

With `--against` the other side is a git reference in a temporary worktree, with its
part in C built there. Cases that lose more than 5 % beyond their noise are timed again;
if they still do, the exit status is 1. `--groups quick` is a set of groups that takes
less than three minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench import checkouts, comparing, turns
from bench.budgets import budget_of
from bench.comparing import Figure
from bench.turns import Side

PROCESS = ("import", "first twenty operations")
# What is timed by a whole process, and not in turns.
WHOLE = (*PROCESS, "disk", "peaks")
GROUPS = (
    *PROCESS,
    *[
        "calls",
        "call_forms",
        "small_operations",
        "remade",
        "eager",
        "eager_grad",
        "tracing",
        "lowering",
        "printing",
        "cold",
        "disk",
        "kernels",
        "gradients",
        "memory",
        "growth",
        "mesh_calls",
        "mesh_placed",
        "mesh_programs",
        "refs",
        "pallas_kernels",
        "foreign",
        "ode",
    ],
    "sparse_products",
    "sparse_programs",
)
# What a change is compared with its parent by, in under three minutes.
QUICK = (
    "import",
    "calls",
    "call_forms",
    "small_operations",
    "eager_grad",
    "quick_programs",
    "quick_runs",
)
# What takes minutes: applications, compilation of programs that grow, memory, size.
LARGE = ("applications", "compiles", "peaks", "scale")
# On a GPU `--groups gpu` times programs of its sizes.
SETS = {"quick": QUICK, "all": GROUPS, "large": LARGE}
# What else may be timed beside the two, and the groups it has cases of.
_DATA = ("sorts", "orders", "prefixes", "scatters")
PEERS = {
    "numpy": ("forty", *_DATA, "matrices"),
    "torch": ("forty", "kernels", *_DATA, "convolutions", "matrices"),
}
_AGAIN = 2  # how often cases that seem to lose are timed again
_QUICK_S = "0.05"  # spent on each case and process of the quick set


Found = dict[str, dict[str, list[Figure]]]  # by case and side


def run_once(side: Side, group: str) -> dict[str, Figure]:
    """One process of one side; its figures by case."""
    done = subprocess.run(
        turns.command(side, group),
        capture_output=True,
        text=True,
        env=turns.environment(side, group),
        cwd=side.root,
        check=False,
    )
    if done.returncode:
        sys.stderr.write(f"{side.name} {group}:\n{done.stderr[-2000:]}\n")
        return {}
    figures = json.loads(done.stdout.strip().splitlines()[-1])
    return {case: Figure(*figure) for case, figure in figures.items()}


def run_sides(
    sides: Sequence[Side], group: str, only: Sequence[str] = ()
) -> dict[str, dict[str, Figure]]:
    """One process of each side; figures by side and case.

    Args:
      sides: what is timed.
      group: what is timed of them.
      only: cases that are run; all if there are none.
    """
    if group in WHOLE:
        return {side.name: run_once(side, group) for side in sides}
    return turns.play(sides, group, only)


def collect(
    found: Found,
    sides: Sequence[Side],
    groups: Sequence[str],
    rounds: int,
    only: Sequence[str] = (),
) -> None:
    """Adds figures of each case and side, in turns.

    Args:
      found: where they are added.
      sides: what is timed; peers only in the groups that they have.
      groups: what is timed of them.
      rounds: how often.
      only: cases whose figures are kept; all if there are none.
    """
    for group in groups:
        present = [s for s in sides if group in PEERS.get(s.library, (group,))]
        for i in range(rounds):
            ordered = present if i % 2 == 0 else present[::-1]
            for name, figures in run_sides(ordered, group, only).items():
                for case, figure in figures.items():
                    if not only or case in only:
                        found.setdefault(case, {}).setdefault(name, [])
                        found[case][name].append(figure)


def scaled(case: str, figure: float) -> str:
    """A time, or an amount of memory, in a unit that suits it."""
    if case.startswith(("memory ", "peak ")):
        return f"{figure / 1024:.1f} KiB"
    seconds = figure
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.2f} {unit}"
    return f"{seconds / 1e-6:.1f} µs"


def table(
    found: Found, sides: tuple[str, str], peers: Sequence[str], budgets: bool
) -> str:
    """The figures as Markdown.

    Args:
      found: the figures.
      sides: the two that are compared.
      peers: others.
      budgets: whether to say which ratios are within their budgets.
    """
    heads = ["case", *sides, "ratio", "CPU", "noise"]
    heads += ["budget", ""] if budgets else ["verdict"]
    heads += [head for peer in peers for head in (peer, "ratio")]
    lines = [_line(heads), _line(["---", *["--:"] * (len(heads) - 1)])]
    rows, missing = comparing.rows(found, sides)
    for row in rows:
        times = [scaled(row.case, figure) for figure in (row.first, row.second)]
        cpu = "" if row.cpu is None else f"{row.cpu:.2f}"
        cells = [row.case, *times, f"{row.ratio:.2f}", cpu, f"{row.noise:.0%}"]
        cells += _budget(row) if budgets else [_verdict(row)]
        for peer in peers:
            cells += _peer(row, found[row.case].get(peer))
        lines.append(_line(cells))
    lines += [_line([case, "-", "-", "failed"]) for case in missing]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _budget(row: comparing.Row) -> list[str]:
    budget = budget_of(row.case)
    if budget is None:
        return ["", ""]
    return [f"{budget:.2f}", "met" if row.ratio <= budget else "missed"]


def _verdict(row: comparing.Row) -> str:
    return "lost" if comparing.is_lost(row) else ""


def _peer(row: comparing.Row, figures: Sequence[Figure] | None) -> list[str]:
    if not figures:
        return ["", ""]
    (other, _) = comparing.row(row.case, figures, figures)[1:3]
    return [scaled(row.case, other), f"{row.first / other:.2f}"]


def versions() -> str:
    """What was measured, where."""
    code = "import jaxlib.version as v; print(v.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return (
        f"jaxlib {done.stdout.strip()}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}"
    )


def beside(given: argparse.Namespace, groups: Sequence[str]) -> Found:
    """Times olympus and other libraries, and prints the table."""
    peers = [peer for peer in given.beside.split(",") if peer]
    sides = [Side(name, name, checkouts.HERE) for name in ("olympus", "jax", *peers)]
    found: Found = {}
    for side in sides[:2]:  # writes the bytecode
        run_once(side, "first twenty operations")
    collect(found, sides, groups, given.rounds)
    print(f"Medians of {given.rounds} rounds; {versions()}.\n")
    print(table(found, ("olympus", "jax"), peers, budgets=True))
    return found


def against(given: argparse.Namespace, groups: Sequence[str]) -> tuple[Found, bool]:
    """Times this checkout and another, and prints the table.

    Returns:
      The figures, and whether a case is lost.
    """
    names = ("after", "before")
    found: Found = {}
    with checkouts.with_reference(given.against) as roots:
        sides = [Side(n, "olympus", r) for n, r in zip(names, roots, strict=True)]
        for side in sides:  # writes the bytecode
            run_once(side, "first twenty operations")
        for group in groups:
            own: Found = {}
            collect(own, sides, [group], given.rounds)
            for _ in range(_AGAIN):
                slower = comparing.lost(own, names)
                if slower:
                    collect(own, sides, [group], given.rounds, slower)
            found.update(own)
    print(f"Medians of {given.rounds} rounds against {given.against}; {versions()}.\n")
    print(table(found, names, (), budgets=False))
    slower = comparing.lost(found, names)
    print(f"\nlost: {', '.join(slower) or 'nothing'}")
    return found, bool(slower)


def groups_of(text: str) -> list[str]:
    """The groups of a list of groups and sets of groups."""
    listed = [group for name in text.split(",") for group in SETS.get(name, (name,))]
    return list(dict.fromkeys(listed))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--groups", default="all", help="groups, quick, or all")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--beside", default="", help="also time numpy, torch")
    parser.add_argument("--against", help="a git reference to compare with")
    given = parser.parse_args()
    groups, is_lost = groups_of(given.groups), False
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # removes what is temporary
    if given.groups == "quick":
        os.environ.setdefault("BENCH_SECONDS", _QUICK_S)
    if given.against:
        found, is_lost = against(given, groups)
    else:
        found = beside(given, groups)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))
    return int(is_lost)


if __name__ == "__main__":
    sys.exit(main())
