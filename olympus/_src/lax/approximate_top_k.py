"""The largest elements where a few may be missed; every platform here finds all."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Primitive
from olympus._src.lax import elementwise, sharding_rules, sizes, sorting
from olympus._src.lax.families import ShapedArray


def _length(operand: Any, axis: int, k: int, aggregate: bool) -> int:
    """Without the last step, which picks among candidates, all elements are."""
    return k if aggregate else operand.shape[axis]


def _abstract(
    operand: Any,
    *,
    k: int,
    reduction_dimension: int,
    aggregate_to_topk: bool,
    **params: Any,
) -> Any:
    axis = sizes.canonicalize_axis(reduction_dimension, operand.ndim, "lax.approx_k")
    shape = list(operand.shape)
    shape[axis] = _length(operand, axis, k, aggregate_to_topk)
    out = tuple(shape)
    return [
        ShapedArray(out, operand.dtype, operand.weak_type),
        ShapedArray(out, np.dtype(np.int32)),
    ]


def _decompose(
    x: Any,
    *,
    k: int,
    reduction_dimension: int,
    is_max_k: bool,
    aggregate_to_topk: bool,
    **params: Any,
) -> Any:
    aval = avals.aval_of(x)
    axis = reduction_dimension % aval.ndim
    k = _length(aval, axis, k, aggregate_to_topk)
    if is_max_k:
        return sorting.top_k(x, k, axis=axis)
    values, positions = sorting.top_k(elementwise.neg(x), k, axis=axis)
    return [elementwise.neg(values), positions]


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    (x,) = primals
    axis = params["reduction_dimension"] % avals.aval_of(x).ndim
    return sorting.jvp_of_chosen(approx_top_k_p.bind(x, **params), tangents, axis)


def _batch(
    mapped: Any, args: Any, dims: Any, *, reduction_dimension: int, **params: Any
) -> Any:
    (x,), (dim,) = args, dims
    axis = reduction_dimension % (avals.aval_of(x).ndim - 1)
    axis += axis >= dim
    outs = approx_top_k_p.bind(x, reduction_dimension=axis, **params)
    return outs, [dim, dim]


def _reference(
    x: Any,
    *,
    k: int,
    reduction_dimension: int,
    is_max_k: bool,
    aggregate_to_topk: bool,
    **params: Any,
) -> Any:
    k = _length(x, reduction_dimension, k, aggregate_to_topk)
    order = np.argsort(-x if is_max_k else x, axis=reduction_dimension, kind="stable")
    positions = np.take(order, range(k), axis=reduction_dimension)
    values = np.take_along_axis(x, positions, reduction_dimension)
    return values, positions.astype(np.int32)


approx_top_k_p = Primitive(
    "approx_top_k",
    shard=sharding_rules.approx_top_k,
    multiple_results=True,
    abstract=_abstract,
    decompose=_decompose,
    jvp=_jvp,
    batch=_batch,
    reference=_reference,
)


def _find_extremes(
    what: str,
    operand: Any,
    k: int,
    axis: int,
    recall_target: float,
    input_size: int,
    aggregate: bool,
) -> Any:
    aval = avals.aval_of(operand)
    if not dtypes.issubdtype(aval.dtype, np.floating):
        raise ValueError(
            f"lax.{what}: operand must be of floating dtype, got {aval.short()}; use "
            "lax.top_k"
        )
    if not aval.ndim:
        raise TypeError(
            f"lax.{what}: operand must have an axis or more, got {aval.short()}"
        )
    position = sizes.canonicalize_axis(axis, aval.ndim, f"lax.{what}")
    if not 0 <= k <= aval.shape[position]:
        raise ValueError(
            f"lax.{what}: k must be from 0 to the size of axis {axis}, got {k} for "
            f"{aval.short()}"
        )
    if not 0 < recall_target <= 1:
        raise ValueError(
            f"lax.{what}: recall_target must be above 0 and at most 1, got "
            f"{recall_target}"
        )
    return list(
        approx_top_k_p.bind(
            operand,
            k=int(k),
            reduction_dimension=int(axis),
            recall_target=recall_target,
            is_max_k=what == "approx_max_k",
            reduction_input_size_override=input_size,
            aggregate_to_topk=aggregate,
        )
    )


def approx_max_k(
    operand: ArrayLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Array]:
    """The largest elements along an axis and their positions; here they are exact.

    Args:
      operand: floating array of one axis or more.
      k: how many.
      reduction_dimension: the axis; may be negative.
      recall_target: the share that must be found, at most 1; all are.
      reduction_input_size_override: for accelerators that approximate; not used.
      aggregate_to_topk: whether only `k` elements are kept; if not, all are given.

    Returns:
      A list of two arrays: values in descending order, and positions (int32).

    Raises:
      ValueError: the axis has fewer than `k` elements, or the dtype is not floating.
      TypeError: the operand has no axes.

    Source: F. Chern, B. Hechtman and others, TPU-KNN, 2022.

    Example:
      >>> lax.approx_max_k(jnp.array([3.0, 9.0, 1.0, 7.0]), 2)
      [Array([9., 7.], dtype=float32), Array([1, 3], dtype=int32)]
    """
    return _find_extremes(
        "approx_max_k",
        operand,
        k,
        reduction_dimension,
        recall_target,
        reduction_input_size_override,
        aggregate_to_topk,
    )


def approx_min_k(
    operand: ArrayLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Array]:
    """The smallest elements along an axis and their positions; here they are exact.

    Args:
      operand: floating array of one axis or more.
      k: how many.
      reduction_dimension: the axis; may be negative.
      recall_target: the share that must be found, at most 1; all are.
      reduction_input_size_override: for accelerators that approximate; not used.
      aggregate_to_topk: whether only `k` elements are kept; if not, all are given.

    Returns:
      A list of two arrays: values in ascending order, and positions (int32).

    Raises:
      ValueError: the axis has fewer than `k` elements, or the dtype is not floating.
      TypeError: the operand has no axes.

    Source: F. Chern, B. Hechtman and others, TPU-KNN, 2022.

    Example:
      >>> lax.approx_min_k(jnp.array([3.0, 9.0, 1.0, 7.0]), 2)
      [Array([1., 3.], dtype=float32), Array([2, 0], dtype=int32)]
    """
    return _find_extremes(
        "approx_min_k",
        operand,
        k,
        reduction_dimension,
        recall_target,
        reduction_input_size_override,
        aggregate_to_topk,
    )
