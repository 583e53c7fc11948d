"""Kernels that are called without XLA's runtime give the bits that it gives."""

from __future__ import annotations

import copy
import gc
import importlib.util
import itertools
import mmap
import os
import pathlib
import pickle
import struct
import sys
import threading
import tracemalloc

import ml_dtypes
import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, nn, random, scipy
from olympus._src import native
from olympus._src.foundation import compiler_settings
from olympus._src.runtime import (
    client,
    cpu_programs,
    host_kernels,
    host_results,
    versions,
)
from tests import fresh

pytestmark = pytest.mark.skipif(
    native.calls is None, reason="the part in C was not built here"
)
after = compiler_settings.host_kernels_after


LIMIT_S = host_kernels._MAX_SECONDS


@pytest.fixture(autouse=True)
def kernels_at_once(monkeypatch):
    # However long they take: on a busy machine that is more than it should be.
    monkeypatch.setattr(host_kernels, "_MAX_SECONDS", 60.0)
    with after(0):
        yield


@pytest.fixture
def time_limit(monkeypatch):
    """For tests of programs that take too long."""
    monkeypatch.setattr(host_kernels, "_MAX_SECONDS", LIMIT_S)


def is_in_memory(x) -> bool:
    return type(x._parts) is host_results.HostMemory


def kernels_of(fun, *args):
    """The kernels of a jitted function's program for arguments; None if it has none."""
    compiled = olympus.jit(fun).lower(*args).compile()
    return compiled._compiled.executable._find_kernels()


@olympus.jit
def sort_by_runtime(x):
    """Sorts finite numbers; a loop of unknown length leaves it to the runtime."""
    zero = x.reshape(-1)[0] * 0
    return jnp.sort(x) + lax.while_loop(lambda n: n < zero, lambda n: n + 1, zero)


X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
V = np.arange(8, dtype=np.float32)
Y = (np.arange(24) * 7 % 24).reshape(2, 4, 3)
KEY = random.key(3)

WITH_KERNELS = {
    "negative": (lambda x: -x, X),
    "sin": (jnp.sin, X),
    "power": (lambda x: jnp.abs(x) ** 2.5, X),
    "tanh": (jnp.tanh, X),
    "sum": (jnp.sum, X),
    "sum of columns": (lambda x: x.sum(0), X),
    "mean": (lambda x: x.mean(1), X),
    "std": (jnp.std, X),
    "argmax": (jnp.argmax, X),
    "where": (lambda x: jnp.where(x > 0, x, 0), X),
    "linspace": (lambda: jnp.linspace(0, 1, 20),),
    "norm": (jnp.linalg.norm, X),
    "dot": (jnp.dot, V, V),
    "softmax": (nn.softmax, X),
    "logsumexp": (nn.logsumexp, X),
    "cumsum": (jnp.cumsum, V),
    "gather": (lambda v, i: v[i], V, np.array([7, 0, 3])),
    "update": (lambda v: v.at[2].set(1.0), V),
    "take rows": (lambda x, i: x[i % 3], X, np.arange(7)),
    "uniform": (lambda k: random.uniform(k, (5,)), KEY),
    "normal": (lambda k: random.normal(k, (5,)), KEY),
    "split": (random.split, KEY),
    "concatenate": (lambda v: jnp.concatenate([v, v]), V),
    "transpose": (jnp.transpose, X),
    "reshape": (lambda x: x.reshape(2, 6), X),
    "pad": (lambda v: jnp.pad(v, 2), V),
    "two results": (lambda a, b: (a + b, a * b), X, X + 1),
    "tree": (lambda t: {"a": t["b"] * 2, "c": [t["d"], None]}, {"b": X, "d": V}),
    "same operand": (lambda a, b: a - b * 2, X, X),
    "no elements": (lambda x: x[:0] + 1, X),
    "scalar": (lambda x: x * 3, np.float32(2)),
    "divide integers": (lambda x: x // 3, np.arange(-5, 5)),
    "shift": (lambda x: x >> 1, np.arange(-5, 5)),
    "convert": (lambda x: x.astype(jnp.int8), X * 100),
    "vmapped gradient": (olympus.vmap(olympus.grad(jnp.sin)), V),
    "searchsorted": (lambda v: jnp.searchsorted(v, v), V),
    "sort": (jnp.sort, X[:, ::-1]),
    "sort columns": (lambda x: jnp.sort(x, axis=0), X[::-1]),
    "sort of three axes": (lambda x: jnp.sort(x, axis=1), Y.astype(np.float32)),
    "sort integers": (jnp.sort, Y),
    "sort small floats": (lambda x: jnp.sort(x.astype(jnp.float16)), Y),
    "sort complex numbers": (jnp.sort, Y % 3 + 1j * (Y % 2)),
    "argsort": (jnp.argsort, Y % 4),
    "sort by two keys": (lambda x: lax.sort((x % 3, -x, x), num_keys=2), Y),
    "median": (jnp.median, X),
    "sort nothing": (jnp.sort, np.zeros((2, 0), np.float32)),
    "loop": (lambda v: lax.fori_loop(0, 10, lambda i, c: c * 0.5 + i, v), V),
    "loop in a sum": (
        lambda v: lax.fori_loop(0, 9, lambda i, c: c * 0.5 + 1, v).sum(),
        V,
    ),
    "loop in a loop": (
        lambda v: lax.fori_loop(
            0, 3, lambda i, c: c + lax.fori_loop(0, 4, lambda j, d: d / 2, c), v
        ),
        V,
    ),
    "scan": (lambda x: lax.scan(lambda c, y: (c + y, c * y), V[:4], x), X),
    "recurrent layer": (
        lambda w, x: lax.scan(lambda c, y: (jnp.tanh(w @ c + y), c), V[:8], x),
        np.outer(V, V[::-1]) / 9,
        np.ones((20, 8), np.float32),
    ),
    "map": (lambda x: lax.map(lambda r: jnp.sin(r).sum(), x), X),
}


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_results_have_the_bits_of_the_runtime(name):
    fun, *args = WITH_KERNELS[name]
    assert kernels_of(fun, *args) is not None
    f = olympus.jit(fun)
    with after(-1):
        expected = olympus.tree.leaves(f(*args))
        assert not any(map(is_in_memory, expected))
    for _ in range(2):
        outs = olympus.tree.leaves(f(*args))
        assert all(map(is_in_memory, outs))
        for out, other in zip(outs, expected, strict=True):
            assert out.aval is other.aval
            if jnp.issubdtype(out.dtype, olympus.dtypes.prng_key):
                out, other = random.key_data(out), random.key_data(other)
            assert np.asarray(out).tobytes() == np.asarray(other).tobytes()


def test_floats_that_the_processor_may_not_round_have_the_bits_of_the_runtime():
    # Where it lacks the instruction, a function of XLA's rounds: there are no kernels.
    def sort(x):
        return jnp.sort(x.astype(jnp.bfloat16))

    f = olympus.jit(sort)
    with after(-1):
        expected = np.asarray(f(Y))
    has_kernels = kernels_of(sort, Y) is not None
    for _ in range(2):
        out = f(Y)
        assert is_in_memory(out) == has_kernels
        assert np.asarray(out).tobytes() == expected.tobytes()


WITHOUT_KERNELS = {
    "matrix product": (lambda x: x @ x.T, np.ones((40, 40), np.float32)),
    "largest": (lambda x: lax.top_k(x, 3), V),
    "while loop": (
        lambda v: lax.fori_loop(0, v[0].astype(int), lambda i, x: x + 1, v),
        V,
    ),
    "inverse": (jnp.linalg.inv, np.eye(3, dtype=np.float32)),
    "much memory": (lambda x: x + 1, np.zeros(100_000, np.float32)),
    "much time": (lambda x: jnp.sin(jnp.outer(x, x)), np.zeros(160, np.float32)),
}


@pytest.mark.usefixtures("time_limit")
@pytest.mark.parametrize("name", WITHOUT_KERNELS)
def test_the_runtime_runs_all_others(name):
    fun, *args = WITHOUT_KERNELS[name]
    assert kernels_of(fun, *args) is None
    f = olympus.jit(fun)
    olympus.tree.map(np.testing.assert_array_equal, f(*args), f(*args))


DTYPES = [
    *map(np.dtype, "?bhilBHILefdFD"),
    np.dtype(ml_dtypes.bfloat16),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("on_device", [True, False])
def test_elements_of_each_type(dtype, on_device):
    with olympus.enable_x64():
        value = np.array([[0, 1, 2], [1, 0, 5]]).astype(dtype)
        f = olympus.jit(lambda x: x.T.reshape(-1)[::-1])
        x = value
        if on_device:
            with after(-1):
                x = jnp.asarray(value)
            assert not is_in_memory(x)
        out = f(x)
        assert is_in_memory(out)
        np.testing.assert_array_equal(np.asarray(out), value.T.reshape(-1)[::-1])


@pytest.mark.parametrize("dtype", ["float4_e2m1fn", "int4", "float8_e4m3fn", "int2"])
def test_elements_of_other_types(dtype):
    value = np.array([0, 1, 1, 0]).astype(getattr(ml_dtypes, dtype))
    out = olympus.jit(lambda x: x[::-1])(value)
    np.testing.assert_array_equal(np.asarray(out), value[::-1])


def test_subnormal_numbers_are_zero_as_in_the_runtime():
    tiny = np.array([1e-39, -1e-45, 1.2e-38, 1], np.float32)
    f = olympus.jit(lambda x: (x * 0.5, x + 0, -x, x == 0))
    with after(-1):
        expected = [np.asarray(x).tobytes() for x in f(tiny)]
    assert [np.asarray(x).tobytes() for x in f(tiny)] == expected
    # The thread's own way to round is as before.
    assert np.float32(1e-39) * np.float32(0.5) != 0


# -- arrays in host memory -------------------------------------------------------------


def test_an_array_in_memory_is_an_array():
    x = olympus.jit(lambda x: x * 2)(X)
    assert is_in_memory(x)
    assert x.device == olympus.devices()[0]
    assert x.devices() == {olympus.devices()[0]}
    assert not x.is_deleted()
    assert x.is_ready()
    assert x.block_until_ready() is x
    assert olympus.block_until_ready([x])[0] is x
    assert x.nbytes == X.nbytes
    assert len(x.addressable_shards) == 1
    assert x.is_fully_addressable
    for same in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        np.testing.assert_array_equal(same, X * 2)
    np.testing.assert_array_equal(np.from_dlpack(x), X * 2)
    np.testing.assert_array_equal(list(x), X * 2)
    assert x.tolist() == (X * 2).tolist()
    assert float(x[1, 2]) == X[1, 2] * 2
    assert x.unsafe_buffer_pointer() % 64 == 0
    assert any(x is y for y in olympus.live_arrays())
    assert repr(x).startswith("Array([[")


def test_one_buffer_is_made_when_a_program_needs_it():
    x = olympus.jit(lambda x: x * 2)(X)
    memory = x._parts
    assert memory.buffer is None
    for _ in range(3):  # in the first calls it may be copied
        np.testing.assert_array_equal(sort_by_runtime(x), np.sort(X * 2))
    buffer = memory.buffer
    assert buffer is not None
    np.testing.assert_array_equal(sort_by_runtime(x), np.sort(X * 2))
    assert memory.buffer is buffer
    assert x._buffer is buffer
    np.testing.assert_array_equal(-x, -X * 2)


def test_views_have_the_shape_and_type_of_the_array():
    for dtype in "?bhiBHIefF":
        value = np.arange(6).reshape(2, 3).astype(dtype)
        x = olympus.jit(lambda x: x.T)(value)
        assert is_in_memory(x)
        view = memoryview(x)
        assert view.readonly
        assert view.shape == (3, 2)
        assert view.c_contiguous
        assert np.asarray(view).dtype == value.dtype
        np.testing.assert_array_equal(np.asarray(view), value.T)
        assert bytes(x) == value.T.tobytes()
    with pytest.raises((BufferError, TypeError)):
        memoryview(olympus.jit(lambda x: x + x)(np.ones(2, ml_dtypes.bfloat16)))
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x)[0] = 1


def test_views_are_of_the_order_that_is_asked_for():
    testbuffer = pytest.importorskip("_testbuffer")
    matrix, vector = (olympus.jit(lambda x: x * 1)(x) for x in (X, V))

    def view(array, flags):
        return testbuffer.ndarray(array, getbuf=flags)

    with pytest.raises(BufferError):
        view(matrix, testbuffer.PyBUF_F_CONTIGUOUS)
    assert view(vector, testbuffer.PyBUF_F_CONTIGUOUS).tobytes() == V.tobytes()
    assert view(matrix, testbuffer.PyBUF_C_CONTIGUOUS).tobytes() == X.tobytes()
    for flags in (testbuffer.PyBUF_SIMPLE, testbuffer.PyBUF_FORMAT):
        assert view(matrix, flags).tobytes() == X.tobytes()


def test_views_outlive_the_array():
    x = olympus.jit(lambda x: x + 1)(V)
    views = [np.asarray(x), np.asarray(memoryview(x)), np.from_dlpack(x)]
    donate = olympus.jit(lambda x: x * 0, donate_argnums=0)
    donate(x)
    assert x.is_deleted()
    del x
    gc.collect()
    for _ in range(50):
        donate(jnp.asarray(V))  # takes memory that is free
    for view in views:
        np.testing.assert_array_equal(view, V + 1)


def test_deleted_arrays_are_refused():
    f = olympus.jit(lambda x: x + 1)
    g = olympus.jit(sort_by_runtime)
    x, y = f(V), f(V)
    x.delete()
    g(y), g(y)  # it has a buffer now
    y.delete()
    with after(-1):
        z = jnp.asarray(V)
    f(z)
    z.delete()
    for deleted in (x, y, z):
        assert deleted.is_deleted()
        for use in (f, g, jnp.sin, np.asarray, lambda x: x.block_until_ready()):
            with pytest.raises(RuntimeError, match="deleted"):
                use(deleted)


def test_donated_arguments_are_taken():
    f = olympus.jit(lambda x, y: (x + y, y * 2), donate_argnums=0)
    y = jnp.asarray(V)
    with after(-1):
        start = jnp.asarray(V)
    for x in (jnp.asarray(V), olympus.jit(lambda x: x + 0)(V), start):
        out, twice = f(x, y)
        assert is_in_memory(out)
        assert is_in_memory(twice)
        assert x.is_deleted()
        assert not y.is_deleted()
        np.testing.assert_array_equal(out, V + V)
        np.testing.assert_array_equal(twice, V * 2)
        for use in (lambda x: f(x, y), jnp.sin, np.asarray, str):
            with pytest.raises(RuntimeError, match="deleted"):
                use(x)
    with pytest.raises(RuntimeError, match="donate"):
        f(y, y)
    np.testing.assert_array_equal(y, V)


@pytest.mark.parametrize("runs", [0, -1])
def test_numbers_are_donated_as_copies(runs):
    f = olympus.jit(lambda x, y, z: (x + y, x * y + z), donate_argnums=(0, 1))
    with after(runs):
        for one in (1.0, 1, np.float32(1), 1 + 0j):
            for _ in range(3):
                total, product = f(one, one, one)
                assert total == one + one
                assert product == one * one + one
        x, y = olympus.device_put(2.5), olympus.device_put(2.5)
        assert x is not y
        total, product = f(x, y, 2.5)
        assert (float(total), float(product)) == (5.0, 8.75)
        assert x.is_deleted()
        assert y.is_deleted()
        with pytest.raises(RuntimeError, match="donate"):
            f(total, total, 1.0)


def test_a_number_that_another_thread_donates_stays_an_operand():
    donate = olympus.jit(lambda x: x * 2, donate_argnums=0)
    add = olympus.jit(lambda x, y: x + y.astype(jnp.float32))
    with after(-1):
        y = olympus.jit(lambda: jnp.zeros((), jnp.bfloat16))()
    add(7.5, jnp.zeros((), jnp.bfloat16)), donate(7.5)

    def interrupt(frame, event, arg):
        if event == "call" and frame.f_code.co_name == "copy_to_memory":
            sys.setprofile(None)
            donate(7.5)

    sys.setprofile(interrupt)
    try:
        assert float(add(7.5, y)) == 7.5
    finally:
        sys.setprofile(None)


def test_deleting_makes_no_buffer():
    f = olympus.jit(lambda x: x + 1)
    x = f(V)
    view, memory = np.asarray(x), x._parts
    x.delete()
    assert memory.buffer is None
    assert x.is_deleted()
    x.delete()
    np.testing.assert_array_equal(view, V + 1)
    y = f(V)
    sort_by_runtime(y), sort_by_runtime(y)
    buffer = y._parts.buffer
    y.delete()
    assert y.is_deleted()
    assert buffer.is_deleted()


def test_a_large_program_is_lent_memory_at_first():
    if client.several_devices():
        pytest.skip("nothing is lent after programs over a mesh")
    f, sort = olympus.jit(lambda x: x + 1), olympus.jit(sort_by_runtime)
    for _ in range(2):
        sort(f(V))  # makes a slot
    x = f(V[::-1])
    kept = sort(x)
    assert x._parts.buffer is None
    outs = [sort(f(V * i)) for i in range(9)]
    np.testing.assert_array_equal(kept, V + 1)
    for i, out in enumerate(outs):
        np.testing.assert_array_equal(out, V * i + 1)
    np.testing.assert_array_equal(sort(x), V + 1)
    assert x._parts.buffer is not None  # it is taken often
    keys = olympus.jit(lambda k: random.split(k)[0])(KEY)
    for _ in range(4):
        random.permutation(keys, 5)


def count_up(x):
    return lax.while_loop(lambda s: s < 3, lambda s: s + 1, jnp.sum(x) * 0)


# XLA may put a whole loop in one kernel, which keeps the interpreter to itself.
LOOPS_OF_UNKNOWN_LENGTH = {
    "of a value": lambda x: lax.while_loop(lambda s: s[0] > 1, lambda s: s / 2, x + 1),
    "in a sum": lambda x: lax.while_loop(
        lambda s: s[0] > 1, lambda s: s * 0.5, x + 1
    ).sum(),
    "of an argument": lambda x: lax.fori_loop(
        0, x[0].astype(int), lambda i, c: c * 2 + 1, x
    ),
    "of a number": count_up,
    "inside of a loop": lambda x: lax.fori_loop(0, 3, lambda i, c: c + count_up(c), x),
}


@pytest.mark.parametrize("name", LOOPS_OF_UNKNOWN_LENGTH)
def test_loops_of_unknown_length_are_left_to_the_runtime(name, monkeypatch):
    # They are not compared either: they may end for the arguments of the user only.
    monkeypatch.delattr(host_kernels, "_agree")
    assert kernels_of(LOOPS_OF_UNKNOWN_LENGTH[name], V) is None


def test_large_programs_are_not_looked_at(monkeypatch):
    def refuse(self):
        raise AssertionError

    executable = type(olympus.jit(jnp.sin).lower(V).compile()._compiled.executable)
    monkeypatch.setattr(executable, "serialize", refuse)
    large = np.zeros(100_000, np.float32)
    assert kernels_of(jnp.sum, large) is None
    assert kernels_of(lambda: jnp.zeros(100_000) + 1) is None
    with pytest.raises(AssertionError):
        kernels_of(lambda x: x + 2, V)


def test_arrays_over_one_buffer_are_not_donated_and_used():
    f = olympus.jit(lambda x, y: x + y, donate_argnums=0)
    x = olympus.jit(lambda x: x + 0)(V)
    y = olympus.device_put(x, olympus.devices()[0])
    with pytest.raises(RuntimeError, match="donate"):
        f(x, y)
    np.testing.assert_array_equal(x, V)
    np.testing.assert_array_equal(y, V)


def test_errors_of_programs_of_the_runtime_say_who_took_an_array():
    x = olympus.jit(lambda x: x + 0)(V)
    olympus.jit(lambda x: x * 2, donate_argnums=0)(x)
    add = olympus.jit(lambda x: x + 1)
    for use in (lambda x: x + 1, jnp.copy, sort_by_runtime, add):
        with pytest.raises(RuntimeError, match="donated to"):
            use(x)


def test_an_operand_that_ends_while_others_are_looked_at_is_held(monkeypatch):
    n = 1024
    add = olympus.jit(lambda x, y: x + y.astype(jnp.float32))
    donate = olympus.jit(lambda x: x * 2, donate_argnums=0)
    same = olympus.jit(lambda x: x * 1)
    values = np.arange(n, dtype=np.float32)
    with after(-1):
        y = olympus.jit(lambda: jnp.zeros(n, jnp.bfloat16))()
    x, calls, others = same(values), [], []
    add(x, jnp.zeros(n, jnp.bfloat16))
    donate(same(values))

    def interrupt(frame, event, arg):
        if event == "call" and frame.f_code.co_name == "copy_to_memory":
            sys.setprofile(None)  # what another thread could do here:
            calls.append(donate(x))
            others.extend(same(values + i) for i in range(1000, 1008))

    sys.setprofile(interrupt)
    try:
        out = add(x, y)
    finally:
        sys.setprofile(None)
    assert calls
    np.testing.assert_array_equal(out, values)


def raise_in(name, error):
    """Has the next call of a Python function of this name raise an error."""

    def interrupt(frame, event, arg):
        if event == "call" and frame.f_code.co_name == name:
            sys.setprofile(None)
            raise error

    sys.setprofile(interrupt)


def test_interrupts_while_operands_are_looked_at_are_raised():
    f = olympus.jit(lambda x: x.astype(jnp.float32) + 1)
    with after(-1):
        x = olympus.jit(lambda: jnp.zeros(8, jnp.bfloat16))()
    f(jnp.zeros(8, jnp.bfloat16))
    try:
        with pytest.raises(KeyboardInterrupt):
            raise_in("copy_to_memory", KeyboardInterrupt), f(x)
        np.testing.assert_array_equal(f(x), np.ones(8))
        with after(-1):
            y = olympus.jit(lambda: jnp.zeros(8, jnp.bfloat16))()
        raise_in("copy_to_memory", ValueError)  # then the runtime runs it
        np.testing.assert_array_equal(f(y), np.ones(8))
    finally:
        sys.setprofile(None)


def test_interrupts_while_an_array_is_read_are_raised():
    x = olympus.jit(lambda x: x[:3])(V)
    memoryview(olympus.jit(lambda x: x[:2])(V))  # of another type than the last one
    try:
        with pytest.raises(KeyboardInterrupt):
            raise_in("storage", KeyboardInterrupt), memoryview(x)
    finally:
        sys.setprofile(None)
    np.testing.assert_array_equal(memoryview(x), V[:3])


def test_threads_of_little_stack_run_programs_of_many_operands():
    fresh.run(
        """
        import threading, numpy as np, olympus
        f = olympus.jit(lambda *xs: [x + 1 for x in xs])
        g = olympus.jit(lambda x: x + 1)
        xs = [olympus.numpy.asarray(np.ones(3))] * 200
        f(*xs), g(xs[0])
        outs = []

        def work():
            outs.append(g(xs[0]))

        def work_much():
            outs.extend(f(*xs))

        for size, target in ((1 << 15, work), (1 << 16, work_much)):
            threading.stack_size(size)
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
        assert len(outs) == 201 and all((out == 2).all() for out in outs)
        """,
        OLYMPUS_HOST_KERNELS_AFTER="0",
    )


def test_any_integer_is_a_number_of_runs():
    for runs in (10**30, -(10**30)):
        with after(runs):
            assert not is_in_memory(olympus.jit(lambda x: x + 4)(V))
    assert is_in_memory(olympus.jit(lambda x: x + 4)(V))


def test_later_changes_of_a_numpy_argument_do_not_show():
    f = olympus.jit(lambda x: x.reshape(2, 4))
    value = V.copy()
    kept = jnp.asarray(value)
    out = f(value)
    value[:] = 9
    np.testing.assert_array_equal(out, V.reshape(2, 4))
    np.testing.assert_array_equal(kept, V)


@pytest.mark.parametrize(
    "value",
    [
        np.arange(12).reshape(3, 4).T,
        np.arange(12.0)[::-2],
        np.zeros((0, 3)),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.array(True),
    ],
)
def test_numpy_arrays_of_any_layout(value):
    f = olympus.jit(lambda x: x)
    np.testing.assert_array_equal(jnp.asarray(value), value)
    np.testing.assert_array_equal(olympus.jit(lambda x: x.T)(value), value.T)
    np.testing.assert_array_equal(f(value), value)


# -- when kernels are used -------------------------------------------------------------


def test_a_program_runs_often_before_it_has_kernels():
    f = olympus.jit(lambda x: x * 7)
    with after(3):
        is_quick = [is_in_memory(f(V)) for _ in range(6)]
    assert is_quick == [False, False, False, True, True, True]


def test_programs_that_sort_are_written_after_they_ran():
    # jaxlib itself does not write them any more.
    f = olympus.jit(lambda x: jnp.sort(x) * 7)
    with after(3):
        is_quick = [is_in_memory(f(V[::-1])) for _ in range(6)]
    assert is_quick == [False, False, False, True, True, True]


def test_the_setting_turns_all_of_it_off():
    f = olympus.jit(lambda x: x * 6)
    assert is_in_memory(f(V))
    with after(-1):
        assert not is_in_memory(f(V))
        assert not is_in_memory(jnp.asarray(V))
    assert is_in_memory(f(V))


def test_recordings_see_programs(tmp_path):
    f = olympus.jit(lambda x: x * 5)
    assert is_in_memory(f(V))
    with olympus.profiler.trace(tmp_path):
        assert not is_in_memory(f(V))
    assert is_in_memory(f(V))


def test_guards_see_transfers():
    f = olympus.jit(lambda x: x * 5)
    assert is_in_memory(f(V))
    refused = pytest.raises(RuntimeError, match="Disallowed host-to-device")
    with olympus.transfer_guard("disallow"), refused:
        f(V)
    assert is_in_memory(f(V))


def test_checks_of_numbers_see_results():
    with olympus.debug_nans(True):
        f = olympus.jit(lambda x: x / 0)
        with pytest.raises(FloatingPointError):
            f(np.zeros(3, np.float32))


def test_programs_on_other_devices_have_kernels():
    fresh.run(
        """
        import copy, pickle
        import numpy as np, olympus, olympus.numpy as jnp
        from olympus._src.runtime import host_results
        home, middle, other = olympus.devices()[:3]
        f = olympus.jit(lambda x, y: (x * 2 + y, x - y))
        x = olympus.device_put(np.arange(4, dtype="float32"), other)
        values = np.ones(4, "float32")
        calls = [
            lambda: f(x, x), lambda: f(x, values), lambda: f(x, 1), lambda: (-x, x + x)
        ]
        for i in range(8):
            for call in calls:
                a, b = call()
                assert i < 7 or type(a._parts) is host_results.HostMemory
                assert a.device == b.device == other and a.committed and b.committed
            a = x + values  # in memory, without a buffer in the end
        assert type(a._parts) is host_results.HostMemory
        values[:] = 9  # which is no longer looked at
        np.testing.assert_array_equal(a, [1, 2, 3, 4])
        for there in (home, middle, other):
            moved = olympus.device_put(a, there)
            assert moved.device == there and moved.committed
            np.testing.assert_array_equal(moved + 1, [2, 3, 4, 5])
            assert (moved + 1).device == there
        for same in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a), np.asarray(a)):
            np.testing.assert_array_equal(same, [1, 2, 3, 4])
        at_home = olympus.device_put(a, home)
        for wrong in (lambda: a + at_home, lambda: f(a, at_home)):
            for _ in range(3):
                try:
                    wrong()
                except ValueError:
                    continue
                raise AssertionError("arrays of two devices were added")
        g = olympus.jit(lambda x: x * 3, donate_argnums=0)
        for _ in range(3):
            d = x + 1
            assert g(d).device == other
            assert d.is_deleted()
        with olympus.default_device(middle):
            for _ in range(3):
                z = jnp.ones(4) + 1
                assert z.device == middle and not z.committed
                assert f(z, 1)[0].device == middle
            assert f(x, z)[0].device == other
        whole = olympus.make_mesh((2,), ("i",), devices=[home, other])
        parts = olympus.device_put(a, olympus.NamedSharding(whole, olympus.P("i")))
        np.testing.assert_array_equal(parts, [1, 2, 3, 4])
        """,
        OLYMPUS_NUM_CPU_DEVICES="3",
        OLYMPUS_HOST_KERNELS_AFTER="0",
    )


def test_programs_follow_arrays_to_other_devices():
    fresh.run(
        """
        import numpy as np, olympus, olympus.numpy as jnp
        f = olympus.jit(lambda x: x + 1)
        home, other = olympus.devices()[:2]
        for _ in range(3):
            assert f(jnp.ones(3)).device == home
            x = olympus.device_put(np.ones(3), other)
            assert x.device == other
            assert f(x).device == other
            assert f(f(x)).device == other
            y = olympus.device_put(f(jnp.ones(3)), other)
            assert y.device == other and (f(y) == 3).all()
            z = f(jnp.ones(3)) + 1
            assert z.device == home and (z == 3).all()
        mesh = olympus.make_mesh((2,), ("i",), devices=[home, other])
        whole = olympus.device_put(
            f(jnp.ones(4)), olympus.NamedSharding(mesh, olympus.P("i"))
        )
        assert len(whole.addressable_shards) == 2
        assert (f(whole) == 3).all()
        assert len(f(whole).addressable_shards) == 2
        """,
        OLYMPUS_NUM_CPU_DEVICES="2",
        OLYMPUS_HOST_KERNELS_AFTER="0",
    )


def test_programs_from_the_disk_have_kernels(tmp_path):
    code = """
        import numpy as np, olympus
        from olympus._src.runtime import host_results
        f = olympus.jit(lambda x: x * 2 + 1)
        out = f(np.arange(4.0))
        assert type(out._parts) is host_results.HostMemory
        assert out.tolist() == [1, 3, 5, 7]
        """
    for _ in range(2):
        fresh.run(code, OLYMPUS_CACHE_DIR=str(tmp_path), OLYMPUS_HOST_KERNELS_AFTER="0")


# -- kernels that are not as they should be --------------------------------------------


def serialize(fun, *args) -> tuple:
    compiled = olympus.jit(fun).lower(*args).compile()._compiled.executable
    place = host_results.placement_of(compiled.devices[0])
    return compiled.serialize(), compiled._run_raw, compiled.out_avals, place


def test_messages_that_end_early_are_refused():
    content, *rest = serialize(lambda x: x + 1, V)
    assert host_kernels.find(content, *rest) is not None
    for size in range(0, len(content), 7):
        assert host_kernels.find(content[:size], *rest) is None


@pytest.mark.parametrize("what", ["operands", "results", "a step"])
def test_kernels_that_give_something_else_are_refused(what, monkeypatch):
    content, *rest = serialize(lambda a, b: (a - b, b - a), V, V + 1)
    assert host_kernels.find(content, *rest) is not None
    read = cpu_programs.read_program

    one, other = (0, 1) if what == "operands" else (2, 3)
    swapped = {one: other, other: one}

    def swap(part):
        return part._replace(base=swapped.get(part.base, part.base))

    def misread(data):
        program = read(data)
        steps = program.steps
        if what == "a step":
            return program._replace(steps=steps[:-1])
        steps = [s._replace(slices=list(map(swap, s.slices))) for s in steps]
        return program._replace(steps=steps)

    monkeypatch.setattr(cpu_programs, "read_program", misread)
    assert host_kernels.find(content, *rest) is None


@pytest.mark.usefixtures("time_limit")
def test_slow_kernels_are_not_compared_often(monkeypatch):
    content, run, *rest = serialize(lambda x: x + 1, np.float32(1))
    runs = []

    def count_run(buffers):
        runs.append(1)
        return run(buffers)

    times = itertools.count(step=0.002)
    monkeypatch.setattr(host_kernels.time, "thread_time", lambda: next(times))
    assert host_kernels.find(content, count_run, *rest) is None
    assert len(runs) == 1


def test_what_c_is_given_is_checked():
    place = host_results.placement_of(olympus.devices()[0])

    def words(*numbers):
        return np.array(numbers, np.int64).tobytes()

    new = native.calls.Kernels
    copy_step = words(-1, 1, 1, 1, 2, 0, 0, 8, 1, 0, 8)
    kernels = new(b"\0", b"", b"", b"", 1, words(8, 8, 0), copy_step, place)
    assert kernels.run([], (None,)) is None  # another number of operands
    with pytest.raises(ValueError, match="results"):
        kernels.run([], ())
    for steps in (
        words(-1, 1, 1, 1, 2, 0, 0, 8, 1, 0, 16),  # of other sizes
        words(-1, 1, 1, 1, 2, 0, 8, 8, 1, 0, 8),  # outside of an operand
        words(-1, 1, 1, 1, 2, 7, 0, 8, 1, 0, 8),  # of no operand
        words(-1, 1, 1, 1, 1, 0, 0, 8),  # to nowhere
        words(-1, 1, 1, 1, 2, 0, 0, 8),  # that ends
        words(5, 1, 1, 1, 0),  # outside of the code
        words(-3, 2, 1, 1, 1, 0, 0, 8),  # the same, of a comparator
        words(-2, 3, 1, 1, 1, 0, 0, 8),  # elements that are none
        words(-2, 0, 1, 1, 1, 0, 0, 8),  # no elements
        words(-2, 2**33, 2**31, 1, 1, 0, 0, 8),  # too many
        words(-2, 2, 1, 1, 0),  # nothing to sort
        words(-2, 2, 1, 1, 1, 0, 0, 0),  # elements of no bytes
        words(-1, 1, 1, 1, 2, 0, 2**63 - 8, 8, 1, 0, 8),  # past what can be added
    ):
        with pytest.raises(ValueError, match="Kernels"):
            new(b"\0", b"", b"", b"", 1, words(8, 8, 0), steps, place)
    for at in (9, -1, 2**63 - 4):
        with pytest.raises(ValueError, match="address"):
            new(b"\0" * 16, words(at, 0), b"", b"", 1, words(8, 8, 0), copy_step, place)
    with pytest.raises(ValueError, match="too many"):
        new(b"\0", b"", b"", b"", 600, words(*[8] * 602), copy_step, place)
    with pytest.raises(TypeError):
        host_results.HostMemory()


# -- threads, and memory ---------------------------------------------------------------


def test_threads_that_run_donate_and_delete():
    f = olympus.jit(lambda x: x + 1)
    donate = olympus.jit(lambda x: x * 2, donate_argnums=0)
    sort = olympus.jit(sort_by_runtime)
    shared = [f(V) for _ in range(40)]
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(400):
            x = shared[rng.integers(len(shared))]
            try:
                match rng.integers(5):
                    case 0:
                        out, expected = f(x), V + 2
                    case 1:
                        out, expected = donate(x), (V + 1) * 2
                    case 2:
                        out, expected = sort(x), V + 1
                    case 3:
                        out, expected = np.asarray(x), V + 1
                    case _:
                        shared[rng.integers(len(shared))] = f(V)
                        continue
                if not np.array_equal(out, expected):
                    wrong.append((np.asarray(out), expected))
            except RuntimeError as error:
                if "deleted" not in str(error) and "donated" not in str(error):
                    wrong.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.slow
@pytest.mark.skipif(
    os.environ.get("PYTHONMALLOC") == "malloc", reason="lists of free objects differ"
)
def test_nothing_is_left_behind():
    f = olympus.jit(lambda x: (x + 1, x * 2))
    donate = olympus.jit(lambda x: x * 2, donate_argnums=0)
    sort = olympus.jit(sort_by_runtime)

    def work():
        for _ in range(200):
            x, y = f(V)
            memoryview(x).release()
            np.asarray(x).sum()
            donate(x)
            sort(y)

    def collect():
        gc.collect()
        versions.collect_garbage()  # which a thread calls twice a second

    work()
    tracemalloc.start()
    try:
        grown = []
        for _ in range(4):  # other caches grow for a while
            collect()
            before, _ = tracemalloc.get_traced_memory()
            work()
            collect()
            grown.append(tracemalloc.get_traced_memory()[0] - before)
    finally:
        tracemalloc.stop()
    assert min(grown) < 2_000  # ten bytes a turn


# -- functions of the C library --------------------------------------------------------


def linked_versions() -> dict[str, str]:
    """The versions of functions of other libraries that jaxlib is linked to."""
    folder = pathlib.Path(
        importlib.util.find_spec("jaxlib").submodule_search_locations[0]
    )
    with (folder / "libjax_common.so").open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with data:
        (at,) = struct.unpack_from("<Q", data, 40)
        (count,) = struct.unpack_from("<H", data, 60)
        layout = struct.Struct("<IIQQQQIIQQ")
        sections = [layout.unpack_from(data, at + 64 * i) for i in range(count)]

        def content(section):
            return data[section[4] : section[4] + section[5]]

        by_kind = {section[1]: section for section in sections}
        symbols, names = by_kind[11], content(sections[by_kind[11][6]])

        def text(offset):
            return names[offset : names.index(b"\0", offset)].decode()

        needed, versions, at = content(by_kind[0x6FFFFFFE]), {}, 0
        while True:
            _, n, _, first, following = struct.unpack_from("<HHIII", needed, at)
            entry = at + first
            for _ in range(n):
                _, _, number, name, step = struct.unpack_from("<IHHII", needed, entry)
                versions[number] = text(name)
                entry += step
            if not following:
                break
            at += following
        numbers = struct.iter_unpack("<H", content(by_kind[0x6FFFFFFF]))
        table = struct.iter_unpack("<IBBHQQ", content(symbols))
        return {
            text(name): versions.get(number & 0x7FFF)
            for (number,), (name, _, _, section, _, _) in zip(
                numbers, table, strict=True
            )
            if section == 0
        }


@pytest.mark.skipif(sys.platform != "linux", reason="of another form")
def test_kernels_call_the_functions_that_jaxlib_calls():
    linked = linked_versions()
    for name, version in host_kernels.SYMBOL_VERSIONS.items():
        assert linked[name] == version
        assert native.calls.find_symbol(name, version) != 0
    assert native.calls.find_symbol("sinf", "GLIBC_1.0") == 0


FUNCTIONS = {
    **{name: getattr(jnp, name) for name in ("sin", "log", "exp", "tan", "log1p")},
    **{name: getattr(jnp, name) for name in ("cbrt", "exp2")},
    "pow": lambda x: jnp.pow(x, x),
    "arctan2": lambda x: jnp.arctan2(x, x),
    "sincos": lambda x: jnp.sin(x) + jnp.cos(x),
    "erf": scipy.special.erf,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_the_c_library_have_the_bits_of_the_runtime(name):
    values = [-1.0, 0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, 0.3, 710.0, -745.5]
    with olympus.enable_x64():
        f = olympus.jit(FUNCTIONS[name])
        for dtype in (np.float32, np.float64):
            for value in [np.array(values, dtype), *map(dtype, values)]:
                with after(-1):
                    expected = np.asarray(f(value)).tobytes()
                out = f(value)
                assert is_in_memory(out)
                assert np.asarray(out).tobytes() == expected


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_shared_memory_is_read_in_each_call(dtype):
    raw = np.zeros(8 + 64, dtype)
    start = -(raw.ctypes.data // raw.itemsize) % (64 // raw.itemsize)
    mine = raw[start : start + 8]  # aligned, so that it is not copied
    x = jnp.from_dlpack(mine) if dtype is np.float32 else jnp.asarray(mine)
    f = olympus.jit(lambda x: x + 1)
    for _ in range(3):
        np.testing.assert_array_equal(f(x), np.ones(8))
    mine[:] = 5
    is_shared = dtype is np.float32
    assert (np.asarray(x) == (5 if is_shared else 0)).all()
    np.testing.assert_array_equal(f(x), np.full(8, 6 if is_shared else 1))


def test_other_arrays_over_shared_memory_share_it_too():
    raw = np.zeros(2 + 32, np.uint32)
    start = -(raw.ctypes.data // 4) % 16
    mine = raw[start : start + 2]
    keys = random.wrap_key_data(jnp.from_dlpack(mine))
    bits = olympus.jit(random.key_data)
    for number in (0, 5):
        mine[:] = number
        np.testing.assert_array_equal(bits(keys), np.full(2, number))
