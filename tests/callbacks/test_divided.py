"""Callbacks in programs over several devices."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.experimental import io_callback
from olympus.sharding import (
    AxisType,
    NamedSharding,
    PartitionSpec,
    SingleDeviceSharding,
)
from tests.sharding.meshes import divide, mesh

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
VALUES = np.arange(16.0, dtype="float32").reshape(8, 2)


@pytest.fixture
def x():
    return divide(VALUES, "x", "y")


def type_of(x):
    return olympus.ShapeDtypeStruct(x.shape, x.dtype)


def double(seen, calls=olympus.pure_callback):
    """A function that doubles its argument on the host, and notes its shapes."""

    def host(a):
        a = np.asarray(a)
        seen.append(a.shape)
        return a * 2

    return lambda x: calls(host, type_of(x), x)


def map_over(f):
    return olympus.shard_map(
        f, mesh=mesh(4, 2), in_specs=P("x", "y"), out_specs=P("x", "y")
    )


PROGRAMS = {
    "alone": (lambda f: f, 1),
    "between operations": (lambda f: lambda x: f(x + 1) - 2, 1),
    "in a loop": (
        lambda f: lambda x: lax.fori_loop(0, 3, lambda i, x: f(x) / 2, f(x)), 4
    ),
    "in a branch": (lambda f: lambda x: lax.cond(x.sum() > 0, f, jnp.sin, x), 1),
    "in a jitted function": (lambda f: lambda x: olympus.jit(f)(x), 1),
    "of each part": (map_over, 8),
    "of each part, beside a sum": (
        lambda f: map_over(lambda x: f(x) + 0 * lax.psum(x, ("x", "y"))), 8
    ),
}  # fmt: skip


@pytest.mark.parametrize("calls", [olympus.pure_callback, io_callback])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name, calls, x):
    make, count = PROGRAMS[name]
    seen = []
    out = olympus.jit(make(double(seen, calls)))(x)
    np.testing.assert_array_equal(out, VALUES * 2)
    assert seen == ([(8, 2)] if count < 8 else [(2, 1)]) * count


@pytest.mark.parametrize("calls", [olympus.pure_callback, io_callback])
@pytest.mark.parametrize("kinds", ["explicit", "of both types"])
def test_explicit_axes(calls, kinds):
    last = AxisType.Explicit if kinds == "explicit" else AxisType.Auto
    over = olympus.make_mesh((4, 2), ("x", "y"), (AxisType.Explicit, last))
    x = olympus.device_put(VALUES, NamedSharding(over, P("x", "y")))
    seen, types = [], []

    def f(x):
        out = double(seen, calls)(x)
        types.append(olympus.typeof(out).short())
        return out, out + x

    out, total = olympus.jit(f)(x)
    np.testing.assert_array_equal(out, VALUES * 2)
    np.testing.assert_array_equal(total, VALUES * 3)
    assert seen == [(8, 2)]
    assert types == ["f32[8,2]"]
    assert out.sharding.is_fully_replicated
    assert total.sharding == x.sharding


def test_explicit_axes_of_batches():
    over = olympus.make_mesh((8,), ("x",), (AxisType.Explicit,))
    x = olympus.device_put(VALUES, NamedSharding(over, P("x")))
    row = olympus.ShapeDtypeStruct((2,), "float32")
    for method in ("expand_dims", "broadcast_all"):
        f = lambda x: olympus.pure_callback(  # noqa: E731
            lambda a: np.asarray(a) * 2,
            row,
            x,
            vmap_method=method,  # noqa: B023
        )
        np.testing.assert_array_equal(olympus.jit(olympus.vmap(f))(x), VALUES * 2)


def test_explicit_axes_of_foreign_functions():
    over = olympus.make_mesh((4, 2), ("x", "y"), (AxisType.Explicit,) * 2)
    matrix = np.eye(8, dtype="float32") * 4 + 1
    x = olympus.device_put(matrix, NamedSharding(over, P("x", "y")))
    info = olympus.ShapeDtypeStruct((), "int32")
    factor = olympus.ffi.ffi_call("lapack_spotrf_ffi", (type_of(x), info))
    out, _ = olympus.jit(lambda x: factor(x, uplo=np.uint8(ord("L"))))(x)
    expected = np.linalg.cholesky(matrix)
    np.testing.assert_allclose(np.triu(out).T, expected, rtol=1e-5)  # by columns
    assert olympus.typeof(out).short() == "f32[8,8]"


@pytest.mark.parametrize("calls", [olympus.pure_callback, io_callback])
def test_the_device_that_calls(calls, x):
    def f(x, device):
        chosen = SingleDeviceSharding(device)
        return calls(np.asarray, type_of(x), x, sharding=chosen)

    jitted = olympus.jit(f, static_argnums=1)
    for device in mesh(4, 2).flat_devices[::3]:
        np.testing.assert_array_equal(jitted(x, device), VALUES)
    np.testing.assert_array_equal(f(x, x.sharding.mesh.flat_devices[1]), VALUES)
    small = divide(VALUES, "x", over=mesh(4))
    with pytest.raises(ValueError, match=r"a device of the program, got cpu:7"):
        jitted(small, olympus.devices()[7])
    with pytest.raises(TypeError, match="must be a SingleDeviceSharding, got Named"):
        calls(np.asarray, type_of(x), x, sharding=x.sharding)


def test_arguments_outside_of_jit_are_whole(x):
    seen = []

    def host(a, keys):
        seen.append((a.shape, len(a.sharding.device_set), keys.shape, keys.dtype))
        return a * 2

    keys = divide_keys(olympus.random.split(olympus.random.key(0), 8))
    out = olympus.pure_callback(host, type_of(x), x, keys)
    np.testing.assert_array_equal(out, VALUES * 2)
    olympus.debug.callback(host, x, keys)
    assert seen == [((8, 2), 1, (8,), keys.dtype)] * 2


def divide_keys(keys):
    return olympus.device_put(keys, NamedSharding(mesh(4, 2), P("x")))


@pytest.mark.parametrize("dtype", ["bfloat16", "int4", "bool", "complex64", "int32"])
def test_dtypes_and_several_results(dtype, x):
    kind = olympus.ShapeDtypeStruct(x.shape, dtype)
    number = olympus.ShapeDtypeStruct((), "float32")

    def host(a):
        return {"same": np.asarray(a), "size": np.float32(np.asarray(a).size)}

    f = olympus.jit(
        lambda x: olympus.pure_callback(host, {"same": kind, "size": number}, x)
    )
    given = x.astype(dtype)
    out = f(given)
    np.testing.assert_array_equal(out["same"], np.asarray(given))
    assert float(out["size"]) == 16


def test_printing(x, capfd):
    olympus.jit(lambda x: (olympus.debug.print("whole {}", x.sum()), x)[1])(x)
    olympus.effects_barrier()
    assert capfd.readouterr().out == "whole 120.0\n"
    show = lambda x: (olympus.debug.print("part {}", x.sum()), x)[1]  # noqa: E731
    olympus.jit(map_over(show))(x)
    olympus.effects_barrier()
    parts = VALUES.reshape(4, 2, 2).sum(1).ravel()
    expected = sorted(f"part {value}" for value in parts)
    assert sorted(capfd.readouterr().out.splitlines()) == expected


def test_debugging_of_each_part(x):
    seen = []

    def host(a, keys, number):
        seen.append((float(np.asarray(a).sum()), keys.shape, int(number)))

    def f(x, keys):
        olympus.debug.callback(host, x, keys, 3, partitioned=True)
        return x

    keys = divide_keys(olympus.random.split(olympus.random.key(0), 8))
    olympus.jit(f)(x, keys)
    olympus.effects_barrier()
    parts = VALUES.reshape(4, 2, 2).sum(1).ravel()
    assert sorted(seen) == sorted([(value, (2,), 3) for value in parts])


def test_debugging_of_each_part_of_batches(x):
    seen = []
    rows = olympus.vmap(
        lambda row: olympus.debug.callback(
            lambda a: seen.append(float(np.asarray(a).sum())), row, partitioned=True
        )
    )
    olympus.jit(lambda x: (rows(x), x)[1])(x)
    olympus.effects_barrier()
    assert sorted(seen) == VALUES.ravel().tolist()

    both = olympus.vmap(
        lambda *row: olympus.debug.callback(print, *row, partitioned=True)
    )
    with pytest.raises(RuntimeError, match="all parts must have one size along"):
        olympus.jit(lambda x, y: (both(x, y), x)[1])(x, divide(VALUES))


def test_debugging_of_each_part_in_order_is_refused(x):
    f = lambda x: olympus.debug.print("{}", x, partitioned=True, ordered=True)  # noqa: E731
    with pytest.raises(NotImplementedError, match="every device calls, in no order"):
        olympus.jit(lambda x: (f(x), x)[1])(x)


def test_callbacks_that_compute_and_call_back(x):
    inner = olympus.jit(lambda a: olympus.pure_callback(np.sin, type_of(a), a))

    def host(a):
        return np.asarray(inner(a).sum() + float(inner(x).sum()) + a)

    for make in (lambda f: f, map_over):
        body = lambda x: olympus.pure_callback(host, type_of(x), x)  # noqa: E731
        out = np.asarray(olympus.jit(make(body))(divide(np.zeros((8, 2)), "x", "y")))
        np.testing.assert_allclose(out, np.sin(VALUES).sum(), rtol=1e-4)


@pytest.mark.parametrize("make", [lambda f: f, map_over])
def test_a_callback_that_raises(make, x):
    calls = []

    def host(a):
        calls.append(1)
        raise KeyError("mine")

    body = lambda x: olympus.pure_callback(host, type_of(x), x) + 1  # noqa: E731
    f = olympus.jit(make(body))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="raised KeyError: 'mine'") as caught:
            f(x)
        assert isinstance(caught.value.__cause__, KeyError)
    assert len(calls) >= 2


def test_two_threads_and_an_error_in_one(x):
    barrier = threading.Barrier(2)

    def host(a):
        barrier.wait(20)
        if np.asarray(a).sum() == 0:
            raise ValueError("zeros")
        return np.asarray(a)

    f = olympus.jit(lambda x: olympus.pure_callback(host, type_of(x), x))
    outcomes = {}

    def run(name, value):
        try:
            outcomes[name] = np.asarray(f(value))
        except RuntimeError as error:
            outcomes[name] = error

    threads = [
        threading.Thread(target=run, args=pair)
        for pair in (("good", x), ("bad", divide(np.zeros((8, 2)), "x", "y")))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    np.testing.assert_array_equal(outcomes["good"], VALUES)
    assert "ValueError: zeros" in str(outcomes["bad"])


def test_programs_of_one_text_call_their_own(x):
    def make(k):
        return olympus.jit(
            lambda x: olympus.pure_callback(lambda a: np.asarray(a) * k, type_of(x), x)
        )

    for k, f in [(k, make(k)) for k in (2, 3)]:
        np.testing.assert_array_equal(f(x), VALUES * np.float32(k))


def test_donation_derivatives_and_batches(x):
    f = double([])
    y = x + 0
    np.testing.assert_array_equal(olympus.jit(f, donate_argnums=0)(y), VALUES * 2)
    assert y.is_deleted()
    loss = lambda x: (f(lax.stop_gradient(x)) * x).sum()  # noqa: E731
    np.testing.assert_array_equal(olympus.jit(olympus.grad(loss))(x), VALUES * 2)
    rows = lambda x: olympus.pure_callback(  # noqa: E731
        lambda a: np.asarray(a) * 2, type_of(x), x, vmap_method="sequential"
    )
    np.testing.assert_array_equal(olympus.jit(olympus.vmap(rows))(x), VALUES * 2)


def test_what_is_refused(x):
    partly = olympus.shard_map(
        double([]), mesh=mesh(4, 2), in_specs=P("x"), out_specs=P("x"), axis_names={"x"}
    )
    message = "must be of all axes of the mesh, got axis_names without 'y'"
    with pytest.raises(NotImplementedError, match=message):
        olympus.jit(partly)(x)
