"""Functions of a BCOO: conversions, order and products."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, trace
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike
from olympus._src.lax import contraction, elementwise, shaping
from olympus._src.numpy import selection
from olympus._src.sparse import (
    bcoo_contraction,
    bcoo_conversion,
    bcoo_ordering,
    bcoo_sparse_products,
    layouts,
    rows,
)
from olympus._src.sparse.bcoo import BCOO, as_count, as_index_dtype
from olympus._src.sparse.formats import JAXSparse
from olympus._src.sparse.layouts import SparseInfo

aval_of = avals.aval_of


def check_bcoo(name: str, what: str, value: Any) -> None:
    """Checks that an argument is a BCOO.

    Raises:
      TypeError: it is not.
    """
    if not isinstance(value, BCOO):
        raise TypeError(
            f"{name}: {what} must be a BCOO, got {type(value).__name__}; make one with "
            "BCOO.fromdense"
        )


def as_concrete(name: str, count: Any) -> int:
    """A count of elements as a Python number.

    Raises:
      ValueError: it is known only when the program runs.
    """
    if isinstance(count, trace.Tracer):
        raise ValueError(
            f"{name}: nse must be specified when using the function within jit, vmap, "
            "and other transformations requiring abstract evaluation, got None; pass "
            "nse=..."
        )
    return int(count)


def make(buffers: Any, spinfo: SparseInfo) -> BCOO:
    """A BCOO of its buffers."""
    return BCOO(
        tuple(buffers),
        shape=spinfo.shape,
        indices_sorted=spinfo.indices_sorted,
        unique_indices=spinfo.unique_indices,
    )


# -- conversions -----------------------------------------------------------------------


def bcoo_fromdense(
    mat: ArrayLike,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: DTypeLike = np.int32,
) -> BCOO:
    """The nonzero elements of a dense array as a BCOO.

    Args:
      mat: array.
      nse: how many elements to store for each element of the batch; default as many
        as needed. Needed while tracing. More are cut off, missing ones are padding.
      n_batch, n_dense: how many of the first axes are batch axes, and of the last
        dense ones.
      index_dtype: of the positions.

    Returns:
      A BCOO with sorted and unique positions.

    Raises:
      ValueError: `nse` is missing while tracing, or there are too few axes.
      TypeError: `nse` or `index_dtype` is not of integers.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> sparse.bcoo_fromdense(jnp.eye(3), n_batch=1)
      BCOO(float32[3, 3], nse=1, n_batch=1)
    """
    mat = shaping.reshape(mat, aval_of(mat).shape)
    n_batch, n_dense = operator.index(n_batch), operator.index(n_dense)
    n_sparse = aval_of(mat).ndim - n_batch - n_dense
    if min(n_sparse, n_batch, n_dense) < 0:
        raise ValueError(
            "bcoo_fromdense: n_batch and n_dense must be non-negative and at most the "
            f"number of axes together, got n_batch={n_batch} and n_dense={n_dense} for "
            f"{aval_of(mat).short()}; leave axes for the sparse part"
        )
    if nse is None:
        count = bcoo_conversion.count_stored(mat, n_batch, n_dense)
        nse = as_concrete("bcoo_fromdense", count) if n_sparse else 1
    buffers = bcoo_conversion.bcoo_fromdense_p.bind(
        mat,
        nse=as_count("bcoo_fromdense", nse),
        n_batch=n_batch,
        n_dense=n_dense,
        index_dtype=as_index_dtype(index_dtype),
    )
    return make(buffers, SparseInfo(tuple(aval_of(mat).shape), True, True))


def bcoo_todense(mat: BCOO) -> Array:
    """The dense form of a BCOO.

    Args:
      mat: BCOO.

    Returns:
      An array of its shape and dtype: at each position the sum of its elements.

    Raises:
      TypeError: `mat` is no BCOO.

    Example:
      >>> from olympus.experimental import sparse
      >>> print(sparse.bcoo_todense(sparse.eye(2)))
      [[1. 0.]
       [0. 1.]]
    """
    check_bcoo("bcoo_todense", "mat", mat)
    return bcoo_conversion.bcoo_todense_p.bind(
        mat.data, mat.indices, spinfo=SparseInfo(mat.shape)
    )


def bcoo_extract(
    sparr: BCOO, arr: ArrayLike, *, assume_unique: bool | None = None
) -> BCOO:
    """The elements of a dense array at the positions of a BCOO.

    Args:
      sparr: BCOO.
      arr: array of its shape.
      assume_unique: read an element for each position, however often that occurs;
        otherwise the first of equal positions gets it, and the others 0. Default what
        `sparr.unique_indices` says.

    Returns:
      A BCOO with the positions of `sparr`; 0 at padding.

    Raises:
      ValueError: the shapes differ.
      TypeError: `sparr` is no BCOO.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> print(sparse.bcoo_extract(sparse.eye(2), jnp.arange(4).reshape(2, 2)).data)
      [0 3]
    """
    check_bcoo("bcoo_extract", "sparr", sparr)
    arr = shaping.reshape(arr, aval_of(arr).shape)
    if tuple(aval_of(arr).shape) != tuple(sparr.shape):
        raise ValueError(
            f"bcoo_extract: arr must have the shape of sparr, {sparr.shape}, got "
            f"{tuple(aval_of(arr).shape)}; broadcast it first"
        )
    unique = sparr.unique_indices if assume_unique is None else bool(assume_unique)
    data = bcoo_conversion.bcoo_extract_p.bind(sparr.indices, arr, assume_unique=unique)
    return make((data, sparr.indices), sparr.facts)


# -- order -----------------------------------------------------------------------------


def bcoo_sort_indices(mat: BCOO) -> BCOO:
    """A BCOO with its positions in ascending order; padding comes last.

    Args:
      mat: BCOO.

    Raises:
      TypeError: `mat` is no BCOO.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> mat = sparse.BCOO((jnp.array([1, 2]), jnp.array([[3], [0]])), shape=(4,))
      >>> print(sparse.bcoo_sort_indices(mat).data)
      [2 1]
    """
    check_bcoo("bcoo_sort_indices", "mat", mat)
    info = SparseInfo(mat.shape)
    buffers = bcoo_ordering.bcoo_sort_indices_p.bind(mat.data, mat.indices, spinfo=info)
    return make(buffers, SparseInfo(mat.shape, True, mat.unique_indices))


def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None) -> BCOO:
    """A BCOO in which each position occurs once, in ascending order.

    Args:
      mat: BCOO.
      nse: how many elements to store; default as many as there are positions. Needed
        while tracing. More are cut off, missing ones are padding.

    Raises:
      ValueError: `nse` is missing while tracing, or negative.
      TypeError: `mat` is no BCOO, or `nse` no integer.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> mat = sparse.BCOO((jnp.array([1, 2]), jnp.array([[3], [3]])), shape=(4,))
      >>> sparse.bcoo_sum_duplicates(mat).data
      Array([3], dtype=int32)
    """
    check_bcoo("bcoo_sum_duplicates", "mat", mat)
    return sum_at("bcoo_sum_duplicates", mat, mat.indices, nse)


def sum_at(name: str, mat: BCOO, indices: Any, nse: int | None) -> BCOO:
    """`mat` with other positions, each of which then occurs once."""
    if nse is None:
        nse = as_concrete(name, bcoo_ordering.count_unique(indices, mat.shape))
    buffers = bcoo_ordering.bcoo_sum_duplicates_p.bind(
        mat.data, indices, spinfo=SparseInfo(mat.shape), nse=as_count(name, nse)
    )
    return make(buffers, SparseInfo(mat.shape, True, True))


def bcoo_eliminate_zeros(mat: BCOO, nse: int | None = None) -> BCOO:
    """A BCOO without stored zeros, in which each position occurs once.

    Args:
      mat: BCOO.
      nse: as of `bcoo_sum_duplicates`.

    Raises:
      ValueError: `nse` is missing while tracing.
    """
    check_bcoo("bcoo_eliminate_zeros", "mat", mat)
    mask = bcoo_conversion.mark_stored(mat.data, 0, mat.n_dense)
    batch = np.broadcast_shapes(
        aval_of(mask).shape[: mat.n_batch], aval_of(mat.indices).shape[: mat.n_batch]
    )
    mask = layouts.fill_batch(mask, batch)
    indices = layouts.fill_batch(mat.indices, batch)
    layout = layouts.bcoo_layout("sum_duplicates", mat.data, mat.indices, mat.shape)
    if layout.n_sparse:
        sizes = layout.sparse_shape(mat.shape)
        indices = rows.move_outside(indices, mask, sizes)
    return sum_at("bcoo_sum_duplicates", mat, indices, nse)


def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int]) -> BCOO:
    """A BCOO with its axes in another order.

    Args:
      mat: BCOO.
      permutation: for each axis of the result, the axis of `mat`. Batch, sparse and
        dense axes are permuted among themselves.

    Raises:
      NotImplementedError: axes of different kinds are exchanged.
      ValueError: it is no permutation.
      TypeError: `mat` is no BCOO.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> mat = sparse.BCOO.fromdense(jnp.array([[0, 1, 2]]))
      >>> sparse.bcoo_transpose(mat, permutation=(1, 0)).indices.tolist()
      [[1, 0], [2, 0]]
    """
    check_bcoo("bcoo_transpose", "mat", mat)
    permutation = tuple([operator.index(a) for a in permutation])
    if sorted(permutation) != list(range(mat.ndim)):
        raise ValueError(
            f"bcoo_transpose: permutation must hold each of the {mat.ndim} axes once, "
            f"got {permutation}; number them from 0"
        )
    buffers = bcoo_ordering.bcoo_transpose_p.bind(
        mat.data, mat.indices, permutation=permutation, spinfo=SparseInfo(mat.shape)
    )
    shape = tuple([mat.shape[a] for a in permutation])
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    is_same = permutation[n:m] == tuple(range(n, m))
    info = SparseInfo(shape, mat.indices_sorted and is_same, mat.unique_indices)
    return make(buffers, info)


# -- products --------------------------------------------------------------------------


def bcoo_dot_general(
    lhs: BCOO | Array,
    rhs: BCOO | Array,
    *,
    dimension_numbers: Any,
    precision: None = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: None = None,
) -> BCOO | Array:
    """A contraction in which one side, or both, is a BCOO.

    Two arrays are contracted as by `lax.dot_general`: in a function that `sparsify`
    takes, arrays stand for sparse ones.

    Args:
      lhs, rhs: BCOO or arrays.
      dimension_numbers: `((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))`,
        axes of both sides. Those of the batch must be batch axes of a BCOO.
      precision: not used; products are computed in the dtype of the result, and sums
        of narrow floats in 32 bits.
      preferred_element_type: dtype of the result; default the promoted one.
      out_sharding: not supported, as in JAX.

    Returns:
      An array; a BCOO if both sides are.

    Raises:
      TypeError: sizes of axes differ.
      NotImplementedError: axes of the batch are sparse, or two BCOO are contracted
        along batch or dense axes.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> axes = (([1], [0]), ([], []))
      >>> left = sparse.eye(2)
      >>> print(sparse.bcoo_dot_general(left, jnp.ones(2), dimension_numbers=axes))
      [1. 1.]
    """
    del precision, out_sharding
    numbers = bcoo_contraction.canonical_numbers(dimension_numbers)
    lhs_shape, rhs_shape = (
        x.shape if isinstance(x, JAXSparse) else tuple(aval_of(x).shape)
        for x in (lhs, rhs)
    )
    bcoo_contraction.check_contraction(
        "bcoo_dot_general", lhs_shape, rhs_shape, numbers
    )
    if isinstance(lhs, BCOO) and isinstance(rhs, BCOO):
        return _multiply_sparse(lhs, rhs, numbers, preferred_element_type)
    if isinstance(lhs, BCOO):
        return _multiply_dense(lhs, rhs, numbers, preferred_element_type)
    if not isinstance(lhs, JAXSparse) and not isinstance(rhs, JAXSparse):
        return multiply_arrays(lhs, rhs, numbers, preferred_element_type)
    check_bcoo("bcoo_dot_general", "lhs or rhs", rhs)
    return multiply_left("bcoo_dot_general", lhs, rhs, numbers, preferred_element_type)


def multiply_arrays(lhs: Any, rhs: Any, numbers: Any, preferred: Any) -> Array:
    """The contraction of two arrays."""
    return contraction.dot_general(lhs, rhs, numbers, preferred_element_type=preferred)


def multiply_left(name: str, lhs: Any, rhs: Any, numbers: Any, preferred: Any) -> Array:
    """A contraction of an array with a BCOO on its right."""
    shapes = rhs.shape, tuple(aval_of(lhs).shape)
    bcoo_contraction.check_contraction(name, shapes[1], shapes[0], numbers)
    (lc, rc), (lb, rb) = numbers
    swapped = ((rc, lc), (rb, lb))
    out = _multiply_dense(rhs, lhs, swapped, preferred)
    axes = bcoo_contraction.result_axes(rhs.ndim, len(shapes[1]), swapped)
    n, rank = len(lb), len(axes)
    right = sum(side == "l" for side, _ in axes[n:])
    return shaping.transpose(
        out, (*range(n), *range(n + right, rank), *range(n, n + right))
    )


def _multiply_dense(lhs: BCOO, rhs: Any, numbers: Any, preferred: Any) -> Array:
    return bcoo_contraction.bcoo_dot_general_p.bind(
        lhs.data,
        lhs.indices,
        rhs,
        dimension_numbers=numbers,
        preferred_element_type=None if preferred is None else np.dtype(preferred),
        lhs_spinfo=SparseInfo(lhs.shape),
    )


def _multiply_sparse(lhs: BCOO, rhs: BCOO, numbers: Any, preferred: Any) -> BCOO:
    buffers = bcoo_sparse_products.bcoo_spdot_general_p.bind(
        lhs.data,
        lhs.indices,
        rhs.data,
        rhs.indices,
        lhs_spinfo=SparseInfo(lhs.shape),
        rhs_spinfo=SparseInfo(rhs.shape),
        dimension_numbers=numbers,
        preferred_element_type=None if preferred is None else np.dtype(preferred),
    )
    axes = bcoo_contraction.result_axes(lhs.ndim, rhs.ndim, numbers)
    shapes = {"l": lhs.shape, "r": rhs.shape}
    return make(buffers, SparseInfo(tuple([shapes[s][a] for s, a in axes])))


def bcoo_dot_general_sampled(
    A: ArrayLike, B: ArrayLike, indices: ArrayLike, *, dimension_numbers: Any
) -> Array:
    """Elements of a contraction of dense arrays at given positions.

    Args:
      A, B: arrays.
      indices: integers [*batch, nse, n_sparse]: positions in the result.
      dimension_numbers: as of `lax.dot_general`.

    Returns:
      An array [*batch, nse, *dense]; 0 at positions outside.

    Raises:
      TypeError: sizes of axes differ.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> a, b = jnp.ones((2, 4)), jnp.ones((4, 3))
      >>> axes, at = (([1], [0]), ([], [])), jnp.array([[0, 2], [1, 0]])
      >>> print(sparse.bcoo_dot_general_sampled(a, b, at, dimension_numbers=axes))
      [4. 4.]
    """
    numbers = bcoo_contraction.canonical_numbers(dimension_numbers)
    contraction.check_dimensions(
        "bcoo_dot_general_sampled", aval_of(A), aval_of(B), numbers
    )
    dtype = bcoo_contraction.result_dtype(A, B, None)
    A, B = (elementwise.convert_element_type(x, dtype) for x in (A, B))
    return bcoo_contraction.bcoo_dot_general_sampled_p.bind(
        A, B, indices, dimension_numbers=numbers
    )


def bcoo_multiply_dense(sp_mat: BCOO, v: ArrayLike) -> Array:
    """The elements of a BCOO times those of a dense array at their positions.

    Args:
      sp_mat: BCOO.
      v: array that broadcasts to its shape.

    Returns:
      The data of a BCOO with the positions of `sp_mat`.

    Raises:
      NotImplementedError: the product has another shape than `sp_mat`.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> print(sparse.bcoo_multiply_dense(sparse.eye(3), jnp.array([5, 6, 7])))
      [5. 6. 7.]
    """
    check_bcoo("bcoo_multiply_dense", "sp_mat", sp_mat)
    v_shape = tuple(aval_of(v).shape)
    if len(v_shape) > sp_mat.ndim or any(
        b not in (1, a) for a, b in zip(sp_mat.shape[::-1], v_shape[::-1], strict=False)
    ):
        raise NotImplementedError(
            "bcoo_multiply_dense: multiplication between sparse and dense is only "
            "implemented for cases where the output shape matches the sparse matrix "
            f"shape. Got shape={sp_mat.shape}, v.shape={v_shape}; broadcast the sparse "
            "array with bcoo_broadcast_in_dim"
        )
    dtype = bcoo_contraction.result_dtype(sp_mat.data, v, None)
    data = elementwise.convert_element_type(sp_mat.data, dtype)
    v = elementwise.convert_element_type(v, dtype)
    return data * _read_broadcast(sp_mat, v)


def divide_by_dense(mat: BCOO, v: Any) -> Any:
    """The elements of a BCOO over those of a dense array of one dtype; 0 at padding."""
    values = _read_broadcast(mat, v)
    sizes = mat.shape[mat.n_batch : mat.n_batch + mat.n_sparse]
    inside = rows.mark_inside(mat.indices, sizes)
    n = mat.n_batch + 1
    inside = layouts.fill_batch(inside, aval_of(values).shape[:n])
    ones = shaping.full_like(values, 1)
    mask = shaping.broadcast_in_dim(inside, aval_of(values).shape, tuple(range(n)))
    return mat.data / selection.where(mask, values, ones)


def _read_broadcast(mat: BCOO, v: Any) -> Any:
    """What a dense array, broadcast to the shape of `mat`, has at its positions."""
    v = shaping.reshape(v, (1,) * (mat.ndim - aval_of(v).ndim) + aval_of(v).shape)
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    shape = aval_of(v).shape
    # Axes that are repeated need no position.
    full = [i for i in range(n, m) if shape[i] == mat.shape[i]]
    repeated = tuple([i for i in range(n, m) if i not in full])
    v = shaping.squeeze(v, repeated) if repeated else v
    indices = rows.take_columns(mat.indices, [i - n for i in full])
    sizes = mat.shape[n:m]

    def read(x: Any, part: Any, whole: Any) -> Any:
        out = rows.take_rows(x, part)
        return rows.choose_rows(rows.mark_inside(whole, sizes), out)

    return layouts.map_batch(read, n, v, indices, mat.indices)


def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """The product of two BCOO of one shape, element by element.

    Args:
      lhs, rhs: BCOO with equal shapes and layouts.

    Returns:
      A BCOO with `lhs.nse * rhs.nse` elements; pairs that do not meet are padding.

    Raises:
      ValueError: shapes differ.
      NotImplementedError: layouts differ.

    Example:
      >>> from olympus.experimental import sparse
      >>> product = sparse.bcoo_multiply_sparse(sparse.eye(2), sparse.eye(2, k=1))
      >>> print(product.todense().sum())
      0.0
    """
    name = "bcoo_multiply_sparse"
    check_bcoo(name, "lhs", lhs)
    check_bcoo(name, "rhs", rhs)
    if lhs.shape != rhs.shape:
        raise ValueError(
            f"{name}: lhs and rhs must have one shape, got {lhs.shape} and {rhs.shape};"
            " broadcast one with bcoo_broadcast_in_dim"
        )
    if (lhs.n_batch, lhs.n_dense) != (rhs.n_batch, rhs.n_dense):
        raise NotImplementedError(
            f"{name}: n_batch and n_dense must be equal, got {lhs!r} and {rhs!r}; "
            "change one with bcoo_update_layout"
        )
    n = lhs.n_batch
    sizes = lhs.shape[n : n + lhs.n_sparse]
    dtype = bcoo_contraction.result_dtype(lhs.data, rhs.data, None)
    left = elementwise.convert_element_type(lhs.data, dtype)
    right = elementwise.convert_element_type(rhs.data, dtype)
    buffers = layouts.map_batch(
        lambda d, i, e, j: bcoo_sparse_products.multiply_meeting(d, i, e, j, sizes),
        n,
        left,
        lhs.indices,
        right,
        rhs.indices,
    )
    return make(buffers, SparseInfo(lhs.shape))
