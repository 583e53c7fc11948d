"""Factorizations of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.primitive import Primitive
from olympus._src.lax import elementwise, families, joining, shaping
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import types

_FILE = "lax/linalg.py"
_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def _check_matrices(name: str, x: Any, square: bool = False) -> None:
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise ValueError(
            f"lax.linalg.{name}: the operand must hold {kind} in its last two axes, "
            f"got {x.short()}; reshape it"
        )
    if x.dtype.name not in _LETTERS:
        raise TypeError(
            f"lax.linalg.{name}: does not accept dtype {x.dtype}, of {x.short()}; "
            "convert it to float32 or float64 (complex64, complex128)"
        )


def _by_matrix(p: Primitive) -> Any:
    """The batching rule of operations that work on the last two axes."""

    def batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
        out = p.bind(families.at_front(axis, args[0], dims[0]), **params)
        return out, ([0] * len(out) if p.multiple_results else 0)

    return batch


def _lower_triangle(x: Any, keep: bool) -> Any:
    """`x` with zeros above its diagonal; or below it, where `keep` is off."""
    aval = avals.aval_of(x)
    row, column = (
        shaping.broadcasted_iota("int32", aval.shape, axis)
        for axis in (aval.ndim - 2, aval.ndim - 1)
    )
    inside = elementwise.ge(row, column) if keep else elementwise.le(row, column)
    return elementwise.select(inside, x, shaping.full_like(x, 0))


# -- Cholesky --------------------------------------------------------------------------


def _cholesky_abstract(x: Any) -> Any:
    _check_matrices("cholesky", x, square=True)
    return x


def _cholesky_lower(ctx: Any, x: str) -> str:
    t = types.tensor_type(ctx.avals_out[0])
    return ctx.block.emit(f"stablehlo.cholesky {x}, lower = true : {t}")


cholesky_p: Primitive = Primitive(
    "cholesky",
    abstract=_cholesky_abstract,
    lower=_cholesky_lower,
    reference=np.linalg.cholesky,
    file=_FILE,
)
cholesky_p.batch = _by_matrix(cholesky_p)


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

    Source: `stablehlo.cholesky`.
    """
    if symmetrize_input:
        aval = avals.aval_of(x)
        _check_matrices("cholesky", aval, square=True)
        order = (*range(aval.ndim - 2), aval.ndim - 1, aval.ndim - 2)
        mirrored = shaping.transpose(x, order)
        if aval.dtype.kind == "c":
            mirrored = elementwise.conj(mirrored)
        two = np.asarray(2, aval.dtype)[()]
        x = elementwise.div(elementwise.add(x, mirrored), two)
    return _lower_triangle(cholesky_p.bind(x), keep=True)


# -- QR --------------------------------------------------------------------------------


def _qr_abstract(x: Any, *, full_matrices: bool) -> Any:
    _check_matrices("qr", x)
    *batch, rows, columns = x.shape
    inner = rows if full_matrices else min(rows, columns)
    return (
        ShapedArray((*batch, rows, inner), x.dtype),
        ShapedArray((*batch, inner, columns), x.dtype),
    )


def _qr_lower(ctx: Any, x: str, *, full_matrices: bool) -> list[str]:
    """LAPACK's two steps: reflections and R in one matrix, then Q from these."""
    block = ctx.block
    (aval,), (q_aval, r_aval) = ctx.avals_in, ctx.avals_out
    *batch, rows, columns = aval.shape
    letter = _LETTERS[aval.dtype.name]
    factors = ShapedArray((*batch, min(rows, columns)), aval.dtype)
    packed, scales = _lapack(
        ctx, f"lapack_{letter}geqrf_ffi", (x,), (aval,), (aval, factors)
    )
    inner = q_aval.shape[-1]
    wide = _resized(block, packed, aval, inner)
    name = f"lapack_{letter}{'un' if letter in 'cz' else 'or'}gqr_ffi"
    (q,) = _lapack(ctx, name, (wide, scales), (q_aval, factors), (q_aval,))
    starts, limits = [0] * aval.ndim, [*batch, inner, columns]
    packed_r = joining.emit_slice(ctx, packed, aval, r_aval, starts, limits)
    return [q, packed_r]


def _resized(block: Any, x: str, aval: Any, columns: int) -> str:
    """`x` with columns cut off, or columns of zeros added."""
    out = ShapedArray((*aval.shape[:-1], columns), aval.dtype)
    if columns == aval.shape[-1]:
        return x
    low = [0] * aval.ndim
    high = [0] * (aval.ndim - 1) + [columns - aval.shape[-1]]
    zero = block.constant(0, ShapedArray((), aval.dtype))
    t = types.tensor_type
    return block.emit(
        f"stablehlo.pad {x}, {zero}, low = {types.int_list(low)}, high = "
        f"{types.int_list(high)}, interior = {types.int_list(low)} : ({t(aval)}, "
        f"{t(ShapedArray((), aval.dtype))}) -> {t(out)}"
    )


def _lapack(ctx: Any, name: str, operands: Any, in_avals: Any, out_avals: Any) -> Any:
    """A call of a kernel, which takes matrices column by column."""
    if ctx.platform != "cpu":
        raise NotImplementedError(
            f"lax.linalg.qr: there is no lowering for platform {ctx.platform}; move "
            "the operand to the CPU with olympus.device_put"
        )
    rank = in_avals[0].ndim
    operand_layouts, result_layouts = (
        "[" + ", ".join([_layout(a.ndim, a.ndim == rank) for a in group]) + "]"
        for group in (in_avals, out_avals)
    )
    attributes = (
        f"call_target_name = {types.string(name)}, api_version = 4 : i32, "
        f"backend_config = {{}}, operand_layouts = {operand_layouts}, "
        f"result_layouts = {result_layouts}"
    )
    return ctx.block.op(
        "stablehlo.custom_call", operands, in_avals, out_avals, attributes
    )


def _layout(rank: int, is_matrix: bool) -> str:
    """Axes from the fastest to the slowest; columns of matrices lie together."""
    order = list(range(rank - 1, -1, -1))
    if is_matrix:
        order[:2] = order[1::-1]
    return f"dense<{types.int_list(order)}> : tensor<{rank}xindex>"


qr_p: Primitive = Primitive(
    "qr",
    multiple_results=True,
    abstract=_qr_abstract,
    lower=_qr_lower,
    file=_FILE,
)
qr_p.batch = _by_matrix(qr_p)


def qr(x: Any, *, full_matrices: bool = True) -> tuple[Any, Any]:
    """Q with orthonormal columns and R upper triangular, with `Q R = x`.

    Args:
      x: matrices [..., m, n], floating or complex.
      full_matrices: whether Q is square, [..., m, m]; otherwise it has min(m, n)
        columns.

    Returns:
      Q and R.

    Raises:
      ValueError: `x` has fewer than two axes.
      TypeError: the dtype is of another kind.

    Source: LAPACK, geqrf and orgqr.
    """
    q, packed = qr_p.bind(x, full_matrices=bool(full_matrices))
    return q, _lower_triangle(packed, keep=False)
