"""The formats: construction, conversion, products, printing, refusals."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse

import olympus
import olympus.numpy as jnp
from olympus import tree_util
from olympus.experimental import sparse
from tests.sparse.matrices import as_dense, bcoo, dense_array

MATRIX = np.array([[0.0, 2, 0, 0], [0, 0, 0, 0], [1, 0, 4, 3]], np.float32)
FORMATS = {
    "bcoo": sparse.BCOO,
    "bcsr": sparse.BCSR,
    "coo": sparse.COO,
    "csc": sparse.CSC,
    "csr": sparse.CSR,
}


@pytest.mark.parametrize(
    "kind",
    [
        sparse.BCOO,
        *[
            pytest.param(kind, marks=pytest.mark.slow)
            for kind in FORMATS.values()
            if kind is not sparse.BCOO
        ],
    ],
)
def test_products(kind):
    x = kind.fromdense(MATRIX)
    assert isinstance(x, sparse.JAXSparse)
    assert (x.shape, x.nse, x.dtype, x.ndim, x.size) == ((3, 4), 4, np.float32, 2, 12)
    np.testing.assert_array_equal(as_dense(x), MATRIX)
    for width in (None, 1, 9):
        v = np.arange(4, dtype=np.float32) + 1
        v = v if width is None else np.outer(v, np.arange(width)).astype(np.float32)
        np.testing.assert_allclose(x @ v, MATRIX @ v)
        np.testing.assert_allclose(olympus.jit(lambda a, b: a @ b)(x, v), MATRIX @ v)


@pytest.mark.parametrize("kind", FORMATS.values())
def test_trees(kind):
    x = kind.fromdense(MATRIX)
    leaves, structure = tree_util.tree_flatten(x)
    again = structure.unflatten(leaves)
    np.testing.assert_array_equal(as_dense(again), MATRIX)
    twice = tree_util.tree_map(lambda a: a * 1, x)
    assert repr(twice) == repr(x) == f"{kind.__name__}(float32[3, 4], nse=4)"
    seen = []
    olympus.jit(lambda a: seen.append(repr(a)))(x)
    assert seen == [f"DynamicOlympusprTracer[{x!r}]"]
    assert repr(structure.unflatten([None] * len(leaves))).endswith("(<invalid>)")


@pytest.mark.parametrize("kind", FORMATS.values())
def test_shapes_without_values(kind):
    x = kind.fromdense(MATRIX)
    kinds = olympus.eval_shape(lambda a: a, x)
    assert type(kinds) is kind
    assert repr(kinds) == repr(x)


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (lambda: bcoo(MATRIX, n_batch=1), "BCOO(float32[3, 4], nse=3, n_batch=1)"),
        (lambda: bcoo(MATRIX, n_dense=1), "BCOO(float32[3, 4], nse=2, n_dense=1)"),
        (lambda: sparse.empty((2, 3), nse=1), "BCOO(float32[2, 3], nse=1)"),
    ],
)
def test_printing(array, text):
    assert repr(array()) == text


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("k", [-4, -1, 0, 2, 5])
def test_unit_matrices(name, k):
    if name == "bcsr":
        with pytest.raises(NotImplementedError, match=r"use BCSR.from_bcoo"):
            sparse.eye(3, sparse_format=name)
        return
    x = sparse.eye(3, 4, k=k, sparse_format=name, dtype="int32")
    np.testing.assert_array_equal(as_dense(x), np.eye(3, 4, k, dtype=np.int32))


@pytest.mark.parametrize("n_batch", range(3))
@pytest.mark.parametrize("n_dense", range(3))
def test_unit_matrices_in_layouts(n_batch, n_dense):
    if n_batch + n_dense > 2:
        with pytest.raises(ValueError, match="a matrix has two axes"):
            sparse.eye(3, n_batch=n_batch, n_dense=n_dense)
        return
    x = sparse.eye(3, 4, k=1, n_batch=n_batch, n_dense=n_dense)
    assert (x.n_batch, x.n_dense) == (n_batch, n_dense)
    np.testing.assert_array_equal(as_dense(x), np.eye(3, 4, 1))


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_matrices_of_zeros(name):
    x = sparse.empty((2, 3), sparse_format=name)
    assert type(x) is FORMATS[name]
    np.testing.assert_array_equal(as_dense(x), np.zeros((2, 3)))


@pytest.mark.parametrize("kind", [sparse.BCOO, sparse.BCSR])
def test_matrices_of_scipy(kind):
    theirs = scipy.sparse.csr_matrix(MATRIX)
    np.testing.assert_array_equal(as_dense(kind.from_scipy_sparse(theirs)), MATRIX)
    with pytest.raises(NotImplementedError, match="n_batch and n_dense must be 0"):
        kind.from_scipy_sparse(theirs, n_batch=1)


@pytest.mark.slow
def test_transposes():
    for kind in (sparse.COO, sparse.CSR, sparse.CSC, sparse.BCOO):
        np.testing.assert_array_equal(as_dense(kind.fromdense(MATRIX).T), MATRIX.T)
    flipped = sparse.CSR.fromdense(MATRIX).T
    assert type(flipped) is sparse.CSC
    np.testing.assert_allclose(
        flipped @ np.ones((3, 9), "f"), MATRIX.T @ np.ones((3, 9))
    )


@pytest.mark.slow
def test_rows_of_batches():
    rng = np.random.default_rng(0)
    dense = dense_array(rng, (2, 3, 4, 2))
    x = sparse.BCSR.fromdense(dense, n_batch=1, n_dense=1)
    assert repr(x).endswith("n_batch=1, n_dense=1)")
    np.testing.assert_array_equal(as_dense(x), dense)
    np.testing.assert_array_equal(as_dense(x.to_bcoo()), dense)
    np.testing.assert_array_equal(as_dense(x.sum_duplicates()), dense)
    np.testing.assert_array_equal(
        as_dense(sparse.BCSR.from_bcoo(bcoo(dense, rng, n_batch=1, n_dense=1))), dense
    )


def test_rows_with_gaps():
    """Elements before the first row and behind the last, and columns outside."""
    indices, indptr = jnp.array([0, 1, 9, 2, 0]), jnp.array([1, 2, 4])
    data = jnp.array([7.0, 1, 7, 2, 7])
    want = np.array([[0, 1, 0], [0, 0, 2]])
    for kind in (sparse.CSR, sparse.BCSR):
        x = kind((data, indices, indptr), shape=(2, 3))
        np.testing.assert_array_equal(as_dense(x), want)
        for width in (1, 8):
            right = jnp.full((3, width), 1.0).at[2].set(np.inf)
            infinite = np.where([[0], [1]], np.inf, 1.0) * np.ones((2, width))
            np.testing.assert_array_equal(x @ right, infinite)


def test_elementwise_sums_and_products_of_booleans():
    rng = np.random.default_rng(4)
    a, b = (rng.random((2, 4, 5)) < 0.5).astype(bool)
    x, y = bcoo(a), bcoo(b)
    row = rng.random(5) < 0.5
    for out, expected in [
        (x + y, a | b),
        (x + x, a),
        (x * y, a & b),
        (x * x, a),
        (x * row, a & row),
        (sparse.sparsify(jnp.logical_and)(x, y), a & b),
        (sparse.sparsify(jnp.logical_or)(x, y), a | b),
        (sparse.sparsify(jnp.logical_or)(x, row), a | row),
    ]:
        assert out.dtype == bool
        np.testing.assert_array_equal(as_dense(out), expected)
    integers = bcoo(a.astype(np.int32))
    with pytest.raises(NotImplementedError, match="sparse rule for and"):
        sparse.sparsify(jnp.bitwise_and)(integers, integers)


@pytest.mark.slow
def test_products_of_booleans():
    indices = np.array([[0, 1], [0, 1], [2, 2], [1, 0], [3, 3]])  # the last is padding
    data = np.array([True, True, False, True, True])
    a = sparse.BCOO((data, indices), shape=(3, 3))
    dense = np.array(a.todense())
    for f in (lambda x, y: x @ y, olympus.jit(lambda x, y: x @ y)):
        out = f(a, a)
        assert isinstance(out, sparse.BCOO)
        assert out.dtype == bool
        np.testing.assert_array_equal(out.todense(), dense @ dense)
        np.testing.assert_array_equal(f(a, dense), dense @ dense)
        np.testing.assert_array_equal(f(dense, dense), dense @ dense)


def test_rows_of_nothing():
    a = sparse.BCOO.fromdense(np.zeros((0, 3), np.float32))
    for f in (lambda a, i: a[i], olympus.jit(lambda a, i: a[i])):
        out = f(a, np.array([], np.int32))
        assert isinstance(out, sparse.BCOO)
        assert (out.shape, out.nse) == ((0, 3), 0)


def test_vmap_maps_batch_axes():
    rng = np.random.default_rng(0)
    dense = dense_array(rng, (2, 3, 4))
    v = np.ones(4, np.float32)
    for x in (bcoo(dense, n_batch=1), sparse.BCSR.fromdense(dense, n_batch=1)):
        out = olympus.vmap(lambda a: a @ v)(x)
        np.testing.assert_allclose(out, dense @ v)
        out = olympus.vmap(lambda a: a)(x)
        assert (out.shape, out.n_batch) == ((2, 3, 4), 1)
    both = bcoo(dense, n_batch=2)
    out = olympus.vmap(lambda a: 2 * a, in_axes=1, out_axes=1)(both)
    np.testing.assert_array_equal(as_dense(out), 2 * dense)
    with pytest.raises(ValueError, match="vmap maps batch axes only"):
        olympus.vmap(lambda a: a.sum())(bcoo(dense))


@pytest.mark.slow
def make_shared(kind, data_batch, index_batch):
    """An array of five matrices whose buffers have batches of one or of five."""
    rng = np.random.default_rng(1)
    data = rng.normal(size=(data_batch, 3)).astype(np.float32)
    if kind is sparse.BCOO:
        buffers = [data, rng.integers(0, 3, size=(index_batch, 3, 2))]
    else:
        columns = rng.integers(0, 4, size=(index_batch, 3))
        buffers = [data, columns, np.tile([0, 1, 1, 3], (index_batch, 1))]
    return kind(tuple(map(jnp.asarray, buffers)), shape=(5, 3, 4))


@pytest.mark.parametrize("kind", [sparse.BCOO, sparse.BCSR])
@pytest.mark.parametrize("sizes", [(1, 1), (5, 1), (1, 5), (5, 5)])
def test_vmap_repeats_buffers_that_all_elements_share(kind, sizes):
    x = make_shared(kind, *sizes)
    dense = as_dense(x)
    assert dense.shape == (5, 3, 4)
    vs = np.random.default_rng(2).normal(size=(5, 4)).astype(np.float32)
    np.testing.assert_array_equal(olympus.vmap(lambda a: a.todense())(x), dense)
    np.testing.assert_array_equal(as_dense(olympus.vmap(lambda a: a)(x)), dense)
    product = olympus.jit(olympus.vmap(lambda a, v: a @ v))
    expected = np.einsum("bij,bj->bi", dense, vs)
    np.testing.assert_allclose(product(x, vs), expected, rtol=1e-5, atol=1e-6)
    size = olympus.vmap(lambda a: 1.0, axis_size=5)(x).shape
    assert size == (5,)

    def loss(data):
        mapped = kind((data, *x.tree_flatten()[0][1:]), shape=x.shape)
        return olympus.vmap(lambda a: a.todense().sum())(mapped).sum()

    slope = olympus.grad(loss)(x.data)
    np.testing.assert_array_equal(slope, np.full((sizes[0], 3), 5 / sizes[0]))


def test_nested_vmap_repeats_shared_buffers():
    x = sparse.BCOO(
        (jnp.ones((1, 5, 2)), jnp.array([[[[0, 1], [2, 3]]]])), shape=(6, 5, 3, 4)
    )
    v = np.arange(4.0, dtype=np.float32)
    product = olympus.vmap(olympus.vmap(lambda a: a @ v))
    np.testing.assert_array_equal(product(x), as_dense(x) @ v)
    sums = olympus.vmap(lambda a: a.sum(0), in_axes=1)(x)
    np.testing.assert_array_equal(as_dense(sums), as_dense(x).sum(0))


@pytest.mark.parametrize("axis", [1, -1])
def test_vmap_refuses_axes_that_are_no_batch_axes(axis):
    x = make_shared(sparse.BCOO, 5, 5)
    with pytest.raises(ValueError, match=r"in_axes of a BCOO must be below n_batch=1"):
        olympus.vmap(lambda a: a.todense(), in_axes=axis)(x)
    with pytest.raises(ValueError, match=r"out_axes for a BCOO must be at most n_bat"):
        olympus.vmap(lambda a: a, out_axes=axis)(x)


def test_vmap_of_sparse_arrays_refuses_results_that_are_no_arrays():
    with pytest.raises(TypeError, match=r"<lambda> must return arrays and .* got 'x'"):
        olympus.vmap(lambda a: "x")(make_shared(sparse.BCOO, 5, 5))


def test_results_of_mapped_sparse_arrays_are_added():
    x = make_shared(sparse.BCOO, 5, 1)
    out = olympus.vmap(lambda a: a.todense(), out_axes=None, sum_match=True)(x)
    np.testing.assert_allclose(out, as_dense(x).sum(0), rtol=1e-6)


def test_vmap_of_products_is_a_loop():
    rng = np.random.default_rng(0)
    dense, vs = dense_array(rng, (3, 4)), dense_array(rng, (5, 4))
    for kind in FORMATS.values():
        x = kind.fromdense(dense)
        np.testing.assert_allclose(olympus.vmap(lambda v: x @ v)(vs), vs @ dense.T)  # noqa: B023


@pytest.mark.slow
def test_random_arrays():
    key = olympus.random.key(0)
    x = sparse.random_bcoo(key, (4, 5), nse=0.5)
    assert x.nse == 10
    assert len({tuple(i) for i in np.asarray(x.indices).tolist()}) == 10
    x = sparse.random_bcoo(key, (2, 4, 5), nse=3, n_batch=1, sorted_indices=True)
    assert (x.nse, x.n_batch, x.indices_sorted) == (3, 1, True)
    x = sparse.random_bcoo(
        key, (4, 5), nse=3, n_dense=1, generator=olympus.random.normal, dtype="bfloat16"
    )
    assert x.data.shape == (3, 5)
    assert x.dtype == jnp.bfloat16


# -- refusals --------------------------------------------------------------------------


def _bcoo(data, indices, shape):
    return sparse.BCOO((jnp.asarray(data), jnp.asarray(indices)), shape=shape)


EYE = sparse.eye(3)
REFUSED = [
    (lambda: _bcoo([1.0], [[0], [1]], (3,)), ValueError, "Invalid data.shape"),
    (lambda: _bcoo([1.0], [[0.5]], (3,)), TypeError, "indices must be integers"),
    (lambda: _bcoo([1.0], [0], (3,)), ValueError, r"shape \[\*batch, nse, n_sparse\]"),
    (lambda: sparse.eye(3, sparse_format="x"), ValueError, "must be one of"),
    (lambda: sparse.bcoo_todense(MATRIX), TypeError, "must be a BCOO, got ndarray"),
    (lambda: sparse.bcsr_todense(EYE), TypeError, "must be a BCSR, got BCOO"),
    (lambda: sparse.csr_matvec(EYE, MATRIX), TypeError, "must be a CSR, got BCOO"),
    (
        lambda: EYE.update_layout(n_batch=1),
        sparse.SparseEfficiencyError,
        "n_batch from",
    ),
    (lambda: EYE.update_layout(n_batch=3), ValueError, "at most 2 together"),
    (lambda: EYE.update_layout(on_inefficient="x"), ValueError, "must be one of"),
    (lambda: EYE == EYE, NotImplementedError, "would result in dense output"),
    (lambda: sparse.sparsify(jnp.cos)(EYE), NotImplementedError, "sparse rule for cos"),
    (lambda: EYE.transpose((0, 0)), ValueError, "each of the 2 axes once"),
    (
        lambda: sparse.eye(3, n_batch=1).T,
        NotImplementedError,
        "cannot permute batch axes",
    ),
    (
        lambda: sparse.eye(3, n_dense=1).T,
        NotImplementedError,
        "cannot permute dense axes",
    ),
    (lambda: EYE.reshape(4, 2), TypeError, "cannot reshape"),
    (lambda: EYE.sum_duplicates(nse=1.5), TypeError, "nse must be an integer"),
    (lambda: EYE.sum_duplicates(nse=-1), ValueError, "non-negative"),
    (
        lambda: olympus.jit(lambda x: x.sum_duplicates())(EYE),
        ValueError,
        "nse must be specified",
    ),
    (
        lambda: olympus.jit(sparse.BCOO.fromdense)(MATRIX),
        ValueError,
        "nse must be specified",
    ),
    (
        lambda: -sparse.CSR.fromdense(MATRIX),
        NotImplementedError,
        "convert it to a BCOO",
    ),
    (
        lambda: sparse.CSR.fromdense(MATRIX) @ EYE,
        NotImplementedError,
        "between two sparse objects",
    ),
    (
        lambda: sparse.CSR.fromdense(MATRIX) @ np.ones(3, "f"),
        ValueError,
        r"must have shape \[4\]",
    ),
    (lambda: sparse.BCSR.fromdense(MATRIX).T, NotImplementedError, r"to_bcoo\(\)"),
    (lambda: sparse.bcoo_concatenate([], dimension=0), ValueError, "must not be empty"),
    (
        lambda: sparse.bcoo_concatenate([EYE, sparse.eye(3, n_batch=1)], dimension=0),
        ValueError,
        "matching nbatch and ndense",
    ),
    (lambda: sparse.bcoo_squeeze(EYE, dimensions=(0,)), ValueError, "must have size 1"),
    (
        lambda: sparse.bcoo_slice(EYE, start_indices=(0, 2), limit_indices=(3, 1)),
        ValueError,
        "start <= limit",
    ),
    (
        lambda: sparse.random_bcoo(olympus.random.key(0), (2, 2), nse=5),
        ValueError,
        "pass unique_indices=False",
    ),
    (
        lambda: sparse.COO((MATRIX[0],) * 3, shape=(2,)),
        ValueError,
        "must have two axes",
    ),
    (lambda: EYE @ np.ones((4, 2), "f"), (TypeError, ValueError), "matmul"),
    (lambda: hash(EYE), TypeError, "unhashable"),
    (lambda: sparse.todense("x"), TypeError, "must be a sparse array or an array"),
]


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED)
def test_refusals(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_warnings_about_inefficiency():
    with pytest.warns(sparse.SparseEfficiencyWarning, match="increasing n_dense"):
        sparse.eye(3).update_layout(n_dense=1, on_inefficient="warn")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sparse.eye(3).update_layout(n_dense=1, on_inefficient=None)
    assert issubclass(sparse.CuSparseEfficiencyWarning, sparse.SparseEfficiencyWarning)


def test_sparse_arrays_are_loaded_late():
    text = "import olympus, sys; print('olympus._src.sparse.bcoo' in sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "False"
