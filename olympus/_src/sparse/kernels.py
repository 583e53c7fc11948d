"""Products by the kernels in C that olympus brings, where they were built: for CPUs.

A product of float32 or float64 with a vector or with columns. The kernels take elements
in any order and leave out those whose positions lie outside, so that nothing has to be
looked at before.
"""

from __future__ import annotations

from typing import Any

from olympus._src import native
from olympus._src.core import avals
from olympus._src.core.primitive import Primitive
from olympus._src.lax import shaping
from olympus._src.lax.families import ShapedArray
from olympus._src.sparse import products, rows

aval_of = avals.aval_of
_DTYPES = frozenset(["float32", "float64"])


def suits(platform: str, data: Any, x: Any, *positions: Any) -> bool:
    """Whether the kernels take a product of these types."""
    return (
        products.fit_kernel(platform, data, x, _DTYPES)
        and native.load_products() is not None
        and x.ndim in (1, 2)
        and all(p.dtype == rows.INT for p in positions)
    )


def _lower(ctx: Any, name: str, operands: Any) -> str:
    return products.call_kernel(ctx, "sparse product", name, operands)


# -- rows of elements ------------------------------------------------------------------


def _csr_abstract(data: Any, indices: Any, indptr: Any, x: Any) -> Any:
    return ShapedArray((indptr.shape[0] - 1, *x.shape[1:]), x.dtype)


csr_product_p = Primitive(
    "csr_product",
    abstract=_csr_abstract,
    lower=lambda ctx, *operands: _lower(ctx, native.CSR_PRODUCT, operands),
    decompose=lambda data, indices, indptr, x: products.multiply_by_rows(
        data, indptr, indices, x
    ),
    needs_full_build=True,
)


def multiply_csr(data: Any, indices: Any, indptr: Any, x: Any) -> Any:
    """A matrix in CSR times a vector or columns.

    Args:
      data, indices, indptr: the matrix.
      x: array [n] or [n, m].
    """
    return csr_product_p.bind(data, indices, indptr, x)


# -- elements in any order -------------------------------------------------------------


def _coo_abstract(
    data: Any, write: Any, read: Any, x: Any, *, n_rows: int, is_flipped: bool
) -> Any:
    return ShapedArray((n_rows, *x.shape[1:]), x.dtype)


def _coo_lower(ctx: Any, *operands: str, n_rows: int, is_flipped: bool) -> str:
    name = native.COO_PRODUCT_FLIPPED if is_flipped else native.COO_PRODUCT
    return _lower(ctx, name, operands)


def _coo_decompose(
    data: Any, write: Any, read: Any, x: Any, *, n_rows: int, is_flipped: bool
) -> Any:
    if aval_of(write).ndim == 2:
        write = rows.take_columns(write, (int(is_flipped),))
        read = rows.take_columns(read, (int(not is_flipped),))
    else:
        write, read = (shaping.expand_dims(i, (1,)) for i in (write, read))
    return products.multiply_rows(data, read, write, x, (n_rows,))


coo_product_p = Primitive(
    "coo_product",
    abstract=_coo_abstract,
    lower=_coo_lower,
    decompose=_coo_decompose,
    needs_full_build=True,
)


def multiply_list(data: Any, write: Any, read: Any, x: Any, n_rows: int) -> Any:
    """The sum of `data[n] * x[read[n]]` at each row `write[n]`.

    Args:
      data: array [nse].
      write, read: positions [nse].
      x: array [n] or [n, m].
      n_rows: of the result.
    """
    return coo_product_p.bind(data, write, read, x, n_rows=n_rows, is_flipped=False)


def multiply_pairs(data: Any, indices: Any, x: Any, n_rows: int, column: int) -> Any:
    """As `multiply_list`, of positions [nse, 2]; `column` is the one to read at."""
    return coo_product_p.bind(
        data, indices, indices, x, n_rows=n_rows, is_flipped=column == 0
    )
