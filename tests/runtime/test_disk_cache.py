"""The folder of programs: what leaves it, when, and in which order."""

from __future__ import annotations

import os
import time

import pytest

from olympus._src.runtime import disk_cache, private_folder
from olympus._src.runtime.disk_cache import DiskCache

FIELDS = {"name": "f", "compile_s": 1.0}


def key(n):
    return f"{n:064x}"


@pytest.fixture
def cache(tmp_path):
    return DiskCache(private_folder.prepare(str(tmp_path / "cache")))


def fill(cache, count, size=10_000, start=0):
    for n in range(start, start + count):
        cache.write(key(n), FIELDS, bytes(size))
        os.utime(cache.path(key(n)), (1000 + n, 1000 + n))


def kept(cache):
    return [int(file.key, 16) for file in cache.files()]


def test_what_is_written_is_read(cache):
    cache.write(key(1), FIELDS, b"code")
    entry = cache.read(key(1))
    assert entry.program == b"code"
    assert entry.fields == {**FIELDS, "key": key(1)}
    assert cache.read(key(2)) is None


def test_writing_again_replaces(cache):
    cache.write(key(1), FIELDS, b"old")
    cache.write(key(1), FIELDS, b"new")
    assert cache.read(key(1)).program == b"new"
    assert len(cache.files()) == 1


def test_an_entry_in_another_place_is_damaged(cache):
    cache.write(key(1), FIELDS, b"code")
    os.rename(cache.path(key(1)), cache.path(key(2)))
    with pytest.raises(disk_cache.Damaged, match="for another program or machine"):
        cache.read(key(2))


def test_what_was_unused_for_longest_leaves_first(cache):
    fill(cache, 6)
    cache.read(key(0))
    sizes = {file.key: file.size for file in cache.files()}
    removed = cache.trim(max_bytes=3 * sizes[key(1)])
    assert [int(file.key, 16) for file in removed] == [1, 2, 3]
    assert kept(cache) == [4, 5, 0]


def test_old_programs_leave(cache):
    fill(cache, 3)
    cache.write(key(9), FIELDS, b"new")
    assert len(cache.trim(unused_s=3600)) == 3
    assert kept(cache) == [9]


def test_the_limit_holds_while_programs_are_written(cache):
    cache.max_bytes = 200_000
    fill(cache, 60)
    total = sum(file.size for file in cache.files())
    assert 0.5 * cache.max_bytes < total <= cache.max_bytes
    assert kept(cache)[-1] == 59


def test_no_limit(cache):
    fill(cache, 60)
    assert len(cache.files()) == 60


def test_a_large_limit_is_not_measured_at_each_program(cache, monkeypatch):
    cache.max_bytes = 1 << 40
    calls = []
    monkeypatch.setattr(cache, "files", lambda: calls.append(1) or [])
    fill(cache, 5, size=10)
    assert len(calls) == 1
    # Another process looked a moment ago.
    other = DiskCache(cache.folder, cache.max_bytes)
    monkeypatch.setattr(other, "files", lambda: calls.append(1) or [])
    fill(other, 5, size=10)
    assert len(calls) == 1


def test_what_killed_processes_left_is_swept(cache):
    cache.max_bytes = 1 << 40
    young = os.path.join(cache.folder, ".writing-1-a-0")
    old = os.path.join(cache.folder, ".writing-2-b-0")
    for path in (young, old):
        open(path, "wb").close()
    os.utime(old, (time.time() - 7200,) * 2)
    fill(cache, 1)
    assert os.path.exists(young)
    assert not os.path.exists(old)


def test_other_files_are_left_alone(cache):
    strange = os.path.join(cache.folder, "notes.txt")
    open(strange, "wb").close()
    os.utime(strange, (1, 1))
    fill(cache, 3)
    cache.trim(max_bytes=0)
    assert kept(cache) == []
    assert os.path.exists(strange)
