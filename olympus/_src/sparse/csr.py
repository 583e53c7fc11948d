"""The classes CSR and CSC: a matrix as rows, or columns, of elements."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike
from olympus._src.lax import families, shaping
from olympus._src.lax import sizes as lax_sizes
from olympus._src.numpy import creation
from olympus._src.sparse import (
    bcoo_conversion,
    bcoo_functions,
    bcsr_functions,
    formats,
    kernels,
    matrices,
    products,
    row_sums,
)
from olympus._src.sparse.bcoo import as_count, as_index_dtype
from olympus._src.sparse.layouts import SparseInfo
from olympus._src.sparse.primitives import SparsePrimitive

aval_of = avals.aval_of


class _Compressed(formats.JAXSparse):
    """What CSR and CSC share."""

    data: Array
    indices: Array
    indptr: Array

    def __init__(
        self,
        args: tuple[ArrayLike, ArrayLike, ArrayLike],
        *,
        shape: Sequence[int],
    ) -> None:
        self.data, self.indices, self.indptr = map(creation.asarray, args)
        super().__init__(args, shape=tuple(shape))
        name = type(self).__name__
        matrices.check_matrix(name, self.shape)
        matrices.check_lengths(name, data=self.data, indices=self.indices)
        expected = (self._major_size() + 1,)
        if tuple(self.indptr.shape) != expected:
            raise ValueError(
                f"{name}: indptr must have shape {expected} for shape={self.shape}, "
                f"got {tuple(self.indptr.shape)}"
            )

    def _major_size(self) -> int:
        return self.shape[0]

    @property
    def nse(self) -> int:
        """How many elements are stored."""
        return self.data.size

    @property
    def _buffers(self) -> tuple[Array, Array, Array]:
        return self.data, self.indices, self.indptr

    def tree_flatten(self) -> Any:
        """The buffers, and the shape."""
        return self._buffers, self.shape

    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: Any) -> Any:
        """The matrix of the buffers, which may be anything."""
        out = object.__new__(cls)
        out.data, out.indices, out.indptr = children
        out.shape = aux_data
        return out


@tree.register_pytree_node_class
class CSR(_Compressed):
    """A sparse matrix as rows of elements with their columns.

    Elements at one position are added; columns outside of the shape are padding, and so
    are elements behind the last row.

    Args:
      args: `(data, indices, indptr)`: arrays [nse], [nse] and [rows + 1]. Row i has the
        elements from `indptr[i]` up to `indptr[i + 1]`.
      shape: of the matrix.

    Attributes:
      data, indices, indptr, shape: as given.

    Raises:
      ValueError: it is no matrix, or shapes do not agree.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> matrix = sparse.CSR.fromdense(jnp.array([[0.0, 2.0], [1.0, 4.0]]))
      >>> matrix, matrix.indptr.tolist()
      (CSR(float32[2, 2], nse=3), [0, 1, 3])
      >>> print(matrix @ jnp.ones(2))
      [2. 5.]
    """

    @classmethod
    def fromdense(
        cls,
        mat: ArrayLike,
        *,
        nse: int | None = None,
        index_dtype: DTypeLike = np.int32,
    ) -> CSR:
        """The nonzero elements of a dense matrix; see `csr_fromdense`."""
        return csr_fromdense(mat, nse=nse, index_dtype=index_dtype)

    @classmethod
    def _empty(
        cls,
        shape: Sequence[int],
        *,
        dtype: DTypeLike | None = None,
        index_dtype: DTypeLike = "int32",
    ) -> CSR:
        """A matrix of zeros, without elements."""
        return cls(_empty_buffers(shape, 0, dtype, index_dtype), shape=tuple(shape))

    @classmethod
    def _eye(
        cls,
        N: int,
        M: int,
        k: int,
        *,
        dtype: DTypeLike | None = None,
        index_dtype: DTypeLike = "int32",
    ) -> CSR:
        """Ones on a diagonal."""
        buffers = _diagonal_buffers(N, M, k, dtype, index_dtype)
        return cls(buffers, shape=(N, M))

    def todense(self) -> Array:
        """The same matrix in dense form."""
        return csr_todense(self)

    def transpose(self, axes: Any = None) -> CSC:
        """The transposed matrix, of the same buffers; `axes` may only be None."""
        matrices.check_no_axes("CSR", axes)
        return CSC(self._buffers, shape=self.shape[::-1])

    def __matmul__(self, other: Any) -> Array:
        return matrices.multiply("CSR", self, other, csr_matvec, csr_matmat)


@tree.register_pytree_node_class
class CSC(_Compressed):
    """A sparse matrix as columns of elements with their rows.

    Args:
      args: `(data, indices, indptr)`: arrays [nse], [nse] and [columns + 1], the
        buffers of the transposed matrix as a CSR.
      shape: of the matrix.

    Attributes:
      data, indices, indptr, shape: as given.

    Raises:
      ValueError: it is no matrix, or shapes do not agree.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> matrix = sparse.CSC.fromdense(jnp.array([[0.0, 2.0], [1.0, 4.0]]))
      >>> matrix, matrix.T
      (CSC(float32[2, 2], nse=3), CSR(float32[2, 2], nse=3))
    """

    def _major_size(self) -> int:
        return self.shape[1]

    @classmethod
    def fromdense(
        cls,
        mat: ArrayLike,
        *,
        nse: int | None = None,
        index_dtype: DTypeLike = np.int32,
    ) -> CSC:
        """The nonzero elements of a dense matrix; see `csr_fromdense`."""
        mat = matrices.as_matrix("CSC.fromdense", mat)
        flipped = shaping.transpose(mat, (1, 0))
        return csr_fromdense(flipped, nse=nse, index_dtype=index_dtype).transpose()

    @classmethod
    def _empty(
        cls,
        shape: Sequence[int],
        *,
        dtype: DTypeLike | None = None,
        index_dtype: DTypeLike = "int32",
    ) -> CSC:
        """A matrix of zeros, without elements."""
        return cls(_empty_buffers(shape, 1, dtype, index_dtype), shape=tuple(shape))

    @classmethod
    def _eye(
        cls,
        N: int,
        M: int,
        k: int,
        *,
        dtype: DTypeLike | None = None,
        index_dtype: DTypeLike = "int32",
    ) -> CSC:
        """Ones on a diagonal."""
        buffers = _diagonal_buffers(M, N, -k, dtype, index_dtype)
        return cls(buffers, shape=(N, M))

    def todense(self) -> Array:
        """The same matrix in dense form."""
        return shaping.transpose(csr_todense(self.transpose()), (1, 0))

    def transpose(self, axes: Any = None) -> CSR:
        """The transposed matrix, of the same buffers; `axes` may only be None."""
        matrices.check_no_axes("CSC", axes)
        return CSR(self._buffers, shape=self.shape[::-1])

    def __matmul__(self, other: Any) -> Array:
        return matrices.multiply(
            "CSC",
            self,
            other,
            lambda mat, v: csr_matvec(mat.transpose(), v, transpose=True),
            lambda mat, x: csr_matmat(mat.transpose(), x, transpose=True),
        )


def _empty_buffers(shape: Any, major: int, dtype: Any, index_dtype: Any) -> Any:
    shape = lax_sizes.canonicalize_shape(shape)
    matrices.check_matrix("sparse.empty", shape)
    return (
        creation.zeros(0, dtype),
        creation.zeros(0, index_dtype),
        creation.zeros(shape[major] + 1, index_dtype),
    )


def _diagonal_buffers(n: int, m: int, k: int, dtype: Any, index_dtype: Any) -> Any:
    row, column = matrices.diagonal(n, m, k)
    counts = np.isin(np.arange(n), row).astype(int)
    return (
        creation.ones(len(row), dtype),
        creation.asarray(column, dtype=index_dtype),
        creation.asarray(np.concatenate([[0], np.cumsum(counts)]), dtype=index_dtype),
    )


# -- primitives ------------------------------------------------------------------------


def _todense(data: Any, indices: Any, indptr: Any, *, shape: Any) -> Any:
    return bcsr_functions.bcsr_todense_p.bind(
        data, indices, indptr, spinfo=SparseInfo(shape)
    )


csr_todense_p = SparsePrimitive("csr_todense", _todense, jvp=families.linear_jvp)


def _fromdense(mat: Any, *, nse: int, index_dtype: Any) -> Any:
    return bcsr_functions.bcsr_fromdense_p.bind(
        mat, nse=nse, n_batch=0, n_dense=0, index_dtype=index_dtype
    )


csr_fromdense_p = SparsePrimitive("csr_fromdense", _fromdense, multiple_results=True)


def _multiply(
    data: Any, indices: Any, indptr: Any, x: Any, *, shape: Any, transpose: bool
) -> Any:
    row = products.rows_of(indptr, aval_of(data).shape[0])
    write, read = (shaping.expand_dims(i, (1,)) for i in (row, indices))
    size = shape[0]
    if transpose:
        write, read, size = read, write, shape[1]
    return products.multiply_rows(data, read, write, x, (size,))


def _multiply_by_kernel(
    data: Any, indices: Any, indptr: Any, x: Any, *, shape: Any, transpose: bool
) -> Any:
    if transpose:
        row = products.rows_of(indptr, aval_of(data).shape[0])
        return kernels.multiply_list(data, indices, row, x, shape[1])
    return kernels.multiply_csr(data, indices, indptr, x)


def _multiply_rewrite(
    platform: str,
    data: Any,
    indices: Any,
    indptr: Any,
    x: Any,
    *,
    shape: Any,
    transpose: bool,
) -> Any:
    if kernels.suits(platform, data, x, indices, indptr):
        return functools.partial(_multiply_by_kernel, shape=shape, transpose=transpose)
    if transpose or not products.suits_kernel(platform, data, indices, x):
        return None

    def multiply(data: Any, indices: Any, indptr: Any, x: Any) -> Any:
        return products.multiply_csr(
            data,
            indices,
            indptr,
            x,
            lambda: _multiply(data, indices, indptr, x, shape=shape, transpose=False),
        )

    return multiply


def _multiply_vector_rewrite(
    platform: str,
    data: Any,
    indices: Any,
    indptr: Any,
    x: Any,
    *,
    shape: Any,
    transpose: bool,
) -> Any:
    if kernels.suits(platform, data, x, indices, indptr):
        return functools.partial(_multiply_by_kernel, shape=shape, transpose=transpose)
    if transpose or not row_sums.suits_rows(platform, data, x, shape[0]):
        return None

    def multiply(data: Any, indices: Any, indptr: Any, x: Any) -> Any:
        operands = (data, indices, indptr, x)
        general = functools.partial(_multiply, *operands, shape=shape, transpose=False)
        return row_sums.multiply_rows(data, indices, indptr, x, general)

    return multiply


csr_matvec_p = SparsePrimitive(
    "csr_matvec",
    _multiply,
    jvp=matrices.product_jvp,
    rewrite=_multiply_vector_rewrite,
)
csr_matmat_p = SparsePrimitive(
    "csr_matmat", _multiply, jvp=matrices.product_jvp, rewrite=_multiply_rewrite
)

# -- functions -------------------------------------------------------------------------


def csr_fromdense(
    mat: ArrayLike,
    *,
    nse: int | None = None,
    index_dtype: DTypeLike = np.int32,
) -> CSR:
    """The nonzero elements of a dense matrix as a CSR.

    Args:
      mat: matrix.
      nse: how many elements to store; default as many as needed. Needed while tracing.
      index_dtype: of the positions.

    Raises:
      ValueError: it is no matrix, or `nse` is missing while tracing.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> sparse.csr_fromdense(jnp.eye(3))
      CSR(float32[3, 3], nse=3)
    """
    mat = matrices.as_matrix("csr_fromdense", mat)
    if nse is None:
        count = bcoo_conversion.count_stored(mat, 0, 0)
        nse = bcoo_functions.as_concrete("csr_fromdense", count)
    buffers = csr_fromdense_p.bind(
        mat,
        nse=as_count("csr_fromdense", nse),
        index_dtype=as_index_dtype(index_dtype),
    )
    return CSR(tuple(buffers), shape=aval_of(mat).shape)


def csr_todense(mat: CSR) -> Array:
    """The dense form of a CSR.

    Args:
      mat: CSR.

    Example:
      >>> from olympus.experimental import sparse
      >>> print(sparse.csr_todense(sparse.eye(2, sparse_format="csr")))
      [[1. 0.]
       [0. 1.]]
    """
    matrices.check_kind("csr_todense", mat, CSR)
    return csr_todense_p.bind(mat.data, mat.indices, mat.indptr, shape=mat.shape)


def csr_matvec(mat: CSR, v: ArrayLike, transpose: bool = False) -> Array:
    """A CSR times a vector.

    Args:
      mat: CSR.
      v: vector.
      transpose: multiply by the transpose of `mat`.

    Raises:
      ValueError: sizes do not agree.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> print(sparse.csr_matvec(sparse.eye(2, sparse_format="csr"), jnp.ones(2)))
      [1. 1.]
    """
    return _bind_product("csr_matvec", csr_matvec_p, mat, v, transpose, 1)


def csr_matmat(mat: CSR, B: ArrayLike, *, transpose: bool = False) -> Array:
    """A CSR times a dense matrix.

    Args:
      mat: CSR.
      B: matrix.
      transpose: multiply by the transpose of `mat`.

    Raises:
      ValueError: sizes do not agree.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> print(sparse.csr_matmat(sparse.eye(2, sparse_format="csr"), jnp.ones((2, 1))))
      [[1.]
       [1.]]
    """
    return _bind_product("csr_matmat", csr_matmat_p, mat, B, transpose, 2)


def _bind_product(
    name: str, p: Any, mat: CSR, x: Any, transpose: bool, rank: int
) -> Array:
    matrices.check_kind(name, mat, CSR)
    data, x = matrices.check_product(name, mat, x, transpose, rank)
    return p.bind(
        data,
        mat.indices,
        mat.indptr,
        x,
        shape=mat.shape,
        transpose=bool(transpose),
    )
