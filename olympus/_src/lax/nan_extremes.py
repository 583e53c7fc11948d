"""Maxima and minima that keep NaN, on the CPU.

Where XLA folds by `maximum` or `minimum`, in a reduction or a window, it writes vector
instructions that forget a NaN as soon as a number follows. Between whole arrays it does
not. So folds compare instead, and reductions of axes find out on the side whether there
is a NaN. See decision 27.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import types

_PIECES = 8
_LARGE = 1 << 16  # elements from which a shorter second pass pays
_SHORT = 32  # XLA splits folds of more elements in two, each with a loop to compile
_FEW = 16  # elements folded by halves
# What they are where each element of the array is compared with them, as in a softmax:
# XLA folds again for each. Of 16 x 60 that took twice as long in a loop.
_MOST_AGAIN = 1 << 8
_FEWEST_SUMMED = 1 << 12  # elements; of fewer XLA compiles a loop of its own
# Elements folded along axes before the last by one fold of pairs, in arrays that XLA
# has no library for. Two folds of fewer are quicker, and pairs of more not vectorised.
_FEWEST_PAIRS, _MOST_PAIRS = 8, 64
# Elements of a row of which a fold of pairs takes longer than one that may lose NaN.
_ROW = 8
DIRECTIONS = {"stablehlo.maximum": "GT", "stablehlo.minimum": "LT"}


def loses_nan(platform: str, dtype: Any) -> bool:
    """Whether XLA's folds by `maximum` and `minimum` must be replaced."""
    return platform == "cpu" and dtypes.issubdtype(dtype, np.floating)


def suits_library(aval: Any) -> bool:
    """Whether XLA has a kernel for folds of an array: compiled before, without NaN."""
    return not types.has_symbolic_size(aval) and aval.size >= _FEWEST_SUMMED


def suits_plain_fold(aval: Any, axes: Any) -> bool:
    """Whether folds that may lose NaN are quicker than those that keep it."""
    if types.has_symbolic_size(aval) or aval.dtype.itemsize < 4:
        return suits_library(aval)
    is_row = aval.ndim - 1 in axes and 0 < _count_folded(aval, axes) <= _ROW
    return suits_library(aval) or (is_row and not _is_short(aval, axes))


def widens(platform: str, dtype: Any) -> bool:
    """Whether comparisons in folds take long, and less in float32."""
    return loses_nan(platform, dtype) and dtypes.itemsize_bits(dtype) < 32


def emit_first(block: Any, hlo: str, x: str, y: str, aval: Any) -> str:
    """Writes the extreme of two by comparing: `x` if it is further out or NaN."""
    flag = ShapedArray(aval.shape, np.bool_)
    further = block.compare(DIRECTIONS[hlo], x, y, aval, "FLOAT", flag)
    strange = block.compare("NE", x, x, aval, "FLOAT", flag)
    first = block.elementwise("stablehlo.or", (further, strange), flag)
    return _emit_select(block, first, x, y, flag, aval)


def emit_reduce(ctx: Any, hlo: str, identity: Any, x: str, axes: Any) -> str:
    """Writes a reduction of axes that is NaN where an element is.

    A few elements are folded by halves of the array. Along the last axis the extreme
    and the flag are one fold of pairs, which costs nothing more. Along others XLA does
    not vectorise pairs, so in large arrays there are two folds, of which that for NaN
    is a sum if it can be, or for 16-bit floats one of integers.
    """
    block, (aval,), (out,) = ctx.block, ctx.avals_in, ctx.avals_out
    pairs = aval.ndim - 1 in axes
    if not axes:
        return x
    if _is_short(aval, axes):
        return _emit_short(block, hlo, x, aval, out, axes)
    if aval.dtype.itemsize >= 4 and _suits_pairs(aval, axes):
        pairs = True
    if not pairs:
        x, aval = _fold_pieces(block, hlo, x, aval, axes)
    if aval.dtype.itemsize == 2 and not pairs:
        return _emit_ordered(block, hlo, identity(aval.dtype), x, aval, out, axes)
    if aval.dtype.itemsize < 4:
        return _emit_wide(ctx, hlo, identity, x, axes, pairs)
    return _emit(block, hlo, identity(aval.dtype), x, aval, out, axes, pairs)


def _is_short(aval: Any, axes: Any) -> bool:
    """Whether few elements are folded, in an array that takes no time."""
    if types.has_symbolic_size(aval) or aval.dtype.itemsize < 2:
        return False
    folded = _count_folded(aval, axes)
    return 0 < folded <= _FEW and folded * aval.size <= _MOST_AGAIN


def _suits_pairs(aval: Any, axes: Any) -> bool:
    """Whether pairs are quicker than two folds along axes before the last."""
    if types.has_symbolic_size(aval) or suits_library(aval):
        return False
    return _FEWEST_PAIRS < _count_folded(aval, axes) <= _MOST_PAIRS


def _count_folded(aval: Any, axes: Any) -> int:
    return math.prod(aval.shape[axis] for axis in axes)


def _emit_short(block: Any, hlo: str, x: str, aval: Any, out: Any, axes: Any) -> str:
    """Halves combined elementwise until one is left, which XLA fuses with their use."""
    for axis in axes:
        while (n := aval.shape[axis]) > 1:
            half = n // 2
            shape = list(aval.shape)
            shape[axis] = n - half
            piece = ShapedArray(tuple(shape), aval.dtype)
            low, high = [0] * aval.ndim, list(aval.shape)
            high[axis] = n - half
            first = block.slice(x, aval, piece, low, high)
            low[axis], high[axis] = half, n
            second = block.slice(x, aval, piece, low, high)
            x, aval = block.elementwise(hlo, (first, second), piece), piece
    return block.reshape(x, aval, out)


def _fold_pieces(block: Any, hlo: str, x: str, aval: Any, axes: Any) -> tuple[str, Any]:
    """Pieces of a long axis folded as whole arrays, which keeps NaN in one pass."""
    if types.has_symbolic_size(aval) or aval.size < _LARGE or aval.dtype.itemsize < 4:
        return x, aval
    axis = max(axes, key=lambda a: aval.shape[a])
    many = aval.shape[axis]
    size = many // _PIECES
    if size < _PIECES:
        return x, aval
    pieces = []
    shape = list(aval.shape)
    shape[axis] = size
    piece = ShapedArray(tuple(shape), aval.dtype)
    # The last piece ends at the end; what it repeats changes nothing.
    for start in [*range(0, many - size, size), many - size]:
        low, high = [0] * aval.ndim, list(aval.shape)
        low[axis], high[axis] = start, start + size
        pieces.append(block.slice(x, aval, piece, low, high))
    best = pieces[0]
    for other in pieces[1:]:
        best = block.elementwise(hlo, (best, other), piece)
    return best, piece


def _emit_wide(ctx: Any, hlo: str, identity: Any, x: str, axes: Any, pairs: Any) -> str:
    """The same through float32, which has what small floats lack."""
    block, (aval,), (out,) = ctx.block, ctx.avals_in, ctx.avals_out
    wide, wide_out = (ShapedArray(a.shape, np.float32) for a in (aval, out))
    x = block.convert(x, aval, wide)
    start = np.float32(identity(aval.dtype))
    best = _emit(block, hlo, start, x, wide, wide_out, axes, pairs)
    return block.convert(best, wide_out, out)


def _emit_ordered(
    block: Any, hlo: str, start: Any, x: str, aval: Any, out: Any, axes: Any
) -> str:
    """The same by integers in the order of the floats; beyond all of them are NaNs."""
    keys, keys_out, scalar = (
        ShapedArray(shape, np.int16) for shape in (aval.shape, out.shape, ())
    )
    limits = np.iinfo(np.int16)
    beyond = limits.max if hlo == "stablehlo.maximum" else limits.min
    flag = ShapedArray(aval.shape, np.bool_)
    strange = block.compare("NE", x, x, aval, "FLOAT", flag)
    key = _emit_flip(block, _emit_bitcast(block, x, aval, keys), keys)
    key = _emit_select(block, strange, block.splat(beyond, keys), key, flag, keys)
    bits = np.asarray(start, aval.dtype).view(np.int16)
    least = block.constant(bits ^ limits.max if bits < 0 else bits, scalar)
    best = emit_fold(block, hlo, key, least, keys, keys_out, axes)
    return _emit_bitcast(block, _emit_flip(block, best, keys_out), keys_out, out)


def _emit_flip(block: Any, key: str, aval: Any) -> str:
    """Bits of floats to integers in their order, and back: below 0 all but the sign."""
    signs = block.elementwise(
        "stablehlo.shift_right_arithmetic", (key, block.splat(15, aval)), aval
    )
    mask = block.elementwise(
        "stablehlo.and", (signs, block.splat(np.iinfo(np.int16).max, aval)), aval
    )
    return str(block.elementwise("stablehlo.xor", (key, mask), aval))


def _emit_bitcast(block: Any, x: str, aval: Any, out: Any) -> str:
    t = types.tensor_type
    return str(block.emit(f"stablehlo.bitcast_convert {x} : ({t(aval)}) -> {t(out)}"))


def _emit(
    block: Any, hlo: str, start: Any, x: str, aval: Any, out: Any, axes: Any, pairs: Any
) -> str:
    start = block.constant(start, ShapedArray((), aval.dtype))
    if not pairs and _has_sums(aval, axes):
        return _emit_beside_sum(block, hlo, start, x, aval, out, axes)
    flag = ShapedArray(aval.shape, np.bool_)
    strange = block.compare("NE", x, x, aval, "FLOAT", flag)
    fold = _emit_pairs if pairs else _emit_apart
    best, has_nan = fold(block, hlo, start, x, strange, aval, out, axes)
    nan = block.splat(np.nan, out)
    return _emit_select(
        block, has_nan, nan, best, ShapedArray(out.shape, np.bool_), out
    )


def _has_sums(aval: Any, axes: Any) -> bool:
    """Whether XLA has a library's sum, where it would split a fold of flags in two."""
    if types.has_symbolic_size(aval) or aval.dtype != np.float32:
        return False
    return aval.size >= _FEWEST_SUMMED and _count_folded(aval, axes) > _SHORT


def _emit_beside_sum(
    block: Any, hlo: str, start: str, x: str, aval: Any, out: Any, axes: Any
) -> str:
    """The fold beside the sum of magnitudes, which is NaN only if an element is.

    No two of them cancel, not even infinite ones, and a sum keeps NaN.
    """
    magnitude = block.elementwise("stablehlo.abs", (x,), aval)
    zero = block.constant(0, ShapedArray((), aval.dtype))
    total = emit_fold(block, "stablehlo.add", magnitude, zero, aval, out, axes)
    best = emit_fold(block, hlo, x, start, aval, out, axes)
    flag = ShapedArray(out.shape, np.bool_)
    has_nan = block.compare("NE", total, total, out, "FLOAT", flag)
    return _emit_select(block, has_nan, block.splat(np.nan, out), best, flag, out)


def _emit_pairs(
    block: Any,
    hlo: str,
    start: str,
    x: str,
    strange: str,
    aval: Any,
    out: Any,
    axes: Any,
) -> tuple[str, str]:
    """One fold; flags are integers as wide as the elements, for vectors of both."""
    kind = np.dtype(f"i{aval.dtype.itemsize}")
    flags, flags_out = (ShapedArray(a.shape, kind) for a in (aval, out))
    strange = block.convert(strange, ShapedArray(aval.shape, np.bool_), flags)
    scalars = [ShapedArray((), aval.dtype), ShapedArray((), kind)]
    no = block.constant(0, scalars[1])
    inner = block.inner()
    names = inner.arguments(scalars * 2)
    outs = [
        inner.elementwise(hlo, names[::2], scalars[0]),
        inner.elementwise("stablehlo.or", names[1::2], scalars[1]),
    ]
    best, count = block.op(
        "stablehlo.reduce",
        [x, strange, start, no],
        [aval, flags, *scalars],
        [out, flags_out],
        f"dimensions = {types.i64_array(axes)}",
        [inner.region(names, scalars * 2, outs, scalars)],
    )
    zero = block.splat(0, flags_out)
    flag = ShapedArray(out.shape, np.bool_)
    return best, block.compare("NE", count, zero, flags_out, "SIGNED", flag)


def _emit_apart(
    block: Any,
    hlo: str,
    start: str,
    x: str,
    strange: str,
    aval: Any,
    out: Any,
    axes: Any,
) -> tuple[str, str]:
    flag, flag_out = (ShapedArray(a.shape, np.bool_) for a in (aval, out))
    no = block.constant(False, ShapedArray((), np.bool_))
    best = emit_fold(block, hlo, x, start, aval, out, axes)
    return best, emit_fold(block, "stablehlo.or", strange, no, flag, flag_out, axes)


def emit_fold(
    block: Any, hlo: str, x: str, start: str, aval: Any, out: Any, axes: Any
) -> str:
    """Writes a reduction of axes by one operation."""
    t = types.tensor_type
    return str(
        block.emit(
            f"stablehlo.reduce({x} init: {start}) applies {hlo} across dimensions = "
            f"{types.int_list(axes)} : ({t(aval)}, "
            f"{t(ShapedArray((), aval.dtype))}) -> {t(out)}"
        )
    )


def _emit_select(block: Any, which: str, x: str, y: str, flag: Any, aval: Any) -> str:
    t = types.tensor_type
    return str(block.emit(f"stablehlo.select {which}, {x}, {y} : {t(flag)}, {t(aval)}"))
