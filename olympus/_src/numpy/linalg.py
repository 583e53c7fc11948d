"""Norms, powers and chains of products of matrices."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core.array_type import Array, ArrayLike, Axes, DTypeLike, Placement
from olympus._src.core.sizes import typical
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as sizes_
from olympus._src.lax.precision import PrecisionLike
from olympus._src.numpy import (
    arithmetic,
    contractions,
    creation,
    decompositions,
    elementary,
    linear_systems,
    logic,
    manipulation,
    promotion,
    reductions,
    selection,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike
from olympus._src.numpy.reductions import static_axis

matrix_transpose = manipulation.matrix_transpose
vecdot = contractions.vecdot


def matmul(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The product of matrices, or of stacks of them.

    Args:
      x1, x2: arrays [..., n, k] and [..., k, m]; a vector is a row, or a column.
      precision: how exactly, see `lax.Precision`.
      preferred_element_type: dtype of the result.

    Raises:
      TypeError: sizes do not agree.

    Source: NumPy, `numpy.linalg.matmul`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.matmul(jnp.ones((2, 3)), jnp.ones(3)))
      [3. 3.]
    """
    return contractions.matmul(
        x1, x2, precision=precision, preferred_element_type=preferred_element_type
    )


def tensordot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axes: int | Sequence[int] | Sequence[Sequence[int]] = 2,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Placement = None,
) -> Array:
    """The sum of products over chosen axes of two arrays.

    Args:
      x1, x2: arrays.
      axes: how many last axes of the first are contracted with first axes of the
        second; or a pair of sequences of axes.
      precision: how exactly, see `lax.Precision`.
      preferred_element_type: dtype of the result.
      out_sharding: where the result lives.

    Raises:
      TypeError: sizes do not agree.

    Source: NumPy, `numpy.linalg.tensordot`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.tensordot(jnp.ones((2, 3)), jnp.ones((3, 2)), axes=1))
      [[3. 3.]
       [3. 3.]]
    """
    return contractions.tensordot(
        x1,
        x2,
        axes,
        precision=precision,
        preferred_element_type=preferred_element_type,
        out_sharding=out_sharding,
    )


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three components.

    Args:
      x1, x2: arrays whose vectors lie along the axis.
      axis: the axis.

    Source: NumPy, `numpy.linalg.cross`.

    Example:
      >>> jnp.linalg.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
      Array([0, 0, 1], dtype=int32)
    """
    check_arraylike("linalg.cross", x1, x2)
    if aval_of(x1).shape[axis] != 3 or aval_of(x2).shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they "
            "have "
            f"{aval_of(x1).shape[axis]} and {aval_of(x2).shape[axis]} components; "
            "numpy.linalg.cross"
        )
    return contractions.cross(x1, x2, axis=axis)


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """All products of an element of one vector and one of another.

    Args:
      x1, x2: vectors.

    Source: NumPy, `numpy.linalg.outer`.

    Example:
      >>> jnp.linalg.outer(jnp.array([1, 2]), jnp.array([1, 10]))
      Array([[ 1, 10],
             [ 2, 20]], dtype=int32)
    """
    check_arraylike("linalg.outer", x1, x2)
    if aval_of(x1).ndim != 1 or aval_of(x2).ndim != 1:
        raise ValueError(
            "Input arrays must be one-dimensional, but they are "
            f"x1.ndim={aval_of(x1).ndim} x2.ndim={aval_of(x2).ndim}; numpy.linalg.outer"
        )
    return contractions.outer(x1, x2)


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices.

    Args:
      x: array [..., m, n].
      offset: which diagonal.

    Source: NumPy, `numpy.linalg.diagonal`.

    Example:
      >>> jnp.linalg.diagonal(jnp.arange(8).reshape(2, 2, 2))
      Array([[0, 3],
             [4, 7]], dtype=int32)
    """
    return selection.diagonal(x, offset, -2, -1)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """The sums along the diagonals of matrices.

    Args:
      x: array [..., m, n].
      offset: which diagonal.
      dtype: element type of the sum.

    Source: NumPy, `numpy.linalg.trace`.

    Example:
      >>> jnp.linalg.trace(jnp.arange(8).reshape(2, 2, 2))
      Array([ 3, 11], dtype=int32)
    """
    return contractions.trace(x, offset, -2, -1, dtype)


# -- norms -----------------------------------------------------------------------------


def _sum(x: Any, axes: Any, keepdims: bool) -> Any:
    return reductions.sum(x, axis=axes, keepdims=keepdims)


def _vector_norm(x: Any, order: Any, axes: Any, keepdims: bool) -> Any:
    if order is None or order == 2:
        return elementary.sqrt(_sum(reductions.square_magnitude(x), axes, keepdims))
    size = x if aval_of(x).dtype == np.bool_ else lax.abs_(x)
    if order == np.inf:
        return reductions.max(size, axis=axes, keepdims=keepdims, initial=0)
    if order == -np.inf:
        return reductions.min(size, axis=axes, keepdims=keepdims)
    if order == 0:
        flags = lax.convert(logic.truth(x), aval_of(size).dtype)
        return _sum(flags, axes, keepdims)
    if order == 1:
        return _sum(size, axes, keepdims)
    total = _sum(arithmetic.power(size, order), axes, keepdims)
    return arithmetic.power(total, 1.0 / order)


def _fold_sizes(sizes: Any, axis: int, largest: bool, keepdims: bool) -> Any:
    """The largest, 0 if there are none; or the smallest."""
    if largest:
        return reductions.max(sizes, axis=axis, keepdims=keepdims, initial=0)
    return reductions.min(sizes, axis=axis, keepdims=keepdims)


def _matrix_norm(x: Any, order: Any, axes: Any, keepdims: bool) -> Any:
    if order is None or order == "fro":
        return elementary.sqrt(_sum(reductions.square_magnitude(x), axes, keepdims))
    if order in (1, -1, np.inf, -np.inf):
        row, column = axes if abs(order) == 1 else axes[::-1]
        sums = _sum(lax.abs_(x), (row,), True)
        out = _fold_sizes(sums, column, order > 0, True)
        return out if keepdims else manipulation.squeeze(out, axes)
    if order in (2, -2, "nuc"):
        values = decompositions.svdvals(manipulation.moveaxis(x, axes, (-2, -1)))
        if order == "nuc":
            out = _sum(values, -1, False)
        else:
            out = _fold_sizes(values, -1, order > 0, False)
        return manipulation.expand_dims(out, axes) if keepdims else out
    raise ValueError(f"Invalid order {order!r} for matrix norm; numpy.linalg.norm")


@promotion.program(1, name="norm")
def _norm(x: Any, *, order: Any, axis: Any, keepdims: bool) -> Any:
    (x,) = promotion.promote_inexact(x)
    rank = aval_of(x).ndim
    if axis is None:
        axes = tuple(range(rank))
        if order is None or (rank == 1 and not isinstance(order, str)):
            return _vector_norm(x, order, axes, keepdims)
    else:
        named = axis if isinstance(axis, tuple) else (axis,)
        axes = sizes_.canonicalize_axes(named, rank, "numpy.linalg.norm")
    if len(axes) == 1:
        if isinstance(order, str):
            raise ValueError(
                f"Invalid order {order!r} for vector norm; numpy.linalg.norm takes "
                "numbers"
            )
        return _vector_norm(x, order, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, order, axes, keepdims)
    raise ValueError(
        f"Improper number of axes for norm: {axes=}; pass one axis to compute a vector "
        "norm, two to compute a matrix norm"
    )


@direct("norm")
def norm(
    x: ArrayLike,
    ord: int | float | str | None = None,
    axis: Axes = None,
    keepdims: bool = False,
) -> Array:
    """The norm of vectors or matrices.

    Args:
      x: array.
      ord: of vectors a number or inf; of matrices "fro", "nuc", 1, -1, 2, -2, inf or
        -inf. None is the square root of the sum of squares.
      axis: an axis of vectors, a pair of axes of matrices; None for the whole array.
      keepdims: keep the reduced axes, with size 1.

    Raises:
      ValueError: there is no such norm.

    Source: NumPy, `numpy.linalg.norm`.

    Example:
      >>> jnp.linalg.norm(jnp.array([[3.0, 4.0], [6.0, 8.0]]), axis=1)
      Array([ 5., 10.], dtype=float32)
    """
    check_arraylike("linalg.norm", x)
    return _norm(x, order=ord, axis=static_axis(axis), keepdims=bool(keepdims))


@direct("cond")
def cond(x: ArrayLike, p: int | float | str | None = None) -> Array:
    """The condition number of matrices: the norm times that of the inverse.

    Differs from NumPy: empty matrices raise ValueError.

    Args:
      x: matrices [..., m, n]; square ones unless `p` is None, 2 or -2.
      p: which norm: None or 2 is the ratio of the largest and the smallest singular
        value, -2 its inverse, and others are as in `norm`.

    Returns:
      Numbers [...].

    Raises:
      ValueError: the matrices are empty, or not square for the norm; or there is no
        such norm.

    Source: NumPy, `numpy.linalg.cond`.

    Example:
      >>> from olympus import numpy as jnp
      >>> print(jnp.linalg.cond(jnp.array([[2.0, 0.0], [0.0, 1.0]])))
      2.0
    """
    check_arraylike("linalg.cond", x)
    by_values = p in (None, 2, -2)
    decompositions.check_matrices("cond", x, square=not by_values)
    if not all(aval_of(x).shape[-2:]):
        raise ValueError(
            f"numpy.linalg.cond: matrices must not be empty, got {aval_of(x).short()}"
        )
    return _cond(x, p=p)


@promotion.program(1, name="cond")
def _cond(x: Any, *, p: Any) -> Any:
    (x,) = promotion.promote_inexact(x)
    if p not in (None, 2, -2):
        of_inverse = norm(linear_systems.inv(x), p, (-2, -1))
        number = arithmetic.multiply(norm(x, p, (-2, -1)), of_inverse)
    else:
        values = decompositions.svdvals(x)
        largest, smallest = values[..., 0], values[..., -1]
        if p == -2:
            largest, smallest = smallest, largest
        number = arithmetic.true_divide(largest, smallest)
    # The inverse of a singular matrix is NaN, and so is 0 / 0.
    singular = lax.bitwise_and(
        logic.isnan(number),
        logic.logical_not(reductions.any(logic.isnan(x), axis=(-2, -1))),
    )
    return selection.where(singular, np.inf, number)


def vector_norm(
    x: ArrayLike,
    /,
    *,
    axis: Axes = None,
    keepdims: bool = False,
    ord: int | float = 2,
) -> Array:
    """The norm of vectors along some axes, or of the flattened array.

    Args:
      x: array.
      axis: an axis, several, or None for all.
      keepdims: keep the reduced axes, with size 1.
      ord: a number or inf.

    Source: NumPy, `numpy.linalg.vector_norm`.

    Example:
      >>> jnp.linalg.vector_norm(jnp.array([[3.0, 4.0], [6.0, 8.0]]), axis=1)
      Array([ 5., 10.], dtype=float32)
    """
    check_arraylike("linalg.vector_norm", x)
    return _vector_norm_of(
        x, order=ord, axis=static_axis(axis), keepdims=bool(keepdims)
    )


@promotion.program(1, name="vector_norm")
def _vector_norm_of(x: Any, *, order: Any, axis: Any, keepdims: bool) -> Any:
    if order not in (1, np.inf):  # these two are exact in integers
        (x,) = promotion.promote_inexact(x)
    axes = reductions.axes_of("linalg.vector_norm", x, axis)
    return _vector_norm(x, order, axes, keepdims)


def matrix_norm(
    x: ArrayLike, /, *, keepdims: bool = False, ord: int | float | str | None = "fro"
) -> Array:
    """The norm of matrices.

    Args:
      x: array [..., m, n].
      keepdims: keep the last two axes, with size 1.
      ord: "fro", "nuc", 1, -1, 2, -2, inf or -inf.

    Source: NumPy, `numpy.linalg.matrix_norm`.

    Example:
      >>> jnp.linalg.matrix_norm(jnp.array([[3.0, 0.0], [0.0, 4.0]]))
      Array(5., dtype=float32)
    """
    return norm(x, ord, (-2, -1), keepdims)


# -- powers and chains -----------------------------------------------------------------


@direct("matrix_power")
def matrix_power(a: ArrayLike, n: int) -> Array:
    """Square matrices to an integer power; a negative one inverts them.

    Differs from NumPy: negative powers of singular matrices are inf or NaN, without an
    error.

    Args:
      a: array [..., m, m].
      n: the power.

    Raises:
      TypeError: the matrices are not square, or `n` is not an integer.

    Source: NumPy, `numpy.linalg.matrix_power`; repeated squaring.

    Example:
      >>> jnp.linalg.matrix_power(jnp.array([[1, 1], [0, 1]]), 5)
      Array([[1, 5],
             [0, 1]], dtype=int32)
    """
    check_arraylike("linalg.matrix_power", a)
    shape = aval_of(a).shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise TypeError(
            "numpy.linalg.matrix_power: a must hold square matrices, got "
            f"{aval_of(a).short()}"
        )
    try:
        power = operator.index(n)
    except TypeError:
        raise TypeError(
            f"numpy.linalg.matrix_power: exponent must be an integer, got {n}; "
            "diagonalize the matrix for other powers"
        ) from None
    return _matrix_power(a, n=power)


@promotion.program(1, name="matrix_power")
def _matrix_power(a: Any, *, n: int) -> Any:
    if n == 0:
        unit = creation.eye(aval_of(a).shape[-1], dtype=aval_of(a).dtype)
        return manipulation.broadcast_to(unit, aval_of(a).shape)
    if n < 0:
        a, n = linear_systems.inv(a), -n
    total = None
    while n:
        if n & 1:
            total = a if total is None else matmul(total, a)
        n >>= 1
        if n:
            a = matmul(a, a)
    return total


def multi_dot(arrays: Sequence[ArrayLike], *, precision: PrecisionLike = None) -> Array:
    """The product of several matrices, in the order that costs least.

    Differs from NumPy: there is no `out`; matrices are arrays, not lists.

    Args:
      arrays: at least two matrices; the first and last may be vectors.
      precision: how exactly, see `lax.Precision`.

    Source: NumPy, `numpy.linalg.multi_dot`; Cormen et al., chapter 15.2.

    Example:
      >>> jnp.linalg.multi_dot([jnp.ones((2, 9)), jnp.ones((9, 3)), jnp.ones((3, 1))])
      Array([[27.],
             [27.]], dtype=float32)
    """
    xs = list(arrays)
    check_arraylike("linalg.multi_dot", *xs)
    if len(xs) < 2:
        raise ValueError(
            f"multi_dot requires at least two arrays; got len(arrays)={len(xs)}"
        )
    if any(aval_of(x).ndim != 2 for x in xs[1:-1]) or any(
        aval_of(x).ndim not in (1, 2) for x in (xs[0], xs[-1])
    ):
        raise ValueError(
            "multi_dot: input arrays must all be two-dimensional, except for the first "
            "and last array which may be 1 or 2 dimensional; numpy.linalg.multi_dot"
        )
    return _multi_dot(*xs, precision=precision)


@promotion.evaluate.fuse
def _multi_dot(*xs: Any, precision: Any) -> Any:
    first, last = aval_of(xs[0]), aval_of(xs[-1])
    matrices = list(xs)
    if first.ndim == 1:
        matrices[0] = manipulation.expand_dims(xs[0], 0)
    if last.ndim == 1:
        matrices[-1] = manipulation.expand_dims(xs[-1], 1)
    sizes = [aval_of(x).shape[0] for x in matrices] + [aval_of(matrices[-1]).shape[1]]
    splits = _cheapest_splits([typical(d) for d in sizes])

    def product(i: int, j: int) -> Any:
        if i == j:
            return matrices[i]
        k = splits[i, j]
        return matmul(product(i, k), product(k + 1, j), precision=precision)

    out = product(0, len(matrices) - 1)
    dropped = [0] * (first.ndim == 1) + [1] * (last.ndim == 1)
    return manipulation.squeeze(out, tuple(dropped)) if dropped else out


def _cheapest_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """For each run of matrices, where to multiply last."""
    n = len(sizes) - 1
    cost: dict[tuple[int, int], int] = {(i, i): 0 for i in range(n)}
    best: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            options = [
                (
                    cost[i, k]
                    + cost[k + 1, j]
                    + sizes[i] * sizes[k + 1] * sizes[j + 1],
                    k,
                )
                for k in range(i, j)
            ]
            cost[i, j], best[i, j] = min(options)
    return best
