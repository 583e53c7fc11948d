"""Polynomials of one variable, elementwise, by Horner's rule.

W. G. Horner, A new method of solving numerical equations, 1819.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.control_flow import scan as scan_
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.lax import (
    concatenation,
    cumulative,
    families,
    shaping,
    sharding_rules,
    stacking,
)
from olympus._src.lax import elementwise as lax
from olympus._src.lax.families import ShapedArray


def _abstract(x: Any, coeffs: Any, *, unroll: int) -> Any:
    for aval in (x, coeffs):
        families.check_dtype("polynomial", aval, families.NUMERIC)
    if not coeffs.ndim or coeffs.shape[1:] not in ((), x.shape):
        raise TypeError(
            "lax.polynomial: coeffs must have shape (n,), or (n, *x.shape) for "
            f"coefficients of each element, got {coeffs.short()} for {x.short()}"
        )
    dtype = families.common_dtype("polynomial", (x, coeffs))
    return ShapedArray(x.shape, dtype, x.weak_type and coeffs.weak_type)


def _decompose(x: Any, coeffs: Any, *, unroll: int) -> Any:
    aval = avals.aval_of(coeffs)
    n = aval.shape[0]
    if n == 0:
        return families.full_like(x, 0)
    shape = avals.aval_of(x).shape
    if n > unroll:
        last = shaping.squeeze(concatenation.slice_in_dim(coeffs, n - 1, n), (0,))
        lower = shaping.rev(concatenation.slice_in_dim(coeffs, 0, n - 1), (0,))
        start = families.broadcast_to_shape(last, shape)
        return scan_.scan(
            lambda total, c: (lax.add(lax.mul(total, x), c), None),
            start,
            lower,
            unroll=unroll,
        )[0]
    *others, total = stacking.unstack(coeffs)
    for c in reversed(others):
        total = lax.add(lax.mul(total, x), c)
    return families.broadcast_to_shape(total, shape)


def _slope(coeffs: Any) -> Any:
    """Coefficients of the derivative."""
    aval = avals.aval_of(coeffs)
    n = aval.shape[0]
    powers = np.arange(1, n).astype(aval.dtype).reshape(n - 1, *[1] * (aval.ndim - 1))
    powers = np.broadcast_to(powers, (n - 1, *aval.shape[1:]))
    return lax.mul(concatenation.slice_in_dim(coeffs, 1, n), powers)


def _jvp(primals: Any, tangents: Any, *, unroll: int) -> Any:
    (x, coeffs), (tx, tc) = primals, tangents
    out = polynomial_p.bind(x, coeffs, unroll=unroll)
    total: Any = Zero(avals.aval_of(out).to_tangent())
    if type(tx) is not Zero and avals.aval_of(coeffs).shape[0] > 1:
        slope = polynomial_p.bind(x, _slope(coeffs), unroll=unroll)
        total = families.add_tangents(total, lax.mul(tx, slope))
    if type(tc) is not Zero:
        total = families.add_tangents(total, polynomial_p.bind(x, tc, unroll=unroll))
    return out, total


def _transpose(cts: Any, x: Any, coeffs: Any, *, unroll: int) -> Any:
    """The operation is linear in its coefficients."""
    (ct,) = cts
    if type(x) is Linear:
        raise TypeError(
            "lax.polynomial: a polynomial is not linear in its variable; only its "
            "coefficients can be transposed"
        )
    if type(ct) is Zero or not coeffs.aval.shape[0]:
        return [None, Zero(coeffs.aval)]
    n, shape = coeffs.aval.shape[0], avals.aval_of(x).shape
    x_axes = tuple(range(1, len(shape) + 1))
    one, ct, x = (
        families.broadcast_in_dim_p.bind(
            v,
            shape=(k, *shape),
            broadcast_dimensions=x_axes if avals.aval_of(v).shape == shape else (),
            sharding=None,
        )
        for v, k in ((families.scalar_like(x, 1), 1), (ct, n), (x, n - 1))
    )
    powers = cumulative.cumprod(concatenation.concatenate([one, x], 0), 0)
    terms = lax.mul(ct, powers)
    if coeffs.aval.ndim == 1:
        terms = families.reduce_sum_p.bind(terms, axes=x_axes)
    return [None, terms]


def _batch(axis: Any, args: Any, dims: Any, *, unroll: int) -> Any:
    (x, coeffs), (dx, dc) = args, dims
    of_each = avals.aval_of(coeffs).ndim - (dc is not None) > 1
    if dc is None and not of_each:
        return polynomial_p.bind(x, coeffs, unroll=unroll), dx
    x = families.at_front(axis, x, dx)
    shape = avals.aval_of(x).shape
    coeffs = families.move_axis(families.at_front(axis, coeffs, dc), 0, 1)
    if not of_each and len(shape) > 1:
        coeffs = families.broadcast_in_dim_p.bind(
            coeffs,
            shape=(avals.aval_of(coeffs).shape[0], *shape),
            broadcast_dimensions=(0, 1),
            sharding=None,
        )
    return polynomial_p.bind(x, coeffs, unroll=unroll), 0


polynomial_p = Primitive(
    "polynomial",
    shard=sharding_rules.polynomial,
    abstract=_abstract,
    decompose=_decompose,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
)


def polynomial(
    x: ArrayLike, coeffs: ArrayLike | Sequence[ArrayLike], *, unroll: int = 16
) -> Array:
    """A polynomial of each element: `coeffs[0] + coeffs[1] x + coeffs[2] x**2 + ...`.

    Args:
      x: array or number.
      coeffs: array [n], or a sequence of numbers, which are converted to the dtype of
        `x`; from the lowest degree to the highest.
      unroll: how many steps are written out; above that they are taken in a loop.

    Returns:
      Array of the shape and dtype of `x`; zeros if there are no coefficients.

    Raises:
      TypeError: `coeffs` has another shape.
      ValueError: `unroll` is below one.

    Source: Horner's rule.

    Example:
      >>> import numpy as np
      >>> from olympus import lax
      >>> lax.polynomial(np.float32(2.0), [1, 0, 3])
      Array(13., dtype=float32)
    """
    if unroll < 1:
        raise ValueError(f"lax.polynomial: unroll must be 1 or more, got {unroll}")
    aval = avals.aval_of(x)
    if isinstance(coeffs, (list, tuple)):
        if all(dtypes.is_python_scalar(c) for c in coeffs):
            coeffs = np.asarray(coeffs).astype(aval.dtype)
        else:
            coeffs = stacking.stack([lax.convert(c, aval.dtype) for c in coeffs])
    coeffs = lax.convert(coeffs, aval.dtype, aval.weak_type)
    return polynomial_p.bind(x, coeffs, unroll=int(unroll))
