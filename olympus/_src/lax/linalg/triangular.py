"""Systems of equations with triangular matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes, sizes
from olympus._src.core.array_type import Array, Matrices
from olympus._src.core.primitive import Primitive, takes_symbolic_sizes
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.lax import elementwise, families, shaping, sharding_rules
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.linalg import lapack, matrices, small_matrices
from olympus._src.lowering import types


def _abstract(a: Any, b: Any, *, left_side: bool, **_: Any) -> Any:
    name = "triangular_solve"
    matrices.check_system(name, a, b, (*matrices.HALF, *matrices.INEXACT))
    if a.shape[-1] != b.shape[-2 if left_side else -1]:
        which = "rows" if left_side else "columns"
        raise ValueError(
            f"lax.linalg.{name}: b must have as many {which} as a, got a = {a.short()} "
            f"and b = {b.short()} with left_side={left_side}; choose the other side"
        )
    return ShapedArray(b.shape, b.dtype)


def _lower(
    ctx: Any,
    a: str,
    b: str,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> str:
    a_aval, b_aval = ctx.avals_in
    if not b_aval.size:
        return b
    block = ctx.block
    conjugate_a = conjugate_a and a_aval.dtype.kind == "c"
    if conjugate_a and not transpose_a:
        a, conjugate_a = emit_conjugate(block, a, a_aval), False
    if ctx.platform == "cpu":
        change = ("C" if conjugate_a else "T") if transpose_a else "N"
        (out,) = lapack.call(
            ctx,
            "triangular_solve",
            "trsm",
            (a, b),
            (a_aval, b_aval),
            (b_aval,),
            rank=a_aval.ndim,
            reused={0: 1},
            attributes={
                "diag": "U" if unit_diagonal else "N",
                "side": "L" if left_side else "R",
                "trans_x": change,
                "uplo": "L" if lower else "U",
            },
        )
        return out
    change = "NO_TRANSPOSE"
    if transpose_a:
        change = "ADJOINT" if conjugate_a else "TRANSPOSE"
    words = [str(x).lower() for x in (left_side, lower, unit_diagonal)]
    return block.op1(
        "stablehlo.triangular_solve",
        (a, b),
        (a_aval, b_aval),
        b_aval,
        f"left_side = {words[0]}, lower = {words[1]}, unit_diagonal = {words[2]}, "
        f"transpose_a = #stablehlo<transpose {change}>",
    )


def emit_conjugate(block: Any, x: str, aval: Any) -> str:
    """Writes the complex conjugate."""
    part = ShapedArray(aval.shape, matrices.real_dtype(aval.dtype))
    t, p = types.tensor_type(aval), types.tensor_type(part)
    real = block.emit(f"stablehlo.real {x} : ({t}) -> {p}")
    imag = block.emit(f"stablehlo.imag {x} : ({t}) -> {p}")
    negative = block.elementwise("stablehlo.negate", [imag], part)
    return block.emit(f"stablehlo.complex {real}, {negative} : {t}")


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    """op(A) dX = dB - op(dA) X, or mirrored; dA counts in its triangle alone."""
    a, b = primals
    a_dot, b_dot = tangents
    out = triangular_solve_p.bind(a, b, **params)
    side_dot = b_dot
    if type(a_dot) is not Zero:
        offset = int(params["unit_diagonal"])
        if params["lower"]:
            change = matrices.lower_triangle(a_dot, -offset)
        else:
            change = matrices.upper_triangle(a_dot, offset)
        if params["transpose_a"]:
            change = matrices.transpose_matrices(change)
        if params["conjugate_a"]:
            change = matrices.conjugate_if_complex(change)
        pair = (change, out) if params["left_side"] else (out, change)
        fall = elementwise.neg(matrices.matmul(*pair))
        side_dot = families.add_tangents(b_dot, fall)
    if type(side_dot) is Zero:
        return out, side_dot
    return out, triangular_solve_p.bind(a, side_dot, **params)


def _transpose(cts: Any, a: Any, b: Any, *, transpose_a: bool, **params: Any) -> Any:
    if type(b) is not Linear:
        raise NotImplementedError(
            "lax.linalg.triangular_solve: it is linear only in b and cannot be "
            "transposed with respect to a; differentiate with olympus.grad or "
            "olympus.vjp"
        )
    (ct,) = cts
    if type(ct) is Zero:
        return [None, Zero(b.aval)]
    return [None, triangular_solve_p.bind(a, ct, transpose_a=not transpose_a, **params)]


def _batch(axis: Any, args: Any, dims: Any, *, left_side: bool, **params: Any) -> Any:
    a, b = args
    if dims[0] is None and avals.aval_of(a).ndim == 2:
        # One matrix for all: the mapped axis becomes more right-hand sides.
        return _batch_of_sides(axis, a, b, dims[1], left_side, params)
    a, b = (families.at_front(axis, x, d) for x, d in zip(args, dims, strict=True))
    return triangular_solve_p.bind(a, b, left_side=left_side, **params), 0


def _batch_of_sides(
    axis: Any, a: Any, b: Any, dim: int, left_side: bool, params: Any
) -> Any:
    place = 1 if left_side else 0
    moved = families.move_axis(b, dim, place)
    shape = avals.aval_of(moved).shape
    flat = (shape[0], -1) if left_side else (-1, shape[2])
    sizes = [d if d >= 0 else axis.size * shape[2 if left_side else 1] for d in flat]
    out = triangular_solve_p.bind(
        a, shaping.reshape(moved, sizes), left_side=left_side, **params
    )
    return shaping.reshape(out, shape), place


def _reference(
    a: Any,
    b: Any,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> Any:
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        unit = np.eye(a.shape[-1], dtype=a.dtype)
        a = a * (1 - unit) + unit
    a = np.swapaxes(a, -1, -2) if transpose_a else a
    a = np.conj(a) if conjugate_a else a
    if left_side:
        return np.linalg.solve(a, b)
    mirrored = np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2))
    return np.swapaxes(mirrored, -1, -2)


def _is_half(dtype: Any) -> bool:
    return dtypes.kind(dtype) == "f" and dtypes.itemsize_bits(dtype) == 16


@takes_symbolic_sizes
def _rewrite(platform: str, a: Any, b: Any, **params: Any) -> Any:
    if _is_half(a.dtype):
        return lambda a, b: _solve_half(a, b, **params)
    if any(map(sizes.is_symbolic, (*a.shape, *b.shape))):
        return None
    return small_matrices.choose_triangular(platform, a, b, **params)


def _solve_half(a: Any, b: Any, **params: Any) -> Any:
    """By the kernels for single precision: XLA has none for half."""
    dtype, wide = avals.aval_of(b).dtype, np.dtype(np.float32)
    a, b = elementwise.convert(a, wide), elementwise.convert(b, wide)
    return elementwise.convert(triangular_solve_p.bind(a, b, **params), dtype)


triangular_solve_p: Primitive = Primitive(
    "triangular_solve",
    shard=sharding_rules.triangular_solve,
    abstract=matrices.weak_as_operands(_abstract),
    lower=_lower,
    rewrite=_rewrite,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    reference=_reference,
    needs_full_build=True,
)


def triangular_solve(
    a: Matrices,
    b: Matrices,
    *,
    left_side: bool = False,
    lower: bool = False,
    unit_diagonal: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
) -> Array:
    """The X with `op(a) X = b`, or `X op(a) = b`, for triangular matrices.

    Args:
      a: square matrices [..., n, n], floating or complex; the other triangle is not
        read.
      b: matrices [..., n, m], or [..., m, n] where a is on the right; or vectors
        [..., n].
      left_side: whether `op(a)` is on the left of X.
      lower: whether `a` is lower triangular; otherwise upper.
      transpose_a: `op` transposes.
      conjugate_a: `op` conjugates.
      unit_diagonal: take the diagonal of `a` as ones, without reading it.

    Returns:
      An array of the shape and dtype of `b`.

    Raises:
      ValueError: sizes do not agree.
      TypeError: dtypes differ, or are of the wrong kind.

    Source: BLAS, trsm; `stablehlo.triangular_solve`.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> a = np.array([[2.0, 0.0], [1.0, 4.0]], "float32")
      >>> b = np.array([2.0, 9.0], "float32")
      >>> print(linalg.triangular_solve(a, b, left_side=True, lower=True))
      [1. 2.]
    """
    a_aval, b_aval = avals.aval_of(a), avals.aval_of(b)
    axis = -1 if left_side else -2
    is_vector = b_aval.ndim == a_aval.ndim - 1 and b_aval.ndim > 0
    if is_vector:
        b = shaping.expand_dims(b, (axis,))
    out = triangular_solve_p.bind(
        a,
        b,
        left_side=bool(left_side),
        lower=bool(lower),
        transpose_a=bool(transpose_a),
        conjugate_a=bool(conjugate_a) and a_aval.dtype.kind == "c",
        unit_diagonal=bool(unit_diagonal),
    )
    return shaping.squeeze(out, (axis,)) if is_vector else out
