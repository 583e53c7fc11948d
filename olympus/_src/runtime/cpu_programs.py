"""What a program consists of that XLA compiled for the CPU.

jaxlib serializes a compiled program for the cache on disk. The form has

- object files with the machine code of its kernels;
- the steps, which XLA calls thunks: of them kernels and copies are known here;
- the allocations of memory that the steps work on;
- the program in HLO, which says what operands and results are.

The form is jaxlib's own and may change: a program with anything that is not known here
is refused. (XLA's `executable.proto`, `thunk.proto`, `hlo.proto`, `xla_data.proto`)
"""

from __future__ import annotations

import json
import math
from typing import NamedTuple

import ml_dtypes
import numpy as np

from olympus._src.runtime import transfer
from olympus._src.runtime.xla_messages import (
    Fields,
    content,
    message,
    number,
    numbers,
    read,
    read_number,
)

_MAX_STEPS = 512
_MAX_SORTED = 1 << 9  # elements along an axis
_MAX_ITERATIONS = 1 << 13  # of loops inside of kernels, each of a few nanoseconds

# XLA's numbers of element types.
_DTYPES = {
    1: np.dtype(np.bool_),
    2: np.dtype(np.int8),
    3: np.dtype(np.int16),
    4: np.dtype(np.int32),
    5: np.dtype(np.int64),
    6: np.dtype(np.uint8),
    7: np.dtype(np.uint16),
    8: np.dtype(np.uint32),
    9: np.dtype(np.uint64),
    10: np.dtype(np.float16),
    11: np.dtype(np.float32),
    12: np.dtype(np.float64),
    15: np.dtype(np.complex64),
    16: np.dtype(ml_dtypes.bfloat16),
    18: np.dtype(np.complex128),
}
_TUPLE = 13


class Refused(Exception):
    """The program has what is not known here."""


class Type(NamedTuple):
    """The type of an operand or a result, of dense rows."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def storage(self) -> Type:
        return self

    @property
    def weak_type(self) -> bool:
        return False


class Slice(NamedTuple):
    """A part of an operand, a result or the memory between steps, by their number."""

    base: int
    offset: int
    size: int


class Step(NamedTuple):
    """A kernel that is called, or, without a name, a copy from one slice to another.

    One that sorts compares elements, of slices with `groups` elements along the axis,
    and along all before and after it.
    """

    kernel: str
    groups: tuple[int, int, int]
    slices: list[Slice]
    sorts: bool = False


class Program(NamedTuple):
    """A compiled program.

    Attributes:
      operands, results: their types, in order.
      between: the bytes of memory that steps need besides.
      constants: the bytes of all constants.
      steps: in order. Slices number the memory that they work on: that of operands, of
        results, between steps, and of the constants.
      objects: object files with the kernels.
    """

    operands: list[Type]
    results: list[Type]
    between: int
    constants: bytes
    steps: list[Step]
    objects: list[bytes]


def read_program(serialized: bytes) -> Program:
    """A program in the form in which jaxlib writes it.

    Raises:
      Refused: it has what is not known here.
      ValueError, LookupError: the bytes are something else.
    """
    # A header of its own length, and a message that has the CPU's in its first field.
    size, start = read_number(serialized, 0)
    header = read(serialized[start : start + size])
    if content(header, 2) != b"pjrt_ifrt":
        raise Refused
    compiled = message(read(serialized[start + size :]), 1)
    if number(compiled, 5) != _KERNELS:
        raise Refused
    entry = _Entry(message(message(compiled, 1), 1))
    allocations = _Allocations(message(compiled, 2), entry)
    steps = allocations.copies + _read_steps(message(compiled, 6), allocations)
    objects = [content(read(each), 1) for each in compiled.get(8, ())]
    return Program(
        entry.operands,
        entry.results,
        allocations.between,
        bytes(allocations.constants),
        steps,
        objects,
    )


_KERNELS = 2  # the kind of object files with one function for each kernel


def _read_type(shape: Fields) -> Type:
    dtype = _DTYPES.get(number(shape, 2))
    layout = message(shape, 5)
    dims = numbers(shape, 3)
    order = numbers(layout, 1)
    is_plain = layout.keys() <= {1, 16} and order == list(range(len(dims)))[::-1]
    if dtype is None or not is_plain or any(numbers(shape, 6)):
        raise Refused
    return Type(tuple(dims), dtype)


# A value in HLO: the instruction that makes it, by its number, and its place among what
# that makes.
_Value = tuple[int, tuple[int, ...]]


class _Computation:
    """A computation of a module.

    Attributes:
      name: its number.
      root: that of the instruction which gives its results.
      instructions: by their numbers.
    """

    def __init__(self, fields: Fields) -> None:
        self.name, self.root = number(fields, 5), number(fields, 6)
        rows = map(read, fields.get(2, ()))
        self.instructions = {number(each, 35): each for each in rows}

    def instruction(self, name: int) -> Fields:
        """That of a number, or of one within the computation."""
        for number_of_all in (name, self.name << 32 | name):
            if number_of_all in self.instructions:
                return self.instructions[number_of_all]
        raise Refused


class _Entry:
    """A module, as its entry computation: operands, results, and what they are.

    Attributes:
      operands, results: their types.
      values: what each result is.

    Raises:
      Refused: it has loops of which is not known that they are short.
    """

    def __init__(self, module: Fields) -> None:
        rows = [_Computation(read(each)) for each in module.get(3, ())]
        self._computations = {each.name: each for each in rows}
        entry = self._computations[number(module, 6)]
        parameters: dict[int, Type] = {}
        for instruction in entry.instructions.values():
            if content(instruction, 2) == b"parameter":
                shape = message(instruction, 3)
                parameters[number(instruction, 9)] = _read_type(shape)
        self.operands = [parameters[n] for n in range(len(parameters))]
        if self._count_iterations(entry) > _MAX_ITERATIONS:
            raise Refused
        shape = message(entry.instruction(entry.root), 3)
        is_tuple = number(shape, 2) == _TUPLE
        shapes = list(map(read, shape.get(4, ()))) if is_tuple else [shape]
        self.results = [_read_type(each) for each in shapes]
        indices = [(i,) if is_tuple else () for i in range(len(shapes))]
        self.values = [self._resolve(entry, entry.root, index) for index in indices]

    def _count_iterations(self, computation: _Computation) -> int:
        """Those of all loops, which a kernel may contain."""
        total = 0
        for instruction in computation.instructions.values():
            names = numbers(instruction, 38)
            inner = sum(self._count_iterations(self._computations[n]) for n in names)
            opcode = content(instruction, 2)
            if opcode == b"conditional":  # of which one branch may take longer
                raise Refused
            if opcode == b"while":
                inner = _read_count(instruction) * (1 + inner)
            total += inner
        return total

    def _resolve(
        self, where: _Computation, name: int, index: tuple[int, ...]
    ) -> _Value:
        """The instruction that makes a value, past those that only name it."""
        instruction = where.instruction(name)
        opcode, operands = content(instruction, 2), numbers(instruction, 36)
        if opcode == b"tuple" and index:
            return self._resolve(where, operands[index[0]], index[1:])
        if opcode == b"get-tuple-element":
            return self._resolve(where, operands[0], (number(instruction, 13), *index))
        if opcode == b"bitcast":
            return self._resolve(where, operands[0], index)
        if opcode != b"call":
            return number(instruction, 35), index
        called = self._computations[numbers(instruction, 38)[0]]
        inner, index = self._resolve(called, called.root, index)
        maker = called.instruction(inner)
        if content(maker, 2) == b"parameter":
            return self._resolve(where, operands[number(maker, 9)], index)
        return inner, index

    def constant(self, name: int, index: tuple[int, ...]) -> bytes | None:
        """The value of a constant that an instruction makes; None if it is none."""
        for computation in self._computations.values():
            instruction = computation.instructions.get(name)
            is_constant = instruction and content(instruction, 2) == b"constant"
            if instruction and is_constant and not index:
                return _read_literal(message(instruction, 8))
        return None


def _read_count(loop: Fields) -> int:
    """The iterations of a loop."""
    config = json.loads(content(loop, 43) or b"{}")
    if "known_trip_count" not in config:
        raise Refused
    return int(config["known_trip_count"]["n"])


def _read_literal(literal: Fields) -> bytes | None:
    """The elements of a literal; None where they are of another type."""
    kind = _read_type(message(literal, 1))
    field, is_raw = _LITERALS.get(kind.dtype.name, (0, True))
    if not field:
        return None
    if is_raw:
        return b"".join(literal.get(field, ()))
    values = [n - (1 << 64) if n >> 63 else n for n in numbers(literal, field)]
    return np.array(values, np.int64).astype(kind.dtype).tobytes()


# The field of a literal that has its elements, and whether they are as in memory.
_LITERALS = {
    "bool": (2, False),
    "uint8": (3, True),
    "int32": (4, False),
    "int64": (5, False),
    "uint32": (6, False),
    "uint64": (7, False),
    "float32": (8, True),
    "float64": (9, True),
    "float16": (11, True),
    "complex64": (12, True),
    "bfloat16": (13, True),
}


class _Allocations:
    """Where the memory that steps work on lies, by the numbers that XLA gives it.

    Attributes:
      between: the bytes that are needed besides operands, results and constants.
      constants: the constants.
      copies: steps before all others, by which results take the place of donated
        operands.
    """

    def __init__(self, assignment: Fields, entry: _Entry) -> None:
        self.between = 0
        self.constants = bytearray()
        self.copies: list[Step] = []
        self._entry = entry
        self._places: dict[int, Slice] = {}
        # Where the results' values are, and which of these are operands too.
        self._values: dict[_Value, tuple[int, int]] = {}
        self._donated: dict[int, int] = {}
        buffers = _read_buffers(assignment)
        for each in map(read, assignment.get(3, ())):
            self._add(each, buffers)
        for i in range(len(entry.results)):
            self._add_result(i)
        if self._donated:
            raise Refused

    def _add(self, allocation: Fields, buffers: dict[int, _Value]) -> None:
        index, size = number(allocation, 1), number(allocation, 2)
        is_of_one_kernel, is_table = number(allocation, 3), number(allocation, 11)
        is_operand, is_result = number(allocation, 5), number(allocation, 7)
        # A table of addresses is made for nobody; other memory may have one in it.
        if is_of_one_kernel or (is_table and (is_operand or is_result)):
            return
        if number(allocation, 12):
            self._add_constant(index, size, _held_values(allocation, buffers))
            return
        if is_operand:
            position = number(allocation, 6)
            of_tuple = any(numbers(allocation, 10))
            if of_tuple or self._entry.operands[position].nbytes != size:
                raise Refused
            if is_result:
                self._donated[index] = position
            else:
                self._places[index] = Slice(position, 0, size)
        if is_result:
            for value in _held_values(allocation, buffers):
                self._values[value] = index, size
        elif not is_operand:
            n = len(self._entry.operands) + len(self._entry.results)
            self._places[index] = Slice(n, self.between, size)
            self.between += size + -size % transfer.ALIGNMENT_BYTES

    def _add_constant(self, index: int, size: int, values: list[_Value]) -> None:
        value = self._entry.constant(*values[0]) if len(values) == 1 else None
        if value is None or len(value) != size:
            return  # a step that works on it is refused
        n = len(self._entry.operands) + len(self._entry.results)
        self.constants.extend(bytes(-len(self.constants) % transfer.ALIGNMENT_BYTES))
        self._places[index] = Slice(n + 1, len(self.constants), size)
        self.constants.extend(value)

    def _add_result(self, i: int) -> None:
        index, size = self._values[self._entry.values[i]]
        if index in self._places or size != self._entry.results[i].nbytes:
            raise Refused
        place = Slice(len(self._entry.operands) + i, 0, size)
        self._places[index] = place
        if index in self._donated:
            operand = Slice(self._donated.pop(index), 0, size)
            self.copies.append(Step("", (1, 1, 1), [operand, place]))

    def slice(self, fields: Fields) -> Slice:
        """What a step works on."""
        place = self._places.get(number(fields, 3))
        offset, size = number(fields, 1), number(fields, 2)
        if place is None or offset + size > place.size:
            raise Refused
        return Slice(place.base, place.offset + offset, size)


def _read_buffers(assignment: Fields) -> dict[int, _Value]:
    """The value that each logical buffer holds."""
    buffers = {}
    for buffer in map(read, assignment.get(1, ())):
        defined = message(buffer, 3)
        buffers[number(buffer, 1)] = number(defined, 4), tuple(numbers(defined, 3))
    return buffers


def _held_values(allocation: Fields, buffers: dict[int, _Value]) -> list[_Value]:
    """The values at the start of an allocation."""
    assigned = map(read, allocation.get(9, ()))
    return [buffers[number(each, 1)] for each in assigned if not number(each, 2)]


def _read_steps(sequence: Fields, allocations: _Allocations) -> list[Step]:
    steps: list[Step] = []
    for thunk in map(read, sequence.get(1, ())):
        kind = content(thunk, 1)
        if kind == b"kernel":
            steps.append(_read_kernel(message(thunk, 11), allocations))
        elif kind == b"copy":
            steps.append(_read_copy(message(thunk, 12), allocations))
        elif kind == b"call":
            steps += _read_steps(message(message(thunk, 3), 1), allocations)
        elif kind == b"sort":
            steps += _read_sort(message(thunk, 5), allocations)
        elif kind == b"while":
            steps += _read_loop(message(thunk, 10), allocations)
        else:
            raise Refused
    if len(steps) > _MAX_STEPS:
        raise Refused
    return steps


def _read_loop(loop: Fields, allocations: _Allocations) -> list[Step]:
    """The steps of all iterations, whose number is known, past its condition."""
    count = message(loop, 3)
    body = _read_steps(message(loop, 2), allocations)
    if number(count, 2) != 1 or number(count, 1) * len(body) > _MAX_STEPS:
        raise Refused
    return body * number(count, 1)


def _read_sort(sort: Fields, allocations: _Allocations) -> list[Step]:
    """The step that sorts; only one way of it is right where equal ones keep order."""
    operands = list(map(read, sort.get(5, ())))
    kind = _read_type(message(operands[0], 1))
    axis = number(sort, 1)
    is_known = sort.keys() <= {1, 2, 3, 4, 5} and number(sort, 2) == 1
    if not is_known or axis >= len(kind.shape) or kind.shape[axis] > _MAX_SORTED:
        raise Refused
    slices = []
    for each in operands:
        part, its = allocations.slice(message(each, 2)), _read_type(message(each, 1))
        if its.shape != kind.shape or its.nbytes != part.size:
            raise Refused
        slices.append(part)
    before, after = math.prod(kind.shape[:axis]), math.prod(kind.shape[axis + 1 :])
    groups = kind.shape[axis], before, after
    name = content(sort, 4).decode()
    return [Step(name, groups, slices, sorts=True)] if math.prod(groups) else []


def _read_kernel(kernel: Fields, allocations: _Allocations) -> Step:
    groups = message(kernel, 2)
    if number(message(kernel, 4), 1) > transfer.ALIGNMENT_BYTES:
        raise Refused
    slices = [
        allocations.slice(message(read(each), 1))
        for each in (*kernel.get(5, ()), *kernel.get(6, ()))
    ]
    x, y, z = (number(groups, field) for field in (1, 2, 3))
    return Step(content(kernel, 1).decode(), (x, y, z), slices)


def _read_copy(copy: Fields, allocations: _Allocations) -> Step:
    source, target = message(copy, 1), message(copy, 2)
    if content(source, 1) != content(target, 1):
        raise Refused  # it changes the layout
    slices = [allocations.slice(message(each, 2)) for each in (source, target)]
    return Step("", (1, 1, 1), slices)
