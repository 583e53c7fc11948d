"""How rematerialization passes through calls, branches and loops.

Each function is the field `split` of one operation. It takes the splitter (see
`remat.splitting`), an equation and which of its results are needed again. It splits the
programs inside by the same policy, lets them return what they keep, and adds an
equation of the same kind to what runs again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.programs import branch_slots, inner_programs
from olympus._src.programs.scan_operands import Parts


def _select(items: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    return [x for x, f in zip(items, flags, strict=True) if f]


def call(splitter: Any, eqn: ir.Eqn, hit: Sequence[bool]) -> None:
    """A program applied as one equation: both parts are calls."""
    program = ir.hoist_consts(eqn.params["jaxpr"].olympuspr)
    inner = splitter.inner(program, hit)
    again, inputs = inner.again()
    stand_ins, new, outs = _hand_on(inner, program.outvars, eqn.outvars, lambda a: a)
    _run_once(splitter, eqn, program, inner.once, stand_ins, new)
    operands = stand_ins + _select(eqn.invars, inputs)
    params = {
        **eqn.params,
        "jaxpr": ir.ClosedOlympuspr(again),
        "donated_invars": (False,) * len(operands),
    }
    splitter.run_again(
        eqn.replace(
            invars=operands,
            outvars=_select(outs, hit),
            params=params,
            effects=again.effects,
        )
    )


def _hand_on(
    inner: Any, results: Sequence[Any], outer: Sequence[Any], aval: Any
) -> tuple[list[Any], list[tuple[Any, Any]], list[Any]]:
    """The outer variables of the values that an inner program keeps.

    Args:
      inner: the program's parts.
      results: its outputs.
      outer: the variables of its equation that they are given to.
      aval: the type outside of a value of a type inside.

    Returns:
      A variable for each value; pairs of those that are new and the values inside; and
      the results for the part that runs again, which gives none that is kept.
    """
    known = {v: o for v, o in zip(results, outer, strict=True) if type(v) is ir.Var}
    stand_ins, new = [], []
    for v in inner.kept:
        if v in known:
            stand_ins.append(known[v])
        else:
            stand_ins.append(ir.Var(aval(v.aval)))
            new.append((stand_ins[-1], v))
    stand_in_set = set(stand_ins)
    return stand_ins, new, [ir.Var(o.aval) if o in stand_in_set else o for o in outer]


def _run_once(
    splitter: Any,
    eqn: ir.Eqn,
    program: ir.Olympuspr,
    eqns: Sequence[ir.Eqn],
    stand_ins: Sequence[Any],
    new: Sequence[tuple[Any, Any]],
) -> None:
    """Keeps the equation that runs once, with what it has to keep as more results."""
    for v in stand_ins:
        splitter.keep(v, v)
    once = program.replace(
        eqns=eqns,
        outvars=program.outvars + [k for _, k in new],
        debug_info=inner_programs.forget_argument_names(program.debug_info),
    )
    splitter.once.append(
        eqn.replace(
            outvars=eqn.outvars + [v for v, _ in new],
            params={**eqn.params, "jaxpr": ir.ClosedOlympuspr(once)},
        )
    )


def scan(splitter: Any, eqn: ir.Eqn, hit: Sequence[bool]) -> None:
    """What a step keeps is stacked, and a second loop makes the rest."""
    params = eqn.params
    body, n_carry = params["jaxpr"].olympuspr, params["num_carry"]
    carried = list(hit[:n_carry])
    while True:  # until no more of the carry is needed in the second loop
        inner = splitter.inner(body, [*carried, *hit[n_carry:]])
        again, flags = inner.again()
        inputs = Parts(flags, params)
        if not any(f and not c for f, c in zip(inputs.carry, carried, strict=True)):
            break
        carried = [f or c for f, c in zip(inputs.carry, carried, strict=True)]
    stand_ins, new, outs = _hand_on(
        inner,
        body.outvars[n_carry:],
        eqn.outvars[n_carry:],
        lambda aval: aval.with_leading_axis(params["length"]),
    )
    _run_once(splitter, eqn, body, inner.once, stand_ins, new)
    operands = Parts(eqn.invars, params)
    ys = _select(outs, hit[n_carry:])
    last = [
        o if h else ir.Var(o.aval)
        for o, h, c in zip(eqn.outvars, hit, carried, strict=False)
        if c
    ]
    again = _with_carry(again, len(stand_ins), body.invars, inputs, carried, params)
    splitter.run_again(
        eqn.replace(
            invars=[
                *_select(operands.consts, inputs.consts),
                *_select(operands.carry, carried),
                *_select(operands.xs, inputs.xs),
                *stand_ins,
            ],
            outvars=last + ys,
            params={
                **params,
                "jaxpr": ir.ClosedOlympuspr(again),
                "num_consts": sum(inputs.consts),
                "num_carry": sum(carried),
            },
            effects=again.effects,
        )
    )


def _with_carry(
    again: ir.Olympuspr,
    n_kept: int,
    invars: Sequence[Any],
    inputs: Parts,
    carried: Sequence[bool],
    params: Any,
) -> ir.Olympuspr:
    """The second loop's body, its inputs in the order of a scan: kept values last."""
    kept_vars, n_consts = again.invars[:n_kept], sum(inputs.consts)
    others = again.invars[n_kept:]
    used = iter(others[n_consts : n_consts + sum(inputs.carry)])
    carry = [
        next(used) if f else ir.Var(v.aval)
        for v, f, c in zip(
            Parts(invars, params).carry, inputs.carry, carried, strict=True
        )
        if c
    ]
    rows = others[n_consts + sum(inputs.carry) :]
    return again.replace(invars=[*others[:n_consts], *carry, *rows, *kept_vars])


def cond(splitter: Any, eqn: ir.Eqn, hit: Sequence[bool]) -> None:
    """What the chosen branch keeps is passed in slots that branches share."""
    branches = eqn.params["branches"]
    if splitter.keeps(eqn) or any(b.consts for b in branches):
        splitter.visit_whole(eqn, hit)
        return
    inner = [splitter.inner(b.olympuspr, hit) for b in branches]
    slots, places = branch_slots.shared_slots([i.kept for i in inner])
    stand_ins = [ir.Var(aval) for aval in slots]
    for v in stand_ins:
        splitter.keep(v, v)
    once, again = [], []
    for branch, parts, at in zip(branches, inner, places, strict=True):
        program = branch.olympuspr
        first = program.replace(eqns=parts.once, outvars=program.outvars + parts.kept)
        once.append(
            branch_slots.with_slots(
                ir.ClosedOlympuspr(first), len(program.outvars), slots, at
            )
        )
        again.append(ir.ClosedOlympuspr(_from_slots(parts.again_of_all(), slots, at)))
    splitter.once.append(
        eqn.replace(
            outvars=eqn.outvars + stand_ins,
            params={**eqn.params, "branches": tuple(once)},
        )
    )
    splitter.run_again(
        eqn.replace(
            invars=[eqn.invars[0], *stand_ins, *eqn.invars[1:]],
            outvars=_select(eqn.outvars, hit),
            params={**eqn.params, "branches": tuple(again)},
        )
    )


def _from_slots(
    again: ir.Olympuspr, slots: Sequence[Any], at: Sequence[int]
) -> ir.Olympuspr:
    """A branch that takes all slots in place of what it keeps itself."""
    own = dict(zip(at, again.invars, strict=False))
    slot_vars = [own[i] if i in own else ir.Var(aval) for i, aval in enumerate(slots)]
    return again.replace(invars=slot_vars + again.invars[len(at) :])
