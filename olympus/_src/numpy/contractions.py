"""Products of vectors, matrices and stacks of them; `einsum`."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, Axis, DTypeLike, Placement
from olympus._src.core.sizes import is_constant_shape, typical
from olympus._src.foundation import caching
from olympus._src.interpreters import evaluate
from olympus._src.lax import (
    concatenation,
    contraction,
    families,
    reductions,
    shaping,
    sharding_constraints,
    sizes,
    stacking,
)
from olympus._src.lax import elementwise as lax
from olympus._src.lax.precision import PrecisionLike
from olympus._src.numpy import promotion

aval_of = avals.aval_of


def _operands(name: str, *args: Any) -> list[Any]:
    """Checked arguments in one dtype."""
    promotion.check_arraylike(name, *args)
    return promotion.promote_dtypes(*args)


def _contract(
    name: str,
    x: Any,
    y: Any,
    numbers: Any,
    precision: Any,
    preferred: Any,
    out_sharding: Any = None,
) -> Any:
    """`dot_general`, its result in the preferred dtype or the operands'."""
    a, b = aval_of(x), aval_of(y)
    dtype = a.dtype if preferred is None else promotion.dtypes.as_dtype(preferred)
    weak = a.weak_type and b.weak_type and preferred is None
    (cx, cy), (bx, by) = numbers
    for i, j in (*zip(cx, cy, strict=True), *zip(bx, by, strict=True)):
        if a.shape[i] != b.shape[j]:
            raise TypeError(
                f"numpy.{name}: contracted sizes must be equal, got {a.shape[i]} of "
                f"{a.short()} and {b.shape[j]} of {b.short()}"
            )
    if preferred is not None:
        contraction.check_preferred(f"numpy.{name}", a.dtype, dtype)
    if dtype == np.bool_:  # some product holds, where any does
        as_int = np.dtype(np.int32)
        counts = contraction.dot_general(
            lax.convert(x, as_int), lax.convert(y, as_int), numbers
        )
        return lax.convert(counts, np.dtype(np.bool_))
    out = contraction.dot_general(
        x, y, numbers, precision, dtype, out_sharding=out_sharding
    )
    return lax.convert(out, aval_of(out).dtype, weak)


@promotion.program(2)
def matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Placement = None,
) -> Array:
    """The matrix product, over stacks of matrices.

    Differs from NumPy: products may be computed in less than full precision on some
    devices: see `precision`; `preferred_element_type` sets the dtype of sums.

    Args:
      a: array [..., n, k], or a vector [k].
      b: array [..., k, m], or a vector [k].
      precision: see `lax.dot_general`.
      preferred_element_type: dtype of sums and result.

    Returns:
      Array [..., n, m]; a vector operand's axis is left out.

    Raises:
      ValueError: an operand is a scalar.
      TypeError: sizes do not agree.

    Source: `numpy.matmul`.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.matmul(onp.ones((2, 3)), onp.ones(3))
      Array([3., 3.], dtype=float32)
    """
    a, b = _operands("matmul", a, b)
    x, y = aval_of(a), aval_of(b)
    if not x.ndim or not y.ndim:
        raise ValueError(
            f"numpy.matmul: operands must have at least one axis, got {x.short()} and "
            f"{y.short()}; use * for scalars"
        )
    if x.ndim == 1 or y.ndim == 1 or (x.ndim == 2 and y.ndim == 2):
        return _matrix_by_vector(a, b, precision, preferred_element_type, out_sharding)
    if out_sharding is not None:
        return sharding_constraints.divide_result(
            matmul, out_sharding, "numpy.matmul", a, b
        )
    return _multiply_stacks(a, b, precision, preferred_element_type)


def _matrix_by_vector(
    a: Any, b: Any, precision: Any, preferred: Any, out_sharding: Any = None
) -> Any:
    """Products where one contraction serves: one operand is not a stack."""
    x, y = aval_of(a), aval_of(b)
    numbers = (((x.ndim - 1,), (max(y.ndim - 2, 0),)), ((), ()))
    return _contract("matmul", a, b, numbers, precision, preferred, out_sharding)


def _multiply_stacks(a: Any, b: Any, precision: Any, preferred: Any) -> Any:
    x, y = aval_of(a), aval_of(b)
    if y.ndim == 2:
        return _matrix_by_vector(a, b, precision, preferred)
    batch = promotion.result_shape("matmul", [x.shape[:-2], y.shape[:-2]])
    a, a_axes = _batch_axes(a, batch)
    b, b_axes = _batch_axes(b, batch)
    shared = [k for k in range(len(batch)) if k in a_axes and k in b_axes]
    bx = tuple([a_axes.index(k) for k in shared])
    by = tuple([b_axes.index(k) for k in shared])
    cx, cy = (aval_of(a).ndim - 1,), (aval_of(b).ndim - 2,)
    out = _contract("matmul", a, b, ((cx, cy), (bx, by)), precision, preferred)
    # The axes come out as: shared, a's own, rows, b's own, columns.
    a_own = [k for k in a_axes if k not in shared]
    b_own = [k for k in b_axes if k not in shared]
    labels: list[Any] = [*shared, *a_own, "rows", *b_own, "columns"]
    batch_labels: list[Any] = [k for k in range(len(batch)) if k in labels]
    order = [labels.index(k) for k in [*batch_labels, "rows", "columns"]]
    out = shaping.transpose(out, tuple(order))
    missing = tuple([k for k in range(len(batch)) if k not in labels])
    return shaping.expand_dims(out, missing) if missing else out


def _batch_axes(x: Any, batch: tuple[int, ...]) -> tuple[Any, list[int]]:
    """`x` without stack axes of size one, and which axis of `batch` each other is."""
    shape = aval_of(x).shape[:-2]
    offset = len(batch) - len(shape)
    ones = tuple([k for k, n in enumerate(shape) if n == 1])
    axes = [k + offset for k, n in enumerate(shape) if n != 1]
    return (shaping.squeeze(x, ones) if ones else x), axes


@promotion.program(2)
def dot(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Placement = None,
) -> Array:
    """The sum of products over a's last axis and b's second to last (or only) one.

    Differs from NumPy: products may be computed in less than full precision on some
    devices: see `precision`; `preferred_element_type` sets the dtype of sums.

    Args:
      a, b: arrays; a scalar multiplies.

    Returns:
      Array whose axes are a's without its last, then b's without the summed one.

    Source: `numpy.dot`.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.dot(onp.arange(3.0), onp.ones(3))
      Array(3., dtype=float32)
    """
    return _contract_last(
        "dot", a, b, 2, precision, preferred_element_type, out_sharding
    )


def _contract_last(
    name: str,
    a: Any,
    b: Any,
    from_end: int,
    precision: Any,
    preferred: Any,
    out_sharding: Any = None,
) -> Any:
    """Sums over the last axis of `a` and one of `b`, counted from the end."""
    a, b = _operands(name, a, b)
    x, y = aval_of(a), aval_of(b)
    if not x.ndim or not y.ndim:
        out = _multiply_by_scalar(name, a, b, preferred)
        place = sharding_constraints.resolve(out_sharding, f"numpy.{name}", a, b)
        return sharding_constraints.divide(out, place, f"numpy.{name}")
    numbers = (((x.ndim - 1,), (max(y.ndim - from_end, 0),)), ((), ()))
    return _contract(name, a, b, numbers, precision, preferred, out_sharding)


@promotion.program(2)
def vdot(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The sum of products of all elements, those of `a` conjugated.

    Source: `numpy.vdot`.

    Example:
      >>> jnp.vdot(jnp.array([1j, 2]), jnp.array([1j, 3]))
      Array(7.+0.j, dtype=complex64)
    """
    a, b = _operands("vdot", a, b)
    a, b = _flat(_conjugate(a)), _flat(b)
    numbers = (((0,), (0,)), ((), ()))
    return _contract("vdot", a, b, numbers, precision, preferred_element_type)


def _multiply_by_scalar(name: str, a: Any, b: Any, preferred: Any) -> Any:
    """The product with a scalar."""
    out = _times(a, b)
    if preferred is None:
        return out
    return lax.convert(out, dtypes.check_user_dtype(preferred, name), False)


def _sum_over(x: Any, axes: tuple[int, ...]) -> Any:
    if aval_of(x).dtype == np.bool_:
        return reductions.reduce_or(x, axes)
    return reductions.reduce_sum(x, axes)


def _times(a: Any, b: Any) -> Any:
    return lax.bitwise_and(a, b) if aval_of(a).dtype == np.bool_ else lax.mul(a, b)


def _flat(x: Any) -> Any:
    return shaping.reshape(x, (aval_of(x).size,))


def _conjugate(x: Any) -> Any:
    if dtypes.issubdtype(aval_of(x).dtype, np.complexfloating):
        return lax.conj(x)
    return x


@promotion.program(2)
def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axis: int = -1,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Dot products of vectors along an axis, over stacks; `x1` is conjugated.

    Source: `numpy.vecdot`.

    Example:
      >>> jnp.vecdot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10]))
      Array([21, 43], dtype=int32)
    """
    x1, x2 = _operands("vecdot", x1, x2)
    x1 = _axis_last(x1, axis, "vecdot")
    x2 = _axis_last(x2, axis, "vecdot")
    row = shaping.expand_dims(_conjugate(x1), (aval_of(x1).ndim - 1,))
    column = shaping.expand_dims(x2, (aval_of(x2).ndim,))
    out = _product_of_matrices("vecdot", row, column, precision, preferred_element_type)
    rank = aval_of(out).ndim
    return shaping.squeeze(out, (rank - 2, rank - 1))


def _axis_last(x: Any, axis: SupportsIndex, name: str) -> Any:
    rank = aval_of(x).ndim
    axis = sizes.canonicalize_axis(axis, rank, f"numpy.{name} axis")
    return families.move_axis(x, axis, rank - 1)


def _product_of_matrices(
    name: str, a: Any, b: Any, precision: Any, preferred: Any
) -> Any:
    """`matmul` of operands with two axes at least."""
    if aval_of(a).ndim == 2 and aval_of(b).ndim == 2:
        numbers = (((1,), (0,)), ((), ()))
        return _contract(name, a, b, numbers, precision, preferred)
    return _multiply_stacks(a, b, precision, preferred)


def _check_ranks(name: str, x1: Any, least1: int, x2: Any, least2: int) -> None:
    if aval_of(x1).ndim < least1 or aval_of(x2).ndim < least2:
        raise ValueError(
            f"numpy.{name}: x1 must have at least {least1} and x2 at least {least2} "
            f"axes, got {aval_of(x1).short()} and {aval_of(x2).short()}; add axes with "
            "expand_dims"
        )


@promotion.program(2)
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Products of matrices [..., n, k] and vectors [..., k], over stacks.

    Source: `numpy.matvec`.

    Example:
      >>> jnp.matvec(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10]))
      Array([21, 43], dtype=int32)
    """
    x1, x2 = _operands("matvec", x1, x2)
    _check_ranks("matvec", x1, 2, x2, 1)
    column = shaping.expand_dims(x2, (aval_of(x2).ndim,))
    out = _product_of_matrices("matvec", x1, column, None, None)
    return shaping.squeeze(out, (aval_of(out).ndim - 1,))


@promotion.program(2)
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Products of vectors [..., n], conjugated, and matrices [..., n, k], over stacks.

    Source: `numpy.vecmat`.

    Example:
      >>> jnp.vecmat(jnp.array([1, 10]), jnp.array([[1, 2], [3, 4]]))
      Array([31, 42], dtype=int32)
    """
    x1, x2 = _operands("vecmat", x1, x2)
    _check_ranks("vecmat", x1, 1, x2, 2)
    row = shaping.expand_dims(_conjugate(x1), (aval_of(x1).ndim - 1,))
    out = _product_of_matrices("vecmat", row, x2, None, None)
    return shaping.squeeze(out, (aval_of(out).ndim - 2,))


@promotion.program(2)
def inner(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The sum of products over the last axes.

    Source: `numpy.inner`.

    Example:
      >>> jnp.inner(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
      Array([3, 7], dtype=int32)
    """
    return _contract_last("inner", a, b, 1, precision, preferred_element_type)


@promotion.program(2)
def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Array:
    """Products of each element of `a` with each of `b`: array [a.size, b.size].

    Source: `numpy.outer`.

    Example:
      >>> jnp.outer(jnp.array([1, 2]), jnp.array([1, 10]))
      Array([[ 1, 10],
             [ 2, 20]], dtype=int32)
    """
    promotion.check_out("outer", out)
    a, b = _operands("outer", a, b)
    n, m = aval_of(a).size, aval_of(b).size
    rows = shaping.broadcast_in_dim(_flat(a), (n, m), (0,))
    return _times(rows, shaping.broadcast_in_dim(_flat(b), (n, m), (1,)))


@promotion.program(2)
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """The Kronecker product: blocks of `b`, one for each element of `a`.

    Source: `numpy.kron`.

    Example:
      >>> jnp.kron(jnp.array([1, 10]), jnp.array([1, 2]))
      Array([ 1,  2, 10, 20], dtype=int32)
    """
    a, b = _operands("kron", a, b)
    rank = max(aval_of(a).ndim, aval_of(b).ndim)
    x, y = _to_rank(a, rank), _to_rank(b, rank)
    both = [n for pair in zip(x.shape, y.shape, strict=True) for n in pair]
    left = shaping.broadcast_in_dim(
        shaping.reshape(a, x.shape), both, range(0, 2 * rank, 2)
    )
    right = shaping.broadcast_in_dim(
        shaping.reshape(b, y.shape), both, range(1, 2 * rank, 2)
    )
    shape = tuple([n * m for n, m in zip(x.shape, y.shape, strict=True)])
    return shaping.reshape(lax.mul(left, right), shape)


def _to_rank(x: Any, rank: int) -> Any:
    aval = aval_of(x)
    return aval.update(shape=(1,) * (rank - aval.ndim) + aval.shape)


@promotion.program(2)
def tensordot(
    a: ArrayLike,
    b: ArrayLike,
    axes: int | Sequence[int] | Sequence[Sequence[int]] = 2,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Placement = None,
) -> Array:
    """The sum of products over chosen axes.

    Args:
      a, b: arrays.
      axes: a number n for a's last n and b's first n axes, or a pair of an axis, or a
        sequence of axes, of each.

    Source: `numpy.tensordot`.

    Example:
      >>> jnp.tensordot(jnp.arange(4).reshape(2, 2), jnp.array([1, 10]), axes=1)
      Array([10, 32], dtype=int32)
    """
    a, b = _operands("tensordot", a, b)
    x, y = aval_of(a), aval_of(b)
    cx, cy = _paired_axes(x, y, axes)
    numbers = ((cx, cy), ((), ()))
    return _contract(
        "tensordot", a, b, numbers, precision, preferred_element_type, out_sharding
    )


def _paired_axes(x: Any, y: Any, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(axes, (int, np.integer)):
        n = operator.index(axes)
        if n > min(x.ndim, y.ndim) or n < 0:
            raise TypeError(
                f"numpy.tensordot: axes must be at most the operands' ranks, got {n} "
                f"for {x.short()} and {y.short()}"
            )
        return tuple(range(x.ndim - n, x.ndim)), tuple(range(n))
    if len(axes) != 2:
        raise TypeError(
            f"numpy.tensordot: axes must be a number or a pair, got {axes!r}"
        )
    pair = [(s,) if isinstance(s, (int, np.integer)) else tuple(s) for s in axes]
    if len(pair[0]) != len(pair[1]):
        raise TypeError(
            "numpy.tensordot: axes must name as many axes of each operand, got "
            f"{axes!r}"
        )
    return (
        sizes.canonicalize_axes(pair[0], x.ndim, "numpy.tensordot axes"),
        sizes.canonicalize_axes(pair[1], y.ndim, "numpy.tensordot axes"),
    )


@promotion.program(2)
def cross(
    a: ArrayLike,
    b: ArrayLike,
    axisa: SupportsIndex = -1,
    axisb: SupportsIndex = -1,
    axisc: SupportsIndex = -1,
    axis: Axis = None,
) -> Array:
    """The cross product of vectors of two or three components.

    Args:
      a, b: arrays whose axis `axisa` (`axisb`) has size 2 or 3.
      axisc: where the result has its components.
      axis: all three at once.

    Source: `numpy.cross`.

    Example:
      >>> jnp.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
      Array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = (promotion.strong(v) for v in _operands("cross", a, b))
    a, b = _axis_last(a, axisa, "cross"), _axis_last(b, axisb, "cross")
    n, m = aval_of(a).shape[-1], aval_of(b).shape[-1]
    if n not in (2, 3) or m not in (2, 3):
        raise ValueError(
            f"numpy.cross: vectors must have 2 or 3 components, got {n} and {m}"
        )
    shape = promotion.result_shape(
        "cross", [aval_of(a).shape[:-1], aval_of(b).shape[:-1]]
    )
    x = [_component(a, i, shape) for i in range(3)]
    y = [_component(b, i, shape) for i in range(3)]

    def minor(i: int, j: int) -> Any:
        return lax.sub(lax.mul(x[i], y[j]), lax.mul(x[j], y[i]))

    if n == m == 2:
        return minor(0, 1)
    # Components first, which the compiler vectorises: last, it writes them in turns.
    out = stacking.stack([minor(1, 2), minor(2, 0), minor(0, 1)], 0)
    rank = len(shape) + 1
    return families.move_axis(
        out, 0, sizes.canonicalize_axis(axisc, rank, "numpy.cross axisc")
    )


def _component(v: Any, i: int, shape: tuple[int, ...]) -> Any:
    """Component i of vectors in the last axis; the third of plane vectors is 0."""
    if i >= aval_of(v).shape[-1]:
        return shaping.full(shape, 0, aval_of(v).dtype)
    part = concatenation.index_in_dim(v, i, aval_of(v).ndim - 1, keepdims=False)
    return promotion.full_shape(part, shape)


@promotion.program(1)
def trace(
    a: ArrayLike,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike | None = None,
    out: None = None,
) -> Array:
    """The sum along a diagonal.

    Args:
      a: array of two axes at least.
      offset: how far the diagonal is above the main one.
      axis1, axis2: the axes of the matrices.
      dtype: of the sum; default a's, small integers widened.

    Source: `numpy.trace`.

    Example:
      >>> jnp.trace(jnp.array([[1, 2], [3, 4]]))
      Array(5, dtype=int32)
    """
    promotion.check_arraylike("trace", a)
    promotion.check_out("trace", out)
    rank = aval_of(a).ndim
    of = aval_of(offset)
    if of.shape or dtypes.kind(of.dtype) not in "iu":
        raise ValueError(
            f"numpy.trace: offset must be an integer, got {of.short()}; write how far "
            "the diagonal is above the main one"
        )
    axis1 = sizes.canonicalize_axis(axis1, rank, "numpy.trace axis1")
    axis2 = sizes.canonicalize_axis(axis2, rank, "numpy.trace axis2")
    order = [i for i in range(rank) if i not in (axis1, axis2)] + [axis1, axis2]
    a = shaping.transpose(a, tuple(order))
    shape = aval_of(a).shape
    row = shaping.broadcasted_iota(np.int32, shape, rank - 2)
    column = shaping.broadcasted_iota(np.int32, shape, rank - 1)
    on = lax.eq(lax.add(row, families.full_like(row, offset)), column)
    diagonals = lax.select(on, a, families.full_like(a, 0))
    diagonals = lax.convert(diagonals, _sum_dtype(aval_of(a).dtype, dtype))
    return _sum_over(diagonals, (rank - 2, rank - 1))


def _sum_dtype(dtype: Any, asked: Any) -> Any:
    if asked is not None:
        return dtypes.check_user_dtype(asked, "numpy.trace")
    if dtypes.kind(dtype) in "bi" and dtypes.itemsize_bits(dtype) < 64:
        return dtypes.canonicalize_dtype(np.int64)
    if dtypes.kind(dtype) == "u" and dtypes.itemsize_bits(dtype) < 64:
        return dtypes.canonicalize_dtype(np.uint64)
    return dtype


# -- einsum ----------------------------------------------------------------------------


@promotion.divides_result("numpy.einsum")
def einsum(
    subscripts: str | ArrayLike,
    /,
    *operands: Any,
    out: None = None,
    optimize: str | bool | Sequence[tuple[int, ...]] = "auto",
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    _dot_general: Callable[..., Array] | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Sums of products, as the subscripts say.

    Differs from NumPy: products may be computed in less than full precision on some
    devices: see `precision`; `preferred_element_type` sets the dtype of sums.

    Args:
      subscripts: such as 'ij,jk->ik', or NumPy's interleaved form.
      *operands: arrays.
      optimize: how opt_einsum orders the products; 'auto', 'optimal', a path, ...

    Returns:
      Array with the axes named after the arrow.

    Source: `numpy.einsum`; the order of products is opt_einsum's.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.einsum('ij,ij->i', onp.ones((2, 3)), onp.ones((2, 3)))
      Array([3., 3.], dtype=float32)
    """
    promotion.check_out("einsum", out)
    expression, path, arrays = _einsum_plan(subscripts, operands, optimize)
    return _einsum(
        *arrays,
        expression=expression,
        path=path,
        precision=precision,
        preferred=preferred_element_type,
    )


def einsum_path(
    subscripts: str | ArrayLike,
    /,
    *operands: Any,
    optimize: str | bool | Sequence[tuple[int, ...]] = "auto",
) -> tuple[list[tuple[int, ...]], Any]:
    """The order in which `einsum` would take its products, without taking them.

    Args:
      subscripts: such as 'ij,jk->ik', or NumPy's interleaved form.
      *operands: arrays; only their shapes matter.
      optimize: 'auto', 'optimal', another name that opt_einsum knows, or a path; True
        for 'optimal', False for products from left to right.

    Returns:
      A list of the positions of the operands of each product, and a description that
      prints as a table.

    Source: NumPy, `numpy.einsum_path`; the order is opt_einsum's.

    Example:
      >>> import olympus.numpy as onp
      >>> x, y, z = onp.ones((2, 9)), onp.ones((9, 9)), onp.ones((9, 1))
      >>> onp.einsum_path('ij,jk,kl->il', x, y, z)[0]
      [(1, 2), (0, 1)]
    """
    opt_einsum = importlib.import_module("opt_einsum")
    if optimize is True:
        optimize = "optimal"
    elif optimize is False:
        arrays = _einsum_plan(subscripts, operands, False)[2]
        optimize = [(0, 1)] * (len(arrays) - 1) or [(0,)]
    path, description = opt_einsum.contract_path(
        subscripts, *operands, optimize=optimize
    )
    return [tuple(step) for step in path], description


def _einsum_plan(
    subscripts: Any, operands: Sequence[Any], optimize: Any
) -> tuple[str, tuple[Any, ...], list[Any]]:
    """The expression with letters only, the order of products, and the arrays."""
    if isinstance(subscripts, str):
        promotion.check_arraylike("einsum", *operands)
        shapes = tuple([aval_of(x).shape for x in operands])
        if isinstance(optimize, (str, bool)):
            return *_known_plan(subscripts, shapes, optimize), list(operands)
        return *_plan([subscripts, *shapes], shapes, optimize), list(operands)
    # Each array has its axes after it; the axes of the result may end the list.
    arguments = (subscripts, *operands)
    if len(arguments) < 2:
        raise TypeError(
            "numpy.einsum: an array must have its axes after it, got one argument; "
            "write subscripts such as 'ij->ji', or einsum(x, [0, 1])"
        )
    pairs = len(arguments) - len(arguments) % 2
    arrays = list(arguments[:pairs:2])
    promotion.check_arraylike("einsum", *arrays)
    shapes = tuple([aval_of(x).shape for x in arrays])
    # Axes in lists: tuples are shapes.
    form = [
        shapes[i // 2] if i < pairs and i % 2 == 0 else _labels_of(x)
        for i, x in enumerate(arguments)
    ]
    return *_plan(form, shapes, optimize), arrays


def _labels_of(axes: Any) -> list[Any]:
    """The labels of an array's axes, from a sequence of them or a vector."""
    if isinstance(axes, (str, list, tuple, range)):
        return list(axes)
    return np.asarray(promotion.resolve(axes)).tolist()


def _plan(form: list[Any], shapes: Any, optimize: Any) -> tuple[str, tuple[Any, ...]]:
    # Not at the top: 20 ms that programs without einsum need not pay.
    opt_einsum = importlib.import_module("opt_einsum")
    parser = importlib.import_module("opt_einsum.parser")
    shapes = _with_numbers(shapes)
    if not isinstance(form[0], str) or len(form) > 1:
        known = iter(shapes)
        form = [next(known) if type(x) is tuple else x for x in form]
    try:
        inputs, output, _ = parser.parse_einsum_input(form, shapes=True)
    except ValueError as error:
        listed = ", ".join(map(str, shapes))
        raise ValueError(
            f"numpy.einsum: {error}; got subscripts {form[0]!r} for operands of shapes "
            f"{listed}{_output_cure(form[0])}"
        ) from None
    _check_labels(inputs.split(","), shapes)
    expression = f"{inputs}->{output}"
    if optimize is False:
        return expression, tuple([(0, 1)] * (len(shapes) - 1)) or ((0,),)
    path, _ = opt_einsum.contract_path(
        expression,
        *shapes,
        shapes=True,
        optimize="optimal" if optimize is True else optimize,
    )
    return expression, tuple(map(tuple, path))


def _output_cure(subscripts: str) -> str:
    """The labels that a result may have, where it has another."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    known = {c for c in inputs if c.isalpha()}
    if not arrow or known >= {c for c in output if c.isalpha()}:
        return ""
    return f"; write only labels of the operands after '->': {', '.join(sorted(known))}"


def _check_labels(terms: Sequence[str], shapes: Sequence[Any]) -> None:
    """Raises unless each term fits its operand and each label has one size."""
    known: dict[str, tuple[int, int, int]] = {}
    for i, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        if len(term) != len(shape):
            raise ValueError(
                f"numpy.einsum: operand {i} of shape {shape} must have as many axes as "
                f"its subscripts {term!r} have labels, got {len(shape)} and {len(term)}"
            )
        for axis, (label, size) in enumerate(zip(term, shape, strict=True)):
            first_size, j, first_axis = known.setdefault(label, (size, i, axis))
            if first_size == 1:
                known[label] = size, i, axis
            elif size not in (1, first_size):
                raise ValueError(
                    f"numpy.einsum: label {label!r} must have one size, got "
                    f"{first_size} (axis {first_axis} of operand {j}, of shape "
                    f"{shapes[j]}) and {size} (axis {axis} of operand {i}, of shape "
                    f"{shape})"
                )


def _with_numbers(shapes: Any) -> Any:
    """Shapes with a number in place of each symbolic size, to order products by."""
    if all(map(is_constant_shape, shapes)):
        return shapes
    return tuple([tuple([typical(d) for d in shape]) for shape in shapes])


@caching.bounded_cache(512, "orders of the products of einsum", typed=True)
def _known_plan(subscripts: str, shapes: Any, optimize: str | bool) -> Any:
    return _plan([subscripts, *shapes], shapes, optimize)


def _einsum_traced(
    *operands: Any, expression: str, path: Any, precision: Any, preferred: Any
) -> Any:
    inputs, output = expression.split("->")
    arrays = list(promotion.promote_dtypes(*operands))
    if preferred is not None:
        preferred = dtypes.check_user_dtype(preferred, "numpy.einsum")
    names = inputs.split(",")
    for step in path:
        chosen = sorted(step, reverse=True)
        parts = [(arrays.pop(i), names.pop(i)) for i in chosen]
        remaining = set(output).union(*names)
        while len(parts) > 1:
            y, x = parts.pop(), parts.pop()
            others = remaining.union(*(n for _, n in parts))
            last = not arrays and not parts
            target = output if last else None
            parts.append(_product(x, y, others, target, precision, preferred))
        arrays.append(parts[0][0])
        names.append(parts[0][1])
    out = _arrange_axes(arrays[0], names[0], output)
    return out if preferred is None else promotion.convert(out, preferred, False)


_einsum = evaluate.fuse(_einsum_traced)


def _product(
    x: Any,
    y: Any,
    output_names: set[str],
    target: str | None,
    precision: Any,
    preferred: Any,
) -> Any:
    """The product of two named arrays, summed over names nobody else has.

    If the axes are wanted in the order `target`, the operands are exchanged where they
    come out so.
    """
    (a, a_names), (b, b_names) = x, y
    a, a_names = _reduce_names(a, a_names, output_names | set(b_names))
    b, b_names = _reduce_names(b, b_names, output_names | set(a_names))
    shared = [n for n in a_names if n in b_names]
    a, a_names, b, b_names = _without_ones(a, a_names, b, b_names, shared)
    shared = [n for n in a_names if n in b_names]
    batch = [n for n in shared if n in output_names]
    left = [n for n in a_names if n not in shared]
    right = [n for n in b_names if n not in shared]
    if target is not None:
        batch.sort(key=target.index)
        if "".join([*batch, *right, *left]) == target:
            a, a_names, left, b, b_names, right = b, b_names, right, a, a_names, left
    summed = [n for n in a_names if n in shared and n not in output_names]
    numbers = (
        (
            tuple([a_names.index(n) for n in summed]),
            tuple([b_names.index(n) for n in summed]),
        ),
        (
            tuple([a_names.index(n) for n in batch]),
            tuple([b_names.index(n) for n in batch]),
        ),
    )
    out = _contract("einsum", a, b, numbers, precision, preferred)
    return out, "".join([*batch, *left, *right])


def _without_ones(a: Any, a_names: str, b: Any, b_names: str, shared: Any) -> Any:
    """Drops shared axes of size one on the side where the other's is longer."""
    for name in shared:
        i, j = a_names.index(name), b_names.index(name)
        n, m = aval_of(a).shape[i], aval_of(b).shape[j]
        if n == 1 and m != 1:
            a, a_names = shaping.squeeze(a, (i,)), a_names[:i] + a_names[i + 1 :]
        elif m == 1 and n != 1:
            b, b_names = shaping.squeeze(b, (j,)), b_names[:j] + b_names[j + 1 :]
    return a, a_names, b, b_names


def _reduce_names(x: Any, names: str, output_names: set[str]) -> tuple[Any, str]:
    """Takes diagonals of repeated names and sums over names that are not kept."""
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            x, names = _diagonal(x, names, name)
    gone = [i for i, n in enumerate(names) if n not in output_names]
    if gone:
        x = _sum_over(x, tuple(gone))
        names = "".join([n for n in names if n in output_names])
    return x, names


def _diagonal(x: Any, names: str, name: str) -> tuple[Any, str]:
    i = names.index(name)
    j = names.index(name, i + 1)
    shape = aval_of(x).shape
    if shape[i] != shape[j]:
        raise ValueError(
            f"numpy.einsum: axes of the repeated name {name!r} must have one size, got "
            f"{shape[i]} and {shape[j]}"
        )
    on = lax.eq(
        shaping.broadcasted_iota(np.int32, shape, i),
        shaping.broadcasted_iota(np.int32, shape, j),
    )
    diagonal = lax.select(on, x, families.full_like(x, 0))
    return _sum_over(diagonal, (j,)), names[:j] + names[j + 1 :]


def _arrange_axes(x: Any, names: str, output: str) -> Any:
    x, names = _reduce_names(x, names, set(output))
    if names == output:
        return x
    return shaping.transpose(x, tuple([names.index(n) for n in output]))
