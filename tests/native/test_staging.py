"""NumPy arguments in memory that is used again: nobody ever sees the next argument."""

from __future__ import annotations

import threading

import fresh
import ml_dtypes
import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax
from olympus._src import native
from olympus._src.runtime import client, guards, staging


@pytest.fixture
def needs_staging():
    """Skips where nothing is staged: without C, or after programs over a mesh."""
    if native.calls is None or client.several_devices() or guards.are_active():
        pytest.skip("needs the part in C and one device")


# Programs that give back what they are given, or views of it in XLA's sense.
PROGRAMS = {
    "identity": lambda x: x,
    "twice": lambda x: (x, x),
    "reshape": lambda x: x.reshape(-1),
    "transpose": lambda x: x.T,
    "slice": lambda x: x[1:],
    "bits": lambda x: lax.bitcast_convert_type(x, onp.uint32),
    "branch": lambda x: lax.cond(x[0, 0] > 1e9, lambda y: y + 1, lambda y: y, x),
    "loop": lambda x: lax.fori_loop(0, 3, lambda i, y: y, x),
    "scan": lambda x: lax.scan(lambda c, row: (c, row), x[0], x),
    "inner": lambda x: olympus.jit(lambda y: y)(x),
    "gradient": olympus.value_and_grad(lambda x: (x * x).sum()),
    "updated": lambda x: x.at[0].set(7),
    "in a dict": lambda x: {"a": x, "b": [x + 1, None]},
}


def _values(k: int, dtype=np.float32) -> np.ndarray:
    return np.arange(12).reshape(3, 4).astype(dtype) + np.asarray(k, dtype)


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_stay_when_the_memory_is_used_again(name):
    fun = olympus.jit(PROGRAMS[name])
    expected = [PROGRAMS[name](onp.asarray(_values(k))) for k in range(12)]
    results = [fun(_values(k)) for k in range(12)]
    views = [olympus.tree.map(np.asarray, result) for result in results]
    for k in range(20):
        fun(_values(100 + k))
    for result, view, value in zip(results, views, expected, strict=True):
        olympus.tree.map(np.testing.assert_array_equal, result, value)
        olympus.tree.map(np.testing.assert_array_equal, view, value)


@pytest.mark.skipif(native.calls is None, reason="the part in C was not built here")
def test_arguments_are_staged():
    fresh.run(
        """
        import numpy as np
        import olympus
        from olympus._src.runtime import staging

        def slots():
            return [slot for row in staging.free_slots.values() for slot in row]

        fun = olympus.jit(lambda x: x + 1)
        for k in range(4):
            assert (fun(np.full((3, 5), k, np.float32)) == k + 1).all()
        (slot,) = slots()
        for k in range(4):
            assert (fun(np.full((3, 5), k, np.float32)) == k + 1).all()
        assert slots() == [slot]
        """,
        OLYMPUS_NUM_CPU_DEVICES="1",
        OLYMPUS_HOST_KERNELS_AFTER="-1",
    )


def test_arguments_may_change_after_the_call():
    fun = olympus.jit(lambda x: x * 2)
    x = np.zeros((2, 3), np.float32)
    results = []
    for k in range(10):
        x[:] = k
        results.append(fun(x))
        x[:] = -1
    for k, result in enumerate(results):
        np.testing.assert_array_equal(result, 2 * k)


@pytest.mark.parametrize(
    "make",
    [
        lambda k: _values(k)[:, ::2],
        lambda k: _values(k).T,
        lambda k: np.asfortranarray(_values(k)),
        lambda k: _values(k, ">f4"),
        lambda k: _values(k, ml_dtypes.bfloat16),
        lambda k: _values(k, ml_dtypes.int4),
        lambda k: _values(k % 2, np.bool_),
        lambda k: _values(k, np.float16),
        lambda k: _values(k, np.complex64),
        lambda k: _values(k, np.int8),
        lambda k: _values(k, np.int64),
        lambda k: np.float32(k),
        lambda k: np.int32(k),
        lambda k: np.bool_(k % 2),
        lambda k: np.array(k, np.float32),
        lambda k: np.zeros((k % 2, 0), np.float32),
        lambda k: np.broadcast_to(np.float32(k), (3, 4)),
    ],
)
def test_arguments_of_all_kinds_are_taken(make):
    fun = olympus.jit(lambda x, y: (x, (y, x)))
    results = [fun(make(k), y=make(k + 1)) for k in range(8)]
    for k, (first, (second, third)) in enumerate(results):
        for value, given in ((first, k), (second, k + 1), (third, k)):
            expected = onp.asarray(make(given))
            assert value.aval == expected.aval
            np.testing.assert_array_equal(value, expected)


def test_one_array_may_be_several_arguments():
    fun = olympus.jit(lambda a, b, c: (a - b, a + c))
    for k in range(6):
        x = np.full(3, k, np.float32)
        zero, double = fun(x, x, x)
        np.testing.assert_array_equal(zero, 0)
        np.testing.assert_array_equal(double, 2 * k)


def test_more_arguments_than_slots():
    fun = olympus.jit(lambda *xs: list(xs))
    for k in range(6):
        out = fun(*[np.full(2, 100 * k + i, np.int32) for i in range(30)])
        for i, x in enumerate(out):
            np.testing.assert_array_equal(x, 100 * k + i)


def _run_long(x):
    """Its argument; the program runs on when its call has returned."""
    m = onp.eye(300)
    busy = lax.fori_loop(0, 30, lambda i, y: (y @ m) * 0.5, m)
    return x + lax.optimization_barrier((0 * busy[0, 0], x))[0]


def test_programs_that_run_on_are_given_memory_of_their_own():
    fun = olympus.jit(lambda x: (_run_long(x), x))
    xs = [np.full(50, k, np.float32) for k in range(24)]
    results = [fun(x) for x in xs]  # none is waited for
    for x, (late, given) in zip(xs, results, strict=True):
        np.testing.assert_array_equal(late, x)
        np.testing.assert_array_equal(given, x)


def test_arguments_beside_one_that_is_not_computed():
    long = olympus.jit(_run_long)
    fun = olympus.jit(lambda late, x: (late + x, x))
    zeros = onp.zeros(4)
    for k in range(3):  # ends at once, and so is staged
        fun(zeros, np.full(4, k, np.float32))
    results = [fun(long(zeros), np.full(4, k, np.float32)) for k in range(30)]
    for k, (total, x) in enumerate(results):
        np.testing.assert_array_equal(total, k)
        np.testing.assert_array_equal(x, k)


@pytest.mark.parametrize("fun", [onp.sin, onp.sum, onp.add, onp.matmul, onp.clip])
def test_functions_outside_of_jit(fun):
    def given(k):
        x = np.full((2, 2), 0.1 * k, np.float32)
        return (x,) if fun in (onp.sin, onp.sum) else (x, x)

    results = [fun(*given(k)) for k in range(10)]
    for k, result in enumerate(results):
        expected = fun(*map(onp.asarray, given(k)))
        assert result.aval == expected.aval
        np.testing.assert_array_equal(result, expected)


def test_callbacks_may_keep_their_arguments():
    kept = []

    def keep(x):
        kept.append(np.asarray(x))
        return np.asarray(x)

    shape = olympus.ShapeDtypeStruct((3,), onp.float32)
    fun = olympus.jit(lambda x: olympus.pure_callback(keep, shape, x))
    noted = olympus.jit(lambda x: (olympus.debug.callback(keep, x), x)[1])
    for k in range(10):
        x = np.full(3, k, np.float32)
        np.testing.assert_array_equal(fun(x), k)
        np.testing.assert_array_equal(noted(x), k)
    olympus.effects_barrier()
    assert [float(x[0]) for x in kept] == [k for k in range(10) for _ in range(2)]


def test_donated_arguments():
    fun = olympus.jit(lambda x: x + 1, donate_argnums=0)
    results = [fun(np.full(5, k, np.float32)) for k in range(10)]
    for k, result in enumerate(results):
        np.testing.assert_array_equal(result, k + 1)


def test_compiled_programs_and_methods():
    class Model:
        @olympus.jit
        def __call__(self, x):
            return x * 3

    olympus.tree_util.register_static(Model)
    model, x = Model(), np.zeros(7, np.float32)
    compiled = olympus.jit(lambda x: x + 1).lower(x).compile()
    results = [(model(x + k), compiled(x + k)) for k in range(10)]
    for k, (first, second) in enumerate(results):
        np.testing.assert_array_equal(first, 3 * k)
        np.testing.assert_array_equal(second, k + 1)


def test_settings_are_part_of_the_type():
    fun = olympus.jit(lambda x: x + 1)
    x = np.arange(3)  # 64 bits
    for _ in range(4):
        assert fun(x).dtype == np.int32
        with olympus.enable_x64(True):
            assert fun(x).dtype == np.int64


def test_a_wrong_array_is_told_by_name():
    fun = olympus.jit(lambda x, y: x)
    fun(np.ones(2), np.ones(2))
    fun(np.ones(2), np.ones(2))
    for bad in (np.array("a"), np.zeros(2, "datetime64[s]"), np.zeros(2, object)):
        with pytest.raises(TypeError, match="y"):
            fun(np.ones(2, np.float32), bad)


def test_threads_never_share_a_slot():
    fun = olympus.jit(lambda x, y: (x + y, x - y))
    shape, wrong = (17,), []

    def run(seed):
        rng = np.random.default_rng(seed)
        kept = []
        for _ in range(800):
            x, y = rng.integers(0, 1000, (2, *shape)).astype(np.float32)
            kept.append((x, y, *fun(x, y)))
        for x, y, total, difference in kept:
            if not (np.array_equal(total, x + y) and np.array_equal(difference, x - y)):
                wrong.append((seed, x, y))

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_slots_are_few_and_small(needs_staging):
    fun = olympus.jit(lambda x: x.ravel()[:1])
    for n in range(1, 40):
        for _ in range(3):
            fun(np.zeros((n, 1000), np.float32))
    sizes = [slot[2] for row in staging.free_slots.values() for slot in row]
    assert max(sizes) <= staging.MAX_BYTES
    assert all(len(row) <= 8 for row in staging.free_slots.values())


def test_clear_caches_drops_the_slots(needs_staging):
    fun = olympus.jit(lambda x: x + 1)
    for _ in range(3):
        fun(np.ones(9, np.float32))
    assert staging.free_slots
    olympus.clear_caches()
    assert not staging.free_slots
    np.testing.assert_array_equal(fun(np.ones(9, np.float32)), 2)


def test_guards_see_every_transfer():
    fun = olympus.jit(lambda x: x + 1)
    x = np.ones(3, np.float32)
    for _ in range(4):
        fun(x)
    with olympus.transfer_guard("disallow"):
        with pytest.raises(Exception, match="isallow"):
            fun(x)
        with olympus.transfer_guard("allow"):
            assert fun(x)[0] == 2
        with pytest.raises(Exception, match="isallow"):
            fun(x)
    assert fun(x)[0] == 2
    assert not guards.are_active()


def test_guards_of_one_thread_hold_there():
    fun = olympus.jit(lambda x: x + 1)
    x = np.ones(3, np.float32)
    inside, done = threading.Event(), threading.Event()

    def guard():
        with olympus.transfer_guard_host_to_device("disallow"):
            inside.set()
            done.wait(10)

    thread = threading.Thread(target=guard)
    thread.start()
    assert inside.wait(10)
    assert guards.are_active()
    for _ in range(4):
        assert fun(x)[0] == 2  # this thread has none
    done.set()
    thread.join()
    assert not guards.are_active()


WIDE = [
    np.array([1, -2, 2**40 + 3]),
    np.array([1, 2**63 + 5], np.uint64),
    np.array([1.1, -0.0, np.nan, np.inf, 1e-42, 3.0]),
    np.arange(6.0)[::2],
    np.arange(6.0).reshape(2, 3).T,
    np.array([1, 2], np.longlong),
    np.float64(1.1),
    np.int64(-3),
]


@pytest.mark.parametrize("value", WIDE, ids=lambda x: f"{x.dtype.str}{x.shape}")
def test_wide_values_are_narrowed_as_numpy_narrows_them(value):
    narrow = {"i": np.int32, "u": np.uint32, "f": np.float32}[value.dtype.kind]
    expected = np.asarray(value).astype(narrow)
    identity = olympus.jit(lambda x: x)
    for _ in range(4):
        for out in (identity(value), onp.positive(value)):
            assert out.dtype == narrow
            assert np.asarray(out).tobytes() == expected.tobytes()


def test_an_overflow_warns_in_each_call():
    identity = olympus.jit(lambda x: x)
    for number in (1.0, 1e300, 2.0, 1e300):
        if number > 1e38:
            with pytest.warns(RuntimeWarning, match="overflow"):
                assert np.isinf(identity(np.array([number]))).all()
        else:
            assert identity(np.array([number])) == number


def test_wide_values_stay_wide_with_wide_dtypes():
    identity = olympus.jit(lambda x: x)
    for wide in (True, False, True):
        with olympus.enable_x64(wide):
            for _ in range(3):
                out = identity(np.array([1.1, 2.2]))
                assert out.dtype == (np.float64 if wide else np.float32)
                assert np.asarray(out)[0] == out.dtype.type(1.1)
