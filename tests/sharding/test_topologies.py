"""Meshes of described devices."""

from __future__ import annotations

import pytest

import olympus
from olympus.experimental import topologies


def test_attached_devices_make_a_mesh():
    topology = topologies.get_attached_topology("cpu")
    assert topology.devices == olympus.devices("cpu")
    n = len(topology.devices)
    mesh = topologies.make_mesh(topology, (1, n), ("x", "y"))
    assert dict(mesh.shape) == {"x": 1, "y": n}
    assert list(mesh.devices.flat) == topology.devices


def test_sizes_must_hold_all_devices():
    topology = topologies.get_attached_topology("cpu")
    sizes = (len(topology.devices) + 1,)
    with pytest.raises(ValueError, match="must multiply to the number of devices"):
        topologies.make_mesh(topology, sizes, ("x",))


def test_platforms_must_run_here():
    with pytest.raises(RuntimeError, match="nope"):
        topologies.get_attached_topology("nope")


@pytest.mark.parametrize("platform", [None, "tpu"])
def test_tpus_are_not_installed(platform):
    with pytest.raises(RuntimeError, match="TPU support, which is not installed"):
        topologies.get_topology_desc("2x2", platform)


def test_no_platform_describes_devices_that_are_not_here():
    with pytest.raises(NotImplementedError, match="not implemented for cpu"):
        topologies.get_topology_desc(platform="cpu")
