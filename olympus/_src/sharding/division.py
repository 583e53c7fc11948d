"""How a whole program is divided over the devices of a mesh."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from olympus._src.runtime.versions import Device, DeviceList, HloSharding
from olympus._src.sharding import tiling
from olympus._src.sharding.meshes import AxisType, Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec


class Division(NamedTuple):
    """The devices that a program runs on together, and how its values are divided.

    Attributes:
      mesh: the devices, in order; other meshes of them may divide values too.
      in_shardings: for each input its sharding; None where the compiler chooses.
      out_shardings: the same for each result; empty where it chooses all.
    """

    mesh: Mesh
    in_shardings: tuple[NamedSharding | None, ...]
    out_shardings: tuple[NamedSharding | None, ...] = ()

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices, in order."""
        return self.mesh.flat_devices

    @property
    def device_list(self) -> DeviceList:
        """The devices, as jaxlib takes them."""
        return self.mesh.device_list


def incompatible_devices(reason: str) -> ValueError:
    """The error for a computation whose values are on different devices.

    Args:
      reason: what is where, with `devices_text`, and what to do about it.
    """
    return ValueError(f"Received incompatible devices for one computation: {reason}")


def devices_text(devices: tuple[Device, ...]) -> str:
    """Devices in a message."""
    if len(devices) <= 2:
        return " and ".join(map(str, devices))
    return f"{len(devices)} devices from {devices[0]} to {devices[-1]}"


def chosen_sharding(mesh: Mesh, op_sharding: Any, ndim: int) -> NamedSharding:
    """The sharding that the compiler chose for a value, in the axes of a mesh.

    If it used a part of a mesh axis, the mesh of the result has the parts as axes.

    Args:
      mesh: the devices in the program's order.
      op_sharding: XLA's description of it.
      ndim: the number of axes of the value.
    """
    hlo = HloSharding.from_proto(op_sharding)
    for candidate in (mesh, _with_prime_axes(mesh)):
        entries = tiling.from_hlo(candidate.shape, hlo, ndim)
        if entries is not None:
            return NamedSharding(candidate, PartitionSpec(*entries))
    raise NotImplementedError(_inexpressible(hlo, ndim, mesh))


def chosen_part_sharding(
    mesh: Mesh, manual_axes: Collection[Any], hlo: Any, ndim: int
) -> NamedSharding:
    """The sharding that the compiler chose for one device's part of a value.

    Args:
      mesh: the devices in the program's order.
      manual_axes: the axes along which each device has a part of its own.
      hlo: XLA's sharding, over the other axes.
      ndim: the number of axes of the part.

    Returns:
      A sharding over the mesh with `Manual` axes, none of which it names.
    """
    types = [
        AxisType.Manual if name in manual_axes else kind
        for name, kind in zip(mesh.axis_names, mesh.axis_types, strict=True)
    ]
    sizes = {n: size for n, size in mesh.shape_tuple if n not in manual_axes}
    entries = () if hlo.is_manual() else tiling.from_hlo(sizes, hlo, ndim)
    if entries is None:
        raise NotImplementedError(_inexpressible(hlo, ndim, mesh))
    return NamedSharding(mesh.update(axis_types=types), PartitionSpec(*entries))


def _inexpressible(hlo: Any, ndim: int, mesh: Mesh) -> str:
    return (
        f"sharding: a value of {ndim} axes has XLA's sharding {hlo}, which no axes of "
        f"{mesh} divide so; constrain it by lax.with_sharding_constraint"
    )


def _with_prime_axes(mesh: Mesh) -> Mesh:
    """The same devices along axes of prime sizes, in the same order."""
    pairs = [
        (f"{_distinct_text(name)}:{i}", factor)
        for name, size in mesh.shape_tuple
        for i, factor in enumerate(_prime_factors(size))
    ]
    names = tuple([name for name, _ in pairs])
    sizes = [factor for _, factor in pairs]
    return Mesh(mesh.devices.reshape(sizes), names)


def _distinct_text(name: Any) -> str:
    """An axis's name as text, with a mark where another's could be the same."""
    is_plain = isinstance(name, str) and not name.startswith("#")
    return str(name) if is_plain else f"#{name}"


def _prime_factors(n: int) -> list[int]:
    factors, divisor = [], 2
    while n > 1:
        if n % divisor == 0:
            factors.append(divisor)
            n //= divisor
        else:
            divisor += 1
    return factors
