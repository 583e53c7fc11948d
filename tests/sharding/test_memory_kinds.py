"""Arrays over meshes in other memory than the devices' default."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.sharding import NamedSharding, PartitionSpec, SingleDeviceSharding
from tests.sharding.meshes import mesh

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
X = np.arange(32.0, dtype=np.float32).reshape(8, 4)
KINDS = ["device", "pinned_host", "unpinned_host"]


def named(kind, *spec, sizes=(4, 2)):
    return NamedSharding(mesh(*sizes), P(*spec), memory_kind=kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spec", [("x", "y"), ("y",), ()], ids=str)
def test_arrays(kind, spec):
    x = olympus.device_put(X, named(kind, *spec))
    assert x.sharding.memory_kind == kind
    np.testing.assert_array_equal(x, X)
    for shard in x.addressable_shards:
        np.testing.assert_array_equal(shard.data, X[shard.index])
    there = olympus.device_put(x, named("device", *spec))
    assert there.sharding.memory_kind == "device"
    back = olympus.device_put(there, named(kind, *spec))
    assert back.sharding is x.sharding
    np.testing.assert_array_equal(back, X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [(4, 2), (1, 1)], ids=str)
def test_results(kind, sizes):
    target = named(kind, "x", sizes=sizes)
    f = olympus.jit(lambda x: (x + 1, x * 2), out_shardings=(target, None))
    out, other = f(X)
    assert out.sharding is target
    assert other.sharding.memory_kind == "device"
    np.testing.assert_array_equal(out, X + 1)
    np.testing.assert_array_equal(other, X * 2)
    np.testing.assert_array_equal(out + other, 3 * X + 1)
    text = f.lower(X).as_text()
    assert ("mhlo.memory_kind" in text) == (kind != "device")
    compiled = f.lower(X).compile()
    assert compiled.output_shardings[0] is target


@pytest.mark.parametrize("kind", KINDS)
def test_arguments(kind):
    place = named(kind, "x")
    f = olympus.jit(lambda x: jnp.sin(x), in_shardings=place)
    for x in (X, olympus.device_put(X, place)):
        np.testing.assert_allclose(f(x), np.sin(X), 1e-6)
    compiled = f.lower(X).compile()
    assert compiled.input_shardings[0][0] is place
    x = olympus.device_put(X, place)
    np.testing.assert_allclose(x @ x.T, X @ X.T, 1e-6)
    grad = olympus.jit(olympus.grad(lambda x: (x**2).sum()))(x)
    np.testing.assert_array_equal(grad, 2 * X)


def test_optimizer_states_that_wait_on_the_host():
    """Weights on the devices, states in the memory of the host."""
    near, far = named("device", "x"), named("pinned_host", "x")
    weights, state = olympus.device_put(X, near), olympus.device_put(X * 0, far)

    @olympus.jit
    def step(w, m):
        m = olympus.device_put(m, near) * 0.9 + w
        return w - 0.1 * m, olympus.device_put(m, far)

    step = olympus.jit(step, out_shardings=(near, far), donate_argnums=(0, 1))
    w, m = X, X * 0
    for _ in range(3):
        weights, state = step(weights, state)
        m = m * 0.9 + w
        w = w - 0.1 * m
    assert weights.sharding is near
    assert state.sharding is far
    np.testing.assert_allclose(weights, w, 1e-5)
    np.testing.assert_allclose(state, m, 1e-5)


def test_constraints_say_where_on_platforms_with_a_memory_of_their_own():
    far = named("pinned_host", "x")

    def f(x):
        return lax.with_sharding_constraint(x * 2, far) + 1

    np.testing.assert_array_equal(olympus.jit(f)(X), 2 * X + 1)
    traced = olympus.jit(f).trace(X)
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert "annotate_device_placement" in text
    assert '"pinned_host"' in text
    assert "annotate_device_placement" not in olympus.jit(f).lower(X).as_text()


BACK = {
    "arguments": (lambda x: olympus.device_put(x, named("device", "x")) + 1, "far"),
    "values": (
        lambda x: olympus.device_put(
            olympus.device_put(x * 2, named("pinned_host", "x")), named("device", "x")
        ),
        "near",
    ),
    "explicit results": (lambda x: x * 2, "far"),
}


@pytest.mark.parametrize("what", BACK)
def test_values_come_back_to_the_memory_of_devices(what):
    """They stayed on the host, where compilers for GPUs compute nothing."""
    near, far = named("device", "x"), named("pinned_host", "x")
    f, place = BACK[what]
    place = far if place == "far" else near
    f = olympus.jit(f, in_shardings=place, out_shardings=near)
    traced = f.trace(olympus.ShapeDtypeStruct(X.shape, X.dtype))
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert '_xla_buffer_placement = "device"' in text


def test_programs_of_one_memory_say_nothing_of_memories():
    near = named("device", "x")
    f = olympus.jit(lambda x: olympus.device_put(x * 2, near), out_shardings=near)
    text = f.trace(X).lower(lowering_platforms=("cuda",)).as_text()
    assert "annotate_device_placement" not in text


def _text_for_cuda(f):
    return olympus.jit(f).trace(X).lower(lowering_platforms=("cuda",)).as_text()


def _move(x):
    far = SingleDeviceSharding(olympus.devices()[0], memory_kind="pinned_host")
    return olympus.device_put(x, far)


MOVED = {
    "at once": lambda x: _move(x * 2),
    "in a function": lambda x: olympus.jit(_move)(x * 2),
    "in a loop": lambda x: lax.map(lambda row: _move(row * 2), x),
}


@pytest.mark.parametrize("what", MOVED)
def test_results_that_were_moved_are_declared_there(what):
    """Else compilers for GPUs refuse the program."""
    text = _text_for_cuda(lambda x: (x + 1, MOVED[what](x)))
    (main,) = [line for line in text.splitlines() if "public @main" in line]
    _, results = main.split(" -> ")
    first, second = results.split("tensor<")[1:]
    assert "memory_kind" not in first
    assert 'mhlo.memory_kind = "pinned_host"' in second
    np.testing.assert_array_equal(olympus.jit(MOVED[what])(X), 2 * X)


def test_what_a_program_reads_itself_is_not_declared():
    near = SingleDeviceSharding(olympus.devices()[0])
    text = _text_for_cuda(lambda x: olympus.device_put(_move(x * 2), near))
    assert "mhlo.memory_kind" not in text


def test_refusals():
    with pytest.raises(ValueError, match=r"memory_kind: must be one of .*got 'vmem'"):
        named("vmem", "x")
    with pytest.raises(ValueError, match=r"memory_kind: must be one of .*got 'vmem'"):
        SingleDeviceSharding(olympus.devices()[0], memory_kind="vmem")


@pytest.mark.parametrize("kind", KINDS)
def test_one_device(kind):
    device = olympus.devices()[1]
    place = SingleDeviceSharding(device, memory_kind=kind)
    calls = [
        lambda: olympus.device_put(X, place),
        lambda: olympus.jit(lambda x: x, out_shardings=place)(X),
        lambda: lax.with_sharding_constraint(X, place),
        lambda: olympus.jit(lambda x: x + 0, out_shardings=place)(
            olympus.device_put(X, device)
        ),
        lambda: olympus.device_put(olympus.device_put(X, place), place),
    ]
    for call in calls:
        out = call()
        assert out.sharding.memory_kind == kind
        assert out.devices() == {device}
        np.testing.assert_array_equal(out, X)
        np.testing.assert_array_equal(out + 1, X + 1)
    near = olympus.device_put(calls[0](), SingleDeviceSharding(device))
    assert near.sharding.memory_kind == "device"
    moved = olympus.jit(lambda x: olympus.device_put(x, place) * 2)(near)
    np.testing.assert_array_equal(moved, 2 * X)
    back = SingleDeviceSharding(device)
    f = olympus.jit(
        lambda x: olympus.device_put(x, back) * 2,
        in_shardings=place,
        out_shardings=back,
    )
    np.testing.assert_array_equal(f(X), 2 * X)
    assert f(X).sharding.memory_kind == "device"
    traced = f.trace(olympus.ShapeDtypeStruct(X.shape, X.dtype))
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert text.count('placement = "device"') == (2 if kind != "device" else 0)


def test_results_are_marked_on_platforms_with_a_memory_of_their_own():
    one = SingleDeviceSharding(olympus.devices()[0], memory_kind="pinned_host")
    for far in (one, named("pinned_host", "x")):
        f = olympus.jit(lambda x: (x + 1, x * 2), out_shardings=(far, None))
        text = f.trace(X).lower(lowering_platforms=("cuda",)).as_text()
        assert text.count("annotate_device_placement") == 1
        assert text.count('mhlo.memory_kind = "pinned_host"') == 1
        assert "annotate_device_placement" not in f.lower(X).as_text()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [(4, 2), (1, 1)], ids=str)
def test_results_that_were_moved_tell_of_it(kind, sizes):
    place, near = named(kind, "x", sizes=sizes), named(None, sizes=sizes)
    x = olympus.device_put(X, near)
    moves = [
        lambda x: (olympus.device_put(x + 1, place), x * 2),
        lambda x: (lax.with_sharding_constraint(x + 1, place), x * 2),
        lambda x: (olympus.jit(lambda x: olympus.device_put(x + 1, place))(x), x * 2),
    ]
    for move in moves:
        f = olympus.jit(move)
        out, other = f(x)
        assert out.sharding.memory_kind == kind
        assert out.sharding.device_set == place.device_set
        assert other.sharding.memory_kind == "device"
        np.testing.assert_array_equal(out, X + 1)
        np.testing.assert_array_equal(out + other, 3 * X + 1)
        assert f.lower(x).compile().output_shardings[0].memory_kind == kind
        again = olympus.device_put(out, named(None, "x", sizes=sizes))
        np.testing.assert_array_equal(again, X + 1)


def test_results_that_were_moved_on_one_device_tell_of_it():
    far = SingleDeviceSharding(olympus.devices()[0], memory_kind="pinned_host")
    for place in (far, olympus.memory.Space.Host):
        out = olympus.jit(lambda x, place=place: olympus.device_put(x + 1, place))(X)
        assert out.sharding.memory_kind == "pinned_host"
        np.testing.assert_array_equal(out, X + 1)


def test_spaces_move_values_on_their_devices():
    space = olympus.memory.Space
    x = olympus.device_put(X, named(None, "x"))
    host = olympus.device_put(x, space.Host)
    assert host.sharding is named("pinned_host", "x")
    assert olympus.device_put(host, space.Device).sharding is x.sharding
    assert olympus.device_put(host, space.Any) is host
    tree = olympus.device_put({"a": x, "b": X}, {"a": space.Host, "b": space.Device})
    assert tree["a"].sharding is host.sharding
    assert isinstance(tree["b"].sharding, SingleDeviceSharding)
    one = olympus.device_put(X, space.Host)
    assert one.sharding.memory_kind == "pinned_host"
    assert len(one.sharding.device_set) == 1
    moved = lambda x: (olympus.device_put(x, space.Host) ** 2).sum()  # noqa: E731
    np.testing.assert_array_equal(olympus.jit(olympus.grad(moved))(x), 2 * X)
    np.testing.assert_array_equal(olympus.vmap(moved)(x), (X**2).sum(1))
    for place in (
        lax.with_sharding_constraint,
        lambda x, s: olympus.jit(jnp.sin, in_shardings=s)(x),
    ):
        with pytest.raises(TypeError, match="must be a sharding, a device or a Part"):
            place(x, space.Host)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_program_traced_before_another_memory_was_named(kind):
    device = olympus.devices()[1]
    f = olympus.jit(lambda x: olympus.device_put(x, SingleDeviceSharding(device)) * 2)
    f(olympus.device_put(X, device))  # its program is kept
    far = olympus.device_put(X, SingleDeviceSharding(device, memory_kind=kind))
    text = f.trace(far).lower(lowering_platforms=("cuda",)).as_text()
    assert text.count('placement = "device"') == 1
    np.testing.assert_array_equal(f(far), 2 * X)


def test_arrays_are_made_in_the_memory_of_one_device_that_is_named():
    place = SingleDeviceSharding(olympus.devices()[0], memory_kind="pinned_host")
    x = jnp.arange(3.0)
    made = {
        "arange": jnp.arange(3, device=place),
        "array": jnp.array(x, device=place),
        "asarray": jnp.asarray([1.0], device=place),
        "astype": x.astype(int, device=place),
        "eye": jnp.eye(2, device=place),
        "fftfreq": jnp.fft.fftfreq(4, device=place),
        "full": jnp.full((1000, 1000), 2.0, device=place),
        "to_device": x.to_device(place),
        "zeros": jnp.zeros(2, device=place),
        "zeros_like": jnp.zeros_like(x, device=place),
    }
    kinds = {how: array.sharding.memory_kind for how, array in made.items()}
    assert set(kinds.values()) == {"pinned_host"}, kinds
    np.testing.assert_array_equal(made["to_device"], x)
