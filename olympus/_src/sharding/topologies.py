"""What devices and the links between them can do: data for estimates of time.

Figures are peaks from the makers' public pages, as `source` says; programs reach a part
of them. Latencies are published by no maker: those here are orders of magnitude.
"""

from __future__ import annotations

from typing import NamedTuple

GB = 1e9
GIB = 2**30


class Topology(NamedTuple):
    """A kind of device, and how such devices are linked.

    Attributes:
      name: of the kind.
      devices_per_host: how many one host has.
      domain_size: how many devices the fast links join.
      links: 'switch' where each device reaches each other of its domain at its full
        bandwidth; 'torus' where it has a link to each neighbour along some axes.
      torus_axes: the number of these axes; 0 for a switch.
      bandwidth: bytes per second one way: of a device at a switch, of one link of a
        torus.
      latency_s: seconds until the first byte arrives, from a device or its neighbour.
      outer_bandwidth: bytes per second one way of each device between domains.
      outer_latency_s: the latency there.
      flops: operations per second of products of bfloat16 matrices; of float32 on a
        CPU.
      memory_bandwidth: bytes per second.
      memory_bytes: of one device.
      source: where the figures are from.
    """

    name: str
    devices_per_host: int
    domain_size: int
    links: str
    torus_axes: int
    bandwidth: float
    latency_s: float
    outer_bandwidth: float
    outer_latency_s: float
    flops: float
    memory_bandwidth: float
    memory_bytes: float
    source: str


def _gpu(
    name: str,
    *,
    nvlink: float,
    network_gbit: float,
    tflops: float,
    memory: tuple[float, float],
    source: str,
) -> Topology:
    """Eight GPUs at a switch; NVLink's figure is of both directions together."""
    gigabytes, bandwidth = memory
    return Topology(
        name,
        devices_per_host=8,
        domain_size=8,
        links="switch",
        torus_axes=0,
        bandwidth=nvlink / 2 * GB,
        latency_s=2e-6,
        outer_bandwidth=network_gbit / 8 * GB,
        outer_latency_s=5e-6,
        flops=tflops * 1e12,
        memory_bandwidth=bandwidth * GB,
        memory_bytes=gigabytes * GB,
        source=source,
    )


def _tpu(
    name: str,
    *,
    per_host: int,
    pod: int,
    axes: int,
    chip_gbit: float,
    network_gbit: float,
    tflops: float,
    memory: tuple[float, float],
    source: str,
) -> Topology:
    """A torus of chips with two links along each axis, which share a chip's figure."""
    gigabytes, bandwidth = memory
    return Topology(
        name,
        devices_per_host=per_host,
        domain_size=pod,
        links="torus",
        torus_axes=axes,
        bandwidth=chip_gbit / 8 / (2 * axes) * GB,
        latency_s=1e-6,
        outer_bandwidth=network_gbit / 8 * GB,
        outer_latency_s=10e-6,
        flops=tflops * 1e12,
        memory_bandwidth=bandwidth * GB,
        memory_bytes=gigabytes * GB,
        source=source,
    )


_LISTED = (
    _gpu(
        "a100-80gb",
        nvlink=600,
        network_gbit=200,
        tflops=312,
        memory=(80, 2039),
        source="NVIDIA A100 80GB SXM and DGX A100 data sheets",
    ),
    _gpu(
        "h100",
        nvlink=900,
        network_gbit=400,
        tflops=989.5,
        memory=(80, 3350),
        source="NVIDIA H100 SXM and DGX H100 data sheets; operations without sparsity",
    ),
    _gpu(
        "h200",
        nvlink=900,
        network_gbit=400,
        tflops=989.5,
        memory=(141, 4800),
        source="NVIDIA H200 SXM and DGX H200 data sheets; operations without sparsity",
    ),
    _gpu(
        "b200",
        nvlink=1800,
        network_gbit=400,
        tflops=2250,
        memory=(180, 8000),
        source="NVIDIA DGX B200 data sheet, an eighth of it; without sparsity",
    ),
    _tpu(
        "tpu-v5e",
        per_host=8,
        pod=256,
        axes=2,
        chip_gbit=1600,
        network_gbit=25,
        tflops=197,
        memory=(16, 819),
        source="cloud.google.com/tpu/docs/v5e; network: 6.4 Tbit/s of 256 chips",
    ),
    _tpu(
        "tpu-v5p",
        per_host=4,
        pod=8960,
        axes=3,
        chip_gbit=4800,
        network_gbit=50,
        tflops=459,
        memory=(95 * GIB / GB, 2765),
        source="cloud.google.com/tpu/docs/v5p-training; 1200 GB/s of both directions",
    ),
    _tpu(
        "tpu-v6e",
        per_host=8,
        pod=256,
        axes=2,
        chip_gbit=3200,
        network_gbit=100,
        tflops=918,
        memory=(32, 1600),
        source="cloud.google.com/tpu/docs/v6e; network: 25.6 Tbit/s of 256 chips",
    ),
    # Devices that share two cores: an exchange is a copy, with no latency to be seen.
    Topology(
        "cpu-8",
        devices_per_host=8,
        domain_size=8,
        links="switch",
        torus_axes=0,
        bandwidth=0.7 * GB,
        latency_s=1e-8,
        outer_bandwidth=0.1 * GB,
        outer_latency_s=5e-3,
        flops=1e10,
        memory_bandwidth=0.3 * GB,
        memory_bytes=8 * GB,
        source="measured on 8 virtual devices of 2 busy cores by bench.mesh_estimates; "
        "figures between hosts and of memory are guesses",
    ),
)

TOPOLOGIES: dict[str, Topology] = {t.name: t for t in _LISTED}


def topology_of(topology: Topology | str) -> Topology:
    """The record of a name; a record as it is.

    Raises:
      TypeError: it is neither.
      ValueError: no topology has that name.
    """
    if isinstance(topology, Topology):
        return topology
    if not isinstance(topology, str):
        raise TypeError(
            f"estimate: topology must be a Topology or the name of one, got "
            f"{topology!r}"
        )
    if topology not in TOPOLOGIES:
        raise ValueError(
            f"estimate: topology must be one of {', '.join(TOPOLOGIES)}, got "
            f"{topology!r}; or write a Topology of your own"
        )
    return TOPOLOGIES[topology]
