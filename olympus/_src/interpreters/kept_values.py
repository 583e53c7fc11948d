"""Values that are kept in memory: by barriers, or by calls the compiler does not merge.

XLA's CPU compiler fuses a value into each operation that reads it, and makes it there
again for each element that is read. What many elements of one result are made of is
made as often; rewriting marks such values, by `kept_p`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.interpreters import partial_eval
from olympus._src.lax.barriers import optimization_barrier_p
from olympus._src.lax.separate_calls import kept_p, separate_call_p

# Fewer elements are made in no time.
_FEWEST = 64


def keep_marked(program: ir.Olympuspr, *, by_calls: bool = False) -> ir.Olympuspr:
    """The program, with barriers where values are marked to be kept.

    Args:
      program: one without calls.
      by_calls: write calls that the compiler does not merge, in place of barriers; for
        bodies of loops that may hold none.

    Returns:
      The same object where none is marked.
    """
    if kept_p not in ir.primitives_of(program):
        return program
    eqns = []
    for eqn in program.eqns:
        if eqn.primitive is kept_p:
            eqn = barrier(eqn.invars[0], eqn.outvars[0], eqn)
        eqns.append(eqn)
    marked = program.replace(eqns=eqns)
    return call_apart(marked, program) if by_calls else marked


def barrier(v: Any, out: Any, eqn: ir.Eqn) -> ir.Eqn:
    """The equation that keeps a value, to be read as `out`.

    Args:
      v: the value.
      out: the same, kept.
      eqn: the line of this one is the barrier's.
    """
    return ir.Eqn(
        optimization_barrier_p, [v], [out], {}, source=eqn.source, scope=eqn.scope
    )


def call_apart(program: ir.Olympuspr, before: ir.Olympuspr) -> ir.Olympuspr:
    """The program, with calls that make what barriers would keep.

    Args:
      program: with barriers.
      before: the same before it had them; of its own no barrier is replaced.
    """
    own = set(before.eqns)
    if own.issuperset(program.eqns):
        return program
    eqns: list[ir.Eqn] = []
    for eqn in program.eqns:
        is_new = eqn.primitive is optimization_barrier_p and eqn not in own
        eqns.append(_call_of(eqn, eqns) if is_new else eqn)
    used = [True] * len(program.outvars)
    written = program.replace(eqns=eqns)
    return partial_eval.dce_olympuspr(written, used, instantiate=True)[0]


def _call_of(barrier: ir.Eqn, before: Sequence[ir.Eqn]) -> ir.Eqn:
    """The call of a program that makes the operand of a barrier."""
    (value,) = barrier.invars
    needed: dict[Any, None] = {value: None}
    body: list[ir.Eqn] = []
    for eqn in reversed(before):
        if needed.keys().isdisjoint(eqn.outvars) or not _is_made_again(eqn):
            continue
        body.insert(0, eqn)
        for v in eqn.outvars:
            needed.pop(v, None)
        needed.update((v, None) for v in eqn.invars if type(v) is not ir.Literal)
    operands = list(needed)
    inner = ir.Olympuspr((), operands, [value], body)
    params = {"jaxpr": ir.ClosedOlympuspr(inner)}
    return ir.Eqn(
        separate_call_p,
        operands,
        barrier.outvars,
        params,
        source=barrier.source,
        scope=barrier.scope,
    )


def _is_made_again(eqn: ir.Eqn) -> bool:
    if eqn.primitive.cost is None or eqn.effects:
        return False
    return eqn.outvars[0].aval.size >= _FEWEST
