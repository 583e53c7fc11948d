"""What `sparsify` takes: all formats, and operations that numpy's functions write."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
import olympus.scipy as jsp
from olympus.experimental import sparse

DENSE = np.array([[0, 2, 0, 1], [3, 0, 0, 4], [0, 0, 5, 0]], "float32")
V = np.array([1, -2, 3, 4], "float32")
FORMATS = ("COO", "CSR", "CSC", "BCOO", "BCSR")


def dense(x):
    return np.asarray(x.todense() if hasattr(x, "todense") else x)


def check(f, matrix, *args):
    """The sparsified function gives the function of the dense forms."""
    wanted = f(jnp.asarray(DENSE), *args)
    for g in (sparse.sparsify(f), olympus.jit(sparse.sparsify(f))):
        np.testing.assert_allclose(dense(g(matrix, *args)), wanted, rtol=1e-6)


@pytest.mark.parametrize("kind", FORMATS)
def test_products_of_all_formats(kind):
    check(lambda m, v: 2 * (m @ v), getattr(sparse, kind).fromdense(DENSE), V)


@pytest.mark.parametrize("kind", ["COO", "CSR", "CSC", "BCOO"])
def test_transposes_of_all_formats(kind):
    check(lambda m: m.T, getattr(sparse, kind).fromdense(DENSE))


BCOO_FUNCTIONS = {
    "columns": lambda m: m[:, jnp.array([2, 0])],
    "a table of columns": lambda m: m[:, jnp.array([[2, 0], [3, 3]])],
    "columns of some rows": lambda m: m[1:, jnp.array([3])],
    "rows, one by one": lambda m: sum(i * row for i, row in enumerate(m)),
    "columns, one by one": lambda m: jnp.stack(list(m.T)),
    "kron": lambda m: jnp.kron(m, m),
}


@pytest.mark.parametrize("name", BCOO_FUNCTIONS)
@pytest.mark.parametrize("n_batch", [0, 1])
def test_functions_of_bcoo(name, n_batch):
    if n_batch and name != "rows, one by one":
        pytest.skip("axes of different kinds are exchanged")
    matrix = sparse.BCOO.fromdense(DENSE, n_batch=n_batch)
    check(BCOO_FUNCTIONS[name], matrix)


@pytest.mark.parametrize(
    "f", [lambda m: jnp.stack([m, m]), lambda m: m**3], ids=["stack", "power"]
)
def test_functions_of_bcsr(f):
    check(f, sparse.BCSR.fromdense(DENSE))


def test_columns_in_brackets():
    matrix = sparse.BCOO.fromdense(DENSE)
    got = matrix[:, jnp.array([3, 1])]
    np.testing.assert_array_equal(got.todense(), DENSE[:, [3, 1]])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16"])
def test_sums_of_narrow_integers_are_wide(dtype):
    values = np.full((4, 3), np.iinfo(dtype).max, dtype)
    got = sparse.bcoo_reduce_sum(sparse.BCOO.fromdense(values), axes=(0,))
    assert got.dtype == jnp.sum(jnp.asarray(values), 0).dtype
    np.testing.assert_array_equal(got.todense(), values.sum(0))


@pytest.mark.parametrize("kind", FORMATS)
def test_solvers_take_sparse_matrices(kind):
    system = np.eye(4, dtype="float32") * 3 + 0.25
    matrix = getattr(sparse, kind).fromdense(system)
    x, _ = jsp.sparse.linalg.cg(matrix, V)
    np.testing.assert_allclose(x, np.linalg.solve(system, V), rtol=1e-4)


def test_solvers_check_the_shape_of_sparse_matrices():
    with pytest.raises(ValueError, match=r"square matrix, but A has shape: \(3, 4\)"):
        jsp.sparse.linalg.cg(sparse.BCOO.fromdense(DENSE), V)


AXES = (((1,), (0,)), ((), ()))


@pytest.mark.parametrize(
    "multiply", [sparse.bcoo_dot_general, sparse.bcsr_dot_general], ids=["bcoo", "bcsr"]
)
def test_products_by_name_in_functions_of_arrays(multiply):
    """There the operands are tracers, which stand for arrays of any kind."""

    def product(m, v):
        return multiply(m, v, dimension_numbers=AXES)

    check(product, sparse.BCOO.fromdense(DENSE), V)
    check(product, sparse.BCSR.fromdense(DENSE), V)
    np.testing.assert_array_equal(product(DENSE, V), DENSE @ V)
    slopes = sparse.sparsify(olympus.grad(lambda v, m: product(m, v).sum()))
    got = slopes(jnp.asarray(V), sparse.BCOO.fromdense(DENSE))
    np.testing.assert_array_equal(got, DENSE.sum(0))


def test_products_of_arrays_take_the_dtype_asked_for():
    got = sparse.bcoo_dot_general(
        DENSE.astype("int8"),
        V.astype("int8"),
        dimension_numbers=AXES,
        preferred_element_type="int32",
    )
    assert got.dtype == np.dtype("int32")
    np.testing.assert_array_equal(got, DENSE @ V)
