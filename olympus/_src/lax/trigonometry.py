"""Trigonometric and hyperbolic functions and their inverses, elementwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Cost
from olympus._src.lax import elementwise_rules, families
from olympus._src.lax.arithmetic import (
    add,
    div,
    max_,
    mul,
    neg,
    reciprocal,
    square,
    sub,
)
from olympus._src.lax.choice import select
from olympus._src.lax.comparison import lt
from olympus._src.lax.families import ShapedArray, elementwise
from olympus._src.lax.precision import (
    AccuracyMode,
    Tolerance,
    accuracy_text,
    bind_accurately,
)
from olympus._src.lax.transcendental import log1p, rsqrt
from olympus._src.lowering import types


def _one(x: Any) -> Any:
    return families.scalar_like(x, 1)


def _chlo(name: str) -> Any:
    """A lowering to a unary operation of CHLO, which the compiler expands."""

    def lower(ctx: Any, x: str, **params: Any) -> str:
        return ctx.block.chlo(name, [x], ctx.avals_out[0])

    return lower


def _lower_by_parts(op: str) -> Any:
    """A lowering that computes complex numbers by real functions of their parts.

    The compiler's own complex functions are NaN for infinite imaginary parts, also
    where the real part is zero and the limit is known.
    """

    def lower(ctx: Any, x: str, *, accuracy: Any = None) -> str:
        out = ctx.avals_out[0]
        if dtypes.kind(out.dtype) != "c":
            return ctx.block.elementwise(op, [x], out, accuracy_text(accuracy))
        part = ShapedArray(out.shape, dtypes.real_dtype(out.dtype))
        t, t_out = types.tensor_type(part), types.tensor_type(out)
        real, imag = (
            ctx.block.emit(f"stablehlo.{f} {x} : ({t_out}) -> {t}")
            for f in ("real", "imag")
        )
        sine, cosine = (
            ctx.block.elementwise(f"stablehlo.{f}", [real], part)
            for f in ("sine", "cosine")
        )
        sinh, cosh = (
            ctx.block.emit(f"chlo.{f} {imag} : {t} -> {t}") for f in ("sinh", "cosh")
        )
        flag = ShapedArray(out.shape, np.bool_)
        zero = ctx.block.splat(0.0, part)
        on_axis = ctx.block.compare("EQ", real, zero, part, "FLOAT", flag)

        def product(f: str, g: str) -> str:
            return ctx.block.elementwise("stablehlo.multiply", [f, g], part)

        def vanishing(value: str) -> str:
            return elementwise_rules.emit_select(ctx, on_axis, zero, value, flag, part)

        if op == "stablehlo.sine":
            parts = vanishing(product(sine, cosh)), product(cosine, sinh)
        else:
            negative_sine = ctx.block.elementwise("stablehlo.negate", [sine], part)
            parts = product(cosine, cosh), vanishing(product(negative_sine, sinh))
        return ctx.block.emit(
            f"stablehlo.complex {', '.join(parts)} : ({t}, {t}) -> {t_out}"
        )

    return lower


sin_p = elementwise(
    "sin",
    accepts=families.FLOAT_COMPLEX,
    lower=_lower_by_parts("stablehlo.sine"),
    reference=np.sin,
    derivatives=(lambda t, out, x, **_: mul(t, cos(x)),),
    cost=Cost.EXPENSIVE,
)
cos_p = elementwise(
    "cos",
    accepts=families.FLOAT_COMPLEX,
    lower=_lower_by_parts("stablehlo.cosine"),
    reference=np.cos,
    derivatives=(lambda t, out, x, **_: neg(mul(t, sin(x))),),
    cost=Cost.EXPENSIVE,
)
tan_p = elementwise(
    "tan",
    accepts=families.FLOAT_COMPLEX,
    hlo="stablehlo.tan",
    reference=np.tan,
    derivatives=(lambda t, out, x, **_: mul(t, add(_one(out), square(out))),),
    cost=Cost.EXPENSIVE,
)
# In the quickest build jaxlib 0.10's tanh of large numbers stays below 1 by three units
# of the last place, and what multiplies 1 - tanh^2 with large numbers goes wrong.
tanh_p = elementwise(
    "tanh",
    accepts=families.FLOAT_COMPLEX,
    hlo="stablehlo.tanh",
    reference=np.tanh,
    derivatives=(lambda t, out, x, **_: mul(t, sub(_one(out), square(out))),),
    cost=Cost.EXPENSIVE,
    needs_full_build=True,
)
sinh_p = elementwise(
    "sinh",
    accepts=families.FLOAT_COMPLEX,
    lower=_chlo("sinh"),
    reference=np.sinh,
    derivatives=(lambda t, out, x: mul(t, cosh(x)),),
    cost=Cost.EXPENSIVE,
)
cosh_p = elementwise(
    "cosh",
    accepts=families.FLOAT_COMPLEX,
    lower=_chlo("cosh"),
    reference=np.cosh,
    derivatives=(lambda t, out, x: mul(t, sinh(x)),),
    cost=Cost.EXPENSIVE,
)
asin_p = elementwise(
    "asin",
    accepts=families.FLOAT_COMPLEX,
    lower=_chlo("asin"),
    reference=np.arcsin,
    derivatives=(lambda t, out, x: mul(t, rsqrt(sub(_one(x), square(x)))),),
    cost=Cost.EXPENSIVE,
)
acos_p = elementwise(
    "acos",
    accepts=families.FLOAT_COMPLEX,
    lower=_chlo("acos"),
    reference=np.arccos,
    derivatives=(lambda t, out, x: neg(mul(t, rsqrt(sub(_one(x), square(x))))),),
    cost=Cost.EXPENSIVE,
)
atan_p = elementwise(
    "atan",
    accepts=families.FLOAT_COMPLEX,
    lower=_chlo("atan"),
    reference=np.arctan,
    derivatives=(lambda t, out, x: div(t, add(_one(x), square(x))),),
    cost=Cost.EXPENSIVE,
)
asinh_p = elementwise(
    "asinh",
    accepts=families.FLOAT_COMPLEX,
    lower=_chlo("asinh"),
    reference=np.arcsinh,
    derivatives=(lambda t, out, x: mul(t, rsqrt(add(square(x), _one(x)))),),
    cost=Cost.EXPENSIVE,
)


def _acosh_derivative(t: Any, out: Any, x: Any) -> Any:
    if dtypes.kind(avals.aval_of(x).dtype) == "c":
        # One root of the product would have its cuts where acosh has none.
        return mul(t, mul(rsqrt(sub(x, _one(x))), rsqrt(add(x, _one(x)))))
    # Below -1, where there is no value, the slope is even, as users know it.
    size = select(lt(x, families.full_like(x, 0)), neg(x), x)
    return mul(t, rsqrt(mul(sub(size, _one(x)), add(size, _one(x)))))


acosh_p = elementwise(
    "acosh",
    accepts=families.FLOAT_COMPLEX,
    lower=_chlo("acosh"),
    reference=np.arccosh,
    derivatives=(_acosh_derivative,),
    cost=Cost.EXPENSIVE,
)


def _divide_by_one_less_square(t: Any, x: Any) -> Any:
    """t/(1 - x^2) by two factors, each of which has its derivatives at infinity."""
    return mul(div(t, sub(_one(x), x)), reciprocal(add(_one(x), x)))


def _atanh_rewrite(platform: str, x: Any, **params: Any) -> Any:
    if platform != "cpu" or x.dtype != np.float64:
        return None
    return _atanh_by_log1p


def _atanh_by_log1p(x: Any) -> Any:
    """Of one quotient: the difference of two logarithms loses digits."""
    one, two, half = (families.scalar_like(x, v) for v in (1, 2, 0.5))
    size = max_(x, neg(x))
    out = mul(half, log1p(div(mul(two, size), sub(one, size))))
    out = select(lt(x, families.scalar_like(x, 0)), neg(out), out)
    return select(lt(size, families.scalar_like(x, 1e-9)), x, out)


atanh_p = elementwise(
    "atanh",
    accepts=families.FLOAT_COMPLEX,
    rewrite=_atanh_rewrite,
    lower=_chlo("atanh"),
    reference=np.arctanh,
    derivatives=(lambda t, out, x: _divide_by_one_less_square(t, x),),
    cost=Cost.EXPENSIVE,
)
atan2_p = elementwise(
    "atan2",
    accepts=families.FLOAT_COMPLEX,
    hlo="stablehlo.atan2",
    reference=np.arctan2,
    derivatives=(
        lambda t, out, x, y: mul(t, div(y, add(square(x), square(y)))),
        lambda t, out, x, y: neg(mul(t, div(x, add(square(x), square(y))))),
    ),
    cost=Cost.EXPENSIVE,
)


def sin(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """Sine, elementwise; radians.

    Args:
      x: array or scalar, floating or complex.
      accuracy: how exact the result must be, a `Tolerance` or an `AccuracyMode`; None
        leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.sine`.

    Example:
      >>> from olympus import lax
      >>> lax.sin(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return bind_accurately(sin_p, x, accuracy)


def cos(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """Cosine, elementwise; radians.

    Args:
      x: array or scalar, floating or complex.
      accuracy: how exact the result must be, a `Tolerance` or an `AccuracyMode`; None
        leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.cosine`.

    Example:
      >>> from olympus import lax
      >>> lax.cos(0.0)
      Array(1., dtype=float32, weak_type=True)
    """
    return bind_accurately(cos_p, x, accuracy)


def tan(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """Tangent, elementwise; radians.

    Args:
      x: array or scalar, floating or complex.
      accuracy: how exact the result must be, a `Tolerance` or an `AccuracyMode`; None
        leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.tan`.

    Example:
      >>> from olympus import lax
      >>> lax.tan(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return bind_accurately(tan_p, x, accuracy)


def asin(x: ArrayLike) -> Array:
    """Inverse sine, elementwise.

    Args:
      x: array or scalar, floating or complex.

    Returns:
      Angles from -pi/2 to pi/2, of the shape and dtype of `x`.

    Source: `chlo.asin`.

    Example:
      >>> from olympus import lax
      >>> lax.asin(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return asin_p.bind(x)


def acos(x: ArrayLike) -> Array:
    """Inverse cosine, elementwise.

    Args:
      x: array or scalar, floating or complex.

    Returns:
      Angles from 0 to pi, of the shape and dtype of `x`.

    Source: `chlo.acos`.

    Example:
      >>> from olympus import lax
      >>> lax.acos(1.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return acos_p.bind(x)


def atan(x: ArrayLike) -> Array:
    """Inverse tangent, elementwise.

    Args:
      x: array or scalar, floating or complex.

    Returns:
      Angles from -pi/2 to pi/2, of the shape and dtype of `x`.

    Source: `chlo.atan`.

    Example:
      >>> from olympus import lax
      >>> lax.atan(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return atan_p.bind(x)


def sinh(x: ArrayLike) -> Array:
    """Hyperbolic sine, elementwise.

    Args:
      x: array or scalar, floating or complex.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `chlo.sinh`.

    Example:
      >>> from olympus import lax
      >>> lax.sinh(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return sinh_p.bind(x)


def cosh(x: ArrayLike) -> Array:
    """Hyperbolic cosine, elementwise.

    Args:
      x: array or scalar, floating or complex.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `chlo.cosh`.

    Example:
      >>> from olympus import lax
      >>> lax.cosh(0.0)
      Array(1., dtype=float32, weak_type=True)
    """
    return cosh_p.bind(x)


def tanh(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """Hyperbolic tangent, elementwise.

    Args:
      x: array or scalar, floating or complex.
      accuracy: how exact the result must be, a `Tolerance` or an `AccuracyMode`; None
        leaves it to the compiler.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.tanh`.

    Example:
      >>> from olympus import lax
      >>> lax.tanh(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return bind_accurately(tanh_p, x, accuracy)


def asinh(x: ArrayLike) -> Array:
    """Inverse hyperbolic sine, elementwise.

    Args:
      x: array or scalar, floating or complex.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `chlo.asinh`.

    Example:
      >>> from olympus import lax
      >>> lax.asinh(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return asinh_p.bind(x)


def acosh(x: ArrayLike) -> Array:
    """Inverse hyperbolic cosine, elementwise.

    Args:
      x: array or scalar, floating or complex.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `chlo.acosh`.

    Example:
      >>> from olympus import lax
      >>> lax.acosh(1.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return acosh_p.bind(x)


def atanh(x: ArrayLike) -> Array:
    """Inverse hyperbolic tangent, elementwise.

    Args:
      x: array or scalar, floating or complex.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `chlo.atanh`.

    Example:
      >>> from olympus import lax
      >>> lax.atanh(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return atanh_p.bind(x)


def atan2(x: ArrayLike, y: ArrayLike) -> Array:
    """Angle of the point (y, x), radians, elementwise.

    Args:
      x, y: arrays of one shape and dtype, floating or complex; scalars are broadcast.

    Returns:
      Angles from -pi to pi, of the operands' shape and dtype.

    Source: `stablehlo.atan2`.

    Example:
      >>> from olympus import lax
      >>> lax.atan2(0.0, 1.0)
      Array(0., dtype=float32, weak_type=True)
    """
    return atan2_p.bind(x, y)
