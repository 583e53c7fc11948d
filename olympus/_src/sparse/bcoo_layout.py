"""Which axes of a BCOO are batch and dense ones: `bcoo_update_layout`."""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.lax import elementwise, shaping
from olympus._src.sparse import layouts, rows
from olympus._src.sparse.bcoo import BCOO
from olympus._src.sparse.bcoo_functions import check_bcoo
from olympus._src.sparse.formats import SparseEfficiencyError, SparseEfficiencyWarning

aval_of = avals.aval_of


def bcoo_update_layout(
    mat: BCOO,
    *,
    n_batch: int | None = None,
    n_dense: int | None = None,
    on_inefficient: str | None = "error",
) -> BCOO:
    """The same array as a BCOO with other numbers of batch and dense axes.

    Args:
      mat: BCOO.
      n_batch, n_dense: the numbers of batch and dense axes; default as they are.
      on_inefficient: what happens where the result stores more elements than needed,
        as with more batch or dense axes: 'error', 'warn', or None for nothing.

    Raises:
      SparseEfficiencyError: the result would be inefficient, and 'error' is requested.
      ValueError: the numbers do not fit the shape, or `on_inefficient` is another word.
      TypeError: `mat` is no BCOO.

    Example:
      >>> from olympus.experimental import sparse
      >>> sparse.eye(3, n_batch=1).update_layout(n_batch=0)
      BCOO(float32[3, 3], nse=3)
    """
    name = "bcoo_update_layout"
    check_bcoo(name, "mat", mat)
    n_batch = mat.n_batch if n_batch is None else operator.index(n_batch)
    n_dense = mat.n_dense if n_dense is None else operator.index(n_dense)
    if min(n_batch, n_dense) < 0 or n_batch + n_dense > mat.ndim:
        raise ValueError(
            f"{name}: n_batch and n_dense must be non-negative and at most {mat.ndim} "
            f"together, got n_batch={n_batch} and n_dense={n_dense}; leave axes for "
            "the sparse part"
        )
    if on_inefficient not in ("error", "warn", None):
        raise ValueError(
            f"{name}: on_inefficient must be one of ['error', 'warn', None], got "
            f"{on_inefficient!r}"
        )
    if n_batch == mat.n_batch and n_dense == mat.n_dense:
        return mat
    _report(mat, "n_batch", n_batch, on_inefficient)
    _report(mat, "n_dense", n_dense, on_inefficient)
    # First towards sparse axes, so that the others have them all to choose from.
    data, indices, shape = fill_buffers(mat)
    if n_batch < mat.n_batch:
        data, indices = _sparsify_batch(data, indices, shape, n_batch)
    if n_dense < mat.n_dense:
        data, indices = _sparsify_dense(data, indices, n_dense)
    if n_dense > mat.n_dense:
        data, indices = _densify(data, indices, shape, n_dense)
    if n_batch > mat.n_batch:
        data, indices = _batch_sparse(data, indices, shape, n_batch)
    return BCOO((data, indices), shape=shape)


def _report(mat: BCOO, what: str, number: int, on_inefficient: str | None) -> None:
    """Says that a conversion makes padding or zeros, where it does."""
    old = getattr(mat, what)
    if number <= old or on_inefficient is None:
        return
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    axes = range(n, number) if what == "n_batch" else range(mat.ndim - number, m)
    if math.prod([mat.shape[a] for a in axes]) <= 1:
        return
    text = (
        f"bcoo_update_layout: For matrix of shape {mat.shape}, increasing {what} from "
        f"{old} to {number} results in inefficient storage. To disable this "
        f"{on_inefficient if on_inefficient == 'error' else 'warning'}, set the "
        "on_inefficient argument of bcoo_update_layout to "
        f"{repr('warn') + ' or None' if on_inefficient == 'error' else 'None'}."
    )
    if on_inefficient == "error":
        raise SparseEfficiencyError(text)
    warnings.warn(text, SparseEfficiencyWarning, stacklevel=4)


def fill_buffers(mat: BCOO) -> tuple[Any, Any, tuple[int, ...]]:
    """The buffers with whole batch axes, and the shape."""
    batch = mat.shape[: mat.n_batch]
    data = layouts.fill_batch(mat.data, batch)
    return data, layouts.fill_batch(mat.indices, batch), mat.shape


def _sparsify_batch(data: Any, indices: Any, shape: Any, n_batch: int) -> Any:
    """The last batch axes become the first sparse ones."""
    old = aval_of(indices).ndim - 2
    moved = shape[n_batch:old]
    *_, nse, n_sparse = aval_of(indices).shape
    dtype = aval_of(indices).dtype
    full = (*shape[:old], nse, 1)
    columns = [shaping.broadcasted_iota(dtype, full, a) for a in range(n_batch, old)]
    sizes = shape[old : old + n_sparse]
    inside = rows.mark_inside(indices, sizes)
    indices = rows.join_columns(*columns, indices)
    # Padding stays outside along its own axes, if there are any.
    if not n_sparse:
        data = rows.choose_rows(inside, data)
    total = math.prod(moved) * nse
    lead = shape[:n_batch]
    data = shaping.reshape(data, (*lead, total, *aval_of(data).shape[old + 1 :]))
    return data, shaping.reshape(indices, (*lead, total, len(moved) + n_sparse))


def _sparsify_dense(data: Any, indices: Any, n_dense: int) -> Any:
    """The first dense axes become the last sparse ones."""
    *batch, nse, n_sparse = aval_of(indices).shape
    n = len(batch)
    dense = aval_of(data).shape[n + 1 :]
    moved = dense[: len(dense) - n_dense]
    full = (*batch, nse, *moved)
    wide = shaping.broadcast_in_dim(
        indices, (*full, n_sparse), (*range(n + 1), len(full))
    )
    dtype = aval_of(indices).dtype
    columns = [
        shaping.broadcasted_iota(dtype, (*full, 1), n + 1 + i)
        for i in range(len(moved))
    ]
    joined = rows.join_columns(wide, *columns)
    total = nse * math.prod(moved)
    data = shaping.reshape(data, (*batch, total, *dense[len(moved) :]))
    return data, shaping.reshape(joined, (*batch, total, n_sparse + len(moved)))


def _densify(data: Any, indices: Any, shape: Any, n_dense: int) -> Any:
    """The last sparse axes become the first dense ones: each element a block."""
    *batch, nse, n_sparse = aval_of(indices).shape
    n = len(batch)
    old = len(shape) - n - n_sparse
    count = n_dense - old
    kept = n_sparse - count
    sizes = shape[n : n + n_sparse]
    block = sizes[kept:]

    def spread(d: Any, i: Any) -> Any:
        number = shaping.expand_dims(shaping.iota(aval_of(i).dtype, nse), (1,))
        inside = rows.mark_inside(i, sizes)
        place = rows.join_columns(number, rows.take_columns(i, range(kept, n_sparse)))
        place = rows.move_outside(place, inside, (nse, *block))
        left = rows.take_columns(i, range(kept))
        left = rows.move_outside(left, inside, sizes[:kept])
        return rows.add_rows(d, place, (nse, *block)), left

    return layouts.map_batch(spread, n, data, indices)


def _batch_sparse(data: Any, indices: Any, shape: Any, n_batch: int) -> Any:
    """The first sparse axes become the last batch ones: each has all elements."""
    *batch, nse, n_sparse = aval_of(indices).shape
    n = len(batch)
    moved = shape[n:n_batch]
    count = len(moved)
    kept = shape[n_batch : n + n_sparse]

    def select(d: Any, i: Any) -> Any:
        k = aval_of(i).shape[1]
        full = (*moved, nse)
        here = rows.mark_inside(i, shape[n : n + n_sparse])
        mask = shaping.broadcast_in_dim(here, full, (count,))
        for axis in range(count):
            column = rows.take_column(i, axis)
            wide = shaping.broadcast_in_dim(column, full, (count,))
            number = shaping.broadcasted_iota(aval_of(i).dtype, full, axis)
            mask = mask & elementwise.eq(wide, number)
        left = rows.take_columns(i, range(count, k))
        left = shaping.broadcast_in_dim(left, (*full, k - count), (count, count + 1))
        dense = aval_of(d).shape[1:]
        spots = tuple(range(count, count + 1 + len(dense)))
        d = shaping.broadcast_in_dim(d, (*full, *dense), spots)
        return rows.choose_rows(mask, d), rows.move_outside(left, mask, kept)

    return layouts.map_batch(select, n, data, indices)


def as_sparse(mat: BCOO) -> BCOO:
    """The same array without batch and dense axes."""
    return bcoo_update_layout(mat, n_batch=0, n_dense=0)


def is_empty(shape: Any) -> bool:
    """Whether a shape has no elements."""
    return not np.prod(shape, dtype=object)
