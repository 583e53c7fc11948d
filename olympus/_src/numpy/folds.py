"""What can be built of any elementwise function: folds, and updates at positions.

The functions take `f`, a function of one or two arrays elementwise. They fold in the
order of the elements, so `f` need not be associative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.api import shapes, staging
from olympus._src.higher_order import scan as scan_
from olympus._src.lax import elementwise as lax
from olympus._src.lax import joining, shaping, sizes
from olympus._src.numpy import at, creation, manipulation, promotion, selection
from olympus._src.numpy.promotion import aval_of

Function = Callable[..., Any]


def result_dtype(f: Function, x: Any, dtype: Any = None) -> Any:
    """The dtype in which `f` folds the elements of `x`."""
    if dtype is None:
        scalar = shapes.ShapeDtypeStruct((), aval_of(x).dtype)
        dtype = staging.eval_shape(f, scalar, scalar).dtype
    return dtype


def reduce(
    name: str,
    f: Function,
    a: Any,
    *,
    axis: Any,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    identity: Any = None,
) -> Any:
    """`f` folded over an axis, from `initial` or else from the first element."""
    x = creation.asarray(a)
    rank = aval_of(x).ndim
    axes = _axes(name, axis, rank)
    rows = _in_front(x, axes)
    if where is not None:
        if initial is None and identity is None:
            raise ValueError(
                f"numpy.{name}.reduce: the function has no identity, so `where` needs "
                "an initial value; give `initial`"
            )
        wide = promotion.broadcast_to_shape(creation.asarray(where), aval_of(x).shape)
        mask = _in_front(wide, axes)
    dtype = result_dtype(f, x, dtype)
    rows = promotion.cast(rows, dtype, False)
    count = aval_of(rows).shape[0]
    if initial is None and (where is not None or not count):
        # The identity of `bitwise_and` is -1, all bits: of unsigned numbers too.
        initial = None if identity is None else np.asarray(identity).astype(dtype)
    if initial is not None:
        start = creation.full(aval_of(rows).shape[1:], initial, dtype)
    elif count:
        start, rows = rows[0], rows[1:]
    else:
        raise ValueError(
            f"numpy.{name}.reduce: an empty axis needs a value to start from, got "
            f"{aval_of(x).short()}; give `initial`"
        )

    def step(carry: Any, row: Any) -> Any:
        if where is None:
            return _cast(f(carry, row), dtype), None
        row, chosen = row
        return selection.where(chosen, _cast(f(carry, row), dtype), carry), None

    out, _ = scan_.scan(step, start, rows if where is None else (rows, mask))
    return manipulation.expand_dims(out, axes) if keepdims else out


def accumulate(name: str, f: Function, a: Any, *, axis: int, dtype: Any = None) -> Any:
    """`f` folded over the elements up to each one of an axis."""
    x = creation.asarray(a)
    axis = sizes.canonicalize_axis(axis, aval_of(x).ndim, f"numpy.{name}.accumulate")
    dtype = result_dtype(f, x, dtype)
    rows = _in_front(promotion.cast(x, dtype, False), (axis,))
    if not aval_of(rows).shape[0]:
        return promotion.cast(x, dtype, False)

    def step(carry: Any, row: Any) -> Any:
        new = _cast(f(carry, row), dtype)
        return new, new

    _, rest = scan_.scan(step, rows[0], rows[1:])
    out = joining.concatenate([rows[:1], rest], 0)
    return manipulation.moveaxis(out, 0, axis)


def reduce_segments(
    name: str, f: Function, a: Any, indices: Any, *, axis: int, dtype: Any = None
) -> Any:
    """`f` folded over slices of an axis, from each index up to the next one.

    Where the next index is not greater, the result is the element at the index.
    """
    x = creation.asarray(a)
    axis = sizes.canonicalize_axis(axis, aval_of(x).ndim, f"numpy.{name}.reduceat")
    starts = creation.asarray(indices)
    if aval_of(starts).ndim != 1:
        raise ValueError(
            f"numpy.{name}.reduceat: indices must have one axis, got "
            f"{aval_of(starts).short()}; call it for each row"
        )
    dtype = result_dtype(f, x, dtype)
    rows = _in_front(promotion.cast(x, dtype, False), (axis,))
    count = aval_of(rows).shape[0]
    ends = joining.concatenate(
        [starts[1:], creation.full((1,), count, starts.dtype)], 0
    )
    rank = aval_of(rows).ndim
    first, last = (
        manipulation.expand_dims(v, tuple(range(1, rank))) for v in (starts, ends)
    )

    def step(carry: Any, item: Any) -> Any:
        i, row = item
        inside = lax.bitwise_and(first < i, i < last)
        return selection.where(inside, _cast(f(carry, row), dtype), carry), None

    positions = shaping.iota(aval_of(starts).dtype, count)
    out, _ = scan_.scan(step, rows[starts], (positions, rows))
    return manipulation.moveaxis(out, 0, axis)


def update_at(f: Function, a: Any, indices: Any, *operands: Any) -> Any:
    """The array with `f` applied at positions, one after another.

    A position that is named several times is updated as often.
    """
    x = creation.asarray(a)
    shape = aval_of(x).shape
    numbers = shaping.iota("int32", aval_of(x).size)
    chosen = shaping.reshape(numbers, shape)[indices]
    wide = [
        promotion.broadcast_to_shape(creation.asarray(b), aval_of(chosen).shape)
        for b in operands
    ]
    columns = [shaping.reshape(v, (aval_of(v).size,)) for v in (chosen, *wide)]

    def step(flat: Any, item: Any) -> Any:
        place, *values = item
        new = _cast(f(flat[place], *values), aval_of(x).dtype)
        return at.IndexUpdateHelper(flat)[place].set(new), None

    flat = shaping.reshape(x, (aval_of(x).size,))
    out, _ = scan_.scan(step, flat, tuple(columns))
    return shaping.reshape(out, shape)


def _cast(x: Any, dtype: Any) -> Any:
    return promotion.cast(x, dtype, False)


def _axes(name: str, axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    return tuple(sorted(sizes.canonicalize_axes(axis, rank, f"numpy.{name}.reduce")))


def _in_front(x: Any, axes: tuple[int, ...]) -> Any:
    """`x` with some axes as one, in front."""
    shape = aval_of(x).shape
    rest = [i for i in range(len(shape)) if i not in axes]
    size = 1
    for i in axes:
        size *= shape[i]
    moved = shaping.transpose(x, (*axes, *rest))
    return shaping.reshape(moved, (size, *[shape[i] for i in rest]))
