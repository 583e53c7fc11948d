"""The runtime's part of shardings: what jaxlib needs, and the one-device kind.

`Sharding` is the base of every sharding; its package adds meshes and specs.
A sharding is plain data and never tells jaxlib more than a list of devices and an
XLA sharding.
"""

from __future__ import annotations

import abc
import threading
from typing import Any, NamedTuple

from olympus._src.foundation import config
from olympus._src.runtime import client, versions
from olympus._src.runtime.versions import Device, DeviceList, HloSharding

Index = tuple[slice, ...]

_REPLICATED = HloSharding.replicate()


class Part(NamedTuple):
    """The part of an array on one device.

    Attributes:
      device: the device.
      slices: which part it is.
      replica_id: its number among the devices that hold the same part.
      is_local: whether the device belongs to this process.
      source: the first device of this process that holds the same part.
    """

    device: Device
    slices: Index
    replica_id: int
    is_local: bool
    source: Device


class Sharding(abc.ABC):
    """How an array is placed on devices: the base of all shardings.

    Its methods follow from a list of devices and XLA's sharding.
    """

    __slots__ = ()

    _internal_device_list: DeviceList
    _memory_kind: str | None

    # -- asked by jaxlib --

    @property
    def _device_assignment(self) -> tuple[Device, ...]:
        return tuple(self._internal_device_list)

    # Read by a library that saves arrays.
    @property
    def _addressable_device_assignment(self) -> tuple[Device, ...]:
        mine = self.addressable_devices
        return tuple([d for d in self._internal_device_list if d in mine])

    def _to_xla_hlo_sharding(self, ndim: int) -> Any:
        raise NotImplementedError

    # -- asked by users --

    @property
    def device_set(self) -> set[Device]:
        """The devices that hold a part of the array."""
        return set(self._internal_device_list)

    @property
    def num_devices(self) -> int:
        """The number of devices."""
        return len(self._internal_device_list)

    @property
    def memory_kind(self) -> str | None:
        """The kind of memory of the devices: 'device', 'pinned_host', ..."""
        return self._memory_kind

    @property
    def has_addressable_devices(self) -> bool:
        """Whether some of its devices belong to this process."""
        return bool(self.addressable_devices)

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all its devices belong to this process."""
        return bool(self._internal_device_list.is_fully_addressable)

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device holds the whole array."""
        return True

    @property
    def addressable_devices(self) -> set[Device]:
        """The devices of this process among them."""
        return set(self._internal_device_list.addressable_device_list)

    def devices_indices_map(self, global_shape: tuple[int, ...]) -> dict[Device, Index]:
        """For each device the part of an array it holds, as slices."""
        whole = (slice(None),) * len(global_shape)
        return dict.fromkeys(self._internal_device_list, whole)

    def addressable_devices_indices_map(
        self, global_shape: tuple[int, ...]
    ) -> dict[Device, Index]:
        """The same for the devices of this process."""
        mine = self.addressable_devices
        parts = self.devices_indices_map(global_shape)
        return {device: part for device, part in parts.items() if device in mine}

    def parts(self, global_shape: tuple[int, ...]) -> list[Part]:
        """The part of an array that each device holds, in the devices' order."""
        copies: dict[Any, int] = {}
        firsts: dict[Any, Device] = {}
        mine = self.addressable_devices
        out = []
        for device, index in self.devices_indices_map(global_shape).items():
            # Slices are hashable from Python 3.12 on only.
            key = tuple([(s.start, s.stop) for s in index])
            number = copies[key] = copies.get(key, -1) + 1
            is_local = device in mine
            source = firsts.setdefault(key, device) if is_local else device
            out.append(Part(device, index, number, is_local, source))
        return out

    def local_parts(self, global_shape: tuple[int, ...]) -> list[Part]:
        """The parts on the devices of this process."""
        return [part for part in self.parts(global_shape) if part.is_local]

    def shard_shape(self, global_shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the part that one device holds."""
        return tuple(global_shape)

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        """Whether both put the same parts of a `ndim`-axes array in the same places."""
        return (
            self._device_assignment == other._device_assignment
            and self.memory_kind == other.memory_kind
            and self._to_xla_hlo_sharding(ndim) == other._to_xla_hlo_sharding(ndim)
        )


def sharding_class(cls: type) -> type:
    """Gives a class over one of jaxlib's shardings the methods it lacks.

    jaxlib's classes allow no second base class, so the methods are copied.
    """
    for name, value in vars(Sharding).items():
        if name not in vars(cls) and name not in _OF_EVERY_CLASS:
            setattr(cls, name, value)
    Sharding.register(cls)
    return cls


_OF_EVERY_CLASS = frozenset(vars(type("Empty", (abc.ABC,), {"__slots__": ()})))


@sharding_class
class SingleDeviceSharding(versions.SingleDeviceSharding):
    """The whole array on one device.

    Args:
      device: the device.
      memory_kind: the kind of its memory; None for the device's default.
    """

    def __new__(
        cls, device: Device, memory_kind: str | None = None
    ) -> SingleDeviceSharding:
        own = _DescribedDeviceSharding if versions.is_described(device) else cls
        return super().__new__(own)

    def __init__(self, device: Device, memory_kind: str | None = None) -> None:
        kind = checked_memory_kind(device, memory_kind)
        super().__init__(device, memory_kind=kind)
        if memory_kind is not None and kind != default_memory_kind(device):
            client.note_mesh()  # arrays may be in several memories from now on

    @property
    def _device_assignment(self) -> tuple[Device, ...]:
        return (self._device,)

    def _to_xla_hlo_sharding(self, ndim: int) -> Any:
        return _REPLICATED

    # jaxlib's own property, read in C: transfers ask it twice.
    memory_kind = versions.SingleDeviceSharding._memory_kind

    def with_memory_kind(self, kind: str) -> SingleDeviceSharding:
        """The same device, another kind of memory."""
        return SingleDeviceSharding(self._device, memory_kind=kind)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SingleDeviceSharding):
            return NotImplemented
        same = self._device == other._device
        return same and self._memory_kind == other._memory_kind

    def __hash__(self) -> int:
        return hash((self._device, self._memory_kind))

    def __reduce__(self) -> Any:
        return _unpickle, (self._device.platform, self._device.id, self._memory_kind)

    def __repr__(self) -> str:
        kind = f", memory_kind={self.memory_kind}" if self.memory_kind else ""
        return f"SingleDeviceSharding(device={self._device!r}{kind})"


class _DescribedDeviceSharding(SingleDeviceSharding):
    """The same for a device that is not here, of whose memories jaxlib knows nothing.

    It is no class of its own to users.
    """

    def __init__(self, device: Device, memory_kind: str | None = None) -> None:
        self._described_kind = checked_memory_kind(device, memory_kind)
        super().__init__(device, memory_kind=memory_kind)

    @property
    def memory_kind(self) -> str:
        return self._described_kind

    _memory_kind = memory_kind


_DescribedDeviceSharding.__name__ = SingleDeviceSharding.__name__
_DescribedDeviceSharding.__qualname__ = SingleDeviceSharding.__qualname__


def make_single_device_sharding(
    device: Device, *, memory_kind: str | None = None
) -> SingleDeviceSharding:
    """The sharding of whole arrays on one device.

    Args:
      device: the device.
      memory_kind: the kind of its memory; None for the device's default.

    Example:
      >>> import olympus
      >>> olympus.sharding.make_single_device_sharding(olympus.devices()[0])
      SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device)
    """
    return SingleDeviceSharding(device, memory_kind=memory_kind)


def default_memory_kind(device: Device) -> str:
    """The kind of memory that a device's arrays are in unless one asks for another."""
    try:
        return device.default_memory().kind
    except versions.XlaRuntimeError:  # one that is only described has no memory
        return _DESCRIBED_KINDS[0]


_DESCRIBED_KINDS = ("device", "pinned_host")


def checked_memory_kind(device: Device, kind: str | None) -> str:
    """The kind of memory meant on a device: its default for None.

    Raises:
      ValueError: the device has none of that kind.
    """
    default = default_memory_kind(device)
    if kind in (None, default):
        return default
    known = [m.kind for m in device.addressable_memories()] or [*_DESCRIBED_KINDS]
    if kind not in known:
        raise ValueError(
            f"memory_kind: must be one of {', '.join(map(repr, known))} on {device}, "
            f"got {kind!r}"
        )
    return kind


def _unpickle(platform: str, id_: int, kind: str | None) -> SingleDeviceSharding:
    for device in client.devices(platform):
        if device.id == id_:
            return SingleDeviceSharding(device, memory_kind=kind)
    raise ValueError(
        f"SingleDeviceSharding: device {id_} of platform {platform!r} was pickled, but "
        "is absent in this process"
    )


class Placement:
    """A device with what each transfer to it needs, made once per device."""

    __slots__ = (
        "device",
        "device_list",
        "devices",
        "is_cpu",
        "is_host",
        "sharding",
    )

    def __init__(self, device: Device) -> None:
        self.device = device
        self.devices = [device]
        self.device_list = DeviceList((device,))
        self.sharding = SingleDeviceSharding(device)
        self.is_cpu = device.platform == "cpu"
        # Whether it computes in the memory of this process.
        self.is_host = self.is_cpu and not versions.is_described(device)


_placements: dict[Device | None, Placement] = {}
_lock = threading.Lock()
client.on_clear(_placements.clear)


def placement_of(device: Device) -> Placement:
    """The one Placement of a device."""
    placement = _placements.get(device)
    if placement is None:
        with _lock:
            placement = _placements.setdefault(device, Placement(device))
    return placement


def default_placement() -> Placement:
    """The placement of values for which no device was chosen."""
    if config.default_device.value is None:
        placement = _placements.get(None)
        if placement is None:
            placement = _placements[None] = placement_of(client.default_device())
        return placement
    return placement_of(client.default_device())
