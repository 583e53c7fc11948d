"""`Traced.closure_convert`: the values that a function closed over as an argument."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

Y = jnp.arange(3.0)


def convert():
    jitted = olympus.jit(lambda x, n, *, z: {"out": (x + Y) * n * z}, static_argnums=1)
    return jitted.trace(jnp.ones(3), 2, z=3.0).closure_convert()


def test_the_function_of_its_values():
    values, f = convert()
    assert len(values) == 1
    expected = {"out": 6 * (1 + np.arange(3.0))}
    np.testing.assert_array_equal(f(values, jnp.ones(3), z=3.0)["out"], expected["out"])
    twice = olympus.jit(f)([2 * Y], jnp.ones(3), z=3.0)["out"]
    np.testing.assert_array_equal(twice, 6 * (1 + 2 * np.arange(3.0)))
    (slope,) = olympus.grad(lambda v: f(v, jnp.ones(3), z=3.0)["out"].sum())(values)
    np.testing.assert_array_equal(slope, [6, 6, 6])


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("arguments must be of the structure", lambda v, f: f(v, Y, 2, z=3.0)),
        (r"arguments must be of types \[f32\[3\], f32", lambda v, f: f(v, 1.0, z=3.0)),
        (r"values must be of types \[f32\[3\]\], got", lambda v, f: f([1], Y, z=3.0)),
        (r"values must be of types \[f32\[3\]\], got \[\]", lambda v, f: f([], Y, z=3)),
    ],
)
def test_errors(message, call):
    with pytest.raises(TypeError, match=message):
        call(*convert())
