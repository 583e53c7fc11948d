"""Putting values on devices and reading them."""

import ml_dtypes
import numpy as np
import pytest
from programs import aval_of, put

import olympus
import olympus.numpy as jnp
from olympus._src.core.avals import ShapedArray
from olympus._src.runtime import client, placement, transfer

NUMPY_DTYPES = ["bool", "float16", "float32", "float64", "complex64", "complex128"]
NUMPY_DTYPES += [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
OTHER_DTYPES = ["bfloat16", "int2", "int4", "uint2", "uint4", "float4_e2m1fn"]
OTHER_DTYPES += ["float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn"]
OTHER_DTYPES += ["float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]


def same(array, x):
    value = placement.get(array)
    assert value.dtype == x.dtype
    assert value.shape == x.shape
    # Bytes, since NaN is unequal to itself.
    assert value.tobytes() == np.ascontiguousarray(x).tobytes()


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0, 3), (2, 0)], ids=str)
@pytest.mark.parametrize("name", NUMPY_DTYPES + OTHER_DTYPES)
def test_values_come_back(name, shape):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    x = (np.arange(np.prod(shape, dtype=int)) % 2).reshape(shape).astype(dtype)
    same(put(x), x)


@pytest.mark.parametrize(
    "x",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.arange(12)[::-2],
        np.broadcast_to(np.float32(3), (2, 3)),
        np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)),
        np.arange(24).reshape(2, 3, 4)[:, 1:, ::2],
    ],
    ids=["transposed", "reversed", "broadcast", "fortran", "sliced"],
)
def test_strides(x):
    same(put(x), x)


def test_foreign_byte_order():
    x = np.arange(4, dtype=">i4")
    same(put(x), np.arange(4, dtype=np.int32))


def test_another_dtype_is_converted():
    array = placement.put(np.arange(3), ShapedArray((3,), np.dtype(np.float32)))
    same(array, np.arange(3, dtype=np.float32))


def test_64_bits_do_not_depend_on_any_setting():
    same(put(np.array([2**40])), np.array([2**40]))
    same(put(np.array([1e300])), np.array([1e300]))


def test_numpy_scalars():
    x = np.float32(2.5)
    array = placement.put(x, aval_of(x))
    assert array.shape == ()
    assert array.item() == 2.5


@pytest.mark.parametrize("n", [1, 100, 1 << 20])
def test_later_changes_of_the_source_do_not_show(n):
    raw = np.zeros(n * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    x = raw[start : start + n * 4].view(np.float32)  # as XLA likes it: it could share
    array = put(x)
    x[:] = 7
    assert not placement.get(array).any()


def test_a_read_only_source_that_becomes_writable():
    x = np.zeros(16, np.float32)
    x.flags.writeable = False
    array = put(x)
    x.flags.writeable = True
    x[:] = 1
    assert not placement.get(array).any()


def filled(n, value, dtype=np.float32):
    memory = []

    def write(out):
        out.fill(value)
        memory.append(out)

    array = placement.fill(write, ShapedArray((n,), np.dtype(dtype)))
    return array, memory[0]


def test_large_memory_that_was_filled_is_shared():
    array, memory = filled(100_000, 3)
    assert array.unsafe_buffer_pointer() == memory.ctypes.data
    assert not memory.flags.writeable
    same(array, np.full(100_000, 3, np.float32))


def test_small_memory_that_was_filled_is_copied():
    array, memory = filled(100, 3)
    memory[:] = 4
    same(array, np.full(100, 3, np.float32))


def test_packed_elements_that_were_filled():
    array, _ = filled(200_000, 3, ml_dtypes.int4)
    same(array, np.full(200_000, 3, ml_dtypes.int4))


def test_shared_memory_is_not_written_when_it_is_donated():
    array, memory = filled(100_000, 3)
    out = olympus.jit(lambda x: x + 1, donate_argnums=0)(array)
    assert (np.asarray(out) == 4).all()
    assert (memory == 3).all()
    assert array.is_deleted()


def test_the_host_view_is_shared_and_read_only():
    array = put(np.arange(1000.0))
    view = placement.get(array)
    assert view.ctypes.data == array.unsafe_buffer_pointer()
    assert placement.get(array) is view
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


def test_a_view_outlives_its_array():
    array = put(np.full(1000, 7.0))
    view = placement.get(array)
    del array
    others = [put(np.zeros(1000)) for _ in range(50)]
    assert (view == 7).all()
    assert len(others) == 50


def test_committed_only_where_asked():
    device = client.devices("cpu")[0]
    assert not put(np.ones(3)).committed
    array = put(np.ones(3), device)
    assert array.committed
    assert array.committed_device == device


def test_copy_to_the_same_device_shares():
    device = client.devices("cpu")[0]
    array = put(np.arange(3.0))
    moved = placement.copy_to_device(array, device)
    assert moved.committed
    assert moved.unsafe_buffer_pointer() == array.unsafe_buffer_pointer()
    assert placement.copy_to_device(moved, device) is moved


def test_waiting_for_many():
    arrays = [put(np.ones(3)) for _ in range(3)]
    placement.block_until_ready(arrays)
    arrays[1].delete()
    with pytest.raises(RuntimeError, match="has been deleted"):
        placement.block_until_ready(arrays)


def test_views_of_other_dtypes_outlive_their_arrays():
    x = np.arange(1000).astype(ml_dtypes.bfloat16)
    view = placement.get(put(x))
    others = [put(np.zeros(1000, np.float16)) for _ in range(50)]
    assert (view == x).all()
    assert not view.flags.writeable
    assert len(others) == 50


def test_arguments_may_be_overwritten_while_the_program_runs():
    @olympus.jit
    def slow(x, y):
        y = olympus.lax.fori_loop(0, 50, lambda i, y: jnp.sin(y) @ y, y)
        return x, y.sum(), x * 2

    y = jnp.ones((200, 200))
    for _ in range(3):
        x = transfer.aligned_empty((1_000_000,), np.dtype("float32"))
        x[:] = 1
        same, _, double = slow(x, y)
        x[:] = 7
        assert (np.asarray(same) == 1).all()
        assert (np.asarray(double) == 2).all()
