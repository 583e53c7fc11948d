"""Positions of extremes where another program is better than a fold of positions.

For floats on the CPU, with little for XLA to compile: the extreme comes from XLA's own
fold, which is quick and loses NaN. That does not matter: it is compared with the
elements, and a position of NaN goes before all that are equal to it. So what is left
is a fold of positions, of two kinds at once. See decision 27.

For long arrays elements and positions are folded together, which takes no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.primitive import Primitive
from olympus._src.lax import (
    comparison,
    families,
    nan_extremes,
    sharding_rules,
    sizes,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import types

_I32, _F32 = np.dtype(np.int32), np.dtype(np.float32)
_FLOATS = (_F32, np.dtype(np.float64))
_SMALL = 1 << 8  # elements up to which XLA's fold of pairs runs quicker
# Along shorter axes that fold is as quick; it was twice as quick along 40.
_SHORT = 128
_EXACT = 1 << 24  # up to which floats hold all integers
# Integers from which the memory for their positions costs more than a fold of pairs
# does: those of one byte fold quickly by themselves, others only along outer axes.
_MANY_BYTES, _MANY = 1 << 25, 1 << 17


def emit_instead(largest: bool) -> Callable[..., Any]:
    """The field `rewrite` of `argmax` and `argmin`."""

    def rewrite(platform: str, x: Any, *, axes: Any, index_dtype: Any) -> Any:
        instead = _choose(platform, x, axes[0])
        if instead is None:
            return None
        return lambda x: instead.bind(
            x, axes=axes, index_dtype=index_dtype, largest=largest
        )

    return rewrite


def _choose(platform: str, x: Any, axis: int) -> Primitive | None:
    """What finds positions along an axis; None for a fold of positions."""
    size = x.shape[axis]
    if type(size) is int and size > sizes.MAX_NARROW:
        return paired_extreme_p
    if platform != "cpu" or type(x.size) is not int:
        return None
    if x.dtype == _F32 and x.size > _SMALL and _SHORT < size < _EXACT:
        return first_extreme_p
    if x.dtype.kind not in "iu":
        return None
    is_inner = x.dtype.itemsize > 1 and axis == x.ndim - 1
    return paired_extreme_p if x.size > (_MANY if is_inner else _MANY_BYTES) else None


# -- lowering --------------------------------------------------------------------------


class _Lines:
    """What the parts of the lowering share: a block, and types."""

    __slots__ = ("aval", "axis", "block", "hlo", "out", "size", "start")

    def __init__(
        self, block: Any, aval: Any, out: Any, axis: int, largest: bool
    ) -> None:
        self.block, self.aval, self.axis = block, aval, axis
        self.out = ShapedArray(out.shape, aval.dtype)
        self.size = self.aval.shape[axis]
        self.hlo = "stablehlo.maximum" if largest else "stablehlo.minimum"
        limit = families.lowest if largest else families.highest
        self.start = limit(self.aval.dtype)

    def like(self, dtype: Any) -> Any:
        """The operand's type with other elements."""
        return ShapedArray(self.aval.shape, dtype)

    def out_like(self, dtype: Any) -> Any:
        """The result's type with other elements."""
        return ShapedArray(self.out.shape, dtype)

    def select(self, which: str, x: str, y: str, aval: Any) -> str:
        """Elements of `x` where flags hold, else of `y`."""
        return _emit_select(self.block, which, x, y, aval)

    def fold_pairs(self, operands: Any, avals: Any, starts: Any, combine: Any) -> Any:
        """Writes one reduction of two arrays; `combine` writes what it applies."""
        block, scalars = self.block, [ShapedArray((), a.dtype) for a in avals]
        inner = block.inner()
        names = inner.arguments(scalars * 2)
        return block.op(
            "stablehlo.reduce",
            [*operands, *map(block.constant, starts, scalars)],
            [*avals, *scalars],
            [self.out_like(a.dtype) for a in avals],
            f"dimensions = {types.i64_array([self.axis])}",
            [inner.region(names, scalars * 2, combine(inner, names), scalars)],
        )


def _emit_select(block: Any, which: str, x: str, y: str, aval: Any) -> str:
    flags = types.tensor_type(ShapedArray(aval.shape, np.bool_))
    kind = types.tensor_type(aval)
    return str(block.emit(f"stablehlo.select {which}, {x}, {y} : {flags}, {kind}"))


def _lower(ctx: Any, x: str, *, axes: Any, index_dtype: Any, largest: bool) -> str:
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    lines = _Lines(ctx.block, aval, out, axes[0], largest)
    flag, block = lines.like(np.bool_), lines.block
    extreme = nan_extremes.emit_fold(
        block,
        lines.hlo,
        x,
        block.constant(lines.start, ShapedArray((), lines.aval.dtype)),
        lines.aval,
        lines.out,
        axes,
    )
    kept_axes = [a for a in range(lines.aval.ndim) if a != lines.axis]
    extreme = block.broadcast(extreme, lines.out, lines.aval, kept_axes)
    is_extreme = block.compare("EQ", x, extreme, lines.aval, "FLOAT", flag)
    is_nan = block.compare("NE", x, x, lines.aval, "FLOAT", flag)
    is_last = lines.axis == lines.aval.ndim - 1
    emit = _emit_pairs if is_last else _emit_floats
    position, kind = emit(lines, is_nan, is_extreme)
    return str(lines.block.convert(position, kind, out))


def _emit_pairs(lines: _Lines, is_nan: str, is_extreme: str) -> tuple[str, Any]:
    """The least position of a NaN beside that of an extreme, as integers."""
    block, aval, out = lines.block, lines.like(_I32), lines.out_like(_I32)
    at, never = block.iota(lines.axis, aval), block.splat(lines.size, aval)
    places = [lines.select(which, at, never, aval) for which in (is_nan, is_extreme)]
    scalar = ShapedArray((), _I32)

    def combine(inner: Any, names: Any) -> list[str]:
        pairs = zip(names[:2], names[2:], strict=True)
        return [inner.elementwise("stablehlo.minimum", p, scalar) for p in pairs]

    first_nan, first = lines.fold_pairs(places, [aval] * 2, [lines.size] * 2, combine)
    has_nan = block.compare(
        "LT", first_nan, block.splat(lines.size, out), out, "SIGNED",
        lines.out_like(np.bool_),
    )  # fmt: skip
    return lines.select(has_nan, first_nan, first, out), out


def _emit_floats(lines: _Lines, is_nan: str, is_extreme: str) -> tuple[str, Any]:
    """The least of both as floats, which fold quickest along axes but the last.

    Positions of NaN are counted from minus the size.
    """
    block, aval, out = lines.block, lines.like(_F32), lines.out_like(_F32)
    at = block.convert(block.iota(lines.axis, lines.like(_I32)), lines.like(_I32), aval)
    size = block.splat(lines.size, aval)
    place = lines.select(is_extreme, at, size, aval)
    below = block.elementwise("stablehlo.subtract", (at, size), aval)
    place = lines.select(is_nan, below, place, aval)
    start = block.constant(lines.size, ShapedArray((), _F32))
    minimum = "stablehlo.minimum"
    least = nan_extremes.emit_fold(
        block, minimum, place, start, aval, out, [lines.axis]
    )
    flag, zero = lines.out_like(np.bool_), block.splat(0, out)
    has_nan = block.compare("LT", least, zero, out, "FLOAT", flag)
    shifted = block.elementwise(
        "stablehlo.add", (least, block.splat(lines.size, out)), out
    )
    return lines.select(has_nan, shifted, least, out), out


def _lower_pairs(
    ctx: Any, x: str, *, axes: Any, index_dtype: Any, largest: bool
) -> str:
    """One fold of elements beside their positions, of which the least wins."""
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    wide = _whole_bytes(aval)  # XLA folds pairs of one width of layout only
    if wide.dtype != aval.dtype:
        x = ctx.block.convert(x, aval, wide)
    lines = _Lines(ctx.block, wide, out, axes[0], largest)
    counter = sizes.position_dtype(lines.size)
    place = lines.like(counter)
    avals = [ShapedArray((), lines.aval.dtype), ShapedArray((), counter)]

    def combine(inner: Any, names: Any) -> list[str]:
        return _emit_better(inner, names, avals, largest)

    _, position = lines.fold_pairs(
        [x, lines.block.iota(lines.axis, place)],
        [lines.aval, place],
        [lines.start, lines.size],
        combine,
    )
    return str(lines.block.convert(position, lines.out_like(counter), out))


def _whole_bytes(aval: Any) -> Any:
    """The type with elements of at least a byte, in the same order."""
    if dtypes.itemsize_bits(aval.dtype) >= 8:
        return aval
    if dtypes.issubdtype(aval.dtype, np.floating):
        return ShapedArray(aval.shape, _F32)
    is_signed = dtypes.issubdtype(aval.dtype, np.signedinteger)
    return ShapedArray(aval.shape, np.dtype(np.int8 if is_signed else np.uint8))


def _emit_better(block: Any, names: Any, avals: Any, largest: bool) -> list[str]:
    """The better of two elements, the first of equal ones, and its position."""
    x, at, y, other = names
    value, place = avals
    flag = ShapedArray((), np.bool_)
    kind = comparison.comparison_kind(value.dtype, False)

    def compare(how: str, a: str, b: str) -> str:
        return str(block.compare(how, a, b, value, kind, flag))

    def join(how: str, a: str, b: str) -> str:
        return str(block.elementwise(f"stablehlo.{how}", (a, b), flag))

    better, equal = compare("GT" if largest else "LT", x, y), compare("EQ", x, y)
    if dtypes.issubdtype(value.dtype, np.floating):  # NaN is better than all others
        is_nan, is_other_nan = compare("NE", x, x), compare("NE", y, y)
        better = join("or", better, join("and", is_nan, compare("EQ", y, y)))
        equal = join("or", equal, join("and", is_nan, is_other_nan))
    before = str(block.compare("LT", at, other, place, "SIGNED", flag))
    better = join("or", better, join("and", equal, before))
    return [
        _emit_select(block, better, x, y, value),
        _emit_select(block, better, at, other, place),
    ]


# -- the record ------------------------------------------------------------------------


def _reference(x: Any, *, axes: Any, index_dtype: Any, largest: bool) -> Any:
    return (np.argmax if largest else np.argmin)(x, axes[0]).astype(index_dtype)


def _abstract(x: Any, *, axes: Any, index_dtype: Any, largest: bool) -> Any:
    families.check_axes("first_extreme", x, axes)
    if x.dtype not in _FLOATS or len(axes) != 1 or not x.shape[axes[0]]:
        raise TypeError(
            f"first_extreme: requires float32 or float64 and one axis that is not "
            f"empty, got {x.short()} and axes {axes}; use lax.argmax"
        )
    shape = tuple([s for i, s in enumerate(x.shape) if i not in axes])
    return ShapedArray(shape, index_dtype)


def _paired_abstract(x: Any, *, axes: Any, index_dtype: Any, largest: bool) -> Any:
    families.check_dtype("paired_extreme", x, families.ORDERED)
    families.check_axes("paired_extreme", x, axes)
    if len(axes) != 1 or not x.shape[axes[0]]:
        raise TypeError(
            "paired_extreme: requires one axis that is not empty, got "
            f"{x.short()} and axes {axes}; use lax.argmax"
        )
    shape = tuple([s for i, s in enumerate(x.shape) if i not in axes])
    return ShapedArray(shape, index_dtype)


def _primitive(name: str, abstract: Any, lower: Any) -> Primitive:
    return Primitive(
        name,
        shard=sharding_rules.argmax,
        abstract=abstract,
        lower=lower,
        reference=_reference,
        batch=families.reduction_batch,
        jvp=families.no_tangent,
        may_make_nan=False,
    )


first_extreme_p = _primitive("first_extreme", _abstract, _lower)
paired_extreme_p = _primitive("paired_extreme", _paired_abstract, _lower_pairs)
