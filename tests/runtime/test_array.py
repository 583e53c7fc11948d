"""The concrete array."""

import collections.abc
import copy
import pickle
import sys

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from programs import put

import olympus
from olympus._src.runtime import client
from olympus._src.runtime.array import ArrayImpl, install

# -- printing, recorded from jax 0.12 --------------------------------------------------

PRINTED = [
    (np.float32(3), False, "Array(3., dtype=float32)"),
    (np.int32(10), True, "Array(10, dtype=int32, weak_type=True)"),
    (np.array(True), False, "Array(True, dtype=bool)"),
    (np.zeros((0, 3), np.float32), False, "Array([], shape=(0, 3), dtype=float32)"),
    (
        np.array([[1, 5], [13, 17]], np.float32),
        False,
        "Array([[ 1.,  5.],\n       [13., 17.]], dtype=float32)",
    ),
    (
        np.zeros((2, 2), ml_dtypes.bfloat16),
        False,
        "Array([[0, 0],\n       [0, 0]], dtype=bfloat16)",
    ),
    (np.array([True, False]), False, "Array([ True, False], dtype=bool)"),
    (
        np.array([1 + 2j, 3], np.complex64),
        False,
        "Array([1.+2.j, 3.+0.j], dtype=complex64)",
    ),
    (
        np.arange(2000, dtype=np.int32),
        False,
        "Array([   0,    1,    2, ..., 1997, 1998, 1999], dtype=int32)",
    ),
    (
        np.arange(20, dtype=np.int32),
        False,
        "Array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16,\n"
        "       17, 18, 19], dtype=int32)",
    ),
    (
        (np.arange(30, dtype=np.float32) / np.float32(7))[20:],
        False,
        "Array([2.857143 , 3.       , 3.142857 , 3.2857144, 3.4285715, 3.5714285,\n"
        "       3.7142856, 3.857143 , 4.       , 4.142857 ], dtype=float32)",
    ),
    (
        np.arange(24, dtype=np.float32).reshape(2, 3, 4),
        False,
        "Array([[[ 0.,  1.,  2.,  3.],\n        [ 4.,  5.,  6.,  7.],\n"
        "        [ 8.,  9., 10., 11.]],\n\n       [[12., 13., 14., 15.],\n"
        "        [16., 17., 18., 19.],\n        [20., 21., 22., 23.]]], "
        "dtype=float32)",
    ),
    # A last line that the dtype would overflow keeps it, behind a wider gap.
    (
        np.arange(13, dtype=np.int32) + 10000,
        True,
        "Array([10000, 10001, 10002, 10003, 10004, 10005, 10006, 10007, 10008,\n"
        "       10009, 10010, 10011, 10012], dtype=int32, weak_type=True)",
    ),
    (
        np.arange(17, dtype=np.int32) + 10000,
        True,
        "Array([10000, 10001, 10002, 10003, 10004, 10005, 10006, 10007, 10008,\n"
        "       10009, 10010, 10011, 10012, 10013, 10014, 10015, 10016],      "
        "dtype=int32, weak_type=True)",
    ),
]


@pytest.mark.parametrize(
    ("x", "weak", "text"), PRINTED, ids=[p[2][:30] for p in PRINTED]
)
def test_repr(x, weak, text):
    assert repr(put(x, weak_type=weak)) == text


def test_str_and_format_are_numpys():
    x = np.arange(3, dtype=np.float32)
    assert str(put(x)) == "[0. 1. 2.]"
    assert f"{put(x)}" == "[0. 1. 2.]"
    assert f"{put(np.float32(3)):.2f}" == "3.00"
    assert f"{put(np.int32(7)):d}" == "7"
    with pytest.raises(TypeError, match="unsupported format string"):
        format(put(x), ".2f")


# -- what it is ------------------------------------------------------------------------


def test_facts():
    x = put(np.zeros((2, 3), np.int16))
    assert x.shape == (2, 3)
    assert (x.ndim, x.size, x.itemsize, x.nbytes) == (2, 6, 2, 12)
    assert x.dtype == np.int16
    assert x.weak_type is False
    assert put(np.int32(1), weak_type=True).weak_type is True
    assert x.on_device_size_in_bytes() == 12


def test_where_it_is():
    device = client.devices("cpu")[0]
    x = put(np.arange(3), device)
    assert x.device == x.single_device == device
    assert x.devices() == {device}
    assert x.is_fully_addressable
    assert x.is_fully_replicated
    assert repr(x.sharding) == (
        "SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device)"
    )
    assert x.sharding.device_set == {device}
    assert x.sharding.shard_shape((3,)) == (3,)


def test_its_only_shard():
    x = put(np.arange(3))
    (shard,) = x.addressable_shards
    assert shard.index == (slice(None),)
    assert shard.replica_id == 0
    assert shard.data is x
    assert x.addressable_data(0) is x
    assert "Shard(device=CpuDevice(id=0), index=(slice(None, None, None),)" in repr(
        shard
    )


def test_shardings_compare_and_pickle():
    a, b = put(np.ones(1)).sharding, put(np.ones(2)).sharding
    assert a == b
    assert hash(a) == hash(b)
    assert pickle.loads(pickle.dumps(a)) == a
    assert a.is_equivalent_to(b, 1)
    with pytest.raises(ValueError, match="memory_kind: must be one of 'device'"):
        a.with_memory_kind("magnetic")


# -- its value -------------------------------------------------------------------------


def test_as_numpy():
    x = put(np.arange(3.0))
    view = np.asarray(x)
    assert not view.flags.writeable
    assert np.asarray(x, copy=False).ctypes.data == view.ctypes.data
    own = np.array(x)
    own[0] = 9
    assert x.item(0) == 0
    assert np.asarray(x, dtype=np.int32).dtype == np.int32
    with pytest.raises(ValueError, match="copy=False requires the array's own dtype"):
        x.__array__(np.int32, copy=False)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes of Python gained it")
def test_buffer_protocol():
    x = put(np.arange(3, dtype=np.int32))
    assert memoryview(x).tolist() == [0, 1, 2]
    assert bytes(x) == np.arange(3, dtype=np.int32).tobytes()


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize(
    "read", [np.asarray, np.array, np.add.reduce, ArrayImpl.__array__]
)
def test_long_integers_are_of_the_types_that_numpy_names(dtype, read):
    # NumPy has two equal types of 64 bits; it writes "dtype=int64" for one of them.
    for x in (put(np.arange(3, dtype=dtype)), olympus.jit(lambda x: x + 1)(dtype(3))):
        got = read(x) if read is not np.add.reduce or x.ndim else read(x[None])
        assert got.dtype.char == np.dtype(dtype).char


def test_numbers():
    assert int(put(np.int32(3))) == 3
    assert float(put(np.float32(0.5))) == 0.5
    assert complex(put(np.complex64(1j))) == 1j
    assert [10, 20, 30][put(np.int32(1))] == 20
    assert hex(put(np.int32(255))) == "0xff"
    assert put(np.arange(3)).item(2) == 2
    assert put(np.arange(4).reshape(2, 2)).tolist() == [[0, 1], [2, 3]]
    assert float(put(np.array(0.5, ml_dtypes.bfloat16))) == 0.5


def test_numbers_of_arrays_that_are_none():
    x = put(np.arange(3))
    for convert in (int, float, complex):
        with pytest.raises(TypeError, match=r"scalar arrays .*got arr.ndim=1"):
            convert(x)
    for bad in (x, put(np.float32(1)), put(np.array(True))):
        with pytest.raises(TypeError, match="Only integer scalar arrays"):
            bad.__index__()
    with pytest.raises(ValueError, match="size 1"):
        x.item()


def test_truth():
    assert put(np.array([[2]]))
    assert not put(np.float32(0))
    with pytest.raises(ValueError, match=r"ambiguous. Use a.any\(\) or a.all\(\)"):
        bool(put(np.arange(2)))
    with pytest.raises(ValueError, match="truth value of an empty array is ambiguous"):
        bool(put(np.zeros(0)))


def test_rows():
    x = put(np.arange(6, dtype=np.int16).reshape(3, 2), weak_type=True)
    rows = list(x)
    assert [r.tolist() for r in rows] == [[0, 1], [2, 3], [4, 5]]
    assert all(type(r) is ArrayImpl and r.weak_type for r in rows)
    assert [r.tolist() for r in reversed(x)] == [[4, 5], [2, 3], [0, 1]]
    first, second = put(np.arange(2))
    assert (first.shape, int(second)) == ((), 1)
    assert len(x) == 3


def test_scalars_have_no_rows():
    x = put(np.float32(1))
    with pytest.raises(TypeError, match="iteration over a 0-d array"):
        iter(x)
    with pytest.raises(TypeError, match="len\\(\\) of unsized object"):
        len(x)


def test_no_hash_and_no_assignment():
    x = put(np.arange(3))
    with pytest.raises(TypeError, match="unhashable type: 'ArrayImpl'"):
        hash(x)
    assert not isinstance(x, collections.abc.Hashable)
    with pytest.raises(TypeError, match=r"x = x.at\[idx\].set\(y\)"):
        x[0] = 1


# -- copies ----------------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_are_independent(duplicate):
    x = put(np.arange(3), weak_type=True)
    y = duplicate(x)
    x.delete()
    assert y.tolist() == [0, 1, 2]
    assert y.weak_type


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.int8, np.complex64, np.bool_]),
        hnp.array_shapes(min_dims=0, min_side=0),
    ),
    st.booleans(),
)
def test_pickles_come_back(x, weak):
    y = pickle.loads(pickle.dumps(put(x, weak_type=weak)))
    assert type(y) is ArrayImpl
    assert y.weak_type == weak
    assert np.asarray(y).tobytes() == x.tobytes()
    assert y.shape == x.shape


def test_damaged_pickles():
    make, (value, aval) = put(np.arange(3)).__reduce__()
    for wrong in (value[:2], value.astype(np.int16), None, "text"):
        with pytest.raises(ValueError, match="the file is damaged"):
            make(wrong, aval)


# -- its end ---------------------------------------------------------------------------

USES = {
    "value": np.asarray,
    "repr": repr,
    "wait": lambda x: x.block_until_ready(),
    "ready": lambda x: x.is_ready(),
    "rows": list,
    "copy": copy.copy,
    "pickle": pickle.dumps,
    "devices": lambda x: x.devices(),
    "dlpack": lambda x: x.__dlpack__(),
    "pointer": lambda x: x.unsafe_buffer_pointer(),
    "prefetch": lambda x: x.copy_to_host_async(),
    "bytes": lambda x: x.on_device_size_in_bytes(),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("read_before", [False, True])
def test_use_after_deletion(use, read_before):
    x = put(np.arange(4.0))
    if read_before:
        np.asarray(x)
    x.delete()
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match=r"has been deleted with shape=float64\[4\]"):
        use(x)


def test_deletion_twice_and_facts_after_it():
    x = put(np.arange(4.0))
    x.delete()
    x.delete()
    assert x.shape == (4,)
    assert x.nbytes == 32
    assert x.sharding is not None


def test_weak_references_and_no_dictionary():
    import weakref

    x = put(np.arange(3))
    reference = weakref.ref(x)
    with pytest.raises(AttributeError):
        x.note = 1
    del x
    assert reference() is None


def test_methods_can_be_installed():
    install("_test_sum", lambda self: int(np.asarray(self).sum()))
    try:
        assert put(np.arange(4))._test_sum() == 6
    finally:
        del ArrayImpl._test_sum
