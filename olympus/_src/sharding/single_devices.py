"""Arrays on one device, in another memory than the device's default."""

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


@caching.bounded_cache(256, "other memories of devices")
def over_one_device(device: Any, kind: str) -> NamedSharding:
    """Of arrays in a kind of memory of a device, over a mesh of it alone."""
    return NamedSharding(Mesh([device], "device"), PartitionSpec(), memory_kind=kind)
