"""Functions of a BCSR, and the primitives on its buffers."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, Indices
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import concatenation, elementwise, families, shaping
from olympus._src.numpy import join_split
from olympus._src.sparse import (
    bcoo_contraction,
    bcoo_conversion,
    bcoo_functions,
    bcoo_shaping,
    kernels,
    layouts,
    products,
    row_sums,
    rows,
)
from olympus._src.sparse.bcoo import BCOO, as_count, as_index_dtype
from olympus._src.sparse.bcsr import BCSR
from olympus._src.sparse.layouts import SparseInfo
from olympus._src.sparse.primitives import SparsePrimitive

aval_of = avals.aval_of


def check_bcsr(name: str, what: str, value: Any) -> None:
    """Checks that an argument is a BCSR.

    Raises:
      TypeError: it is not.
    """
    if not isinstance(value, BCSR):
        raise TypeError(
            f"{name}: {what} must be a BCSR, got {type(value).__name__}; make one with "
            "BCSR.fromdense"
        )


# -- as lists of elements --------------------------------------------------------------


def pair_indices(indices: Any, indptr: Any, n_columns: int) -> Any:
    """The positions [*batch, nse, 2] of a BCSR's elements."""
    n_batch = aval_of(indices).ndim - 1

    def pair(column: Any, ends: Any) -> Any:
        row = products.rows_of(ends, aval_of(column).shape[0])
        dtype = dtypes.result_type(row, column)
        row = elementwise.convert_element_type(row, dtype)
        column = elementwise.convert_element_type(rows.as_positions(column), dtype)
        return join_split.stack([row, column], 1)

    return layouts.map_batch(pair, n_batch, indices, indptr)


def _point_rows(indices: Any, n_rows: int) -> Any:
    """`indptr` of positions [*batch, nse, 2] that are in order."""
    n_batch = aval_of(indices).ndim - 2
    dtype = aval_of(indices).dtype

    def count(i: Any) -> Any:
        ends = products.count_rows(rows.take_column(i, 0), n_rows)
        return elementwise.convert_element_type(ends, dtype)

    return layouts.map_batch(count, n_batch, indices)


def to_bcoo(mat: BCSR) -> BCOO:
    """The elements of a BCSR as a BCOO."""
    indices = pair_indices(mat.indices, mat.indptr, mat.shape[mat.n_batch + 1])
    return BCOO((mat.data, indices), shape=mat.shape)


def from_bcoo(arr: BCOO) -> BCSR:
    """The elements of a BCOO with two sparse axes, sorted, as a BCSR."""
    bcoo_functions.check_bcoo("BCSR.from_bcoo", "arr", arr)
    if arr.n_sparse != 2:
        raise NotImplementedError(
            f"BCSR.from_bcoo: arr must have two sparse axes, got n_sparse="
            f"{arr.n_sparse}; change the layout with bcoo_update_layout"
        )
    n = arr.n_batch
    # Padding has no row; it must come last, wherever it was.
    inside = rows.mark_inside(arr.indices, arr.shape[n : n + 2])
    indices = rows.move_outside(arr.indices, inside, arr.shape[n : n + 2])
    arr = BCOO((arr.data, indices), shape=arr.shape).sort_indices()
    return BCSR(
        (
            arr.data,
            concatenation.index_in_dim(arr.indices, 1, n + 1, keepdims=False),
            _point_rows(arr.indices, arr.shape[n]),
        ),
        shape=arr.shape,
    )


# -- primitives ------------------------------------------------------------------------


def _todense(data: Any, indices: Any, indptr: Any, *, spinfo: SparseInfo) -> Any:
    n = aval_of(indices).ndim - 1
    positions = pair_indices(indices, indptr, spinfo.shape[n + 1])
    return bcoo_conversion.bcoo_todense_p.bind(data, positions, spinfo=spinfo)


bcsr_todense_p = SparsePrimitive("bcsr_todense", _todense, jvp=families.linear_jvp)


def _fromdense(
    mat: Any, *, nse: int, n_batch: int, n_dense: int, index_dtype: Any
) -> Any:
    data, indices = bcoo_conversion.bcoo_fromdense_p.bind(
        mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype
    )
    columns = concatenation.index_in_dim(indices, 1, n_batch + 1, keepdims=False)
    return data, columns, _point_rows(indices, aval_of(mat).shape[n_batch])


bcsr_fromdense_p = SparsePrimitive("bcsr_fromdense", _fromdense, multiple_results=True)


def _extract(indices: Any, indptr: Any, mat: Any) -> Any:
    n = aval_of(indices).ndim - 1
    positions = pair_indices(indices, indptr, aval_of(mat).shape[n + 1])
    return bcoo_conversion.bcoo_extract_p.bind(positions, mat, assume_unique=True)


bcsr_extract_p = SparsePrimitive("bcsr_extract", _extract)


def _multiply_dense(
    data: Any,
    indices: Any,
    indptr: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    preferred_element_type: Any,
    lhs_spinfo: SparseInfo,
) -> Any:
    n = aval_of(indices).ndim - 1
    positions = pair_indices(indices, indptr, lhs_spinfo.shape[n + 1])
    return bcoo_contraction.bcoo_dot_general_p.bind(
        data,
        positions,
        rhs,
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
        lhs_spinfo=lhs_spinfo,
    )


def _multiply_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    data, indices, indptr, rhs = primals
    out = bcsr_dot_general_p.bind(*primals, **params)
    slope: Any = Zero(aval_of(out).to_tangent())
    if type(tangents[0]) is not Zero:
        slope = bcsr_dot_general_p.bind(tangents[0], indices, indptr, rhs, **params)
    if type(tangents[3]) is not Zero:
        other = bcsr_dot_general_p.bind(data, indices, indptr, tangents[3], **params)
        slope = families.add_tangents(slope, other)
    return out, slope


def _multiply_rewrite(
    platform: str,
    data: Any,
    indices: Any,
    indptr: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    preferred_element_type: Any,
    lhs_spinfo: SparseInfo,
) -> Any:
    """A matrix times a dense one by the kernel of the CPU, or a vector row by row."""
    params = {
        "dimension_numbers": dimension_numbers,
        "preferred_element_type": preferred_element_type,
        "lhs_spinfo": lhs_spinfo,
    }
    (lc, rc), _ = dimension_numbers
    if indices.ndim != 1 or lc != (1,) or rhs.ndim not in (1, 2):
        return None
    dtype = bcoo_contraction.result_dtype(data, rhs, preferred_element_type)
    if dtype != rhs.dtype:
        return None
    if kernels.suits(platform, data, rhs, indices, indptr):

        def multiply_by_kernel(data: Any, indices: Any, indptr: Any, rhs: Any) -> Any:
            columns = rhs if rc[0] == 0 else shaping.transpose(rhs, (1, 0))
            return kernels.multiply_csr(data, indices, indptr, columns)

        return multiply_by_kernel
    if rhs.ndim == 1:
        if not row_sums.suits_rows(platform, data, rhs, lhs_spinfo.shape[0]):
            return None

        def multiply_vector(data: Any, indices: Any, indptr: Any, x: Any) -> Any:
            operands = (data, indices, indptr, x)
            general = functools.partial(_multiply_dense, *operands, **params)
            return row_sums.multiply_rows(data, indices, indptr, x, general)

        return multiply_vector
    x = avals.ShapedArray((rhs.shape[rc[0]], rhs.shape[1 - rc[0]]), rhs.dtype)
    if not products.suits_kernel(platform, data, indices, x):
        return None

    def multiply(data: Any, indices: Any, indptr: Any, rhs: Any) -> Any:
        columns = rhs if rc[0] == 0 else shaping.transpose(rhs, (1, 0))
        return products.multiply_csr(
            data,
            indices,
            indptr,
            columns,
            lambda: _multiply_dense(data, indices, indptr, rhs, **params),
        )

    return multiply


bcsr_dot_general_p = SparsePrimitive(
    "bcsr_dot_general", _multiply_dense, jvp=_multiply_jvp, rewrite=_multiply_rewrite
)

# -- functions -------------------------------------------------------------------------


def bcsr_todense(mat: BCSR) -> Array:
    """The dense form of a BCSR.

    Args:
      mat: BCSR.

    Raises:
      TypeError: `mat` is no BCSR.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> print(sparse.bcsr_todense(sparse.BCSR.fromdense(jnp.eye(2))))
      [[1. 0.]
       [0. 1.]]
    """
    check_bcsr("bcsr_todense", "mat", mat)
    return bcsr_todense_p.bind(
        mat.data, mat.indices, mat.indptr, spinfo=SparseInfo(mat.shape)
    )


def bcsr_fromdense(
    mat: ArrayLike,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: DTypeLike = np.int32,
) -> BCSR:
    """The nonzero elements of a dense array as a BCSR.

    Args:
      mat: array [*batch, rows, columns, *dense].
      nse: how many elements to store for each element of the batch; default as many
        as needed. Needed while tracing.
      n_batch, n_dense: how many axes are batch and dense ones.
      index_dtype: of the positions.

    Raises:
      ValueError: there are not two sparse axes, or `nse` is missing while tracing.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> sparse.bcsr_fromdense(jnp.eye(3))
      BCSR(float32[3, 3], nse=3)
    """
    name = "bcsr_fromdense"
    mat = shaping.reshape(mat, aval_of(mat).shape)
    n_batch, n_dense = operator.index(n_batch), operator.index(n_dense)
    if aval_of(mat).ndim - n_batch - n_dense != 2 or min(n_batch, n_dense) < 0:
        raise ValueError(
            f"{name}: must have 2 sparse dimensions, got {aval_of(mat).short()} with "
            f"n_batch={n_batch} and n_dense={n_dense}; choose others, or use a BCOO"
        )
    if nse is None:
        count = bcoo_conversion.count_stored(mat, n_batch, n_dense)
        nse = bcoo_functions.as_concrete(name, count)
    buffers = bcsr_fromdense_p.bind(
        mat,
        nse=as_count(name, nse),
        n_batch=n_batch,
        n_dense=n_dense,
        index_dtype=as_index_dtype(index_dtype),
    )
    return BCSR(tuple(buffers), shape=aval_of(mat).shape)


def bcsr_extract(indices: Indices, indptr: Indices, mat: ArrayLike) -> Array:
    """The elements of a dense array at the positions of a BCSR.

    Args:
      indices, indptr: buffers of a BCSR.
      mat: array [*batch, rows, columns, *dense].

    Returns:
      Its data, [*batch, nse, *dense]; 0 at padding.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> mat = jnp.array([[1, 0], [0, 2]])
      >>> at = sparse.BCSR.fromdense(mat)
      >>> print(sparse.bcsr_extract(at.indices, at.indptr, mat))
      [1 2]
    """
    return bcsr_extract_p.bind(indices, indptr, mat)


def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """A BCSR in which each position occurs once, in ascending order.

    Args:
      mat: BCSR.
      nse: how many elements to store; default as many as there are positions. Needed
        while tracing.

    Raises:
      ValueError: `nse` is missing while tracing, or negative.
      TypeError: `mat` is no BCSR.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> buffers = jnp.array([1, 2]), jnp.array([0, 0]), jnp.array([0, 2])
      >>> sparse.bcsr_sum_duplicates(sparse.BCSR(buffers, shape=(1, 3))).data
      Array([3], dtype=int32)
    """
    check_bcsr("bcsr_sum_duplicates", "mat", mat)
    return from_bcoo(bcoo_functions.bcoo_sum_duplicates(to_bcoo(mat), nse=nse))


def bcsr_eliminate_zeros(mat: BCSR, nse: int | None = None) -> BCSR:
    """A BCSR without stored zeros, in which each position occurs once.

    Args:
      mat: BCSR.
      nse: as of `bcsr_sum_duplicates`.
    """
    check_bcsr("bcsr_eliminate_zeros", "mat", mat)
    return from_bcoo(bcoo_functions.bcoo_eliminate_zeros(to_bcoo(mat), nse=nse))


def bcsr_broadcast_in_dim(
    mat: BCSR,
    *,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    sharding: None = None,
) -> BCSR:
    """A BCSR repeated along new batch and dense axes.

    Args:
      mat: BCSR.
      shape: of the result.
      broadcast_dimensions: for each axis of `mat`, in ascending order, its axis in the
        result.
      sharding: not supported, as in JAX.

    Raises:
      ValueError: sizes or axes do not fit.
      NotImplementedError: an axis comes between rows and columns.
      TypeError: `mat` is no BCSR.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> mat, axes = sparse.BCSR.fromdense(jnp.eye(3)), (1, 2)
      >>> sparse.bcsr_broadcast_in_dim(mat, shape=(2, 3, 3), broadcast_dimensions=axes)
      BCSR(float32[2, 3, 3], nse=3, n_batch=1)
    """
    check_bcsr("bcsr_broadcast_in_dim", "mat", mat)
    del sharding
    out = bcoo_shaping.bcoo_broadcast_in_dim(
        to_bcoo(mat), shape=shape, broadcast_dimensions=broadcast_dimensions
    )
    return from_bcoo(out)


def bcsr_concatenate(operands: Sequence[BCSR], *, dimension: int) -> BCSR:
    """BCSR joined along an axis.

    Args:
      operands: BCSR with equal layouts, and sizes of the other axes.
      dimension: the axis.

    Raises:
      ValueError: there are none, or layouts or sizes differ.
      TypeError: an operand is no BCSR.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> mat = sparse.BCSR.fromdense(jnp.eye(3))
      >>> sparse.bcsr_concatenate([mat, mat], dimension=1)
      BCSR(float32[3, 6], nse=6)
    """
    for mat in operands:
        check_bcsr("bcsr_concatenate", "operands", mat)
    out = bcoo_shaping.bcoo_concatenate(
        [to_bcoo(m) for m in operands], dimension=dimension
    )
    return from_bcoo(out)


def bcsr_dot_general(
    lhs: BCSR | Array,
    rhs: BCSR | Array,
    *,
    dimension_numbers: Any,
    precision: None = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: None = None,
) -> Array:
    """A contraction in which one side is a BCSR.

    Two arrays are contracted as by `lax.dot_general`: in a function that `sparsify`
    takes, arrays stand for sparse ones.

    Args:
      lhs, rhs: a BCSR and an array, in either order.
      dimension_numbers: as of `bcoo_dot_general`.
      precision: not used.
      preferred_element_type: dtype of the result; default the promoted one.
      out_sharding: not supported, as in JAX.

    Raises:
      TypeError: sizes of axes differ.
      NotImplementedError: both sides are sparse.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> mat, axes = sparse.BCSR.fromdense(jnp.eye(2)), (([1], [0]), ([], []))
      >>> print(sparse.bcsr_dot_general(mat, jnp.ones(2), dimension_numbers=axes))
      [1. 1.]
    """
    name = "bcsr_dot_general"
    del precision, out_sharding
    numbers = bcoo_contraction.canonical_numbers(dimension_numbers)
    if isinstance(lhs, BCSR) and not hasattr(rhs, "nse"):
        bcoo_contraction.check_contraction(
            name, lhs.shape, tuple(aval_of(rhs).shape), numbers
        )
        preferred = preferred_element_type
        return bcsr_dot_general_p.bind(
            lhs.data,
            lhs.indices,
            lhs.indptr,
            rhs,
            dimension_numbers=numbers,
            preferred_element_type=None if preferred is None else np.dtype(preferred),
            lhs_spinfo=SparseInfo(lhs.shape),
        )
    if not hasattr(lhs, "nse") and not hasattr(rhs, "nse"):
        return bcoo_functions.multiply_arrays(lhs, rhs, numbers, preferred_element_type)
    if isinstance(rhs, BCSR) and not hasattr(lhs, "nse"):
        return bcoo_functions.multiply_left(
            "bcsr_dot_general",
            lhs,
            to_bcoo(rhs),
            numbers,
            preferred_element_type,
        )
    raise NotImplementedError(
        f"{name}: one side must be a BCSR and the other an array, got "
        f"{type(lhs).__name__} and {type(rhs).__name__}; multiply two BCOO instead"
    )
