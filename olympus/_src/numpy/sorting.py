"""Sorting, and what follows from it: argsort, lexsort, partition, top_k."""

from __future__ import annotations

import operator
from typing import Any

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, Arrays, Axis, DTypeLike
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import concatenation, shaping
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as sizes_
from olympus._src.lax import sorting as lax_sorting
from olympus._src.numpy import promotion
from olympus._src.numpy.promotion import aval_of, check_arraylike, program


def _check_options(name: str, kind: Any, order: Any) -> None:
    if order is not None:
        raise ValueError(
            f"'order' argument to numpy.{name} is not supported, got {order!r}"
        )
    if kind is not None and kind not in (
        "quicksort",
        "mergesort",
        "heapsort",
        "stable",
    ):
        raise ValueError(
            f"numpy.{name}: kind must be None or a method of NumPy's, got {kind!r}"
        )


def _resolve_axis(a: Any, axis: Axis, name: str) -> tuple[Any, int]:
    if axis is None:
        return shaping.reshape(a, (aval_of(a).size,)), 0
    return a, sizes_.canonicalize_axis(axis, aval_of(a).ndim, f"numpy.{name}")


@program(1, name="sort")
def _sort(a: Any, *, axis: Axis, stable: bool, descending: bool) -> Any:
    x, axis = _resolve_axis(a, axis, "sort")
    out = lax_sorting.sort(x, dimension=axis, is_stable=stable)
    return shaping.rev(out, (axis,)) if descending else out


@direct("sort")
def sort(
    a: ArrayLike,
    axis: Axis = -1,
    *,
    kind: str | None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """The elements in ascending order, along an axis.

    Differs from NumPy: equal elements always keep their order; there is no `order` by
    fields.

    Args:
      a: array.
      axis: the axis; None for the flattened array.
      kind: has no effect on the result.
      order: must be None.
      stable: whether equal elements keep their order.
      descending: descending order instead.

    Returns:
      An array like `a`; NaN comes last.

    Source: NumPy, `numpy.sort`.

    Example:
      >>> import olympus.numpy as onp
      >>> onp.sort(onp.array([3, 1, 2]))
      Array([1, 2, 3], dtype=int32)
    """
    check_arraylike("sort", a)
    _check_options("sort", kind, order)
    axis = axis if axis is None else operator.index(axis)
    return _sort(a, axis=axis, stable=bool(stable), descending=bool(descending))


@program(1, name="argsort")
def _argsort(a: Any, *, axis: Axis, stable: bool, descending: bool, dtype: Any) -> Any:
    x, axis = _resolve_axis(a, axis, "argsort")
    shape = aval_of(x).shape
    places = shaping.broadcasted_iota(dtype, shape, axis)
    if not descending:
        out = lax_sorting.sort(
            (x, places), dimension=axis, is_stable=stable, num_keys=1
        )
        return out[1]
    # Sorted backwards and turned round, so that equal elements keep their order.
    x, places = (shaping.rev(v, (axis,)) for v in (x, places))
    out = lax_sorting.sort((x, places), dimension=axis, is_stable=stable, num_keys=1)
    return shaping.rev(out[1], (axis,))


@direct("argsort")
def argsort(
    a: ArrayLike,
    axis: Axis = -1,
    *,
    kind: str | None = None,
    order: None = None,
    descending: bool = False,
    stable: bool = True,
    dtype: DTypeLike | None = None,
) -> Array:
    """The positions that would sort an array along an axis.

    Differs from NumPy: equal elements always keep their order; there is no `order` by
    fields.

    Args:
      a: array.
      axis: the axis; None for the flattened array.
      kind: has no effect on the result.
      order: must be None.
      stable: whether equal elements keep their order.
      descending: descending order instead.
      dtype: integer dtype of the result.

    Returns:
      An integer array.

    Source: NumPy, `numpy.argsort`.

    Example:
      >>> jnp.argsort(jnp.array([30, 10, 20]))
      Array([1, 2, 0], dtype=int32)
    """
    check_arraylike("argsort", a)
    _check_options("argsort", kind, order)
    index = dtypes.check_user_dtype(int if dtype is None else dtype, "argsort")
    return _argsort(
        a,
        axis=axis if axis is None else operator.index(axis),
        stable=bool(stable),
        descending=bool(descending),
        dtype=index,
    )


@direct("_lexsort")
def lexsort(
    keys: Arrays,
    axis: int = -1,
    *,
    batch_size: int | None = None,
) -> Array:
    """The positions that would sort by several keys, the last of them first.

    Args:
      keys: sequence of arrays of one shape.
      axis: the axis sorted along.
      batch_size: has no effect.

    Source: NumPy, `numpy.lexsort`.

    Example:
      >>> jnp.lexsort((jnp.array([2, 1, 1]), jnp.array([0, 0, -1])))
      Array([2, 1, 0], dtype=int32)
    """
    del batch_size
    listed = tuple(keys)
    if not listed:
        raise TypeError(
            "need sequence of keys with len > 0 in lexsort; numpy.lexsort got none"
        )
    check_arraylike("lexsort", *listed)
    if len({aval_of(k).shape for k in listed}) > 1:
        raise ValueError("all keys need to be the same shape; numpy.lexsort")
    return promotion.as_result(_lexsort(*listed, axis=operator.index(axis)))


@promotion.evaluate.fuse
def _lexsort(*keys: Any, axis: int) -> Any:
    kind = dtypes.canonicalize_dtype(int)
    if aval_of(keys[0]).ndim == 0:
        return kind.type(0)
    axis = sizes_.canonicalize_axis(axis, aval_of(keys[0]).ndim, "numpy.lexsort")
    places = shaping.broadcasted_iota(kind, aval_of(keys[0]).shape, axis)
    out = lax_sorting.sort((*keys[::-1], places), dimension=axis, num_keys=len(keys))
    return out[-1]


def partition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """The array with the element of rank `kth` in its place, smaller ones before it.

    Differs from NumPy: `kth` is one integer; there are no `kind` and `order`.

    Args:
      a: array.
      kth: the rank.
      axis: the axis.

    Source: NumPy, `numpy.partition`; the whole is sorted.

    Example:
      >>> jnp.partition(jnp.array([30, 10, 20]), 1)
      Array([10, 20, 30], dtype=int32)
    """
    check_arraylike("partition", a)
    _check_rank("partition", a, kth, axis)
    return sort(a, axis)


def argpartition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """The positions that would partition an array.

    Differs from NumPy: `kth` is one integer; there are no `kind` and `order`.

    Args:
      a: array.
      kth: the rank.
      axis: the axis.

    Source: NumPy, `numpy.argpartition`; the whole is sorted.

    Example:
      >>> jnp.argpartition(jnp.array([30, 10, 20]), 1)
      Array([1, 2, 0], dtype=int32)
    """
    check_arraylike("argpartition", a)
    _check_rank("argpartition", a, kth, axis)
    return argsort(a, axis)


def _check_rank(name: str, a: Any, kth: int, axis: int) -> None:
    if dtypes.kind(aval_of(a).dtype) == "c":
        raise NotImplementedError(f"numpy.{name}: arrays must be real, got complex")
    i = sizes_.canonicalize_axis(axis, aval_of(a).ndim, f"numpy.{name}")
    sizes_.canonicalize_axis(kth, aval_of(a).shape[i], f"numpy.{name}: kth")


@direct("sort_complex")
def sort_complex(a: ArrayLike) -> Array:
    """The elements as complex numbers, by real part and then by imaginary part.

    Args:
      a: array.

    Source: NumPy, `numpy.sort_complex`.

    Example:
      >>> jnp.sort_complex(jnp.array([2, 1 + 1j, 1 - 1j]))
      Array([1.-1.j, 1.+1.j, 2.+0.j], dtype=complex64)
    """
    check_arraylike("sort_complex", a)
    return _sort_complex(a)


@program(1, name="sort_complex")
def _sort_complex(a: Any) -> Any:
    kind = dtypes.complex_dtype(aval_of(a).dtype)
    return _sort(lax.convert(a, kind, False), axis=-1, stable=True, descending=False)


def top_k(
    a: ArrayLike,
    k: int,
    /,
    *,
    axis: int = -1,
    mode: str = "largest",
    sorted: bool = True,
) -> tuple[Array, Array]:
    """The largest (or smallest) elements along an axis, and their positions.

    Args:
      a: real array.
      k: how many.
      axis: the axis.
      mode: "largest" or "smallest".
      sorted: has no effect: results are in order.

    Returns:
      The pair of values and integer positions, of size `k` along the axis.

    Raises:
      ValueError: the axis has fewer elements, or the mode is neither.

    Example:
      >>> jnp.top_k(jnp.array([10, 40, 30]), 2)
      (Array([40, 30], dtype=int32), Array([1, 2], dtype=int32))
    """
    del sorted
    check_arraylike("top_k", a)
    if mode not in ("largest", "smallest"):
        raise ValueError(
            f"numpy.top_k: mode must be 'largest' or 'smallest', got {mode!r}"
        )
    i = sizes_.canonicalize_axis(axis, aval_of(a).ndim, "numpy.top_k")
    count = operator.index(k)
    if not 0 <= count <= aval_of(a).shape[i]:
        raise ValueError(
            f"numpy.top_k: k must be within 0 and the axis's {aval_of(a).shape[i]} "
            f"elements, got {count}"
        )
    return _top_k(a, k=count, axis=i, largest=mode == "largest")


@program(1, name="top_k")
def _top_k(a: Any, *, k: int, axis: int, largest: bool) -> Any:
    if largest:
        return tuple(lax_sorting.top_k(a, k, axis=axis))
    kind = dtypes.canonicalize_dtype(int)
    places = shaping.broadcasted_iota(kind, aval_of(a).shape, axis)
    out = lax_sorting.sort((a, places), dimension=axis, num_keys=1)
    return tuple([concatenation.slice_in_dim(v, 0, k, axis=axis) for v in out])
