"""Slices of known size and start are inside of their axis, or an error."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp


@pytest.mark.parametrize("place", [(6, 4), (-1, 2), (0, 9), (7, 2, 3), (9, 0)])
@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit])
def test_a_known_slice_that_reaches_outside_is_an_error(place, wrap):
    def read(x):
        return olympus.new_ref(x)[olympus.ds(*place)]

    def write(x):
        olympus.new_ref(x)[olympus.ds(*place)] = 9

    for f in (read, write):
        with pytest.raises(IndexError, match="ds: a slice must fit its axis"):
            wrap(f)(jnp.arange(8))


@pytest.mark.parametrize("place", [(4, 4), (0, 0), (8, 0), (1, 3, 3)])
def test_a_known_slice_inside(place):
    start, size, *step = place
    got = olympus.new_ref(jnp.arange(8))[olympus.ds(*place)]
    wanted = start + np.arange(size) * (step[0] if step else 1)
    np.testing.assert_array_equal(got, wanted)
