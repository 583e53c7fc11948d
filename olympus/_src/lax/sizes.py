"""Shapes and axes as users give them, made plain integers or explained."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes, trace
from olympus._src.core import sizes as core_sizes
from olympus._src.core.array_type import ArrayLike, Shape, SupportsDType
from olympus._src.foundation import config, errors

_INT = frozenset((int,))
MAX_NARROW = 2**31 - 1  # the farthest position that int32 holds


def canonicalize_shape(shape: Any, where: str = "") -> tuple[int, ...]:
    """A shape as a tuple of integers.

    Args:
      shape: a sequence of integers, or one integer.
      where: the function that was given it, for the error.

    Raises:
      TypeError: an entry is traced or is not an integer.
    """
    if type(shape) is tuple and _INT.issuperset(map(type, shape)):
        return shape
    if isinstance(shape, trace.Tracer) or not names_several(shape):
        shape = [shape]
    try:
        return tuple([core_sizes.as_size(d) for d in shape])
    except (TypeError, errors.TracerIntegerConversionError):
        raise _shape_error(shape, where) from None


def _shape_error(shape: Any, where: str) -> TypeError:
    message = (
        f"Shapes must be 1D sequences of concrete values of integer type, got {shape}."
    )
    if where:
        message = f"{where}: {message}"
    for d in shape:
        if isinstance(d, trace.Tracer):
            message += (
                "\nIf using `jit`, try using `static_argnums` or applying `jit` to "
                "smaller subfunctions."
            )
            return TypeError(message + d.explanation())
    return TypeError(message)


def canonicalize_axis(axis: Any, rank: int, where: str = "axis") -> int:
    """An axis as an integer from 0 to rank - 1; negative ones count from the end.

    Raises:
      AxisError: there is no such axis; a ValueError and an IndexError, as in NumPy.
    """
    index = operator.index(axis)
    if not -rank <= index < rank:
        raise np.exceptions.AxisError(
            f"{where}: axis {index} is out of bounds for array of dimension {rank}"
            + (f"; its axes are {-rank} to {rank - 1}" if rank else "; it has no axes")
        )
    return index + rank if index < 0 else index


def as_axes(axis: Any) -> tuple[Any, ...]:
    """The axes that an argument names: one, or those of any iterable."""
    return tuple(axis) if names_several(axis) else (axis,)


def names_several(axis: Any) -> bool:
    """Whether an argument names axes by an iterable, even if that holds just one."""
    if type(axis) is int:
        return False
    return axis.ndim > 0 if hasattr(axis, "ndim") else hasattr(axis, "__iter__")


def canonicalize_axes(axes: Any, rank: int, where: str = "axes") -> tuple[int, ...]:
    """Axes as distinct integers from 0 to rank - 1.

    Raises:
      ValueError: an axis does not exist or is named twice.
    """
    axes = as_axes(axes)
    positions = tuple([canonicalize_axis(a, rank, where) for a in axes])
    if len(set(positions)) != len(positions):
        raise ValueError(f"{where}: axes must be distinct, got {tuple(axes)}")
    return positions


def broadcast_shapes(*shapes: Shape) -> tuple[int, ...]:
    """The shape that NumPy's rule of broadcasting gives several shapes.

    Raises:
      ValueError: sizes differ and neither is 1.

    Example:
      >>> lax.broadcast_shapes((2, 1), (3,))
      (2, 3)
    """
    if len(shapes) == 1:
        return canonicalize_shape(shapes[0])
    plain = [canonicalize_shape(s) for s in shapes]
    rank = max([len(s) for s in plain], default=0)
    result = [1] * rank
    for shape in plain:
        for i, size in enumerate(shape, rank - len(shape)):
            if size == 1 or size == result[i]:
                continue
            if result[i] != 1:
                listed = ", ".join(map(str, plain))
                raise ValueError(
                    f"Incompatible shapes for broadcasting: shapes={listed}; sizes "
                    "must be equal or 1, counted from the last axis"
                )
            result[i] = size
    return tuple(result)


def fits_shape(shape: Sequence[Any], wider: Sequence[Any]) -> bool:
    """Whether arrays of a shape can be repeated to another one."""
    return len(shape) <= len(wider) and all(
        d in (1, w) for d, w in zip(shape[::-1], wider[::-1], strict=False)
    )


def fits_slices(slice_sizes: Sequence[Any], shape: Sequence[Any]) -> bool:
    """Whether there is a size for each axis of a shape, and each lies within it."""
    return len(slice_sizes) == len(shape) and all(
        0 <= s <= d for s, d in zip(slice_sizes, shape, strict=True)
    )


def check_sizes(what: str, shape: Any, page: str = "lax") -> None:
    """Raises TypeError where a size of an axis is negative."""
    if any(isinstance(s, int) and s < 0 for s in shape):
        raise TypeError(
            f"{page}.{what}: sizes must not be negative, got {tuple(shape)}"
        )


def shape_as_value(shape: Shape) -> np.ndarray:
    """A shape as an array of integers.

    Args:
      shape: sizes of axes.

    Returns:
      NumPy array of int32, one number for each axis.

    Example:
      >>> from olympus import lax
      >>> lax.shape_as_value((2, 3))
      array([2, 3], dtype=int32)
    """
    return np.array([int(d) for d in shape], np.int32)


def dtype(x: ArrayLike | SupportsDType | type[Any]) -> np.dtype[Any]:
    """The dtype that a value has as an array.

    Args:
      x: array, number, scalar type, or a dtype's name.

    Returns:
      The dtype, narrowed where 64-bit types are off.

    Raises:
      TypeError: `x` has none.
      ValueError: `x` is None.

    Example:
      >>> from olympus import lax
      >>> lax.dtype(1.0)
      dtype('float32')
    """
    if x is None:
        raise ValueError("lax.dtype: x must be an array or a number, got None")
    if isinstance(x, (type, np.dtype)):
        return dtypes.canonicalize_dtype(x)
    if isinstance(x, str) and x in {str(d) for d in dtypes.supported_dtypes()}:
        return dtypes.canonicalize_dtype(x)
    own: Any = getattr(x, "dtype", None)
    if own is None:
        return avals.aval_of(x).dtype
    return dtypes.canonicalize_dtype(own, allow_extended_dtype=True)


def max_dim(d1: int, d2: int) -> int:
    """The larger of two sizes of axes.

    Args:
      d1, d2: sizes.

    Example:
      >>> from olympus import core
      >>> core.max_dim(2, 3)
      3
    """
    return core_sizes.maximum(d1, d2)


def min_dim(d1: int, d2: int) -> int:
    """The smaller of two sizes of axes.

    Args:
      d1, d2: sizes.

    Example:
      >>> from olympus import core
      >>> core.min_dim(2, 3)
      2
    """
    return core_sizes.minimum(d1, d2)


def position_dtype(size: Any) -> np.dtype[Any]:
    """The dtype that counts an axis's positions, and the one behind the last.

    Args:
      size: the axis's, known or symbolic.

    Raises:
      OverflowError: they need 64 bits, and integers of 64 bits are off.
    """
    if type(size) is not int or size <= MAX_NARROW:
        return np.dtype(np.int32)
    if config.x64_enabled():
        return np.dtype(np.int64)
    raise OverflowError(
        f"an axis of {size} elements has positions that int32 cannot hold; enable "
        "64-bit integers with olympus.config.update('olympus_enable_x64', True), or "
        "take a part of the axis first, by a slice with known bounds"
    )
