"""Iteration over concrete arrays.

Each row is copied from the host's view of the array, at some four microseconds, and
nothing is compiled. A program that gives many rows at once needs one microsecond for
each, and some 50 milliseconds to be compiled: it is made for a type of array once so
many rows of it were read that it would have paid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from olympus._src.core import trace
from olympus._src.foundation import caching, config
from olympus._src.interpreters import concrete_arrays, evaluate
from olympus._src.lax import slicing, stacking

ArrayImpl = concrete_arrays.ArrayImpl
_PAYING = 4096  # rows that were read on the host
_CHUNK = 64  # rows that one program gives
_MAX_BYTES = 1 << 20  # of a chunk, whose rows are all made when the first is read

_rows_read: dict[Any, int] = {}  # by the settings and the type of the array
caching.register(_rows_read.clear, "rows that were read")


@evaluate.fuse
def _split(x: Any) -> list[Any]:
    return list(stacking.unstack(x, 0))


@evaluate.fuse
def _split_part(x: Any, start: Any) -> list[Any]:
    return list(stacking.unstack(slicing.dynamic_slice_in_dim(x, start, _CHUNK), 0))


def iterate(array: ArrayImpl) -> Iterator[ArrayImpl]:
    """The sub-arrays along the first axis."""
    shape = array.aval.shape
    if not shape:
        raise TypeError("iteration over a 0-d array")
    if not shape[0] or not _is_plain(array) or not _pays(array):
        return concrete_arrays.rows(array)
    if shape[0] <= _CHUNK:
        return iter(_split(array))
    return _by_chunks(array)


def iterate_reversed(array: ArrayImpl) -> Iterator[ArrayImpl]:
    """The sub-arrays along the first axis, the last one first."""
    if not array.aval.shape:
        raise TypeError("iteration over a 0-d array")
    return concrete_arrays.rows(array, -1)


def _by_chunks(array: ArrayImpl) -> Iterator[ArrayImpl]:
    count = array.aval.shape[0]
    for start in range(0, count, _CHUNK):
        # The last part begins earlier where fewer rows are left.
        begin = min(start, count - _CHUNK)
        yield from _split_part(array, begin)[start - begin :]


def _is_plain(array: ArrayImpl) -> bool:
    """Whether a program's results would be as rows copied from the host."""
    aval = array.aval
    return (
        aval.storage is aval
        and aval.explicit is None
        and not array.committed
        and array.single_device is not None
        and trace.current.trace is evaluate.eval_trace()
        and not config.jit_disabled()
    )


def _pays(array: ArrayImpl) -> bool:
    aval = array.aval
    row_bytes = aval.dtype.itemsize * (aval.size // aval.shape[0])
    if row_bytes * min(aval.shape[0], _CHUNK) > _MAX_BYTES:
        return False
    key = (config.trace_context(), aval)
    known = _rows_read.get(key, 0)
    if known >= _PAYING:
        return True
    evaluate.make_room(_rows_read)
    _rows_read[key] = known + aval.shape[0]
    return False
