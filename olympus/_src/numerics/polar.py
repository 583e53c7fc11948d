"""Polar decomposition by a dynamically weighted iteration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.control_flow import while_loop
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.interpreters import evaluate
from olympus._src.lax import concatenation, elementwise, reductions, shaping
from olympus._src.lax.linalg import (
    cholesky_decomposition,
    matrices,
    qr_decomposition,
    triangular,
)

_MOST_STEPS = 10
# Above this weight the step by Cholesky's factor loses too many digits.
_WEIGHT_FOR_QR = 100.0


def qdwh(
    x: ArrayLike,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[ArrayLike, ArrayLike] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """The polar decomposition `x = U H`: orthonormal columns times a positive matrix.

    Args:
      x: a matrix [m, n] with m >= n, floating or complex.
      is_hermitian: promises that `x` is Hermitian; U is then too.
      max_iterations: the most steps that are taken; default 10.
      eps: the required precision; default the dtype's spacing at 1.
      dynamic_shape: how many rows and columns count; what lies beyond is taken as zero.

    Returns:
      U [m, n]; H [n, n], Hermitian; how many steps were taken; whether they converged.

    Raises:
      ValueError: `x` is not a matrix, or has fewer rows than columns.
      TypeError: the dtype is of the wrong kind.

    Source: Nakatsukasa, Bai and Gygi, Optimizing Halley's iteration for computing the
    matrix polar decomposition, 2010.

    Example:
      >>> import numpy as np
      >>> from olympus.lax import linalg
      >>> u, h, steps, converged = linalg.qdwh(np.diag([2.0, -3.0]).astype("float32"))
      >>> print(u)
      [[ 1.  0.]
       [ 0. -1.]]
    """
    aval = avals.aval_of(x)
    matrices.check_matrices("qdwh", aval)
    if aval.ndim != 2 or aval.shape[0] < aval.shape[1]:
        raise ValueError(
            "lax.linalg.qdwh: x must be one matrix with at least as many rows as "
            f"columns, got {aval.short()}; take its adjoint, or use vmap for several"
        )
    steps = _MOST_STEPS if max_iterations is None else int(max_iterations)
    precision = float(dtypes.finfo(aval.dtype).eps if eps is None else eps)
    if dynamic_shape is not None:
        x = _mask_outside(x, dynamic_shape)
    options = {"is_hermitian": bool(is_hermitian), "steps": steps}
    return _decompose(x, precision=precision, **options)


@evaluate.fuse
def _decompose(x: Any, *, is_hermitian: bool, steps: int, precision: float) -> Any:
    u, num_steps, converged = _iterate(x, is_hermitian, steps, precision)
    # One step of Newton and Schulz makes the columns orthonormal to the last digit.
    gram = matrices.matmul(matrices.adjoint(u), u)
    u = elementwise.sub(
        matrices.scale_by_number(u, 1.5),
        matrices.matmul(matrices.scale_by_number(u, 0.5), gram),
    )
    h = matrices.hermitian_part(matrices.matmul(matrices.adjoint(u), x))
    return u, h, num_steps, converged


def _mask_outside(x: Any, shape: tuple[Any, Any]) -> Any:
    """`x` with zeros outside of its first rows and columns."""
    full = avals.aval_of(x).shape
    mask: Any = None
    for axis, size in enumerate(shape):
        place = shaping.broadcasted_iota(np.int32, full, axis)
        limit = elementwise.convert(size, np.dtype(np.int32))
        axis_mask = elementwise.lt(place, limit)
        mask = axis_mask if mask is None else elementwise.bitwise_and(mask, axis_mask)
    return elementwise.select(mask, x, shaping.full_like(x, 0))


def _weights(precision: float) -> tuple[tuple[float, float, float], ...]:
    """The weights (a, b, c) of steps, from a lower bound of singular values.

    Each raises the bound by the best rational function of its degree, until it is 1.
    """
    weights: list[tuple[float, float, float]] = []
    bound = precision
    while bound + 10 * precision < 1 and len(weights) < _MOST_STEPS:
        square = bound * bound
        d = (4 * (1 - square) / square**2) ** (1 / 3)
        root = math.sqrt(1 + d)
        inner = 8 - 4 * d + 8 * (2 - square) / (square * root)
        a = root + math.sqrt(inner) / 2
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        weights.append((a, b, c))
        bound = min(bound * (a + b * square) / (1 + c * square), 1.0)
    return tuple(weights)


def _iterate(x: Any, is_hermitian: bool, steps: int, precision: float) -> Any:
    u = _scale_down(x)
    real = matrices.real_dtype(avals.aval_of(x).dtype)
    enough = np.asarray((5 * precision) ** (1 / 3), real)[()]
    has_changed: Any = np.True_
    first = _weights(precision)[:steps]
    for weights in first:
        u, has_changed = _step(u, weights, is_hermitian, enough)

    def goes_on(state: Any) -> Any:
        num_steps, _, has_changed = state
        return elementwise.bitwise_and(has_changed, elementwise.lt(num_steps, steps))

    def once_more(state: Any) -> Any:
        num_steps, u, _ = state
        u, has_changed = _step(u, (3.0, 1.0, 3.0), is_hermitian, enough)
        return elementwise.add(num_steps, 1), u, has_changed

    start = (len(first), u, has_changed)
    num_steps, u, has_changed = while_loop.while_loop(goes_on, once_more, start)
    return u, num_steps, elementwise.bitwise_not(has_changed)


def _scale_down(x: Any) -> Any:
    """`x` over an upper bound of its largest singular value."""
    size = elementwise.abs_(x)
    sums = [reductions.reduce_sum(size, (axis,)) for axis in (0, 1)]
    bounds = [
        reductions.reduce_max(s, (0,))
        if avals.aval_of(s).size
        else shaping.full((), 0, s.dtype)
        for s in sums
    ]
    bound = elementwise.mul(*[elementwise.sqrt(b) for b in bounds])
    zero = elementwise.eq(bound, shaping.full_like(bound, 0))
    bound = elementwise.select(zero, shaping.full_like(bound, 1), bound)
    return elementwise.div(x, elementwise.convert(bound, avals.aval_of(x).dtype))


def _step(u: Any, weights: Any, is_hermitian: bool, enough: Any) -> Any:
    """The next iterate, and whether it differs from the last."""
    by_qr = weights[2] > _WEIGHT_FOR_QR
    next_u = (_step_by_qr if by_qr else _step_by_cholesky)(u, *weights)
    if is_hermitian:
        next_u = matrices.hermitian_part(next_u)
    change = elementwise.abs_(elementwise.sub(next_u, u))
    squares = reductions.reduce_sum(elementwise.square(change), (0, 1))
    return next_u, elementwise.gt(elementwise.sqrt(squares), enough)


def _step_by_qr(u: Any, a: float, b: float, c: float) -> Any:
    """(b / c) u + (a - b / c) / sqrt(c) Q1 Q2^H, with Q of [sqrt(c) u; 1]."""
    rows, columns = avals.aval_of(u).shape
    unit = matrices.identity((columns, columns), avals.aval_of(u).dtype)
    stacked = concatenation.concatenate(
        [matrices.scale_by_number(u, math.sqrt(c)), unit], 0
    )
    q, _ = qr_decomposition.qr(stacked, full_matrices=False)
    above, below = matrices.rows(q, 0, rows), matrices.rows(q, rows, rows + columns)
    product = matrices.matmul(above, matrices.adjoint(below))
    weight = (a - b / c) / math.sqrt(c)
    return elementwise.add(
        matrices.scale_by_number(u, b / c), matrices.scale_by_number(product, weight)
    )


def _step_by_cholesky(u: Any, a: float, b: float, c: float) -> Any:
    """(b / c) u + (a - b / c) u (1 + c u^H u)^-1."""
    gram = matrices.matmul(matrices.adjoint(u), u)
    total = elementwise.add(
        matrices.scale_by_number(gram, c), matrices.identity_like(gram)
    )
    factor = cholesky_decomposition.cholesky(total)
    half = triangular.triangular_solve(
        factor, u, lower=True, transpose_a=True, conjugate_a=True
    )
    whole = triangular.triangular_solve(factor, half, lower=True)
    return elementwise.add(
        matrices.scale_by_number(u, b / c), matrices.scale_by_number(whole, a - b / c)
    )
