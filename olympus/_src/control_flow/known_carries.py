"""Carries of a loop that depend on nothing that the loop is linear in, as counters.

A loop is transposed as two: one that computes these carries, and one that takes their
values as slices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from olympus._src.core import ir


class KnownCarries(NamedTuple):
    """A loop's body, divided.

    Attributes:
      flags: which carries are known.
      inputs: flags of the inputs that `program` takes.
      program: computes known carries: the new ones, and those that came in.
      remaining: the body, which takes known carries as its last slices and returns no
        new ones.
    """

    flags: tuple[bool, ...]
    inputs: tuple[bool, ...]
    program: ir.ClosedOlympuspr
    remaining: ir.ClosedOlympuspr


def divide(
    body: ir.Olympuspr, linear: Sequence[bool], n_consts: int, n_carry: int
) -> KnownCarries | None:
    """A body with known carries taken out; None where there are none.

    Args:
      body: of a loop.
      linear: flags of its inputs that it is linear in: constants, carries, slices.
      n_consts: how many inputs are constants.
      n_carry: how many are carries.
    """
    carries = slice(n_consts, n_consts + n_carry)
    if all(linear[carries]):
        return None
    flags = list(linear)
    while True:
        dependent = _dependent_variables(body, flags)
        reached = [v in dependent for v in body.outvars[:n_carry]]
        joined = [a or b for a, b in zip(flags[carries], reached, strict=True)]
        if joined == flags[carries]:
            break
        flags[carries] = joined
    if all(joined):
        return None
    known = [not f for f in joined]
    own = [v for v, k in zip(body.invars[carries], known, strict=True) if k]
    new = [v for v, k in zip(body.outvars, known, strict=False) if k]
    program = body.replace(
        invars=[v for v, f in zip(body.invars, flags, strict=True) if not f],
        outvars=[*new, *own],
        eqns=[e for e in body.eqns if dependent.isdisjoint(e.outvars)],
        debug_info=None,
    )
    others = [v for v, k in zip(body.invars[carries], known, strict=True) if not k]
    remaining = body.replace(
        invars=[
            *body.invars[:n_consts],
            *others,
            *body.invars[n_consts + n_carry :],
            *own,
        ],
        outvars=[
            *[v for v, k in zip(body.outvars, known, strict=False) if not k],
            *body.outvars[n_carry:],
        ],
        debug_info=None,
    )
    return KnownCarries(
        tuple(known),
        tuple([not f for f in flags]),
        ir.ClosedOlympuspr(program),
        ir.ClosedOlympuspr(remaining),
    )


def _dependent_variables(body: ir.Olympuspr, flags: Sequence[bool]) -> set[Any]:
    """Variables that depend on flagged inputs."""
    variables = {v for v, f in zip(body.invars, flags, strict=True) if f}
    for eqn in body.eqns:
        if not variables.isdisjoint(eqn.invars):
            variables.update(eqn.outvars)
    return variables
