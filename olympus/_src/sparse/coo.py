"""The class COO: a matrix as a list of elements with their rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src import tree
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike
from olympus._src.lax import concatenation, elementwise, families, shaping
from olympus._src.lax import sizes as lax_sizes
from olympus._src.numpy import creation, join_split
from olympus._src.sparse import (
    bcoo_conversion,
    bcoo_functions,
    formats,
    kernels,
    matrices,
    products,
    rows,
)
from olympus._src.sparse.bcoo import BCOO, as_count, as_index_dtype
from olympus._src.sparse.layouts import SparseInfo
from olympus._src.sparse.primitives import SparsePrimitive

aval_of = avals.aval_of


class COOInfo(NamedTuple):
    """What is known of a COO besides its buffers."""

    shape: tuple[int, ...]
    rows_sorted: bool = False
    cols_sorted: bool = False


@tree.register_pytree_node_class
class COO(formats.JAXSparse):
    """A sparse matrix as a list of elements with their rows and columns.

    Elements at one position are added; positions outside of the shape are padding.

    Args:
      args: `(data, row, col)`, arrays [nse].
      shape: of the matrix.
      rows_sorted, cols_sorted: whether elements are in order of rows, or of columns.

    Attributes:
      data, row, col, shape: as given.

    Raises:
      ValueError: it is no matrix, or shapes differ.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> matrix = sparse.COO.fromdense(jnp.array([[0.0, 2.0], [1.0, 4.0]]))
      >>> matrix, matrix.row.tolist(), matrix.col.tolist()
      (COO(float32[2, 2], nse=3), [0, 1, 1], [1, 0, 1])
    """

    data: Array
    row: Array
    col: Array

    def __init__(
        self,
        args: tuple[ArrayLike, ArrayLike, ArrayLike],
        *,
        shape: Sequence[int],
        rows_sorted: bool = False,
        cols_sorted: bool = False,
    ) -> None:
        self.data, self.row, self.col = map(creation.asarray, args)
        self._rows_sorted = bool(rows_sorted)
        self._cols_sorted = bool(cols_sorted)
        super().__init__(args, shape=tuple(shape))
        matrices.check_matrix("COO", self.shape)
        matrices.check_lengths("COO", data=self.data, row=self.row, col=self.col)

    @property
    def nse(self) -> int:
        """How many elements are stored."""
        return self.data.size

    @property
    def facts(self) -> COOInfo:
        """What is known of the array beside its buffers."""
        return COOInfo(self.shape, self._rows_sorted, self._cols_sorted)

    @property
    def _buffers(self) -> tuple[Array, Array, Array]:
        return self.data, self.row, self.col

    def tree_flatten(self) -> Any:
        """The buffers, and what is known of them."""
        return self._buffers, self.facts

    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: Any) -> COO:
        """The matrix of the buffers, which may be anything."""
        out = object.__new__(cls)
        out.data, out.row, out.col = children
        out.shape, out._rows_sorted, out._cols_sorted = aux_data
        return out

    @classmethod
    def fromdense(
        cls,
        mat: ArrayLike,
        *,
        nse: int | None = None,
        index_dtype: DTypeLike = np.int32,
    ) -> COO:
        """The nonzero elements of a dense matrix; see `coo_fromdense`."""
        return coo_fromdense(mat, nse=nse, index_dtype=index_dtype)

    @classmethod
    def _empty(
        cls,
        shape: Sequence[int],
        *,
        dtype: DTypeLike | None = None,
        index_dtype: DTypeLike = "int32",
    ) -> COO:
        """A matrix of zeros, without elements."""
        shape = lax_sizes.canonicalize_shape(shape)
        matrices.check_matrix("COO", shape)
        none = creation.zeros(0, index_dtype)
        data = creation.zeros(0, dtype)
        return cls((data, none, none), shape=shape, rows_sorted=True, cols_sorted=True)

    @classmethod
    def _eye(
        cls,
        N: int,
        M: int,
        k: int,
        *,
        dtype: DTypeLike | None = None,
        index_dtype: DTypeLike = "int32",
    ) -> COO:
        """Ones on a diagonal."""
        row, column = matrices.diagonal(N, M, k)
        return cls(
            (
                creation.ones(len(row), dtype),
                creation.asarray(row, dtype=index_dtype),
                creation.asarray(column, dtype=index_dtype),
            ),
            shape=(N, M),
            rows_sorted=True,
            cols_sorted=True,
        )

    def _sort_indices(self) -> COO:
        """The matrix with its elements in order of rows."""
        mat = _as_bcoo(self).sort_indices()
        row, column = (
            concatenation.index_in_dim(mat.indices, i, 1, keepdims=False)
            for i in (0, 1)
        )
        return COO((mat.data, row, column), shape=self.shape, rows_sorted=True)

    def todense(self) -> Array:
        """The same matrix in dense form."""
        return coo_todense(self)

    def transpose(self, axes: tuple[int, ...] | None = None) -> COO:
        """The transposed matrix; `axes` may only be None."""
        matrices.check_no_axes("COO", axes)
        return COO(
            (self.data, self.col, self.row),
            shape=self.shape[::-1],
            rows_sorted=self._cols_sorted,
            cols_sorted=self._rows_sorted,
        )

    def __matmul__(self, other: Any) -> Array:
        return matrices.multiply("COO", self, other, coo_matvec, coo_matmat)


def _as_bcoo(mat: COO) -> BCOO:
    indices = join_split.stack([mat.row, mat.col], 1)
    return BCOO((mat.data, indices), shape=mat.shape)


# -- primitives ------------------------------------------------------------------------


def _pair(row: Any, col: Any) -> Any:
    dtype = dtypes.result_type(row, col)
    pair = [elementwise.convert_element_type(x, dtype) for x in (row, col)]
    return join_split.stack(pair, 1)


def _todense(data: Any, row: Any, col: Any, *, spinfo: COOInfo) -> Any:
    info = SparseInfo(spinfo.shape)
    return bcoo_conversion.bcoo_todense_p.bind(data, _pair(row, col), spinfo=info)


coo_todense_p = SparsePrimitive("coo_todense", _todense, jvp=families.linear_jvp)


def _fromdense(mat: Any, *, nse: int, index_dtype: Any) -> Any:
    data, indices = bcoo_conversion.bcoo_fromdense_p.bind(
        mat, nse=nse, n_batch=0, n_dense=0, index_dtype=index_dtype
    )
    return data, rows.take_column(indices, 0), rows.take_column(indices, 1)


coo_fromdense_p = SparsePrimitive("coo_fromdense", _fromdense, multiple_results=True)


def _multiply(
    data: Any, row: Any, col: Any, x: Any, *, spinfo: COOInfo, transpose: bool
) -> Any:
    n_rows, n_columns = spinfo.shape
    if transpose:
        row, col, n_rows = col, row, n_columns
    write, read = (shaping.expand_dims(i, (1,)) for i in (row, col))
    return products.multiply_rows(data, read, write, x, (n_rows,))


def _multiply_rewrite(
    platform: str,
    data: Any,
    row: Any,
    col: Any,
    x: Any,
    *,
    spinfo: COOInfo,
    transpose: bool,
) -> Any:
    n_rows = spinfo.shape[int(transpose)]
    if kernels.suits(platform, data, x, row, col):
        return lambda data, row, col, x: kernels.multiply_list(
            data, *((col, row) if transpose else (row, col)), x, n_rows
        )
    if not products.suits_kernel(platform, data, row, x):
        return None

    def multiply(data: Any, row: Any, col: Any, x: Any) -> Any:
        write, read = (col, row) if transpose else (row, col)
        return products.multiply_sorted(
            data,
            write,
            read,
            x,
            n_rows,
            lambda: _multiply(data, row, col, x, spinfo=spinfo, transpose=transpose),
        )

    return multiply


coo_matvec_p = SparsePrimitive(
    "coo_matvec", _multiply, jvp=matrices.product_jvp, rewrite=_multiply_rewrite
)
coo_matmat_p = SparsePrimitive(
    "coo_matmat", _multiply, jvp=matrices.product_jvp, rewrite=_multiply_rewrite
)

# -- functions -------------------------------------------------------------------------


def coo_fromdense(
    mat: ArrayLike,
    *,
    nse: int | None = None,
    index_dtype: DTypeLike = np.int32,
) -> COO:
    """The nonzero elements of a dense matrix as a COO.

    Args:
      mat: matrix.
      nse: how many elements to store; default as many as needed. Needed while tracing.
      index_dtype: of the positions.

    Raises:
      ValueError: it is no matrix, or `nse` is missing while tracing.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> sparse.coo_fromdense(jnp.eye(3))
      COO(float32[3, 3], nse=3)
    """
    mat = matrices.as_matrix("coo_fromdense", mat)
    if nse is None:
        count = bcoo_conversion.count_stored(mat, 0, 0)
        nse = bcoo_functions.as_concrete("coo_fromdense", count)
    buffers = coo_fromdense_p.bind(
        mat,
        nse=as_count("coo_fromdense", nse),
        index_dtype=as_index_dtype(index_dtype),
    )
    return COO(tuple(buffers), shape=aval_of(mat).shape, rows_sorted=True)


def coo_todense(mat: COO) -> Array:
    """The dense form of a COO.

    Args:
      mat: COO.

    Example:
      >>> from olympus.experimental import sparse
      >>> print(sparse.coo_todense(sparse.eye(2, sparse_format="coo")))
      [[1. 0.]
       [0. 1.]]
    """
    matrices.check_kind("coo_todense", mat, COO)
    return coo_todense_p.bind(mat.data, mat.row, mat.col, spinfo=COOInfo(mat.shape))


def coo_matvec(mat: COO, v: ArrayLike, transpose: bool = False) -> Array:
    """A COO times a vector.

    Args:
      mat: COO.
      v: vector.
      transpose: multiply by the transpose of `mat`.

    Raises:
      ValueError: sizes do not agree.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> print(sparse.coo_matvec(sparse.eye(2, sparse_format="coo"), jnp.ones(2)))
      [1. 1.]
    """
    return _bind_product("coo_matvec", coo_matvec_p, mat, v, transpose, 1)


def coo_matmat(mat: COO, B: ArrayLike, *, transpose: bool = False) -> Array:
    """A COO times a dense matrix.

    Args:
      mat: COO.
      B: matrix.
      transpose: multiply by the transpose of `mat`.

    Raises:
      ValueError: sizes do not agree.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> print(sparse.coo_matmat(sparse.eye(2, sparse_format="coo"), jnp.ones((2, 1))))
      [[1.]
       [1.]]
    """
    return _bind_product("coo_matmat", coo_matmat_p, mat, B, transpose, 2)


def _bind_product(
    name: str, p: Any, mat: COO, x: Any, transpose: bool, rank: int
) -> Array:
    matrices.check_kind(name, mat, COO)
    data, x = matrices.check_product(name, mat, x, transpose, rank)
    return p.bind(
        data,
        mat.row,
        mat.col,
        x,
        spinfo=COOInfo(mat.shape),
        transpose=bool(transpose),
    )
