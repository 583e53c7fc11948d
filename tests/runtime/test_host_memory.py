"""Keeping freed memory, in processes of their own: the allocator cannot be set back."""

import sys
import textwrap

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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="a setting of glibc")
def test_freed_memory_is_kept_unless_the_setting_says_no():
    kept = fresh.run(PROGRAM)[0].split()
    given_back = fresh.run(PROGRAM, OLYMPUS_KEEP_HOST_MEMORY="0")[0].split()
    assert (kept[0], given_back[0]) == ("True", "False")
    assert int(kept[1]) > int(given_back[1]) + 40
    assert int(kept[2]) < int(kept[1]) - 40  # clear_caches gave it back


# A thread's heap has 64 MiB: the second array is the first in another one, which is all
# free when the array is.
THREAD = """
    import ctypes, resource, threading
    from olympus._src.runtime import host_memory

    assert host_memory.keep_freed_pages()
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]

    def allocate(n_bytes):
        memory = libc.malloc(n_bytes)
        libc.memset(memory, 1, n_bytes)
        return memory

    def count_faults():
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    def run():
        first = allocate(40 << 20)
        libc.free(allocate(40 << 20))
        before = count_faults()
        for _ in range(10):
            libc.free(allocate(40 << 20))
        print(count_faults() - before)
        libc.free(first)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a setting of glibc")
def test_heaps_of_threads_stay():
    faults = int(fresh.run(THREAD)[0])
    assert faults < 1000  # of 10 times 10240 pages


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


MB = 1 << 20
# Resident and used MB at each look, and at which looks memory goes back; what is
# resident after that is what is used and 20 MB more.
LOOKS = {
    "little is free": ([(900, 800)] * 9, []),
    "free for one look": ([(900, 100), (900, 800)] * 5, []),
    "free for good": ([(900, 100)] * 2 + [(120, 100)] * 9, [1]),
    "freed twice": ([(900, 100)] * 2 + [(120, 100)] * 9 + [(900, 100)] * 3, [1, 12]),
    "soon used again": (
        [(900, 100), (900, 100), (900, 900), *[(900, 100)] * 4],
        [1, 6],
    ),
}


@pytest.mark.parametrize(("looks", "wanted"), LOOKS.values(), ids=LOOKS)
def test_memory_goes_back_where_it_stays_free(looks, wanted):
    watch = host_memory.Watch()
    trims = []
    for i, (resident, used) in enumerate(looks):
        if watch.wants_trim(resident * MB, used * MB):
            trims.append(i)
            watch.note_trim(resident * MB, (used + 20) * MB, used * MB)
    assert trims == wanted


def test_what_cannot_go_back_is_not_tried_for_ever():
    watch = host_memory.Watch()
    looks = 0
    for _ in range(2000):
        if watch.wants_trim(900 * MB, 100 * MB):
            watch.note_trim(900 * MB, 900 * MB, 100 * MB)
            looks += 1
    assert looks == 1  # all of it is stuck


def test_loops_that_free_and_take_again_pay_a_few_times():
    watch = host_memory.Watch()
    trims = 0
    for _ in range(100):
        for used in [100] * 6 + [900]:  # a step of 3.5 s
            if watch.wants_trim(900 * MB, used * MB):
                watch.note_trim(900 * MB, (used + 20) * MB, used * MB)
                trims += 1
    assert trims <= 4


BURSTS = {
    "one after another": """
        for i in range(20):
            olympus.block_until_ready(jnp.full(25_000_000, float(i)))
    """,
    "all at once": """
        arrays = [jnp.full(25_000_000, float(i)) for i in range(20)]
        olympus.block_until_ready(arrays)
        del arrays
    """,
    "held by functions": """
        def call(i):
            big = jnp.full(25_000_000, float(i))
            one = jnp.float32(1)
            olympus.block_until_ready(olympus.jit(lambda x: x + big[i])(one))
            loss = olympus.grad(lambda x: (x * big).sum())
            olympus.block_until_ready(olympus.jit(loss)(one))

        for i in range(10):
            call(i)
    """,
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="a setting of glibc")
@pytest.mark.parametrize("burst", BURSTS.values(), ids=BURSTS)
def test_what_stays_resident_after_bursts(burst):
    program = f"""
        import time
        import olympus
        import olympus.numpy as jnp
        from olympus._src.runtime import host_memory

        jnp.ones(3).block_until_ready()
        before = host_memory.resident_bytes()
        {textwrap.indent(textwrap.dedent(burst), " " * 8).strip()}
        for _ in range(40):
            time.sleep(0.25)
            more = host_memory.resident_bytes() - before
            if more < 1 << 28:
                break
        print(more >> 20)
    """
    assert int(fresh.run(program)[0]) < 256
