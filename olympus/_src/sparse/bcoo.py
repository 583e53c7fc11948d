"""The class BCOO: a list of elements with their positions."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, Shape
from olympus._src.core.primitive import LateRule
from olympus._src.lax import sizes as lax_sizes
from olympus._src.numpy import creation
from olympus._src.sparse import batching, formats, layouts
from olympus._src.sparse.layouts import SparseInfo

aval_of = avals.aval_of


def _name_late(name: str) -> LateRule:
    """An operation of a file that needs this class."""
    return LateRule("sparse.bcoo_methods", name)


_fromdense = _name_late("fromdense")
_todense = _name_late("todense")
_transpose = _name_late("transpose")
_sort_indices = _name_late("sort_indices")
_sum_duplicates = _name_late("sum_duplicates")
_eliminate_zeros = _name_late("eliminate_zeros")
_update_layout = _name_late("update_layout")
_apply = _name_late("apply")
_take = _name_late("take")


@batching.map_batch_axes
@tree.register_pytree_node_class
class BCOO(formats.JAXSparse):
    """A sparse array as a list of elements with their positions, in batches.

    The shape is `(*batch, *sparse, *dense)`. Elements at one position are added.
    Positions outside of the shape are padding.

    Args:
      args: `(data, indices)`. `data` is an array [*batch, nse, *dense]; `indices` are
        integers [*batch, nse, n_sparse]. Batch axes of size 1 are repeated.
      shape: of the array.
      indices_sorted: whether positions ascend. Results do not depend on it.
      unique_indices: whether no position occurs twice.

    Attributes:
      data, indices, shape, indices_sorted, unique_indices: as given.

    Raises:
      ValueError: shapes do not agree.
      TypeError: `indices` are not integers.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> dense = jnp.array([[0.0, 2.0, 0.0], [1.0, 0.0, 4.0]])
      >>> matrix = sparse.BCOO.fromdense(dense)
      >>> matrix
      BCOO(float32[2, 3], nse=3)
      >>> print(matrix.data, matrix.indices.tolist())
      [2. 1. 4.] [[0, 1], [1, 0], [1, 2]]
      >>> print(matrix @ jnp.ones(3))
      [2. 5.]
    """

    data: Array
    indices: Array
    indices_sorted: bool
    unique_indices: bool

    def __init__(
        self,
        args: tuple[ArrayLike, ArrayLike],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        data, indices = args
        self.data = creation.asarray(data)
        self.indices = creation.asarray(indices)
        self.indices_sorted = bool(indices_sorted)
        self.unique_indices = bool(unique_indices)
        super().__init__(args, shape=tuple(shape))
        layouts.bcoo_layout("BCOO", self.data, self.indices, self.shape)

    # -- what it is --------------------------------------------------------------------

    @property
    def nse(self) -> int:
        """How many elements are stored, in each element of the batch."""
        return self.indices.shape[-2]

    @property
    def n_sparse(self) -> int:
        """How many axes the indices are positions along."""
        return self.indices.shape[-1]

    @property
    def n_batch(self) -> int:
        """How many axes of the buffers, the first ones, are axes of the array."""
        return self.indices.ndim - 2

    @property
    def n_dense(self) -> int:
        """How many axes an element has, which are all stored."""
        return self.data.ndim - 1 - self.n_batch

    @property
    def facts(self) -> SparseInfo:
        """What is known of the array beside its buffers."""
        return SparseInfo(self.shape, self.indices_sorted, self.unique_indices)

    def __repr__(self) -> str:
        return formats.describe(self, "n_batch", "n_dense")

    def tree_flatten(self) -> Any:
        """The buffers, and what is known of them."""
        return (self.data, self.indices), self.facts

    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: Any) -> BCOO:
        """The array of the buffers, which may be anything."""
        out = object.__new__(cls)
        out.data, out.indices = children
        out.shape, out.indices_sorted, out.unique_indices = aux_data
        ranks = layouts.ranks_of(out.data, out.indices)
        if ranks and ranks[1] >= 2 and ranks[0] >= ranks[1] - 1:
            rank = ranks[0] - 1 + out.n_sparse
            if rank != len(out.shape):
                out.shape = layouts.follow_buffers(
                    out.shape, ranks[1] - 2, rank, out.data, out.indices
                )
        return out

    # -- where it comes from -----------------------------------------------------------

    @classmethod
    def fromdense(
        cls,
        mat: ArrayLike,
        *,
        nse: int | None = None,
        index_dtype: DTypeLike = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCOO:
        """The nonzero elements of a dense array; see `bcoo_fromdense`."""
        return _fromdense(
            mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch
        )

    @classmethod
    def from_scipy_sparse(
        cls,
        mat: Any,
        *,
        index_dtype: DTypeLike | None = None,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCOO:
        """The elements of a sparse matrix of SciPy.

        Raises:
          NotImplementedError: batch or dense axes are requested.
        """
        if n_dense or n_batch:
            raise NotImplementedError(
                "BCOO.from_scipy_sparse: n_batch and n_dense must be 0, got "
                f"n_batch={n_batch} and n_dense={n_dense}; change the layout later "
                "with update_layout"
            )
        mat = mat.tocoo()
        indices = np.stack((mat.row, mat.col), axis=1)
        dtype = index_dtype or dtypes.canonicalize_dtype(mat.row.dtype)
        return cls(
            (creation.asarray(mat.data), creation.asarray(indices, dtype=dtype)),
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
    ) -> BCOO:
        """An array of zeros; elements that are stored are padding."""
        shape = lax_sizes.canonicalize_shape(shape)
        n_sparse = len(shape) - n_dense - n_batch
        if min(n_sparse, n_dense, n_batch, nse) < 0:
            raise ValueError(
                f"BCOO._empty: Invalid inputs: shape={shape}, n_dense={n_dense}, "
                f"n_batch={n_batch}, nse={nse}; they must be non-negative, and axes no "
                "more than the shape has"
            )
        batch, sparse = shape[:n_batch], shape[n_batch : n_batch + n_sparse]
        data = creation.zeros((*batch, nse, *shape[n_batch + n_sparse :]), dtype)
        full = np.broadcast_to(np.array(sparse, np.int64), (*batch, nse, n_sparse))
        indices = creation.asarray(full.astype(dtypes.canonicalize_dtype(index_dtype)))
        return cls(
            (data, indices), shape=shape, indices_sorted=True, unique_indices=True
        )

    @classmethod
    def _eye(
        cls,
        N: int,
        M: int,
        k: int,
        *,
        dtype: DTypeLike | None = None,
        index_dtype: DTypeLike = "int32",
        n_batch: int = 0,
        n_dense: int = 0,
    ) -> BCOO:
        """Ones on a diagonal."""
        n_sparse = 2 - n_batch - n_dense
        if min(n_sparse, n_batch, n_dense) < 0:
            raise ValueError(
                f"BCOO._eye: Invalid inputs: shape={(N, M)}, n_dense={n_dense}, "
                f"n_batch={n_batch}; a matrix has two axes"
            )
        count = max(0, min(N, M - k) if k > 0 else min(N + k, M))
        row = np.arange(max(0, -k), max(0, -k) + count)
        column = row + k
        dtype = dtypes.canonicalize_dtype(float if dtype is None else dtype)
        data: Any
        indices: Any
        index = dtypes.canonicalize_dtype(index_dtype)
        if n_sparse == 2:
            data, indices = np.ones(count), np.stack((row, column), 1)
        elif n_batch == 2 or n_dense == 2:
            data = np.eye(N, M, k)
            data = data[:, :, None] if n_batch else data[None]
            indices = np.zeros((*data.shape[: n_batch + 1], 0))
        elif n_batch and n_dense:
            data, indices = np.eye(N, M, k)[:, None], np.zeros((N, 1, 0))
        elif n_batch:
            has_one = np.isin(np.arange(N), row)
            data = has_one[:, None]
            indices = np.where(has_one, np.arange(N) + k, M)[:, None, None]
        else:
            data, indices = np.eye(N, M, k)[row], row[:, None]
        return cls(
            (
                creation.asarray(data.astype(dtype)),
                creation.asarray(indices.astype(index)),
            ),
            shape=(N, M),
            indices_sorted=True,
            unique_indices=True,
        )

    # -- what it becomes ---------------------------------------------------------------

    def todense(self) -> Array:
        """The same array in dense form."""
        return _todense(self)

    def transpose(self, axes: Sequence[int] | None = None) -> BCOO:
        """The array with its axes in another order; see `bcoo_transpose`."""
        return _transpose(self, axes)

    def sort_indices(self) -> BCOO:
        """The array with positions in ascending order; see `bcoo_sort_indices`."""
        return _sort_indices(self)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
        """The array with each position once; see `bcoo_sum_duplicates`.

        Args:
          nse: how many elements to store; needed while tracing.
          remove_zeros: leave out stored zeros.
        """
        if remove_zeros:
            return _eliminate_zeros(self, nse=nse)
        return _sum_duplicates(self, nse=nse)

    def update_layout(
        self,
        *,
        n_batch: int | None = None,
        n_dense: int | None = None,
        on_inefficient: str | None = "error",
    ) -> BCOO:
        """The array with other batch and dense axes; see `bcoo_update_layout`."""
        return _update_layout(
            self, n_batch=n_batch, n_dense=n_dense, on_inefficient=on_inefficient
        )

    def reshape(self, *args: Any, **kwargs: Any) -> BCOO:
        """The array with another shape; see `bcoo_reshape`."""
        return _apply("reshape", self, *args, **kwargs)

    def astype(self, *args: Any, **kwargs: Any) -> BCOO:
        """The array with another dtype."""
        return _apply("astype", self, *args, **kwargs)

    def sum(self, *args: Any, **kwargs: Any) -> Any:
        """The sum over axes: a BCOO, or a scalar array if none is left."""
        return _apply("sum", self, *args, **kwargs)

    # -- operators ---------------------------------------------------------------------

    def __getitem__(self, item: Any) -> BCOO:
        return _take(self, item)

    def __iter__(self) -> Iterator[BCOO]:
        return iter([self[i] for i in range(len(self))])

    def __neg__(self) -> BCOO:
        return _apply("negative", self)

    def __pos__(self) -> BCOO:
        return _apply("positive", self)

    def __abs__(self) -> BCOO:
        return _apply("abs", self)

    def __add__(self, other: Any) -> Any:
        return _apply("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _apply("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _apply("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _apply("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        return _apply("multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _apply("multiply", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _apply("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _apply("divide", other, self)

    def __pow__(self, other: Any) -> Any:
        return _apply("power", self, other)

    def __matmul__(self, other: Any) -> Any:
        return _apply("matmul", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _apply("matmul", other, self)

    def __eq__(self, other: object) -> Any:
        return _apply("equal", self, other)

    def __ne__(self, other: object) -> Any:
        return _apply("not_equal", self, other)

    def __lt__(self, other: Any) -> Any:
        return _apply("less", self, other)

    def __le__(self, other: Any) -> Any:
        return _apply("less_equal", self, other)

    def __gt__(self, other: Any) -> Any:
        return _apply("greater", self, other)

    def __ge__(self, other: Any) -> Any:
        return _apply("greater_equal", self, other)

    __hash__ = None


def as_index_dtype(index_dtype: Any) -> Any:
    """The dtype of positions that a user names.

    Raises:
      TypeError: it has no integers.
    """
    dtype = dtypes.canonicalize_dtype(index_dtype)
    if not dtypes.issubdtype(dtype, np.integer):
        raise TypeError(
            f"sparse: index_dtype must be a dtype of integers, got {dtype}; use 'int32'"
        )
    return dtype


def as_count(name: str, nse: Any) -> int:
    """The number of stored elements that a user gives.

    Raises:
      TypeError: it is no integer.
      ValueError: it is negative.
    """
    try:
        count = operator.index(nse)
    except TypeError:
        raise TypeError(
            f"{name}: nse must be an integer, got {nse!r}; pass the number of stored "
            "elements as a Python number"
        ) from None
    if count < 0:
        raise ValueError(
            f"{name}: nse must be non-negative, got {count}; use 0 or more"
        )
    return count
