"""Sorting short lines on the CPU, by counting for each element those before it.

That takes n comparisons an element, and n more to place it, but they are sums over a
short axis, which XLA unrolls into vector instructions: 50 000 lines of 16 floats take
1.5 ms where its sort takes 10. Elements are moved as their bits, so all of them stay
as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.lax import concatenation, families, sort_keys
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.kernels import thresholds
from olympus._src.lowering import types

_I32 = np.dtype(np.int32)


def suits(operands: Sequence[Any], num_keys: int, dimension: int) -> bool:
    """Whether lines of these types are sorted quicker by counting."""
    return (
        1 < operands[0].shape[dimension] <= thresholds.LONGEST_SORTED_LINE
        and operands[0].size >= thresholds.FEWEST_SORTED
        and num_keys <= 2
        and all(_is_plain(a.dtype) for a in operands)
    )


def _is_plain(dtype: Any) -> bool:
    if dtypes.issubdtype(dtype, np.integer) or dtype == np.bool_:
        return dtype == np.bool_ or dtypes.itemsize_bits(dtype) >= 8
    return sort_keys.has_words(dtype)


def emit_sort(
    ctx: Any,
    operands: Sequence[str],
    in_avals: Sequence[Any],
    dimension: int,
    num_keys: int,
) -> list[str]:
    """Writes a stable sort of several arrays by the first of them."""
    rank = in_avals[0].ndim
    last = [d for d in range(rank) if d != dimension] + [dimension]
    back = [int(d) for d in np.argsort(last)]
    pairs = [
        _permute_axes(ctx, *pair, last) for pair in zip(operands, in_avals, strict=True)
    ]
    lines = _Lines(ctx, pairs[0][1].shape, rank - 1)
    ranks = lines.ranks([_key(ctx, x, aval) for x, aval in pairs[:num_keys]])
    moved = [_take_ranks(lines, ranks, x, aval, lines.size) for x, aval in pairs]
    return [
        _permute_axes(ctx, x, aval, back)[0]
        for x, (_, aval) in zip(moved, pairs, strict=True)
    ]


def emit_top_k(ctx: Any, x: str, aval: Any, k: int) -> list[str]:
    """Writes the `k` largest elements of the last axis's lines, and their positions.

    Floats are in the order of their bits: 0 is above -0, NaN outermost by its sign.
    """
    lines = _Lines(ctx, aval.shape, aval.ndim - 1)
    block, (key, key_aval) = ctx.block, (x, aval)
    if dtypes.issubdtype(aval.dtype, np.floating):
        key, key_aval = sort_keys.emit_total_order(ctx, x, aval)
    key = block.elementwise("stablehlo.not", (key,), key_aval)
    kind = sort_keys.comparison_kind(key_aval.dtype)
    ranks = lines.ranks([(key, key_aval, kind)])
    places = ShapedArray(aval.shape, _I32)
    count = block.iota(aval.ndim - 1, places)
    values = _take_ranks(lines, ranks, x, aval, k)
    return [values, lines.placed(ranks, count, places, k)[0]]


def _permute_axes(ctx: Any, x: str, aval: Any, order: Sequence[int]) -> tuple[str, Any]:
    """The array with its axes in another order."""
    if list(order) == list(range(aval.ndim)):
        return x, aval
    out = ShapedArray(tuple([aval.shape[d] for d in order]), aval.dtype)
    return families.emit_transpose(ctx, x, aval, out, order), out


def _key(ctx: Any, x: str, aval: Any) -> tuple[str, Any, str]:
    """What an operand is compared by: a name, its type, the kind of comparison."""
    if dtypes.issubdtype(aval.dtype, np.floating):
        x, aval = sort_keys.emit_ordered_bits(ctx, x, aval, merge_zeros=True)
    return x, aval, sort_keys.comparison_kind(aval.dtype)


def _take_ranks(lines: _Lines, ranks: str, x: str, aval: Any, count: int) -> str:
    """The elements of ranks below `count`, in that order."""
    block = lines.ctx.block
    if dtypes.issubdtype(aval.dtype, np.integer):
        return lines.placed(ranks, x, aval, count)[0]
    if aval.dtype == np.bool_:
        word = ShapedArray(aval.shape, np.int8)
        x, out = lines.placed(ranks, block.convert(x, aval, word), word, count)
        return block.convert(x, out, ShapedArray(out.shape, np.bool_))
    word = ShapedArray(aval.shape, sort_keys.bits_dtype(aval.dtype))
    x = block.op1("stablehlo.bitcast_convert", [x], [aval], word)
    x, out = lines.placed(ranks, x, word, count)
    whole = ShapedArray(out.shape, aval.dtype)
    return block.op1("stablehlo.bitcast_convert", [x], [out], whole)


class _Lines:
    """Writes sums over pairs of places (i, j) of the lines along an axis.

    Pairs have j's axis after i's. The sums go over j, in parts that are unrolled.
    """

    __slots__ = ("axis", "ctx", "shape", "size")

    def __init__(self, ctx: Any, shape: Sequence[int], axis: int) -> None:
        self.ctx = ctx
        self.shape = tuple(shape)
        self.axis = axis
        self.size = shape[axis]

    def ranks(self, keys: Sequence[tuple[str, Any, str]]) -> str:
        """How many elements of its line stand before each, as integers of 32 bits."""
        parts = []
        for part in self._parts():
            before, pairs = self._is_before(keys, part)
            counts = ShapedArray(pairs.shape, _I32)
            before = self.ctx.block.convert(before, pairs, counts)
            parts.append(self._sum_pairs(before, counts))
        return self._total(parts)[0]

    def placed(self, ranks: str, x: str, aval: Any, count: int) -> tuple[str, Any]:
        """The integers `x` of the places with ranks below `count`, in that order."""
        block, t = self.ctx.block, types.tensor_type
        rank_aval = ShapedArray(self.shape, _I32)
        parts = []
        for part in self._parts():
            rank, pairs = self._broadcast_part(ranks, rank_aval, count, part)
            flag = ShapedArray(pairs.shape, np.bool_)
            here = block.compare(
                "EQ", rank, self._iota(pairs, self.axis), pairs, "SIGNED", flag
            )
            value, values = self._broadcast_part(x, aval, count, part)
            chosen_values = block.emit(
                f"stablehlo.select {here}, {value}, {block.splat(0, values)} : "
                f"{t(flag)}, {t(values)}"
            )
            parts.append(self._sum_pairs(chosen_values, values))
        return self._total(parts)

    def _parts(self) -> list[tuple[int, int]]:
        starts = range(0, self.size, thresholds.UNROLLED_SUM)
        return [(a, min(a + thresholds.UNROLLED_SUM, self.size)) for a in starts]

    def _is_before(self, keys: Any, part: tuple[int, int]) -> tuple[str, Any]:
        """Whether element j of a part stands before element i."""
        block = self.ctx.block
        grid = self._pairs(self.size, part, _I32)
        flag = ShapedArray(grid.shape, np.bool_)
        second = self._iota(grid, self.axis + 1)
        if part[0]:
            shift = block.splat(part[0], grid)
            second = block.elementwise("stablehlo.add", (second, shift), grid)
        first = self._iota(grid, self.axis)
        result = block.compare("LT", second, first, grid, "SIGNED", flag)
        for x, aval, kind in reversed(keys):
            pairs = self._pairs(self.size, part, aval.dtype)
            mine = block.broadcast(x, aval, pairs, self._dims(self.axis))
            other, _ = self._broadcast_part(x, aval, self.size, part)
            below = block.compare("LT", other, mine, pairs, kind, flag)
            equal = block.compare("EQ", other, mine, pairs, kind, flag)
            both = block.elementwise("stablehlo.and", (equal, result), flag)
            result = block.elementwise("stablehlo.or", (below, both), flag)
        return result, flag

    def _broadcast_part(
        self, x: str, aval: Any, rows: int, part: tuple[int, int]
    ) -> tuple[str, Any]:
        """A part of each line along j, repeated over i."""
        axis = self.axis
        if part[1] - part[0] < self.size:
            low, high = [0] * aval.ndim, list(self.shape)
            low[axis], high[axis] = part
            cut = tuple([b - a for a, b in zip(low, high, strict=True)])
            out = ShapedArray(cut, aval.dtype)
            x, aval = concatenation.emit_slice(self.ctx, x, aval, out, low, high), out
        pairs = self._pairs(rows, part, aval.dtype)
        return self.ctx.block.broadcast(x, aval, pairs, self._dims(axis + 1)), pairs

    def _dims(self, own: int) -> list[int]:
        """Where the axes of an array stand among those of pairs."""
        dims = [d + (d > self.axis) for d in range(len(self.shape))]
        dims[self.axis] = own
        return dims

    def _pairs(self, rows: int, part: tuple[int, int], dtype: Any) -> Any:
        before, after = self.shape[: self.axis], self.shape[self.axis + 1 :]
        return ShapedArray((*before, rows, part[1] - part[0], *after), dtype)

    def _iota(self, aval: Any, axis: int) -> str:
        return self.ctx.block.iota(axis, aval)

    def _sum_pairs(self, x: str, pairs: Any) -> tuple[str, Any]:
        axis = self.axis + 1
        out = ShapedArray((*pairs.shape[:axis], *pairs.shape[axis + 1 :]), pairs.dtype)
        scalar = ShapedArray((), pairs.dtype)
        zero = self.ctx.block.constant(0, scalar)
        t = types.tensor_type
        total = self.ctx.block.emit(
            f"stablehlo.reduce({x} init: {zero}) applies stablehlo.add across "
            f"dimensions = [{axis}] : ({t(pairs)}, {t(scalar)}) -> {t(out)}"
        )
        return total, out

    def _total(self, parts: Sequence[tuple[str, Any]]) -> tuple[str, Any]:
        (total, aval), *others = parts
        for x, _ in others:
            total = self.ctx.block.elementwise("stablehlo.add", (total, x), aval)
        return total, aval
