"""Compilations that take long say so, in words that help."""

from __future__ import annotations

import collections
import io
import linecache
import os
import re
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import config
from olympus._src.interpreters import (
    compilation,
    lowered_programs,
    progress,
    progress_display,
)
from tests import disk_caches

X = np.ones((4, 4), np.float32)


def wait_for_speaker():
    for thread in threading.enumerate():
        if thread.name == "olympus progress":
            thread.join(5)
            assert not thread.is_alive()


said = collections.Counter()


def until_said(what, times=2):
    """Waits until it was said of something that it goes on: a busy machine is late."""
    until = time.monotonic() + 60
    while said[what] < times:
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.fixture
def early(monkeypatch):
    """The first and second words come early, and are counted."""
    wait_for_speaker()
    say = progress.Watch._say

    def count(watch, now):
        say(watch, now)
        said[watch._verbs[0]] += 1

    said.clear()
    monkeypatch.setattr(progress.Watch, "_say", count)
    monkeypatch.setattr(progress, "FIRST_S", 0.05)
    monkeypatch.setattr(progress, "EVERY_S", 0.12)


@pytest.fixture
def slow(monkeypatch, early):
    """Compilations that last until it was said twice that they go on."""
    load = compilation.load

    def wait(*args):
        said.clear()
        until_said("compiling")
        return load(*args)

    monkeypatch.setattr(compilation, "load", wait)


def test_a_long_compilation_speaks(slow, capsys):
    def layers(x):
        for _ in range(20):
            x = jnp.sin(x)  # <- written out
        return x

    with config.compile_progress("on"):
        olympus.jit(layers)(X)
    first, *again, last = capsys.readouterr().err.splitlines()
    line = layers.__code__.co_firstlineno
    assert first.startswith(f"olympus: compiling layers, {__file__}:{line}")
    assert first.endswith(", 20 operations")
    assert len(again) >= 1
    assert "most operations are of test_progress.py:" in again[0]
    assert "x = jnp.sin(x)  # <- written out (100%)" in again[0]
    assert "is in the program 20 times: a loop that is written out" in again[0]
    assert "lax.scan" in again[0]
    assert re.match(r"olympus: compiled layers in \d+\.\d s", last)


def test_other_programs_are_given_another_hint(slow, capsys):
    with config.compile_progress("on"):
        olympus.jit(lambda x: jnp.sin(x) @ jnp.cos(x))(X)
    assert "olympus_compiler_tier='auto'" in capsys.readouterr().err


def test_a_short_one_says_nothing(capsys):
    with config.compile_progress("on"):
        olympus.jit(lambda x: x * 3)(X)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("setting", "terminal", "speaks"),
    [("auto", False, False), ("auto", True, True), ("off", True, False),
     ("on", False, True)],
)  # fmt: skip
def test_who_is_spoken_to(monkeypatch, setting, terminal, speaks):
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stream)
    with config.compile_progress(setting):
        assert progress.is_on() == speaks


def test_without_stderr(monkeypatch, slow):
    monkeypatch.setattr(sys, "stderr", None)
    assert not progress.is_on()
    with config.compile_progress("on"):
        olympus.jit(lambda x: x * 5)(X)


def test_it_says_how_long_it_took_last_time(slow, capsys, tmp_path):
    def f(x):
        return jnp.sort(x @ x, 0)

    with disk_caches.in_folder(tmp_path), config.compile_progress("on"):
        olympus.jit(f)(X)
        capsys.readouterr()
        olympus.jit(f)(X[:3, :3])
    assert re.search(r"the last time it took \d+\.\d s", capsys.readouterr().err)


def test_a_failure_is_not_called_compiled(slow, capsys, monkeypatch):
    def fail(*args):
        until_said("compiling", 1)
        raise RuntimeError("no")

    monkeypatch.setattr(compilation, "load", fail)
    with config.compile_progress("on"), pytest.raises(RuntimeError, match="no"):
        olympus.jit(lambda x: x * 7)(X)
    assert "compiled" not in capsys.readouterr().err


def test_no_thread_is_left(slow, capsys):
    with config.compile_progress("on"):
        olympus.jit(lambda x: x * 11)(X)
    wait_for_speaker()


def test_a_long_trace_says_where_it_is(early, capsys):
    def f(x):
        until_said("tracing")
        return x * 13

    with config.compile_progress("on"):
        olympus.jit(f)(X)
    # On a busy machine the compilation may take long enough to be told of too.
    lines = capsys.readouterr().err.splitlines()
    first, *again, last = [text for text in lines if "trac" in text]
    line = f.__code__.co_firstlineno
    begin = f"olympus: tracing f, {__file__}:{line}; now at test_progress.py:"
    assert first.startswith(begin)
    at, text = first.removeprefix(begin).split(" ", 1)
    assert linecache.getline(__file__, int(at)).strip() == text
    assert int(at) > until_said.__code__.co_firstlineno
    assert re.match(r"olympus: tracing f for \d+ s; now at", again[0])
    assert re.match(r"olympus: traced f in \d+\.\d s", last)


def test_of_nested_traces_the_outermost_speaks(early, capsys):
    @olympus.jit
    def inner(x):
        until_said("tracing", 1)
        return x * 17

    def outer(x):
        return inner(x) + 1

    with config.compile_progress("on"):
        olympus.jit(outer)(X)
    text = capsys.readouterr().err
    assert "tracing outer" in text
    assert "tracing inner" not in text


def test_a_long_lowering_speaks(early, capsys, monkeypatch):
    lower_module = lowered_programs.lowering.lower_module

    def wait(*args, **options):
        until_said("lowering", 1)
        return lower_module(*args, **options)

    monkeypatch.setattr(lowered_programs.lowering, "lower_module", wait)
    with config.compile_progress("on"):
        olympus.jit(lambda x: x * 19)(X)
    text = capsys.readouterr().err
    assert "olympus: lowering <lambda>, " in text
    assert re.search(r"olympus: lowered <lambda> in \d+\.\d s", text)


def test_a_trace_that_fails_says_so(early, capsys):
    def f(x):
        until_said("tracing", 1)
        raise KeyError("no")

    with config.compile_progress("on"), pytest.raises(KeyError):
        olympus.jit(f)(X)
    assert "olympus: tracing f failed after " in capsys.readouterr().err


class ZMQInteractiveShell:
    """IPython's shell of notebooks, as far as it is used."""

    def __init__(self):
        self.published = []
        self.display_pub = self

    def publish(self, data, transient, update):
        self.published.append((data, transient["display_id"], update))


def test_a_notebook_has_one_line_that_changes(slow, capsys, monkeypatch):
    shell = ZMQInteractiveShell()
    package = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setattr(progress_display.NotebookLine, "every_s", 0.1)
    with config.compile_progress("on"):
        olympus.jit(lambda x: x * 23)(X)
    assert capsys.readouterr().err == ""
    texts = [data["text/plain"] for data, _, _ in shell.published]
    # On a busy machine there are texts about the stages before.
    assert any("compiling <lambda>" in text for text in texts)
    assert texts[-1].startswith("compiled <lambda> in ")
    assert len({i for _, i, _ in shell.published}) == 1
    updates = [update for _, _, update in shell.published]
    assert updates == [False, *[True] * (len(updates) - 1)]
    assert len(updates) >= 3
    page = shell.published[0][0]["text/html"]
    assert "&lt;lambda&gt;" in page
    assert "<progress" in page
    assert "<progress" not in shell.published[-1][0]["text/html"]


def test_it_speaks_in_a_process_that_was_forked(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os, threading, time\n"
        "from olympus._src.core import ir\n"
        "from olympus._src.interpreters import progress\n"
        "progress.FIRST_S = 0.05\n"
        "info = ir.DebugInfo('jit', 'f')\n"
        "with progress.watch_trace(info):\n"
        "    if os.fork() == 0:\n"
        "        with progress.watch_trace(info):\n"
        "            time.sleep(0.3)\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
    )
    env = {**os.environ, "OLYMPUS_COMPILE_PROGRESS": "on"}
    command = [sys.executable, str(script)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert done.stderr.count("olympus: tracing f") >= 1
    assert done.stderr.count("olympus: traced f") == 2
