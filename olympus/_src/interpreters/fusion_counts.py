"""How many operations fused programs would have, and which values to keep against it.

It counts what the compiler's fusion would write, in the way in which it decides.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from olympus._src.core import dtypes, ir
from olympus._src.core.primitive import Cost
from olympus._src.interpreters import flat_programs, fusion_bounds
from olympus._src.interpreters.flat_programs import FlatProgram
from olympus._src.interpreters.fusion_bounds import (
    LARGEST,
    PLAIN,
    count_arrays,
    is_made_of_one,
)

_EXPENSIVE, _SPREAD = Cost.EXPENSIVE, Cost.SPREAD
# Each reads another element of its operand, so each repeats the work.
_MOVES = (Cost.MOVE, _SPREAD)

# Programs below this many operations, and fused ones below that, compile in no time.
_FEW = 48
# Work repeated up to this many times over, and this much besides, is fusion's price.
_REPEATS, _SLACK = 3, 600
# The same of programs with so many operations that are not fused, as layers of a
# network have: values pass through memory there anyway, and one more costs little.
_REPEATS_BETWEEN, _SLACK_BETWEEN, _UNFUSED = 1.5, 300, 8
# Work that sums make again of what they read, in programs with as many operations that
# are not fused: layers of a network make some of it, and are fused sooner than kept.
_REPEATS_OF_SUMS, _SLACK_OF_SUMS = 3, 150
# Equations in which what reads an expensive value must come together.
_NEAR = 12
# Different elements of a value that one fused program makes before XLA keeps it.
_MOST_ELEMENTS = 16
# Operations that may be made again for each reader; and that may be fused at all.
_AGAIN, _TOGETHER = 8, 100


def find_kept(
    program: ir.Olympuspr, known: dict[ir.Olympuspr, FlatProgram]
) -> tuple[FlatProgram, list[int]] | None:
    """Values to be kept, as fused programs would be several times as long as it.

    Args:
      program: the program.
      known: programs that others call, written out; takes those that are not there.

    Returns:
      The numbers of the program, and of these values; None where they would not be, or
      the program is too long with its calls written out.
    """
    primitives = ir.primitives_of(program)
    flat = None
    if any(p.is_call for p in primitives):
        flat = flat_programs.write_out(program, known)
        if flat is None:
            return None
        n, n_unfused = sum(flat.sizes), flat.costs.count(None)
    else:
        n = sum(p.n_operations * k for p, k in primitives.items())
        n_unfused = sum(k for p, k in primitives.items() if p.cost is None)
    if n < _FEW:
        return None
    if n_unfused < _UNFUSED:
        budgets: dict[bool, float] = {False: _REPEATS * n + _SLACK}
    else:
        budgets = {
            False: _REPEATS_BETWEEN * n + _SLACK_BETWEEN,
            True: _REPEATS_OF_SUMS * n + _SLACK_OF_SUMS,
        }
    within = fusion_bounds.find_within(flat or program, budgets)
    exceeding = {kind: most for kind, most in budgets.items() if kind not in within}
    if not exceeding:
        return None
    flat = flat or flat_programs.write_out(program, known)
    if flat is None:
        return None
    counts = Counts(flat)
    sums_repeat = counts.find_repeated_work(exceeding)
    if sums_repeat is None:
        return None
    return flat, counts.find_repeated(sums_repeat)


class Counts:
    """What is known of a program, for each way to count.

    Attributes:
      flat: the program.
      n_readers: how often each value is read.
    """

    def __init__(self, flat: FlatProgram) -> None:
        self.flat = flat
        self.n_readers: list[int] = []
        self._uniform: set[int] | None = None
        self._closed: set[int] | None = None
        self._costs: Sequence[Cost | None] | None = None
        self._apart: tuple[Sequence[Cost | None], bytearray] | None = None

    def count(self, sums_repeat: bool) -> Fusion:
        """The count in which sums make again what they read, or do not."""
        if not self.n_readers:
            self.n_readers = flat_programs.count_reads(self.flat)
        if self._closed is None:
            self._closed = _find_closed(self.flat, self.n_readers)
        return Fusion(self, self._closed, sums_repeat)

    def find_apart(self, sums_repeat: bool, closed: set[int]) -> bytearray:
        """Values that are read in several fused programs; see `_read_apart`."""
        costs = self.costs(sums_repeat)
        if self._apart is None or self._apart[0] is not costs:
            apart = _read_apart(self.flat, costs, self.n_readers, closed)
            self._apart = costs, apart
        return self._apart[1]

    def costs(self, sums_repeat: bool) -> Sequence[Cost | None]:
        """The cost of each equation, which what its last operand is may lessen."""
        if not sums_repeat:
            return self.flat.costs
        if self._costs is None:
            self._costs = _lessen(self.flat)
        return self._costs

    def uniform(self) -> set[int]:
        """Values whose elements are all one known number.

        XLA computes these by itself. A barrier would keep it from doing so.
        """
        if self._uniform is None:
            self._uniform = _find_uniform(self.flat)
        return self._uniform

    def find_repeated_work(self, budgets: Mapping[bool, float]) -> bool | None:
        """Whether fused programs would be several times as long as the program itself.

        Args:
          budgets: how long they may be, by whether sums make again what they read.

        Returns:
          None if they are not longer; True if they are so by what sums and maxima make
          again. XLA fuses a reduction with what it reads, and makes that again for
          other readers. It divides by what is spread from less at the cost of a
          multiplication.
        """
        for sums_repeat, budget in budgets.items():
            if self._exceeds(budget, sums_repeat):
                return sums_repeat
        return None

    def _exceeds(self, budget: float, sums_repeat: bool) -> bool:
        """Whether there would be more operations, or too many in one fused program."""
        fusion = self.count(sums_repeat)
        roots = fusion.roots()
        # Each way counted by itself is the most it can be, and known without counting.
        at_most = fusion.sizes
        most = sum(at_most[v] for v in roots)
        is_short = max([at_most[v] for v in roots], default=0) <= LARGEST
        if is_short and most <= budget:
            return False
        uniform = self.uniform()
        for v in uniform:
            fusion.kept[v] = 1
        roots = [v for v in roots if v not in uniform]
        at_least = fusion.count_at_least()
        least, most = (sum(sizes[v] for v in roots) for sizes in (at_least, at_most))
        # Those first of which the least is known: the others may not matter.
        slacks = {v: at_most[v] - at_least[v] for v in roots}
        for root in sorted(roots, key=slacks.__getitem__, reverse=True):
            if least > budget:
                return True
            if is_short and most <= budget:
                return False
            size = at_most[root]
            if slacks[root]:
                size = fusion.count(root, budget - least + at_least[root])
                least += size - at_least[root]
                most += size - at_most[root]
            if size > LARGEST:
                return True
        return least > budget

    def find_repeated(self, sums_repeat: bool) -> list[int]:
        """Values that would be made again too often.

        So is what is read several times and has an expensive operation on its way: XLA
        keeps one of the values on that way, which one depends on what is around it.
        """
        flat, n_readers, uniform = self.flat, self.n_readers, self.uniform()
        sizes = [0] * flat.size  # operations that make a value of kept ones
        expensive = bytearray(flat.size)
        repeated: list[int] = []
        costs = self.costs(sums_repeat)
        rows = zip(costs, flat.sizes, flat.reads, flat.outputs, strict=True)
        for cost, size, read, outputs in rows:
            if cost is None:
                continue
            is_expensive = costly = cost is _EXPENSIVE
            for v in read:
                size += sizes[v]  # 0 of what is kept, or not fused
                if expensive[v]:
                    costly = True
            for v in outputs:
                again = n_readers[v] > 1
                if again and is_expensive:
                    continue  # kept anyway
                if (again and (costly or size > _AGAIN)) or size > _TOGETHER:
                    if v not in uniform:
                        repeated.append(v)
                    continue
                sizes[v] = size
                expensive[v] = costly
        return repeated


class Fusion:
    """Which values a fused program starts from, as XLA would choose them.

    Attributes:
      kept: values that are results of fused programs, or of operations never fused.
      repeated: values that are results of fused programs, and made again all the same.
      sizes: operations that make a value of kept ones, counted for each way to it; 0 of
        values that are not fused.
    """

    def __init__(
        self,
        counts: Counts,
        closed: set[int],
        sums_repeat: bool,
    ) -> None:
        flat = self._flat = counts.flat
        self._n_readers = counts.n_readers
        self.kept = _mark_returned(flat)
        for v in flat.arguments:
            self.kept[v] = 1
        self.repeated = bytearray(flat.size)
        self.sizes = [0] * flat.size
        self._rows: dict[int, tuple[int, int | None, list[int]]] = {}
        apart = counts.find_apart(sums_repeat, closed)
        self._enter(counts.costs(sums_repeat), closed, apart, sums_repeat)
        self._keep_joined()

    def roots(self) -> list[int]:
        """The results of fused programs."""
        kept, repeated, sizes = self.kept, self.repeated, self.sizes
        return [v for v in self._flat.values if sizes[v] and (kept[v] or repeated[v])]

    def _enter(
        self,
        costs: Sequence[Cost | None],
        closed: set[int],
        apart: bytearray,
        sums_repeat: bool,
    ) -> None:
        """Notes sizes and what is kept."""
        # One loop over local names: many programs that are lowered come through here.
        flat, n_readers, kept = self._flat, self._n_readers, self.kept
        sizes, repeated = self.sizes, self.repeated
        added = [0] * flat.size  # as `sizes`, 0 of values that are kept
        expensive = bytearray(flat.size)  # with an expensive operation on their way
        rows = zip(costs, flat.sizes, flat.reads, flat.outputs, strict=True)
        for i, (cost, size, read, outputs) in enumerate(rows):
            if cost is None:
                fuses = sums_repeat and flat.eqns[i].primitive.fuses_operands
                for v in read:
                    if kept[v]:
                        continue
                    if fuses or _is_made_of_one(flat, v):
                        repeated[v] = 1
                    else:
                        kept[v], added[v] = 1, 0
                for out in outputs:
                    kept[out] = 1
                continue
            costly: tuple[int, ...] = ()
            for v in read:
                size += added[v]
                if expensive[v]:
                    costly = (*costly, v)
            for out in outputs:
                sizes[out] = size
                if cost is _EXPENSIVE:
                    is_once = n_readers[out] < 2 or out in closed
                    (expensive if is_once else kept)[out] = 1
                elif not apart[out]:
                    if costly:
                        expensive[out] = 1
                else:  # it is made again for each reader, and what was costly is not
                    for v in costly:
                        kept[v], added[v] = 1, 0
                if not kept[out]:
                    added[out] = size

    def _keep_joined(self) -> None:
        """Keeps the parts of arrays that are kept and joined of many parts.

        XLA copies such parts into the array: it makes each by a fused program of its
        own, and what several parts are made of in each of them.
        """
        for i in sorted(self._flat.of_many):
            if self._flat.costs[i] in _MOVES and self.kept[i]:
                for v in self._flat.reads[i]:
                    self.kept[v] = 1

    def count_at_least(self) -> list[int]:
        """For each value no more than `count` gives for it, of all in one pass.

        What is read once is in one place of a fused program. Of the operands that have
        something else in them the longest is counted.
        """
        flat, kept, n_readers = self._flat, self.kept, self._n_readers
        alone = [0] * flat.size  # the value, and what is read once on all of the way
        beside = [0] * flat.size  # others
        rows = zip(flat.costs, flat.sizes, flat.reads, flat.outputs, strict=True)
        for cost, size, read, outputs in rows:
            if cost is None:
                continue
            most = 0
            for v in read:
                if kept[v]:
                    continue
                other = beside[v]
                if n_readers[v] == 1:
                    size += alone[v]
                else:
                    other += alone[v]
                if other > most:
                    most = other
            for v in outputs:
                alone[v], beside[v] = size, most
        return list(map(operator.add, alone, beside))

    def count(self, root: int, budget: float) -> int:
        """Operations of the fused program that makes one value; stops above a budget.

        A value and the element of it that is made, known by the moves that lead there,
        are written once.
        """
        # Which are made of each value: one, or a set of several.
        elements: dict[int, Any] = {root: 0}
        todo = [(root, 0)]
        rows, done = self._rows, 0
        while todo and done <= budget:
            value, element = todo.pop()
            row = rows.get(value)
            if row is None:
                row = rows[value] = self._row_of(value)
            n, mover, fused = row
            done += n
            if mover is not None:
                element = hash((mover, element))
            for v in fused:
                known = elements.get(v)
                if known is None:
                    elements[v] = element
                elif known == element:
                    continue
                elif type(known) is int:
                    elements[v] = {known, element}
                elif element in known or len(known) == _MOST_ELEMENTS:
                    continue
                else:
                    known.add(element)
                todo.append((v, element))
        return done

    def _row_of(self, value: int) -> tuple[int, int | None, list[int]]:
        """What `count` needs to know of a value and of what only it is made of.

        Of a value that is read once the same elements are made as of its reader.

        Returns:
          How many operations these are; what tells the value's equation from others, if
          it moves elements; and which values they read that are made in the program.
        """
        flat, kept, n_readers = self._flat, self.kept, self._n_readers
        costs, reads, sizes = flat.costs, flat.reads, flat.sizes
        i = value if value >= 0 else flat.maker(value)
        mover = i if costs[i] in _MOVES else None
        n, fused, todo = sizes[i], [], [i]
        for i in todo:
            for v in reads[i]:
                if kept[v]:
                    continue
                maker = v if v >= 0 else flat.maker(v)
                if n_readers[v] == 1 and costs[maker] not in _MOVES:
                    n += sizes[maker]
                    todo.append(maker)
                else:
                    fused.append(v)
        return n, mover, fused


# -- what of the values decides --------------------------------------------------------


def _mark_returned(flat: FlatProgram) -> bytearray:
    """1 for each value that the program returns, 0 for the others."""
    marks = bytearray(flat.size)
    for v in flat.list_returned():
        marks[v] = 1
    return marks


def _is_made_of_one(flat: FlatProgram, v: int) -> bool:
    i = flat.maker(v)
    known = flat.made_of_one.get(i)
    if known is None:
        known = is_made_of_one(flat.eqns[i], flat.reads[i], flat.equation)
        flat.made_of_one[i] = known
    return known


def _lessen(flat: FlatProgram) -> Sequence[Cost | None]:
    """Costs of equations, less of those by what is one number for many elements.

    The same object where there are none.
    """
    costs = flat.costs

    def is_spread(v: int) -> bool:
        return flat.costs[flat.maker(v)] is _SPREAD

    for i in flat.divisors:
        eqn = flat.eqns[i]
        if costs[i] is not _EXPENSIVE or not flat.has_last(i, is_spread):
            continue
        if dtypes.issubdtype(eqn.outvars[0].aval.dtype, np.floating):
            costs = costs.copy() if costs is flat.costs else costs
            costs[i] = eqn.primitive.cost_by_spread
    return costs


def _find_closed(flat: FlatProgram, n_readers: Sequence[int]) -> set[int]:
    """Expensive values that a few cheap operations make one value of, and of no other.

    These are fused, and then read the value once: it is made there, as the rest of a
    division is with the choice of its sign.
    """
    closed: set[int] = set()
    for i, cost in enumerate(flat.costs):
        if cost is not _EXPENSIVE or n_readers[i] < 2:
            continue
        outvars = flat.eqns[i].outvars
        if outvars[0].aval.shape and len(outvars) == 1 and _closes(flat, i, n_readers):
            closed.add(i)
    return closed


def _closes(flat: FlatProgram, v: int, n_readers: Sequence[int]) -> bool:
    """Whether equations make one value of a value alone, and nothing else reads it.

    Args:
      flat: the program.
      v: the value, whose equation they follow.
      n_readers: how often each value is read.
    """
    costs, reads = flat.costs, flat.reads
    group, n = {v}, n_readers[v]  # arrays, and how often they are read
    for i in range(v + 1, min(v + 1 + _NEAR, len(reads))):
        if group.isdisjoint(reads[i]):
            continue
        read = sum(x in group for x in reads[i])
        n -= read
        if costs[i] not in PLAIN or read < count_arrays(flat.eqns[i]):
            return False
        if n == 0:
            return True
        group.update([x for x in flat.outputs[i] if flat.variable(x).aval.shape])
        n += n_readers[i]
    return False


def _find_uniform(flat: FlatProgram) -> set[int]:
    uniform: set[int] = set()
    are_uniform = uniform.issuperset
    for i, read in enumerate(flat.reads):
        if are_uniform(read):
            cost, n = flat.costs[i], len(flat.eqns[i].invars)
            if (cost in _MOVES and n == 1) or (cost in PLAIN and n):
                uniform.update(flat.outputs[i])
    return uniform


def _read_apart(
    flat: FlatProgram,
    costs: Sequence[Cost | None],
    n_readers: Sequence[int],
    closed: set[int],
) -> bytearray:
    """Values that are read in several fused programs, or by one that is written twice.

    What reads a value at several places may come together in one fused program, as
    `sin(x) * c + x` does: there the value is made once.
    """
    # The fused program that reads a value, by its result.
    places: list[int | None] = [None] * flat.size
    for v in flat.list_returned():
        places[v] = v
    apart = bytearray(flat.size)
    reads, outputs = flat.reads, flat.outputs
    for i in range(len(reads) - 1, -1, -1):
        cost, read = costs[i], reads[i]
        if cost is None:  # an operation that is not fused reads and makes arrays
            for v in read:
                places[v] = v
            continue
        if cost is _EXPENSIVE:
            for v in outputs[i]:
                if n_readers[v] > 1 and v not in closed:
                    places[v] = v
            repeated = False
        else:
            repeated = bool(apart[i])
        place = places[i]
        for v in read:
            if place is None:
                places[v] = v
            elif repeated:
                apart[v] = 1
            else:
                known = places[v]
                if known is None:
                    places[v] = place
                elif known != place:
                    apart[v] = 1
    return apart
