"""Programs with calls written out, as XLA does with them, and with barriers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from olympus._src.core import ir, scopes
from olympus._src.lax.barriers import optimization_barrier_p

MOST_EQUATIONS = 100_000
_new = object.__new__


def called_program(eqn: ir.Eqn) -> ir.Olympuspr | None:
    """What an equation calls, if XLA sees the equations of that in its place."""
    if not eqn.primitive.is_call:  # as most are not
        return None
    if eqn.effects or "metadata" in eqn.params:
        return None
    inner = eqn.params["jaxpr"]
    return None if inner.consts else inner.olympuspr


def called_programs(program: ir.Olympuspr) -> Collection[ir.Olympuspr]:
    """A program and those that it calls, each of them once."""
    programs: dict[ir.Olympuspr, None] = {}
    _collect_called(program, programs)
    return programs


def _collect_called(program: ir.Olympuspr, programs: dict[ir.Olympuspr, None]) -> None:
    if program in programs:
        return
    programs[program] = None
    if _has_calls(program):
        for eqn in program.eqns:
            inner = called_program(eqn)
            if inner is not None:
                _collect_called(inner, programs)


def inline(program: ir.Olympuspr) -> ir.Olympuspr | None:
    """A program with calls replaced by what they call.

    Returns:
      The same object where there are none; None where it would be too long. Equations
      of the program are in it as they are, unless they read the result of a call.
    """
    if not _has_calls(program):
        return program
    eqns: list[ir.Eqn] = []
    values: dict[Any, Any] = {}
    is_called = False
    for eqn in program.eqns:
        inner = called_program(eqn)
        inputs = eqn.invars
        if not values.keys().isdisjoint(inputs):
            inputs = [_read(values, v) for v in inputs]
            eqn = eqn if inner is not None else eqn.replace(invars=inputs)
        if inner is None:
            eqns.append(eqn)
            continue
        is_called = True
        outs = _write_out(inner, inputs, eqn.scope, eqns)
        if outs is None:
            return None
        values.update(zip(eqn.outvars, outs, strict=True))
    if not is_called:
        return program
    if len(eqns) > MOST_EQUATIONS:
        return None
    outvars = [_read(values, v) for v in program.outvars]
    return program.replace(eqns=eqns, outvars=outvars, effects=program.effects)


def _has_calls(program: ir.Olympuspr) -> bool:
    return any(p.is_call for p in ir.primitives_of(program))


def _write_out(
    program: ir.Olympuspr,
    operands: Sequence[Any],
    scope: scopes.Scope,
    eqns: list[ir.Eqn],
) -> Sequence[Any] | None:
    """Appends what a program does, with values of its own.

    Args:
      program: what is called.
      operands: of the call.
      scope: in which the call is.
      eqns: takes the equations.

    Returns:
      The results of the call; None where there are too many equations.
    """
    # Each equation of each call comes through here: what is made is filled in without
    # calls of `__init__`.
    values: dict[Any, Any] = dict(zip(program.invars, operands, strict=True))
    literal, new_eqn = ir.Literal, ir.Eqn
    for eqn in program.eqns:
        inputs = [v if type(v) is literal else values[v] for v in eqn.invars]
        own_scope = scope + eqn.scope if eqn.scope else scope
        inner = called_program(eqn)
        if inner is not None:
            outs = _write_out(inner, inputs, own_scope, eqns)
            if outs is None:
                return None
            values.update(zip(eqn.outvars, outs, strict=True))
            continue
        outvars = []
        for v in eqn.outvars:
            values[v] = out = _new(type(v))
            out.aval = v.aval
            outvars.append(out)
        written = _new(new_eqn)
        written.primitive, written.params = eqn.primitive, eqn.params
        written.invars, written.outvars = inputs, outvars
        written.effects, written.source = eqn.effects, eqn.source
        written.scope = own_scope
        eqns.append(written)
    if len(eqns) > MOST_EQUATIONS:
        return None
    return [_read(values, v) for v in program.outvars]


def _read(values: Mapping[Any, Any], v: Any) -> Any:
    return v if type(v) is ir.Literal else values.get(v, v)


def splice(
    program: ir.Olympuspr, changes: Mapping[ir.Eqn, Sequence[ir.Eqn]]
) -> ir.Olympuspr:
    """A program with some equations replaced by others that give their results.

    The same object where there are none.
    """
    if not changes:
        return program
    eqns: list[ir.Eqn] = []
    for eqn in program.eqns:
        if eqn in changes:
            eqns += changes[eqn]
        else:
            eqns.append(eqn)
    return program.replace(eqns=eqns, effects=program.effects)


# -- barriers --------------------------------------------------------------------------


def write_barriers(
    program: ir.Olympuspr,
    kept: Mapping[ir.Eqn, Sequence[Any]],
    changed: Mapping[ir.Eqn, ir.Olympuspr] | None = None,
) -> ir.Olympuspr:
    """A program with barriers behind some results of equations.

    Args:
      program: any program.
      kept: which results, by their equations.
      changed: what some of its equations call now, if any do.
    """
    replacements: dict[Any, Any] = {}
    reads_none_of = replacements.keys().isdisjoint
    barriers: list[ir.Eqn] = []
    eqns: list[ir.Eqn] = []
    for eqn in program.eqns:
        written = eqn
        if not reads_none_of(eqn.invars):
            written = eqn.replace(invars=[_read(replacements, v) for v in eqn.invars])
        if changed and eqn in changed:
            params = {**eqn.params, "jaxpr": ir.ClosedOlympuspr(changed[eqn])}
            written = written.replace(params=params)
        eqns.append(written)
        if eqn in kept:
            barriers.append(_barrier(kept[eqn], eqn, replacements))
            eqns.append(barriers[-1])
    outvars = [_read(replacements, v) for v in program.outvars]
    apart = program.replace(eqns=eqns, outvars=outvars, effects=program.effects)
    ir.inherit_result_types(apart, program)
    ir.inherit_primitives(apart, program, added=barriers)
    return ir.inherit_programs(apart, program)


def _barrier(
    values: Sequence[Any], eqn: ir.Eqn, replacements: dict[Any, Any]
) -> ir.Eqn:
    """The equation that keeps values, to be read under new names."""
    outs = [ir.Var(v.aval) for v in values]
    replacements.update(zip(values, outs, strict=True))
    return ir.Eqn(
        optimization_barrier_p,
        list(values),
        outs,
        {},
        source=eqn.source,
        scope=eqn.scope,
    )
