"""Products of two BCOO, whose result is one too."""

from __future__ import annotations

import math
from typing import Any

from olympus._src.core import avals, dtypes
from olympus._src.lax import elementwise, shaping
from olympus._src.sparse import bcoo_contraction, bcoo_ordering, layouts, rows
from olympus._src.sparse.layouts import SparseInfo
from olympus._src.sparse.primitives import SparsePrimitive

aval_of = avals.aval_of


def _multiply_sparse(
    lhs_data: Any,
    lhs_indices: Any,
    rhs_data: Any,
    rhs_indices: Any,
    *,
    lhs_spinfo: SparseInfo,
    rhs_spinfo: SparseInfo,
    dimension_numbers: Any,
    preferred_element_type: Any,
) -> Any:
    name = "bcoo_spdot_general"
    (lc, rc), (lb, rb) = dimension_numbers
    left = layouts.bcoo_layout(name, lhs_data, lhs_indices, lhs_spinfo.shape)
    right = layouts.bcoo_layout(name, rhs_data, rhs_indices, rhs_spinfo.shape)
    _check_sparse_product(left, right, dimension_numbers)
    dtype = bcoo_contraction.result_dtype(lhs_data, rhs_data, preferred_element_type)
    ours = [a - left.n_batch for a in lc]
    theirs = [a - right.n_batch for a in rc]
    lhs_sizes = left.sparse_shape(lhs_spinfo.shape)
    rhs_sizes = right.sparse_shape(rhs_spinfo.shape)
    free_l = [a for a in range(left.n_sparse) if a not in ours]
    free_r = [a for a in range(right.n_sparse) if a not in theirs]
    sizes = (*[lhs_sizes[a] for a in free_l], *[rhs_sizes[a] for a in free_r])
    nse = min(left.nse * right.nse, math.prod(sizes))

    def multiply(d: Any, i: Any, e: Any, j: Any) -> Any:
        data, indices = _multiply_pairs(
            elementwise.convert_element_type(d, dtype),
            elementwise.convert_element_type(e, dtype),
            (i, ours, free_l, lhs_sizes),
            (j, theirs, free_r, rhs_sizes),
        )
        if not sizes:
            total = shaping.expand_dims(rows.sum_axes(data, (0,)), (0,))
            return total, shaping.full((1, 0), 0, aval_of(indices).dtype)
        if nse == aval_of(data).shape[0]:
            return data, indices
        return _combine(data, indices, sizes, nse)

    return _map_pairs(
        multiply,
        (lhs_data, lhs_indices, left, lb, lhs_spinfo.shape),
        (rhs_data, rhs_indices, rb),
    )


def _map_pairs(multiply: Any, left: Any, right: Any) -> Any:
    """Maps over paired batch axes, then over those of the left side alone."""
    d, i, layout, lb, shape = left
    e, j, rb = right
    alone = [a for a in range(layout.n_batch) if a not in lb]
    d, i = (_permute_front(x, (*lb, *alone)) for x in (d, i))
    e, j = (_permute_front(x, rb) for x in (e, j))
    ones = range(len(rb), len(rb) + len(alone))
    e, j = (shaping.expand_dims(x, tuple(ones)) if alone else x for x in (e, j))
    outs = layouts.map_batch(multiply, layout.n_batch, d, i, e, j)
    batch = [shape[a] for a in (*lb, *alone)]
    return [layouts.fill_batch(x, batch) for x in outs]


def _permute_front(x: Any, order: Any) -> Any:
    rank = aval_of(x).ndim
    return shaping.transpose(x, (*order, *range(len(order), rank)))


def _combine(data: Any, indices: Any, sizes: Any, nse: int) -> Any:
    spinfo = SparseInfo(tuple(sizes))
    return bcoo_ordering.bcoo_sum_duplicates_p.bind(
        data, indices, spinfo=spinfo, nse=nse
    )


def _check_sparse_product(left: Any, right: Any, numbers: Any) -> None:
    (lc, rc), (lb, rb) = numbers
    advice = "change the layout with bcoo_update_layout"
    for layout, contracted, batch in ((left, lc, lb), (right, rc, rb)):
        if layout.n_dense:
            raise NotImplementedError(
                "bcoo_spdot_general: dense axes must not be there, got "
                f"n_dense={layout.n_dense}; {advice}"
            )
        if any(a < layout.n_batch for a in contracted):
            raise NotImplementedError(
                "bcoo_spdot_general: only supports contraction of sparse indices, got "
                f"axes {contracted} with n_batch={layout.n_batch}; {advice}"
            )
        bcoo_contraction.check_batch("bcoo_spdot_general", batch, layout.n_batch)
    if right.n_batch != len(rb):
        raise NotImplementedError(
            "bcoo_spdot_general: all batch axes of the right side must be batch axes "
            f"of the contraction, got {tuple(rb)} of n_batch={right.n_batch}; {advice}"
        )


def _multiply_pairs(d: Any, e: Any, left: Any, right: Any) -> Any:
    """All products of two elements; those that do not meet lie outside."""
    i, ours, free_l, lhs_sizes = left
    j, theirs, free_r, rhs_sizes = right
    n, m = aval_of(i).shape[0], aval_of(j).shape[0]

    def spread(x: Any, axis: int) -> Any:
        shape = aval_of(x).shape
        full = (n, m, *shape[1:])
        return shaping.broadcast_in_dim(x, full, (axis, *range(2, len(full))))

    meets = spread(rows.mark_inside(i, lhs_sizes), 0)
    meets = meets & spread(rows.mark_inside(j, rhs_sizes), 1)
    for a, b in zip(ours, theirs, strict=True):
        x, y = rows.take_column(i, a), rows.take_column(j, b)
        dtype = dtypes.result_type(x, y)
        x, y = (elementwise.convert_element_type(c, dtype) for c in (x, y))
        meets = meets & elementwise.eq(spread(x, 0), spread(y, 1))
    data = rows.choose_rows(meets, spread(d, 0) * spread(e, 1))
    columns = [spread(rows.take_columns(i, free_l), 0)]
    columns.append(spread(rows.take_columns(j, free_r), 1))
    indices = rows.join_columns(*columns)
    sizes = (*[lhs_sizes[a] for a in free_l], *[rhs_sizes[a] for a in free_r])
    k = aval_of(indices).shape[-1]
    flat = shaping.reshape(indices, (n * m, k))
    flat = rows.move_outside(flat, shaping.reshape(meets, (n * m,)), sizes)
    return shaping.reshape(data, (n * m,)), flat


bcoo_spdot_general_p = SparsePrimitive(
    "bcoo_spdot_general", _multiply_sparse, multiple_results=True
)


def multiply_meeting(d: Any, i: Any, e: Any, j: Any, sizes: Any) -> Any:
    """Products of elements at equal positions, one for each pair; others are padding.

    Args:
      d, e: arrays [n, *dense] and [m, *dense] of one dtype.
      i, j: their index vectors.
      sizes: of the sparse axes.

    Returns:
      Arrays [n * m, *dense] and [n * m, n_sparse].
    """
    n, m = aval_of(i).shape[0], aval_of(j).shape[0]
    k = len(sizes)
    first = shaping.broadcast_in_dim(i, (n, m, k), (0, 2))
    second = shaping.broadcast_in_dim(j, (n, m, k), (1, 2))
    dtype = dtypes.result_type(i, j)
    first, second = (
        elementwise.convert_element_type(x, dtype) for x in (first, second)
    )
    meets = rows.mark_inside(first, sizes)
    for axis in range(k):
        left, right = rows.take_column(first, axis), rows.take_column(second, axis)
        meets = meets & elementwise.eq(left, right)
    dense = aval_of(d).shape[1:]
    spots = tuple(range(2, 2 + len(dense)))
    x = shaping.broadcast_in_dim(d, (n, m, *dense), (0, *spots))
    y = shaping.broadcast_in_dim(e, (n, m, *dense), (1, *spots))
    meets = shaping.reshape(meets, (n * m,))
    data = rows.choose_rows(meets, shaping.reshape(x * y, (n * m, *dense)))
    indices = rows.move_outside(shaping.reshape(first, (n * m, k)), meets, sizes)
    return data, indices
