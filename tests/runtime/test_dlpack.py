"""Arrays passed to other libraries and taken from them."""

import ml_dtypes
import numpy as np
import pytest
from programs import aval_of, call, double, load, put

from olympus._src.core.avals import ShapedArray
from olympus._src.runtime import dlpack_struct, placement, transfer
from olympus._src.runtime.array import ArrayImpl


def take(x, **options):
    return placement.from_dlpack(x, ShapedArray, **options)


class Foreign:
    """Another library's array, which knows DLPack and nothing else."""

    def __init__(self, array, device=None):
        self._array = array
        self._device = device

    def __dlpack__(self, **options):
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return self._device or self._array.__dlpack_device__()


def test_numpy_reads_without_a_copy():
    x = put(np.arange(6.0).reshape(2, 3))
    y = np.from_dlpack(x)
    assert y.tolist() == x.tolist()
    assert y.ctypes.data == x.unsafe_buffer_pointer()


def test_the_memory_outlives_the_array():
    x = put(np.full(1000, 7.0))
    y = np.from_dlpack(x)
    del x
    others = [put(np.zeros(1000)) for _ in range(50)]
    assert (y == 7).all()
    assert len(others) == 50


def test_computed_arrays_are_awaited():
    x = put(np.ones(1000, np.float32))
    (y,) = call(load(double((1000,)), x.aval), x)
    assert np.from_dlpack(y)[0] == 2


def test_taken_without_a_copy_from_aligned_memory():
    x = transfer.aligned_empty((100,), np.dtype(np.float32))
    x[:] = 3
    y = take(Foreign(x))
    assert type(y) is ArrayImpl
    assert y.unsafe_buffer_pointer() == x.ctypes.data
    assert y.tolist() == [3] * 100
    assert take(Foreign(x), copy=False).unsafe_buffer_pointer() == x.ctypes.data
    assert take(Foreign(x), copy=True).unsafe_buffer_pointer() != x.ctypes.data


def test_shared_memory_is_kept_alive():
    x = transfer.aligned_empty((100,), np.dtype(np.float32))
    x[:] = 3
    y = take(Foreign(x))
    del x
    others = [np.zeros(100, np.float32) for _ in range(50)]
    assert y.tolist() == [3] * 100
    assert len(others) == 50


def test_unaligned_memory_is_copied_or_refused():
    x = transfer.aligned_empty((101,), np.dtype(np.float32))[1:]
    x[:] = 3
    y = take(Foreign(x))
    x[:] = 4
    assert y.tolist() == [3] * 100
    with pytest.raises(ValueError, match="copy=False requires contiguous memory"):
        take(Foreign(x), copy=False)


def test_strided_memory():
    x = np.arange(6.0).reshape(2, 3).T
    assert take(Foreign(x)).tolist() == x.tolist()


def test_a_narrower_dtype_is_converted():
    def narrow(shape, dtype):
        return ShapedArray(shape, np.dtype(np.int32))

    y = placement.from_dlpack(Foreign(np.arange(3)), narrow)
    assert y.dtype == np.int32
    assert y.tolist() == [0, 1, 2]


def test_our_own_arrays():
    x = put(np.arange(3))
    assert take(x).tolist() == [0, 1, 2]


def test_dtypes_that_numpy_lacks():
    x = put(np.array([1, 2, 3], ml_dtypes.bfloat16))
    y = take(Foreign(x))
    assert y.dtype == ml_dtypes.bfloat16
    assert np.asarray(y).astype(np.float32).tolist() == [1, 2, 3]
    (z,) = call(load(double((3,), "bf16"), aval_of(np.asarray(y))), y)
    assert np.asarray(z).astype(np.float32).tolist() == [2, 4, 6]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "complex64"])
def test_what_capsules_say(dtype):
    x = put(np.zeros((2, 3), dtype))
    assert dlpack_struct.read(x.__dlpack__()) == ((2, 3), np.dtype(dtype))


def test_a_used_capsule():
    capsule = put(np.ones(3)).__dlpack__()
    np.from_dlpack(Capsule(capsule))
    with pytest.raises(BufferError, match="a capsule can be used once"):
        dlpack_struct.read(capsule)


class Capsule:
    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **options):
        return self._capsule

    def __dlpack_device__(self):
        return (1, 0)


def test_devices():
    x = put(np.ones(3))
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="dl_device must be where the array is"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="device kind 99"):
        take(Foreign(np.ones(3), (99, 0)))


def test_objects_that_do_not_speak_it():
    with pytest.raises(TypeError, match="requires an object with __dlpack__"):
        take([1, 2, 3])


def test_a_copy_is_asked():
    x = put(np.ones(100))
    y = np.from_dlpack(Capsule(x.__dlpack__(copy=True)))
    assert y.ctypes.data != x.unsafe_buffer_pointer()
