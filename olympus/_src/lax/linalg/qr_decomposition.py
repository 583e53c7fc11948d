"""QR factorization, and products of Householder's reflections.

LAPACK leaves the reflections below the diagonal of R, each with a scale of its own; Q
is their product.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike, Matrices
from olympus._src.core.primitive import Primitive
from olympus._src.core.sizes import minimum
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import elementwise, families, shaping, sharding_rules
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.linalg import custom_calls, gpu, lapack, matrices, triangular
from olympus._src.lowering import types

# -- LAPACK's steps --------------------------------------------------------------------


def _geqrf_abstract(x: Any) -> Any:
    matrices.check_matrices("qr", x)
    return x, matrices.vector_aval(x, min(x.shape[-2:]))


def _geqrf_lower(ctx: Any, x: str) -> list[str]:
    (aval,) = ctx.avals_in
    if ctx.platform in gpu.PLATFORMS:
        return gpu.call(
            ctx,
            "solver",
            "geqrf_ffi",
            (x,),
            (aval,),
            ctx.avals_out,
            rank=aval.ndim,
            reused={0: 0},
        )
    if ctx.platform == "tpu":
        return custom_calls.emit_builtin(ctx, "Qr", (x,))
    return lapack.call(
        ctx, "qr", "geqrf", (x,), (aval,), ctx.avals_out, rank=aval.ndim, reused={0: 0}
    )


geqrf_p: Primitive = Primitive(
    "geqrf",
    shard=sharding_rules.leading,
    multiple_results=True,
    abstract=matrices.weak_as_operands(_geqrf_abstract),
    lower=_geqrf_lower,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


def geqrf(x: Any) -> tuple[Any, Any]:
    """R on and above the diagonal, reflections below it; and the scales of these."""
    packed, scales = geqrf_p.bind(x)
    return packed, scales


def _geqp3_abstract(x: Any, order: Any, *, use_magma: bool | None) -> Any:
    matrices.check_matrices("qr", x)
    if order.shape != (*x.shape[:-2], x.shape[-1]) or order.dtype != np.int32:
        raise TypeError(
            "lax.linalg.geqp3: the order must be an int32 for each column, got "
            f"{order.short()} for {x.short()}"
        )
    return x, order, matrices.vector_aval(x, min(x.shape[-2:]))


def _geqp3_lower(ctx: Any, x: str, order: str, *, use_magma: bool | None) -> list[str]:
    aval, order_aval = ctx.avals_in
    if (
        not types.has_symbolic_size(aval) and not aval.size
    ):  # LAPACK divides by the rows
        columns = ctx.block.iota(order_aval.ndim - 1, order_aval)
        one = ctx.block.splat(1, order_aval)
        columns = ctx.block.elementwise("stablehlo.add", [columns, one], order_aval)
        return [x, columns, ctx.block.splat(0, ctx.avals_out[2])]
    if ctx.platform in gpu.PLATFORMS:
        return gpu.call(
            ctx,
            "hybrid",
            "geqp3",
            (x, order),
            ctx.avals_in,
            ctx.avals_out,
            rank=aval.ndim,
            reused={0: 0, 1: 1},
            attributes={"magma": gpu.magma(use_magma)},
        )
    return lapack.call(
        ctx,
        "qr",
        "geqp3",
        (x, order),
        ctx.avals_in,
        ctx.avals_out,
        rank=aval.ndim,
        reused={0: 0, 1: 1},
    )


geqp3_p: Primitive = Primitive(
    "geqp3",
    shard=sharding_rules.leading,
    multiple_results=True,
    abstract=matrices.weak_as_operands(_geqp3_abstract),
    lower=_geqp3_lower,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


def _product_abstract(a: Any, taus: Any) -> Any:
    name = "householder_product"
    matrices.check_matrices(name, a, operand="a")
    matrices.check_alike(name, a, taus, (2, 1))
    rows, columns = a.shape[-2:]
    if rows < columns:
        raise ValueError(
            f"lax.linalg.{name}: a must have at least as many rows as columns, got "
            f"{a.short()}; take its first {rows} columns"
        )
    if taus.shape[-1] > columns:
        raise ValueError(
            f"lax.linalg.{name}: there must be no more taus than columns of a, got "
            f"a = {a.short()} and taus = {taus.short()}"
        )
    return ShapedArray(a.shape, a.dtype)


def _product_lower(ctx: Any, a: str, taus: str) -> str:
    aval = ctx.avals_in[0]
    if not aval.size:
        return a
    if ctx.platform in gpu.PLATFORMS:
        (out,) = gpu.call(
            ctx,
            "solver",
            "orgqr_ffi",
            (a, taus),
            ctx.avals_in,
            (aval,),
            rank=aval.ndim,
            reused={0: 0},
        )
        return out
    if ctx.platform == "tpu":
        name = "ProductOfElementaryHouseholderReflectors"
        return custom_calls.emit_builtin(ctx, name, (a, taus))[0]
    (out,) = lapack.call(
        ctx,
        "householder_product",
        ("orgqr", "ungqr"),
        (a, taus),
        ctx.avals_in,
        (aval,),
        rank=aval.ndim,
        reused={0: 0},
    )
    return out


def _reflections(a: np.ndarray, taus: np.ndarray) -> np.ndarray:
    """The whole product, [..., m, m], by its definition."""
    m = a.shape[-2]
    total = np.broadcast_to(np.eye(m, dtype=a.dtype), (*a.shape[:-2], m, m))
    for i in range(taus.shape[-1]):
        v = a[..., :, i : i + 1] * (np.arange(m) > i)[:, None]
        v = v + (np.arange(m) == i)[:, None]
        outer = v @ np.conj(np.swapaxes(v, -1, -2))
        total = total @ (np.eye(m) - taus[..., i, None, None] * outer)
    return total.astype(a.dtype)


householder_product_p: Primitive = Primitive(
    "householder_product",
    shard=sharding_rules.leading,
    abstract=matrices.weak_as_operands(_product_abstract),
    lower=_product_lower,
    reference=lambda a, taus: _reflections(a, taus)[..., : a.shape[-1]],
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


def householder_product(a: Matrices, taus: ArrayLike) -> Array:
    """The first columns of a product of Householder's reflections.

    Args:
      a: matrices [..., m, n] with m >= n; reflection i is below the diagonal of column
        i.
      taus: [..., k] with k <= n, the scale of each reflection.

    Returns:
      Matrices [..., m, n] with orthonormal columns.

    Raises:
      ValueError: sizes do not agree.
      TypeError: dtypes differ, or are not floating or complex ones.

    Source: LAPACK, orgqr and ungqr.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> a = np.array([[0.0], [1.0]], "float32")
      >>> print(linalg.householder_product(a, np.ones(1, "float32")))
      [[ 0.]
       [-1.]]
    """
    return householder_product_p.bind(a, taus)


def _multiply_abstract(
    a: Any, taus: Any, c: Any, *, left: bool, transpose: bool
) -> Any:
    name = "ormqr"
    matrices.check_matrices(name, a, operand="a")
    matrices.check_matrices(name, c, operand="c")
    matrices.check_alike(name, a, taus, (2, 1))
    matrices.check_alike(name, a, c, (2, 2))
    if taus.shape[-1] > min(a.shape[-2:]) or c.shape[-2 if left else -1] != a.shape[-2]:
        which = "rows" if left else "columns"
        raise ValueError(
            f"lax.linalg.{name}: c must have as many {which} as a has rows, and taus "
            f"no more than a has columns, got a = {a.short()}, taus = {taus.short()} "
            f"and c = {c.short()}"
        )
    return ShapedArray(c.shape, c.dtype)


def _multiply_lower(
    ctx: Any, a: str, taus: str, c: str, *, left: bool, transpose: bool
) -> str:
    a_aval, taus_aval, out = ctx.avals_in
    if not out.size or not taus_aval.size:
        return c
    if ctx.platform in gpu.PLATFORMS:
        (product,) = gpu.call(
            ctx,
            "solver",
            "ormqr_ffi",
            (a, taus, c),
            ctx.avals_in,
            (out,),
            rank=a_aval.ndim,
            reused={0: 2},
            attributes={"left": left, "transpose": transpose},
        )
        return product
    (product,) = lapack.call(
        ctx,
        "ormqr",
        ("ormqr", "unmqr"),
        (a, taus, c),
        ctx.avals_in,
        (out,),
        rank=a_aval.ndim,
        reused={0: 2},
        attributes={"left": left, "transpose": transpose},
    )
    return product


def _multiply_reference(
    a: np.ndarray, taus: np.ndarray, c: np.ndarray, *, left: bool, transpose: bool
) -> np.ndarray:
    q = _reflections(a, taus)
    q = np.conj(np.swapaxes(q, -1, -2)) if transpose else q
    return q @ c if left else c @ q


ormqr_p: Primitive = Primitive(
    "ormqr",
    shard=sharding_rules.leading,
    abstract=matrices.weak_as_operands(_multiply_abstract),
    lower=_multiply_lower,
    reference=_multiply_reference,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


def ormqr(
    a: Matrices,
    taus: ArrayLike,
    c: ArrayLike,
    *,
    left: bool = True,
    transpose: bool = False,
) -> Array:
    """Multiplies matrices by a product Q of Householder reflections, without forming Q.

    Args:
      a: matrices [..., m, k]; below the diagonal of column i is reflection i.
      taus: [..., k], the scale of each reflection.
      c: matrices [..., m, n]; [..., n, m] where Q is on the right.
      left: whether Q is on the left.
      transpose: take Q^H.

    Returns:
      `Q c`, `Q^H c`, `c Q` or `c Q^H`.

    Raises:
      ValueError: sizes do not agree.
      TypeError: dtypes differ, or are not floating or complex ones.

    Source: LAPACK, ormqr and unmqr.
    """
    return ormqr_p.bind(a, taus, c, left=bool(left), transpose=bool(transpose))


# -- QR --------------------------------------------------------------------------------


def _qr_abstract(x: Any, *, pivoting: bool, full_matrices: bool, use_magma: Any) -> Any:
    matrices.check_matrices("qr", x)
    rows, columns = x.shape[-2:]
    inner = rows if full_matrices else minimum(rows, columns)
    outs = [
        matrices.matrix_aval(x, rows, inner),
        matrices.matrix_aval(x, inner, columns),
    ]
    if pivoting:
        outs.append(matrices.vector_aval(x, columns, np.dtype(np.int32)))
    return outs


def _qr_decompose(
    x: Any, *, pivoting: bool, full_matrices: bool, use_magma: Any
) -> list[Any]:
    aval = avals.aval_of(x)
    rows, columns = aval.shape[-2:]
    inner = rows if full_matrices else minimum(rows, columns)
    order = None
    if not aval.size:
        return _qr_of_nothing(aval, inner, pivoting)
    if pivoting:
        free = shaping.full((*aval.shape[:-2], columns), 0, np.int32)
        packed, order, taus = geqp3_p.bind(x, free, use_magma=use_magma)
        order = elementwise.sub(order, np.int32(1))
    else:
        packed, taus = geqrf(x)
    first = matrices.columns(packed, 0, min(inner, columns))
    q = householder_product_p.bind(matrices.pad_with_zeros(first, rows, inner), taus)
    r = matrices.upper_triangle(matrices.rows(packed, 0, inner))
    return [q, r] if order is None else [q, r, order]


def _qr_of_nothing(aval: Any, inner: int, pivoting: bool) -> list[Any]:
    """Factors of matrices without rows or columns: Q is a unit matrix."""
    (rows, columns), many = aval.shape[-2:], aval.shape[:-2]
    q = matrices.identity((*many, rows, inner), aval.dtype)
    r = shaping.full((*many, inner, columns), 0, aval.dtype)
    if not pivoting:
        return [q, r]
    rank = len(many) + 1
    order = shaping.broadcasted_iota(np.int32, (*many, columns), rank - 1)
    return [q, r, order]


def _qr_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    """Q^H dQ is skew-Hermitian and dR triangular with a real diagonal.

    Walter and Lehmann, Algorithmic differentiation of linear algebra functions, 2012.
    Where Q is square the part of it that x leaves open does not turn within itself.
    """
    q, r, *order = qr_p.bind(*primals, **params)
    (x_dot,) = tangents
    if order:
        x_dot = matrices.take_columns(x_dot, order[0])
    rows, columns = avals.aval_of(x_dot).shape[-2:]
    inner, k = avals.aval_of(q).shape[-1], min(rows, columns)
    corner = matrices.columns(matrices.rows(r, 0, k), 0, k)
    q_h = matrices.adjoint(q)
    solved = triangular.triangular_solve(corner, matrices.columns(x_dot, 0, k))
    c = matrices.matmul(q_h, solved)
    turn = _skew(matrices.pad_with_zeros(c, inner, inner))
    r_dot = elementwise.sub(matrices.matmul(q_h, x_dot), matrices.matmul(turn, r))
    q_dot = matrices.matmul(q, turn)
    if inner < rows:
        outside = elementwise.sub(solved, matrices.matmul(q, c))
        q_dot = families.add_tangents(q_dot, outside)
    zeros = [Zero(avals.aval_of(o).to_tangent()) for o in order]
    return [q, r, *order], [q_dot, matrices.upper_triangle(r_dot), *zeros]


def _skew(c: Any) -> Any:
    """The skew-Hermitian matrix with the elements of `c` below its diagonal."""
    low = matrices.lower_triangle(c, -1)
    skew = elementwise.sub(low, matrices.adjoint(low))
    if avals.aval_of(c).dtype.kind != "c":
        return skew
    twice = elementwise.sub(c, matrices.adjoint(c))
    phases = matrices.scale_by_number(matrices.only_diagonal(twice), 0.5)
    return elementwise.add(skew, phases)


qr_p: Primitive = Primitive(
    "qr",
    shard=sharding_rules.leading,
    multiple_results=True,
    abstract=matrices.weak_as_operands(_qr_abstract),
    decompose=_qr_decompose,
    jvp=_qr_jvp,
    batch=matrices.batch_of_stacks,
)


def qr(
    x: Matrices,
    *,
    pivoting: bool = False,
    full_matrices: bool = True,
    use_magma: bool | None = None,
) -> tuple[Array, ...]:
    """Q with orthonormal columns and R upper triangular, with `Q R = x`.

    Args:
      x: matrices [..., m, n], floating or complex.
      pivoting: choose an order of the columns in which the diagonal of R does not
        increase.
      full_matrices: whether Q is square, [..., m, m]; otherwise it has min(m, n)
        columns.
      use_magma: on a GPU, whether MAGMA factors with pivoting; None for MAGMA where
        it is installed, else LAPACK on the host. It has no effect elsewhere.

    Returns:
      Q and R; with pivoting also the order [..., n] of the columns, int32, so that
      `Q R` is `x` with its columns in that order.

    Raises:
      ValueError: `x` has fewer than two axes.
      TypeError: the dtype is of the wrong kind.

    Source: LAPACK, geqrf, geqp3 and orgqr.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> x = np.array([[3.0, 1.0], [4.0, 2.0]], "float32")
      >>> q, r = linalg.qr(x)
      >>> bool(np.allclose(q @ r, x, atol=1e-6))
      True
    """
    return tuple(
        qr_p.bind(
            x,
            pivoting=bool(pivoting),
            full_matrices=bool(full_matrices),
            use_magma=use_magma,
        )
    )
