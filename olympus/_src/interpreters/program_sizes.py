"""Small programs, for which the compiler's last optimizations are not worth their time.

LLVM at its highest level unrolls short loops of constant length whole. The code of a
softmax of 32 numbers takes three times as long to build, and runs no faster.
"""

from __future__ import annotations

import math
from typing import Any

from olympus._src.core import ir

# Stencils and sorts of more elements run up to 1.7 times slower at the lower level.
_MOST_ELEMENTS = 16384
# The same in bodies of loops, which run many times.
_MOST_IN_BODIES = 1024
_LOOPS = ("scan", "while")
# The parameter of operations on each element of windows: sums of windows of 7 x 7 run
# 1.5 times slower at the lower level, and compile as long.
_WINDOW = "window_dimensions"


def is_small(program: ir.Olympuspr) -> bool:
    """Whether a program computes on small arrays only, smaller ones within loops.

    Arrays that a loop reads or writes a row at a time may be of any size.
    """
    return bool(program.derived("computes on small arrays", _is_small))


def _is_small(program: ir.Olympuspr) -> bool:
    bodies: list[ir.Olympuspr] = []
    # Bodies add those of the loops within them while they are read.
    return _computes_on(program, _MOST_ELEMENTS, bodies) and all(
        _computes_on(body, _MOST_IN_BODIES, bodies) for body in bodies
    )


def _computes_on(program: ir.Olympuspr, most: int, bodies: list[ir.Olympuspr]) -> bool:
    """Whether no equation reads or writes more elements, but for loops.

    Args:
      program: whose equations, with those of branches and calls.
      most: how many elements.
      bodies: takes the bodies of its loops.
    """
    loops, holders = _equations_with_programs(program)
    plain, types = program.eqns, ir.result_types(program)
    if loops:
        plain = [e for e in program.eqns if e not in loops]
        types = frozenset([v.aval for e in plain for v in e.outvars])
    bodies += [inner for eqn in loops for inner in ir.subprograms(eqn.params)]
    if not all(_has(aval, most) for aval in types):
        return False
    if not all(_reads(e, most) for e in plain if _WINDOW in e.params):
        return False
    sources = [*program.invars, *(v for eqn in loops for v in eqn.outvars)]
    large = {v for v in sources if not _has(v.aval, most)}
    if large and not all(large.isdisjoint(eqn.invars) for eqn in plain):
        return False
    called = [inner for eqn in holders for inner in ir.subprograms(eqn.params)]
    return all(_computes_on(inner, most, bodies) for inner in dict.fromkeys(called))


def _reads(eqn: ir.Eqn, most: int) -> bool:
    """Whether the windows of an equation have no more elements, all together."""
    count = math.prod(eqn.params[_WINDOW])
    if type(count) is not int:
        return False
    return all(_has(v.aval, most // count) for v in eqn.outvars)


def _equations_with_programs(
    program: ir.Olympuspr,
) -> tuple[dict[ir.Eqn, None], list[ir.Eqn]]:
    """The loops, and other equations that have programs in parameters."""
    listed = ir.equations_with_programs(program).values()
    loops = dict.fromkeys([e for e in listed if e.primitive.name in _LOOPS])
    return loops, [eqn for eqn in listed if eqn not in loops]


def _has(aval: Any, most: int) -> bool:
    size = getattr(aval, "size", 0)
    return type(size) is int and size <= most
