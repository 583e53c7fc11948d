"""Parts of an argument that are cut alike, so that the compiler writes one kernel.

Layers that are unrolled read their weights from stacked arrays. A product of matrices
is not fused with what it reads, so that each part is copied by a kernel, and these
kernels differ in the position that they begin at. What `find_changes` gives hides it
from the compiler: the kernels are equal then, and equal ones are compiled once.
"""

from __future__ import annotations

import collections
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes, ir
from olympus._src.core.primitive import Cost, Primitive
from olympus._src.interpreters import rewriting
from olympus._src.lax.arithmetic import add_p
from olympus._src.lax.barriers import optimization_barrier_p
from olympus._src.lax.choice import convert_element_type_p
from olympus._src.lax.concatenation import slice_p
from olympus._src.lax.contraction import dot_general_p
from olympus._src.lax.convolution import conv_general_dilated_p
from olympus._src.lax.families import transpose_p
from olympus._src.lax.shaping import reshape_p, rev_p, squeeze_p
from olympus._src.lax.slicing import dynamic_slice_p, dynamic_update_slice_p

# Kernels of equal size that are worth a position for each.
_FEWEST = 4
_LARGEST = 2**31 - 1
# Slices at computed positions that are worth it.
_MANY = 16
# Where the positions of such operations are among their operands.
_FIRST_POSITION = {dynamic_slice_p: 1, dynamic_update_slice_p: 2}
# Operations that are not fused, and are steps of layers.
_PRODUCTS = (conv_general_dilated_p, dot_general_p)
# What may be between a part and an operation that is not fused.
_RENAMING = (convert_element_type_p, reshape_p, rev_p, squeeze_p, transpose_p)


def find_changes(program: ir.Olympuspr) -> Mapping[ir.Eqn, Sequence[ir.Eqn]]:
    """What cuts parts at positions behind barriers, by the equations that cut them.

    Parts of arguments with many parts that operations read which are not fused, as
    weights of layers, and of others with as many parts, as biases beside them, or with
    no more than there are products and reductions: steps of equal kernels read them.
    Programs within it stay as they are: small loops are one kernel.

    Args:
      program: one without calls.

    Returns:
      Equations, the last of which gives what the one that they replace has given.
    """
    counts = ir.primitives_of(program)
    changes: dict[ir.Eqn, Sequence[ir.Eqn]] = {}
    if counts.get(dynamic_slice_p, 0) + counts.get(dynamic_update_slice_p, 0) >= _MANY:
        held: dict[Any, Any] = {}  # numbers behind barriers, where they come first
        steps = _find_steps(program)
        for eqn in program.eqns if steps else ():
            if eqn in steps:
                changes[eqn] = _write_step(eqn, held)
    if counts.get(slice_p, 0) >= _FEWEST:
        flat: dict[Any, Any] = {}  # arguments as rows of elements
        cuts = _find_cuts(program)
        for eqn in program.eqns if cuts else ():
            if eqn in cuts:
                changes[eqn] = _write_cut(eqn, cuts[eqn], flat)
    return changes


# -- positions that are computed -------------------------------------------------------


def _find_steps(program: ir.Olympuspr) -> set[ir.Eqn]:
    """Sums of a position and a number, which differ between slices."""
    makers = {v: eqn for eqn in program.eqns for v in eqn.outvars}
    sums: dict[ir.Eqn, Any] = {}
    todo = [
        v
        for eqn in program.eqns
        if eqn.primitive in _FIRST_POSITION
        for v in eqn.invars[_FIRST_POSITION[eqn.primitive] :]
    ]
    seen: set[ir.Eqn] = set()
    for v in todo:
        eqn = None if type(v) is ir.Literal else makers.get(v)
        if eqn is None or eqn in seen or not _is_of_numbers(eqn):
            continue
        seen.add(eqn)
        todo.extend(eqn.invars)
        literals = [x for x in eqn.invars if type(x) is ir.Literal]
        if eqn.primitive is add_p and len(literals) == 1:
            sums[eqn] = int(literals[0].val)
    # What is added everywhere, as the size to negative positions, is equal anyway.
    counts = collections.Counter(sums.values())
    return {eqn for eqn, n in sums.items() if 4 * counts[n] <= len(sums)}


def _is_of_numbers(eqn: ir.Eqn) -> bool:
    """Whether an equation makes one integer of others, or a choice between some."""
    types = [v.aval for v in (*eqn.outvars, *eqn.invars)]
    if eqn.primitive.cost is not Cost.CHEAP and eqn.primitive.cost is not Cost.BITS:
        return False
    return all(not a.shape and a.dtype.kind in "bi" for a in types)


def _write_step(eqn: ir.Eqn, held: dict[Any, Any]) -> list[ir.Eqn]:
    """The sum with a number that the compiler does not know."""
    eqns: list[ir.Eqn] = []
    operands = []
    for v in eqn.invars:
        if type(v) is not ir.Literal:
            operands.append(v)
            continue
        number = v.aval.dtype.type(v.val)
        key = number.dtype, int(number)
        if key not in held:
            held[key] = _hide(number, eqn, eqns)
        operands.append(held[key])
    eqns.append(eqn.replace(invars=operands))
    return eqns


# -- parts of arguments ----------------------------------------------------------------


def _find_cuts(program: ir.Olympuspr) -> dict[ir.Eqn, int]:
    """Where each part begins that is to be cut so, as the number of an element."""
    arguments = {*program.constvars, *program.invars}
    slices = [
        eqn
        for eqn in program.eqns
        if eqn.primitive is slice_p and eqn.invars[0] in arguments
    ]
    if len(slices) < _FEWEST:
        return {}
    groups: dict[Any, dict[ir.Eqn, int]] = collections.defaultdict(dict)
    for eqn in slices:
        start = _start(eqn)
        if start is not None:
            groups[eqn.invars[0], eqn.outvars[0].aval.shape][eqn] = start
    readers = _readers_of_parts(program, slices)
    n_steps = _count_steps(program)
    layers = set()  # into how many parts arguments are cut whose parts are kept
    for group in groups.values():
        if all(_is_kept(eqn.outvars[0], readers) for eqn in group):
            layers.add(_count_parts(group))
    cuts: dict[ir.Eqn, int] = {}
    for group in groups.values():
        n = _count_parts(group)
        if n >= _FEWEST and (n in layers or n <= n_steps):
            cuts.update(group)
    return cuts


def _readers_of_parts(
    program: ir.Olympuspr, slices: Sequence[ir.Eqn]
) -> dict[Any, list[ir.Eqn | None]]:
    """What reads parts, and what renames them; None for the results of the program."""
    readers: dict[Any, list[ir.Eqn | None]] = {eqn.outvars[0]: [] for eqn in slices}
    reads_none = readers.keys().isdisjoint
    for eqn in program.eqns:
        if reads_none(eqn.invars):
            continue
        for v in eqn.invars:
            if v in readers:
                readers[v].append(eqn)
        if eqn.primitive in _RENAMING:
            readers[eqn.outvars[0]] = []
    for v in program.outvars:
        if v in readers:
            readers[v].append(None)
    return readers


def _count_parts(group: Mapping[ir.Eqn, int]) -> int:
    return len(set(group.values()))


def _count_steps(program: ir.Olympuspr) -> int:
    """Products and reductions, between which kernels of equal steps are equal."""
    counts = ir.primitives_of(program)
    return sum(n for p, n in counts.items() if p.fuses_operands or p in _PRODUCTS)


def _start(eqn: ir.Eqn) -> int | None:
    """The first element of a part whose elements follow one another."""
    x, out = eqn.invars[0].aval, eqn.outvars[0].aval
    strides = eqn.params["strides"]
    if not rewriting.is_undivided(x) or not 0 < out.size < x.size <= _LARGEST:
        return None
    if isinstance(x.dtype, dtypes.ExtendedDType):
        return None
    if strides is not None and set(strides) != {1}:
        return None
    axis = next(i for i, n in enumerate(out.shape) if n != x.shape[i])
    if math.prod(x.shape[:axis]) != 1 or x.shape[axis + 1 :] != out.shape[axis + 1 :]:
        return None
    start: int = eqn.params["start_indices"][axis]
    return start * math.prod(x.shape[axis + 1 :])


def _is_kept(v: Any, readers: Mapping[Any, Sequence[ir.Eqn | None]]) -> bool:
    """Whether an array is made for operations that are not fused, and for no others."""
    for eqn in readers[v]:
        if eqn is None or eqn.primitive.cost is None:
            continue
        if eqn.primitive not in _RENAMING or not _is_kept(eqn.outvars[0], readers):
            return False
    return bool(readers[v])


def _write_cut(eqn: ir.Eqn, start: int, flat: dict[Any, Any]) -> list[ir.Eqn]:
    """What cuts a part that begins at an element which the compiler does not know.

    Args:
      eqn: what cuts it.
      start: the element.
      flat: takes the argument as a row of elements, which all parts are cut from.
    """
    (x,), (out,) = eqn.invars, eqn.outvars
    eqns: list[ir.Eqn] = []
    shape = {"dimensions": None, "sharding": None}
    if x not in flat:
        sizes = (math.prod(x.aval.shape),)
        flat[x] = _apply(reshape_p, [x], eqn, eqns, new_sizes=sizes, **shape)
    position = _hide(np.int32(start), eqn, eqns)
    operands, sizes = [flat[x], position], (out.aval.size,)
    part = _apply(dynamic_slice_p, operands, eqn, eqns, slice_sizes=sizes)
    params = {"new_sizes": out.aval.shape, **shape}
    eqns.append(_equation(reshape_p, [part], [out], params, eqn))
    return eqns


def _hide(number: Any, eqn: ir.Eqn, eqns: list[ir.Eqn]) -> ir.Var:
    """A number behind a barrier."""
    literal = ir.Literal(number, avals.aval_of(number))
    out = ir.Var(literal.aval)
    eqns.append(_equation(optimization_barrier_p, [literal], [out], {}, eqn))
    return out


def _apply(
    p: Primitive,
    operands: list[Any],
    eqn: ir.Eqn,
    eqns: list[ir.Eqn],
    **params: Any,
) -> ir.Var:
    """Appends an operation of one result; gives its result."""
    aval, _ = p.results(tuple([v.aval for v in operands]), params)
    out = ir.Var(aval)
    eqns.append(_equation(p, operands, [out], params, eqn))
    return out


def _equation(
    p: Primitive, operands: list[Any], outs: list[Any], params: Any, eqn: ir.Eqn
) -> ir.Eqn:
    """An equation at another one's place in the user's source."""
    return ir.Eqn(p, operands, outs, params, source=eqn.source, scope=eqn.scope)
