"""Arrays on several devices: made of parts, read part by part.

jaxlib's own way to the parts imports jax where that is installed. Another one asks for
nothing: DLPack gives the first local part of an array, and an array whose devices are
listed from another one on has another first part, without a copy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.runtime import (
    client,
    dlpack_struct,
    guards,
    transfer,
    versions,
    waiting,
)
from olympus._src.runtime.shardings import (
    Index,
    Part,
    Placement,
    Sharding,
    SingleDeviceSharding,
    placement_of,
)
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
    local = sharding.local_parts(aval.shape)
    if not local or any(part.source is not part.device for part in local):
        return put_parts(lambda index: x[index], aval, sharding, committed)
    if _may_share_elements(x):
        return put_parts(lambda index: x[index], aval, sharding, committed)
    # jaxlib copies the parts itself, if no two devices hold the same one, and no two
    # elements lie in the same place.
    views, devices = [x[part.slices] for part in local], [p.device for p in local]
    how = True, versions.IMMUTABLE_DURING_CALL
    return _put(aval, sharding, views, devices, committed, *how)


def _may_share_elements(x: np.ndarray) -> bool:
    """Whether elements may lie in the same place, as those of broadcast arrays do."""
    if x.flags.c_contiguous:
        return False
    reach = x.itemsize
    rows = zip(x.strides, x.shape, strict=True)
    for stride, size in sorted([(abs(s), n) for s, n in rows if n > 1]):
        if stride < reach:
            return True
        reach += stride * (size - 1)
    return False


def _put(aval: Any, sharding: Any, views: Any, devices: Any, *how: Any) -> Any:
    try:
        return versions.batched_device_put(aval, sharding, views, devices, *how, True)
    except versions.XlaRuntimeError as error:
        raise guards.explain(error) from None


def put_parts(
    part_at: Callable[[Index], np.ndarray], aval: Any, sharding: Any, committed: bool
) -> Any:
    """A buffer of parts that a function gives.

    It is called once for each different part of this process, in the devices' order.

    Devices that hold the same part share the copy that is made of it.
    """
    local = sharding.local_parts(aval.shape)
    different = [part for part in local if part.source is part.device]
    arrays = _aligned_arrays(
        sharding.shard_shape(aval.shape), aval.dtype, len(different)
    )
    copies = {}
    for part, copy in zip(different, arrays, strict=True):
        copy[...] = part_at(part.slices)
        copy.flags.writeable = False
        copies[part.device] = copy
    views, devices = [copies[p.source] for p in local], [p.device for p in local]
    how = False, versions.ZERO_COPY
    return _put(aval, sharding, views, devices, committed, *how)


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


_MAX_SHARED_BYTES = 1 << 14  # of a part that shares its allocation with others


def _aligned_arrays(
    shape: Sequence[int], dtype: np.dtype, count: int
) -> Iterator[np.ndarray]:
    """Uninitialised arrays that a CPU can use as they are; small ones together."""
    n_bytes = math.prod(shape) * dtype.itemsize
    if n_bytes > _MAX_SHARED_BYTES:
        for _ in range(count):
            yield transfer.aligned_empty(tuple(shape), dtype)
        return
    step = -(-n_bytes // transfer.ALIGNMENT_BYTES) * transfer.ALIGNMENT_BYTES
    memory = transfer.aligned_bytes(step * count)
    for start in range(0, step * count, step) if step else [0] * count:
        yield memory[start : start + n_bytes].view(dtype).reshape(shape)


# -- reading ---------------------------------------------------------------------------


class _Listed(Sharding):
    """Devices in another order, as jaxlib asks for them when it reorders an array."""

    __slots__ = ("_internal_device_list", "_memory_kind")

    def __init__(self, devices: DeviceList, memory_kind: str | None) -> None:
        self._internal_device_list = devices
        self._memory_kind = memory_kind

    def _to_xla_hlo_sharding(self, ndim: int) -> Any:
        return versions.HloSharding.replicate()  # parts stay as they are


class _Place(NamedTuple):
    """One of the places of this process that an array lies in.

    Attributes:
      placement: of the device.
      rotation: the array's devices from this one on; None if this is the first.
    """

    placement: Placement
    rotation: _Listed | None


@functools.lru_cache(maxsize=256)
def _places(sharding: Any) -> list[_Place]:
    """Where the parts of an array on devices of this process lie."""
    devices = sharding._internal_device_list
    every, kind = list(devices), sharding.memory_kind
    places = []
    for d in devices.addressable_device_list:
        order = (d, *[e for e in every if e is not d])
        rotation = None if d is every[0] else _Listed(DeviceList(order), kind)
        places.append(_Place(placement_of(d), rotation))
    return places


client.on_clear(_places.cache_clear)


def part(buffer: Any, position: int, aval: Any) -> Any:
    """The part on a local device, as a separate buffer that shares its memory.

    The buffer must not be deleted. On the CPU it is waited for.

    Args:
      buffer: of an array on several devices.
      position: the number of the device among those of this process.
      aval: the type of the part's stored elements.
    """
    place = _places(buffer._sharding)[position]
    if transfer.has_host_view(buffer, aval.dtype):
        _wait_for(buffer)
        view = _view(buffer, place, aval)
        return transfer.lend_to_device(view, aval, place.placement, True)
    return versions.part_of(buffer, position, aval, place.placement.sharding)


def host_part(buffer: Any, position: int, aval: Any) -> np.ndarray:
    """`part` as a read-only NumPy array, a view where that is possible."""
    if not transfer.has_host_view(buffer, aval.dtype):
        return transfer.to_host(part(buffer, position, aval), aval.dtype)
    _wait_for(buffer)
    return _view(buffer, _places(buffer._sharding)[position], aval)


def _view(buffer: Any, place: _Place, aval: Any) -> np.ndarray:
    """A read-only view of the part of a computed buffer in a place."""
    if place.rotation is None:
        capsule = versions.to_dlpack_capsule(buffer, None, None, False)
    else:
        reordered = versions.reorder_shards(buffer, place.rotation)
        capsule = versions.capsule_of_own(reordered)
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
            f"{aval.shape}; read its addressable_shards, or the whole by "
            "multihost_utils.process_allgather(x). A jitted function takes it as an "
            "argument, and cannot hold it"
        )
    out = np.empty(aval.shape, aval.dtype)
    for p, value in _host_parts(buffer, local, part_aval):
        out[p.slices] = value
    out.flags.writeable = False
    return out


def _host_parts(
    buffer: Any, local: Sequence[Part], aval: Any
) -> Iterator[tuple[Part, np.ndarray]]:
    """The different parts of this process as NumPy arrays."""
    different = [(i, p) for i, p in enumerate(local) if p.source is p.device]
    if not transfer.has_host_view(buffer, aval.dtype):
        for i, p in different:
            yield p, transfer.to_host(part(buffer, i, aval), aval.dtype)
        return
    _wait_for(buffer)
    sharding = buffer._sharding
    if _can_separate(sharding, aval.dtype):
        separate = versions.separate_parts(buffer, _sharding_of_each(sharding))
        for i, p in different:
            yield p, transfer.to_host(separate[i], aval.dtype)
        return
    places = _places(sharding)
    for i, p in different:
        yield p, _view(buffer, places[i], aval)


def _can_separate(sharding: Any, dtype: np.dtype) -> bool:
    """Whether all parts can be had in one step, and read without their type."""
    return (
        versions.SEPARATES_PARTS
        and sharding.is_fully_addressable
        and transfer.is_of_numpy(dtype)
    )


@functools.lru_cache(maxsize=256)
def _sharding_of_each(sharding: Any) -> list[SingleDeviceSharding]:
    kind = sharding.memory_kind
    return [SingleDeviceSharding(d, kind) for d in sharding._internal_device_list]


client.on_clear(_sharding_of_each.cache_clear)


def _wait_for(buffer: Any) -> None:
    """Waits until a buffer is computed; not in a forked child, which cannot."""
    if not buffer.is_ready():
        waiting.wait_for(buffer)
