"""Products by the kernels in C, beside the same products in XLA's operations."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import export
from olympus._src import native
from olympus._src.runtime import cpu_kernels
from olympus.experimental import sparse

pytestmark = pytest.mark.skipif(
    native.load_products() is None, reason="the part in C was not built"
)
multiply = olympus.jit(lambda a, x: a @ x)
N_ROWS, N_COLUMNS, NSE = 9, 7, 60


def positions(rng):
    """Index vectors in no order, some of them twice, and some outside."""
    row = rng.integers(-2, N_ROWS + 2, NSE)
    column = rng.integers(-2, N_COLUMNS + 2, NSE)
    return np.stack([row, column], 1).astype("int32")


def expected(data, indices, x, n_rows):
    """The product by a loop over the elements."""
    out = np.zeros((n_rows, *x.shape[1:]), x.dtype)
    for value, (i, j) in zip(data, indices, strict=True):
        if 0 <= i < n_rows and 0 <= j < len(x):
            out[i] += value * x[j]
    return out


def operand(rng, n, columns, dtype):
    shape = (n, columns) if columns else (n,)
    return rng.integers(-3, 4, shape).astype(dtype)


def calls(name, *args):
    return name in multiply.lower(*args).as_text()


@pytest.mark.parametrize("columns", [0, 1, 5, 40])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("flips", [False, True])
@pytest.mark.parametrize("kind", ["BCOO", "COO"])
def test_elements_in_any_order(kind, dtype, columns, flips):
    rng = np.random.default_rng(columns)
    with olympus.enable_x64(dtype == "float64"):
        data, indices = rng.integers(-3, 4, NSE).astype(dtype), positions(rng)
        if kind == "BCOO":
            matrix = sparse.BCOO((data, indices), shape=(N_ROWS, N_COLUMNS))
        else:
            matrix = sparse.COO((data, *indices.T), shape=(N_ROWS, N_COLUMNS))
        if flips:
            matrix, indices = matrix.T, indices[:, ::-1]
        x = operand(rng, matrix.shape[1], columns, dtype)
        assert calls("olympus_coo_product", matrix, x)
        got = multiply(matrix, x)
        assert got.dtype == dtype
        wanted = expected(data, indices, x, matrix.shape[0])
        np.testing.assert_array_equal(np.asarray(got), wanted)


STARTS = {
    "rows in order": [0, 0, 3, 20, 20, 21, 40, 57, 57, 58],
    "elements before and behind": [4, 5, 5, 5, 9, 12, 30, 31, 31, 31],
    "rows that overlap": [0, 10, 4, 20, 20, 21, 15, 57, 57, 60],
    "rows behind the elements": [0, 10, 12, 20, 59, 70, 71, 90, 91, 91],
    "negative": [-3, -1, 2, 2, 5, 60, 60, 60, 60, 60],
}


@pytest.mark.parametrize("starts", STARTS)
@pytest.mark.parametrize("columns", [0, 12])
@pytest.mark.parametrize("kind", [sparse.CSR, sparse.BCSR])
def test_rows_of_elements(kind, columns, starts):
    rng = np.random.default_rng(columns)
    data = rng.integers(-3, 4, NSE).astype("float32")
    buffers = (data, positions(rng)[:, 1], np.array(STARTS[starts], "int32"))
    matrix = kind(tuple(map(jnp.asarray, buffers)), shape=(N_ROWS, N_COLUMNS))
    x = operand(rng, N_COLUMNS, columns, "float32")
    assert calls("olympus_csr_product", matrix, x)
    # Where the dtype is wider, the same is written in other operations.
    general = kind(
        (matrix.data.astype("complex64"), matrix.indices, matrix.indptr),
        shape=matrix.shape,
    )
    wanted = np.asarray(multiply(general, x.astype("complex64"))).real
    np.testing.assert_array_equal(np.asarray(multiply(matrix, x)), wanted)


def test_a_product_is_the_same_with_any_number_of_threads():
    rng = np.random.default_rng(0)
    n, nse = 300, 20_000
    data = rng.normal(size=nse).astype("float32")
    indices = rng.integers(0, n, (nse, 2)).astype("int32")
    x = rng.normal(size=(n, 32)).astype("float32")  # enough for several threads
    whole = multiply(sparse.BCOO((data, indices), shape=(n, n)), x)
    order = np.argsort(indices[:, 0], kind="stable")
    rows, columns = indices[order].T
    starts = np.searchsorted(rows, np.arange(n + 1)).astype("int32")
    by_rows = multiply(sparse.CSR((data[order], columns, starts), shape=(n, n)), x)
    np.testing.assert_array_equal(np.asarray(whole), np.asarray(by_rows))
    single = multiply(sparse.BCOO((data, indices), shape=(n, n)), x[:, :1])
    np.testing.assert_allclose(whole[:, :1], single, rtol=1e-5, atol=1e-4)


def test_padding_is_not_read():
    matrix = sparse.BCOO(
        (jnp.array([2.0, jnp.inf]), jnp.array([[0, 1], [2, 2]])), shape=(2, 2)
    )
    np.testing.assert_array_equal(multiply(matrix, jnp.array([jnp.nan, 3.0])), [6, 0])


def test_other_processes_are_given_other_operations():
    matrix, x = sparse.eye(4), jnp.arange(4.0)
    exported = export.export(multiply)(matrix, x)
    assert "olympus_" not in exported.mlir_module()
    np.testing.assert_array_equal(exported.call(matrix, x), x)


def test_a_program_of_another_process_says_what_it_needs(monkeypatch):
    monkeypatch.setattr(native, "load_products", lambda: None)
    with pytest.raises(RuntimeError, match="kernel of olympus's part in C, which was"):
        cpu_kernels.prepare_for(b"custom_call_target=olympus_csr_product")


WITHOUT = """
import olympus, olympus.numpy as jnp
from olympus.experimental import sparse
multiply = olympus.jit(lambda a, x: a @ x)
for matrix in (sparse.eye(4), sparse.eye(4, sparse_format="csr")):
    for x in (jnp.arange(4.0), jnp.ones((4, 9))):
        assert "olympus_" not in multiply.lower(matrix, x).as_text()
        assert (multiply(matrix, x) == x).all()
print("done")
"""


def test_products_without_the_part_in_c():
    environment = os.environ | {"OLYMPUS_NATIVE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.strip() == "done", done.stderr


@pytest.mark.eight_devices
def test_divided_programs_are_divided():
    mesh = olympus.sharding.Mesh(np.array(olympus.devices()), ("i",))
    place = olympus.NamedSharding(mesh, olympus.P("i"))
    rng = np.random.default_rng(0)
    data = rng.normal(size=64).astype("float32")
    indices = rng.integers(0, 16, (64, 2)).astype("int32")
    x = rng.normal(size=16).astype("float32")
    divided = [olympus.device_put(b, place) for b in (data, indices)]
    got = multiply(sparse.BCOO(tuple(divided), shape=(16, 16)), x)
    np.testing.assert_allclose(got, expected(data, indices, x, 16), rtol=1e-5)
    text = multiply.lower(sparse.BCOO(tuple(divided), shape=(16, 16)), x).as_text()
    assert "olympus_" not in text
