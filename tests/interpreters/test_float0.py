"""Tangents of integers and booleans go in and out of compiled functions."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax


def tangent_of_sign(x):
    return olympus.jvp(lambda x: x > 0, (x,), (jnp.ones_like(x),))[1]


@pytest.mark.parametrize(
    ("f", "shape"),
    [
        (tangent_of_sign, (3,)),
        (lambda x: olympus.jit(tangent_of_sign)(x), (3,)),
        (
            lambda x: lax.map(lambda _: tangent_of_sign(x), np.arange(2)),
            (2, 3),
        ),
        (lambda x: lax.cond(x[0] > 0, tangent_of_sign, tangent_of_sign, x), (3,)),
        (olympus.vmap(tangent_of_sign), (3,)),
    ],
)
def test_results_are_numpy_arrays_of_float0(f, shape):
    found = olympus.jit(f)(np.ones(3, np.float32))
    assert isinstance(found, np.ndarray)
    assert found.dtype == olympus.float0
    assert found.shape == shape


def test_gradients_of_integers():
    slope = olympus.jit(olympus.grad(lambda n: n * 2.0, allow_int=True))(3)
    assert slope.dtype == olympus.float0


def test_arguments():
    _, pullback = olympus.vjp(lambda x: jnp.sum(x).astype(int), jnp.ones(3))
    zero = np.zeros((), olympus.float0)
    np.testing.assert_array_equal(olympus.jit(pullback)(zero)[0], np.zeros(3))
    same, one = olympus.jit(lambda t: (t, 1))(zero)
    assert same.dtype == olympus.float0
    assert int(one) == 1
