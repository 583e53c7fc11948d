"""Which operation of the user's program each instruction of XLA serves.

The text that is compiled holds no source positions, so that programs from other lines
are served in the cache. XLA notes for each instruction which line of the text it comes
from; `Numbering` knows what is on the line. Instructions without such a note, which XLA
made or copied, serve what takes their results, or else what they take: a fusion serves
what its result does, and what XLA computed of constants the program's last operation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from olympus._src.lowering import hlo_text, operation_paths, types
from olympus._src.lowering.operation_paths import Origin

_PLACE = re.compile(r'source_file="-" source_line=(\d+)')
_LINE_NAME = operation_paths.LINE_NAME
_NAMED = re.compile(rf'op_name="[^"]*{_LINE_NAME}(\d+)')

# By the names of computation and instruction.
_Key = tuple[str, str]


class Attribution(NamedTuple):
    """What an instruction serves.

    Attributes:
      origin: the operation.
      line: the line of the compiled text that XLA says it is from; None where the
        origin follows from the instructions around it.
    """

    origin: Origin
    line: int | None = None


def attribute(
    module: hlo_text.Module, lines: Sequence[Origin | None]
) -> dict[_Key, Attribution]:
    """What the instructions of an optimised program serve.

    Args:
      module: the program.
      lines: where each line of the compiled text comes from.

    Returns:
      By the names of computation and instruction; those that serve nothing known are
      left out.
    """
    served: dict[_Key, Attribution] = {}
    for computation in module.computations.values():
        for instruction in computation.instructions.values():
            noted = _noted(instruction, lines)
            if noted is not None:
                served[computation.name, instruction.name] = noted
    # Callees come before their callers in the text, results after operands.
    for computation in module.computations.values():
        _follow_calls(module, computation, served)
        _follow_users(computation, served)
        _follow_operands(computation, served)
    entry = module.computations[module.entry]
    known = [origin for origin in lines if origin is not None]
    for name in entry.instructions if known else ():  # the text of `main` comes last
        _infer(served, (entry.name, name), Attribution(known[-1]))
    for computation in reversed(module.computations.values()):
        _give_to_callees(module, computation, served)
    return served


def _noted(
    instruction: hlo_text.Instruction, lines: Sequence[Origin | None]
) -> Attribution | None:
    attributes = instruction.attributes
    pattern = _NAMED if _LINE_NAME in attributes else _PLACE
    match = pattern.search(attributes)
    number = int(match[1]) if match else 0
    origin = lines[number - 1] if 0 < number <= len(lines) else None
    return None if origin is None else Attribution(origin, number)


def _follow_calls(
    module: hlo_text.Module,
    computation: hlo_text.Computation,
    served: dict[_Key, Attribution],
) -> None:
    """A call serves what the result of the computation that it calls does."""
    for instruction in computation.instructions.values():
        key = computation.name, instruction.name
        for callee in hlo_text.callees(instruction):
            inner = module.computations.get(callee)
            root = None if inner is None else inner.root
            if key not in served and inner is not None and root is not None:
                _infer(served, key, served.get((inner.name, root.name)))


def _follow_users(
    computation: hlo_text.Computation, served: dict[_Key, Attribution]
) -> None:
    for name in reversed(computation.instructions):
        for user in computation.users.get(name, ()):
            _infer(
                served, (computation.name, name), served.get((computation.name, user))
            )


def _follow_operands(
    computation: hlo_text.Computation, served: dict[_Key, Attribution]
) -> None:
    for instruction in computation.instructions.values():
        for operand in instruction.operands:
            key = computation.name, instruction.name
            _infer(served, key, served.get((computation.name, operand)))


def _give_to_callees(
    module: hlo_text.Module,
    computation: hlo_text.Computation,
    served: dict[_Key, Attribution],
) -> None:
    """What is still unknown in a computation serves what the call of it does."""
    for instruction in computation.instructions.values():
        known = served.get((computation.name, instruction.name))
        for callee in hlo_text.callees(instruction):
            inner = module.computations.get(callee)
            for name in inner.instructions if inner is not None else ():
                _infer(served, (callee, name), known)


def _infer(
    served: dict[_Key, Attribution], key: _Key, known: Attribution | None
) -> None:
    if known is not None and key not in served:
        served[key] = Attribution(known.origin)


# -- text ------------------------------------------------------------------------------

_METADATA = re.compile(r", metadata=\{[^}]*\}")


def with_origins(text: str, lines: Sequence[Origin | None]) -> str:
    """The text of a program in which instructions name the user's operations and lines.

    Args:
      text: the program as XLA prints it.
      lines: where each line of the compiled text comes from.
    """
    if not any(lines):
        return text
    served = attribute(hlo_text.parse(text), lines)
    written = []
    computation = ""
    for line in text.splitlines(keepends=True):
        header = hlo_text.computation_name(line)
        computation = header if header is not None else computation
        name = hlo_text.instruction_name(line)
        known = None if name is None else served.get((computation, name))
        written.append(line if known is None else _with_origin(line, known.origin))
    return "".join(written)


def _with_origin(line: str, origin: Origin) -> str:
    fields = [f"op_name={types.string('/'.join(origin.path))}"]
    position = origin.position
    if position is not None:
        file = types.string(operation_paths.file_of(position))
        fields += [f"source_file={file}", f"source_line={position.line}"]
        fields.append(f"source_end_line={position.end_line}")
        fields.append(f"source_column={position.column}")
        fields.append(f"source_end_column={position.end_column}")
    metadata = f", metadata={{{' '.join(fields)}}}"
    plain, count = _METADATA.subn(lambda _: metadata, line, count=1)
    if count:
        return plain
    return _insert(line, metadata)


# What XLA writes behind the metadata.
_BEHIND = re.compile(r", (backend_config|frontend_attributes|statistics|origin)=")


def _insert(line: str, metadata: str) -> str:
    match = _BEHIND.search(line)
    at = len(line.rstrip("\n")) if match is None else match.start()
    return line[:at] + metadata + line[at:]
