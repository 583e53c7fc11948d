"""Rows that are computed alike and then put together, computed as one array.

Users iterate over an array and stack what they make of each row. Written out, each row
is an operation of its own: the compiler writes a sine once for each, thirty take half a
second and run no faster. `join` looks for stacks and concatenations of values that the
same operations make of the rows of arrays, each row in its place, and has these
operations work on all rows. Many small windows of an array are rows too, wherever they
are.
"""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.core import dtypes, ir
from olympus._src.core.primitive import Cost
from olympus._src.interpreters import rewriting
from olympus._src.interpreters.batching import AxisData
from olympus._src.lax import families, gather
from olympus._src.lax.barriers import optimization_barrier_p
from olympus._src.lax.concatenation import concatenate_p, slice_, slice_p, split_p
from olympus._src.lax.shaping import rev_p, squeeze_p
from olympus._src.lax.stacking import stack_p, unstack_p

# Fewer rows compile in no time.
_FEWEST_ROWS = 4
# Windows of an array, which are no rows of it, become one gather, whose elements the
# compiler reads one by one: of 30 windows of 300 sines take twice as long so, and a sum
# half as long again; of 30, the product half as long and the sum as long.
_FEWEST_WINDOWS, _LARGEST_WINDOW = 16, 64
# With more readers a stack is kept by a barrier: the compiler may write what is
# computed at once again for each reader, as it does not with a stack of many parts.
_MOST_READERS = 4
# Rows of rows, as a grid of images has.
_MOST_LEVELS = 4
# Made of the same element of each operand.
_ELEMENTWISE = (Cost.CHEAP, Cost.BITS, Cost.EXPENSIVE)
_MOVES = (Cost.MOVE, Cost.SPREAD)
_JOINING = (stack_p, concatenate_p)


class _Same(NamedTuple):
    """The same value for every row."""

    atom: Any


class _Numbers(NamedTuple):
    """A number for each row."""

    literals: Sequence[ir.Literal]


class _Cut(NamedTuple):
    """Parts of an array along an axis, at even distances.

    Attributes:
      array: the array.
      shape: its shape, where each part has the size 1 along the axis.
      axis: the axis, which the parts lack.
      positions: where they are.
    """

    array: Any
    shape: tuple[int, ...]
    axis: int
    positions: range


class _Windows(NamedTuple):
    """Slices of one size of an array, anywhere in it.

    Attributes:
      array: the array.
      sizes: of each slice.
      starts: for each slice its first position on each axis.
    """

    array: Any
    sizes: tuple[int, ...]
    starts: tuple[tuple[int, ...], ...]


class _Alike(NamedTuple):
    """Results of equations of one operation, one for each row."""

    eqns: tuple[ir.Eqn, ...]
    operands: Sequence[Any]


_Rows = _Same | _Numbers | _Cut | _Windows | _Alike


def join(program: ir.Olympuspr, in_bodies: bool = True) -> ir.Olympuspr:
    """The program, with rows that are computed alike computed as one array.

    Args:
      program: what will be lowered.
      in_bodies: whether programs within it may hold barriers.

    Returns:
      The same object where there are no such rows.
    """
    return _join(program, True, in_bodies)


def _join(program: ir.Olympuspr, here: bool, in_bodies: bool) -> ir.Olympuspr:
    """The same, with barriers `here`, among the program's own equations, or not."""
    if not rewriting.holds(program, "joins rows", _joins_rows):
        return program

    def find(program: ir.Olympuspr) -> ir.Olympuspr:
        program = ir.map_subprograms(
            program, lambda inner: _join(inner, in_bodies, in_bodies)
        )
        for _ in range(_MOST_LEVELS):
            search = _Search(program, here)
            joined = search.run()
            if not joined:
                break
            program = _write(program, joined, search.kept)
        return program

    result: ir.Olympuspr = program.derived(("equal rows joined", here, in_bodies), find)
    return result


def _joins_rows(program: ir.Olympuspr) -> bool:
    counts = ir.primitives_of(program)
    if not any(p in counts for p in _JOINING):
        return False
    return any(e.primitive in _JOINING and _is_joining(e) for e in program.eqns)


def _is_joining(eqn: ir.Eqn) -> bool:
    """Whether an equation puts rows of one type together."""
    if eqn.primitive not in _JOINING or len(eqn.invars) < _FEWEST_ROWS:
        return False
    first = eqn.invars[0].aval
    return _is_plain(first) and all(
        v.aval.shape == first.shape and v.aval.dtype == first.dtype for v in eqn.invars
    )


def _is_plain(aval: Any) -> bool:
    return rewriting.is_undivided(aval) and not dtypes.issubdtype(
        aval.dtype, dtypes.extended
    )


# -- what is computed alike ------------------------------------------------------------


class _Search:
    """Finds what is computed alike in a program.

    Attributes:
      kept: what joins rows for many readers, and is kept by a barrier.
    """

    def __init__(self, program: ir.Olympuspr, has_barriers: bool) -> None:
        self.kept: set[ir.Eqn] = set()
        self._program = program
        self._has_barriers = has_barriers
        self._makers = {v: eqn for eqn in program.eqns for v in eqn.outvars}
        self._readers = rewriting.readers_of(program)
        self._known: dict[tuple[Any, ...], _Rows | None] = {}
        self._apart: set[ir.Eqn] = set()  # those of first rows that are not joined

    def run(self) -> dict[ir.Eqn, _Cut | _Alike]:
        """For each equation that joins rows computed alike, how they are computed."""
        joining = [eqn for eqn in self._program.eqns if _is_joining(eqn)]
        while True:
            self._known.clear()
            rows = {eqn: self._rows_of(tuple(eqn.invars)) for eqn in joining}
            alike = {e: r for e, r in rows.items() if isinstance(r, (_Cut, _Alike))}
            parts = {p.eqns: p for r in alike.values() for p in _parts(r)}
            uses = collections.Counter(e for eqns in parts for e in eqns)
            replaced = {*alike, *uses}
            needed = {
                eqns[0]
                for eqns in parts
                if any(uses[e] > 1 or self._count(e, replaced) for e in eqns)
            }
            scattered = {e for e in alike if self._count(e, replaced) > _MOST_READERS}
            if needed or (scattered and not self._has_barriers):
                self._apart |= needed
                joining = [eqn for eqn in joining if eqn not in scattered]
            else:
                self.kept = scattered
                return alike

    def _rows_of(self, atoms: tuple[Any, ...]) -> _Rows | None:
        """How rows are computed; None if each in its own way."""
        if atoms not in self._known:
            self._known[atoms] = self._find(atoms)
        return self._known[atoms]

    def _find(self, atoms: tuple[Any, ...]) -> _Rows | None:
        first = atoms[0]
        if type(first) is ir.Literal:
            return _find_numbers(atoms)
        if all(v is first for v in atoms):
            return _Same(first)
        makers = [self._makers[v] for v in atoms if v in self._makers]
        if len(makers) < len(atoms) or not _is_plain(first.aval):
            return None
        if makers[0] in self._apart:
            return None
        return (
            self._find_cut(atoms) or _find_windows(makers) or self._find_alike(makers)
        )

    def _find_cut(self, atoms: Sequence[Any]) -> _Rows | None:
        places = [_place_of(v, self._makers) for v in atoms]
        if None in places or len({place[:-1] for place in places}) > 1:
            return None
        array, shape, axis, first = places[0]
        step = places[1][-1] - first
        if step == 0 or not _is_plain(array.aval):
            return None
        positions = range(first, first + step * len(atoms), step)
        is_even = [place[-1] for place in places] == list(positions)
        return _Cut(array, shape, axis, positions) if is_even else None

    def _find_alike(self, eqns: Sequence[ir.Eqn]) -> _Rows | None:
        if len(set(eqns)) < len(eqns) or not all(_is_alike(eqns[0], e) for e in eqns):
            return None
        positions = zip(*[e.invars for e in eqns], strict=True)
        operands = list(map(self._rows_of, positions))
        if None in operands:
            return None
        if all(type(r) is _Same for r in operands):
            return _Same(eqns[0].outvars[0])
        return _Alike(tuple(eqns), operands)

    def _count(self, eqn: ir.Eqn, replaced: set[ir.Eqn]) -> int:
        """How many equations, or parts of them, read a result and are not replaced."""
        readers = [r for v in eqn.outvars for r in self._readers.get(v, ())]
        n = 0
        for reader in readers:
            if reader is not None and len(reader.outvars) > 1:
                n += sum(
                    not replaced.issuperset(self._readers.get(v, ()))
                    for v in reader.outvars
                )
            else:
                n += reader not in replaced
        return n


def _find_windows(eqns: Sequence[ir.Eqn]) -> _Rows | None:
    """Slices of equal sizes; what joins them alone is left as it is."""
    if len(eqns) < _FEWEST_WINDOWS or any(e.primitive is not slice_p for e in eqns):
        return None
    array, part = eqns[0].invars[0], eqns[0].outvars[0].aval
    if not _is_plain(array.aval) or not 0 < part.size <= _LARGEST_WINDOW:
        return None
    for eqn in eqns:
        is_like = eqn.invars[0] is array and eqn.outvars[0].aval.shape == part.shape
        if not is_like or eqn.params["strides"] is not None:
            return None
    starts = tuple([eqn.params["start_indices"] for eqn in eqns])
    return _Windows(array, part.shape, starts)


def _place_of(v: Any, makers: dict[Any, ir.Eqn]) -> Any:
    """The array that a value is part of, its shape, an axis and a position; or None."""
    eqn = makers[v]
    p, params = eqn.primitive, eqn.params
    if not eqn.invars:
        return None
    array = eqn.invars[0]
    if p is unstack_p:
        return array, array.aval.shape, params["axis"], eqn.outvars.index(v)
    if p is split_p and len(set(params["sizes"])) == 1:
        axis, n = params["axis"], len(params["sizes"])
        shape = (*v.aval.shape[:axis], n, *v.aval.shape[axis:])
        return array, shape, axis, eqn.outvars.index(v)
    if p is slice_p:
        return _place_of_slice(eqn)
    if p is squeeze_p and len(params["dimensions"]) == 1 and array in makers:
        return _place_of_cell(makers[array], *params["dimensions"])
    return None


def _place_of_slice(eqn: ir.Eqn) -> Any:
    """The same for one of several equal slices that follow each other or alternate."""
    (array,), (part,) = eqn.invars, eqn.outvars
    whole, shape = array.aval.shape, part.aval.shape
    axes = [i for i, (n, m) in enumerate(zip(whole, shape, strict=True)) if n != m]
    if len(axes) != 1 or 0 in shape:
        return None
    (axis,) = axes
    n, size, start = whole[axis], shape[axis], eqn.params["start_indices"][axis]
    strides = eqn.params["strides"]
    step = 1 if strides is None else strides[axis]
    before, after = whole[:axis], whole[axis + 1 :]
    if step == 1 and n % size == start % size == 0:
        return array, (*before, n // size, size, *after), axis, start // size
    if step * size == n and start < step:
        return array, (*before, size, step, *after), axis + 1, start
    return None


def _place_of_cell(eqn: ir.Eqn, axis: int) -> Any:
    """The same for a slice of size 1 along an axis, whole along the others."""
    if eqn.primitive is not slice_p or eqn.params["strides"] is not None:
        return None
    (array,) = eqn.invars
    start = eqn.params["start_indices"][axis]
    size = list(array.aval.shape)
    size[axis] = 1
    return (
        (array, array.aval.shape, axis, start)
        if eqn.outvars[0].aval.shape == tuple(size)
        else None
    )


def _find_numbers(atoms: Sequence[Any]) -> _Rows | None:
    first = atoms[0]
    if any(type(v) is not ir.Literal or not _is_like(v, first) for v in atoms):
        return None
    values = [np.asarray(v.val, first.aval.dtype) for v in atoms]
    if any(x.ndim for x in values):
        return None
    if all(x.tobytes() == values[0].tobytes() for x in values):
        return _Same(first)
    return _Numbers(atoms)


def _is_like(v: Any, other: Any) -> bool:
    a, b = v.aval, other.aval
    return bool(
        a.shape == b.shape and a.dtype == b.dtype and a.weak_type == b.weak_type
    )


def _is_alike(eqn: ir.Eqn, other: ir.Eqn) -> bool:
    """Whether equations do the same to operands of the same types."""
    p = eqn.primitive
    return (
        p is other.primitive
        and (p.cost in _ELEMENTWISE or (p.cost in _MOVES and len(eqn.invars) < 2))
        and not (p.multiple_results or eqn.effects or other.effects)
        and eqn.params == other.params
        and eqn.scope == other.scope
        and all(map(_is_like, eqn.invars, other.invars))
        and all(map(_is_like, eqn.outvars, other.outvars))
    )


def _parts(rows: _Rows) -> list[_Alike]:
    """What is computed alike on the way to rows."""
    parts: dict[tuple[ir.Eqn, ...], _Alike] = {}
    left = [rows]
    while left:
        r = left.pop()
        if type(r) is _Alike and r.eqns not in parts:
            parts[r.eqns] = r
            left.extend(r.operands)
    return list(parts.values())


# -- all rows at once ------------------------------------------------------------------


def _write(
    program: ir.Olympuspr, joined: dict[ir.Eqn, _Cut | _Alike], kept: set[ir.Eqn]
) -> ir.Olympuspr:
    writer = _Writer()

    def write_joined(eqn: ir.Eqn) -> Any:
        return writer.write_joined(eqn, joined[eqn], is_kept=eqn in kept)

    writer.write_equations(program.eqns, dict.fromkeys(joined, write_joined))
    return writer.finish(program)


class _Writer(rewriting.Rewriter):
    """Writes equations on all rows."""

    def __init__(self) -> None:
        super().__init__()
        # Values of all rows along a first axis, by what cuts or computes them.
        self._written: dict[Any, Any] = {}

    def write_joined(self, eqn: ir.Eqn, rows: _Cut | _Alike, *, is_kept: bool) -> Any:
        """What joins rows, from all rows along a first axis."""
        stacked = self._write_rows(rows, eqn)
        shape = eqn.outvars[0].aval.shape

        def run(x: Any) -> Any:
            if eqn.primitive is stack_p:
                x = families.move_axis(x, 0, eqn.params["axis"])
            else:
                x = families.move_axis(x, 0, eqn.params["dimension"])
                x = rewriting.reshape(x, shape)
            return optimization_barrier_p.bind(x)[0] if is_kept else x

        return self.write(eqn, run, [stacked])

    def _write_rows(self, rows: _Rows, joining: ir.Eqn) -> Any:
        """The value of all rows, along a first axis.

        Args:
          rows: how they are computed.
          joining: what joins them, or others computed of them.
        """
        if type(rows) is _Numbers:
            return _as_array(rows.literals)
        assert isinstance(rows, (_Cut, _Windows, _Alike))
        key = rows.eqns if isinstance(rows, _Alike) else rows
        if key not in self._written:
            if isinstance(rows, _Cut):
                self._written[key] = self._write_cut(rows, joining)
            elif isinstance(rows, _Windows):
                self._written[key] = self._write_windows(rows, joining)
            else:
                self._written[key] = self._write_alike(rows, joining)
        return self._written[key]

    def _write_cut(self, rows: _Cut, joining: ir.Eqn) -> Any:
        positions = rows.positions
        first, last = sorted((positions[0], positions[-1]))
        starts, limits = [0] * len(rows.shape), list(rows.shape)
        strides = [1] * len(rows.shape)
        starts[rows.axis], limits[rows.axis] = first, last + 1
        strides[rows.axis] = abs(positions.step)

        def run(x: Any) -> Any:
            if rows.shape != rows.array.aval.shape:
                x = rewriting.reshape(x, rows.shape)
            if len(positions) < rows.shape[rows.axis]:
                x = slice_(x, starts, limits, strides)
            if positions.step < 0:
                x = rev_p.bind(x, dimensions=(rows.axis,))
            return families.move_axis(x, rows.axis, 0)

        return self.write(joining, run, [self.read(rows.array)])

    def _write_windows(self, rows: _Windows, joining: ir.Eqn) -> Any:
        longest = max(rows.array.aval.shape)
        starts = np.array(rows.starts, np.int32 if longest < 2**31 else np.int64)
        axes = tuple(range(len(rows.sizes)))
        numbers = gather.GatherDimensionNumbers(tuple([a + 1 for a in axes]), (), axes)

        def run(x: Any) -> Any:
            return gather.gather(x, starts, numbers, rows.sizes, mode=gather.CLIP)

        return self.write(joining, run, [self.read(rows.array)])

    def _write_alike(self, rows: _Alike, joining: ir.Eqn) -> Any:
        eqn, n = rows.eqns[0], len(joining.invars)
        are_same = [type(r) is _Same for r in rows.operands]
        dims = [None if same else 0 for same in are_same]

        def run(*args: Any) -> Any:
            p, axis = eqn.primitive, AxisData(None, n)
            out, dim = p.batch(axis, args, dims, **eqn.params)
            return families.move_axis(out, dim, 0)

        operands = [
            self.read(r.atom) if type(r) is _Same else self._write_rows(r, joining)
            for r in rows.operands
        ]
        return self.write(eqn, run, operands)


def _as_array(literals: Sequence[ir.Literal]) -> ir.Literal:
    first = literals[0].aval
    values = np.array([v.val for v in literals], first.dtype)
    return ir.Literal(values, first.update(shape=values.shape))
