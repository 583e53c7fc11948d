"""Products of lists of elements with dense arrays.

In each, an element multiplies the row of the dense array at its contracted positions,
and the result is added at its other positions. On CPUs a product with a matrix of eight
or more columns runs in a kernel of jaxlib, which several threads share. It takes the
elements row by row: where they are not in order, the general form is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.control_flow import cond
from olympus._src.core import avals, dtypes
from olympus._src.core.primitive import Primitive
from olympus._src.lax import (
    concatenation,
    contraction,
    cumulative,
    elementwise,
    families,
    reductions,
    shaping,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.linalg import lapack
from olympus._src.numpy import selection
from olympus._src.sparse import rows

aval_of = avals.aval_of
INT = rows.INT

# -- any elements ----------------------------------------------------------------------


def sum_dtype(dtype: Any) -> Any:
    """The dtype in which products are added: narrow floats are added as wide ones."""
    if dtypes.issubdtype(dtype, np.floating) and dtype.itemsize < 4:
        return np.dtype(np.float32)
    return dtype


def multiply_rows(data: Any, read: Any, write: Any, x: Any, shape: Any) -> Any:
    """The sum of `data[n] * x[read[n]]` at each place `write[n]`.

    Args:
      data: array [nse].
      read: index vectors [nse, k] into the first k axes of `x`.
      write: index vectors [nse, m].
      x: array [..., *others].
      shape: m sizes.

    Returns:
      An array [*shape, *others], of the dtype of `x`.
    """
    wide = sum_dtype(aval_of(x).dtype)
    inside = rows.mark_inside(read, aval_of(x).shape[: aval_of(read).shape[1]])
    inside = inside & rows.mark_inside(write, shape)
    data = rows.choose_rows(inside, elementwise.convert_element_type(data, wide))
    values = rows.take_clipped_rows(x, read)
    if shape and aval_of(values).ndim > 1:
        # Padding is written nowhere, so that it matters not what it reads.
        write = rows.move_outside(write, inside, shape)
    else:
        values = rows.choose_rows(inside, values)
    values = elementwise.convert_element_type(values, wide)
    aval = aval_of(values)
    if aval.ndim > 1:
        data = shaping.broadcast_in_dim(data, aval.shape, (0,))
    out = rows.add_rows(_multiply(data, values), write, shape)
    return elementwise.convert_element_type(out, aval_of(x).dtype)


def _multiply(x: Any, y: Any) -> Any:
    if aval_of(x).dtype == np.dtype(np.bool_):
        return x & y
    return elementwise.mul(x, y)


def contract_rows(
    data: Any, indices: Any, x: Any, contracted: Any, free: Any, shape: Any
) -> Any:
    """As `multiply_rows`, where blocks of the data are contracted with `x` too.

    Args:
      data: array [nse, *contracted dense axes, *free dense axes].
      indices: index vectors [nse, n_sparse].
      x: array [*contracted sparse axes, *contracted dense axes, *others].
      contracted: the sparse axes that are contracted, in their order in `x`; and the
        number of contracted dense axes.
      free: the other sparse axes.
      shape: their sizes.

    Returns:
      An array [*shape, *free dense axes, *others].
    """
    axes, n_dense = contracted
    read = rows.take_columns(indices, axes)
    write = rows.take_columns(indices, free)
    data_aval, x_aval = aval_of(data), aval_of(x)
    inside = rows.mark_inside(read, x_aval.shape[: len(axes)])
    inside = inside & rows.mark_inside(write, shape)
    if data_aval.ndim == 1 and axes:
        return multiply_rows(data, read, write, x, shape)
    wide = sum_dtype(x_aval.dtype)
    data = rows.choose_rows(inside, elementwise.convert_element_type(data, wide))
    dense = tuple(range(1, 1 + n_dense))
    if axes:
        values = rows.take_rows(x, read)
        numbers: Any = ((dense, dense), ((0,), (0,)))
    else:
        values = x
        numbers = ((dense, tuple(range(n_dense))), ((), ()))
    values = elementwise.convert_element_type(values, wide)
    blocks = contraction.dot_general(data, values, numbers)
    out = rows.add_rows(blocks, write, shape)
    return elementwise.convert_element_type(out, x_aval.dtype)


# -- the kernel ------------------------------------------------------------------------

# Below this number of columns the kernel is slower than XLA's gather and scatter.
FEWEST_COLUMNS = 8
_DTYPES = frozenset(["float32", "float64", "complex64", "complex128", "int32", "int64"])


def _kernel_abstract(data: Any, indptr: Any, indices: Any, x: Any) -> Any:
    return ShapedArray((indptr.shape[0] - 1, x.shape[1]), x.dtype)


def call_kernel(ctx: Any, name: str, target: str, operands: Any) -> str:
    """A call of a kernel for a whole product, written in StableHLO.

    Args:
      ctx: what is lowered.
      name: what errors call it.
      target: the kernel's registered name.
      operands: names of values.
    """
    (out,) = lapack.call_kernel(
        ctx, name, target, operands, ctx.avals_in, ctx.avals_out, rank=-1, reused={}
    )
    return out


def _kernel_lower(ctx: Any, *operands: str) -> str:
    return call_kernel(ctx, "csr_matmat", "cpu_csr_sparse_dense_ffi", operands)


def multiply_by_rows(data: Any, indptr: Any, indices: Any, x: Any) -> Any:
    """The product of `csr_kernel_p` in other operations."""
    n_rows, row = aval_of(indptr).shape[0] - 1, rows_of(indptr, aval_of(data).shape[0])
    write, read = (shaping.expand_dims(i, (1,)) for i in (row, indices))
    return multiply_rows(data, read, write, x, (n_rows,))


# Written only where an operation on sparse arrays is lowered, after all derivatives.
csr_kernel_p = Primitive(
    "csr_kernel",
    abstract=_kernel_abstract,
    lower=_kernel_lower,
    decompose=multiply_by_rows,
    needs_full_build=True,
)


def fit_kernel(platform: str, data: Any, x: Any, dtypes: frozenset[str]) -> bool:
    """Whether a kernel on a CPU for numbers of these types takes a product.

    Neither operand may be empty, and positions among the elements are 32 bits wide.
    """
    return (
        platform == "cpu"
        and data.ndim == 1
        and data.dtype == x.dtype
        and x.dtype.name in dtypes
        and min(data.size, x.size) > 0
        and data.size < 2**31 - 1
    )


def suits_kernel(platform: str, data: Any, indices: Any, x: Any) -> bool:
    """Whether the kernel takes a product of these types, and is faster."""
    return (
        fit_kernel(platform, data, x, _DTYPES)
        and x.ndim == 2
        and x.shape[1] >= FEWEST_COLUMNS
        and rows.INT.itemsize >= indices.dtype.itemsize
    )


def multiply_csr(data: Any, indices: Any, indptr: Any, x: Any, general: Any) -> Any:
    """A matrix in CSR times a dense one, by the kernel if no position is outside.

    Args:
      data, indices, indptr: the matrix.
      x: array [n, m].
      general: the same product for all cases, as a function without arguments.
    """
    nse, n = aval_of(data).shape[0], aval_of(x).shape[0]
    indices = rows.as_positions(indices)
    indptr = rows.as_positions(indptr)
    fits = check_all((indices >= 0) & (indices < n)) & has_ordered_rows(indptr, nse)
    return cond.cond(
        fits,
        lambda: csr_kernel_p.bind(data, indptr, indices, x),
        general,
    )


def has_ordered_rows(indptr: Any, nse: int) -> Any:
    """Whether rows of a CSR matrix follow one another within its elements."""
    before = concatenation.slice_in_dim(indptr, 0, -1)
    after = concatenation.slice_in_dim(indptr, 1, None)
    return check_all((before >= 0) & (before <= after) & (after <= nse))


def multiply_sorted(
    data: Any, row: Any, column: Any, x: Any, n_rows: int, general: Any
) -> Any:
    """A list of elements times a dense matrix, by the kernel if rows are in order.

    Args:
      data, row, column: arrays [nse].
      x: array [n, m].
      n_rows: of the list's matrix.
      general: the same product for all cases, as a function without arguments.
    """
    n = aval_of(x).shape[0]
    row, column = rows.as_positions(row), rows.as_positions(column)
    before = concatenation.slice_in_dim(row, 0, -1)
    after = concatenation.slice_in_dim(row, 1, None)
    fits = check_all(before <= after) & check_all(
        (row >= 0) & (column >= 0) & (column < n)
    )

    def run_kernel() -> Any:
        indptr = count_rows(row, n_rows)
        return csr_kernel_p.bind(data, indptr, column, x)

    return cond.cond(fits, run_kernel, general)


def check_all(mask: Any) -> Any:
    """Whether all of a vector of booleans are true."""
    return reductions.reduce_and(mask, (0,))


def count_rows(row: Any, n_rows: int) -> Any:
    """Where each row begins in a list of elements that is sorted by rows: `indptr`."""
    ones = shaping.full(aval_of(row).shape, 1, INT)
    counts = rows.add_rows(ones, shaping.expand_dims(row, (1,)), (n_rows,))
    zero = shaping.full((1,), 0, INT)
    return concatenation.concatenate([zero, cumulative.cumsum(counts)], 0)


def rows_of(indptr: Any, nse: int) -> Any:
    """The row of each element of a CSR matrix; the number of rows for padding."""
    indptr = rows.as_positions(indptr)
    aval = aval_of(indptr)
    n_rows = aval.shape[0] - 1
    if not nse or not n_rows:
        return shaping.full((nse,), n_rows, aval.dtype)
    ends = shaping.expand_dims(concatenation.slice_in_dim(indptr, 1, None), (1,))
    ones = shaping.full((n_rows,), 1, aval.dtype)
    row = cumulative.cumsum(rows.add_rows(ones, ends, (nse,)))
    first = concatenation.index_in_dim(indptr, 0, keepdims=False)
    is_before = shaping.iota(aval.dtype, nse) < first
    return selection.where(is_before, families.scalar_of(aval, n_rows), row)
