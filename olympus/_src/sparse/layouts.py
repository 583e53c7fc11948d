"""What the buffers of a sparse array are: batch, sparse and dense axes.

The shape of a batched array is `(*batch, *sparse, *dense)`. For each element of the
batch it holds `nse` blocks, each with the shape of the dense axes; the positions of the
blocks are given along the sparse axes. Positions outside of the shape are padding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.api import vmap
from olympus._src.core import avals, dtypes
from olympus._src.lax import shaping

aval_of = avals.aval_of


class SparseInfo(NamedTuple):
    """What is known of a sparse array besides its buffers.

    Attributes:
      shape: of the array.
      indices_sorted: whether positions ascend.
      unique_indices: whether no position inside of the shape occurs twice.
    """

    shape: tuple[int, ...]
    indices_sorted: bool = False
    unique_indices: bool = False


class Layout(NamedTuple):
    """Numbers of axes, and of stored elements."""

    n_batch: int
    n_sparse: int
    n_dense: int
    nse: int

    def sparse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The sizes of the sparse axes."""
        return tuple(shape[self.n_batch : self.n_batch + self.n_sparse])

    def dense_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The sizes of the dense axes."""
        return tuple(shape[self.n_batch + self.n_sparse :])

    def batch_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The sizes of the batch axes."""
        return tuple(shape[: self.n_batch])


def type_of(x: Any) -> Any:
    """The type of an array, or a type itself."""
    return x if isinstance(x, avals.ShapedArray) else aval_of(x)


def bcoo_layout(name: str, data: Any, indices: Any, shape: Sequence[int]) -> Layout:
    """The layout of a BCOO's buffers, which are checked against its shape.

    Raises:
      ValueError: shapes do not agree.
      TypeError: positions are not integers.
    """
    data, indices = type_of(data), type_of(indices)
    if not dtypes.issubdtype(indices.dtype, np.integer):
        raise TypeError(
            f"{name}: indices must be integers, got {indices.short()}; convert them "
            "with astype(int)"
        )
    if indices.ndim < 2:
        raise ValueError(
            f"{name}: indices must have shape [*batch, nse, n_sparse], got "
            f"{indices.short()}; add the missing axes (vmap maps batch axes only)"
        )
    nse, n_sparse = indices.shape[-2:]
    n_batch = indices.ndim - 2
    n_dense = len(shape) - n_batch - n_sparse
    layout = Layout(n_batch, n_sparse, n_dense, nse)
    expected = (*shape[:n_batch], nse, *shape[n_batch + n_sparse :])
    if n_dense < 0 or not _fits(data.shape, expected, n_batch):
        raise ValueError(
            f"{name}: Invalid data.shape={tuple(data.shape)} for nse={nse}, "
            f"n_batch={n_batch}, n_dense={n_dense} and shape={tuple(shape)}; data must "
            "have shape [*batch, nse, *dense]"
        )
    if not _fits(indices.shape, (*shape[:n_batch], nse, n_sparse), n_batch):
        raise ValueError(
            f"{name}: Invalid indices.shape={tuple(indices.shape)} for "
            f"shape={tuple(shape)}; indices must have shape [*batch, nse, n_sparse]"
        )
    return layout


def bcsr_layout(
    name: str, data: Any, indices: Any, indptr: Any, shape: Sequence[int]
) -> Layout:
    """The layout of a BCSR's buffers, which are checked against its shape.

    Raises:
      ValueError: shapes do not agree.
      TypeError: positions are not integers.
    """
    data, indices, indptr = aval_of(data), aval_of(indices), aval_of(indptr)
    for what, aval in (("indices", indices), ("indptr", indptr)):
        if not dtypes.issubdtype(aval.dtype, np.integer):
            raise TypeError(
                f"{name}: {what} must be integers, got {aval.short()}; convert them "
                "with astype(int)"
            )
    n_batch = indices.ndim - 1
    n_dense = len(shape) - n_batch - 2
    if n_batch < 0 or n_dense < 0:
        raise ValueError(
            f"{name}: Invalid indices.shape={tuple(indices.shape)} for "
            f"shape={tuple(shape)}; indices must have shape [*batch, nse], and shape "
            "two sparse axes after the batch"
        )
    nse = indices.shape[-1]
    batch = tuple(shape[:n_batch])
    expected = {
        "data": (data, (*batch, nse, *shape[n_batch + 2 :])),
        "indices": (indices, (*batch, nse)),
        "indptr": (indptr, (*batch, shape[n_batch] + 1)),
    }
    for what, (aval, form) in expected.items():
        if not _fits(aval.shape, form, n_batch):
            raise ValueError(
                f"{name}: Invalid {what}.shape={tuple(aval.shape)} for nse={nse}, "
                f"n_batch={n_batch}, n_dense={n_dense} and shape={tuple(shape)}; it "
                f"must be {form}"
            )
    return Layout(n_batch, 2, n_dense, nse)


def _fits(actual: Any, expected: Any, n_batch: int) -> bool:
    """Whether shapes are equal, where batch axes may have size 1 instead."""
    return len(actual) == len(expected) and all(
        a == b or (i < n_batch and a == 1)
        for i, (a, b) in enumerate(zip(actual, expected, strict=True))
    )


def follow_buffers(
    shape: tuple[int, ...], n_batch: int, rank: int, *buffers: Any
) -> tuple[int, ...]:
    """The shape of an array whose buffers have got or lost batch axes.

    Under `vmap` and `scan` buffers lose their mapped axes and get them again, while
    what is known of the array stays as it was.

    Args:
      shape: as it was.
      n_batch: how many batch axes the buffers have.
      rank: how many axes of the array they stand for.
      buffers: arrays.
    """
    sizes = tuple(
        [
            max([b.shape[i] for b in buffers], key=lambda n: (n != 1, n))
            for i in range(n_batch)
        ]
    )
    while rank > len(shape):
        known = n_batch - (rank - len(shape))
        batch = [
            (*shape[:i], sizes[min(i, n_batch - 1)], *shape[i:known])
            for i in range(known + 1)
        ]
        shape = (*_closest(batch, sizes), *shape[known:])
    while rank < len(shape):
        known = n_batch + len(shape) - rank
        batch = [(*shape[:i], *shape[i + 1 : known]) for i in range(known)]
        shape = (*_closest(batch, sizes), *shape[known:])
    return shape


def _closest(candidates: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Which of several batch shapes agrees with the sizes of buffers, 1 being any."""
    for agrees in (lambda a, b: a == b, lambda a, b: b in (1, a)):
        for batch in candidates:
            if all(map(agrees, batch, sizes)):
                return batch
    return candidates[0]


def ranks_of(*buffers: Any) -> list[int] | None:
    """The numbers of axes of buffers; None if they are no arrays."""
    ranks = [getattr(b, "ndim", None) for b in buffers]
    return None if None in ranks else ranks  # type: ignore[return-value]


def map_batch(fun: Callable[..., Any], n_batch: int, *arrays: Any) -> Any:
    """Maps a function over the first `n_batch` axes of arrays, where 1 is repeated."""
    if not n_batch:
        return fun(*arrays)
    sizes = [aval_of(x).shape[0] for x in arrays]
    size = next((s for s in sizes if s != 1), 1)
    dims = [None if s == 1 and size != 1 else 0 for s in sizes]
    arrays = tuple(
        [
            shaping.squeeze(x, (0,)) if d is None else x
            for x, d in zip(arrays, dims, strict=True)
        ]
    )
    mapped = vmap.vmap(
        lambda *xs: map_batch(fun, n_batch - 1, *xs),
        in_axes=tuple(dims),
        axis_size=size,
    )
    return mapped(*arrays)


def fill_batch(x: Any, batch: Sequence[int]) -> Any:
    """`x` with its leading axes repeated to the sizes of the batch."""
    shape = aval_of(x).shape
    full = (*batch, *shape[len(batch) :])
    if tuple(shape) == full:
        return x
    return shaping.broadcast_in_dim(x, full, tuple(range(len(full))))
