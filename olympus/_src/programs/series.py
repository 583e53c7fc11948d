"""How power series pass through calls, branches and loops.

Each function is the field `taylor` of one operation: it replaces the programs that the
operation holds by programs of series. A series that is carried by a loop has all its
terms as soon as it has one. See `interpreters.taylor`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import ir
from olympus._src.core.primitive import takes_primitive
from olympus._src.interpreters import taylor
from olympus._src.lax import families
from olympus._src.programs import functions, inner_programs
from olympus._src.programs.scan_operands import Parts

Series = taylor.Series


@takes_primitive
def call(p: Any, series: list[Series], *, jaxpr: Any, **params: Any) -> Any:
    """A program applied as one equation."""
    closed = jaxpr
    if isinstance(closed, ir.Olympuspr):
        closed = closed.derived("closed", ir.ClosedOlympuspr)
    patterns = tuple(map(taylor.pattern_of, series))
    program, patterns_out = taylor.jet_olympuspr(closed, patterns)
    program, consts = inner_programs.absorb(program)
    operands = [*consts, *taylor.flat(series)]
    if "donated_invars" in params:
        params["donated_invars"] = (False,) * len(operands)
    if isinstance(params.get("prevent_cse"), tuple):
        params["prevent_cse"] = any(params["prevent_cse"])
    inner = program if closed is jaxpr else program.olympuspr
    outs = p.bind(*operands, jaxpr=inner, **params)
    return taylor.unflatten(outs, patterns_out, jaxpr.out_avals)


def function(series: list[Series], *, call_jaxpr: Any, **params: Any) -> Any:
    """A function with a rule for cotangents, which has no rule for series."""
    order = len(series[0]) - 1
    return taylor.jet(functools.partial(_run, call_jaxpr), series, order)


def _run(call: Any, *args: Any) -> Any:
    return functions.run(call, args)


@takes_primitive
def cond(p: Any, series: list[Series], *, branches: Any) -> Any:
    """Every branch returns the terms that some branch has."""
    index, *operands = series
    patterns = tuple(map(taylor.pattern_of, operands))
    out_patterns = [taylor.jet_olympuspr(b, patterns)[1] for b in branches]
    force = tuple(
        tuple(map(any, zip(*column, strict=True)))
        for column in zip(*out_patterns, strict=True)
    )
    jets = [taylor.jet_olympuspr(b, patterns, force)[0] for b in branches]
    closed, consts = inner_programs.share_consts(
        [(j.olympuspr, j.consts) for j in jets]
    )
    values = [*consts, *taylor.flat(operands)]
    outs = p.bind(index[0], *values, branches=tuple(closed))
    return taylor.unflatten(outs, force, branches[0].out_avals)


def _whole(flags: Sequence[bool], order: int) -> list[taylor.Pattern]:
    """For each flag all the terms or none."""
    return [(flag,) * order for flag in flags]


def _fill_terms(series: Sequence[Series], nonzero: Sequence[bool]) -> list[Any]:
    """The terms of the nonzero series, as values."""
    return [
        families.instantiate(c)
        for s, m in zip(series, nonzero, strict=True)
        if m
        for c in s[1:]
    ]


def _settle_carry(
    body: Any, before: list[bool], carry: list[bool], after: list[bool], order: int
) -> tuple[Any, list[taylor.Pattern], list[bool]]:
    """The body of series, once it is known which carries move.

    Args:
      body: takes constants, carries and more; returns carries and more.
      before, carry, after: which of these inputs move.
      order: how many terms a series has.

    Returns:
      The program, the patterns of its results, and which carries move.
    """
    n_more = len(body.out_avals) - len(carry)
    while True:
        patterns = tuple(_whole([*before, *carry, *after], order))
        force = tuple(_whole([*carry, *[False] * n_more], order))
        program, out_patterns = taylor.jet_olympuspr(body, patterns, force)
        grown = [any(f) for f in out_patterns[: len(carry)]]
        if grown == carry:
            return program, out_patterns, carry
        carry = [a or b for a, b in zip(grown, carry, strict=True)]


def _group_inputs(
    program: ir.Olympuspr, n_consts: int, inputs: Sequence[int], terms: Sequence[int]
) -> ir.Olympuspr:
    """Inputs in the order of a loop: each group's first coefficients, then its terms.

    Args:
      program: takes constants, first coefficients of all groups, terms of all groups.
      n_consts: how many constants.
      inputs: how many first coefficients each group has.
      terms: how many terms each group has.
    """
    invars = program.invars
    order = list(invars[:n_consts])
    first, term = n_consts, n_consts + sum(inputs)
    for n, m in zip(inputs, terms, strict=True):
        order += invars[first : first + n] + invars[term : term + m]
        first, term = first + n, term + m
    return program.replace(
        invars=order,
        debug_info=inner_programs.forget_argument_names(program.debug_info),
    )


@takes_primitive
def scan(p: Any, series: list[Series], **params: Any) -> Any:
    """The terms of carries are carries, and those of slices are slices."""
    body, order = params["jaxpr"], len(series[0]) - 1
    parts = Parts(series, params)
    moves = Parts([taylor.is_nonzero(s) for s in series], params)
    program, out_patterns, moves.carry = _settle_carry(
        body, moves.consts, moves.carry, moves.xs, order
    )
    program, consts = inner_programs.absorb(program)
    groups = (
        (parts.consts, moves.consts),
        (parts.carry, moves.carry),
        (parts.xs, moves.xs),
    )
    operands = list(consts)
    for some, flags in groups:
        operands += [s[0] for s in some] + _fill_terms(some, flags)
    n_terms = [order * sum(flags) for _, flags in groups]
    n_inputs = [len(some) for some, _ in groups]
    inner = _group_inputs(program.olympuspr, len(consts), n_inputs, n_terms)
    n, n_out = n_inputs[1], len(body.out_avals)
    # Results: carries and their terms first, then outputs and theirs.
    n_carry = n + n_terms[1]
    outvars = inner.outvars
    outvars = [
        *outvars[:n],
        *outvars[n_out : n_out + n_terms[1]],
        *outvars[n:n_out],
        *outvars[n_out + n_terms[1] :],
    ]
    outs = p.bind(
        *operands,
        **{
            **params,
            "jaxpr": ir.ClosedOlympuspr(inner.replace(outvars=outvars)),
            "num_consts": len(consts) + n_inputs[0] + n_terms[0],
            "num_carry": n_carry,
        },
    )
    out_avals = [avals_.aval_of(x) for x in outs]
    carry = taylor.unflatten(outs[:n_carry], out_patterns[:n], out_avals)
    ys = taylor.unflatten(outs[n_carry:], out_patterns[n:], out_avals[n_carry:])
    return carry + ys


@takes_primitive
def while_loop(p: Any, series: list[Series], **params: Any) -> Any:
    """The terms of carries are carries that the condition does not see."""
    body, test = params["body_jaxpr"], params["cond_jaxpr"]
    order, n, m = len(series[0]) - 1, params["cond_nconsts"], params["body_nconsts"]
    test_consts, body_consts, carry = series[:n], series[n : n + m], series[n + m :]
    const_moves = [taylor.is_nonzero(s) for s in body_consts]
    moves = [taylor.is_nonzero(s) for s in carry]
    program, out_patterns, moves = _settle_carry(body, const_moves, moves, [], order)
    program, consts = inner_programs.absorb(program)
    n_terms = [order * sum(const_moves), order * sum(moves)]
    inner = _group_inputs(program.olympuspr, len(consts), [m, len(carry)], n_terms)
    terms = _fill_terms(carry, moves)
    tests = test.olympuspr.replace(
        invars=[*test.olympuspr.invars, *[ir.Var(avals_.aval_of(x)) for x in terms]],
        debug_info=inner_programs.forget_argument_names(test.olympuspr.debug_info),
    )
    outs = p.bind(
        *[s[0] for s in test_consts],
        *consts,
        *[s[0] for s in body_consts],
        *_fill_terms(body_consts, const_moves),
        *[s[0] for s in carry],
        *terms,
        cond_jaxpr=ir.ClosedOlympuspr(tests, test.consts),
        cond_nconsts=n,
        body_jaxpr=ir.ClosedOlympuspr(inner),
        body_nconsts=len(consts) + m + n_terms[0],
    )
    return taylor.unflatten(outs, out_patterns, body.out_avals)
