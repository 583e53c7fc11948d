"""Products of a BCOO with dense arrays, and sampled products of dense arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import contraction, elementwise, families, shaping
from olympus._src.sparse import bcoo_conversion, kernels, layouts, products, rows
from olympus._src.sparse.layouts import SparseInfo
from olympus._src.sparse.primitives import SparsePrimitive, batch_in_front, with_batch

aval_of = avals.aval_of

# -- sparse times dense ----------------------------------------------------------------


def canonical_numbers(numbers: Any) -> Any:
    """Dimension numbers of a contraction, as tuples of integers."""
    (lc, rc), (lb, rb) = numbers
    return tuple(
        [tuple([tuple(map(int, a)) for a in pair]) for pair in ((lc, rc), (lb, rb))]
    )


def result_axes(lhs_ndim: int, rhs_ndim: int, numbers: Any) -> list[tuple[str, int]]:
    """The axes of a contraction's result: of which side, and which."""
    (lc, rc), (lb, rb) = numbers
    return [
        *[("l", a) for a in lb],
        *[("l", a) for a in range(lhs_ndim) if a not in (*lb, *lc)],
        *[("r", a) for a in range(rhs_ndim) if a not in (*rb, *rc)],
    ]


def check_contraction(name: str, lhs: Any, rhs: Any, numbers: Any) -> None:
    """Checks that contracted and batch axes agree, as for dense arrays."""
    one = np.dtype(np.float32)  # dtypes are promoted, and do not matter here
    contraction.check_dimensions(
        name,
        avals.ShapedArray(tuple(lhs), one),
        avals.ShapedArray(tuple(rhs), one),
        numbers,
    )


def _multiply_dense(
    data: Any,
    indices: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    preferred_element_type: Any,
    lhs_spinfo: SparseInfo,
) -> Any:
    shape = lhs_spinfo.shape
    layout = layouts.bcoo_layout("bcoo_dot_general", data, indices, shape)
    (lc, rc), (lb, rb) = dimension_numbers
    n, m = layout.n_batch, layout.n_batch + layout.n_sparse
    check_batch("bcoo_dot_general", lb, n)
    partner = {**dict(zip(lc, rc, strict=True)), **dict(zip(lb, rb, strict=True))}
    dtype = result_dtype(data, rhs, preferred_element_type)
    data = elementwise.convert_element_type(data, dtype)
    rhs = elementwise.convert_element_type(rhs, dtype)
    rhs_ndim = aval_of(rhs).ndim

    sparse = [a for a in range(n, m) if a in lc]
    dense = [a for a in range(m, len(shape)) if a in lc]
    free_sparse = [a for a in range(n, m) if a not in lc]
    free_dense = [a for a in range(m, len(shape)) if a not in lc]
    paired = [partner[a] for a in range(n) if a in partner]
    inner = [partner[a] for a in (*sparse, *dense)]
    others = [a for a in range(rhs_ndim) if a not in (*paired, *inner)]
    rhs = shaping.transpose(rhs, (*paired, *inner, *others))
    order = [a - m + n + 1 for a in (*dense, *free_dense)]
    data = shaping.transpose(data, (*range(n + 1), *order))

    # The right side gets the left side's batch axes, of size 1 where it has none.
    sizes = [aval_of(rhs).shape[i] for i in range(len(paired))]
    own = iter(sizes)
    batch = [next(own) if a in partner else 1 for a in range(n)]
    rhs = shaping.reshape(rhs, (*batch, *aval_of(rhs).shape[len(paired) :]))
    free_sizes = tuple([shape[a] for a in free_sparse])

    def multiply(d: Any, i: Any, x: Any) -> Any:
        return products.contract_rows(
            d,
            i,
            x,
            ([a - n for a in sparse], len(dense)),
            [a - n for a in free_sparse],
            free_sizes,
        )

    out = layouts.map_batch(multiply, n, data, indices, rhs)
    out = layouts.fill_batch(out, shape[:n])
    computed = [("l", a) for a in (*range(n), *free_sparse, *free_dense)]
    computed += [("r", a) for a in others]
    contracted = [a for a in range(n) if a in lc]
    if contracted:
        out = rows.sum_axes(out, contracted)
        computed = [c for i, c in enumerate(computed) if i not in contracted]
    wanted = result_axes(len(shape), rhs_ndim, dimension_numbers)
    return shaping.transpose(out, [computed.index(c) for c in wanted])


def check_batch(name: str, batch: Any, n_batch: int) -> None:
    if any(a >= n_batch for a in batch):
        raise NotImplementedError(
            f"{name}: batch axes of the contraction must be among the n_batch={n_batch}"
            f" batch axes of the sparse array, got {tuple(batch)}; change the layout "
            "with bcoo_update_layout"
        )


def result_dtype(data: Any, rhs: Any, preferred: Any) -> Any:
    """The dtype of a product of two arrays, or types of arrays."""
    if preferred is not None:
        return dtypes.canonicalize_dtype(preferred)
    return dtypes.result_type(*[layouts.type_of(x).dtype for x in (data, rhs)])


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    data, indices, rhs = primals
    out = bcoo_dot_general_p.bind(data, indices, rhs, **params)
    slope: Any = Zero(aval_of(out).to_tangent())
    if type(tangents[0]) is not Zero:
        slope = bcoo_dot_general_p.bind(tangents[0], indices, rhs, **params)
    if type(tangents[2]) is not Zero:
        other = bcoo_dot_general_p.bind(data, indices, tangents[2], **params)
        slope = families.add_tangents(slope, other)
    return out, slope


def _batch(
    axis: Any,
    args: Any,
    dims: Any,
    *,
    dimension_numbers: Any,
    lhs_spinfo: SparseInfo,
    **params: Any,
) -> Any:
    (lc, rc), (lb, rb) = dimension_numbers
    shift = 1
    if dims[0] is None and dims[1] is None:
        # More columns of the right side, which a product shares.
        data, indices, rhs = args
        last = aval_of(rhs).ndim - 1
        out = bcoo_dot_general_p.bind(
            data,
            indices,
            families.move_axis(rhs, dims[2], last),
            dimension_numbers=dimension_numbers,
            lhs_spinfo=lhs_spinfo,
            **params,
        )
        return out, aval_of(out).ndim - 1
    data, indices = batch_in_front(axis, args[:2], dims[:2])
    rhs, ours = args[2], tuple([a + shift for a in lc])
    theirs, batch = (rc, rb), tuple([a + shift for a in lb])
    if dims[2] is not None:
        rhs = families.move_axis(rhs, dims[2], 0)
        theirs = (tuple([a + 1 for a in rc]), (0, *[a + 1 for a in rb]))
        batch = (0, *batch)
    out = bcoo_dot_general_p.bind(
        data,
        indices,
        rhs,
        dimension_numbers=((ours, theirs[0]), (batch, theirs[1])),
        lhs_spinfo=with_batch(axis, lhs_spinfo),
        **params,
    )
    return out, (0 if dims[2] is not None else len(lb))


def _rewrite(
    platform: str,
    data: Any,
    indices: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    preferred_element_type: Any,
    lhs_spinfo: SparseInfo,
) -> Any:
    """A matrix times a vector or matrix, by a kernel of the CPU that takes it."""
    (lc, rc), (lb, _rb) = dimension_numbers
    if indices.ndim != 2 or indices.shape[1] != 2 or lb or len(lc) != 1:
        return None
    if result_dtype(data, rhs, preferred_element_type) != rhs.dtype:
        return None
    n_rows = lhs_spinfo.shape[1 - lc[0]]
    if kernels.suits(platform, data, rhs, indices):

        def multiply_by_kernel(data: Any, indices: Any, rhs: Any) -> Any:
            columns = rhs if rc[0] == 0 else shaping.transpose(rhs, (1, 0))
            return kernels.multiply_pairs(data, indices, columns, n_rows, lc[0])

        return multiply_by_kernel
    if rhs.ndim != 2:
        return None
    x = avals.ShapedArray((rhs.shape[rc[0]], rhs.shape[1 - rc[0]]), rhs.dtype)
    if not products.suits_kernel(platform, data, indices, x) or rhs.size == 0:
        return None

    def multiply(data: Any, indices: Any, rhs: Any) -> Any:
        columns = rhs if rc[0] == 0 else shaping.transpose(rhs, (1, 0))
        return products.multiply_sorted(
            data,
            rows.take_column(indices, 1 - lc[0]),
            rows.take_column(indices, lc[0]),
            columns,
            n_rows,
            lambda: _multiply_dense(
                data,
                indices,
                rhs,
                dimension_numbers=dimension_numbers,
                preferred_element_type=preferred_element_type,
                lhs_spinfo=lhs_spinfo,
            ),
        )

    return multiply


bcoo_dot_general_p = SparsePrimitive(
    "bcoo_dot_general", _multiply_dense, jvp=_jvp, batch=_batch, rewrite=_rewrite
)

# -- elements of a product of dense arrays ---------------------------------------------


def _sample(A: Any, B: Any, indices: Any, *, dimension_numbers: Any) -> Any:
    (lc, rc), (lb, _rb) = dimension_numbers
    a, b, i = aval_of(A), aval_of(B), aval_of(indices)
    is_plain = not lb and len(lc) == 1 and a.ndim == b.ndim == 2 and i.ndim == 2
    if is_plain and i.shape[1] == 2 and a.dtype.kind != "b":
        left = A if lc[0] == 1 else shaping.transpose(A, (1, 0))
        right = B if rc[0] == 1 else shaping.transpose(B, (1, 0))
        x = rows.take_rows(left, rows.take_columns(indices, [0]))
        y = rows.take_rows(right, rows.take_columns(indices, [1]))
        sizes = (aval_of(left).shape[0], aval_of(right).shape[0])
        out = contraction.dot_general(x, y, (((1,), (1,)), ((0,), (0,))))
        return rows.choose_rows(rows.mark_inside(indices, sizes), out)
    full = contraction.dot_general(A, B, dimension_numbers)
    return bcoo_conversion.bcoo_extract_p.bind(indices, full, assume_unique=True)


bcoo_dot_general_sampled_p = SparsePrimitive("bcoo_dot_general_sampled", _sample)
