"""What the formats for single matrices share: checks, diagonals, products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.primitive import Primitive, takes_primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import elementwise, families, shaping
from olympus._src.sparse import bcoo_contraction
from olympus._src.sparse.formats import JAXSparse

aval_of = avals.aval_of


def check_matrix(name: str, shape: Any) -> None:
    """Checks that a shape has two axes.

    Raises:
      ValueError: it has not.
    """
    if len(shape) != 2:
        raise ValueError(
            f"{name}: shape must have two axes, got shape={tuple(shape)}; use a BCOO "
            "for other arrays"
        )


def check_lengths(name: str, **buffers: Any) -> None:
    """Checks that buffers are vectors of one length.

    Raises:
      ValueError: they are not.
    """
    shapes = {k: tuple(aval_of(x).shape) for k, x in buffers.items()}
    if len(set(shapes.values())) > 1 or any(len(s) != 1 for s in shapes.values()):
        listed = ", ".join([f"{k}.shape={s}" for k, s in shapes.items()])
        raise ValueError(
            f"{name}: {' and '.join(buffers)} must be vectors of one length, got "
            f"{listed}"
        )


def check_kind(name: str, mat: Any, kind: type) -> None:
    """Checks that a matrix has a format.

    Raises:
      TypeError: it has not.
    """
    if not isinstance(mat, kind):
        raise TypeError(
            f"{name}: mat must be a {kind.__name__}, got {type(mat).__name__}; make "
            f"one with {kind.__name__}.fromdense"
        )


def check_no_axes(name: str, axes: Any) -> None:
    """Checks that a transposition exchanges the two axes.

    Raises:
      NotImplementedError: other axes are requested.
    """
    if axes is not None and tuple(axes) != (1, 0):
        raise NotImplementedError(
            f"{name}.transpose: axes must be None, got {axes}; the axes of a matrix "
            "can only be exchanged"
        )


def as_matrix(name: str, mat: Any) -> Any:
    """A dense matrix.

    Raises:
      ValueError: it has not two axes.
    """
    mat = shaping.reshape(mat, aval_of(mat).shape)
    if aval_of(mat).ndim != 2:
        raise ValueError(
            f"{name}: mat must have two axes, got {aval_of(mat).short()}; use a BCOO "
            "for other arrays"
        )
    return mat


def diagonal(n: int, m: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns of a diagonal of a matrix."""
    first = max(0, -k)
    count = max(0, min(n - first, m - first - k))
    row = np.arange(first, first + count)
    return row, row + k


def check_product(
    name: str, mat: Any, x: Any, transpose: bool, rank: int
) -> tuple[Any, Any]:
    """The data of a matrix and a dense factor, in the dtype of their product.

    Raises:
      ValueError: sizes do not agree.
    """
    x = shaping.reshape(x, aval_of(x).shape)
    aval = aval_of(x)
    size = mat.shape[0 if transpose else 1]
    if aval.ndim != rank or aval.shape[0] != size:
        form = f"[{size}]" if rank == 1 else f"[{size}, m]"
        raise ValueError(
            f"{name}: the dense factor must have shape {form}, got {aval.short()} for "
            f"a matrix of shape {mat.shape} with transpose={bool(transpose)}"
        )
    dtype = bcoo_contraction.result_dtype(mat.data, x, None)
    data = elementwise.convert_element_type(mat.data, dtype)
    return data, elementwise.convert_element_type(x, dtype)


def multiply(
    name: str, mat: Any, other: Any, matvec: Callable[..., Any], matmat: Any
) -> Any:
    """A sparse matrix times a vector or matrix: the operator `@`.

    Raises:
      NotImplementedError: both are sparse, or the other has more axes.
    """
    if isinstance(other, JAXSparse):
        raise NotImplementedError(
            f"{name}: matmul between two sparse objects is not there, got "
            f"{type(other).__name__}; multiply two BCOO instead"
        )
    rank = aval_of(other).ndim
    if rank == 1:
        return matvec(mat, other)
    if rank == 2:
        return matmat(mat, other)
    raise NotImplementedError(
        f"{name}: matmul must be with a vector or a matrix, got shape "
        f"{tuple(aval_of(other).shape)}; use a BCOO for stacks"
    )


@takes_primitive
def product_jvp(p: Primitive, primals: Any, tangents: Any, /, **params: Any) -> Any:
    """The derivative of an operation linear in its first and in its last operand."""
    data, *positions, x = primals
    out = p.bind(*primals, **params)
    slope: Any = Zero(aval_of(out).to_tangent())
    if type(tangents[0]) is not Zero:
        slope = p.bind(tangents[0], *positions, x, **params)
    if type(tangents[-1]) is not Zero:
        other = p.bind(data, *positions, tangents[-1], **params)
        slope = families.add_tangents(slope, other)
    return out, slope
