"""Singular value decomposition."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Literal, overload

from olympus._src.core import avals
from olympus._src.core.array_type import Array, Matrices
from olympus._src.core.primitive import Primitive
from olympus._src.core.sizes import at_least, minimum
from olympus._src.lax import elementwise, families, sharding_rules
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.linalg import gpu, lapack, matrices, triangular


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


_ON_CUDA = (
    None,
    SvdAlgorithm.DEFAULT,
    SvdAlgorithm.QR,
    SvdAlgorithm.JACOBI,
    SvdAlgorithm.POLAR,
)
_ON_GPU = {"cuda": _ON_CUDA, "rocm": (*_ON_CUDA, SvdAlgorithm.DIVIDE_AND_CONQUER)}
_MOST_BY_JACOBI = 1024  # rows and columns, up to which Jacobi's method is the default
_FEWEST_THIN = 33


def _abstract(
    x: Any,
    *,
    full_matrices: bool,
    compute_uv: bool,
    subset_by_index: Any,
    algorithm: Any = None,
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
    algorithm: Any = None,
) -> list[str]:
    (aval,), outs = ctx.avals_in, ctx.avals_out
    available = _ON_GPU.get(ctx.platform, tuple(_KERNELS))
    if algorithm not in available:
        names = " or ".join([f"SvdAlgorithm.{a.name}" for a in available if a])
        raise NotImplementedError(
            f"lax.linalg.svd: {algorithm} is not available on platform "
            f"{ctx.platform}; take {names}"
        )
    if not aval.size:
        return [
            lapack.emit_identity(ctx, a)
            if a.ndim == aval.ndim
            else ctx.block.splat(0, a)
            for a in outs
        ]
    x = _emit_nan_for_infinite(ctx.block, x, aval)
    if ctx.platform in gpu.PLATFORMS:
        return _emit_on_gpu(ctx, x, full_matrices, compute_uv, algorithm)
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


def _emit_nan_for_infinite(block: Any, x: str, aval: Any) -> str:
    """Writes `x + 0 x`: of infinity LAPACK may not end, and GPUs give some numbers.

    Of NaN both give NaN. Of complex numbers `x - x` would not do, which the compiler
    takes for 0.
    """
    pair = x, block.splat(0, aval)
    zeros = block.elementwise("stablehlo.multiply", pair, aval)
    return block.elementwise("stablehlo.add", (x, zeros), aval)


def _emit_on_gpu(
    ctx: Any, x: str, full_matrices: bool, compute_uv: bool, algorithm: Any
) -> list[str]:
    """Writes a call of the kernel of an algorithm; by default the size chooses it."""
    (aval,) = ctx.avals_in
    shape = aval.shape[-2:]
    if algorithm in (None, SvdAlgorithm.DEFAULT):
        small = all(at_least(_MOST_BY_JACOBI, d) for d in shape)
        algorithm = SvdAlgorithm.JACOBI if small else SvdAlgorithm.QR
    if algorithm is SvdAlgorithm.QR:
        wide = not at_least(*shape)
        return _emit_direct(ctx, "gesvd_ffi", x, full_matrices, compute_uv, wide)
    if algorithm is SvdAlgorithm.DIVIDE_AND_CONQUER:
        return _emit_direct(ctx, "gesdd_ffi", x, full_matrices, compute_uv, False)
    by_jacobi = algorithm is SvdAlgorithm.JACOBI
    # Below some size, the kernel of Jacobi's method has square factors only.
    square = by_jacobi and not all(at_least(d, _FEWEST_THIN) for d in shape)
    full = full_matrices or square
    k = minimum(*shape)
    left, right = shape if full else (k, k)
    kernel_avals = (
        aval,
        ctx.avals_out[0],
        matrices.matrix_aval(aval, shape[0], left),
        matrices.matrix_aval(aval, shape[1], right),
        lapack.status(aval),
    )
    _, values, u, v, info = gpu.call(
        ctx,
        "solver",
        "gesvdj_ffi" if by_jacobi else "gesvdp_ffi",
        (x,),
        (aval,),
        kernel_avals,
        rank=aval.ndim,
        reused={0: 0},
        attributes={"compute_uv": compute_uv, "full_matrices": full},
    )
    telling = values, ctx.avals_out[0]
    if not compute_uv:
        return lapack.nan_unless(ctx, info, "EQ", [values], ctx.avals_out, telling)
    block, (u_aval, v_aval) = ctx.block, kernel_avals[2:4]
    if square and not full_matrices:
        u, u_aval = _emit_first_columns(block, u, u_aval, k)
        v, v_aval = _emit_first_columns(block, v, v_aval, k)
    v_h = _emit_adjoint(ctx, v, v_aval, ctx.avals_out[2])
    outs = [values, u, v_h]
    return lapack.nan_unless(ctx, info, "EQ", outs, ctx.avals_out, telling)


def _emit_direct(
    ctx: Any, kernel: str, x: str, full_matrices: bool, compute_uv: bool, wide: bool
) -> list[str]:
    """Writes a call of a kernel of QR's or divide-and-conquer's, which gives V^H.

    QR's wants at least as many rows as columns. It reads `wide` matrices row by row,
    which transposes them, and then gives V^H and U in place of U and V^H.
    """
    (aval,), outs = ctx.avals_in, ctx.avals_out
    number = ShapedArray((), aval.dtype)
    vectors = outs[1:] if compute_uv else (number, number)
    if wide:
        vectors = vectors[::-1]
    _, values, *factors, info = gpu.call(
        ctx,
        "solver",
        kernel,
        (x,),
        (aval,),
        (aval, outs[0], *vectors, lapack.status(aval)),
        rank=aval.ndim,
        reused={0: 0},
        attributes={
            "compute_uv": compute_uv,
            "full_matrices": full_matrices,
            "transposed": wide,
        },
        by_rows=wide,
    )
    if wide:
        factors = factors[::-1]
    names = [values, *factors] if compute_uv else [values]
    telling = values, ctx.avals_out[0]
    return lapack.nan_unless(ctx, info, "EQ", names, outs, telling)


def _emit_first_columns(block: Any, x: str, aval: Any, k: Any) -> tuple[str, Any]:
    out = matrices.matrix_aval(aval, aval.shape[-2], k)
    starts = [0] * aval.ndim
    return block.slice(x, aval, out, starts, out.shape), out


def _emit_adjoint(ctx: Any, x: str, aval: Any, out: Any) -> str:
    order = [*range(aval.ndim - 2), aval.ndim - 1, aval.ndim - 2]
    flipped = families.emit_transpose(ctx, x, aval, out, order)
    if aval.dtype.kind != "c":
        return flipped
    return triangular.emit_conjugate(ctx.block, flipped, out)


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
    abstract=matrices.weak_as_operands(_abstract),
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
      algorithm: how to compute them. CPUs have DEFAULT (divide and conquer) and QR;
        GPUs DEFAULT (JACOBI up to 1024 rows and columns, else QR), QR, JACOBI and
        POLAR, and those of AMD DIVIDE_AND_CONQUER.

    Returns:
      U, s [..., min(m, n)], descending, and V^H; or s alone. NaN where the method does
      not converge, and where a matrix has NaN or infinity.

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
