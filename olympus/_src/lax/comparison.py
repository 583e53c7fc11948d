"""Comparisons, elementwise: their results are booleans and carry no tangent."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Cost, Exact, Remade
from olympus._src.lax import families
from olympus._src.lax.families import ShapedArray, elementwise
from olympus._src.lowering import types


def _compare_lower(direction: str, total_order: bool = False) -> Any:
    def lower(ctx: Any, x: str, y: str) -> str:
        aval = ctx.avals_in[0]
        kind = comparison_kind(aval.dtype, total_order)
        return ctx.block.compare(direction, x, y, aval, kind, ctx.avals_out[0])

    return lower


def _equality_lower(direction: str, joined: str) -> Any:
    """Numbers are compared; keys too, word by word."""
    plain = _compare_lower(direction)

    def lower(ctx: Any, x: str, y: str) -> str:
        aval, out = ctx.avals_in[0], ctx.avals_out[0]
        if not dtypes.is_extended(aval.dtype):
            return plain(ctx, x, y)
        flags = ShapedArray(aval.storage.shape, out.dtype)
        words = ctx.block.compare(direction, x, y, aval, "UNSIGNED", flags)
        scalar = ShapedArray((), out.dtype)
        start = ctx.block.constant(joined == "stablehlo.and", scalar)
        axes = ", ".join(map(str, range(out.ndim, flags.ndim)))
        t = types.tensor_type
        return ctx.block.emit(
            f"stablehlo.reduce({words} init: {start}) applies {joined} across "
            f"dimensions = [{axes}] : ({t(flags)}, {t(scalar)}) -> {t(out)}"
        )

    return lower


def comparison_kind(dtype: Any, total_order: bool) -> str:
    if dtypes.issubdtype(dtype, np.inexact):
        real_dtype = dtypes.issubdtype(dtype, np.floating)
        return "TOTALORDER" if total_order and real_dtype else "FLOAT"
    if dtypes.issubdtype(dtype, np.signedinteger):
        return "SIGNED"
    return "UNSIGNED"


def _comparison(
    name: str,
    direction: str,
    reference: Any,
    accepts: Any = families.ANY,
    total: bool = False,
    lower: Any = None,
) -> Any:
    # In total order they are more than one instruction.
    return elementwise(
        name,
        accepts=accepts,
        lower=lower or _compare_lower(direction, total),
        out_dtype=lambda x, y: np.dtype(np.bool_),
        reference=reference,
        jvp=families.no_tangent,
        cost=None if total else Cost.CHEAP,
        remade=None if total else Remade.OF_RESIDUALS,
        may_make_nan=False,
        exact=None if total else Exact.NUMBERS,
    )


_COMPARABLE = (*families.ANY, families.KEY)
eq_p = _comparison(
    "eq", "EQ", np.equal, _COMPARABLE, lower=_equality_lower("EQ", "stablehlo.and")
)
ne_p = _comparison(
    "ne", "NE", np.not_equal, _COMPARABLE, lower=_equality_lower("NE", "stablehlo.or")
)
ge_p = _comparison("ge", "GE", np.greater_equal, (families.BOOL, *families.REAL))
gt_p = _comparison("gt", "GT", np.greater, (families.BOOL, *families.REAL))
le_p = _comparison("le", "LE", np.less_equal, (families.BOOL, *families.REAL))
lt_p = _comparison("lt", "LT", np.less, (families.BOOL, *families.REAL))
eq_to_p = _comparison("eq_to", "EQ", None, (families.BOOL, *families.REAL), True)
le_to_p = _comparison("le_to", "LE", None, (families.BOOL, *families.REAL), True)
lt_to_p = _comparison("lt_to", "LT", None, (families.BOOL, *families.REAL), True)


def eq(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether elements are equal, elementwise.

    Args:
      x, y: arrays of one shape and dtype, of bools, numbers or keys; scalars are
        broadcast.

    Returns:
      Bool array of the operands' shape.

    Source: `stablehlo.compare`.

    Example:
      >>> from olympus import lax
      >>> lax.eq(1, 1)
      Array(True, dtype=bool, weak_type=True)
    """
    return eq_p.bind(x, y)


def ne(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether elements differ, elementwise.

    Args:
      x, y: arrays of one shape and dtype, of bools, numbers or keys; scalars are
        broadcast.

    Returns:
      Bool array of the operands' shape.

    Source: `stablehlo.compare`.

    Example:
      >>> from olympus import lax
      >>> lax.ne(1, 1)
      Array(False, dtype=bool, weak_type=True)
    """
    return ne_p.bind(x, y)


def ge(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether `x >= y`, elementwise.

    Args:
      x, y: arrays of one shape and dtype, bool, integer or floating; scalars are
        broadcast.

    Returns:
      Bool array of the operands' shape.

    Source: `stablehlo.compare`.

    Example:
      >>> from olympus import lax
      >>> lax.ge(1, 1)
      Array(True, dtype=bool, weak_type=True)
    """
    return ge_p.bind(x, y)


def gt(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether `x > y`, elementwise.

    Args:
      x, y: arrays of one shape and dtype, bool, integer or floating; scalars are
        broadcast.

    Returns:
      Bool array of the operands' shape.

    Source: `stablehlo.compare`.

    Example:
      >>> from olympus import lax
      >>> lax.gt(1, 1)
      Array(False, dtype=bool, weak_type=True)
    """
    return gt_p.bind(x, y)


def le(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether `x <= y`, elementwise.

    Args:
      x, y: arrays of one shape and dtype, bool, integer or floating; scalars are
        broadcast.

    Returns:
      Bool array of the operands' shape.

    Source: `stablehlo.compare`.

    Example:
      >>> from olympus import lax
      >>> lax.le(1, 1)
      Array(True, dtype=bool, weak_type=True)
    """
    return le_p.bind(x, y)


def lt(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether `x < y`, elementwise.

    Args:
      x, y: arrays of one shape and dtype, bool, integer or floating; scalars are
        broadcast.

    Returns:
      Bool array of the operands' shape.

    Source: `stablehlo.compare`.

    Example:
      >>> from olympus import lax
      >>> lax.lt(1, 1)
      Array(False, dtype=bool, weak_type=True)
    """
    return lt_p.bind(x, y)
