"""Slices at given positions: take, take_along_axis, and grids of positions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    Axis,
    DTypeLike,
    Indices,
    OptionalArray,
    Shape,
)
from olympus._src.core.sizes import is_symbolic, maximum, non_negative
from olympus._src.interpreters import concrete_arrays, evaluate
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import elementwise as lax
from olympus._src.lax import families, gather, shaping
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import (
    at,
    creation,
    docstring_examples,
    index_parsing,
    indexing,
    logic,
    promotion,
    ranges,
    searching,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike

if TYPE_CHECKING:
    from olympus._src.numpy import function_types


def _check_indices(name: str, indices: Any) -> None:
    if dtypes.kind(aval_of(indices).dtype) not in "iu":
        raise TypeError(
            f"numpy.{name}: indices must be integers, got "
            f"{aval_of(indices).short()}; convert them with astype"
        )


@direct("_take", 2)
def take(
    a: ArrayLike,
    indices: Indices,
    axis: Axis = None,
    out: None = None,
    mode: str | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: OptionalArray = None,
) -> Array:
    """Slices of an array at positions of an axis.

    Differs from NumPy: a position out of range gives NaN, or an extreme of an integer
    dtype, where NumPy raises; `mode` chooses otherwise.

    Args:
      a: array.
      indices: integer array of positions; negative ones count from the end.
      axis: the axis; None for the flattened array.
      out: must be None.
      mode: what positions out of range give: "fill" (default) NaN or the lowest
        integer, "clip" the nearest, "wrap" positions modulo the size.
      unique_indices, indices_are_sorted: promises about the positions.
      fill_value: what "fill" gives instead.

    Returns:
      An array with the axes of `indices` in place of the axis.

    Raises:
      TypeError: positions are not integers.
      NotImplementedError: mode "raise".

    Source: NumPy, `numpy.take`.

    Example:
      >>> jnp.take(jnp.array([10.0, 20.0]), jnp.array([1, -1, 5]))
      Array([20., 20., nan], dtype=float32)
    """
    promotion.check_out("take", out)
    check_arraylike("take", a, indices)
    kind = dtypes.kind(aval_of(indices).dtype)
    if kind not in "iub":
        raise ValueError(
            f"numpy.take: indices must have an integer type, got "
            f"{aval_of(indices).short()}; convert them with astype"
        )
    if kind == "b":
        indices = promotion.cast(indices, np.dtype(np.int32), False)
    if mode not in (None, *_MODES, "raise"):
        raise ValueError(
            f"numpy.take: invalid mode {mode!r}; give 'fill', 'clip' or 'wrap'"
        )
    x, axis = promotion.flatten_unless_axis(
        "take", concrete_arrays.as_array_or_tracer(a), axis
    )
    if mode == "raise":
        raise NotImplementedError(
            "numpy.take: mode 'raise' is not supported, since compiled programs "
            "cannot raise errors; use 'fill', 'clip' or 'wrap'"
        )
    filling = None if fill_value is None else _number(fill_value)
    return _take(
        x,
        indices,
        axis=axis,
        mode=mode or "fill",
        fill_value=filling,
        promises=(bool(unique_indices), bool(indices_are_sorted)),
    )


_MODES = ("fill", "clip", "wrap", "promise_in_bounds", "one_hot")


def _number(fill_value: Any) -> Any:
    """What fills, as Python's own number, since programs are looked up by it."""
    if isinstance(fill_value, (bool, int, float, complex)):
        return fill_value
    return np.asarray(fill_value).item()


@evaluate.fuse
def _take(
    x: Any, indices: Any, *, axis: int, mode: str, fill_value: Any, promises: Any
) -> Any:
    wrap = mode != "clip"  # where clipped, a negative position is out of range
    if mode == "wrap":
        indices = _wrap_indices(indices, aval_of(x).shape[axis])
        mode = "promise_in_bounds"
    return indexing.take(
        x,
        (slice(None),) * axis + (indices,),
        mode=mode,
        fill_value=fill_value,
        wrap=wrap,
        unique_indices=promises[0],
        indices_are_sorted=promises[1],
    )


def _wrap_indices(indices: Any, length: int) -> Any:
    """Positions within one turn; negative ones then count from the end."""
    indices = index_parsing.index_dtype(indices, length)
    return lax.rem(indices, families.number_of(max(length, 1), aval_of(indices).dtype))


@direct("_take_along", 2)
def take_along_axis(
    arr: ArrayLike,
    indices: Indices,
    axis: Axis = -1,
    mode: str | None = None,
    fill_value: OptionalArray = None,
    *,
    wrap_negative_indices: bool = True,
) -> Array:
    """For each line along an axis, its elements at given positions.

    Differs from NumPy: a position out of range gives NaN, or an extreme of an integer
    dtype, where NumPy raises; `mode` chooses otherwise.

    Args:
      arr: array.
      indices: integer array that broadcasts against `arr` except along the axis.
      axis: the axis; None for the flattened array.
      mode: as in `take`.
      fill_value: what "fill" gives for positions out of range.
      wrap_negative_indices: negative positions count from the end; otherwise they
        are out of range.

    Source: NumPy, `numpy.take_along_axis`.

    Example:
      >>> jnp.take_along_axis(
      ...     jnp.array([[10, 20], [30, 40]]), jnp.array([[1], [0]]), axis=1
      ... )
      Array([[20],
             [30]], dtype=int32)
    """
    check_arraylike("take_along_axis", arr, indices)
    _check_indices("take_along_axis", indices)
    x = concrete_arrays.as_array_or_tracer(arr)
    if axis is None:
        if aval_of(indices).ndim != 1:
            raise ValueError(
                "take_along_axis indices must be 1D if axis=None, got "
                f"{aval_of(indices).short()}"
            )
        axis, x = 0, shaping.reshape(x, (aval_of(x).size,))
    axis = _check_lines("take_along_axis", x, indices, axis)
    filling = None if fill_value is None else _number(fill_value)
    return _take_along(
        x,
        indices,
        axis=axis,
        mode=mode or "fill",
        fill_value=filling,
        wrap=bool(wrap_negative_indices),
    )


@evaluate.fuse
def _take_along(
    x: Any, indices: Any, *, axis: int, mode: str, fill_value: Any, wrap: bool
) -> Any:
    """One gather: lines are paired, and lines of size one on a side are shared."""
    if mode == "wrap":
        indices, mode = (
            _wrap_indices(indices, aval_of(x).shape[axis]),
            "promise_in_bounds",
        )
    own, others = aval_of(x).shape, aval_of(indices).shape
    entry = (index_parsing.ARRAY, 0) if wrap else (index_parsing.ARRAY, 0, "counted")
    positions = indexing.position(indices, own[axis], entry)
    sizes = [1] * len(own)
    collapsed, paired, offsets, indexed_axes = [axis], [], [], []
    for i, (n, m) in enumerate(zip(own, others, strict=True)):
        if i == axis:
            indexed_axes.append(i)
        elif m == 1 and n != 1:  # the whole line for each position
            sizes[i] = n
            offsets.append(i)
        elif n == 1:
            collapsed.append(i)
            indexed_axes.append(i)
        else:
            paired.append(i)
            indexed_axes.append(i)
    shape = tuple([others[i] if i in indexed_axes else own[i] for i in range(len(own))])
    if 0 in shape:
        return shaping.full(shape, 0, aval_of(x).dtype)
    if not own[axis]:
        raise index_parsing.empty_axis(axis)
    vectors = shaping.reshape(positions, (*[others[i] for i in indexed_axes], 1))
    numbers = gather.GatherDimensionNumbers(
        offset_dims=tuple(offsets),
        collapsed_slice_dims=tuple(sorted(collapsed)),
        start_index_map=(axis,),
        operand_batching_dims=tuple(paired),
        start_indices_batching_dims=tuple([indexed_axes.index(i) for i in paired]),
    )
    return gather.gather(x, vectors, numbers, sizes, mode=mode, fill_value=fill_value)


def _check_lines(name: str, x: Any, indices: Any, axis: int) -> int:
    """The axis from the front, after a check that the lines pair."""
    rank = aval_of(x).ndim
    if aval_of(indices).ndim != rank:
        raise ValueError(
            f"indices and arr must have the same number of dimensions; {rank} vs. "
            f"{aval_of(indices).ndim}; numpy.{name}"
        )
    axis = sizes_.canonicalize_axis(axis, rank, f"numpy.{name}")
    lines, own = list(aval_of(x).shape), list(aval_of(indices).shape)
    lines[axis] = own[axis] = 1
    for n, m in zip(lines, own, strict=True):
        if n != m and 1 not in (n, m):
            raise ValueError(
                f"numpy.{name}: got incompatible shapes for broadcasting: "
                f"{tuple(lines)}, {tuple(own)}; except along the axis, sizes must be "
                "equal or 1"
            )
    return axis


def _index_lines(x: Any, indices: Any, axis: int, name: str) -> tuple[Any, Any]:
    """An index for each axis: the given positions, and every line's own place."""
    axis = _check_lines(name, x, indices, axis)
    rank = aval_of(x).ndim
    lines = list(aval_of(x).shape)
    lines[axis] = 1
    own = list(aval_of(indices).shape)
    length, own[axis] = own[axis], 1
    shape = list(promotion.result_shape(name, [tuple(lines), tuple(own)]))
    shape[axis] = length
    places: list[Any] = []
    for i, size in enumerate(shape):
        if i == axis:
            places.append(promotion.full_shape(indices, tuple(shape)))
        elif aval_of(x).shape[i] == 1:
            places.append(np.zeros([1] * rank, np.int32))
        else:
            sizes = [1] * rank
            sizes[i] = size
            kind = sizes_.position_dtype(size)
            places.append(np.arange(size, dtype=kind).reshape(sizes))
    return tuple(places), shape


@direct("_put_along", 3)
def put_along_axis(
    arr: ArrayLike,
    indices: Indices,
    values: ArrayLike,
    axis: Axis,
    inplace: bool = True,
    *,
    mode: str | None = None,
) -> Array:
    """The array with values written, on each line along an axis, at its own positions.

    Differs from NumPy: arrays do not change in place, so `inplace` must be False and
    the result is returned.

    Args:
      arr: array.
      indices: integer array that broadcasts against `arr` except along the axis.
      values: what is written; broadcasts against the positions.
      axis: the axis; None for the flattened array.
      inplace: must be False: arrays are never changed in place.
      mode: what happens to positions out of range; see `Array.at`.

    Source: NumPy, `numpy.put_along_axis`.

    Example:
      >>> jnp.put_along_axis(
      ...     jnp.zeros((2, 2), int), jnp.array([[0], [1]]), 5, 1, inplace=False
      ... )
      Array([[5, 0],
             [0, 5]], dtype=int32)
    """
    if inplace:
        raise ValueError(
            "numpy.put_along_axis: inplace must be False, since arrays are never "
            "changed in place; use the returned array"
        )
    check_arraylike("put_along_axis", arr, indices, values)
    return _put_along(arr, indices, values, axis=axis, mode=mode)


@promotion.evaluate.fuse
def _put_along(arr: Any, indices: Any, values: Any, *, axis: Any, mode: Any) -> Any:
    x = concrete_arrays.as_array_or_tracer(arr)
    if axis is None:
        flat = shaping.reshape(x, (aval_of(x).size,))
        out = at.IndexUpdateHelper(flat)[indices].set(values, mode=mode)
        return shaping.reshape(out, aval_of(x).shape)
    places, shape = _index_lines(
        x, concrete_arrays.as_array_or_tracer(indices), axis, "put_along_axis"
    )
    values = promotion.full_shape(
        concrete_arrays.as_array_or_tracer(values), tuple(shape)
    )
    return at.IndexUpdateHelper(x)[places].set(values, mode=mode)


# -- positions -------------------------------------------------------------------------


def unravel_index(indices: Indices, shape: int | Shape) -> tuple[Array, ...]:
    """Positions in a flattened array as positions along each axis.

    Differs from NumPy: positions out of range are clipped to the nearest and never
    raise.

    Args:
      indices: integer array.
      shape: sizes of the axes.

    Returns:
      An array for each axis; positions out of range are clipped.

    Source: NumPy, `numpy.unravel_index`.

    Example:
      >>> jnp.unravel_index(jnp.array([2, 4]), (2, 3))
      (Array([0, 1], dtype=int32), Array([2, 1], dtype=int32))
    """
    check_arraylike("unravel_index", indices)
    sizes = sizes_.canonicalize_shape(shape)
    _check_indices("unravel_index", indices)
    return tuple(_unravel(indices, shape=sizes))


@promotion.program(1, name="unravel_index")
def _unravel(indices: Any, *, shape: tuple[int, ...]) -> Any:
    kind = aval_of(indices).dtype
    total = math.prod(shape)
    weak = aval_of(indices).weak_type
    narrow = _exceeds(total, dtypes.iinfo(kind).max)
    wide = np.dtype(np.int32) if narrow else kind
    flat = indexing.position(
        lax.convert(indices, wide), total, (index_parsing.ARRAY, 0)
    )
    wide = aval_of(flat).dtype
    flat = lax.min_(
        lax.max_(flat, families.number_of(0, wide)),
        lax.size_value(non_negative(total - 1), wide),
    )
    outs = []
    for size in reversed(shape):
        count = lax.size_value(maximum(size, 1), wide)
        outs.append(lax.rem(flat, count))
        flat = lax.div(flat, count)
    return [lax.convert(x, kind, weak) for x in outs[::-1]]


def ravel_multi_index(
    multi_index: Sequence[ArrayLike],
    dims: Sequence[int],
    mode: str = "raise",
    order: str = "C",
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """Positions along each axis as positions in the flattened array.

    Differs from NumPy: `mode="raise"` needs known positions, so it does not work under
    `jit`.

    Args:
      multi_index: an integer array for each axis.
      dims: sizes of the axes.
      mode: "raise" (needs known positions), "clip", "wrap" or "ignore" out of range.
      order: "C" or "F".
      dtype: integer dtype of the result.

    Source: NumPy, `numpy.ravel_multi_index`.

    Example:
      >>> jnp.ravel_multi_index((jnp.array([0, 1]), jnp.array([2, 1])), (2, 3))
      Array([2, 4], dtype=int32)
    """
    sizes = sizes_.canonicalize_shape(dims)
    check_arraylike("ravel_multi_index", *multi_index)
    if len(multi_index) != len(sizes):
        raise ValueError(
            f"numpy.ravel_multi_index: expected an index for each of {len(sizes)} "
            f"axes, got {len(multi_index)}"
        )
    if mode not in ("raise", "wrap", "clip", "ignore"):
        raise ValueError(
            f"numpy.ravel_multi_index: invalid mode={mode!r}; give 'raise', 'wrap', "
            "'clip' or 'ignore'"
        )
    if order not in ("C", "F"):
        raise ValueError(
            f"numpy.ravel_multi_index: invalid order={order!r}; give 'C' or 'F'"
        )
    for i in multi_index:
        if dtypes.kind(aval_of(i).dtype) not in "iub":
            raise ValueError(
                "numpy.ravel_multi_index: positions must be integers, got "
                f"{aval_of(i).short()}; convert them with astype"
            )
    if mode == "raise":
        for i, size in zip(multi_index, sizes, strict=True):
            known = searching.known_positions("ravel_multi_index", i)
            if ((known < 0) | (known >= size)).any():
                raise ValueError(
                    "invalid entry in coordinates array; numpy.ravel_multi_index takes "
                    "mode='clip' or mode='wrap' for positions out of range"
                )
    kind = _ravel_dtype(multi_index, sizes, dtype)
    return _ravel_multi(*multi_index, dims=sizes, mode=mode, order=order, kind=kind)


def _ravel_dtype(multi_index: Any, sizes: Any, dtype: Any) -> Any:
    """The dtype of places: that which the positions have together, if it holds all."""
    if dtype is not None:
        return dtypes.check_user_dtype(dtype, "ravel_multi_index")
    kind, _ = dtypes.lattice_result(*[dtypes.dtype_and_weak(i) for i in multi_index])
    if dtypes.kind(kind) not in "iu" or _exceeds(
        math.prod(sizes), dtypes.iinfo(kind).max
    ):
        return dtypes.canonicalize_dtype(int)
    return kind


def _exceeds(size: Any, most: int) -> bool:
    return not is_symbolic(size) and size > most


@evaluate.fuse
def _ravel_multi(*positions: Any, dims: Any, mode: str, order: str, kind: Any) -> Any:
    def one(size: Any) -> Any:
        return lax.size_value(size, kind)

    steps = [one(math.prod(dims[i + 1 :])) for i in range(len(dims))]
    if order == "F":
        steps = [one(math.prod(dims[:i])) for i in range(len(dims))]
    total = None
    for i, size, step in zip(positions, dims, steps, strict=True):
        i = promotion.cast(i, kind, False)
        if mode == "clip":
            i = lax.min_(lax.max_(i, one(0)), one(size - 1))
        elif mode == "wrap":
            remainder = lax.rem(i, one(size))
            i = lax.select(
                lax.lt(remainder, one(0)), lax.add(remainder, one(size)), remainder
            )
        term = lax.mul(i, step)
        total = (
            term
            if total is None
            else lax.add(*promotion.broadcast("ravel_multi_index", (total, term)))
        )
    return total


@overload
def indices(
    dimensions: Sequence[int],
    dtype: DTypeLike | None = ...,
    sparse: Literal[False] = ...,
) -> Array: ...
@overload
def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = ..., *, sparse: Literal[True]
) -> tuple[Array, ...]: ...
@overload
def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = ..., sparse: bool = ...
) -> Array | tuple[Array, ...]: ...
def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: bool = False
) -> Array | tuple[Array, ...]:
    """The positions of a grid: for each axis an array of positions along it.

    Args:
      dimensions: sizes of the axes.
      dtype: element type; default the default integer.
      sparse: a tuple of arrays with one long axis each, in place of full ones.

    Source: NumPy, `numpy.indices`.

    Example:
      >>> jnp.indices((2, 2))
      Array([[[0, 0],
              [1, 1]],
             [[0, 1],
              [0, 1]]], dtype=int32)
    """
    kind = dtypes.check_user_dtype(int if dtype is None else dtype, "indices")
    sizes = sizes_.canonicalize_shape(dimensions)
    if any(n < 0 for n in sizes):
        raise TypeError(
            f"numpy.indices: sizes of axes must not be negative, got {tuple(sizes)}"
        )
    if sparse:
        return tuple([creation.asarray(g) for g in np.indices(sizes, kind, True)])
    if kind == np.bool_:
        raise TypeError(
            "numpy.indices: dtype must be numeric, got bool; compare the "
            "positions with 0"
        )
    positions = np.indices(sizes, kind)
    return creation.put_own_values(positions, avals.ShapedArray(positions.shape, kind))


def ix_(*args: ArrayLike) -> tuple[Array, ...]:
    """Index arrays for the open grid of several sequences of positions.

    Args:
      *args: vectors of integers or booleans.

    Source: NumPy, `numpy.ix_`.

    Example:
      >>> jnp.arange(9).reshape(3, 3)[jnp.ix_(jnp.array([0, 2]), jnp.array([1, 2]))]
      Array([[1, 2],
             [7, 8]], dtype=int32)
    """
    check_arraylike("ix_", *args)
    outs = []
    for i, x in enumerate(args):
        if aval_of(x).ndim != 1:
            raise ValueError(
                f"numpy.ix_: arguments must be vectors, got {aval_of(x).short()}"
            )
        if aval_of(x).dtype == np.bool_:
            x = creation.asarray(np.nonzero(np.asarray(x))[0])
        elif aval_of(x).shape == (0,):  # positions, if there were any
            x = creation.zeros(0, dtypes.canonicalize_dtype(np.int64))
        sizes = [1] * len(args)
        sizes[i] = aval_of(x).shape[0]
        outs.append(
            shaping.reshape(concrete_arrays.as_array_or_tracer(x), tuple(sizes))
        )
    return tuple(outs)


def meshgrid(
    *xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Array, ...]:
    """The coordinates of a grid from the coordinates of its axes.

    Args:
      *xi: vectors of coordinates.
      copy: must be True.
      sparse: arrays with one long axis each, in place of full ones.
      indexing: "xy" for the first two axes in cartesian order, "ij" for matrix order.

    Returns:
      Arrays, one for each vector.

    Source: NumPy, `numpy.meshgrid`.

    Example:
      >>> jnp.meshgrid(jnp.array([1, 2]), jnp.array([10, 20]))
      (Array([[1, 2],
             [1, 2]], dtype=int32), Array([[10, 10],
             [20, 20]], dtype=int32))
    """
    check_arraylike("meshgrid", *xi)
    for x in xi:
        if aval_of(x).ndim != 1:
            raise ValueError(
                f"numpy.meshgrid: arguments must be vectors, got {aval_of(x).short()}; "
                "flatten them with ravel"
            )
    if not copy:
        raise ValueError("numpy.meshgrid: copy must be True; arrays have no views")
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Valid values for indexing are 'xy' and 'ij', got {indexing}; "
            "numpy.meshgrid"
        )
    if not xi:
        return ()
    return tuple(_meshgrid(*xi, sparse=bool(sparse), swap=indexing == "xy"))


@evaluate.fuse
def _meshgrid(*xi: Any, sparse: bool, swap: bool) -> Any:
    lines = [promotion.full_shape(x, aval_of(x).shape or (1,)) for x in xi]
    places = list(range(len(lines)))
    if swap and len(lines) > 1:
        places[:2] = [1, 0]
    full = [1] * len(lines)
    for x, i in zip(lines, places, strict=True):
        full[i] = aval_of(x).shape[0]
    outs = []
    for x, i in zip(lines, places, strict=True):
        sizes = list(full)
        if sparse:
            sizes = [n if j == i else 1 for j, n in enumerate(full)]
        outs.append(shaping.broadcast_in_dim(x, tuple(sizes), (i,)))
    return outs


def _triangle_positions(name: str, lower: bool) -> function_types.TrianglePositions:
    def positions(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
        rows = operator.index(n)
        columns = rows if m is None else operator.index(m)
        if rows < 0 or columns < 0:
            raise TypeError(
                f"numpy.{name}: numbers of rows and columns must not be negative, got "
                f"({rows}, {columns})"
            )
        find = np.tril_indices if lower else np.triu_indices
        kind = dtypes.canonicalize_dtype(int)
        i, j = find(rows, operator.index(k), columns)
        return creation.asarray(i.astype(kind)), creation.asarray(j.astype(kind))

    positions.__name__ = positions.__qualname__ = name
    side = "below" if lower else "above"
    positions.__doc__ = f"""The positions on and {side} a diagonal of a matrix.

    Args:
      n, m: numbers of rows and columns; m defaults to n.
      k: which diagonal; positive ones lie above the main one.

    Returns:
      The pair of the rows' and columns' numbers.

    Source: NumPy, `numpy.{name}`.
{docstring_examples.of(name)}    """
    return positions


tril_indices = _triangle_positions("tril_indices", True)
triu_indices = _triangle_positions("triu_indices", False)


def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]:
    """The positions on and below a diagonal of a given matrix.

    Args:
      arr: array of two axes.
      k: which diagonal.

    Source: NumPy, `numpy.tril_indices_from`.

    Example:
      >>> jnp.tril_indices_from(jnp.ones((2, 2)))
      (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    rows, columns = _matrix_shape("tril_indices_from", arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]:
    """The positions on and above a diagonal of a given matrix.

    Args:
      arr: array of two axes.
      k: which diagonal.

    Source: NumPy, `numpy.triu_indices_from`.

    Example:
      >>> jnp.triu_indices_from(jnp.ones((2, 2)))
      (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    rows, columns = _matrix_shape("triu_indices_from", arr)
    return triu_indices(rows, k, columns)


def _matrix_shape(name: str, arr: Any) -> tuple[int, int]:
    check_arraylike(name, arr)
    if aval_of(arr).ndim != 2:
        raise ValueError(
            f"numpy.{name}: arr must have two axes, got {aval_of(arr).short()}"
        )
    return aval_of(arr).shape


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The positions of the main diagonal.

    Args:
      n: size of each axis.
      ndim: number of axes.

    Source: NumPy, `numpy.diag_indices`.

    Example:
      >>> jnp.zeros((2, 2), int).at[jnp.diag_indices(2)].set(7)
      Array([[7, 0],
             [0, 7]], dtype=int32)
    """
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"n argument to diag_indices must be nonnegative, got {n}")
    return (ranges.arange(n),) * ndim


def diag_indices_from(arr: ArrayLike) -> tuple[Array, ...]:
    """The positions of the main diagonal of a given array.

    Args:
      arr: array of equal sizes along all axes.

    Source: NumPy, `numpy.diag_indices_from`.

    Example:
      >>> jnp.diag_indices_from(jnp.ones((2, 2)))
      (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    check_arraylike("diag_indices_from", arr)
    sizes = aval_of(arr).shape
    if len(sizes) < 2 or len(set(sizes)) != 1:
        raise ValueError(
            "numpy.diag_indices_from: arr must have two or more axes of one size, got "
            f"{aval_of(arr).short()}"
        )
    return diag_indices(sizes[0], len(sizes))


def mask_indices(
    n: int, mask_func: Callable[..., Any], k: Any = 0, *, size: int | None = None
) -> tuple[Array, Array]:
    """The positions that a function such as `triu` keeps of a matrix of ones.

    Args:
      n: number of rows.
      mask_func: `(matrix, k) -> matrix`.
      k: passed on to it.
      size: how many positions; needed while tracing.

    Source: NumPy, `numpy.mask_indices`.

    Example:
      >>> jnp.mask_indices(3, jnp.triu, 1)
      (Array([0, 0, 1], dtype=int32), Array([1, 2, 2], dtype=int32))
    """
    left = mask_func(creation.ones((n, n)), k)
    rows, columns = searching.nonzero(logic.not_equal(left, 0), size=size)
    return rows, columns
