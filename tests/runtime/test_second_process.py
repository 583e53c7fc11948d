"""The cache between processes: what one compiles all others load, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import disk_caches
import fresh
import numpy as np
import pytest
from programs import call, double, load, put

from docs import checker
from olympus._src.command.main import main
from olympus._src.core.avals import ShapedArray
from olympus._src.runtime import compiling, disk_cache
from olympus._src.runtime.disk_cache import DiskCache
from runtime import test_compile_cache as one_process

# -- a tour of what a loaded program must do -------------------------------------------

TOUR = """
    import hashlib, json, sys
    sys.path.insert(0, "tests")
    import disk_caches
    import numpy as np
    import olympus
    import olympus.numpy as jnp
    from olympus import lax

    olympus.config.update("olympus_num_cpu_devices", 2)
    counting = disk_caches.counted()
    counts = counting.__enter__()
    results = {}

    def keep(name, *arrays):
        digest = hashlib.sha256()
        for x in arrays:
            digest.update(np.asarray(x).tobytes() + str(x.dtype).encode())
        results[name] = digest.hexdigest()

    x = jnp.asarray(np.linspace(0.1, 2.0, 24, dtype="float32").reshape(4, 6))
    square = jnp.asarray(np.random.RandomState(0).rand(5, 5).astype("float32"))

    keep("eager", jnp.sin(x), x @ x.T, x[1:3], jnp.where(x > 1, x, 0), x.at[0].set(7))
    keep("sorted", jnp.sort(x, axis=0), jnp.argsort(x), jnp.cumsum(x, axis=1))
    keep("lapack", *jnp.linalg.svd(square), jnp.linalg.inv(square))
    keep("random", olympus.random.normal(olympus.random.key(3), (7,)))
    keep("complex", jnp.fft.fft(x), jnp.exp(1j * x))
    keep("narrow", x.astype("bfloat16") * 3, (x * 100).astype("int8"), x > 1)

    @olympus.jit
    def loops(x):
        total = lax.fori_loop(0, 5, lambda i, t: t * 0.5 + x.sum(), 0.0)
        _, rows = lax.scan(lambda c, row: (c + row, c * row), jnp.zeros(6), x)
        return lax.cond(total > 3, jnp.sin, jnp.cos, rows)

    keep("loops", loops(x))
    keep("gradient", olympus.jit(olympus.grad(lambda w: jnp.tanh(x @ w).sum()))(x[0]))
    whole = olympus.grad(lambda n: (n * 1.0).sum(), allow_int=True)
    keep("float0", olympus.jit(whole)(jnp.arange(3)))

    donating = olympus.jit(lambda a, b: (a + b, a.sum()), donate_argnums=0)
    given = x + 0
    keep("donated", *donating(given, x))
    assert given.is_deleted()

    second = olympus.devices()[1]
    there = olympus.device_put(x, second)
    out = olympus.jit(lambda a: a * 2)(there)
    assert out.device == second
    keep("devices", out, olympus.jit(lambda a: a * 2)(x))

    with olympus.enable_x64(True):
        keep("wide", jnp.linspace(0.0, 1.0, 7) / 3)

    with olympus.debug_nans(True):
        try:
            olympus.jit(lambda a: jnp.log(a - 2).sum())(x)
        except FloatingPointError as error:
            results["nan"] = str(error).split(" at ")[0]

    seen = []
    called = olympus.jit(lambda a: olympus.pure_callback(
        lambda v: seen.append(1) or np.asarray(v) * 2, a, a) + 1)
    keep("callback", called(x))
    assert seen

    compiled = loops.lower(x).compile()
    results["flops"] = compiled.cost_analysis()["flops"]
    results["text"] = hashlib.sha256(compiled.as_text().encode()).hexdigest()
    results["memory"] = compiled.memory_analysis().temp_size_in_bytes
    from olympus.experimental import serialize_executable
    again = serialize_executable.deserialize_and_load(
        *serialize_executable.serialize(compiled))
    keep("serialized", again(x))
    print(json.dumps([results, counts]))
"""


def tour(folder, seed):
    out, error = fresh.run(
        TOUR,
        OLYMPUS_ENABLE_COMPILATION_CACHE="1",
        OLYMPUS_CACHE_DIR=str(folder),
        # NumPy makes first runs only where operands are computed already.
        OLYMPUS_FIRST_RUNS_BY_NUMPY="0",
        PYTHONHASHSEED=str(seed),
    )
    assert not error, error
    return json.loads(out.splitlines()[-1])


@pytest.mark.slow
def test_a_second_process_loads_all_and_computes_the_same(tmp_path):
    results, first = tour(tmp_path / "cache", 1)
    again, second = tour(tmp_path / "cache", 2)
    assert first["cache_misses"] > 20  # a tour of many programs
    assert second.get("cache_misses", 0) == 0
    assert second["cache_hits"] == second["compile_requests_use_cache"]
    assert again == results
    assert "nan" in results
    check_load_ahead(tmp_path / "cache")


AHEAD = """
    from olympus._src.runtime import client, compile_cache

    client.default_device()
    for key in {keys}:
        assert compile_cache._load_ahead(key) is not None
"""


def check_load_ahead(folder):
    """Programs find their kernels where no module has asked for them yet."""
    files = DiskCache(str(folder)).files()
    named = [
        file.key
        for file in files
        if disk_cache.decode_entry(Path(file.path).read_bytes(), file.key).fields[
            "name"
        ]
        in ("jit_svd", "jit_inv")
    ]
    assert named
    out, error = fresh.run(
        AHEAD.format(keys=named),
        OLYMPUS_ENABLE_COMPILATION_CACHE="1",
        OLYMPUS_CACHE_DIR=str(folder),
    )
    assert (out, error) == ("", "")


# -- the examples, the demonstration, the documentation --------------------------------

RUNNER = """
    import json, runpy, sys
    sys.path.insert(0, "tests")
    import disk_caches
    from olympus._src.runtime import compile_cache

    missed = []
    real = compile_cache._keep

    def keep(cache, key, name, *rest):
        missed.append(name)
        return real(cache, key, name, *rest)

    compile_cache._keep = keep
    report, kind, target, *sys.argv[1:] = {words!r}
    status = 0
    with disk_caches.counted() as counts:
        try:
            sys.argv[0] = target
            if kind == "module":
                runpy.run_module(target, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(target, run_name="__main__")
        except SystemExit as done:
            status = done.code or 0
    with open(report, "w") as file:
        json.dump([status, missed, counts], file)
"""
PAGES = [str(page) for page in checker.load().pages()]
TARGETS = {
    "examples": ("module", "pytest", "-q", "-p", "no:cacheprovider", "tests/examples"),
    "demo": ("module", "demo"),
    **{Path(p).stem: ("path", str(checker.SCRIPT), p) for p in PAGES},
}


def run_target(words, folder, seed):
    report = folder.with_suffix(f".{seed}")
    fresh.run(
        RUNNER.format(words=[str(report), *words]),
        # The tests' own settings turn the cache off in every process they start.
        OLYMPUS_TEST_CACHE=str(folder),
        OLYMPUS_ENABLE_COMPILATION_CACHE="1",
        OLYMPUS_CACHE_DIR=str(folder),
        # NumPy makes first runs only where operands are computed already.
        OLYMPUS_FIRST_RUNS_BY_NUMPY="0",
        PYTHONHASHSEED=str(seed),
    )
    return json.loads(report.read_text())


@pytest.mark.slow
@pytest.mark.sampled(14)
@pytest.mark.parametrize("name", TARGETS)
def test_a_second_run_compiles_nothing(name, tmp_path, monkeypatch):
    monkeypatch.chdir(checker.ROOT)
    words = TARGETS[name]
    if name == "demo":
        words = (*words, "--epochs", "2", "--out", str(tmp_path / "out"))
    folder = tmp_path / "cache"
    runs = [run_target(words, folder, seed) for seed in (1, 2)]
    assert [status for status, _, _ in runs] == [0, 0]
    _, missed, second = runs[1]
    # An element of an array is read by a program only where the array is not yet
    # computed, so which of these are needed differs from run to run.
    assert set(missed) <= {"jit_read_traced"}
    assert second.get("cache_hits", 0) + len(missed) == second.get(
        "compile_requests_use_cache", 0
    )


# -- damage ----------------------------------------------------------------------------


def damages(size):
    """Ways to spoil an entry of some bytes: more than a hundred."""
    yield from one_process.DAMAGES.items()
    for n in sorted({*range(0, 48, 4), *np.linspace(48, size - 1, 40, dtype=int)}):
        yield f"cut to {n}", lambda data, n=n: data[:n]
    for at in np.linspace(0, 1, 50):
        yield f"flipped at {at:.2f}", one_process.flipped(at)


@pytest.mark.slow
def test_a_hundred_damaged_entries_change_nothing(tmp_path):
    compiled = compiling.load
    with disk_caches.in_folder(tmp_path / "cache") as counts:
        kept = []
        compiling.load = lambda *args: kept[0] if kept else compiled(*args)
        try:
            kept.append(compiling.load(*_arguments()))
            _check_damages(tmp_path / "cache", counts)
        finally:
            compiling.load = compiled


def _arguments():
    found = []

    def note(*args):
        found.append(args)
        raise LookupError

    real, compiling.load = compiling.load, note
    try:
        with pytest.raises(LookupError):
            load(one_process.TEXT, one_process.F3)
    finally:
        compiling.load = real
    return found[0]


def _check_damages(folder, counts):
    run = one_process.run
    run()
    (path,) = folder.glob("*.program")
    data = path.read_bytes()
    seen = 0
    for name, damage in damages(len(data)):
        path.write_bytes(damage(data))
        before = counts.misses
        np.testing.assert_array_equal(run(), 2 * one_process.X, err_msg=name)
        assert counts.misses > before, name
        np.testing.assert_array_equal(run(), 2 * one_process.X, err_msg=name)
        seen += 1
    assert seen >= 100
    assert counts.hits == seen


# -- several processes at once ---------------------------------------------------------

WORKER = """
    import random, sys
    sys.path.insert(0, "tests")
    import numpy as np
    import programs
    from olympus._src.core.avals import ShapedArray
    from olympus._src.foundation.config import config
    from olympus._src.runtime import build_options, executable

    number, rounds, limit = {number}, {rounds}, {limit}
    config.update("olympus_compilation_cache_max_size", limit)
    sizes = list(range(1, 13)) * rounds
    random.Random(number).shuffle(sizes)
    quick = build_options.quick("cpu")
    for n in sizes:
        x = np.arange(n, dtype=np.float32)
        aval = ShapedArray((n,), x.dtype)
        loaded = executable.compile(programs.double((n,)), options=quick)
        program = executable.Executable(loaded, [aval])
        (y,) = programs.call(program, programs.put(x))
        np.testing.assert_array_equal(y, 2 * x)
    print("done")
"""


@pytest.mark.slow
@pytest.mark.sampled(2)
def test_eight_processes_fill_one_cache_at_once(tmp_path):
    folder = tmp_path / "cache"
    env = {
        **os.environ,
        "OLYMPUS_ENABLE_COMPILATION_CACHE": "1",
        "OLYMPUS_CACHE_DIR": str(folder),
        "OLYMPUS_RAISE_PERSISTENT_CACHE_ERRORS": "1",
    }
    # Half of them keep throwing out what the others wrote.
    workers = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                fresh.textwrap.dedent(
                    WORKER.format(number=n, rounds=2, limit=40_000 if n % 2 else -1)
                ),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        for n in range(8)
    ]
    for worker in workers:
        out, error = worker.communicate(timeout=fresh.TIMEOUT_S)
        assert (out, error) == ("done\n", "")
    assert main(["cache", "check", "--dir", str(folder)]) == 0
    assert not list(folder.glob(".writing-*"))
    # And what is there now is right.
    with disk_caches.in_folder(folder):
        for n in range(1, 13):
            x = np.arange(n, dtype=np.float32)
            aval = ShapedArray((n,), x.dtype)
            np.testing.assert_array_equal(
                call(load(double((n,)), aval), put(x))[0], 2 * x
            )
