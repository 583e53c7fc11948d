"""Arithmetic, elementwise: sums, products, quotients, powers, rounding, extremes.

Each function here is what operators and the public module share; those that are NumPy
ufuncs are wrapped as such in `ufunc.py`.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from olympus._src.control_flow import while_loop
from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, OptionalArray
from olympus._src.interpreters import concrete_arrays, evaluate
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import barriers, families, reductions, shaping
from olympus._src.lax import elementwise as lax
from olympus._src.numpy import docstring_examples, promotion
from olympus._src.numpy.promotion import aval_of, program

if TYPE_CHECKING:
    from olympus._src.numpy import function_types


def _is(x: Any, kinds: str) -> bool:
    return dtypes.kind(aval_of(x).dtype) in kinds


# -- sums, products, quotients ---------------------------------------------------------


@program(2)
def add(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Sum, elementwise; for booleans, disjunction.

    Args:
      x, y: arrays of shapes that broadcast, or numbers.

    Returns:
      An array of the promoted dtype.

    Raises:
      TypeError: an argument is not an array, or shapes do not broadcast.

    Source: NumPy, `numpy.add`.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.add(onp.arange(3), 1)
      Array([1, 2, 3], dtype=int32)
    """
    x, y = promotion.promote_args("add", x, y)
    return lax.bitwise_or(x, y) if _is(x, "b") else lax.add(x, y)


@program(2)
def subtract(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Difference, elementwise; booleans are refused.

    Args:
      x, y: arrays of shapes that broadcast, or numbers.

    Raises:
      TypeError: both arguments are booleans, or shapes do not broadcast.

    Source: NumPy, `numpy.subtract`.

    Example:
      >>> jnp.subtract(jnp.array([1, 2]), jnp.array([[1], [2]]))
      Array([[ 0,  1],
             [-1,  0]], dtype=int32)
    """
    x, y = promotion.promote_args("subtract", x, y)
    if _is(x, "b"):
        raise TypeError(
            "numpy.subtract: at least one argument must be numeric, got booleans; "
            "use bitwise_xor or logical_xor"
        )
    return lax.sub(x, y)


@program(2)
def multiply(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Product, elementwise; for booleans, conjunction.

    Args:
      x, y: arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.multiply`.

    Example:
      >>> jnp.multiply(jnp.array([1, 2]), 3)
      Array([3, 6], dtype=int32)
    """
    x, y = promotion.promote_args("multiply", x, y)
    return lax.bitwise_and(x, y) if _is(x, "b") else lax.mul(x, y)


@program(2, name="divide")
def true_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Quotient, elementwise; integers become floats.

    Args:
      x1, x2: arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.true_divide`.

    Example:
      >>> jnp.true_divide(jnp.array([1, -1]), jnp.array([4, 0]))
      Array([0.25, -inf], dtype=float32)
    """
    x1, x2 = promotion.promote_args_inexact("divide", x1, x2)
    return lax.div(x1, x2)


@program(2)
def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Largest integer not above the quotient, elementwise.

    Differs from NumPy: division of integers by zero gives a meaningless number and
    no warning.

    Args:
      x1, x2: real arrays of shapes that broadcast, or numbers.

    Raises:
      TypeError: an argument is complex.

    Source: NumPy, `numpy.floor_divide`.

    Example:
      >>> jnp.floor_divide(jnp.array([7, -7]), 2)
      Array([ 3, -4], dtype=int32)
    """
    x, y = promotion.promote_args_numeric("floor_divide", x1, x2)
    _refuse_complex("floor_divide", x)
    if _is(x, "u"):
        return lax.div(x, y)
    if _is(x, "i"):
        quotient = lax.div(x, y)
        signs_differ = lax.ne(lax.sign(x), lax.sign(y))
        inexact = lax.ne(lax.rem(x, y), promotion.scalar(0, x))
        below = lax.sub(quotient, promotion.scalar(1, x))
        return lax.select(lax.bitwise_and(signs_differ, inexact), below, quotient)
    return _float_divmod(x, y)[0]


def _float_divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """Quotient and remainder of floats: the remainder has the divisor's sign."""
    zero = promotion.scalar(0, x)
    rem = lax.rem(x, y)
    # Division by zero keeps the dividend, so that the quotient is infinite.
    dividend = lax.select(lax.eq(y, zero), x, lax.sub(x, rem))
    quotient = lax.div(dividend, y)
    wrong = lax.bitwise_and(lax.ne(rem, zero), lax.ne(lax.sign(y), lax.sign(rem)))
    rem = lax.select(wrong, lax.add(rem, y), rem)
    quotient = lax.select(wrong, lax.sub(quotient, promotion.scalar(1, x)), quotient)
    return lax.round(quotient), rem


def _refuse_complex(name: str, x: Any, error: Any = TypeError) -> None:
    if _is(x, "c"):
        raise error(
            f"numpy.{name}: arguments must be real, got {aval_of(x).short()}; complex "
            "numbers have no order, take x.real or numpy.abs(x)"
        )


@program(2)
def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Remainder with the sign of the divisor, elementwise.

    Differs from NumPy: division of integers by zero gives 0 and no warning.

    Args:
      x1, x2: real arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.remainder`.

    Example:
      >>> jnp.remainder(jnp.array([7, -7]), 3)
      Array([1, 2], dtype=int32)
    """
    x, y = promotion.promote_args_numeric("remainder", x1, x2)
    _refuse_complex("remainder", x)
    zero = promotion.scalar(0, x)
    if _is(x, "iu"):
        # The remainder by zero is zero; XLA's own result is the dividend.
        by_zero = lax.eq(y, zero)
        y = lax.select(by_zero, promotion.scalar(1, x), y)
    rem = lax.rem(x, y)
    wrong = lax.ne(lax.lt(rem, zero), lax.lt(y, zero))
    wrong = lax.bitwise_and(wrong, lax.ne(rem, zero))
    return lax.select(wrong, lax.add(rem, y), rem)


@program(2)
def fmod(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Remainder with the sign of the dividend, elementwise.

    Differs from NumPy: division of integers by zero gives 0 and no warning.

    Args:
      x1, x2: real arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.fmod`.

    Example:
      >>> jnp.fmod(jnp.array([7, -7]), 3)
      Array([ 1, -1], dtype=int32)
    """
    x, y = promotion.promote_args_numeric("fmod", x1, x2)
    if _is(x, "iu"):
        by_zero = lax.eq(y, promotion.scalar(0, x))
        y = lax.select(by_zero, promotion.scalar(1, x), y)
    return lax.rem(x, y)


@program(2)
def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[Array, Array]:
    """The pair of `floor_divide` and `remainder`.

    Differs from NumPy: division of integers by zero gives meaningless numbers and
    no warning.

    Args:
      x1, x2: real arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.divmod`.

    Example:
      >>> jnp.divmod(jnp.array([7, -7]), 3)
      (Array([ 2, -3], dtype=int32), Array([1, 2], dtype=int32))
    """
    x, y = promotion.promote_args_numeric("divmod", x1, x2)
    _refuse_complex("divmod", x)
    if _is(x, "iu"):
        return floor_divide(x, y), remainder(x, y)
    return _float_divmod(x, y)


# -- powers and roots ------------------------------------------------------------------


def power(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """`x1` to the power `x2`, elementwise.

    Differs from NumPy: integers raised to negative integers give meaningless
    numbers; a negative exponent that is known raises TypeError.

    One integer as exponent, if it is not traced, is part of the program: the power is
    then computed by multiplications, keeps its derivative at zero, and has the dtype of
    the base.

    Args:
      x1, x2: arrays of shapes that broadcast, or numbers.

    Raises:
      TypeError: an integer base with a negative Python integer as exponent.

    Source: NumPy, `numpy.power`.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.power(onp.arange(4), 2)
      Array([0, 1, 4, 9], dtype=int32)
    """
    promotion.check_arraylike("power", x1, x2)
    promotion.check_numbers("power", x1, x2)
    exponent = _static_integer(x2)
    if exponent is None:
        return _power(x1, x2)
    aval = aval_of(x1)
    if exponent < 0 and dtypes.kind(aval.dtype) in "iub":
        raise TypeError(
            f"Integers cannot be raised to negative powers, got power({aval.short()}, "
            f"{exponent}); make the base floating, as in x.astype('float32')"
        )
    return _integer_power(x1, exponent=exponent)


def _static_integer(x: Any) -> int | None:
    """The exponent as a Python integer where its value is known and of that kind."""
    if isinstance(x, int):
        return None if isinstance(x, bool) else x
    known = isinstance(x, (np.ndarray, np.generic, promotion.ArrayImpl))
    if known and x.ndim == 0 and dtypes.kind(x.dtype) in "iu":
        return int(x)
    return None


@program(1, name="power")
def _integer_power(x: Any, *, exponent: int) -> Any:
    x = promotion.promote_args_numeric("power", x)[0]
    if exponent == 1:
        return x
    if exponent == 0:
        return families.ones_like(x)
    return lax.integer_pow(x, exponent)


@program(2, name="power")
def _power(x: Any, y: Any) -> Any:
    base, exponent = aval_of(x), aval_of(y)
    weak = exponent.weak_type and base.weak_type
    integral = dtypes.kind(exponent.dtype) in "iu" and dtypes.kind(base.dtype) in "fc"
    if integral and not weak:
        # An integer exponent may stay one: the power is exact and its base's dtype.
        x = promotion.cast(x, base.dtype, False)
        y = promotion.cast(y, exponent.dtype, False)
        common = dtypes.lattice_result(
            (base.dtype, base.weak_type), (exponent.dtype, exponent.weak_type)
        )
        if common[0] == base.dtype:
            x, y = promotion.broadcast("power", (x, y))
            return lax.pow_(x, y)
    x, y = promotion.promote_args_numeric("power", x, y)
    return lax.pow_(x, y) if _is(x, "fc") else _integers_power(x, y)


def _integers_power(x: Any, y: Any) -> Any:
    """Powers of integers by squaring, as many times as the exponents have bits.

    Five or six squarings are all that bases other than 0, 1 and -1 take before they
    leave their range; what is left, which wraps, is done in a loop.
    """
    zero, one = promotion.scalar(0, x), promotion.scalar(1, x)
    shape = promotion.result_shape("power", [aval_of(x).shape, aval_of(y).shape])
    state = (promotion.full_shape(one, shape), x, y)

    def step(state: Any) -> Any:
        total, x, y = state
        odd = lax.ne(lax.bitwise_and(y, one), zero)
        total = lax.select(odd, lax.mul(total, x), total)
        return total, lax.mul(x, x), lax.shift_right_logical(y, one)

    def has_bits(state: Any) -> Any:
        left = lax.ne(state[2], zero)
        return reductions.reduce_or(left, range(aval_of(left).ndim))

    for _ in range(5 if dtypes.itemsize_bits(aval_of(x).dtype) <= 32 else 6):
        state = step(state)
    return promotion.strong(while_loop.while_loop(has_bits, step, state)[0])


@program(2)
def float_power(x: ArrayLike, y: ArrayLike, /) -> Array:
    """`x` to the power `y` in floating point, elementwise.

    Args:
      x, y: arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.float_power`.

    Example:
      >>> jnp.float_power(jnp.array([2, 3]), 2)
      Array([4., 9.], dtype=float32)
    """
    x, y = promotion.promote_args_inexact("float_power", x, y)
    return lax.pow_(x, y)


@program(1)
def square(x: ArrayLike, /) -> Array:
    """Square, elementwise.

    Args:
      x: array or number.

    Source: NumPy, `numpy.square`.

    Example:
      >>> jnp.square(jnp.array([-3, 2]))
      Array([9, 4], dtype=int32)
    """
    (x,) = promotion.promote_args_numeric("square", x)
    return lax.square(x)


@program(1)
def reciprocal(x: ArrayLike, /) -> Array:
    """`1 / x`, elementwise, in floating point.

    Differs from NumPy: integers give floats.

    Args:
      x: array or number.

    Source: NumPy, `numpy.reciprocal`.

    Example:
      >>> jnp.reciprocal(jnp.array([4.0, 0.0]))
      Array([0.25,  inf], dtype=float32)
    """
    (x,) = promotion.promote_args_inexact("reciprocal", x)
    return lax.integer_pow(x, -1)


@program(2)
def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Length of the hypotenuse, elementwise, without overflow of the squares.

    Args:
      x1, x2: real arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.hypot`.

    Example:
      >>> jnp.hypot(jnp.array([3.0]), jnp.array([4.0]))
      Array([5.], dtype=float32)
    """
    x, y = promotion.promote_args_inexact("hypot", x1, x2)
    _refuse_complex("hypot", x, ValueError)
    x, y = promotion.broadcast("hypot", (x, y))
    long = lax.max_(lax.abs_(x), lax.abs_(y))
    endless = promotion.scalar(np.inf, long)
    either = lax.bitwise_or(*[lax.eq(lax.abs_(v), endless) for v in (x, y)])
    nothing = lax.eq(long, promotion.scalar(0, long))
    usual = lax.bitwise_not(lax.bitwise_or(either, nothing))
    # The length does not depend on the scale, so its derivatives need not know of it.
    x, y, scale = (lax.select(usual, v, families.full_like(v, 1)) for v in (x, y, long))
    scale = barriers.stop_gradient(scale)
    squares = [lax.square(lax.div(v, scale)) for v in (x, y)]
    length = lax.mul(scale, lax.sqrt(lax.add(*squares)))
    length = lax.select(nothing, long, length)
    length = lax.select(either, families.full_like(length, np.inf), length)
    return promotion.strong(length, x1, x2)


# -- signs -----------------------------------------------------------------------------


@program(1)
def negative(x: ArrayLike, /) -> Array:
    """`-x`, elementwise; booleans are refused.

    Args:
      x: array or number.

    Source: NumPy, `numpy.negative`.

    Example:
      >>> jnp.negative(jnp.array([1, -2]))
      Array([-1,  2], dtype=int32)
    """
    (x,) = promotion.promote_args("negative", x)
    if _is(x, "b"):
        raise TypeError(
            "numpy.negative: the argument must be numeric, got booleans; use "
            "logical_not, or ~x"
        )
    return lax.neg(x)


@program(1)
def positive(x: ArrayLike, /) -> Array:
    """`+x`, elementwise: the values unchanged.

    Args:
      x: array or number.

    Source: NumPy, `numpy.positive`.

    Example:
      >>> jnp.positive(jnp.array([-1, 2]))
      Array([-1,  2], dtype=int32)
    """
    (x,) = promotion.promote_args("positive", x)
    return x


@program(1)
def absolute(x: ArrayLike, /) -> Array:
    """Magnitude, elementwise; real for complex input.

    Args:
      x: array or number.

    Source: NumPy, `numpy.absolute`.

    Example:
      >>> jnp.abs(jnp.array([-2, 0, 3]))
      Array([2, 0, 3], dtype=int32)
    """
    (x,) = promotion.promote_args("absolute", x)
    return x if _is(x, "ub") else lax.abs_(x)


@program(1)
def fabs(x: ArrayLike, /) -> Array:
    """Magnitude in floating point, elementwise.

    Args:
      x: real array or number.

    Source: NumPy, `numpy.fabs`.

    Example:
      >>> jnp.fabs(jnp.array([-1, 2]))
      Array([1., 2.], dtype=float32)
    """
    (x,) = promotion.promote_args_inexact("fabs", x)
    _refuse_complex("fabs", x)
    return lax.abs_(x)


@program(1)
def sign(x: ArrayLike, /) -> Array:
    """-1, 0 or 1 by the sign, elementwise; `x / abs(x)` for complex input.

    Args:
      x: array of numbers, or a number.

    Source: NumPy, `numpy.sign`.

    Example:
      >>> jnp.sign(jnp.array([-2.0, 0.0, jnp.nan]))
      Array([-1.,  0., nan], dtype=float32)
    """
    (x,) = promotion.promote_args("sign", x)
    return lax.sign(x)


@program(1)
def signbit(x: ArrayLike, /) -> Array:
    """Whether the sign bit is set, elementwise; true of -0.0.

    Args:
      x: real array or number.

    Source: NumPy, `numpy.signbit`.

    Example:
      >>> jnp.signbit(jnp.array([-0.0, 1.0]))
      Array([ True, False], dtype=bool)
    """
    (x,) = promotion.promote_args("signbit", x)
    _refuse_complex("signbit", x, ValueError)
    if not _is(x, "f"):
        return promotion.strong(lax.lt(x, promotion.scalar(0, x)))
    return lax.lt(_bits_of(x), np.zeros((), _signed_of(x))[()])


def _signed_of(x: Any) -> Any:
    return np.dtype(f"int{dtypes.itemsize_bits(aval_of(x).dtype)}")


def _bits_of(x: Any) -> Any:
    return shaping.bitcast_convert_type(x, _signed_of(x))


@program(2)
def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Magnitudes of `x1` with the signs of `x2`, elementwise.

    Args:
      x1, x2: real arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.copysign`.

    Example:
      >>> jnp.copysign(jnp.array([1.0, 2.0]), jnp.array([-0.0, 3.0]))
      Array([-1.,  2.], dtype=float32)
    """
    x, y = promotion.promote_args_inexact("copysign", x1, x2)
    _refuse_complex("copysign", x)
    size = lax.abs_(x)
    return lax.select(signbit(y), lax.neg(size), size)


@program(2)
def heaviside(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """0 where `x1` is negative, 1 where positive, `x2` where zero.

    Args:
      x1, x2: real arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.heaviside`.

    Example:
      >>> jnp.heaviside(jnp.array([-1.0, 0.0, 1.0]), 0.5)
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    x, y = promotion.promote_args_inexact("heaviside", x1, x2)
    _refuse_complex("heaviside", x)
    zero, one = promotion.scalar(0, x), promotion.scalar(1, x)
    above = lax.select(lax.gt(x, zero), one, y)
    out = lax.select(lax.lt(x, zero), zero, above)
    out = promotion.strong(lax.select(lax.ne(x, x), x, out), x1)
    return promotion.strong_with_axes(out)


# -- extremes --------------------------------------------------------------------------


@program(2)
def maximum(x: ArrayLike, y: ArrayLike, /) -> Array:
    """The larger of two, elementwise; NaN where either is.

    Args:
      x, y: arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.maximum`.

    Example:
      >>> jnp.maximum(jnp.array([1.0, jnp.nan]), 2.0)
      Array([ 2., nan], dtype=float32)
    """
    x, y = promotion.promote_args("maximum", x, y)
    return lax.max_(x, y)


@program(2)
def minimum(x: ArrayLike, y: ArrayLike, /) -> Array:
    """The smaller of two, elementwise; NaN where either is.

    Args:
      x, y: arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.minimum`.

    Example:
      >>> jnp.minimum(jnp.array([1.0, jnp.nan]), 2.0)
      Array([ 1., nan], dtype=float32)
    """
    x, y = promotion.promote_args("minimum", x, y)
    return lax.min_(x, y)


def _ignoring_nan(extreme: Any, x: Any, y: Any) -> Any:
    """The extreme, or the one that is not NaN; on ties `y`, with its derivative."""
    if _is(x, "c"):  # has no order but that of the extreme
        first = lax.bitwise_and(lax.eq(extreme(x, y), x), lax.ne(x, y))
    else:
        first = (lax.gt if extreme is lax.max_ else lax.lt)(x, y)
    if _is(x, "fc"):
        first = lax.bitwise_or(first, lax.ne(y, y))
    return lax.select(first, x, y)


@program(2)
def fmax(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The larger of two, elementwise; a number wins over NaN.

    Args:
      x1, x2: arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.fmax`.

    Example:
      >>> jnp.fmax(jnp.array([1.0, jnp.nan]), 0.5)
      Array([1. , 0.5], dtype=float32)
    """
    return _ignoring_nan(lax.max_, *promotion.promote_args("fmax", x1, x2))


@program(2)
def fmin(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The smaller of two, elementwise; a number wins over NaN.

    Args:
      x1, x2: arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.fmin`.

    Example:
      >>> jnp.fmin(jnp.array([1.0, jnp.nan]), 0.5)
      Array([0.5, 0.5], dtype=float32)
    """
    return _ignoring_nan(lax.min_, *promotion.promote_args("fmin", x1, x2))


@direct("clip", 3)
def clip(
    arr: OptionalArray = None,
    /,
    min: OptionalArray = None,
    max: OptionalArray = None,
) -> Array:
    """Values limited to a range, elementwise.

    Differs from NumPy: the bounds are called `min` and `max`, and complex numbers are
    refused.

    Args:
      arr: real array or number.
      min, max: bounds that broadcast against it; None for no bound.

    Returns:
      An array of the promoted dtype; where min > max, max.

    Raises:
      ValueError: an argument is complex.

    Source: NumPy, `numpy.clip`.

    Example:
      >>> jnp.clip(jnp.array([-3, 2, 9]), 0, 5)
      Array([0, 2, 5], dtype=int32)
    """
    promotion.check_arraylike("clip", arr)
    promotion.check_numbers("clip", arr)
    promotion.check_optional("clip", min, max)
    x: Any = arr
    operands = [value for value in (arr, min, max) if value is not None]
    if any(dtypes.kind(aval_of(x).dtype) == "c" for x in operands):
        raise ValueError(
            "numpy.clip: arguments must be real, since complex numbers have no order; "
            "clip x.real and x.imag"
        )
    if min is not None and max is not None:
        return _clip(x, min, max)
    if min is not None:
        return _clip_below(x, min)
    return positive(x) if max is None else _clip_above(x, max)


@program(2, name="clip")
def _clip_below(x: Any, low: Any) -> Any:
    return maximum(low, x)


@program(2, name="clip")
def _clip_above(x: Any, high: Any) -> Any:
    return minimum(high, x)


@program(3, name="clip")
def _clip(x: Any, low: Any, high: Any) -> Any:
    return minimum(high, maximum(low, x))


# -- rounding --------------------------------------------------------------------------


def _define_rounding(name: str, fun: Any, what: str) -> function_types.Unary:
    @program(1, name=name)
    def rounded(x: ArrayLike, /) -> Array:
        return _round_floats(name, fun, x)

    rounded.__doc__ = f"""{what}, elementwise; integers and booleans do not change.

    Args:
      x: real array or number.

    Source: NumPy, `numpy.{name}`.
{docstring_examples.of(name)}    """
    return rounded


def _round_floats(name: str, fun: Any, x: Any) -> Any:
    """What a function of floats makes of real numbers; others stay as they are."""
    (x,) = promotion.promote_args(name, x)
    promotion.check_numbers(name, x)
    _refuse_complex(name, x)
    return fun(x) if _is(x, "f") else x


def _truncate(x: Any) -> Any:
    negative_ones = lax.lt(x, promotion.scalar(0, x))
    return lax.select(negative_ones, lax.ceil(x), lax.floor(x))


floor = _define_rounding("floor", lax.floor, "The largest integer not above")
ceil = _define_rounding("ceil", lax.ceil, "The smallest integer not below")


@program(1)
def trunc(x: ArrayLike) -> Array:
    """The nearest integer towards zero, elementwise; integers do not change.

    Args:
      x: real array or number.

    Source: NumPy, `numpy.trunc`.

    Example:
      >>> jnp.trunc(jnp.array([-1.5, 1.2]))
      Array([-1.,  1.], dtype=float32)
    """
    return _round_floats("trunc", _truncate, x)


@program(1)
def rint(x: ArrayLike, /) -> Array:
    """The nearest integer in floating point, elementwise; halves go to even.

    Args:
      x: array or number.

    Source: NumPy, `numpy.rint`.

    Example:
      >>> jnp.rint(jnp.array([0.5, 1.5, -1.2]))
      Array([ 0.,  2., -1.], dtype=float32)
    """
    promotion.check_arraylike("rint", x)
    if dtypes.kind(aval_of(x).dtype) in "iub":
        return promotion.cast(x, dtypes.canonicalize_dtype(float), False)
    if _is(x, "c"):
        return lax.complex_(rint(lax.real(x)), rint(lax.imag(x)))
    (x,) = promotion.promote_args("rint", x)
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


@direct("round")
def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """Rounded to a number of decimals, elementwise; halves go to even.

    Differs from NumPy: `out` must be None; `decimals` must not be negative for
    integers.

    Args:
      a: array or number.
      decimals: decimal places; may be negative for floats.
      out: must be None.

    Raises:
      NotImplementedError: `decimals` is negative and `a` holds integers, or `out` is
        given.

    Source: NumPy, `numpy.round`.

    Example:
      >>> jnp.round(jnp.array([0.5, 1.5, 2.5]))
      Array([0., 2., 2.], dtype=float32)
    """
    promotion.check_out("round", out)
    promotion.check_arraylike("round", a)
    promotion.check_numbers("round", a)
    return _round(a, decimals=operator.index(decimals))


@program(1, name="round")
def _round(x: Any, *, decimals: int) -> Any:
    (x,) = promotion.promote_args("round", x)
    if not _is(x, "fc"):
        if decimals < 0:
            raise NotImplementedError(
                "numpy.round: decimals must not be negative for integers, got "
                f"{decimals}; round x.astype('float32')"
            )
        return x
    if decimals == 0:
        return rint(x)
    if _is(x, "c"):  # products of complex numbers mix infinities of the parts
        parts = (_round(part(x), decimals=decimals) for part in (lax.real, lax.imag))
        return promotion.strong_with_axes(lax.complex_(*parts))
    kind = aval_of(x)
    narrow = dtypes.itemsize_bits(kind.dtype) < 32
    if narrow:  # the factor would overflow
        x = lax.convert(x, np.dtype(np.float32), kind.weak_type)
    factor = promotion.scalar(10.0 ** abs_int(decimals), x)
    if decimals > 0:
        out = lax.div(rint(lax.mul(x, factor)), factor)
    else:
        out = lax.mul(rint(lax.div(x, factor)), factor)
    return promotion.strong_with_axes(lax.convert(out, kind.dtype, kind.weak_type))


def abs_int(n: int) -> int:
    """The magnitude of a Python integer, under a name NumPy's does not hide."""
    return -n if n < 0 else n


# -- parts of floats -------------------------------------------------------------------


@program(2)
def nextafter(x: ArrayLike, y: ArrayLike, /) -> Array:
    """The float after `x` towards `y`, elementwise.

    Args:
      x, y: real arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.nextafter`.

    Example:
      >>> jnp.nextafter(jnp.float32(1.0), jnp.float32(2.0)) - 1.0
      Array(1.1920929e-07, dtype=float32)
    """
    x, y = promotion.promote_args_inexact("nextafter", x, y)
    return lax.nextafter(*_same_shape(x, y))


def _same_shape(x: Any, y: Any) -> tuple[Any, Any]:
    shape = promotion.result_shape("arguments", [aval_of(x).shape, aval_of(y).shape])
    return promotion.full_shape(x, shape), promotion.full_shape(y, shape)


@program(1)
def _modf(x: Any) -> tuple[Any, Any]:
    (x,) = promotion.promote_args_inexact("modf", x)
    whole = _truncate(x)
    # Two differences, since x - x is +0 and the fraction of -1 is -0.
    fraction = lax.select(signbit(x), lax.neg(lax.sub(whole, x)), lax.sub(x, whole))
    infinite = lax.eq(lax.abs_(x), promotion.scalar(np.inf, x))
    return lax.select(infinite, copysign(promotion.scalar(0, x), x), fraction), whole


def modf(x: ArrayLike, /, out: None = None) -> tuple[Array, Array]:
    """Fractional and integral parts, elementwise, each with the sign of `x`.

    Args:
      x: real array or number.
      out: must be None.

    Source: NumPy, `numpy.modf`.

    Example:
      >>> jnp.modf(jnp.array([1.5, -2.25]))
      (Array([ 0.5 , -0.25], dtype=float32), Array([ 1., -2.], dtype=float32))
    """
    promotion.check_out("modf", out)
    return _modf(x)


def _scale_by_power(x: Any, n: Any) -> Any:
    """`x 2**n` in four steps, for powers that alone leave the range of floats."""
    n = lax.convert(n, np.dtype(np.int32))
    two = promotion.full_shape(promotion.scalar(2, x), aval_of(n).shape)
    quarter = lax.shift_right_arithmetic(n, promotion.scalar(2, n))
    left = lax.sub(n, lax.mul(quarter, promotion.scalar(3, n)))
    step = lax.pow_(two, quarter)
    for factor in (step, step, step, lax.pow_(two, left)):
        x = lax.mul(x, factor)
    return x


def _clip_integers(n: Any, low: int, high: int) -> Any:
    """Integers within a range, as far as their dtype reaches."""
    info = dtypes.iinfo(aval_of(n).dtype)
    low, high = max(low, int(info.min)), min(high, int(info.max))
    return lax.clamp(promotion.scalar(low, n), n, promotion.scalar(high, n))


def _normal_part(x: Any) -> tuple[Any, Any, int]:
    """A float `y`, and where and by what power of two it is above x.

    Where x is subnormal, y is an integer: machines take the float itself for zero.
    """
    dtype = aval_of(x).dtype
    info, word = np.finfo(dtype), _signed_of(x)
    lift = info.nmant - info.minexp
    bits = _bits_of(x)
    size = lax.bitwise_and(bits, word.type(np.iinfo(word).max))
    small = lax.bitwise_and(
        lax.gt(size, word.type(0)), lax.lt(size, word.type(1 << info.nmant))
    )
    whole = lax.convert(size, dtype)
    whole = lax.select(lax.lt(bits, word.type(0)), lax.neg(whole), whole)
    return lax.select(small, whole, x), small, lift


@program(2)
def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """`x1 * 2**x2`, elementwise.

    Args:
      x1: real array or number.
      x2: integer array or number, of a shape that broadcasts.

    Raises:
      ValueError: an argument has another kind of dtype.

    Source: NumPy, `numpy.ldexp`.

    Example:
      >>> jnp.ldexp(jnp.array([0.5, 3.0]), jnp.array([4, 1]))
      Array([8., 6.], dtype=float32)
    """
    promotion.check_arraylike("ldexp", x1, x2)
    if (
        dtypes.kind(aval_of(x1).dtype) == "c"
        or dtypes.kind(aval_of(x2).dtype) not in "iub"
    ):
        raise ValueError(
            "numpy.ldexp: x1 must be real and x2 of integers, got "
            f"{aval_of(x1).short()} and {aval_of(x2).short()}; convert them first"
        )
    (x,) = promotion.promote_args_inexact("ldexp", x1)
    (n,) = promotion.promote_args_numeric("ldexp", x2)
    x, n = promotion.broadcast("ldexp", (x, n))
    dtype = aval_of(x).dtype
    if dtypes.itemsize_bits(dtype) < 32:  # rounds once
        x = lax.convert(x, np.dtype(np.float32))
    x, small, lift = _normal_part(x)
    info = dtypes.finfo(aval_of(x).dtype)
    span = int(info.maxexp + lift + info.nmant)
    n = lax.convert(_clip_integers(n, -span, span), np.dtype(np.int32))
    shift = lax.select(small, families.full_like(n, lift), families.full_like(n, 0))
    return promotion.strong(lax.convert(_scale_by_power(x, lax.sub(n, shift)), dtype))


@program(2)
def gcd(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Greatest common divisor of integers, elementwise.

    Args:
      x1, x2: integer arrays of shapes that broadcast, or numbers.

    Raises:
      ValueError: an argument is not an integer array or number.

    Source: NumPy, `numpy.gcd`; Euclid's algorithm.

    Example:
      >>> jnp.gcd(jnp.array([12, 0]), jnp.array([18, 5]))
      Array([6, 5], dtype=int32)
    """
    x, y = _same_shape(*_integers("gcd", x1, x2))
    return promotion.strong(_euclid(lax.abs_(x), lax.abs_(y)), x1, x2)


def _euclid(x: Any, y: Any) -> Any:
    """Greatest common divisor of integers that are not negative."""
    zero, one = promotion.scalar(0, x), promotion.scalar(1, x)
    axes = tuple(range(aval_of(x).ndim))

    def goes_on(pair: Any) -> Any:
        flags = lax.ne(pair[1], zero)
        return reductions.reduce_or(flags, axes) if axes else flags

    def step(pair: Any) -> Any:
        x, y = pair
        done = lax.eq(y, zero)
        rem = lax.rem(x, lax.select(done, one, y))
        return lax.select(done, x, y), lax.select(done, y, rem)

    return while_loop.while_loop(goes_on, step, (x, y))[0]


def _integers(name: str, x: Any, y: Any) -> list[Any]:
    x, y = promotion.promote_args(name, x, y)
    if not _is(x, "iu"):
        raise ValueError(
            f"numpy.{name}: arguments must be integers, got {aval_of(x).short()} "
            f"and {aval_of(y).short()}; convert them with astype"
        )
    return [x, y]


@program(2)
def lcm(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Least common multiple of integers, elementwise.

    Args:
      x1, x2: integer arrays of shapes that broadcast, or numbers.

    Raises:
      ValueError: an argument is not an integer array or number.

    Source: NumPy, `numpy.lcm`.

    Example:
      >>> jnp.lcm(jnp.array([4, 3]), jnp.array([6, 0]))
      Array([12,  0], dtype=int32)
    """
    x, y = _same_shape(*_integers("lcm", x1, x2))
    x, y = lax.abs_(x), lax.abs_(y)
    common = _euclid(x, y)
    zero, one = promotion.scalar(0, x), promotion.scalar(1, x)
    safe = lax.select(lax.eq(common, zero), one, common)
    return promotion.strong(lax.mul(x, lax.div(y, safe)), x1, x2)


# -- complex numbers -------------------------------------------------------------------


@program(1)
def conjugate(x: ArrayLike, /) -> Array:
    """Complex conjugate, elementwise; a real array is returned unchanged.

    Args:
      x: array or number.

    Source: NumPy, `numpy.conjugate`.

    Example:
      >>> jnp.conjugate(jnp.array([1 + 2j]))
      Array([1.-2.j], dtype=complex64)
    """
    (x,) = promotion.promote_args("conjugate", x)
    promotion.check_numbers("conjugate", x)
    return lax.conj(x) if _is(x, "c") else x


@program(1)
def real(val: ArrayLike, /) -> Array:
    """Real part, elementwise; a real array is returned unchanged.

    Args:
      val: array or number.

    Source: NumPy, `numpy.real`.

    Example:
      >>> jnp.real(jnp.array([1 + 2j, 3.0]))
      Array([1., 3.], dtype=float32)
    """
    (x,) = promotion.promote_args("real", val)
    promotion.check_numbers("real", x)
    return lax.real(x) if _is(x, "c") else x


@program(1)
def imag(val: ArrayLike, /) -> Array:
    """Imaginary part, elementwise; zeros for a real array.

    Args:
      val: array or number.

    Source: NumPy, `numpy.imag`.

    Example:
      >>> jnp.imag(jnp.array([1 + 2j, 3.0]))
      Array([2., 0.], dtype=float32)
    """
    (x,) = promotion.promote_args("imag", val)
    return lax.imag(x) if _is(x, "c") else families.full_like(x, 0)


@program(1)
def angle(z: ArrayLike, deg: bool = False) -> Array:
    """Angle of complex numbers from the positive real axis.

    Args:
      z: array or number.
      deg: degrees instead of radians.

    Returns:
      A real floating array.

    Source: NumPy, `numpy.angle`.

    Example:
      >>> jnp.angle(jnp.array([1.0, 1j, -1.0]), deg=True)
      Array([  0.,  90., 180.], dtype=float32)
    """
    promotion.check_arraylike("angle", z)
    aval = aval_of(z)
    kind = dtypes.kind(aval.dtype)
    if kind in "iub" or (kind == "f" and not aval.ndim):
        z = promotion.cast(z, dtypes.canonicalize_dtype(float), False)
    (x,) = promotion.promote_args_inexact("angle", z)
    re, im = (
        (lax.real(x), lax.imag(x)) if _is(x, "c") else (x, families.full_like(x, 0))
    )
    out = lax.atan2(*_same_shape(im, re))
    if not deg:
        return out
    degrees = lax.mul(out, promotion.scalar(180 / np.pi, out))
    return promotion.strong_with_axes(degrees)


@evaluate.fuse
def _nan_to_num(x: Any, *arrays: Any, numbers: Any) -> Any:
    """Arrays stand for the numbers that are `...`, in their order."""
    remaining = iter(arrays)
    values = [next(remaining) if v is ... else v for v in numbers]
    (x,) = promotion.promote_args("nan_to_num", x)
    if not _is(x, "c"):
        return _replace_by_numbers(x, *values)
    parts = [_replace_by_numbers(f(x), *values) for f in (lax.real, lax.imag)]
    return lax.complex_(*parts)


def _replace_by_numbers(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    if not _is(x, "f"):
        return x
    x = promotion.strong(x)  # once, as what replaces its elements is
    info = dtypes.finfo(aval_of(x).dtype)
    most = info.max if posinf is None else posinf
    least = info.min if neginf is None else neginf
    out = _where_literal(lax.ne(x, x), nan, x)
    out = _where_literal(lax.eq(x, promotion.scalar(np.inf, x)), most, out)
    return _where_literal(lax.eq(x, promotion.scalar(-np.inf, x)), least, out)


def _where_literal(mask: Any, value: Any, x: Any) -> Any:
    kind = aval_of(x)
    value = promotion.cast(value, kind.dtype, False)
    shape = promotion.result_shape("nan_to_num", [kind.shape, aval_of(value).shape])
    return lax.select(*[promotion.full_shape(v, shape) for v in (mask, value, x)])


@direct("_nan_to_num")
def nan_to_num(
    x: ArrayLike,
    copy: bool = True,
    nan: ArrayLike = 0.0,
    posinf: OptionalArray = None,
    neginf: OptionalArray = None,
) -> Array:
    """NaN and infinities replaced by numbers, elementwise.

    Args:
      x: array or number.
      copy: has no effect; arrays are never changed in place.
      nan: what NaN becomes.
      posinf, neginf: what infinities become; default the largest and least floats.

    Source: NumPy, `numpy.nan_to_num`.

    Example:
      >>> jnp.nan_to_num(jnp.array([1.0, jnp.nan]), nan=-1.0)
      Array([ 1., -1.], dtype=float32)
    """
    del copy
    promotion.check_arraylike("nan_to_num", x)
    values = (nan, posinf, neginf)
    is_array = [hasattr(v, "shape") and not isinstance(v, np.generic) for v in values]
    arrays = [v for v, there in zip(values, is_array, strict=True) if there]
    numbers = [... if there else v for v, there in zip(values, is_array, strict=True)]
    x = concrete_arrays.as_array_or_tracer(x)
    return _nan_to_num(x, *arrays, numbers=tuple(numbers))


@program(1)
def frexp(x: ArrayLike, /) -> tuple[Array, Array]:
    """Mantissas and exponents: `x = mantissa * 2**exponent`.

    Args:
      x: real array or number.

    Returns:
      The pair of mantissas, of magnitude within [0.5, 1), and int32 exponents; zeros,
      infinities and NaN are their own mantissas.

    Source: NumPy, `numpy.frexp`.

    Example:
      >>> jnp.frexp(jnp.array([8.0, 0.75]))
      (Array([0.5 , 0.75], dtype=float32), Array([4, 0], dtype=int32))
    """
    (x,) = promotion.promote_args_inexact("frexp", x)
    _refuse_complex("frexp", x)
    original, kind = x, aval_of(x).dtype
    if dtypes.itemsize_bits(kind) < 32:
        x = lax.convert(x, np.dtype(np.float32))
    dtype = aval_of(x).dtype
    info, word = np.finfo(dtype), _signed_of(x)
    mantissa_bits, bias = info.nmant, (1 << (info.iexp - 1)) - 2
    x, small, lift = _normal_part(x)
    bits = _bits_of(x)
    mask = word.type((1 << info.iexp) - 1)
    raw = lax.shift_right_logical(bits, word.type(mantissa_bits))
    raw = lax.bitwise_and(raw, mask)
    shift = lax.select(small, families.full_like(raw, lift), families.full_like(raw, 0))
    exponent = lax.sub(lax.sub(raw, word.type(bias)), shift)
    # By exact powers of two and not by setting bits, which have no derivative.
    mantissa = lax.convert(_scale_by_power(x, lax.sub(word.type(bias), raw)), kind)
    plain = lax.bitwise_or(
        lax.eq(x, promotion.scalar(0, x)), lax.bitwise_not(lax.is_finite(original))
    )
    exponent = lax.convert(exponent, np.dtype(np.int32))
    itself = lax.select(
        lax.eq(x, promotion.scalar(0, x)),
        lax.mul(original, promotion.scalar(0, original)),
        original,
    )
    return (
        lax.select(plain, itself, mantissa),
        lax.select(plain, families.full_like(exponent, 0), exponent),
    )


@program(1)
def spacing(x: ArrayLike, /) -> Array:
    """The distance to the next float away from zero, elementwise, with x's sign.

    Args:
      x: real array or number.

    Source: NumPy, `numpy.spacing`.

    Example:
      >>> jnp.spacing(jnp.float32(1.0))
      Array(1.1920929e-07, dtype=float32)
    """
    (x,) = promotion.promote_args_inexact("spacing", x)
    _refuse_complex("spacing", x, ValueError)
    dtype = aval_of(x).dtype
    info = dtypes.finfo(dtype)
    bits = np.dtype(f"uint{info.bits}")
    size = shaping.bitcast_convert_type(lax.abs_(x), bits)

    def number(value: int) -> Any:
        return promotion.scalar(value, size)

    # By the bits of the exponent, since a difference too small to be a normal number
    # is zero on some devices.
    mantissa = number(info.nmant)
    power = lax.shift_right_logical(size, mantissa)
    normal = lax.shift_left(lax.sub(power, mantissa), mantissa)
    one = number(1)
    places = lax.min_(lax.sub(lax.max_(power, one), one), mantissa)
    tiny = lax.shift_left(promotion.full_shape(one, aval_of(x).shape), places)
    step = lax.select(lax.gt(power, mantissa), normal, tiny)
    step = shaping.bitcast_convert_type(step, dtype)
    edge = families.full_like(x, float(info.max))
    step = lax.select(lax.eq(lax.abs_(x), edge), families.full_like(x, np.inf), step)
    nothing = families.full_like(x, np.nan)
    step = lax.select(lax.le(lax.abs_(x), edge), step, nothing)
    return promotion.strong(copysign(step, x))
