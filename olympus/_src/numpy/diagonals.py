"""Diagonals of matrices, with a derivative that is fast on XLA's CPU compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.api.custom_jvp import custom_jvp
from olympus._src.core import avals, dtypes
from olympus._src.core.sizes import is_constant_shape, minimum, non_negative
from olympus._src.lax import concatenation, families, shaping
from olympus._src.lax import elementwise as lax

aval_of = avals.aval_of

# The derivative of diagonals of matrices with more columns is masked. Padding each
# element to a row takes several times as long, as XLA asks for each where it lies.
_FEW_COLUMNS = 16


def take(x: Any, offset: int) -> Any:
    """A diagonal of an array's last two axes, whose columns are a known number."""
    *lead, rows, columns = aval_of(x).shape
    *_, length = find_start(rows, columns, offset)
    is_masked = (
        is_constant_shape((*lead, rows))
        and length
        and columns > _FEW_COLUMNS
        and dtypes.kind(aval_of(x).dtype) in "fc"
        and aval_of(x).explicit is None
    )
    return (_take_with_masked_derivative if is_masked else _take)(x, offset)


def find_start(rows: Any, columns: Any, offset: int) -> tuple[int, int, Any]:
    """The row and column of a diagonal's first element, and how many there are."""
    row, column = max(-offset, 0), max(offset, 0)
    return row, column, non_negative(minimum(rows - row, columns - column))


def _take(x: Any, offset: int) -> Any:
    """Laid out in one line, the diagonal's elements are at equal distances."""
    *lead, rows, columns = aval_of(x).shape
    row, column, length = find_start(rows, columns, offset)
    flat = shaping.reshape(x, (*lead, rows * columns))
    start = row * columns + column
    if not length:
        return concatenation.slice_in_dim(flat, 0, 0, axis=len(lead))
    stop = start + (length - 1) * (columns + 1) + 1
    return concatenation.slice_in_dim(flat, start, stop, columns + 1, axis=len(lead))


_take_with_masked_derivative = custom_jvp(_take, nondiff_argnums=(1,))


@_take_with_masked_derivative.defjvp
def _masked_jvp(offset: int, primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    *lead, rows, columns = aval_of(x).shape
    row, _, length = find_start(rows, columns, offset)
    on = lax.eq(
        lax.add(
            shaping.broadcasted_iota(np.int32, (rows, columns), 0), np.int32(offset)
        ),
        shaping.broadcasted_iota(np.int32, (rows, columns), 1),
    )
    on = shaping.broadcast_in_dim(on, aval_of(x).shape, (len(lead), len(lead) + 1))
    masked = lax.select(on, t, families.full_like(t, 0))
    sums = families.reduce_sum_p.bind(masked, axes=(len(lead) + 1,))
    if length < rows:
        sums = concatenation.slice_in_dim(sums, row, row + length, axis=len(lead))
    return _take_with_masked_derivative(x, offset), sums
