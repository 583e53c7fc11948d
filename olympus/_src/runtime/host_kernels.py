"""The kernels of a small program that XLA compiled for the CPU, to be called directly.

XLA's runtime takes about three microseconds to start a program, which is most of the
time of a small one. What it does is little: it calls one compiled function after the
other on parts of memory (XLA's `kernel_c_api.h`), which C can do too.

Before kernels are used, their results are compared with the runtime's, bit by bit.
Nothing is lost where a program has none: the runtime runs it as before.
"""

from __future__ import annotations

import array
import itertools
import math
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from olympus._src import native
from olympus._src.runtime import cpu_programs, object_code, transfer
from olympus._src.runtime.shardings import Placement

# Of operands and results together. Copying more than that takes longer than all else.
MAX_BYTES = 1 << 17
# Nobody else runs while kernels do.
_MAX_SECONDS = 20e-6
# Of comparing kernels of which none was that fast.
_MAX_SECONDS_IN_VAIN = 1e-3

Run = Callable[[list[Any]], list[Any]]


def find(
    serialized: bytes, run: Run, out_avals: Sequence[Any], place: Placement
) -> Any:
    """The kernels of a program; None where the runtime must run it.

    Args:
      serialized: the compiled program, as jaxlib writes it.
      run: has the runtime run it on a list of buffers; gives those of the results.
      out_avals: the types of the results.
      place: the device that it runs on.
    """
    try:
        program = cpu_programs.read_program(serialized)
        _check_results(program.results, out_avals)
        kernels = _load(program, place)
    except (cpu_programs.Refused, object_code.Unknown, ValueError, LookupError):
        return None
    is_good = _agree(kernels, program.operands, run, out_avals, place)
    return kernels if is_good else None


def _check_results(results: list[cpu_programs.Type], out_avals: Sequence[Any]) -> None:
    stored = [aval.storage for aval in out_avals]
    expected = [cpu_programs.Type(tuple(each.shape), each.dtype) for each in stored]
    if results != expected:
        raise cpu_programs.Refused


# -- loading ---------------------------------------------------------------------------


def _load(program: cpu_programs.Program, place: Placement) -> Any:
    sizes = [each.nbytes for each in (*program.operands, *program.results)]
    if sum(sizes) + program.between > MAX_BYTES:
        raise cpu_programs.Refused
    image = object_code.link(program.objects, _find_symbol)
    steps = array.array("q")
    for step in program.steps:
        start = image.functions[step.kernel] if step.kernel else -1
        if step.sorts:
            start = -2 - start
        steps.extend((start, *step.groups, len(step.slices)))
        for part in step.slices:
            steps.extend(part)
    return native.calls.Kernels(
        image.content or b"\0",
        _pairs(image.relative),
        _pairs(image.absolute),
        program.constants,
        len(program.operands),
        array.array("q", [*sizes, program.between]),
        steps,
        place,
    )


# Functions of the C library that kernels call, and the versions of them that jaxlib is
# linked to: others give NaN of another sign, or round differently.
SYMBOL_VERSIONS = {
    "atan2": "GLIBC_2.2.5",
    "atan2f": "GLIBC_2.2.5",
    "cbrt": "GLIBC_2.2.5",
    "cbrtf": "GLIBC_2.2.5",
    "cos": "GLIBC_2.2.5",
    "cosf": "GLIBC_2.2.5",
    "erf": "GLIBC_2.2.5",
    "exp": "GLIBC_2.2.5",
    "exp2": "GLIBC_2.2.5",
    "exp2f": "GLIBC_2.27",
    "expf": "GLIBC_2.27",
    "fmod": "GLIBC_2.2.5",
    "fmodf": "GLIBC_2.2.5",
    "log": "GLIBC_2.2.5",
    "logf": "GLIBC_2.27",
    "memcpy": "GLIBC_2.14",
    "memmove": "GLIBC_2.2.5",
    "memset": "GLIBC_2.2.5",
    "pow": "GLIBC_2.2.5",
    "powf": "GLIBC_2.27",
    "sin": "GLIBC_2.2.5",
    "sincos": "GLIBC_2.2.5",
    "sincosf": "GLIBC_2.2.5",
    "sinf": "GLIBC_2.2.5",
    "tan": "GLIBC_2.2.5",
    "tanf": "GLIBC_2.2.5",
}


def _find_symbol(name: str) -> int:
    version = SYMBOL_VERSIONS.get(name)
    return 0 if version is None else native.calls.find_symbol(name, version)


def _pairs(pairs: list[tuple[int, int]]) -> array.array[int]:
    return array.array("q", [number for pair in pairs for number in pair])


# -- comparing -------------------------------------------------------------------------


def _agree(
    kernels: Any,
    operands: list[cpu_programs.Type],
    run: Run,
    out_avals: Sequence[Any],
    place: Placement,
) -> bool:
    """Whether kernels give what the runtime gives, and soon."""
    avals = tuple(out_avals)
    least, spent = math.inf, 0.0
    for make, seed in itertools.product(_MAKERS, range(_rounds(operands))):
        values = [
            make(each, i + seed * len(operands)).tobytes()
            for i, each in enumerate(operands)
        ]
        taken, memories = (
            [
                native.calls.make_memory(value, each, place)
                for value, each in zip(values, operands, strict=True)
            ]
            for _ in range(2)
        )
        results = run([memory.to_buffer() for memory in taken])  # which it may donate
        expected = [
            transfer.to_host(buffer, aval.storage.dtype).tobytes()
            for buffer, aval in zip(results, avals, strict=True)
        ]
        start = time.thread_time()  # others may run meanwhile
        outs = kernels.run(memories, avals)
        seconds = time.thread_time() - start
        least, spent = min(least, seconds), spent + seconds
        if outs is None or [bytes(out.bytes()) for out in outs] != expected:
            return False
        if least > _MAX_SECONDS and spent > _MAX_SECONDS_IN_VAIN:
            return False
    return least <= _MAX_SECONDS


def _rounds(operands: list[cpu_programs.Type]) -> int:
    """How often each kind of values is compared: more often where there are few."""
    elements = max((math.prod(each.shape) for each in operands), default=0)
    return min(max(64 // max(elements, 1), 1), 16) if operands else 1


def _random_bits(kind: cpu_programs.Type, seed: int) -> np.ndarray:
    """Elements of any value, as NaN, and those that differ in sign or size only."""
    content = random.Random(seed).randbytes(kind.nbytes)
    bits: Any = np.frombuffer(content, np.uint8)
    if kind.dtype == np.bool_:
        bits = bits & 1
    return bits.view(kind.dtype).reshape(kind.shape)


def _small_numbers(kind: cpu_programs.Type, seed: int) -> np.ndarray:
    """Elements of which many are equal, and most operations have a usual result."""
    bits = random.Random(seed).randbytes(math.prod(kind.shape))
    numbers: Any = np.frombuffer(bits, np.uint8).reshape(kind.shape)
    if kind.dtype.kind in "biu":
        return (numbers % 8).astype(kind.dtype)
    return ((numbers - 127.5) / 32).astype(kind.dtype)


def _subnormal_numbers(kind: cpu_programs.Type, seed: int) -> np.ndarray:
    """Elements around the least normal numbers, which are zero on both ways."""
    if kind.dtype.kind in "biu":
        return _random_bits(kind, ~seed)
    least = float(ml_dtypes.finfo(kind.dtype).smallest_normal)
    return (_small_numbers(kind, seed) * least).astype(kind.dtype)


def _special_numbers(kind: cpu_programs.Type, seed: int) -> np.ndarray:
    """Elements that are NaN, infinite, zeros of both signs, the largest, or one."""
    if kind.dtype.kind in "biu":
        return _small_numbers(kind, ~seed)
    largest = float(ml_dtypes.finfo(kind.dtype).max)
    values = [0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, largest, 1.0]
    chosen = random.Random(seed).choices(values, k=math.prod(kind.shape))
    return np.array(chosen).astype(kind.dtype).reshape(kind.shape)


_MAKERS = (_random_bits, _small_numbers, _subnormal_numbers, _special_numbers)
