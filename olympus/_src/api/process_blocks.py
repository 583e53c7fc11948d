"""Arrays over the devices of all processes, made of those of each, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.api import global_arrays, placement
from olympus._src.api.jit import jit
from olympus._src.core import avals as avals_
from olympus._src.core.trace import Tracer
from olympus._src.runtime.versions import Device
from olympus._src.sharding.meshes import Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec


class Blocks:
    """What each process has of arrays that all devices divide along one axis.

    Args:
      name: of the axis of the mesh.
      devices: those of all processes, in the order of the parts.
      here: those of them that this process has, in the same order.
    """

    def __init__(
        self, name: Any, devices: Sequence[Device], here: Sequence[Device]
    ) -> None:
        self._name = name
        self._here = list(here)
        self._all = Mesh(np.array(devices, object), (name,))
        self._local = Mesh(np.array(here, object), (name,)) if here else None

    def check(self, size: int) -> None:
        """Raises ValueError where a mapped axis is not of one element for a device."""
        if size != len(self._here):
            raise ValueError(
                "pmap: in a program of several processes each must give one element "
                f"for each of its own devices, got a mapped axis of size {size} for "
                f"{len(self._here)} devices; to map in this process alone, give "
                "devices=olympus.local_devices()"
            )

    def join(self, x: Any, axis: int | None) -> Any:
        """The array of all processes, of which this one gives its elements."""
        if isinstance(x, Tracer):
            raise ValueError(
                "pmap: over the devices of several processes arguments must be values, "
                f"got {x} of a transformation around it; apply transformations to the "
                "function that is mapped, or use olympus.shard_map over a mesh; to map "
                "over this process's devices alone, which is what JAX does there, give "
                "devices=olympus.local_devices()"
            )
        aval = avals_.aval_of(x)
        spec = self._spec(axis, aval.ndim)
        mine: Any = placement.device_put(x, NamedSharding(self._local, spec))
        shape = list(aval.shape)
        if axis is not None:
            shape[axis] = self._all.size
        parts = [shard.data for shard in mine.addressable_shards]
        place = NamedSharding(self._all, spec)
        return global_arrays.make_array_from_single_device_arrays(shape, place, parts)

    def own(self, x: Any, axis: int | None) -> Any:
        """This process's elements of an array of all processes."""
        spec = self._spec(axis, x.ndim)
        place = NamedSharding(self._all, spec)
        if not x.sharding.is_equivalent_to(place, x.ndim):
            x = jit(_identity, out_shardings=place)(x)
        parts = {shard.device: shard.data for shard in x.addressable_shards}
        shape = list(x.shape)
        if axis is not None:
            shape[axis] = len(self._here)
        local = NamedSharding(self._local, spec)
        ordered = [parts[device] for device in self._here]
        return global_arrays.make_array_from_single_device_arrays(shape, local, ordered)

    def _spec(self, axis: int | None, ndim: int) -> PartitionSpec:
        if axis is None:
            return PartitionSpec()
        return PartitionSpec(*[None] * (axis % ndim), self._name)


def _identity(x: Any) -> Any:
    return x
