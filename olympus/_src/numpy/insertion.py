"""Arrays with elements inserted, deleted or overwritten: insert, delete, put, ..."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import dtypes, trace
from olympus._src.core.array_type import Array, ArrayLike, Axes, Axis
from olympus._src.core.sizes import is_symbolic, slice_positions
from olympus._src.foundation import errors
from olympus._src.interpreters import concrete_arrays
from olympus._src.lax import concatenation, families, shaping
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import (
    at,
    cumulative_sums,
    indexing,
    logic,
    manipulation,
    promotion,
    searching,
    selection,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike


def _refuse_in_place(name: str, inplace: bool) -> None:
    if inplace:
        raise ValueError(
            f"numpy.{name}: inplace must be False, since arrays are never changed in "
            "place; use the returned array"
        )


def delete(
    arr: ArrayLike,
    obj: slice | ArrayLike | Sequence[int],
    axis: Axis = None,
    *,
    assume_unique_indices: bool = False,
) -> Array:
    """The array without some slices of an axis.

    Differs from NumPy: integers that are traced need `assume_unique_indices`.

    Args:
      arr: array.
      obj: which: an integer, a slice, an array of integers or booleans.
      axis: the axis; None for the flattened array.
      assume_unique_indices: whether integers in `obj` do not repeat; needed where they
        are traced.

    Raises:
      IndexError: a position of an array is out of range.
      ValueError: `obj` is one position and out of range.

    Source: NumPy, `numpy.delete`.

    Example:
      >>> jnp.delete(jnp.array([10, 20, 30]), 1)
      Array([10, 30], dtype=int32)
    """
    check_arraylike("delete", arr)
    x = concrete_arrays.as_array_or_tracer(arr)
    if axis is None:
        axis, x = 0, manipulation.ravel(x)
    axis = sizes_.canonicalize_axis(axis, aval_of(x).ndim, "numpy.delete")
    n = aval_of(x).shape[axis]
    lead = (slice(None),) * axis
    if isinstance(obj, trace.Tracer):
        return _delete_traced(x, obj, axis, n, assume_unique_indices)
    if not isinstance(obj, slice):
        check_arraylike("delete", obj)
        obj = np.asarray(promotion.resolve(obj))
        if not is_symbolic(n):
            _check_positions(obj, n)
    if is_symbolic(n):
        return _delete_symbolic(x, obj, axis, n)
    positions = np.delete(np.arange(n), obj)
    return indexing.getitem(x, (*lead, positions.astype(np.int32)))


def _check_positions(obj: np.ndarray[Any, Any], n: int) -> None:
    if obj.dtype.kind not in "iu" or not np.any((obj < -n) | (obj >= n)):
        return
    kind = IndexError if obj.ndim else ValueError
    raise kind(
        f"numpy.delete: positions must be within an axis of size {n}, "
        f"got {obj.tolist()}"
    )


def _delete_symbolic(x: Any, obj: Any, axis: int, n: Any) -> Any:
    """Deletes known positions of an axis of symbolic size: one, or a whole slice."""
    if isinstance(obj, slice):
        first, count, step = slice_positions(obj, n)
        if step == 1:
            return _without(x, axis, first, first + count)
    elif obj.size == 1:
        first = int(obj.reshape(()))
        first = first + n if first < 0 else first
        return _without(x, axis, first, first + 1)
    raise errors.InconclusiveDimensionOperation(
        "numpy.delete: along an axis of symbolic size one position can be deleted, or "
        f"a slice of step 1, got {obj} for the size {n}; delete one after another"
    )


def _without(x: Any, axis: int, first: Any, last: Any) -> Any:
    head = concatenation.slice_in_dim(x, 0, first, axis=axis)
    tail = concatenation.slice_in_dim(x, last, None, axis=axis)
    return concatenation.concatenate([head, tail], axis)


def _delete_traced(x: Any, obj: Any, axis: int, n: int, unique: bool) -> Any:
    aval = aval_of(obj)
    if dtypes.kind(aval.dtype) not in "iu" or (aval.ndim and not unique):
        searching.concrete(
            "delete", obj, "pass assume_unique_indices=True for integers"
        )
    count = aval.size
    index = lax.convert(shaping.reshape(obj, (count,)), np.dtype(np.int32))
    index = lax.select(lax.lt(index, np.int32(0)), lax.add(index, np.int32(n)), index)
    index = lax.min_(lax.max_(index, np.int32(0)), np.int32(n - 1))
    mask = at.IndexUpdateHelper(promotion.full_shape(np.bool_(True), (n,)))[index].set(
        False
    )
    (positions,) = searching.nonzero(mask, size=n - count)
    return indexing.getitem(x, (slice(None),) * axis + (positions,))


def insert(
    arr: ArrayLike,
    obj: slice | ArrayLike | Sequence[int],
    values: ArrayLike,
    axis: Axis = None,
) -> Array:
    """The array with values inserted before positions of an axis.

    Differs from NumPy: positions must be known, so not traced.

    Args:
      arr: array.
      obj: the positions in `arr`: an integer, a slice or an array of integers.
      values: what is inserted; broadcasts.
      axis: the axis; None for the flattened array.

    Source: NumPy, `numpy.insert`.

    Example:
      >>> jnp.insert(jnp.array([1, 2, 3]), 1, 9)
      Array([1, 9, 2, 3], dtype=int32)
    """
    check_arraylike("insert", arr, 0 if isinstance(obj, slice) else obj, values)
    x, values = (
        concrete_arrays.as_array_or_tracer(arr),
        concrete_arrays.as_array_or_tracer(values),
    )
    if axis is None:
        axis, x, values = 0, manipulation.ravel(x), manipulation.ravel(values)
    axis = sizes_.canonicalize_axis(axis, aval_of(x).ndim, "numpy.insert")
    n = aval_of(x).shape[axis]
    if is_symbolic(n):
        return _insert_symbolic(x, obj, values, axis, n)
    if isinstance(obj, slice):
        obj = np.arange(n)[obj]
    places = searching.concrete("insert", obj, "insert with concatenate")
    single = places.ndim == 0
    places = np.where(places < 0, places + n, places)
    places = np.clip(np.atleast_1d(places), 0, n)
    shape = list(aval_of(x).shape)
    if single:  # of values with as many axes, the first counts what is put in
        values = shaping.broadcast_to_rank(values, len(shape))
        values = manipulation.moveaxis(values, 0, axis)
        places = np.repeat(places, aval_of(values).shape[axis])
    order = np.argsort(places, kind="stable")
    inserted = np.empty(len(places), np.int64)
    inserted[order] = places[order] + np.arange(len(places))
    total = n + len(places)
    old = np.delete(np.arange(total), inserted)
    shape[axis] = total
    lead = (slice(None),) * axis
    dtype = aval_of(x).dtype
    out = promotion.full_shape(promotion.scalar(0, x), tuple(shape))
    out = at.IndexUpdateHelper(concrete_arrays.as_array_or_tracer(out))[
        (*lead, old.astype(np.int32))
    ].set(x)
    piece = list(shape)
    piece[axis] = len(places)
    values = manipulation.broadcast_to(lax.convert(values, dtype, False), tuple(piece))
    return at.IndexUpdateHelper(out)[(*lead, inserted.astype(np.int32))].set(values)


def _insert_symbolic(x: Any, obj: Any, values: Any, axis: int, n: Any) -> Any:
    """Inserts before one known position of an axis of symbolic size."""
    places = None if isinstance(obj, slice) else searching.concrete("insert", obj, "")
    if places is None or places.size != 1:
        raise errors.InconclusiveDimensionOperation(
            "numpy.insert: along an axis of symbolic size values can be inserted "
            f"before one position, got {obj} for the size {n}; insert them one after "
            "another"
        )
    place = int(places.reshape(()))
    place = place + n if place < 0 else place
    values = shaping.broadcast_to_rank(values, aval_of(x).ndim)
    if places.ndim == 0:
        values = manipulation.moveaxis(values, 0, axis)
    piece = list(aval_of(x).shape)
    piece[axis] = aval_of(values).shape[axis]
    values = lax.convert(values, aval_of(x).dtype, False)
    values = manipulation.broadcast_to(values, tuple(piece))
    head = concatenation.slice_in_dim(x, 0, place, axis=axis)
    tail = concatenation.slice_in_dim(x, place, None, axis=axis)
    return concatenation.concatenate([head, values, tail], axis)


def fill_diagonal(
    a: ArrayLike, val: ArrayLike, wrap: bool = False, *, inplace: bool = True
) -> Array:
    """The array with values on its main diagonal.

    Differs from NumPy: arrays do not change in place, so `inplace` must be False and
    the result is returned.

    Args:
      a: array of at least two axes.
      val: a number, or values that are repeated along the diagonal.
      wrap: must be False.
      inplace: must be False: arrays are never changed in place.

    Source: NumPy, `numpy.fill_diagonal`.

    Example:
      >>> jnp.fill_diagonal(jnp.zeros((2, 2), int), 5, inplace=False)
      Array([[5, 0],
             [0, 5]], dtype=int32)
    """
    if inplace:
        raise NotImplementedError(
            "numpy.fill_diagonal: inplace must be False, since arrays are never "
            "changed "
            "in place; use the returned array"
        )
    if wrap:
        raise NotImplementedError("numpy.fill_diagonal: wrap must be False")
    check_arraylike("fill_diagonal", a, val)
    sizes = aval_of(a).shape
    if len(sizes) < 2 or (len(sizes) > 2 and len(set(sizes)) > 1):
        raise ValueError(
            "numpy.fill_diagonal: a must be a matrix, or have equal sizes along all "
            "axes, "
            f"got {aval_of(a).short()}"
        )
    n = min(sizes)
    line = np.arange(n, dtype=np.int32)
    val = concrete_arrays.as_array_or_tracer(val)
    if aval_of(val).ndim:
        val = manipulation.resize(val, (n,))
    return at.IndexUpdateHelper(concrete_arrays.as_array_or_tracer(a))[
        (line,) * len(sizes)
    ].set(val)


def put(
    a: ArrayLike,
    ind: ArrayLike,
    v: ArrayLike,
    mode: str | None = None,
    *,
    inplace: bool = True,
) -> Array:
    """The array with values at positions of the flattened array.

    Differs from NumPy: arrays do not change in place, so `inplace` must be False and
    the result is returned; positions out of range are clipped to the nearest one unless
    `mode` says otherwise.

    Args:
      a: array.
      ind: integer array of positions.
      v: values, repeated as needed.
      mode: for positions out of range "clip" (the nearest) or "wrap" (modulo the size);
        the default is the nearest, negative positions counting from the end.
      inplace: must be False: arrays are never changed in place.

    Source: NumPy, `numpy.put`.

    Example:
      >>> jnp.put(
      ...     jnp.array([1, 2, 3]),
      ...     jnp.array([0, 2]),
      ...     jnp.array([8, 9]),
      ...     inplace=False,
      ... )
      Array([8, 2, 9], dtype=int32)
    """
    _refuse_in_place("put", inplace)
    check_arraylike("put", a, ind, v)
    x = concrete_arrays.as_array_or_tracer(a)
    n = aval_of(x).size
    ind = manipulation.ravel(ind)
    if not n or not aval_of(ind).size or not aval_of(v).size:
        return x
    kind = aval_of(ind).dtype
    zero = families.number_of(0, kind)
    if mode == "wrap":
        count = lax.size_value(n, kind)
        remainder = lax.rem(ind, count)
        ind = lax.select(lax.lt(remainder, zero), lax.add(remainder, count), remainder)
    elif mode == "clip":  # here a negative position is out of range, as in NumPy
        ind = lax.min_(lax.max_(ind, zero), lax.size_value(n - 1, kind))
    elif mode is not None:
        raise ValueError(
            f"mode should be one of 'wrap' or 'clip'; numpy.put got {mode!r}"
        )
    # While they are few, and so that their derivatives are as weak as they are.
    values = promotion.strong(v)
    values = manipulation.resize(values, (aval_of(ind).size,))
    out = at.IndexUpdateHelper(manipulation.ravel(x))[ind].set(values, mode="clip")
    return manipulation.reshape(out, aval_of(x).shape)


def place(
    arr: ArrayLike, mask: ArrayLike, vals: ArrayLike, *, inplace: bool = True
) -> Array:
    """The array with values, in turn, at the elements where a mask holds.

    Differs from NumPy: arrays do not change in place, so `inplace` must be False and
    the result is returned.

    Args:
      arr: array.
      mask: array of booleans, of as many elements.
      vals: values, repeated as needed.
      inplace: must be False: arrays are never changed in place.

    Source: NumPy, `numpy.place`.

    Example:
      >>> jnp.place(
      ...     jnp.array([1, 2, 3]),
      ...     jnp.array([True, False, True]),
      ...     jnp.array([8, 9]),
      ...     inplace=False,
      ... )
      Array([8, 2, 9], dtype=int32)
    """
    _refuse_in_place("place", inplace)
    check_arraylike("place", arr, mask, vals)
    x = concrete_arrays.as_array_or_tracer(arr)
    if aval_of(x).size != aval_of(mask).size:
        raise ValueError("place: arr and mask must be the same size; numpy.place")
    if not aval_of(vals).size:
        raise ValueError("Cannot place values from an empty array; numpy.place")
    flags = manipulation.ravel(logic.truth(mask))
    line = manipulation.ravel(vals)
    kind = dtypes.canonicalize_dtype(int)
    rank = lax.sub(cumulative_sums.cumsum(flags), kind.type(1))
    turn = lax.rem(lax.max_(rank, kind.type(0)), kind.type(aval_of(line).size))
    kind = aval_of(x)
    chosen = lax.convert(indexing.getitem(line, (turn,)), kind.dtype, kind.weak_type)
    out = selection.where(flags, chosen, manipulation.ravel(x))
    return manipulation.reshape(out, aval_of(x).shape)


def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Axes = None) -> Array:
    """The array without the zeros at its ends.

    Args:
      filt: array whose values are known.
      trim: "f" for the front, "b" for the back, or both.
      axis: the axes trimmed; None for all.

    Source: NumPy, `numpy.trim_zeros`.

    Example:
      >>> jnp.trim_zeros(jnp.array([0, 0, 1, 2, 0]))
      Array([1, 2], dtype=int32)
    """
    check_arraylike("trim_zeros", filt)
    host = searching.concrete("trim_zeros", filt, "cut with slices")
    axes = range(host.ndim) if axis is None else np.atleast_1d(axis).tolist()
    cut: list[Any] = [slice(None)] * host.ndim
    positions = np.nonzero(host)
    for i in axes:
        low = int(positions[i].min()) if positions[i].size else host.shape[i]
        high = int(positions[i].max()) + 1 if positions[i].size else 0
        first = low if "f" in trim.lower() else 0
        cut[i] = slice(first, max(high, first) if "b" in trim.lower() else None)
    return indexing.getitem(concrete_arrays.as_array_or_tracer(filt), tuple(cut))
