"""Slices at positions outside of slices at positions outside: each is moved inside."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.export
from olympus import lax
from olympus._src.runtime import versions

X = np.arange(80).reshape(10, 8)


@pytest.mark.parametrize("second", [0, 1, 5])
@pytest.mark.parametrize("first", [0, 3, 7, 9])
def test_each_is_moved_inside(first, second):
    def f(x, i, j):
        return lax.dynamic_slice(lax.dynamic_slice(x, (i, i), (3, 2)), (j, j), (2, 1))

    i, j, k = min(first, 7), min(first, 6), min(second, 1)
    expected = X[i : i + 3, j : j + 2][k : k + 2, k : k + 1]
    np.testing.assert_array_equal(olympus.jit(f)(X, first, second), expected)


def take(x, start, size):
    """A slice moved inside, by NumPy."""
    starts = [min(i, n - k) for i, n, k in zip(start, x.shape, size, strict=True)]
    return x[tuple(slice(i, i + k) for i, k in zip(starts, size, strict=True))]


def test_slices_of_slices_of_slices():
    def f(x, i, j):
        x = lax.dynamic_slice(x, (i, 0), (6, 5))
        x = lax.dynamic_slice(x, (j, 1), (4, 3))
        return lax.dynamic_slice(x, (i, j), (2, 2))

    run = olympus.jit(f)
    for i in range(13):
        for j in range(13):
            expected = take(
                take(take(X, (i, 0), (6, 5)), (j, 1), (4, 3)), (i, j), (2, 2)
            )
            np.testing.assert_array_equal(run(X, i, j), expected)


def test_updates_of_slices_of_slices():
    def f(x, i, j):
        part = lax.dynamic_slice(x, (i, i), (5, 4))
        part = lax.dynamic_update_slice(part, np.full((2, 2), 7), (j, j))
        return lax.dynamic_update_slice(x, part + 1, (j, i))

    run = olympus.jit(f)
    for i in range(12):
        for j in range(12):
            part = take(X, (i, i), (5, 4)).copy()
            take(part, (j, j), (2, 2))[:] = 7
            expected = X.copy()
            take(expected, (j, i), (5, 4))[:] = part + 1
            np.testing.assert_array_equal(run(X, i, j), expected)


def test_who_moves_slices():
    run = olympus.jit(lambda x, i: lax.dynamic_slice(x, (i, i), (2, 2)))
    is_right = versions.JAXLIB_VERSION >= (0, 12)
    assert ("stablehlo.clamp" in run.lower(X, 3).as_text()) is not is_right
    exported = olympus.export.export(run)(X, 3)  # for other versions, which may not
    assert "stablehlo.clamp" in exported.mlir_module()


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8", "uint32", "int4"])
@pytest.mark.parametrize("name", ["set", "add", "min", "multiply", "apply"])
def test_updates_outside_of_slices_write_nothing(name, dtype):
    numbers = lax.ScatterDimensionNumbers((), (0, 1), (0, 1))
    update = np.array([3])

    def scatter(x, indices):
        if name == "apply":
            return lax.scatter_apply(
                x, indices, lambda v: 2 * v, numbers, update_shape=(1,)
            )
        full = {"set": "scatter", "multiply": "scatter_mul"}.get(
            name, f"scatter_{name}"
        )
        return getattr(lax, full)(x, indices, update, numbers)

    def f(x, i, j):
        return scatter(lax.dynamic_slice(x, (i, i), (3, 2)), j)

    change = {
        "set": lambda v: 3,
        "add": lambda v: v + 3,
        "min": lambda v: min(v, 3),
        "multiply": lambda v: v * 3,
        "apply": lambda v: v * 2,
    }[name]
    run = olympus.jit(f)
    for i, j, k in [(0, 0, 1), (3, 5, 0), (6, 2, 2), (2, 2, 1), (7, 1, 1), (1, 3, 0)]:
        start = min(i, 6)
        expected = X[i : i + 3, start : start + 2].copy()
        if j < 3 and k < 2:
            expected[j, k] = change(expected[j, k])
        index = olympus.numpy.array([[j, k]], dtype)
        np.testing.assert_array_equal(run(X, i, index), expected)
