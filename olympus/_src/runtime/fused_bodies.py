"""Compiled programs for the CPU without what is inside of their fused loops.

XLA writes a compiled program with the instructions that it is made of. Most of them are
in the bodies of fusions. Reading these is most of the work of loading the program, and
running it does without: a fusion is called as the machine code that was made of it. So
the cache on disk keeps programs in a shorter form too, with a call of an unknown
function for each body. Where XLA compiled that in place of the machine code, it would
fail. (XLA's `hlo.proto`)
"""

from __future__ import annotations

from collections.abc import Callable

from olympus._src.runtime.xla_messages import (
    content,
    number,
    numbers,
    read,
    read_number,
    walk,
    write,
)

# Fields of a program: from the CPU's message to the module in HLO.
_MODULE = (1, 1, 1)
_COMPUTATIONS = 3
# Of a computation.
_INSTRUCTIONS, _ID, _ROOT, _IS_FUSED = 2, 5, 6, 7
# Of an instruction.
_NAME, _OPCODE, _SHAPE, _KIND, _TARGET, _NUMBER, _CALLED = 1, 2, 3, 11, 28, 35, 38

# Fusions of these kinds are compiled to kernels. XLA reads the bodies of custom ones.
_COMPILED_KINDS = (b"kLoop", b"kInput", b"kOutput")
_PLACEHOLDER = write(_OPCODE, b"custom-call") + write(_TARGET, b"left out")
# Shorter forms are kept of programs of which so much is left out.
_LEAST_BYTES = 512


def leave_out(program: bytes) -> bytes | None:
    """A program's bytes without the bodies of its fusions.

    Args:
      program: what jaxlib serialized for a CPU.

    Returns:
      Bytes that jaxlib loads, for running only; None where they would hardly be
      shorter, or the bytes are not known.
    """
    try:
        size, start = read_number(program, 0)
        start += size
        message = _change(program[start:], _MODULE, _shorten_module)
    except (ValueError, LookupError):
        return None
    short = program[:start] + message
    return short if len(program) - len(short) >= _LEAST_BYTES else None


def _change(
    data: bytes, path: tuple[int, ...], change: Callable[[bytes], bytes]
) -> bytes:
    """A message with another message in it changed, which a path of fields leads to."""
    if not path:
        return change(data)
    return b"".join(
        [
            write(field, _change(value, path[1:], change))
            if field == path[0]
            else data[start:end]
            for field, value, start, end in walk(data)
        ]
    )


def _shorten_module(module: bytes) -> bytes:
    computations = [
        value for field, value, _, _ in walk(module) if field == _COMPUTATIONS
    ]
    compiled: set[int] = set()
    for computation in computations:
        fields = read(computation)
        if not number(fields, _IS_FUSED):
            compiled.update(_compiled_fusions(fields[_INSTRUCTIONS]))

    def shorten(computation: bytes) -> bytes:
        fields = read(computation)
        if not number(fields, _IS_FUSED) or number(fields, _ID) not in compiled:
            return computation
        return _shorten(computation, number(fields, _ROOT))

    return _change(module, (_COMPUTATIONS,), shorten)


def _compiled_fusions(instructions: list[bytes]) -> list[int]:
    """The computations of fusions that are kernels."""
    called = []
    for instruction in instructions:
        fields = read(instruction)
        is_fusion = content(fields, _OPCODE) == b"fusion"
        if is_fusion and content(fields, _KIND) in _COMPILED_KINDS:
            called += numbers(fields, _CALLED)
    return called


def _shorten(computation: bytes, root: int) -> bytes:
    """A fused computation of its parameters and a placeholder for its result."""
    pieces = []
    for field, value, start, end in walk(computation):
        if field != _INSTRUCTIONS:
            pieces.append(computation[start:end])
            continue
        fields = read(value)
        if content(fields, _OPCODE) == b"parameter":
            pieces.append(computation[start:end])
        elif number(fields, _NUMBER) == root:
            kept = [
                value[first:last]
                for each, _, first, last in walk(value)
                if each in (_NAME, _SHAPE, _NUMBER)
            ]
            pieces.append(write(_INSTRUCTIONS, b"".join(kept) + _PLACEHOLDER))
    return b"".join(pieces)
