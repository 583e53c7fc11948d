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
from typing import Any, NamedTuple

from olympus._src.core import ir
from olympus._src.core.primitive import Cost
from olympus._src.interpreters import inlining

# More operands than this many are parts that are joined.
MOST_PARTS = 8

# Of large programs these are read fastest without a loop in Python.
_cost = operator.attrgetter("primitive.cost")
_n_operations = operator.attrgetter("primitive.n_operations")
_cost_by_spread = operator.attrgetter("primitive.cost_by_spread")
_invars, _outvars = operator.attrgetter("invars"), operator.attrgetter("outvars")
_first = operator.itemgetter(0)


class TooLongError(Exception):
    """A program has too many equations where its calls are written out."""


class _Kinds(NamedTuple):
    """What is known of a program's equations.

    Attributes:
      is_one: whether each is one operation.
      of_several: whether some may have several results, or none.
      depend_on_last: whether the costs of some depend on their last operands.
    """

    is_one: bool
    of_several: bool
    depend_on_last: bool


class FlatProgram:
    """The equations of a program, with those of what it calls in place of calls.

    A value is a number: that of the equation whose first result it is. The arguments of
    the program are -1, -2, ..., and further results of equations go on from there, so
    that a list of `size` elements has one for each. Literals have no numbers.

    Args:
      program: what is written out.
      known: programs that are called, written out; takes those that are not there.

    Raises:
      TooLongError: it has calls, and too many equations.

    Attributes:
      program: the program.
      eqns: the equations; those of what is called are the same in each call.
      costs: of each equation, as its primitive has it.
      sizes: how many operations each equation is.
      reads: the values that each equation reads.
      outputs: the values that each equation makes.
      of_many: the equations that have many operands.
      several: the results of the equations that do not have one.
      n_arguments: how many arguments it has.
      further: an equation and the number of its result, for the values below arguments.
      divisors: the last operands of equations whose costs depend on these; None where
        it is a literal.
      made_of_one: what is known of equations for `fusion_counts`.
      results: what the program returns; None for literals.
      calls: by the number of an equation of the program itself what it calls.
      n_calls: how many calls are written out.
    """

    __slots__ = (
        "_numbers",
        "_with_others",
        "calls",
        "costs",
        "divisors",
        "eqns",
        "further",
        "made_of_one",
        "n_arguments",
        "n_calls",
        "of_many",
        "outputs",
        "program",
        "reads",
        "results",
        "several",
        "sizes",
    )

    def __init__(
        self, program: ir.Olympuspr, known: dict[ir.Olympuspr, FlatProgram]
    ) -> None:
        self.program = program
        self.eqns: list[ir.Eqn] = []
        self.costs: list[Cost | None] = []
        self.sizes: list[int] = []
        # Rows are tuples, which the garbage collector soon leaves alone.
        self.reads: list[tuple[int, ...]] = []
        self.outputs: list[tuple[int, ...]] = []
        self.of_many: set[int] = set()
        self.several: dict[int, tuple[int, ...]] = {}
        self.further: list[tuple[int, int]] = []
        self.divisors: dict[int, int | None] = {}
        self.made_of_one: dict[int, bool] = {}
        self.calls: dict[int, FlatProgram] = {}
        self.n_calls = 0
        self._with_others: list[int] | None = None
        inputs = (*program.invars, *program.constvars)
        self.n_arguments = len(inputs)
        self._numbers: dict[Any, int] = {v: ~i for i, v in enumerate(inputs)}
        self._enter(known)
        if self.calls and len(self.eqns) > inlining.MOST_EQUATIONS:
            raise TooLongError
        self.results = list(map(self._numbers.get, program.outvars))
        self._numbers.clear()

    @property
    def size(self) -> int:
        """How many values have numbers."""
        return len(self.eqns) + self.n_arguments + len(self.further)

    @property
    def values(self) -> range:
        """The numbers of values, arguments too."""
        return range(-self.n_arguments - len(self.further), len(self.eqns))

    @property
    def arguments(self) -> range:
        """The numbers of arguments."""
        return range(-self.n_arguments, 0)

    def maker(self, value: int) -> int:
        """The equation that makes a value, which is no argument."""
        return value if value >= 0 else self.place(value)[0]

    def equation(self, value: int) -> ir.Eqn | None:
        """The equation that makes a value, itself; None of arguments."""
        return None if value in self.arguments else self.eqns[self.maker(value)]

    def variable(self, value: int) -> ir.Var:
        """A value, as the program has it that is written out at its place."""
        i, k = self.place(value)
        out: ir.Var = self.eqns[i].outvars[k]
        return out

    def place(self, value: int) -> tuple[int, int]:
        """The equation that makes a value, and the number of its result."""
        return (value, 0) if value >= 0 else self.further[~value - self.n_arguments]

    def list_returned(self) -> list[int]:
        """The values among the results."""
        return [v for v in self.results if v is not None]

    def has_last(self, i: int, is_one: Callable[[int], bool]) -> bool:
        """Whether the last operand of an equation is a literal, or such a value.

        Args:
          i: the equation; its primitive has a `cost_by_spread`.
          is_one: which values are meant.
        """
        last = self.divisors[i]
        return last is None or (last not in self.arguments and is_one(last))

    def _enter(self, known: dict[ir.Olympuspr, FlatProgram]) -> None:
        program, primitives = self.program, ir.primitives_of(self.program)
        kinds = _Kinds(
            all(p.n_operations == 1 for p in primitives),
            any(p.multiple_results for p in primitives),
            any(p.cost_by_spread is not None for p in primitives),
        )
        start = 0
        if any(p.is_call for p in primitives):
            for position, eqn in enumerate(program.eqns):
                inner = inlining.called_program(eqn)
                if inner is not None:
                    self._extend(program.eqns[start:position], kinds)
                    self._call(position, eqn, inner, known)
                    start = position + 1
        self._extend(program.eqns[start:] if start else program.eqns, kinds)

    def _extend(self, eqns: Sequence[ir.Eqn], kinds: _Kinds) -> None:
        """Enters equations that are no calls, of some kinds."""
        # Each program that is lowered comes through here: with few loops in Python.
        n, numbers = len(self.eqns), self._numbers
        self.eqns += eqns
        self.costs += map(_cost, eqns)
        self.sizes += [1] * len(eqns) if kinds.is_one else map(_n_operations, eqns)
        self.outputs += zip(range(n, n + len(eqns)))
        results = list(map(_outvars, eqns))
        lengths = list(map(len, results)) if kinds.of_several else ()
        if lengths and lengths.count(1) < len(lengths):
            numbers.update({row[0]: i for i, row in enumerate(results, n) if row})
            for i in [i for i, length in enumerate(lengths) if length != 1]:
                self._enter_results(i + n, results[i])
        else:
            numbers.update(zip(map(_first, results), itertools.count(n)))
        operands = list(map(_invars, eqns))
        self.reads += [
            tuple([numbers[v] for v in row if v in numbers]) for row in operands
        ]
        if max(map(len, operands), default=0) > MOST_PARTS:
            rows = enumerate(operands, n)
            self.of_many.update([i for i, row in rows if len(row) > MOST_PARTS])
        if kinds.depend_on_last:
            for i, cost in enumerate(map(_cost_by_spread, eqns)):
                if cost is not None:
                    self.divisors[i + n] = numbers.get(operands[i][-1])

    def _enter_results(self, i: int, results: Sequence[Any]) -> None:
        """Enters the results of an equation that has several, or none."""
        row = [i] if results else []
        for k in range(1, len(results)):
            self.further.append((i, k))
            row.append(-self.n_arguments - len(self.further))
        self._numbers.update(zip(results, row, strict=True))
        self.outputs[i] = self.several[i] = tuple(row)

    def _call(
        self,
        position: int,
        eqn: ir.Eqn,
        inner: ir.Olympuspr,
        known: dict[ir.Olympuspr, FlatProgram],
    ) -> None:
        """Enters what an equation calls."""
        flat = self.calls[position] = _number_program(inner, known)
        self.n_calls += 1 + flat.n_calls
        n, n_own = len(self.eqns), flat.n_arguments
        if n + len(flat.eqns) > inlining.MOST_EQUATIONS:
            raise TooLongError
        # Of further results.
        down = self.n_arguments + len(self.further) - n_own
        operands = list(map(self._numbers.get, eqn.invars))

        def move(x: int | None) -> int | None:
            if x is None:
                return None
            if x >= 0:
                return x + n
            return operands[~x] if ~x < n_own else x - down

        self.eqns += flat.eqns
        self.costs += flat.costs
        self.sizes += flat.sizes
        self.further += [(i + n, k) for i, k in flat.further]
        self.of_many.update([i + n for i in flat.of_many])
        self.outputs += zip(range(n, n + len(flat.eqns)))
        for i, outs in flat.several.items():
            row = tuple([x + n if x >= 0 else x - down for x in outs])
            self.outputs[i + n] = self.several[i + n] = row
        self.reads += (
            [tuple([x + n for x in row]) for row in flat.reads] if n else flat.reads
        )
        for i in flat.with_others():
            moved = [y for x in flat.reads[i] if (y := move(x)) is not None]
            self.reads[i + n] = tuple(moved)
        for i, last in flat.divisors.items():
            self.divisors[i + n] = move(last)
        self._numbers.update(
            [
                (v, x)
                for v, x in zip(eqn.outvars, map(move, flat.results), strict=True)
                if x is not None
            ]
        )

    def with_others(self) -> list[int]:
        """The equations that read arguments, or further results of others."""
        if self._with_others is None:
            rows = enumerate(self.reads)
            self._with_others = [i for i, row in rows if row and min(row) < 0]
        return self._with_others


def _number_program(
    program: ir.Olympuspr, known: dict[ir.Olympuspr, FlatProgram]
) -> FlatProgram:
    """The numbers of a program.

    Args:
      program: the program.
      known: takes them, and those of what it calls.

    Raises:
      TooLongError: it has calls, and too many equations.
    """
    if program not in known:
        known[program] = FlatProgram(program, known)
    return known[program]


def write_out(
    program: ir.Olympuspr, known: dict[ir.Olympuspr, FlatProgram] | None = None
) -> FlatProgram | None:
    """The numbers of a program; None if it is too long with its calls written out.

    Args:
      program: the program.
      known: programs that others call, written out; takes those that are not there.
    """
    try:
        return _number_program(program, {} if known is None else known)
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
    for v in itertools.chain(*flat.reads, flat.list_returned()):
        counts[v] += 1
    return counts
