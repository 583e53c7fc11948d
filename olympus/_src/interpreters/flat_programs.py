"""What the operations of a program read, in numbers, with its calls written out.

The compiler writes calls out, so what counts its work looks at a program in which they
are. That is long where one program is called many times. Numbers of a program that is
called are found once, and each call takes them, moved to its place.
"""

from __future__ import annotations

import bisect
import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.core.primitive import Cost
from olympus._src.interpreters import inlining

# More operands than this many are parts that are joined.
MOST_PARTS = 8
# Numbers of arguments go down from here, those of results are far above.
_FIRST_ARGUMENT = -(2**40)

# Of large programs these are read fastest without a loop in Python.
_cost = operator.attrgetter("primitive.cost")
_n_operations = operator.attrgetter("primitive.n_operations")
_invars, _outvars = operator.attrgetter("invars"), operator.attrgetter("outvars")
_first = operator.itemgetter(0)


class TooLongError(Exception):
    """A program has too many equations where its calls are written out."""


class FlatProgram:
    """The equations of a program, with those of what it calls in place of calls.

    A value is a number: that of the equation whose first result it is. Further results
    of equations are -1, -2, ..., so that a list of `size` elements has one for each.
    Literals and arguments have no numbers, but for arguments of what is called, which
    are below all others.

    Args:
      program: what is written out.
      known: programs that are called, written out; takes those that are not there.
      is_called: whether it is one of them.

    Raises:
      TooLongError: it has calls, and too many equations.

    Attributes:
      program: the program.
      eqns: the equations; those of what is called are the same in each call.
      costs: of each equation, as its primitive has it.
      sizes: how many operations each equation is.
      reads: the values that each equation reads.
      of_many: the equations that have many operands.
      several: the results of the equations that do not have one.
      further: an equation and the number of its result, for -1, -2, ...
      results: what the program returns; None for what has no number.
      calls: by the number of an equation of the program itself what it calls.
      n_calls: how many calls are written out.
    """

    __slots__ = (
        "_divisors",
        "_is_called",
        "_others",
        "_values",
        "_with_arguments",
        "calls",
        "costs",
        "eqns",
        "further",
        "n_calls",
        "of_many",
        "program",
        "reads",
        "results",
        "several",
        "sizes",
    )

    def __init__(
        self,
        program: ir.Olympuspr,
        known: dict[ir.Olympuspr, FlatProgram],
        is_called: bool = False,
    ) -> None:
        self.program = program
        self.eqns: list[ir.Eqn] = []
        self.costs: list[Cost | None] = []
        self.sizes: list[int] = []
        self.reads: list[list[int]] = []
        self.of_many: set[int] = set()
        self.several: dict[int, list[int]] = {}
        self.further: list[tuple[int, int]] = []
        self.calls: dict[int, FlatProgram] = {}
        self.n_calls = 0
        self._is_called = is_called
        # What equations make; and arguments, also where calls return them.
        self._values: dict[Any, int] = {}
        inputs = (*program.invars, *program.constvars)
        self._others = {v: _FIRST_ARGUMENT - i for i, v in enumerate(inputs)}
        # Of what is called: equations that read arguments, and the last operand of
        # those whose cost depends on it.
        self._with_arguments: set[int] = set()
        self._divisors: dict[int, int | None] = {}
        self._enter(known)
        if self.calls and len(self.eqns) > inlining.MOST_EQUATIONS:
            raise TooLongError
        self.results = list(map(self._number, program.outvars))
        if not is_called:
            self._drop_arguments()

    @property
    def size(self) -> int:
        """How many values have numbers."""
        return len(self.eqns) + len(self.further)

    @property
    def values(self) -> range:
        """The numbers of values."""
        return range(-len(self.further), len(self.eqns))

    def maker(self, value: int) -> int:
        """The equation that makes a value."""
        return value if value >= 0 else self.further[~value][0]

    def variable(self, value: int) -> ir.Var:
        """A value, as the program has it that is written out at its place."""
        i, k = self.place(value)
        out: ir.Var = self.eqns[i].outvars[k]
        return out

    def place(self, value: int) -> tuple[int, int]:
        """The equation that makes a value, and the number of its result."""
        return (value, 0) if value >= 0 else self.further[~value]

    def list_returned(self) -> list[int]:
        """The values among the results."""
        return [v for v in self.results if v is not None]

    def outputs(self, i: int) -> Sequence[int]:
        """The results of an equation."""
        return self.several.get(i, (i,))

    def reads_arguments(self, i: int) -> bool:
        """Whether an equation reads arguments of the program."""
        others = self._others
        return i in self._with_arguments or not others.keys().isdisjoint(
            self.eqns[i].invars
        )

    def has_last(self, i: int, is_one: Callable[[int], bool]) -> bool:
        """Whether the last operand of an equation is a literal, or such a value.

        Args:
          i: the equation; its primitive has a `cost_by_spread`.
          is_one: which values are meant.
        """
        last = self.eqns[i].invars[-1]
        x = self._divisors[i] if i in self._divisors else self._number(last)
        if x is None:
            return True
        return x > _FIRST_ARGUMENT and is_one(x)

    def _drop_arguments(self) -> None:
        for i in self._with_arguments:
            self.reads[i] = [v for v in self.reads[i] if v > _FIRST_ARGUMENT]
        self.results = [
            None if v is None or v <= _FIRST_ARGUMENT else v for v in self.results
        ]

    def _number(self, v: Any) -> int | None:
        return self._values[v] if v in self._values else self._others.get(v)

    def _enter(self, known: dict[ir.Olympuspr, FlatProgram]) -> None:
        program = self.program
        if not any(p.is_call for p in ir.primitives_of(program)):
            self._extend(program.eqns)
            return
        start = 0
        for position, eqn in enumerate(program.eqns):
            inner = inlining.called_program(eqn)
            if inner is not None:
                self._extend(program.eqns[start:position])
                self._call(position, eqn, inner, known)
                start = position + 1
        self._extend(program.eqns[start:])

    def _extend(self, eqns: Sequence[ir.Eqn]) -> None:
        """Enters equations that are no calls."""
        # Each program that is lowered comes through here: with few loops in Python.
        n, values = len(self.eqns), self._values
        self.eqns += eqns
        self.costs += map(_cost, eqns)
        primitives = ir.primitives_of(self.program)
        is_one = all(p.n_operations == 1 for p in primitives)
        self.sizes += [1] * len(eqns) if is_one else map(_n_operations, eqns)
        if any(p.multiple_results for p in primitives):
            self._enter_results(eqns, n)
        else:
            firsts = map(_first, map(_outvars, eqns))
            values.update(zip(firsts, itertools.count(n)))
        operands = list(map(_invars, eqns))
        if self._is_called:
            self._enter_operands(eqns, n)
        else:
            self.reads += [[values[v] for v in row if v in values] for row in operands]
        if max(map(len, operands), default=0) > MOST_PARTS:
            rows = enumerate(operands, n)
            self.of_many.update([i for i, row in rows if len(row) > MOST_PARTS])

    def _enter_results(self, eqns: Sequence[ir.Eqn], n: int) -> None:
        for i, outvars in enumerate(map(_outvars, eqns), n):
            numbers = [i] if outvars else []
            for k in range(1, len(outvars)):
                self.further.append((i, k))
                numbers.append(-len(self.further))
            self._values.update(zip(outvars, numbers, strict=True))
            if len(outvars) != 1:
                self.several[i] = numbers

    def _enter_operands(self, eqns: Sequence[ir.Eqn], n: int) -> None:
        for i, eqn in enumerate(eqns, n):
            numbers = list(map(self._number, eqn.invars))
            self.reads.append([x for x in numbers if x is not None])
            if any(x <= _FIRST_ARGUMENT for x in self.reads[i]):
                self._with_arguments.add(i)
            if eqn.primitive.cost_by_spread is not None:
                self._divisors[i] = numbers[-1]

    def _call(
        self,
        position: int,
        eqn: ir.Eqn,
        inner: ir.Olympuspr,
        known: dict[ir.Olympuspr, FlatProgram],
    ) -> None:
        """Enters what an equation calls."""
        if inner not in known:
            known[inner] = FlatProgram(inner, known, is_called=True)
        flat = self.calls[position] = known[inner]
        self.n_calls += 1 + flat.n_calls
        n, n_further = len(self.eqns), len(self.further)
        if n + len(flat.eqns) > inlining.MOST_EQUATIONS:
            raise TooLongError
        operands = list(map(self._number, eqn.invars))

        def move(x: int | None) -> int | None:
            if x is None:
                return None
            if x >= 0:
                return x + n
            return (
                x - n_further if x > _FIRST_ARGUMENT else operands[_FIRST_ARGUMENT - x]
            )

        self.eqns += flat.eqns
        self.costs += flat.costs
        self.sizes += flat.sizes
        # Arguments among these are moved below.
        self.reads += [
            [x + n if x >= 0 else x - n_further for x in row] for row in flat.reads
        ]
        self.further += [(i + n, k) for i, k in flat.further]
        self.of_many.update([i + n for i in flat.of_many])
        for i, row in flat.several.items():
            self.several[i + n] = [x + n if x >= 0 else x - n_further for x in row]
        for i in flat._with_arguments:
            moved = [x for x in map(move, flat.reads[i]) if x is not None]
            self.reads[i + n] = moved
            if any(x <= _FIRST_ARGUMENT for x in moved):
                self._with_arguments.add(i + n)
        for i, x in flat._divisors.items():
            self._divisors[i + n] = move(x)
        for v, x in zip(eqn.outvars, map(move, flat.results), strict=True):
            if x is not None:
                (self._others if x <= _FIRST_ARGUMENT else self._values)[v] = x


def write_out(program: ir.Olympuspr) -> FlatProgram | None:
    """The numbers of a program; None if it is too long with its calls written out."""
    try:
        return FlatProgram(program, {})
    except TooLongError:
        return None


def keep(flat: FlatProgram, kept: Sequence[int]) -> ir.Olympuspr:
    """The program, with barriers behind values, also in what it calls.

    Calls in which the same is kept go on to share one program. Calls of programs that
    are all called once are written out.

    Args:
      flat: the program.
      kept: which values are kept.
    """
    places: dict[int, list[int]] = {}
    for value in kept:
        i, k = flat.place(value)
        places.setdefault(i, []).append(k)
    program = flat.program
    if flat.n_calls < len(inlining.called_programs(program)):
        program = inlining.inline(program) or program  # it is not too long
        return inlining.write_barriers(program, _results(program.eqns, places))
    rows = tuple([(i, *sorted(places[i])) for i in sorted(places)])
    return _keep(flat, rows, {})


_Places = tuple[tuple[int, ...], ...]


def _results(
    eqns: Sequence[ir.Eqn], places: Mapping[int, Sequence[int]]
) -> dict[ir.Eqn, list[Any]]:
    """Variables by equations, from numbers of results by numbers of equations."""
    return {eqns[i]: [eqns[i].outvars[k] for k in places[i]] for i in sorted(places)}


def _keep(
    flat: FlatProgram, places: _Places, written: dict[Any, ir.Olympuspr]
) -> ir.Olympuspr:
    """A program with barriers behind its values, and in its calls.

    Args:
      flat: the program.
      places: numbers of equations, in order, each with those of its results.
      written: programs with barriers, by what they were and the places.
    """
    program = flat.program
    if not places:
        return program
    key = (program, places)
    if key in written:
        return written[key]
    own: dict[ir.Eqn, list[Any]] = {}
    changed: dict[ir.Eqn, ir.Olympuspr] = {}
    # Between calls equations have as many before them as in the program.
    start = moved = 0
    by_first = [row[0] for row in places]

    def add_own(end: int) -> None:
        low = bisect.bisect_left(by_first, start + moved)
        high = bisect.bisect_left(by_first, end + moved)
        for i, *numbers in places[low:high]:
            eqn = program.eqns[i - moved]
            own[eqn] = [eqn.outvars[k] for k in numbers]

    for position, inner in flat.calls.items():
        add_own(position)
        first, n = position + moved, len(inner.eqns)
        low = bisect.bisect_left(by_first, first)
        high = bisect.bisect_left(by_first, first + n)
        if low < high:
            rows = tuple([(row[0] - first, *row[1:]) for row in places[low:high]])
            changed[program.eqns[position]] = _keep(inner, rows, written)
        start, moved = position + 1, moved + n - 1
    add_own(len(program.eqns))
    written[key] = inlining.write_barriers(program, own, changed)
    return written[key]


def count_reads(flat: FlatProgram) -> list[int]:
    """How often each value is read, by results too."""
    counts = [0] * flat.size
    for read in flat.reads:
        for v in read:
            counts[v] += 1
    for v in flat.list_returned():
        counts[v] += 1
    return counts
