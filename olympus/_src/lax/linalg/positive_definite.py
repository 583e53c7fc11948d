"""Cholesky's factorization of positive definite matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.primitive import Primitive
from olympus._src.lax import elementwise
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.linalg import lapack, matrices, triangular
from olympus._src.lowering import types

_FILE = "lax/linalg/positive_definite.py"


def _abstract(x: Any) -> Any:
    matrices.check_matrices("cholesky", x, square=True)
    return ShapedArray(x.shape, x.dtype)


def _lower(ctx: Any, x: str) -> str:
    (aval,) = ctx.avals_in
    if not aval.size:
        return x
    if ctx.platform != "cpu":
        t = types.tensor_type(aval)
        factor = ctx.block.emit(f"stablehlo.cholesky {x}, lower = true : {t}")
        return lapack.emit_triangle(ctx, factor, aval, lower=True)
    factor, info = lapack.call(
        ctx,
        "cholesky",
        "potrf",
        (x,),
        (aval,),
        (aval, lapack.status(aval)),
        rank=aval.ndim,
        attributes={"uplo": "L"},
    )
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
        matrices.scaled(matrices.only_diagonal(both), 0.5),
    )
    return factor, matrices.matmul(factor, half)


cholesky_p: Primitive = Primitive(
    "cholesky",
    abstract=_abstract,
    lower=_lower,
    jvp=_jvp,
    reference=np.linalg.cholesky,
    file=_FILE,
)
cholesky_p.batch = matrices.batch_of_stacks(cholesky_p)


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """The lower triangular matrix L with `L L^H = x`.

    Args:
      x: Hermitian, positive definite matrices [..., n, n], floating or complex.
      symmetrize_input: take `(x + x^H) / 2`; otherwise the lower triangle alone counts.

    Returns:
      Matrices [..., n, n]; NaN where `x` is not positive definite.

    Raises:
      ValueError: the last two axes have different sizes.
      TypeError: the dtype is of another kind.

    Source: LAPACK, potrf.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> print(linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]], "float32")))
      [[2. 0.]
       [1. 2.]]
    """
    matrices.check_matrices("cholesky", avals.aval_of(x), square=True)
    return cholesky_p.bind(matrices.hermitian_part(x) if symmetrize_input else x)
