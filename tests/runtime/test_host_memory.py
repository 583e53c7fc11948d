"""Keeping freed memory, in processes of their own: the allocator cannot be set back."""

import sys

import fresh
import pytest

from olympus._src.runtime import host_memory

PROGRAM = """
    import os, sys
    sys.path[:0] = ["tests", "."]
    import numpy as np
    import programs
    from olympus._src.runtime import host_memory

    def resident_mb():
        pages = int(open("/proc/self/statm").read().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") >> 20

    x = programs.put(np.ones(5_000_000, np.float32))
    program = programs.load(programs.double((5_000_000,)), x.aval)
    before = resident_mb()
    outs = [programs.call(program, x)[0].block_until_ready() for _ in range(8)]
    del outs
    print(host_memory._done, resident_mb() - before)
    import olympus
    olympus.clear_caches()
    print(resident_mb() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a setting of glibc")
def test_freed_memory_is_kept_unless_the_setting_says_no():
    kept = fresh.run(PROGRAM)[0].split()
    given_back = fresh.run(PROGRAM, OLYMPUS_KEEP_HOST_MEMORY="0")[0].split()
    assert (kept[0], given_back[0]) == ("True", "False")
    assert int(kept[1]) > int(given_back[1]) + 40
    assert int(kept[2]) < int(kept[1]) - 40  # clear_caches gave it back


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MALLOC_MMAP_THRESHOLD_", "1000000"),
        ("MALLOC_TRIM_THRESHOLD_", "1000000"),
        ("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=1000000"),
    ],
)
def test_what_the_user_chose_for_the_allocator_stays(monkeypatch, name, value):
    monkeypatch.setattr(host_memory, "_done", False)
    monkeypatch.setattr(host_memory, "_of_glibc", lambda name: pytest.fail(name))
    monkeypatch.setenv(name, value)
    assert not host_memory.keep_freed_pages()
    assert not host_memory.trim()


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(host_memory, "_done", False)
    monkeypatch.setattr(host_memory, "_of_glibc", lambda name: None)
    assert not host_memory.keep_freed_pages()
    monkeypatch.setattr(host_memory, "_done", True)
    assert not host_memory.trim()
