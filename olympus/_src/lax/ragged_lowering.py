"""Ragged contractions as StableHLO.

Operands are brought in a plain form first: `p` problems of `r` rows each. On CPU a loop
goes over blocks of rows that lie in one group, so that work grows with the rows and not
with rows times groups; elsewhere, and for small ones, rows of other groups are zeros.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.lax import families
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.precision import precision_text
from olympus._src.lowering import types

_FLAG = np.dtype(np.bool_)
_SMALL = 2**17  # multiplications up to which zeros are cheaper than a loop
_BLOCKS = (8, 256)  # the least and the most rows at a time


def write(
    ctx: Any,
    operands: Sequence[str],
    numbers: Any,
    mode: str,
    outer: Sequence[int],
    precision: Any,
) -> str:
    """Writes the contraction; see `lax.ragged` for the parameters."""
    if mode == "batch":
        return _plain(ctx, operands, numbers, precision)
    form = _Form(ctx, operands, numbers, mode, outer, precision)
    if form.is_dynamic:  # what is cheaper depends on the sizes
        product, aval = _emit_masked(form)
        return ctx.block.reshape(product, aval, form.out)
    if not math.prod(form.out.shape) or not form.rows or not form.groups:
        return ctx.block.splat(0, form.out)
    work = math.prod((form.problems, form.rows, form.groups, *form.x.shape[2:]))
    work *= form.y.shape[-1]
    looped = ctx.platform == "cpu" and form.groups > 1 and work > _SMALL
    product, aval = _loop(form) if looped else _emit_masked(form)
    return ctx.block.reshape(product, aval, form.out)


def _plain(ctx: Any, operands: Any, numbers: Any, precision: Any) -> str:
    block, (out,) = ctx.block, ctx.avals_out
    x, y = (
        _widen_operand(block, v, a, out)
        for v, a in zip(operands[:2], ctx.avals_in[:2], strict=True)
    )
    return _emit_dot(ctx, x, y, numbers.dot_dimension_numbers, out, precision)


def _widen_operand(block: Any, x: str, aval: Any, out: Any) -> tuple[str, Any]:
    """An operand in the dtype of the sum."""
    wide = ShapedArray(aval.shape, out.dtype)
    return block.convert(x, aval, wide), wide


def _emit_dot(
    ctx: Any, x: Any, y: Any, dims: Any, out: Any, precision: Any, block: Any = None
) -> str:
    (x, ax), (y, ay) = x, y
    (cx, cy), (bx, by) = dims
    lists, t = types.int_list, types.tensor_type
    batching = f" batching_dims = {lists(bx)} x {lists(by)}," if bx else ""
    exact = precision_text(precision, ctx.platform, ax, ay)
    return (block or ctx.block).emit(
        f"stablehlo.dot_general {x}, {y},{batching} contracting_dims = "
        f"{lists(cx)} x {lists(cy)}{exact} : ({t(ax)}, {t(ay)}) -> {t(out)}"
    )


class _Form:
    """The contraction in plain form.

    Attributes:
      x: type of the first operand, [p, r, k]; or [p, r, m] if rows are contracted.
      y: type of the second, [g, b, k, n]; or [p, r, n].
      first, second: their names.
      starts, ends: names of the groups' bounds [p, g], as rows of a problem.
      problems, rows, groups, batches: p, r, g, b; p is a multiple of b.
      is_dynamic: whether sizes are known by name only.
    """

    def __init__(
        self,
        ctx: Any,
        operands: Any,
        numbers: Any,
        mode: str,
        outer: Sequence[int],
        precision: Any,
    ) -> None:
        self.ctx, self.block, self.precision = ctx, ctx.block, precision
        (self.out,) = ctx.avals_out
        self.is_dynamic = any(map(types.has_symbolic_size, (*ctx.avals_in, self.out)))
        self.contracted = mode == "contracted"
        ax, ay, _ = ctx.avals_in
        (cx, cy), (bx, by) = numbers.dot_dimension_numbers
        (ragged,), group = numbers.lhs_ragged_dimensions, numbers.rhs_group_dimensions
        x_free = [d for d in range(ax.ndim) if d not in (*cx, *bx)]
        y_free = [d for d in range(ay.ndim) if d not in (*cy, *by, *group)]
        cut = list(cx) if self.contracted else x_free
        inner = cut[cut.index(ragged) + 1 :]
        self.batches = _size(ax, bx)
        self.problems = _size(ax, outer)
        self.repeats = _size(ax, inner)  # rows that belong to one ragged index
        self.length = ax.shape[ragged]
        self.rows = self.length * self.repeats
        self.groups = ctx.avals_in[2].shape[-1]
        lead = (self.problems, self.rows)
        last_axes = x_free if self.contracted else list(cx)
        self.first, self.x = self._arrange_operand(
            operands[0],
            ax,
            [*outer, ragged, *inner, *last_axes],
            (*lead, _size(ax, last_axes)),
        )
        columns = _size(ay, y_free)
        if self.contracted:
            order, shape = [*by, *cy, *y_free], [*lead, columns]
        else:
            order = [*group, *by, *cy, *y_free]
            shape = [self.groups, self.batches, _size(ay, cy), columns]
        self.second, self.y = self._arrange_operand(operands[1], ay, order, shape)
        self._bound(operands[2], [ax.shape[d] for d in outer])

    def _arrange_operand(
        self, x: str, aval: Any, order: Any, shape: Any
    ) -> tuple[str, Any]:
        """An operand in the dtype of the sum, its axes in another order and merged."""
        x, aval = _widen_operand(self.block, x, aval, self.out)
        permuted_aval = ShapedArray(tuple([aval.shape[d] for d in order]), aval.dtype)
        if list(order) != sorted(order):
            x = families.emit_transpose(self.ctx, x, aval, permuted_aval, order)
        merged = ShapedArray(tuple(shape), aval.dtype)
        return self.block.reshape(x, permuted_aval, merged), merged

    def _bound(self, sizes: str, outer: list[int]) -> None:
        """Where groups start and end, by sums over the groups up to each."""
        block, aval = self.block, self.ctx.avals_in[2]
        wide = not self.is_dynamic and self.problems * self.rows * self.groups >= 2**31
        self.count = np.dtype(np.int64 if wide else np.int32)
        table = self._counts(self.problems, self.groups)
        sizes = block.convert(sizes, aval, ShapedArray(aval.shape, self.count))
        aval = ShapedArray(aval.shape, self.count)
        if aval.ndim == 1:
            sizes = block.broadcast(sizes, aval, table, (1,))
        else:
            sizes = block.reshape(sizes, aval, table)
        low, high = block.splat(0, table), block.splat(self.length, table)
        t = types.tensor_type(table)
        sizes = block.emit(f"stablehlo.clamp {low}, {sizes}, {high} : {t}")
        square = self._counts(self.problems, self.groups, self.groups)
        repeated = block.broadcast(sizes, table, square, (0, 2))
        earlier = self._compare_integers(
            "LE", self.iota(square, 2), self.iota(square, 1), square
        )
        earlier_sizes = self.chosen(earlier, repeated, block.splat(0, square), square)
        scalar = self._counts()
        ends = block.emit(
            f"stablehlo.reduce({earlier_sizes} init: {block.constant(0, scalar)}) "
            "applies stablehlo.add across dimensions = [2] : "
            f"({types.tensor_type(square)}, {types.tensor_type(scalar)}) -> {t}"
        )
        starts = block.elementwise("stablehlo.subtract", (ends, sizes), table)
        times = block.splat(self.repeats, table)
        self.table = table
        self.starts, self.ends = (
            block.elementwise(
                "stablehlo.multiply",
                (block.elementwise("stablehlo.minimum", (v, high), table), times),
                table,
            )
            for v in (starts, ends)
        )

    def _counts(self, *shape: int) -> Any:
        return ShapedArray(shape, self.count)

    def iota(self, aval: Any, axis: int, block: Any = None) -> str:
        """Positions along an axis."""
        return (block or self.block).iota(axis, aval)

    def _compare_integers(
        self, how: str, a: str, b: str, aval: Any, block: Any = None
    ) -> str:
        flag = ShapedArray(aval.shape, _FLAG)
        return (block or self.block).compare(how, a, b, aval, "SIGNED", flag)

    def inside(self, row: str, low: str, high: str, aval: Any, block: Any) -> str:
        """Whether `low <= row < high`."""
        above = self._compare_integers("LE", low, row, aval, block)
        below = self._compare_integers("LT", row, high, aval, block)
        flag = ShapedArray(aval.shape, _FLAG)
        return block.elementwise("stablehlo.and", (above, below), flag)

    def chosen(self, flag: str, a: str, b: str, aval: Any, block: Any = None) -> str:
        """`a` where the flag is set, else `b`."""
        kind = types.tensor_type(ShapedArray(aval.shape, _FLAG))
        return (block or self.block).emit(
            f"stablehlo.select {flag}, {a}, {b} : {kind}, {types.tensor_type(aval)}"
        )

    def dot(self, x: Any, y: Any, dims: Any, out: Any, block: Any = None) -> str:
        """A product of plain arrays."""
        return _emit_dot(self.ctx, x, y, dims, out, self.precision, block)


def _size(aval: Any, dims: Sequence[int]) -> int:
    return math.prod([aval.shape[d] for d in dims])


# -- by zeros --------------------------------------------------------------------------


def _emit_masked(form: _Form) -> tuple[str, Any]:
    """Each group times all rows, of which those of other groups are zero."""
    block, t = form.block, types.tensor_type
    p, r, g, dtype = form.problems, form.rows, form.groups, form.out.dtype
    grid = ShapedArray((g, p, r), form.count)
    low, high = (_spread(form, v, grid) for v in (form.starts, form.ends))
    flag = form.inside(form.iota(grid, 2), low, high, grid, block)
    wide = ShapedArray((g, p, r, form.x.shape[-1]), dtype)
    flag = block.broadcast(
        flag, ShapedArray(grid.shape, _FLAG), ShapedArray(wide.shape, _FLAG), (0, 1, 2)
    )
    rows = block.broadcast(form.first, form.x, wide, (1, 2, 3))
    rows = form.chosen(flag, rows, block.splat(0, wide), wide)
    n, b = form.y.shape[-1], form.batches
    if not form.contracted:
        each = ShapedArray((g, p, *form.y.shape[2:]), dtype)
        split = ShapedArray((g, b, p // b, *form.y.shape[2:]), dtype)
        second = block.broadcast(form.second, form.y, split, (0, 1, 3, 4))
        second = block.reshape(second, split, each)
        dims = ((0, 3), (0, 2)), ((1,), (1,))
        out = ShapedArray((p, r, n), dtype)
        return form.dot((rows, wide), (second, each), dims, out), out
    out = ShapedArray((p, g, wide.shape[-1], n), dtype)
    product = form.dot(
        (rows, wide), (form.second, form.y), (((2,), (1,)), ((1,), (0,))), out
    )
    split = ShapedArray((b, p // b, *out.shape[1:]), dtype)
    product = block.reshape(product, out, split)
    summed, scalar = ShapedArray((b, *out.shape[1:]), dtype), ShapedArray((), dtype)
    product = block.emit(
        f"stablehlo.reduce({product} init: {block.constant(0, scalar)}) applies "
        f"stablehlo.add across dimensions = [1] : ({t(split)}, {t(scalar)}) -> "
        f"{t(summed)}"
    )
    permuted_aval = ShapedArray((g, b, *out.shape[2:]), dtype)
    order = (1, 0, 2, 3)
    return families.emit_transpose(
        form.ctx, product, summed, permuted_aval, order
    ), permuted_aval


def _spread(form: _Form, bounds: str, grid: Any) -> str:
    """Bounds [p, g] along the rows of a grid [g, p, r]."""
    permuted_aval = ShapedArray((form.groups, form.problems), form.count)
    bounds = families.emit_transpose(
        form.ctx, bounds, form.table, permuted_aval, (1, 0)
    )
    return form.block.broadcast(bounds, permuted_aval, grid, (0, 1))


# -- by blocks of rows -----------------------------------------------------------------


def _loop(form: _Form) -> tuple[str, Any]:
    """Blocks of rows, one after another; each lies within one group.

    All problems' rows stand in one list, and so do all groups; the loop carries the
    next row. Which group that is in is how many end at it or before.
    """
    block, p = form.block, form.problems
    flat = ShapedArray((p * form.rows, form.x.shape[-1]), form.out.dtype)
    rows = block.reshape(form.first, form.x, flat)
    entries = ShapedArray((p * form.groups,), form.count)
    offset = block.elementwise(
        "stablehlo.multiply",
        (form.iota(form.table, 0), block.splat(form.rows, form.table)),
        form.table,
    )
    starts, ends = (
        block.reshape(
            block.elementwise("stablehlo.add", (v, offset), form.table),
            form.table,
            entries,
        )
        for v in (form.starts, form.ends)
    )
    tiles = _Tiles(form, flat, entries)
    step = tiles.contract if form.contracted else tiles.multiply
    if form.contracted:
        second_shape: Any = (p * form.rows, form.y.shape[-1])
        shape: Any = (form.groups * form.batches, flat.shape[1], form.y.shape[-1])
    else:
        second_shape = (form.groups * form.batches, *form.y.shape[2:])
        shape = (flat.shape[0], form.y.shape[-1])
    second_aval = ShapedArray(second_shape, form.out.dtype)
    second = block.reshape(form.second, form.y, second_aval)
    total = ShapedArray(shape, form.out.dtype)
    state = [block.constant(0, tiles.counter), block.splat(0, total)]
    carried = [tiles.counter, total]
    test, body = block.inner(), block.inner()
    names = test.arguments(carried)
    more = tiles.more(test, names[0], ends)
    regions = [test.region(names, carried, [more], [tiles.flag])]
    names = body.arguments(carried)
    following, tile = tiles.next(body, names[0], starts, ends)
    new_total = step(body, tile, names[1], total, rows, (second, second_aval))
    regions.append(body.region(names, carried, [following, new_total], carried))
    return block.op("stablehlo.while", state, carried, carried, "", regions)[1], total


class _Tiles:
    """Writes the parts of the loop over blocks of rows."""

    def __init__(self, form: _Form, flat: Any, entries: Any) -> None:
        self.form, self.flat, self.entries = form, flat, entries
        self.counter = ShapedArray((), form.count)
        self.flag = ShapedArray((), _FLAG)
        share = form.problems * form.rows // (form.problems * form.groups)
        size = 1 << max(share, 1).bit_length()
        self.size = min(max(size, _BLOCKS[0]), _BLOCKS[1], flat.shape[0])

    def more(self, block: Any, row: str, ends: str) -> str:
        """Whether a group ends behind the next row."""
        last = self._read_entry(
            block, ends, self._constant(block, self.entries.shape[0] - 1)
        )
        return block.compare("LT", row, last, self.counter, "SIGNED", self.flag)

    def next(self, block: Any, row: str, starts: str, ends: str) -> Any:
        """The next block: the row after it, and (group, first slice row, flags)."""
        entries, counter = self.entries, self.counter
        spread = block.broadcast(row, counter, entries, ())
        flags = ShapedArray(entries.shape, _FLAG)
        over = block.compare("LE", ends, spread, entries, "SIGNED", flags)
        over = block.convert(over, flags, entries)
        t = types.tensor_type
        entry = block.emit(
            f"stablehlo.reduce({over} init: {self._constant(block, 0)}) applies "
            f"stablehlo.add across dimensions = [0] : ({t(entries)}, {t(counter)}) -> "
            f"{t(counter)}"
        )
        start = self._binary(
            block, "maximum", row, self._read_entry(block, starts, entry)
        )
        stop = self._binary(block, "add", start, self._constant(block, self.size))
        stop = self._binary(
            block, "minimum", stop, self._read_entry(block, ends, entry)
        )
        last_start = self._constant(block, self.flat.shape[0] - self.size)
        first = self._binary(block, "minimum", start, last_start)
        column = ShapedArray((self.size,), counter.dtype)
        low, high, base = (
            block.broadcast(v, counter, column, ()) for v in (start, stop, first)
        )
        positions = block.elementwise(
            "stablehlo.add", (base, self.form.iota(column, 0, block)), column
        )
        return stop, (
            entry,
            first,
            self.form.inside(positions, low, high, column, block),
        )

    def multiply(
        self, block: Any, tile: Any, out: str, total: Any, rows: str, second: Any
    ) -> str:
        """Rows of the block times the group's matrix, written in their places."""
        entry, first, inside = tile
        form = self.form
        zero = self._constant(block, 0)
        block_rows, block_rows_aval = self._rows(block, rows, self.flat, first)
        g, per = self._constant(block, form.groups), form.problems // form.batches
        problem = self._binary(block, "divide", entry, g)
        batch = self._binary(block, "divide", problem, self._constant(block, per))
        index = self._binary(block, "remainder", entry, g)
        index = self._binary(
            block, "multiply", index, self._constant(block, form.batches)
        )
        index = self._binary(block, "add", index, batch)
        name, aval = second
        thin = ShapedArray((1, *aval.shape[1:]), aval.dtype)
        matrix = self._slice(block, name, aval, (index, zero, zero), thin)
        flat = ShapedArray(thin.shape[1:], aval.dtype)
        matrix = block.reshape(matrix, thin, flat)
        out_aval = ShapedArray((self.size, total.shape[1]), total.dtype)
        dims = ((1,), (0,)), ((), ())
        new = form.dot(
            (block_rows, block_rows_aval), (matrix, flat), dims, out_aval, block
        )
        old = self._slice(block, out, total, (first, zero), out_aval)
        new = form.chosen(
            self._wide(block, inside, out_aval), new, old, out_aval, block
        )
        return block.dynamic_update_slice(
            out, total, new, out_aval, (first, zero), self.counter
        )

    def contract(
        self, block: Any, tile: Any, out: str, total: Any, rows: str, second: Any
    ) -> str:
        """The contraction of the block's rows, added to its group's."""
        entry, first, inside = tile
        form = self.form
        zero = self._constant(block, 0)
        name, aval = second
        parts = []
        for x, kind in ((rows, self.flat), (name, aval)):
            block_rows, thin = self._rows(block, x, kind, first)
            flags = self._wide(block, inside, thin)
            masked_rows = form.chosen(
                flags, block_rows, block.splat(0, thin), thin, block
            )
            parts.append((masked_rows, thin))
        group_aval = ShapedArray((1, *total.shape[1:]), total.dtype)
        flat = ShapedArray(total.shape[1:], total.dtype)
        dims = ((0,), (0,)), ((), ())
        new = form.dot(parts[0], parts[1], dims, flat, block)
        new = block.reshape(new, flat, group_aval)
        per = self._constant(block, form.groups * (form.problems // form.batches))
        batch = self._binary(block, "divide", entry, per)
        index = self._binary(
            block, "remainder", entry, self._constant(block, form.groups)
        )
        index = self._binary(
            block, "multiply", index, self._constant(block, form.batches)
        )
        index = self._binary(block, "add", index, batch)
        place = (index, zero, zero)
        old = self._slice(block, out, total, place, group_aval)
        summed = block.elementwise("stablehlo.add", (old, new), group_aval)
        return block.dynamic_update_slice(
            out, total, summed, group_aval, place, self.counter
        )

    def _constant(self, block: Any, value: int) -> str:
        return block.constant(value, self.counter)

    def _binary(self, block: Any, op: str, a: str, b: str) -> str:
        return block.elementwise(f"stablehlo.{op}", (a, b), self.counter)

    def _read_entry(self, block: Any, table: str, position: str) -> str:
        thin = ShapedArray((1,), self.counter.dtype)
        one = self._slice(block, table, self.entries, (position,), thin)
        return block.reshape(one, thin, self.counter)

    def _rows(self, block: Any, x: str, aval: Any, first: str) -> tuple[str, Any]:
        thin = ShapedArray((self.size, aval.shape[1]), aval.dtype)
        place = (first, self._constant(block, 0))
        return self._slice(block, x, aval, place, thin), thin

    def _wide(self, block: Any, flags: str, aval: Any) -> str:
        column = ShapedArray((self.size,), _FLAG)
        return block.broadcast(flags, column, ShapedArray(aval.shape, _FLAG), (0,))

    def _slice(self, block: Any, x: str, aval: Any, place: Any, thin: Any) -> str:
        t = types.tensor_type
        counters = ", ".join([t(self.counter)] * len(place))
        return block.emit(
            f"stablehlo.dynamic_slice {x}, {', '.join(place)}, sizes = "
            f"{types.int_list(thin.shape)} : ({t(aval)}, {counters}) -> {t(thin)}"
        )
