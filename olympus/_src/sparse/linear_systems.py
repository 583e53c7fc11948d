"""Systems of linear equations with a sparse matrix, by SciPy's direct solver."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np

from olympus._src.callbacks import host_calls
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, Indices
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.lax import elementwise, families
from olympus._src.sparse import csr
from olympus._src.sparse.primitives import SparsePrimitive

aval_of = avals.aval_of


class _Solver:
    """What a compiled program calls: SciPy's solver of a CSR matrix."""

    def __init__(self, transpose: bool) -> None:
        self.transpose = transpose

    def __call__(self, data: Any, indices: Any, indptr: Any, b: Any) -> Any:
        data, indices, indptr, b = map(np.asarray, (data, indices, indptr, b))
        scipy = _import_scipy()
        n = b.shape[0]
        row = np.repeat(np.arange(n), np.diff(indptr))
        column, values = indices[indptr[0] :][: len(row)], data[indptr[0] :][: len(row)]
        keep = (column >= 0) & (column < n)
        pair = (row[keep], column[keep])
        if self.transpose:
            pair = pair[::-1]
        matrix = scipy.sparse.csc_matrix((values[keep], pair), shape=(n, n))
        with warnings.catch_warnings():  # a singular matrix gives NaN
            warnings.simplefilter("ignore")
            out = scipy.sparse.linalg.spsolve(matrix, b)
        return np.asarray(out, b.dtype).reshape(b.shape)


def _import_scipy() -> Any:
    try:
        importlib.import_module("scipy.sparse.linalg")
        return importlib.import_module("scipy")
    except ImportError:
        raise ImportError(
            "spsolve: needs SciPy, got none; install it with `pip install scipy`"
        ) from None


# By identity, so that equal calls are one program.
_SOLVERS = {False: _Solver(False), True: _Solver(True)}


def _solve(data: Any, indices: Any, indptr: Any, b: Any, *, transpose: bool) -> Any:
    aval = aval_of(b)
    kind = avals.ShapedArray(aval.shape, aval.dtype)
    return host_calls.pure_callback(
        _SOLVERS[transpose], kind, data, indices, indptr, b, vmap_method="sequential"
    )


def _abstract(data: Any, indices: Any, indptr: Any, b: Any, **_: Any) -> Any:
    return avals.ShapedArray(b.shape, b.dtype)


def _jvp(primals: Any, tangents: Any, *, transpose: bool) -> Any:
    """A dx = db - dA x."""
    data, indices, indptr, b = primals
    x = spsolve_p.bind(data, indices, indptr, b, transpose=transpose)
    side = tangents[3]
    if type(tangents[0]) is not Zero:
        n = aval_of(b).shape[0]
        p = csr.csr_matvec_p if aval_of(b).ndim == 1 else csr.csr_matmat_p
        change = p.bind(
            tangents[0], indices, indptr, x, shape=(n, n), transpose=transpose
        )
        side = families.add_tangents(side, elementwise.neg(change))
    if type(side) is Zero:
        return x, Zero(aval_of(x).to_tangent())
    return x, spsolve_p.bind(data, indices, indptr, side, transpose=transpose)


def _transpose(
    cts: Any, data: Any, indices: Any, indptr: Any, b: Any, *, transpose: bool
) -> Any:
    if type(data) is Linear:
        raise NotImplementedError(
            "spsolve: it is linear only in b and cannot be transposed with respect to "
            "data; differentiate with olympus.grad or olympus.vjp"
        )
    (ct,) = cts
    if type(ct) is Zero:
        return [None, None, None, Zero(b.aval)]
    out = spsolve_p.bind(data, indices, indptr, ct, transpose=not transpose)
    return [None, None, None, out]


spsolve_p = SparsePrimitive(
    "spsolve", _solve, abstract=_abstract, jvp=_jvp, transpose=_transpose
)


def spsolve(
    data: ArrayLike,
    indices: Indices,
    indptr: Indices,
    b: ArrayLike,
    tol: float = 1e-6,
    reorder: int = 1,
) -> Array:
    """The x with `A x = b`, for a sparse matrix A in CSR form.

    SciPy's direct solver runs in a callback; derivatives follow from the equation.

    Args:
      data, indices, indptr: the buffers of a square CSR matrix, floating or complex.
      b: array [n] or [n, k].
      tol: not used.
      reorder: not used; SciPy chooses the order of columns.

    Returns:
      An array of the shape of `b`; NaN where the matrix is singular.

    Raises:
      ValueError: sizes do not agree.
      TypeError: the elements are integers or booleans.
      ImportError: when it runs: SciPy is not installed.

    Source: `scipy.sparse.linalg.spsolve`.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> mat = sparse.CSR.fromdense(jnp.array([[2.0, 0.0], [1.0, 4.0]]))
      >>> b = jnp.array([2.0, 9.0])
      >>> print(sparse.linalg.spsolve(mat.data, mat.indices, mat.indptr, b))
      [1. 2.]
    """
    del tol, reorder
    types = [aval_of(x) for x in (data, indices, indptr, b)]
    dtype = dtypes.result_type(types[0].dtype, types[3].dtype)
    if not dtypes.issubdtype(dtype, np.inexact):
        raise TypeError(
            f"spsolve: data and b must be floating or complex, got {types[0].short()} "
            f"and {types[3].short()}; convert them with astype(float)"
        )
    if not (types[3].ndim in (1, 2) and types[2].shape == (types[3].shape[0] + 1,)):
        raise ValueError(
            "spsolve: b must have shape [n] or [n, k] and indptr [n + 1], got "
            f"{types[3].short()} and {types[2].short()}"
        )
    if types[0].shape != types[1].shape or types[0].ndim != 1:
        raise ValueError(
            "spsolve: data and indices must be vectors of one length, got "
            f"{types[0].short()} and {types[1].short()}"
        )
    data, b = (elementwise.convert_element_type(x, dtype) for x in (data, b))
    narrow = dtype.itemsize < 4  # SciPy's solver has no narrow floats
    if narrow:
        data, b = (
            elementwise.convert_element_type(x, np.dtype("float32")) for x in (data, b)
        )
    out = spsolve_p.bind(data, indices, indptr, b, transpose=False)
    return elementwise.convert_element_type(out, dtype) if narrow else out
