"""How the programs written for JAX are run, and how their lines are compared."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "compat" / "programs"
RECORDS = ROOT / "tests" / "data" / "compat_programs"
RUNNER = ROOT / "tests" / "compat" / "program_runner.py"
DOOR = ["-m", "olympus.compat.jax"]
TIMEOUT_S = 600

# The environment of a program by the beginning of its name. Programs of one environment
# run in one process, but for those of `alone_`, which change the whole process.
ENVIRONMENTS = {
    "devices_": {"JAX_NUM_CPU_DEVICES": "8"},
    "alone_environment": {
        "JAX_ENABLE_X64": "1",
        "JAX_DEFAULT_MATMUL_PRECISION": "highest",
        "JAX_NUMPY_RANK_PROMOTION": "raise",
    },
}

# Text that JAX 0.12 or olympus alone shows: what it says of itself is the same.
_UNSHOWN = re.compile(
    r" out_sharding=None| is_stable=True|\[kind=None memory_space=None( pin=False)?\]"
)

_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d*(?:e[+-]?\d+)?|(?<![\w.])-?\d+e[+-]?\d+")


def list_programs() -> list[str]:
    """The names of all programs."""
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def environment_of(name: str) -> dict[str, str]:
    """The variables that a program needs."""
    for beginning, variables in ENVIRONMENTS.items():
        if name.startswith(beginning):
            return variables
    return {}


def group_programs(names: list[str]) -> dict[str, list[str]]:
    """Programs that run in one process, by the name of their group."""
    groups: dict[str, list[str]] = {}
    for i, name in enumerate(names):
        if name.startswith("alone_"):
            group = name
        elif name.startswith("devices_"):
            group = "devices"
        else:
            group = f"plain {i // 8}"  # so that several processes share the work
        groups.setdefault(group, []).append(name)
    return groups


def run_programs(
    names: list[str],
    python: str = sys.executable,
    before: list[str] | None = None,
    path: str = str(ROOT),
) -> dict[str, list[str]]:
    """The lines that programs of one group print, run under the door.

    Args:
      names: programs of one group.
      python: the interpreter.
      before: words before the runner's; None for those of the door, [] for real JAX.
      path: PYTHONPATH.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    environment |= {"PYTHONPATH": path, **environment_of(names[0])}
    words = [python, *(DOOR if before is None else before), str(RUNNER), *names]
    process = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    if process.returncode:
        raise AssertionError(
            f"{names} ended with {process.returncode}:\n{process.stderr}"
        )
    lines: dict[str, list[str]] = json.loads(process.stdout.splitlines()[-1])
    return lines


def read_record(name: str) -> list[str]:
    """The lines that JAX printed."""
    text = (RECORDS / f"{name}.txt").read_text(encoding="utf-8")
    return text.splitlines()


def _without_layout(line: str) -> str:
    """A line without its numbers' digits and its spaces, which follow the digits."""
    shown = _UNSHOWN.sub("", line).replace("pjit", "jit")
    return "".join(_NUMBER.sub("#", shown).split())


def agree(theirs: str, ours: str) -> bool:
    """Whether two lines are equal but for the rounding of their numbers."""
    if theirs == ours:
        return True
    if _without_layout(theirs) != _without_layout(ours):
        return False
    pairs = zip(_NUMBER.findall(theirs), _NUMBER.findall(ours), strict=True)
    return all(
        math.isclose(float(a), float(b), rel_tol=2e-4, abs_tol=2e-6) for a, b in pairs
    )
