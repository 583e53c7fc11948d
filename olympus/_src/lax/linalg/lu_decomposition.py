"""LU factorization with row exchanges, and systems of equations by it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike, Matrices
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import elementwise, families, shaping, sharding_rules
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.linalg import (
    custom_calls,
    gpu,
    lapack,
    loops,
    matrices,
    matrix_kernels,
    small_matrices,
    triangular,
)
from olympus._src.lowering import types

_INT = np.dtype(np.int32)

# -- pivots ----------------------------------------------------------------------------


def _permutation_abstract(pivots: Any, *, permutation_size: int) -> Any:
    name = "lu_pivots_to_permutation"
    if pivots.ndim < 1 or pivots.dtype.name not in ("int32", "uint32"):
        raise TypeError(
            f"lax.linalg.{name}: pivots must be int32 or uint32 with at least one "
            f"axis, got {pivots.short()}; convert it with astype"
        )
    if permutation_size < pivots.shape[-1]:
        raise ValueError(
            f"lax.linalg.{name}: permutation_size must be at least the number of "
            f"pivots, got {permutation_size} for {pivots.short()}"
        )
    return ShapedArray((*pivots.shape[:-1], permutation_size), pivots.dtype)


def _permutation_lower(ctx: Any, pivots: str, *, permutation_size: int) -> str:
    return _emit_order(ctx, pivots, ctx.avals_in[0], ctx.avals_out[0])


def _emit_order(ctx: Any, pivots: str, aval: Any, out: Any) -> str:
    if ctx.platform not in gpu.PLATFORMS or not aval.size:
        return _emit_permutation(ctx.block, pivots, aval, out)
    (order,) = gpu.call(
        ctx,
        "plugin",
        "lu_pivots_to_permutation",
        (pivots,),
        (aval,),
        (out,),
        rank=aval.ndim + 1,
        reused={},
    )
    return order


def _emit_permutation(block: Any, pivots: str, aval: Any, out: Any) -> str:
    """Writes the exchanges one after another: at step i, of places i and pivots[i].

    The values at both places are found by sums over masks, which serves all matrices
    of a stack at once.
    """
    last = out.ndim - 1
    t = types.tensor_type(out)
    places = block.iota(last, out)
    if not aval.size:
        return places
    kind = "UNSIGNED" if out.dtype.kind == "u" else "SIGNED"
    flags = ShapedArray(out.shape, np.dtype(np.bool_))
    many = ShapedArray(out.shape[:-1], out.dtype)

    def exchange(inner: Any, counter: str, state: list[str]) -> list[str]:
        order, pivot_rows = state
        step = inner.convert(counter, loops.COUNTER, ShapedArray((), out.dtype))
        here = inner.broadcast(step, ShapedArray((), out.dtype), out, ())
        pivot = loops.emit_at(inner, pivot_rows, aval, counter, last)
        there = inner.broadcast(pivot, many, out, range(last))
        at_here, at_there = (
            inner.compare("EQ", places, place, out, kind, flags)
            for place in (here, there)
        )
        new_order = order
        for to, source in ((at_here, at_there), (at_there, at_here)):
            entry = loops.emit_chosen(inner, order, source, out, many)
            value = inner.broadcast(entry, many, out, range(last))
            new_order = inner.emit(
                f"stablehlo.select {to}, {value}, {new_order} : "
                f"{types.tensor_type(flags)}, {t}"
            )
        return [new_order, pivot_rows]

    steps = aval.shape[-1]
    return loops.emit_counted(block, steps, [places, pivots], [out, aval], exchange)[0]


def _permutation_reference(pivots: np.ndarray, *, permutation_size: int) -> np.ndarray:
    order = np.arange(permutation_size, dtype=pivots.dtype)
    order = np.tile(order, (*pivots.shape[:-1], 1))
    for place in np.ndindex(*pivots.shape[:-1]):
        for i, j in enumerate(pivots[place]):
            order[(*place, i)], order[(*place, j)] = (
                order[(*place, j)],
                order[(*place, i)],
            )
    return order


lu_pivots_to_permutation_p: Primitive = Primitive(
    "lu_pivots_to_permutation",
    shard=sharding_rules.leading_vectors,
    abstract=matrices.weak_as_operands(_permutation_abstract),
    lower=_permutation_lower,
    reference=_permutation_reference,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
    jvp=families.no_tangent,
)


def lu_pivots_to_permutation(pivots: ArrayLike, permutation_size: int) -> Array:
    """The order of rows that a list of exchanges leads to.

    Args:
      pivots: [..., k], int32 or uint32: row i was exchanged with row pivots[i].
      permutation_size: how many rows there are.

    Returns:
      [..., permutation_size], of the dtype of `pivots`.

    Raises:
      TypeError: pivots are of another dtype.
      ValueError: there are fewer rows than pivots.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> print(linalg.lu_pivots_to_permutation(np.array([2, 2], "int32"), 3))
      [2 0 1]
    """
    return lu_pivots_to_permutation_p.bind(
        pivots, permutation_size=operator.index(permutation_size)
    )


# -- LU --------------------------------------------------------------------------------


def _lu_abstract(x: Any) -> Any:
    matrices.check_matrices("lu", x)
    rows, columns = x.shape[-2:]
    return (
        ShapedArray(x.shape, x.dtype),
        matrices.vector_aval(x, min(rows, columns), _INT),
        matrices.vector_aval(x, rows, _INT),
    )


def _lu_lower(ctx: Any, x: str) -> list[str]:
    (aval,), (_, pivots_aval, order_aval) = ctx.avals_in, ctx.avals_out
    block = ctx.block
    if not aval.size:
        pivots = block.splat(0, pivots_aval)
        return [x, pivots, _emit_permutation(block, pivots, pivots_aval, order_aval)]
    if ctx.platform == "tpu":
        return custom_calls.emit_builtin(ctx, "LuDecomposition", (x,), version=2)
    outs = (aval, pivots_aval, lapack.status(aval))
    if ctx.platform in gpu.PLATFORMS:
        packed, pivots, info = gpu.call(
            ctx,
            "solver",
            "getrf_ffi",
            (x,),
            (aval,),
            outs,
            rank=aval.ndim,
            reused={0: 0},
        )
    else:
        packed, pivots, info = lapack.call(
            ctx, "lu", "getrf", (x,), (aval,), outs, rank=aval.ndim, reused={0: 0}
        )
    # Positive words tell of a zero on the diagonal of U, which is a valid result.
    (packed,) = lapack.nan_unless(ctx, info, "GE", (packed,), (aval,))
    one = block.splat(1, pivots_aval)
    pivots = block.elementwise("stablehlo.subtract", [pivots, one], pivots_aval)
    return [packed, pivots, _emit_order(ctx, pivots, pivots_aval, order_aval)]


def _lu_jvp(primals: Any, tangents: Any) -> Any:
    """With M = L^-1 P dx U^-1: dL = L tril(M, -1) and dU = triu(M) U.

    Factors that are not square are completed by a unit matrix.
    """
    packed, pivots, order = lu_p.bind(*primals)
    aval = avals.aval_of(packed)
    m, n = aval.shape[-2:]
    k = min(m, n)
    lower = _complete_factor(matrices.columns(packed, 0, k), m, lower=True)
    upper = _complete_factor(matrices.rows(packed, 0, k), n, lower=False)
    moved = matrices.take_rows(tangents[0], order)
    left = triangular.triangular_solve(
        lower, moved, left_side=True, lower=True, unit_diagonal=True
    )
    both = triangular.triangular_solve(upper, left)
    packed_dot = elementwise.add(
        matrices.matmul(lower, matrices.lower_triangle(both, -1)),
        matrices.matmul(matrices.upper_triangle(both), upper),
    )
    zeros = [Zero(avals.aval_of(x).to_tangent()) for x in (pivots, order)]
    return [packed, pivots, order], [packed_dot, *zeros]


def _complete_factor(x: Any, size: int, *, lower: bool) -> Any:
    """A triangular factor as a square matrix, with ones on the diagonal added."""
    k = min(avals.aval_of(x).shape[-2:])
    triangle = matrices.lower_triangle(x, -1) if lower else matrices.upper_triangle(x)
    square = matrices.pad_with_zeros(triangle, size, size)
    unit = matrices.identity_like(square)
    if not lower:
        # Only the rows that were added get a one.
        row = shaping.broadcasted_iota(np.int32, avals.aval_of(square).shape, -2)
        added = elementwise.ge(row, np.int32(k))
        unit = elementwise.select(added, unit, families.full_like(square, 0))
    return elementwise.add(square, unit)


def _lu_reference(x: np.ndarray) -> Any:
    packed = np.array(x)
    rows, columns = x.shape[-2:]
    k = min(rows, columns)
    pivots = np.zeros((*x.shape[:-2], k), np.int32)
    for place in np.ndindex(*x.shape[:-2]):
        a = packed[place]
        for i in range(k):
            size = np.abs(a.real) + np.abs(a.imag)
            pivot = i + int(np.argmax(size[i:, i]))
            pivots[(*place, i)] = pivot
            a[[i, pivot]] = a[[pivot, i]]
            a[i + 1 :, i] /= a[i, i]
            a[i + 1 :, i + 1 :] -= np.outer(a[i + 1 :, i], a[i, i + 1 :])
    return packed, pivots, _permutation_reference(pivots, permutation_size=rows)


_in_lapack = Primitive(
    "lu_in_lapack",
    multiple_results=True,
    abstract=matrices.weak_as_operands(_lu_abstract),
    lower=_lu_lower,
    needs_full_build=True,
)
_kernel = matrix_kernels.factors_by_kernel("small_lu", _in_lapack)


def _choose(platform: str, x: Any) -> Any:
    """What is lowered on a platform in place of a call of LAPACK, or None."""
    written_out = small_matrices.choose_lu(platform, x)
    if written_out is None and matrix_kernels.suits(platform, x):
        return _kernel.bind
    return written_out


lu_p: Primitive = Primitive(
    "lu",
    shard=sharding_rules.leading,
    multiple_results=True,
    abstract=matrices.weak_as_operands(_lu_abstract),
    lower=_lu_lower,
    rewrite=_choose,
    jvp=_lu_jvp,
    reference=_lu_reference,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


def lu(x: Matrices) -> list[Array]:
    """L and U with `L U = P x`, where P exchanges rows.

    Args:
      x: matrices [..., m, n], floating or complex.

    Returns:
      The factors in one array [..., m, n]: U on and above the diagonal, L below it, the
      ones on the diagonal of L not stored; the exchanges [..., min(m, n)]; the order
      [..., m] of rows that results from them; both int32.

    Raises:
      ValueError: `x` has fewer than two axes.
      TypeError: the dtype is of the wrong kind.

    Source: LAPACK, getrf.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> x = np.array([[1.0, 2.0], [2.0, 2.0]], "float32")
      >>> print(*linalg.lu(x))
      [[2.  2. ]
       [0.5 1. ]] [1 1] [1 0]
    """
    return list(lu_p.bind(x))
