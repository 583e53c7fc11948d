"""Reads the text of XLA's optimised programs: instructions, calls, source positions.

Only what a reader of communication and cost needs is taken apart: names, types,
operands and attributes of instructions; which computations call which, and how often;
the tables of files and lines.

Source: the HLO text format of OpenXLA, as `HloModule.to_string` prints it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple


class Instruction(NamedTuple):
    """One instruction.

    Attributes:
      name: its name, without the percent sign.
      opcode: as in 'all-reduce'.
      type: the text of the result's type, without layouts.
      operands: the names of its operands.
      attributes: the text after the operands.
      is_root: whether it is the result of its computation.
      number: of a parameter.
      literal: the text of a constant's value.
    """

    name: str
    opcode: str
    type: str
    operands: tuple[str, ...]
    attributes: str
    is_root: bool
    number: int | None = None
    literal: str = ""

    def attribute(self, name: str) -> str | None:
        """The text of an attribute up to the next comma, as in 'body=%name'."""
        match = re.search(rf"\b{name}=%?([\w.\-]+)", self.attributes)
        return match[1] if match else None


class Computation(NamedTuple):
    """A function of the module.

    Attributes:
      name: its name.
      instructions: by name, in order.
      users: for each instruction the names of those that take it.
    """

    name: str
    instructions: dict[str, Instruction]
    users: dict[str, list[str]]

    @property
    def root(self) -> Instruction | None:
        """The instruction whose result is the computation's."""
        for instruction in reversed(self.instructions.values()):
            if instruction.is_root:
                return instruction
        return None

    def operand_types(self, instruction: Instruction) -> list[str]:
        """The types of an instruction's operands."""
        known = self.instructions
        return [known[o].type for o in instruction.operands if o in known]


class Place(NamedTuple):
    """A position in the user's program.

    Attributes:
      file, line: where.
    """

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Execution(NamedTuple):
    """A computation, and how often a run of the program executes it.

    Attributes:
      computation: the function.
      times: how often; None where the number of iterations is not known.
      is_conditional: whether it may not run at all.
      is_fused: whether it is the body of one kernel.
      is_asynchronous: whether other work may run meanwhile.
    """

    computation: Computation
    times: int | None
    is_conditional: bool
    is_fused: bool
    is_asynchronous: bool


class Module(NamedTuple):
    """A program.

    Attributes:
      computations: by name.
      entry: the name of the one that runs.
      places: source positions by the number that instructions name.
      name: of the module.
    """

    computations: dict[str, Computation]
    entry: str
    places: dict[int, Place]
    name: str = ""

    def instructions(self) -> Iterator[tuple[Execution, Instruction]]:
        """Each instruction that runs, once for each place that its computation runs."""
        entry = self.computations[self.entry]
        yield from self._instructions(Execution(entry, 1, False, False, False))

    def _instructions(
        self, outer: Execution
    ) -> Iterator[tuple[Execution, Instruction]]:
        for instruction in outer.computation.instructions.values():
            yield outer, instruction
            for name, repeats, in_branch in _callees(instruction):
                callee = self.computations.get(name)
                if callee is None:
                    continue
                known = outer.times is not None and repeats is not None
                inner = Execution(
                    callee,
                    outer.times * repeats if known else None,  # type: ignore[operator]
                    outer.is_conditional or in_branch,
                    outer.is_fused or instruction.opcode == "fusion",
                    outer.is_asynchronous or instruction.opcode == "async-start",
                )
                yield from self._instructions(inner)

    def place(self, instruction: Instruction) -> Place | None:
        """Where the user wrote what an instruction does; None where it is not known."""
        frame = re.search(r"stack_frame_id=(\d+)", instruction.attributes)
        if frame:
            return self.places.get(int(frame[1]))
        plain = re.search(
            r'source_file="([^"]*)" source_line=(\d+)', instruction.attributes
        )
        return Place(plain[1], int(plain[2])) if plain else None


def operation(instruction: Instruction) -> str:
    """The name of the operation that an instruction serves; empty if unknown."""
    match = re.search(r'op_name="([^"]*)"', instruction.attributes)
    return match[1] if match else ""


# -- calls -----------------------------------------------------------------------------


def _callees(instruction: Instruction) -> Iterator[tuple[str, int | None, bool]]:
    """Computations that it runs: name, how often, and whether perhaps not at all."""
    opcode = instruction.opcode
    if opcode == "while":
        count = re.search(r'known_trip_count"?:\{"?n"?:"?(\d+)', instruction.attributes)
        repeats = int(count[1]) if count else None
        checks = None if repeats is None else repeats + 1
        for part, times in (("condition", checks), ("body", repeats)):
            callee = instruction.attribute(part)
            if callee:
                yield callee, times, False
    elif opcode == "conditional":
        for branch in _branches(instruction):
            yield branch, 1, True
    elif opcode in ("call", "fusion", "async-start"):
        callee = instruction.attribute("to_apply") or instruction.attribute("calls")
        if callee:
            yield callee, 1, False


def _branches(instruction: Instruction) -> list[str]:
    listed = re.search(r"branch_computations=\{([^}]*)\}", instruction.attributes)
    if listed:
        return [name.strip().lstrip("%") for name in listed[1].split(",")]
    pair = [instruction.attribute(f"{side}_computation") for side in ("true", "false")]
    return [name for name in pair if name]


def callees(instruction: Instruction) -> list[str]:
    """The names of the computations that an instruction runs, or applies."""
    attributes = instruction.attributes
    if "=%" not in attributes and "ations={" not in attributes:  # for most, and fast
        return []
    applied = instruction.attribute("to_apply")
    run = [name for name, _, _ in _callees(instruction)]
    return run if applied is None or applied in run else [*run, applied]


# -- parsing ---------------------------------------------------------------------------

_HEADER = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\) -> .*\{$")
_NAME = re.compile(r"^(ROOT )?%?([\w.\-]+) = ")
_COMMENT = re.compile(r"/\*.*?\*/")
_LAYOUT = re.compile(r"(?<=\])\{[^}]*\}")


def parse(text: str) -> Module:
    """Reads the text of a program; of several modules, the first."""
    computations: dict[str, Computation] = {}
    entry = name = ""
    current: Computation | None = None
    tables: dict[str, dict[int, str]] = {}
    table = ""
    for raw in text.splitlines():
        line = raw.strip()
        header = _HEADER.match(line)
        if header and current is None:
            current = Computation(header[2], {}, {})
            computations[header[2]] = current
            entry = header[2] if header[1] else entry
        elif line.startswith("HloModule ") and current is None:
            if entry:
                break
            name = line.split()[1].rstrip(",")
        elif current is None:
            table = _read_table_line(line, table, tables)
        elif line == "}":
            current = None
        else:
            instruction = _read_instruction(_COMMENT.sub("", line))
            if instruction is not None:
                current.instructions[instruction.name] = instruction
                for operand in instruction.operands:
                    current.users.setdefault(operand, []).append(instruction.name)
    if not entry:
        raise ValueError(
            "hlo_text.parse: the text must hold an ENTRY computation, got "
            f"{text[:60]!r}; write compiled.as_text()"
        )
    return Module(computations, entry, _places(tables), name)


def computation_name(line: str) -> str | None:
    """The name of the computation that begins on a line of a program's text."""
    header = _HEADER.match(line.strip())
    return header[2] if header else None


def instruction_name(line: str) -> str | None:
    """The name of the instruction on a line of a program's text."""
    match = _NAME.match(line.strip())
    return match[2] if match else None


def _read_instruction(line: str) -> Instruction | None:
    match = _NAME.match(line)
    if match is None:
        return None
    start = match.end()
    end = _end_of_type(line, start)
    opening = line.find("(", end)
    if opening < 0:
        return None
    closing = _closing(line, opening)
    operands = line[opening + 1 : closing]
    opcode = line[end:opening].strip()
    names = () if opcode in ("parameter", "constant") else _operand_names(operands)
    kind = _LAYOUT.sub("", line[start:end])
    number = int(operands) if opcode == "parameter" else None
    literal = operands if opcode == "constant" else ""
    behind, is_root = line[closing + 1 :], bool(match[1])
    return Instruction(match[2], opcode, kind, names, behind, is_root, number, literal)


def _operand_names(text: str) -> tuple[str, ...]:
    """Names of operands, which may have their types in front."""
    if "%" in text:
        return tuple(re.findall(r"%([\w.\-]+)", text))
    return tuple([part.split()[-1] for part in text.split(", ") if part.split()])


def _end_of_type(line: str, start: int) -> int:
    """Where a type ends: at the first space outside of brackets."""
    if line[start : start + 1] != "(":  # no tuple: for most, and fast
        end = line.find(" ", start)
        return end if end >= 0 else len(line)
    depth = 0
    for i in range(start, len(line)):
        letter = line[i]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == " " and depth == 0:
            return i
    return len(line)


_NESTED = re.compile(r'["({\[]')


def _closing(line: str, opening: int) -> int:
    """Where the bracket that opens at a position closes."""
    first = line.find(")", opening)
    if first >= 0 and not _NESTED.search(
        line, opening + 1, first
    ):  # for most, and fast
        return first
    depth, quoted = 0, False
    for i in range(opening, len(line)):
        letter = line[i]
        if letter == '"' and line[i - 1] != "\\":
            quoted = not quoted
        elif not quoted and letter in "({[":
            depth += 1
        elif not quoted and letter in ")}]":
            depth -= 1
            if depth == 0:
                return i
    return len(line)


# -- source positions ------------------------------------------------------------------

_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")


def _read_table_line(line: str, table: str, tables: dict[str, dict[int, str]]) -> str:
    """Notes a line of the tables before the computations; returns the table's name."""
    if line in _TABLES:
        tables[line] = {}
        return line
    number, _, value = line.partition(" ")
    if table and number.isdigit():
        tables[table][int(number)] = value
        return table
    return table if line else ""


def _places(tables: dict[str, dict[int, str]]) -> dict[int, Place]:
    files, spots = tables.get("FileNames", {}), tables.get("FileLocations", {})
    places = {}
    for number, frame in tables.get("StackFrames", {}).items():
        spot = spots.get(_field(frame, "file_location_id"), "")
        file = files.get(_field(spot, "file_name_id"), "").strip('"')
        if file:
            places[number] = Place(file, _field(spot, "line"))
    return places


def _field(text: str, name: str) -> int:
    match = re.search(rf"\b{name}=(\d+)", text)
    return int(match[1]) if match else 0


# -- types -----------------------------------------------------------------------------

_ELEMENT = re.compile(r"\b([a-z]\w*)\[([\d,]*)\]")
_BITS = re.compile(r"\d+")


def element_bits(name: str) -> int:
    """The size of an element type, as in 'bf16'."""
    if name == "pred":
        return 8
    if name in ("token", "opaque"):
        return 0
    match = _BITS.search(name)
    return int(match[0]) if match else 0


def arrays(kind: str) -> list[tuple[str, tuple[int, ...]]]:
    """The element type and shape of each array of a type, which may be a tuple."""
    return [
        (name, tuple([int(n) for n in sizes.split(",") if n]))
        for name, sizes in _ELEMENT.findall(kind)
    ]


def size_bytes(kind: str) -> int:
    """The bytes of all arrays of a type."""
    bits = [math.prod(shape) * element_bits(name) for name, shape in arrays(kind)]
    return sum(-(-n // 8) for n in bits)
