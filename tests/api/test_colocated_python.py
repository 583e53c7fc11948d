"""Python functions that run on the host of the devices of their arguments."""

import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus.experimental.colocated_python import (
    colocated_cpu_devices,
    colocated_python,
    colocated_python_class,
)
from tests import fresh


def increment(x):
    return x + 1


run = colocated_python(increment)


@colocated_python_class
class Counter:
    """Adds up what it is given."""

    start = 5.0

    def __init__(self, total):
        self.total = total

    def add(self, x):
        self.total = self.total + x
        return self.total


def test_a_function_of_trees():
    pairs = colocated_python(lambda x, *, y: {"a": x - y, "b": (y,)})
    out = pairs(jnp.ones(2), y=jnp.arange(2.0))
    np.testing.assert_array_equal(out["a"], [1.0, 0.0])
    assert run.__name__ == "increment"
    assert colocated_python(lambda x: None)(jnp.ones(1)) is None


def test_functions_may_look_at_values():
    take_positive = colocated_python(lambda x: x[np.asarray(x) > 0])
    np.testing.assert_array_equal(take_positive(jnp.array([1, -1, 2])), [1, 2])


def test_without_arguments_devices_are_required():
    ones = colocated_python(lambda: jnp.ones(2))
    with pytest.raises(ValueError, match=r"requires devices, .*specialize\(devices="):
        ones()
    assert ones.specialize(devices=olympus.devices()[:1])().shape == (2,)


def spec(n):
    return olympus.ShapeDtypeStruct((n,), np.dtype("float32"))


def test_specialized_functions_check_types():
    fixed = run.specialize(in_specs=((spec(2),), {}), out_specs_fn=lambda x: spec(2))
    fixed(jnp.ones(2))
    with pytest.raises(TypeError, match=r"of increment must be f32\[2\], .*3"):
        fixed(jnp.ones(3))
    with pytest.raises(TypeError, match="arguments of increment must be a tree like"):
        fixed(x=jnp.ones(2))
    with pytest.raises(TypeError, match=r"results of increment must be f32\[3\]"):
        run.specialize(out_specs_fn=lambda x: spec(3))(jnp.ones(2))
    with pytest.raises(ValueError, match="got in_specs again"):
        fixed.specialize(in_specs=((spec(2),), {}))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: run(np.ones(2)),
            "of increment must be arrays, got .*ndarray",
        ),
        (lambda: run(1.0), "of increment must be arrays, got .* float"),
        (lambda: olympus.jit(run)(1.0), "concrete arrays, got a traced f32"),
        (lambda: olympus.grad(run)(1.0), "use olympus.pure_callback"),
        (lambda: colocated_python(lambda x: 1.0)(jnp.ones(1)), "results of .* float"),
        (lambda: colocated_cpu_devices(3), "devices or a mesh are required, got 3"),
    ],
)
def test_wrong_calls(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_errors_of_the_function_are_raised():
    with pytest.raises(ZeroDivisionError):
        colocated_python(lambda x: 1 / 0)(jnp.ones(1))


def test_an_object_lives_between_calls():
    counter = Counter(10)
    counter.add(jnp.ones(2))
    np.testing.assert_array_equal(counter.add(jnp.ones(2)), [12.0, 12.0])
    assert Counter.__doc__ == "Adds up what it is given."
    specialized = counter.add.specialize(devices=olympus.devices()[:1])
    np.testing.assert_array_equal(specialized(jnp.ones(2)), [13.0, 13.0])
    for name in ("total", "start", "missing"):
        with pytest.raises(AttributeError, match=f"Counter has no method '{name}'"):
            getattr(counter, name)


def test_an_object_is_made_once_by_the_first_call():
    objects = []

    @colocated_python_class
    class Noted:
        def __init__(self):
            objects.append(self)

        def same(self, x):
            return x

    noted = Noted()
    assert not objects
    x = jnp.ones(1)
    threads = [threading.Thread(target=noted.same, args=(x,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(objects) == 1


EIGHT_DEVICES = """
import olympus
import olympus.numpy as jnp
from olympus.experimental.colocated_python import (
    colocated_cpu_devices,
    colocated_python,
)
from olympus.sharding import NamedSharding
from olympus.sharding import PartitionSpec as P

run = colocated_python(lambda x: x + 1)
devices = olympus.devices()
x = olympus.device_put(jnp.ones(8), devices[1])
assert run(x).devices() == {devices[1]}
new = colocated_python(lambda x: jnp.arange(3))
assert new(x).devices() == {devices[1]}
mesh = olympus.make_mesh((8,), ("i",))
divided = olympus.device_put(jnp.arange(8.0), NamedSharding(mesh, P("i")))
assert run(divided).sharding == divided.sharding
try:
    colocated_python(lambda x, y: x)(x, divided)
except ValueError as error:
    assert "on the same devices, got (cpu:0, " in str(error), error
else:
    raise AssertionError("arguments on different devices were taken")
assert colocated_cpu_devices(tuple(devices)) == devices
assert colocated_cpu_devices(mesh) == mesh
"""


def test_eight_devices():
    fresh.run(EIGHT_DEVICES, XLA_FLAGS="--xla_force_host_platform_device_count=8")
