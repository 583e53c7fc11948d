"""Gradients of arrays of 64 bits that were made while those were on."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit])
def test_gradients_keep_the_width(wrap, dtype):
    with olympus.enable_x64(True):
        x = jnp.arange(3, dtype=dtype)
    with olympus.enable_x64(False):
        gradient = wrap(olympus.grad(lambda v: v.sum().real))(x)
        _, other = wrap(olympus.value_and_grad(lambda v: (v * v).sum().real))(x)
    assert gradient.dtype == other.dtype == dtype
    np.testing.assert_array_equal(gradient, np.ones(3))
    np.testing.assert_array_equal(other, [0, 2, 4])
