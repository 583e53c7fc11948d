"""BCOO from dense arrays and back: `fromdense`, `todense`, `extract`, as primitives."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import elementwise, families, reductions, shaping
from olympus._src.numpy import join_split, searching
from olympus._src.sparse import layouts, rows
from olympus._src.sparse.layouts import SparseInfo
from olympus._src.sparse.primitives import (
    SparsePrimitive,
    batch_in_front,
    linear_in_data,
    with_batch,
)

aval_of = avals.aval_of

# -- to dense --------------------------------------------------------------------------


def _todense(data: Any, indices: Any, *, spinfo: SparseInfo) -> Any:
    layout = layouts.bcoo_layout("bcoo_todense", data, indices, spinfo.shape)
    sizes = layout.sparse_shape(spinfo.shape)
    out = layouts.map_batch(
        lambda d, i: rows.add_rows(d, i, sizes), layout.n_batch, data, indices
    )
    return layouts.fill_batch(out, layout.batch_shape(spinfo.shape))


def _todense_transpose(cts: Any, data: Any, indices: Any, *, spinfo: SparseInfo) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(data.aval), None]
    out = bcoo_extract_p.bind(indices, ct, assume_unique=True)
    return [sum_to_shape(out, data.aval.shape), None]


def sum_to_shape(x: Any, shape: Any) -> Any:
    """The sum over the axes that have size 1 in a shape, which are kept."""
    actual = aval_of(x).shape
    axes = [i for i, (a, b) in enumerate(zip(actual, shape, strict=True)) if a != b]
    return shaping.reshape(rows.sum_axes(x, axes), shape) if axes else x


def _todense_batch(axis: Any, args: Any, dims: Any, *, spinfo: SparseInfo) -> Any:
    data, indices = batch_in_front(axis, args, dims)
    return bcoo_todense_p.bind(data, indices, spinfo=with_batch(axis, spinfo)), 0


bcoo_todense_p = SparsePrimitive(
    "bcoo_todense",
    _todense,
    **linear_in_data(transpose=_todense_transpose, batch=_todense_batch),
)

# -- elements of a dense array ---------------------------------------------------------


def _extract(indices: Any, mat: Any, *, assume_unique: bool) -> Any:
    n_batch = aval_of(indices).ndim - 2
    read = rows.take_rows if assume_unique else _take_first_rows
    out = layouts.map_batch(lambda i, m: read(m, i), n_batch, indices, mat)
    return layouts.fill_batch(out, aval_of(mat).shape[:n_batch])


def _take_first_rows(mat: Any, indices: Any) -> Any:
    """Rows at index vectors, where only the first of equal vectors gets one."""
    shape = aval_of(mat).shape[: aval_of(indices).shape[1]]
    groups = rows.Groups(indices, shape)
    is_first = rows.place_rows(groups.is_first, groups.places)
    return rows.choose_rows(is_first, rows.take_rows(mat, indices))


def _extract_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    indices, mat = primals
    out = bcoo_extract_p.bind(indices, mat, **params)
    if type(tangents[1]) is Zero:
        return out, Zero(aval_of(out).to_tangent())
    return out, bcoo_extract_p.bind(indices, tangents[1], **params)


def _extract_transpose(cts: Any, indices: Any, mat: Any, *, assume_unique: bool) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [None, Zero(mat.aval)]
    if not assume_unique:
        shape = mat.aval.shape
        n_batch = aval_of(indices).ndim - 2
        sizes = shape[n_batch : n_batch + aval_of(indices).shape[-1]]

        def keep_first(c: Any, i: Any) -> Any:
            groups = rows.Groups(i, sizes)
            return rows.choose_rows(rows.place_rows(groups.is_first, groups.places), c)

        ct = layouts.map_batch(keep_first, n_batch, ct, indices)
    return [None, bcoo_todense_p.bind(ct, indices, spinfo=SparseInfo(mat.aval.shape))]


def _extract_batch(axis: Any, args: Any, dims: Any, *, assume_unique: bool) -> Any:
    indices, mat = batch_in_front(axis, args, dims)
    if dims[1] is None:  # each element of the batch reads the same array
        mat = families.at_front(axis, args[1], None)
    return bcoo_extract_p.bind(indices, mat, assume_unique=assume_unique), 0


bcoo_extract_p = SparsePrimitive(
    "bcoo_extract",
    _extract,
    jvp=_extract_jvp,
    transpose=_extract_transpose,
    batch=_extract_batch,
)

# -- from dense ------------------------------------------------------------------------


def mark_stored(mat: Any, n_batch: int, n_dense: int) -> Any:
    """Where blocks of a dense array have an element that is not zero."""
    aval = aval_of(mat)
    mask = elementwise.ne(mat, families.full_like(mat, 0))
    dense = tuple(range(aval.ndim - n_dense, aval.ndim))
    return reductions.reduce_or(mask, dense) if dense else mask


def count_stored(mat: Any, n_batch: int, n_dense: int) -> Any:
    """The largest number of nonzero blocks in an element of the batch."""
    mask = mark_stored(mat, n_batch, n_dense)
    axes = tuple(range(n_batch, aval_of(mask).ndim))
    counts = elementwise.convert_element_type(mask, rows.INT)
    counts = rows.sum_axes(counts, axes)
    if not axes:
        return 1
    every = tuple(range(n_batch))
    if not aval_of(counts).size:
        return 0
    return reductions.reduce_max(counts, every) if every else counts


def _fromdense(
    mat: Any, *, nse: int, n_batch: int, n_dense: int, index_dtype: Any
) -> Any:
    mask = mark_stored(mat, n_batch, n_dense)
    indices = layouts.map_batch(
        lambda m: _positions(m, nse, index_dtype), n_batch, mask
    )
    n_sparse = aval_of(mat).ndim - n_batch - n_dense
    if n_sparse:
        return bcoo_extract_p.bind(indices, mat, assume_unique=True), indices
    return layouts.map_batch(lambda m: _first_of(m, nse), n_batch, mat), indices


def _positions(mask: Any, nse: int, index_dtype: Any) -> Any:
    aval = aval_of(mask)
    if not aval.ndim or not nse:
        return shaping.full((nse, aval.ndim), 0, index_dtype)
    if not aval.size:
        return rows.limits(shaping.full((nse, aval.ndim), 0, index_dtype), aval.shape)
    columns = searching.nonzero(mask, size=nse, fill_value=aval.shape)
    return elementwise.convert_element_type(join_split.stack(columns, 1), index_dtype)


def _first_of(block: Any, nse: int) -> Any:
    """A block, and zeros for the other elements."""
    aval = aval_of(block)
    wide = shaping.broadcast_in_dim(
        block, (nse, *aval.shape), tuple(range(1, 1 + aval.ndim))
    )
    is_first = shaping.iota(rows.INT, nse) == 0
    return rows.choose_rows(is_first, wide)


bcoo_fromdense_p = SparsePrimitive("bcoo_fromdense", _fromdense, multiple_results=True)
