"""Under a mesh that is set, programs run on its devices and new values are there."""

from __future__ import annotations

import json
import pathlib
import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, random
from olympus.sharding import AxisType, Mesh, NamedSharding
from olympus.sharding import PartitionSpec as P
from tests import fresh, sampling
from tests.sharding import placement_cases
from tests.sharding.meshes import divide, mesh

pytestmark = pytest.mark.eight_devices
DATA = pathlib.Path(__file__).parents[1] / "data"
RECORDED = json.loads((DATA / "mesh_placement.json").read_text())
DIFFERENCES = json.loads((DATA / "mesh_placement_differences.json").read_text())
HOST = np.arange(8, dtype=np.float32)


def whole_sharding(over):
    return NamedSharding(over, P())


def is_whole(x, over):
    return x.committed and x.sharding.is_equivalent_to(whole_sharding(over), x.ndim)


@pytest.mark.parametrize("context", placement_cases.CONTEXTS)
def test_values_are_where_jax_puts_them(context):
    cases = placement_cases.Cases(olympus, jnp, lax)
    actual, expected = {}, {}
    for text, places in RECORDED.items():
        if not sampling.is_in_part(f"{context} {text}", 4):
            continue
        ours = DIFFERENCES.get(text, {}).get(context)
        expected[text] = places[context] if ours is None else ours[0]
        actual[text] = cases.place(text, context)
    assert actual == expected


def test_differences_are_differences_and_have_a_reason():
    for text, by_context in DIFFERENCES.items():
        for context, (ours, reason) in by_context.items():
            assert RECORDED[text][context] != ours
            assert reason


FUNCTIONS = {
    "sum": lambda x: (x * x).sum(),
    "sort": lambda x: jnp.sort(-x),
    "matmul": lambda x: jnp.outer(x, x) @ x,
    "fft": jnp.fft.fft,
    "solve": lambda x: jnp.linalg.solve(jnp.outer(x, x) + jnp.eye(8), x),
    "cumsum": jnp.cumsum,
    "gather": lambda x: x[np.array([3, 1, 3])],
    "update": lambda x: x.at[2:5].multiply(3),
    "where": lambda x: jnp.where(x > 3, x, -1.0),
    "scan": lambda x: lax.scan(lambda c, y: (c + y, c * y), 0.0, x)[1],
    "while": lambda x: lax.while_loop(lambda y: y[1] < 30, lambda y: y * 2, x),
    "cond": lambda x: lax.cond(x[1] > 0, jnp.sin, jnp.cos, x),
    "gradient": olympus.grad(lambda x: jnp.sin(x).sum()),
    "hessian": olympus.hessian(lambda x: (x**3).sum()),
    "vmap": olympus.vmap(lambda y: y * jnp.arange(3.0)),
    "random": lambda x: random.normal(random.key(3), (8,)) + x,
    "permutation": lambda x: random.permutation(random.key(3), x),
    "callback": lambda x: olympus.pure_callback(
        np.sin, olympus.ShapeDtypeStruct((8,), np.float32), x
    ),
}


@pytest.mark.parametrize("kind", ["Auto", "Explicit"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_those_without_a_mesh(name, kind):
    function = FUNCTIONS[name]
    types = (AxisType[kind],) * 2
    over = olympus.make_mesh((4, 2), ("x", "y"), axis_types=types)
    argument, jitted = jnp.asarray(HOST), olympus.jit(function)
    plain, expected = function(argument), jitted(argument)
    with olympus.set_mesh(over):
        eager, program = function(argument), jitted(argument)
        again, of_host = jitted(argument), jitted(HOST)
    for x in (eager, program, again, of_host):
        assert is_whole(x, over)
        assert x.dtype == plain.dtype
    np.testing.assert_allclose(np.asarray(eager), np.asarray(plain), rtol=2e-6)
    np.testing.assert_allclose(np.asarray(program), np.asarray(expected), rtol=2e-6)
    for x in (again, of_host):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(program))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + 1,
        lambda x: jnp.sum(x),
        lambda x: x[2],
        lambda x: jnp.zeros(3),
        lambda x: jnp.float32(2),
        lambda x: lax.sin(x),
        lambda x: random.uniform(random.key(0), (2,)),
        olympus.jit(lambda x: x * 2),
        olympus.jit(lambda x: jnp.ones(2)),
        olympus.jit(lambda x, *, n=3: x * n, static_argnames="n"),
        olympus.jit(lambda x: {"a": x + 1}),
    ],
)
def test_no_program_is_used_in_another_scope(call):
    """Each scope is entered several times: also the part in C has found its entry."""
    x = jnp.asarray(HOST)
    meshes = [mesh(4, 2), mesh(8), Mesh(np.array(olympus.devices()[:2]), "x")]
    for _ in range(4):
        for _ in range(3):
            out = olympus.tree.leaves(call(x))[0]
            assert not out.committed
            assert out.sharding.device_set == {olympus.devices()[0]}
        for over in meshes:
            with olympus.set_mesh(over):
                for _ in range(3):
                    out = olympus.tree.leaves(call(x))[0]
                    assert is_whole(out, over)
                    assert out.sharding.mesh.devices.tolist() == over.devices.tolist()


def test_threads_use_their_own_meshes():
    """Each thread has a mesh, or none; all of them call the same functions."""
    x = jnp.asarray(HOST)
    jitted = olympus.jit(lambda x: x * 2)
    devices = olympus.devices()
    meshes = [None, Mesh(np.array(devices[:2]), "x"), Mesh(np.array(devices[4:6]), "x")]
    start, failures = threading.Barrier(len(meshes)), []

    def check(over, out):
        if over is None:
            assert out.sharding.device_set == {devices[0]}
            assert not out.committed
        else:
            assert is_whole(out, over)

    def work(over):
        try:
            start.wait()
            for _ in range(25):
                with olympus.set_mesh(over):
                    for call in (jitted, jnp.sum, lax.cos, jnp.zeros_like):
                        check(over, call(x))
                check(None, jitted(x))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(over,)) for over in meshes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_thread_inherits_no_mesh():
    places = []
    with olympus.set_mesh(mesh(4, 2)):
        thread = threading.Thread(target=lambda: places.append(jnp.zeros(2).sharding))
        thread.start()
        thread.join()
    assert places[0].device_set == {olympus.devices()[0]}


def test_blocks_restore_the_mesh_around_them():
    inner, outer = mesh(2), mesh(8)
    with olympus.set_mesh(outer):
        with olympus.set_mesh(inner):
            assert is_whole(jnp.zeros(2), inner)
        with pytest.raises(KeyError), olympus.set_mesh(inner):
            raise KeyError
        assert is_whole(jnp.zeros(2), outer)
        with inner:  # the old form places nothing
            assert is_whole(jnp.zeros(2), outer)
        with olympus.set_mesh(None):
            assert not jnp.zeros(2).committed
    assert not jnp.zeros(2).committed


TRACED = {
    "jit": olympus.jit,
    "grad": olympus.grad,
    "vmap": lambda f: olympus.vmap(f),
    "checkpoint": olympus.checkpoint,
    "shard_map": lambda f: olympus.shard_map(
        lambda x: f(x[0])[None], mesh=mesh(8), in_specs=P("x"), out_specs=P("x")
    ),
    "eval_shape": lambda f: lambda x: olympus.eval_shape(f, x),
}


@pytest.mark.parametrize("name", TRACED)
def test_no_mesh_is_set_inside_of_programs(name):
    over = mesh(4, 2)

    def f(x):
        with olympus.set_mesh(over):
            return (x * 2).sum()

    argument = jnp.ones(8) if name in ("vmap", "shard_map") else jnp.float32(1)
    with pytest.raises(ValueError, match="set_mesh: must be called outside of functi"):
        TRACED[name](f)(argument)
    assert olympus.sharding.get_mesh().empty


def test_blocks_of_meshes_are_set_inside_of_programs():
    over = mesh(4, 2)

    @olympus.jit
    def f(x):
        with over:
            return lax.with_sharding_constraint(x * 2, P("x"))

    out = f(olympus.device_put(HOST, NamedSharding(over, P())))
    assert tuple(out.sharding.spec) == ("x",)


class Holder:
    """An object of a library that stands for an array."""

    def __init__(self, array):
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype

    def __jax_array__(self):
        return self.array


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + 1,
        lambda x: jnp.sum(x),
        lambda x: x[0],
        lambda x: jnp.array(x),
        olympus.jit(lambda x: x * 2),
        olympus.grad(lambda x: (x * x).sum()),
        olympus.vmap(lambda x: x * 2),
        lambda x: lax.fori_loop(0, 2, lambda i, y: y * 2, x),
        lambda x: random.permutation(random.key(0), x),
        lambda x: jnp.sin(Holder(x)),
        lambda x: lax.sin(Holder(x)),
        lambda x: olympus.jit(jnp.sin)(Holder(x)),
    ],
)
@pytest.mark.parametrize("number", [0, 5])
def test_arrays_on_one_of_the_devices_are_refused(call, number):
    x = olympus.device_put(HOST, olympus.devices()[number])
    call(x)
    with (
        olympus.set_mesh(mesh(4, 2)),
        pytest.raises(ValueError, match=f"committed to cpu:{number}, and the mesh"),
    ):
        call(x)


@pytest.mark.parametrize("hold", [lambda x: x, Holder])
def test_arrays_like_committed_ones_are_where_these_are(hold):
    x, third = divide(HOST, "x"), olympus.devices()[2]
    a = hold(x)
    for like in (jnp.zeros_like, jnp.ones_like, jnp.empty_like):
        assert like(a, dtype="int32").sharding == x.sharding
    assert jnp.full_like(a, 2).sharding == x.sharding
    assert not jnp.zeros_like(a, shape=(3,)).committed
    assert jnp.zeros_like(a, device=third).devices() == {third}


def test_arrays_over_other_devices_are_refused():
    x = divide(HOST, "x", over=mesh(4))
    with (
        olympus.set_mesh(mesh(8)),
        pytest.raises(ValueError, match="4 devices from cpu:0 to cpu:3, and the mesh"),
    ):
        x + 1


def test_jit_for_a_device_is_refused():
    call = olympus.jit(lambda x: x, device=olympus.devices()[3])
    with (
        olympus.set_mesh(mesh(8)),
        pytest.raises(ValueError, match="device= and backend= must be left out"),
    ):
        call(HOST)


def test_arrays_of_a_scope_are_used_after_it():
    over = mesh(4, 2)
    with olympus.set_mesh(over):
        x, key = jnp.ones(8), random.key(1)
    for out in (x + 1, x + jnp.arange(8.0), olympus.jit(jnp.sin)(x)):
        assert is_whole(out, over)
    np.testing.assert_array_equal(
        random.uniform(key, (3,)), random.uniform(random.key(1), (3,))
    )


def test_refs_are_on_the_mesh():
    over = mesh(4, 2)
    with olympus.set_mesh(over):
        ref = olympus.new_ref(jnp.zeros(3))
        olympus.jit(lambda r: r.__setitem__(0, 5.0))(ref)
        assert is_whole(ref[...], over)
    np.testing.assert_array_equal(ref[...], [5, 0, 0])


def test_donated_arguments_are_taken():
    over = mesh(4, 2)
    add = olympus.jit(lambda x: x + 1, donate_argnums=0)
    with olympus.set_mesh(over):
        x = jnp.zeros(8)
        out = add(x)
        assert x.is_deleted()
        assert is_whole(add(out), over)
    for _ in range(3):  # the part in C knows the call then
        free = jnp.arange(8.0) * 2
        with olympus.set_mesh(over):
            out = add(free)
        assert free.is_deleted()
        np.testing.assert_array_equal(out, HOST * 2 + 1)


def test_compiled_programs_keep_their_mesh():
    over = mesh(4, 2)
    x = jnp.asarray(HOST)
    with olympus.set_mesh(over):
        compiled = olympus.jit(lambda x: x * 2).lower(x).compile()
    assert compiled.output_shardings.is_equivalent_to(whole_sharding(over), 1)
    assert is_whole(compiled(x), over)
    with olympus.set_mesh(mesh(2)):
        assert is_whole(compiled(x), over)


def test_exported_programs_are_for_the_devices_of_the_mesh():
    with olympus.set_mesh(mesh(4, 2)):
        exported = olympus.export.export(olympus.jit(jnp.sin))(HOST)
        assert exported.nr_devices == 8
        np.testing.assert_allclose(exported.call(HOST), np.sin(HOST), rtol=1e-6)


# One device: what was called before the first mesh is known without its place.
ONE_DEVICE = """
import numpy as np, olympus, olympus.numpy as jnp
assert len(olympus.devices()) == 1
jitted, x = olympus.jit(lambda x: x * 2), jnp.arange(3.0)
calls = [jitted, jnp.sum, lambda x: x + 1, lambda x: x[0], jnp.zeros_like]
for call in calls:
    for _ in range(4):
        assert not call(x).committed
over = olympus.make_mesh((1,), ("x",))
for _ in range(3):
    with olympus.set_mesh(over):
        for call in calls:
            for _ in range(4):
                out = call(x)
                assert out.committed
                assert out.sharding.mesh is over, out.sharding
    for call in calls:
        out = call(x)
        assert not out.committed
        assert type(out.sharding).__name__ == "SingleDeviceSharding"
"""


@pytest.mark.parametrize("native", ["0", "1"])
def test_a_mesh_of_the_only_device(native):
    fresh.run(ONE_DEVICE, OLYMPUS_NUM_CPU_DEVICES="1", OLYMPUS_NATIVE=native)
