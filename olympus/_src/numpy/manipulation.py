"""Arrays in another shape or order: reshape, transpose, flip, roll, repeat, pad, ..."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from olympus._src.core import dtypes, trace
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    Axes,
    Axis,
    Placement,
    Shape,
)
from olympus._src.core.sizes import as_size, at_least, is_symbolic, non_negative
from olympus._src.foundation import errors
from olympus._src.interpreters import concrete_arrays
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import (
    concatenation,
    cumulative,
    families,
    shaping,
    slicing,
    stacking,
)
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import creation, docstring_examples, indexing, promotion
from olympus._src.numpy.promotion import aval_of, check_arraylike, program
from olympus._src.numpy.reductions import static_axis

if TYPE_CHECKING:
    from olympus._src.numpy import function_types

# -- shapes ----------------------------------------------------------------------------


def shape(a: ArrayLike) -> tuple[int, ...]:
    """The sizes of the axes.

    Args:
      a: array or number, a nested sequence of them, or a description of an array.

    Source: NumPy, `numpy.shape`.

    Example:
      >>> jnp.shape(jnp.ones((2, 3)))
      (2, 3)
    """
    return _shape_of("shape", a)


def _shape_of(name: str, a: Any) -> tuple[int, ...]:
    """The shape of an array, or of the array that nested sequences make."""
    if type(a).__name__ == "ShapeDtypeStruct":
        return tuple(a.shape)
    if isinstance(a, (list, tuple, range)):
        return aval_of(creation.asarray(a)).shape
    check_arraylike(name, a)
    return aval_of(a).shape


def ndim(a: ArrayLike) -> int:
    """The number of axes.

    Args:
      a: array or number, or a nested sequence of them.

    Source: NumPy, `numpy.ndim`.

    Example:
      >>> jnp.ndim(jnp.ones((2, 3)))
      2
    """
    return len(_shape_of("ndim", a))


def size(a: ArrayLike, axis: Axes = None) -> int:
    """The number of elements, along some axes or all.

    Args:
      a: array or number, or a nested sequence of them.
      axis: an axis, several, or None for all.

    Source: NumPy, `numpy.size`.

    Example:
      >>> jnp.size(jnp.ones((2, 3)), axis=1)
      3
    """
    lengths = _shape_of("size", a)
    if axis is None:
        return math.prod(lengths)
    axes = sizes_.canonicalize_axes(axis, len(lengths), "numpy.size")
    return math.prod([lengths[i] for i in axes])


def broadcast_shapes(*shapes: Shape) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to.

    Args:
      *shapes: tuples of sizes, or single sizes.

    Raises:
      ValueError: sizes differ and neither is 1.

    Source: NumPy, `numpy.broadcast_shapes`.

    Example:
      >>> jnp.broadcast_shapes((2, 1), (3,))
      (2, 3)
    """
    plain = [sizes_.canonicalize_shape(s, "numpy.broadcast_shapes") for s in shapes]
    for shape in plain:
        sizes_.check_sizes("broadcast_shapes", shape, "numpy")
    return sizes_.broadcast_shapes(*plain) if plain else ()


def new_shape(x: Any, shape: Any, where: str = "") -> tuple[int, ...]:
    """A shape for `x` with an entry of -1 computed."""
    out_shape = sizes_.canonicalize_shape(shape, where)
    unknown = [i for i, d in enumerate(out_shape) if type(d) is int and d == -1]
    aval = aval_of(x)
    if len(unknown) > 1:
        raise ValueError(
            f"numpy.reshape: can only specify one unknown axis size with a `-1` value, "
            f"got {out_shape}"
        )
    known_size = math.prod([d for i, d in enumerate(out_shape) if i not in unknown])
    if unknown:
        if known_size <= 0:
            raise _reshape_error(aval, out_shape)
        left = aval.size % known_size
        if is_symbolic(left) and left != 0 and not at_least(left, 1):
            raise errors.InconclusiveDimensionOperation(
                f"numpy.reshape: cannot divide evenly the sizes of shapes {aval.shape} "
                f"and {out_shape}: the remainder {left} must be 0; say so by a "
                f"constraint '{left} == 0'"
            )
        if left != 0:
            raise _reshape_error(aval, out_shape)
        i = unknown[0]
        return (*out_shape[:i], aval.size // known_size, *out_shape[i + 1 :])
    if known_size != aval.size or any(type(d) is int and d < 0 for d in out_shape):
        raise _reshape_error(aval, out_shape)
    return out_shape


def _reshape_error(aval: Any, out_shape: tuple[int, ...]) -> TypeError:
    why = f"(size {math.prod(out_shape)}); numpy.reshape keeps the number of elements"
    if -1 in out_shape:
        known_size = -math.prod(out_shape)
        why = f"since {known_size}, the product of the sizes given, does not divide it"
    return TypeError(
        f"cannot reshape array of shape {aval.shape} (size {aval.size}) into shape "
        f"{out_shape} {why}"
    )


@program(1, name="reshape")
def _reshape(x: Any, *, shape: tuple[int, ...], order: str) -> Any:
    if order == "F":
        rank = aval_of(x).ndim
        x = shaping.transpose(x, range(rank - 1, -1, -1))
        x = shaping.reshape(x, shape[::-1])
        return shaping.transpose(x, range(len(shape) - 1, -1, -1))
    return shaping.reshape(x, shape)


def reshape(
    a: ArrayLike,
    shape: int | Shape,
    order: str = "C",
    *,
    copy: bool | None = None,
    out_sharding: Placement = None,
) -> Array:
    """The elements in another shape.

    Differs from NumPy: `order` is "C" or "F"; arrays have no strides, and the
    result is never a view.

    Args:
      a: array or number.
      shape: the new sizes; one of them may be -1.
      order: "C" reads and writes rows first, "F" columns first.
      copy: True for a new array in any case; False is refused.
      out_sharding: where the result lives.

    Raises:
      TypeError: sizes are traced, or hold another number of elements.

    Source: NumPy, `numpy.reshape`.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.reshape(onp.arange(6), (2, -1))
      Array([[0, 1, 2],
             [3, 4, 5]], dtype=int32)
    """
    if out_sharding is not None:
        options = {"copy": copy, "out_sharding": out_sharding}
        return promotion.divide_result(
            reshape, "numpy.reshape", (a, shape, order), options
        )
    if copy is False:
        raise NotImplementedError(
            "numpy.reshape: copy=False cannot be guaranteed; leave out copy"
        )
    check_arraylike("reshape", a)
    out_shape = new_shape(a, shape)
    if order not in ("C", "F"):
        raise _bad_order("reshape", order)
    if out_shape == aval_of(a).shape and hasattr(a, "aval"):
        same: Any = shaping.copy_p.bind(a) if copy else a
        return same
    return _reshape(a, shape=out_shape, order=order)


def _bad_order(name: str, order: str) -> Exception:
    kind = NotImplementedError if order in ("A", "K") else ValueError
    return kind(f"numpy.{name}: order must be 'C' or 'F', got {order!r}")


@direct("reshape")
def ravel(a: ArrayLike, order: str = "C", *, out_sharding: Placement = None) -> Array:
    """The elements along one axis.

    Differs from NumPy: `order` is "C" or "F"; arrays have no strides, and the
    result is never a view.

    Args:
      a: array or number.
      order: "C" reads rows first, "F" columns first.
      out_sharding: where the result lives.

    Source: NumPy, `numpy.ravel`.

    Example:
      >>> jnp.ravel(jnp.array([[1, 2], [3, 4]]), order="F")
      Array([1, 3, 2, 4], dtype=int32)
    """
    check_arraylike("ravel", a)
    if order not in ("C", "F"):
        raise _bad_order("ravel", order)
    return reshape(a, (aval_of(a).size,), order, out_sharding=out_sharding)


@direct("resize")
def resize(a: ArrayLike, new_shape: int | Shape) -> Array:
    """The elements, repeated or cut off as needed, in another shape.

    Args:
      a: array or number.
      new_shape: the sizes.

    Source: NumPy, `numpy.resize`.

    Example:
      >>> jnp.resize(jnp.array([1, 2, 3]), (2, 2))
      Array([[1, 2],
             [3, 1]], dtype=int32)
    """
    check_arraylike("resize", a)
    out_shape = sizes_.canonicalize_shape(new_shape)
    if any(d < 0 for d in out_shape):
        raise ValueError(f"numpy.resize: sizes must be non-negative, got {out_shape}")
    return _resize(a, shape=out_shape)


@program(1, name="resize")
def _resize(a: Any, *, shape: tuple[int, ...]) -> Any:
    flat = shaping.reshape(a, (aval_of(a).size,))
    total, have = math.prod(shape), aval_of(a).size
    if have == 0 or total == 0:
        return promotion.full_shape(promotion.scalar(0, a), shape)
    times = (total + have - 1) // have
    long = shaping.tile(flat, (times,))
    return shaping.reshape(concatenation.slice_in_dim(long, 0, total), shape)


@program(1, name="squeeze")
def _squeeze(x: Any, *, axes: tuple[int, ...]) -> Any:
    return shaping.squeeze(x, axes)


def squeeze(a: ArrayLike, axis: Axes = None) -> Array:
    """The array without axes of size 1.

    Args:
      a: array or number.
      axis: the axes left out; None for all of size 1.

    Raises:
      ValueError: a named axis has another size.

    Source: NumPy, `numpy.squeeze`.

    Example:
      >>> jnp.squeeze(jnp.ones((1, 3, 1))).shape
      (3,)
    """
    check_arraylike("squeeze", a)
    sizes = aval_of(a).shape
    if axis is None:
        axes = tuple([i for i, d in enumerate(sizes) if _is_one(d, sizes)])
    else:
        axis = static_axis(axis)
        named = axis if isinstance(axis, tuple) else (axis,)
        axes = sizes_.canonicalize_axes(named, len(sizes), "numpy.squeeze")
        if any(sizes[i] != 1 for i in axes):
            raise ValueError(
                "cannot select an axis to squeeze out which has size not equal to one, "
                f"got shape={sizes} and dimensions={axes}; numpy.squeeze removes axes "
                "of size 1 only"
            )
    return _squeeze(a, axes=axes) if axes else as_is(a)


def _is_one(size: Any, shape: Any) -> bool:
    if is_symbolic(size) and size != 1 and not at_least(size, 2):
        raise errors.InconclusiveDimensionOperation(
            f"numpy.squeeze: which axes have size 1 must be known, got {size} in the "
            f"shape {shape}; name the axes, or add the constraint '{size} >= 2'"
        )
    return bool(size == 1)


def as_is(a: Any) -> Any:
    return concrete_arrays.as_array_or_tracer(a)


@program(1, name="expand_dims")
def _expand_dims(x: Any, *, axes: tuple[int, ...]) -> Any:
    return shaping.expand_dims(x, axes)


def expand_dims(a: ArrayLike, axis: int | Shape) -> Array:
    """The array with new axes of size 1.

    Args:
      a: array or number.
      axis: positions of the new axes in the result; may be negative.

    Raises:
      ValueError: a position is out of range or repeats.

    Source: NumPy, `numpy.expand_dims`.

    Example:
      >>> jnp.expand_dims(jnp.ones((2, 3)), (0, -1)).shape
      (1, 2, 3, 1)
    """
    check_arraylike("expand_dims", a)
    axes = sizes_.as_axes(axis)
    rank = aval_of(a).ndim + len(axes)
    axes = sizes_.canonicalize_axes(axes, rank, "numpy.expand_dims")
    return _expand_dims(a, axes=axes) if axes else as_is(a)


def _define_at_least(name: str, rank: int, position: Any) -> function_types.AtLeast:
    def call(*arys: ArrayLike) -> Any:  # one array for one, else a tuple
        check_arraylike(name, *arys)
        outs = []
        for x in arys:
            missing = rank - aval_of(x).ndim
            outs.append(
                expand_dims(x, position(aval_of(x).ndim)) if missing > 0 else as_is(x)
            )
        return outs[0] if len(outs) == 1 else tuple(outs)

    described = docstring_examples.describe(
        call,
        name,
        f"""Arrays with axes of size 1 added until they have {rank}.

    Args:
      *arys: arrays or numbers.

    Returns:
      An array, or a tuple of them where several are given.

    Source: NumPy, `numpy.{name}`.
""",
    )
    return direct("expand_dims")(described)


atleast_1d = _define_at_least("atleast_1d", 1, lambda rank: (0,))
atleast_2d = _define_at_least("atleast_2d", 2, lambda rank: (0, 1)[: 2 - rank])
atleast_3d = _define_at_least(
    "atleast_3d", 3, lambda rank: ((0, 1, 2), (0, 2), (2,))[rank]
)


# -- order of axes ---------------------------------------------------------------------


@program(1, name="transpose")
def _transpose(x: Any, *, order: tuple[int, ...]) -> Any:
    return shaping.transpose(x, order)


def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """The array with its axes in another order.

    Args:
      a: array or number.
      axes: for each axis of the result, a's axis; None reverses them.

    Raises:
      ValueError: an axis is out of bounds.
      TypeError: `axes` is not a permutation of the axes.

    Source: NumPy, `numpy.transpose`.

    Example:
      >>> jnp.transpose(jnp.array([[1, 2], [3, 4]]))
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    check_arraylike("transpose", a)
    rank = aval_of(a).ndim
    if axes is None:
        order = tuple(range(rank - 1, -1, -1))
    else:
        axes = sizes_.as_axes(axes)
        axis = sizes_.canonicalize_axis
        order = tuple([axis(i, rank, "numpy.transpose") for i in axes])
        if sorted(order) != list(range(rank)):
            raise TypeError(
                f"numpy.transpose: axes must be a permutation of the operand's {rank} "
                f"axes, got {axes} for {aval_of(a).short()}; name each axis "
                "once, or leave axes out to reverse them"
            )
    return _permute_axes(a, order)


def _permute_axes(a: Any, order: tuple[int, ...]) -> Any:
    if order == tuple(range(len(order))):
        return as_is(a)
    return _transpose(a, order=order)


def permute_dims(a: ArrayLike, /, axes: Sequence[int]) -> Array:
    """The array with its axes in another order.

    Args:
      a: array or number.
      axes: for each axis of the result, a's axis.

    Source: Python array API standard, `permute_dims`.

    Example:
      >>> jnp.permute_dims(jnp.ones((2, 3, 4)), (2, 0, 1)).shape
      (4, 2, 3)
    """
    return transpose(a, axes)


def matrix_transpose(x: ArrayLike, /) -> Array:
    """The array with its last two axes exchanged.

    Args:
      x: array [..., m, n].

    Raises:
      ValueError: there are fewer than two axes.

    Source: NumPy, `numpy.matrix_transpose`.

    Example:
      >>> jnp.matrix_transpose(jnp.array([[[1, 2], [3, 4]]]))
      Array([[[1, 3],
              [2, 4]]], dtype=int32)
    """
    check_arraylike("matrix_transpose", x)
    if aval_of(x).ndim < 2:
        raise ValueError(
            "numpy.matrix_transpose: x must have at least two axes, got "
            f"{aval_of(x).short()}"
        )
    return swapaxes(x, -1, -2)


@direct("transpose")
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """The array with two axes exchanged.

    Args:
      a: array.
      axis1, axis2: the axes; may be negative.

    Source: NumPy, `numpy.swapaxes`.

    Example:
      >>> jnp.swapaxes(jnp.ones((2, 3, 4)), 0, 2).shape
      (4, 3, 2)
    """
    check_arraylike("swapaxes", a)
    rank = aval_of(a).ndim
    i = sizes_.canonicalize_axis(axis1, rank, "numpy.swapaxes")
    j = sizes_.canonicalize_axis(axis2, rank, "numpy.swapaxes")
    order = list(range(rank))
    order[i], order[j] = order[j], order[i]
    return _permute_axes(a, tuple(order))


@direct("transpose")
def moveaxis(a: ArrayLike, source: int | Shape, destination: int | Shape) -> Array:
    """The array with some axes moved to other positions.

    Args:
      a: array.
      source: axes.
      destination: where each is moved.

    Raises:
      ValueError: their numbers differ, or an axis does not exist.

    Source: NumPy, `numpy.moveaxis`.

    Example:
      >>> jnp.moveaxis(jnp.ones((2, 3, 4)), 0, -1).shape
      (3, 4, 2)
    """
    check_arraylike("moveaxis", a)
    rank = aval_of(a).ndim
    origin = sizes_.canonicalize_axes(source, rank, "numpy.moveaxis")
    goal = sizes_.canonicalize_axes(destination, rank, "numpy.moveaxis")
    if len(origin) != len(goal):
        raise ValueError(
            "numpy.moveaxis: source and destination must name equally many axes, got "
            f"{len(origin)} and {len(goal)}"
        )
    order = [i for i in range(rank) if i not in origin]
    for target, i in sorted(zip(goal, origin, strict=True)):
        order.insert(target, i)
    return _permute_axes(a, tuple(order))


@direct("transpose")
def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """The array with an axis moved before another.

    Args:
      a: array.
      axis: the axis that moves.
      start: the axis before which it is placed.

    Source: NumPy, `numpy.rollaxis`.

    Example:
      >>> jnp.rollaxis(jnp.ones((2, 3, 4)), 2).shape
      (4, 2, 3)
    """
    check_arraylike("rollaxis", a)
    rank = aval_of(a).ndim
    axis = sizes_.canonicalize_axis(axis, rank, "numpy.rollaxis")
    if not -rank <= start <= rank:
        raise ValueError(
            f"numpy.rollaxis: start must be within -{rank} and {rank}, got {start}"
        )
    start = start + rank if start < 0 else start
    return moveaxis(a, axis, start - 1 if start > axis else start)


# -- order of elements -----------------------------------------------------------------


@program(1, name="flip")
def _flip(x: Any, *, axes: tuple[int, ...]) -> Any:
    return shaping.rev(x, axes)


def flip(m: ArrayLike, axis: Axes = None) -> Array:
    """The array with the order along some axes reversed.

    Args:
      m: array.
      axis: an axis, several, or None for all.

    Source: NumPy, `numpy.flip`.

    Example:
      >>> jnp.flip(jnp.array([[1, 2], [3, 4]]))
      Array([[4, 3],
             [2, 1]], dtype=int32)
    """
    check_arraylike("flip", m)
    rank = aval_of(m).ndim
    axis = static_axis(axis)
    axes = tuple(range(rank)) if axis is None else axis
    axes = sizes_.canonicalize_axes(axes, rank, "numpy.flip")
    return _flip(m, axes=axes) if axes else as_is(m)


@direct("flip")
def fliplr(m: ArrayLike) -> Array:
    """The array with the order along its second axis reversed.

    Args:
      m: array of at least two axes.

    Source: NumPy, `numpy.fliplr`.

    Example:
      >>> jnp.fliplr(jnp.array([[1, 2], [3, 4]]))
      Array([[2, 1],
             [4, 3]], dtype=int32)
    """
    check_arraylike("fliplr", m)
    return flip(m, 1)


@direct("flip")
def flipud(m: ArrayLike) -> Array:
    """The array with the order along its first axis reversed.

    Args:
      m: array of at least one axis.

    Source: NumPy, `numpy.flipud`.

    Example:
      >>> jnp.flipud(jnp.array([[1, 2], [3, 4]]))
      Array([[3, 4],
             [1, 2]], dtype=int32)
    """
    check_arraylike("flipud", m)
    return flip(m, 0)


@direct("rot90")
def rot90(m: ArrayLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array:
    """The array rotated by multiples of 90 degrees in the plane of two axes.

    Args:
      m: array of at least two axes.
      k: how many quarter turns, from the first axis towards the second.
      axes: the two axes.

    Source: NumPy, `numpy.rot90`.

    Example:
      >>> jnp.rot90(jnp.array([[1, 2], [3, 4]]))
      Array([[2, 4],
             [1, 3]], dtype=int32)
    """
    check_arraylike("rot90", m)
    i, j = sizes_.canonicalize_axes(axes, aval_of(m).ndim, "numpy.rot90")
    turns = k % 4
    return _rotate(m, turns=turns, i=i, j=j) if turns else as_is(m)


@program(1, name="rot90")
def _rotate(m: Any, *, turns: int, i: int, j: int) -> Any:
    if turns == 2:
        return flip(m, (i, j))
    if turns == 1:
        return swapaxes(flip(m, j), i, j)
    return flip(swapaxes(m, i, j), j)


def roll(
    a: ArrayLike, shift: ArrayLike | Sequence[ArrayLike], axis: Axes = None
) -> Array:
    """The array with elements moved along axes; what leaves one end enters the other.

    Args:
      a: array.
      shift: by how many positions: an integer, or one for each axis; may be traced.
        Several shifts of one axis are added.
      axis: an axis, several, or None for the flattened array.

    Source: NumPy, `numpy.roll`.

    Example:
      >>> jnp.roll(jnp.array([1, 2, 3]), 1)
      Array([3, 1, 2], dtype=int32)
    """
    check_arraylike("roll", a)
    rank = aval_of(a).ndim
    if axis is None:
        if is_symbolic(shift) or isinstance(shift, (int, np.integer)):
            return _roll_flat(a, shift=as_size(shift))
        flat = roll(ravel(a), shift, 0)
        return reshape(flat, aval_of(a).shape)
    axis = static_axis(axis)
    axes = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple([sizes_.canonicalize_axis(i, rank, "numpy.roll") for i in axes])
    shifts = _shifts_of(shift)
    if len(axes) != len(shifts):
        if len(axes) == 1:
            axes *= len(shifts)
        elif len(shifts) == 1:
            shifts *= len(axes)
        else:
            raise ValueError(
                "numpy.roll: there must be one shift, one axis, or as many of both, "
                f"got {len(shifts)} shifts and {len(axes)} axes"
            )
    if not any(isinstance(s, trace.Tracer) for s in shifts):
        return _roll(a, shifts=tuple([as_size(s) for s in shifts]), axes=axes)
    return _roll_dynamic(a, shifts, axes)


def _shifts_of(shift: Any) -> list[Any]:
    """The shifts that an argument gives: one, or those of a sequence or a vector."""
    shift = promotion.resolve(shift)
    if not sizes_.names_several(shift):
        return [shift]
    shifts: list[Any]
    if isinstance(shift, trace.Tracer):
        values: Any = shift
        shifts = list(stacking.unstack(values, 0))
    elif isinstance(shift, (tuple, list, range)):
        shifts = list(shift)
    else:
        shifts = np.asarray(shift).tolist()
    if any(sizes_.names_several(s) for s in shifts):
        raise ValueError(
            "numpy.roll: shift must be an integer or a vector of integers, got "
            f"{shift!r}; write one shift for each axis"
        )
    return shifts


@program(1, name="roll")
def _roll_flat(x: Any, *, shift: int) -> Any:
    aval = aval_of(x)
    flat = shaping.reshape(x, (aval.size,))
    return shaping.reshape(_roll(flat, shifts=(shift,), axes=(0,)), aval.shape)


@program(1, name="roll")
def _roll(x: Any, *, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    for n, axis in zip(shifts, axes, strict=True):
        length = aval_of(x).shape[axis]
        n = n % length if length else 0
        if n != 0:
            tail = concatenation.slice_in_dim(x, length - n, length, axis=axis)
            head = concatenation.slice_in_dim(x, 0, length - n, axis=axis)
            x = concatenation.concatenate([tail, head], axis)
    return x


def _roll_dynamic(x: Any, shifts: Sequence[Any], axes: tuple[int, ...]) -> Any:
    for n, axis in zip(shifts, axes, strict=True):
        length = aval_of(x).shape[axis]
        if not length:
            continue
        index = lax.convert(n, np.dtype(np.int32))
        # Twice the array holds every rolled one; the shift says where it begins.
        whole = lax.size_value(length, np.dtype(np.int32))
        start = lax.rem(index, whole)
        start = lax.select(
            lax.gt(start, np.int32(0)), lax.sub(whole, start), lax.neg(start)
        )
        twice = concatenation.concatenate([x, x], axis)
        x = slicing.dynamic_slice_in_dim(twice, start, length, axis)
    return x


# -- repetition ------------------------------------------------------------------------


@program(1, name="broadcast_to")
def _broadcast_to(x: Any, *, shape: tuple[int, ...]) -> Any:
    return promotion.full_shape(x, shape)


def broadcast_to(
    array: ArrayLike, shape: int | Shape, *, out_sharding: Placement = None
) -> Array:
    """The array repeated to a shape it broadcasts to.

    Args:
      array: array or number.
      shape: the sizes, or one size.
      out_sharding: where the result lives.

    Raises:
      ValueError: the array does not fit the shape.

    Source: NumPy, `numpy.broadcast_to`.

    Example:
      >>> jnp.broadcast_to(jnp.array([1, 2]), (2, 2))
      Array([[1, 2],
             [1, 2]], dtype=int32)
    """
    if out_sharding is not None:
        options = {"out_sharding": out_sharding}
        return promotion.divide_result(
            broadcast_to, "numpy.broadcast_to", (array, shape), options
        )
    check_arraylike("broadcast_to", array)
    out_shape = sizes_.canonicalize_shape(shape)
    own = aval_of(array).shape
    if own == out_shape:
        return as_is(array)
    if not sizes_.fits_shape(own, out_shape):
        raise ValueError(
            f"Incompatible shapes for broadcasting: {own} and requested shape "
            f"{out_shape}; numpy.broadcast_to repeats axes of size 1 and adds axes in "
            "front"
        )
    return _broadcast_to(array, shape=out_shape)


@direct("broadcast_arrays", 32, moves_data=True)
def broadcast_arrays(*args: ArrayLike) -> tuple[Array, ...]:
    """Arrays repeated to their common shape.

    Args:
      *args: arrays or numbers.

    Source: NumPy, `numpy.broadcast_arrays`.

    Example:
      >>> [x.shape for x in jnp.broadcast_arrays(jnp.ones((2, 1)), jnp.ones(3))]
      [(2, 3), (2, 3)]
    """
    check_arraylike("broadcast_arrays", *args)
    if not args:
        return ()
    shapes = [aval_of(x).shape for x in args]
    out_shape = promotion.result_shape("broadcast_arrays", shapes)
    return tuple([broadcast_to(x, out_shape) for x in args])


def tile(A: ArrayLike, reps: int | Shape) -> Array:
    """Copies of an array side by side.

    Args:
      A: array or number.
      reps: for each axis how many copies; or one number, for the last axis.

    Source: NumPy, `numpy.tile`.

    Example:
      >>> jnp.tile(jnp.array([1, 2]), (2, 2))
      Array([[1, 2, 1, 2],
             [1, 2, 1, 2]], dtype=int32)
    """
    check_arraylike("tile", A)
    counts = sizes_.as_axes(reps)
    counts = tuple([as_size(r) for r in counts])
    rank = max(len(counts), aval_of(A).ndim)
    counts = (1,) * (rank - len(counts)) + counts
    return _tile(A, reps=counts)


@program(1, name="tile")
def _tile(x: Any, *, reps: tuple[int, ...]) -> Any:
    return shaping.tile(shaping.broadcast_to_rank(x, len(reps)), reps)


@promotion.divides_result("numpy.repeat")
def repeat(
    a: ArrayLike,
    repeats: ArrayLike | Sequence[ArrayLike],
    axis: Axis = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Each element repeated, along an axis.

    Differs from NumPy: under `jit` the length must be known where `repeats` is an
    array: pass `total_repeat_length`.

    Args:
      a: array or number.
      repeats: how often: an integer, or one for each element of the axis.
      axis: the axis; None for the flattened array.
      total_repeat_length: size of the result's axis; needed where `repeats` is traced.
        Longer results are cut off, shorter ones padded with the last element.
      out_sharding: where the result lives.

    Raises:
      ConcretizationTypeError: `repeats` is traced and the length not given.

    Source: NumPy, `numpy.repeat`.

    Example:
      >>> jnp.repeat(jnp.array([1, 2]), jnp.array([2, 3]), total_repeat_length=5)
      Array([1, 1, 2, 2, 2], dtype=int32)
    """
    del out_sharding
    check_arraylike("repeat", a)
    repeats = promotion.resolve(repeats)
    if axis is None:
        a, axis = ravel(a), 0
    elif aval_of(a).ndim == 0:
        a, axis = ravel(a), 0 * operator.index(axis)
    axis = sizes_.canonicalize_axis(axis, aval_of(a).ndim, "numpy.repeat")
    length = aval_of(a).shape[axis]
    if isinstance(repeats, trace.Tracer):
        if dtypes.kind(repeats.dtype) not in "iub":
            raise TypeError(
                f"numpy.repeat: repeats must be integers, got {aval_of(repeats)}"
            )
        if total_repeat_length is None:
            raise repeats.refusal(
                errors.ConcretizationTypeError,
                "numpy.repeat: repeats must be known while tracing, or "
                "total_repeat_length given; got a traced value.",
            )
        return _repeat_dynamic(a, repeats, axis, total_repeat_length)
    if is_symbolic(repeats) and total_repeat_length is None:
        times: Any = repeats
        return _repeat_evenly(a, times=times, axis=axis)
    counts = _check_counts(np.asarray(repeats), length)
    if counts.size == 1 and total_repeat_length is None:
        return _repeat_evenly(a, times=int(counts.reshape(())), axis=axis)
    where = np.repeat(np.arange(length), np.broadcast_to(counts, (length,)))
    if total_repeat_length is not None:
        where = where[:total_repeat_length]
        missing = total_repeat_length - len(where)
        where = np.concatenate([where, np.full(missing, max(length - 1, 0))])
    return _take_along(a, where.astype(np.int32), axis)


def _check_counts(counts: np.ndarray, length: int) -> np.ndarray:
    """How often `repeat` repeats the elements of an axis, if it can."""
    if counts.ndim > 1 or (counts.ndim == 1 and len(counts) not in (1, length)):
        raise ValueError(
            f"numpy.repeat: repeats must be a number or one for each of the {length} "
            f"elements, got shape {counts.shape}"
        )
    if counts.size and counts.dtype.kind not in "iub":
        raise TypeError(f"numpy.repeat: repeats must be integers, got {counts.dtype}")
    if counts.size and counts.min() < 0:
        raise ValueError("numpy.repeat: repeats must be non-negative")
    return counts


@program(1, name="repeat")
def _repeat_evenly(x: Any, *, times: int, axis: int) -> Any:
    sizes = list(aval_of(x).shape)
    axes = [i for i in range(len(sizes) + 1) if i != axis + 1]
    spread = [*sizes[: axis + 1], times, *sizes[axis + 1 :]]
    sizes[axis] *= times
    return shaping.reshape(shaping.broadcast_in_dim(x, spread, axes), sizes)


def _take_along(x: Any, where: Any, axis: int) -> Any:
    return indexing.getitem(x, (slice(None),) * axis + (where,))


def _repeat_dynamic(x: Any, repeats: Any, axis: int, total: int) -> Any:
    length = aval_of(x).shape[axis]
    counts = promotion.full_shape(repeats, (length,))
    if aval_of(counts).dtype == np.bool_:
        counts = lax.convert(counts, np.dtype(np.int32))
    ends = cumulative.cumsum(counts, 0)
    wide_ends = shaping.broadcast_in_dim(ends, (total, length), (1,))
    at = shaping.broadcasted_iota(aval_of(ends).dtype, (total, length), 0)
    passed = lax.convert(lax.le(wide_ends, at), np.dtype(np.int32))
    where = families.reduce_sum_p.bind(passed, axes=(1,))
    last = lax.size_value(non_negative(length - 1), np.dtype(np.int32))
    return _take_along(x, lax.min_(where, last), axis)
