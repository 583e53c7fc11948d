"""Calls where there are several devices: on those that arrays are committed to."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, nn
from olympus._src import native
from olympus._src.interpreters import evaluate
from olympus.sharding import (
    AxisType,
    NamedSharding,
    PartitionSpec,
    SingleDeviceSharding,
)

pytestmark = pytest.mark.eight_devices

needs_native = pytest.mark.skipif(
    native.calls is None, reason="the part in C was not built here"
)

F32 = np.float32
VALUES = np.array([1.0, -2.0, 3.0, 0.5], F32)

# Functions that are one program where nothing is traced, of one array.
FUNCTIONS = {
    "negative": (lambda x: -x, np.negative),
    "times": (lambda x: x * 2 + 1, lambda x: x * F32(2) + F32(1)),
    "from": (lambda x: 2 - x, lambda x: F32(2) - x),
    "after a number": (lambda x: jnp.maximum(0, x), lambda x: np.maximum(F32(0), x)),
    "NumPy": (lambda x: x + VALUES, lambda x: x + VALUES),
    "before NumPy": (lambda x: VALUES * x, lambda x: VALUES * x),
    "wide NumPy": (lambda x: x + VALUES.astype("float64"), lambda x: x + VALUES),
    "a NumPy number": (lambda x: x * F32(3), lambda x: x * F32(3)),
    "median": (jnp.median, np.median),
    "remainder": (lambda x: x % 3, lambda x: x % F32(3)),
    "clip": (lambda x: jnp.clip(x, 0, 1), lambda x: np.clip(x, 0, 1)),
    "where": (lambda x: jnp.where(x > 1, x, 0.0), lambda x: np.where(x > 1, x, F32(0))),
    "outer": (lambda x: jnp.outer(x, x), lambda x: np.outer(x, x)),
    "stack": (lambda x: jnp.stack([x, x]), lambda x: np.stack([x, x])),
    "sum": (lambda x: x.sum(), np.sum),
    "sorted": (jnp.sort, np.sort),
    "softmax": (nn.softmax, lambda x: np.exp(x) / np.exp(x).sum()),
    "part": (lambda x: x[1:3], lambda x: x[1:3]),
    "split": (lambda x: jnp.split(x, 2)[1], lambda x: x[2:]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("at", [0, 3], ids=["default", "other"])
def test_functions_run_where_arrays_are_committed(name, at):
    fun, expected = FUNCTIONS[name]
    device = olympus.devices()[at]
    # Enough calls that C knows them, and that kernels are looked for.
    for x in (olympus.device_put(VALUES, device), jnp.asarray(VALUES)):
        for _ in range(12):
            out = fun(x)
            assert out.committed == x.committed
            assert out.devices() == x.devices()
            np.testing.assert_allclose(out, expected(VALUES), rtol=1e-6)


@pytest.mark.parametrize(
    "fun",
    [
        jnp.nonzero,
        jnp.flatnonzero,
        jnp.argwhere,
        lambda x: jnp.where(x > 0),
        lambda x: jnp.unique(x, return_inverse=True, return_counts=True),
        lambda x: jnp.unique_values(x),
        lambda x: jnp.union1d(x, x),
        lambda x: jnp.intersect1d(x, x[:2], return_indices=True),
        lambda x: jnp.setdiff1d(x, x[:2]),
        lambda x: jnp.setxor1d(x, x[:2]),
        lambda x: x[x > 0],
        lambda x: jnp.linspace(x[0], x[2], 5, retstep=True),
        lambda x: jnp.linspace(x[0], 3, 5, axis=0),
        lambda x: jnp.arange(x[0], x[2], 0.5),
        lambda x: jnp.histogram(x, 3),
    ],
)
def test_what_the_host_computes_is_where_arrays_are_committed(fun):
    device = olympus.devices()[3]
    outs = olympus.tree.leaves(fun(olympus.device_put(VALUES, device)))
    expected = olympus.tree.leaves(fun(jnp.asarray(VALUES)))
    for out, value in zip(outs, expected, strict=True):
        assert out.devices() == {device}
        assert out.committed
        assert not value.committed
        np.testing.assert_array_equal(out, value)


@needs_native
def test_functions_on_other_devices_are_found_in_c(monkeypatch):
    x = olympus.device_put(VALUES, olympus.devices()[2])

    def work():
        return x * 2 + jnp.outer(x, x).sum() - jnp.median(x)

    for _ in range(12):
        expected = work()

    def refuse(*args):
        raise AssertionError("the Python path was taken")

    monkeypatch.setattr(evaluate, "apply_primitive", refuse)
    monkeypatch.setattr(evaluate.concrete_arrays, "common_device", refuse)
    np.testing.assert_array_equal(work(), expected)


@pytest.mark.parametrize("count", [1, 12])
def test_operands_of_two_devices_are_refused(count):
    first, second = (olympus.device_put(VALUES, d) for d in olympus.devices()[:2])
    for _ in range(count):
        first + first
        jnp.outer(second, second)
    for _ in range(count):
        with pytest.raises(ValueError, match="committed to"):
            first + second
        with pytest.raises(ValueError, match="committed to"):
            jnp.outer(first, second)


def test_uncommitted_operands_follow():
    device = olympus.devices()[5]
    x, y = olympus.device_put(VALUES, device), jnp.asarray(VALUES)
    for _ in range(12):
        for out in (x + y, y + x, jnp.outer(y, x), lax.add(y, x), jnp.stack([y, x])):
            assert out.devices() == {device}
            assert out.committed
    assert y.devices() == {olympus.devices()[0]}
    with olympus.default_device(olympus.devices()[4]):
        z = jnp.asarray(VALUES) + 1
    for _ in range(12):
        # Uncommitted ones of another device are brought to the default one.
        out = jnp.outer(z, z)
        assert out.devices() == {olympus.devices()[0]}
        np.testing.assert_array_equal(out, np.outer(VALUES + 1, VALUES + 1))
        with olympus.default_device(olympus.devices()[4]):
            assert (z * 2).devices() == {olympus.devices()[4]}
        assert (z * 2).devices() == {olympus.devices()[0]}


def test_arrays_over_a_mesh_beside_numbers():
    mesh = olympus.make_mesh((4,), ("x",))
    x = olympus.device_put(VALUES, NamedSharding(mesh, PartitionSpec("x")))
    for _ in range(12):
        for out in (x * 2, 2 * x, jnp.maximum(0, x), x + VALUES, jnp.clip(x, 0, 1)):
            assert len(out.devices()) == 4
    np.testing.assert_array_equal(x * 2 + VALUES, 3 * VALUES)


@pytest.mark.parametrize("axis_types", [AxisType.Auto, AxisType.Explicit])
def test_functions_of_divided_arrays_divide_alike_in_each_call(axis_types):
    mesh = olympus.make_mesh((4,), ("x",), axis_types=(axis_types,))
    for spec in (PartitionSpec("x"), PartitionSpec()):
        x = olympus.device_put(VALUES, NamedSharding(mesh, spec))
        for fun in (jnp.negative, jnp.sum, jnp.tanh, jnp.square):
            first = fun(x)
            for _ in range(10):
                out = fun(x)
                assert out.sharding == first.sharding
                assert out.aval is first.aval
                assert out.committed == first.committed
                np.testing.assert_array_equal(out, first)


# -- jit -------------------------------------------------------------------------------


def _is_known(f) -> bool:
    return len(f._state.native_entries) > 0


@needs_native
def test_values_of_the_host_beside_committed_arrays():
    device = olympus.devices()[6]
    x = olympus.device_put(VALUES, device)
    f = olympus.jit(lambda a, b: jnp.sum(a * b))
    for a, b in ((x, 2.0), (2.0, x), (x, VALUES), (VALUES, x), (x, F32(2)), (x, True)):
        for _ in range(4):
            out = f(a, b)
            assert out.devices() == {device}
        np.testing.assert_allclose(out, np.sum(np.asarray(a) * np.asarray(b)))
    g = olympus.jit(lambda tree: tree["a"][0] * tree["b"])
    for _ in range(4):
        assert g({"a": [x], "b": 2.0}).devices() == {device}
    assert _is_known(f)
    assert _is_known(g)
    for _ in range(4):  # a value that comes before any committed array is met
        assert g({"a": [2.0], "b": x}).devices() == {device}


def test_values_of_the_host_beside_unused_arrays():
    f = olympus.jit(lambda x, unused: x * 2)
    for device in olympus.devices()[:3]:
        unused = olympus.device_put(VALUES, device)
        for x in (VALUES, 3.0):
            for _ in range(4):
                out = f(x, unused)
                np.testing.assert_array_equal(out, 2 * np.asarray(x, F32))
                assert out.devices() == {olympus.devices()[0]}


@needs_native
def test_shardings_of_arguments_and_results_are_known():
    one = SingleDeviceSharding(olympus.devices()[3])
    mesh = olympus.make_mesh((4,), ("x",))
    whole, parts = (NamedSharding(mesh, PartitionSpec(*a)) for a in ((), ("x",)))
    x = jnp.asarray(VALUES)
    for place, other in ((one, None), (parts, whole), (whole, parts)):
        y = olympus.device_put(x, place)
        f = olympus.jit(lambda x: x + 1, in_shardings=place, out_shardings=place)
        g = olympus.jit(lambda x: x + 1, out_shardings=place)
        for _ in range(4):
            for h in (f, g):
                for arg in (y, x, VALUES):
                    out = h(arg)
                    assert out.sharding.is_equivalent_to(place, 1)
                    np.testing.assert_array_equal(out, VALUES + 1)
        assert _is_known(f)
        assert _is_known(g)
        if other is not None:
            for _ in range(4):
                with pytest.raises(ValueError, match="divided as the option says"):
                    f(olympus.device_put(x, other))
                assert f(y).sharding.is_equivalent_to(place, 1)
        else:
            apart = olympus.device_put(x, olympus.devices()[1])
            for _ in range(4):
                with pytest.raises(ValueError, match="device"):
                    g(apart)


@needs_native
def test_donated_arguments_with_shardings():
    mesh = olympus.make_mesh((4,), ("x",))
    parts = NamedSharding(mesh, PartitionSpec("x"))
    f = olympus.jit(
        lambda x, y: (x + y, y),
        in_shardings=(parts, None),
        out_shardings=(parts, None),
        donate_argnums=0,
    )
    x = olympus.device_put(VALUES, parts)
    for i in range(6):
        before = x
        x, _ = f(x, 1.0)
        assert before.is_deleted()
        np.testing.assert_array_equal(x, VALUES + i + 1)
    with pytest.raises(RuntimeError, match="delete"):
        f(before, 1.0)


def test_dicts_of_numbers():
    f = olympus.jit(lambda d: d[1] - d[2])
    x, y = jnp.float32(1), jnp.float32(3)
    for _ in range(3):
        assert f({1: x, 2: y}) == -2
        assert f({2: y, 1: x}) == -2
        assert f({2: x, 1: y}) == 2
    if native.calls is not None:
        assert _is_known(f)
