"""Dead-code elimination of loops with a condition."""

from __future__ import annotations

from typing import Any

from olympus._src.control_flow import scan
from olympus._src.core import ir
from olympus._src.interpreters import partial_eval
from olympus._src.programs.while_operands import Parts


def drop_unused(used: list[bool], eqn: ir.Eqn, before: int = 0) -> Any:
    """Drops what no used result, and not the condition, needs: a loop's `dce` rule.

    Args:
      used: which results are used.
      eqn: the loop; its results are `before` that always stay, the carries, and what
        else the body returns.
      before: how many results precede the carries.
    """
    params = eqn.params
    body, test = params["body_jaxpr"], params["cond_jaxpr"]
    parts = Parts(eqn.invars, params)
    n_test, n_body = len(parts.cond_consts), len(parts.body_consts)
    if test.out_avals[0].shape:
        return [True] * len(eqn.invars), eqn
    end = before + len(parts.carry)
    used_carry, used_rest = used[before:end], used[end:]
    _, in_test = partial_eval.dce_olympuspr(test.olympuspr, [True])
    needed = [a or b for a, b in zip(used_carry, in_test[n_test:], strict=True)]
    small, used_inputs = scan.prune_carries(body.olympuspr, n_body, needed, used_rest)
    needed = used_inputs[n_body:]
    results = [True] * before + needed + used_rest
    small_test, _ = partial_eval.dce_olympuspr(
        test.olympuspr, [True], in_test[:n_test] + needed
    )
    rows = (small, body), (small_test, test)
    if all(partial_eval.is_whole(p, whole.olympuspr) for p, whole in rows):
        return [True] * len(eqn.invars), eqn
    keep = in_test[:n_test] + used_inputs
    new = eqn.replace(
        invars=[v for v, k in zip(eqn.invars, keep, strict=True) if k],
        outvars=[v for v, k in zip(eqn.outvars, results, strict=True) if k],
        params={
            **params,
            "body_jaxpr": ir.ClosedOlympuspr(small, body.consts),
            "body_nconsts": sum(used_inputs[:n_body]),
            "cond_jaxpr": ir.ClosedOlympuspr(small_test, test.consts),
            "cond_nconsts": sum(in_test[:n_test]),
        },
    )
    return keep, new
