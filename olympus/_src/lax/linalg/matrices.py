"""What operations on stacks of matrices share: checks, batching, products, parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.primitive import Primitive, takes_primitive
from olympus._src.lax import (
    concatenation,
    contraction,
    elementwise,
    families,
    gather,
    reductions,
    shaping,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.precision import Precision

aval_of = avals.aval_of
REAL = ("float32", "float64")
INEXACT = (*REAL, "complex64", "complex128")
HALF = ("float16", "bfloat16")  # only where an operation says so

# -- checks ----------------------------------------------------------------------------


def check_dtype(
    name: str, x: Any, accepts: Sequence[str] = INEXACT, operand: str = "the operand"
) -> None:
    """Raises TypeError unless the dtype is one that LAPACK knows."""
    if x.dtype.name in accepts:
        return
    raise TypeError(
        f"lax.linalg.{name}: does not accept dtype {x.dtype}: {operand} must have one "
        f"of {', '.join(accepts)}, got {x.short()}; convert it with astype"
    )


def check_matrices(
    name: str,
    x: Any,
    *,
    square: bool = False,
    accepts: Sequence[str] = INEXACT,
    operand: str = "the operand",
) -> None:
    """Raises unless `x` holds (square) matrices of a dtype that LAPACK knows."""
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise ValueError(
            f"lax.linalg.{name}: {operand} must hold {kind} in its last two axes, "
            f"got {x.short()}; reshape it"
        )
    check_dtype(name, x, accepts, operand)


def check_system(name: str, a: Any, b: Any, accepts: Sequence[str] = INEXACT) -> None:
    """Raises unless `a` holds square matrices and `b` right sides for them."""
    check_matrices(name, a, square=True, accepts=accepts, operand="a")
    check_matrices(name, b, accepts=accepts, operand="b")
    check_alike(name, a, b, (2, 2))


def check_alike(name: str, first: Any, second: Any, ranks: tuple[int, int]) -> None:
    """Raises unless two operands agree in dtype and in the axes before the last."""
    if first.dtype != second.dtype:
        raise TypeError(
            f"lax.linalg.{name}: operands must have the same dtypes, got "
            f"{first.short()} and {second.short()}; convert one with astype"
        )
    one, other = (
        a.shape[: max(a.ndim - r, 0)]
        for a, r in zip((first, second), ranks, strict=True)
    )
    if one != other:
        raise ValueError(
            f"lax.linalg.{name}: operands must have the same leading axes, got "
            f"{first.short()} and {second.short()}; broadcast one to the other"
        )


def real_dtype(dtype: Any) -> Any:
    """The dtype of the parts of a complex dtype; a floating one itself."""
    return np.zeros((), dtype).real.dtype


def index_range(bounds: Any) -> tuple[int, ...] | None:
    """A range of values as a parameter."""
    return None if bounds is None else tuple([int(i) for i in bounds])


# -- batching --------------------------------------------------------------------------


@takes_primitive
def batch_of_stacks(
    p: Primitive, axis: Any, args: Any, dims: Any, /, **params: Any
) -> Any:
    """The batching rule of operations that have any number of leading axes."""
    fronts = [families.at_front(axis, x, d) for x, d in zip(args, dims, strict=True)]
    out = p.bind(*fronts, **params)
    return out, ([0] * len(out) if p.multiple_results else 0)


# -- products and parts ----------------------------------------------------------------


def weak_as_operands(abstract: Callable[..., Any]) -> Callable[..., Any]:
    """A rule `abstract` whose results are weak, all of them, where all operands are."""

    def rule(*operands: Any, **params: Any) -> Any:
        outs = abstract(*operands, **params)
        if not all(x.weak_type for x in operands):
            return outs
        if isinstance(outs, ShapedArray):
            return outs.update(weak_type=True)
        return tuple([out.update(weak_type=True) for out in outs])

    return rule


def matmul(x: Any, y: Any) -> Any:
    """Products of matrices, as exact as the hardware can."""
    return contraction.batch_matmul(x, y, Precision.HIGHEST)


def transpose_matrices(x: Any) -> Any:
    """Each matrix transposed."""
    rank = aval_of(x).ndim
    return shaping.transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def conjugate_if_complex(x: Any) -> Any:
    """`x` conjugated where it is complex."""
    return elementwise.conj(x) if aval_of(x).dtype.kind == "c" else x


def adjoint(x: Any) -> Any:
    """Each matrix transposed and conjugated."""
    return conjugate_if_complex(transpose_matrices(x))


def scale_by_number(x: Any, factor: float) -> Any:
    """`x` times a number, which takes its dtype."""
    return elementwise.mul(x, families.number_of(factor, aval_of(x).dtype))


def hermitian_part(x: Any) -> Any:
    """(x + x^H) / 2."""
    return elementwise.div(elementwise.add(x, adjoint(x)), families.scalar_like(x, 2))


def mirror_lower(x: Any) -> Any:
    """The Hermitian matrices that have the lower triangles of `x`."""
    aval = aval_of(x)
    mirrored = elementwise.select(
        _mask_triangle(aval.shape, 0, elementwise.ge), x, adjoint(x)
    )
    if aval.dtype.kind != "c":
        return mirrored
    real = elementwise.convert(elementwise.real(x), aval.dtype, aval.weak_type)
    return elementwise.select(on_diagonal(aval.shape), real, mirrored)


def _mask_triangle(shape: Any, offset: int, direction: Any) -> Any:
    """Where row + offset compares with column."""
    row, column = (
        shaping.broadcasted_iota("int32", shape, axis)
        for axis in (len(shape) - 2, len(shape) - 1)
    )
    if offset:
        row = elementwise.add(row, np.int32(offset))
    return direction(row, column)


def on_diagonal(shape: Any) -> Any:
    """Which elements of matrices [..., m, n] are on their diagonal."""
    return _mask_triangle(shape, 0, elementwise.eq)


def lower_triangle(x: Any, offset: int = 0) -> Any:
    """`x` with zeros above its diagonal, or that `offset` places right of it."""
    inside = _mask_triangle(aval_of(x).shape, offset, elementwise.ge)
    return elementwise.select(inside, x, families.full_like(x, 0))


def upper_triangle(x: Any, offset: int = 0) -> Any:
    """`x` with zeros below its diagonal, or that `offset` places right of it."""
    inside = _mask_triangle(aval_of(x).shape, offset, elementwise.le)
    return elementwise.select(inside, x, families.full_like(x, 0))


def identity_like(x: Any) -> Any:
    """Unit matrices of the type of `x`, also where it is not square."""
    ones, zeros = families.full_like(x, 1), families.full_like(x, 0)
    return elementwise.select(on_diagonal(aval_of(x).shape), ones, zeros)


def identity(shape: Any, dtype: Any) -> Any:
    """Unit matrices."""
    zeros = shaping.full(shape, 0, dtype)
    return identity_like(zeros)


def only_diagonal(x: Any) -> Any:
    """`x` with zeros off its diagonal."""
    zeros = families.full_like(x, 0)
    return elementwise.select(on_diagonal(aval_of(x).shape), x, zeros)


def diagonal(x: Any) -> Any:
    """The diagonals [..., n] of square matrices."""
    return reductions.reduce_sum(only_diagonal(x), (aval_of(x).ndim - 1,))


def real_diagonal(x: Any) -> Any:
    """The real parts of the diagonals [..., n] of square matrices."""
    entries = diagonal(x)
    is_complex = aval_of(entries).dtype.kind == "c"
    return elementwise.real(entries) if is_complex else entries


def reciprocal_gaps(values: Any) -> Any:
    """Matrices [..., n, n] of 1 / (v[..., j] - v[..., i]), with zeros where i = j."""
    size = aval_of(values).shape[-1]
    gaps = elementwise.sub(in_columns(values, size), in_rows(values, size))
    unit = identity_like(gaps)
    return elementwise.sub(elementwise.reciprocal(elementwise.add(gaps, unit)), unit)


def in_columns(v: Any, rows: int) -> Any:
    """Matrices [..., rows, n] whose column j is filled with v[..., j]."""
    aval = aval_of(v)
    shape = (*aval.shape[:-1], rows, aval.shape[-1])
    old_axes = (*range(aval.ndim - 1), aval.ndim)
    return shaping.broadcast_in_dim(v, shape, old_axes)


def in_rows(v: Any, columns: int) -> Any:
    """Matrices [..., n, columns] whose row i is filled with v[..., i]."""
    aval = aval_of(v)
    return shaping.broadcast_in_dim(v, (*aval.shape, columns), range(aval.ndim))


def columns(x: Any, start: int, stop: int) -> Any:
    """Some columns of each matrix."""
    return _part(x, -1, start, stop)


def rows(x: Any, start: int, stop: int) -> Any:
    """Some rows of each matrix."""
    return _part(x, -2, start, stop)


def _part(x: Any, axis: int, start: int, stop: int) -> Any:
    if (start, stop) == (0, aval_of(x).shape[axis]):
        return x
    return concatenation.slice_in_dim(x, start, stop, axis=axis)


def pad_with_zeros(x: Any, n_rows: int, n_columns: int) -> Any:
    """Matrices with rows and columns of zeros added at their ends."""
    aval = aval_of(x)
    more = [n_rows - aval.shape[-2], n_columns - aval.shape[-1]]
    if more == [0, 0]:
        return x
    config = [(0, 0, 0)] * (aval.ndim - 2) + [(0, m, 0) for m in more]
    return concatenation.pad(x, np.zeros((), aval.dtype)[()], config)


def matrix_aval(x: Any, n_rows: int, n_columns: int, dtype: Any = None) -> Any:
    """The type of matrices as many as in `x`."""
    return ShapedArray((*x.shape[:-2], n_rows, n_columns), dtype or x.dtype)


def vector_aval(x: Any, size: int, dtype: Any = None) -> Any:
    """The type of vectors, one for each matrix of `x`."""
    return ShapedArray((*x.shape[:-2], size), dtype or x.dtype)


def take_rows(x: Any, positions: Any) -> Any:
    """Rows of each matrix [..., n, m] at positions [..., k] of its own."""
    aval = aval_of(x)
    if not aval.size:  # there is nothing to choose, and no slice to take
        return x
    rank, many = aval.ndim, tuple(range(aval.ndim - 2))
    numbers = gather.GatherDimensionNumbers(
        offset_dims=(rank - 1,),
        collapsed_slice_dims=(rank - 2,),
        start_index_map=(rank - 2,),
        operand_batching_dims=many,
        start_indices_batching_dims=many,
    )
    vectors = shaping.expand_dims(positions, (rank - 1,))
    window = [1] * (rank - 1) + [aval.shape[-1]]
    return gather.gather(x, vectors, numbers, window)


def take_columns(x: Any, positions: Any) -> Any:
    """Columns of each matrix [..., m, n] at positions [..., k] of its own."""
    return transpose_matrices(take_rows(transpose_matrices(x), positions))
