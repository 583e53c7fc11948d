"""Singular value decomposition."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Literal, overload

from olympus._src.core import avals
from olympus._src.core.array_type import Array, Matrices
from olympus._src.core.primitive import Primitive
from olympus._src.core.sizes import minimum
from olympus._src.lax import elementwise, families, sharding_rules
from olympus._src.lax.linalg import lapack, matrices


class SvdAlgorithm(enum.Enum):
    """How singular values are computed, where hardware has a choice."""

    DEFAULT = "default"
    DIVIDE_AND_CONQUER = "divide_and_conquer"
    JACOBI = "Jacobi"
    POLAR = "polar"
    QR = "QR"


_KERNELS = {
    None: "gesdd",
    SvdAlgorithm.DEFAULT: "gesdd",
    SvdAlgorithm.DIVIDE_AND_CONQUER: "gesdd",
    SvdAlgorithm.QR: "gesvd",
}


def _abstract(
    x: Any,
    *,
    full_matrices: bool,
    compute_uv: bool,
    subset_by_index: Any,
    algorithm: Any,
) -> Any:
    matrices.check_matrices("svd", x)
    rows, columns = x.shape[-2:]
    k = minimum(rows, columns)
    if subset_by_index not in (None, (0, k)):
        raise NotImplementedError(
            "lax.linalg.svd: subset_by_index must be None or all singular values, got "
            f"{subset_by_index} for {x.short()}; slice the results"
        )
    values = matrices.vector_aval(x, k, matrices.real_dtype(x.dtype))
    if not compute_uv:
        return (values,)
    left, right = (rows, columns) if full_matrices else (k, k)
    return (
        values,
        matrices.matrix_aval(x, rows, left),
        matrices.matrix_aval(x, right, columns),
    )


def _lower(
    ctx: Any,
    x: str,
    *,
    full_matrices: bool,
    compute_uv: bool,
    subset_by_index: Any,
    algorithm: Any,
) -> list[str]:
    (aval,), outs = ctx.avals_in, ctx.avals_out
    if algorithm not in _KERNELS:
        raise NotImplementedError(
            f"lax.linalg.svd: {algorithm} is not available on platform "
            f"{ctx.platform}; take SvdAlgorithm.DEFAULT or SvdAlgorithm.QR"
        )
    if not aval.size:
        return [
            lapack.emit_identity(ctx, a)
            if a.ndim == aval.ndim
            else ctx.block.splat(0, a)
            for a in outs
        ]
    rows, columns = aval.shape[-2:]
    # The kernel wants places for the vectors even where it computes none.
    left = matrices.matrix_aval(aval, rows, rows)
    right = matrices.matrix_aval(aval, columns, columns)
    mode = "N"
    if compute_uv:
        left, right = outs[1:]
        mode = "A" if full_matrices else "S"
    results = lapack.call(
        ctx,
        "svd",
        _KERNELS[algorithm],
        (x,),
        (aval,),
        (aval, outs[0], left, right, lapack.status(aval)),
        rank=aval.ndim,
        reused={0: 0},
        attributes={"mode": mode},
    )
    return lapack.nan_unless(ctx, results[4], "EQ", results[1 : 1 + len(outs)], outs)


def _jvp(
    primals: Any, tangents: Any, *, full_matrices: bool, compute_uv: bool, **params: Any
) -> Any:
    """From P = U^H dx V = (U^H dU) S + dS + S (dV^H V), whose outer terms are skew.

    Seeger et al., Auto-differentiating linear algebra, 2017. Of the phases, which x
    leaves open, those of V stay. Equal singular values give infinite or undefined
    tangents of the vectors.
    """
    (x,), (x_dot,) = primals, tangents
    rows, columns = avals.aval_of(x).shape[-2:]
    if compute_uv and full_matrices and rows != columns:
        raise NotImplementedError(
            "lax.linalg.svd: the derivative is not defined for full_matrices=True of "
            f"matrices that are not square, got {avals.aval_of(x).short()}; pass "
            "full_matrices=False"
        )
    thin = {"full_matrices": False, "compute_uv": True, **params}
    s, u, v_h = svd_p.bind(x, **thin)
    u_h, v = matrices.adjoint(u), matrices.adjoint(v_h)
    inner = matrices.matmul(matrices.matmul(u_h, x_dot), v)
    s_dot = matrices.real_diagonal(inner)
    if not compute_uv:
        return [s], [s_dot]
    left, right = _turns(s, inner)
    u_dot, v_dot = matrices.matmul(u, left), matrices.matmul(v, right)
    # The parts of the change outside of what U and V span.
    if rows > columns:
        outside = _subtract_projection(u, u_h, matrices.matmul(x_dot, v))
        u_dot = elementwise.add(u_dot, _divide_columns(outside, s))
    if columns > rows:
        outside = _subtract_projection(
            v, v_h, matrices.matmul(matrices.adjoint(x_dot), u)
        )
        v_dot = elementwise.add(v_dot, _divide_columns(outside, s))
    return [s, u, v_h], [s_dot, u_dot, matrices.adjoint(v_dot)]


def _turns(s: Any, inner: Any) -> tuple[Any, Any]:
    """U^H dU and V^H dV."""
    size = avals.aval_of(s).shape[-1]
    dtype = avals.aval_of(inner).dtype
    in_columns, in_rows = matrices.in_columns(s, size), matrices.in_rows(s, size)
    gaps = elementwise.mul(
        elementwise.add(in_columns, in_rows), elementwise.sub(in_columns, in_rows)
    )
    unit = matrices.identity_like(gaps)
    inverse = elementwise.sub(elementwise.reciprocal(elementwise.add(gaps, unit)), unit)
    inverse, in_columns, in_rows = (
        elementwise.convert(m, dtype) for m in (inverse, in_columns, in_rows)
    )

    def turn(scales: Any) -> Any:
        part = elementwise.mul(inner, scales)
        both = elementwise.add(part, matrices.adjoint(part))
        return elementwise.mul(inverse, both)

    left, right = turn(in_columns), turn(in_rows)
    if dtype.kind == "c":
        twice = matrices.only_diagonal(elementwise.sub(inner, matrices.adjoint(inner)))
        left = elementwise.add(
            left, _divide_columns(matrices.scale_by_number(twice, 0.5), s, True)
        )
    return left, right


def _subtract_projection(basis: Any, basis_h: Any, x: Any) -> Any:
    """What is left of `x` after its projection on a basis."""
    return elementwise.sub(x, matrices.matmul(basis, matrices.matmul(basis_h, x)))


def _divide_columns(x: Any, s: Any, or_zero: bool = False) -> Any:
    """Columns of `x` over singular values; or zero, where these are zero."""
    aval = avals.aval_of(x)
    inverse = elementwise.reciprocal(s)
    if or_zero:
        zeros = families.full_like(s, 0)
        inverse = elementwise.select(elementwise.eq(s, zeros), zeros, inverse)
    wide = matrices.in_columns(elementwise.convert(inverse, aval.dtype), aval.shape[-2])
    return elementwise.mul(x, wide)


svd_p: Primitive = Primitive(
    "svd",
    shard=sharding_rules.leading,
    multiple_results=True,
    abstract=_abstract,
    lower=_lower,
    jvp=_jvp,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


@overload
def svd(
    x: Matrices,
    *,
    full_matrices: bool = ...,
    compute_uv: Literal[True] = ...,
    subset_by_index: Sequence[int] | None = ...,
    algorithm: SvdAlgorithm | None = ...,
) -> tuple[Array, Array, Array]: ...
@overload
def svd(
    x: Matrices,
    *,
    full_matrices: bool = ...,
    compute_uv: Literal[False],
    subset_by_index: Sequence[int] | None = ...,
    algorithm: SvdAlgorithm | None = ...,
) -> Array: ...
@overload
def svd(
    x: Matrices,
    *,
    full_matrices: bool = ...,
    compute_uv: bool = ...,
    subset_by_index: Sequence[int] | None = ...,
    algorithm: SvdAlgorithm | None = ...,
) -> Array | tuple[Array, Array, Array]: ...
def svd(
    x: Matrices,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: Sequence[int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Array | tuple[Array, Array, Array]:
    """Singular values s and vectors with `x = U diag(s) V^H`.

    Args:
      x: matrices [..., m, n], floating or complex.
      full_matrices: whether U and V are square; otherwise they have min(m, n) columns.
      compute_uv: whether to compute the vectors.
      subset_by_index: a range of singular values, which no platform offers so far.
      algorithm: how to compute them; DEFAULT (divide and conquer) or QR.

    Returns:
      U, s [..., min(m, n)], descending, and V^H; or s alone. NaN where the method does
      not converge.

    Raises:
      ValueError: `x` has fewer than two axes.
      TypeError: the dtype is of the wrong kind.
      NotImplementedError: the method, or a part of the values, is not available.

    Source: LAPACK, gesdd and gesvd.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> x = np.array([[0.0, 3.0], [4.0, 0.0]], "float32")
      >>> print(linalg.svd(x, compute_uv=False))
      [4. 3.]
    """
    results = svd_p.bind(
        x,
        full_matrices=bool(full_matrices),
        compute_uv=bool(compute_uv),
        subset_by_index=matrices.index_range(subset_by_index),
        algorithm=algorithm,
    )
    if not compute_uv:
        return results[0]
    values, left, right = results
    return left, values, right
