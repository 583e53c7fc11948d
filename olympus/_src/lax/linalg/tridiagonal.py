"""Matrices with three diagonals: reduction to them, and systems of equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core.array_type import Array, ArrayLike, Matrices
from olympus._src.core.primitive import Primitive
from olympus._src.core.sizes import at_least
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.lax import concatenation, elementwise, families, sharding_rules
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.linalg import custom_calls, gpu, lapack, loops, matrices
from olympus._src.lowering import types

# -- reduction -------------------------------------------------------------------------


def _reduce_abstract(a: Any, *, lower: bool) -> Any:
    matrices.check_matrices("tridiagonal", a, square=True)
    size, real = a.shape[-1], matrices.real_dtype(a.dtype)
    if not size:
        raise ValueError(
            f"lax.linalg.tridiagonal: matrices must not be empty, got {a.short()}"
        )
    return (
        ShapedArray(a.shape, a.dtype),
        matrices.vector_aval(a, size, real),
        matrices.vector_aval(a, size - 1, real),
        matrices.vector_aval(a, size - 1),
    )


def _reduce_lower(ctx: Any, a: str, *, lower: bool) -> list[str]:
    (aval,), outs = ctx.avals_in, ctx.avals_out
    if not aval.size:
        return [a, *(ctx.block.splat(0, x) for x in outs[1:])]
    if ctx.platform in gpu.PLATFORMS:
        *results, info = gpu.call(
            ctx,
            "solver",
            "sytrd_ffi",
            (a,),
            (aval,),
            (*outs, lapack.status(aval)),
            rank=aval.ndim,
            reused={0: 0},
            attributes={"lower": lower},
        )
    else:
        *results, info = lapack.call(
            ctx,
            "tridiagonal",
            ("sytrd", "hetrd"),
            (a,),
            (aval,),
            (*outs, lapack.status(aval)),
            rank=aval.ndim,
            reused={0: 0},
            attributes={"uplo": "L" if lower else "U"},
        )
    return lapack.nan_unless(ctx, info, "EQ", results, outs)


tridiagonal_p: Primitive = Primitive(
    "tridiagonal",
    shard=sharding_rules.leading,
    multiple_results=True,
    abstract=matrices.weak_as_operands(_reduce_abstract),
    lower=_reduce_lower,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


def tridiagonal(a: Matrices, *, lower: bool = True) -> list[Array]:
    """Reduces Hermitian matrices to real ones of three diagonals, `a = Q T Q^H`.

    Args:
      a: Hermitian matrices [..., n, n], floating or complex, not empty.
      lower: which triangle is read.

    Returns:
      The reflections whose product is Q, in the triangle that was read [..., n, n]; the
      diagonal of T [..., n] and the one next to it [..., n - 1], real; the scales of
      the reflections [..., n - 1], see `householder_product`.

    Raises:
      ValueError: the last two axes have different sizes, or size 0.
      TypeError: the dtype is of the wrong kind.

    Source: LAPACK, sytrd and hetrd.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> a = np.array([[1.0, 2.0], [2.0, 3.0]], "float32")
      >>> print(*linalg.tridiagonal(a)[1:3])
      [1. 3.] [2.]
    """
    return list(tridiagonal_p.bind(a, lower=bool(lower)))


# -- systems ---------------------------------------------------------------------------


def _solve_abstract(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool) -> Any:
    name = "tridiagonal_solve"
    matrices.check_dtype(name, d, operand="d")
    for which, x in (("dl", dl), ("du", du)):
        if x.shape != d.shape or x.dtype != d.dtype:
            raise TypeError(
                f"lax.linalg.{name}: the diagonals must have one shape and dtype, got "
                f"{which} = {x.short()} and d = {d.short()}; pad the shorter ones"
            )
    if d.ndim < 1 or b.shape[:-1] != d.shape or b.ndim < 2:
        raise TypeError(
            f"lax.linalg.{name}: b must have the axes of the diagonals and one more, "
            f"got d = {d.short()} and b = {b.short()}; use b[..., None] for a vector"
        )
    if b.dtype != d.dtype:
        raise TypeError(
            f"lax.linalg.{name}: operands must have the same dtypes, got {d.short()} "
            f"and {b.short()}; convert one with astype"
        )
    if perturb_singular and d.dtype.name not in matrices.REAL:
        raise NotImplementedError(
            f"lax.linalg.{name}: perturb_singular needs real numbers, got {d.short()}"
        )
    return ShapedArray(b.shape, b.dtype)


def _solve_lower(
    ctx: Any, dl: str, d: str, du: str, b: str, *, perturb_singular: bool
) -> str:
    line, out = ctx.avals_in[1], ctx.avals_in[3]
    if not out.size:
        return b
    if ctx.platform != "cpu":
        return _solve_off_cpu(ctx, (dl, d, du, b), perturb_singular)
    if perturb_singular:
        return lapack.call_kernel(
            ctx,
            "tridiagonal_solve",
            "tridiagonal_solve_perturbed_ffi",
            (dl, d, du, b),
            ctx.avals_in,
            (out,),
            rank=out.ndim,
            reused={},
        )[0]
    words = ShapedArray(out.shape[:-2], np.dtype(np.int32))
    *_, solution, info = lapack.call(
        ctx,
        "tridiagonal_solve",
        "gtsv",
        (dl, d, du, b),
        ctx.avals_in,
        (line, line, line, out, words),
        rank=out.ndim,
        reused={i: i for i in range(4)},
    )
    return lapack.nan_unless(ctx, info, "EQ", (solution,), (out,))[0]


def _solve_off_cpu(ctx: Any, operands: Sequence[str], perturb_singular: bool) -> str:
    line, out = ctx.avals_in[1], ctx.avals_in[3]
    on_gpu = ctx.platform in gpu.PLATFORMS
    if perturb_singular and not on_gpu:
        raise custom_calls.no_lowering(ctx, "tridiagonal_solve(perturb_singular=True)")
    if not perturb_singular and not (on_gpu and at_least(line.shape[-1], 3)):
        return _emit_elimination(ctx.block, operands, line, out)
    library, kernel, reused = "sparse", "gtsv2_ffi", {0: 3}
    if perturb_singular:
        library, kernel, reused = "plugin", "tridiagonal_solve_perturbed", {}
    return gpu.call(
        ctx,
        library,
        kernel,
        operands,
        ctx.avals_in,
        (out,),
        rank=out.ndim,
        reused=reused,
    )[0]


def _emit_elimination(block: Any, operands: Sequence[str], line: Any, out: Any) -> str:
    """Writes elimination without exchanges of rows, for two rows or no kernel.

    The way down divides by the pivots; the way up substitutes:
    with p_i = d_i - dl_i c_{i-1}: c_i = du_i / p_i, y_i = (b_i - dl_i y_{i-1}) / p_i,
    x_i = y_i - c_i x_{i+1}.
    """
    axis, size = line.ndim - 1, line.shape[-1]
    one = ShapedArray(line.shape[:-1], line.dtype)
    row = ShapedArray((*one.shape, out.shape[-1]), out.dtype)

    def op(inner: Any, name: str, x: str, y: str, aval: Any) -> str:
        return inner.elementwise(f"stablehlo.{name}", [x, y], aval)

    def wide(inner: Any, x: str) -> str:
        return inner.broadcast(x, one, row, range(axis))

    def down(inner: Any, i: str, state: list[str]) -> list[str]:
        dl, d, du, b, ratios, ratio, solution = state
        below, here, above = (
            loops.emit_at(inner, x, line, i, axis) for x in (dl, d, du)
        )
        right = loops.emit_at(inner, b, out, i, axis)
        taken = op(inner, "multiply", below, ratio, one)
        pivot = op(inner, "subtract", here, taken, one)
        ratio = op(inner, "divide", above, pivot, one)
        taken = op(inner, "multiply", wide(inner, below), solution, row)
        reduced = op(inner, "subtract", right, taken, row)
        solution = op(inner, "divide", reduced, wide(inner, pivot), row)
        b = loops.emit_set(inner, b, out, solution, i, axis)
        ratios = loops.emit_set(inner, ratios, line, ratio, i, axis)
        return [dl, d, du, b, ratios, ratio, solution]

    def up(inner: Any, i: str, state: list[str]) -> list[str]:
        b, ratios, solution = state
        last = inner.constant(size - 1, loops.COUNTER)
        i = op(inner, "subtract", last, i, loops.COUNTER)
        right = loops.emit_at(inner, b, out, i, axis)
        ratio = wide(inner, loops.emit_at(inner, ratios, line, i, axis))
        taken = op(inner, "multiply", ratio, solution, row)
        solution = op(inner, "subtract", right, taken, row)
        return [loops.emit_set(inner, b, out, solution, i, axis), ratios, solution]

    # What is outside of the matrix does not count, whatever it holds.
    first = block.splat(0, line)
    place = block.iota(axis, ShapedArray(line.shape, np.dtype(np.int32)))
    dl, d, du, b = operands
    dl = _emit_zero_at(block, dl, place, 0, first, line)
    du = _emit_zero_at(block, du, place, size - 1, first, line)
    start = [dl, d, du, b, first, block.splat(0, one), block.splat(0, row)]
    kinds = [line, line, line, out, line, one, row]
    done = loops.emit_counted(block, size, start, kinds, down)
    start, kinds = [done[3], done[4], block.splat(0, row)], [out, line, row]
    return loops.emit_counted(block, size, start, kinds, up)[0]


def _emit_zero_at(
    block: Any, x: str, places: str, place: int, zeros: str, aval: Any
) -> str:
    positions = ShapedArray(aval.shape, np.dtype(np.int32))
    flags = ShapedArray(aval.shape, np.dtype(np.bool_))
    there = block.splat(place, positions)
    outside = block.compare("EQ", places, there, positions, "SIGNED", flags)
    f, t = types.tensor_type(flags), types.tensor_type(aval)
    return block.emit(f"stablehlo.select {outside}, {zeros}, {x} : {f}, {t}")


def _apply(dl: Any, d: Any, du: Any, x: Any) -> Any:
    """The product of a matrix of three diagonals and `x`."""
    aval = matrices.aval_of(x)
    above, here, below = (_shift_elements(x, by, aval.ndim - 2) for by in (1, 0, -1))
    columns = aval.shape[-1]
    total = elementwise.mul(matrices.in_rows(d, columns), here)
    for diagonal, neighbours in ((dl, above), (du, below)):
        term = elementwise.mul(matrices.in_rows(diagonal, columns), neighbours)
        total = elementwise.add(total, term)
    return total


def _shift_elements(x: Any, by: int, axis: int) -> Any:
    """`x` moved along an axis, zeros following."""
    aval = matrices.aval_of(x)
    config = [(0, 0, 0)] * aval.ndim
    config[axis] = (by, -by, 0)
    return concatenation.pad(x, np.zeros((), aval.dtype)[()], config)


def _solve_jvp(primals: Any, tangents: Any, *, perturb_singular: bool) -> Any:
    """T dx = db - dT x."""
    out = tridiagonal_solve_p.bind(*primals, perturb_singular=perturb_singular)
    *lines, b_dot = tangents
    if any(type(t) is not Zero for t in lines):
        below, diagonal, above = (families.instantiate(t) for t in lines)
        change = _apply(below, diagonal, above, out)
        b_dot = families.add_tangents(b_dot, elementwise.neg(change))
    if type(b_dot) is Zero:
        return out, b_dot
    return out, tridiagonal_solve_p.bind(
        *primals[:3], b_dot, perturb_singular=perturb_singular
    )


def _solve_transpose(
    cts: Any, dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool
) -> Any:
    (ct,) = cts
    if type(b) is not Linear:
        raise NotImplementedError(
            "lax.linalg.tridiagonal_solve: it is linear only in b and cannot be "
            "transposed with respect to a diagonal; differentiate with olympus.grad "
            "or olympus.vjp"
        )
    if type(ct) is Zero:
        return [None, None, None, Zero(b.aval)]
    axis = matrices.aval_of(d).ndim - 1
    back = tridiagonal_solve_p.bind(
        _shift_elements(du, 1, axis),
        d,
        _shift_elements(dl, -1, axis),
        ct,
        perturb_singular=perturb_singular,
    )
    return [None, None, None, back]


def _solve_reference(
    dl: np.ndarray,
    d: np.ndarray,
    du: np.ndarray,
    b: np.ndarray,
    *,
    perturb_singular: bool,
) -> np.ndarray:
    size = d.shape[-1]
    whole = d[..., None] * np.eye(size)
    whole = whole + dl[..., None] * np.eye(size, k=-1)
    whole = whole + du[..., None] * np.eye(size, k=1)
    return np.linalg.solve(whole, b)


tridiagonal_solve_p: Primitive = Primitive(
    "tridiagonal_solve",
    shard=sharding_rules.leading,
    abstract=matrices.weak_as_operands(_solve_abstract),
    lower=_solve_lower,
    jvp=_solve_jvp,
    transpose=_solve_transpose,
    reference=_solve_reference,
    needs_full_build=True,
    batch=matrices.batch_of_stacks,
)


def tridiagonal_solve(
    dl: ArrayLike,
    d: ArrayLike,
    du: ArrayLike,
    b: Matrices,
    *,
    perturb_singular: bool = False,
) -> Array:
    """The X with `T X = b`, for matrices T of three diagonals.

    Args:
      dl: the diagonal below, [..., n]: dl[i] = T[i, i - 1]; the first is not read.
      d: the diagonal, [..., n].
      du: the diagonal above, [..., n]: du[i] = T[i, i + 1]; the last is not read.
      b: matrices [..., n, m].
      perturb_singular: replace each zero pivot by a tiny number; real dtypes
        only.

    Returns:
      An array of the shape and dtype of `b`; NaN where T is singular.

    Raises:
      TypeError: shapes or dtypes do not agree.

    Source: LAPACK, gtsv.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> d, zero = np.array([2.0, 4.0], "float32"), np.zeros(2, "float32")
      >>> print(linalg.tridiagonal_solve(zero, d, zero, np.ones((2, 1), "float32")))
      [[0.5 ]
       [0.25]]
    """
    return tridiagonal_solve_p.bind(
        dl, d, du, b, perturb_singular=bool(perturb_singular)
    )
