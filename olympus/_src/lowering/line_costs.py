"""What each line of the user's program costs: operations, bytes, and what is repeated.

The operations of an instruction count for the line that it serves, those of a fusion
for the lines of its parts; what a kernel reads and writes for the line of its result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from olympus._src.lowering import hlo_costs, hlo_text
from olympus._src.lowering.attributions import Attribution
from olympus._src.lowering.hlo_text import Place
from olympus._src.lowering.operation_paths import Origin

Attributions = Mapping[tuple[str, str], Attribution]


class Cost(NamedTuple):
    """What a line of the user's program costs in one run.

    Attributes:
      flops: operations on numbers.
      size_bytes: what its kernels read and write.
      kernels: how many of the program's kernels compute its results.
      repeated_flops: those of `flops` that XLA computes more than once.
      directions: 'forward', 'backward', '' where its operations belong to.
    """

    flops: float = 0.0
    size_bytes: float = 0.0
    kernels: int = 0
    repeated_flops: float = 0.0
    directions: tuple[str, ...] = ()


def place_of(origin: Origin | None) -> Place | None:
    """The user's line of an operation; None where it is not known."""
    if origin is None or origin.position is None:
        return None
    return Place(origin.position.file, origin.position.line)


def by_line(
    module: hlo_text.Module, attributions: Attributions
) -> dict[Place | None, Cost]:
    """The costs of all lines; those of None belong to no line that is known.

    Loops whose number of steps is not known count as one step.
    """
    costs: dict[Place | None, Cost] = {}
    seen: set[tuple[int, str, str]] = set()
    for execution, instruction in module.instructions():
        computation = execution.computation
        known = attributions.get((computation.name, instruction.name))
        origin = None if known is None else known.origin
        times = 1 if execution.times is None else execution.times
        flops = times * hlo_costs.flops(computation, instruction)
        is_kernel = not execution.is_fused and hlo_costs.is_kernel(instruction)
        if not flops and not is_kernel:
            continue
        size = 0.0
        if is_kernel:
            size = times * hlo_costs.touched_bytes(module, computation, instruction)
        repeated = 0.0
        if known is not None and known.line is not None and flops:
            key = known.line, instruction.opcode, instruction.type
            repeated = flops if key in seen else 0.0
            seen.add(key)
        _add(costs, origin, Cost(flops, size, int(is_kernel), repeated))
    return costs


def _add(costs: dict[Place | None, Cost], origin: Origin | None, more: Cost) -> None:
    place = place_of(origin)
    old = costs.get(place, Cost())
    directions = old.directions
    if origin is not None and origin.direction not in directions:
        directions = tuple(sorted((*directions, origin.direction)))
    costs[place] = Cost(
        old.flops + more.flops,
        old.size_bytes + more.size_bytes,
        old.kernels + more.kernels,
        old.repeated_flops + more.repeated_flops,
        directions,
    )
