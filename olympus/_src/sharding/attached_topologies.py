"""Descriptions of devices, from which meshes are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.runtime import client
from olympus._src.sharding import device_meshes
from olympus._src.sharding.meshes import Mesh


class TopologyDescription:
    """Devices that are described together.

    Attributes:
      devices: a list of them.
    """

    def __init__(self, devices: list[Any]) -> None:
        self.devices = devices


def get_attached_topology(platform: str | None = None) -> TopologyDescription:
    """The devices of a platform that runs here; None for the default platform."""
    return TopologyDescription(client.devices(platform))


def make_mesh(
    topo: TopologyDescription,
    mesh_shape: Sequence[int],
    axis_names: tuple[str, ...],
    *,
    contiguous_submeshes: bool = False,
) -> Mesh:
    """A mesh of all devices of a description, in the order of `create_device_mesh`."""
    grid = device_meshes.create_device_mesh(
        mesh_shape, topo.devices, contiguous_submeshes=contiguous_submeshes
    )
    return Mesh(grid, axis_names)
