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
      sharding: of the device, in the array's kind of memory.
      rotation: the array's devices from this one on; None if this is the first.
    """

    placement: Placement
    sharding: SingleDeviceSharding
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
        own = SingleDeviceSharding(d, kind)
        places.append(_Place(placement_of(d), own, rotation))
    return places


client.on_clear(_places.cache_clear)


class LocalParts:
    """The parts of a buffer on devices of this process, made one by one when asked for.

    jaxlib's own parts share what they lie in with the buffer: where one is deleted or
    donated, programs of the whole fail, or wait forever (jaxlib 0.10). So none leaves
    this class: what it gives is another buffer, or a view that keeps the memory.

    Args:
      buffer: of an array on several devices.
      aval: the type of a part.
      are_large: whether a part that has no buffer must not keep the others alive.
    """

    __slots__ = ("_buffer", "_handles", "are_large", "aval")

    def __init__(self, buffer: Any, aval: Any, are_large: bool = False) -> None:
        self._buffer = buffer
        self._handles: Sequence[Any] | None = None  # jaxlib's parts, once computed
        self.aval = aval
        self.are_large = are_large

    def is_deleted(self) -> bool:
        """Whether the memory of all of them was freed or donated."""
        return self._buffer.is_deleted()

    def is_ready(self) -> bool:
        """Whether they are computed."""
        return self._buffer.is_ready()

    def sharding(self, position: int) -> SingleDeviceSharding:
        """Where the part is on the device of this number in this process."""
        return self._place(position).placement.sharding

    def to_device(self, position: int) -> Any:
        """A part as a buffer that shares its memory, or has a copy where it cannot.

        It can be deleted and donated. On the CPU it is waited for.
        """
        place, stored = self._place(position).placement, self.aval.storage
        if _has_view(place, stored) or not stored.size:
            return transfer.lend_to_device(self.to_host(position), stored, place, True)
        return transfer.copy_buffer(self._typed_handle(position))

    def to_host(self, position: int) -> np.ndarray:
        """A part as a read-only NumPy array, a view where that is possible."""
        place, stored = self._place(position).placement, self.aval.storage
        if not stored.size:  # XLA may not have divided it
            _wait_for(self._buffer)
            return np.zeros(stored.shape, stored.dtype)
        if _has_view(place, stored):
            return self._view(position, stored)
        return transfer.to_host(self._typed_handle(position), stored.dtype)

    def _place(self, position: int) -> _Place:
        return _places(self._buffer._sharding)[position]

    def _view(self, position: int, stored: Any) -> np.ndarray:
        """A read-only view of a part's memory, when it is computed."""
        if self._handles is None:
            _wait_for(self._buffer)
            if not self._can_separate():
                return _view_in_turn(self._buffer, self._place(position), stored)
            self._handles = self._separate()
        handle = self._handles[position]
        if transfer.is_of_numpy(stored.dtype):  # in fewer steps
            return transfer.view(handle)
        with transfer.starts:
            capsule = versions.capsule_of_own(handle)
        return dlpack_struct.view(capsule, stored.shape, stored.dtype)

    def _typed_handle(self, position: int) -> Any:
        """The part that jaxlib makes, of the part's type."""
        stored, sharding = self.aval.storage, self.sharding(position)
        if not self._can_separate():
            return versions.part_of(self._buffer, position, stored, sharding)
        return versions.rewrap_buffer(self._separate()[position], stored, sharding)

    def _can_separate(self) -> bool:
        """Whether all parts can be had in one step."""
        sharding = self._buffer._sharding
        return versions.SEPARATES_PARTS and sharding.is_fully_addressable

    def _separate(self) -> list[Any]:
        places = [place.sharding for place in _places(self._buffer._sharding)]
        return versions.separate_parts(self._buffer, places)


def _has_view(place: Placement, stored: Any) -> bool:
    """Whether NumPy can read elements of a type in a place."""
    return place.is_cpu and not transfer.is_packed(stored.dtype)


def _view_in_turn(buffer: Any, place: _Place, stored: Any) -> np.ndarray:
    """A read-only view of the part of a computed buffer in a place."""
    with transfer.starts:
        if place.rotation is None:  # DLPack gives the first part
            capsule = versions.to_dlpack_capsule(buffer, None, None, False)
        else:
            reordered = versions.reorder_shards(buffer, place.rotation)
            capsule = versions.capsule_of_own(reordered)
    return dlpack_struct.view(capsule, stored.shape, stored.dtype)


def _wait_for(buffer: Any) -> None:
    """Waits until a buffer is computed; not in a forked child, which cannot."""
    if not buffer.is_ready():
        waiting.wait_for(buffer)


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
    is_replicated, part_aval, different = _parts_to_read(aval, sharding)
    if is_replicated:
        return _whole_to_host(buffer, aval)
    if len(different) * part_aval.size < aval.size:
        raise RuntimeError(
            f"Array: reading the value requires all of its parts in this process, got "
            f"{len(different)} of shape {part_aval.shape} of an array of shape "
            f"{aval.shape}; read its addressable_shards, or the whole by "
            "multihost_utils.process_allgather(x). A jitted function takes it as an "
            "argument, and cannot hold it"
        )
    out = np.empty(aval.shape, aval.dtype)
    local = LocalParts(buffer, part_aval)
    for position, slices in different:
        out[slices] = local.to_host(position)
    out.flags.writeable = False
    return out


class _PartsToRead(NamedTuple):
    """How the value of an array on several devices is read.

    Attributes:
      is_replicated: whether each device has all of it.
      part_aval: the type of a part's stored elements.
      different: the number and the place of each different part of this process.
    """

    is_replicated: bool
    part_aval: Any
    different: list[tuple[int, Index]]


@functools.lru_cache(maxsize=256)
def _parts_to_read(aval: Any, sharding: Any) -> _PartsToRead:
    part_aval = aval.update(shape=tuple(sharding.shard_shape(aval.shape)))
    local = sharding.local_parts(aval.shape)
    different = [(i, p.slices) for i, p in enumerate(local) if p.source is p.device]
    return _PartsToRead(sharding.is_fully_replicated, part_aval, different)


client.on_clear(_parts_to_read.cache_clear)


def _whole_to_host(buffer: Any, aval: Any) -> np.ndarray:
    """The value of a buffer that each device has whole."""
    if not transfer.has_host_view(buffer, aval.dtype):
        return LocalParts(buffer, aval).to_host(0)
    _wait_for(buffer)
    return _view_in_turn(buffer, _places(buffer._sharding)[0], aval)
