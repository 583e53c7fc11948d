"""Arithmetic, elementwise: sums, products, fixed powers, extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike
from olympus._src.core.primitive import Cost, Exact, Remade
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.lax import (
    complex_extremes,
    division,
    elementwise_rules,
    families,
    nan_extremes,
    sharding_rules,
)
from olympus._src.lax.choice import as_element_type, clamp_p, select_n, unchanged
from olympus._src.lax.comparison import eq
from olympus._src.lax.families import ShapedArray, elementwise
from olympus._src.lowering import types

# The exponent from which on a reciprocal of a common number is one too.
_WIDE_EXPONENT = 128

neg_p = elementwise(
    "neg",
    shard=sharding_rules.linear_elementwise,
    accepts=families.NUMERIC,
    hlo="stablehlo.negate",
    reference=np.negative,
    derivatives=(lambda t, out, x: neg(t),),
    transpose=lambda cts, x: [elementwise_rules.map_zero(neg, cts[0], x)],
    cost=Cost.BITS,
    remade=Remade.OF_OPERAND,
    may_make_nan=False,
    taylor=families.linear_series(),
    exact=Exact.NUMBERS,
)


def _add_transpose(cts: Any, x: Any, y: Any) -> Any:
    return elementwise_rules.transpose_each(cts, (x, y), _same, _same)


def _same(ct: Any) -> Any:
    return ct


def _sub_transpose(cts: Any, x: Any, y: Any) -> Any:
    return elementwise_rules.transpose_each(cts, (x, y), _same, neg)


def _mul_transpose(cts: Any, x: Any, y: Any) -> Any:
    (ct,) = cts
    known, unknown = (y, x) if type(x) is Linear else (x, y)
    out = Zero(unknown.aval)
    if type(ct) is not Zero:
        out = elementwise_rules.unspread(mul(ct, known), unknown.aval)
    return [out, None] if unknown is x else [None, out]


def _div_transpose(cts: Any, x: Any, y: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval), None]
    return [elementwise_rules.unspread(div(ct, y), x.aval), None]


add_p = elementwise(
    "add",
    shard=sharding_rules.linear_elementwise,
    hlo="stablehlo.add",
    accepts=families.NUMERIC,
    reference=np.add,
    derivatives=(lambda t, out, x, y: t, lambda t, out, x, y: t),
    transpose=_add_transpose,
    cost=Cost.CHEAP,
    remade=Remade.OF_RESIDUALS,
    taylor=families.linear_series(),
    exact=Exact.NUMBERS,
)
sub_p = elementwise(
    "sub",
    shard=sharding_rules.linear_elementwise,
    hlo="stablehlo.subtract",
    accepts=families.NUMERIC,
    reference=np.subtract,
    derivatives=(lambda t, out, x, y: t, lambda t, out, x, y: neg(t)),
    transpose=_sub_transpose,
    cost=Cost.CHEAP,
    remade=Remade.OF_RESIDUALS,
    taylor=families.linear_series(),
    exact=Exact.NUMBERS,
)
mul_p = elementwise(
    "mul",
    shard=sharding_rules.product,
    hlo="stablehlo.multiply",
    accepts=families.NUMERIC,
    reference=np.multiply,
    derivatives=(
        lambda t, out, x, y: mul(t, y),
        lambda t, out, x, y: mul(x, t),
    ),
    transpose=_mul_transpose,
    cost=Cost.CHEAP,
    remade=Remade.OF_RESIDUALS,
    taylor=families.bilinear_series,
    exact=Exact.NUMBERS,
)


def _mulhi_lower(ctx: Any, x: str, y: str) -> str:
    """The product in twice the width; the compiler has no such operation everywhere."""
    out = ctx.avals_out[0]
    signed = dtypes.issubdtype(out.dtype, np.signedinteger)
    if out.dtype.itemsize == 8:
        return _mulhi_by_halves(ctx, x, y, signed)
    wide = ShapedArray(out.shape, np.dtype(np.int64 if signed else np.uint64))
    x, y = ctx.block.convert(x, out, wide), ctx.block.convert(y, out, wide)
    whole = ctx.block.elementwise("stablehlo.multiply", (x, y), wide)
    by = ctx.block.splat(8 * out.dtype.itemsize, wide)
    shift = "arithmetic" if signed else "logical"
    high = ctx.block.elementwise(f"stablehlo.shift_right_{shift}", (whole, by), wide)
    return ctx.block.convert(high, wide, out)


def _mulhi_by_halves(ctx: Any, x: str, y: str, signed: bool) -> str:
    """Four products of 32 bits and their carry; negative operands are 2**64 less."""
    block, out = ctx.block, ctx.avals_out[0]
    words = ShapedArray(out.shape, np.dtype(np.uint64))

    def write(op: str, a: str, b: str, aval: Any = words) -> str:
        return block.elementwise(f"stablehlo.{op}", (a, b), aval)

    def bits(v: str) -> str:
        return block.op1("stablehlo.bitcast_convert", [v], [out], words)

    half, mask = block.splat(32, words), block.splat(2**32 - 1, words)
    a, b = (bits(x), bits(y)) if signed else (x, y)
    (a_low, a_high), (b_low, b_high) = (
        (write("and", v, mask), write("shift_right_logical", v, half)) for v in (a, b)
    )
    cross_products = write("multiply", a_low, b_high), write("multiply", a_high, b_low)
    carry = write("shift_right_logical", write("multiply", a_low, b_low), half)
    high = write("multiply", a_high, b_high)
    for v in cross_products:
        carry = write("add", carry, write("and", v, mask))
        high = write("add", high, write("shift_right_logical", v, half))
    high = write("add", high, write("shift_right_logical", carry, half))
    if not signed:
        return high
    sign = block.splat(63, out)
    for v, other in ((x, b), (y, a)):
        negative = bits(write("shift_right_arithmetic", v, sign, out))
        high = write("subtract", high, write("and", negative, other))
    return block.op1("stablehlo.bitcast_convert", [high], [words], out)


def _mulhi_reference(x: Any, y: Any) -> Any:
    whole = np.asarray(x, object) * np.asarray(y, object)
    return np.asarray(whole >> (8 * x.dtype.itemsize)).astype(x.dtype)


mulhi_p = elementwise(
    "mulhi",
    accepts=families.INT,
    lower=_mulhi_lower,
    reference=_mulhi_reference,
    derivatives=(None, None),
)


def _div_reference(x: Any, y: Any) -> Any:
    if np.issubdtype(x.dtype, np.integer):
        return (np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))).astype(x.dtype)
    return np.divide(x, y)


def _div_taylor(series: Any) -> Any:
    """From `out * y = x`, term by term."""
    x, y = series
    out = [div_p.bind(x[0], y[0])]
    for k in range(1, len(x)):
        coefficient: Any = x[k]
        for i in range(1, k + 1):
            if type(y[i]) is not Zero and type(out[k - i]) is not Zero:
                term = mul(y[i], out[k - i])
                coefficient = (
                    neg(term) if type(coefficient) is Zero else sub(coefficient, term)
                )
        if type(coefficient) is not Zero:
            coefficient = families.spread_tangent(div(coefficient, y[0]), out[0])
        else:
            coefficient = Zero(avals.aval_of(out[0]).to_tangent())
        out.append(coefficient)
    return out


def _div_checkify(checks: Any, x: Any, y: Any) -> Any:
    checks.divisor(y)
    out = div_p.bind(x, y)
    checks.numbers(div_p, [out])
    return out


def _div_by_x(t: Any, out: Any, x: Any, y: Any) -> Any:
    return div(t, y)


def _div_by_y(t: Any, out: Any, x: Any, y: Any) -> Any:
    if avals.aval_of(y).shape != avals.aval_of(out).shape:  # a scalar
        return _div_by_less(t, out, x, y, lambda value: value)
    return neg(div(mul(t, out), y))


def _div_by_less(t: Any, out: Any, x: Any, y: Any, repeat: Any) -> Any:
    """The tangent of `x / repeat(y)`, by that of y: what is less is divided.

    Reverse mode sums before it divides. The quotient is made again, by a product: XLA
    would divide for each element where it sums. The sign keeps XLA from sharing
    the repeated `1 / y`, which it divides the other cotangent by.
    """
    if dtypes.finfo(avals.aval_of(out).dtype).maxexp < _WIDE_EXPONENT:
        return mul(repeat(neg(div(t, y))), out)  # 1 / y would be zero or infinite
    minus_reciprocal = div(families.scalar_like(y, -1), y)
    quotient = mul(x, repeat(minus_reciprocal))
    return mul(repeat(neg(mul(t, minus_reciprocal))), quotient)


def _div_jvp_by_spread(
    primals: Any, tangents: Any, source: Any, source_tangent: Any, repeat: Any
) -> Any:
    x, y = primals
    out = div_p.bind(x, y)
    tangent = _div_by_less(source_tangent, out, x, source, repeat)
    if type(tangents[0]) is not Zero:
        by_x = families.spread_tangent(div(tangents[0], y), out)
        tangent = families.add_tangents(by_x, tangent)
    return out, tangent


def _div_lower(ctx: Any, x: str, y: str) -> str:
    return division.emit_quotient(ctx, x, y)


div_p = elementwise(
    "div",
    lower=_div_lower,
    accepts=families.NUMERIC,
    reference=_div_reference,
    derivatives=(_div_by_x, _div_by_y),
    jvp_by_spread=_div_jvp_by_spread,
    transpose=_div_transpose,
    checkify=_div_checkify,
    taylor=_div_taylor,
    cost=Cost.EXPENSIVE,
    exact=Exact.FLOATS,
    cost_by_spread=Cost.CHEAP,  # XLA multiplies by what it has divided 1 by
)


def _half_on_ties(t: Any, mine: Any, out: Any, other: Any) -> Any:
    """The share of a tangent that goes to an operand of max or min; ties are halved."""
    one, half, zero = (families.scalar_like(out, v) for v in (1, 0.5, 0))
    won = select_n(eq(mine, out), zero, one)
    return mul(t, mul(won, select_n(eq(mine, other), one, half)))


def _extreme_lower(op: str) -> Any:
    """Complex numbers are in order by their real parts, then by the others."""

    def lower(ctx: Any, x: str, y: str) -> str:
        out = ctx.avals_out[0]
        if ctx.block.folds and nan_extremes.loses_nan(ctx.platform, out.dtype):
            return nan_extremes.emit_first(ctx.block, op, x, y, out)
        if dtypes.issubdtype(out.dtype, np.complexfloating):
            return complex_extremes.emit(ctx.block, op, x, y, out)
        return ctx.block.elementwise(op, (x, y), out)

    return lower


max_p = elementwise(
    "max",
    lower=_extreme_lower("stablehlo.maximum"),
    reference=np.maximum,
    derivatives=(
        lambda t, out, x, y: _half_on_ties(t, x, out, y),
        lambda t, out, x, y: _half_on_ties(t, y, out, x),
    ),
    cost=Cost.CHEAP,
    may_make_nan=False,
    exact=Exact.ORDERED,
)
min_p = elementwise(
    "min",
    lower=_extreme_lower("stablehlo.minimum"),
    reference=np.minimum,
    derivatives=(
        lambda t, out, x, y: _half_on_ties(t, x, out, y),
        lambda t, out, x, y: _half_on_ties(t, y, out, x),
    ),
    cost=Cost.CHEAP,
    may_make_nan=False,
    exact=Exact.ORDERED,
)


def _integer_pow_lower(ctx: Any, x: str, *, y: int) -> str:
    """Repeated squaring; a negative power inverts the result."""
    aval = ctx.avals_out[0]
    if y == 0:
        return ctx.block.splat(1, aval)
    n, square = abs(y), x
    total: Any = None
    while n:
        if n & 1:
            total = square if total is None else _product(ctx, total, square)
        n >>= 1
        if n:
            square = _square(ctx, square)
    if y > 0:
        return total
    one = ctx.block.splat(1, aval)
    return ctx.block.elementwise("stablehlo.divide", (one, total), aval)


def _square(ctx: Any, x: str) -> str:
    """Of complex numbers by factors: the difference of squares that overflow is NaN.

    Where the parts are of one size, that difference is 0, whichever sign a factor has.
    """
    out = ctx.avals_out[0]
    if not dtypes.issubdtype(out.dtype, np.complexfloating):
        return _product(ctx, x, x)
    block, t = ctx.block, types.tensor_type
    part = ShapedArray(out.shape, dtypes.real_dtype(out.dtype))
    real, imag = (
        block.emit(f"stablehlo.{f} {x} : ({t(out)}) -> {t(part)}")
        for f in ("real", "imag")
    )

    def combine(op: str, a: str, b: str) -> Any:
        return block.elementwise(f"stablehlo.{op}", (a, b), part)

    less, more = combine("subtract", real, imag), combine("add", real, imag)
    half = combine("multiply", real, imag)
    flag = ShapedArray(out.shape, np.bool_)
    sizes = (block.elementwise("stablehlo.abs", (x,), part) for x in (real, imag))
    is_even = block.compare("EQ", *sizes, part, "FLOAT", flag)
    none = combine("subtract", real, real)  # NaN of infinite parts
    product = combine("multiply", less, more)
    difference = elementwise_rules.emit_select(ctx, is_even, none, product, flag, part)
    parts = difference, combine("add", half, half)
    return str(
        block.emit(
            f"stablehlo.complex {parts[0]}, {parts[1]} : ({t(part)}, {t(part)}) -> "
            f"{t(out)}"
        )
    )


def _product(ctx: Any, x: str, y: str) -> str:
    return ctx.block.elementwise("stablehlo.multiply", (x, y), ctx.avals_out[0])


def _integer_pow_abstract(x: Any, *, y: int) -> Any:
    families.check_dtype("integer_pow", x, families.NUMERIC)
    if y < 0 and dtypes.issubdtype(x.dtype, np.integer):
        raise TypeError(
            "lax.integer_pow: integers must not be raised to a negative power, got "
            f"{x.short()} and {y}; convert them with lax.convert_element_type"
        )
    return x


integer_pow_p = elementwise(
    "integer_pow",
    accepts=families.NUMERIC,
    lower=_integer_pow_lower,
    reference=lambda x, *, y: np.asarray(x ** np.asarray(y, x.dtype), x.dtype),
    derivatives=(
        lambda t, out, x, *, y: (
            families.insert_zero(t)
            if y == 0
            else mul(t, mul(families.scalar_like(x, y), integer_pow(x, y - 1)))
        ),
    ),
    cost=Cost.CHEAP,
    abstract=_integer_pow_abstract,
)


def _sign_lower(ctx: Any, x: str) -> str:
    aval = ctx.avals_out[0]
    flag = ShapedArray(aval.shape, np.bool_)
    if not dtypes.issubdtype(aval.dtype, np.unsignedinteger):
        sign = ctx.block.elementwise("stablehlo.sign", (x,), aval)
        if not dtypes.issubdtype(aval.dtype, np.complexfloating):
            return sign
        zero = ctx.block.splat(0, aval)  # of which each part keeps its sign
        is_zero = ctx.block.compare("EQ", x, zero, aval, "FLOAT", flag)
        return elementwise_rules.emit_select(ctx, is_zero, x, sign, flag, aval)
    zero, one = ctx.block.splat(0, aval), ctx.block.splat(1, aval)
    is_zero = ctx.block.compare("EQ", x, zero, aval, "UNSIGNED", flag)
    return elementwise_rules.emit_select(ctx, is_zero, zero, one, flag, aval)


sign_p = elementwise(
    "sign",
    accepts=families.NUMERIC,
    lower=_sign_lower,
    reference=np.sign,
    derivatives=(None,),
    cost=Cost.BITS,
    may_make_nan=False,
    exact=Exact.ORDERED,
)


def _one_minus_square_lower(ctx: Any, x: str) -> str:
    """By factors, which are exact where x is near one."""
    aval = ctx.avals_out[0]
    one = ctx.block.splat(1, aval)
    less = ctx.block.elementwise("stablehlo.subtract", (one, x), aval)
    more = ctx.block.elementwise("stablehlo.add", (one, x), aval)
    return _product(ctx, less, more)


one_minus_square_p = elementwise(
    "one_minus_square",
    accepts=families.FLOAT_COMPLEX,
    lower=_one_minus_square_lower,
    reference=lambda x: (1 - x) * (1 + x),
    derivatives=(lambda t, out, x: mul(t, mul(families.scalar_like(x, -2), x)),),
    cost=Cost.CHEAP,
)
square_p = elementwise(
    "square",
    accepts=families.NUMERIC,
    lower=_square,
    reference=np.square,
    derivatives=(lambda t, out, x: mul(t, mul(families.scalar_like(x, 2), x)),),
    cost=Cost.CHEAP,
    remade=Remade.OF_RESIDUALS,
    exact=Exact.NUMBERS,
)


def neg(x: ArrayLike) -> Array:
    """Negation, elementwise.

    Args:
      x: array or scalar, of numbers.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.negate`.

    Example:
      >>> from olympus import lax
      >>> lax.neg(2.0)
      Array(-2., dtype=float32, weak_type=True)
    """
    return neg_p.bind(x)


def sign(x: ArrayLike) -> Array:
    """Sign, elementwise: -1, 0 or 1; `x/|x|` for complex.

    Args:
      x: array or scalar, of numbers.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.sign`.

    Example:
      >>> from olympus import lax
      >>> lax.sign(-3.0)
      Array(-1., dtype=float32, weak_type=True)
    """
    return sign_p.bind(x)


def square(x: ArrayLike) -> Array:
    """Square, elementwise.

    Args:
      x: array or scalar, of numbers.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.multiply`.

    Example:
      >>> from olympus import lax
      >>> lax.square(3)
      Array(9, dtype=int32, weak_type=True)
    """
    return square_p.bind(x)


def one_minus_square(x: ArrayLike) -> Array:
    """`1 - x**2`, elementwise, exact near one and minus one.

    Args:
      x: array or scalar, floating or complex.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `(1 - x) * (1 + x)`, without cancellation.

    Example:
      >>> from olympus import lax
      >>> lax.one_minus_square(0.5)
      Array(0.75, dtype=float32, weak_type=True)
    """
    return one_minus_square_p.bind(x)


def add(x: ArrayLike, y: ArrayLike) -> Array:
    """Sum, elementwise.

    Args:
      x, y: arrays of one shape and dtype, of numbers; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype.

    Source: `stablehlo.add`.

    Example:
      >>> from olympus import lax
      >>> lax.add(1, 2)
      Array(3, dtype=int32, weak_type=True)
    """
    return add_p.bind(x, y)


def sub(x: ArrayLike, y: ArrayLike) -> Array:
    """Difference, elementwise.

    Args:
      x, y: arrays of one shape and dtype, of numbers; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype.

    Source: `stablehlo.subtract`.

    Example:
      >>> from olympus import lax
      >>> lax.sub(3, 2)
      Array(1, dtype=int32, weak_type=True)
    """
    return sub_p.bind(x, y)


def mul(x: ArrayLike, y: ArrayLike, *, out_dtype: DTypeLike | None = None) -> Array:
    """Product, elementwise.

    Args:
      x, y: arrays of one shape and dtype, of numbers; scalars are broadcast.
      out_dtype: dtype that the operands are converted to first.

    Returns:
      Array of the operands' shape; of their dtype, or of `out_dtype`.

    Source: `stablehlo.multiply`.

    Example:
      >>> from olympus import lax
      >>> lax.mul(2, 3)
      Array(6, dtype=int32, weak_type=True)
    """
    if out_dtype is not None:
        x, y = (as_element_type(v, out_dtype) for v in (x, y))
    return mul_p.bind(x, y)


def mulhi(x: ArrayLike, y: ArrayLike, /) -> Array:
    """The upper half of the product of integers, elementwise.

    The product of two integers of N bits has 2N bits; these are the most significant N.

    Args:
      x, y: arrays of one shape and integer dtype; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype.

    Source: H. S. Warren, Hacker's Delight, 2012, section 8-2.

    Example:
      >>> import numpy as np
      >>> from olympus import lax
      >>> lax.mulhi(np.uint8(200), np.uint8(6))  # 1200 is 4 * 256 + 176
      Array(4, dtype=uint8)
    """
    return mulhi_p.bind(x, y)


def div(x: ArrayLike, y: ArrayLike) -> Array:
    """Quotient; of integers, rounded towards zero, elementwise.

    Args:
      x, y: arrays of one shape and dtype, of numbers; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype.

    Source: `stablehlo.divide`.

    Example:
      >>> from olympus import lax
      >>> lax.div(-7, 2)
      Array(-3, dtype=int32, weak_type=True)
    """
    return div_p.bind(x, y)


def clamp(min: ArrayLike, x: ArrayLike, max: ArrayLike) -> Array:
    """`x` limited to the range from `min` to `max`, elementwise.

    Args:
      min, max: bounds, of the dtype of `x`; of its shape, or scalars.
      x: array or scalar; complex numbers are ordered by real, then imaginary parts.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.clamp`.

    Example:
      >>> from olympus import lax
      >>> lax.clamp(0, 5, 3)
      Array(3, dtype=int32, weak_type=True)
    """
    aval = avals.aval_of(x)
    if dtypes.kind(aval.dtype) == "c":  # ordered by real parts, then imaginary ones
        return min_(max_(x, _typed_bound(min, aval)), _typed_bound(max, aval))
    return clamp_p.bind(min, x, max)


def _typed_bound(bound: Any, aval: Any) -> Any:
    if avals.aval_of(bound).shape == aval.shape:
        return bound
    return families.broadcast_in_dim_p.bind(
        bound, shape=aval.shape, broadcast_dimensions=(), sharding=None
    )


def max_(x: ArrayLike, y: ArrayLike) -> Array:
    """Greater element; NaN where either is NaN, elementwise.

    Args:
      x, y: arrays of one shape and dtype, bool or of numbers; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype.

    Source: `stablehlo.maximum`.

    Example:
      >>> from olympus import lax
      >>> lax.max(1, 2)
      Array(2, dtype=int32, weak_type=True)
    """
    return max_p.bind(x, y)


def min_(x: ArrayLike, y: ArrayLike) -> Array:
    """Lesser element; NaN where either is NaN, elementwise.

    Args:
      x, y: arrays of one shape and dtype, bool or of numbers; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype.

    Source: `stablehlo.minimum`.

    Example:
      >>> from olympus import lax
      >>> lax.min(1, 2)
      Array(1, dtype=int32, weak_type=True)
    """
    return min_p.bind(x, y)


def integer_pow(x: ArrayLike, y: int) -> Array:
    """`x` to a fixed integer power, by repeated multiplication.

    Args:
      x: array or scalar, of numbers.
      y: Python integer; may be negative for floating `x`.

    Returns:
      Array of the shape and dtype of `x`.

    Raises:
      TypeError: `x` is of integers and `y` negative.

    Source: `stablehlo.multiply`.

    Example:
      >>> from olympus import lax
      >>> lax.integer_pow(2.0, -1)
      Array(0.5, dtype=float32, weak_type=True)
    """
    families.check_dtype("integer_pow", avals.aval_of(x), families.NUMERIC)
    if y == 1:
        return unchanged(x)
    if y == 0:
        return families.ones_like(x)
    if y < 0 and dtypes.kind(avals.aval_of(x).dtype) in "ui":
        raise TypeError(
            "lax.integer_pow: Integers cannot be raised to negative powers, got "
            f"{avals.aval_of(x).short()} and {y}; convert them to floats"
        )
    return integer_pow_p.bind(x, y=int(y))


def reciprocal(x: ArrayLike) -> Array:
    """`1 / x`, elementwise.

    Args:
      x: array or scalar, floating or complex.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.divide`.

    Example:
      >>> from olympus import lax
      >>> lax.reciprocal(4.0)
      Array(0.25, dtype=float32, weak_type=True)
    """
    return integer_pow_p.bind(x, y=-1)
