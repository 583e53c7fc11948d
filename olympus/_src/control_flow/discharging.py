"""Loops and branches whose programs use refs, as those of arrays.

What a step writes becomes a carry, which XLA changes in place; what it only reads stays
a constant. Of a ref that is scanned over each step has a row: it takes what the row
holds, and returns what it becomes among the results that are stacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.interpreters import discharge
from olympus._src.interpreters.discharge import Context, Discharged
from olympus._src.programs import inner_programs
from olympus._src.programs.call_rules import select
from olympus._src.programs.scan_operands import Parts
from olympus._src.programs.while_operands import Parts as WhileParts

# -- scan ------------------------------------------------------------------------------


def scan(context: Context, args: Any, *, jaxpr: Any, **params: Any) -> Any:
    """The rule of `scan_p.discharge`."""
    closed, own_consts = inner_programs.absorb(jaxpr)
    context = context.with_consts(own_consts)
    context.check_distinct("scan", closed.olympuspr)
    without = discharge.discharge(closed.olympuspr, context.keeps_rules)
    parts = Parts(args, params)
    consts = [*without.consts, *own_consts, *parts.consts]
    is_written = [i in without.written for i in range(len(consts))]
    kept = [not w for w in is_written]
    n = sum(is_written)
    outs = context.primitive.bind(
        *select(consts, kept),
        *select(consts, is_written),
        *parts.carry,
        *parts.xs,
        jaxpr=ir.ClosedOlympuspr(_carrying(without, len(consts))),
        **{
            **params,
            "num_consts": sum(kept),
            "num_carry": n + params["num_carry"],
        },
    )
    end = len(outs) - (len(without.written) - n)
    last = without.last_of([*outs[:n], *outs[end:]], len(own_consts) + len(args))
    return outs[n:end], last[len(own_consts) :]


def _carrying(without: Discharged, n_consts: int) -> ir.Olympuspr:
    """A step that carries what it writes: `n_consts` first inputs are not carries yet.

    It takes constants, what the written refs hold, and the others; it returns what they
    hold next, its results, and what written rows become.
    """
    program = without.closed.olympuspr
    written = [i for i in without.written if i < n_consts]
    first, others = program.invars[:n_consts], program.invars[n_consts:]
    results, last = without.split(program.outvars)
    return program.replace(
        invars=[
            *[v for i, v in enumerate(first) if i not in written],
            *[first[i] for i in written],
            *others,
        ],
        outvars=[*last[: len(written)], *results, *last[len(written) :]],
        debug_info=inner_programs.forget_argument_names(program.debug_info),
    )


# -- while -----------------------------------------------------------------------------


def while_loop(context: Context, args: Any, before: int = 0, **params: Any) -> Any:
    """The rule of `while_p.discharge`; `before` results precede the carries."""
    parts, names = WhileParts(args, params), WhileParts(context.refs, params)
    test, test_consts = _without_refs(
        context, params["cond_jaxpr"], names.cond_consts, "the condition"
    )
    if test.written:
        raise ValueError(
            "while_loop: cond_fun must not write to a ref, got a write to one of type "
            f"{test.closed.in_avals[test.written[0]].short()}; write in body_fun"
        )
    body, body_consts = _without_refs(
        context, params["body_jaxpr"], names.body_consts, "the body"
    )
    names_of_body = [*[None] * (len(body_consts)), *names.body_consts]
    names_of_test = [*[None] * (len(test_consts)), *names.cond_consts]
    body_operands = [*body_consts, *parts.body_consts]
    test_operands = [*test_consts, *parts.cond_consts]
    written = [names_of_body[i] for i in body.written]
    steady = _carrying(body, len(body_operands))
    goes_on, kept = _reading_carries(
        test, names_of_test, written, [body_operands[i] for i in body.written]
    )
    own = [x for i, x in enumerate(body_operands) if i not in set(body.written)]
    outs = context.primitive.bind(
        *select(test_operands, kept),
        *own,
        *[body_operands[i] for i in body.written],
        *parts.carry,
        **{
            **params,
            "body_jaxpr": ir.ClosedOlympuspr(steady),
            "body_nconsts": len(own),
            "cond_jaxpr": ir.ClosedOlympuspr(goes_on),
            "cond_nconsts": sum(kept),
        },
    )
    n = len(written)
    rows = zip(written, outs[before : before + n], strict=True)
    values = {id(name): x for name, x in rows}
    last = [None if r is None else values.get(id(r)) for r in context.refs]
    return [*outs[:before], *outs[before + n :]], last


def bounded_while(context: Context, args: Any, **params: Any) -> Any:
    """The rule of `bounded_while_p.discharge`, which counts its steps first."""
    return while_loop(context, args, before=1, **params)


def _without_refs(
    context: Context, closed: ir.ClosedOlympuspr, names: Sequence[Any], what: str
) -> tuple[Discharged, list[Any]]:
    """A program of the loop without refs, and values for its new first inputs."""
    absorbed, consts = inner_programs.absorb(closed)
    own = context._replace(refs=[*[None] * len(consts), *names])
    own.check_distinct(f"while_loop, {what}", absorbed.olympuspr)
    without = discharge.discharge(absorbed.olympuspr, context.keeps_rules)
    return without, [*without.consts, *consts]


def _reading_carries(
    test: Discharged, names: Sequence[Any], written: Sequence[Any], values: Any
) -> tuple[ir.Olympuspr, list[bool]]:
    """The condition, which reads refs that the body writes among the carries.

    Returns:
      The program, and which of its constants are still some.
    """
    program = test.closed.olympuspr
    first, carry = program.invars[: len(names)], program.invars[len(names) :]
    carried = {id(r): v for r, v in zip(names, first, strict=True) if r is not None}
    kept = [r is None or not any(r is w for w in written) for r in names]
    more = [
        carried.get(id(w)) or ir.Var(inner_programs.aval_of(x))
        for w, x in zip(written, values, strict=True)
    ]
    info = inner_programs.forget_argument_names(program.debug_info)
    invars = [*select(first, kept), *more, *carry]
    return program.replace(invars=invars, debug_info=info), kept


# -- cond ------------------------------------------------------------------------------


def cond(context: Context, args: Any, *, branches: Any) -> Any:
    """The rule of `cond_p.discharge`: a branch returns all that any of them writes."""
    index, *operands = args
    context = context._replace(refs=context.refs[1:])
    programs, shared = inner_programs.share_consts(
        [(b.olympuspr, b.consts) for b in branches]
    )
    context = context.with_consts(shared)
    without = []
    for branch in programs:
        context.check_distinct("cond", branch.olympuspr)
        without.append(discharge.discharge(branch.olympuspr, context.keeps_rules))
    written = sorted({i - len(w.consts) for w in without for i in w.written})
    complete = [_returning(w, written) for w in without]
    closed, consts = inner_programs.share_consts(
        [
            (_open(program, len(w.consts)), w.consts)
            for program, w in zip(complete, without, strict=True)
        ]
    )
    outs = context.primitive.bind(
        index, *consts, *shared, *operands, branches=tuple(closed)
    )
    n = len(outs) - len(written)
    last: list[Any] = [None] * (len(shared) + len(operands))
    for i, x in zip(written, outs[n:], strict=True):
        last[i] = x
    return outs[:n], [None, *last[len(shared) :]]


def _returning(without: Discharged, written: Sequence[int]) -> ir.Olympuspr:
    """A branch that returns what refs hold, also those that it does not write."""
    program = without.closed.olympuspr
    results, last = without.split(program.outvars)
    n = len(without.consts)
    values = dict(zip(without.written, last, strict=True))
    held = [values.get(i + n, program.invars[i + n]) for i in written]
    return program.replace(outvars=[*results, *held])


def _open(program: ir.Olympuspr, n: int) -> ir.Olympuspr:
    """The program with its first inputs as constants."""
    return program.replace(constvars=program.invars[:n], invars=program.invars[n:])
