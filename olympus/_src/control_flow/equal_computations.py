"""Computations on numbers that are traced again in each call outside of traces.

A reduction by a user's function traces it in each call: what it closes over may have
changed. Computations that are operation for operation equal are given as one program,
by which caches know what was compiled for it.
"""

from __future__ import annotations

from typing import Any

from olympus._src.core import ir
from olympus._src.core.primitive import is_told_by_value, keep_program
from olympus._src.foundation import caching

_LONGEST = 16  # equations of a computation that is kept
_MOST = 256

_programs: dict[Any, Any] = {}


def find_equal(program: Any) -> Any:
    """The closed program that stands for all that equal one without constants."""
    try:
        key = _key(program) if len(program.eqns) <= _LONGEST else None
        known = None if key is None else _programs.get(key)
    except TypeError:  # a parameter that has no hash
        key = known = None
    if known is not None:
        return known
    if key is None or len(_programs) >= _MOST:
        return ir.ClosedOlympuspr(program)
    eqns = [eqn.replace(source=None, scope=()) for eqn in program.eqns]
    kept = ir.ClosedOlympuspr(program.replace(eqns=eqns))
    return keep_program(_programs.setdefault(key, kept))


def _key(program: Any) -> Any:
    """All that a program does; None if it holds what is not told by its value."""
    numbers = {v: i for i, v in enumerate(program.invars)}

    def name(v: Any) -> Any:
        return (caching.exact(v.val), v.aval) if type(v) is ir.Literal else numbers[v]

    rows = []
    for eqn in program.eqns:
        if eqn.effects or not all(map(is_told_by_value, eqn.params.values())):
            return None
        operands = tuple(map(name, eqn.invars))
        numbers.update({v: len(numbers) + i for i, v in enumerate(eqn.outvars)})
        params = [(field, caching.exact(x)) for field, x in eqn.params.items()]
        rows.append((eqn.primitive, operands, tuple(params), *_avals(eqn.outvars)))
    return *_avals(program.invars), tuple(rows), tuple(map(name, program.outvars))


def _avals(variables: Any) -> list[Any]:
    return [v.aval for v in variables]
