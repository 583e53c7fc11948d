"""Logic and bits of booleans and integers, elementwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Cost, Exact
from olympus._src.lax import families
from olympus._src.lax.families import elementwise

_ACCEPTS = families.BOOL_INT

not_p = elementwise(
    "not",
    accepts=_ACCEPTS,
    hlo="stablehlo.not",
    reference=np.invert,
    cost=Cost.CHEAP,
    may_make_nan=False,
    exact=Exact.INTEGERS,
)
and_p = elementwise(
    "and",
    accepts=_ACCEPTS,
    hlo="stablehlo.and",
    reference=np.bitwise_and,
    cost=Cost.CHEAP,
    may_make_nan=False,
    exact=Exact.INTEGERS,
)
or_p = elementwise(
    "or",
    accepts=_ACCEPTS,
    hlo="stablehlo.or",
    reference=np.bitwise_or,
    cost=Cost.CHEAP,
    may_make_nan=False,
    exact=Exact.INTEGERS,
)
xor_p = elementwise(
    "xor",
    accepts=_ACCEPTS,
    hlo="stablehlo.xor",
    reference=np.bitwise_xor,
    cost=Cost.CHEAP,
    may_make_nan=False,
    exact=Exact.INTEGERS,
)
population_count_p = elementwise(
    "population_count",
    accepts=families.INT,
    hlo="stablehlo.popcnt",
    reference=lambda x: np.bitwise_count(x.view(f"u{x.itemsize}")).astype(x.dtype),
    may_make_nan=False,
)
clz_p = elementwise(
    "clz",
    accepts=families.INT,
    hlo="stablehlo.count_leading_zeros",
    may_make_nan=False,
)


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
    accepts=families.INT,
    hlo="stablehlo.shift_left",
    reference=_shift_reference(lambda x, y, ok: np.where(ok, np.left_shift(x, y), 0)),
    cost=Cost.CHEAP,
    may_make_nan=False,
    exact=Exact.INTEGERS,
)
shift_right_arithmetic_p = elementwise(
    "shift_right_arithmetic",
    accepts=families.INT,
    hlo="stablehlo.shift_right_arithmetic",
    reference=_shift_reference(
        lambda x, y, ok: np.where(ok, np.right_shift(x, y), np.where(x < 0, -1, 0))
    ),
    cost=Cost.CHEAP,
    may_make_nan=False,
)
shift_right_logical_p = elementwise(
    "shift_right_logical",
    accepts=families.INT,
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
    cost=Cost.CHEAP,
    may_make_nan=False,
    exact=Exact.INTEGERS,
)


def bitwise_not(x: ArrayLike) -> Array:
    """Inverts each bit, or each boolean.

    Args:
      x: array or scalar, bool or integer.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.not`.

    Example:
      >>> from olympus import lax
      >>> lax.bitwise_not(0)
      Array(-1, dtype=int32, weak_type=True)
    """
    return not_p.bind(x)


def population_count(x: ArrayLike) -> Array:
    """Number of bits set in each element.

    Args:
      x: array or scalar, integer.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.popcnt`.

    Example:
      >>> from olympus import lax
      >>> lax.population_count(7)
      Array(3, dtype=int32, weak_type=True)
    """
    return population_count_p.bind(x)


def clz(x: ArrayLike) -> Array:
    """Number of leading zero bits in each element.

    Args:
      x: array or scalar, integer.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.count_leading_zeros`.

    Example:
      >>> from olympus import lax
      >>> lax.clz(1)
      Array(31, dtype=int32, weak_type=True)
    """
    return clz_p.bind(x)


def bitwise_and(x: ArrayLike, y: ArrayLike) -> Array:
    """Bitwise and, elementwise.

    Args:
      x, y: arrays of one shape and dtype, bool or integer; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype.

    Source: `stablehlo.and`.

    Example:
      >>> from olympus import lax
      >>> lax.bitwise_and(6, 3)
      Array(2, dtype=int32, weak_type=True)
    """
    return and_p.bind(x, y)


def bitwise_or(x: ArrayLike, y: ArrayLike) -> Array:
    """Bitwise or, elementwise.

    Args:
      x, y: arrays of one shape and dtype, bool or integer; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype.

    Source: `stablehlo.or`.

    Example:
      >>> from olympus import lax
      >>> lax.bitwise_or(6, 3)
      Array(7, dtype=int32, weak_type=True)
    """
    return or_p.bind(x, y)


def bitwise_xor(x: ArrayLike, y: ArrayLike) -> Array:
    """Bitwise exclusive or, elementwise.

    Args:
      x, y: arrays of one shape and dtype, bool or integer; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype.

    Source: `stablehlo.xor`.

    Example:
      >>> from olympus import lax
      >>> lax.bitwise_xor(6, 3)
      Array(5, dtype=int32, weak_type=True)
    """
    return xor_p.bind(x, y)


def shift_left(x: ArrayLike, y: ArrayLike) -> Array:
    """Shifts bits of `x` left by `y`, elementwise.

    Args:
      x, y: arrays of one shape and dtype, integer; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype; 0 where `y` is at least the number of
      bits.

    Source: `stablehlo.shift_left`.

    Example:
      >>> from olympus import lax
      >>> lax.shift_left(1, 3)
      Array(8, dtype=int32, weak_type=True)
    """
    return shift_left_p.bind(x, y)


def shift_right_arithmetic(x: ArrayLike, y: ArrayLike) -> Array:
    """Shifts right, repeating the sign bit, elementwise.

    Args:
      x, y: arrays of one shape and dtype, integer; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype; only sign bits where `y` is at least the
      number of bits.

    Source: `stablehlo.shift_right_arithmetic`.

    Example:
      >>> from olympus import lax
      >>> lax.shift_right_arithmetic(-8, 1)
      Array(-4, dtype=int32, weak_type=True)
    """
    return shift_right_arithmetic_p.bind(x, y)


def shift_right_logical(x: ArrayLike, y: ArrayLike) -> Array:
    """Shifts right, filling with zeros, elementwise.

    Args:
      x, y: arrays of one shape and dtype, integer; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype; 0 where `y` is at least the number of
      bits.

    Source: `stablehlo.shift_right_logical`.

    Example:
      >>> from olympus import lax
      >>> lax.shift_right_logical(8, 1)
      Array(4, dtype=int32, weak_type=True)
    """
    return shift_right_logical_p.bind(x, y)


def bitwise_and_not(x: Any, y: Any) -> Any:
    """Bits of `x` that are not in `y`."""
    return and_p.bind(x, not_p.bind(y))


def and_(x: Any, y: Any) -> Any:
    """`bitwise_and`, for the rules above."""
    return and_p.bind(x, y)
