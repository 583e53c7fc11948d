"""Calls of programs over a mesh that were made before, with other arguments."""

from __future__ import annotations

import gc
import threading

import fresh
import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus._src.runtime import executable
from olympus.sharding import NamedSharding, PartitionSpec
from tests.sharding.meshes import mesh

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
VALUES = np.arange(64, dtype=np.float32).reshape(8, 8)


def over(*entries, sizes=(4, 2)):
    return NamedSharding(mesh(*sizes), P(*entries))


def test_arguments_divided_in_another_way_are_put_in_place():
    f = olympus.jit(lambda x, y: x - 2 * y, in_shardings=(over("x"), over("y")))
    expected = VALUES - 2 * VALUES.T
    for _ in range(3):
        right = olympus.device_put(VALUES, over("x"))
        np.testing.assert_array_equal(
            f(right, olympus.device_put(VALUES.T, over("y"))), expected
        )
        for spec in [("y",), ("x", "y"), (), (None, "x")]:
            # The parts of some have the right shape, and the wrong rows.
            other = olympus.device_put(jnp.asarray(VALUES.T), over(*spec))
            if other.committed:
                other = jnp.asarray(np.asarray(other))
            np.testing.assert_array_equal(f(right, other), expected)


def test_compiled_programs_take_arguments_of_equal_divisions():
    x = olympus.device_put(VALUES, over("x", None))
    compiled = olympus.jit(lambda x: x * 3).lower(x).compile()
    for spec in [("x",), ("x", None)]:
        y = olympus.device_put(VALUES, over(*spec))
        np.testing.assert_array_equal(compiled(y), VALUES * 3)


def test_deleted_arguments_are_refused_by_known_calls():
    f = olympus.jit(lambda x, y: (x + y, {"a": x}))
    x, y = (olympus.device_put(VALUES, over("x")) for _ in range(2))
    for _ in range(3):
        f(x, y)
    y.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        f(x, y)
    np.testing.assert_array_equal(f(x, x)[0], 2 * VALUES)


def test_donated_arguments_are_gone_and_taken_once():
    f = olympus.jit(lambda x, y: x + y, donate_argnums=0)
    for _ in range(3):
        x, y = (olympus.device_put(VALUES, over("x", "y")) for _ in range(2))
        np.testing.assert_array_equal(f(x, y), 2 * VALUES)
        assert x.is_deleted()
        assert not y.is_deleted()
    with pytest.raises(RuntimeError, match="one argument only"):
        f(y, y)


def test_results_of_all_forms():
    def f(x, n):
        return {"b": [x + n, None], "a": (x, x[0])}, n * 2

    g = olympus.jit(f, static_argnums=1)
    x = olympus.device_put(VALUES, over("x"))
    for _ in range(3):
        (out, number) = g(x, 2)
        assert list(out) == ["b", "a"] or list(out) == ["a", "b"]
        np.testing.assert_array_equal(out["b"][0], VALUES + 2)
        assert out["b"][1] is None
        np.testing.assert_array_equal(out["a"][1], VALUES[0])
        assert int(number) == 4
        assert out["a"][0].sharding.is_equivalent_to(x.sharding, 2)


def test_programs_without_arguments_and_without_results():
    zeros = olympus.jit(lambda: jnp.zeros((8, 2)), out_shardings=over("x"))
    nothing = olympus.jit(lambda x: None)
    x = olympus.device_put(VALUES, over("x"))
    for _ in range(3):
        np.testing.assert_array_equal(zeros(), np.zeros((8, 2)))
        assert nothing(x) is None


def test_few_programs_are_in_flight():
    f = olympus.jit(lambda x: jnp.sum(x @ x.T))
    x = olympus.device_put(VALUES, over("x", "y"))
    outs = [f(x) for _ in range(200)]
    assert len(executable.in_flight._tokens) <= 16
    np.testing.assert_allclose(np.asarray(outs), np.sum(VALUES @ VALUES.T))


def test_a_thousand_collective_programs_that_nobody_waits_for():
    """In a process of their own, since a dead-lock of devices ends it."""
    fresh.run(
        """
        import threading
        import numpy as np
        import olympus
        import olympus.numpy as jnp
        from olympus import lax
        from olympus.sharding import PartitionSpec as P

        mesh = olympus.make_mesh((8,), ("x",))
        total = lambda x: x * 0 + lax.psum(x, "x")
        mapped = olympus.shard_map(total, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
        f, again = olympus.jit(mapped), olympus.jit(mapped, donate_argnums=0)
        ones = jnp.ones(8)

        def run(n):
            outs = [f(ones) for _ in range(n)]
            assert all((np.asarray(out) == 8).all() for out in outs)

        run(1000)
        threads = [threading.Thread(target=run, args=(250,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        x = f(ones) / 8
        for _ in range(1000):
            x = again(x) / 8
        assert (np.asarray(x) == 1).all()
        """,
        OLYMPUS_NUM_CPU_DEVICES="8",
    )


def test_threads_that_call_one_program():
    f = olympus.jit(lambda x, y: (x + y, x * y))
    rows = olympus.device_put(VALUES, over("x"))
    columns = olympus.device_put(VALUES, over(None, "y"))
    failures = []

    def work(x, y):
        try:
            for _ in range(40):
                total, product = f(x, y)
                np.testing.assert_array_equal(total, VALUES + VALUES)
                np.testing.assert_array_equal(product, VALUES * VALUES)
        except Exception as error:
            failures.append(error)

    orders = [(rows, columns), (columns, rows), (rows, rows), (columns, columns)]
    threads = [threading.Thread(target=work, args=order) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_results_are_freed():
    f = olympus.jit(lambda x: [x + 1, x - 1])
    x = olympus.device_put(VALUES, over("x"))
    outs = [f(x) for _ in range(40)]
    olympus.block_until_ready(outs)
    before = len(olympus.live_arrays())
    del outs
    gc.collect()
    assert len(olympus.live_arrays()) <= before - 60
