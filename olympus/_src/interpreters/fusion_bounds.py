"""A bound of the operations of fused programs, which most programs are within."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.core.primitive import Cost
from olympus._src.interpreters.flat_programs import MOST_PARTS, FlatProgram

# Made of the same element, by arithmetic or on its bits.
PLAIN = (Cost.CHEAP, Cost.BITS)
# More operations in one fused program than XLA takes without harm.
LARGEST = 2400

_invars, _outvars = operator.attrgetter("invars"), operator.attrgetter("outvars")


def find_within(
    program: ir.Olympuspr | FlatProgram, budgets: Mapping[bool, float]
) -> Collection[bool]:
    """Within which budgets a bound of the operations is.

    Of the values that `fusion_counts` keeps it keeps those of which nothing but their
    readers need be known. The operations of others are counted once for each reader, so
    at least as often as where they are kept too.

    Args:
      program: one without calls, or with calls written out.
      budgets: by whether sums make again what they read.

    Returns:
      Those that are known; if not the first, none.
    """
    # One loop over local names: each program that is lowered comes through here.
    budget, literal = budgets[False], ir.Literal
    rows, results, operands = _rows(program)
    makers: dict[Any, ir.Eqn] = {}
    # Operations that make a value of kept ones, and where sums make values again.
    sizes: dict[Any, int] = {}
    wide_sizes: dict[Any, int] = {}
    kept: set[Any] = set(results)  # literals too, which nobody asks for
    kept_by_others = kept.copy()  # than sums
    roots: set[Any] = set()
    total = wide_total = 0  # operations that make roots
    for eqn, inputs, outputs in rows:
        p = eqn.primitive
        is_unfused = p.cost is None
        if is_unfused or len(eqn.invars) > MOST_PARTS:  # which may be kept as parts
            for v in inputs:
                if v in sizes and v not in roots:
                    roots.add(v)
                    total += sizes[v]
                    wide_total += wide_sizes[v]
            if total > budget:
                return ()
        if is_unfused:
            for v in inputs:
                if v not in sizes:
                    continue
                maker = makers[v]
                if not is_made_of_one(maker, operands(v, maker), makers.get):
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
        if wide_size > LARGEST:
            return ()
        for v in outputs:
            makers[v] = eqn
            sizes[v] = size
            wide_sizes[v] = wide_size
    for v in set(results) - roots:
        if v in sizes:
            total += sizes[v]
            wide_total += wide_sizes[v]
    totals = {False: total, True: wide_total}
    return [kind for kind, most in budgets.items() if totals[kind] <= most]


def _rows(
    program: ir.Olympuspr | FlatProgram,
) -> tuple[
    Iterable[tuple[ir.Eqn, Sequence[Any], Sequence[Any]]],
    Sequence[Any],
    Callable[[Any, ir.Eqn], Sequence[Any]],
]:
    """A program by variables, or by numbers of values.

    Returns:
      Each equation with what it reads and makes; the results; and what gives the
      operands of the equation that makes a value.
    """
    eqns = program.eqns
    if isinstance(program, ir.Olympuspr):
        rows = zip(eqns, map(_invars, eqns), map(_outvars, eqns), strict=True)
        return rows, program.outvars, lambda _, eqn: eqn.invars
    flat = program
    rows_of_numbers = zip(eqns, flat.reads, flat.outputs, strict=True)
    return rows_of_numbers, flat.results, lambda v, _: flat.reads[flat.maker(v)]


def is_made_of_one(
    eqn: ir.Eqn, operands: Sequence[Any], maker: Callable[[Any], ir.Eqn | None]
) -> bool:
    """Whether a value is cheap, and made of one array of its size at most.

    XLA makes it again where it is read next though it is there, as an array that an
    operation reads which is not fused: reading it is no less than reading what it is
    made of. So is each step of `x = x + f(x.sum(1))`.

    Args:
      eqn: what makes it.
      operands: what that reads.
      maker: gives what makes an operand, if an equation does.
    """
    if eqn.primitive.cost not in PLAIN:
        return False
    wide = count_arrays(eqn)
    for x in operands if wide > 1 else ():
        source = maker(x)
        if source is not None and source.primitive.cost is Cost.SPREAD:
            wide -= bool(source.outvars[0].aval.shape)
    return wide < 2


def count_arrays(eqn: ir.Eqn) -> int:
    """How many operands of an equation are arrays of one axis at least."""
    n, literal = 0, ir.Literal
    for x in eqn.invars:
        if type(x) is not literal and x.aval.shape:
            n += 1
    return n
