"""`Compiled.explain()`: what a program computes and holds, by the user's lines."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import Any, NamedTuple

from olympus._src.api.collectives import bytes_text
from olympus._src.foundation import source_info
from olympus._src.interpreters import compilation
from olympus._src.interpreters.compiled_programs import CompiledProgram
from olympus._src.interpreters.lowered_programs import LoweredProgram
from olympus._src.lowering import attributions as attributions_
from olympus._src.lowering import hlo_text, line_costs, memory_timeline
from olympus._src.lowering.hlo_text import Place
from olympus._src.lowering.line_costs import Cost
from olympus._src.lowering.operation_paths import Origin
from olympus._src.runtime import executable


class LineCost(NamedTuple):
    """What one line costs.

    Attributes:
      place: the file and the line; None for what belongs to no known line.
      code: the text of the line.
      cost: `flops`, `size_bytes`, `kernels`, `repeated_flops` and `directions`.
    """

    place: Place | None
    code: str
    cost: Cost


class HeldValue(NamedTuple):
    """A value in memory when the program holds most.

    Attributes:
      kind: 'argument', 'result', 'constant' or 'temporary'.
      type: as XLA writes it, such as 'f32[8,128]'.
      size_bytes: its size.
      place: the line that makes it; None where it is not known, and for arguments.
      code: the text of the line; of an argument its path, as in "params['w']".
    """

    kind: str
    type: str
    size_bytes: int
    place: Place | None
    code: str


class ProgramCosts:
    """What a compiled program computes and holds; prints as tables.

    Attributes:
      name: of the program.
      flops: operations on numbers in a run.
      size_bytes: what its kernels read and write in a run.
      lines: the `LineCost`s, those of the most operations and bytes first.
      peak_bytes: the most memory that it holds at a time, arguments and results too.
      peak_place: the line that runs then.
      held: the `HeldValue`s of that moment, the largest first.
      is_partial: whether loops are counted as one step, their number being unknown.
    """

    __slots__ = (
        "flops", "held", "is_partial", "lines", "name", "peak_bytes", "peak_place",
        "size_bytes",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        lines: Sequence[LineCost],
        held: Sequence[HeldValue],
        peak_bytes: int,
        peak_place: Place | None,
        is_partial: bool,
    ) -> None:
        self.name = name
        self.lines = tuple(lines)
        self.held = tuple(held)
        self.peak_bytes = peak_bytes
        self.peak_place = peak_place
        self.is_partial = is_partial
        self.flops = sum(line.cost.flops for line in lines)
        self.size_bytes = sum(line.cost.size_bytes for line in lines)

    @property
    def intensity(self) -> float:
        """Operations for each byte that is read or written."""
        return self.flops / self.size_bytes if self.size_bytes else 0.0

    @property
    def repeated(self) -> tuple[LineCost, ...]:
        """Lines of which XLA computes something more than once, the costliest first."""
        again = [line for line in self.lines if line.cost.repeated_flops]
        again.sort(key=lambda line: -line.cost.repeated_flops)
        return tuple(again)

    def __str__(self) -> str:
        parts = [self._headline(), _cost_table(self), _memory_table(self)]
        if self.repeated:
            parts.append(_repeated_table(self))
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return f"<{self._headline()}>"

    def _headline(self) -> str:
        loops = ", loops of unknown length counted as one step" * self.is_partial
        return (
            f"{self.name}: {count_text(self.flops)} flops, "
            f"{bytes_text(self.size_bytes)} read and written "
            f"({self.intensity:.2g} flops per byte), "
            f"peak memory {bytes_text(self.peak_bytes)}{loops}"
        )


def optimized_text(program: CompiledProgram) -> str:
    """XLA's text of a program, whose instructions name the user's operations."""
    text = program.executable.hlo_text()
    return attributions_.with_origins(text, program.lowered.origins())


def explain(program: CompiledProgram, paths: Sequence[str] = ()) -> ProgramCosts:
    """The costs of a compiled program.

    Args:
      program: what was compiled.
      paths: of the arguments, where they are known.
    """
    module, served, _ = attributed(program)
    memory = memory_timeline.timeline(module)
    return explain_parts(program.lowered, paths, module, served, memory)


def attributed(
    program: CompiledProgram,
) -> tuple[hlo_text.Module, line_costs.Attributions, Sequence[Origin | None]]:
    """The instructions of a compiled program, and which operations they serve.

    The third result is where each line of the text comes from that was compiled.

    Of a program over several devices XLA does not say the lines. Then it is compiled
    once more, with lines for the names of its operations.
    """
    lowered = program.lowered
    module = hlo_text.parse(program.executable.hlo_text())
    origins = lowered.line_origins()
    if lowered.keeps_lines or lowered.program is None:
        return module, attributions_.attribute(module, origins), origins
    named = lowered.named_lines()
    built = compilation.build_options_of(named, program.options)
    text = executable.optimized_text(compilation.load(named, built))
    other = hlo_text.parse(text)
    served = attributions_.attribute(other, origins)
    # XLA makes the names of instructions of those of operations, which have no part in
    # how it optimises them; if they had, this is still one way to compile the program.
    renamed = _renamed(other, module)
    if renamed is None:
        return other, served, origins
    return module, {renamed[key]: known for key, known in served.items()}, origins


_Key = tuple[str, str]


def _renamed(
    module: hlo_text.Module, other: hlo_text.Module
) -> dict[_Key, _Key] | None:
    """The instructions of two programs that differ in names alone; None for others."""
    pairs: dict[_Key, _Key] = {}
    computations = list(module.computations.values())
    others = list(other.computations.values())
    if len(computations) != len(others):
        return None
    for a, b in zip(computations, others, strict=True):
        if len(a.instructions) != len(b.instructions):
            return None
        instructions = zip(
            a.instructions.values(), b.instructions.values(), strict=True
        )
        for x, y in instructions:
            pairs[a.name, x.name] = b.name, y.name
            operands = tuple([pairs.get((a.name, o), ("", o))[1] for o in x.operands])
            if _unnamed(x) != _unnamed(y) or operands != y.operands:
                return None
    return pairs


def _unnamed(instruction: hlo_text.Instruction) -> tuple[Any, ...]:
    return instruction[1:3] + instruction[5:]  # opcode and type, whether it is the root


def explain_parts(
    lowered: LoweredProgram,
    paths: Sequence[str],
    module: hlo_text.Module,
    served: line_costs.Attributions,
    memory: memory_timeline.Timeline,
) -> ProgramCosts:
    """The costs of a program whose text has been read."""
    costs = line_costs.by_line(module, served)
    total = sum(c.flops for c in costs.values()) or 1.0
    moved = sum(c.size_bytes for c in costs.values()) or 1.0
    lines = [LineCost(p, _code(p), cost) for p, cost in costs.items()]
    lines.sort(key=lambda x: -(x.cost.flops / total + x.cost.size_bytes / moved))
    names = _parameter_names(module, lowered, paths)
    held = [_held(value, served, names) for value in memory.values if value.size_bytes]
    peak = None
    if memory.names:
        known = served.get((module.entry, memory.names[memory.peak]))
        peak = line_costs.place_of(known.origin if known else None)
    is_partial = any(e.times is None for e, _ in module.instructions())
    return ProgramCosts(
        lowered.module_name, lines, held, memory.peak_bytes, peak, is_partial
    )


def _parameter_names(
    module: hlo_text.Module, lowered: LoweredProgram, paths: Sequence[str]
) -> dict[str, str]:
    """The paths of the user's arguments, by the names of XLA's parameters."""
    kept = [path for path, k in zip(paths, lowered.kept, strict=False) if k]
    names = [*[""] * len(lowered.consts), *kept]
    return {
        name: names[parameter.number]
        for name, parameter in module.computations[module.entry].instructions.items()
        if parameter.number is not None and parameter.number < len(names)
    }


def _held(
    value: memory_timeline.Value,
    served: line_costs.Attributions,
    names: dict[str, str],
) -> HeldValue:
    if value.kind == "argument":
        code = names.get(value.name, "")
        return HeldValue(value.kind, value.type, value.size_bytes, None, code)
    known = served.get((value.computation, value.name))
    place = line_costs.place_of(known.origin if known else None)
    return HeldValue(value.kind, value.type, value.size_bytes, place, _code(place))


def _code(place: Place | None) -> str:
    return "" if place is None else linecache.getline(place.file, place.line).strip()


# -- text ------------------------------------------------------------------------------

_MAX_ROWS = 12
_MAX_CODE = 60


def count_text(n: float) -> str:
    """A number with a prefix that suits it, as in '2.1 M'."""
    for prefix in ("", "k", "M", "G", "T"):
        if n < 1000:
            return f"{n:.3g} {prefix}".rstrip()
        n /= 1000
    return f"{n:.4g} P"


def _cost_table(costs: ProgramCosts) -> str:
    rows = [("flops", "", "bytes", "", "kernels", "line")]
    shown = costs.lines[:_MAX_ROWS]
    for place, code, cost in shown:
        rows.append(
            (
                count_text(cost.flops),
                _share(cost.flops, costs.flops),
                bytes_text(cost.size_bytes),
                _share(cost.size_bytes, costs.size_bytes),
                str(cost.kernels),
                line_text(place, code, cost.directions),
            )
        )
    return _table(rows) + _more(len(costs.lines) - len(shown), "line")


def _memory_table(costs: ProgramCosts) -> str:
    where = "" if costs.peak_place is None else f", at {_short(costs.peak_place)}"
    rows = [("bytes", "", "type", "kind", "line")]
    alike = _grouped(costs.held)
    for values in alike[:_MAX_ROWS]:
        value, n = values[0], len(values)
        kind = value.type if len(value.type) <= _MAX_CODE else "a tuple"
        rows.append(
            (
                bytes_text(n * value.size_bytes),
                _share(n * value.size_bytes, costs.peak_bytes),
                kind if n == 1 else f"{n} x {kind}",
                value.kind if n == 1 else _PLURALS[value.kind],
                _maker_text(values),
            )
        )
    more = _more(len(alike) - _MAX_ROWS, "row")
    return f"held at the peak{where}:\n{_table(rows)}{more}"


_PLURALS = {
    "argument": "arguments",
    "constant": "constants",
    "result": "results",
    "temporary": "temporaries",
}


def _grouped(held: Sequence[HeldValue]) -> list[list[HeldValue]]:
    """Values of one kind, type and line together; those of the most bytes first."""
    groups: dict[Any, list[HeldValue]] = {}
    for value in held:
        groups.setdefault((value.kind, value.type, value.place), []).append(value)
    return sorted(groups.values(), key=lambda g: -len(g) * g[0].size_bytes)


def _maker_text(values: Sequence[HeldValue]) -> str:
    first = values[0]
    if first.place is not None:
        return line_text(first.place, first.code)
    names = ", ".join([value.code for value in values if value.code])
    return names if len(names) <= _MAX_CODE else names[: _MAX_CODE - 3] + "..."


def _repeated_table(costs: ProgramCosts) -> str:
    rows = [
        (count_text(cost.repeated_flops), _share(cost.repeated_flops, costs.flops),
         line_text(place, code, cost.directions))
        for place, code, cost in costs.repeated[:_MAX_ROWS]
    ]  # fmt: skip
    return "computed more than once:\n" + _table([("flops", "", "line"), *rows])


def line_text(place: Place | None, code: str, directions: Sequence[str] = ()) -> str:
    """A line of the user's program, with its text."""
    if place is None:
        return "(no line is known)"
    code = code if len(code) <= _MAX_CODE else code[: _MAX_CODE - 3] + "..."
    named = [d for d in directions if d]
    return f"{_short(place)}  {code}" + (f"  [{', '.join(named)}]" if named else "")


def _short(place: Place) -> str:
    return f"{source_info.short_file(place.file)}:{place.line}"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f}%" if whole else ""


def _more(n: int, word: str) -> str:
    return f"\nand {n} more {word}{'s' * (n > 1)}" if n > 0 else ""


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([cell.ljust(w) for cell, w in zip(row, widths, strict=True)])
        for row in rows
    ]
    return "\n".join([line.rstrip() for line in lines])
