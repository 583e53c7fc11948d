"""A bound of the operations of fused programs, which most programs are within."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from olympus._src.core import ir
from olympus._src.core.primitive import Cost
from olympus._src.interpreters.flat_programs import FlatProgram

# Made of the same element, by arithmetic or on its bits.
PLAIN = (Cost.CHEAP, Cost.BITS)
# More operations in one fused program than XLA takes without harm.
LARGEST = 2400


def find_within(flat: FlatProgram, budgets: Mapping[bool, float]) -> Collection[bool]:
    """Within which budgets a bound of the operations is.

    Of the values that `fusion_counts` keeps it keeps those of which nothing but their
    readers need be known. The operations of others are counted once for each reader, so
    at least as often as where they are kept too.

    Args:
      flat: the program.
      budgets: by whether sums make again what they read.

    Returns:
      Those that are known; if not the first, none.
    """
    # One loop over local names: each program that is lowered comes through here.
    budget, of_many = budgets[False], flat.of_many
    # Operations that make a value of kept ones, and where sums make values again; the
    # same of what is not kept, and of what is kept by sums alone; 0 of other values.
    sizes, wide_sizes = [0] * flat.size, [0] * flat.size
    added, wide_added = sizes.copy(), sizes.copy()
    kept = mark_returned(flat)
    roots = bytearray(flat.size)
    total = wide_total = 0  # operations that make roots
    rows = zip(flat.costs, flat.sizes, flat.reads, flat.outputs, strict=True)
    for i, (cost, size, read, outputs) in enumerate(rows):
        if cost is None or i in of_many:  # which may be kept as parts
            for v in read:
                if not roots[v]:
                    roots[v] = 1
                    total += sizes[v]
                    wide_total += wide_sizes[v]
            if total > budget:
                return ()
        if cost is None:
            fuses = flat.eqns[i].primitive.fuses_operands
            for v in read:
                if wide_added[v] and not is_made_of_one(flat, v):
                    added[v] = 0
                    if not fuses:
                        wide_added[v] = 0
            continue
        wide_size = size
        for v in read:
            size += added[v]
            wide_size += wide_added[v]
        if wide_size > LARGEST:
            return ()
        for v in outputs:
            sizes[v] = size
            wide_sizes[v] = wide_size
            if not kept[v]:
                added[v] = size
                wide_added[v] = wide_size
    for v in set(flat.list_returned()):
        if not roots[v]:
            total += sizes[v]
            wide_total += wide_sizes[v]
    totals = {False: total, True: wide_total}
    return [kind for kind, most in budgets.items() if totals[kind] <= most]


def mark_returned(flat: FlatProgram) -> bytearray:
    """1 for each value that the program returns, 0 for the others."""
    marks = bytearray(flat.size)
    for v in flat.list_returned():
        marks[v] = 1
    return marks


def is_made_of_one(flat: FlatProgram, value: int) -> bool:
    """Whether a value is cheap, and made of one array of its size at most.

    XLA makes it again where it is read next though it is there, as an array that an
    operation reads which is not fused: reading it is no less than reading what it is
    made of. So is each step of `x = x + f(x.sum(1))`.

    Args:
      flat: the program.
      value: the value, which is no argument.
    """
    i = value if value >= 0 else flat.maker(value)
    if flat.costs[i] not in PLAIN:
        return False
    known = flat.made_of_one.get(i)
    if known is None:
        known = flat.made_of_one[i] = _count_wide(flat, i) < 2
    return known


def _count_wide(flat: FlatProgram, i: int) -> int:
    """How many arrays an equation reads, without those of one value for many."""
    n = count_arrays(flat.eqns[i])
    if n > 1:
        for v in flat.reads[i]:
            maker = flat.equation(v)
            if maker is not None and maker.primitive.cost is Cost.SPREAD:
                n -= bool(maker.outvars[0].aval.shape)
    return n


def count_arrays(eqn: ir.Eqn) -> int:
    """How many operands of an equation are arrays of one axis at least."""
    n, literal = 0, ir.Literal
    for x in eqn.invars:
        if type(x) is not literal and x.aval.shape:
            n += 1
    return n
