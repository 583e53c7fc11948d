"""Times olympus against jax and prints a Markdown table of medians and ratios.

usage: python -m bench [--rounds N] [--groups NAME,...] [--json FILE]
                       [--beside numpy,torch]

Both libraries run in fresh processes of this interpreter, in turns, so that what the
machine does beside falls on both. A case's figure is the median over rounds of the best
mean within a process.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

# The most that olympus may take of jax's time, by case.
BUDGETS = {
    "import": 0.35,
    "first twenty operations": 0.5,
    "process, first twenty operations, warm": 0.25,
    "jit call, one array": 1.0,
    "jit call, 100-leaf tree": 1.0,
    "jit call, 100 leaves in and out": 1.0,
    "re-made jit(lambda x: 2*x)": 0.02,
    "eager x + x": 0.8,
    "eager log(x)": 0.8,
    "eager x[0]": 0.25,
    "eager x[1:3]": 0.25,
    "eager asarray(numpy)": 0.25,
    "eager where": 0.25,
    "eager .at[].set": 0.25,
    **dict.fromkeys(["eager m[i]", "eager m[:, 1]", "eager m.at[i].add"], 0.25),
    "eager grad of an MLP of 3 layers": 0.25,
    "trace grad MLP-50": 1 / 6,
    "trace grad transformer-12": 1 / 6,
    "trace grad 50 convolutions": 1 / 6,
    "trace grad RK4 x 200": 1 / 6,
    "trace vmap(grad) MLP-10": 1 / 6,
    "trace hessian MLP-3": 1 / 6,
    "lower MLP-50": 0.25,
    "lower transformer-12": 0.25,
    "lower grad MLP-50": 0.25,
    "lower grad transformer-12": 0.25,
    "cold jit call, x + 1": 0.8,
    "cold jit call, MLP-10": 0.8,
    "cold jit call, transformer-2": 0.8,
    "run add 1e7": 0.5,
    "run exp 1e7": 0.5,
    "run sort 1e6": 0.5,
    "run cumsum 1e6": 0.5,
    "run sum 1e6": 1.0,
    "run matmul 512": 1.0,
    "run MLP-10": 1.0,
    **{
        f"{what} {case}": 1.0
        for what in ("run", "memory")
        for case in (
            "grad MLP-10",
            "vmap(grad) MLP-10",
            "hessian MLP-3",
            "grad transformer-4",
            "grad 10 convolutions",
            "grad RNN of 200 steps",
            "grad RK4 x 1000 by scan",
        )
    },
}
BUDGETS |= {
    "mesh call, one array": 1.0,
    "mesh call, 20 arrays": 1.0,
    "mesh put": 0.7,
    "mesh call and shards": 0.2,
    "mesh cold call, grad transformer-2": 0.8,
    "mesh trace grad shard_map MLP-50": 0.2,
    "ref loop over rows": 1.0,
    "ref loop over numbers": 1.0,
    "ref gradient of a loop": 1.0,
}
BUDGETS |= dict.fromkeys(
    [
        "call two in, three out",
        "call dict of 10 leaves",
        "call dict of 1000 leaves",
        "call static argument",
        "call static by name",
        "call by keywords",
        "call donated",
        "call NumPy argument",
        "call Python number",
        "call Compiled",
        "call method",
        "call value_and_grad",
        "call alternating shapes",
        "call in a loop of 1000 steps",
        "call read as NumPy",
        "small linspace",
        "small iteration over 100",
        "small unpacking of 4",
    ],
    1.0,
)
BUDGETS |= {"call x + 1": 0.9}
BUDGETS |= dict.fromkeys(
    [
        "small -x",
        "small x + x",
        "small x + 1",
        "small sin",
        "small argmax",
        "small mean of an axis",
        "small sum",
        "small x.sum()",
        "small where",
        "small norm",
    ],
    0.8,
)
PROCESS = ("import", "first twenty operations")
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
        "mesh_programs",
        "refs",
        "foreign",
        "ode",
    ],
    "sparse_products",
    "sparse_programs",
)
LIBRARIES = ("olympus", "jax")
# What else may be timed beside the two, and the groups it has cases of.
_DATA = ("sorts", "orders", "prefixes", "scatters")
PEERS = {
    "numpy": ("forty", *_DATA, "matrices"),
    "torch": ("forty", "kernels", *_DATA, "convolutions", "matrices"),
}
BYTECODE = Path(tempfile.gettempdir()) / "olympus-bench-bytecode"


def run_once(lib: str, group: str) -> dict[str, float]:
    """One process of one library; its times by case."""
    command = [sys.executable, "-m", "bench.worker", lib, group]
    root = Path(__file__).resolve().parent.parent
    env = {**os.environ, "PYTHONPATH": str(root), "TF_CPP_MIN_LOG_LEVEL": "2"}
    # Bytecode is kept, as it is where a package is installed.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPYCACHEPREFIX"] = str(BYTECODE)
    # A compilation is timed as one; `disk` turns the cache on where it is asked for.
    env["OLYMPUS_ENABLE_COMPILATION_CACHE"] = "0"
    if group.startswith("mesh_"):
        env["OLYMPUS_NUM_CPU_DEVICES"] = env["JAX_NUM_CPU_DEVICES"] = "8"
    done = subprocess.run(
        command, capture_output=True, text=True, env=env, cwd=root, check=False
    )
    if done.returncode:
        sys.stderr.write(f"{lib} {group}:\n{done.stderr[-2000:]}\n")
        return {}
    return json.loads(done.stdout.strip().splitlines()[-1])


def budget_of(case: str) -> float | None:
    """The most of jax's time that a case may take."""
    if " as_text " in f" {case}":
        return 0.25
    usual = {"eager": 0.8, "kernel": 1.0, "ode": 1.0, "run": 1.0}
    return BUDGETS.get(case, usual.get(case.split()[0]))


def collect(
    rounds: int, groups: list[str], peers: Sequence[str] = ()
) -> dict[str, dict[str, list[float]]]:
    """Times of each case and library over all rounds."""
    found: dict[str, dict[str, list[float]]] = {}
    for lib in LIBRARIES:  # writes the bytecode
        run_once(lib, "first twenty operations")
    for group in groups:
        for i in range(rounds):
            order = LIBRARIES if i % 2 == 0 else LIBRARIES[::-1]
            order = (*order, *[peer for peer in peers if group in PEERS[peer]])
            for lib in order:
                for case, seconds in run_once(lib, group).items():
                    found.setdefault(case, {}).setdefault(lib, []).append(seconds)
    return found


def scaled(case: str, figure: float) -> str:
    """A time, or an amount of memory, in a unit that suits it."""
    if case.startswith("memory "):
        return f"{figure / 1024:.1f} KiB"
    seconds = figure
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.2f} {unit}"
    return f"{seconds / 1e-6:.1f} µs"


def table(found: dict[str, dict[str, list[float]]], peers: Sequence[str] = ()) -> str:
    """The figures as Markdown."""
    lines = ["| case | olympus | jax | ratio | budget | |", "|---|--:|--:|--:|--:|---|"]
    for peer in peers:
        lines = [f"{lines[0]} {peer} | ratio |", lines[1] + "--:|--:|"]
    for case, by_lib in found.items():
        times = {name: statistics.median(v) for name, v in by_lib.items() if v}
        if not times.keys() >= set(LIBRARIES):
            lines.append(f"| {case} | - | - | failed | | |")
            continue
        ratio = times["olympus"] / times["jax"]
        budget = budget_of(case)
        verdict = "" if budget is None else ("met" if ratio <= budget else "missed")
        ours, theirs = (scaled(case, times[name]) for name in LIBRARIES)
        limit = "" if budget is None else f"{budget:.2f}"
        lines.append(
            f"| {case} | {ours} | {theirs} | {ratio:.2f} | {limit} | {verdict} |"
        )
        for peer in peers:
            time_ = times.get(peer)
            lines[-1] += (
                f" {scaled(case, time_)} | {times['olympus'] / time_:.2f} |"
                if time_
                else " | |"
            )
    return "\n".join(lines)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--groups", default=",".join(GROUPS))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--beside", default="", help="also time numpy, torch")
    given = parser.parse_args()
    peers = [peer for peer in given.beside.split(",") if peer]
    found = collect(given.rounds, given.groups.split(","), peers)
    print(f"Medians of {given.rounds} rounds; {versions()}.\n")
    print(table(found, peers))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
