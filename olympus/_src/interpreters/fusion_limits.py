"""Limits of fusion: programs in which the compiler would compute values many times.

XLA's CPU compiler fuses a cheap value into each operation that reads
it, and computes it there again. A chain of steps, each of which reads the last one at
several places, is then written out again in every step: thirty steps of a stencil ran
twenty times slower so than step by step, and the gradient of sixteen steps of an ODE
compiled for forty seconds. A fused program of some thousands of operations blows up by
itself.

`limit` counts what fusion would write, by `fusion_counts`. Where this is several times
the program it marks the values to be kept, by `optimization_barrier`.
Results of arithmetic in floats of eight bits and less are always kept: the compiler
writes each such operation with conversions that read their operand many times.
Other programs stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from olympus._src.core import dtypes, ir
from olympus._src.core.primitive import Cost
from olympus._src.interpreters import (
    cipher_limits,
    equal_cuts,
    flat_programs,
    fusion_counts,
    inlining,
    kept_values,
)
from olympus._src.lax.barriers import optimization_barrier_p

# By name: files of the others load when a program has them.
_CUTTING = frozenset(("slice", "dynamic_slice"))
# What converts floats of eight bits to others and back.
_CONVERTING = (Cost.CHEAP, Cost.EXPENSIVE)


def limit(
    program: ir.Olympuspr,
    platform: str,
    in_bodies: bool = True,
    is_divided: bool = False,
    is_body: bool = False,
    known: dict[ir.Olympuspr, flat_programs.FlatProgram] | None = None,
) -> ir.Olympuspr:
    """The program, with barriers where fusion would repeat its work many times.

    Args:
      program: what will be lowered.
      platform: what for; only 'cpu' fuses so.
      in_bodies: whether bodies of loops and branches may hold barriers.
      is_divided: whether the compiler divides it over devices, by the axes of arrays:
        random numbers keep theirs then.
      is_body: whether it is the body of a loop or a branch, or is called.
      known: for bodies; takes what is called, written out.

    Returns:
      The same object where nothing is to be marked.
    """
    if platform != "cpu":
        return program
    written = {} if known is None else known
    return program.derived(
        ("fusion limits", in_bodies, is_divided, is_body),
        lambda p: _limit_fusions(p, in_bodies, is_divided, is_body, written),
    )


def count_barriers(program: ir.Olympuspr) -> int:
    """How many barriers a program has, and what it calls; each that is called once."""
    programs = map(ir.primitives_of, inlining.called_programs(program))
    return sum(counts.get(optimization_barrier_p, 0) for counts in programs)


def _limit_fusions(
    program: ir.Olympuspr,
    in_bodies: bool,
    is_divided: bool,
    is_body: bool,
    known: dict[ir.Olympuspr, flat_programs.FlatProgram],
) -> ir.Olympuspr:
    if in_bodies:

        def limit_body(body: ir.Olympuspr) -> ir.Olympuspr:
            return limit(body, "cpu", True, is_divided, True, known)

        program = ir.map_subprograms(program, limit_body)
    called = inlining.called_programs(program)
    is_cut = not (is_divided or is_body) and any(map(_cuts, called))
    if is_cut or _has_some_to_keep(program, called, is_divided):
        flat = inlining.inline(program)
        if flat is None:
            return program
        if is_cut:
            program, flat = _cut_equally(program, flat)
        apart = _keep_in_any_case(program, flat, in_bodies, is_divided, is_body)
        # Calls are written out where something is kept whatever fusion repeats.
        program = program if apart is flat else apart
    kept = fusion_counts.find_kept(program, known)
    return program if kept is None else flat_programs.keep(*kept)


def _cuts(program: ir.Olympuspr) -> bool:
    return any(p.name in _CUTTING for p in ir.primitives_of(program))


def _cut_equally(
    program: ir.Olympuspr, flat: ir.Olympuspr
) -> tuple[ir.Olympuspr, ir.Olympuspr]:
    """A program, and the same without calls, whose parts are cut alike.

    Calls stay where the program has all of the equations that change.
    """
    changes = equal_cuts.find_changes(flat)
    if not changes:
        return program, flat
    cut = inlining.splice(flat, changes)
    if program is flat or not changes.keys() <= set(program.eqns):
        return cut, cut
    return inlining.splice(program, changes), cut


def _has_some_to_keep(
    program: ir.Olympuspr, called: Collection[ir.Olympuspr], is_divided: bool
) -> bool:
    """Whether `_keep_in_any_case` looks at a program."""
    if any(map(_has_narrow, called)) or ir.has_operation(program, "kept"):
        return True
    return not is_divided and ir.has_operation(program, "threefry2x32")


def _keep_in_any_case(
    source: ir.Olympuspr,
    program: ir.Olympuspr,
    in_bodies: bool,
    is_divided: bool,
    is_body: bool,
) -> ir.Olympuspr:
    """What is kept whatever fusion repeats.

    Args:
      source: a program with calls.
      program: the same without, which is given back where nothing is kept.
      in_bodies, is_divided, is_body: as `limit` has them.
    """
    if ir.has_operation(source, "kept"):
        program = kept_values.keep_marked(program)
    if any(map(_has_narrow, inlining.called_programs(source))):
        program = _keep_narrow(program)
    if not is_divided and ir.has_operation(source, "kept", "threefry2x32"):
        if not in_bodies:
            program = ir.map_subprograms(program, _limit_body)
        if ir.has_operation(source, "threefry2x32"):
            program = cipher_limits.keep_apart(
                program, since_011=in_bodies, is_body=is_body
            )
    return program


def _limit_body(program: ir.Olympuspr) -> ir.Olympuspr:
    """A body that may hold no barriers, with calls in their place behind ciphers."""
    return program.derived("ciphers apart", _call_ciphers)


def _call_ciphers(program: ir.Olympuspr) -> ir.Olympuspr:
    if not ir.has_operation(program, "kept", "threefry2x32"):
        return program
    flat = inlining.inline(program)
    if flat is None:
        return program
    apart = ir.map_subprograms(flat, _limit_body)
    if ir.has_operation(program, "kept"):
        apart = kept_values.keep_marked(apart, by_calls=True)
    if ir.has_operation(program, "threefry2x32"):
        apart = cipher_limits.keep_apart(apart, by_calls=True, since_011=False)
    return program if apart is flat else apart


# -- narrow floats ---------------------------------------------------------------------


def _keep_narrow(program: ir.Olympuspr) -> ir.Olympuspr:
    """The program with barriers behind arithmetic in floats of eight bits or less.

    From jaxlib 0.11 on, three such operations in a row compile for a minute.
    """
    converting = [eqn for eqn in program.eqns if eqn.primitive.cost in _CONVERTING]
    # Arithmetic that makes floats which it converts each time.
    narrow = {
        v for eqn in converting for v in eqn.outvars if _is_narrow(eqn.outvars[0].aval)
    }
    if not narrow:
        return program
    for eqn in program.eqns:
        if eqn.primitive is optimization_barrier_p:  # what a call's body has kept
            narrow.difference_update([v for v in eqn.invars if type(v) is ir.Var])
    kept = {
        eqn: eqn.outvars for eqn in program.eqns if not narrow.isdisjoint(eqn.outvars)
    }
    return inlining.write_barriers(program, kept) if kept else program


def _has_narrow(program: ir.Olympuspr) -> bool:
    return any(map(_is_narrow, ir.result_types(program)))


def _is_narrow(aval: Any) -> bool:
    """Whether a type is of floats of eight bits or less."""
    dtype = getattr(aval, "dtype", None)
    if dtype is None or dtype.itemsize != 1:
        return False
    return bool(dtypes.issubdtype(dtype, np.floating))
