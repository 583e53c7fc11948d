"""What the rules of operations that apply a program have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import partial_eval


def select(items: Any, keep: Sequence[bool]) -> Any:
    """The items of a list or tuple that are flagged, in one of the same kind."""
    return type(items)([x for x, k in zip(items, keep, strict=True) if k])


def nonzero_flags(values: Sequence[Any]) -> tuple[bool, ...]:
    """For each tangent or cotangent whether it is not a Zero."""
    return tuple([type(x) is not Zero for x in values])


def nonzero_values(values: Sequence[Any]) -> list[Any]:
    """The tangents or cotangents that are not a Zero."""
    return [x for x in values if type(x) is not Zero]


def fill_zeros(
    nonzero: Sequence[bool], values: Iterable[Any], avals: Sequence[Any]
) -> list[Any]:
    """A tangent for each result: the values in order where flagged, else a Zero.

    Args:
      nonzero: for each result whether its tangent is among the values.
      values: the tangents that are not zero.
      avals: types of all results.
    """
    remaining = iter(values)
    return [
        next(remaining) if flag else Zero(aval.to_tangent())
        for flag, aval in zip(nonzero, avals, strict=True)
    ]


def drop_unused(
    used: Sequence[bool],
    eqn: ir.Eqn,
    per_operand: Sequence[str],
    per_result: Sequence[str] = (),
) -> Any:
    """The rule `dce`: drops unused results, and then unused operands.

    Args:
      used: for each result whether it is.
      eqn: the equation, with its program as the parameter `olympuspr`.
      per_operand: parameters that have an entry for each operand.
      per_result: parameters that have one for each result.
    """
    closed = eqn.params["jaxpr"]
    # Also where all results are used: loops inside may carry what nobody reads.
    smaller, used_inputs = closed.olympuspr.derived(
        ("dce", tuple(used)), lambda p: partial_eval.dce_olympuspr(p, used)
    )
    if partial_eval.is_whole(smaller, closed.olympuspr):
        return [True] * len(eqn.invars), eqn
    if not smaller.eqns and not smaller.outvars:
        return [False] * len(eqn.invars), None
    params = dict(eqn.params)
    params["jaxpr"] = ir.ClosedOlympuspr(smaller, closed.consts)
    for names, keep in ((per_operand, used_inputs), (per_result, used)):
        for name in names:
            params[name] = select(params[name], keep)
    new = eqn.replace(
        invars=select(eqn.invars, used_inputs),
        outvars=select(eqn.outvars, used),
        params=params,
        effects=smaller.effects,
    )
    return used_inputs, new
