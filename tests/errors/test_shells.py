"""Shells show the user's lines, and no frame or file of the library."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import types

import pytest

import olympus
from olympus._src import native
from olympus._src.foundation import source_info

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


class Shell:
    """What IPython says of the files that it makes for cells."""

    compile = property(lambda self: self)

    def format_code_name(self, name):
        return ("Cell", "In[8]") if name.endswith("2511196587.py") else None


def test_cells_are_named_as_the_notebook_names_them(monkeypatch):
    module = types.SimpleNamespace(get_ipython=Shell)
    monkeypatch.setitem(sys.modules, "IPython", module)
    cell, other = "/tmp/ipykernel_14/2511196587.py", "/tmp/ipykernel_14/1.py"
    assert source_info.shown_file(cell) == source_info.short_file(cell) == "Cell In[8]"
    assert source_info.shown_file(other) == other
    assert source_info.short_file(other) == "1.py"
    code = compile("def f(x):\n    return x if x > 0 else -x", cell, "exec")
    names = {}
    exec(code, names)
    with pytest.raises(olympus.errors.TracerBoolConversionError) as info:
        olympus.jit(names["f"])(1.0)
    assert "the function f at Cell In[8]:1 for jit" in str(info.value)
    monkeypatch.delitem(sys.modules, "IPython")
    assert source_info.shown_file(cell) == cell


def test_what_runs_a_module_is_not_the_users():
    names = {"positions": []}
    source = "f = lambda: positions.append(source_info.capture())\nf()"
    names["source_info"] = source_info
    exec(compile(source, "cell.py", "exec"), names)
    (position,) = names["positions"]
    assert (position.file, position.line) == ("cell.py", 1)
    assert [(p.file, p.line) for p in position.callers] == [("cell.py", 2)]
