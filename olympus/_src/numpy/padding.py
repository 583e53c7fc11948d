"""Arrays with elements added at their edges: constants, mirrors, ramps, statistics."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.sizes import as_size, is_symbolic, maximum
from olympus._src.lax import concatenation, families, runs, shaping
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import functional, indexing, promotion, quantiles, reductions
from olympus._src.numpy.promotion import aval_of, check_arraylike, program

_BY_INDEX = ("edge", "wrap", "reflect", "symmetric")
_STATISTICS: dict[str, Any] = {
    "maximum": reductions.max,
    "minimum": reductions.min,
    "mean": reductions.mean,
    "median": quantiles.median,
}
# Runs that are read as such, in place of single positions.
_MOST_RUNS = 8
# The one option that a mode has.
_OPTIONS = {
    "constant": "constant_values",
    "linear_ramp": "end_values",
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    **dict.fromkeys(_STATISTICS, "stat_length"),
}


def _pad_widths(width: Any, rank: int) -> tuple[tuple[int, int], ...]:
    if type(width) is int and width >= 0:
        return ((width, width),) * rank
    if isinstance(width, dict):
        pairs: list[tuple[int, ...]] = [(0, 0)] * rank
        for axis, value in width.items():
            i = sizes_.canonicalize_axis(axis, rank, "numpy.pad")
            pair = value if isinstance(value, (tuple, list)) else (value, value)
            pairs[i] = tuple(map(operator.index, pair))
        return tuple([(before, after) for before, after in pairs])
    if _is_symbolic_width(width):
        return _symbolic_widths(width, rank)
    values = np.asarray(width)
    if values.size and values.dtype.kind not in "iu":
        raise TypeError(
            f"numpy.pad: pad_width must be integers, got dtype {values.dtype}"
        )
    try:
        table = np.broadcast_to(values, (rank, 2))
    except ValueError:
        raise ValueError(
            f"numpy.pad: pad_width must be one number, one pair, or a pair for each of "
            f"the {rank} axes, got {width}"
        ) from None
    if (table < 0).any():
        raise ValueError(f"index can't contain negative values: numpy.pad got {width}")
    return tuple([(int(a), int(b)) for a, b in table])


def _is_symbolic_width(width: Any) -> bool:
    if isinstance(width, (list, tuple)):
        return any(map(_is_symbolic_width, width))
    return is_symbolic(width)


def _symbolic_widths(width: Any, rank: int) -> tuple[tuple[Any, Any], ...]:
    """Widths of which some are symbolic: one, a pair, or a pair for each axis."""
    if is_symbolic(width):
        pairs = ((width, width),) * rank
    elif any(isinstance(w, (list, tuple)) for w in width):
        rows = [tuple(w) if isinstance(w, (list, tuple)) else (w,) for w in width]
        rows = rows * rank if len(rows) == 1 else rows
        pairs = tuple([(row[0], row[-1]) for row in rows])
    else:
        pairs = ((width[0], width[-1]),) * rank
    if len(pairs) != rank:
        raise ValueError(
            f"numpy.pad: pad_width must be one number, one pair, or a pair for each of "
            f"the {rank} axes, got {width}"
        )
    pairs = tuple([(as_size(a), as_size(b)) for a, b in pairs])
    if any(w < 0 for pair in pairs for w in pair):
        raise ValueError(f"index can't contain negative values: numpy.pad got {width}")
    return pairs


def pad(
    array: ArrayLike,
    pad_width: int
    | Sequence[int]
    | Sequence[Sequence[int]]
    | ArrayLike
    | Mapping[int, int | tuple[int, int]],
    mode: str | Callable[..., Any] = "constant",
    **kwargs: Any,
) -> Array:
    """The array with elements added at its edges.

    Args:
      array: array.
      pad_width: how many before and after each axis: a number, a pair, a pair for each
        axis, or a dict of them by axis.
      mode: "constant" (with `constant_values`), "edge", "reflect", "symmetric", "wrap",
        "linear_ramp" (with `end_values`), "empty", or one of the statistics "maximum",
        "minimum", "mean", "median" (of `stat_length` elements from each edge; default
        all); "reflect" and "symmetric" take a `reflect_type` of "even" or "odd". Or a
        function of a padded line, the pair of its widths, the axis and a dict of
        further options, which returns the line.
      **kwargs: the mode's options.

    Raises:
      ValueError: a width is negative, or the mode has no such option.
      NotImplementedError: the mode is not implemented.

    Source: NumPy, `numpy.pad`.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.pad(onp.arange(3), 1)
      Array([0, 0, 1, 2, 0], dtype=int32)
    """
    check_arraylike("pad", array)
    widths = _pad_widths(pad_width, aval_of(array).ndim)
    if callable(mode):
        return _pad_by_function(array, widths, mode, kwargs)
    odd = [name for name in kwargs if name != _OPTIONS.get(mode)]
    if odd:
        raise ValueError(
            f"unsupported keyword arguments for mode {mode!r}: {sorted(odd)}"
        )
    if mode == "constant":
        values = kwargs.get("constant_values", 0)
        return _pad_constant(array, widths, values)
    if mode == "empty":
        return _pad_constant(array, widths, 0)
    if mode == "linear_ramp":
        ends = kwargs.get("end_values", 0)
        ends = np.asarray(ends) if isinstance(ends, (tuple, list)) else ends
        return _pad_ramp(array, ends, widths=widths)
    if mode in _BY_INDEX:
        kind = kwargs.get("reflect_type", "even")
        if kind not in ("even", "odd"):
            raise ValueError(
                f"numpy.pad: reflect_type must be 'even' or 'odd', got {kind!r}"
            )
        return _pad_by_index(array, widths=widths, mode=mode, odd=kind == "odd")
    if mode in _STATISTICS:
        lengths = _stat_lengths(kwargs.get("stat_length"), mode, len(widths))
        return _pad_statistic(array, widths=widths, mode=mode, lengths=lengths)
    raise NotImplementedError(
        f"numpy.pad: mode must be one of NumPy's, got {mode!r}; pad with concatenate"
    )


def _pad_constant(array: Any, widths: Any, values: Any) -> Any:
    if isinstance(values, (tuple, list)):
        values = np.asarray(values)
    check_arraylike("pad", 0, values)
    if aval_of(values).ndim == 0:
        return _pad_scalar(array, values, widths=widths)
    return _pad_each(array, values, widths=widths)


@program(2, name="pad")
def _pad_scalar(x: Any, value: Any, *, widths: Any) -> Any:
    value = lax.convert(value, aval_of(x).dtype, aval_of(x).weak_type)
    return concatenation.pad(x, value, [(a, b, 0) for a, b in widths])


@program(2, name="pad")
def _pad_each(x: Any, values: Any, *, widths: Any) -> Any:
    rank = len(widths)
    values = lax.convert(values, aval_of(x).dtype, False)
    values = promotion.full_shape(values, (rank, 2))
    for i, (before, after) in enumerate(widths):
        for j, n in enumerate((before, after)):
            value = shaping.squeeze(
                concatenation.slice_(values, (i, j), (i + 1, j + 1)), (0, 1)
            )
            edge = [(0, 0, 0)] * rank
            edge[i] = (0, n, 0) if j else (n, 0, 0)
            x = concatenation.pad(x, value, edge)
    return x


def _padded_positions(length: Any, before: Any, after: Any, mode: Any) -> Any:
    """The positions whose elements a padded axis has."""
    if all(type(n) is int for n in (length, before, after)):
        return np.pad(np.arange(length), (before, after), mode=mode).astype(np.int32)
    kind = np.dtype(np.int32)
    total = length + before + after

    def number(size: Any) -> Any:
        return promotion.full_shape(lax.size_value(size, kind), (total,))

    at = lax.sub(shaping.iota(kind, total), number(before))
    if mode == "edge":
        return lax.min_(lax.max_(at, number(0)), number(length - 1))
    # Copies, each the mirror image of its neighbours for two of the modes, repeat.
    period = length if mode == "wrap" else 2 * length - 2 * (mode == "reflect")
    period = maximum(period, 1)
    remainder = lax.rem(at, number(period))
    remainder = lax.select(
        lax.lt(remainder, number(0)), lax.add(remainder, number(period)), remainder
    )
    if mode == "wrap":
        return remainder
    back = 2 * length - 1 - (mode == "reflect")
    return lax.min_(remainder, lax.max_(lax.sub(number(back), remainder), number(0)))


@program(1, name="pad")
def _pad_by_index(x: Any, *, widths: Any, mode: Any, odd: bool) -> Any:
    rows: dict[int, list[runs.Run]] = {}
    for axis, (before, after) in enumerate(widths):
        length = aval_of(x).shape[axis]
        if before == 0 and after == 0:
            continue
        if not length:
            raise ValueError(
                f"can't extend empty axis {axis} using modes other than 'constant' or "
                "'empty'"
            )
        where = _padded_positions(length, before, after, mode)
        row = _find_runs(where, before, length)
        if odd and length > 1:
            out = _take_along(x, where, axis) if row is None else _take(x, {axis: row})
            x = _rotate_about_edge(x, out, axis, before, shared=mode == "reflect")
        elif row is None:
            x = _take_along(x, where, axis)
        else:
            rows[axis] = row
    return _take(x, rows)


def _find_runs(where: Any, before: int, length: int) -> list[runs.Run] | None:
    """The runs of a padded axis's positions, the axis itself one of them.

    None where they are too many: a read by position takes several times as long as that
    of slices, but not as a slice for each.
    """
    if type(where) is not np.ndarray:
        return None
    first = runs.find_runs(where[:before])
    last = runs.find_runs(where[before + length :])
    if len(first) + len(last) > _MOST_RUNS:
        return None
    return [*first, runs.Run(0, length, 1), *last]


def _take(x: Any, rows: Mapping[int, Sequence[runs.Run]]) -> Any:
    if not rows:
        return x
    return runs.take_runs(x, [rows.get(axis) for axis in range(aval_of(x).ndim)])


def _take_along(x: Any, where: Any, axis: int) -> Any:
    return indexing.getitem(x, (slice(None),) * axis + (where,))


def _rotate_about_edge(
    x: Any, mirrored: Any, axis: int, before: int, shared: bool
) -> Any:
    """Mirror images of `x` along an axis, turned about the edge they begin at.

    With `shared`, an image and what it mirrors have the edge's element in common. Two
    images make a period; over each the values rise by twice that from edge to edge.
    """
    n = aval_of(x).shape[axis]
    length = n - 1 if shared else n
    total = aval_of(mirrored).shape[axis]
    periods, offsets = np.divmod(np.arange(total) - before, 2 * length)
    turns = offsets > length if shared else offsets >= length
    dtype = aval_of(x).dtype
    first = concatenation.slice_in_dim(x, 0, 1, axis=axis)
    last = concatenation.slice_in_dim(x, n - 1, n, axis=axis)
    shape = aval_of(mirrored).shape

    def along(values: Any) -> Any:
        return shaping.broadcast_in_dim(values.astype(dtype), shape, (axis,))

    def wide(v: Any) -> Any:
        return shaping.broadcast_in_dim(v, shape, range(len(shape)))

    rise = lax.mul(along(2 * periods), wide(lax.sub(last, first)))
    image = lax.sub(lax.mul(along(np.full(total, 2)), wide(last)), mirrored)
    chosen = shaping.broadcast_in_dim(turns, shape, (axis,))
    return lax.add(lax.select(chosen, image, mirrored), rise)


@program(2, name="pad")
def _pad_ramp(x: Any, ends: Any, *, widths: Any) -> Any:
    kind, weak = aval_of(x).dtype, aval_of(x).weak_type
    rank = len(widths)
    exact = all(dtypes.kind(aval_of(v).dtype) in "iu" for v in (x, ends))
    exact = exact and max(n for pair in widths for n in pair) <= _LONGEST_INTEGER_RAMP
    working = np.dtype(np.float32) if dtypes.kind(kind) in "iub" else kind
    working = kind if exact else working
    rule = _integer_ramp if exact else _ramp
    ends = promotion.full_shape(lax.convert(ends, working, False), (rank, 2))
    for axis, pair in enumerate(widths):
        if tuple(pair) == (0, 0):
            continue
        pieces = [x, x, x]
        for j, n in enumerate(pair):
            length = aval_of(x).shape[axis]
            at = 0 if j == 0 else length - 1
            edge = concatenation.slice_in_dim(x, at, at + 1, axis=axis)
            edge = lax.convert(edge, working, False)
            end = concatenation.slice_(ends, (axis, j), (axis + 1, j + 1))
            sizes = [*aval_of(edge).shape]
            sizes[axis] = n
            end = shaping.broadcast_in_dim(shaping.squeeze(end, (0, 1)), sizes, ())
            edge = shaping.broadcast_in_dim(edge, sizes, range(rank))
            steps = np.arange(n) if j == 0 else np.arange(n)[::-1]
            ramp = rule(end, edge, steps, axis)
            if kind != working:
                ramp = lax.floor(ramp)
            pieces[2 * j] = lax.convert(ramp, kind, weak)
        x = concatenation.concatenate(pieces, axis)
    return x


# Products of two numbers up to this one fit in 32 bits.
_LONGEST_INTEGER_RAMP = 0xFFFF


def _ramp(end: Any, edge: Any, steps: np.ndarray, axis: int) -> Any:
    """Values on the way from an end to an edge, as many steps from it as are listed."""
    aval = aval_of(end)
    parts = (steps / len(steps) if len(steps) else steps).astype(aval.dtype)
    w = shaping.broadcast_in_dim(parts, aval.shape, (axis,))
    return lax.add(end, lax.mul(w, lax.sub(edge, end)))


def _integer_ramp(end: Any, edge: Any, steps: np.ndarray, axis: int) -> Any:
    """The same of integers, rounded down exactly.

    A product of floats that misses an integer from below would lose one.
    """
    aval = aval_of(end)
    kind = np.dtype(np.uint64 if aval.dtype.itemsize == 8 else np.uint32)
    n = families.full_like(lax.convert(end, kind, False), max(len(steps), 1))
    at = shaping.broadcast_in_dim(steps.astype(kind), aval.shape, (axis,))
    rises = lax.ge(edge, end)
    low, high = (lax.convert(v, kind, False) for v in (end, edge))
    distance = lax.select(rises, lax.sub(high, low), lax.sub(low, high))
    part = lax.mul(at, lax.rem(distance, n))
    # Rounding down on the way down is rounding the distance up.
    spare = lax.select(
        rises, families.full_like(n, 0), lax.sub(n, families.full_like(n, 1))
    )
    moved = lax.add(lax.mul(at, lax.div(distance, n)), lax.div(lax.add(part, spare), n))
    out = lax.select(rises, lax.add(low, moved), lax.sub(low, moved))
    return lax.convert(out, aval.dtype, False)


def _stat_lengths(stat_length: Any, mode: str, rank: int) -> Any:
    """For each axis, how many elements from either edge; None for all of them."""
    if stat_length is None:
        return ((None, None),) * rank
    lengths = _pad_widths(stat_length, rank)
    if mode in ("maximum", "minimum") and any(0 in pair for pair in lengths):
        raise ValueError("stat_length of 0 yields no value for padding; numpy.pad")
    return lengths


@program(1, name="pad")
def _pad_statistic(x: Any, *, widths: Any, mode: str, lengths: Any) -> Any:
    aval = aval_of(x)
    for axis, (pair, counts) in enumerate(zip(widths, lengths, strict=True)):
        n = aval_of(x).shape[axis]
        pieces = [x]
        for at_end, (width, count) in enumerate(zip(pair, counts, strict=True)):
            count = n if count is None else min(count, n)
            start = n - count if at_end else 0
            part = concatenation.slice_in_dim(x, start, start + count, axis=axis)
            statistic = _STATISTICS[mode](part, axis=axis, keepdims=True)
            if dtypes.kind(aval.dtype) in "iu" and mode in ("mean", "median"):
                statistic = lax.round(statistic, lax.RoundingMethod.TO_NEAREST_EVEN)
            statistic = lax.convert(statistic, aval.dtype, aval.weak_type)
            sizes = list(aval_of(x).shape)
            sizes[axis] = width
            piece = shaping.broadcast_in_dim(statistic, sizes, range(len(sizes)))
            pieces.insert(len(pieces) if at_end else 0, piece)
        x = concatenation.concatenate(pieces, axis)
    return x


def _pad_by_function(array: Any, widths: Any, fun: Any, options: Any) -> Any:
    x = _pad_constant(array, widths, 0)
    for axis, pair in enumerate(widths):
        x = functional.apply_along_axis(fun, axis, x, pair, axis, options)
    return x
