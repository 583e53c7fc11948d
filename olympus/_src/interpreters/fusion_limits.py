"""Limits of fusion: programs in which the compiler would compute values many times.

XLA's CPU compiler fuses a cheap value into each operation that reads
it, and computes it there again. A chain of steps, each of which reads the last one at
several places, is then written out again in every step: thirty steps of a stencil ran
twenty times slower so than step by step, and the gradient of sixteen steps of an ODE
compiled for forty seconds. A fused program of some thousands of operations blows up by
itself.

`limit` counts what fusion would write, in the way in which it decides. Where this is
several times the program it marks the values to be kept, by `optimization_barrier`.
Results of arithmetic in floats of eight bits and less are always kept: the compiler
writes each such operation with conversions that read their operand many times.
Other programs stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from olympus._src.core import dtypes, ir
from olympus._src.core.primitive import Cost
from olympus._src.interpreters import (
    cipher_limits,
    equal_cuts,
    inlining,
    kept_values,
)
from olympus._src.lax.barriers import optimization_barrier_p

# By name: files of the others load when a program has them.
_CUTTING = frozenset(("slice", "dynamic_slice"))
_EXPENSIVE, _SPREAD = Cost.EXPENSIVE, Cost.SPREAD
# Each reads another element of its operand, so each repeats the work.
_MOVES = (Cost.MOVE, _SPREAD)
# Made of the same element, by arithmetic or on its bits.
_PLAIN = (Cost.CHEAP, Cost.BITS)
# What converts floats of eight bits to others and back.
_CONVERTING = (Cost.CHEAP, _EXPENSIVE)

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
# More operations in one fused program than XLA takes without harm.
_LARGEST = 2400
# Different elements of a value that one fused program makes before XLA keeps it.
_MOST_ELEMENTS = 16
# Parts that XLA joins in the fused program that makes them.
_MOST_PARTS = 8
# Operations that may be made again for each reader; and that may be fused at all.
_AGAIN, _TOGETHER = 8, 100


def limit(
    program: ir.Olympuspr,
    platform: str,
    in_bodies: bool = True,
    is_divided: bool = False,
    is_body: bool = False,
) -> ir.Olympuspr:
    """The program, with barriers where fusion would repeat its work many times.

    Args:
      program: what will be lowered.
      platform: what for; only 'cpu' fuses so.
      in_bodies: whether bodies of loops and branches may hold barriers.
      is_divided: whether the compiler divides it over devices, by the axes of arrays:
        random numbers keep theirs then.
      is_body: whether it is the body of a loop or a branch.

    Returns:
      The same object where nothing is to be marked.
    """
    if platform != "cpu":
        return program
    return program.derived(
        ("fusion limits", in_bodies, is_divided, is_body),
        lambda p: _limit_fusions(p, in_bodies, is_divided, is_body),
    )


def count_barriers(program: ir.Olympuspr) -> int:
    """How many barriers a program has, and what it calls; each that is called once."""
    programs = map(ir.primitives_of, inlining.called_programs(program))
    return sum(counts.get(optimization_barrier_p, 0) for counts in programs)


def _limit_fusions(
    program: ir.Olympuspr, in_bodies: bool, is_divided: bool, is_body: bool
) -> ir.Olympuspr:
    if in_bodies:
        program = ir.map_subprograms(
            program,
            lambda inner: limit(inner, "cpu", is_divided=is_divided, is_body=True),
        )
    inlined = inlining.inline(program)
    if inlined is None:
        return program
    is_cut = any(p.name in _CUTTING for p in ir.primitives_of(inlined.program))
    if is_cut and not (is_divided or is_body):
        inlined = inlined.splice(equal_cuts.find_changes(inlined.program))
    inlined = _keep_in_any_case(inlined, in_bodies, is_divided, is_body)
    sums_repeat = _find_repeated_work(inlined.program)
    if sums_repeat is None:
        return inlined.source
    return inlined.keep(_find_repeated(inlined.program, sums_repeat))


def _keep_in_any_case(
    inlined: inlining.Inlined, in_bodies: bool, is_divided: bool, is_body: bool
) -> inlining.Inlined:
    """What is kept whatever fusion repeats; calls are written out where that is any."""
    source, program = inlined.source, inlined.program
    if ir.has_operation(source, "kept"):
        program = kept_values.keep_marked(program)
    if any(map(_has_narrow, inlining.called_programs(source))):
        program = _keep_narrow(program)
    if not is_divided and ir.has_operation(source, "kept", "threefry2x32"):
        if not in_bodies:
            program = ir.map_subprograms(program, _limit_body)
        if ir.has_operation(source, "threefry2x32"):
            program = cipher_limits.keep_apart(
                program, since_011=in_bodies, is_body=is_body
            )
    if program is inlined.program:
        return inlined
    return inlining.Inlined(program, program, {})


def _limit_body(program: ir.Olympuspr) -> ir.Olympuspr:
    """A body that may hold no barriers, with calls in their place behind ciphers."""
    return program.derived("ciphers apart", _call_ciphers)


def _call_ciphers(program: ir.Olympuspr) -> ir.Olympuspr:
    if not ir.has_operation(program, "kept", "threefry2x32"):
        return program
    inlined = inlining.inline(program)
    if inlined is None:
        return program
    flat = inlined.program
    apart = ir.map_subprograms(flat, _limit_body)
    if ir.has_operation(program, "kept"):
        apart = kept_values.keep_marked(apart, by_calls=True)
    if ir.has_operation(program, "threefry2x32"):
        apart = cipher_limits.keep_apart(apart, by_calls=True, since_011=False)
    return program if apart is flat else apart


# -- narrow floats ---------------------------------------------------------------------


def _keep_narrow(program: ir.Olympuspr) -> ir.Olympuspr:
    """The program with barriers behind arithmetic in floats of eight bits or less.

    From jaxlib 0.11 on, three such operations in a row compile for a minute.
    """
    converting = [eqn for eqn in program.eqns if eqn.primitive.cost in _CONVERTING]
    # Arithmetic that makes floats which it converts each time.
    narrow = {
        v for eqn in converting for v in eqn.outvars if _is_narrow(eqn.outvars[0].aval)
    }
    if not narrow:
        return program
    for eqn in program.eqns:
        if eqn.primitive is optimization_barrier_p:  # what a call's body has kept
            narrow.difference_update([v for v in eqn.invars if type(v) is ir.Var])
    kept = {
        eqn: eqn.outvars for eqn in program.eqns if not narrow.isdisjoint(eqn.outvars)
    }
    return inlining.write_barriers(program, kept) if kept else program


def _has_narrow(program: ir.Olympuspr) -> bool:
    return any(map(_is_narrow, ir.result_types(program)))


def _is_narrow(aval: Any) -> bool:
    """Whether a type is of floats of eight bits or less."""
    dtype = getattr(aval, "dtype", None)
    if dtype is None or dtype.itemsize != 1:
        return False
    return bool(dtypes.issubdtype(dtype, np.floating))


# -- what fusion would write -----------------------------------------------------------


class _Fusion:
    """Which values a fused program starts from, as XLA would choose them.

    Attributes:
      makers: the equation of each value that an equation makes.
      n_readers: how often each value is read.
      apart: values that are read in several fused programs.
      kept: values that are results of fused programs, or of operations never fused.
      repeated: values that are results of fused programs, and made again all the same.
      spread: values that are one number for many elements; None: it counts not.
      sizes: operations that make a value of kept ones, counted for each way to it.
    """

    def __init__(
        self,
        program: ir.Olympuspr,
        n_readers: Mapping[Any, int],
        sums_repeat: bool = False,
    ) -> None:
        self.makers: dict[Any, ir.Eqn] = {}
        self.n_readers = n_readers
        self.spread = _find_spread(program) if sums_repeat else None
        self._closed = _find_closed(program, n_readers)
        self.apart = _read_apart(program, n_readers, self.spread, self._closed)
        self.kept = {v for v in program.outvars if type(v) is not ir.Literal}
        self.repeated: set[Any] = set()
        self.sizes: dict[Any, int] = {}
        self._rows: dict[Any, tuple[int, int | None, list[Any]]] = {}
        joined = self._enter(program.eqns, sums_repeat)
        self._keep_joined(joined)

    def roots(self) -> list[Any]:
        """The results of fused programs."""
        return [v for v in self.kept | self.repeated if v in self.sizes]

    def _enter(self, eqns: Sequence[ir.Eqn], sums_repeat: bool) -> list[ir.Eqn]:
        """Notes makers, sizes and what is kept; the equations that read many parts."""
        # One loop over local names: each program that is lowered comes through here.
        makers, n_readers, kept = self.makers, self.n_readers, self.kept
        sizes, literal, apart = self.sizes, ir.Literal, self.apart
        spread, closed = self.spread, self._closed
        expensive: set[Any] = set()  # values with an expensive operation on their way
        joined: list[ir.Eqn] = []
        for eqn in eqns:
            cost = eqn.primitive.cost
            inputs = eqn.invars
            if cost is None:
                fuses = sums_repeat and eqn.primitive.fuses_operands
                for v in inputs:
                    if type(v) is not literal and v not in kept:
                        is_repeated = fuses or _is_made_of_one(v, makers)
                        (self.repeated if is_repeated else kept).add(v)
                for out in eqn.outvars:
                    makers[out] = eqn
                    kept.add(out)
                continue
            if cost is _EXPENSIVE:
                cost = _cost(eqn, spread)
            if len(inputs) > _MOST_PARTS:
                joined.append(eqn)
            costly: tuple[Any, ...] = ()
            size = eqn.primitive.n_operations
            for v in inputs:
                if v in sizes:  # neither a literal, nor an argument
                    if v not in kept:
                        size += sizes[v]
                    if v in expensive:
                        costly = (*costly, v)
            for out in eqn.outvars:
                makers[out] = eqn
                sizes[out] = size
                if cost is _EXPENSIVE:
                    is_once = n_readers.get(out, 0) < 2 or out in closed
                    (expensive if is_once else kept).add(out)
                elif out not in apart:
                    if costly:
                        expensive.add(out)
                else:  # it is made again for each reader, and what was costly is not
                    kept.update(costly)
        return joined

    def _keep_joined(self, eqns: Sequence[ir.Eqn]) -> None:
        """Keeps the parts of arrays that are kept and joined of many parts.

        XLA copies such parts into the array: it makes each by a fused program of its
        own, and what several parts are made of in each of them.
        """
        for eqn in eqns:
            if eqn.primitive.cost in _MOVES and eqn.outvars[0] in self.kept:
                self.kept.update(v for v in eqn.invars if type(v) is not ir.Literal)

    def count(self, root: Any, budget: float) -> int:
        """Operations of the fused program that makes one value; stops above a budget.

        A value and the element of it that is made, known by the moves that lead there,
        are written once.
        """
        # Which are made of each value: one, or a set of several.
        elements: dict[Any, Any] = {root: 0}
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

    def _row_of(self, value: Any) -> tuple[int, int | None, list[Any]]:
        """What `count` needs to know of a value and of what only it is made of.

        Of a value that is read once the same elements are made as of its reader.

        Returns:
          How many operations these are; what tells the value's equation from others, if
          it moves elements; and which values they read that are made in the program.
        """
        makers, kept, n_readers = self.makers, self.kept, self.n_readers
        eqn = makers[value]
        mover = id(eqn) if eqn.primitive.cost in _MOVES else None
        n, fused, todo = eqn.primitive.n_operations, [], [eqn]
        for eqn in todo:
            for v in eqn.invars:
                if v in kept or v not in makers:
                    continue
                maker = makers[v]
                p = maker.primitive
                if n_readers[v] == 1 and p.cost not in _MOVES:
                    n += p.n_operations
                    todo.append(maker)
                else:
                    fused.append(v)
        return n, mover, fused


def _is_made_of_one(v: Any, makers: Mapping[Any, ir.Eqn]) -> bool:
    """Whether a cheap value is made of one array of its size at most.

    XLA makes it again where it is read next though it is there, as an array that an
    operation reads which is not fused: reading it is no less than reading what it is
    made of. So is each step of `x = x + f(x.sum(1))`.
    """
    maker = makers.get(v)
    if maker is None or maker.primitive.cost not in _PLAIN:
        return False
    wide = 0
    for x in maker.invars:
        if type(x) is not ir.Literal and x.aval.shape:
            source = makers.get(x)
            wide += source is None or source.primitive.cost is not _SPREAD
    return wide < 2


def _find_spread(program: ir.Olympuspr) -> set[Any]:
    """Values that are one number for many elements."""
    spreads = [eqn for eqn in program.eqns if eqn.primitive.cost is _SPREAD]
    return {v for eqn in spreads for v in eqn.outvars}


def _cost(eqn: ir.Eqn, spread: set[Any] | None) -> Cost | None:
    """The cost of an equation, which what its last operand is may lessen.

    Args:
      eqn: the equation.
      spread: values that are one number for many elements; None where that counts not.
    """
    lessened = eqn.primitive.cost_by_spread
    if lessened is None or spread is None:
        return eqn.primitive.cost
    last = eqn.invars[-1]
    is_one = type(last) is ir.Literal or last in spread
    is_float = dtypes.issubdtype(eqn.outvars[0].aval.dtype, np.floating)
    return lessened if is_one and is_float else eqn.primitive.cost


def _read_apart(
    program: ir.Olympuspr,
    n_readers: Mapping[Any, int],
    spread: set[Any] | None,
    closed: set[Any],
) -> set[Any]:
    """Values that are read in several fused programs, or by one that is written twice.

    What reads a value at several places may come together in one fused program, as
    `sin(x) * c + x` does: there the value is made once.
    """
    # The fused program that reads a value, by its result. Literals may be among them.
    places = {v: v for v in program.outvars if type(v) is not ir.Literal}
    apart: set[Any] = set()
    literal = ir.Literal
    for eqn in reversed(program.eqns):
        cost = eqn.primitive.cost
        if cost is None:  # an operation that is not fused reads and makes arrays
            for v in (*eqn.outvars, *eqn.invars):
                places[v] = v  # noqa: PERF403 - slower for the few that there are
            continue
        out = eqn.outvars[0]
        if cost is _EXPENSIVE and _cost(eqn, spread) is _EXPENSIVE:
            several = [v for v in eqn.outvars if n_readers[v] > 1 and v not in closed]
            places.update({v: v for v in several})
            repeated = False
        else:
            repeated = out in apart
        place = places.get(out)
        for v in eqn.invars:
            if type(v) is literal:
                continue
            if place is None:
                places[v] = v
            elif repeated or places.setdefault(v, place) is not place:
                apart.add(v)
    return apart


def _find_closed(program: ir.Olympuspr, n_readers: Mapping[Any, int]) -> set[Any]:
    """Expensive values that a few cheap operations make one value of, and of no other.

    These are fused, and then read the value once: it is made there, as the rest of a
    division is with the choice of its sign.
    """
    closed: set[Any] = set()
    eqns = program.eqns
    for i, eqn in enumerate(eqns):
        if eqn.primitive.cost is not _EXPENSIVE:
            continue
        out, n = eqn.outvars[0], n_readers.get(eqn.outvars[0], 0)
        if n < 2 or not out.aval.shape or len(eqn.outvars) > 1:
            continue
        if _closes(out, n, eqns[i + 1 : i + 1 + _NEAR], n_readers):
            closed.add(out)
    return closed


def _closes(
    v: Any, n: int, eqns: Sequence[ir.Eqn], n_readers: Mapping[Any, int]
) -> bool:
    """Whether equations make one value of a value alone, and nothing else reads it.

    Args:
      v: the value.
      n: how often it is read.
      eqns: some that follow it.
      n_readers: how often each value is read.
    """
    group = {v}
    for eqn in eqns:
        arrays = [x for x in eqn.invars if type(x) is not ir.Literal and x.aval.shape]
        read = sum(x in group for x in arrays)
        if not read:
            continue
        n -= read
        if eqn.primitive.cost not in _PLAIN or read < len(arrays):
            return False
        if n == 0:
            return True
        group.update(eqn.outvars)
        n += n_readers.get(eqn.outvars[0], 0)
    return False


def _known_uniform(program: ir.Olympuspr) -> set[Any]:
    """Values whose elements are all one known number, which XLA computes by itself.

    A barrier would keep it from doing so.
    """
    known: set[Any] = program.derived("known uniform", _find_uniform)
    return known


def _find_uniform(program: ir.Olympuspr) -> set[Any]:
    uniform: set[Any] = set()
    literal = ir.Literal
    for eqn in program.eqns:
        inputs = eqn.invars
        for v in inputs:
            if type(v) is not literal and v not in uniform:
                break
        else:
            cost = eqn.primitive.cost
            if (cost in _MOVES and len(inputs) == 1) or (cost in _PLAIN and inputs):
                uniform.update(eqn.outvars)
    return uniform


def _find_repeated_work(program: ir.Olympuspr) -> bool | None:
    """Whether fused programs would be several times as long as the program itself.

    Returns:
      None if they are not; True if they are so by what sums and maxima make again.
      XLA fuses a reduction with what it reads, and makes that again for other readers.
      It divides by what is spread from less at the cost of a multiplication.
    """
    n = _count_operations(program)
    if n < _FEW:
        return None
    if _count_unfused(program) < _UNFUSED:
        budgets: dict[bool, float] = {False: _REPEATS * n + _SLACK}
    else:
        budgets = {
            False: _REPEATS_BETWEEN * n + _SLACK_BETWEEN,
            True: _REPEATS_OF_SUMS * n + _SLACK_OF_SUMS,
        }
    within = _find_within(program, budgets)
    for sums_repeat, budget in budgets.items():
        if sums_repeat not in within and _exceeds(program, budget, sums_repeat):
            return sums_repeat
    return None


def _exceeds(program: ir.Olympuspr, budget: float, sums_repeat: bool) -> bool:
    """Whether there would be more operations, or too many in one fused program."""
    fusion = _Fusion(program, ir.count_readers(program), sums_repeat)
    roots = fusion.roots()
    # Each way counted by itself is the most it can be, and known without counting.
    at_most = [fusion.sizes[v] for v in roots]
    if sum(at_most) <= budget and max(at_most, default=0) <= _LARGEST:
        return False
    uniform = _known_uniform(program)
    fusion.kept |= uniform
    # Those first that may be the longest: a program above the budget shows it soon.
    for root in sorted(roots, key=fusion.sizes.__getitem__, reverse=True):
        if root in uniform:
            continue
        size = fusion.count(root, budget)
        budget -= size
        if budget < 0 or size > _LARGEST:
            return True
    return False


def _find_within(
    program: ir.Olympuspr, budgets: Mapping[bool, float]
) -> Collection[bool]:
    """Within which budgets a bound of the operations is, which is soon known.

    Of the values that `_Fusion` keeps it keeps those of which nothing but their readers
    need be known. The operations of others are counted once for each reader, so at
    least as often as where they are kept too. Most programs are within it.

    Args:
      program: the program.
      budgets: by whether sums make again what they read.

    Returns:
      Those that are known; if not the first, none.
    """
    # One loop over local names: each program that is lowered comes through here.
    budget, literal = budgets[False], ir.Literal
    makers: dict[Any, ir.Eqn] = {}
    # Operations that make a value of kept ones, and where sums make values again.
    sizes: dict[Any, int] = {}
    wide_sizes: dict[Any, int] = {}
    kept: set[Any] = set(program.outvars)  # literals too, which nobody asks for
    kept_by_others = kept.copy()  # than sums
    roots: set[Any] = set()
    total = wide_total = 0  # operations that make roots
    for eqn in program.eqns:
        p, inputs = eqn.primitive, eqn.invars
        is_unfused = p.cost is None
        if is_unfused or len(inputs) > _MOST_PARTS:  # which `_keep_joined` may keep
            for v in inputs:
                if v in sizes and v not in roots:
                    roots.add(v)
                    total += sizes[v]
                    wide_total += wide_sizes[v]
            if total > budget:
                return ()
        if is_unfused:
            for v in inputs:
                if v in sizes and not _is_made_of_one(v, makers):
                    kept.add(v)
                    if not p.fuses_operands:
                        kept_by_others.add(v)
            continue
        size = wide_size = p.n_operations
        for v in inputs:
            if type(v) is not literal and v not in kept_by_others and v in sizes:
                wide_size += wide_sizes[v]
                if v not in kept:
                    size += sizes[v]
        if wide_size > _LARGEST:
            return ()
        for v in eqn.outvars:
            makers[v] = eqn
            sizes[v] = size
            wide_sizes[v] = wide_size
    for v in set(program.outvars) - roots:
        if v in sizes:
            total += sizes[v]
            wide_total += wide_sizes[v]
    totals = {False: total, True: wide_total}
    return [kind for kind, most in budgets.items() if totals[kind] <= most]


def _count_operations(program: ir.Olympuspr) -> int:
    counts = ir.primitives_of(program)
    return sum(p.n_operations * n for p, n in counts.items())


def _count_unfused(program: ir.Olympuspr) -> int:
    counts = ir.primitives_of(program)
    return sum(n for p, n in counts.items() if p.cost is None)


def _find_repeated(program: ir.Olympuspr, sums_repeat: bool) -> dict[ir.Eqn, list[Any]]:
    """Values that would be made again too often, by the equations that make them.

    So is what is read several times and has an expensive operation on its way: XLA
    keeps one of the values on that way, which one depends on what is around it.

    Args:
      program: one without calls.
      sums_repeat: whether sums make again what they read.
    """
    n_readers = ir.count_readers(program)
    spread = _find_spread(program) if sums_repeat else None
    uniform = _known_uniform(program)
    sizes: dict[Any, int] = {}  # operations that make a value of kept ones
    expensive: set[Any] = set()
    repeated: dict[ir.Eqn, list[Any]] = {}
    for eqn in program.eqns:
        cost = eqn.primitive.cost
        if cost is _EXPENSIVE:
            cost = _cost(eqn, spread)
        if cost is None:
            continue
        size, costly = eqn.primitive.n_operations, cost is _EXPENSIVE
        for v in eqn.invars:
            if v in sizes:  # neither a literal, nor an argument, nor kept
                size += sizes[v]
                if v in expensive:
                    costly = True
        for v in eqn.outvars:
            again = n_readers.get(v, 0) > 1
            if again and cost is _EXPENSIVE:
                continue  # kept anyway
            if (again and (costly or size > _AGAIN)) or size > _TOGETHER:
                if v not in uniform:
                    repeated.setdefault(eqn, []).append(v)
                continue
            sizes[v] = size
            if costly:
                expensive.add(v)
    return repeated
