"""Why the cache on disk had no entry."""

from __future__ import annotations

import olympus
from olympus._src.foundation import compiler_settings as compiler
from olympus._src.runtime import cache_key
from tests import disk_caches
from tests.explanations import harness
from tests.explanations.causes import ones


def last_note(run):
    with olympus.explain_cache_misses(True):
        return harness.misses_of(run)[-1].disk


def compile_afresh(k, n=3):
    def f(x):
        return x * k

    olympus.jit(f)(ones(n))


def test_nothing_of_that_name(tmp_path):
    with (
        disk_caches.in_folder(tmp_path),
        compiler.persistent_cache_min_compile_time_secs(0.0),
    ):
        note = last_note(lambda: compile_afresh(171))
    assert "no program named jit_f was kept" in note


def test_another_module(tmp_path):
    with (
        disk_caches.in_folder(tmp_path),
        compiler.persistent_cache_min_compile_time_secs(0.0),
    ):
        compile_afresh(172)
        note = last_note(lambda: compile_afresh(173))
    assert "differs in what it computes" in note


def test_another_build_of_jaxlib(tmp_path, monkeypatch):
    with (
        disk_caches.in_folder(tmp_path),
        compiler.persistent_cache_min_compile_time_secs(0.0),
    ):
        compile_afresh(174)
        olympus.clear_caches()
        monkeypatch.setattr(cache_key.versions, "build", lambda: "another")
        note = last_note(lambda: compile_afresh(174))
    assert "build of the machine" in note
    assert "now another" in note


def test_it_compiled_too_quickly(tmp_path):
    with (
        disk_caches.in_folder(tmp_path),
        compiler.persistent_cache_min_compile_time_secs(100.0),
    ):
        note = last_note(lambda: compile_afresh(175))
    assert "compiled in less than 100 s" in note


def test_a_hit_says_what_it_saved(tmp_path):
    with (
        disk_caches.in_folder(tmp_path),
        compiler.persistent_cache_min_compile_time_secs(0.0),
    ):
        compile_afresh(176)
        olympus.clear_caches()
        note = last_note(lambda: compile_afresh(176))
    assert note.startswith("loaded from the cache on disk")
