"""Eigenvalues and eigenvectors of Hermitian matrices."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.array_type import Array, Matrices
from olympus._src.core.primitive import Primitive
from olympus._src.core.sizes import at_least
from olympus._src.lax import elementwise, sharding_rules
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.linalg import custom_calls, gpu, lapack, matrices


class EighImplementation(enum.Enum):
    """How Hermitian eigenvalues are computed, where hardware has a choice."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


# Which of their algorithms the kernels of GPUs take.
_ON_GPU = {
    None: np.uint8(0),
    EighImplementation.QR: np.uint8(1),
    EighImplementation.JACOBI: np.uint8(2),
}
_MOST_ON_TPU = 256  # rows, up to which the compiler of TPUs expands Jacobi's method


def _abstract(x: Any, *, subset_by_index: Any, **_: Any) -> Any:
    matrices.check_matrices("eigh", x, square=True)
    size = x.shape[-1]
    if subset_by_index not in (None, (0, size)):
        raise NotImplementedError(
            "lax.linalg.eigh: subset_by_index must be None or all eigenvalues, got "
            f"{subset_by_index} for {x.short()}; slice the results"
        )
    real = matrices.real_dtype(x.dtype)
    return (ShapedArray(x.shape, x.dtype), matrices.vector_aval(x, size, real))


def _lower(
    ctx: Any,
    x: str,
    *,
    lower: bool,
    sort_eigenvalues: bool,
    subset_by_index: Any,
    algorithm: Any,
) -> list[str]:
    (aval,), (vectors_aval, values_aval) = ctx.avals_in, ctx.avals_out
    if algorithm not in _available(ctx.platform):
        names = " or ".join([str(a) for a in _available(ctx.platform) if a])
        raise NotImplementedError(
            f"lax.linalg.eigh: {algorithm} is not available on platform "
            f"{ctx.platform}; leave `implementation` out, or pass {names}"
        )
    if not aval.size:
        return [x, ctx.block.splat(0, values_aval)]
    if ctx.platform == "tpu":
        return _emit_on_tpu(ctx, x, aval, lower, sort_eigenvalues, algorithm)
    outs = (vectors_aval, values_aval, lapack.status(aval))
    if ctx.platform in gpu.PLATFORMS:
        vectors, values, info = gpu.call(
            ctx,
            "solver",
            "syevd_ffi",
            (x,),
            (aval,),
            outs,
            rank=aval.ndim,
            reused={0: 0},
            attributes={"algorithm": _ON_GPU[algorithm], "lower": lower},
        )
    else:
        vectors, values, info = lapack.call(
            ctx,
            "eigh",
            ("syevd", "heevd"),
            (x,),
            (aval,),
            outs,
            rank=aval.ndim,
            reused={0: 0},
            attributes={"mode": "V", "uplo": "L" if lower else "U"},
        )
    telling = (values, values_aval) if ctx.platform in gpu.PLATFORMS else None
    return lapack.nan_unless(ctx, info, "EQ", (vectors, values), ctx.avals_out, telling)


def _available(platform: str) -> Sequence[Any]:
    if platform in gpu.PLATFORMS:
        return tuple(_ON_GPU)
    if platform == "tpu":
        return (None, EighImplementation.JACOBI)
    return (None, EighImplementation.QR)


def _emit_on_tpu(
    ctx: Any, x: str, aval: Any, lower: bool, ascending: bool, algorithm: Any
) -> list[str]:
    if algorithm is None and not at_least(_MOST_ON_TPU, aval.shape[-1]):
        raise NotImplementedError(
            "lax.linalg.eigh: on platform tpu matrices must have at most "
            f"{_MOST_ON_TPU} rows, got {aval.short()}; pass "
            "implementation=EighImplementation.JACOBI"
        )
    config = f"{int(lower)},{int(ascending)},100,1e-6"
    return custom_calls.emit_builtin(ctx, "Eigh", (x,), config=config)


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    """dw_i = (V^H dx V)_ii, dV = V (F * V^H dx V) with F_ij = 1 / (w_j - w_i).

    Equal eigenvalues give infinite or undefined tangents of the vectors.
    """
    vectors, values = eigh_p.bind(*primals, **params)
    inner = matrices.matmul(
        matrices.matmul(matrices.adjoint(vectors), tangents[0]), vectors
    )
    inverse = matrices.reciprocal_gaps(values)
    inverse = elementwise.convert(inverse, avals.aval_of(vectors).dtype)
    vectors_dot = matrices.matmul(vectors, elementwise.mul(inverse, inner))
    values_dot = matrices.real_diagonal(inner)
    return [vectors, values], [vectors_dot, values_dot]


eigh_p: Primitive = Primitive(
    "eigh",
    shard=sharding_rules.leading,
    multiple_results=True,
    abstract=matrices.weak_as_operands(_abstract),
    lower=_lower,
    jvp=_jvp,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


def eigh(
    x: Matrices,
    *,
    symmetrize_input: bool = True,
    lower: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: Sequence[int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Array, Array]:
    """Eigenvectors and eigenvalues of Hermitian matrices.

    Args:
      x: Hermitian matrices [..., n, n], floating or complex.
      lower: without `symmetrize_input`, which triangle is read.
      symmetrize_input: take `(x + x^H) / 2`.
      sort_eigenvalues: whether they must ascend; here they always do.
      subset_by_index: a range of eigenvalues, which no platform offers so far.
      implementation: the algorithm; only QR is available on CPUs, QR and JACOBI on
        GPUs.

    Returns:
      Eigenvectors [..., n, n], one in each column, and eigenvalues [..., n], ascending;
      NaN where the method does not converge.

    Raises:
      ValueError: the last two axes have different sizes.
      TypeError: the dtype is of the wrong kind.
      NotImplementedError: the method, or a part of the eigenvalues, is not available.

    Source: LAPACK, syevd and heevd.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> v, w = linalg.eigh(np.array([[2.0, 0.0], [0.0, 1.0]], "float32"))
      >>> print(w)
      [1. 2.]
    """
    matrices.check_matrices("eigh", avals.aval_of(x), square=True)
    vectors, values = eigh_p.bind(
        matrices.hermitian_part(x) if symmetrize_input else x,
        lower=bool(lower),
        sort_eigenvalues=bool(sort_eigenvalues),
        subset_by_index=matrices.index_range(subset_by_index),
        algorithm=implementation,
    )
    return vectors, values
