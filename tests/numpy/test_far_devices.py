"""Arrays for devices with a memory of their own are made there, of equal values."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus._src.interpreters import concrete_arrays
from olympus._src.runtime import placement

MAKE = {
    "zeros": lambda: jnp.zeros((40, 50)),
    "zeros of bfloat16": lambda: jnp.zeros((40, 100), "bfloat16"),
    "ones": lambda: jnp.ones(5000, "int8"),
    "booleans": lambda: jnp.ones((50, 200), bool),
    "full": lambda: jnp.full((40, 50), 2.5),
    "full of integers": lambda: jnp.full((40, 50), -3),
    "full of NaN": lambda: jnp.full(2000, np.nan),
    "complex": lambda: jnp.full(2000, 1 + 2j),
    "like": lambda: jnp.zeros_like(np.ones((60, 50), np.int16)),
    "eye": lambda: jnp.eye(40, 50, k=-3),
    "triangle": lambda: jnp.tri(40, 50, 2),
    "range": lambda: jnp.arange(2000),
    "range of floats": lambda: jnp.arange(2000.0),
    "range by three": lambda: jnp.arange(5, 8000, 3),
    "range to a fraction": lambda: jnp.arange(1999.5),
    "on a device": lambda: jnp.ones((40, 50), device=olympus.devices()[0]),
}


def result(make):
    array = make()
    facts = array.dtype, array.weak_type, array.committed, array.devices()
    return np.asarray(array), facts


@pytest.fixture
def moved(monkeypatch):
    """Has the device count as far; the sizes of the arrays that are moved there."""
    sizes = []
    put = placement.put

    def counted(x, *args):
        sizes.append(np.asarray(x).nbytes)
        return put(x, *args)

    monkeypatch.setattr(concrete_arrays, "is_near", lambda device=None: False)
    monkeypatch.setattr(placement, "put", counted)
    return sizes


@pytest.mark.parametrize("name", MAKE)
def test_values_are_the_same(name, request):
    make = MAKE[name]
    near, facts = result(make)
    sizes = request.getfixturevalue("moved")
    far, same = result(make)
    assert same == facts
    np.testing.assert_array_equal(far, near)
    assert name == "range by three" or max(sizes, default=0) < 100


def test_small_ones_are_moved(moved):
    np.testing.assert_array_equal(jnp.full(100, 2), np.full(100, 2))
    assert max(moved) == 400


def test_endless_ranges_are_refused_as_before(moved):
    with pytest.raises((ValueError, OverflowError)):
        jnp.arange(np.inf)


def test_a_cpu_is_near():
    assert concrete_arrays.is_near()
    assert concrete_arrays.is_near(olympus.devices()[0])
