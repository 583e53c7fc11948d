"""Derivatives of `cond`: of each branch, with common operands and results.

Linearising runs the chosen branch once. Of what the branches' derivatives need, the
operands are available; the rest is passed in slots, one for each type, which the
branches share: only one of them runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.control_flow.scan_derivatives import (
    instantiate_flagged,
    nonzero_flags,
    with_zeros,
)
from olympus._src.core import ir, trace
from olympus._src.core.primitive import takes_primitive
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.interpreters import ad, residuals
from olympus._src.programs import branch_slots, inner_programs


def _any(rows: Sequence[Sequence[bool]]) -> list[bool]:
    return [any(column) for column in zip(*rows, strict=True)]


def _nonzero_outputs(branches: Sequence[Any], flags: Sequence[bool]) -> list[bool]:
    """Which results have a tangent in some branch."""
    return _any([_jvp_branch(b, flags, ())[1] for b in branches])


def _jvp_branch(
    branch: Any, flags: Sequence[bool], nonzero_outs: Sequence[bool]
) -> Any:
    key = ("jvp", tuple(flags), tuple(nonzero_outs))
    return branch.olympuspr.derived(
        key, lambda p: ad.jvp_olympuspr(p, flags, nonzero_outs)
    )


def _share_consts(closed: Sequence[ir.ClosedOlympuspr]) -> Any:
    """The branches with one list of constants as first inputs, and the constants."""
    branches, consts = inner_programs.share_consts(
        [(c.olympuspr, c.consts) for c in closed]
    )
    return tuple(branches), consts


@takes_primitive
def jvp(p: Any, primals: Any, tangents: Any, *, branches: Any) -> Any:
    """The rule of `cond_p.jvp`."""
    index, *operands = primals
    flags = nonzero_flags(tangents[1:])
    nonzero_outs = _nonzero_outputs(branches, flags)
    closed, consts = _share_consts(
        [_jvp_branch(b, flags, nonzero_outs)[0] for b in branches]
    )
    slopes = instantiate_flagged(tangents[1:], flags)
    outs = p.bind(index, *consts, *operands, *slopes, branches=closed)
    n = len(nonzero_outs)
    return outs[:n], with_zeros(iter(outs[n:]), nonzero_outs, branches[0].out_avals)


# -- linearisation ---------------------------------------------------------------------


@takes_primitive
def linearize(p: Any, primals: Any, tangents: Any, *, branches: Any) -> Any:
    """The rule of `cond_p.linearize`."""
    index, *operands = primals
    flags = nonzero_flags(tangents[1:])
    if any(ir.is_high(b.olympuspr) for b in branches):
        # Operations of users may have rules for reverse mode only.
        zeros = [_linearize_branch(b, flags, ())[2] for b in branches]
        nonzero_outs = _any([[z is None for z in row] for row in zeros])
    else:
        nonzero_outs = _nonzero_outputs(branches, flags)
    split = [_linearize_branch(b, flags, nonzero_outs) for b in branches]
    n = len(nonzero_outs)
    forwards, consts = _share_consts([forward for forward, _, _ in split])
    operands = [*consts, *operands]
    pairs = [residuals.forward_sources(f, n) for f in forwards]
    direct = sorted(set().union(*(source.inputs for _, source in pairs)))
    slots, places = branch_slots.shared_slots([source.outputs for _, source in pairs])
    new = [
        branch_slots.with_slots(f, n, slots, at)
        for (f, _), at in zip(pairs, places, strict=True)
    ]
    outs = p.bind(index, *operands, branches=tuple(new))
    linear = tuple(
        _from_slots(t, direct, slots, at, source, f.in_avals)
        for (_, t, _), at, (f, source) in zip(split, places, pairs, strict=True)
    )
    linear_operands = [operands[i] for i in direct] + outs[n:]
    slopes = instantiate_flagged(tangents[1:], flags)

    def apply() -> list[Any]:
        out_tangents = p.bind(index, *linear_operands, *slopes, branches=linear)
        return with_zeros(iter(out_tangents), nonzero_outs, branches[0].out_avals)

    return outs[:n], apply


def _linearize_branch(
    branch: Any, flags: Sequence[bool], nonzero_outs: Sequence[bool]
) -> Any:
    for_tangents = trace.current.pushes_forward
    return branch.olympuspr.derived(
        ("linearized", tuple(flags), tuple(nonzero_outs), for_tangents),
        lambda program: ad.linearize_olympuspr(program, flags, nonzero_outs),
    )


def _from_slots(
    closed: ir.ClosedOlympuspr,
    direct: Sequence[int],
    slots: Sequence[Any],
    at: Sequence[int],
    source: residuals.Source,
    operands: Sequence[Any],
) -> ir.ClosedOlympuspr:
    """The linear branch, taking operands and all slots in place of what it keeps.

    Args:
      closed: takes what the branch keeps, and tangents.
      direct: which of the operands come first.
      slots: types of the slots.
      at: the slots of the values that the branch makes.
      found: where the branch has what it keeps.
      operands: types of the operands.
    """
    n, n_direct = len(slots), len(direct)

    def run(*args: Any) -> list[Any]:
        inputs = dict(zip(direct, args, strict=False))
        computed = [args[n_direct + i] for i in at]
        own = source.find(inputs, computed)
        return ir.eval_olympuspr(closed.olympuspr, (), *own, *args[n_direct + n :])

    in_avals = [operands[i] for i in direct] + [*slots]
    return branch_slots.trace_branch(
        run, in_avals + closed.in_avals[source.count :], closed
    )


# -- transposition ---------------------------------------------------------------------


@takes_primitive
def transpose(p: Any, cts: Any, index: Any, *operands: Any, branches: Any) -> Any:
    """The rule of `cond_p.transpose`."""
    linear = [type(x) is Linear for x in operands]
    nonzero = nonzero_flags(cts)

    def transposed(branch: Any, required: Sequence[bool]) -> Any:
        key = ("transposed", tuple(linear), tuple(nonzero), tuple(required))
        return branch.olympuspr.derived(
            key, lambda q: ad.transpose_olympuspr(q, linear, nonzero, required)
        )

    in_nonzero = _any([transposed(b, ())[1] for b in branches])
    closed, consts = _share_consts([transposed(b, in_nonzero)[0] for b in branches])
    known = [x for x in operands if type(x) is not Linear]
    outs = iter(
        p.bind(
            index, *consts, *known, *instantiate_flagged(cts, nonzero), branches=closed
        )
    )
    flags = iter(in_nonzero)
    return [
        None,
        *[
            (next(outs) if next(flags) else Zero(x.aval)) if type(x) is Linear else None
            for x in operands
        ],
    ]
