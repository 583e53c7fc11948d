"""Axes whose positions int32 does not hold: right with 64 bits, refused without."""

import numpy as np
import pytest

import olympus as ol
import olympus.numpy as jnp
from olympus import lax

SIZE = 2**31 + 1000
FAR = 2**31 + 5
LONG = ol.ShapeDtypeStruct((SIZE,), np.uint8)
LAST = np.array([-1], np.int32)
WORD = np.array([FAR], np.uint32)

# Each takes the array and a position that is traced, counted from the start or the end.
AT_TRACED = {
    "an array": lambda x, i: x[i],
    "a number": lambda x, i: x[i[0]],
    "take": lambda x, i: jnp.take(x, i),
    "take, wrapped": lambda x, i: jnp.take(x, i, mode="wrap"),
    "take_along_axis": lambda x, i: jnp.take_along_axis(x, i, 0),
    "at get": lambda x, i: x.at[i].get(mode="fill", fill_value=9),
}
FROM_END = {
    "dynamic_slice": lambda x, i: lax.dynamic_slice(x, (i[0],), (1,)),
    "dynamic_index_in_dim": lambda x, i: lax.dynamic_index_in_dim(x, i[0]),
}

# Known positions, of which slices need no integers in the program.
KNOWN = {
    "an array": lambda x: x[np.array([FAR])],
    "words": lambda x: x[WORD],
    "take": lambda x: jnp.take(x, np.array([FAR])),
    "clipped": lambda x: jnp.take(x, np.array([FAR]), mode="clip"),
    "dynamic_slice": lambda x: lax.dynamic_slice(x, (FAR,), (1,)),
    "dynamic_index_in_dim": lambda x: lax.dynamic_index_in_dim(x, FAR),
    "argmax": lambda x: jnp.argmax(words() == FAR, keepdims=True) % 256,
    "argmin": lambda x: jnp.argmin(words() != FAR, keepdims=True) % 256,
}
STATIC = {
    "a number": lambda x: x[FAR][None],
    "a NumPy number": lambda x: x[np.int64(FAR)][None],
    "a slice": lambda x: x[FAR : FAR + 1],
    "a slice from the end": lambda x: x[FAR - SIZE : FAR - SIZE + 1],
    "backwards": lambda x: x[: FAR - 1 : -1][-1:],
}
WRITES = {
    "a number": lambda x: x.at[FAR].set(7),
    "an array": lambda x: x.at[np.array([FAR])].set(7),
    "a slice": lambda x: x.at[FAR : FAR + 1].set(7),
    "steps": lambda x: x.at[FAR : FAR + 4 : 4].set(7),
    "adds": lambda x: x.at[FAR : FAR + 1].add(7),
    "dynamic_update_slice": lambda x: lax.dynamic_update_slice(
        x, np.full(1, 7, np.uint8), (FAR,)
    ),
}


def ramp():
    """An array of the last bytes of its positions, made by the program."""
    return lax.iota(np.uint8, SIZE)


def words():
    """The same of whole positions."""
    return lax.iota(np.uint32, SIZE)


@pytest.mark.parametrize("read", [*AT_TRACED.values(), *FROM_END.values()])
def test_traced_positions(read):
    with ol.enable_x64(True):
        last = ol.jit(lambda i: read(ramp(), i))(LAST)
        assert np.asarray(last).ravel().tolist() == [(SIZE - 1) % 256]


@pytest.mark.parametrize("read", AT_TRACED.values(), ids=AT_TRACED)
def test_traced_words(read):
    with ol.enable_x64(True):
        far = ol.jit(lambda i: read(ramp(), i))(WORD)
        assert np.asarray(far).ravel().tolist() == [FAR % 256]


@pytest.mark.parametrize("read", [*KNOWN.values(), *STATIC.values()])
def test_known_positions(read):
    with ol.enable_x64(True):
        far = ol.jit(lambda: read(ramp()))()
        assert np.asarray(far).ravel().tolist() == [FAR % 256]


@pytest.mark.parametrize("read", STATIC.values(), ids=STATIC)
def test_slices_need_no_wide_integers(read):
    with ol.enable_x64(False):
        assert ol.jit(lambda: read(ramp()))().tolist() == [FAR % 256]


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_writes(write):
    with ol.enable_x64(True):
        near_end = ol.jit(lambda: write(lax.full((SIZE,), np.uint8(0)))[FAR - 1 :][:3])
        assert near_end().tolist() == [0, 7, 0]


@pytest.mark.parametrize("read", [*AT_TRACED.values(), *FROM_END.values()])
def test_traced_positions_are_refused_without_wide_integers(read):
    with ol.enable_x64(False), pytest.raises(OverflowError, match="2147484648 elem"):
        ol.jit(read).trace(LONG, LAST)


@pytest.mark.parametrize("read", KNOWN.values(), ids=KNOWN)
def test_known_positions_are_refused_without_wide_integers(read):
    with ol.enable_x64(False), pytest.raises(OverflowError, match="64-bit integers"):
        ol.jit(read).lower(LONG)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_writes_are_refused_without_wide_integers(write):
    with ol.enable_x64(False), pytest.raises(OverflowError, match="64-bit integers"):
        ol.jit(write).lower(LONG)


@pytest.mark.parametrize("far", [2**31, 2**40, -(2**31) - 1])
def test_numbers_beyond_any_axis(far):
    x = np.arange(4)
    assert jnp.asarray(x).at[far].set(9).tolist() == x.tolist()
    assert ol.jit(lambda x: x[far])(x) == (3 if far > 0 else 0)
