"""The class BCSR: rows of elements with their columns, in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, Shape
from olympus._src.core.primitive import LateRule
from olympus._src.lax import sizes as lax_sizes
from olympus._src.numpy import creation
from olympus._src.sparse import batching, formats, layouts
from olympus._src.sparse.bcoo import BCOO
from olympus._src.sparse.layouts import SparseInfo

aval_of = avals.aval_of


def _name_late(name: str) -> LateRule:
    """An operation of a file that needs this class."""
    return LateRule("sparse.bcsr_functions", name)


_fromdense = _name_late("bcsr_fromdense")
_todense = _name_late("bcsr_todense")
_sum_duplicates = _name_late("bcsr_sum_duplicates")
_eliminate_zeros = _name_late("bcsr_eliminate_zeros")
_from_bcoo = _name_late("from_bcoo")
_to_bcoo = _name_late("to_bcoo")
_apply = LateRule("sparse.bcoo_methods", "apply")
_take = LateRule("sparse.bcoo_methods", "take")


@batching.map_batch_axes
@tree.register_pytree_node_class
class BCSR(formats.JAXSparse):
    """A sparse array as rows of elements with their columns, in batches.

    The shape is `(*batch, rows, columns, *dense)`.

    Args:
      args: `(data, indices, indptr)`. `data` is an array [*batch, nse, *dense],
        `indices` are the columns [*batch, nse], and `indptr` where rows begin and end,
        [*batch, rows + 1]. Elements behind the last row, and columns outside of the
        shape, are padding.
      shape: of the array.
      indices_sorted: whether columns ascend in each row.
      unique_indices: whether no position occurs twice.

    Attributes:
      data, indices, indptr, shape, indices_sorted, unique_indices: as given.

    Raises:
      ValueError: shapes do not agree.
      TypeError: positions are not integers.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> matrix = sparse.BCSR.fromdense(jnp.array([[0.0, 2.0], [1.0, 4.0]]))
      >>> matrix, matrix.indptr.tolist()
      (BCSR(float32[2, 2], nse=3), [0, 1, 3])
      >>> print(matrix @ jnp.ones(2))
      [2. 5.]
    """

    data: Array
    indices: Array
    indptr: Array
    indices_sorted: bool
    unique_indices: bool

    def __init__(
        self,
        args: tuple[ArrayLike, ArrayLike, ArrayLike],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices, self.indptr = map(creation.asarray, args)
        self.indices_sorted = bool(indices_sorted)
        self.unique_indices = bool(unique_indices)
        super().__init__(args, shape=tuple(shape))
        layouts.bcsr_layout("BCSR", self.data, self.indices, self.indptr, self.shape)

    @property
    def nse(self) -> int:
        """How many elements are stored, in each element of the batch."""
        return self.indices.shape[-1]

    @property
    def n_batch(self) -> int:
        """The number of batch axes."""
        return self.indices.ndim - 1

    @property
    def n_sparse(self) -> int:
        """The number of sparse axes: rows and columns."""
        return 2

    @property
    def n_dense(self) -> int:
        """The number of dense axes."""
        return self.data.ndim - 1 - self.n_batch

    @property
    def facts(self) -> SparseInfo:
        """What is known of the array beside its buffers."""
        return SparseInfo(self.shape, self.indices_sorted, self.unique_indices)

    @property
    def _buffers(self) -> tuple[Array, Array, Array]:
        return self.data, self.indices, self.indptr

    @property
    def _sparse_shape(self) -> tuple[int, ...]:
        return self.shape[self.n_batch : self.n_batch + 2]

    def __repr__(self) -> str:
        return formats.describe(self, "n_batch", "n_dense")

    def tree_flatten(self) -> Any:
        """The buffers, and what is known of them."""
        return (self.data, self.indices, self.indptr), self.facts

    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: Any) -> BCSR:
        """The array of the buffers, which may be anything."""
        out = object.__new__(cls)
        out.data, out.indices, out.indptr = children
        out.shape, out.indices_sorted, out.unique_indices = aux_data
        ranks = layouts.ranks_of(out.data, out.indices, out.indptr)
        if ranks and ranks[0] >= ranks[1] == ranks[2] >= 1:
            rank = ranks[0] + 1
            if rank != len(out.shape):
                out.shape = layouts.follow_buffers(
                    out.shape, ranks[1] - 1, rank, out.data, out.indices, out.indptr
                )
        return out

    @classmethod
    def fromdense(
        cls,
        mat: ArrayLike,
        *,
        nse: int | None = None,
        index_dtype: DTypeLike = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCSR:
        """The nonzero elements of a dense array; see `bcsr_fromdense`."""
        return _fromdense(
            mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch
        )

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> BCSR:
        """The elements of a BCOO with two sparse axes.

        Raises:
          NotImplementedError: it has another number of sparse axes.
        """
        return _from_bcoo(arr)

    @classmethod
    def from_scipy_sparse(
        cls,
        mat: Any,
        *,
        index_dtype: DTypeLike | None = None,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCSR:
        """The elements of a sparse matrix of SciPy.

        Raises:
          NotImplementedError: batch or dense axes are requested.
        """
        if n_dense or n_batch:
            raise NotImplementedError(
                "BCSR.from_scipy_sparse: n_batch and n_dense must be 0, got "
                f"n_batch={n_batch} and n_dense={n_dense}; convert a dense array with "
                "BCSR.fromdense"
            )
        mat = mat.tocsr()
        dtype = index_dtype or dtypes.canonicalize_dtype(mat.indices.dtype)
        return cls(
            (
                creation.asarray(mat.data),
                creation.asarray(mat.indices, dtype=dtype),
                creation.asarray(mat.indptr, dtype=dtype),
            ),
            shape=mat.shape,
        )

    @classmethod
    def _empty(
        cls,
        shape: Shape,
        *,
        dtype: DTypeLike | None = None,
        index_dtype: DTypeLike = "int32",
        n_dense: int = 0,
        n_batch: int = 0,
        nse: int = 0,
    ) -> BCSR:
        """An array of zeros; elements that are stored are padding."""
        shape = lax_sizes.canonicalize_shape(shape)
        if len(shape) - n_dense - n_batch != 2 or min(n_dense, n_batch, nse) < 0:
            raise ValueError(
                f"BCSR._empty: BCSR sparse.empty: must have 2 sparse dimensions, got "
                f"shape={shape}, n_dense={n_dense}, n_batch={n_batch}, nse={nse}"
            )
        batch, n_rows = shape[:n_batch], shape[n_batch]
        return cls(
            (
                creation.zeros((*batch, nse, *shape[n_batch + 2 :]), dtype),
                creation.full((*batch, nse), shape[n_batch + 1], index_dtype),
                creation.zeros((*batch, n_rows + 1), index_dtype),
            ),
            shape=shape,
        )

    def todense(self) -> Array:
        """The same array in dense form."""
        return _todense(self)

    def to_bcoo(self) -> BCOO:
        """The same elements as a BCOO."""
        return _to_bcoo(self)

    def transpose(self, axes: Sequence[int] | None = None) -> BCSR:
        """Refused: rows of the transpose are columns.

        Raises:
          NotImplementedError: always.
        """
        raise NotImplementedError(
            f"BCSR.transpose: Transpose is not implemented, got axes={axes}; use "
            "to_bcoo().transpose()"
        )

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCSR:
        """The array with each position once; see `bcsr_sum_duplicates`.

        Args:
          nse: how many elements to store; needed while tracing.
          remove_zeros: leave out stored zeros.
        """
        if remove_zeros:
            return _eliminate_zeros(self, nse=nse)
        return _sum_duplicates(self, nse=nse)

    def __matmul__(self, other: Any) -> Any:
        return _apply("matmul", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _apply("matmul", other, self)

    def __getitem__(self, item: Any) -> Any:
        return _take(self, item)
