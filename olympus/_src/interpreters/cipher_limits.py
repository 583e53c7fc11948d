"""Limits of fusion behind ciphers: random bits are kept before they become samples.

XLA's CPU compiler fuses the cipher that random bits come from with the function that
makes samples of them, a logarithm or an inverse. That loop is too long for the
processor's registers, and takes up to twice as long as two loops do. Where the last
axis is short the loop is unrolled along it and uses no vectors, which takes ten times
as long: such samples are made in one row.

`keep_apart` marks the numbers before such a function to be kept. Where no costly
function follows, as with uniform numbers and comparisons of them, one loop is best.

LLVM's vectorizer, from jaxlib 0.11 on, takes long for a cipher in one loop with calls
that it can make of vectors: 80 ms for a logarithm, a maximum or a rounding. It asks of
each value whether one lane of all that is made of it is enough, and follows each way
through the cipher, in which every value is read twice. There such functions of few
numbers are costly too, and uniform numbers are made without a maximum.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.core import avals, dtypes, ir
from olympus._src.core.primitive import Cost
from olympus._src.interpreters import kept_values, rewriting
from olympus._src.lax import choice, comparison, families
from olympus._src.lax.arithmetic import add_p, max_p
from olympus._src.lax.barriers import optimization_barrier_p
from olympus._src.lax.families import broadcast_in_dim_p
from olympus._src.lax.random_bits import threefry2x32_p
from olympus._src.lax.shaping import iota_p, reshape_p


class _Fewest(NamedTuple):
    """The least numbers for which something is done.

    Attributes:
      kept: before costly functions. Fewer take less than what a second loop costs.
      called: before calls that LLVM makes of vectors. Fewer are written one by one.
      in_rows: samples that are made in one row.
    """

    kept: int
    called: int
    in_rows: int


_SINCE_011 = _Fewest(kept=64, called=3, in_rows=64)
# A second loop is compiled once, and saves some of the time in each turn.
_IN_BODIES = _SINCE_011._replace(kept=16)
# LLVM took no time for calls then.
_BEFORE_011 = _Fewest(kept=64, called=sys.maxsize, in_rows=64)
# With barriers a program of a few such samples had no kernels that are called without
# XLA's runtime.
_BARRIERS_BEFORE_011 = _BEFORE_011._replace(in_rows=256)
# Of more numbers cheap functions are not kept apart: a second loop costs more to run
# than what it saves in compiling.
_MOST_CALLED = 1 << 12
# What has an instruction of LLVM's, or a function of XLA's, for vectors.
_CALLED = frozenset(("acos", "asin", "ceil", "clamp", "cos", "erf", "exp", "floor"))
_CALLED |= {"log", "max", "min", "pow", "round", "sin", "sqrt", "tan"}
# Axes that are unrolled.
_SHORT = 32


def keep_apart(
    program: ir.Olympuspr,
    *,
    by_calls: bool = False,
    since_011: bool = True,
    is_body: bool = False,
) -> ir.Olympuspr:
    """The program, with barriers between its own ciphers and costly functions.

    Args:
      program: one without calls.
      by_calls: write calls that the compiler does not merge, in place of barriers; for
        bodies of loops that may hold none.
      since_011: whether it is for a jaxlib from 0.11.1 on.
      is_body: whether it is the body of a loop or a branch.

    Returns:
      The same object where there are none.
    """
    if threefry2x32_p not in ir.primitives_of(program):
        return program
    if since_011:
        fewest = _IN_BODIES if is_body else _SINCE_011
    else:
        fewest = _BEFORE_011 if by_calls else _BARRIERS_BEFORE_011
    least = min(fewest)
    if not any(_is_long_cipher(eqn, least) for eqn in program.eqns):
        return program
    apart = _flatten(program, fewest)
    if since_011:
        apart = _compare_bounds(apart)
    apart = _keep_operands(apart, fewest)
    return kept_values.call_apart(apart, program) if by_calls else apart


def _is_long_cipher(eqn: ir.Eqn, least: int) -> bool:
    if eqn.primitive is not threefry2x32_p:
        return False
    aval = eqn.outvars[0].aval
    return rewriting.is_undivided(aval) and aval.size >= least


def _is_costly(eqn: ir.Eqn, fewest: _Fewest) -> bool:
    """Whether a function of bits is better in a loop of its own."""
    is_expensive, is_called = _is_expensive(eqn), eqn.primitive.name in _CALLED
    if not (is_expensive or is_called):
        return False
    aval = eqn.outvars[0].aval
    if not rewriting.is_undivided(aval):
        return False
    if is_expensive and aval.size >= fewest.kept:
        return True
    is_float = dtypes.issubdtype(aval.dtype, np.floating)
    return is_called and is_float and fewest.called <= aval.size <= _MOST_CALLED


def _is_expensive(eqn: ir.Eqn) -> bool:
    if eqn.primitive.cost is not Cost.EXPENSIVE:
        return False
    by_number = eqn.primitive.cost_by_spread is not None
    return not (by_number and type(eqn.invars[-1]) is ir.Literal)


# -- bounds ----------------------------------------------------------------------------


def _compare_bounds(program: ir.Olympuspr) -> ir.Olympuspr:
    """The program, with `max(low, x + low)` by comparison beside its own ciphers.

    That has the same bits: `x + low` is NaN where `low` is, and a zero below 0 only
    where `low` is one too.

    Returns:
      The same object where there are none.
    """
    makers = {v: eqn for eqn in program.eqns for v in eqn.outvars}
    bounded = [e for e in program.eqns if e.primitive is max_p and _bounds(e, makers)]
    if not bounded:
        return program
    writer = rewriting.Rewriter()

    def write(eqn: ir.Eqn) -> Any:
        return writer.write(eqn, _choose_larger, list(map(writer.read, eqn.invars)))

    writer.write_equations(program.eqns, dict.fromkeys(bounded, write))
    return writer.finish(program, are_needed=True)


def _choose_larger(low: Any, x: Any) -> Any:
    low = families.broadcast_to_shape(low, avals.aval_of(x).shape)
    return choice.select(comparison.lt(x, low), low, x)


def _bounds(eqn: ir.Eqn, makers: dict[Any, ir.Eqn]) -> bool:
    """Whether the second operand is the sum of the first one and another, of floats."""
    low, x = eqn.invars
    maker = None if type(x) is ir.Literal else makers.get(x)
    if maker is None or maker.primitive is not add_p:
        return False
    is_float = dtypes.issubdtype(x.aval.dtype, np.floating)
    if not is_float or not rewriting.is_undivided(x.aval):
        return False
    return any(_is_same(low, v, makers) for v in maker.invars)


def _is_same(v: Any, other: Any, makers: dict[Any, ir.Eqn]) -> bool:
    """Whether two operands are known to be one value, which may be spread twice."""
    if v is other:
        return True
    if type(v) is ir.Literal or type(other) is ir.Literal:
        if type(v) is not type(other) or v.aval.shape or other.aval.shape:
            return False
        bits, other_bits = (
            np.asarray(x.val, x.aval.dtype).tobytes() for x in (v, other)
        )
        return bool(v.aval.dtype == other.aval.dtype and bits == other_bits)
    a, b = makers.get(v), makers.get(other)
    if a is None or b is None or {a.primitive, b.primitive} != {broadcast_in_dim_p}:
        return False
    return bool(a.params == b.params and a.invars == b.invars)


# -- barriers --------------------------------------------------------------------------


def _keep_operands(program: ir.Olympuspr, fewest: _Fewest) -> ir.Olympuspr:
    """The program, with barriers behind the bits that costly functions are made of."""
    bits = _find_bits(program, fewest)
    if not bits:
        return program
    kept: dict[Any, Any] = {}
    eqns: list[ir.Eqn] = []
    for eqn in program.eqns:
        eqns.append(_read_kept(eqn, kept))
        for v in eqn.outvars:
            if v in bits:
                kept[v] = ir.Var(v.aval)
                eqns.append(kept_values.barrier(v, kept[v], eqn))
    outvars = [v if type(v) is ir.Literal else kept.get(v, v) for v in program.outvars]
    return program.replace(eqns=eqns, outvars=outvars)


def _find_bits(program: ir.Olympuspr, fewest: _Fewest) -> set[Any]:
    """The values that all ways from a cipher to a costly function pass."""
    sources: dict[Any, Any] = {}  # of each value that is fused with a cipher: its bits
    costly: set[Any] = set()  # values that are fused with a costly function
    words: set[Any] = set()  # the ciphers' own results
    bits: set[Any] = set()
    least = min(fewest)
    for eqn in program.eqns:
        operands = [v for v in _variables(eqn) if v in sources]
        is_costly = _is_costly(eqn, fewest) or not costly.isdisjoint(_variables(eqn))
        if is_costly and eqn.primitive.cost is not None:
            bits.update([sources[v] for v in operands])
            costly.update(eqn.outvars)
        elif _is_long_cipher(eqn, least):
            words.update(eqn.outvars)
            sources.update((v, v) for v in eqn.outvars)
        elif operands and _is_fused(eqn, least):
            (out,) = eqn.outvars
            (source, *others) = {sources[v] for v in operands}
            sources[out] = out if others or source in words else source
    return bits


def _variables(eqn: ir.Eqn) -> list[Any]:
    return [v for v in eqn.invars if type(v) is not ir.Literal]


def _is_fused(eqn: ir.Eqn, least: int) -> bool:
    """Whether what reads an equation's result makes its operands again."""
    if eqn.primitive.cost is None or eqn.primitive is optimization_barrier_p:
        return False
    return len(eqn.outvars) == 1 and eqn.outvars[0].aval.size >= least


def _read_kept(eqn: ir.Eqn, kept: dict[Any, Any]) -> ir.Eqn:
    if not kept or eqn.primitive is optimization_barrier_p:
        return eqn
    if kept.keys().isdisjoint(_variables(eqn)):
        return eqn
    invars = [v if type(v) is ir.Literal else kept.get(v, v) for v in eqn.invars]
    return eqn.replace(invars=invars)


# -- short axes ------------------------------------------------------------------------


class _Samples:
    """What elementwise operations make of encrypted positions, in their shape.

    Attributes:
      row: the positions in one row, before they get the shape.
      shape: the shape.
      eqns: the operations.
      values: the positions in the shape, and all results.
    """

    def __init__(self, row: Any, positions: Any) -> None:
        self.row = row
        self.positions = positions
        self.shape = positions.aval.shape
        self.eqns: list[ir.Eqn] = []
        self.values = {positions}

    def add(self, eqn: ir.Eqn) -> bool:
        """Takes an operation that needs nothing but the samples and numbers."""
        if not rewriting.is_elementwise(eqn, self.shape):
            return False
        for v in eqn.invars:
            if v.aval.shape != () and (type(v) is ir.Literal or v not in self.values):
                return False
        self.eqns.append(eqn)
        self.values.update(eqn.outvars)
        return True

    def is_costly(self) -> bool:
        """Whether a cipher is among the operations, and a costly function."""
        return any(map(_is_expensive, self.eqns)) and any(
            eqn.primitive is threefry2x32_p for eqn in self.eqns
        )


def _flatten(program: ir.Olympuspr, fewest: _Fewest) -> ir.Olympuspr:
    """The program, with samples of arrays with a short last axis made in one row.

    Args:
      program: one without calls.
      fewest: how many samples that takes.
    """
    rows = [s for s in _find_samples(program, fewest.in_rows) if s.is_costly()]
    if not rows:
        return program
    readers = rewriting.readers_of(program)
    places: dict[ir.Eqn | None, _Samples] = {eqn: s for s in rows for eqn in s.eqns}
    flat: dict[Any, Any] = {s.positions: s.row for s in rows}
    eqns: list[ir.Eqn] = []
    for eqn in program.eqns:
        samples = places.get(eqn)
        if samples is None:
            eqns.append(eqn)
            continue
        eqns.append(_in_one_row(eqn, flat))
        for v in eqn.outvars:
            if any(places.get(r) is not samples for r in readers.get(v, [])):
                eqns += _give_shape(v, flat[v], eqn)
    return program.replace(eqns=eqns)


def _find_samples(program: ir.Olympuspr, least: int) -> list[_Samples]:
    makers = {v: eqn for eqn in program.eqns for v in eqn.outvars}
    by_value: dict[Any, _Samples] = {}
    for eqn in program.eqns:
        if eqn.primitive is reshape_p:
            row, out = eqn.invars[0], eqn.outvars[0]
            maker = makers.get(row) if type(row) is not ir.Literal else None
            if (
                maker is not None
                and maker.primitive is iota_p
                and _is_short(row, out, least)
            ):
                by_value[out] = _Samples(row, out)
            continue
        read = [by_value[v] for v in _variables(eqn) if v in by_value]
        samples = read[0] if read else None
        if samples is not None and samples.add(eqn):
            by_value.update(dict.fromkeys(eqn.outvars, samples))
    return list({id(s): s for s in by_value.values()}.values())


def _is_short(row: Any, out: Any, least: int) -> bool:
    if not (rewriting.is_undivided(row.aval) and rewriting.is_undivided(out.aval)):
        return False
    axes = [n for n in out.aval.shape if n > 1]
    return row.aval.ndim == 1 and math.prod(axes) >= least and axes[-1] < _SHORT


def _in_one_row(eqn: ir.Eqn, flat: dict[Any, Any]) -> ir.Eqn:
    size = math.prod(eqn.outvars[0].aval.shape)
    for v in eqn.outvars:
        flat[v] = ir.Var(v.aval.update(shape=(size,)))
    invars = [v if type(v) is ir.Literal else flat.get(v, v) for v in eqn.invars]
    return eqn.replace(invars=invars, outvars=[flat[v] for v in eqn.outvars])


def _give_shape(v: Any, row: Any, eqn: ir.Eqn) -> Sequence[ir.Eqn]:
    """Keeps a row, and gives it the shape: fused, the row would have the shape too."""
    kept = ir.Var(row.aval)
    params = {"new_sizes": v.aval.shape, "dimensions": None, "sharding": None}
    shaped = ir.Eqn(reshape_p, [kept], [v], params, source=eqn.source, scope=eqn.scope)
    return [kept_values.barrier(row, kept, eqn), shaped]
