"""Sets of values: unique, isin, unions, intersections, differences.

Sizes depend on values, so these run on the host where the values are known; with
`size` the results have that size, filled up at the end.
"""

from __future__ import annotations

import operator
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from olympus._src import tree
from olympus._src.core import dtypes, trace
from olympus._src.core.array_type import Array, ArrayLike, Axis, OptionalArray
from olympus._src.interpreters import concrete_arrays
from olympus._src.lax import concatenation, cumulative, families, shaping, stacking
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as sizes_
from olympus._src.lax import sorting as lax_sorting
from olympus._src.numpy import (
    at,
    creation,
    indexing,
    join_split,
    manipulation,
    promotion,
    searching,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike

_CURE = "pass the argument `size`"


def _resize_axis(
    x: np.ndarray, size: int | None, fill: Any, axis: int = 0
) -> np.ndarray:
    """The array cut or filled up to a size along an axis."""
    if size is None or x.shape[axis] == size:
        return x
    if x.shape[axis] > size:
        return np.take(x, np.arange(size), axis)
    shape = list(x.shape)
    shape[axis] = size - x.shape[axis]
    if fill is None:
        fill = np.take(x, [0], axis) if x.shape[axis] else np.zeros((), x.dtype)
    padding = np.broadcast_to(np.asarray(fill, x.dtype), shape)
    return np.concatenate([x, padding], axis)


@tree.returned_by("olympus.numpy.unique_all")
class unique_all_result(NamedTuple):
    """Distinct values, their first positions, the inverse, and counts."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


@tree.returned_by("olympus.numpy.unique_counts")
class unique_counts_result(NamedTuple):
    """Distinct values and how often each occurs."""

    values: Array
    counts: Array


@tree.returned_by("olympus.numpy.unique_inverse")
class unique_inverse_result(NamedTuple):
    """Distinct values, and for each element which of them it is."""

    values: Array
    inverse_indices: Array


@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = ...,
    return_inverse: Literal[False] = ...,
    return_counts: Literal[False] = ...,
    axis: Axis = ...,
    *,
    equal_nan: bool = ...,
    size: int | None = ...,
    fill_value: OptionalArray = ...,
    sorted: bool = ...,
) -> Array: ...
@overload
def unique(
    ar: ArrayLike,
    *,
    return_index: Literal[True],
    return_inverse: bool = ...,
    return_counts: bool = ...,
    axis: Axis = ...,
    equal_nan: bool = ...,
    size: int | None = ...,
    fill_value: OptionalArray = ...,
    sorted: bool = ...,
) -> tuple[Array, ...]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: bool = ...,
    *,
    return_inverse: Literal[True],
    return_counts: bool = ...,
    axis: Axis = ...,
    equal_nan: bool = ...,
    size: int | None = ...,
    fill_value: OptionalArray = ...,
    sorted: bool = ...,
) -> tuple[Array, ...]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: bool = ...,
    return_inverse: bool = ...,
    *,
    return_counts: Literal[True],
    axis: Axis = ...,
    equal_nan: bool = ...,
    size: int | None = ...,
    fill_value: OptionalArray = ...,
    sorted: bool = ...,
) -> tuple[Array, ...]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: bool = ...,
    return_inverse: bool = ...,
    return_counts: bool = ...,
    axis: Axis = ...,
    *,
    equal_nan: bool = ...,
    size: int | None = ...,
    fill_value: OptionalArray = ...,
    sorted: bool = ...,
) -> Array | tuple[Array, ...]: ...
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Axis = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: OptionalArray = None,
    sorted: bool = True,
) -> Array | tuple[Array, ...]:
    """The distinct values, in ascending order.

    Differs from NumPy: under `jit` the number of results must be known: pass `size`,
    and `fill_value` for the places left over.

    Args:
      ar: array.
      return_index: also return the position of each one's first occurrence.
      return_inverse: also return, for each element, which of them it is.
      return_counts: also return how often each occurs.
      axis: compare slices along this axis; None for single elements.
      equal_nan: whether NaN equals NaN.
      size: how many to return; needed while tracing. More are cut off.
      fill_value: what fills the result where there are fewer; default the least value.
      sorted: has no effect: results are sorted.

    Source: NumPy, `numpy.unique`.

    Example:
      >>> jnp.unique(jnp.array([3, 1, 3]), return_counts=True)
      (Array([1, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    del sorted
    check_arraylike("unique", ar)
    flags = (return_index, return_inverse, return_counts)
    if size is not None and (axis is None or isinstance(ar, trace.Tracer)):
        if axis is not None:
            axis = sizes_.canonicalize_axis(axis, aval_of(ar).ndim, "numpy.unique")
        return _unique_to_size(
            ar, operator.index(size), fill_value, flags, equal_nan, axis
        )
    host = searching.concrete("unique", ar, _CURE)
    results = _unique_host(host, axis, equal_nan)
    values = _resize_axis(results[0], size, fill_value, axis or 0)
    outs = [creation.asarray(values)]
    kind = dtypes.canonicalize_dtype(int)
    for flag, part in zip(flags, results[1:], strict=True):
        if flag:
            inverse = part is results[2]
            fill = 0 if part is results[3] else None
            part = part if inverse else _resize_axis(part, size, fill)
            outs.append(creation.asarray(part.astype(kind)))
    outs = [concrete_arrays.beside_committed(x, ar) for x in outs]
    return outs[0] if len(outs) == 1 else tuple(outs)


def _unique_host(x: np.ndarray, axis: Axis, equal_nan: bool) -> tuple[Any, ...]:
    wide = x.astype(np.float32) if x.dtype.kind == "V" else x
    results = np.unique(
        wide,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        axis=axis,
        equal_nan=equal_nan,
    )
    values, index, inverse, counts = results
    inverse = inverse.reshape(x.shape) if axis is None else inverse.reshape(-1)
    return values.astype(x.dtype), index, inverse, counts


def _unique_to_size(
    ar: Any,
    size: int,
    fill_value: Any,
    flags: tuple[bool, ...],
    equal_nan: bool,
    axis: Axis,
) -> Any:
    fills = () if fill_value is None else (fill_value,)
    shape = aval_of(ar).shape
    if not aval_of(ar).size:
        fill = 0 if fill_value is None else fill_value
        slices = size if axis is None else (*shape[:axis], size, *shape[axis + 1 :])
        values = creation.full(slices, fill, aval_of(ar).dtype)
        inverse = creation.zeros(shape if axis is None else shape[axis], int)
        extras = [creation.zeros((size,), int), inverse, creation.zeros((size,), int)]
    else:
        values, *extras = _unique_sized(
            ar, *fills, size=size, equal_nan=equal_nan, axis=axis
        )
    outs = [values, *[part for part, flag in zip(extras, flags, strict=True) if flag]]
    return outs[0] if len(outs) == 1 else tuple(outs)


@promotion.evaluate.fuse
def _unique_sized(ar: Any, *fills: Any, size: int, equal_nan: bool, axis: Axis) -> Any:
    kind = dtypes.canonicalize_dtype(int)
    if axis is None:
        items = shaping.reshape(ar, (aval_of(ar).size,))
        ordered, order, new = _sort_with_order(items, equal_nan)
    else:
        items = manipulation.moveaxis(ar, axis, 0)
        ordered, order, new = _slices_in_order(items, equal_nan)
    n = aval_of(items).shape[0]
    # One more than wanted: a distinct value that is cut off ends the last one's run.
    (bounds,) = searching.nonzero(new, size=size + 1, fill_value=n)
    starts, ends = (concatenation.slice_in_dim(bounds, i, size + i) for i in (0, 1))
    rank = lax.sub(cumulative.cumsum(lax.convert(new, kind), 0), kind.type(1))
    inverse = at.IndexUpdateHelper(families.full_like(order, 0))[order].set(rank)
    counts = lax.sub(ends, starts)
    some = lax.lt(starts, lax.size_value(n, kind))
    safe = lax.min_(lax.size_value(n - 1, kind), starts)
    values = indexing.getitem(ordered, (safe,))
    index = indexing.getitem(order, (safe,))
    if fills:
        fill = _fill(fills[0], aval_of(values).dtype)
    else:
        fill = shaping.squeeze(concatenation.slice_in_dim(ordered, 0, 1), (0,))
    shape = aval_of(values).shape
    values = lax.select(
        shaping.broadcast_in_dim(some, shape, (0,)),
        values,
        promotion.full_shape(fill, shape),
    )
    head = shaping.squeeze(concatenation.slice_in_dim(order, 0, 1), (0,))
    index = lax.select(some, index, promotion.full_shape(head, (size,)))
    if axis is None:
        inverse = shaping.reshape(inverse, aval_of(ar).shape)
    else:
        values = manipulation.moveaxis(values, 0, axis)
    return [values, index, inverse, counts]


def _fill(value: Any, dtype: Any) -> Any:
    """A value to fill with; integers wrap around, as where they are traced."""
    if isinstance(value, int):
        return np.asarray(value).astype(dtype)[()]
    return promotion.cast(value, dtype, False)


def _places_before(n: Any) -> Any:
    """For each place the one before it; for the first, itself."""
    places = shaping.counting(n)
    if isinstance(places, np.ndarray):
        return np.maximum(places - 1, 0)
    return lax.max_(lax.sub(places, np.int32(1)), np.int32(0))


def _sort_with_order(flat: Any, equal_nan: bool) -> tuple[Any, Any, Any]:
    """A vector sorted, whence its elements are, and which are not equal to the last."""
    kind = dtypes.canonicalize_dtype(int)
    n = aval_of(flat).size
    ordered, order = lax_sorting.sort((flat, shaping.iota(kind, n)), num_keys=1)
    first = lax.eq(shaping.iota(kind, n), kind.type(0))
    return ordered, order, lax.bitwise_or(_changes(ordered, equal_nan), first)


def _slices_in_order(items: Any, equal_nan: bool) -> tuple[Any, Any, Any]:
    """As `_sort_with_order` for slices along the first axis: the first element
    decides, then the next.
    """
    kind = dtypes.canonicalize_dtype(int)
    n = aval_of(items).shape[0]
    columns = stacking.unstack(shaping.reshape(items, (n, aval_of(items).size // n)), 1)
    *ordered, order = lax_sorting.sort(
        (*columns, shaping.iota(kind, n)), num_keys=len(columns)
    )
    new = lax.eq(shaping.iota(kind, n), kind.type(0))
    for column in ordered:
        new = lax.bitwise_or(new, _changes(column, equal_nan))
    rows = shaping.reshape(stacking.stack(ordered, 1), aval_of(items).shape)
    return rows, order, new


def _changes(ordered: Any, equal_nan: bool) -> Any:
    """Which elements of a vector are not equal to the last; the first one is."""
    before = indexing.getitem(ordered, (_places_before(aval_of(ordered).size),))
    new = lax.ne(ordered, before)
    if equal_nan and dtypes.kind(aval_of(ordered).dtype) in "fc":
        both = lax.bitwise_and(lax.ne(ordered, ordered), lax.ne(before, before))
        new = lax.bitwise_and(new, lax.bitwise_not(both))
    return new


def unique_all(
    x: ArrayLike, /, *, size: int | None = None, fill_value: OptionalArray = None
) -> unique_all_result:
    """Distinct values with first positions, inverse and counts.

    Differs from NumPy: under `jit` the number of results must be known: pass `size`.

    Args:
      x: array.
      size, fill_value: see `unique`.

    Source: NumPy, `numpy.unique_all`.

    Example:
      >>> jnp.unique_all(jnp.array([3, 1, 3])).inverse_indices
      Array([1, 0, 1], dtype=int32)
    """
    check_arraylike("unique_all", x)
    return unique_all_result(
        *unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_counts(
    x: ArrayLike, /, *, size: int | None = None, fill_value: OptionalArray = None
) -> unique_counts_result:
    """Distinct values and how often each occurs.

    Differs from NumPy: under `jit` the number of results must be known: pass `size`.

    Args:
      x: array.
      size, fill_value: see `unique`.

    Source: NumPy, `numpy.unique_counts`.

    Example:
      >>> jnp.unique_counts(jnp.array([3, 1, 3])).counts
      Array([1, 2], dtype=int32)
    """
    check_arraylike("unique_counts", x)
    return unique_counts_result(
        *unique(
            x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value
        )
    )


def unique_inverse(
    x: ArrayLike, /, *, size: int | None = None, fill_value: OptionalArray = None
) -> unique_inverse_result:
    """Distinct values, and for each element which of them it is.

    Differs from NumPy: under `jit` the number of results must be known: pass `size`.

    Args:
      x: array.
      size, fill_value: see `unique`.

    Source: NumPy, `numpy.unique_inverse`.

    Example:
      >>> jnp.unique_inverse(jnp.array([3, 1, 3])).inverse_indices
      Array([1, 0, 1], dtype=int32)
    """
    check_arraylike("unique_inverse", x)
    return unique_inverse_result(
        *unique(
            x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value
        )
    )


def unique_values(
    x: ArrayLike, /, *, size: int | None = None, fill_value: OptionalArray = None
) -> Array:
    """The distinct values.

    Differs from NumPy: under `jit` the number of results must be known: pass `size`.

    Args:
      x: array.
      size, fill_value: see `unique`.

    Source: NumPy, `numpy.unique_values`.

    Example:
      >>> jnp.unique_values(jnp.array([3, 1, 3]))
      Array([1, 3], dtype=int32)
    """
    check_arraylike("unique_values", x)
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


# -- two sets --------------------------------------------------------------------------


def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    method: str = "auto",
) -> Array:
    """Whether each element is among given values.

    Differs from NumPy: the algorithm is chosen by `method`, not `kind`.

    Args:
      element: array.
      test_elements: array of values.
      assume_unique, method: have no effect on the result.
      invert: whether it is not among them, instead.

    Returns:
      A boolean array of the elements' shape.

    Source: NumPy, `numpy.isin`.

    Example:
      >>> jnp.isin(jnp.array([1, 2, 3]), jnp.array([3, 1]))
      Array([ True, False,  True], dtype=bool)
    """
    del assume_unique, method
    check_arraylike("isin", element, test_elements)
    return _isin(element, test_elements, invert=bool(invert))


@promotion.program(2, name="isin")
def _isin(element: Any, values: Any, *, invert: bool) -> Any:
    x, values = promotion.promote_dtypes(element, values)
    n = aval_of(values).size
    shape = aval_of(x).shape
    if not n:
        return promotion.full_shape(np.bool_(invert), shape)
    line = lax_sorting.sort(shaping.reshape(values, (n,)))
    where = searching.binary_search(line, x, "left")
    kind = aval_of(where).dtype
    near = indexing.getitem(line, (lax.min_(lax.size_value(n - 1, kind), where),))
    is_member = promotion.strong(lax.eq(near, x))
    return lax.bitwise_not(is_member) if invert else is_member


def _two(name: str, a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    typed = dtypes.dtype_and_weak(a), dtypes.dtype_and_weak(b)
    dtype, _ = dtypes.standard_result(*typed)
    hosts = [searching.concrete(name, x, _CURE).astype(dtype).ravel() for x in (a, b)]
    return hosts[0], hosts[1]


def _arrays(a: Any, b: Any, *values: Any) -> list[Any]:
    """Arrays of values that were computed on the host from two arrays."""
    arrays = map(creation.asarray, values)
    return [concrete_arrays.beside_committed(x, a, b) for x in arrays]


def _vectors(a: Any, b: Any) -> list[Any]:
    """Two arrays in their common dtype, each with one axis."""
    both = promotion.promote_dtypes(a, b)
    return [shaping.reshape(x, (aval_of(x).size,)) for x in both]


def _flags(value: bool, x: Any) -> Any:
    return promotion.full_shape(np.bool_(value), aval_of(x).shape)


def _distinct(x: Any, assume_unique: bool) -> tuple[Any, Any, Any]:
    """A vector sorted, whence its elements are, and the first of each value."""
    ordered, order, new = _sort_with_order(x, equal_nan=True)
    if assume_unique:
        new = _flags(True, x)
    return ordered, order, new


def _first_of(keep: Any, size: int) -> tuple[Any, Any]:
    """The first positions that are kept, and which of them there are."""
    n = aval_of(keep).size
    (at,) = searching.nonzero(keep, size=size, fill_value=n)
    return at, lax.lt(at, lax.size_value(n, aval_of(at).dtype))


def _select_first(x: Any, keep: Any, size: int, fills: tuple[Any, ...]) -> Any:
    """The first elements that are kept; others are the fill, or the first of them."""
    dtype = aval_of(x).dtype
    fill = _fill(fills[0] if fills else 0, dtype)
    if not aval_of(x).size or not size:
        return promotion.full_shape(fill, (size,))
    at, there = _first_of(keep, size)
    elements = indexing.getitem(x, (at,))
    if not fills:
        first, some = (
            shaping.squeeze(concatenation.slice_in_dim(v, 0, 1), (0,))
            for v in (elements, there)
        )
        fill = lax.select(some, first, families.full_like(first, 0))
    return lax.select(there, elements, promotion.full_shape(fill, (size,)))


def union1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    *,
    size: int | None = None,
    fill_value: OptionalArray = None,
) -> Array:
    """The values that occur in either array.

    Differs from NumPy: under `jit` the number of results must be known: pass `size`.

    Args:
      ar1, ar2: arrays.
      size, fill_value: see `unique`.

    Source: NumPy, `numpy.union1d`.

    Example:
      >>> jnp.union1d(jnp.array([3, 1]), jnp.array([2, 3]))
      Array([1, 2, 3], dtype=int32)
    """
    check_arraylike("union1d", ar1, ar2)
    both = join_split.concatenate([manipulation.ravel(ar1), manipulation.ravel(ar2)])
    return unique(both, size=size, fill_value=fill_value)


def setdiff1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: OptionalArray = None,
) -> Array:
    """The values of the first array that do not occur in the second.

    Differs from NumPy: under `jit` the number of results must be known: pass `size`.

    Args:
      ar1, ar2: arrays.
      assume_unique: keep the order and repetitions of `ar1`.
      size, fill_value: see `unique`; the default fill is 0.

    Returns:
      A vector of `ar1`'s dtype.

    Source: NumPy, `numpy.setdiff1d`.

    Example:
      >>> jnp.setdiff1d(jnp.array([1, 2, 3]), jnp.array([2]))
      Array([1, 3], dtype=int32)
    """
    check_arraylike("setdiff1d", ar1, ar2)
    if size is not None:
        fill = 0 if fill_value is None else fill_value
        size = operator.index(size)
        return _setdiff(ar1, ar2, fill, assume_unique=bool(assume_unique), size=size)
    x, y = _two("setdiff1d", ar1, ar2)
    difference = np.setdiff1d(x, y, assume_unique)
    return _arrays(ar1, ar2, difference.astype(aval_of(ar1).dtype))[0]


@promotion.evaluate.fuse
def _setdiff(a: Any, b: Any, *fills: Any, assume_unique: bool, size: int) -> Any:
    own = aval_of(a)
    x, y = _vectors(a, b)
    new = _flags(True, x)
    if not assume_unique and aval_of(x).size:
        x, _, new = _distinct(x, False)
    keep = lax.bitwise_and(new, _isin(x, y, invert=True))
    out = _select_first(lax.convert(x, own.dtype), keep, size, fills)
    return lax.convert(out, own.dtype, own.weak_type)


def setxor1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: OptionalArray = None,
) -> Array:
    """The values that occur in exactly one of two arrays.

    Differs from NumPy: under `jit` the number of results must be known: pass `size`.

    Args:
      ar1, ar2: arrays.
      assume_unique: whether neither repeats a value.
      size, fill_value: see `unique`.

    Source: NumPy, `numpy.setxor1d`.

    Example:
      >>> jnp.setxor1d(jnp.array([1, 2]), jnp.array([2, 3]))
      Array([1, 3], dtype=int32)
    """
    check_arraylike("setxor1d", ar1, ar2)
    if size is not None:
        fills = () if fill_value is None else (fill_value,)
        size, unique_ = operator.index(size), bool(assume_unique)
        return _setxor(ar1, ar2, *fills, assume_unique=unique_, size=size)
    x, y = _two("setxor1d", ar1, ar2)
    return _arrays(ar1, ar2, np.setxor1d(x, y, assume_unique))[0]


@promotion.evaluate.fuse
def _setxor(a: Any, b: Any, *fills: Any, assume_unique: bool, size: int) -> Any:
    x, y = [promotion.strong(v) for v in _vectors(a, b)]
    if assume_unique:
        return _setxor_of_sets(x, y, fills, size)
    values, keep = [], []
    for one, other in ((x, y), (y, x)):
        if aval_of(one).size:
            ordered, _, new = _distinct(one, False)
            values.append(ordered)
            keep.append(lax.bitwise_and(new, _isin(ordered, other, invert=True)))
    if not values:
        return _select_first(x, _flags(False, x), size, fills)
    both = [concatenation.concatenate(v, 0) for v in (values, keep)]
    ordered, mask = lax_sorting.sort(tuple(both), num_keys=1)
    return _select_first(ordered, mask, size, fills)


def _setxor_of_sets(x: Any, y: Any, fills: Any, size: int) -> Any:
    """What differs from both its neighbours, as NumPy has it where values repeat."""
    both = concatenation.concatenate([x, y], 0)
    if aval_of(both).size < 2:
        return _select_first(both, _flags(True, both), size, fills)
    ordered = lax_sorting.sort(both)
    apart = lax.ne(ordered[1:], ordered[:-1])
    end = families.full_like(apart[:1], True)
    before = concatenation.concatenate([end, apart], 0)
    after = concatenation.concatenate([apart, end], 0)
    return _select_first(ordered, lax.bitwise_and(before, after), size, fills)


@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = ...,
    return_indices: Literal[False] = ...,
    *,
    size: int | None = ...,
    fill_value: OptionalArray = ...,
) -> Array: ...
@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = ...,
    *,
    return_indices: Literal[True],
    size: int | None = ...,
    fill_value: OptionalArray = ...,
) -> tuple[Array, Array, Array]: ...
@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = ...,
    return_indices: bool = ...,
    *,
    size: int | None = ...,
    fill_value: OptionalArray = ...,
) -> Array | tuple[Array, Array, Array]: ...
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: OptionalArray = None,
) -> Array | tuple[Array, Array, Array]:
    """The values that occur in both arrays.

    Differs from NumPy: under `jit` the number of results must be known: pass `size`.

    Args:
      ar1, ar2: arrays.
      assume_unique: whether neither repeats a value.
      return_indices: also return their first positions in each; the size of the array
        where there are no more.
      size, fill_value: see `unique`.

    Source: NumPy, `numpy.intersect1d`.

    Example:
      >>> jnp.intersect1d(jnp.array([1, 2, 3, 2]), jnp.array([2, 3, 4]))
      Array([2, 3], dtype=int32)
    """
    check_arraylike("intersect1d", ar1, ar2)
    if size is not None:
        fills = () if fill_value is None else (fill_value,)
        size, unique_ = operator.index(size), bool(assume_unique)
        results = _intersect(ar1, ar2, *fills, assume_unique=unique_, size=size)
        return tuple(results) if return_indices else results[0]
    x, y = _two("intersect1d", ar1, ar2)
    if not return_indices:
        return _arrays(ar1, ar2, np.intersect1d(x, y, assume_unique))[0]
    values, i, j = np.intersect1d(x, y, assume_unique, return_indices=True)
    kind = dtypes.canonicalize_dtype(int)
    return tuple(_arrays(ar1, ar2, values, i.astype(kind), j.astype(kind)))


@promotion.evaluate.fuse
def _intersect(a: Any, b: Any, *fills: Any, assume_unique: bool, size: int) -> Any:
    """The values, and their first positions in either array, past the end of it
    where there are no more.
    """
    x, y = [promotion.strong(v) for v in _vectors(a, b)]
    kind = dtypes.canonicalize_dtype(int)
    lengths = [kind.type(aval_of(v).size) for v in (x, y)]
    nowhere = [promotion.full_shape(n, (size,)) for n in lengths]
    if assume_unique:
        return _intersect_of_sets(x, y, nowhere, fills, size)
    if not (aval_of(x).size and aval_of(y).size and size):
        none = _flags(False, x)
        return [_select_first(x, none, size, fills), *nowhere]
    ordered, order, new = _distinct(x, False)
    there = _isin(ordered, y, invert=False)
    keep = lax.bitwise_and(new, there)
    values = _select_first(ordered, keep, size, fills)
    at, some = _first_of(keep, size)
    line, whence, _ = _distinct(y, True)
    matches = searching.binary_search(line, indexing.getitem(ordered, (at,)), "left")
    places = [indexing.getitem(order, (at,)), indexing.getitem(whence, (matches,))]
    both = zip(places, nowhere, strict=True)
    return [values, *[lax.select(some, p, n) for p, n in both]]


def _intersect_of_sets(x: Any, y: Any, nowhere: Any, fills: Any, size: int) -> Any:
    """What equals its right neighbour, as NumPy has it where values repeat."""
    both = concatenation.concatenate([x, y], 0)
    if aval_of(both).size < 2 or not size:
        return [_select_first(both, _flags(False, both), size, fills), *nowhere]
    ordered, order, _ = _sort_with_order(both, equal_nan=False)
    same = lax.eq(ordered[1:], ordered[:-1])
    at, some = _first_of(same, size)
    first, second = (indexing.getitem(row, (at,)) for row in (order[:-1], order[1:]))
    n = lax.size_value(aval_of(x).size, aval_of(second).dtype)
    places = zip((first, lax.sub(second, n)), nowhere, strict=True)
    values = _select_first(ordered[:-1], same, size, fills)
    return [values, *[lax.select(some, p, none) for p, none in places]]
