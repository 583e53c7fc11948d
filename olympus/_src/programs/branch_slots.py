"""The residuals of branches: values in slots, one for each type, which they share.

Only one of the branches runs, so each fills the slots with its own residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import families
from olympus._src.programs import inner_programs


def shared_slots(kept: Sequence[Sequence[Any]]) -> tuple[list[Any], list[list[int]]]:
    """Types of the slots, and the slot of each value that a branch keeps."""
    slots: list[Any] = []
    places = []
    for values in kept:
        free = list(range(len(slots)))
        at = []
        for v in values:
            aval = v.aval
            i = next((i for i in free if slots[i] is aval), None)
            if i is None:
                i = len(slots)
                slots.append(aval)
            else:
                free.remove(i)
            at.append(i)
        places.append(at)
    return slots, places


def with_slots(
    closed: ir.ClosedOlympuspr, n: int, slots: Sequence[Any], at: Sequence[int]
) -> ir.ClosedOlympuspr:
    """The branch, returning a value for each slot after its results."""

    def run(*args: Any) -> list[Any]:
        outs = ir.eval_olympuspr(closed.olympuspr, (), *args)
        own = dict(zip(at, outs[n:], strict=True))
        return outs[:n] + [
            own[i] if i in own else families.instantiate(Zero(aval))
            for i, aval in enumerate(slots)
        ]

    return trace_branch(run, closed.in_avals, closed)


def trace_branch(
    run: Callable[..., list[Any]], in_avals: Sequence[Any], closed: ir.ClosedOlympuspr
) -> ir.ClosedOlympuspr:
    """A branch that a derivative makes of another one, as a program."""
    return inner_programs.retrace(run, in_avals, closed, "differentiation", "cond")
