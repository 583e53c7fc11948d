"""Calls written out, as XLA does with them, and what is decided then written in calls.

A program that is called many times is short while it is called. What is found in the
long program where each call is written out is written back into what is called: calls
in which the same is to be kept go on to share one program.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from olympus._src.core import ir, scopes
from olympus._src.lax.barriers import optimization_barrier_p

_MOST_EQUATIONS = 100_000
_new = object.__new__


class Inlined:
    """A program whose calls are written out.

    Attributes:
      source: the program.
      program: the same without calls; the same object where there are none. Equations
        of the source are in it as they are, unless they read the result of a call.
      calls: the calls in the source, by their equations.
    """

    __slots__ = ("calls", "program", "source")

    def __init__(
        self, source: ir.Olympuspr, program: ir.Olympuspr, calls: Mapping[ir.Eqn, _Call]
    ) -> None:
        self.source = source
        self.program = program
        self.calls = calls

    def splice(self, changes: Mapping[ir.Eqn, Sequence[ir.Eqn]]) -> Inlined:
        """The same, with some equations replaced by others that give their results.

        Calls stay where the source has all of these equations.
        """
        if not changes:
            return self
        program = splice(self.program, changes)
        if not self.calls or not changes.keys() <= set(self.source.eqns):
            return Inlined(program, program, {})
        return Inlined(splice(self.source, changes), program, self.calls)

    def keep(self, kept: Mapping[ir.Eqn, Sequence[Any]]) -> ir.Olympuspr:
        """The source, with barriers behind values of the program without calls.

        Calls of programs that are all called once are written out.

        Args:
          kept: some results of equations of that program, by these equations.
        """
        if _count_calls(self.calls) < len(called_programs(self.source)):
            return write_barriers(self.program, kept)
        values = set(itertools.chain.from_iterable(kept.values()))
        return _keep(self.source, {}, self.calls, values, {})


class _Call:
    """One call.

    Attributes:
      program: what is called.
      values: what stands for each of its values where it is written out.
      calls: the calls in it, by their equations.
    """

    __slots__ = ("calls", "program", "values")

    def __init__(self, program: ir.Olympuspr, inputs: Sequence[Any]) -> None:
        self.program = program
        self.values: dict[Any, Any] = dict(zip(program.invars, inputs, strict=True))
        self.calls: dict[ir.Eqn, _Call] = {}


def _count_calls(calls: Mapping[ir.Eqn, _Call]) -> int:
    return len(calls) + sum(_count_calls(call.calls) for call in calls.values())


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


def inline(program: ir.Olympuspr) -> Inlined | None:
    """A program with calls replaced by what they call; None if that is too long."""
    if not _has_calls(program):
        return Inlined(program, program, {})
    eqns: list[ir.Eqn] = []
    values: dict[Any, Any] = {}
    calls: dict[ir.Eqn, _Call] = {}
    for eqn in program.eqns:
        inner = called_program(eqn)
        if not values.keys().isdisjoint(eqn.invars):
            inputs = [_read(values, v) for v in eqn.invars]
            written = eqn if inner is not None else eqn.replace(invars=inputs)
        else:
            inputs, written = eqn.invars, eqn
        if inner is None:
            eqns.append(written)
            continue
        call = calls[eqn] = _Call(inner, inputs)
        if not _write_out(call, eqn.scope, eqns):
            return None
        outs = [_read(call.values, v) for v in inner.outvars]
        values.update(zip(eqn.outvars, outs, strict=True))
    if not calls:
        return Inlined(program, program, {})
    if len(eqns) > _MOST_EQUATIONS:
        return None
    outvars = [_read(values, v) for v in program.outvars]
    flat = program.replace(eqns=eqns, outvars=outvars, effects=program.effects)
    return Inlined(program, flat, calls)


def _has_calls(program: ir.Olympuspr) -> bool:
    return any(p.is_call for p in ir.primitives_of(program))


def _write_out(call: _Call, scope: scopes.Scope, eqns: list[ir.Eqn]) -> bool:
    """Appends what a call does, with values of its own; False: too many equations.

    Args:
      call: the call; takes what stands for the values of what is called.
      scope: in which the call is.
      eqns: takes the equations.
    """
    # Each equation of each call comes through here: what is made is filled in without
    # calls of `__init__`.
    values, literal, new_eqn = call.values, ir.Literal, ir.Eqn
    for eqn in call.program.eqns:
        inputs = [v if type(v) is literal else values[v] for v in eqn.invars]
        own_scope = scope + eqn.scope if eqn.scope else scope
        inner = called_program(eqn)
        if inner is not None:
            within = call.calls[eqn] = _Call(inner, inputs)
            if not _write_out(within, own_scope, eqns):
                return False
            outs = [_read(within.values, v) for v in inner.outvars]
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
    return len(eqns) <= _MOST_EQUATIONS


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


def _keep(
    program: ir.Olympuspr,
    values: Mapping[Any, Any],
    calls: Mapping[ir.Eqn, _Call],
    kept: Collection[Any],
    written: dict[Any, ir.Olympuspr],
) -> ir.Olympuspr:
    """A program with barriers behind its values that stand for some, and in its calls.

    Args:
      program: any program.
      values: what stands for its values where calls are written out, if not they do.
      calls: the calls in it.
      kept: the values that are to be kept, where calls are written out.
      written: programs with barriers, by what they were without and what is kept.

    Returns:
      The same object where nothing in it is kept; and one for all of `written` in
      which the same is kept.
    """
    changed: dict[ir.Eqn, ir.Olympuspr] = {}
    for eqn, call in calls.items():
        inner = _keep(call.program, call.values, call.calls, kept, written)
        if inner is not call.program:
            changed[eqn] = inner
    own: dict[ir.Eqn, list[Any]] = {}
    for eqn in program.eqns:
        if eqn not in calls:
            marked = [v for v in eqn.outvars if values.get(v, v) in kept]
            if marked:
                own[eqn] = marked
    if not own and not changed:
        return program
    key = (program, *changed.items(), *map(tuple, own.values()))
    if key not in written:
        written[key] = write_barriers(program, own, changed)
    return written[key]


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
