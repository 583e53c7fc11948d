"""`explain_collectives`: what a compiled program sends between devices, and why.

The collectives are read from the optimised program's text. The user's lines are no part
of what is compiled for a call: they would be in the key of the compile cache. So the
program is lowered once more with them, and compiled, on request.
"""

from __future__ import annotations

import collections
import html
import linecache
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from olympus._src.api import stages
from olympus._src.foundation import source_info
from olympus._src.interpreters import compilation
from olympus._src.interpreters.compiled_programs import CompiledProgram
from olympus._src.lowering import hlo_text
from olympus._src.lowering.hlo_text import Place
from olympus._src.runtime import executable
from olympus._src.sharding import replica_groups
from olympus._src.sharding.meshes import Mesh

KINDS = (
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "ragged-all-to-all",
    "collective-permute",
    "collective-broadcast",
)


class Collective(NamedTuple):
    """One exchange of data between devices.

    Attributes:
      kind: as XLA calls it, as in 'all-reduce'.
      name: of the instruction in `compiled.as_text()`.
      type: XLA's type of what one device has before it, as in 'f32[16,32]'.
      size_bytes: the payload: the whole of the result of an all-gather, else what one
        device has before it.
      axes: the axes of the mesh along which devices exchange data.
      group_size: how many devices exchange data with each other; 2 for a permutation.
      members: positions in the mesh of the devices, of shape (groups, members); for a
        permutation its pairs of senders and receivers.
      times: how often a run of the program does it; None in a loop whose number of
        iterations the compiler does not know.
      is_conditional: whether it is in a branch.
      is_asynchronous: whether other work may run meanwhile.
      operation: the operations that it serves, as in 'jit(f)/dot_general'.
      places: the user's lines that it serves.
      advice: how to exchange less, where the text shows a way; else empty. A value is
        gathered only to be divided again, or summed only for parts to be kept.
    """

    kind: str
    name: str
    type: str
    size_bytes: int
    axes: tuple[Any, ...]
    group_size: int
    members: Any
    times: int | None
    is_conditional: bool
    is_asynchronous: bool
    operation: str
    places: tuple[Place, ...]
    advice: str = ""

    @property
    def place(self) -> Place | None:
        """The user's line; None where it is not known."""
        return self.places[0] if self.places else None

    @property
    def is_rematerialization(self) -> bool:
        """Whether it gathers a value only for it to be divided again."""
        return self.kind == "all-gather" and bool(self.advice)

    @property
    def total_bytes(self) -> int:
        """The payload of all times; of one where their number is not known."""
        return self.size_bytes * (1 if self.times is None else self.times)

    def __str__(self) -> str:
        return "  ".join(_cells(self))


class Collectives(Sequence[Collective]):
    """The collectives of a program, in the order of its text.

    Attributes:
      name: of the program.
      mesh: the devices that it runs on; None for one device.
      records: one for each collective.
    """

    def __init__(
        self, name: str, mesh: Mesh | None, records: Sequence[Collective]
    ) -> None:
        self.name = name
        self.mesh = mesh
        self.records = tuple(records)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, index: Any) -> Any:
        return self.records[index]

    @property
    def total_bytes(self) -> int:
        """The payload of all of them."""
        return sum(r.total_bytes for r in self.records)

    @property
    def rematerializations(self) -> tuple[Collective, ...]:
        """Those that gather a value only for it to be divided again."""
        return tuple([r for r in self.records if r.is_rematerialization])

    def __str__(self) -> str:
        where = "one device" if self.mesh is None else str(self.mesh)
        if not self.records:
            return f"{self.name} on {where}: no collectives"
        rows = [list(_HEADINGS), *self._rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            f"{self.name} on {where}: {_count(len(self.records), 'collective')}, "
            f"{bytes_text(self.total_bytes)}"
        ]
        for row in rows:
            cells = [x.ljust(n) for x, n in zip(row, widths, strict=True)]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines + self._notes())

    def __repr__(self) -> str:
        return str(self)

    def _notes(self) -> list[str]:
        """Advice; where it is the same for several, the first of them is named."""
        firsts: dict[str, str] = {}
        for record in self.records:
            if record.advice:
                firsts.setdefault(record.advice, record.name)
        return [f"{name}: {advice}" for advice, name in firsts.items()]

    def _rows(self) -> list[list[str]]:
        """The cells of the table; equal rows are one, with their number."""
        counts = collections.Counter(tuple(_cells(r)) for r in self.records)
        return [
            [f"{n} x {x}" if i == _TIMES and n > 1 else x for i, x in enumerate(cells)]
            for cells, n in counts.items()
        ]

    def _repr_html_(self) -> str:
        head = "".join([f"<th>{h}</th>" for h in _HEADINGS])
        body = "".join(
            [
                "<tr>" + "".join([f"<td>{html.escape(c)}</td>" for c in row]) + "</tr>"
                for row in self._rows()
            ]
        )
        notes = "".join([f"<p>{html.escape(note)}</p>" for note in self._notes()])
        title = html.escape(str(self).partition("\n")[0])
        return f"<p>{title}</p><table><tr>{head}</tr>{body}</table>{notes}"


def explain_collectives(
    compiled: stages.Compiled, *, lines: bool = True
) -> Collectives:
    """The exchanges of data between devices that XLA put into a compiled program.

    Args:
      compiled: what `jit(f).lower(...).compile()` returned.
      lines: find the user's lines, for which the program is compiled once more.

    Returns:
      A sequence of records with the attributes `kind`, `size_bytes`, `axes`, `times`,
      `place`, `operation` and others, which prints as a table. A value that is gathered
      whole only to be divided again, a full rematerialization, has a note that says how
      to avoid it.

    Raises:
      TypeError: `compiled` is no compiled function.

    Example:
      >>> import olympus
      >>> import olympus.numpy as jnp
      >>> from olympus.sharding import explain_collectives
      >>> compiled = olympus.jit(jnp.sum).lower(jnp.ones(8)).compile()
      >>> print(explain_collectives(compiled))
      jit_sum on one device: no collectives
    """
    if not isinstance(compiled, stages.Compiled):
        raise TypeError(
            "explain_collectives: compiled must be a compiled function, got "
            f"{type(compiled).__name__}; write jit(f).lower(...).compile()"
        )
    _, program = stages.parts_of(compiled)
    lowered = program.lowered
    mesh = None if lowered.division is None else lowered.division.mesh
    if mesh is None or mesh.size == 1:
        return Collectives(lowered.module_name, mesh, ())
    module = hlo_text.parse(program.executable.hlo_text())
    records = read(module, mesh)
    if lines and records and lowered.program is not None:
        located = read(hlo_text.parse(_located_text(program)), mesh)
        if [r[:4] for r in map(_unnamed, located)] == [
            r[:4] for r in map(_unnamed, records)
        ]:
            records = [
                r._replace(name=plain.name)
                for r, plain in zip(located, records, strict=True)
            ]
    return Collectives(lowered.module_name, mesh, records)


def _unnamed(record: Collective) -> Collective:
    return record._replace(name="")


def _located_text(program: CompiledProgram) -> str:
    """The optimised program of the same text with source positions."""
    lowered = program.lowered.located()
    built = compilation.build_options_of(lowered, program.options)
    return executable.optimized_text(compilation.load(lowered, built))


# -- reading ---------------------------------------------------------------------------


def read(module: hlo_text.Module, mesh: Mesh) -> list[Collective]:
    """The collectives of a program on a mesh, in the order of its text."""
    return [
        _record(module, execution, instruction, kind, mesh)
        for execution, instruction in module.instructions()
        if (kind := _kind(instruction.opcode)) is not None
    ]


def _kind(opcode: str) -> str | None:
    name = opcode.removesuffix("-start")
    return name if name in KINDS else None


def _record(
    module: hlo_text.Module,
    execution: hlo_text.Execution,
    instruction: hlo_text.Instruction,
    kind: str,
    mesh: Mesh,
) -> Collective:
    computation = execution.computation
    is_start = instruction.opcode.endswith("-start")
    before = computation.operand_types(instruction)
    payload = sum(map(hlo_text.size_bytes, before))
    if kind == "collective-permute":
        members = replica_groups.pairs(instruction.attributes)
        axes = replica_groups.axes_of_pairs(members, mesh.shape_tuple)
    else:
        members = replica_groups.groups(instruction.attributes, mesh.size)
        axes = replica_groups.axes_of_groups(members, mesh.shape_tuple)
    group_size = members.shape[1]
    if kind == "all-gather":
        payload *= group_size
    return Collective(
        kind=kind,
        name=instruction.name,
        type=", ".join(before),
        size_bytes=payload,
        axes=axes,
        group_size=group_size,
        members=members,
        times=execution.times,
        is_conditional=execution.is_conditional,
        is_asynchronous=is_start or execution.is_asynchronous,
        operation=_operation(computation, instruction),
        places=_places(module, computation, instruction),
        advice=_advice(module, computation, instruction, kind, axes),
    )


def _places(
    module: hlo_text.Module,
    computation: hlo_text.Computation,
    instruction: hlo_text.Instruction,
) -> tuple[Place, ...]:
    """The lines of an instruction: of all operands, since XLA joins collectives.

    Where it has none, they are those of the nearest instructions that use its result.
    """
    own = module.place(instruction)
    known = computation.instructions
    if len(instruction.operands) > 1:
        operands = [module.place(known[o]) for o in instruction.operands if o in known]
        places = [own, *operands]
    else:
        places = [own]
    distinct = tuple(dict.fromkeys([p for p in places if p is not None]))
    return distinct or _places_of_users(module, computation, instruction)


def _places_of_users(
    module: hlo_text.Module,
    computation: hlo_text.Computation,
    instruction: hlo_text.Instruction,
) -> tuple[Place, ...]:
    for users in _users(computation, instruction):
        places = map(module.place, users)
        distinct = tuple(dict.fromkeys([p for p in places if p is not None]))
        if distinct:
            return distinct
    return ()


def _operation(
    computation: hlo_text.Computation, instruction: hlo_text.Instruction
) -> str:
    """What an instruction serves; of one on an argument, what uses its result."""
    own = hlo_text.operation(instruction)
    if not _ARGUMENT.match(own):
        return own
    for users in _users(computation, instruction):
        for name in map(hlo_text.operation, users):
            if name and not _ARGUMENT.match(name):
                return name
    return own


_ARGUMENT = re.compile(r"(Arg_[\d.]*)?$")


def _users(
    computation: hlo_text.Computation, instruction: hlo_text.Instruction
) -> Iterator[list[hlo_text.Instruction]]:
    """Those that use its result, then those that use theirs, and so on."""
    names, seen = [instruction.name], {instruction.name}
    while names:
        users = [u for name in names for u in computation.users.get(name, ())]
        names = [u for u in dict.fromkeys(users) if u not in seen]
        seen.update(names)
        yield [computation.instructions[name] for name in names]


# -- values that are gathered to be divided again --------------------------------------

_MOVES = frozenset(
    [
        "all-gather-done",
        "bitcast",
        "convert",
        "copy",
        "get-tuple-element",
        "reshape",
        "transpose",
    ]
)


def _advice(
    module: hlo_text.Module,
    computation: hlo_text.Computation,
    instruction: hlo_text.Instruction,
    kind: str,
    axes: tuple[Any, ...],
) -> str:
    """The advice for a collective whose result each device reads a part of."""
    if kind not in ("all-gather", "all-reduce") or not axes:
        return ""
    parts = _parts_read(module, computation, instruction.name)
    if not parts:
        return ""
    parts_text = " and ".join(sorted(set(parts)))
    if kind == "all-reduce":
        return (
            f"each device keeps {parts_text} of the sum along {_axes_text(axes)}; a "
            "reduce-scatter takes half the time: compilers for other platforms may "
            "write one, and lax.psum_scatter in shard_map does"
        )
    return _rematerialization(computation, instruction, parts_text, axes)


def _rematerialization(
    computation: hlo_text.Computation,
    instruction: hlo_text.Instruction,
    parts_text: str,
    axes: tuple[Any, ...],
) -> str:
    """The advice for a gather whose result is divided again."""
    ((element, sizes),) = hlo_text.arrays(instruction.type)[-1:]
    ((_, before),) = hlo_text.arrays(computation.operand_types(instruction)[0])[:1]
    axis = next(
        (i for i, (a, b) in enumerate(zip(sizes, before, strict=False)) if a != b), 0
    )
    along = axes[0] if len(axes) == 1 else tuple(axes)
    entries = ", ".join(["None"] * axis + [repr(along)])
    return (
        f"full rematerialization: {element}[{','.join(map(str, sizes))}] is gathered "
        f"along {_axes_text(axes)} and then divided again into "
        f"{parts_text}; keep its axis {axis} divided, as in "
        f"lax.with_sharding_constraint(x, P({entries})) on what uses it, or divide it "
        "in the same way where it is made"
    )


def _parts_read(
    module: hlo_text.Module, computation: hlo_text.Computation, name: str
) -> list[str]:
    """The types of the parts that all users of a value read; empty if one reads all."""
    parts: list[str] = []
    for user_name in computation.users.get(name, ()):
        user = computation.instructions[user_name]
        if user.opcode == "dynamic-slice" and user.operands[0] == name:
            parts.append(user.type)
        elif user.opcode in _MOVES:
            inner = _parts_read(module, computation, user_name)
            if not inner:
                return []
            parts += inner
        elif user.opcode == "fusion":
            inner = _parts_read_by_fusion(module, user, name)
            if not inner:
                return []
            parts += inner
        else:
            return []
    return parts


def _parts_read_by_fusion(
    module: hlo_text.Module, fusion: hlo_text.Instruction, name: str
) -> list[str]:
    body = module.computations.get(fusion.attribute("calls") or "")
    if body is None:
        return []
    parameters = [i for i in body.instructions.values() if i.opcode == "parameter"]
    parts: list[str] = []
    for parameter in parameters:
        if fusion.operands[parameter.number or 0] == name:
            inner = _parts_read(module, body, parameter.name)
            if not inner:
                return []
            parts += inner
    return parts


# -- as text ---------------------------------------------------------------------------

_MAX_CODE = 60
_HEADINGS = ("collective", "along", "payload", "times", "operation", "line")
_TIMES = _HEADINGS.index("times")


def _cells(record: Collective) -> list[str]:
    times = "unknown" if record.times is None else str(record.times)
    return [
        record.kind + ("-start" if record.is_asynchronous else ""),
        _axes_text(record.axes),
        bytes_text(record.size_bytes),
        times + (" at most" if record.is_conditional else ""),
        re.sub(r"^jit\(.*?\)/", "", record.operation),
        _place_text(record.places),
    ]


def _axes_text(axes: tuple[Any, ...]) -> str:
    return " and ".join(map(repr, axes)) or "no axis"


def _place_text(places: tuple[Place, ...]) -> str:
    if not places:
        return ""
    first, *others = places
    code = linecache.getline(first.file, first.line).strip()
    if len(code) > _MAX_CODE:
        code = code[: _MAX_CODE - 3] + "..."
    name = source_info.short_file(first.file)
    more = [
        str(p.line)
        if p.file == first.file
        else f"{source_info.short_file(p.file)}:{p.line}"
        for p in others
    ]
    return f"{', '.join([f'{name}:{first.line}', *more])}  {code}".rstrip()


def bytes_text(n: float) -> str:
    """A number of bytes in a unit that suits it."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024:
            is_whole = unit == "B" or n >= 999.5
            return f"{n:.0f} {unit}" if is_whole else f"{n:.3g} {unit}"
        n /= 1024
    return f"{n:.4g} TiB"


def _count(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"
