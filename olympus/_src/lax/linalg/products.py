"""Products of matrices that have a structure."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import elementwise, families, sharding_rules
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.linalg import gpu, matrices


def _abstract(a: Any, c: Any, *, alpha: float, beta: float) -> Any:
    name = "symmetric_product"
    real = matrices.REAL
    matrices.check_matrices(name, a, accepts=real, operand="a_matrix")
    matrices.check_matrices(name, c, square=True, accepts=real, operand="c_matrix")
    matrices.check_alike(name, a, c, (2, 2))
    if a.shape[-2] != c.shape[-1]:
        raise ValueError(
            f"lax.linalg.{name}: c_matrix must have as many rows as a_matrix, got "
            f"{a.short()} and {c.short()}"
        )
    return ShapedArray(c.shape, c.dtype)


def _syrk_lower(ctx: Any, a: str, c: str, *, alpha: float, beta: float) -> str:
    """Writes a call of the GPU's kernel, which takes matrices row by row."""
    (a_aval, c_aval), number = ctx.avals_in, ShapedArray((), ctx.avals_in[0].dtype)
    factors = [ctx.block.constant(x, number) for x in (alpha, beta)]
    (out,) = gpu.call(
        ctx,
        "solver",
        "syrk_ffi",
        (a, c, *factors),
        (a_aval, c_aval, number, number),
        (c_aval,),
        rank=c_aval.ndim,
        reused={0: 1},
        attributes={"transpose": False},
        by_rows=True,
    )
    return out


def _decompose(a: Any, c: Any, *, alpha: float, beta: float) -> Any:
    product = matrices.matmul(a, matrices.transpose_matrices(a))
    return elementwise.add(
        matrices.scale_by_number(product, alpha), matrices.scale_by_number(c, beta)
    )


_syrk_p: Primitive = Primitive(
    "syrk",
    abstract=matrices.weak_as_operands(_abstract),
    lower=_syrk_lower,
    batch=matrices.batch_of_stacks,
)


def _symmetrize(x: Any) -> Any:
    """The matrices with the elements above the diagonal taken from those below it."""
    lower = matrices.lower_triangle(x)
    above = matrices.transpose_matrices(matrices.lower_triangle(x, -1))
    return elementwise.add(lower, above)


def _rewrite(platform: str, a: Any, c: Any, **params: Any) -> Any:
    """On NVIDIA's GPUs, the kernel, which writes only the triangle below."""
    if platform != "cuda" or not c.size or not a.size:
        return None
    return lambda a, c, **_: _symmetrize(_syrk_p.bind(a, c, **params))


def _jvp(primals: Any, tangents: Any, *, alpha: float, beta: float) -> Any:
    a, c = primals
    a_dot, c_dot = tangents
    out = symmetric_product_p.bind(a, c, alpha=alpha, beta=beta)
    if type(c_dot) is not Zero:
        c_dot = matrices.scale_by_number(c_dot, beta)
    if type(a_dot) is not Zero:
        half = matrices.matmul(a_dot, matrices.transpose_matrices(a))
        both = elementwise.add(half, matrices.transpose_matrices(half))
        c_dot = families.add_tangents(c_dot, matrices.scale_by_number(both, alpha))
    return out, c_dot


def _reference(a: np.ndarray, c: np.ndarray, *, alpha: float, beta: float) -> Any:
    return alpha * (a @ np.swapaxes(a, -1, -2)) + beta * c


symmetric_product_p: Primitive = Primitive(
    "symmetric_product",
    shard=sharding_rules.leading,
    abstract=matrices.weak_as_operands(_abstract),
    decompose=_decompose,
    rewrite=_rewrite,
    jvp=_jvp,
    reference=_reference,
    batch=matrices.batch_of_stacks,
)


def symmetric_product(
    a_matrix: ArrayLike,
    c_matrix: ArrayLike,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Array:
    """The matrices `alpha a a^T + beta c`.

    Args:
      a_matrix: matrices a [..., n, k], real.
      c_matrix: symmetric matrices c [..., n, n].
      alpha: factor of the product.
      beta: factor of `c`.
      symmetrize_output: take the elements above the diagonal from those below it.

    Returns:
      Matrices [..., n, n].

    Raises:
      ValueError: sizes do not agree.
      TypeError: dtypes differ, or are not real.

    Source: BLAS, syrk.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> a, c = np.ones((2, 1), "float32"), np.eye(2, dtype="float32")
      >>> print(linalg.symmetric_product(a, c, beta=2.0))
      [[3. 1.]
       [1. 3.]]
    """
    out = symmetric_product_p.bind(
        a_matrix, c_matrix, alpha=float(alpha), beta=float(beta)
    )
    if not symmetrize_output:
        return out
    return _symmetrize(out)
