"""Exponentials, logarithms, powers and roots, elementwise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Cost, Exact
from olympus._src.lax import families
from olympus._src.lax.arithmetic import add, div, integer_pow, mul, sub
from olympus._src.lax.bitwise import and_
from olympus._src.lax.choice import as_element_type, select_n
from olympus._src.lax.comparison import eq
from olympus._src.lax.families import ShapedArray, elementwise, scalar_like
from olympus._src.lax.precision import (
    AccuracyMode,
    Tolerance,
    accuracy_text,
    bind_accurately,
)
from olympus._src.lowering import types


def _pow_abstract(x: Any, y: Any) -> Any:
    families.check_dtype("pow", x, families.FLOAT_COMPLEX, "the base")
    families.check_dtype("pow", y, families.NUMERIC, "the exponent")
    if not dtypes.issubdtype(y.dtype, np.integer) and x.dtype != y.dtype:
        raise TypeError(
            "lax.pow: the exponent must have the base's dtype or an integer dtype, got "
            f"{x.short()} and {y.short()}; convert it with lax.convert_element_type"
        )
    shape = families.common_shape("pow", (x, y))
    return ShapedArray(shape, x.dtype, x.weak_type and y.weak_type)


def _pow_lower(ctx: Any, x: str, y: str) -> str:
    out = ctx.avals_out[0]
    y = ctx.block.convert(y, ctx.avals_in[1], out)
    return ctx.block.elementwise("stablehlo.power", (x, y), out)


def _pow_in_base(t: Any, out: Any, x: Any, y: Any) -> Any:
    """The slope y x^(y-1), which is 0 where y is, also at 0."""
    one, zero = scalar_like(y, 1), scalar_like(y, 0)
    dtype = avals.aval_of(x).dtype
    factor = y if avals.aval_of(y).dtype == dtype else as_element_type(y, dtype)
    if isinstance(y, (int, float, complex, np.generic)):  # a constant of the program
        if y == 0:
            return families.insert_zero(t)
        return mul(t, mul(factor, pow_(x, y - one)))
    at_zero = eq(y, zero)
    if dtypes.issubdtype(avals.aval_of(y).dtype, np.inexact):
        # Elsewhere the slope's own slope in y is wanted too.
        at_zero = and_(at_zero, eq(x, scalar_like(x, 0)))
    exponent = select_n(at_zero, sub(y, one), zero)
    return mul(t, mul(factor, pow_(x, exponent)))


def _pow_in_exponent(t: Any, out: Any, x: Any, y: Any) -> Any:
    zero, one = scalar_like(x, 0), scalar_like(x, 1)
    return mul(t, mul(out, log(select_n(eq(x, zero), x, one))))


pow_p = elementwise(
    "pow",
    lower=_pow_lower,
    reference=lambda x, y: np.power(x, y.astype(x.dtype)),
    derivatives=(_pow_in_base, _pow_in_exponent),
    cost=Cost.EXPENSIVE,
    abstract=_pow_abstract,
)
exp_p = elementwise(
    "exp",
    accepts=families.FLOAT_COMPLEX,
    hlo="stablehlo.exponential",
    reference=np.exp,
    derivatives=(lambda t, out, x, **_: mul(t, out),),
    cost=Cost.EXPENSIVE,
)
exp2_p = elementwise(
    "exp2",
    accepts=families.FLOAT_COMPLEX,
    lower=lambda ctx, x, **params: _exp2_lower(ctx, x, **params),
    reference=np.exp2,
    derivatives=(lambda t, out, x, **_: mul(t, mul(out, scalar_like(x, math.log(2)))),),
    cost=Cost.EXPENSIVE,
)


def _exp2_lower(ctx: Any, x: str, *, accuracy: Any = None) -> str:
    aval = ctx.avals_out[0]
    exact = accuracy_text(accuracy)
    # A power cannot have an accuracy, and that of complex numbers is NaN far out.
    if exact or dtypes.issubdtype(aval.dtype, np.complexfloating):
        scale = ctx.block.splat(math.log(2), aval)
        x = ctx.block.elementwise("stablehlo.multiply", (x, scale), aval)
        return ctx.block.elementwise("stablehlo.exponential", (x,), aval, exact)
    two = ctx.block.splat(2, aval)
    return ctx.block.elementwise("stablehlo.power", (two, x), aval)


expm1_p = elementwise(
    "expm1",
    accepts=families.FLOAT_COMPLEX,
    hlo="stablehlo.exponential_minus_one",
    reference=np.expm1,
    # Not the value plus 1, which has no digits where the value is close to -1.
    derivatives=(lambda t, out, x, **_: mul(t, exp(x)),),
    cost=Cost.EXPENSIVE,
)
log_p = elementwise(
    "log",
    accepts=families.FLOAT_COMPLEX,
    hlo="stablehlo.log",
    reference=np.log,
    derivatives=(lambda t, out, x, **_: div(t, x),),
    cost=Cost.EXPENSIVE,
)


def _log2_lower(ctx: Any, x: str, *, accuracy: Any = None) -> str:
    aval = ctx.avals_out[0]
    exact = accuracy_text(accuracy)
    log_of = ctx.block.elementwise("stablehlo.log", (x,), aval, exact)
    if not dtypes.issubdtype(aval.dtype, np.complexfloating):
        return _divide_by_log_two(ctx, log_of, aval)
    # By parts: a complex quotient would have no value at infinity.
    t = types.tensor_type
    part = ShapedArray(aval.shape, dtypes.real_dtype(aval.dtype))
    parts = [
        _divide_by_log_two(
            ctx, ctx.block.emit(f"{f} {log_of} : ({t(aval)}) -> {t(part)}"), part
        )
        for f in ("stablehlo.real", "stablehlo.imag")
    ]
    return ctx.block.emit(
        f"stablehlo.complex {', '.join(parts)} : ({t(part)}, {t(part)}) -> {t(aval)}"
    )


def _divide_by_log_two(ctx: Any, x: str, aval: Any) -> str:
    scale = ctx.block.splat(math.log(2), aval)
    return ctx.block.elementwise("stablehlo.divide", (x, scale), aval)


def _log1p_lower(ctx: Any, x: str, *, accuracy: Any = None) -> Any:
    """XLA's float64 on the CPU is wrong by up to 125 units from -1/2 to -1/4.

    There the plain logarithm of 1 + x is right to 2.
    """
    block, aval = ctx.block, ctx.avals_out[0]
    precision = accuracy_text(accuracy)
    out = block.elementwise("stablehlo.log_plus_one", [x], aval, precision)
    if ctx.platform != "cpu" or aval.dtype != np.float64:
        return out
    flag = ShapedArray(aval.shape, np.bool_)
    total = block.elementwise("stablehlo.add", (x, block.splat(1, aval)), aval)
    log_ = block.elementwise("stablehlo.log", (total,), aval)
    below = block.compare("LT", x, block.splat(-0.25, aval), aval, "FLOAT", flag)
    t = types.tensor_type
    return block.emit(f"stablehlo.select {below}, {log_}, {out} : {t(flag)}, {t(aval)}")


log2_p = elementwise(
    "log2",
    accepts=families.FLOAT_COMPLEX,
    lower=_log2_lower,
    reference=np.log2,
    derivatives=(lambda t, out, x, **_: div(t, mul(x, scalar_like(x, math.log(2)))),),
    cost=Cost.EXPENSIVE,
)
log1p_p = elementwise(
    "log1p",
    accepts=families.FLOAT_COMPLEX,
    lower=_log1p_lower,
    reference=np.log1p,
    derivatives=(lambda t, out, x, **_: div(t, add(x, scalar_like(x, 1))),),
    cost=Cost.EXPENSIVE,
)


sqrt_p = elementwise(
    "sqrt",
    accepts=families.FLOAT_COMPLEX,
    hlo="stablehlo.sqrt",
    reference=np.sqrt,
    derivatives=(lambda t, out, x, **_: mul(t, div(scalar_like(x, 0.5), out)),),
    cost=Cost.EXPENSIVE,
    exact=Exact.FLOATS,
)
rsqrt_p = elementwise(
    "rsqrt",
    accepts=families.FLOAT_COMPLEX,
    hlo="stablehlo.rsqrt",
    reference=lambda x, **_: 1 / np.sqrt(x),
    derivatives=(
        lambda t, out, x, **_: mul(t, mul(scalar_like(x, -0.5), div(out, x))),
    ),
    cost=Cost.EXPENSIVE,
)
cbrt_p = elementwise(
    "cbrt",
    accepts=families.FLOAT,
    hlo="stablehlo.cbrt",
    reference=np.cbrt,
    derivatives=(
        lambda t, out, x, **_: mul(t, mul(scalar_like(x, 1 / 3), integer_pow(out, -2))),
    ),
    cost=Cost.EXPENSIVE,
)
logistic_p = elementwise(
    "logistic",
    accepts=families.FLOAT_COMPLEX,
    hlo="stablehlo.logistic",
    reference=lambda x, **_: 1 / (1 + np.exp(-x)),
    derivatives=(
        lambda t, out, x, **_: mul(t, mul(out, sub(scalar_like(out, 1), out))),
    ),
    cost=Cost.EXPENSIVE,
)


def exp(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """Exponential, elementwise.

    Args:
      x: array or scalar, floating or complex.
      accuracy: how exact the result must be, a `Tolerance` or an `AccuracyMode`; None
        leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.exponential`.

    Example:
      >>> from olympus import lax
      >>> lax.exp(0.0)
      Array(1., dtype=float32, weak_type=True)
    """
    return bind_accurately(exp_p, x, accuracy)


def exp2(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """Two to the power of each element.

    Args:
      x: array or scalar, floating or complex.
      accuracy: how exact the result must be, a `Tolerance` or an `AccuracyMode`; None
        leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.power`.

    Example:
      >>> from olympus import lax
      >>> lax.exp2(3.0)
      Array(8., dtype=float32, weak_type=True)
    """
    return bind_accurately(exp2_p, x, accuracy)


def expm1(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """`exp(x) - 1`, exact near zero.

    Args:
      x: array or scalar, floating or complex.
      accuracy: how exact the result must be, a `Tolerance` or an `AccuracyMode`; None
        leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.exponential_minus_one`.

    Example:
      >>> from olympus import lax
      >>> lax.expm1(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return bind_accurately(expm1_p, x, accuracy)


def log(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """Natural logarithm, elementwise.

    Args:
      x: array or scalar, floating or complex.
      accuracy: how exact the result must be, a `Tolerance` or an `AccuracyMode`; None
        leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`; NaN for negative numbers.

    Source: `stablehlo.log`.

    Example:
      >>> from olympus import lax
      >>> lax.log(1.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return bind_accurately(log_p, x, accuracy)


def log2(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """Logarithm to base two, elementwise.

    Args:
      x: array or scalar, floating or complex.
      accuracy: how exact the logarithm must be, a `Tolerance` or an `AccuracyMode`;
        None leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`; NaN for negative numbers.

    Source: `stablehlo.log`.

    Example:
      >>> from olympus import lax
      >>> lax.log2(8.0)
      Array(3., dtype=float32, weak_type=True)
    """
    return bind_accurately(log2_p, x, accuracy)


def log1p(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """`log(1 + x)`, exact near zero.

    Args:
      x: array or scalar, floating or complex.
      accuracy: how exact the result must be, a `Tolerance` or an `AccuracyMode`; None
        leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.log_plus_one`.

    Example:
      >>> from olympus import lax
      >>> lax.log1p(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return bind_accurately(log1p_p, x, accuracy)


def sqrt(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """Square root, elementwise.

    Args:
      x: array or scalar, floating or complex.
      accuracy: how exact the result must be, a `Tolerance` or an `AccuracyMode`; None
        leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`; NaN for negative numbers.

    Source: `stablehlo.sqrt`.

    Example:
      >>> from olympus import lax
      >>> lax.sqrt(9.0)
      Array(3., dtype=float32, weak_type=True)
    """
    return bind_accurately(sqrt_p, x, accuracy)


def rsqrt(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """Reciprocal of the square root, elementwise.

    Args:
      x: array or scalar, floating or complex.
      accuracy: how exact the result must be, a `Tolerance` or an `AccuracyMode`; None
        leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.rsqrt`.

    Example:
      >>> from olympus import lax
      >>> lax.rsqrt(4.0)
      Array(0.5, dtype=float32, weak_type=True)
    """
    return bind_accurately(rsqrt_p, x, accuracy)


def cbrt(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """Cube root, elementwise.

    Args:
      x: array or scalar, floating.
      accuracy: how exact the result must be, a `Tolerance` or an `AccuracyMode`; None
        leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.cbrt`.

    Example:
      >>> from olympus import lax
      >>> lax.cbrt(8.0)
      Array(2., dtype=float32, weak_type=True)
    """
    return bind_accurately(cbrt_p, x, accuracy)


def logistic(
    x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None
) -> Array:
    """Logistic function `1 / (1 + exp(-x))`, elementwise.

    Args:
      x: array or scalar, floating or complex.
      accuracy: how exact the result must be, a `Tolerance` or an `AccuracyMode`; None
        leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.logistic`.

    Example:
      >>> from olympus import lax
      >>> lax.logistic(0.0)
      Array(0.5, dtype=float32, weak_type=True)
    """
    return bind_accurately(logistic_p, x, accuracy)


def pow_(x: ArrayLike, y: ArrayLike) -> Array:
    """`x` to the power `y`, elementwise.

    Args:
      x: array or scalar, floating or complex.
      y: of the dtype of `x`, or integer; of the shape of `x`, or a scalar.

    Returns:
      Array of the operands' shape and the dtype of `x`.

    Source: `stablehlo.power`.

    Example:
      >>> from olympus import lax
      >>> lax.pow(2.0, 3)
      Array(8., dtype=float32, weak_type=True)
    """
    return pow_p.bind(x, y)
