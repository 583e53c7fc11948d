"""Shells show the user's lines, and no frame or file of the library."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from olympus._src import native

CELLS = """\
import olympus, olympus.numpy as jnp
x = jnp.ones((2, 3))
jnp.concatenate([x, jnp.ones(3)])
x + jnp.ones(4)
olympus.jit(lambda v: 1 if v > 0 else 2)(1.0)
x[5, 5, 5]
"""


@pytest.mark.slow
@pytest.mark.skipif(native.calls is None, reason="frames are taken out in C")
@pytest.mark.skipif(importlib.util.find_spec("IPython") is None, reason="needs IPython")
def test_ipython_shows_the_users_lines(tmp_path):
    options = ["--no-banner", "--colors=NoColor", "--simple-prompt"]
    done = subprocess.run(
        [sys.executable, "-m", "IPython", *options],
        input=CELLS,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.count("Traceback (most recent call last)") == 4
    assert "File " not in done.stdout
    assert "hidden" not in done.stdout
