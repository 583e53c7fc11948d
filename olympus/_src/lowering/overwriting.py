"""Values that must be kept apart from those that are written over them.

XLA's CPU compiler writes an update into the memory of its operand, while it computes
it. Where the update is computed from elements of that operand it must look whether
these are overwritten before they are read. It does not see so where the operand is
the reshaped result of another operation, of which the update reads elements: as of a
cumulative sum or of taken elements, which it computes with one more axis of size 1.
Then `c.at[1:].set(c[:-1])` repeats the first element (jaxlib 0.10 to 0.12). So it is
where the result is reshaped, as updates of a scatter are, since XLA reshapes operand
and update instead. Barriers behind the operand and the result keep reshapes away from
the update. The operand may also come from outside of a function or a loop that XLA
inlines, so inputs are held as well; and what is computed twice is one value for XLA,
so it is one here.
"""

from __future__ import annotations

from typing import Any

from olympus._src.core import ir
from olympus._src.foundation import caching


def variables_to_hold(program: ir.Olympuspr) -> dict[Any, Any]:
    """The variables that a program overwrites by what it computes from them.

    Returns:
      For each of them itself, and for each that equals one of them that one: they stand
      for one value, of which XLA computes one as well.
    """
    return program.derived("variables to hold", _find)


def _find(program: ir.Olympuspr) -> dict[Any, Any]:
    if not any(p.overwrites for p in ir.primitives_of(program)):
        return {}
    makers: dict[Any, ir.Eqn] = {v: eqn for eqn in program.eqns for v in eqn.outvars}
    same = _representatives(program)
    held: set[Any] = set()
    for eqn in program.eqns:
        if not eqn.primitive.overwrites:
            continue
        operand, update = eqn.invars[:2]
        maker = makers.get(operand) if type(operand) is ir.Var else None
        if type(operand) is ir.Literal or (maker and maker.primitive.overwrites):
            continue  # a result in memory of its own
        if _depends(update, operand, makers, same):
            held.update((same.get(operand, operand), eqn.outvars[0]))
    return {v: v for v in held} | {v: w for v, w in same.items() if w in held}


def _representatives(program: ir.Olympuspr) -> dict[Any, Any]:
    """For each result the first of equal ones, which XLA computes once."""
    same: dict[Any, Any] = {}
    first: dict[Any, Any] = {}
    for eqn in program.eqns:
        if eqn.effects:
            continue
        inputs = tuple(
            [same.get(v, v) if type(v) is ir.Var else _number(v) for v in eqn.invars]
        )
        try:
            params = [(name, caching.exact(x)) for name, x in eqn.params.items()]
            key = (eqn.primitive, inputs, tuple(params))
            known = first.setdefault(key, eqn.outvars)
        except TypeError:  # a parameter without a hash
            continue
        if known is not eqn.outvars:
            same.update(zip(eqn.outvars, known, strict=True))
    return same


def _number(literal: ir.Literal) -> Any:
    return str(literal.val), literal.aval


def _depends(v: Any, on: Any, makers: dict[Any, ir.Eqn], same: dict[Any, Any]) -> bool:
    """Whether a value is computed from another one, or from one that equals it."""
    target = same.get(on, on)
    pending, seen = [v], set()
    while pending:
        v = pending.pop()
        if type(v) is not ir.Var or v in seen:
            continue
        seen.add(v)
        if same.get(v, v) is target:
            return True
        if v in makers:
            pending += makers[v].invars
    return False
