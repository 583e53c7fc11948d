"""Eigenvalues and eigenvectors of general matrices."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.array_type import Array, Matrices
from olympus._src.core.primitive import Primitive
from olympus._src.lax import elementwise, families, reductions, shaping, sharding_rules
from olympus._src.lax.linalg import gpu, lapack, linear_systems, matrices
from olympus._src.lowering import types


class EigImplementation(enum.Enum):
    """Which library computes eigenvalues of general matrices."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


def complex_dtype(dtype: Any) -> Any:
    """The complex dtype whose parts have a dtype; a complex one itself."""
    return np.result_type(dtype, np.complex64)


def _abstract(
    x: Any,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    **_: Any,
) -> Any:
    matrices.check_matrices("eig", x, square=True)
    size, dtype = x.shape[-1], complex_dtype(x.dtype)
    vectors = matrices.matrix_aval(x, size, size, dtype)
    count = int(compute_left_eigenvectors) + int(compute_right_eigenvectors)
    return (matrices.vector_aval(x, size, dtype), *[vectors] * count)


def _lower(
    ctx: Any,
    x: str,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
    implementation: Any,
) -> list[str]:
    (aval,), outs = ctx.avals_in, ctx.avals_out
    on_gpu = ctx.platform in gpu.PLATFORMS
    magma = on_gpu and implementation is EigImplementation.MAGMA
    if implementation not in (None, EigImplementation.LAPACK) and not magma:
        raise NotImplementedError(
            f"lax.linalg.eig: {implementation} is not available on platform "
            f"{ctx.platform}; leave `implementation` out"
        )
    if not aval.size:
        return [ctx.block.splat(0, a) for a in outs]
    values, size = outs[0], aval.shape[-1]
    vectors = matrices.matrix_aval(aval, size, size, values.dtype)
    # Eigenvalues of real matrices come as real and imaginary parts.
    parts = [values]
    if aval.dtype.kind == "f":
        parts = [matrices.vector_aval(aval, size)] * 2
    compute = (compute_left_eigenvectors, compute_right_eigenvectors)
    kernel_avals = (*parts, vectors, vectors, lapack.status(aval))
    if on_gpu:
        use = None if implementation is None else magma
        results = gpu.call(
            ctx,
            "hybrid",
            "eig_real" if aval.dtype.kind == "f" else "eig_comp",
            (x,),
            (aval,),
            kernel_avals,
            rank=aval.ndim,
            reused={},
            attributes={
                "left": compute[0],
                "right": compute[1],
                "magma": gpu.magma(use),
            },
        )
    else:
        results = lapack.call(
            ctx,
            "eig",
            "geev",
            (x,),
            (aval,),
            kernel_avals,
            rank=aval.ndim,
            reused={},
            attributes={
                "compute_left": "V" if compute[0] else "N",
                "compute_right": "V" if compute[1] else "N",
            },
        )
    *numbers, left, right, info = results
    if len(numbers) == 2:
        t = types.tensor_type(values)
        numbers = [ctx.block.emit(f"stablehlo.complex {', '.join(numbers)} : {t}")]
    out_vectors = [v for v, w in zip((left, right), compute, strict=True) if w]
    return lapack.nan_unless(ctx, info, "EQ", [*numbers, *out_vectors], outs)


def _jvp(
    primals: Any,
    tangents: Any,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
    implementation: Any,
) -> Any:
    """dw_i = (V^-1 dx V)_ii; vectors of x^H with eigenvalues conj(w) are the left ones.

    Boeddeker et al., On the computation of complex-valued gradients, 2017.
    """
    compute = (compute_left_eigenvectors, compute_right_eigenvectors)
    if any(compute) and not enable_eigvec_derivs:
        raise NotImplementedError(
            "lax.linalg.eig: eigenvectors have a derivative only where eigenvalues "
            "are distinct, and it depends on LAPACK's choice of length and phase; "
            "pass enable_eigvec_derivs=True to use it, or compute eigenvalues alone"
        )
    values, *vectors = eig_p.bind(
        *primals,
        compute_left_eigenvectors=compute[0],
        compute_right_eigenvectors=True,
        # Also for eigenvalues alone: no derivative of theirs depends on the phases.
        enable_eigvec_derivs=True,
        implementation=implementation,
    )
    dtype = avals.aval_of(values).dtype
    x_dot = elementwise.convert(tangents[0], dtype)
    inner = _inner(vectors[-1], x_dot)
    outs, out_dots = [values], [matrices.diagonal(inner)]
    if compute[0]:
        left = vectors[0]
        inner_left = _inner(left, matrices.adjoint(x_dot))
        outs.append(left)
        out_dots.append(_change(left, elementwise.conj(values), inner_left))
    if compute[1]:
        outs.append(vectors[-1])
        out_dots.append(_change(vectors[-1], values, inner))
    return outs, out_dots


def _inner(vectors: Any, x_dot: Any) -> Any:
    """V^-1 dx V."""
    return linear_systems.solve(vectors, matrices.matmul(x_dot, vectors))


def _change(vectors: Any, values: Any, inner: Any) -> Any:
    """dV, with unit vectors kept unit and their largest components kept real."""
    size = avals.aval_of(values).shape[-1]
    inverse = matrices.reciprocal_gaps(values)
    free = matrices.matmul(vectors, elementwise.mul(inverse, inner))
    rank = avals.aval_of(free).ndim
    along = elementwise.mul(elementwise.conj(vectors), free)
    growth = reductions.reduce_sum(elementwise.real(along), (rank - 2,))
    largest = reductions.argmax(elementwise.abs_(vectors), rank - 2, np.int32)
    places = shaping.broadcasted_iota(np.int32, avals.aval_of(free).shape, rank - 2)
    mask = elementwise.eq(places, matrices.in_columns(largest, size))

    def of_largest(x: Any) -> Any:
        components = elementwise.select(mask, x, families.full_like(x, 0))
        return reductions.reduce_sum(components, (rank - 2,))

    phase = elementwise.div(
        of_largest(elementwise.imag(free)), of_largest(elementwise.real(vectors))
    )
    excess = matrices.in_columns(elementwise.complex_(growth, phase), size)
    return elementwise.sub(free, elementwise.mul(vectors, excess))


eig_p: Primitive = Primitive(
    "eig",
    shard=sharding_rules.leading,
    multiple_results=True,
    abstract=matrices.weak_as_operands(_abstract),
    lower=_lower,
    jvp=_jvp,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


def eig(
    x: Matrices,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    implementation: EigImplementation | None = None,
    enable_eigvec_derivs: bool = False,
    use_magma: bool | None = None,
) -> list[Array]:
    """Eigenvalues w and eigenvectors of general matrices.

    Right ones are the columns of V with `x V = V diag(w)`, left ones those of U with
    `U^H x = diag(w) U^H`. Each has length 1, and its largest component is real.

    Args:
      x: square matrices [..., n, n], floating or complex.
      compute_left_eigenvectors: whether to compute U.
      compute_right_eigenvectors: whether to compute V.
      enable_eigvec_derivs: allow derivatives of the vectors. They are correct
        where eigenvalues are distinct; they depend on the phase of the vectors.
      implementation: the library; only LAPACK is available.
      use_magma: has no effect; which library is taken on a GPU.

    Returns:
      A list: w [..., n], and those of U and V [..., n, n] that are requested; all
      complex, NaN where the method does not converge.

    Raises:
      ValueError: the last two axes have different sizes.
      TypeError: the dtype is of the wrong kind.
      NotImplementedError: a derivative of vectors, without `enable_eigvec_derivs`.

    Source: LAPACK, geev.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> w, u, v = linalg.eig(np.array([[0.0, 1.0], [-1.0, 0.0]], "float32"))
      >>> print(w)
      [0.+1.j 0.-1.j]
    """
    return list(
        eig_p.bind(
            x,
            compute_left_eigenvectors=bool(compute_left_eigenvectors),
            compute_right_eigenvectors=bool(compute_right_eigenvectors),
            enable_eigvec_derivs=bool(enable_eigvec_derivs),
            implementation=implementation,
        )
    )
