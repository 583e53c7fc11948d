"""Filled arrays: what NumPy's values give, and what is refused."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax


@pytest.mark.parametrize(
    "value", [np.ones(2), np.float64(1), np.ones((1,), np.int8), np.array(1)]
)
def test_filling_with_numpy_values_gives_an_array(value):
    filled = jnp.full(2, value)
    assert isinstance(filled, olympus.Array)
    np.testing.assert_array_equal(filled, [1, 1])


def test_filling_takes_wide_numpy_integers_into_floats():
    np.testing.assert_array_equal(
        jnp.full(2, np.int64(2**40), "float32"), np.float32([2**40] * 2)
    )


def test_linspace_refuses_masked_arrays():
    with pytest.raises(ValueError, match="masked arrays are not supported"):
        jnp.linspace(0, np.ma.array([1.0, 2.0], mask=[0, 1]), 2)


@pytest.mark.parametrize("pred", [2**40, np.int64(2**40), 1e-50, np.float64(1e-50)])
def test_cond_asks_numbers_before_they_are_made_narrow(pred):
    assert lax.cond(pred, lambda: 1, lambda: 2) == 1


def test_wide_integers_become_floats_before_they_are_cut():
    x = lax.convert_element_type(np.int64(2**40), "float32")
    assert isinstance(x, olympus.Array)
    assert x == np.float32(2**40)
