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

    Example:
      >>> import olympus
      >>> from olympus.experimental import topologies
      >>> len(topologies.TopologyDescription(olympus.devices()[:1]).devices)
      1
    """

    def __init__(self, devices: list[Any]) -> None:
        self.devices = devices


def get_attached_topology(platform: str | None = None) -> TopologyDescription:
    """The devices of a platform that runs here.

    Args:
      platform: its name; None for the default one.

    Raises:
      RuntimeError: the platform is missing.

    Example:
      >>> from olympus.experimental import topologies
      >>> topologies.get_attached_topology('cpu').devices[0].platform
      'cpu'
    """
    return TopologyDescription(client.devices(platform))


def get_topology_desc(
    topology_name: str = "", platform: str | None = None, **kwargs: Any
) -> TopologyDescription:
    """Devices that are not here, to compile for; no platform of olympus describes any.

    Args:
      topology_name: which devices, in the platform's words.
      platform: its name; None for "tpu".
      **kwargs: options of the platform.

    Raises:
      RuntimeError: the platform is "tpu", which is not installed.
      NotImplementedError: it is another one.

    Example:
      >>> from olympus.experimental import topologies
      >>> topologies.get_topology_desc("2x2", "cpu")
      Traceback (most recent call last):
        ...
      NotImplementedError: get_topology_desc: topology not implemented for cpu...
    """
    if platform in (None, "tpu"):
        raise RuntimeError(
            f"get_topology_desc: topology {topology_name!r} requires TPU support, "
            "which is not installed; use get_attached_topology() for what is here"
        )
    raise NotImplementedError(
        f"get_topology_desc: topology not implemented for {platform}; use "
        "get_attached_topology() for the devices that are here, or lower(..., "
        "lowering_platforms=...) for programs of another platform"
    )


def make_mesh(
    topo: TopologyDescription,
    mesh_shape: Sequence[int],
    axis_names: tuple[str, ...],
    *,
    contiguous_submeshes: bool = False,
) -> Mesh:
    """A mesh of all devices of a description, in the order of `create_device_mesh`.

    Args:
      topo: the devices.
      mesh_shape: the size of each axis; their product is the number of devices.
      axis_names: the names of the axes.
      contiguous_submeshes: see `mesh_utils.create_device_mesh`.

    Raises:
      ValueError: the product of the sizes differs from the number of devices.

    Example:
      >>> import olympus
      >>> from olympus.experimental import topologies
      >>> here = topologies.TopologyDescription(olympus.devices()[:1])
      >>> topologies.make_mesh(here, (1, 1), ("x", "y"))
      Mesh(axis_sizes=(1, 1), axis_names=('x', 'y'), axis_types=(Auto, Auto))
    """
    grid = device_meshes.create_device_mesh(
        mesh_shape, topo.devices, contiguous_submeshes=contiguous_submeshes
    )
    return Mesh(grid, axis_names)
