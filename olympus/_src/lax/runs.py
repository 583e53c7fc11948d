"""Reads of runs: consecutive positions of an axis, up or down, or one of them repeated.

Where mirrors, copies or edges of an array are put around it, each of its axes is read
at a few runs. One operation holds them all, so that its value and its derivative can
each take the quickest form: a large value that is padded along several axes is one read
by position, while the derivative adds slices, and never single elements.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Cost, Exact, Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import (
    concatenation,
    families,
    gather,
    shaping,
    sharding_rules,
    small_integers,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.kernels import thresholds
from olympus._src.lowering import types


class Run(NamedTuple):
    """Positions `start`, `start + step`, ..., of which there are `size`.

    Attributes:
      start: the first.
      size: their number, at least 1.
      step: 1, -1, or 0 where one position is repeated.
    """

    start: int
    size: int
    step: int

    @property
    def low(self) -> int:
        """The lowest position."""
        return min(self.start, self.start + (self.size - 1) * self.step)

    @property
    def high(self) -> int:
        """One past the highest position."""
        return max(self.start, self.start + (self.size - 1) * self.step) + 1


def find_runs(positions: np.ndarray) -> list[Run]:
    """Positions cut into runs, from the first to the last."""
    runs = []
    while positions.size:
        steps = np.diff(positions)
        ends = np.flatnonzero(steps != steps[0]) if steps.size else steps
        n = int(ends[0]) + 1 if ends.size else positions.size
        if steps.size and abs(steps[0]) > 1:
            n = 1
        step = int(steps[0]) if n > 1 else 1
        runs.append(Run(int(positions[0]), n, step))
        positions = positions[n:]
    return runs


def _abstract(operand: Any, *, runs: Any) -> Any:
    if len(runs) != operand.ndim:
        raise TypeError(
            "lax.take_runs: runs must have an entry for each of the operand's "
            f"{operand.ndim} axes, got {len(runs)} for {operand.short()}"
        )
    shape = list(operand.shape)
    for axis, row in enumerate(runs):
        if row is None:
            continue
        size = shape[axis]
        for run in row:
            if run.size < 1 or run.low < 0 or run.high > size or abs(run.step) > 1:
                raise ValueError(
                    "lax.take_runs: runs must be of positions on the operand's axes, "
                    f"in steps of 1, 0 or -1, got {run} for axis {axis} of "
                    f"{operand.short()}"
                )
        shape[axis] = sum(run.size for run in row)
    return ShapedArray(tuple(shape), operand.dtype, operand.weak_type)


# -- as slices -------------------------------------------------------------------------


def _join_slices(x: Any, *, runs: Any) -> Any:
    for axis, row in enumerate(runs):
        if row is not None:
            parts = [_read_run(x, run, axis) for run in row]
            x = concatenation.concatenate(parts, axis)
    return x


def _read_run(x: Any, run: Run, axis: int) -> Any:
    shape = list(avals.aval_of(x).shape)
    part = concatenation.slice_in_dim(x, run.low, run.high, axis=axis)
    if run.step == 0:
        shape[axis] = run.size
        return shaping.broadcast_in_dim(part, shape, range(len(shape)))
    return shaping.rev(part, (axis,)) if run.step < 0 else part


def _transpose(cts: Any, x: Any, *, runs: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval)]
    for axis, row in reversed(list(enumerate(runs))):
        if row is not None:
            ct = _sum_runs(ct, row, axis, x.aval.shape[axis])
    return [ct]


def _sum_runs(ct: Any, row: Sequence[Run], axis: int, size: int) -> Any:
    """The cotangent of an axis: of each part that runs agree on, the sum of theirs."""
    ends = np.cumsum([run.size for run in row]).tolist()
    placed = [(end - run.size, run) for end, run in zip(ends, row, strict=True)]
    cuts = sorted({0, size, *[run.low for run in row], *[run.high for run in row]})
    parts = []
    for low, high in itertools.pairwise(cuts):
        terms = [
            _reads_of(ct, begin, run, (low, high), axis)
            for begin, run in placed
            if run.low <= low and high <= run.high
        ]
        parts.append(_sum_terms(terms, ct, axis, high - low))
    return concatenation.concatenate(parts, axis)


def _reads_of(ct: Any, begin: int, run: Run, part: tuple[int, int], axis: int) -> Any:
    """What a run, whose cotangent is at `begin`, contributes to a part of the axis."""
    low, high = part
    if run.step == 0:
        whole = concatenation.slice_in_dim(ct, begin, begin + run.size, axis=axis)
        total = families.reduce_sum_p.bind(whole, axes=(axis,))
        return shaping.expand_dims(total, (axis,))
    if run.step > 0:
        first = begin + low - run.low
        return concatenation.slice_in_dim(ct, first, first + high - low, axis=axis)
    first = begin + run.high - high
    mirrored = concatenation.slice_in_dim(ct, first, first + high - low, axis=axis)
    return shaping.rev(mirrored, (axis,))


def _sum_terms(terms: Sequence[Any], ct: Any, axis: int, size: int) -> Any:
    if not terms:
        aval = avals.aval_of(ct)
        shape = (*aval.shape[:axis], size, *aval.shape[axis + 1 :])
        return shaping.full(shape, 0, aval.dtype)
    total = terms[0]
    for term in terms[1:]:
        total = families.add_tangents(total, term)
    return total


# -- as one read by position -----------------------------------------------------------


def _rewrite(platform: str, operand: Any, *, runs: Any) -> Callable[..., Any] | None:
    """Slices, but for large results whose elements move along several axes.

    Joined slices write the result once for each axis, a read by position once. Of
    arrays in a cache that costs less; and slices can be divided over devices.
    """
    out = _abstract(operand, runs=runs)
    is_read_once = (
        platform == "cpu"
        and sum(row is not None for row in runs) > 1
        and not isinstance(operand.dtype, dtypes.ExtendedDType)
        and out.size * out.dtype.itemsize >= thresholds.BYTES_READ_BY_POSITION
        and not small_integers.lacks_kernels(platform, (operand,))
    )
    return None if is_read_once else lambda x: _join_slices(x, runs=runs)


def _lower(ctx: Any, x: str, *, runs: Any) -> str:
    """One gather of rows, which the axes after the last that is padded make up."""
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    n = max(axis for axis, row in enumerate(runs) if row is not None) + 1
    inner = aval.shape[n:]
    count = int(np.prod(aval.shape[:n]))
    index = np.dtype(np.int32 if count <= np.iinfo(np.int32).max else np.int64)
    rows = ShapedArray((count, *inner), aval.dtype)
    places = ShapedArray(out.shape[:n], index)
    at = None
    for axis in range(n):
        along = ShapedArray((out.shape[axis],), index)
        stride = ctx.block.splat(int(np.prod(aval.shape[axis + 1 : n])), along)
        term = _emit_positions(ctx.block, along, runs[axis])
        term = ctx.block.elementwise("stablehlo.multiply", [term, stride], along)
        term = ctx.block.broadcast(term, along, places, (axis,))
        if at is not None:
            term = ctx.block.elementwise("stablehlo.add", [at, term], places)
        at = term
    vectors = ShapedArray((*places.shape, 1), index)
    numbers = gather.GatherDimensionNumbers(tuple(range(n, out.ndim)), (0,), (0,))
    sizes = (1, *inner)
    return ctx.block.op1(
        "stablehlo.gather",
        [ctx.block.reshape(x, aval, rows), ctx.block.reshape(at, places, vectors)],
        [rows, vectors],
        out,
        gather.attributes(numbers, sizes, n, False),
    )


def _emit_positions(block: Any, along: Any, row: Sequence[Run] | None) -> str:
    """Writes the positions that runs have, computed: a literal would be as long."""
    counted: str = block.iota(0, along)
    if row is None:
        return counted
    positions, begin = "", 0
    for run in row:
        step = block.splat(run.step, along)
        first = block.splat(run.start - begin * run.step, along)
        term = block.elementwise("stablehlo.multiply", [counted, step], along)
        term = block.elementwise("stablehlo.add", [term, first], along)
        if positions:
            flags = ShapedArray(along.shape, np.bool_)
            bound = block.splat(begin, along)
            is_here = block.compare("GE", counted, bound, along, "SIGNED", flags)
            kinds = f"{types.tensor_type(flags)}, {types.tensor_type(along)}"
            term = block.emit(
                f"stablehlo.select {is_here}, {term}, {positions} : {kinds}"
            )
        positions = term
        begin += run.size
    return positions


# -- the operation ---------------------------------------------------------------------


def _batch(axis: Any, args: Any, dims: Any, *, runs: Any) -> Any:
    (dim,) = dims
    return take_runs_p.bind(args[0], runs=(*runs[:dim], None, *runs[dim:])), dim


def _reference(x: Any, *, runs: Any) -> Any:
    for axis, row in enumerate(runs):
        if row is not None:
            places = [run.start + np.arange(run.size) * run.step for run in row]
            x = np.take(x, np.concatenate(places), axis)
    return x


def _offer(trace: Any, args: Any, params: Any) -> Any:
    """Libraries have rules for slices, and none for this."""
    return _join_slices(*args, **params)


take_runs_p = Primitive(
    "take_runs",
    key_reuse=lambda uses, eqn, operands: uses.repeat(eqn, operands),
    shard=sharding_rules.linear_in(sharding_rules.take_runs),
    abstract=_abstract,
    lower=_lower,
    decompose=_join_slices,
    rewrite=_rewrite,
    transpose=_transpose,
    batch=_batch,
    offer=_offer,
    reference=_reference,
    cost=Cost.MOVE,
    may_make_nan=False,
    exact=Exact.MOVES,
    **families.LINEAR,
)


def take_runs(operand: ArrayLike, runs: Sequence[Sequence[Run] | None]) -> Array:
    """The elements of an array at runs of positions along its axes.

    Args:
      operand: array.
      runs: for each axis its runs, one after another, or None for all of the axis.

    Raises:
      TypeError: there is not one entry for each axis.
      ValueError: positions are not on the axis, or a step is not 1, 0 or -1.

    Source: `stablehlo.gather`, or `stablehlo.slice` and `stablehlo.concatenate`.
    """
    rows = tuple([None if row is None else tuple(row) for row in runs])
    return take_runs_p.bind(operand, runs=rows)
