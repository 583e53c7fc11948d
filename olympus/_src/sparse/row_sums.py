"""Products of CSR matrices with vectors, row by row: for CPUs.

In the general form each element's row is computed and its product is added there, one
element after another. Here the sum of a row takes a step for 16 elements: about half of
the time for a matrix of ten elements a row.
"""

from __future__ import annotations

from typing import Any

from olympus._src.control_flow import cond, loops
from olympus._src.control_flow import while_loop as whiles
from olympus._src.core import avals
from olympus._src.lax import barriers, concatenation, elementwise, shaping, slicing
from olympus._src.sparse import products, rows

aval_of = avals.aval_of

# So many products are added at once: rows of common matrices need one or two steps, and
# vectors of this length stay in registers.
_STEP = 16


def suits_rows(platform: str, data: Any, x: Any, n_rows: int) -> bool:
    """Whether a CSR matrix of these types is multiplied by a vector row by row.

    A matrix with fewer elements than rows is not: there are more rows than products.
    """
    return (
        platform == "cpu"
        and data.ndim == x.ndim == 1
        and x.dtype.kind != "b"
        and data.size >= max(n_rows, _STEP)
        and n_rows > 0
        and x.size > 0
    )


def multiply_rows(data: Any, indices: Any, indptr: Any, x: Any, general: Any) -> Any:
    """A matrix in CSR times a vector, row by row if rows follow one another.

    Args:
      data, indices, indptr: the matrix.
      x: array [n].
      general: the same product for all cases, as a function without arguments.
    """
    dtype = aval_of(x).dtype
    indptr = rows.as_positions(indptr)
    fits = products.has_ordered_rows(indptr, aval_of(data).shape[0])

    def add_rows() -> Any:
        wide = products.sum_dtype(dtype)
        read = shaping.expand_dims(indices, (1,))
        inside = rows.mark_inside(read, aval_of(x).shape)
        values = elementwise.convert_element_type(rows.take_clipped_rows(x, read), wide)
        factors = elementwise.convert_element_type(data, wide)
        terms = rows.choose_rows(inside, elementwise.mul(factors, values))
        sums = _add_in_order(terms, indptr)
        return elementwise.convert_element_type(sums, dtype)

    return cond.cond(fits, add_rows, general)


def _add_in_order(terms: Any, indptr: Any) -> Any:
    """The sums of terms from `indptr[i]` up to `indptr[i + 1]`, for each i."""
    aval, index = aval_of(terms), aval_of(indptr).dtype
    n_rows = aval_of(indptr).shape[0] - 1
    padding = shaping.full((_STEP,), 0, aval.dtype)
    # Without the barrier each step would compute its terms in scalar operations.
    terms = barriers.optimization_barrier(
        concatenation.concatenate([terms, padding], 0)
    )
    offsets = shaping.iota(index, _STEP)
    zero = shaping.full((1,), 0, aval.dtype)

    def add_row(i: Any, sums: Any) -> Any:
        end = slicing.dynamic_index_in_dim(indptr, i + 1, keepdims=False)

        def step(carry: Any) -> Any:
            k, total = carry
            part = slicing.dynamic_slice_in_dim(terms, k, _STEP)
            part = rows.choose_rows(offsets < end - k, part)
            return k + index.type(_STEP), total + rows.sum_axes(part, (0,))

        start = slicing.dynamic_index_in_dim(indptr, i, keepdims=False)
        _, total = whiles.while_loop(lambda c: c[0] < end, step, (start, zero))
        return slicing.dynamic_update_slice(sums, total, (i,))

    sums = shaping.full((n_rows,), 0, aval.dtype)
    return loops.fori_loop(0, n_rows, add_row, sums)
