"""Slices at positions outside of slices at positions outside: each is moved inside."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from olympus import lax

X = np.arange(80).reshape(10, 8)


@pytest.mark.parametrize("second", [0, 1, 5])
@pytest.mark.parametrize("first", [0, 3, 7, 9])
def test_each_is_moved_inside(first, second):
    def f(x, i, j):
        return lax.dynamic_slice(lax.dynamic_slice(x, (i, i), (3, 2)), (j, j), (2, 1))

    i, j, k = min(first, 7), min(first, 6), min(second, 1)
    expected = X[i : i + 3, j : j + 2][k : k + 2, k : k + 1]
    np.testing.assert_array_equal(olympus.jit(f)(X, first, second), expected)
