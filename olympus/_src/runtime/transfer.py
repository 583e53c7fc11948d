"""Bytes between the host and devices: NumPy arrays to jaxlib buffers and back.

jaxlib narrows 64-bit values where a process-wide flag, shared with jax, is set. Every
transfer here passes its own value, so nothing depends on that flag.
"""

from __future__ import annotations

import math
import os
import threading
from typing import Any

import numpy as np

from olympus._src.runtime import dlpack_struct, forks, guards, versions
from olympus._src.runtime.shardings import Placement

# XLA's CPU uses memory of others as it is only from addresses that this divides.
ALIGNMENT_BYTES = 64

# NumPy's own dtypes have lower numbers; Python's buffer protocol knows only those.
_FIRST_FOREIGN_DTYPE = 24

# Held while a program of several devices starts, and where buffers are deleted or
# viewed: some devices would start and others not, and jaxlib waits forever or crashes.
starts = threading.RLock()


def _renew_lock() -> None:
    """In a forked child, where a thread that held it is missing."""
    global starts
    starts = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

_put = versions.batched_device_put
_DURING_CALL = versions.IMMUTABLE_DURING_CALL
_ZERO_COPY = versions.ZERO_COPY


def to_device(x: np.ndarray, aval: Any, place: Placement, committed: bool) -> Any:
    """A buffer with a copy of a NumPy array of the aval's shape and dtype."""
    try:
        return _put(
            aval,
            place.sharding,
            [x],
            place.devices,
            committed,
            True,
            _DURING_CALL,
            True,
        )
    except versions.XlaRuntimeError as error:
        raise guards.explain(error) from None


def lend_to_device(x: np.ndarray, aval: Any, place: Placement, committed: bool) -> Any:
    """As `to_device`, for an array that nobody will write to: it may be shared."""
    try:
        return _put(
            aval, place.sharding, [x], place.devices, committed, False, _ZERO_COPY, True
        )
    except versions.XlaRuntimeError as error:
        raise guards.explain(error) from None


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An uninitialised NumPy array whose memory a CPU device can use as it is."""
    n_bytes = math.prod(shape) * dtype.itemsize
    return aligned_bytes(n_bytes).view(dtype).reshape(shape)


def aligned_bytes(n_bytes: int) -> np.ndarray:
    """As many uninitialised bytes from an address that a CPU device can use."""
    raw = np.empty(n_bytes + ALIGNMENT_BYTES, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT_BYTES
    return raw[start : start + n_bytes]


def to_host(buffer: Any, dtype: np.dtype) -> np.ndarray:
    """A read-only NumPy array of a buffer's value, a view of it where that is possible.

    The buffer must not be deleted. Waits until it is computed, without holding the
    interpreter: a callback may have to run first.

    Raises:
      XlaRuntimeError: computing it failed.
    """
    if not buffer.is_ready():
        forks.refuse_waiting()
        buffer.block_until_ready()
    if is_of_numpy(dtype):
        try:
            return view(buffer)
        except BufferError:
            # Failed, or on another device than the CPU: the slower way tells.
            buffer.block_until_ready()
    return _foreign_to_host(buffer, dtype)


def view(buffer: Any) -> np.ndarray:
    """A view of a computed buffer on one device of the CPU, of elements of NumPy.

    Raises:
      BufferError: the buffer is deleted, is not computed, or is none of these.
    """
    with starts:
        elements = np.asarray(memoryview(buffer))
    own = _OWN_INTEGERS.get(elements.dtype.char)
    return elements if own is None else elements.view(own)


# The buffers' "long long" has int64's bits; NumPy has two types of these where a "long"
# has them too, which are equal and print differently.
_OWN_INTEGERS = {"q": np.dtype(np.int64), "Q": np.dtype(np.uint64)}


def is_of_numpy(dtype: np.dtype) -> bool:
    """Whether NumPy itself has elements of this type."""
    return dtype.num < _FIRST_FOREIGN_DTYPE


def _foreign_to_host(buffer: Any, dtype: np.dtype) -> np.ndarray:
    if not has_host_view(buffer, dtype):
        return versions.to_numpy(buffer)
    capsule = versions.to_dlpack_capsule(buffer, None, None, False)
    return dlpack_struct.view(capsule, buffer.aval.shape, dtype)


_PACKED_DTYPES = frozenset(
    ["int1", "uint1", "int2", "uint2", "int4", "uint4", "float4_e2m1fn"]
)


def has_host_view(buffer: Any, dtype: np.dtype) -> bool:
    """Whether NumPy can read the elements in the buffer's own memory."""
    return not is_packed(dtype) and buffer.platform() == "cpu"


def is_packed(dtype: np.dtype) -> bool:
    """Whether elements share bytes on the device, though not in NumPy."""
    # NumPy computes the name each time it is read.
    return dtype.num >= _FIRST_FOREIGN_DTYPE and dtype.name in _PACKED_DTYPES


def address_of(buffer: Any, dtype: np.dtype) -> int:
    """Where the memory of a buffer on one device starts."""
    if not has_host_view(buffer, dtype):
        return int(buffer.unsafe_buffer_pointer())
    # That method imports jax where it is installed; a view tells the same.
    return int(to_host(buffer, dtype).ctypes.data)


def copy_buffer(buffer: Any) -> Any:
    """Another buffer of the same value in the same place."""
    sharding = buffer._sharding
    devices = sharding._internal_device_list
    copies = versions.copy_arrays(
        [buffer], [devices], [sharding], [versions.ALWAYS_COPY]
    )
    return copies[0]


def delete_buffer(buffer: Any) -> None:
    """Frees the memory of a buffer; only here, and where programs take donated ones.

    It goes by way of another object of the same buffer: jaxlib 0.10 ends the process
    where the object that was told to delete is asked whether it is ready, or to be
    copied, which another thread may be about to do.
    """
    with starts:
        if not buffer.is_deleted():
            versions.rewrap_buffer(buffer, buffer.aval, buffer._sharding).delete()


def move_buffer(buffer: Any, place: Placement) -> Any:
    """A buffer of the same value on another device."""
    try:
        moves = versions.copy_arrays(
            [buffer], [place.device_list], [place.sharding], [versions.REUSE_INPUT]
        )
    except versions.XlaRuntimeError as error:
        raise guards.explain(error) from None
    return moves[0]
