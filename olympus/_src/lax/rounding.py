"""Signs, rounding, remainders and neighbours of numbers, elementwise."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Cost, Exact
from olympus._src.lax import division, families
from olympus._src.lax.arithmetic import div, mul, neg, sign
from olympus._src.lax.complex_numbers import abs_
from olympus._src.lax.families import elementwise
from olympus._src.lowering import types


def _rem_lower(ctx: Any, x: str, y: str) -> str:
    return division.emit_division(ctx, "stablehlo.remainder", x, y, x)


rem_p = elementwise(
    "rem",
    lower=_rem_lower,
    accepts=families.REAL,
    reference=np.fmod,
    derivatives=(
        lambda t, out, x, y: t,
        lambda t, out, x, y: mul(t, neg(_truncate(div(x, y)))),
    ),
    cost=Cost.EXPENSIVE,
)


def _truncate(x: Any) -> Any:
    return mul(sign(x), floor(abs_(x)))


floor_p = elementwise(
    "floor",
    accepts=families.FLOAT,
    hlo="stablehlo.floor",
    reference=np.floor,
    derivatives=(None,),
    cost=Cost.CHEAP,
    may_make_nan=False,
    exact=Exact.NUMBERS,
)
ceil_p = elementwise(
    "ceil",
    accepts=families.FLOAT,
    hlo="stablehlo.ceil",
    reference=np.ceil,
    derivatives=(None,),
    cost=Cost.CHEAP,
    may_make_nan=False,
    exact=Exact.NUMBERS,
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
    accepts=families.FLOAT,
    lower=_round_lower,
    reference=_round_reference,
    derivatives=(None,),
    cost=Cost.CHEAP,
    may_make_nan=False,
)


def _nextafter_lower(ctx: Any, x: str, y: str) -> str:
    t = types.tensor_type(ctx.avals_out[0])
    return ctx.block.emit(f"chlo.next_after {x}, {y} : {t}, {t} -> {t}")


nextafter_p = elementwise(
    "nextafter",
    accepts=families.FLOAT,
    lower=_nextafter_lower,
    reference=np.nextafter,
    derivatives=(lambda t, out, x, y: t, None),
)


def floor(x: ArrayLike) -> Array:
    """Rounds towards minus infinity, elementwise.

    Args:
      x: array or scalar, floating.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.floor`.

    Example:
      >>> from olympus import lax
      >>> lax.floor(-1.5)
      Array(-2., dtype=float32, weak_type=True)
    """
    return floor_p.bind(x)


def ceil(x: ArrayLike) -> Array:
    """Rounds towards plus infinity, elementwise.

    Args:
      x: array or scalar, floating.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.ceil`.

    Example:
      >>> from olympus import lax
      >>> lax.ceil(-1.5)
      Array(-1., dtype=float32, weak_type=True)
    """
    return ceil_p.bind(x)


def rem(x: ArrayLike, y: ArrayLike) -> Array:
    """Remainder, with the sign of the dividend, elementwise.

    Args:
      x, y: arrays of one shape and dtype, integer or floating; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype.

    Source: `stablehlo.remainder`.

    Example:
      >>> from olympus import lax
      >>> lax.rem(-7, 2)
      Array(-1, dtype=int32, weak_type=True)
    """
    return rem_p.bind(x, y)


def nextafter(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The next number after `x1` towards `x2`, elementwise.

    Args:
      x1, x2: arrays of one shape and dtype, floating; scalars are broadcast.

    Returns:
      Array of the operands' shape and dtype.

    Source: `chlo.next_after`.

    Example:
      >>> from olympus import lax
      >>> lax.nextafter(1.0, 1.0)
      Array(1., dtype=float32, weak_type=True)
    """
    return nextafter_p.bind(x1, x2)


class RoundingMethod(enum.IntEnum):
    """How `round` treats halves."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def round(
    x: ArrayLike, rounding_method: RoundingMethod | int = RoundingMethod.AWAY_FROM_ZERO
) -> Array:
    """Rounds to integers, elementwise.

    Args:
      x: array or scalar, floating.
      rounding_method: a RoundingMethod; halves go away from zero, or to even.

    Returns:
      Array of the shape and dtype of `x`.

    Source: `stablehlo.round_nearest_afz`, `stablehlo.round_nearest_even`.

    Example:
      >>> from olympus import lax
      >>> lax.round(2.5)
      Array(3., dtype=float32, weak_type=True)
    """
    return round_p.bind(x, rounding_method=RoundingMethod(rounding_method))
