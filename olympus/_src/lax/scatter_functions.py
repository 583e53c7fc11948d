"""The scatters as users call them, and the transpose of gather, which is one."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike, IndexMode, Indices
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import gather, shaping
from olympus._src.lax.gather import GatherScatterMode, ScatterDimensionNumbers
from olympus._src.lax.scatter import (
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
    update_program,
)


def _apply(
    p: Primitive,
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: Any,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Any,
) -> Any:
    name = p.name.replace("-", "_")
    return p.bind(
        operand,
        gather.canonical_indices(scatter_indices, f"lax.{name}"),
        updates,
        update_jaxpr=update_program(p, avals.aval_of(operand).dtype),
        update_consts=(),
        dimension_numbers=ScatterDimensionNumbers(*map(tuple, dimension_numbers)),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=GatherScatterMode.from_any(mode),
    )


def scatter(
    operand: ArrayLike,
    scatter_indices: Indices,
    updates: ArrayLike,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: IndexMode | None = None,
) -> Array:
    """The operand with windows at computed positions replaced by updates.

    Where positions repeat, which update is kept is unspecified.

    Args:
      operand: array.
      scatter_indices: integers [..., n]; the last axis holds index vectors.
      updates: array of the operand's dtype: one window for each index vector.
      dimension_numbers: how the axes belong together.
      indices_are_sorted: promises that the index vectors ascend.
      unique_indices: promises that no windows overlap.
      mode: a `GatherScatterMode` or its name; default writes nothing outside.

    Raises:
      TypeError: axes, sizes or dtypes do not fit.

    Source: `stablehlo.scatter`.

    Example:
      >>> lax.scatter(
      ...     jnp.ones(3),
      ...     jnp.array([[1]]),
      ...     jnp.array([5.0]),
      ...     lax.ScatterDimensionNumbers((), (0,), (0,)),
      ... )
      Array([1., 5., 1.], dtype=float32)
    """
    return _apply(
        scatter_p,
        operand,
        scatter_indices,
        updates,
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
    )


def scatter_add(
    operand: ArrayLike,
    scatter_indices: Indices,
    updates: ArrayLike,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: IndexMode | None = None,
) -> Array:
    """The operand with updates added at computed positions.

    Where positions repeat, all their updates are added.

    Args:
      operand: array.
      scatter_indices: integers [..., n]; the last axis holds index vectors.
      updates: array of the operand's dtype: one window for each index vector.
      dimension_numbers: how the axes belong together.
      indices_are_sorted: promises that the index vectors ascend.
      unique_indices: promises that no windows overlap.
      mode: a `GatherScatterMode` or its name; default writes nothing outside.

    Raises:
      TypeError: axes, sizes or dtypes do not fit.

    Source: `stablehlo.scatter`.

    Example:
      >>> lax.scatter_add(
      ...     jnp.ones(3),
      ...     jnp.array([[1]]),
      ...     jnp.array([5.0]),
      ...     lax.ScatterDimensionNumbers((), (0,), (0,)),
      ... )
      Array([1., 6., 1.], dtype=float32)
    """
    return _apply(
        scatter_add_p,
        operand,
        scatter_indices,
        updates,
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
    )


def scatter_sub(
    operand: ArrayLike,
    scatter_indices: Indices,
    updates: ArrayLike,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: IndexMode | None = None,
) -> Array:
    """The operand with updates subtracted at computed positions.

    Where positions repeat, all their updates are subtracted.

    Args:
      operand: array.
      scatter_indices: integers [..., n]; the last axis holds index vectors.
      updates: array of the operand's dtype: one window for each index vector.
      dimension_numbers: how the axes belong together.
      indices_are_sorted: promises that the index vectors ascend.
      unique_indices: promises that no windows overlap.
      mode: a `GatherScatterMode` or its name; default writes nothing outside.

    Raises:
      TypeError: axes, sizes or dtypes do not fit.

    Source: `stablehlo.scatter`.

    Example:
      >>> lax.scatter_sub(
      ...     jnp.ones(3),
      ...     jnp.array([[1]]),
      ...     jnp.array([5.0]),
      ...     lax.ScatterDimensionNumbers((), (0,), (0,)),
      ... )
      Array([ 1., -4.,  1.], dtype=float32)
    """
    return _apply(
        scatter_sub_p,
        operand,
        scatter_indices,
        updates,
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
    )


def scatter_mul(
    operand: ArrayLike,
    scatter_indices: Indices,
    updates: ArrayLike,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: IndexMode | None = None,
) -> Array:
    """The operand with windows at computed positions multiplied by updates.

    Where positions repeat, all their updates multiply.

    Args:
      operand: array.
      scatter_indices: integers [..., n]; the last axis holds index vectors.
      updates: array of the operand's dtype: one window for each index vector.
      dimension_numbers: how the axes belong together.
      indices_are_sorted: promises that the index vectors ascend.
      unique_indices: promises that no windows overlap.
      mode: a `GatherScatterMode` or its name; default writes nothing outside.

    Raises:
      TypeError: axes, sizes or dtypes do not fit.

    Source: `stablehlo.scatter`.

    Example:
      >>> lax.scatter_mul(
      ...     jnp.ones(3),
      ...     jnp.array([[1]]),
      ...     jnp.array([5.0]),
      ...     lax.ScatterDimensionNumbers((), (0,), (0,)),
      ... )
      Array([1., 5., 1.], dtype=float32)
    """
    return _apply(
        scatter_mul_p,
        operand,
        scatter_indices,
        updates,
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
    )


def scatter_min(
    operand: ArrayLike,
    scatter_indices: Indices,
    updates: ArrayLike,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: IndexMode | None = None,
) -> Array:
    """The operand with the lesser of itself and updates at computed positions.

    Where positions repeat, the least update counts.

    Args:
      operand: array.
      scatter_indices: integers [..., n]; the last axis holds index vectors.
      updates: array of the operand's dtype: one window for each index vector.
      dimension_numbers: how the axes belong together.
      indices_are_sorted: promises that the index vectors ascend.
      unique_indices: promises that no windows overlap.
      mode: a `GatherScatterMode` or its name; default writes nothing outside.

    Raises:
      TypeError: axes, sizes or dtypes do not fit.

    Source: `stablehlo.scatter`.

    Example:
      >>> lax.scatter_min(
      ...     jnp.ones(3),
      ...     jnp.array([[1]]),
      ...     jnp.array([5.0]),
      ...     lax.ScatterDimensionNumbers((), (0,), (0,)),
      ... )
      Array([1., 1., 1.], dtype=float32)
    """
    return _apply(
        scatter_min_p,
        operand,
        scatter_indices,
        updates,
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
    )


def scatter_max(
    operand: ArrayLike,
    scatter_indices: Indices,
    updates: ArrayLike,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: IndexMode | None = None,
) -> Array:
    """The operand with the greater of itself and updates at computed positions.

    Where positions repeat, the greatest update counts.

    Args:
      operand: array.
      scatter_indices: integers [..., n]; the last axis holds index vectors.
      updates: array of the operand's dtype: one window for each index vector.
      dimension_numbers: how the axes belong together.
      indices_are_sorted: promises that the index vectors ascend.
      unique_indices: promises that no windows overlap.
      mode: a `GatherScatterMode` or its name; default writes nothing outside.

    Raises:
      TypeError: axes, sizes or dtypes do not fit.

    Source: `stablehlo.scatter`.

    Example:
      >>> lax.scatter_max(
      ...     jnp.ones(3),
      ...     jnp.array([[1]]),
      ...     jnp.array([5.0]),
      ...     lax.ScatterDimensionNumbers((), (0,), (0,)),
      ... )
      Array([1., 5., 1.], dtype=float32)
    """
    return _apply(
        scatter_max_p,
        operand,
        scatter_indices,
        updates,
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
    )


def transpose_gather(
    cts: Any,
    x: Any,
    indices: Any,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    unique_indices: bool,
    indices_are_sorted: bool,
    mode: Any,
    fill_value: Any,
) -> Any:
    """The cotangent of what a gather reads: a scatter."""
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval), None]
    out = scatter_add(
        shaping.full(x.aval.shape, 0, x.aval.dtype),
        indices,
        ct,
        ScatterDimensionNumbers(*dimension_numbers),
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
    )
    return [out, None]
