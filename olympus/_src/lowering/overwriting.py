"""Values that must be kept apart from those that are written over them.

XLA's CPU compiler writes an update into the memory of its operand, while it computes
it. Where the update is computed from elements of that operand it must look whether
these are overwritten before they are read. It does not see so where the operand is
the reshaped result of another operation, of which the update reads elements: as of a
cumulative sum or of taken elements, which it computes with one more axis of size 1.
Then `c.at[1:].set(c[:-1])` repeats the first element (jaxlib 0.10 to 0.12). A barrier
behind the operand keeps the reshape away from the update.
"""

from __future__ import annotations

from typing import Any

from olympus._src.core import ir


def operands_to_hold(program: ir.Olympuspr) -> frozenset[Any]:
    """The variables that a program overwrites by what it computes from them."""
    return program.derived("operands to hold", _find)


def _find(program: ir.Olympuspr) -> frozenset[Any]:
    places: dict[Any, int] = {}
    held = set()
    for i, eqn in enumerate(program.eqns):
        if eqn.primitive.overwrites:
            operand, update = eqn.invars[:2]
            start = places.get(operand) if type(operand) is ir.Var else None
            if start is None or program.eqns[start].primitive.overwrites:
                pass  # an argument, or a result in its own memory
            elif _depends(program, update, operand, places):
                held.add(operand)
        places.update(dict.fromkeys(eqn.outvars, i))
    return frozenset(held)


def _depends(program: ir.Olympuspr, v: Any, on: Any, places: dict[Any, int]) -> bool:
    """Whether a value is computed from another one."""
    first, pending, seen = places[on], [v], set()
    while pending:
        v = pending.pop()
        if v is on:
            return True
        place = places.get(v, -1) if type(v) is ir.Var else -1
        if place > first and place not in seen:
            seen.add(place)
            pending += program.eqns[place].invars
    return False
