"""The order of a BCOO's elements: sorting, adding of duplicates, transposition."""

from __future__ import annotations

from typing import Any

from olympus._src.core import avals
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import elementwise, families, reductions, shaping
from olympus._src.numpy import selection
from olympus._src.sparse import layouts, rows
from olympus._src.sparse.layouts import SparseInfo
from olympus._src.sparse.primitives import SparsePrimitive

aval_of = avals.aval_of

# -- sorting ---------------------------------------------------------------------------


def _sort_indices(data: Any, indices: Any, *, spinfo: SparseInfo) -> Any:
    layout = layouts.bcoo_layout("bcoo_sort_indices", data, indices, spinfo.shape)

    def sort(d: Any, i: Any) -> Any:
        ordered, places = rows.sort_order(i)
        return rows.take_rows(d, shaping.expand_dims(places, (1,))), ordered

    return layouts.map_batch(sort, layout.n_batch, data, indices)


bcoo_sort_indices_p = SparsePrimitive(
    "bcoo_sort_indices", _sort_indices, multiple_results=True
)

# -- duplicates ------------------------------------------------------------------------


def _sum_duplicates(data: Any, indices: Any, *, spinfo: SparseInfo, nse: int) -> Any:
    layout = layouts.bcoo_layout("bcoo_sum_duplicates", data, indices, spinfo.shape)
    sizes = layout.sparse_shape(spinfo.shape)

    def combine(d: Any, i: Any) -> Any:
        groups = rows.Groups(i, sizes)
        number = shaping.expand_dims(groups.number, (1,))
        total = rows.add_rows(d, number, (nse,))
        return total, _first_indices(groups, i, sizes, nse)

    return layouts.map_batch(combine, layout.n_batch, data, indices)


def _first_indices(groups: rows.Groups, indices: Any, sizes: Any, nse: int) -> Any:
    """The index vector of each value, in order, and padding behind them."""
    aval = aval_of(indices)
    blank = shaping.full((nse, aval.shape[1]), 0, aval.dtype)
    blank = rows.limits(blank, sizes)
    if not aval.shape[0] or not nse or not aval.shape[1]:
        return blank
    places = selection.where(groups.is_first, groups.ranks, rows.INT.type(nse))
    vectors = elementwise.convert_element_type(groups.sorted_indices, aval.dtype)
    shift = rows.choose_rows(groups.is_first, vectors - rows.limits(vectors, sizes))
    return blank + rows.add_rows(shift, shaping.expand_dims(places, (1,)), (nse,))


def count_unique(indices: Any, shape: Any) -> Any:
    """The largest number of different positions in an element of the batch."""
    aval = aval_of(indices)
    n_batch = aval.ndim - 2
    if not aval.shape[-1]:
        return 1
    sizes = shape[n_batch : n_batch + aval.shape[-1]]
    counts = layouts.map_batch(lambda i: rows.Groups(i, sizes).count, n_batch, indices)
    if not n_batch:
        return counts
    if not aval_of(counts).size:
        return 0
    return reductions.reduce_max(counts, tuple(range(n_batch)))


bcoo_sum_duplicates_p = SparsePrimitive(
    "bcoo_sum_duplicates", _sum_duplicates, multiple_results=True
)

# -- transposition ---------------------------------------------------------------------


def split_permutation(permutation: Any, layout: layouts.Layout) -> Any:
    """The permutations of the batch, sparse and dense axes among themselves.

    Raises:
      NotImplementedError: axes of different kinds are exchanged.
    """
    n_batch, n_sparse = layout.n_batch, layout.n_sparse
    batch = permutation[:n_batch]
    sparse = permutation[n_batch : n_batch + n_sparse]
    dense = permutation[n_batch + n_sparse :]
    advice = "change the layout first with bcoo_update_layout"
    if n_batch and tuple(sorted(batch)) != tuple(range(n_batch)):
        raise NotImplementedError(
            "bcoo_transpose: transpose permutation cannot permute batch axes with "
            f"non-batch axes; got permutation {tuple(permutation)}, with "
            f"n_batch={n_batch}; {advice}"
        )
    if any(a < n_batch + n_sparse for a in dense):
        raise NotImplementedError(
            "bcoo_transpose: transpose permutation cannot permute dense axes with "
            f"non-dense axes; got permutation {tuple(permutation)}, with "
            f"n_dense={layout.n_dense}; {advice}"
        )
    return (
        tuple(batch),
        tuple([a - n_batch for a in sparse]),
        tuple([a - n_batch - n_sparse for a in dense]),
    )


def _transpose(data: Any, indices: Any, *, permutation: Any, spinfo: SparseInfo) -> Any:
    layout = layouts.bcoo_layout("bcoo_transpose", data, indices, spinfo.shape)
    batch, sparse, dense = split_permutation(permutation, layout)
    n = layout.n_batch
    data = shaping.transpose(data, (*batch, n, *[n + 1 + a for a in dense]))
    indices = rows.take_columns(indices, sparse)
    return data, shaping.transpose(indices, (*batch, n, n + 1))


def _transpose_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    data, indices = bcoo_transpose_p.bind(*primals, **params)
    no_slope = Zero(aval_of(indices).to_tangent())
    if type(tangents[0]) is Zero:
        return [data, indices], [Zero(aval_of(data).to_tangent()), no_slope]
    slope, _ = bcoo_transpose_p.bind(tangents[0], primals[1], **params)
    return [data, indices], [slope, no_slope]


def _transpose_transpose(
    cts: Any, data: Any, indices: Any, *, permutation: Any, spinfo: SparseInfo
) -> Any:
    ct = cts[0]
    if type(ct) is Zero:
        return [Zero(data.aval), None]
    layout = layouts.bcoo_layout("bcoo_transpose", data.aval, indices, spinfo.shape)
    batch, _, dense = split_permutation(permutation, layout)
    n = layout.n_batch
    order = (*batch, n, *[n + 1 + a for a in dense])
    return [shaping.transpose(ct, families.inverse(order)), None]


bcoo_transpose_p = SparsePrimitive(
    "bcoo_transpose",
    _transpose,
    multiple_results=True,
    jvp=_transpose_jvp,
    transpose=_transpose_transpose,
)
