"""Systems of linear equations with general matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.lax import (
    barriers,
    elementwise,
    families,
    reductions,
    shaping,
    sharding_rules,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.linalg import (
    lu_decomposition,
    matrices,
    matrix_kernels,
    small_matrices,
    triangular,
)
from olympus._src.lax.offered_operations import offer_decomposition


def _abstract(
    a: Any, packed: Any, order: Any, b: Any, *, transpose_a: bool, conjugate_a: bool
) -> Any:
    name = "lu_solve"
    matrices.check_system(name, a, b)
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"lax.linalg.{name}: b must have as many rows as a, got a = {a.short()} "
            f"and b = {b.short()}"
        )
    return ShapedArray(b.shape, b.dtype)


def _decompose(
    a: Any, packed: Any, order: Any, b: Any, *, transpose_a: bool, conjugate_a: bool
) -> Any:
    """P a = L U; so x solves L U x = P b, or U^T L^T P x = b."""
    steps = [
        {"lower": True, "unit_diagonal": True},
        {"lower": False, "unit_diagonal": False},
    ]
    if not transpose_a:
        b = matrices.take_rows(b, order)
    for step in reversed(steps) if transpose_a else steps:
        b = triangular.triangular_solve(
            packed,
            b,
            left_side=True,
            transpose_a=transpose_a,
            conjugate_a=conjugate_a,
            **step,
        )
    return matrices.take_rows(b, _inverse(order)) if transpose_a else b


def _inverse(order: Any) -> Any:
    """The permutation that undoes another: where it has each place."""
    aval = avals.aval_of(order)
    size = aval.shape[-1]
    targets = shaping.broadcasted_iota(aval.dtype, (*aval.shape, size), -1)
    places = shaping.broadcasted_iota(aval.dtype, (*aval.shape, size), -2)
    here = elementwise.eq(matrices.in_rows(order, size), targets)
    positions = elementwise.select(here, places, families.full_like(places, 0))
    return reductions.reduce_sum(positions, (aval.ndim - 1,))


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    """op(A) dX = dB - op(dA) X, with the factors that were computed."""
    a, packed, order, _ = primals
    a_dot, _, _, b_dot = tangents
    out = lu_solve_p.bind(*primals, **params)
    if type(a_dot) is not Zero:
        if params["transpose_a"]:
            a_dot = matrices.transpose_matrices(a_dot)
        if params["conjugate_a"]:
            a_dot = matrices.conjugate_if_complex(a_dot)
        b_dot = families.add_tangents(
            b_dot, elementwise.neg(matrices.matmul(a_dot, out))
        )
    if type(b_dot) is Zero:
        return out, b_dot
    return out, lu_solve_p.bind(a, packed, order, b_dot, **params)


def _transpose(
    cts: Any,
    a: Any,
    packed: Any,
    order: Any,
    b: Any,
    *,
    transpose_a: bool,
    conjugate_a: bool,
) -> Any:
    if type(b) is not Linear:
        raise NotImplementedError(
            "linalg.solve: it is linear only in b and cannot be transposed with "
            "respect to a; differentiate with olympus.grad or olympus.vjp"
        )
    (ct,) = cts
    if type(ct) is Zero:
        return [None, None, None, Zero(b.aval)]
    back = lu_solve_p.bind(
        a, packed, order, ct, transpose_a=not transpose_a, conjugate_a=conjugate_a
    )
    return [None, None, None, back]


def _reference(
    a: Any, packed: Any, order: Any, b: Any, *, transpose_a: bool, conjugate_a: bool
) -> Any:
    a = np.swapaxes(a, -1, -2) if transpose_a else a
    return np.linalg.solve(np.conj(a) if conjugate_a else a, b)


def _batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    *factored, b = args
    if all(d is None for d in dims[:3]) and avals.aval_of(b).ndim == 3:
        # One matrix for all: the mapped axis becomes more right-hand sides.
        moved = families.move_axis(b, dims[3], 1)
        shape = avals.aval_of(moved).shape
        flat = shaping.reshape(moved, (shape[0], shape[1] * shape[2]))
        out = lu_solve_p.bind(*factored, flat, **params)
        return shaping.reshape(out, shape), 1
    fronts = [families.at_front(axis, x, d) for x, d in zip(args, dims, strict=True)]
    return lu_solve_p.bind(*fronts, **params), 0


def _plain(packed: Any, order: Any, b: Any, *, transpose_a: bool) -> Any:
    return _decompose(
        None, packed, order, b, transpose_a=transpose_a, conjugate_a=False
    )


def _kernel_abstract(packed: Any, order: Any, b: Any, *, transpose_a: bool) -> Any:
    return ShapedArray(b.shape, b.dtype)


_kernel = matrix_kernels.solutions_by_kernel(
    "small_lu_solve", matrices.weak_as_operands(_kernel_abstract), _plain
)


def _choose(
    platform: str, a: Any, packed: Any, order: Any, b: Any, **params: Any
) -> Any:
    """What is lowered on a platform in place of triangular systems, or None."""
    is_written_out = small_matrices.choose_lu(
        platform, packed
    ) is not None and small_matrices.are_substituted(platform, packed, b)
    if is_written_out or not matrix_kernels.suits(platform, packed, b.shape[-1]):
        return small_matrices.choose_solution(platform, a, packed, order, b, **params)
    transpose_a = params["transpose_a"]
    return lambda a, *operands: _kernel.bind(*operands, transpose_a=transpose_a)


# The factors stand beside the matrix, so that the derivative, of any order, is one more
# solution with the same factors, and never the derivative of the factorization.
lu_solve_p: Primitive = Primitive(
    "lu_solve",
    shard=sharding_rules.leading,
    abstract=matrices.weak_as_operands(_abstract),
    decompose=_decompose,
    rewrite=_choose,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    offer=offer_decomposition,
    reference=_reference,
)


def solve(a: Any, b: Any) -> Any:
    """The X with `a X = b`.

    Args:
      a: square matrices [..., n, n], floating or complex.
      b: matrices [..., n, m] of the same dtype and leading axes.
    """
    packed, _, order = lu_decomposition.lu(barriers.stop_gradient(a))
    return solve_factored(a, packed, order, b)


def solve_factored(a: Any, packed: Any, order: Any, b: Any) -> Any:
    """As `solve`, where the factors of `a` are known."""
    return lu_solve_p.bind(
        a,
        barriers.stop_gradient(packed),
        order,
        b,
        transpose_a=False,
        conjugate_a=False,
    )
