"""How long an exchange of data between devices takes, by the algorithms in use.

The cost of a message is a latency and a time for each byte (the model of Hockney). For
a group of n devices, a payload of S bytes, latency a and bandwidth B:

  all-gather, reduce-scatter   (n - 1) (a + S / (n B))           ring
  all-reduce                   2 (n - 1) (a + S / (n B))         both, one after another
  all-to-all                   (n - 1) (a + S / (n B))           pairwise exchange
  permutation, broadcast       a + S / B

On a torus of k axes of s devices each, data go both ways around rings along every axis:

  all-gather, reduce-scatter   k floor(s / 2) a + S (n - 1) / (n 2 k B)
  all-reduce                   twice that
  all-to-all                   k floor(s / 2) a + S s / (8 B)

(the bytes of an all-to-all travel s / 4 links along each axis on average, and there are
2 k links a device). A group over h domains of m devices reduces and gathers in the
domains, and exchanges S / m bytes a device between them.

Source: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations
in MPICH, 2005, section 4 (ring, pairwise exchange); Chan, Heimlich, Purkayastha, van de
Geijn, Collective communication: theory, practice, and experience, 2007 (tori).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.sharding.topologies import Topology

_GATHERS = ("all-gather", "reduce-scatter")


def collective_seconds(
    kind: str, size_bytes: float, group_size: int, topology: Topology, n_axes: int = 1
) -> float:
    """The time of an exchange in a group of devices.

    Groups that are larger than a domain fill domains.

    Args:
      kind: as XLA calls it, as in 'all-reduce'.
      size_bytes: the payload: what each device has before it; of an all-gather, after.
      group_size: the number of devices.
      topology: what the devices and links can do.
      n_axes: along how many axes of a mesh they are; each is laid along one of a torus.

    Returns:
      Seconds.

    Example:
      >>> from olympus.sharding import TOPOLOGIES, collective_seconds
      >>> within = collective_seconds('all-reduce', 1e9, 8, TOPOLOGIES['h100'])
      >>> beyond = collective_seconds('all-reduce', 1e9, 64, TOPOLOGIES['h100'])
      >>> f"{within * 1e3:.1f} ms, {beyond * 1e3:.1f} ms"
      '3.9 ms, 8.4 ms'
    """
    inner = min(group_size, topology.domain_size)
    outer = -(-group_size // inner)
    return _seconds(kind, size_bytes, inner, outer, topology, n_axes)


def seconds_between(
    kind: str, size_bytes: float, members: Any, topology: Topology, n_axes: int
) -> float:
    """The time of an exchange between devices at positions, of shape (groups, members).

    Positions are those in the mesh, whose devices fill one domain after another.
    """
    if members.size == 0:
        return 0.0
    domains = np.asarray(members) // topology.domain_size
    outer = max(len(set(row)) for row in domains.tolist())
    n = members.shape[1]
    return _seconds(kind, size_bytes, -(-n // outer), outer, topology, n_axes)


def _seconds(
    kind: str, size: float, inner: int, outer: int, topology: Topology, n_axes: int
) -> float:
    """The time in `outer` domains of `inner` devices of the group each."""
    if kind in ("collective-permute", "collective-broadcast"):
        if outer > 1:
            return topology.outer_latency_s + size / topology.outer_bandwidth
        return topology.latency_s + size / topology.bandwidth
    n = inner * outer
    if "all-to-all" in kind:
        beyond = size * (n - inner) / n / topology.outer_bandwidth if outer > 1 else 0.0
        latency = (outer - 1) * topology.outer_latency_s
        return latency + beyond + _exchange(size * inner / n, inner, topology, n_axes)
    times = 1 if kind in _GATHERS else 2
    within = _gather(size, inner, topology, n_axes)
    part = size / inner / outer
    step = topology.outer_latency_s + part / topology.outer_bandwidth
    return times * (within + (outer - 1) * step)


def _gather(size: float, n: int, topology: Topology, n_axes: int) -> float:
    if n == 1:
        return 0.0
    if topology.links == "switch":
        return (n - 1) * (topology.latency_s + size / n / topology.bandwidth)
    k, side = _torus(n, topology, n_axes)
    hops = k * (side // 2) * topology.latency_s
    return hops + size * (n - 1) / n / (2 * k * topology.bandwidth)


def _exchange(size: float, n: int, topology: Topology, n_axes: int) -> float:
    if n == 1:
        return 0.0
    if topology.links == "switch":
        return (n - 1) * (topology.latency_s + size / n / topology.bandwidth)
    k, side = _torus(n, topology, n_axes)
    return k * (side // 2) * topology.latency_s + size * side / (8 * topology.bandwidth)


def _torus(n: int, topology: Topology, n_axes: int) -> tuple[int, int]:
    """The number of axes of a torus that a group lies along, and its side along one."""
    k = max(1, min(n_axes, topology.torus_axes))
    return k, max(2, round(n ** (1 / k)))
