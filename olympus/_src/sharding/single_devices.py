"""Arrays on one device, in its default memory and in others."""

from __future__ import annotations

from typing import Any

from olympus._src.foundation import caching
from olympus._src.runtime import shardings
from olympus._src.sharding.meshes import Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec


def with_its_memory(sharding: shardings.SingleDeviceSharding) -> Any:
    """The sharding; for other memory than the default, over a mesh of the one device.

    Programs for one device know its default memory alone.
    """
    (device,) = sharding.device_set
    kind = sharding.memory_kind
    if kind in (None, shardings.default_memory_kind(device)):
        return sharding
    return over_one_device(device, kind)


def place_of(device: Any) -> Any:
    """A device, sharding or None; one of other memory than the default has a mesh."""
    return with_its_memory(device) if is_of_device(device) else device


@caching.bounded_cache(256, "other memories of devices")
def over_one_device(device: Any, kind: str) -> NamedSharding:
    """Of arrays in a kind of memory of a device, over a mesh of it alone."""
    return NamedSharding(Mesh([device], "device"), PartitionSpec(), memory_kind=kind)


def of_device(device: Any) -> shardings.SingleDeviceSharding:
    """Of arrays in the default memory of a device."""
    return shardings.SingleDeviceSharding(device)


def is_of_device(place: Any) -> bool:
    """Whether a value is a sharding of one device, without a mesh."""
    return isinstance(place, shardings.SingleDeviceSharding)


def mesh_of(device: Any) -> Mesh:
    """The mesh that stands for a device, where a program must have a mesh."""
    return over_one_device(device, shardings.default_memory_kind(device)).device_mesh


def whole_sharding(mesh: Mesh) -> Any:
    """The sharding of values in the default memory of a mesh of one device."""
    (device,) = mesh.flat_devices
    if mesh is mesh_of(device):
        return of_device(device)
    return NamedSharding(mesh, PartitionSpec())
