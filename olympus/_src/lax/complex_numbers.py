"""Complex numbers, elementwise: their parts, conjugates and magnitudes."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Cost, Exact
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import elementwise_rules, families, sharding_rules
from olympus._src.lax.arithmetic import add, div, mul, neg
from olympus._src.lax.choice import select_n
from olympus._src.lax.comparison import eq, ge
from olympus._src.lax.families import ShapedArray, elementwise
from olympus._src.lowering import types


def _magnitude_dtype(x: Any, **params: Any) -> Any:
    return dtypes.real_dtype(x.dtype)


def _abs_lower(ctx: Any, x: str) -> str:
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    if dtypes.issubdtype(aval.dtype, np.unsignedinteger):
        return x
    if aval.dtype == out.dtype:
        return ctx.block.elementwise("stablehlo.abs", (x,), out)
    t = types.tensor_type
    return ctx.block.emit(f"stablehlo.abs {x} : ({t(aval)}) -> {t(out)}")


def _abs_derivative(t: Any, out: Any, x: Any) -> Any:
    if not dtypes.issubdtype(avals.aval_of(x).dtype, np.complexfloating):
        # By JAX's convention the derivative at 0 is 1.
        return select_n(ge(x, families.scalar_like(x, 0)), neg(t), t)
    zero, one = families.scalar_like(out, 0), families.scalar_like(out, 1)
    safe = select_n(eq(out, zero), out, one)
    product = add(mul(real(x), real(t)), mul(imag(x), imag(t)))
    return div(product, safe)


abs_p = elementwise(
    "abs",
    accepts=families.NUMERIC,
    lower=_abs_lower,
    out_dtype=_magnitude_dtype,
    reference=np.abs,
    derivatives=(_abs_derivative,),
    cost=Cost.BITS,
    may_make_nan=False,
    exact=Exact.NUMBERS,
)


def _part_lower(op: str) -> Any:
    def lower(ctx: Any, x: str) -> str:
        (aval,), (out,) = ctx.avals_in, ctx.avals_out
        t = types.tensor_type
        return ctx.block.emit(f"{op} {x} : ({t(aval)}) -> {t(out)}")

    return lower


COMPLEX_ONLY = (families.COMPLEX,)
real_p = elementwise(
    "real",
    shard=sharding_rules.linear_elementwise,
    accepts=COMPLEX_ONLY,
    lower=_part_lower("stablehlo.real"),
    out_dtype=_magnitude_dtype,
    reference=np.real,
    derivatives=(lambda t, out, x: real(t),),
    transpose=lambda cts, x: [
        elementwise_rules.map_zero(
            lambda ct: complex_(ct, families.scalar_like(ct, 0)), cts[0], x
        )
    ],
    cost=Cost.CHEAP,
    may_make_nan=False,
    taylor=families.linear_series(),
    exact=Exact.MOVES,
)
imag_p = elementwise(
    "imag",
    accepts=COMPLEX_ONLY,
    lower=_part_lower("stablehlo.imag"),
    out_dtype=_magnitude_dtype,
    reference=np.imag,
    derivatives=(lambda t, out, x: imag(t),),
    transpose=lambda cts, x: [
        elementwise_rules.map_zero(
            lambda ct: complex_(families.scalar_like(ct, 0), neg(ct)), cts[0], x
        )
    ],
    cost=Cost.CHEAP,
    may_make_nan=False,
    taylor=families.linear_series(),
    exact=Exact.MOVES,
)


def _complex_dtype(x: Any, y: Any) -> Any:
    return _of_parts("complex", x)


def _of_parts(what: str, x: Any) -> Any:
    """The complex dtype of parts of a dtype."""
    if x.dtype.itemsize < 4:
        raise TypeError(
            f"lax.{what}: real operands must be float32 or float64, got {x.short()}; "
            "convert them with lax.convert_element_type"
        )
    return dtypes.complex_dtype(x.dtype)


def _complex_lower(ctx: Any, x: str, y: str) -> str:
    out = types.tensor_type(ctx.avals_out[0])
    return ctx.block.emit(f"stablehlo.complex {x}, {y} : {out}")


def _complex_transpose(cts: Any, x: Any, y: Any) -> Any:
    maps = real, lambda ct: neg(imag(ct))
    return elementwise_rules.transpose_each(cts, (x, y), *maps)


complex_p = elementwise(
    "complex",
    accepts=families.FLOAT,
    lower=_complex_lower,
    out_dtype=_complex_dtype,
    reference=lambda x, y: x + 1j * y,
    derivatives=(
        lambda t, out, x, y: complex_(t, families.scalar_like(t, 0)),
        lambda t, out, x, y: complex_(families.scalar_like(t, 0), t),
    ),
    transpose=_complex_transpose,
    cost=Cost.CHEAP,
    may_make_nan=False,
    taylor=families.linear_series(),
)


def _conj_lower(ctx: Any, x: str, *, input_dtype: Any = None) -> str:
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    part = ShapedArray(aval.shape, dtypes.real_dtype(out.dtype))
    t, p = types.tensor_type(aval), types.tensor_type(part)
    if aval.dtype == part.dtype:
        zero = ctx.block.splat(0, part)
        return ctx.block.emit(
            f"stablehlo.complex {x}, {zero} : {types.tensor_type(out)}"
        )
    re = ctx.block.emit(f"stablehlo.real {x} : ({t}) -> {p}")
    im = ctx.block.emit(f"stablehlo.imag {x} : ({t}) -> {p}")
    minus = ctx.block.elementwise("stablehlo.negate", (im,), part)
    return ctx.block.emit(f"stablehlo.complex {re}, {minus} : {types.tensor_type(out)}")


def _conj_transpose(cts: Any, x: Any, *, input_dtype: Any = None) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval)]
    if dtypes.issubdtype(x.aval.dtype, np.complexfloating):
        return [conj(ct)]
    return [real(ct)]


conj_p = elementwise(
    "conj",
    accepts=families.FLOAT_COMPLEX,
    lower=_conj_lower,
    out_dtype=lambda x, *, input_dtype=None: _of_parts("conj", x),
    reference=lambda x, *, input_dtype=None: np.conj(x),
    derivatives=(lambda t, out, x, *, input_dtype=None: conj(t),),
    transpose=_conj_transpose,
    cost=Cost.CHEAP,
    may_make_nan=False,
    taylor=families.linear_series(),
)


def real(x: ArrayLike) -> Array:
    """Real part, elementwise.

    Args:
      x: array or scalar, complex.

    Returns:
      Array of the shape of `x`, of the parts' floating dtype.

    Source: `stablehlo.real`.

    Example:
      >>> from olympus import lax
      >>> lax.real(1 + 2j)
      Array(1., dtype=float32, weak_type=True)
    """
    return real_p.bind(x)


def imag(x: ArrayLike) -> Array:
    """Imaginary part, elementwise.

    Args:
      x: array or scalar, complex.

    Returns:
      Array of the shape of `x`, of the parts' floating dtype.

    Source: `stablehlo.imag`.

    Example:
      >>> from olympus import lax
      >>> lax.imag(1 + 2j)
      Array(2., dtype=float32, weak_type=True)
    """
    return imag_p.bind(x)


def complex_(x: ArrayLike, y: ArrayLike) -> Array:
    """The complex number `x + iy`, elementwise.

    Args:
      x, y: arrays of one shape and dtype, floating; scalars are broadcast.

    Returns:
      Complex array of the operands' shape.

    Source: `stablehlo.complex`.

    Example:
      >>> from olympus import lax
      >>> lax.complex(1.0, 2.0)
      Array(1.+2.j, dtype=complex64, weak_type=True)
    """
    return complex_p.bind(x, y)


def abs_(x: ArrayLike) -> Array:
    """Magnitude, elementwise; real for complex input.

    Args:
      x: array or scalar, of numbers.

    Returns:
      Array of the shape of `x`; of its dtype, or that of its parts.

    Source: `stablehlo.abs`.

    Example:
      >>> from olympus import lax
      >>> lax.abs(3 + 4j)
      Array(5., dtype=float32, weak_type=True)
    """
    return abs_p.bind(x)


def conj(x: ArrayLike) -> Array:
    """Complex conjugate, elementwise; a real input becomes complex.

    Args:
      x: array or scalar, floating or complex.

    Returns:
      Complex array of the shape of `x`.

    Source: `stablehlo.complex`.

    Example:
      >>> from olympus import lax
      >>> lax.conj(1 + 2j)
      Array(1.-2.j, dtype=complex64, weak_type=True)
    """
    return conj_p.bind(x, input_dtype=avals.aval_of(x).dtype)
