"""Compilations that take long say so, in words that help."""

from __future__ import annotations

import io
import sys
import threading
import time

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import config
from olympus._src.interpreters import compilation, progress
from tests import disk_caches

X = np.ones((4, 4), np.float32)


@pytest.fixture
def slow(monkeypatch):
    """Compilations of 0.35 s, of which the first and second words come early."""
    load = compilation.load

    def wait(*args):
        time.sleep(0.35)
        return load(*args)

    monkeypatch.setattr(compilation, "load", wait)
    monkeypatch.setattr(progress, "FIRST_S", 0.05)
    monkeypatch.setattr(progress, "EVERY_S", 0.12)


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
    assert last.startswith("olympus: compiled layers in 0.")


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
    assert "the last time it took 0." in capsys.readouterr().err


def test_a_failure_is_not_called_compiled(slow, capsys, monkeypatch):
    def fail(*args):
        time.sleep(0.1)
        raise RuntimeError("no")

    monkeypatch.setattr(compilation, "load", fail)
    with config.compile_progress("on"), pytest.raises(RuntimeError, match="no"):
        olympus.jit(lambda x: x * 7)(X)
    assert "compiled" not in capsys.readouterr().err


def test_no_thread_is_left(slow, capsys):
    with config.compile_progress("on"):
        olympus.jit(lambda x: x * 11)(X)
    for thread in threading.enumerate():
        if thread.name == "olympus progress":
            thread.join(5)
            assert not thread.is_alive()
