"""`todense` of any array, and the arrays `empty` and `eye` in any format."""

from __future__ import annotations

import operator
from typing import Any

from olympus._src.core import avals, trace
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, Shape
from olympus._src.lax import sizes as lax_sizes
from olympus._src.numpy import creation
from olympus._src.sparse.bcoo import BCOO
from olympus._src.sparse.bcsr import BCSR
from olympus._src.sparse.coo import COO
from olympus._src.sparse.csr import CSC, CSR
from olympus._src.sparse.formats import JAXSparse
from olympus._src.sparse.primitives import SparsePrimitive

# Marks where a sparsified function asks for a dense array; it returns its operand.
todense_p = SparsePrimitive("todense", lambda x: x)


def todense(arr: JAXSparse | ArrayLike) -> Array:
    """The dense form of a sparse array; arrays stay as they are.

    Args:
      arr: sparse array, or array. In functions for `sparsify`, traced values too.

    Raises:
      TypeError: it is neither.

    Example:
      >>> from olympus.experimental import sparse
      >>> print(sparse.todense(sparse.eye(2)))
      [[1. 0.]
       [0. 1.]]
    """
    if isinstance(arr, JAXSparse):
        return arr.todense()
    if isinstance(arr, trace.Tracer):
        return todense_p.bind(arr)
    if not avals.is_array_like(arr):
        raise TypeError(
            f"sparse.todense: arr must be a sparse array or an array, got {arr!r}; use "
            "tree.map for containers"
        )
    return creation.asarray(arr)


_FORMATS: dict[str, Any] = {
    "bcoo": BCOO,
    "bcsr": BCSR,
    "coo": COO,
    "csc": CSC,
    "csr": CSR,
}


def _find_format(name: str, sparse_format: str) -> Any:
    if sparse_format not in _FORMATS:
        raise ValueError(
            f"{name}: sparse_format must be one of {sorted(_FORMATS)}, got "
            f"{sparse_format!r}"
        )
    return _FORMATS[sparse_format]


def empty(
    shape: Shape,
    dtype: DTypeLike | None = None,
    index_dtype: DTypeLike = "int32",
    sparse_format: str = "bcoo",
    **kwds: Any,
) -> JAXSparse:
    """A sparse array of zeros.

    Args:
      shape: of the array.
      dtype: of the elements; default float.
      index_dtype: of the positions.
      sparse_format: 'bcoo', 'bcsr', 'coo', 'csc' or 'csr'.
      kwds: more arguments of the format, as `n_batch`, `n_dense` and `nse`.

    Raises:
      ValueError: there is no such format, or the shape does not fit it.

    Example:
      >>> from olympus.experimental import sparse
      >>> sparse.empty((2, 3))
      BCOO(float32[2, 3], nse=0)
    """
    kind = _find_format("sparse.empty", sparse_format)
    return kind._empty(  # noqa: SLF001
        lax_sizes.canonicalize_shape(shape),
        dtype=dtype,
        index_dtype=index_dtype,
        **kwds,
    )


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike | None = None,
    index_dtype: DTypeLike = "int32",
    sparse_format: str = "bcoo",
    **kwds: Any,
) -> JAXSparse:
    """A sparse matrix with ones on a diagonal.

    Args:
      N: number of rows.
      M: number of columns; default N.
      k: the diagonal: above the main one if positive, below it if negative.
      dtype: of the elements; default float.
      index_dtype: of the positions.
      sparse_format: 'bcoo', 'coo', 'csc' or 'csr'.
      kwds: more arguments of the format, as `n_batch` and `n_dense`.

    Raises:
      ValueError: there is no such format.
      NotImplementedError: the format is 'bcsr'.

    Example:
      >>> from olympus.experimental import sparse
      >>> sparse.eye(3, 4, k=1, sparse_format="csr")
      CSR(float32[3, 4], nse=3)
    """
    kind = _find_format("sparse.eye", sparse_format)
    columns = N if M is None else M
    if not hasattr(kind, "_eye"):
        raise NotImplementedError(
            f"sparse.eye: sparse_format must be one that has a unit matrix, got "
            f"{sparse_format!r}; use BCSR.from_bcoo(sparse.eye({N}))"
        )
    return kind._eye(  # noqa: SLF001
        *map(operator.index, (N, columns, k)),
        dtype=dtype,
        index_dtype=index_dtype,
        **kwds,
    )
