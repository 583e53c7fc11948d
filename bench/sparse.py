"""Sparse matrices of a million elements: products, gradients, conversions.

SciPy's own products are timed too, under the same names with "scipy": what both
libraries' columns show for these is the machine.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from bench.models import Library

SIZE, NSE = 100_000, 1_000_000


def _random_matrix(dtype: Any = np.float32) -> Any:
    """A matrix of SciPy in CSR form, without duplicates."""
    scipy_sparse = importlib.import_module("scipy.sparse")
    rng = np.random.default_rng(0)
    row, column = rng.integers(0, SIZE, (2, NSE))
    values = rng.normal(size=NSE).astype(dtype)
    matrix = scipy_sparse.coo_matrix((values, (row, column)), shape=(SIZE, SIZE))
    return matrix.tocsr()


def sparse_products(lib: Library) -> dict[str, Any]:
    """A matrix times a vector, and times 16 and 64 columns, in each format."""
    sparse = importlib.import_module(f"{lib.top.__name__}.experimental.sparse")
    theirs = _random_matrix()
    rng = np.random.default_rng(1)
    right = rng.normal(size=(SIZE, 64)).astype(np.float32)
    v, few, many = (lib.np.asarray(x) for x in (right[:, 0], right[:, :16], right))
    listed = sparse.BCOO.from_scipy_sparse(theirs)
    order = rng.permutation(theirs.nnz)
    parts = [lib.np.asarray(x) for x in (theirs.data, theirs.indices, theirs.indptr)]
    matrices = {
        "BCOO": listed,
        "BCOO out of order": sparse.BCOO(
            (listed.data[order], listed.indices[order]), shape=listed.shape
        ),
        "BCSR": sparse.BCSR(tuple(parts), shape=listed.shape),
        "CSR": sparse.CSR(tuple(parts), shape=listed.shape),
    }
    multiply = lib.top.jit(lambda a, b: a @ b)
    host = np.ascontiguousarray(right[:, 0])
    cases = {"sparse scipy matvec": lambda: theirs @ host}
    for name, matrix in matrices.items():
        for kind, x in (("matvec", v), ("matmat 16", few), ("matmat 64", many)):
            cases[f"sparse {name} {kind}"] = lambda m=matrix, x=x: multiply(m, x)
    return cases


def sparse_programs(lib: Library) -> dict[str, Any]:
    """Gradients of products, dense forms, and a sparsified function."""
    sparse = importlib.import_module(f"{lib.top.__name__}.experimental.sparse")
    matrix = sparse.BCOO.from_scipy_sparse(_random_matrix())
    v = lib.np.ones(SIZE, lib.np.float32)
    gradient = lib.top.jit(sparse.grad(lambda a, x: ((a @ x) ** 2).sum(), (0, 1)))
    scipy_sparse = importlib.import_module("scipy.sparse")
    small = scipy_sparse.random(2000, 2000, 0.05, random_state=0, dtype=np.float32)
    small = sparse.BCOO.from_scipy_sparse(small)
    to_dense = lib.top.jit(lambda a: a.todense())
    ones = lib.np.ones(2000, lib.np.float32)
    program = lib.top.jit(sparse.sparsify(lambda a, x: lib.np.sin(2 * a) @ x + a.T @ x))
    return {
        "sparse grad of a matvec": lambda: gradient(matrix, v),
        "sparse todense 2000 x 2000": lambda: to_dense(small),
        "sparse sparsified function": lambda: program(small, ones),
        "sparse eager matvec": lambda: matrix @ v,
    }


GROUPS = {f.__name__: f for f in (sparse_products, sparse_programs)}
