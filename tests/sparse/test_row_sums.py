"""Products of CSR matrices with vectors, with rows of all lengths."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus.experimental import sparse

multiply = olympus.jit(lambda a, v: a @ v)


def rows_of_lengths(lengths, n_columns, dtype, rng, index_dtype="int32"):
    """A matrix with so many elements per row, and padding; and its buffers."""
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(index_dtype)
    nse = int(indptr[-1]) + 3
    indices = rng.integers(0, n_columns, nse).astype(index_dtype)
    data = rng.integers(-3, 4, nse).astype(dtype)
    if np.dtype(dtype).kind == "c":
        data = data + 1j * rng.integers(-3, 4, nse).astype(dtype)
    return data, indices, indptr


def product(data, indices, indptr, v):
    """The product by a loop over all elements; columns outside are padding."""
    out = np.zeros(len(indptr) - 1, v.dtype)
    for i in range(len(out)):
        for k in range(indptr[i], indptr[i + 1]):
            if 0 <= indices[k] < len(v):
                out[i] += data[k] * v[indices[k]]
    return out


@pytest.mark.parametrize("kind", [sparse.CSR, sparse.BCSR])
@pytest.mark.parametrize(
    "dtype", ["float32", "bfloat16", "complex64", "int32", "uint8", "int16"]
)
def test_rows_of_all_lengths(kind, dtype):
    rng = np.random.default_rng(3)
    lengths = [0, 1, 15, 16, 17, 0, 40, 2, 0]
    data, indices, indptr = rows_of_lengths(lengths, 7, "int32", rng)
    data = np.abs(data) if dtype == "uint8" else data
    data = np.asarray(jnp.asarray(data, dtype))
    v = np.asarray(jnp.asarray(rng.integers(0, 3, 7), dtype))
    matrix = kind(tuple(map(jnp.asarray, (data, indices, indptr))), shape=(9, 7))
    wide = product(
        data.astype("float32" if dtype == "bfloat16" else dtype),
        indices,
        indptr,
        v.astype("float32" if dtype == "bfloat16" else dtype),
    )
    got = multiply(matrix, jnp.asarray(v))
    assert got.dtype == v.dtype
    np.testing.assert_array_equal(np.asarray(got), wide.astype(v.dtype))


def test_columns_outside_and_elements_behind_count_for_nothing():
    rng = np.random.default_rng(4)
    data, indices, indptr = rows_of_lengths([20, 5, 0, 3], 6, "float32", rng)
    indices[[2, 7, 21]] = [-1, 6, 100]
    data[[2, 7, 21]] = np.inf
    data[-3:] = np.nan
    v = rng.normal(size=6).astype("float32")
    matrix = sparse.CSR(tuple(map(jnp.asarray, (data, indices, indptr))), shape=(4, 6))
    np.testing.assert_allclose(
        multiply(matrix, v), product(data, indices, indptr, v), rtol=1e-5
    )


@pytest.mark.parametrize(
    "ends", [[0, 9, 4, 12, 20], [3, 2, 5, 30, 19], [-2, 5, 5, 9, 18]]
)
def test_rows_out_of_order_are_as_in_the_dense_form(ends):
    rng = np.random.default_rng(5)
    data, indices, _ = rows_of_lengths([17], 6, "float32", rng)
    v = rng.normal(size=6).astype("float32")
    matrix = sparse.CSR(
        tuple(map(jnp.asarray, (data, indices, np.array(ends, "int32")))), shape=(4, 6)
    )
    np.testing.assert_allclose(
        multiply(matrix, v), olympus.jit(lambda a: a.todense())(matrix) @ v, rtol=1e-5
    )


def test_transformations():
    rng = np.random.default_rng(6)
    data, indices, indptr = rows_of_lengths([4, 0, 18], 5, "float32", rng)
    v = rng.normal(size=(2, 5)).astype("float32")

    def act(data, v):
        return (
            sparse.CSR((data, jnp.asarray(indices), jnp.asarray(indptr)), shape=(3, 5))
            @ v
        )

    dense = np.array(
        [product(data, indices, indptr, e) for e in np.eye(5, dtype="float32")]
    )
    mapped = olympus.jit(olympus.vmap(act, (None, 0)))(data, v)
    np.testing.assert_allclose(mapped, v @ dense, rtol=1e-5)
    slope = olympus.jit(olympus.grad(lambda v: (act(data, v) ** 2).sum()))(v[0])
    np.testing.assert_allclose(slope, 2 * dense @ (v[0] @ dense), rtol=1e-4)


def test_indices_of_64_bits():
    rng = np.random.default_rng(7)
    with olympus.enable_x64(True):
        buffers = rows_of_lengths([30, 1], 4, "float64", rng, "int64")
        v = rng.normal(size=4)
        matrix = sparse.CSR(tuple(map(jnp.asarray, buffers)), shape=(2, 4))
        np.testing.assert_allclose(multiply(matrix, v), product(*buffers, v))
