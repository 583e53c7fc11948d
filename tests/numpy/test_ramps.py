"""Arrays padded by ramps, against whole numbers of Python."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32"])
@pytest.mark.parametrize("n", [(3, 0), (0, 7), (6, 49)])
def test_ramps_of_integers_are_rounded_down_exactly(dtype, n):
    """A float of 32 bits missed 1 from below, in one of two builds of a program."""
    info = np.iinfo(dtype)
    x = np.array([[info.min, 3, info.max], [0, 1, info.max // 3]], dtype)
    end = np.array(info.max // 2, dtype)

    def ramp(edge, step, length):
        return int(end) + (int(edge) - int(end)) * step // length

    want = [
        [ramp(row[0], i, n[0]) for i in range(n[0])]
        + row.tolist()
        + [ramp(row[-1], i, n[1]) for i in reversed(range(n[1]))]
        for row in x
    ]

    def pad(x):
        return jnp.pad(x, ((0, 0), n), "linear_ramp", end_values=end)

    for f in (pad, olympus.jit(pad)):
        np.testing.assert_array_equal(f(x), np.array(want).astype(dtype))
    assert pad(x[:0]).shape == (0, 3 + sum(n))


def test_ramps_of_integers_to_fractions_and_of_floats():
    pad = lambda x: jnp.pad(x, 2, "linear_ramp", end_values=(2.5, -1))  # noqa: E731
    np.testing.assert_array_equal(pad(jnp.arange(3)), [2, 1, 0, 1, 2, 0, -1])
    want = [2.5, 1.25, 0.0, 1.0, 2.0, 0.5, -1.0]
    np.testing.assert_array_equal(pad(jnp.arange(3.0)), want)
