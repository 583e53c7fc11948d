"""Comparisons, logic and bits, elementwise; and tests of values and whole arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, Axis
from olympus._src.lax import concatenation, families, reductions, shaping
from olympus._src.lax import elementwise as lax
from olympus._src.numpy import creation, docstring_examples, promotion
from olympus._src.numpy.promotion import aval_of, program

if TYPE_CHECKING:
    from olympus._src.numpy import function_types


def _is(x: Any, kinds: str) -> bool:
    return dtypes.kind(aval_of(x).dtype) in kinds


# -- comparisons -----------------------------------------------------------------------


def _comparison(name: str, fun: Any, what: str) -> function_types.Binary:
    @program(2, name=name)
    def compare(x: ArrayLike, y: ArrayLike, /) -> Array:
        x, y = promotion.promote_args(name, x, y)
        if name in _ORDERS and _is(x, "c"):
            return _compare_parts(fun, x, y)
        return fun(x, y)

    compare.__doc__ = f"""{what}, elementwise.

    Args:
      x, y: arrays of shapes that broadcast, or numbers; complex ones compare by real
        part, then by imaginary part.

    Returns:
      A boolean array.

    Source: NumPy, `numpy.{name}`.
{docstring_examples.of(name)}    """
    return compare


_ORDERS = ("less", "less_equal", "greater", "greater_equal")


def _compare_parts(fun: Any, x: Any, y: Any) -> Any:
    """Lexicographic order of complex numbers."""
    rx, ry = lax.real(x), lax.real(y)
    return lax.select(lax.eq(rx, ry), fun(lax.imag(x), lax.imag(y)), fun(rx, ry))


equal = _comparison("equal", lax.eq, "Whether two are equal")
not_equal = _comparison("not_equal", lax.ne, "Whether two differ")
less = _comparison("less", lax.lt, "Whether the first is smaller")
less_equal = _comparison("less_equal", lax.le, "Whether the first is not larger")
greater = _comparison("greater", lax.gt, "Whether the first is larger")
greater_equal = _comparison("greater_equal", lax.ge, "Whether the first is not smaller")


# -- logic -----------------------------------------------------------------------------


def truth(x: Any) -> Any:
    """Whether elements are not zero."""
    if _is(x, "b"):
        return x
    dtype = aval_of(x).dtype
    if dtypes.canonicalize_dtype(dtype) != dtype:  # as is a number to compare with
        return creation.astype(x, np.bool_)
    return lax.ne(x, promotion.scalar(0, x))


def _logical(name: str, fun: Any, what: str) -> Any:
    @program(2, name=name)
    def combine(x: ArrayLike, y: ArrayLike, /) -> Array:
        promotion.check_arraylike(name, x, y)
        dtypes.lattice_result(*[dtypes.dtype_and_weak(v) for v in (x, y)])
        flags = [promotion.strong_with_axes(truth(v)) for v in (x, y)]
        return fun(*promotion.broadcast(name, flags))

    combine.__doc__ = f"""{what} of booleans, elementwise; zero is false.

    Args:
      x, y: arrays of shapes that broadcast, or numbers.

    Returns:
      A boolean array.

    Source: NumPy, `numpy.{name}`.
{docstring_examples.of(name)}    """
    return combine


logical_and = _logical("logical_and", lax.bitwise_and, "Conjunction")
logical_or = _logical("logical_or", lax.bitwise_or, "Disjunction")
logical_xor = _logical("logical_xor", lax.bitwise_xor, "Exclusive disjunction")


@program(1)
def logical_not(x: ArrayLike, /) -> Array:
    """Negation of booleans, elementwise; zero is false.

    Args:
      x: array or number.

    Returns:
      A boolean array.

    Source: NumPy, `numpy.logical_not`.

    Example:
      >>> jnp.logical_not(jnp.array([0, 3]))
      Array([ True, False], dtype=bool)
    """
    promotion.check_arraylike("logical_not", x)
    return lax.bitwise_not(truth(x))


# -- bits ------------------------------------------------------------------------------


def _bitwise(name: str, fun: Any, what: str) -> Any:
    @program(2, name=name)
    def combine(x: ArrayLike, y: ArrayLike, /) -> Array:
        x, y = promotion.promote_args(name, x, y)
        _refuse_inexact(name, x)
        return fun(x, y)

    combine.__doc__ = f"""{what} of bits, elementwise.

    Args:
      x, y: integer or boolean arrays of shapes that broadcast, or numbers.

    Raises:
      TypeError: an argument is floating or complex.

    Source: NumPy, `numpy.{name}`.
{docstring_examples.of(name)}    """
    return combine


def _refuse_inexact(name: str, x: Any) -> None:
    if not _is(x, "biu"):
        raise TypeError(
            f"numpy.{name}: arguments must be integers or booleans, got "
            f"{aval_of(x).short()}; compare floats first, or convert them with astype"
        )


bitwise_and = _bitwise("bitwise_and", lax.bitwise_and, "Conjunction")
bitwise_or = _bitwise("bitwise_or", lax.bitwise_or, "Disjunction")
bitwise_xor = _bitwise("bitwise_xor", lax.bitwise_xor, "Exclusive disjunction")


def _inverter(name: str) -> function_types.Unary:
    @program(1, name=name)
    def call(x: ArrayLike, /) -> Array:
        (x,) = promotion.promote_args(name, x)
        _refuse_inexact(name, x)
        return lax.bitwise_not(x)

    call.__doc__ = f"""Inverts each bit, elementwise.

    Args:
      x: integer or boolean array, or a number.

    Source: NumPy, `numpy.{name}`.
{docstring_examples.of(name)}    """
    return call


invert = _inverter("invert")
bitwise_not = _inverter("bitwise_not")
bitwise_invert = _inverter("bitwise_invert")


def _left_shifter(name: str) -> function_types.Binary:
    @program(2, name=name)
    def shift(x: ArrayLike, y: ArrayLike, /) -> Array:
        x, y = promotion.promote_args_numeric(name, x, y)
        _refuse_inexact(name, x)
        return lax.shift_left(x, y)

    shift.__doc__ = _shift_doc(name, "x, y", "left")
    return shift


def _right_shifter(name: str) -> function_types.Binary:
    @program(2, name=name)
    def shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
        x, y = promotion.promote_args_numeric(name, x1, x2)
        _refuse_inexact(name, x)
        if _is(x, "u"):
            return lax.shift_right_logical(x, y)
        return lax.shift_right_arithmetic(x, y)

    shift.__doc__ = _shift_doc(name, "x1, x2", "right")
    return shift


def _shift_doc(name: str, parameters: str, side: str) -> str:
    return f"""Bits moved to the {side}, elementwise.

    Args:
      {parameters}: integer arrays of shapes that broadcast, or numbers.

    Source: NumPy, `numpy.{name}`.
{docstring_examples.of(name)}    """


left_shift = _left_shifter("left_shift")
bitwise_left_shift = _left_shifter("bitwise_left_shift")
right_shift = _right_shifter("right_shift")
bitwise_right_shift = _right_shifter("bitwise_right_shift")


@program(1)
def bitwise_count(x: ArrayLike, /) -> Array:
    """How many bits of the magnitude are set, elementwise.

    Args:
      x: integer array or number.

    Returns:
      A uint8 array.

    Source: NumPy, `numpy.bitwise_count`.

    Example:
      >>> jnp.bitwise_count(jnp.array([0, 7, 255]))
      Array([0, 3, 8], dtype=uint8)
    """
    (x,) = promotion.promote_args_numeric("bitwise_count", x)
    _refuse_inexact("bitwise_count", x)
    size = lax.abs_(x) if _is(x, "i") else x
    return lax.convert(lax.population_count(size), np.dtype(np.uint8))


# -- kinds of values -------------------------------------------------------------------


def _all_false(x: Any) -> Any:
    return promotion.full_shape(np.bool_(False), aval_of(x).shape)


def _weak_as(x: Any, out: Any) -> Any:
    """Booleans of a number without a dtype of its own have none either, as in JAX."""
    return lax.convert(out, np.dtype(np.bool_), aval_of(x).weak_type)


@program(1)
def isfinite(x: ArrayLike, /) -> Array:
    """Whether elements are neither infinite nor NaN.

    Args:
      x: array or number.

    Source: NumPy, `numpy.isfinite`.

    Example:
      >>> jnp.isfinite(jnp.array([1.0, jnp.inf, jnp.nan]))
      Array([ True, False, False], dtype=bool)
    """
    promotion.check_arraylike("isfinite", x)
    (x,) = promotion.promote_dtypes(x)
    if _is(x, "f"):
        return lax.is_finite(x)
    if _is(x, "c"):
        return lax.bitwise_and(lax.is_finite(lax.real(x)), lax.is_finite(lax.imag(x)))
    return promotion.full_shape(np.bool_(True), aval_of(x).shape)


@program(1)
def isinf(x: ArrayLike, /) -> Array:
    """Whether elements are infinite.

    Args:
      x: array or number.

    Source: NumPy, `numpy.isinf`.

    Example:
      >>> jnp.isinf(jnp.array([1.0, -jnp.inf, jnp.nan]))
      Array([False,  True, False], dtype=bool)
    """
    promotion.check_arraylike("isinf", x)
    (x,) = promotion.promote_dtypes(x)
    if _is(x, "f"):
        return promotion.strong(lax.eq(lax.abs_(x), promotion.scalar(np.inf, x)))
    if _is(x, "c"):
        return lax.bitwise_or(isinf(lax.real(x)), isinf(lax.imag(x)))
    return _all_false(x)


@program(1)
def isnan(x: ArrayLike, /) -> Array:
    """Whether elements are NaN.

    Args:
      x: array or number.

    Source: NumPy, `numpy.isnan`.

    Example:
      >>> jnp.isnan(jnp.array([1.0, jnp.inf, jnp.nan]))
      Array([False, False,  True], dtype=bool)
    """
    promotion.check_arraylike("isnan", x)
    (x,) = promotion.promote_dtypes(x)
    return lax.ne(x, x) if _is(x, "fc") else _weak_as(x, _all_false(x))


def _infinite(name: str, value: float) -> function_types.UnaryWithOut:
    @program(1, name=name)
    def test(x: Any) -> Any:
        (x,) = promotion.promote_args(name, x)
        if _is(x, "c"):
            raise ValueError(
                f"numpy.{name}: the argument must be real, got {aval_of(x).short()}; "
                "take its real part"
            )
        if not _is(x, "f"):
            return _all_false(x)
        return promotion.strong(lax.eq(x, promotion.scalar(value, x)))

    def call(x: ArrayLike, /, out: None = None) -> Array:
        promotion.check_out(name, out)
        return test(x)

    return docstring_examples.describe(
        call,
        name,
        f"""Whether elements are {value}.

    Args:
      x: real array or number.
      out: must be None.

    Source: NumPy, `numpy.{name}`.
""",
    )


isposinf = _infinite("isposinf", np.inf)
isneginf = _infinite("isneginf", -np.inf)


@program(1)
def isreal(x: ArrayLike) -> Array:
    """Whether the imaginary part of elements is zero.

    Args:
      x: array or number.

    Source: NumPy, `numpy.isreal`.

    Example:
      >>> jnp.isreal(jnp.array([1 + 1j, 2 + 0j]))
      Array([False,  True], dtype=bool)
    """
    return lax.bitwise_not(iscomplex(x))


@program(1)
def iscomplex(x: ArrayLike) -> Array:
    """Whether the imaginary part of elements is not zero.

    Args:
      x: array or number.

    Source: NumPy, `numpy.iscomplex`.

    Example:
      >>> jnp.iscomplex(jnp.array([1 + 1j, 2 + 0j]))
      Array([ True, False], dtype=bool)
    """
    (x,) = promotion.promote_args("iscomplex", x)
    promotion.check_numbers("iscomplex", x)
    return truth(lax.imag(x)) if _is(x, "c") else _weak_as(x, _all_false(x))


def iscomplexobj(x: object) -> bool:
    """Whether the dtype is complex.

    Args:
      x: array or number.

    Source: NumPy, `numpy.iscomplexobj`.

    Example:
      >>> jnp.iscomplexobj(jnp.array([2 + 0j]))
      True
    """
    if x is None:
        return False
    dtype = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
    return dtypes.kind(dtype) == "c"


def isrealobj(x: object) -> bool:
    """Whether the dtype is not complex.

    Args:
      x: array or number.

    Source: NumPy, `numpy.isrealobj`.

    Example:
      >>> jnp.isrealobj(jnp.array([2 + 0j]))
      False
    """
    return not iscomplexobj(x)


# -- closeness and equality ------------------------------------------------------------


@program(4)
def isclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-05,
    atol: ArrayLike = 1e-08,
    equal_nan: bool = False,
) -> Array:
    """Whether `|a - b| <= atol + rtol |b|`, elementwise.

    Args:
      a, b: arrays of shapes that broadcast, or numbers.
      rtol, atol: relative and absolute tolerance.
      equal_nan: whether NaN is close to NaN.

    Returns:
      A boolean array.

    Source: NumPy, `numpy.isclose`.

    Example:
      >>> jnp.isclose(
      ...     jnp.array([1.0, jnp.nan]), jnp.array([1.00001, jnp.nan]), equal_nan=True
      ... )
      Array([False,  True], dtype=bool)
    """
    return _close("isclose", a, b, rtol, atol, equal_nan)


def _close(name: str, a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> Any:
    x, y = promotion.promote_args(name, a, b)
    if not _is(x, "fc"):
        x, y = promotion.promote_inexact(x, y)
    dtype = dtypes.real_dtype(aval_of(x).dtype)
    rtol, atol = (promotion.cast(t, dtype, False) for t in (rtol, atol))
    size = lax.abs_(y)
    near = lax.le(lax.abs_(lax.sub(x, y)), lax.add(atol, lax.mul(rtol, size)))
    # An infinite bound would let everything pass; infinities equal themselves alone.
    near = lax.bitwise_and(near, lax.is_finite(size))
    near = lax.bitwise_or(near, lax.eq(x, y))
    if not equal_nan:
        return near
    return lax.bitwise_or(near, lax.bitwise_and(lax.ne(x, x), lax.ne(y, y)))


@program(4)
def allclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-05,
    atol: ArrayLike = 1e-08,
    equal_nan: bool = False,
) -> Array:
    """Whether all elements are close, as defined by `isclose`.

    Args:
      a, b: arrays of shapes that broadcast, or numbers.
      rtol, atol: relative and absolute tolerance.
      equal_nan: whether NaN is close to NaN.

    Returns:
      A boolean scalar.

    Source: NumPy, `numpy.allclose`.

    Example:
      >>> jnp.allclose(jnp.array([1.0, 2.0]), jnp.array([1.0, 2.00001]))
      Array(True, dtype=bool)
    """
    return every(_close("allclose", a, b, rtol, atol, equal_nan))


def every(mask: Any) -> Any:
    """Whether all elements of a boolean array are true."""
    return reductions.reduce_and(mask, tuple(range(aval_of(mask).ndim)))


def array_equal(a1: object, a2: object, equal_nan: bool = False) -> Array:
    """Whether two arrays have one shape and equal elements.

    Args:
      a1, a2: arrays, numbers or nested sequences of them.
      equal_nan: whether NaN equals NaN.

    Returns:
      A boolean scalar.

    Source: NumPy, `numpy.array_equal`.

    Example:
      >>> jnp.array_equal(jnp.array([1, 2]), jnp.array([1, 3]))
      Array(False, dtype=bool)
    """
    return _array_equal(_as_values(a1), _as_values(a2), equal_nan=equal_nan)


def _as_values(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return creation.asarray(x)
    if not avals.is_array_like(x) and hasattr(x, "__array__"):
        return creation.asarray(x)
    promotion.check_arraylike("array_equal", x)
    return x


@program(2, name="array_equal")
def _array_equal(x: Any, y: Any, equal_nan: bool) -> Any:
    if aval_of(x).shape != aval_of(y).shape:
        return families.full_like(np.bool_(False), False)
    x, y = promotion.promote_dtypes(x, y)
    same = lax.eq(x, y)
    if equal_nan:
        same = lax.bitwise_or(same, lax.bitwise_and(isnan(x), isnan(y)))
    return promotion.strong(every(same))


def array_equiv(a1: object, a2: object) -> Array:
    """Whether two arrays broadcast to one shape and are equal there.

    Args:
      a1, a2: arrays, numbers or nested sequences of them.

    Returns:
      A boolean scalar.

    Source: NumPy, `numpy.array_equiv`.

    Example:
      >>> jnp.array_equiv(jnp.array([1, 1]), jnp.array([[1, 1], [1, 1]]))
      Array(True, dtype=bool)
    """
    x, y = _as_values(a1), _as_values(a2)
    try:
        np.broadcast_shapes(np.shape(x), np.shape(y))
    except ValueError:
        return _array_equal(np.bool_(True), np.bool_(False), equal_nan=False)
    return _array_equiv(x, y)


@program(2, name="array_equiv")
def _array_equiv(x: Any, y: Any) -> Any:
    dtype, weak = dtypes.standard_result(*[dtypes.dtype_and_weak(v) for v in (x, y)])
    x, y = promotion.align_ranks(*[promotion.cast(v, dtype, weak) for v in (x, y)])
    return promotion.strong(every(equal(x, y)))


# -- packed bits -----------------------------------------------------------------------


def packbits(a: ArrayLike, axis: Axis = None, bitorder: str = "big") -> Array:
    """Booleans as the bits of bytes, along an axis.

    Args:
      a: integer or boolean array.
      axis: the axis; None for the flattened array.
      bitorder: "big" where the first value is the highest bit, or "little".

    Returns:
      A uint8 array.

    Source: NumPy, `numpy.packbits`.

    Example:
      >>> jnp.packbits(jnp.array([1, 0, 0, 0, 0, 0, 1, 1]))
      Array([131], dtype=uint8)
    """
    promotion.check_arraylike("packbits", a)
    if dtypes.kind(aval_of(a).dtype) not in "biu":
        raise TypeError(
            "Expected an input array of integer or boolean data type; numpy.packbits"
        )
    _check_bit_order("packbits", bitorder)
    return _packbits(a, axis=axis, little=bitorder == "little")


def _check_bit_order(name: str, bitorder: str) -> None:
    if bitorder not in ("big", "little"):
        raise ValueError(
            f"'order' must be either 'little' or 'big'; numpy.{name} got {bitorder!r}"
        )


@program(1, name="packbits")
def _packbits(a: Any, *, axis: Axis, little: bool) -> Any:
    a, axis = promotion.flatten_unless_axis("packbits", a, axis)
    byte = np.dtype(np.uint8)
    bits = lax.convert(truth(a), byte)
    n = aval_of(a).shape[axis]
    config = [(0, 0, 0)] * aval_of(a).ndim
    count = (n + 7) // 8
    config[axis] = (0, 8 * count - n, 0)
    bits = concatenation.pad(bits, np.uint8(0), config)
    shape = list(aval_of(bits).shape)
    split = [*shape[:axis], count, 8, *shape[axis + 1 :]]
    places = np.arange(8) if little else np.arange(7, -1, -1)
    weights = shaping.broadcast_in_dim(
        (1 << places).astype(byte), tuple(split), (axis + 1,)
    )
    return reductions.reduce_sum(
        lax.mul(shaping.reshape(bits, tuple(split)), weights), (axis + 1,)
    )


def unpackbits(
    a: ArrayLike,
    axis: Axis = None,
    count: int | None = None,
    bitorder: str = "big",
) -> Array:
    """The bits of bytes, one in each element, along an axis.

    Args:
      a: uint8 array.
      axis: the axis; None for the flattened array.
      count: how many bits to keep; negative ones leave out the last.
      bitorder: "big" where the highest bit comes first, or "little".

    Returns:
      A uint8 array of zeros and ones.

    Source: NumPy, `numpy.unpackbits`.

    Example:
      >>> jnp.unpackbits(jnp.array([131], dtype=jnp.uint8))
      Array([1, 0, 0, 0, 0, 0, 1, 1], dtype=uint8)
    """
    promotion.check_arraylike("unpackbits", a)
    if aval_of(a).dtype != np.uint8:
        raise TypeError(
            "Expected an input array of unsigned byte data type; numpy.unpackbits"
        )
    _check_bit_order("unpackbits", bitorder)
    return _unpackbits(a, axis=axis, count=count, little=bitorder == "little")


@program(1, name="unpackbits")
def _unpackbits(a: Any, *, axis: Axis, count: int | None, little: bool) -> Any:
    a, axis = promotion.flatten_unless_axis("unpackbits", a, axis)
    shape = list(aval_of(a).shape)
    split = (*shape[: axis + 1], 8, *shape[axis + 1 :])
    places = np.arange(8) if little else np.arange(7, -1, -1)
    axes = [i for i in range(len(split)) if i != axis + 1]
    wide = shaping.broadcast_in_dim(a, split, axes)
    steps = shaping.broadcast_in_dim(places.astype(np.uint8), split, (axis + 1,))
    bits = lax.bitwise_and(lax.shift_right_logical(wide, steps), np.uint8(1))
    shape[axis] *= 8
    out = shaping.reshape(bits, tuple(shape))
    if count is None:
        return out
    n = shape[axis]
    if count > n:
        config = [(0, 0, 0)] * len(shape)
        config[axis] = (0, count - n, 0)
        return concatenation.pad(out, np.uint8(0), config)
    return concatenation.slice_in_dim(
        out, 0, count if count >= 0 else n + count, axis=axis
    )
