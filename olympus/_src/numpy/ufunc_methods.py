"""What can be built from any elementwise function: folds, and updates at positions.

The functions take `f`, a function of one or two arrays elementwise. They fold in the
order of the elements, so `f` need not be associative.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.api import shapes, staging
from olympus._src.control_flow import scan as scan_
from olympus._src.foundation import caching
from olympus._src.interpreters import evaluate
from olympus._src.lax import concatenation, shaping, sizes
from olympus._src.lax import elementwise as lax
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
    rows = _merge_axes(x, axes)
    if where is not None:
        if initial is None and identity is None:
            raise ValueError(
                f"numpy.{name}.reduce: the function has no identity, so `where` needs "
                "an initial value; give `initial`"
            )
        wide = promotion.broadcast_to_shape(creation.asarray(where), aval_of(x).shape)
        mask = _merge_axes(wide, axes)
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

    if where is None:
        out, _ = scan_.scan(_step(_fold, f, dtype), start, rows)
    else:
        out, _ = scan_.scan(_step(_masked_fold, f, dtype), start, (rows, mask))
    return manipulation.expand_dims(out, axes) if keepdims else out


def accumulate(name: str, f: Function, a: Any, *, axis: int, dtype: Any = None) -> Any:
    """`f` folded over the elements up to each one of an axis."""
    x = creation.asarray(a)
    axis = sizes.canonicalize_axis(axis, aval_of(x).ndim, f"numpy.{name}.accumulate")
    dtype = result_dtype(f, x, dtype)
    rows = _merge_axes(promotion.cast(x, dtype, False), (axis,))
    if not aval_of(rows).shape[0]:
        return promotion.cast(x, dtype, False)

    _, prefixes = scan_.scan(_step(_prefix_fold, f, dtype), rows[0], rows[1:])
    out = concatenation.concatenate([rows[:1], prefixes], 0)
    return manipulation.moveaxis(out, 0, axis)


def outer(name: str, f: Function, a: Any, b: Any) -> Any:
    """`f` of each element of `a` with each of `b`."""
    del name
    rank, shape = aval_of(b).ndim, aval_of(a).shape
    columns = shaping.reshape(a, (*shape, *[1] * rank))
    return f(*promotion.align_ranks(columns, b))


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
    rows = _merge_axes(promotion.cast(x, dtype, False), (axis,))
    count = aval_of(rows).shape[0]
    ends = concatenation.concatenate(
        [starts[1:], creation.full((1,), count, starts.dtype)], 0
    )
    rank = aval_of(rows).ndim
    first, last = (
        manipulation.expand_dims(v, tuple(range(1, rank))) for v in (starts, ends)
    )
    positions = shaping.iota(aval_of(starts).dtype, count)
    start = (first, last, rows[starts])
    (_, _, out), _ = scan_.scan(
        _step(_segment_fold, f, dtype), start, (positions, rows)
    )
    return manipulation.moveaxis(out, 0, axis)


def update_at(f: Function, a: Any, indices: Any, *operands: Any) -> Any:
    """The array with `f` applied at positions, one after another.

    A position that is named several times is updated as often; one out of bounds is
    left out.
    """
    x = creation.asarray(a)
    shape, size = aval_of(x).shape, aval_of(x).size
    numbers = shaping.reshape(shaping.iota("int32", size), shape)
    chosen = at.IndexUpdateHelper(numbers)[indices].get(mode="fill", fill_value=size)
    wide = [
        promotion.broadcast_to_shape(creation.asarray(b), aval_of(chosen).shape)
        for b in operands
    ]
    columns = [shaping.reshape(v, (aval_of(v).size,)) for v in (chosen, *wide)]

    flat = shaping.reshape(x, (aval_of(x).size,))
    step = _step(_update, f, aval_of(x).dtype)
    out, _ = scan_.scan(step, flat, tuple(columns))
    return shaping.reshape(out, shape)


# -- whole folds -----------------------------------------------------------------------


def program_of(fold: Function, name: str, f: Function) -> Function:
    """A fold of this module over `f`: one program where `f` is the library's own."""
    if f not in _own:
        return functools.partial(fold, name, f)
    run = _own_folds.get((fold, f))
    if run is None:
        run = _own_folds.setdefault((fold, f), _fuse_fold(fold, name, f))
    return run


# Their programs are emptied with those of other fused functions.
_own_folds: dict[Any, Function] = {}


def _fuse_fold(fold: Function, name: str, f: Function) -> Function:
    def run(*arrays: Any, **options: Any) -> Any:
        return fold(name, f, *arrays, **options)

    run.__name__ = f"{name}_{fold.__name__}"
    return evaluate.fuse(run)


# -- steps -----------------------------------------------------------------------------


def _step(make: Callable[[Function, Any], Function], f: Function, dtype: Any) -> Any:
    """The step of a scan: for the library's own functions the same object each time.

    A user's function may give another program at each call, so its step is new.
    """
    return _kept_step(make, f, dtype) if f in _own else make(f, dtype)


_own: set[Function] = set()


def keep_steps_of(f: Function) -> None:
    """Says that a function of the library gives the same program each time."""
    _own.add(f)


@caching.bounded_cache(512, "steps of folds")
def _kept_step(make: Any, f: Any, dtype: Any) -> Any:
    return make(f, dtype)


def _fold(f: Function, dtype: Any) -> Function:
    return lambda carry, row: (_cast(f(carry, row), dtype), None)


def _masked_fold(f: Function, dtype: Any) -> Function:
    def step(carry: Any, item: Any) -> Any:
        row, chosen = item
        return selection.where(chosen, _cast(f(carry, row), dtype), carry), None

    return step


def _prefix_fold(f: Function, dtype: Any) -> Function:
    def step(carry: Any, row: Any) -> Any:
        new = _cast(f(carry, row), dtype)
        return new, new

    return step


def _segment_fold(f: Function, dtype: Any) -> Function:
    def step(state: Any, item: Any) -> Any:
        first, last, carry = state
        i, row = item
        inside = lax.bitwise_and(first < i, i < last)
        rows = promotion.broadcast_to_shape(row, aval_of(carry).shape)
        new = selection.where(inside, _cast(f(carry, rows), dtype), carry)
        return (first, last, new), None

    return step


def _update(f: Function, dtype: Any) -> Function:
    def step(flat: Any, item: Any) -> Any:
        place, *values = item
        new = _cast(f(flat[place], *values), dtype)
        return at.IndexUpdateHelper(flat)[place].set(new), None

    return step


def _cast(x: Any, dtype: Any) -> Any:
    return promotion.cast(x, dtype, False)


def _axes(name: str, axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    return tuple(sorted(sizes.canonicalize_axes(axis, rank, f"numpy.{name}.reduce")))


def _merge_axes(x: Any, axes: tuple[int, ...]) -> Any:
    """`x` with some axes as one, in front."""
    shape = aval_of(x).shape
    other_axes = [i for i in range(len(shape)) if i not in axes]
    size = 1
    for i in axes:
        size *= shape[i]
    moved = shaping.transpose(x, (*axes, *other_axes))
    return shaping.reshape(moved, (size, *[shape[i] for i in other_axes]))
