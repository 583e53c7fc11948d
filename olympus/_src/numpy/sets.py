"""Sets of values: unique, isin, unions, intersections, differences.

Sizes depend on values, so these run on the host where the values are known; with
`size` the results have that size, filled up at the end.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from olympus._src.core import dtypes
from olympus._src.lax import cumulative, families, joining, shaping
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sorting as lax_sorting
from olympus._src.numpy import (
    assembly,
    at,
    creation,
    indexing,
    manipulation,
    promotion,
    search,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike

_CURE = "pass the argument `size`"


def _resized(x: np.ndarray, size: int | None, fill: Any, axis: int = 0) -> np.ndarray:
    """The array cut or filled up to a size along an axis."""
    if size is None or x.shape[axis] == size:
        return x
    if x.shape[axis] > size:
        return np.take(x, np.arange(size), axis)
    shape = list(x.shape)
    shape[axis] = size - x.shape[axis]
    if fill is None:
        fill = np.take(x, [0], axis) if x.shape[axis] else np.zeros((), x.dtype)
    rest = np.broadcast_to(np.asarray(fill, x.dtype), shape)
    return np.concatenate([x, rest], axis)


class unique_all_result(NamedTuple):
    """Distinct values, their first positions, the inverse, and counts."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class unique_counts_result(NamedTuple):
    """Distinct values and how often each occurs."""

    values: Any
    counts: Any


class unique_inverse_result(NamedTuple):
    """Distinct values, and for each element which of them it is."""

    values: Any
    inverse_indices: Any


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Any:
    """The distinct values, in rising order.

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
    """
    del sorted
    check_arraylike("unique", ar)
    wanted = (return_index, return_inverse, return_counts)
    if size is not None and axis is None:
        return _sized(ar, operator.index(size), fill_value, wanted, equal_nan)
    host = search.concrete("unique", ar, _CURE)
    found = _unique_host(host, axis, equal_nan)
    values = _resized(found[0], size, fill_value, axis or 0)
    outs = [creation.asarray(values)]
    kind = dtypes.canonicalize_dtype(int)
    for flag, part in zip(wanted, found[1:], strict=True):
        if flag:
            inverse = part is found[2]
            fill = 0 if part is found[3] else None
            part = part if inverse else _resized(part, size, fill)
            outs.append(creation.asarray(part.astype(kind)))
    return outs[0] if len(outs) == 1 else tuple(outs)


def _unique_host(x: np.ndarray, axis: int | None, equal_nan: bool) -> tuple[Any, ...]:
    wide = x.astype(np.float32) if x.dtype.kind == "V" else x
    found = np.unique(
        wide,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        axis=axis,
        equal_nan=equal_nan,
    )
    values, index, inverse, counts = found
    inverse = inverse.reshape(x.shape) if axis is None else inverse.reshape(-1)
    return values.astype(x.dtype), index, inverse, counts


def _sized(
    ar: Any, size: int, fill_value: Any, wanted: tuple[bool, ...], equal_nan: bool
) -> Any:
    fills = () if fill_value is None else (fill_value,)
    if not aval_of(ar).size:
        fill = 0 if fill_value is None else fill_value
        values = creation.full((size,), fill, aval_of(ar).dtype)
        rest = [creation.zeros((size,), int), creation.zeros(aval_of(ar).shape, int)]
        rest.append(creation.zeros((size,), int))
    else:
        values, *rest = _unique_sized(ar, *fills, size=size, equal_nan=equal_nan)
    outs = [values, *[part for part, flag in zip(rest, wanted, strict=True) if flag]]
    return outs[0] if len(outs) == 1 else tuple(outs)


@promotion.evaluate.fuse
def _unique_sized(ar: Any, *fills: Any, size: int, equal_nan: bool) -> Any:
    kind = dtypes.canonicalize_dtype(int)
    n = aval_of(ar).size
    flat = shaping.reshape(ar, (n,))
    ordered, order = lax_sorting.sort((flat, shaping.iota(kind, n)), num_keys=1)
    before = indexing.getitem(ordered, (np.maximum(np.arange(n) - 1, 0),))
    new = lax.ne(ordered, before)
    if equal_nan and dtypes.kind(aval_of(ar).dtype) in "fc":
        both = lax.bitwise_and(lax.ne(ordered, ordered), lax.ne(before, before))
        new = lax.bitwise_and(new, lax.bitwise_not(both))
    first = lax.eq(shaping.iota(kind, n), kind.type(0))
    new = lax.bitwise_or(new, first)
    (starts,) = search.nonzero(new, size=size, fill_value=n)
    rank = lax.sub(cumulative.cumsum(lax.convert(new, kind), 0), kind.type(1))
    inverse = at.IndexUpdateHelper(families.full_like(order, 0))[order].set(rank)
    ends = joining.concatenate([starts, np.asarray([n], kind)], 0)
    ends = joining.slice_in_dim(ends, 1, size + 1)
    counts = lax.sub(ends, starts)
    some = lax.lt(starts, kind.type(n))
    safe = lax.min_(starts, kind.type(n - 1))
    values = indexing.getitem(ordered, (safe,))
    index = indexing.getitem(order, (safe,))
    if fills:
        fill = promotion.cast(fills[0], aval_of(values).dtype, False)
    else:
        fill = shaping.squeeze(joining.slice_in_dim(ordered, 0, 1), (0,))
    values = lax.select(some, values, promotion.full_shape(fill, (size,)))
    head = shaping.squeeze(joining.slice_in_dim(order, 0, 1), (0,))
    index = lax.select(some, index, promotion.full_shape(head, (size,)))
    return [values, index, shaping.reshape(inverse, aval_of(ar).shape), counts]


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Distinct values with first positions, inverse and counts.

    Args:
      x: array.
      size, fill_value: see `unique`.

    Source: NumPy, `numpy.unique_all`.
    """
    check_arraylike("unique_all", x)
    return unique_all_result(
        *unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_counts(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Distinct values and how often each occurs.

    Args:
      x: array.
      size, fill_value: see `unique`.

    Source: NumPy, `numpy.unique_counts`.
    """
    check_arraylike("unique_counts", x)
    return unique_counts_result(
        *unique(
            x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value
        )
    )


def unique_inverse(
    x: Any, /, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """Distinct values, and for each element which of them it is.

    Args:
      x: array.
      size, fill_value: see `unique`.

    Source: NumPy, `numpy.unique_inverse`.
    """
    check_arraylike("unique_inverse", x)
    return unique_inverse_result(
        *unique(
            x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value
        )
    )


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The distinct values.

    Args:
      x: array.
      size, fill_value: see `unique`.

    Source: NumPy, `numpy.unique_values`.
    """
    check_arraylike("unique_values", x)
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


# -- two sets --------------------------------------------------------------------------


def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    method: str = "auto",
) -> Any:
    """Whether each element is among given values.

    Args:
      element: array.
      test_elements: array of values.
      assume_unique, method: have no effect on the result.
      invert: whether it is not among them, instead.

    Returns:
      A boolean array of the elements' shape.

    Source: NumPy, `numpy.isin`.
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
    where = search.binary_search(line, x, "left")
    kind = aval_of(where).dtype
    near = indexing.getitem(line, (lax.min_(where, kind.type(n - 1)),))
    found = lax.eq(near, x)
    return lax.bitwise_not(found) if invert else found


def _two(name: str, a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    check_arraylike(name, a, b)
    dtype, _ = dtypes.lattice_result(dtypes.dtype_and_weak(a), dtypes.dtype_and_weak(b))
    hosts = [search.concrete(name, x, _CURE).astype(dtype).ravel() for x in (a, b)]
    return hosts[0], hosts[1]


def _result(x: np.ndarray, size: int | None, fill_value: Any) -> Any:
    if size is not None and fill_value is None and not x.size:
        fill_value = 0
    return creation.asarray(_resized(x, size, fill_value))


def union1d(
    ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """The values that occur in either array.

    Args:
      ar1, ar2: arrays.
      size, fill_value: see `unique`.

    Source: NumPy, `numpy.union1d`.
    """
    check_arraylike("union1d", ar1, ar2)
    both = assembly.concatenate([manipulation.ravel(ar1), manipulation.ravel(ar2)])
    return unique(both, size=size, fill_value=fill_value)


def setdiff1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The values of the first array that do not occur in the second.

    Args:
      ar1, ar2: arrays.
      assume_unique: keep the order and repetitions of `ar1`.
      size, fill_value: see `unique`; while tracing these are not enough.

    Source: NumPy, `numpy.setdiff1d`.
    """
    x, y = _two("setdiff1d", ar1, ar2)
    fill = 0 if fill_value is None else fill_value
    return _result(np.setdiff1d(x, y, assume_unique), size, fill)


def setxor1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The values that occur in exactly one of two arrays.

    Args:
      ar1, ar2: arrays.
      assume_unique: whether neither repeats a value.
      size, fill_value: see `unique`; while tracing these are not enough.

    Source: NumPy, `numpy.setxor1d`.
    """
    x, y = _two("setxor1d", ar1, ar2)
    return _result(np.setxor1d(x, y, assume_unique), size, fill_value)


def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The values that occur in both arrays.

    Args:
      ar1, ar2: arrays.
      assume_unique: whether neither repeats a value.
      return_indices: also return their first positions in each.
      size, fill_value: see `unique`; while tracing these are not enough.

    Source: NumPy, `numpy.intersect1d`.
    """
    x, y = _two("intersect1d", ar1, ar2)
    if not return_indices:
        return _result(np.intersect1d(x, y, assume_unique), size, fill_value)
    values, i, j = np.intersect1d(x, y, assume_unique, return_indices=True)
    kind = dtypes.canonicalize_dtype(int)
    places = [
        creation.asarray(_resized(p.astype(kind), size, n))
        for p, n in ((i, x.size), (j, y.size))
    ]
    return (_result(values, size, fill_value), *places)
