"""Sums of arrays that are zero but for one part each, put together from their parts.

The derivative of reading an array part by part, as `x[0]`, `x[1]`, ..., pads each part
with zeros to the array's size and adds them all: of n parts each element is a sum of n.
`merge` puts parts that do not overlap side by side: many of them, or a few that are the
whole, as two halves are, of which the compiler would make both for each element. Two
parts of a value that costs next to nothing, as of one that was rolled, are added by
themselves: that is vectorised, and what joins them is not.
"""

from __future__ import annotations

import bisect
import functools
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.core import avals, ir
from olympus._src.core.primitive import Cost
from olympus._src.interpreters import rewriting
from olympus._src.interpreters.rewriting import Rewriter
from olympus._src.lax.concatenation import concatenate_p, pad_p, slice_p, split_p
from olympus._src.lax.families import add_any_p, transpose_p
from olympus._src.lax.scatter import scatter_add_p
from olympus._src.lax.stacking import stack_p

# Of parts with gaps between them, or that alternate.
_FEWEST_PARTS = 4
_CUTS = slice_p, split_p
# Columns that are put together as rows, which are turned, from this many elements on.
_MOST_COLUMNS, _MANY = 8, 256
# Equations that are looked at to find what a value costs.
_MOST_MAKERS = 20
_NOT_CHEAP = Cost.EXPENSIVE, Cost.MOVE


class _Part(NamedTuple):
    """An array that is zero but for a part.

    Attributes:
      term: the array.
      value: the part, of the array's rank.
      axis: the axis along which it is a part.
      start, size: its place on the axis; where parts alternate, the first element's.
      distance: of its elements on the axis; parts alternate where it is not 1.
    """

    term: Any
    value: Any
    axis: int
    start: int
    size: int
    distance: int


def merge(program: ir.Olympuspr) -> ir.Olympuspr:
    """The program, with sums of many padded parts put together from the parts.

    The same object where there are none.
    """
    return rewriting.rewrite(program, "has padded parts", _has_pads, _merge)


def join_windows(program: ir.Olympuspr) -> ir.Olympuspr:
    """The program, with arrays put together where windows are added to zeros in turn.

    The derivative of reading a large array part by part adds in place to the part that
    was read, by a kernel of its own for each. Where the parts are most of the array,
    they are put side by side. The same object where there are none.
    """
    return rewriting.rewrite(program, "has windows", _has_windows, _join_windows)


def _has_windows(program: ir.Olympuspr) -> bool:
    primitives = ir.primitives_of(program)
    return pad_p in primitives and primitives.get(scatter_add_p, 0) > 1


def _join_windows(program: ir.Olympuspr) -> ir.Olympuspr:
    chains = _Windows(program).chains()
    if not chains:
        return program
    writer = Rewriter()

    def write_chain(eqn: ir.Eqn) -> Any:
        return _write_parts(writer, eqn, chains[eqn])

    writer.write_equations(program.eqns, dict.fromkeys(chains, write_chain))
    return writer.finish(program)


class _Windows:
    """Windows at known positions that a program adds to arrays."""

    def __init__(self, program: ir.Olympuspr) -> None:
        self._adds = [eqn for eqn in program.eqns if eqn.primitive is scatter_add_p]
        kinds = pad_p, scatter_add_p, stack_p
        makers = [eqn for eqn in program.eqns if eqn.primitive in kinds]
        self._makers = {v: eqn for eqn in makers for v in eqn.outvars}
        self._readers = rewriting.readers_of(program, self._makers)
        self._rows: dict[ir.Eqn, _Row] = {}

    def chains(self) -> dict[ir.Eqn, Sequence[_Part]]:
        """The parts of each array that is put together, by the last addition to it."""
        for eqn in self._adds:
            row = self._extend(eqn)
            if row is not None:
                self._rows[eqn] = row
        ends = [eqn for eqn in self._rows if not self._goes_on(eqn)]
        rows = {eqn: self._rows[eqn].parts for eqn in ends}
        return {eqn: parts for eqn, parts in rows.items() if _is_most(parts)}

    def _goes_on(self, eqn: ir.Eqn) -> bool:
        (reader,) = readers if len(readers := self._readers_of(eqn)) == 1 else (None,)
        return reader in self._rows

    def _readers_of(self, eqn: ir.Eqn) -> list[Any]:
        return self._readers.get(eqn.outvars[0], [])

    def _extend(self, eqn: ir.Eqn) -> _Row | None:
        """The parts up to an addition, which do not overlap; None if some do."""
        operand, indices, value = eqn.invars
        maker = self._makers.get(operand)
        part = self._window(eqn, indices, value)
        if part is None or maker is None or len(self._readers_of(maker)) > 1:
            return None
        row = self._rows.get(maker)
        if maker.primitive is pad_p:
            first = _pad_part(maker)
            row = None if first is None or first.distance != 1 else _Row(first)
        # Nothing else reads what the row has been so far, so that it may grow.
        return row if row is not None and row.add(part) else None

    def _window(self, eqn: ir.Eqn, indices: Any, value: Any) -> _Part | None:
        """The part that is added to, if it is known and along one axis."""
        aval, maker = eqn.outvars[0].aval, self._makers.get(indices)
        if maker is None or maker.primitive is not stack_p or len(maker.invars) != 1:
            return None
        (position,) = maker.invars
        dn = eqn.params["dimension_numbers"]
        axes = tuple(dn.scatter_dims_to_operand_dims)
        is_window = tuple(dn.update_window_dims) == tuple(range(aval.ndim))
        if type(position) is not ir.Literal or not is_window or len(axes) != 1:
            return None
        if not rewriting.is_undivided(aval) or value.aval.dtype != aval.dtype:
            return None
        (axis,), start = axes, int(position.val)
        size = value.aval.shape[axis]
        alike = [n == m for n, m in zip(aval.shape, value.aval.shape, strict=True)]
        if not all(alike[:axis] + alike[axis + 1 :]):
            return None
        if not 0 <= start <= aval.shape[axis] - size or size == 0:
            return None
        return _Part(eqn.outvars[0], value, axis, start, size, 1)


class _Row:
    """Parts without gaps in them along one axis, which do not overlap.

    Attributes:
      parts: in their order on the axis.
    """

    def __init__(self, first: _Part) -> None:
        self.parts = [first]

    def add(self, part: _Part) -> bool:
        """Adds a part to them; False where it is not one of such."""
        place = bisect.bisect(self.parts, part.start, key=_start_of)
        before = self.parts[place - 1 : place] if place else []
        after = self.parts[place : place + 1]
        if part.axis != self.parts[0].axis:
            return False
        if any(p.start + p.size > part.start for p in before):
            return False
        if any(part.start + part.size > p.start for p in after):
            return False
        self.parts.insert(place, part)
        return True


_start_of = operator.attrgetter("start")


def _is_most(row: Sequence[_Part]) -> bool:
    size = row[0].term.aval.shape[row[0].axis]
    return 2 * sum(part.size for part in row) >= size


def _has_pads(program: ir.Olympuspr) -> bool:
    return ir.primitives_of(program).get(pad_p, 0) > 1


def _merge(program: ir.Olympuspr) -> ir.Olympuspr:
    sums = _Sums(program)
    writer = Rewriter()
    changes: dict[ir.Eqn, Any] = {}
    for eqn in sums.eqns:
        terms, inner = sums.terms(eqn)
        groups = _group(map(sums.part_of, terms)) if terms else []
        if groups:
            changes.update(dict.fromkeys([*inner, *sums.pads_of(groups)]))
            rows = [(g, sums.is_rolled(eqn, g)) for g in groups]
            changes[eqn] = functools.partial(_write, writer, terms, rows)
    if not changes:
        return program
    writer.write_equations(program.eqns, changes)
    return writer.finish(program, are_needed=True)


class _Sums:
    """The sums in a program, and what they add.

    Attributes:
      eqns: the sums.
    """

    def __init__(self, program: ir.Olympuspr) -> None:
        self._program = program
        kinds = add_any_p, pad_p
        makers = [eqn for eqn in program.eqns if eqn.primitive in kinds]
        self.eqns = [eqn for eqn in makers if eqn.primitive is add_any_p]
        self._makers = {eqn.outvars[0]: eqn for eqn in makers}
        self._n_readers = ir.count_readers(program)
        self._added = {v for eqn in self.eqns if _is_sum(eqn) for v in eqn.invars}

    def terms(self, eqn: ir.Eqn) -> tuple[list[Any], list[ir.Eqn]]:
        """The values that a sum adds, and the sums of which it does; none of both where
        another sum adds it.
        """
        terms: list[Any] = []
        inner: list[ir.Eqn] = []
        if not _is_sum(eqn) or self._is_inner(eqn):
            return terms, inner
        left = eqn.invars[::-1]
        while left:
            v = left.pop()
            maker = self._makers.get(v)
            if maker is not None and _is_sum(maker) and self._is_inner(maker):
                inner.append(maker)
                left.extend(maker.invars[::-1])
            else:
                terms.append(v)
        return terms, inner

    def _is_inner(self, eqn: ir.Eqn) -> bool:
        """Whether only another sum reads a result."""
        (out,) = eqn.outvars
        return out in self._added and self._n_readers[out] == 1

    def part_of(self, v: Any) -> _Part | None:
        """How a value is zero but for a part, along one axis."""
        eqn = self._makers.get(v)
        if eqn is None or eqn.primitive is not pad_p or self._n_readers[v] > 1:
            return None
        return _pad_part(eqn)

    def pads_of(self, groups: Sequence[Sequence[_Part]]) -> list[ir.Eqn]:
        """The equations that make arrays of parts."""
        return [self._makers[part.term] for group in groups for part in group]

    def is_rolled(self, eqn: ir.Eqn, group: Sequence[_Part]) -> bool:
        """Whether a group is two parts of one value, which costs next to nothing.

        Not where the sum is cut again, as of a value that is rolled along two axes.
        """
        if len(group) != 2 or eqn.outvars[0] in self._cut:
            return False
        cuts = [self._all_makers.get(part.value) for part in group]
        cut = [e.invars[0] for e in cuts if e is not None and e.primitive in _CUTS]
        if len(cut) != 2 or cut[0] is not cut[1]:
            return False
        return _is_cheap(cut[0], self._all_makers)

    @functools.cached_property
    def _cut(self) -> set[Any]:
        """The values that are cut."""
        return {e.invars[0] for e in self._program.eqns if e.primitive in _CUTS}

    @functools.cached_property
    def _all_makers(self) -> dict[Any, ir.Eqn]:
        return {v: eqn for eqn in self._program.eqns for v in eqn.outvars}


def _is_cheap(v: Any, makers: Mapping[Any, ir.Eqn]) -> bool:
    """Whether little is computed again where a value is: no parts of parts either.

    False of a known number too, of which the compiler joins parts by itself.
    """
    left, seen, is_known = [v], set[Any](), True
    while left:
        eqn = makers.get(left.pop())
        if eqn is None or eqn.primitive.cost is None:
            is_known = False
            continue
        if eqn in seen:
            continue
        seen.add(eqn)
        if eqn.primitive.cost in _NOT_CHEAP or len(seen) > _MOST_MAKERS:
            return False
        left += [v for v in eqn.invars if type(v) is not ir.Literal]
    return not is_known


def _pad_part(eqn: ir.Eqn) -> _Part | None:
    """How what a padding gives is zero but for a part, along one axis."""
    if not _is_zero(eqn.invars[1]):
        return None
    config = eqn.params["padding_config"]
    axes = [i for i, sizes in enumerate(config) if any(sizes)]
    if len(axes) != 1:
        return None
    (axis,) = axes
    low, high, interior = config[axis]
    v, size = eqn.outvars[0], eqn.invars[0].aval.shape[axis]
    if min(low, high) < 0 or size == 0:
        return None
    if interior and low + high != interior:  # not one of parts that alternate
        return None
    return _Part(v, eqn.invars[0], axis, low, 1 if interior else size, interior + 1)


def _is_sum(eqn: ir.Eqn) -> bool:
    return eqn.primitive is add_any_p and rewriting.is_undivided(eqn.outvars[0].aval)


def _is_zero(v: Any) -> bool:
    if type(v) is not ir.Literal:
        return False
    value = v.val
    is_number = type(value) in (int, float) or isinstance(value, np.generic)
    return not value if is_number else not np.any(np.asarray(value))


def _group(parts: Any) -> list[list[_Part]]:
    """Groups of parts that do not overlap; none where that saves little."""
    known = [p for p in parts if p is not None]
    groups: dict[tuple[int, int], list[list[_Part]]] = {}
    for part in sorted(known, key=lambda p: p.start):
        rows = groups.setdefault((part.axis, part.distance), [])
        for row in rows:
            if row[-1].start + row[-1].size <= part.start:
                row.append(part)
                break
        else:
            rows.append([part])
    rows = [row for rows in groups.values() for row in rows]
    return [row for row in rows if len(row) >= _FEWEST_PARTS or _is_whole(row)]


def _is_whole(row: Sequence[_Part]) -> bool:
    """Whether neighbours are the whole array, and more than one."""
    axis, distance = row[0].axis, row[0].distance
    size = row[0].term.aval.shape[axis]
    return distance == 1 and len(row) > 1 and sum(part.size for part in row) == size


def _write(
    writer: Rewriter,
    terms: Sequence[Any],
    groups: Sequence[tuple[Sequence[_Part], bool]],
    eqn: ir.Eqn,
) -> Any:
    """Writes a sum: of groups of parts, and the terms that are in none; its value."""
    grouped = {part.term for group, _ in groups for part in group}
    values = [writer.read(v) for v in terms if v not in grouped]
    values += [_write_parts(writer, eqn, *row) for row in groups]
    total = values[0]
    for value in values[1:]:
        total = writer.apply(eqn, add_any_p, [total, value])
    return total


def _write_parts(
    writer: Rewriter, eqn: ir.Eqn, group: Sequence[_Part], is_rolled: bool = False
) -> Any:
    """Writes the whole of parts in their order, in place of an equation; its value."""
    aval = eqn.outvars[0].aval
    values = [writer.read(part.value) for part in group]
    if is_rolled:
        put = _add_both
    elif _is_columns(group, aval):
        put = _put_columns
    elif _is_whole(group):
        return writer.apply(eqn, concatenate_p, values, dimension=group[0].axis)
    else:
        put = _put_together
    return writer.write(eqn, lambda *xs: put(xs, group, aval), values)


def _put_together(xs: Sequence[Any], group: Sequence[_Part], aval: Any) -> Any:
    """The whole of parts in their order, with zeros between them."""
    axis, distance = group[0].axis, group[0].distance
    size = aval.shape[axis]
    if distance > 1:  # the parts' elements are along `axis`, the parts along the next
        shape = (*aval.shape[:axis], size // distance, 1, *aval.shape[axis + 1 :])
        xs = [_reshape(x, shape) for x in xs]
        axis, size = axis + 1, distance
    ends = [*[part.start for part in group[1:]], size]
    gaps = [end - p.start - p.size for p, end in zip(group, ends, strict=True)]
    lows = [group[0].start] + [0] * (len(group) - 1)
    padded = [_pad(*row, axis) for row in zip(xs, lows, gaps, strict=True)]
    return _reshape(concatenate_p.bind(*padded, dimension=axis), aval.shape)


def _is_columns(group: Sequence[_Part], aval: Any) -> bool:
    """Whether parts are single columns, next to each other, of many elements."""
    axis, distance = group[0].axis, group[0].distance
    if distance != 1 or axis != aval.ndim - 1 or aval.size < _MANY:
        return False
    few = aval.shape[-1] == len(group) <= _MOST_COLUMNS
    return few and all(part.size == 1 for part in group)


def _put_columns(xs: Sequence[Any], group: Sequence[_Part], aval: Any) -> Any:
    """The whole of single columns, as the transpose of its rows.

    Columns themselves would be written in turns, which is not vectorised.
    """
    n = math.prod(aval.shape[:-1])
    rows = concatenate_p.bind(*[_reshape(x, (1, n)) for x in xs], dimension=0)
    turned = transpose_p.bind(rows, permutation=(1, 0))
    return _reshape(turned, aval.shape)


def _add_both(xs: Sequence[Any], group: Sequence[_Part], aval: Any) -> Any:
    """The whole of two parts as the sum of both with zeros around them."""
    axis = group[0].axis
    size = aval.shape[axis]
    rows = zip(xs, group, strict=True)
    padded = [_pad(x, p.start, size - p.start - p.size, axis) for x, p in rows]
    return add_any_p.bind(*padded)


def _pad(x: Any, low: int, high: int, axis: int) -> Any:
    if not (low or high):
        return x
    aval = avals.aval_of(x)
    config = [(0, 0, 0)] * aval.ndim
    config[axis] = (low, high, 0)
    zero = np.zeros((), aval.dtype)[()]
    return pad_p.bind(x, zero, padding_config=tuple(config))


def _reshape(x: Any, shape: Sequence[int]) -> Any:
    if avals.aval_of(x).shape == tuple(shape):
        return x
    return rewriting.reshape(x, shape)
