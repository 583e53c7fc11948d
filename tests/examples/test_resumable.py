"""Training by two processes, of which one is killed, goes on from the last save."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests import sampling

pytestmark = pytest.mark.slow

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
STEPS, EVERY = 7, 2
LINE = re.compile(r"^\[\d\] step (\d+): loss (\S+)$")
TIMEOUT_S = 120


def launch(folder, *, n=2, devices=2):
    command = [sys.executable, "-m", "olympus", "launch", "-n", str(n)]
    command += ["--devices-per-process", str(devices), "-m", "demo.training.resumable"]
    command += [str(folder), "--steps", str(STEPS), "--every", str(EVERY)]
    # The second start compiles nothing.
    cache = {
        "OLYMPUS_CACHE_DIR": str(folder.parent / "programs"),
        "OLYMPUS_ENABLE_COMPILATION_CACHE": "1",
    }
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **cache},
    )


def children(pid):
    """The processes that a process has started and that run."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return list(map(int, file.read().split()))


def read_losses(lines):
    matches = filter(None, map(LINE.match, lines))
    return {int(match[1]): float(match[2]) for match in matches}


def run(folder, **options):
    with launch(folder, **options) as launcher:
        out, error = launcher.communicate(timeout=TIMEOUT_S)
    assert launcher.returncode == 0, error
    return read_losses(out.splitlines())


def run_until_killed(folder, victim, step):
    """A run of which a process is killed when the other reports a step."""
    with launch(folder) as launcher:
        lines = []
        for line in launcher.stdout:
            lines.append(line.rstrip())
            if f"step {step}:" in line:
                os.kill(children(launcher.pid)[victim], signal.SIGKILL)
        error = launcher.stderr.read()
        assert launcher.wait(TIMEOUT_S) != 0
    assert "was ended by SIGKILL" in error
    return read_losses(lines)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs Linux's /proc")
def test_losses_are_those_of_a_run_without_a_failure(tmp_path):
    expected = run(tmp_path / "whole")
    assert list(expected) == list(range(1, STEPS + 1))
    rng = sampling.generator("resumable")
    victim, step = int(rng.integers(2)), int(rng.integers(EVERY, STEPS))
    before = run_until_killed(tmp_path / "killed", victim, step)
    assert step in before
    after = run(tmp_path / "killed")
    assert min(after) in (step // EVERY * EVERY + 1, step // EVERY * EVERY + EVERY + 1)
    assert max(after) == STEPS
    assert before | after == expected
    assert after | before == expected
    # Another number of processes, and of devices, from the last save on.
    again = run(tmp_path / "whole", n=1, devices=8)
    assert list(again) == [STEPS]
    np.testing.assert_allclose(again[STEPS], expected[STEPS], rtol=1e-5)
