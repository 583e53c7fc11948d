"""Schur's and Hessenberg's forms of general matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src.core.array_type import Array, Matrices
from olympus._src.core.primitive import Primitive
from olympus._src.lax import sharding_rules
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.linalg import lapack, matrices

# -- Schur -----------------------------------------------------------------------------


def _schur_abstract(x: Any, *, compute_schur_vectors: bool, **_: Any) -> Any:
    matrices.check_matrices("schur", x, square=True)
    return (ShapedArray(x.shape, x.dtype),) * (1 + compute_schur_vectors)


def _schur_lower(
    ctx: Any,
    x: str,
    *,
    compute_schur_vectors: bool,
    sort_eig_vals: bool,
    select_callable: Any,
) -> list[str]:
    (aval,), outs = ctx.avals_in, ctx.avals_out
    if not aval.size:
        return [x] * len(outs)
    words = lapack.status(aval)
    values = matrices.vector_aval(aval, aval.shape[-1])
    # Eigenvalues of real matrices come as real and imaginary parts.
    parts = [values] * (2 if aval.dtype.kind == "f" else 1)
    results = lapack.call(
        ctx,
        "schur",
        "gees",
        (x,),
        (aval,),
        (aval, aval, *parts, words, words),
        rank=aval.ndim,
        reused={0: 0},
        attributes={"mode": "V" if compute_schur_vectors else "N", "sort": "N"},
    )
    return lapack.nan_unless(ctx, results[-1], "EQ", results[: len(outs)], outs)


schur_p: Primitive = Primitive(
    "schur",
    shard=sharding_rules.leading,
    multiple_results=True,
    abstract=matrices.weak_as_operands(_schur_abstract),
    lower=_schur_lower,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


def schur(
    x: Matrices,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Callable[..., Any] | None = None,
) -> list[Array]:
    """Schur's form T of square matrices, with `x = Z T Z^H`.

    T is upper triangular; of real matrices it has blocks of two rows on its diagonal,
    where eigenvalues are complex.

    Args:
      x: square matrices [..., n, n], floating or complex.
      compute_schur_vectors: whether to compute Z.
      sort_eig_vals: whether chosen eigenvalues come first; must be False.
      select_callable: which eigenvalues come first; must be None.

    Returns:
      T and Z, [..., n, n]; or T alone, in a tuple. NaN where the method does not
      converge.

    Raises:
      ValueError: the last two axes have different sizes.
      TypeError: the dtype is of the wrong kind.
      NotImplementedError: eigenvalues are to be sorted.

    Source: LAPACK, gees.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> t, z = linalg.schur(np.array([[1.0, 2.0], [0.0, 3.0]], "float32"))
      >>> print(t)
      [[1. 2.]
       [0. 3.]]
    """
    if sort_eig_vals or select_callable is not None:
        raise NotImplementedError(
            "lax.linalg.schur: eigenvalues cannot be sorted, got "
            f"sort_eig_vals={sort_eig_vals} and select_callable={select_callable}; "
            "leave both out"
        )
    return list(
        schur_p.bind(
            x,
            compute_schur_vectors=bool(compute_schur_vectors),
            sort_eig_vals=False,
            select_callable=None,
        )
    )


# -- Hessenberg ------------------------------------------------------------------------


def _hessenberg_abstract(x: Any) -> Any:
    matrices.check_matrices("hessenberg", x, square=True)
    scales = matrices.vector_aval(x, max(x.shape[-1] - 1, 0))
    return ShapedArray(x.shape, x.dtype), scales


def _hessenberg_lower(ctx: Any, x: str) -> list[str]:
    (aval,), outs = ctx.avals_in, ctx.avals_out
    if not outs[1].size:  # of size 1, or none at all
        return [x, ctx.block.splat(0, outs[1])]
    packed, taus, info = lapack.call(
        ctx,
        "hessenberg",
        "gehrd",
        (x,),
        (aval,),
        (*outs, lapack.status(aval)),
        rank=aval.ndim,
        reused={0: 0},
        attributes={"low": 1, "high": aval.shape[-1]},
    )
    return lapack.nan_unless(ctx, info, "EQ", (packed, taus), outs)


hessenberg_p: Primitive = Primitive(
    "hessenberg",
    shard=sharding_rules.leading,
    multiple_results=True,
    abstract=matrices.weak_as_operands(_hessenberg_abstract),
    lower=_hessenberg_lower,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


def hessenberg(a: Matrices) -> list[Array]:
    """Hessenberg's form H of square matrices, with `a = Q H Q^H`.

    Args:
      a: square matrices [..., n, n], floating or complex.

    Returns:
      One array [..., n, n] that holds H on, above and just below the diagonal, and
      below that the reflections whose product is Q; and the scales [..., n - 1] of
      these, see `householder_product`.

    Raises:
      ValueError: the last two axes have different sizes.
      TypeError: the dtype is of the wrong kind.

    Source: LAPACK, gehrd.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> h, taus = linalg.hessenberg(np.array([[1.0, 2.0], [3.0, 4.0]], "float32"))
      >>> print(h)
      [[1. 2.]
       [3. 4.]]
    """
    return list(hessenberg_p.bind(a))
