"""Convolutions of sparse arrays: each pair of elements gives one of the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import avals
from olympus._src.core.array_type import Array, DTypeLike
from olympus._src.lax import convolution, elementwise, shaping
from olympus._src.sparse import (
    bcoo_contraction,
    bcoo_functions,
    bcoo_layout,
    bcoo_shaping,
    rows,
)
from olympus._src.sparse.bcoo import BCOO

aval_of = avals.aval_of


def bcoo_conv_general_dilated(
    lhs: BCOO | Array,
    rhs: BCOO | Array,
    *,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: None = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: None = None,
) -> BCOO:
    """A convolution of sparse arrays, as `lax.conv_general_dilated`.

    Args:
      lhs, rhs: the input and the kernel: BCOO or arrays, of which one may be dense.
      window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers: as of
        `lax.conv_general_dilated`.
      feature_group_count, batch_group_count: must be 1.
      precision: not used.
      preferred_element_type: dtype of the result; default the promoted one.
      out_sharding: not supported, as in JAX.

    Returns:
      A BCOO with `lhs.nse * rhs.nse` elements; pairs that do not meet are padding.

    Raises:
      NotImplementedError: there are groups.
      ValueError: shapes do not fit.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> signal = sparse.BCOO.fromdense(jnp.array([[[0.0, 2.0, 0.0, 3.0]]]))
      >>> out = sparse.bcoo_conv_general_dilated(
      ...     signal, jnp.ones((1, 1, 2)), window_strides=[1], padding=[(0, 0)]
      ... )
      >>> print(out.todense())
      [[[2. 2. 3.]]]
    """
    name = "bcoo_conv_general_dilated"
    del precision, out_sharding
    if feature_group_count != 1 or batch_group_count != 1:
        raise NotImplementedError(
            f"{name}: feature_group_count and batch_group_count must be 1, got "
            f"{feature_group_count} and {batch_group_count}; convolve each group alone"
        )
    numbers = convolution.conv_dimension_numbers(
        _shape(lhs), _shape(rhs), dimension_numbers
    )
    lhs = _permute(_as_list(lhs), numbers.lhs_spec)
    rhs = _permute(_as_list(rhs), numbers.rhs_spec)
    rank = len(lhs.shape) - 2
    strides = tuple(window_strides)
    wide = (1,) * rank if lhs_dilation is None else tuple(lhs_dilation)
    far = (1,) * rank if rhs_dilation is None else tuple(rhs_dilation)
    if lhs.shape[1] != rhs.shape[1]:
        raise ValueError(
            f"{name}: the input and the kernel must have as many features, got "
            f"{lhs.shape[1]} and {rhs.shape[1]}"
        )
    spans = [_span(n, d) for n, d in zip(lhs.shape[2:], wide, strict=True)]
    windows = [_span(n, d) for n, d in zip(rhs.shape[2:], far, strict=True)]
    if isinstance(padding, str):
        padding = convolution.padtype_to_pads(spans, windows, strides, padding)
    sizes = [
        max(0, (n + low + high - w) // s + 1)
        for n, w, s, (low, high) in zip(spans, windows, strides, padding, strict=True)
    ]
    shape = (lhs.shape[0], rhs.shape[0], *sizes)
    dtype = bcoo_contraction.result_dtype(lhs.data, rhs.data, preferred_element_type)
    steps = [
        (a, b, s, low)
        for a, b, s, (low, _) in zip(wide, far, strides, padding, strict=True)
    ]
    data, indices = _multiply_pairs(lhs, rhs, dtype, steps, shape)
    out = BCOO((data, indices), shape=shape)
    if shape[:2] == (1, 1):
        wide_out = bcoo_shaping.bcoo_squeeze(out, dimensions=(0, 1))
        axes = tuple(range(2, len(shape)))
        out = bcoo_shaping.bcoo_broadcast_in_dim(
            wide_out, shape=shape, broadcast_dimensions=axes
        )
    return _unpermute(out, numbers.out_spec)


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(x.shape if isinstance(x, BCOO) else aval_of(x).shape)


def _span(size: int, dilation: int) -> int:
    return (size - 1) * dilation + 1 if size else 0


def _as_list(x: Any) -> BCOO:
    if isinstance(x, BCOO):
        return bcoo_layout.as_sparse(x)
    aval = aval_of(x)
    return bcoo_functions.bcoo_fromdense(x, nse=aval.size)


def _permute(x: BCOO, spec: Any) -> BCOO:
    return bcoo_functions.bcoo_transpose(x, permutation=tuple(spec))


def _unpermute(x: BCOO, spec: Any) -> BCOO:
    if tuple(spec) == tuple(range(x.ndim)):
        return x
    order = sorted(range(x.ndim), key=lambda a: spec[a])
    return bcoo_functions.bcoo_transpose(bcoo_layout.as_sparse(x), permutation=order)


def _multiply_pairs(lhs: BCOO, rhs: BCOO, dtype: Any, steps: Any, shape: Any) -> Any:
    n, m = lhs.nse, rhs.nse

    def spread(x: Any, axis: int) -> Any:
        return shaping.reshape(shaping.broadcast_in_dim(x, (n, m), (axis,)), (n * m,))

    left = [
        spread(rows.as_positions(rows.take_column(lhs.indices, a)), 0)
        for a in range(lhs.ndim)
    ]
    right = [
        spread(rows.as_positions(rows.take_column(rhs.indices, a)), 1)
        for a in range(rhs.ndim)
    ]
    inside = spread(rows.mark_inside(lhs.indices, lhs.shape), 0)
    inside = inside & spread(rows.mark_inside(rhs.indices, rhs.shape), 1)
    inside = inside & (left[1] == right[1])
    columns = [left[0], right[0]]
    for i, (wide, far, stride, low) in enumerate(steps, 2):
        place = left[i] * wide - right[i] * far + low
        inside = inside & (place >= 0) & (place % stride == 0)
        columns.append(place // stride)
    indices = rows.join_columns(*[shaping.expand_dims(c, (1,)) for c in columns])
    inside = inside & rows.mark_inside(indices, shape)
    x, y = (elementwise.convert_element_type(a.data, dtype) for a in (lhs, rhs))
    data = rows.choose_rows(inside, spread(x, 0) * spread(y, 1))
    return data, rows.move_outside(indices, inside, shape)
