"""Values of programs that are constrained to one device: the program runs there."""

import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

pytestmark = pytest.mark.eight_devices


def _device():
    return olympus.devices()[2]


def _is_there(x):
    return x.committed and x.devices() == {_device()}


@pytest.mark.parametrize(
    "make",
    [
        lambda d: jnp.array([2.0, 3.0], device=d),
        lambda d: jnp.asarray(np.ones((2, 3), "int8"), device=d),
        lambda d: jnp.asarray(5, device=d),
        lambda d: jnp.asarray([], device=d),
        lambda d: jnp.arange(4, device=d),
        lambda d: jnp.arange(1.0, 9.0, 2.5, device=d),
        lambda d: jnp.linspace(0, 1, 5, device=d),
        lambda d: jnp.linspace(jnp.float32(0), 1, 5, device=d),
        lambda d: jnp.astype(jnp.ones(3), "int32", device=d),
    ],
)
def test_arrays_that_a_program_makes_for_a_device(make):
    out = olympus.jit(lambda: make(_device()))()
    assert _is_there(out)
    assert out.sharding == SingleDeviceSharding(_device())
    np.testing.assert_array_equal(out, make(_device()))
    assert make(_device()).devices() == {_device()}


def test_constraints():
    there = SingleDeviceSharding(_device())

    def constrain(x):
        return lax.with_sharding_constraint(x + 1, there)

    x = jnp.arange(3.0)
    for f in (olympus.jit(constrain), olympus.vmap(constrain), constrain):
        assert _is_there(f(x))
        np.testing.assert_array_equal(f(x), x + 1)


def test_programs_around():
    x = jnp.arange(3.0)

    def add_one_there(y):
        return y + jnp.array(1.0, device=_device())

    assert _is_there(olympus.jit(add_one_there)(x))
    assert _is_there(olympus.jit(lambda y: olympus.jit(add_one_there)(y) * 2)(x))
    loop = lambda y: lax.scan(lambda c, v: (add_one_there(c) * v, c), 0.0, y)  # noqa: E731
    assert _is_there(olympus.jit(loop)(x)[0])
    assert _is_there(loop(x)[1])
    assert _is_there(lax.cond(True, add_one_there, lambda y: y, x))
    assert _is_there(olympus.vmap(olympus.jit(add_one_there))(x))
    assert _is_there(
        olympus.grad(olympus.jit(lambda y: (y * add_one_there(y)).sum()))(x)
    )
    compiled = olympus.jit(add_one_there).lower(x).compile()
    assert _is_there(compiled(x))
    np.testing.assert_array_equal(compiled(x), x + 1)


def test_calls_again_and_arguments_there():
    f = olympus.jit(lambda y: y + jnp.array(1.0, device=_device()))
    x = jnp.arange(3.0)
    for value in (x, np.arange(3.0, dtype="float32"), olympus.device_put(x, _device())):
        for _ in range(3):
            out = f(value)
            assert _is_there(out)
            np.testing.assert_array_equal(out, [1, 2, 3])


def test_arguments_elsewhere_are_refused():
    f = olympus.jit(lambda y: y + jnp.array(1.0, device=_device()))
    elsewhere = olympus.device_put(jnp.arange(3.0), olympus.devices()[1])
    with pytest.raises(
        ValueError, match=r"constrains values to .*2.* committed to .*1"
    ):
        f(elsewhere)
    mesh = Mesh(np.array(olympus.devices()), "x")
    over_mesh = NamedSharding(mesh, PartitionSpec("x"))
    with pytest.raises(ValueError, match="incompatible devices"):
        f(olympus.device_put(jnp.arange(8.0), over_mesh))
    text = re.compile("constrains values to .* a program runs on one device")
    with pytest.raises(ValueError, match=text):
        olympus.jit(lambda y: olympus.device_put(f(y), over_mesh))(jnp.arange(8.0))
    other = olympus.devices()[3]
    with pytest.raises(ValueError, match=text):
        olympus.jit(lambda y: f(y) + jnp.arange(3, device=other))(jnp.arange(3.0))


def test_values_that_a_program_puts_on_a_mesh():
    mesh = Mesh(np.array(olympus.devices()), "x")
    over_mesh = NamedSharding(mesh, PartitionSpec("x"))
    x = np.arange(16.0, dtype="float32")
    for value in (x, jnp.asarray(x)):
        out = olympus.jit(lambda v=value: olympus.device_put(v, over_mesh))()
        assert out.sharding == over_mesh
        np.testing.assert_array_equal(out, x)


def test_filled_arrays_lie_where_the_program_runs():
    d = _device()
    makers = (
        lambda: jnp.zeros(3, device=d),
        lambda: jnp.full(3, 2.0, device=d),
        lambda: jnp.eye(3, device=d),
    )
    for make in makers:
        out = olympus.jit(make)()
        assert not out.committed
        np.testing.assert_array_equal(out, make())
        assert make().devices() == {d}
        assert not olympus.make_olympuspr(make)().consts


def _meshes():
    devices = np.array(olympus.devices())
    return {
        "all": Mesh(devices.reshape(4, 2), ("x", "y")),
        "in reverse": Mesh(devices[::-1].reshape(4, 2), ("x", "y")),
        "two": Mesh(devices[:2], ("x",)),
        "one": Mesh(devices[:1], ("x",)),
    }


@pytest.mark.parametrize("other", ["in reverse", "two", "one"])
@pytest.mark.parametrize("mapped", [False, True])
def test_programs_over_different_devices_are_refused(other, mapped):
    """Also where they are the same in another order: it ran over the first's."""
    spec = PartitionSpec("x")

    def divide(x, mesh):
        if not mapped:
            return lax.with_sharding_constraint(x, NamedSharding(mesh, spec))
        f = olympus.shard_map(lambda y: y + 1, mesh=mesh, in_specs=spec, out_specs=spec)
        return f(x)

    meshes = _meshes()
    x = np.ones(8, "float32")
    for first, second in (("all", other), (other, "all")):

        def f(x, first=meshes[first], second=meshes[second]):
            return divide(divide(x, first) * 2, second)

        with pytest.raises(ValueError, match="incompatible devices for one"):
            olympus.jit(f)(x)


def test_programs_over_the_same_devices_under_other_names():
    devices = np.array(olympus.devices())
    row = NamedSharding(Mesh(devices, ("z",)), PartitionSpec("z"))
    grid = NamedSharding(_meshes()["all"], PartitionSpec("x"))

    def f(x):
        x = lax.with_sharding_constraint(x, row) * 2
        return lax.with_sharding_constraint(x, grid)

    out = olympus.jit(f)(np.ones(8, "float32"))
    np.testing.assert_array_equal(out, np.full(8, 2.0))
