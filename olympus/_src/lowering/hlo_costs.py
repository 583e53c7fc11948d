"""What the instructions of an optimised program compute, and what memory they touch.

Only products and convolutions are counted exactly; every other number that is computed
counts as one operation. Each kernel reads its operands and writes its result once; a
kernel that slices an operand reads the slice.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from olympus._src.lowering import hlo_text
from olympus._src.lowering.hlo_text import Computation, Instruction, Module

_FREE = frozenset(
    [
        "after-all",
        "bitcast",
        "call",
        "conditional",
        "constant",
        "get-tuple-element",
        "iota",
        "parameter",
        "partition-id",
        "replica-id",
        "tuple",
        "while",
    ]
)
_MOVES = frozenset(
    [
        "broadcast",
        "concatenate",
        "copy",
        "dynamic-slice",
        "dynamic-update-slice",
        "gather",
        "pad",
        "reshape",
        "reverse",
        "scatter",
        "slice",
        "transpose",
    ]
)
_EXCHANGES = ("all-", "reduce-scatter", "collective-", "ragged-all", "async-")


class Kernel(NamedTuple):
    """One kernel of a program.

    Attributes:
      name: of its instruction.
      flops: how many operations a run of it takes.
      size_bytes: what a run reads and writes.
      times: how often it runs; 1 where that is not known.
    """

    name: str
    flops: float
    size_bytes: float
    times: int


def kernels(module: Module) -> Iterator[Kernel]:
    """The kernels of a program, without its exchanges of data."""
    current: Kernel | None = None
    for execution, instruction in module.instructions():
        computation = execution.computation
        count = flops(computation, instruction)
        if execution.is_fused:
            if current is not None:
                current = current._replace(flops=current.flops + count)
            continue
        if current is not None:
            yield current
            current = None
        if is_kernel(instruction):
            size = touched_bytes(module, computation, instruction)
            times = 1 if execution.times is None else execution.times
            current = Kernel(instruction.name, count, size, times)
    if current is not None:
        yield current


def is_kernel(instruction: Instruction) -> bool:
    """Whether an instruction computes, where it is in no fusion."""
    is_exchange = instruction.opcode.startswith(_EXCHANGES)
    return instruction.opcode not in _FREE and not is_exchange


def _count(kind: str) -> int:
    return sum(math.prod(shape) for _, shape in hlo_text.arrays(kind))


# -- operations ------------------------------------------------------------------------


def flops(computation: Computation, instruction: Instruction) -> float:
    """The operations of one run of an instruction, without those it calls."""
    opcode = instruction.opcode
    if opcode in _FREE or opcode in _MOVES or opcode in ("fusion", "custom-call"):
        return 0.0
    if opcode.startswith(_EXCHANGES):
        return 0.0
    types = computation.operand_types(instruction)
    if opcode == "dot" and types:
        return 2.0 * _count(instruction.type) * _contracted(instruction, types[0])
    if opcode == "convolution" and len(types) == 2:
        return 2.0 * _count(instruction.type) * _window(instruction, types[1])
    if opcode in ("reduce", "reduce-window") and types:
        return float(_count(types[0]))
    return float(_count(instruction.type))


def _contracted(instruction: Instruction, left: str) -> int:
    """The number of products that each element of a dot's result is the sum of."""
    match = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", instruction.attributes)
    ((_, shape),) = hlo_text.arrays(left)[:1]
    axes = [int(axis) for axis in match[1].split(",") if axis] if match else []
    return math.prod([shape[axis] for axis in axes])


def _window(instruction: Instruction, kernel: str) -> float:
    """The same for a convolution: the kernel's elements for one output feature."""
    labels = re.search(r"dim_labels=\w+_(\w+)->", instruction.attributes)
    ((_, shape),) = hlo_text.arrays(kernel)[:1]
    features = shape[labels[1].index("o")] if labels and "o" in labels[1] else 1
    return math.prod(shape) / max(features, 1)


# -- memory ----------------------------------------------------------------------------


def touched_bytes(
    module: Module, computation: Computation, instruction: Instruction
) -> float:
    """What one run of a kernel reads and writes."""
    opcode = instruction.opcode
    result = hlo_text.size_bytes(instruction.type)
    types = computation.operand_types(instruction)
    if opcode in ("dynamic-slice", "slice", "gather"):
        return 2.0 * result
    if opcode == "dynamic-update-slice" and len(types) > 1:
        return 2.0 * hlo_text.size_bytes(types[1])
    if opcode == "fusion":
        body = module.computations.get(instruction.attribute("calls") or "")
        if body is not None:
            return float(_fusion_bytes(body, types, result))
    return float(result + sum(map(hlo_text.size_bytes, types)))


def _fusion_bytes(body: Computation, types: list[str], result: int) -> int:
    root = body.root
    written = result
    in_place = None
    if root is not None and root.opcode == "dynamic-update-slice":
        written = hlo_text.size_bytes(body.operand_types(root)[1])
        in_place = root.operands[0]
    total = written
    for name, parameter in body.instructions.items():
        if parameter.opcode != "parameter" or parameter.number is None:
            continue
        users = [body.instructions[u] for u in body.users.get(name, ())]
        if name == in_place and len(users) == 1:
            continue
        slices = [u for u in users if u.opcode in ("dynamic-slice", "slice", "gather")]
        if users and len(slices) == len(users):
            total += sum(hlo_text.size_bytes(u.type) for u in slices)
        elif parameter.number < len(types):
            total += hlo_text.size_bytes(types[parameter.number])
    return total
