"""Additions at positions, one after another, as one.

The derivative of reading an array at several lists of positions adds to it at each of
them, and so do programs that count or spread. The compiler has a kernel for each such
addition, and one for its positions. `join` lists the positions and what is added there
one behind the other, and adds all at once, in the same order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, ir
from olympus._src.interpreters import rewriting
from olympus._src.interpreters.rewriting import Rewriter
from olympus._src.lax.concatenation import concatenate_p
from olympus._src.lax.scatter import scatter_add_p

# Floats narrower than that are added in a wider type, and rounded after each addition.
_LEAST_BYTES = 4
# Lists that XLA makes and joins in one kernel. Of two, as of both ends of edges, the
# kernels are equal, and compiled once.
_FEWEST, _MOST = 3, 8
_DEPTH = 6  # of equations that make them, where lists are compared
# Elements that are added: they are copied where nothing computes them.
_MOST_ELEMENTS = 1 << 14
_PROMISES = "indices_are_sorted", "unique_indices"


def join(program: ir.Olympuspr, platform: str) -> ir.Olympuspr:
    """The program, with additions to one array in turn as one, on the CPU.

    The same object where there are none.
    """
    if platform != "cpu":
        return program
    return rewriting.rewrite(program, "has additions in turn", _has_chains, _join)


def _has_chains(program: ir.Olympuspr) -> bool:
    return ir.primitives_of(program).get(scatter_add_p, 0) >= _FEWEST


def _join(program: ir.Olympuspr) -> ir.Olympuspr:
    groups = _groups(program)
    if not groups:
        return program
    writer = Rewriter()
    changes: dict[ir.Eqn, rewriting.Change | None] = {}
    for last, group in groups.items():
        changes.update(dict.fromkeys(group))
        changes[last] = functools.partial(_write, writer, group)
    writer.write_equations(program.eqns, changes)
    return writer.finish(program)


def _groups(program: ir.Olympuspr) -> dict[ir.Eqn, list[ir.Eqn]]:
    """Additions that can be one, by the last of them."""
    adds = [eqn for eqn in program.eqns if eqn.primitive is scatter_add_p]
    makers = {eqn.outvars[0]: eqn for eqn in adds}
    readers = rewriting.readers_of(program, makers)
    groups: dict[ir.Eqn, list[ir.Eqn]] = {}
    for eqn in adds:
        if not _is_plain(eqn):
            continue
        before = makers.get(eqn.invars[0])
        group = groups.get(before, []) if before is not None else []
        # Nothing else reads what the array has been so far.
        if group and len(readers[group[-1].outvars[0]]) == 1 and _fits(group, eqn):
            del groups[group[-1]]
            groups[eqn] = [*group, eqn]
        else:
            groups[eqn] = [eqn]
    long = [group for group in groups.values() if len(group) >= _FEWEST]
    if not long:
        return {}
    every = {v: eqn for eqn in program.eqns for v in eqn.outvars}
    return {group[-1]: group for group in long if _count_lists(group, every) >= _FEWEST}


def _count_lists(group: Sequence[ir.Eqn], makers: Mapping[Any, ir.Eqn]) -> int:
    """How many lists of positions differ; equal ones may be computed several times."""
    return len({_key(eqn.invars[1], makers, _DEPTH) for eqn in group})


def _key(v: Any, makers: Mapping[Any, ir.Eqn], depth: int) -> Any:
    """What values have in common that are computed alike from the same ones."""
    if type(v) is ir.Literal:
        x = np.asarray(v.val)
        return x.dtype.name, x.shape, x.tobytes()
    eqn = makers.get(v)
    if eqn is None or not depth or len(eqn.outvars) != 1:
        return v
    operands = [_key(x, makers, depth - 1) for x in eqn.invars]
    return eqn.primitive, str(eqn.params), v.aval.shape, *operands


def _is_plain(eqn: ir.Eqn) -> bool:
    """Whether an addition is of rows, or of elements, at a list of positions."""
    types = [v.aval for v in eqn.invars]
    operand, indices, updates = types
    if not all(map(rewriting.is_undivided, types)) or 0 in (operand.size, updates.size):
        return False
    dn = eqn.params["dimension_numbers"]
    n_lists, rank = indices.ndim - 1, updates.ndim
    rows_first = tuple(dn.update_window_dims) == tuple(range(n_lists, rank))
    if dn.operand_batching_dims or n_lists < 1 or not rows_first:
        return False
    return operand.dtype.itemsize >= _LEAST_BYTES and updates.dtype == operand.dtype


def _fits(group: Sequence[ir.Eqn], eqn: ir.Eqn) -> bool:
    """Whether an addition can be one with those before it."""
    first, rows = group[0], _rows(eqn)
    if _settings(first) != _settings(eqn):
        return False
    if first.invars[1].aval.dtype != eqn.invars[1].aval.dtype:
        return False
    if _rows(first)[1:] != rows[1:]:
        return False
    n = sum(_rows(e)[0] for e in group) + rows[0]
    fits = n * math.prod(rows[2]) <= _MOST_ELEMENTS
    return fits and len(group) < _MOST


def _settings(eqn: ir.Eqn) -> dict[str, Any]:
    """The parameters that must agree; `_rows` says which axes are of windows."""
    params = {name: x for name, x in eqn.params.items() if name not in _PROMISES}
    dn = params["dimension_numbers"]
    return params | {"dimension_numbers": dn._replace(update_window_dims=())}


def _rows(eqn: ir.Eqn) -> tuple[int, int, tuple[int, ...]]:
    """How many positions there are, of how many numbers, and the shape of each row."""
    indices, updates = eqn.invars[1].aval, eqn.invars[2].aval
    n_lists = indices.ndim - 1
    shape = updates.shape[n_lists:]
    return math.prod(indices.shape[:-1]), indices.shape[-1], shape


def _write(writer: Rewriter, group: Sequence[ir.Eqn], last: ir.Eqn) -> Any:
    """Writes all additions of a group as one, in place of the last; its value."""
    operand = writer.read(group[0].invars[0])
    lists = [writer.read(eqn.invars[1]) for eqn in group]
    updates = [writer.read(eqn.invars[2]) for eqn in group]
    params = last.params | dict.fromkeys(_PROMISES, False)
    _, _, shape = _rows(last)
    dn = last.params["dimension_numbers"]
    window = tuple(range(1, 1 + len(shape)))
    params["dimension_numbers"] = dn._replace(update_window_dims=window)

    def add(x: Any, *both: Any) -> Any:
        n = len(both) // 2
        rows = [_as_rows(i, 1) for i in both[:n]]
        parts = [_as_rows(u, len(shape)) for u in both[n:]]
        return scatter_add_p.bind(
            x,
            concatenate_p.bind(*rows, dimension=0),
            concatenate_p.bind(*parts, dimension=0),
            **params,
        )

    return writer.write(last, add, [operand, *lists, *updates])


def _as_rows(x: Any, rank: int) -> Any:
    """An array with one axis before its last ones, of which there are `rank`."""
    shape = avals.aval_of(x).shape
    if len(shape) == rank + 1:
        return x
    split = len(shape) - rank
    return rewriting.reshape(x, (math.prod(shape[:split]), *shape[split:]))
