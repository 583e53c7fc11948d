"""Code run in a fresh process: for what depends on the environment or on first use."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

TIMEOUT_S = 120


def run(code, **environment):
    """The standard output and error of a Python program; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env={**os.environ, **environment},
        check=False,
    )
    if done.returncode != 0:
        status = done.returncode
        raise AssertionError(f"the program ended with {status}:\n{done.stderr}")
    return done.stdout, done.stderr
