"""Putting values on devices: the fast path from NumPy, moves, reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from olympus._src.runtime import (
    dlpack,
    host_errors,
    host_memory,
    host_results,
    parts,
    transfer,
    versions,
    waiting,
)
from olympus._src.runtime.array import ArrayImpl, over_memory_of
from olympus._src.runtime.shardings import (
    Placement,
    default_placement,
    placement_of,
)
from olympus._src.runtime.versions import Device

_to_device = transfer.to_device


def put(x: np.ndarray, aval: Any, device: Device | None = None) -> ArrayImpl:
    """An array with a copy of a NumPy array; compiles nothing.

    Later changes of `x` never show in the result.

    Args:
      x: array (or NumPy scalar) of the aval's shape; another dtype is converted.
      aval: shape, dtype and weak type of the result.
      device: where to put it, also for computations; None for the default device,
        with freedom to move.
    """
    if device is None:
        place, committed = default_placement(), False
    else:
        place, committed = placement_of(device), True
    if type(x) is not np.ndarray or x.dtype is not aval.dtype:
        x = _native_array(x, aval)
    return _copy_to_place(x, aval, place, committed)


def put_native(x: np.ndarray, aval: Any) -> ArrayImpl:
    """As `put`, on the default device, of a NumPy array of the aval's dtype itself."""
    return _copy_to_place(x, aval, default_placement(), False)


def put_beside(x: np.ndarray, aval: Any, device: Device) -> ArrayImpl:
    """As `put`, on a device where an operation runs, but free to move."""
    if x.dtype is not aval.dtype:
        x = _native_array(x, aval)
    return _copy_to_place(x, aval, placement_of(device), False)


def _copy_to_place(
    x: np.ndarray, aval: Any, place: Placement, committed: bool
) -> ArrayImpl:
    if x.nbytes <= host_results.MAX_BYTES and place.is_host and aval.storage is aval:
        array = host_results.put(x, aval, place, committed)
        if array is not None:
            return array
    return ArrayImpl(_to_device(x, aval, place, committed), aval, committed)


def _native_array(x: Any, aval: Any) -> np.ndarray:
    """The value as a NumPy array of the aval's dtype in native byte order.

    NumPy converts, so that jaxlib's flag about 64 bits has no effect.
    """
    # Big-endian dtypes compare unequal to the aval's, which is native.
    return np.asarray(x).astype(aval.dtype, copy=False).reshape(aval.shape)


# From this size on sharing memory with a device is faster than copying (measured).
_LEAST_SHARED_BYTES = 1 << 16


def fill(
    write: Callable[[np.ndarray], object], aval: Any, device: Device | None = None
) -> ArrayImpl:
    """An array of values that a function writes; a CPU uses that memory as it is.

    Args:
      write: is given an uninitialised NumPy array to fill, and must not keep it.
      aval: shape, dtype and weak type of the result.
      device: where to put it; None for the default device, with freedom to move.
    """
    n_bytes = aval.size * aval.dtype.itemsize
    if n_bytes < _LEAST_SHARED_BYTES or not host_memory.is_watching():
        host = np.empty(aval.shape, aval.dtype)
        write(host)
        return put(host, aval, device)
    host = transfer.aligned_empty(aval.shape, aval.dtype)
    write(host)
    host.flags.writeable = False
    committed = device is not None
    place = placement_of(device) if committed else default_placement()
    buffer = transfer.lend_to_device(host, aval, place, committed)
    return ArrayImpl(buffer, aval, committed)


def as_buffers(operands: Iterable[Any]) -> list[Any]:
    """What runs a program may take, with buffers in place of arrays."""
    return [x._buffer if type(x) is ArrayImpl else x for x in operands]


def as_own_buffers(operands: Iterable[Any]) -> list[Any]:
    """The same for a program that takes some for its own: copies of what is kept."""
    return as_buffers(
        [x.__copy__() if type(x) is ArrayImpl and x._is_kept() else x for x in operands]
    )


def view_of(array: ArrayImpl) -> np.ndarray:
    """A read-only view of a computed array on one device of the CPU.

    Raises:
      BufferError: it is deleted, or its elements are not NumPy's.
    """
    memory = array._parts
    if type(memory) is not host_results.HostMemory:
        return transfer.view(array._buffer)
    if memory.is_deleted():
        raise BufferError("Array: it is deleted")
    return memory.to_host(0)


def keep_from_donation(
    buffers: list[Any], donated: Iterable[int], kept: Sequence[Any]
) -> None:
    """Puts copies in place of donated buffers that must outlive the call."""
    for number in donated:
        if any(buffers[number] is buffer for buffer in kept):
            buffers[number] = transfer.copy_buffer(buffers[number])


copy_buffer = transfer.copy_buffer
view = transfer.view


def copy_to_device(array: ArrayImpl, device: Device) -> ArrayImpl:
    """The array on a device, committed to it; memory is shared where it is there."""
    array._check_alive()
    place = placement_of(device)
    buffer = array._buffer
    kind = buffer._sharding.memory_kind
    if array.single_device == device and kind in (None, place.sharding.memory_kind):
        if array._committed:
            return array
        return over_memory_of(array, array.aval, True)
    return ArrayImpl(_move_array(array, place), array.aval, True)


def put_divided(x: np.ndarray, aval: Any, sharding: Any) -> ArrayImpl:
    """An array divided over a mesh, with a copy of a NumPy array's values.

    Args:
      x: array (or NumPy scalar) of the aval's shape; another dtype is converted.
      aval: shape, dtype and weak type of the result.
      sharding: how it is divided.
    """
    return ArrayImpl(
        parts.put(_native_array(x, aval), aval.storage, sharding), aval, True
    )


def divide(array: ArrayImpl, sharding: Any) -> ArrayImpl:
    """The array divided over a mesh; memory is shared if it is already divided so."""
    array._check_alive()
    buffer = array._buffer
    if buffer._sharding is sharding:
        return array if array._committed else over_memory_of(array, array.aval, True)
    stored = array.aval.storage
    if buffer._sharding.is_equivalent_to(sharding, len(stored.shape)):
        buffer = versions.rewrap_buffer(buffer, stored, sharding)
    else:
        buffer = parts.place(buffer, sharding)
    return ArrayImpl(buffer, array.aval, True)


def assemble(arrays: Sequence[ArrayImpl], aval: Any, sharding: Any) -> ArrayImpl:
    """One array of copies of the parts on this process's devices, in their order."""
    buffers = [array._buffer for array in arrays]
    return ArrayImpl(parts.assemble(buffers, aval.storage, sharding), aval, True)


def make_divided(
    part_at: Callable[[Any], np.ndarray], aval: Any, sharding: Any
) -> ArrayImpl:
    """An array of parts that a function gives; called once for each different one."""
    return ArrayImpl(parts.put_parts(part_at, aval.storage, sharding, True), aval, True)


def follow(array: ArrayImpl, device: Device) -> ArrayImpl:
    """The array on a device where a computation runs, without committing it."""
    if array.single_device == device:
        return array
    return ArrayImpl(
        _move_array(array, placement_of(device)), array.aval, array._committed
    )


def _move_array(array: ArrayImpl, place: Placement) -> Any:
    buffer = array._buffer
    same_client = array.single_device is not None and (
        array.single_device.client is place.device.client
    )
    if same_client:
        return transfer.move_buffer(buffer, place)
    # Two clients share no memory that either could lend: by way of the host.
    return transfer.to_device(array.host_value, array.aval, place, True)


def get(array: ArrayImpl) -> np.ndarray:
    """The value as a read-only NumPy array, a view on the CPU; waits for it."""
    return array.host_value


def from_dlpack(
    x: Any, make_aval: Any, device: Device | None = None, copy: bool | None = None
) -> ArrayImpl:
    """An array that shares the memory of another library's, committed to its device.

    Args:
      x: an object with `__dlpack__` and `__dlpack_device__`.
      make_aval: makes the aval of a shape and a dtype.
      device: where to put the array, committed to it; None for where `x` is.
      copy: True for a copy, False for none, None for one where needed.

    Raises:
      TypeError: `x` does not implement DLPack.
      ValueError: a copy is needed and `copy` is False.
    """
    buffer, aval = dlpack.buffer_from(x, make_aval, device, copy)
    array = ArrayImpl(buffer, aval, True)
    array._share()
    return array


def block_until_ready(arrays: list[ArrayImpl]) -> None:
    """Waits until all are computed.

    Raises:
      RuntimeError: one is deleted, or computing it failed.
    """
    try:
        waiting.wait_for_all([x._buffer for x in arrays if not x._is_computed()])
    except Exception as error:
        for array in arrays:
            array._check_alive()
        raise host_errors.explain(error)  # noqa: B904 - it has its cause
