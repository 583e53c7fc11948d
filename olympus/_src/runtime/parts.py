"""Arrays on several devices: made of parts, read part by part.

jaxlib's own way to the parts imports jax where that is installed. Another one asks for
nothing: DLPack gives the first local part of an array, and an array whose devices are
listed from another one on has another first part, without a copy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.runtime import dlpack_struct, transfer, versions, waiting
from olympus._src.runtime.shardings import Index, Sharding, placement_of
from olympus._src.runtime.versions import DeviceList

# -- making ----------------------------------------------------------------------------


def put(x: np.ndarray, aval: Any, sharding: Sharding, committed: bool = True) -> Any:
    """A buffer over the devices of a sharding, with copies of a NumPy array's parts.

    Args:
      x: the whole value, of the aval's shape and dtype.
      aval: the type of stored elements.
      sharding: how it is divided.
      committed: whether computations stay on these devices.
    """
    return put_parts(lambda index: x[index], aval, sharding, committed)


def put_parts(
    part_at: Callable[[Index], np.ndarray], aval: Any, sharding: Any, committed: bool
) -> Any:
    """A buffer of parts that a function gives.

    It is called once for each different part of this process, in the devices' order.

    Devices that hold the same part share the copy that is made of it.
    """
    local = sharding.local_parts(aval.shape)
    copies = {
        part.device: _aligned_copy(part_at(part.slices), aval.dtype)
        for part in local
        if part.source is part.device
    }
    return versions.batched_device_put(
        aval,
        sharding,
        [copies[part.source] for part in local],
        [part.device for part in local],
        committed,
        False,
        versions.ZERO_COPY,
        True,
    )


def place(buffer: Any, sharding: Sharding) -> Any:
    """The buffer divided as a sharding says; itself if it already is."""
    aval, own = buffer.aval, buffer._sharding
    if own is sharding or own.is_equivalent_to(sharding, len(aval.shape)):
        return buffer
    return put(to_host(buffer, aval), aval, sharding)


def assemble(
    buffers: Sequence[Any], aval: Any, sharding: Any, committed: bool = True
) -> Any:
    """One buffer of copies of the buffers of this process's devices, in their order.

    jaxlib can share them, but does not tell when one that is shared was deleted or
    donated: the other then reads memory that is gone.
    """
    copies = list(map(transfer.copy_buffer, buffers))
    return versions.result_handler(aval, sharding, committed)(copies)


def _aligned_copy(x: Any, dtype: np.dtype) -> np.ndarray:
    values = np.asarray(x)
    copy = transfer.aligned_empty(values.shape, dtype)
    copy[...] = values
    copy.flags.writeable = False
    return copy


# -- reading ---------------------------------------------------------------------------


class _Listed(Sharding):
    """Devices in another order, as jaxlib asks for them when it reorders an array."""

    __slots__ = ("_internal_device_list", "_memory_kind")

    def __init__(self, devices: DeviceList, memory_kind: str | None) -> None:
        self._internal_device_list = devices
        self._memory_kind = memory_kind

    def _to_xla_hlo_sharding(self, ndim: int) -> Any:
        return versions.HloSharding.replicate()  # parts stay as they are


@functools.lru_cache(maxsize=256)
def _rotations(devices: DeviceList, memory_kind: str | None) -> list[_Listed]:
    """For each local device the devices in an order in which it comes first."""
    every, local = list(devices), list(devices.addressable_device_list)
    orders = [[d, *[e for e in every if e is not d]] for d in local]
    return [_Listed(DeviceList(tuple(order)), memory_kind) for order in orders]


def part(buffer: Any, position: int, aval: Any) -> Any:
    """The part on a local device, as a separate buffer that shares its memory.

    The buffer must not be deleted. On the CPU it is waited for.

    Args:
      buffer: of an array on several devices.
      position: the number of the device among those of this process.
      aval: the type of the part's stored elements.
    """
    devices = buffer._sharding._internal_device_list.addressable_device_list
    place = placement_of(devices[position])
    if transfer.has_host_view(buffer, aval.dtype):
        view = host_part(buffer, position, aval)
        return transfer.lend_to_device(view, aval, place, True)
    return versions.part_of(buffer, position, aval, place.sharding)


def host_part(buffer: Any, position: int, aval: Any) -> np.ndarray:
    """`part` as a read-only NumPy array, a view where that is possible."""
    if not transfer.has_host_view(buffer, aval.dtype):
        return transfer.to_host(part(buffer, position, aval), aval.dtype)
    _wait_for(buffer)
    first = _first_part(buffer, position)
    capsule = versions.to_dlpack_capsule(first, None, None, False)
    return dlpack_struct.view(capsule, aval.shape, aval.dtype)


def to_host(buffer: Any, aval: Any) -> np.ndarray:
    """The whole value of a buffer as a read-only NumPy array.

    Args:
      buffer: on one or several devices; must not be deleted.
      aval: the type of its stored elements.

    Raises:
      RuntimeError: other processes hold parts of it.
    """
    sharding = buffer._sharding
    if len(sharding._internal_device_list) == 1:
        return transfer.to_host(buffer, aval.dtype)
    part_aval = aval.update(shape=tuple(sharding.shard_shape(aval.shape)))
    if sharding.is_fully_replicated:
        return host_part(buffer, 0, part_aval)
    local = sharding.local_parts(aval.shape)
    n_different = sum(p.source is p.device for p in local)
    if n_different * part_aval.size < aval.size:
        raise RuntimeError(
            f"Array: reading the value requires all of its parts in this process, got "
            f"{n_different} of shape {part_aval.shape} of an array of shape "
            f"{aval.shape}; read its addressable_shards"
        )
    out = np.empty(aval.shape, aval.dtype)
    for i, p in enumerate(local):
        if p.source is p.device:
            out[p.slices] = host_part(buffer, i, part_aval)
    out.flags.writeable = False
    return out


def _wait_for(buffer: Any) -> None:
    """Waits until a buffer is computed; not in a forked child, which cannot."""
    if not buffer.is_ready():
        waiting.wait_for(buffer)


def _first_part(buffer: Any, position: int) -> Any:
    """The buffer with the devices listed from the one of a number on."""
    sharding = buffer._sharding
    devices = sharding._internal_device_list
    if devices.addressable_device_list[position] is devices[0]:
        return buffer
    order = _rotations(devices, sharding.memory_kind)[position]
    return versions.reorder_shards(buffer, order)
