"""Executables that are kept by their text, and how many."""

from __future__ import annotations

import gc

import pytest

import olympus
from olympus._src.api import stages
from olympus._src.interpreters import compilation


@pytest.mark.slow
def test_programs_of_dropped_functions_do_not_grow_without_end(monkeypatch):
    client = olympus.devices()[0].client
    olympus.clear_caches()
    monkeypatch.setattr(compilation._loaded, "max_bytes", 2_000_000)
    gc.collect()
    before = len(client.live_executables())
    for i in range(40):
        assert olympus.jit(lambda x: x + i)(1.0) == 1 + i  # noqa: B023
    gc.collect()  # functions that were dropped hold theirs until it looks
    more = len(client.live_executables()) - before
    assert more <= 2_000_000 // compilation._executable_bytes(("",))
    assert len(compilation._loaded) <= more + 1


def test_dropped_executables_go_on_where_functions_hold_them(monkeypatch):
    monkeypatch.setattr(compilation._loaded, "max_bytes", 1)
    functions = [olympus.jit(lambda x, i=i: x * 3 + i) for i in range(3)]
    for _ in range(2):
        assert [f(2.0) for f in functions] == [6, 7, 8]
    assert len(compilation._loaded) == 1


def test_compiled_programs_are_never_changed():
    compiled = stages.parts_of(olympus.jit(lambda x: x).lower(1.0).compile())[1]
    for name in (*compiled._fields, "other"):
        with pytest.raises(AttributeError):
            setattr(compiled, name, None)
