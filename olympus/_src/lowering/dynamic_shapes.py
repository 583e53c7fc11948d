"""Operations with symbolic sizes, as StableHLO text.

A program lowered for shapes such as (b, 3) computes each size where it is needed: a
dimension variable is a scalar that the function is given, an expression of variables is
arithmetic on those, and operations that state sizes take them as operands. When the
program is compiled for actual shapes, the compiler folds this arithmetic and what is
left is the static program.

Everything that depends on this is here: `Block` calls these functions where a type has
a dynamic size, and writes the static operation elsewhere.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals as avals_
from olympus._src.core import dtypes
from olympus._src.core import sizes as sizes_
from olympus._src.lowering import types

ShapedArray = avals_.ShapedArray
SIZE = ShapedArray((), np.dtype(np.int32))
_ONE = ShapedArray((1,), SIZE.dtype)
_FLAG = ShapedArray((), np.dtype(np.bool_))

# -- sizes as scalars ------------------------------------------------------------------


class Size:
    """A size that the program computes, with the arithmetic of sizes.

    Attributes:
      name: of a 32-bit integer scalar.
    """

    __slots__ = ("block", "name")

    def __init__(self, block: Any, name: str) -> None:
        self.block = block
        self.name = name

    def combined(self, op: str, other: Any, swapped: bool = False) -> Size:
        """One operation on this size and another."""
        pair = (self.name, scalar(self.block, other))
        pair = pair[::-1] if swapped else pair
        return Size(self.block, self.block.elementwise(f"stablehlo.{op}", pair, SIZE))

    def __add__(self, other: Any) -> Size:
        return self if _is(other, 0) else self.combined("add", other)

    def __radd__(self, other: Any) -> Size:
        return self + other

    def __sub__(self, other: Any) -> Size:
        return self if _is(other, 0) else self.combined("subtract", other)

    def __rsub__(self, other: Any) -> Size:
        return self.combined("subtract", other, swapped=True)

    def __mul__(self, other: Any) -> Size:
        return self if _is(other, 1) else self.combined("multiply", other)

    def __rmul__(self, other: Any) -> Size:
        return self * other

    def __neg__(self) -> Size:
        return 0 - self

    def __pow__(self, power: int) -> Size:
        out = self
        for _ in range(power - 1):
            out = out * self
        return out

    def __mod__(self, other: Any) -> Size:
        """The remainder with the divisor's sign; the operation has the dividend's."""
        if _is(other, 1):
            return self * 0
        other = _not_zero(self.block, other)
        part = self.combined("remainder", other) + other
        return part.combined("remainder", other)

    def __rmod__(self, other: Any) -> Size:
        return Size(self.block, scalar(self.block, other)) % self

    def __floordiv__(self, other: Any) -> Size:
        if _is(other, 1):
            return self
        other = _not_zero(self.block, other)
        return (self - self % other).combined("divide", other)

    def __rfloordiv__(self, other: Any) -> Size:
        return Size(self.block, scalar(self.block, other)) // self


def _not_zero(block: Any, divisor: Any) -> Any:
    """A divisor that is 1 where it would be zero: such a size is refused elsewhere.

    Sizes are computed before the program is compiled, by dividing.
    """
    if type(divisor) is int:
        return divisor
    is_zero = emit_size_comparison(block, "EQ", divisor, 0)
    names = scalar(block, 1), divisor.name
    kinds = f"{types.tensor_type(_FLAG)}, {types.tensor_type(SIZE)}"
    text = f"stablehlo.select {is_zero}, {', '.join(names)} : {kinds}"
    return Size(block, block.emit(text))


def _is(other: Any, number: int) -> bool:
    return type(other) is int and other == number


def larger(x: Any, y: Any) -> Any:
    """The larger of two sizes, computed or known."""
    return _combine_sizes(max, "maximum", x, y)


def smaller(x: Any, y: Any) -> Any:
    """The smaller of two sizes, computed or known."""
    return _combine_sizes(min, "minimum", x, y)


def _combine_sizes(known: Any, op: str, x: Any, y: Any) -> Any:
    if type(x) is Size:
        return x.combined(op, y)
    return y.combined(op, x) if type(y) is Size else known(x, y)


def emit_size_comparison(block: Any, direction: str, x: Any, y: Any) -> str:
    """The name of the boolean result of comparing two sizes, computed or known."""
    names = scalar(block, x), scalar(block, y)
    return block.compare(direction, *names, SIZE, "SIGNED", _FLAG)


class Arithmetic:
    """The operations of `symbolic.evaluate` on computed sizes."""

    max = staticmethod(larger)
    min = staticmethod(smaller)
    floordiv = staticmethod(operator.floordiv)
    mod = staticmethod(operator.mod)


def scalar(block: Any, size: Any) -> str:
    """The name of a size: known, computed, or an expression of variables."""
    if type(size) is Size:
        return size.name
    return block.dimension(size)


def dimension(block: Any, size: Any) -> str:
    """The name of a 32-bit scalar with the value of a size; see `Block.dimension`."""
    if not sizes_.is_symbolic(size):
        return block.constant(int(size), SIZE)
    name = block.constants.get(("size", size))
    if name is None:
        name = scalar(block, to_size(block, size))
        block.constants["size", size] = name
    return name


def to_size(block: Any, size: Any) -> Any:
    """A size as a `Size`, or as an integer where it is known."""
    if not sizes_.is_symbolic(size):
        return int(size)
    env = {name: Size(block, _variable(block, name)) for name in size.get_vars()}
    return size.evaluate(env, Arithmetic)


def _variable(block: Any, name: str) -> str:
    operand = block.sizes.get(name)
    if operand is None:
        raise ValueError(
            f"lowering: sizes must be known, or computed from those of the arguments, "
            f"got the dimension variable {name!r}; programs of symbolic shapes are "
            "lowered by olympus.export.export"
        )
    return operand


def row(block: Any, sizes: Sequence[Any]) -> str:
    """The name of a vector of 32-bit integers with the values of sizes."""
    key = ("sizes", tuple(sizes))
    name = block.constants.get(key)
    if name is None:
        name = block.constants[key] = _row(block, sizes)
    return name


def row_below(block: Any, sizes: Sequence[Any], aval: Any) -> str:
    """The name of a vector of sizes in another integer dtype, at most its largest."""
    top = dtypes.iinfo(aval.dtype).max
    whole = row_aval(len(sizes))
    if top < dtypes.iinfo(whole.dtype).max:
        sizes = [smaller(to_size(block, s), int(top)) for s in sizes]
    return block.convert(row(block, sizes), whole, aval)


def row_aval(count: int) -> Any:
    """The type of a vector of sizes."""
    return ShapedArray((count,), SIZE.dtype)


def _row(block: Any, sizes: Sequence[Any]) -> str:
    whole = row_aval(len(sizes))
    if not any(_is_dynamic(s) for s in sizes):
        return block.constant(np.array(sizes, SIZE.dtype), whole)
    parts = [
        block.emit(
            f"stablehlo.reshape {scalar(block, s)} : "
            f"({types.tensor_type(SIZE)}) -> {types.tensor_type(_ONE)}"
        )
        for s in sizes
    ]
    if len(parts) == 1:
        return parts[0]
    kinds = ", ".join([types.tensor_type(_ONE)] * len(parts))
    return block.emit(
        f"stablehlo.concatenate {', '.join(parts)}, dim = 0 : ({kinds}) -> "
        f"{types.tensor_type(whole)}"
    )


def _is_dynamic(size: Any) -> bool:
    return type(size) is Size or sizes_.is_symbolic(size)


def any_symbolic(sizes: Sequence[Any]) -> bool:
    """Whether a size among these is symbolic."""
    return any(sizes_.is_symbolic(s) for s in sizes)


# -- operations ------------------------------------------------------------------------


def shape_row(block: Any, aval: Any) -> tuple[str, Any]:
    """The sizes of the buffer of an aval, as a vector; and the vector's type."""
    sizes = types.physical(aval)[0]
    return row(block, sizes), row_aval(len(sizes))


def broadcast(block: Any, x: str, aval: Any, out: Any, dims: Sequence[int]) -> str:
    """`stablehlo.dynamic_broadcast_in_dim`."""
    sizes, kind = shape_row(block, out)
    return block.op1(
        "stablehlo.dynamic_broadcast_in_dim",
        [x, sizes],
        [aval, kind],
        out,
        f"broadcast_dimensions = {types.i64_array(dims)}",
    )


def reshape(block: Any, x: str, aval: Any, out: Any) -> str:
    """`stablehlo.dynamic_reshape`."""
    sizes, kind = shape_row(block, out)
    return block.op1("stablehlo.dynamic_reshape", [x, sizes], [aval, kind], out)


def iota(block: Any, dimension: int, out: Any) -> str:
    """`stablehlo.dynamic_iota`."""
    sizes, kind = shape_row(block, out)
    return block.op1(
        "stablehlo.dynamic_iota",
        [sizes],
        [kind],
        out,
        f"iota_dimension = {dimension} : i64",
    )


def slice_(
    block: Any,
    x: str,
    aval: Any,
    out: Any,
    starts: Sequence[Any],
    limits: Sequence[Any],
    strides: Sequence[Any],
) -> str:
    """`stablehlo.real_dynamic_slice`."""
    kind = row_aval(len(starts))
    rows = [row(block, r) for r in (starts, limits, strides)]
    return block.op1(
        "stablehlo.real_dynamic_slice", [x, *rows], [aval, kind, kind, kind], out
    )


def slice_at(
    block: Any, x: str, aval: Any, out: Any, starts: Sequence[str], kind: Any
) -> str:
    """A slice of dynamic sizes at computed positions, which are clamped.

    Args:
      block, x, aval, out: as elsewhere.
      starts: names of the positions, scalars of type `kind`.
      kind: their type.
    """
    have, want = types.physical(aval)[0], types.physical(out)[0]
    whole = row_aval(len(want))
    sizes = row(block, want)
    first = row(block, [Size(block, block.convert(s, kind, SIZE)) for s in starts])
    last_start = row(
        block,
        [
            to_size(block, d) - to_size(block, s)
            for d, s in zip(have, want, strict=True)
        ],
    )
    zeros, ones = row(block, [0] * len(want)), row(block, [1] * len(want))
    # Refinement knows the slice's sizes by this form: a limit that is start plus sizes.
    start = block.elementwise("stablehlo.clamp", (zeros, first, last_start), whole)
    limit = block.elementwise("stablehlo.add", (start, sizes), whole)
    kinds = [aval, whole, whole, whole]
    return block.op1(
        "stablehlo.real_dynamic_slice", [x, start, limit, ones], kinds, out
    )


def pad(
    block: Any,
    operands: Sequence[str],
    in_avals: Sequence[Any],
    out: Any,
    lows: Sequence[Any],
    highs: Sequence[Any],
    interiors: Sequence[Any],
) -> str:
    """`stablehlo.dynamic_pad` of an array and the value that fills."""
    kind = row_aval(len(lows))
    rows = [row(block, r) for r in (lows, highs, interiors)]
    return block.op1(
        "stablehlo.dynamic_pad",
        [*operands, *rows],
        [*in_avals, kind, kind, kind],
        out,
    )


def gather(
    block: Any,
    operands: Sequence[str],
    in_avals: Sequence[Any],
    out: Any,
    slice_sizes: Sequence[Any],
    attributes: str,
) -> str:
    """`stablehlo.dynamic_gather`."""
    return block.op1(
        "stablehlo.dynamic_gather",
        [*operands, row(block, slice_sizes)],
        [*in_avals, row_aval(len(slice_sizes))],
        out,
        attributes,
    )


def pairs(block: Any, padding: Sequence[Sequence[Any]]) -> tuple[str, Any]:
    """Padding of each axis, as an array [n, 2]; and its type."""
    flat = [p for pair in padding for p in pair]
    kind = ShapedArray((len(padding), 2), SIZE.dtype)
    name = row(block, flat)
    return block.reshape(name, row_aval(len(flat)), kind), kind


def custom_call(
    block: Any,
    target: str,
    operands: Sequence[str],
    in_avals: Sequence[Any],
    out_avals: Sequence[Any],
    attributes: str = "",
) -> list[str]:
    """A custom call that shape refinement knows by name."""
    text = f"call_target_name = {types.string(target)}"
    text += f", {attributes}" if attributes else ""
    return block.op("stablehlo.custom_call", operands, in_avals, out_avals, text)


def result_shapes(
    block: Any, out_avals: Sequence[Any], first: int
) -> tuple[list[str], list[Any], str]:
    """Operands that give shape refinement the shapes of a custom call's results.

    Args:
      block: where to write.
      out_avals: the types of the results.
      first: how many operands the call has without these.

    Returns:
      Their names, their types, and the attribute that says which they are.
    """
    rows = [shape_row(block, aval) for aval in out_avals]
    places = list(range(first, first + len(rows)))
    text = (
        f"indices_of_shape_operands = dense<{types.int_list(places)}> : "
        f"tensor<{len(places)}xi64>"
    )
    return [name for name, _ in rows], [kind for _, kind in rows], text
