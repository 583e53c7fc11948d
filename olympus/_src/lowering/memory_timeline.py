"""What memory a program holds while it runs, from its text in the order of execution.

Values live from the instruction that computes them to the last that reads them. XLA
places them by the same rule, and may share memory further or keep room between values;
its own number for the whole is in `Compiled.memory_analysis()`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from olympus._src.lowering import hlo_text
from olympus._src.lowering.hlo_text import Computation, Instruction, Module

# Instructions whose result is their operands' memory under another name.
_VIEWS = frozenset(
    [
        "after-all",
        "bitcast",
        "get-tuple-element",
        "optimization-barrier",
        "tuple",
        "while",
    ]
)


class Value(NamedTuple):
    """A value in memory.

    Attributes:
      computation, name: the instruction that makes it.
      kind: 'argument', 'result', 'constant' or 'temporary'.
      type: the text of its type.
      size_bytes: its size.
    """

    computation: str
    name: str
    kind: str
    type: str
    size_bytes: int


class Timeline(NamedTuple):
    """The memory that a program holds.

    Attributes:
      names: the instructions of the program, in the order in which they run.
      held_bytes: what is held while each runs.
      peak: the number of the one that holds most.
      values: what is held then, the largest first.
    """

    names: list[str]
    held_bytes: list[int]
    peak: int
    values: list[Value]

    @property
    def peak_bytes(self) -> int:
        """The most that is held at a time."""
        return self.held_bytes[self.peak] if self.held_bytes else 0


def timeline(module: Module) -> Timeline:
    """What a program holds while each of its instructions runs."""
    return _Liveness(module, module.computations[module.entry]).timeline()


class _Liveness:
    """The values of one computation, and when they live."""

    def __init__(self, module: Module, computation: Computation) -> None:
        self.module = module
        self.computation = computation
        self.order = list(computation.instructions.values())
        self.roots: dict[str, frozenset[str]] = {}
        for instruction in self.order:
            self.roots[instruction.name] = self._memory_of(instruction)
        root = computation.root
        self.results = self.roots[root.name] if root is not None else frozenset()
        self.ends = self._ends()

    def _memory_of(self, instruction: Instruction) -> frozenset[str]:
        """The instructions whose memory the value of one lies in."""
        if instruction.opcode in _VIEWS or self._is_in_place(instruction):
            operands = instruction.operands
            if instruction.opcode not in _VIEWS:
                operands = operands[:1]
            return frozenset().union(*[self.roots.get(o, ()) for o in operands])
        return frozenset([instruction.name])

    def _is_in_place(self, instruction: Instruction) -> bool:
        """Whether a result is written over the first operand: XLA copies it before."""
        if instruction.opcode == "dynamic-update-slice":
            return True
        body = self.module.computations.get(instruction.attribute("calls") or "")
        if instruction.opcode != "fusion" or body is None or body.root is None:
            return False
        root = body.root
        first = body.instructions.get(root.operands[0]) if root.operands else None
        return (
            root.opcode == "dynamic-update-slice"
            and first is not None
            and first.opcode == "parameter"
            and first.number == 0
        )

    def _ends(self) -> dict[str, int]:
        """For each value the last instruction that reads it."""
        ends: dict[str, int] = {}
        for i, instruction in enumerate(self.order):
            ends.setdefault(instruction.name, i)
            for operand in instruction.operands:
                for name in self.roots.get(operand, ()):
                    ends[name] = i
        for name in self.results:
            ends[name] = len(self.order)
        for instruction in self.order:  # arguments are the caller's
            if instruction.opcode in ("parameter", "constant"):
                ends[instruction.name] = len(self.order)
        return ends

    def _value(self, instruction: Instruction) -> Value:
        kind = "result" if instruction.name in self.results else "temporary"
        if instruction.opcode in ("parameter", "constant"):
            kind = "argument" if instruction.opcode == "parameter" else "constant"
        size = hlo_text.size_bytes(instruction.type)
        where = self.computation.name
        return Value(where, instruction.name, kind, instruction.type, size)

    def _inner(self, instruction: Instruction) -> list[Value]:
        """What computations that an instruction runs hold at their peak."""
        if instruction.opcode not in ("while", "conditional", "call"):
            return []
        held: list[Value] = []
        for name in hlo_text.callees(instruction):
            body = self.module.computations.get(name)
            if body is not None:
                inner = _Liveness(self.module, body).timeline()
                values = [v for v in inner.values if v.kind == "temporary"]
                held = max(held, values, key=_total)
        return held

    def timeline(self) -> Timeline:
        live: dict[str, Value] = {}
        for instruction in self.order:
            if instruction.opcode in ("parameter", "constant"):
                live[instruction.name] = self._value(instruction)
        deaths: dict[int, list[str]] = {}
        for name, end in self.ends.items():
            deaths.setdefault(end, []).append(name)
        held_bytes, peak, most, values = [], 0, -1, list(live.values())
        total = _total(values)
        for i, instruction in enumerate(self.order):
            name = instruction.name
            if name not in live and self.roots[name] == {name}:
                live[name] = self._value(instruction)
                total += live[name].size_bytes
            inner = self._inner(instruction)
            held = total + _total(inner)
            held_bytes.append(held)
            if held > most:
                peak, most, values = i, held, [*live.values(), *inner]
            for dead in deaths.get(i, ()):
                total -= live.pop(dead).size_bytes if dead in live else 0
        values.sort(key=lambda value: -value.size_bytes)
        return Timeline([i.name for i in self.order], held_bytes, peak, values)


def _total(values: Iterable[Value]) -> int:
    return sum(value.size_bytes for value in values)
