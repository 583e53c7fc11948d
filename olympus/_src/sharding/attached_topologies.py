"""Descriptions of devices, from which meshes are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.runtime import absent_devices, client, plugins, versions
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
    """Devices that are not here, to compile for, as a plug-in describes them.

    Meshes and shardings of them serve `jit`, whose programs are lowered and compiled,
    and can be read, but not run.

    Args:
      topology_name: which devices, in the plug-in's words.
      platform: its name, as in 'cuda'; None for 'tpu'.
      **kwargs: options of the plug-in. For 'cuda': `target_config`, XLA's description
        of a GPU (`GpuTargetConfig`) as text, and `topology`, how many there are, as in
        '1x2x8' for one slice of two hosts with eight GPUs each.

    Raises:
      RuntimeError: the platform is 'tpu', which is not installed; or the plug-in
        describes no such devices.
      NotImplementedError: there is no plug-in for the platform.

    Example:
      >>> from olympus.experimental import topologies
      >>> topologies.get_topology_desc("2x2", "cpu")
      Traceback (most recent call last):
        ...
      NotImplementedError: get_topology_desc: topology not implemented for cpu...
    """
    plugin = plugins.installed_plugins().get(platform or "tpu")
    if plugin is not None:
        return TopologyDescription(_describe(plugin, topology_name, kwargs))
    if platform in (None, "tpu"):
        raise RuntimeError(
            f"get_topology_desc: topology {topology_name!r} requires TPU support, "
            "which is not installed; use get_attached_topology() for what is here"
        )
    wanted = ""
    if platform in ("cuda", "gpu"):
        wanted = ", whose plug-in is missing; `pip install olympus[cuda13]`, or"
    raise NotImplementedError(
        f"get_topology_desc: topology not implemented for {platform}{wanted or ';'} "
        "use get_attached_topology() for the devices that are here, or lower(..., "
        "lowering_platforms=...) for programs of another platform"
    )


def _describe(plugin: Any, name: str, options: dict[str, Any]) -> list[Any]:
    # A plug-in with a GPU at hand takes that where it is told of no other.
    missing = [x for x in ("target_config", "topology") if x not in options]
    if plugin.platform == "cuda" and missing:
        raise ValueError(
            f"get_topology_desc: target_config and topology must be given for cuda, "
            f"got no {' and no '.join(missing)}; pass XLA's GpuTargetConfig of the GPU "
            "as text, and topology='1x1x1' for one"
        )
    try:
        return absent_devices.describe(plugin, name, options)
    except versions.XlaRuntimeError as error:
        raise RuntimeError(
            f"get_topology_desc: the devices must be such as the plug-in for "
            f"{plugin.platform} describes, got topology {name!r} with the options "
            f"{', '.join(options) or 'none'}; it says: {error}"
        ) from None


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
