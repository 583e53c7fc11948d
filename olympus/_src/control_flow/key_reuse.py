"""How random keys pass through branches and loops.

Each function is the field `key_reuse` of an operation; see `interpreters.key_reuse`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import ir
from olympus._src.interpreters.key_reuse import Uses
from olympus._src.programs.scan_operands import Parts

# Iterations of a loop that are followed one by one.
_MAX_ITERATIONS = 256


def cond(uses: Uses, eqn: ir.Eqn, operands: Sequence[Any]) -> Any:
    """Branches, of which one is applied."""
    return uses.apply_one_of(eqn.params["branches"], operands[1:])


def scan(uses: Uses, eqn: ir.Eqn, operands: Sequence[Any]) -> Any:
    """A step for each row."""
    params = eqn.params
    parts = Parts(operands, params)
    length = params["length"] if isinstance(params["length"], int) else _MAX_ITERATIONS
    n = length if any(x is not None for x in parts.xs) else _iterations(parts.carry)
    n = min(n, length, _MAX_ITERATIONS)
    carry, rows = parts.carry, []
    for i in uses.iterate(n):
        xs = [x[i] if x is not None and x.ndim else None for x in parts.xs]
        xs = [x if x is None else np.asarray(x, object) for x in xs]
        outs = uses.apply(params["jaxpr"], [*parts.consts, *carry, *xs])
        carry = outs[: len(carry)]
        rows.append(outs[len(carry) :])
    if not rows:
        return None
    if n < length:
        return [*carry, *[None] * len(rows[0])]
    if params.get("reverse"):
        rows.reverse()
    return [*carry, *[_stack(column) for column in zip(*rows, strict=True)]]


def _stack(rows: Sequence[Any]) -> Any:
    return None if any(row is None for row in rows) else np.stack(rows)


def _iterations(carry: Sequence[Any]) -> int:
    """Iterations after which keys that are carried have come to all places."""
    return 2 + sum(x.size for x in carry if x is not None)


def while_loop(uses: Uses, eqn: ir.Eqn, operands: Sequence[Any]) -> Any:
    """A condition and a step, in turn."""
    params = eqn.params
    n, m = params["cond_nconsts"], params["body_nconsts"]
    tested, fixed, carry = operands[:n], operands[n : n + m], operands[n + m :]
    for _ in uses.iterate(min(_iterations(carry), _MAX_ITERATIONS)):
        uses.apply(params["cond_jaxpr"], [*tested, *carry])
        outs = uses.apply(params["body_jaxpr"], [*fixed, *carry])
        carry = outs[: len(carry)]
    return carry


def counted_scan(uses: Uses, eqn: ir.Eqn, operands: Sequence[Any]) -> Any:
    """A `scan` that stops when a count, its first operand, is reached."""
    return scan(uses, eqn, operands[1:])


def bounded_while(uses: Uses, eqn: ir.Eqn, operands: Sequence[Any]) -> Any:
    """A `while_loop` whose results follow a count and precede what steps keep."""
    carry = while_loop(uses, eqn, operands)
    return [None, *carry, *[None] * (len(eqn.outvars) - 1 - len(carry))]
