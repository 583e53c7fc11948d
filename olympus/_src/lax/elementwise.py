"""Elementwise primitives, each whole: types, lowering, derivatives, meaning in NumPy.

Derivatives follow the table of each operation's calculus; the functions below the
records are what users and the NumPy room call.
"""

from __future__ import annotations

import enum
import math
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.rules import Linear, Zero
from olympus._src.lax import families
from olympus._src.lax.families import ShapedArray, elementwise
from olympus._src.lowering import types

ANY = families.ANY
BOOL_INT = families.BOOL_INT
FLOAT = families.FLOAT
FLOAT_COMPLEX = families.FLOAT_COMPLEX
INT = families.INT
NUMERIC = families.NUMERIC
REAL = families.REAL
SIGNED_NUMBER = families.SIGNED_NUMBER


# -- helpers for derivatives -----------------------------------------------------------


def _scalar_like(x: Any, value: Any) -> Any:
    """A scalar of x's dtype, as a literal of the program."""
    dtype = avals.aval_of(x).dtype
    return np.asarray(value, dtype)[()]


def _times(t: Any, factor: Any) -> Any:
    return mul_p.bind(t, factor)


# -- arithmetic ------------------------------------------------------------------------

neg_p = elementwise(
    "neg",
    accepts=NUMERIC,
    hlo="stablehlo.negate",
    reference=np.negative,
    derivatives=(lambda t, out, x: neg(t),),
    transpose=lambda cts, x: [_map_zero(neg, cts[0], x)],
)


def _map_zero(f: Any, ct: Any, x: Any) -> Any:
    return Zero(x.aval) if type(ct) is Zero else f(ct)


def _unspread(ct: Any, aval: Any) -> Any:
    """A cotangent summed to the operand's shape, where scalars stood beside arrays."""
    have = avals.aval_of(ct)
    if have.shape == aval.shape:
        return ct
    return families.reduce_sum_p.bind(ct, axes=tuple(range(have.ndim)))


def _add_transpose(cts: Any, x: Any, y: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(v.aval) if type(v) is Linear else None for v in (x, y)]
    return [_unspread(ct, v.aval) if type(v) is Linear else None for v in (x, y)]


def _sub_transpose(cts: Any, x: Any, y: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(v.aval) if type(v) is Linear else None for v in (x, y)]
    return [
        _unspread(ct, x.aval) if type(x) is Linear else None,
        _unspread(neg(ct), y.aval) if type(y) is Linear else None,
    ]


def _mul_transpose(cts: Any, x: Any, y: Any) -> Any:
    (ct,) = cts
    known, unknown = (y, x) if type(x) is Linear else (x, y)
    out = Zero(unknown.aval)
    if type(ct) is not Zero:
        out = _unspread(mul(ct, known), unknown.aval)
    return [out, None] if unknown is x else [None, out]


def _div_transpose(cts: Any, x: Any, y: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval), None]
    return [_unspread(div(ct, y), x.aval), None]


add_p = elementwise(
    "add",
    hlo="stablehlo.add",
    accepts=NUMERIC,
    reference=np.add,
    derivatives=(lambda t, out, x, y: t, lambda t, out, x, y: t),
    transpose=_add_transpose,
)
sub_p = elementwise(
    "sub",
    hlo="stablehlo.subtract",
    accepts=NUMERIC,
    reference=np.subtract,
    derivatives=(lambda t, out, x, y: t, lambda t, out, x, y: neg(t)),
    transpose=_sub_transpose,
)
mul_p = elementwise(
    "mul",
    hlo="stablehlo.multiply",
    accepts=NUMERIC,
    reference=np.multiply,
    derivatives=(
        lambda t, out, x, y: mul(t, y),
        lambda t, out, x, y: mul(x, t),
    ),
    transpose=_mul_transpose,
)


def _div_reference(x: Any, y: Any) -> Any:
    if np.issubdtype(x.dtype, np.integer):
        return (np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))).astype(x.dtype)
    return np.divide(x, y)


div_p = elementwise(
    "div",
    hlo="stablehlo.divide",
    accepts=NUMERIC,
    reference=_div_reference,
    derivatives=(
        lambda t, out, x, y: div(t, y),
        lambda t, out, x, y: mul(t, neg(div(out, y))),
    ),
    transpose=_div_transpose,
)
rem_p = elementwise(
    "rem",
    hlo="stablehlo.remainder",
    accepts=REAL,
    reference=np.fmod,
    derivatives=(
        lambda t, out, x, y: t,
        lambda t, out, x, y: mul(t, neg(_truncate(div(x, y)))),
    ),
)


def _truncate(x: Any) -> Any:
    return mul(sign(x), floor(abs_(x)))


def _half_on_ties(t: Any, mine: Any, out: Any, other: Any) -> Any:
    """The share of a tangent that goes to an operand of max or min; ties are halved."""
    one, half, zero = (_scalar_like(out, v) for v in (1, 0.5, 0))
    won = select_n(eq(mine, out), zero, one)
    return mul(t, mul(won, select_n(eq(mine, other), one, half)))


max_p = elementwise(
    "max",
    hlo="stablehlo.maximum",
    reference=np.maximum,
    derivatives=(
        lambda t, out, x, y: _half_on_ties(t, x, out, y),
        lambda t, out, x, y: _half_on_ties(t, y, out, x),
    ),
)
min_p = elementwise(
    "min",
    hlo="stablehlo.minimum",
    reference=np.minimum,
    derivatives=(
        lambda t, out, x, y: _half_on_ties(t, x, out, y),
        lambda t, out, x, y: _half_on_ties(t, y, out, x),
    ),
)


def _pow_abstract(x: Any, y: Any) -> Any:
    families.check_dtype("pow", x, FLOAT_COMPLEX, "the base")
    families.check_dtype("pow", y, NUMERIC, "the exponent")
    if not dtypes.issubdtype(y.dtype, np.integer) and x.dtype != y.dtype:
        raise TypeError(
            "lax.pow: the exponent must have the base's dtype or an integer dtype, got "
            f"{x.short()} and {y.short()}; convert it with lax.convert_element_type"
        )
    return ShapedArray(families.common_shape("pow", (x, y)), x.dtype, x.weak_type)


def _pow_lower(ctx: Any, x: str, y: str) -> str:
    out = ctx.avals_out[0]
    y = ctx.block.convert(y, ctx.avals_in[1], out)
    return ctx.block.elementwise("stablehlo.power", (x, y), out)


def _pow_in_base(t: Any, out: Any, x: Any, y: Any) -> Any:
    one, zero = _scalar_like(y, 1), _scalar_like(y, 0)
    is_zero = eq(y, zero)
    exponent = select_n(is_zero, sub(y, one), one)
    slope = mul(convert_element_type(y, avals.aval_of(x).dtype), pow_(x, exponent))
    return mul(t, slope)


def _pow_in_exponent(t: Any, out: Any, x: Any, y: Any) -> Any:
    zero, one = _scalar_like(x, 0), _scalar_like(x, 1)
    return mul(t, mul(out, log(select_n(eq(x, zero), x, one))))


pow_p = elementwise(
    "pow",
    lower=_pow_lower,
    reference=lambda x, y: np.power(x, y.astype(x.dtype)),
    derivatives=(_pow_in_base, _pow_in_exponent),
)
pow_p.abstract = _pow_abstract


def _integer_pow_lower(ctx: Any, x: str, *, y: int) -> str:
    """Repeated squaring; a negative power inverts the result."""
    aval = ctx.avals_out[0]
    if y == 0:
        return ctx.block.splat(1, aval)
    n, square, total = abs(y), x, None
    while n:
        if n & 1:
            total = square if total is None else _product(ctx, total, square)
        n >>= 1
        if n:
            square = _product(ctx, square, square)
    if y > 0:
        return total
    one = ctx.block.splat(1, aval)
    return ctx.block.elementwise("stablehlo.divide", (one, total), aval)


def _product(ctx: Any, x: str, y: str) -> str:
    return ctx.block.elementwise("stablehlo.multiply", (x, y), ctx.avals_out[0])


integer_pow_p = elementwise(
    "integer_pow",
    accepts=NUMERIC,
    lower=_integer_pow_lower,
    reference=lambda x, *, y: np.asarray(x ** np.asarray(y, x.dtype), x.dtype),
    derivatives=(
        lambda t, out, x, *, y: (
            families.insert_zero(t)
            if y == 0
            else mul(t, mul(_scalar_like(x, y), integer_pow(x, y - 1)))
        ),
    ),
)

# -- sign and rounding -----------------------------------------------------------------


def _sign_lower(ctx: Any, x: str) -> str:
    aval = ctx.avals_out[0]
    if not dtypes.issubdtype(aval.dtype, np.unsignedinteger):
        return ctx.block.elementwise("stablehlo.sign", (x,), aval)
    zero, one = ctx.block.splat(0, aval), ctx.block.splat(1, aval)
    flag = ShapedArray(aval.shape, np.bool_)
    is_zero = ctx.block.compare("EQ", x, zero, aval, "UNSIGNED", flag)
    return _select(ctx, is_zero, zero, one, flag, aval)


def _select(ctx: Any, which: str, yes: str, no: str, flag: Any, aval: Any) -> str:
    return ctx.block.emit(
        f"stablehlo.select {which}, {yes}, {no} : {types.tensor_type(flag)}, "
        f"{types.tensor_type(aval)}"
    )


def _no_derivative(t: Any, out: Any, *operands: Any, **params: Any) -> Any:
    return families.insert_zero(t)


sign_p = elementwise(
    "sign",
    accepts=NUMERIC,
    lower=_sign_lower,
    reference=np.sign,
    derivatives=(_no_derivative,),
)
floor_p = elementwise(
    "floor",
    accepts=FLOAT,
    hlo="stablehlo.floor",
    reference=np.floor,
    derivatives=(_no_derivative,),
)
ceil_p = elementwise(
    "ceil",
    accepts=FLOAT,
    hlo="stablehlo.ceil",
    reference=np.ceil,
    derivatives=(_no_derivative,),
)


def _round_lower(ctx: Any, x: str, *, rounding_method: Any) -> str:
    even = int(rounding_method) == 1
    op = "stablehlo.round_nearest_even" if even else "stablehlo.round_nearest_afz"
    return ctx.block.elementwise(op, (x,), ctx.avals_out[0])


def _round_reference(x: Any, *, rounding_method: Any) -> Any:
    if int(rounding_method) == 1:
        return np.round(x)
    return np.trunc(x + np.copysign(np.asarray(0.5, x.dtype), x))


round_p = elementwise(
    "round",
    accepts=FLOAT,
    lower=_round_lower,
    reference=_round_reference,
    derivatives=(_no_derivative,),
)
nextafter_p = elementwise(
    "nextafter", accepts=FLOAT, hlo="chlo.next_after", reference=np.nextafter
)


def _nextafter_lower(ctx: Any, x: str, y: str) -> str:
    t = types.tensor_type(ctx.avals_out[0])
    return ctx.block.emit(f"chlo.next_after {x}, {y} : {t}, {t} -> {t}")


def _chlo(name: str) -> Any:
    """A lowering to a unary operation of CHLO, which the compiler expands."""

    def lower(ctx: Any, x: str, **params: Any) -> str:
        t = types.tensor_type(ctx.avals_out[0])
        return ctx.block.emit(f"chlo.{name} {x} : {t} -> {t}")

    return lower


nextafter_p.lower = lambda ctx, x, y: _nextafter_lower(
    ctx, *families.spread(ctx, (x, y))
)


def _magnitude_dtype(x: Any, **params: Any) -> Any:
    return dtypes.real_dtype(x.dtype)


def _abs_lower(ctx: Any, x: str) -> str:
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    if dtypes.issubdtype(aval.dtype, np.unsignedinteger):
        return x
    if aval.dtype == out.dtype:
        return ctx.block.elementwise("stablehlo.abs", (x,), out)
    t = types.tensor_type
    return ctx.block.emit(f"stablehlo.abs {x} : ({t(aval)}) -> {t(out)}")


def _abs_derivative(t: Any, out: Any, x: Any) -> Any:
    if not dtypes.issubdtype(avals.aval_of(x).dtype, np.complexfloating):
        return mul(t, sign(x))
    zero, one = _scalar_like(out, 0), _scalar_like(out, 1)
    safe = select_n(eq(out, zero), out, one)
    product = add(mul(real(x), real(t)), mul(imag(x), imag(t)))
    return div(product, safe)


abs_p = elementwise(
    "abs",
    accepts=NUMERIC,
    lower=_abs_lower,
    out_dtype=_magnitude_dtype,
    reference=np.abs,
    derivatives=(_abs_derivative,),
)

# -- exponentials, logarithms, roots ---------------------------------------------------

exp_p = elementwise(
    "exp",
    accepts=FLOAT_COMPLEX,
    hlo="stablehlo.exponential",
    reference=np.exp,
    derivatives=(lambda t, out, x, **_: mul(t, out),),
)
exp2_p = elementwise(
    "exp2",
    accepts=FLOAT_COMPLEX,
    lower=lambda ctx, x, **_: _exp2_lower(ctx, x),
    reference=np.exp2,
    derivatives=(
        lambda t, out, x, **_: mul(t, mul(out, _scalar_like(x, math.log(2)))),
    ),
)


def _exp2_lower(ctx: Any, x: str) -> str:
    aval = ctx.avals_out[0]
    two = ctx.block.splat(2, aval)
    return ctx.block.elementwise("stablehlo.power", (two, x), aval)


expm1_p = elementwise(
    "expm1",
    accepts=FLOAT_COMPLEX,
    hlo="stablehlo.exponential_minus_one",
    reference=np.expm1,
    derivatives=(lambda t, out, x, **_: mul(t, add(out, _scalar_like(out, 1))),),
)
log_p = elementwise(
    "log",
    accepts=FLOAT_COMPLEX,
    hlo="stablehlo.log",
    reference=np.log,
    derivatives=(lambda t, out, x, **_: div(t, x),),
)
log1p_p = elementwise(
    "log1p",
    accepts=FLOAT_COMPLEX,
    hlo="stablehlo.log_plus_one",
    reference=np.log1p,
    derivatives=(lambda t, out, x, **_: div(t, add(x, _scalar_like(x, 1))),),
)
sqrt_p = elementwise(
    "sqrt",
    accepts=FLOAT_COMPLEX,
    hlo="stablehlo.sqrt",
    reference=np.sqrt,
    derivatives=(lambda t, out, x, **_: div(mul(t, _scalar_like(x, 0.5)), out),),
)
rsqrt_p = elementwise(
    "rsqrt",
    accepts=FLOAT_COMPLEX,
    hlo="stablehlo.rsqrt",
    reference=lambda x, **_: 1 / np.sqrt(x),
    derivatives=(
        lambda t, out, x, **_: mul(t, mul(_scalar_like(x, -0.5), div(out, x))),
    ),
)
cbrt_p = elementwise(
    "cbrt",
    accepts=FLOAT,
    hlo="stablehlo.cbrt",
    reference=np.cbrt,
    derivatives=(
        lambda t, out, x, **_: mul(t, div(mul(out, _scalar_like(x, 1 / 3)), x)),
    ),
)
logistic_p = elementwise(
    "logistic",
    accepts=FLOAT_COMPLEX,
    hlo="stablehlo.logistic",
    reference=lambda x, **_: 1 / (1 + np.exp(-x)),
    derivatives=(
        lambda t, out, x, **_: mul(t, mul(out, sub(_scalar_like(out, 1), out))),
    ),
)

# -- trigonometry ----------------------------------------------------------------------

sin_p = elementwise(
    "sin",
    accepts=FLOAT_COMPLEX,
    hlo="stablehlo.sine",
    reference=np.sin,
    derivatives=(lambda t, out, x, **_: mul(t, cos(x)),),
)
cos_p = elementwise(
    "cos",
    accepts=FLOAT_COMPLEX,
    hlo="stablehlo.cosine",
    reference=np.cos,
    derivatives=(lambda t, out, x, **_: neg(mul(t, sin(x))),),
)
tan_p = elementwise(
    "tan",
    accepts=FLOAT_COMPLEX,
    hlo="stablehlo.tan",
    reference=np.tan,
    derivatives=(
        lambda t, out, x, **_: mul(t, add(_scalar_like(out, 1), square(out))),
    ),
)
tanh_p = elementwise(
    "tanh",
    accepts=FLOAT_COMPLEX,
    hlo="stablehlo.tanh",
    reference=np.tanh,
    derivatives=(
        lambda t, out, x, **_: mul(t, sub(_scalar_like(out, 1), square(out))),
    ),
)
sinh_p = elementwise(
    "sinh",
    accepts=FLOAT_COMPLEX,
    lower=_chlo("sinh"),
    reference=np.sinh,
    derivatives=(lambda t, out, x: mul(t, cosh(x)),),
)
cosh_p = elementwise(
    "cosh",
    accepts=FLOAT_COMPLEX,
    lower=_chlo("cosh"),
    reference=np.cosh,
    derivatives=(lambda t, out, x: mul(t, sinh(x)),),
)
asin_p = elementwise(
    "asin",
    accepts=FLOAT_COMPLEX,
    lower=_chlo("asin"),
    reference=np.arcsin,
    derivatives=(lambda t, out, x: mul(t, rsqrt(sub(_scalar_like(x, 1), square(x)))),),
)
acos_p = elementwise(
    "acos",
    accepts=FLOAT_COMPLEX,
    lower=_chlo("acos"),
    reference=np.arccos,
    derivatives=(
        lambda t, out, x: neg(mul(t, rsqrt(sub(_scalar_like(x, 1), square(x))))),
    ),
)
atan_p = elementwise(
    "atan",
    accepts=FLOAT_COMPLEX,
    lower=_chlo("atan"),
    reference=np.arctan,
    derivatives=(lambda t, out, x: div(t, add(_scalar_like(x, 1), square(x))),),
)
asinh_p = elementwise(
    "asinh",
    accepts=FLOAT_COMPLEX,
    lower=_chlo("asinh"),
    reference=np.arcsinh,
    derivatives=(lambda t, out, x: mul(t, rsqrt(add(square(x), _scalar_like(x, 1)))),),
)
acosh_p = elementwise(
    "acosh",
    accepts=FLOAT_COMPLEX,
    lower=_chlo("acosh"),
    reference=np.arccosh,
    derivatives=(
        lambda t, out, x: mul(
            t,
            mul(rsqrt(sub(x, _scalar_like(x, 1))), rsqrt(add(x, _scalar_like(x, 1)))),
        ),
    ),
)
atanh_p = elementwise(
    "atanh",
    accepts=FLOAT_COMPLEX,
    lower=_chlo("atanh"),
    reference=np.arctanh,
    derivatives=(lambda t, out, x: div(t, sub(_scalar_like(x, 1), square(x))),),
)
atan2_p = elementwise(
    "atan2",
    accepts=FLOAT_COMPLEX,
    hlo="stablehlo.atan2",
    reference=np.arctan2,
    derivatives=(
        lambda t, out, x, y: mul(t, div(y, add(square(x), square(y)))),
        lambda t, out, x, y: neg(mul(t, div(x, add(square(x), square(y))))),
    ),
)
square_p = elementwise(
    "square",
    accepts=NUMERIC,
    lower=lambda ctx, x: _product(ctx, x, x),
    reference=np.square,
    derivatives=(lambda t, out, x: mul(t, mul(_scalar_like(x, 2), x)),),
)

# -- comparison ------------------------------------------------------------------------


def _compare_lower(direction: str, total_order: bool = False) -> Any:
    def lower(ctx: Any, x: str, y: str) -> str:
        aval = ctx.avals_in[0]
        kind = _compare_kind(aval.dtype, total_order)
        return ctx.block.compare(direction, x, y, aval, kind, ctx.avals_out[0])

    return lower


def _compare_kind(dtype: Any, total_order: bool) -> str:
    if dtypes.issubdtype(dtype, np.inexact):
        real_dtype = dtypes.issubdtype(dtype, np.floating)
        return "TOTALORDER" if total_order and real_dtype else "FLOAT"
    if dtypes.issubdtype(dtype, np.signedinteger):
        return "SIGNED"
    return "UNSIGNED"


def _comparison(
    name: str, direction: str, reference: Any, accepts: Any = ANY, total: bool = False
) -> Any:
    return elementwise(
        name,
        accepts=accepts,
        lower=_compare_lower(direction, total),
        out_dtype=lambda x, y: np.dtype(np.bool_),
        reference=reference,
        jvp=lambda primals, tangents: _without_tangent(primals, name),
    )


def _without_tangent(primals: Any, name: str) -> Any:
    out = _comparisons[name].bind(*primals)
    return out, Zero(avals.aval_of(out).to_tangent())


eq_p = _comparison("eq", "EQ", np.equal)
ne_p = _comparison("ne", "NE", np.not_equal)
ge_p = _comparison("ge", "GE", np.greater_equal, (families.BOOL, *REAL))
gt_p = _comparison("gt", "GT", np.greater, (families.BOOL, *REAL))
le_p = _comparison("le", "LE", np.less_equal, (families.BOOL, *REAL))
lt_p = _comparison("lt", "LT", np.less, (families.BOOL, *REAL))
eq_to_p = _comparison("eq_to", "EQ", None, (families.BOOL, *REAL), True)
le_to_p = _comparison("le_to", "LE", None, (families.BOOL, *REAL), True)
lt_to_p = _comparison("lt_to", "LT", None, (families.BOOL, *REAL), True)
_comparisons = {
    p.name: p for p in (eq_p, ne_p, ge_p, gt_p, le_p, lt_p, eq_to_p, le_to_p, lt_to_p)
}

# -- logic and bits --------------------------------------------------------------------

not_p = elementwise("not", accepts=BOOL_INT, hlo="stablehlo.not", reference=np.invert)
and_p = elementwise(
    "and", accepts=BOOL_INT, hlo="stablehlo.and", reference=np.bitwise_and
)
or_p = elementwise("or", accepts=BOOL_INT, hlo="stablehlo.or", reference=np.bitwise_or)
xor_p = elementwise(
    "xor", accepts=BOOL_INT, hlo="stablehlo.xor", reference=np.bitwise_xor
)
population_count_p = elementwise(
    "population_count",
    accepts=INT,
    hlo="stablehlo.popcnt",
    reference=lambda x: np.bitwise_count(x.view(f"u{x.itemsize}")).astype(x.dtype),
)
clz_p = elementwise("clz", accepts=INT, hlo="stablehlo.count_leading_zeros")


def _shift_reference(shift: Any) -> Any:
    def reference(x: Any, y: Any) -> Any:
        bits = x.dtype.itemsize * 8
        unsigned = y.astype(np.uint64)
        within = unsigned < bits
        out = shift(x, np.where(within, y, 0).astype(x.dtype), within)
        return out.astype(x.dtype)

    return reference


shift_left_p = elementwise(
    "shift_left",
    accepts=INT,
    hlo="stablehlo.shift_left",
    reference=_shift_reference(lambda x, y, ok: np.where(ok, np.left_shift(x, y), 0)),
)
shift_right_arithmetic_p = elementwise(
    "shift_right_arithmetic",
    accepts=INT,
    hlo="stablehlo.shift_right_arithmetic",
    reference=_shift_reference(
        lambda x, y, ok: np.where(ok, np.right_shift(x, y), np.where(x < 0, -1, 0))
    ),
)
shift_right_logical_p = elementwise(
    "shift_right_logical",
    accepts=INT,
    hlo="stablehlo.shift_right_logical",
    reference=_shift_reference(
        lambda x, y, ok: np.where(
            ok,
            np.right_shift(x.view(f"u{x.itemsize}"), y.view(f"u{x.itemsize}")).view(
                x.dtype
            ),
            0,
        )
    ),
)

# -- complex numbers -------------------------------------------------------------------


def _part_lower(op: str) -> Any:
    def lower(ctx: Any, x: str) -> str:
        (aval,), (out,) = ctx.avals_in, ctx.avals_out
        t = types.tensor_type
        return ctx.block.emit(f"{op} {x} : ({t(aval)}) -> {t(out)}")

    return lower


COMPLEX_ONLY = (families.COMPLEX,)

real_p = elementwise(
    "real",
    accepts=COMPLEX_ONLY,
    lower=_part_lower("stablehlo.real"),
    out_dtype=_magnitude_dtype,
    reference=np.real,
    derivatives=(lambda t, out, x: real(t),),
    transpose=lambda cts, x: [
        _map_zero(lambda ct: complex_(ct, _scalar_like(ct, 0)), cts[0], x)
    ],
)
imag_p = elementwise(
    "imag",
    accepts=COMPLEX_ONLY,
    lower=_part_lower("stablehlo.imag"),
    out_dtype=_magnitude_dtype,
    reference=np.imag,
    derivatives=(lambda t, out, x: imag(t),),
    transpose=lambda cts, x: [
        _map_zero(lambda ct: complex_(_scalar_like(ct, 0), neg(ct)), cts[0], x)
    ],
)


def _complex_dtype(x: Any, y: Any) -> Any:
    return dtypes.complex_dtype(x.dtype)


def _complex_lower(ctx: Any, x: str, y: str) -> str:
    (aval, _), (out,) = ctx.avals_in, ctx.avals_out
    t = types.tensor_type
    return ctx.block.emit(f"stablehlo.complex {x}, {y} : {t(out)}")


def _complex_transpose(cts: Any, x: Any, y: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(v.aval) if type(v) is Linear else None for v in (x, y)]
    return [
        _unspread(real(ct), x.aval) if type(x) is Linear else None,
        _unspread(neg(imag(ct)), y.aval) if type(y) is Linear else None,
    ]


complex_p = elementwise(
    "complex",
    accepts=FLOAT,
    lower=_complex_lower,
    out_dtype=_complex_dtype,
    reference=lambda x, y: x + 1j * y,
    derivatives=(
        lambda t, out, x, y: complex_(t, _scalar_like(t, 0)),
        lambda t, out, x, y: complex_(_scalar_like(t, 0), t),
    ),
    transpose=_complex_transpose,
)


def _conj_lower(ctx: Any, x: str, *, input_dtype: Any) -> str:
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    part = ShapedArray(aval.shape, dtypes.real_dtype(out.dtype))
    t, p = types.tensor_type(aval), types.tensor_type(part)
    if aval.dtype == part.dtype:
        zero = ctx.block.splat(0, part)
        return ctx.block.emit(
            f"stablehlo.complex {x}, {zero} : {types.tensor_type(out)}"
        )
    re = ctx.block.emit(f"stablehlo.real {x} : ({t}) -> {p}")
    im = ctx.block.emit(f"stablehlo.imag {x} : ({t}) -> {p}")
    minus = ctx.block.elementwise("stablehlo.negate", (im,), part)
    return ctx.block.emit(f"stablehlo.complex {re}, {minus} : {types.tensor_type(out)}")


def _conj_transpose(cts: Any, x: Any, *, input_dtype: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval)]
    if dtypes.issubdtype(x.aval.dtype, np.complexfloating):
        return [conj(ct)]
    return [real(ct)]


conj_p = elementwise(
    "conj",
    accepts=FLOAT_COMPLEX,
    lower=_conj_lower,
    out_dtype=lambda x, *, input_dtype: dtypes.complex_dtype(x.dtype),
    reference=lambda x, *, input_dtype: np.conj(x),
    derivatives=(lambda t, out, x, *, input_dtype: conj(t),),
    transpose=_conj_transpose,
)

# -- selection, clamping, conversion ---------------------------------------------------


def _is_finite_lower(ctx: Any, x: str) -> str:
    t = types.tensor_type
    return ctx.block.emit(
        f"stablehlo.is_finite {x} : ({t(ctx.avals_in[0])}) -> {t(ctx.avals_out[0])}"
    )


is_finite_p = elementwise(
    "is_finite",
    accepts=FLOAT,
    lower=_is_finite_lower,
    out_dtype=lambda x: np.dtype(np.bool_),
    reference=np.isfinite,
    jvp=lambda primals, tangents: (
        is_finite(*primals),
        Zero(avals.aval_of(is_finite(*primals)).to_tangent()),
    ),
)


def _select_n_abstract(which: Any, *cases: Any) -> Any:
    if not cases:
        raise TypeError("lax.select_n: needs at least one case, got none")
    if which.dtype not in (np.bool_, np.int32):
        raise TypeError(
            "lax.select_n: `which` must be of dtype bool or int32, got "
            f"{which.short()}; compare it first, or convert it"
        )
    if which.dtype == np.bool_ and len(cases) > 2:
        raise TypeError(
            f"lax.select_n: a bool `which` selects among at most 2 cases, got "
            f"{len(cases)}; use an int32 `which`"
        )
    shape = families.common_shape("select_n", cases)
    if which.shape not in (shape, ()) and shape:
        raise TypeError(
            "lax.select_n: `which` must be a scalar or have the cases' shape, got "
            f"{which.short()} and {cases[0].short()}"
        )
    dtype = families.common_dtype("select_n", cases)
    return ShapedArray(shape or which.shape, dtype, all(c.weak_type for c in cases))


def _select_n_lower(ctx: Any, which: str, *cases: str) -> str:
    flag, out = ctx.avals_in[0], ctx.avals_out[0]
    wide = families.spread_to(ctx, cases, ctx.avals_in[1:], out)
    if len(wide) == 1:
        return wide[0]
    if flag.dtype == np.bool_:
        return _select(ctx, which, wide[1], wide[0], flag, out)
    return _select_tree(ctx, which, wide, 0)


def _select_tree(ctx: Any, which: str, cases: Any, offset: int) -> str:
    """Selects among cases offset.. by halving; out-of-range indices clamp."""
    if len(cases) == 1:
        return cases[0]
    flag_in, out = ctx.avals_in[0], ctx.avals_out[0]
    middle = len(cases) // 2
    bound = ctx.block.splat(offset + middle, flag_in)
    flag = ShapedArray(flag_in.shape, np.bool_)
    below = ctx.block.compare("LT", which, bound, flag_in, "SIGNED", flag)
    low = _select_tree(ctx, which, cases[:middle], offset)
    high = _select_tree(ctx, which, cases[middle:], offset + middle)
    return _select(ctx, below, low, high, flag, out)


def _select_n_jvp(primals: Any, tangents: Any) -> Any:
    which, *cases = primals
    out = select_n_p.bind(which, *cases)
    moving = tangents[1:]
    if all(type(t) is Zero for t in moving):
        return out, Zero(avals.aval_of(out).to_tangent())
    shape = avals.aval_of(out).shape
    parts = [families.instantiate(t, shape) for t in moving]
    return out, select_n_p.bind(which, *parts)


def _select_n_transpose(cts: Any, which: Any, *cases: Any) -> Any:
    (ct,) = cts
    out: list[Any] = [None]
    for i, case in enumerate(cases):
        if type(case) is not Linear:
            out.append(None)
        elif type(ct) is Zero:
            out.append(Zero(case.aval))
        else:
            zero = _scalar_like(ct, 0)
            picked = select_n_p.bind(
                which, *[ct if j == i else zero for j in range(len(cases))]
            )
            out.append(_unspread(picked, case.aval))
    return out


def _select_n_batch(axis: Any, args: Any, dims: Any) -> Any:
    which, *cases = args
    if dims[0] is None and not avals.aval_of(which).shape:
        ranks = [
            avals.aval_of(c).ndim - (d is not None)
            for c, d in zip(cases, dims[1:], strict=True)
        ]
        if any(ranks) or len(set(dims[1:])) == 1:
            cases = [
                families.at_front(axis, c, d)
                for c, d in zip(cases, dims[1:], strict=True)
            ]
            if len({avals.aval_of(c).ndim for c in cases}) == 1:
                return select_n_p.bind(which, *cases), 0
    args = [families.at_front(axis, x, d) for x, d in zip(args, dims, strict=True)]
    rank = max(avals.aval_of(x).ndim for x in args)
    args = [families.grow_to(x, rank, args) for x in args]
    return select_n_p.bind(*args), 0


def _select_n_reference(which: Any, *cases: Any) -> Any:
    index = np.clip(which.astype(np.int32), 0, len(cases) - 1)
    return np.choose(index, cases) if len(cases) > 1 else np.asarray(cases[0])


select_n_p = families.Primitive(
    "select_n",
    abstract=_select_n_abstract,
    lower=_select_n_lower,
    jvp=_select_n_jvp,
    transpose=_select_n_transpose,
    batch=_select_n_batch,
    reference=_select_n_reference,
    file="lax/elementwise.py",
)


def _clamp_abstract(low: Any, x: Any, high: Any) -> Any:
    families.common_dtype("clamp", (low, x, high))
    families.check_dtype("clamp", x, (families.BOOL, *REAL))
    for name, bound in (("min", low), ("max", high)):
        if bound.shape not in ((), x.shape):
            raise TypeError(
                f"lax.clamp: `{name}` must be a scalar or have x's shape, got "
                f"{bound.short()} and {x.short()}"
            )
    return ShapedArray(x.shape, x.dtype, x.weak_type)


def _clamp_derivative(t: Any, out: Any, low: Any, x: Any, high: Any) -> Any:
    zero = _scalar_like(t, 0)
    inside = and_(gt(x, low), lt(x, high))
    return select_n(inside, zero, t)


def _clamp_lower(ctx: Any, low: str, x: str, high: str) -> str:
    return ctx.block.elementwise("stablehlo.clamp", (low, x, high), ctx.avals_out[0])


clamp_p = elementwise(
    "clamp",
    lower=_clamp_lower,
    reference=lambda low, x, high: np.minimum(np.maximum(x, low), high),
    derivatives=(
        lambda t, out, low, x, high: select_n(gt(low, x), _scalar_like(t, 0), t),
        _clamp_derivative,
        lambda t, out, low, x, high: select_n(lt(high, x), _scalar_like(t, 0), t),
    ),
)
clamp_p.abstract = _clamp_abstract


def _convert_abstract(x: Any, *, new_dtype: Any, weak_type: bool, sharding: Any) -> Any:
    if isinstance(x.dtype, dtypes.ExtendedDType) or isinstance(
        new_dtype, dtypes.ExtendedDType
    ):
        raise TypeError(
            f"lax.convert_element_type: cannot convert {x.short()} to {new_dtype}; "
            "keys hold no numbers, use random.key_data or random.wrap_key_data"
        )
    return ShapedArray(x.shape, new_dtype, weak_type)


def _convert_lower(
    ctx: Any, x: str, *, new_dtype: Any, weak_type: bool, sharding: Any
) -> str:
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    is_complex = dtypes.issubdtype(aval.dtype, np.complexfloating)
    if is_complex and not dtypes.issubdtype(new_dtype, np.complexfloating):
        part = ShapedArray(aval.shape, dtypes.real_dtype(aval.dtype))
        t = types.tensor_type
        x = ctx.block.emit(f"stablehlo.real {x} : ({t(aval)}) -> {t(part)}")
        aval = part
    if new_dtype == np.bool_:
        return _nonzero(ctx, x, aval, out)
    return ctx.block.convert(x, aval, out)


def _nonzero(ctx: Any, x: str, aval: Any, out: Any) -> str:
    if aval.dtype == np.bool_:
        return x
    zero = ctx.block.splat(0, aval)
    kind = _compare_kind(aval.dtype, False)
    return ctx.block.compare("NE", x, zero, aval, kind, out)


def _convert_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    out = convert_element_type_p.bind(*primals, **params)
    tangent_aval = avals.aval_of(out).to_tangent()
    (t,) = tangents
    if type(t) is Zero or tangent_aval.dtype == dtypes.float0:
        return out, Zero(tangent_aval)
    return out, convert_element_type_p.bind(t, **params)


def _convert_transpose(cts: Any, x: Any, **params: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval)]
    return [
        convert_element_type_p.bind(
            ct, new_dtype=x.aval.dtype, weak_type=x.aval.weak_type, sharding=None
        )
    ]


def _print_convert(eqn: Any) -> Any:
    return [(k, eqn.params[k]) for k in ("new_dtype", "weak_type")]


def _convert_reference(x: Any, *, new_dtype: Any, **_: Any) -> Any:
    drops = x.dtype.kind == "c" and not dtypes.issubdtype(new_dtype, np.complexfloating)
    return (x.real if drops else x).astype(new_dtype)


convert_element_type_p = elementwise(
    "convert_element_type",
    lower=_convert_lower,
    jvp=_convert_jvp,
    transpose=_convert_transpose,
    print=_print_convert,
    reference=_convert_reference,
)
convert_element_type_p.abstract = _convert_abstract

# -- functions -------------------------------------------------------------------------


def neg(x: Any) -> Any:
    """Negation, elementwise.

    Source: `stablehlo.negate`.
    """
    return neg_p.bind(x)


def sign(x: Any) -> Any:
    """Sign, elementwise: -1, 0 or 1; `x/|x|` for complex.

    Source: `stablehlo.sign`.
    """
    return sign_p.bind(x)


def floor(x: Any) -> Any:
    """Rounds towards minus infinity, elementwise.

    Source: `stablehlo.floor`.
    """
    return floor_p.bind(x)


def ceil(x: Any) -> Any:
    """Rounds towards plus infinity, elementwise.

    Source: `stablehlo.ceil`.
    """
    return ceil_p.bind(x)


def is_finite(x: Any) -> Any:
    """Whether each element is neither infinite nor NaN.

    Source: `stablehlo.is_finite`.
    """
    return is_finite_p.bind(x)


def sin(x: Any, accuracy: Any = None) -> Any:
    """Sine, elementwise; radians.

    Source: `stablehlo.sine`.
    """
    return sin_p.bind(x) if accuracy is None else sin_p.bind(x, accuracy=accuracy)


def cos(x: Any, accuracy: Any = None) -> Any:
    """Cosine, elementwise; radians.

    Source: `stablehlo.cosine`.
    """
    return cos_p.bind(x) if accuracy is None else cos_p.bind(x, accuracy=accuracy)


def tan(x: Any, accuracy: Any = None) -> Any:
    """Tangent, elementwise; radians.

    Source: `stablehlo.tan`.
    """
    return tan_p.bind(x) if accuracy is None else tan_p.bind(x, accuracy=accuracy)


def asin(x: Any) -> Any:
    """Inverse sine, elementwise.

    Source: `chlo.asin`.
    """
    return asin_p.bind(x)


def acos(x: Any) -> Any:
    """Inverse cosine, elementwise.

    Source: `chlo.acos`.
    """
    return acos_p.bind(x)


def atan(x: Any) -> Any:
    """Inverse tangent, elementwise.

    Source: `chlo.atan`.
    """
    return atan_p.bind(x)


def sinh(x: Any) -> Any:
    """Hyperbolic sine, elementwise.

    Source: `chlo.sinh`.
    """
    return sinh_p.bind(x)


def cosh(x: Any) -> Any:
    """Hyperbolic cosine, elementwise.

    Source: `chlo.cosh`.
    """
    return cosh_p.bind(x)


def tanh(x: Any, accuracy: Any = None) -> Any:
    """Hyperbolic tangent, elementwise.

    Source: `stablehlo.tanh`.
    """
    return tanh_p.bind(x) if accuracy is None else tanh_p.bind(x, accuracy=accuracy)


def asinh(x: Any) -> Any:
    """Inverse hyperbolic sine, elementwise.

    Source: `chlo.asinh`.
    """
    return asinh_p.bind(x)


def acosh(x: Any) -> Any:
    """Inverse hyperbolic cosine, elementwise.

    Source: `chlo.acosh`.
    """
    return acosh_p.bind(x)


def atanh(x: Any) -> Any:
    """Inverse hyperbolic tangent, elementwise.

    Source: `chlo.atanh`.
    """
    return atanh_p.bind(x)


def exp(x: Any, accuracy: Any = None) -> Any:
    """Exponential, elementwise.

    Source: `stablehlo.exponential`.
    """
    return exp_p.bind(x) if accuracy is None else exp_p.bind(x, accuracy=accuracy)


def exp2(x: Any, accuracy: Any = None) -> Any:
    """Two to the power of each element.

    Source: `stablehlo.power`.
    """
    return exp2_p.bind(x) if accuracy is None else exp2_p.bind(x, accuracy=accuracy)


def expm1(x: Any, accuracy: Any = None) -> Any:
    """`exp(x) - 1`, exact near zero.

    Source: `stablehlo.exponential_minus_one`.
    """
    return expm1_p.bind(x) if accuracy is None else expm1_p.bind(x, accuracy=accuracy)


def log(x: Any, accuracy: Any = None) -> Any:
    """Natural logarithm, elementwise.

    Source: `stablehlo.log`.
    """
    return log_p.bind(x) if accuracy is None else log_p.bind(x, accuracy=accuracy)


def log1p(x: Any, accuracy: Any = None) -> Any:
    """`log(1 + x)`, exact near zero.

    Source: `stablehlo.log_plus_one`.
    """
    return log1p_p.bind(x) if accuracy is None else log1p_p.bind(x, accuracy=accuracy)


def sqrt(x: Any, accuracy: Any = None) -> Any:
    """Square root, elementwise.

    Source: `stablehlo.sqrt`.
    """
    return sqrt_p.bind(x) if accuracy is None else sqrt_p.bind(x, accuracy=accuracy)


def rsqrt(x: Any, accuracy: Any = None) -> Any:
    """Reciprocal of the square root, elementwise.

    Source: `stablehlo.rsqrt`.
    """
    return rsqrt_p.bind(x) if accuracy is None else rsqrt_p.bind(x, accuracy=accuracy)


def cbrt(x: Any, accuracy: Any = None) -> Any:
    """Cube root, elementwise.

    Source: `stablehlo.cbrt`.
    """
    return cbrt_p.bind(x) if accuracy is None else cbrt_p.bind(x, accuracy=accuracy)


def logistic(x: Any, accuracy: Any = None) -> Any:
    """Logistic function `1 / (1 + exp(-x))`, elementwise.

    Source: `stablehlo.logistic`.
    """
    return (
        logistic_p.bind(x)
        if accuracy is None
        else logistic_p.bind(x, accuracy=accuracy)
    )


def square(x: Any) -> Any:
    """Square, elementwise.

    Source: `stablehlo.multiply`.
    """
    return square_p.bind(x)


def bitwise_not(x: Any) -> Any:
    """Inverts each bit, or each truth value.

    Source: `stablehlo.not`.
    """
    return not_p.bind(x)


def population_count(x: Any) -> Any:
    """Number of bits set in each element.

    Source: `stablehlo.popcnt`.
    """
    return population_count_p.bind(x)


def clz(x: Any) -> Any:
    """Number of leading zero bits in each element.

    Source: `stablehlo.count_leading_zeros`.
    """
    return clz_p.bind(x)


def real(x: Any) -> Any:
    """Real part, elementwise.

    Source: `stablehlo.real`.
    """
    return real_p.bind(x)


def imag(x: Any) -> Any:
    """Imaginary part, elementwise.

    Source: `stablehlo.imag`.
    """
    return imag_p.bind(x)


def add(x: Any, y: Any) -> Any:
    """Sum, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.add`.
    """
    return add_p.bind(x, y)


def sub(x: Any, y: Any) -> Any:
    """Difference, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.subtract`.
    """
    return sub_p.bind(x, y)


def mul(x: Any, y: Any) -> Any:
    """Product, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.multiply`.
    """
    return mul_p.bind(x, y)


def div(x: Any, y: Any) -> Any:
    """Quotient; of integers, rounded towards zero, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.divide`.
    """
    return div_p.bind(x, y)


def rem(x: Any, y: Any) -> Any:
    """Remainder, with the sign of the dividend, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.remainder`.
    """
    return rem_p.bind(x, y)


def max_(x: Any, y: Any) -> Any:
    """Greater element; NaN where either is NaN, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.maximum`.
    """
    return max_p.bind(x, y)


def min_(x: Any, y: Any) -> Any:
    """Lesser element; NaN where either is NaN, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.minimum`.
    """
    return min_p.bind(x, y)


def pow_(x: Any, y: Any) -> Any:
    """`x` to the power `y`, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.power`.
    """
    return pow_p.bind(x, y)


def atan2(x: Any, y: Any) -> Any:
    """Angle of the point (y, x), radians, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.atan2`.
    """
    return atan2_p.bind(x, y)


def nextafter(x: Any, y: Any) -> Any:
    """The next number after `x` towards `y`, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `chlo.next_after`.
    """
    return nextafter_p.bind(x, y)


def complex_(x: Any, y: Any) -> Any:
    """The complex number `x + iy`, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.complex`.
    """
    return complex_p.bind(x, y)


def eq(x: Any, y: Any) -> Any:
    """Whether elements are equal, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.compare`.
    """
    return eq_p.bind(x, y)


def ne(x: Any, y: Any) -> Any:
    """Whether elements differ, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.compare`.
    """
    return ne_p.bind(x, y)


def ge(x: Any, y: Any) -> Any:
    """Whether `x >= y`, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.compare`.
    """
    return ge_p.bind(x, y)


def gt(x: Any, y: Any) -> Any:
    """Whether `x > y`, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.compare`.
    """
    return gt_p.bind(x, y)


def le(x: Any, y: Any) -> Any:
    """Whether `x <= y`, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.compare`.
    """
    return le_p.bind(x, y)


def lt(x: Any, y: Any) -> Any:
    """Whether `x < y`, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.compare`.
    """
    return lt_p.bind(x, y)


def bitwise_and(x: Any, y: Any) -> Any:
    """Bitwise and, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.and`.
    """
    return and_p.bind(x, y)


def bitwise_or(x: Any, y: Any) -> Any:
    """Bitwise or, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.or`.
    """
    return or_p.bind(x, y)


def bitwise_xor(x: Any, y: Any) -> Any:
    """Bitwise exclusive or, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.xor`.
    """
    return xor_p.bind(x, y)


def shift_left(x: Any, y: Any) -> Any:
    """Shifts bits of `x` left by `y`, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.shift_left`.
    """
    return shift_left_p.bind(x, y)


def shift_right_arithmetic(x: Any, y: Any) -> Any:
    """Shifts right, repeating the sign bit, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.shift_right_arithmetic`.
    """
    return shift_right_arithmetic_p.bind(x, y)


def shift_right_logical(x: Any, y: Any) -> Any:
    """Shifts right, filling with zeros, elementwise.

    Args:
      x, y: arrays of one shape and dtype; scalars may stand beside arrays.

    Source: `stablehlo.shift_right_logical`.
    """
    return shift_right_logical_p.bind(x, y)


def abs_(x: Any) -> Any:
    """Magnitude, elementwise; real for complex input.

    Source: `stablehlo.abs`.
    """
    return abs_p.bind(x)


def bitwise_and_not(x: Any, y: Any) -> Any:
    """Bits of `x` that are not in `y`."""
    return and_p.bind(x, not_p.bind(y))


def and_(x: Any, y: Any) -> Any:
    """`bitwise_and`, for the rules above."""
    return and_p.bind(x, y)


def conj(x: Any) -> Any:
    """Complex conjugate, elementwise; a real input becomes complex."""
    return conj_p.bind(x, input_dtype=avals.aval_of(x).dtype)


def integer_pow(x: Any, y: int) -> Any:
    """`x` to a fixed integer power, by repeated multiplication.

    Args:
      x: array of numbers.
      y: Python integer; may be negative for floating `x`.
    """
    if y == 1:
        return x
    if y == 0:
        return families.ones_like(x)
    return integer_pow_p.bind(x, y=int(y))


def reciprocal(x: Any) -> Any:
    """`1 / x`, elementwise."""
    return integer_pow_p.bind(x, y=-1)


class RoundingMethod(enum.IntEnum):
    """How `round` treats halves."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def round(x: Any, rounding_method: Any = RoundingMethod.AWAY_FROM_ZERO) -> Any:
    """Rounds to integers, elementwise.

    Source: `stablehlo.round_nearest_afz`, `stablehlo.round_nearest_even`.
    """
    return round_p.bind(x, rounding_method=RoundingMethod(rounding_method))


def select_n(which: Any, *cases: Any) -> Any:
    """Picks each element from one of several cases.

    Args:
      which: bool or int32, of the cases' shape or a scalar; False picks the first case.
      *cases: arrays of one shape and dtype.

    Source: `stablehlo.select`.
    """
    return select_n_p.bind(which, *cases)


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Elements of `on_true` where `pred` holds, of `on_false` elsewhere.

    Source: `stablehlo.select`.
    """
    return select_n_p.bind(pred, on_false, on_true)


def clamp(min: Any, x: Any, max: Any) -> Any:
    """`x` limited to the range from `min` to `max`, elementwise.

    Source: `stablehlo.clamp`.
    """
    return clamp_p.bind(min, x, max)


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """The operand with another element type.

    Args:
      operand: array or scalar.
      new_dtype: a dtype; Python's `int`, `float`, ... give the default width, weakly.

    Source: `stablehlo.convert`.
    """
    weak = new_dtype in (int, float, complex) if isinstance(new_dtype, type) else False
    return convert(operand, dtypes.canonicalize_dtype(dtypes.as_dtype(new_dtype)), weak)


def convert(x: Any, dtype: Any, weak_type: bool = False) -> Any:
    """`x` in a canonical dtype; nothing where it is of that type already."""
    aval = avals.aval_of(x)
    if aval.dtype == dtype and aval.weak_type == weak_type:
        if isinstance(x, (bool, int, float, complex)):
            return np.asarray(x, dtype)[()] if not weak_type else x
        return x
    if isinstance(x, (bool, int, float, complex)) and not weak_type:
        return np.asarray(x).astype(dtype)[()]
    return convert_element_type_p.bind(
        x, new_dtype=dtype, weak_type=weak_type, sharding=None
    )
