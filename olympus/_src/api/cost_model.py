"""`estimate`: how long a compiled program would take on devices of some kind."""

from __future__ import annotations

import collections
import html
from collections.abc import Sequence
from typing import NamedTuple

from olympus._src.api import stages
from olympus._src.api.collectives import Collective, bytes_text, explain_collectives
from olympus._src.lowering import hlo_costs, hlo_text
from olympus._src.sharding.collective_costs import seconds_between
from olympus._src.sharding.topologies import Topology, topology_of


class CollectiveCost(NamedTuple):
    """The time of a collective.

    Attributes:
      collective: the record of `explain_collectives`.
      seconds: of all times that a run of the program does it.
    """

    collective: Collective
    seconds: float


class Estimate:
    """The time and memory that a program takes on each device.

    Attributes:
      topology: what the devices and links can do.
      collectives: the time of each exchange of data.
      compute_s: seconds of the kernels: for each the longer of its operations and its
        memory traffic.
      flops: operations of one device.
      memory_traffic_bytes: what its kernels read and write.
      peak_bytes: what its arguments, results and temporaries occupy; None where the
        platform does not say.
      has_unknown_loops: whether there are loops whose iterations are not known; each
        counts once.
    """

    def __init__(
        self,
        topology: Topology,
        collectives: Sequence[CollectiveCost],
        kernels: Sequence[hlo_costs.Kernel],
        peak_bytes: int | None,
        has_unknown_loops: bool,
    ) -> None:
        self.topology = topology
        self.collectives = tuple(collectives)
        self.flops = sum(k.flops * k.times for k in kernels)
        self.memory_traffic_bytes = sum(k.size_bytes * k.times for k in kernels)
        self.compute_s = sum(k.times * _roofline_s(k, topology) for k in kernels)
        self.peak_bytes = peak_bytes
        self.has_unknown_loops = has_unknown_loops

    @property
    def communication_s(self) -> float:
        """Seconds of all exchanges of data."""
        return sum(cost.seconds for cost in self.collectives)

    @property
    def total_s(self) -> float:
        """Seconds if devices never compute while they exchange data."""
        return self.compute_s + self.communication_s

    @property
    def overlapped_s(self) -> float:
        """Seconds if they always do: no order of the work is quicker."""
        return max(self.compute_s, self.communication_s)

    @property
    def fits(self) -> bool | None:
        """Whether a device has the memory; None where its use is not known."""
        if self.peak_bytes is None:
            return None
        return self.peak_bytes <= self.topology.memory_bytes

    def __str__(self) -> str:
        peak = "" if self.peak_bytes is None else f", {bytes_text(self.peak_bytes)}"
        lines = [
            f"on {self.topology.name}: {_time_text(self.overlapped_s)} to "
            f"{_time_text(self.total_s)} a run{peak} a device"
            + ("" if self.fits is not False else ", which is more than it has"),
            f"{_time_text(self.compute_s)}  computation: {self.flops:.3g} operations, "
            f"{bytes_text(self.memory_traffic_bytes)} of memory traffic",
        ]
        totals: dict[str, float] = collections.defaultdict(float)
        counts: dict[str, int] = collections.Counter()
        for record, seconds in self.collectives:
            text = _describe(record)
            totals[text] += seconds
            counts[text] += 1
        for text, seconds in totals.items():
            number = "" if counts[text] == 1 else f"{counts[text]} x "
            lines.append(f"{_time_text(seconds)}  {number}{text}")
        if self.has_unknown_loops:
            lines.append("loops of an unknown number of iterations count once")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def estimate(compiled: stages.Compiled, topology: Topology | str) -> Estimate:
    """How long a compiled program would take on devices of some kind.

    The program may be compiled for virtual devices of the CPU: what each device
    computes and exchanges is read from its text. Times are of peak rates, so a program
    takes longer; ratios between programs are more reliable than seconds. Kernels that
    XLA would join on the other platform count apart.

    A kernel takes the longer of (operations / `topology.flops`) and (bytes that it
    reads and writes / `topology.memory_bandwidth`). With S the payload of an exchange
    among n devices, a the latency and B the bandwidth, a ring takes
    (n - 1) (a + S / (n B)) for an all-gather or a reduce-scatter and twice that for an
    all-reduce; an all-to-all takes (n - 1) (a + S / (n B)) at a switch, and a
    permutation a + S / B. On a torus
    of k axes data go 2 k ways at once. Groups beyond a domain of fast links reduce and
    gather in the domains, and exchange their parts between them. Devices of the mesh
    fill the domains in the mesh's order.

    Args:
      compiled: what `jit(f).lower(...).compile()` returned.
      topology: a `Topology`, or a name in `TOPOLOGIES`, as in 'h100'.

    Returns:
      An `Estimate` with `compute_s`, `communication_s`, `total_s`, `peak_bytes` and the
      seconds of each collective.

    Raises:
      TypeError: `compiled` is no compiled function, or `topology` no topology.
      ValueError: no topology has that name.

    Source: Williams, Waterman, Patterson, Roofline, 2009; Thakur, Rabenseifner, Gropp,
      Optimization of Collective Communication Operations in MPICH, 2005.

    Example:
      >>> import olympus
      >>> import olympus.numpy as jnp
      >>> from olympus.sharding import estimate
      >>> x = olympus.ShapeDtypeStruct((8192, 8192), jnp.bfloat16)
      >>> compiled = olympus.jit(lambda x: x @ x).lower(x).compile()
      >>> f"{estimate(compiled, 'h100').flops:.3g} operations"
      '1.1e+12 operations'
    """
    where = topology_of(topology)
    records = explain_collectives(compiled, lines=False)
    _, program = stages.parts_of(compiled)
    module = hlo_text.parse(program.executable.hlo_text())
    costs = [CollectiveCost(r, _collective_s(r, where)) for r in records]
    unknown = any(e.times is None for e, _ in module.instructions())
    kernels = list(hlo_costs.kernels(module))
    return Estimate(where, costs, kernels, _peak_bytes(compiled), unknown)


def _collective_s(record: Collective, topology: Topology) -> float:
    seconds = seconds_between(
        record.kind,
        record.size_bytes,
        record.members,
        topology,
        len(record.axes),
    )
    return seconds * (1 if record.times is None else record.times)


def _roofline_s(kernel: hlo_costs.Kernel, topology: Topology) -> float:
    return max(
        kernel.flops / topology.flops, kernel.size_bytes / topology.memory_bandwidth
    )


def _peak_bytes(compiled: stages.Compiled) -> int | None:
    memory = compiled.memory_analysis()
    if memory is None:
        return None
    return int(
        memory.argument_size_in_bytes
        + memory.output_size_in_bytes
        + memory.temp_size_in_bytes
        - memory.alias_size_in_bytes
    )


def _describe(record: Collective) -> str:
    times = "" if record.times == 1 else f" {record.times or '?'} times"
    axes = " and ".join(map(repr, record.axes))
    return f"{record.kind} of {bytes_text(record.size_bytes)}{times} along {axes}"


def _time_text(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
