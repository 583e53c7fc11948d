"""Cholesky's factorization of positive definite matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike, Matrices
from olympus._src.core.primitive import Primitive
from olympus._src.lax import elementwise, sharding_rules
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.linalg import (
    gpu,
    lapack,
    loops,
    matrices,
    small_matrices,
    triangular,
)
from olympus._src.lowering import types


def _abstract(x: Any) -> Any:
    matrices.check_matrices("cholesky", x, square=True)
    return ShapedArray(x.shape, x.dtype)


def _lower(ctx: Any, x: str) -> str:
    (aval,) = ctx.avals_in
    if not aval.size:
        return x
    if ctx.platform in gpu.PLATFORMS:
        factor, info = gpu.call(
            ctx,
            "solver",
            "potrf_ffi",
            (x,),
            (aval,),
            (aval, lapack.status(aval)),
            rank=aval.ndim,
            reused={0: 0},
            attributes={"lower": True},
        )
    elif ctx.platform == "cpu":
        factor, info = lapack.call(
            ctx,
            "cholesky",
            "potrf",
            (x,),
            (aval,),
            (aval, lapack.status(aval)),
            rank=aval.ndim,
            reused={0: 0},
            attributes={"uplo": "L"},
        )
    else:
        t = types.tensor_type(aval)
        factor = ctx.block.emit(f"stablehlo.cholesky {x}, lower = true : {t}")
        return lapack.emit_triangle(ctx, factor, aval, lower=True)
    (factor,) = lapack.nan_unless(ctx, info, "EQ", (factor,), (aval,))
    return lapack.emit_triangle(ctx, factor, aval, lower=True)


def _jvp(primals: Any, tangents: Any) -> Any:
    """DL = L Phi(L^-1 dx L^-H), Phi the lower triangle with half the diagonal."""
    factor = cholesky_p.bind(primals[0])
    right = triangular.triangular_solve(
        factor, tangents[0], lower=True, transpose_a=True, conjugate_a=True
    )
    both = triangular.triangular_solve(factor, right, left_side=True, lower=True)
    half = elementwise.sub(
        matrices.lower_triangle(both),
        matrices.scale_by_number(matrices.only_diagonal(both), 0.5),
    )
    return factor, matrices.matmul(factor, half)


cholesky_p: Primitive = Primitive(
    "cholesky",
    shard=sharding_rules.leading,
    abstract=matrices.weak_as_operands(_abstract),
    lower=_lower,
    rewrite=small_matrices.choose_cholesky,
    jvp=_jvp,
    reference=np.linalg.cholesky,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


def cholesky(x: Matrices, *, symmetrize_input: bool = True) -> Array:
    """The lower triangular matrix L with `L L^H = x`.

    Args:
      x: Hermitian, positive definite matrices [..., n, n], floating or complex.
      symmetrize_input: take `(x + x^H) / 2`; otherwise the lower triangle alone counts.

    Returns:
      Matrices [..., n, n]; NaN where `x` is not positive definite.

    Raises:
      ValueError: the last two axes have different sizes.
      TypeError: the dtype is of the wrong kind.

    Source: LAPACK, potrf.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> print(linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]], "float32")))
      [[2. 0.]
       [1. 2.]]
    """
    matrices.check_matrices("cholesky", avals.aval_of(x), square=True)
    # Mirrored for its derivative: values above the diagonal have none.
    part = matrices.hermitian_part if symmetrize_input else matrices.mirror_lower
    return cholesky_p.bind(part(x))


# -- updates ---------------------------------------------------------------------------


def _update_abstract(r: Any, w: Any) -> Any:
    name = "cholesky_update"
    real = matrices.REAL
    matrices.check_matrices(name, r, square=True, accepts=real, operand="r_matrix")
    matrices.check_alike(name, r, w, (2, 1))
    if w.shape[-1:] != r.shape[-1:]:
        raise ValueError(
            f"lax.linalg.{name}: w_vector must have as many elements as r_matrix has "
            f"rows, got {r.short()} and {w.short()}"
        )
    return ShapedArray(r.shape, r.dtype)


def _update_lower(ctx: Any, r: str, w: str) -> str:
    aval, w_aval = ctx.avals_in
    if not aval.size:
        return r
    if ctx.platform == "cuda" and aval.ndim == 2:  # the kernel takes one matrix
        upper = lapack.emit_triangle(ctx, r, aval, lower=False)
        factor, _ = gpu.call(
            ctx,
            "plugin",
            "cholesky_update_ffi",
            (upper, w),
            (aval, w_aval),
            (aval, w_aval),
            rank=2,
            reused={0: 0, 1: 1},
            by_rows=True,
        )
        return lapack.emit_triangle(ctx, factor, aval, lower=False)
    return _emit_rotations(ctx, r, w)


def _emit_rotations(ctx: Any, r: str, w: str) -> str:
    """Rotates the vector into the factor, a row after another."""
    aval, w_aval = ctx.avals_in
    last = w_aval.ndim - 1
    pivot_aval = ShapedArray(aval.shape[:-2], aval.dtype)

    def rotate(block: Any, counter: str, state: list[str]) -> list[str]:
        factor, vector = state
        row = loops.emit_at(block, factor, aval, counter, last)
        a, b = (loops.emit_at(block, x, w_aval, counter, last) for x in (row, vector))
        cosine, sine = (
            block.broadcast(x, pivot_aval, w_aval, range(last))
            for x in _emit_rotation(block, a, b, pivot_aval)
        )

        def mixed(op: str, x: str, y: str) -> str:
            parts = [
                block.elementwise("stablehlo.multiply", pair, w_aval)
                for pair in ([cosine, x], [sine, y])
            ]
            return block.elementwise(f"stablehlo.{op}", parts, w_aval)

        new_row = mixed("add", row, vector)
        new_vector = mixed("subtract", vector, row)
        return [loops.emit_set(block, factor, aval, new_row, counter, last), new_vector]

    upper = lapack.emit_triangle(ctx, r, aval, lower=False)
    steps = aval.shape[-1]
    out = loops.emit_counted(ctx.block, steps, [upper, w], [aval, w_aval], rotate)[0]
    return lapack.emit_triangle(ctx, out, aval, lower=False)


def _emit_rotation(block: Any, a: str, b: str, aval: Any) -> tuple[str, str]:
    """Writes a / h and b / h with h = hypot(a, b); or 1 and 0, where both are zero."""

    def op(name: str, *operands: str) -> str:
        return block.elementwise(f"stablehlo.{name}", list(operands), aval)

    flags = ShapedArray(aval.shape, np.dtype(np.bool_))
    zero, one = block.splat(0, aval), block.splat(1, aval)
    scale = op("maximum", op("abs", a), op("abs", b))
    nothing = block.compare("EQ", scale, zero, aval, "FLOAT", flags)
    t, f = types.tensor_type(aval), types.tensor_type(flags)
    safe = block.emit(f"stablehlo.select {nothing}, {one}, {scale} : {f}, {t}")
    small_a, small_b = op("divide", a, safe), op("divide", b, safe)
    squares = [op("multiply", x, x) for x in (small_a, small_b)]
    length = op("sqrt", op("add", *squares))
    cosine, sine = (op("divide", x, length) for x in (small_a, small_b))
    return tuple(
        block.emit(f"stablehlo.select {nothing}, {default}, {x} : {f}, {t}")
        for default, x in ((one, cosine), (zero, sine))
    )


def _update_reference(r: np.ndarray, w: np.ndarray) -> np.ndarray:
    r = np.triu(r)
    total = np.swapaxes(r, -1, -2) @ r + w[..., :, None] * w[..., None, :]
    return np.swapaxes(np.linalg.cholesky(total), -1, -2)


cholesky_update_p: Primitive = Primitive(
    "cholesky_update",
    shard=sharding_rules.leading,
    abstract=matrices.weak_as_operands(_update_abstract),
    lower=_update_lower,
    reference=_update_reference,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


def cholesky_update(r_matrix: ArrayLike, w_vector: ArrayLike) -> Array:
    """The factor R' with `R'^T R' = R^T R + w w^T`, in O(n^2) steps.

    Args:
      r_matrix: upper triangular matrices R [..., n, n], real.
      w_vector: vectors w [..., n].

    Returns:
      Upper triangular matrices [..., n, n], with a diagonal that is not negative.

    Raises:
      ValueError: sizes do not agree.
      TypeError: dtypes differ, or are not real.

    Source: Golub and Van Loan, Matrix Computations, 6.5.4, by Givens' rotations.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> r = np.array([[3.0, 0.0], [0.0, 1.0]], "float32")
      >>> print(linalg.cholesky_update(r, np.array([4.0, 0.0], "float32")))
      [[5. 0.]
       [0. 1.]]
    """
    return cholesky_update_p.bind(r_matrix, w_vector)
