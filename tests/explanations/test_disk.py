"""Why the cache on disk had no entry."""

from __future__ import annotations

import contextlib

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


def in_folder(path):
    stack = contextlib.ExitStack()
    stack.enter_context(disk_caches.in_folder(path))
    stack.enter_context(compiler.persistent_cache_min_compile_time_secs(0.0))
    return stack


def test_an_option_of_the_compiler(tmp_path):
    def compile_with(options):
        olympus.clear_caches()

        def f(x):
            return x * 177

        olympus.jit(f, compiler_options=options)(ones(3))

    with in_folder(tmp_path):
        compile_with({})
        note = last_note(lambda: compile_with({"xla_cpu_enable_fast_math": True}))
    assert "compiler options: none, now xla_cpu_enable_fast_math=True" in note
    assert "the compiler's options" not in note


def test_a_damaged_entry(tmp_path):
    with in_folder(tmp_path):
        compile_afresh(178)
        olympus.clear_caches()
        for path in tmp_path.rglob("*"):
            if path.is_file() and path.stat().st_size > 1000:
                data = bytearray(path.read_bytes())
                data[len(data) // 2] ^= 255
                path.write_bytes(data)
        note = last_note(lambda: compile_afresh(178))
    assert "its entry is damaged" in note


def test_a_program_with_a_callback(tmp_path):
    def f(x):
        struct = olympus.ShapeDtypeStruct((3,), "float32")
        return olympus.pure_callback(lambda x: x, struct, x)

    with in_folder(tmp_path):
        note = last_note(lambda: olympus.jit(f)(ones(3)))
        assert note.startswith("not in the cache on disk")
        olympus.clear_caches()
        again = last_note(lambda: olympus.jit(f)(ones(3)))
    assert again.startswith("loaded from the cache on disk")
