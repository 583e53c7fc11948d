"""Arrays joined and split: concatenate, stack, block, split, ..."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import dtypes, trace
from olympus._src.core.array_type import Array, ArrayLike, Arrays, Axis, DTypeLike
from olympus._src.core.sizes import as_size, is_symbolic, maximum, minimum
from olympus._src.foundation import errors
from olympus._src.interpreters import evaluate
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import concatenation, stacking
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import promotion
from olympus._src.numpy.manipulation import (
    as_is,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    expand_dims,
    ravel,
    reshape,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike, program

# -- joining ---------------------------------------------------------------------------


def _sequence(name: str, arrays: Any) -> list[Any]:
    """The arrays of a sequence; of an array, its rows."""
    if isinstance(arrays, (tuple, list)):
        check_arraylike(name, *arrays)
        operands = list(arrays)
    else:
        check_arraylike(name, arrays)
        if not aval_of(arrays).ndim:
            raise TypeError(f"numpy.{name}: arrays must be a sequence, got a scalar")
        operands = list(stacking.unstack(as_is(arrays), 0))
    if not operands:
        raise ValueError(f"Need at least one array to {name}; numpy.{name} got none")
    return operands


def _of_one_dtype(xs: Sequence[Any], dtype: Any) -> list[Any]:
    """Arrays converted to a dtype, or to the one they promote to."""
    if dtype is None:
        return list(promotion.promote_dtypes(*xs))
    return [lax.convert(x, dtype, False) for x in xs]


@promotion.evaluate.fuse
def _concatenate(*xs: Any, axis: int, dtype: Any) -> Any:
    operands = _of_one_dtype(xs, dtype)
    return (
        concatenation.concatenate(operands, axis) if len(operands) > 1 else operands[0]
    )


def concatenate(
    arrays: Arrays,
    axis: Axis = 0,
    dtype: DTypeLike | None = None,
) -> Array:
    """Arrays one after another along an axis.

    Args:
      arrays: sequence of arrays, equal in shape except for that axis.
      axis: the axis; None joins the flattened arrays.
      dtype: element type; default that of the arrays together.

    Raises:
      ValueError: there are no arrays, or they are scalars.
      TypeError: shapes do not agree.

    Source: NumPy, `numpy.concatenate`.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.concatenate([onp.arange(2), onp.ones(1)])
      Array([0., 1., 1.], dtype=float32)
    """
    xs = _sequence("concatenate", arrays)
    if getattr(axis, "shape", ()):
        raise TypeError(
            f"numpy.concatenate: axis must be an integer, got {aval_of(axis).short()}; "
            "give the arrays as one list, as in concatenate([a, b])"
        )
    kind = None if dtype is None else dtypes.check_user_dtype(dtype, "concatenate")
    if axis is None:
        return _concatenate(*[ravel(x) for x in xs], axis=0, dtype=kind)
    if not aval_of(xs[0]).ndim:
        raise ValueError(
            "Zero-dimensional arrays cannot be concatenated; use numpy.stack"
        )
    axis = sizes_.canonicalize_axis(axis, aval_of(xs[0]).ndim, "numpy.concatenate")
    return _concatenate(*xs, axis=axis, dtype=kind)


def concat(arrays: Arrays, /, *, axis: Axis = 0) -> Array:
    """Arrays one after another along an axis.

    Args:
      arrays: sequence of arrays, equal in shape except for that axis.
      axis: the axis; None joins the flattened arrays.

    Source: Python array API standard, `concat`.

    Example:
      >>> jnp.concat([jnp.array([1, 2]), jnp.array([3])])
      Array([1, 2, 3], dtype=int32)
    """
    return concatenate(arrays, axis)


@promotion.evaluate.fuse
def _stack(*xs: Any, axis: int, dtype: Any) -> Any:
    operands = _of_one_dtype(xs, dtype)
    return stacking.stack(operands, axis)


def stack(
    arrays: Arrays,
    axis: int = 0,
    out: None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """Arrays of one shape along a new axis.

    Args:
      arrays: sequence of arrays.
      axis: position of the new axis in the result; may be negative.
      out: must be None.
      dtype: element type; default that of the arrays together.

    Raises:
      ValueError: there are no arrays, or their shapes differ.

    Source: NumPy, `numpy.stack`.

    Example:
      >>> jnp.stack([jnp.array([1, 2]), jnp.array([3, 4])], axis=1)
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    promotion.check_out("stack", out)
    xs = _sequence("stack", arrays)
    first = aval_of(xs[0]).shape
    if any(aval_of(x).shape != first for x in xs):
        shapes = ", ".join([str(aval_of(x).shape) for x in xs])
        raise ValueError(
            f"All input arrays must have the same shape; numpy.stack got {shapes}; "
            "pad them to one shape, or join them along an axis with numpy.concatenate"
        )
    axis = sizes_.canonicalize_axis(axis, len(first) + 1, "numpy.stack")
    kind = None if dtype is None else dtypes.check_user_dtype(dtype, "stack")
    return _stack(*xs, axis=axis, dtype=kind)


@direct("unstack")
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices of an array along an axis, without that axis.

    Args:
      x: array of at least one axis.
      axis: the axis; may be negative.

    Source: NumPy, `numpy.unstack`.

    Example:
      >>> jnp.unstack(jnp.array([[1, 2], [3, 4]]))
      (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
    """
    check_arraylike("unstack", x)
    if not aval_of(x).ndim:
        raise ValueError("numpy.unstack: x must have at least one axis, got a scalar")
    axis = sizes_.canonicalize_axis(axis, aval_of(x).ndim, "numpy.unstack")
    return tuple(_unstack(x, axis=axis)) if aval_of(x).shape[axis] else ()


@program(1, name="unstack")
def _unstack(x: Any, *, axis: int) -> Any:
    return stacking.unstack(x, axis)


def _prepare_arrays(name: str, arrays: Any, prepare: Any) -> list[Any]:
    return [prepare(x) for x in _sequence(name, arrays)]


@promotion.evaluate.fuse
def _join_prepared(*xs: Any, prepare: Any, axis: int, dtype: Any) -> Any:
    """Arrays prepared and concatenated in one program."""
    return concatenate([prepare(x) for x in xs], axis, dtype)


def vstack(tup: Arrays, dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along the first axis.

    Args:
      tup: sequence of arrays; vectors count as rows.
      dtype: element type; default that of the arrays together.

    Source: NumPy, `numpy.vstack`.

    Example:
      >>> jnp.vstack([jnp.array([1, 2]), jnp.array([3, 4])])
      Array([[1, 2],
             [3, 4]], dtype=int32)
    """
    xs = _sequence("vstack", tup)
    return _join_prepared(*xs, prepare=atleast_2d, axis=0, dtype=dtype)


def hstack(tup: Arrays, dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along the second axis; vectors along their only one.

    Args:
      tup: sequence of arrays.
      dtype: element type; default that of the arrays together.

    Source: NumPy, `numpy.hstack`.

    Example:
      >>> jnp.hstack([jnp.array([1, 2]), jnp.array([3])])
      Array([1, 2, 3], dtype=int32)
    """
    xs = _prepare_arrays("hstack", tup, atleast_1d)
    return concatenate(xs, 0 if aval_of(xs[0]).ndim == 1 else 1, dtype)


def dstack(tup: Arrays, dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along the third axis.

    Args:
      tup: sequence of arrays.
      dtype: element type; default that of the arrays together.

    Source: NumPy, `numpy.dstack`.

    Example:
      >>> jnp.dstack([jnp.array([1, 2]), jnp.array([3, 4])])
      Array([[[1, 3],
              [2, 4]]], dtype=int32)
    """
    xs = _sequence("dstack", tup)
    return _join_prepared(*xs, prepare=atleast_3d, axis=2, dtype=dtype)


def column_stack(tup: Arrays) -> Array:
    """Vectors as the columns of a matrix; matrices side by side.

    Args:
      tup: sequence of arrays of one or two axes.

    Source: NumPy, `numpy.column_stack`.

    Example:
      >>> jnp.column_stack([jnp.array([1, 2]), jnp.array([3, 4])])
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    xs = _sequence("column_stack", tup)
    return _join_prepared(*xs, prepare=_as_column, axis=1, dtype=None)


def _as_column(x: Any) -> Any:
    return x if aval_of(x).ndim > 1 else reshape(x, (-1, 1))


@direct("_concatenate", 2)
def append(arr: ArrayLike, values: ArrayLike, axis: Axis = None) -> Array:
    """Values after those of an array.

    Args:
      arr, values: arrays.
      axis: the axis; None joins the flattened arrays.

    Source: NumPy, `numpy.append`.

    Example:
      >>> jnp.append(jnp.array([1, 2]), jnp.array([[3], [4]]))
      Array([1, 2, 3, 4], dtype=int32)
    """
    return concatenate([arr, values], axis)


@direct("_join_blocks")
def block(arrays: Any) -> Array:
    """An array from nested lists of blocks: the innermost lists along the last axis.

    Args:
      arrays: array, or nested lists of arrays of equal depth.

    Source: NumPy, `numpy.block`.

    Example:
      >>> jnp.block([[jnp.eye(2), jnp.zeros((2, 1))], [jnp.ones((1, 3))]])
      Array([[1., 0., 0.],
             [0., 1., 0.],
             [1., 1., 1.]], dtype=float32)
    """
    depth = _depth(arrays)
    leaves, structure = tree.tree_flatten(arrays, is_leaf=_is_no_list)
    check_arraylike("block", *leaves)
    return _join_blocks(*leaves, structure=structure, depth=depth)


def _is_no_list(x: Any) -> bool:
    return not isinstance(x, list)


@evaluate.fuse
def _join_blocks(*leaves: Any, structure: Any, depth: int) -> Any:
    return _block(structure.unflatten(leaves), 0, depth)


def _depth(x: Any) -> int:
    if isinstance(x, tuple):
        raise TypeError("numpy.block: blocks must be in lists, got a tuple")
    if not isinstance(x, list):
        return 0
    if not x:
        raise ValueError("numpy.block: lists must not be empty")
    depths = {_depth(item) for item in x}
    if len(depths) > 1:
        raise ValueError("numpy.block: lists must be nested equally deep")
    return depths.pop() + 1


def _block(x: Any, level: int, depth: int) -> Any:
    if not isinstance(x, list):
        missing = depth - aval_of(x).ndim
        return expand_dims(x, tuple(range(missing))) if missing > 0 else as_is(x)
    parts = [_block(item, level + 1, depth) for item in x]
    rank = max(aval_of(p).ndim for p in parts)
    parts = [
        expand_dims(p, tuple(range(rank - aval_of(p).ndim)))
        if aval_of(p).ndim < rank
        else p
        for p in parts
    ]
    return concatenate(parts, level - depth)


# -- splitting -------------------------------------------------------------------------


def _cuts(name: str, length: int, where: Any, equal: bool) -> tuple[int, ...]:
    """Positions of the pieces' ends, from 0 to the length."""
    if isinstance(where, trace.Tracer):
        raise where.refusal(
            errors.ConcretizationTypeError,
            f"numpy.{name}: positions must be known while tracing, got a traced value.",
        )
    if np.ndim(where):
        inner = [as_size(i) for i in np.asarray(where).tolist()]
        inner = [i + length if i < 0 else i for i in inner]
        inner = [minimum(maximum(i, 0), length) for i in inner]
        return (0, *inner, length)
    parts = operator.index(where)
    if parts <= 0:
        raise ValueError(
            f"numpy.{name}: the number of sections must be positive, got {parts}"
        )
    if equal and length % parts:
        raise ValueError(
            f"array split does not result in an equal division: numpy.{name} got "
            f"{parts} sections of {length} elements; use numpy.array_split"
        )
    small, longer = divmod(length, parts)
    if is_symbolic(longer):
        raise errors.InconclusiveDimensionOperation(
            f"numpy.{name}: which sections are longer must be known, got {parts} "
            f"sections of the symbolic size {length}; give the positions of the cuts"
        )
    sizes = [small + 1] * longer + [small] * (parts - longer)
    return (0, *itertools.accumulate(sizes))


@program(1, name="split")
def _split_at(x: Any, *, cuts: tuple[int, ...], axis: int) -> Any:
    if sorted(cuts) == list(cuts):
        sizes = [b - a for a, b in itertools.pairwise(cuts)]
        return concatenation.split(x, sizes, axis)
    return [
        concatenation.slice_in_dim(x, a, max(a, b), axis=axis)
        for a, b in itertools.pairwise(cuts)
    ]


def _pieces(name: str, ary: Any, where: Any, axis: int, equal: bool) -> list[Any]:
    check_arraylike(name, ary)
    axis = sizes_.canonicalize_axis(axis, aval_of(ary).ndim, f"numpy.{name}")
    cuts = _cuts(name, aval_of(ary).shape[axis], where, equal)
    return list(_split_at(ary, cuts=cuts, axis=axis))


def split(
    ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike, axis: int = 0
) -> list[Array]:
    """An array cut along an axis.

    Differs from NumPy: sections must be known when the program is traced.

    Args:
      ary: array.
      indices_or_sections: into how many equal pieces, or the positions of the cuts.
      axis: the axis; may be negative.

    Returns:
      A list of arrays.

    Raises:
      ValueError: the axis does not divide into so many equal pieces.

    Source: NumPy, `numpy.split`.

    Example:
      >>> [x.tolist() for x in jnp.split(jnp.arange(6), 3)]
      [[0, 1], [2, 3], [4, 5]]
    """
    return _pieces("split", ary, indices_or_sections, axis, True)


def array_split(
    ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike, axis: int = 0
) -> list[Array]:
    """An array cut along an axis in pieces that may differ by one in size.

    Differs from NumPy: sections must be known when the program is traced.

    Args:
      ary: array.
      indices_or_sections: into how many pieces, or the positions of the cuts.
      axis: the axis; may be negative.

    Source: NumPy, `numpy.array_split`.

    Example:
      >>> jnp.array_split(jnp.arange(5), 2)
      [Array([0, 1, 2], dtype=int32), Array([3, 4], dtype=int32)]
    """
    return _pieces("array_split", ary, indices_or_sections, axis, False)


def hsplit(
    ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike
) -> list[Array]:
    """An array cut along its second axis; a vector along its only one.

    Args:
      ary: array.
      indices_or_sections: into how many equal pieces, or the positions of the cuts.

    Source: NumPy, `numpy.hsplit`.

    Example:
      >>> [x.tolist() for x in jnp.hsplit(jnp.arange(6), [2, 3])]
      [[0, 1], [2], [3, 4, 5]]
    """
    check_arraylike("hsplit", ary)
    axis = 0 if aval_of(ary).ndim == 1 else 1
    return _pieces("hsplit", ary, indices_or_sections, axis, True)


def vsplit(
    ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike
) -> list[Array]:
    """An array cut along its first axis.

    Args:
      ary: array of at least two axes.
      indices_or_sections: into how many equal pieces, or the positions of the cuts.

    Source: NumPy, `numpy.vsplit`.

    Example:
      >>> jnp.vsplit(jnp.arange(4).reshape(2, 2), 2)
      [Array([[0, 1]], dtype=int32), Array([[2, 3]], dtype=int32)]
    """
    return _pieces("vsplit", ary, indices_or_sections, 0, True)


def dsplit(
    ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike
) -> list[Array]:
    """An array cut along its third axis.

    Args:
      ary: array of at least three axes.
      indices_or_sections: into how many equal pieces, or the positions of the cuts.

    Source: NumPy, `numpy.dsplit`.

    Example:
      >>> [x.shape for x in jnp.dsplit(jnp.ones((2, 2, 4)), 2)]
      [(2, 2, 2), (2, 2, 2)]
    """
    return _pieces("dsplit", ary, indices_or_sections, 2, True)
