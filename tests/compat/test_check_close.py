"""Differences that `check_close` allows, which tests of libraries rely on."""

import ml_dtypes
import numpy as np
import pytest

import olympus
from olympus._src.compat.pages._src import public_test_util

# By dtype the differences from 0, and from 1000 by its parts, that were recorded from
# JAX 0.12.0.1.
ALLOWED = {
    np.float16: 1e-3,
    ml_dtypes.bfloat16: 1e-2,
    np.float32: 1e-6,
    np.complex64: 1e-6,
    np.float64: 1e-6,  # of which 32 bits count
    np.complex128: 1e-6,
}


def is_close(x, y, **tolerances):
    try:
        public_test_util.check_close(x, y, **tolerances)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("dtype", ALLOWED, ids=lambda d: np.dtype(d).name)
def test_differences_without_tolerances(dtype):
    near, far = (np.full(2, f * ALLOWED[dtype]).astype(dtype) for f in (0.9, 1.1))
    zero = np.zeros(2, dtype)
    assert is_close({"a": zero}, {"a": near})
    assert not is_close(zero, far)


def test_64_bit_values_are_as_exact_as_they_are():
    with olympus.enable_x64(True):
        assert is_close(np.ones(1), np.ones(1) + 1e-15)
        assert not is_close(np.ones(1), np.ones(1) + 1e-14)
        assert not is_close(np.ones(1) + 0j, np.ones(1) + 1e-14j)


def test_tolerances_by_dtype_leave_those_of_others():
    tolerances = {key: {"float32": 1e-2} for key in ("atol", "rtol")}
    x = np.ones(2, np.float32)
    assert is_close(x, x + np.float32(1e-3), **tolerances)
    assert not is_close(x + 0j, x + 1e-3 + 0j, **tolerances)
    assert is_close((x + 0j).astype("complex64"), x + np.complex64(2e-7), **tolerances)
    assert is_close(x + 0j, x + 1e-3 + 0j, rtol=1e-2)


def test_integers_are_equal_or_not():
    assert is_close(np.arange(3), np.arange(3))
    assert not is_close(np.arange(3), np.arange(3) + 1)
    assert not is_close(np.array([True]), np.array([False]))
