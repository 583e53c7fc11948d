"""Random sparse arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, DTypeLike, Shape
from olympus._src.lax import elementwise
from olympus._src.lax import sizes as lax_sizes
from olympus._src.numpy import index_routines, join_split
from olympus._src.random import choice, keys, uniform
from olympus._src.sparse import layouts
from olympus._src.sparse.bcoo import BCOO


def random_bcoo(
    key: Array,
    shape: Shape,
    *,
    dtype: DTypeLike = np.float64,
    indices_dtype: DTypeLike | None = None,
    nse: float = 0.2,
    n_batch: int = 0,
    n_dense: int = 0,
    unique_indices: bool = True,
    sorted_indices: bool = False,
    generator: Callable[..., Any] = uniform.uniform,
    **kwds: Any,
) -> BCOO:
    """A BCOO with random elements at random positions.

    Args:
      key: a random key.
      shape: of the array.
      dtype: of the elements.
      indices_dtype: of the positions; default int32.
      nse: how many elements to store, or, below 1, which part of all.
      n_batch, n_dense: the numbers of batch and dense axes.
      unique_indices: draw each position once at most.
      sorted_indices: sort the positions.
      generator: draws the elements: `generator(key, shape=..., dtype=..., **kwds)`.
      kwds: more arguments of the generator.

    Raises:
      ValueError: there are too few axes, or `nse` is negative or too large.

    Example:
      >>> import olympus
      >>> from olympus.experimental import sparse
      >>> sparse.random_bcoo(olympus.random.key(0), (4, 5), nse=3)
      BCOO(float32[4, 5], nse=3)
    """
    name = "random_bcoo"
    shape = lax_sizes.canonicalize_shape(shape)
    n_batch, n_dense = operator.index(n_batch), operator.index(n_dense)
    n_sparse = len(shape) - n_batch - n_dense
    if min(n_sparse, n_batch, n_dense) < 0:
        raise ValueError(
            f"{name}: n_batch and n_dense must be non-negative and at most "
            f"{len(shape)} together, got n_batch={n_batch} and n_dense={n_dense}"
        )
    batch, sizes = shape[:n_batch], shape[n_batch : n_batch + n_sparse]
    total = math.prod(sizes)
    if not nse >= 0:
        raise ValueError(f"{name}: nse must be non-negative, got {nse}; use 0 or more")
    count = math.ceil(nse * total) if 0 < nse < 1 else int(nse)
    if unique_indices and count > total:
        raise ValueError(
            f"{name}: nse must be at most the number of positions, {total}, where "
            f"these are unique, got {nse}; pass unique_indices=False"
        )
    index_dtype = dtypes.canonicalize_dtype(indices_dtype or np.int32)
    data_key, index_key = _split(key)
    data = generator(
        data_key,
        shape=(*batch, count, *shape[n_batch + n_sparse :]),
        dtype=dtypes.canonicalize_dtype(dtype),
        **kwds,
    )
    draw = _position_drawer(sizes, count, unique_indices, index_dtype)
    if n_batch:
        several = keys.split(index_key, batch)
        for _ in range(n_batch):
            draw = layouts.vmap.vmap(draw)
        indices = draw(several)
    else:
        indices = draw(index_key)
    mat = BCOO((data, indices), shape=shape)
    return mat.sort_indices() if sorted_indices else mat


def _split(key: Any) -> tuple[Any, Any]:
    pair = keys.split(key)
    return pair[0], pair[1]


def _position_drawer(
    sizes: Any, count: int, unique: bool, dtype: Any
) -> Callable[[Any], Any]:
    """A function from a key to `count` positions in a shape."""

    def draw(key: Any) -> Any:
        if not sizes:
            return np.zeros((count, 0), dtype)
        total = math.prod(sizes)
        flat = choice.choice(key, total, shape=(count,), replace=not unique)
        columns = index_routines.unravel_index(flat, sizes)
        stacked = join_split.stack(columns, 1)
        return elementwise.convert_element_type(stacked, dtype)

    return draw
