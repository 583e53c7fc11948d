"""Arrays in files."""

import io

import ml_dtypes
import numpy as np
import pytest

import olympus.numpy as jnp


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "int8"])
def test_what_was_saved_is_loaded(dtype):
    x, file = jnp.arange(3, dtype=dtype), io.BytesIO()
    jnp.save(file, x)
    file.seek(0)
    y = jnp.load(file)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, x)


def test_numbers_of_one_byte_without_a_name_are_refused():
    file = io.BytesIO()
    np.save(file, np.arange(3).astype(ml_dtypes.float8_e4m3fn))
    file.seek(0)
    with pytest.raises(TypeError):
        jnp.load(file)
