"""Dense arrays and sparse arrays that stand for them, some of them untidy."""

from __future__ import annotations

import numpy as np

import olympus.numpy as jnp
from olympus.experimental import sparse


def dense_array(rng, shape, dtype="float32"):
    """Small integers, half of them zero, in a dtype."""
    values = rng.integers(-3, 4, shape) * (rng.random(shape) < 0.5)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.integers(-2, 3, shape)
    return np.asarray(values).astype(dtype)


def untidy(array, rng):
    """The same array with duplicates, padding with numbers in it, and no order."""
    data, indices = np.asarray(array.data), np.asarray(array.indices)
    n, k = array.n_batch, array.n_sparse
    sizes = np.array(array.shape[n : n + k])
    outside = np.broadcast_to(sizes + 1, (*data.shape[:n], 1, k))
    below = np.broadcast_to(sizes * 0 - 1, outside.shape)
    junk = np.full((*data.shape[:n], 2, *data.shape[n + 1 :]), 7, data.dtype)
    data = np.concatenate([data, data, -data, junk], n)
    indices = np.concatenate([indices, indices, indices, outside, below], n)
    order = rng.permutation(data.shape[n])
    buffers = np.take(data, order, n), np.take(indices, order, n).astype(np.int32)
    return sparse.BCOO(tuple(map(jnp.asarray, buffers)), shape=array.shape)


def bcoo(dense, rng=None, **layout):
    """A BCOO of a dense array; an untidy one if there is a generator."""
    array = sparse.BCOO.fromdense(jnp.asarray(dense), **layout)
    return array if rng is None or not array.n_sparse else untidy(array, rng)


def as_dense(x):
    """What an array of any kind holds, in NumPy."""
    return np.asarray(x.todense() if isinstance(x, sparse.JAXSparse) else x)
