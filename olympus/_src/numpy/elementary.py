"""Elementary functions: exponentials, logarithms, roots, trigonometry, hyperbolics."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import bessel, families, half_turns, special
from olympus._src.lax import elementwise as lax
from olympus._src.numpy import docstring_examples, promotion
from olympus._src.numpy.promotion import aval_of, program

if TYPE_CHECKING:
    from olympus._src.numpy import function_types


def _elementary(
    name: str, fun: Callable[[Any], Any], what: str, strong: bool = False
) -> function_types.Unary:
    """A function of one floating argument, from the operation of lax.

    The result of a number is weak, unless it is to be `strong`.
    """

    @program(1, name=name)
    def call(x: ArrayLike, /) -> Array:
        promotion.check_arraylike(name, x)
        (x,) = promotion.promote_inexact(x)
        return promotion.strong(fun(x)) if strong else fun(x)

    call.__doc__ = f"""{what}, elementwise; integers and booleans become floats.

    Args:
      x: array or number.

    Returns:
      A floating or complex array of x's shape.

    Source: NumPy, `numpy.{name}`.
{docstring_examples.of(name)}    """
    return call


def _scale_result(fun: Any, factor: float) -> Any:
    def compute(x: Any) -> Any:
        return promotion.strong_with_axes(lax.mul(fun(x), promotion.scalar(factor, x)))

    return compute


def _log2(x: Any) -> Any:
    log_two = math.log(2.0)
    return _scale_log_parts(
        lambda part: lax.div(part, promotion.scalar(log_two, part)), x
    )


def _log10(x: Any) -> Any:
    # A product, since the quotient by the rounded logarithm of ten is not as exact: in
    # single precision it misses the powers of ten.
    factor = 0.4342944819032518  # nearest to log10(e); 1 / log(10.0) is one unit off
    return _scale_log_parts(
        lambda part: lax.mul(part, promotion.scalar(factor, part)), x
    )


def _scale_log_parts(scaled: Any, x: Any) -> Any:
    """The logarithm scaled; a complex factor would have no value at infinity."""
    log = lax.log(x)
    if not _complex(log):
        return scaled(log)
    return lax.complex_(scaled(lax.real(log)), scaled(lax.imag(log)))


exp = _elementary("exp", lax.exp, "Exponential")
exp2 = _elementary("exp2", lax.exp2, "Power of two")
expm1 = _elementary("expm1", lax.expm1, "Exponential minus one, exact near zero")
log = _elementary("log", lax.log, "Natural logarithm")
log2 = _elementary("log2", _log2, "Logarithm to base two", strong=True)
log10 = _elementary("log10", _log10, "Logarithm to base ten", strong=True)
log1p = _elementary("log1p", lax.log1p, "Logarithm of one plus the argument")
sqrt = _elementary("sqrt", lax.sqrt, "Square root")
cbrt = _elementary("cbrt", lax.cbrt, "Cube root")

sin = _elementary("sin", lax.sin, "Sine")
cos = _elementary("cos", lax.cos, "Cosine")
tan = _elementary("tan", lax.tan, "Tangent")
arcsin = _elementary("arcsin", lax.asin, "Inverse sine")
arccos = _elementary("arccos", lax.acos, "Inverse cosine")
arctan = _elementary("arctan", lax.atan, "Inverse tangent")
sinh = _elementary("sinh", lax.sinh, "Hyperbolic sine")
cosh = _elementary("cosh", lax.cosh, "Hyperbolic cosine")
tanh = _elementary("tanh", lax.tanh, "Hyperbolic tangent")
arcsinh = _elementary("arcsinh", lax.asinh, "Inverse hyperbolic sine")
arccosh = _elementary("arccosh", lax.acosh, "Inverse hyperbolic cosine")
arctanh = _elementary("arctanh", lax.atanh, "Inverse hyperbolic tangent")
asin = _elementary("asin", lax.asin, "Inverse sine")
acos = _elementary("acos", lax.acos, "Inverse cosine")
atan = _elementary("atan", lax.atan, "Inverse tangent")
asinh = _elementary("asinh", lax.asinh, "Inverse hyperbolic sine")
acosh = _elementary("acosh", lax.acosh, "Inverse hyperbolic cosine")
atanh = _elementary("atanh", lax.atanh, "Inverse hyperbolic tangent")
deg2rad = _elementary(
    "deg2rad", _scale_result(lambda x: x, math.pi / 180), "Radians of degrees"
)
radians = _elementary(
    "radians", _scale_result(lambda x: x, math.pi / 180), "Radians of degrees"
)
rad2deg = _elementary(
    "rad2deg", _scale_result(lambda x: x, 180 / math.pi), "Degrees of radians"
)
degrees = _elementary(
    "degrees", _scale_result(lambda x: x, 180 / math.pi), "Degrees of radians"
)


@program(2)
def arctan2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Angle of the point (x2, x1) from the positive axis of x2, elementwise.

    Args:
      x1, x2: real arrays of shapes that broadcast, or numbers.

    Returns:
      A floating array within [-pi, pi].

    Source: NumPy, `numpy.arctan2`.

    Example:
      >>> jnp.arctan2(jnp.array([0.0, 1.0]), jnp.array([-1.0, 0.0]))
      Array([3.1415927, 1.5707964], dtype=float32)
    """
    x, y = promotion.promote_args_inexact("arctan2", x1, x2)
    return lax.atan2(x, y)


@program(1)
def sinc(x: ArrayLike, /) -> Array:
    """`sin(pi x) / (pi x)`, elementwise, and 1 at zero.

    Args:
      x: array or number.

    Source: NumPy, `numpy.sinc`.

    Example:
      >>> jnp.sinc(jnp.array([0.0]))
      Array([1.], dtype=float32)
    """
    promotion.check_arraylike("sinc", x)
    (x,) = promotion.promote_inexact(x)
    dtype = aval_of(x).dtype
    wide = dtypes.at_least_single(dtype)
    if wide != dtype:
        x = promotion.convert(_sinc(promotion.convert(x, wide, False)), dtype, False)
        return promotion.strong_with_axes(x)
    return promotion.strong_with_axes(_sinc(x))


def _sinc(x: Any) -> Any:
    pi = promotion.scalar(math.pi, x)
    angle = lax.mul(x, pi)
    is_near = lax.lt(lax.abs_(angle), families.number_of(1, _real_dtype(x)))
    # Near zero derivatives of the quotient are differences of large numbers. Each
    # branch sees only its own numbers, so that derivatives are right to any order.
    zeros = promotion.full_shape(promotion.scalar(0, x), aval_of(x).shape)
    near = _sinc_near_zero(lax.select(is_near, angle, zeros))
    half = promotion.full_shape(promotion.scalar(0.5, x), aval_of(x).shape)
    far = lax.select(is_near, half, x)
    quotient = lax.div(half_turns.sine_of_pi(far), lax.mul(far, pi))
    return lax.select(is_near, near, quotient)


def _sinc_near_zero(x: Any) -> Any:
    """The Taylor series of sin(x) / x for x up to 1."""
    square = lax.square(x)
    last = 10 if dtypes.itemsize_bits(_real_dtype(x)) == 64 else 6
    total = promotion.scalar(0, x)
    for k in range(last, -1, -1):
        term = promotion.scalar((-1) ** k / math.factorial(2 * k + 1), x)
        total = lax.add(lax.mul(total, square), term)
    return total


def _real_dtype(x: Any) -> Any:
    return dtypes.real_dtype(aval_of(x).dtype)


def _log_sum(name: str, real: Any, exponential: Any, scale: float) -> Any:
    @program(2, name=name)
    def call(x1: ArrayLike, x2: ArrayLike, /) -> Array:
        x, y = promotion.promote_args_inexact(name, x1, x2)
        if not _complex(x):
            out = real(x, y)
            if name == "logaddexp":
                return out
            return promotion.strong_with_axes(promotion.strong(out, x1, x2))
        return _complex_log_sum(x, y, exponential, scale)

    call.__doc__ = f"""Logarithm of the sum of exponentials, without overflow.

    Args:
      x1, x2: arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.{name}`.
{docstring_examples.of(name)}    """
    return call


def _complex(x: Any) -> bool:
    return dtypes.kind(aval_of(x).dtype) == "c"


def _complex_log_sum(x: Any, y: Any, exponential: Any, scale: float) -> Any:
    kind = aval_of(x)
    weak = kind.weak_type and kind.shape == aval_of(y).shape
    top = lax.convert(lax.max_(lax.real(x), lax.real(y)), kind.dtype, weak)
    total = lax.add(exponential(lax.sub(x, top)), exponential(lax.sub(y, top)))
    return lax.add(top, lax.mul(lax.log(total), promotion.scalar(scale, x)))


logaddexp = _log_sum("logaddexp", special.logaddexp, lax.exp, 1.0)
logaddexp2 = _log_sum("logaddexp2", special.logaddexp2, lax.exp2, 1 / math.log(2))


@direct("i0")
def i0(x: ArrayLike) -> Array:
    """Modified Bessel function of the first kind, order zero, elementwise.

    Args:
      x: real array or number.

    Source: NumPy, `numpy.i0`; `lax.bessel_i0e`.

    Example:
      >>> jnp.i0(jnp.array([0.0]))
      Array([1.], dtype=float32)
    """
    promotion.check_arraylike("i0", x)
    if _complex(x):
        raise ValueError(
            f"numpy.i0: the argument must be real, got {aval_of(x).short()}; take its "
            "real part"
        )
    return _i0(x)


@program(1, name="i0")
def _i0(x: Any) -> Any:
    (x,) = promotion.promote_inexact(x)
    return bessel.bessel_i0_p.bind(x)
