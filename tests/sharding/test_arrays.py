"""Arrays over eight devices: put, read, taken apart and put together."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.sharding import NamedSharding, PartitionSpec, SingleDeviceSharding
from tests.sharding.meshes import divide, entries, mesh

pytestmark = pytest.mark.eight_devices
P = PartitionSpec

SPECS = [(), ("x",), ("y",), (None, "x"), ("x", "y"), ("y", "x"), (("x", "y"),),
         (("y", "x"),), (None, ("x", "y"))]  # fmt: skip
DTYPES = ["float32", "bfloat16", "int8", "bool", "complex64", "int4", "float8_e4m3fn"]


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_parts_of_every_dtype(spec, dtype):
    values = np.arange(128).reshape(16, 8) % 7
    x = olympus.device_put(
        values.astype(jnp.dtype(dtype)), NamedSharding(mesh(4, 2), P(*spec))
    )
    whole = np.asarray(x)
    np.testing.assert_array_equal(whole, values.astype(jnp.dtype(dtype)))
    seen = {}
    for shard in x.addressable_shards:
        assert shard.data.devices() == {shard.device}
        np.testing.assert_array_equal(np.asarray(shard.data), whole[shard.index])
        key = str(shard.index)
        assert shard.replica_id == seen.get(key, 0)
        seen[key] = shard.replica_id + 1
    assert len(x.global_shards) == 8
    assert x.sharding.shard_shape(x.shape) == x.addressable_data(5).shape


@pytest.mark.parametrize("spec", [("x", "y"), ("y",), (None, ("x", "y")), ()], ids=str)
@pytest.mark.parametrize("order", ["C", "F", "reversed", "every second"])
def test_later_changes_of_what_was_put_do_not_show(spec, order):
    values = np.arange(32 * 16.0).reshape(32, 16)
    if order == "F":
        values = np.asfortranarray(values)
    elif order == "reversed":
        values = values[::-1, ::-1]
    elif order == "every second":
        values = np.arange(64 * 32.0).reshape(64, 32)[::2, ::2]
    expected = values.astype(np.float32)
    x = olympus.device_put(values, NamedSharding(mesh(4, 2), P(*spec)))
    y = olympus.device_put(values.view(), NamedSharding(mesh(2, 4), P(*spec)))
    parts = [np.asarray(shard.data) for shard in x.addressable_shards]
    values[...] = -1
    for array in (x, y):
        np.testing.assert_array_equal(np.asarray(array), expected)
    for part, shard in zip(parts, x.addressable_shards, strict=True):
        np.testing.assert_array_equal(part, expected[shard.index])
        with pytest.raises(ValueError, match="read-only"):
            part[...] = 0


def test_no_reading_loads_jax():
    x = divide(np.arange(8.0), "x")
    np.asarray(jnp.sin(x)), [s.data for s in x.addressable_shards], str(x), list(x)
    assert "jax" not in sys.modules


@pytest.mark.parametrize("dtype", ["float32", "bool", "bfloat16", "int4"])
@pytest.mark.parametrize("spec", [("x", "y"), (None, "y"), ("x",), ()], ids=str)
def test_arrays_without_elements(spec, dtype):
    values = np.zeros((0, 4), jnp.dtype(dtype))
    x = divide(values, *spec)
    double = olympus.jit(lambda x: x.repeat(2, 1), out_shardings=x.sharding)
    for y, shape in [(x, (0, 4)), (double(x), (0, 8)), (x.__copy__(), (0, 4))]:
        assert np.asarray(y).shape == shape
        for shard in y.addressable_shards:
            part = y.sharding.shard_shape(shape)
            assert np.asarray(shard.data).shape == part
            assert np.asarray(jnp.concatenate([shard.data, shard.data])).shape == part
            assert np.asarray(y)[shard.index].shape == part


def test_printing_iterating_indexing_and_scalars():
    x = divide(np.arange(8.0).reshape(4, 2), "x")
    assert str(x) == str(np.asarray(x))
    assert "dtype=float32" in repr(x)
    assert [r.tolist() for r in x] == np.asarray(x).tolist()
    np.testing.assert_array_equal(x[1:3], np.asarray(x)[1:3])
    assert float(x.sum()) == 28.0
    assert x[2, 1].item() == 5.0
    assert x.sum().sharding.is_fully_replicated
    assert not x.is_fully_replicated
    assert x.is_fully_addressable
    assert x.committed


def test_moving_between_shardings():
    m = mesh(4, 2)
    x = divide(np.arange(64.0).reshape(8, 8), "x", over=m)
    for spec in SPECS:
        y = olympus.device_put(x, NamedSharding(m, P(*spec)))
        assert entries(y) == spec
        np.testing.assert_array_equal(y, np.asarray(x))
    one = olympus.device_put(x, olympus.devices()[3])
    assert isinstance(one.sharding, SingleDeviceSharding)
    np.testing.assert_array_equal(one, np.asarray(x))
    other = mesh(8)
    y = olympus.device_put(x, NamedSharding(other, P("x")))
    assert y.sharding.mesh is other


def test_donated_and_aliased_puts():
    sharding = NamedSharding(mesh(8), P("x"))
    x = jnp.arange(8.0)
    y = olympus.device_put(x, sharding, donate=True)
    assert x.is_deleted()
    assert y.tolist() == list(range(8))
    z = olympus.device_put(y, sharding, may_alias=False)
    y.delete()
    assert z.tolist() == list(range(8))
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(y)


def test_trees_of_shardings():
    m = mesh(4, 2)
    tree = {"a": np.ones((8, 2)), "b": (np.zeros(4), 3)}
    out = olympus.device_put(
        tree, {"a": NamedSharding(m, P("x", "y")), "b": NamedSharding(m, P())}
    )
    assert entries(out["a"]) == ("x", "y")
    assert entries(out["b"][1]) == ()
    with pytest.raises(ValueError, match="device_put"):
        olympus.device_put(tree, {"a": NamedSharding(m, P())})
    with pytest.raises(TypeError, match="device_put device"):
        olympus.device_put(1.0, 3.5)


def test_copies_and_pickles():
    x = divide(np.arange(8), "x")
    y = x.__copy__()
    x.delete()
    assert y.tolist() == list(range(8))
    assert entries(y) == ("x",)
    assert pickle.loads(pickle.dumps(y)).tolist() == list(range(8))


def test_keys_are_divided_as_their_array():
    keys = olympus.random.split(olympus.random.key(0), 8)
    x = olympus.device_put(keys, NamedSharding(mesh(8), P("x")))
    assert entries(x) == ("x",)
    assert x.addressable_shards[3].data.shape == (1,)
    want = olympus.vmap(olympus.random.bits)(keys)
    np.testing.assert_array_equal(olympus.vmap(olympus.random.bits)(x), want)


# -- made of parts ---------------------------------------------------------------------


def test_from_a_callback():
    values = np.arange(32.0).reshape(8, 4)
    asked = []

    def part(index):
        asked.append(index)
        return values[index]

    x = olympus.make_array_from_callback(
        (8, 4), NamedSharding(mesh(4, 2), P("x")), part
    )
    np.testing.assert_array_equal(x, values)
    assert len(asked) == 4  # once for each different part
    with pytest.raises(TypeError, match=r"must have the shape \(2, 4\)"):
        olympus.make_array_from_callback(
            (8, 4), NamedSharding(mesh(4, 2), P("x")), lambda index: values
        )


def test_from_local_data_and_from_arrays():
    values = np.arange(32.0).reshape(8, 4)
    sharding = NamedSharding(mesh(4, 2), P("y", "x"))
    x = olympus.make_array_from_process_local_data(sharding, values)
    np.testing.assert_array_equal(x, values)
    parts = [s.data for s in reversed(x.addressable_shards)]
    y = olympus.make_array_from_single_device_arrays((8, 4), sharding, parts)
    np.testing.assert_array_equal(y, values)
    parts[3].delete()  # which must leave the whole alone
    donated = olympus.jit(lambda y: y + 1, donate_argnums=0)(y)
    np.testing.assert_array_equal(donated, values + 1)
    make = olympus.make_array_from_single_device_arrays
    with pytest.raises(ValueError, match="one part on each"):
        make((8, 4), sharding, parts[1:])
    with pytest.raises(TypeError, match="must have the shape"):
        make((16, 4), sharding, parts)


# -- errors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "spec", "text"),
    [
        (np.arange(10), ("x",), "pad it by 2"),
        (np.arange(8), ("x", "y"), "at most one entry for each axis"),
        (np.ones((4, 3)), ("x", "y"), "axis 1 of shape"),
    ],
)
def test_values_that_cannot_be_divided(values, spec, text):
    with pytest.raises(ValueError, match=text):
        divide(values, *spec)


def test_specs_without_a_mesh():
    with pytest.raises(ValueError, match="requires a mesh to be set"):
        olympus.device_put(np.arange(8), P("x"))
    with pytest.raises(RuntimeError, match="requires a mesh to be set"):
        olympus.lax.with_sharding_constraint(np.arange(8), P("x"))
    for option in ("in_shardings", "out_shardings"):
        f = olympus.jit(lambda x: x + 1, **{option: P("x")})
        with pytest.raises(RuntimeError, match=f"{option}: .* requires a mesh to be"):
            f(np.arange(8))
    for make in (jnp.zeros, jnp.ones, jnp.arange):
        with pytest.raises(ValueError, match="requires a mesh to be set"):
            make(8, out_sharding=P())
    with olympus.set_mesh(mesh(8)):
        assert entries(olympus.device_put(np.arange(8), P("x"))) == ("x",)


def test_an_empty_spec_is_a_place():
    with olympus.set_mesh(mesh(8)):
        for make in (jnp.zeros, jnp.ones, jnp.arange):
            assert entries(make(8, out_sharding=P())) in ((), (None,))


def test_arrays_of_different_devices_do_not_mix():
    x = divide(np.arange(8.0), "x")
    y = olympus.device_put(np.arange(8.0), olympus.devices()[1])
    for f in (lambda: x + y, lambda: olympus.jit(jnp.add)(x, y)):
        with pytest.raises(ValueError, match="incompatible devices"):
            f()


@pytest.mark.parametrize(
    "f", [jnp.sin, jnp.sum, olympus.lax.sin, lambda w: jnp.matmul(np.ones((4, 2)), w)]
)
def test_objects_that_stand_for_divided_arrays(f):
    class Weight:
        def __init__(self, value):
            self.value = value

        def __olympus_array__(self):
            return self.value

    value = divide(np.arange(12.0, dtype=np.float32).reshape(2, 6), "x", "y",
                   over=mesh(2, 2))  # fmt: skip
    expected = f(value)
    for _ in range(2):  # the second time the program is known
        out = f(Weight(value))
        assert out.sharding == expected.sharding
        np.testing.assert_array_equal(out, expected)


VIEWS = {
    "broadcast": lambda h: np.broadcast_to(np.float32(3), (8, 8)),
    "rows": lambda h: np.broadcast_to(h[0], (8, 8)),
    "columns": lambda h: np.broadcast_to(h[:, :1], (8, 8)),
    "windows": lambda h: np.lib.stride_tricks.sliding_window_view(h.ravel()[:15], 8),
    "transposed": lambda h: h.T,
    "reversed": lambda h: h[::-1, ::-1],
    "every second": lambda h: np.repeat(np.repeat(h, 2, 0), 2, 1)[::2, ::2],
}


@pytest.mark.parametrize("spec", [("x", "y"), ("x",), (("x", "y"),), (None, "x"), ()])
@pytest.mark.parametrize("name", VIEWS)
def test_views_of_the_host_are_put(name, spec):
    """Parts of views whose elements lie in the same place are copied here."""
    view = VIEWS[name](np.arange(64, dtype=np.float32).reshape(8, 8))
    x = divide(view, *spec)
    np.testing.assert_array_equal(x, view)
    assert entries(x) == spec


def test_arrays_like_fully_divided_ones():
    x = divide(np.ones((8, 4), np.float32), "x", "y")
    for f in (
        jnp.zeros_like,
        jnp.ones_like,
        lambda x: jnp.full_like(x, 2),
        jnp.empty_like,
    ):
        assert f(x).sharding == x.sharding
    np.testing.assert_array_equal(jnp.zeros_like(x), np.zeros((8, 4)))
    whole = lax.full((8, 8), 2.0, sharding=x.sharding)
    np.testing.assert_array_equal(whole, np.full((8, 8), 2.0))
