"""The residuals of branches: values in slots, one for each type, which they share.

Only one of the branches runs, so each fills the slots with its own residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.core.primitive import Primitive, as_abstract_says
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
            own[i] if i in own else _filler(aval) for i, aval in enumerate(slots)
        ]

    return trace_branch(run, closed.in_avals, closed)


def _filler(aval: Any) -> Any:
    """What a branch puts in a slot that is another branch's."""
    if aval.is_high:
        return unread_value_p.bind(aval=aval)[0]
    return families.instantiate(Zero(aval))


def _unread_to_low(*, aval: Any) -> list[Any]:
    lows = [_filler(low) for low in aval.lo_ty()]
    return [aval.raise_val(*lows)]


unread_value_p = Primitive(
    "unread_value",
    multiple_results=True,
    is_high=True,
    vary=as_abstract_says,
    abstract=lambda *, aval: [aval],
    impl=_unread_to_low,
    to_low=_unread_to_low,
)


def trace_branch(
    run: Callable[..., list[Any]], in_avals: Sequence[Any], closed: ir.ClosedOlympuspr
) -> ir.ClosedOlympuspr:
    """A branch that a derivative makes of another one, as a program."""
    return inner_programs.retrace(run, in_avals, closed, "differentiation", "cond")
