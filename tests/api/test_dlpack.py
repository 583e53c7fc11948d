"""Arrays pass to and from other libraries by DLPack."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp


@pytest.mark.parametrize("dtype", ["float32", "int8", "complex64", "bool"])
def test_round_trip_without_a_copy(dtype):
    host = np.arange(16).reshape(4, 4).astype(dtype)
    x = jnp.from_dlpack(host)
    assert x.dtype == host.dtype
    np.testing.assert_array_equal(np.asarray(x), host)
    back = np.from_dlpack(x)
    assert back.ctypes.data == x.unsafe_buffer_pointer()
    np.testing.assert_array_equal(back, host)
    np.testing.assert_array_equal(
        olympus.dlpack.from_dlpack(host), jnp.from_dlpack(host)
    )


def test_64_bits_are_narrowed_or_refused():
    host = np.arange(4.0)
    assert jnp.from_dlpack(host).dtype == np.float32
    with pytest.raises(ValueError, match="copy=False"):
        jnp.from_dlpack(host, copy=False)
    with olympus.enable_x64(True):
        assert jnp.from_dlpack(host).dtype == np.float64


def test_what_does_not_speak_it():
    with pytest.raises(TypeError, match="__dlpack__"):
        jnp.from_dlpack([1, 2])
