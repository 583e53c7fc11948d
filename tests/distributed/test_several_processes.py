"""Arrays and programs over two processes, against NumPy."""

from __future__ import annotations

import pytest

from distributed import processes

pytestmark = pytest.mark.slow

ARRAYS = """
assert n == 2 and olympus.process_indices() == [0, 1]
assert olympus.device_count() == 4 and olympus.local_device_count() == 2
assert [d.process_index for d in olympus.devices()] == [0, 0, 1, 1]
assert olympus.local_devices() == olympus.devices()[2 * me : 2 * me + 2]
assert olympus.local_devices(1 - me) != olympus.local_devices()

grid = np.array(olympus.devices()).reshape(2, 2)
mesh = Mesh(grid, ("p", "d"))
values = np.arange(48, dtype="float32").reshape(8, 6)
SPECS = [P("p"), P("p", "d"), P(("p", "d")), P("d"), P(None, "p"), P()]

def check_parts(x, values):
    for shard in x.addressable_shards:
        np.testing.assert_array_equal(shard.data, values[shard.index])
        assert shard.device in olympus.local_devices()
    assert len(x.addressable_shards) == 2 and len(x.global_shards) == 4

for spec in SPECS:
    sharding = NamedSharding(mesh, spec)
    assert not sharding.is_fully_addressable
    x = olympus.device_put(values, sharding)
    check_parts(x, values)
    calls = []
    def part_of(index):
        calls.append(index)
        return values[index]
    x = olympus.make_array_from_callback(values.shape, sharding, part_of)
    check_parts(x, values)
    assert len(calls) == len({str(s.index) for s in x.addressable_shards})
    parts = [s.data for s in x.addressable_shards]
    again = olympus.make_array_from_single_device_arrays(x.shape, sharding, parts)
    check_parts(again, values)
    np.testing.assert_array_equal(multihost_utils.process_allgather(x), values)

    step = olympus.jit(lambda x: (x.sum(0), x * 2, x.T @ x))
    total, double, product = step(x)
    total = multihost_utils.process_allgather(total)
    np.testing.assert_allclose(total, values.sum(0))
    check_parts(double, values * 2)
    np.testing.assert_allclose(
        multihost_utils.process_allgather(product), values.T @ values)

    gradient = olympus.jit(olympus.grad(lambda w, x: jnp.sum(jnp.tanh(x @ w) ** 2)))
    w = np.linspace(-0.02, 0.03, 6, dtype="float32")
    t = np.tanh(values @ w)
    out = multihost_utils.process_allgather(gradient(w, x))
    np.testing.assert_allclose(out, values.T @ (2 * t * (1 - t**2)), rtol=1e-4)

x = olympus.device_put(values, NamedSharding(mesh, P("p")))
try:
    olympus.jit(lambda y: x * y)(2.0)
except RuntimeError as error:
    assert "A jitted function takes it as an argument" in str(error), error
else:
    raise AssertionError("no error")

# Each process gives its own block.
blocks = np.split(values, 2)
sharding = NamedSharding(mesh, P("p", "d"))
x = olympus.make_array_from_process_local_data(sharding, blocks[me])
check_parts(x, values)
make = multihost_utils.host_local_array_to_global_array
x = make({"a": blocks[me]}, mesh, P("p", "d"))["a"]
check_parts(x, values)
own = multihost_utils.global_array_to_host_local_array(x, mesh, P("p", "d"))
assert own.is_fully_addressable
np.testing.assert_array_equal(own, blocks[me])
own = multihost_utils.global_array_to_host_local_array(x, mesh, P(None, "p"))
np.testing.assert_array_equal(own, np.split(values, 2, axis=1)[me])

# Over other axes, on the same devices in another order, on some of them only.
whole = NamedSharding(mesh, P())
devices = np.array(olympus.devices())
backwards = Mesh(devices[::-1].reshape(2, 2), ("p", "d"))
first = Mesh(devices[:2], ("d",))
one_each = Mesh(devices[::2], ("p",))
for y in (x, olympus.device_put(values, NamedSharding(mesh, P("d"))), whole):
    y = olympus.device_put(values, whole) if y is whole else y
    for place in [
        *[NamedSharding(mesh, spec) for spec in SPECS],
        NamedSharding(backwards, P("p", "d")),
        NamedSharding(first, P("d")),
        NamedSharding(one_each, P(None, "p")),
    ]:
        moved = olympus.device_put(y, place)
        assert moved.sharding is place
        assert len(moved.addressable_shards) == len(place.addressable_devices)
        for shard in moved.addressable_shards:
            np.testing.assert_array_equal(shard.data, values[shard.index])
y = olympus.lax.with_sharding_constraint(x, NamedSharding(mesh, P("d")))
check_parts(y, values)
keys = olympus.random.split(olympus.random.key(0), 8)
moved = olympus.device_put(olympus.device_put(keys, NamedSharding(mesh, P("p"))), whole)
np.testing.assert_array_equal(
    olympus.random.key_data(moved), olympus.random.key_data(keys))
try:
    olympus.device_put(x, olympus.local_devices()[0])
except ValueError as error:
    assert "process_allgather fetches its value" in str(error)
else:
    raise AssertionError
# Where this process has all parts, they can be read.
for spec in (P("d"), P()):
    y = olympus.device_put(x, NamedSharding(mesh, spec))
    for read in (np.asarray, olympus.device_get):
        np.testing.assert_array_equal(read(y), values)

# What is elsewhere cannot be read.
for read in (np.asarray, olympus.device_get, lambda x: x.tolist()):
    try:
        read(x)
    except RuntimeError as error:
        assert "all of its parts in this process" in str(error)
    else:
        raise AssertionError(read)
assert repr(x) == str(x) == "Array(shape=(8, 6), dtype=float32)"

# Programs of this process's own, and with callbacks, go on as ever.
y = jnp.arange(3) + me
np.testing.assert_array_equal(y, np.arange(3) + me)
out = olympus.pure_callback(lambda a: np.asarray(a) * 2, y, y)
np.testing.assert_array_equal(out, 2 * (np.arange(3) + me))
second = olympus.device_put(y, olympus.local_devices()[1])
out = olympus.jit(lambda y: olympus.pure_callback(lambda a: a + 1, y, y))(second)
np.testing.assert_array_equal(out, np.arange(3) + me + 1)
assert out.device == olympus.local_devices()[1]

# Many programs that nobody waits for.
step = olympus.jit(lambda x: x * 0.5 + x.mean(0))
expected = values
for _ in range(50):
    x, expected = step(x), expected * 0.5 + expected.mean(0)
np.testing.assert_allclose(
    multihost_utils.process_allgather(x), expected, rtol=1e-4)
print("end", me)
"""


def test_arrays_and_programs():
    outputs = processes.run_well(2, ARRAYS)
    assert [out.splitlines()[-1] for out in outputs] == ["end 0", "end 1"]


VALUES = """
for x in (np.arange(3) + 10 * me, 1.5 * me, np.array([[True, bool(me)]]),
          np.zeros((0, 2)), np.array([np.nan, -0.0, me]), np.int64(2**40 + me)):
    rows = [np.asarray(x)] * n
    gathered = multihost_utils.process_allgather(x)
    assert gathered.shape == (n, *np.shape(x)), gathered.shape
    assert gathered.dtype == np.asarray(x).dtype
    np.testing.assert_array_equal(gathered[me], x)
    tiled = multihost_utils.process_allgather(x, tiled=True)
    np.testing.assert_array_equal(tiled.ravel(), gathered.ravel())
    assert tiled.ndim == max(np.ndim(x), 1)
    for source in range(n):
        out = multihost_utils.broadcast_one_to_all(x, is_source=me == source)
        assert out.tobytes() == gathered[source].tobytes()
    out = multihost_utils.broadcast_one_to_all({"x": x})["x"]
    assert out.tobytes() == gathered[0].tobytes()

multihost_utils.assert_equal({"a": 1, "b": np.ones(3)})
multihost_utils.sync_global_devices("here")
for call, message in (
    (lambda: multihost_utils.assert_equal(me, "seeds"), "seeds: assert_equal.* 1, 2;"),
    (lambda: multihost_utils.sync_global_devices(f"at {me}"), "name that process 0"),
):
    import re
    try:
        call()
    except AssertionError as error:
        assert re.search(message, str(error)), error
    else:
        raise RuntimeError(message)
with multihost_utils.live_devices(olympus.devices()) as alive:
    assert alive == olympus.devices()
try:
    with multihost_utils.live_devices(olympus.local_devices((me + 1) % n)):
        pass
except ValueError as error:
    assert "one of this process" in str(error)
print("end", me)
"""


def test_values_that_processes_exchange():
    outputs = processes.run_well(3, VALUES, devices=1)
    assert [out.splitlines()[-1] for out in outputs] == ["end 0", "end 1", "end 2"]


# Values that nobody placed, and programs of them, under a mesh over both processes.
UNDER_A_MESH = """
mesh = Mesh(np.array(olympus.devices()).reshape(2, 2), ("p", "d"))
values = np.arange(8, dtype="float32")
mine = jnp.asarray(values)
assert not mine.committed
twice = olympus.jit(lambda x: 2 * x)
with olympus.set_mesh(mesh):
    outs = [jnp.asarray(values), mine + 0, twice(values) / 2, twice(mine) / 2,
            jnp.zeros(8) + mine, olympus.device_put(values, P("p")) + 0.0 * mine]
    draw = olympus.random.normal(olympus.random.key(3), (8,))
    for out in outs:
        assert out.sharding.device_set == set(olympus.devices()) and out.committed
        for shard in out.addressable_shards:
            np.testing.assert_array_equal(shard.data, values[shard.index])
    assert float(jnp.sum(mine)) == 28.0 and outs[0][3] == 3.0
np.testing.assert_array_equal(draw, olympus.random.normal(olympus.random.key(3), (8,)))
assert not (mine + 1).committed and twice(mine).is_fully_addressable
try:
    with olympus.set_mesh(mesh):
        olympus.device_put(mine, olympus.local_devices()[0]) + 1
except ValueError as error:
    assert "and the mesh that is set" in str(error)
else:
    raise AssertionError("no error")
"""


def test_a_mesh_over_both_processes_is_where_values_are():
    processes.run_well(2, UNDER_A_MESH)


# `pmap` over the devices of all processes, of which each gives and gets its own.
PMAP = """
from olympus import lax
from olympus.experimental import multihost_utils

values = np.arange(16, dtype="float32").reshape(4, 4)
mine = values[2 * me : 2 * me + 2]
keys = olympus.random.split(olympus.random.key(3), 4)
order = olympus.devices()[::-1]
cases = [
    (lambda v: lax.psum(v, "i"), {}, [mine], [values.sum(0)] * 2),
    (lambda v: v[0] * 0 + lax.axis_index("i"), {}, [mine], [2 * me, 2 * me + 1]),
    (lambda v: v[0] * 0 + lax.axis_index("i"), {"devices": order}, [mine],
     [2 - 2 * me, 3 - 2 * me]),
    (lambda v, w: v * w["w"], {"in_axes": (0, None)}, [mine, {"w": np.float32(3)}],
     mine * 3),
    (lambda v: v + 1, {"in_axes": -1, "out_axes": -1}, [mine.T], mine.T + 1),
    (lambda v: lax.pmax(v, "i"), {"out_axes": None}, [mine], values.max(0)),
    (lambda v, n: v * n, {"static_broadcasted_argnums": 1}, [mine, 3], mine * 3),
    (lambda v: lax.psum(v, "i"), {"axis_size": 4}, [mine], [values.sum(0)] * 2),
    (lambda v: lax.psum(v, "i"), {"devices": olympus.local_devices()}, [mine],
     [mine.sum(0)] * 2),
    (lambda k: olympus.random.uniform(k, (2,)), {}, [keys[2 * me : 2 * me + 2]],
     [olympus.random.uniform(k, (2,)) for k in keys[2 * me : 2 * me + 2]]),
    (lambda v: lax.pmean(olympus.grad(lambda u: (u**2).sum())(v), "i"), {}, [mine],
     [2 * values.mean(0)] * 2),
]
for f, options, args, want in cases:
    out = olympus.pmap(f, axis_name="i", **options)(*args)
    np.testing.assert_allclose(out, want, 1e-6)
    assert out.is_fully_addressable
    assert out.sharding.device_set == set(olympus.local_devices())

# Transformations of maps in each process.
own = olympus.local_devices()
here = olympus.pmap(lambda v: v * lax.psum(v, "i"), "i", devices=own)
np.testing.assert_allclose(olympus.jit(here)(mine), mine * mine.sum(0), 1e-6)
loss = lambda v: here(v).sum()
expected = [2 * mine.sum(0)] * 2
np.testing.assert_allclose(olympus.grad(loss)(mine), expected, 1e-6)

# What one call returns the next one takes, in place.
step = olympus.pmap(lambda v: v + lax.psum(v, "i"), axis_name="i", donate_argnums=0)
first = olympus.pmap(lambda v: v)(mine)
out = step(first)
np.testing.assert_allclose(step(out), mine + 6 * values.sum(0), 1e-6)
assert out.is_deleted() and first.is_deleted()

for call, message in (
    (lambda: olympus.pmap(lambda v: v)(mine[:1]), "one element for each of its own"),
    (lambda: olympus.pmap(lambda v: v, axis_size=2)(mine), "got 2 for 4"),
    (lambda: olympus.jit(olympus.pmap(lambda v: v))(mine), "apply transformations to"),
    (lambda: olympus.grad(lambda v: olympus.pmap(lambda v: v)(v).sum())(mine),
     "give devices=olympus.local_devices()"),
):
    try:
        call()
    except ValueError as error:
        assert message in str(error), error
    else:
        raise AssertionError(message)
"""


def test_pmap_over_both_processes():
    processes.run_well(2, PMAP)


RESHARD = """
values = np.arange(32, dtype="float32").reshape(8, 4)
kinds = (AxisType.Explicit,) * 2
mesh = olympus.make_mesh((2, 2), ("x", "y"), kinds)
devices = np.array(olympus.devices())[::-1].reshape(2, 2)
back = Mesh(devices, ("x", "y"), kinds)
place = NamedSharding(mesh, P("x", "y"))
x = olympus.make_array_from_callback((8, 4), place, lambda i: values[i])
for over in (mesh, back):
    for spec in (P("y", "x"), P(None, "x"), P(), P(("y", "x"))):
        y = olympus.reshard(x, NamedSharding(over, spec))
        assert y.sharding.is_equivalent_to(NamedSharding(over, spec), 2)
        for shard in y.addressable_shards:
            np.testing.assert_array_equal(shard.data, values[shard.index])
with olympus.set_mesh(mesh):
    square = lambda x: (olympus.reshard(x, P("y", None)) ** 2).sum()
    for shard in olympus.grad(square)(x).addressable_shards:
        np.testing.assert_array_equal(shard.data, 2 * values[shard.index])
"""


def test_resharding_over_both_processes():
    processes.run_well(2, RESHARD)
