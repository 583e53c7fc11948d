"""Choices between scalars and arrays."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.experimental import jet

ROW = np.array([1.0, 2.0, 3.0], np.float32)

# Only a scalar case varies, and the other one has the shape of the result.
CHOICES = {
    "where": lambda p: jnp.where(p > 0, p, ROW),
    "a constant": lambda p: jnp.where(True, p, ROW),
    "select_n": lambda p: lax.select_n(np.int32(1), ROW, p, ROW),
}


@pytest.mark.parametrize("choose", CHOICES.values(), ids=CHOICES)
def test_tangents_of_scalars_have_the_shape_of_the_result(choose):
    _, tangent = olympus.jvp(choose, (2.0,), (1.5,))
    np.testing.assert_array_equal(tangent, np.full(3, 1.5))
    _, linear = olympus.linearize(choose, 2.0)
    np.testing.assert_array_equal(linear(1.5), np.full(3, 1.5))
    np.testing.assert_array_equal(olympus.jacfwd(choose)(2.0), np.ones(3))
    np.testing.assert_array_equal(olympus.jacrev(choose)(2.0), np.ones(3))
    mapped = olympus.vmap(olympus.jacfwd(choose))(ROW)
    np.testing.assert_array_equal(mapped, np.ones((3, 3)))
    _, (slope,) = jet.jet(choose, (2.0,), ((1.5,),))
    np.testing.assert_array_equal(slope, np.full(3, 1.5))
