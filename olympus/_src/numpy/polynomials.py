"""Polynomials as vectors of coefficients, highest power first."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from olympus._src.control_flow import scan
from olympus._src.core.array_type import Array, ArrayLike, OptionalArray
from olympus._src.core.sizes import is_symbolic
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import concatenation, shaping, stacking
from olympus._src.lax import elementwise as lax
from olympus._src.lax.sizes import fits_shape
from olympus._src.numpy import (
    arithmetic,
    creation,
    decompositions,
    insertion,
    manipulation,
    promotion,
    signal,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike


def polyval(p: ArrayLike, x: ArrayLike, *, unroll: int = 16) -> Array:
    """The values of a polynomial.

    Args:
      p: vector of coefficients, highest power first; or one for each element of `x`,
        along its first axis.
      x: where it is evaluated.
      unroll: has no effect on the result.

    Source: NumPy, `numpy.polyval`; Horner's rule.

    Example:
      >>> jnp.polyval(jnp.array([1, 2, 3]), 10)
      Array(123, dtype=int32)
    """
    del unroll
    check_arraylike("polyval", p, x)
    return _polyval(p, x)


@promotion.program(2, name="polyval")
def _polyval(p: Any, x: Any) -> Any:
    p, x = promotion.promote_dtypes(p, x)
    shape = promotion.result_shape("polyval", [aval_of(x).shape, aval_of(p).shape[1:]])
    total = promotion.full_shape(promotion.scalar(0, x), shape)
    x = promotion.full_shape(x, shape)

    def step(total: Any, c: Any) -> Any:
        return arithmetic.add(arithmetic.multiply(total, x), c), None

    if is_symbolic(aval_of(p).shape[0]):
        total, _ = scan.scan(step, total, p)
        return promotion.strong(total)
    for c in stacking.unstack(p, 0) if aval_of(p).shape[0] else ():
        total, _ = step(total, c)
    return promotion.strong(total)


@promotion.program(2, name="polyadd")
def _polyadd(a1: Any, a2: Any) -> Any:
    a1, a2 = promotion.promote_dtypes(
        *[shaping.broadcast_to_rank(x, max(1, aval_of(x).ndim)) for x in (a1, a2)]
    )
    shapes = _match_shapes(aval_of(a1).shape, aval_of(a2).shape)
    a1, a2 = map(promotion.broadcast_to_shape, (a1, a2), shapes)
    n = max(aval_of(a1).shape[0], aval_of(a2).shape[0])
    a1, a2 = (_pad_powers(x, n) for x in (a1, a2))
    return lax.add(a1, a2)


def _pad_powers(x: Any, count: int) -> Any:
    """The coefficients of `count` powers along the first axis."""
    shape = aval_of(x).shape
    widths = [(count - shape[0], 0, 0), *[(0, 0, 0)] * (len(shape) - 1)]
    return concatenation.pad(x, promotion.scalar(0, x), widths)


def _check_powers(name: str, a1: Any, a2: Any) -> None:
    check_arraylike(name, a1, a2)
    shapes = [aval_of(x).shape for x in (a1, a2)]
    if not _match_shapes(*[shape or (1,) for shape in shapes]):
        raise ValueError(
            f"numpy.{name}: arrays of polynomials must have equal shapes but for the "
            "first axis, or the one of fewer powers must broadcast to the last powers "
            f"of the other, got {shapes[0]} and {shapes[1]}; broadcast them first"
        )


def _match_shapes(*shapes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The shapes of two arrays of as many polynomials; none if they do not fit.

    An array of fewer powers is added to the last ones of the other, and broadcasts to
    these as NumPy has it.

    Args:
      *shapes: two, of one axis at least.
    """
    first, second = shapes
    if first[1:] == second[1:]:
        return shapes
    as_many = (*first[:1], *second[1:]), (*second[:1], *first[1:])
    if first[0] <= second[0] and fits_shape(first, as_many[0]):
        return as_many[0], second
    if second[0] <= first[0] and fits_shape(second, as_many[1]):
        return first, as_many[1]
    return ()


@direct("polyadd", 2)
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The sum of two polynomials.

    Args:
      a1, a2: vectors of coefficients, highest power first; further axes are for
        polynomials side by side. What has fewer powers broadcasts to the last powers
        of the other, as a constant to many polynomials.

    Source: NumPy, `numpy.polyadd`.

    Example:
      >>> jnp.polyadd(jnp.array([1, 2]), jnp.array([3, 4, 5]))
      Array([3, 5, 7], dtype=int32)
    """
    _check_powers("polyadd", a1, a2)
    return _polyadd(a1, a2)


@direct("polysub", 2)
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The difference of two polynomials.

    Args:
      a1, a2: vectors of coefficients, highest power first; further axes are for
        polynomials side by side. What has fewer powers broadcasts to the last powers
        of the other, as a constant to many polynomials.

    Source: NumPy, `numpy.polysub`.

    Example:
      >>> jnp.polysub(jnp.array([1, 2]), jnp.array([3, 4, 5]))
      Array([-3, -3, -3], dtype=int32)
    """
    _check_powers("polysub", a1, a2)
    return _polysub(a1, a2)


@promotion.program(2, name="polysub")
def _polysub(a1: Any, a2: Any) -> Any:
    a1, a2 = promotion.promote_dtypes(a1, a2)
    return _polyadd(a1, arithmetic.negative(a2))


def polymul(a1: ArrayLike, a2: ArrayLike, *, trim_leading_zeros: bool = False) -> Array:
    """The product of two polynomials.

    Differs from NumPy: leading zeros are kept, since how many there are may be unknown,
    unless `trim_leading_zeros` is set.

    Args:
      a1, a2: vectors of coefficients, highest power first.
      trim_leading_zeros: leave out leading zeros first; needs known values.

    Source: NumPy, `numpy.polymul`.

    Example:
      >>> jnp.polymul(jnp.array([1, 2]), jnp.array([1, -2]))
      Array([ 1.,  0., -4.], dtype=float32)
    """
    check_arraylike("polymul", a1, a2)
    if trim_leading_zeros:
        a1, a2 = (insertion.trim_zeros(x, "f") for x in (a1, a2))
    x, y = (
        manipulation.atleast_1d(a)
        if aval_of(a).size
        else creation.zeros(1, aval_of(a).dtype)
        for a in (a1, a2)
    )
    return signal.convolve(x, y)


def polydiv(
    u: ArrayLike, v: ArrayLike, *, trim_leading_zeros: bool = False
) -> tuple[Array, Array]:
    """The quotient and remainder of two polynomials.

    Differs from NumPy: leading zeros of the remainder are kept, so it has the size of
    `u`, unless `trim_leading_zeros` is set.

    Args:
      u, v: vectors of coefficients, highest power first.
      trim_leading_zeros: leave out leading zeros of the remainder; needs known values.

    Raises:
      IndexError: `v` is empty.

    Source: NumPy, `numpy.polydiv`.

    Example:
      >>> jnp.polydiv(jnp.array([1.0, 0.0, -4.0]), jnp.array([1.0, 2.0]))
      (Array([ 1., -2.], dtype=float32), Array([0., 0., 0.], dtype=float32))
    """
    check_arraylike("polydiv", u, v)
    if 0 in aval_of(v).shape:
        raise IndexError(
            "numpy.polydiv: v must have a leading coefficient, got "
            f"{aval_of(v).short()}"
        )
    quotient, remainder = _polydiv(u, v)
    if trim_leading_zeros:
        remainder = insertion.trim_zeros(remainder, "f")
    return quotient, remainder


@promotion.program(2, name="polydiv")
def _polydiv(u: Any, v: Any) -> Any:
    u, v = promotion.promote_inexact(u, v)
    m, n = aval_of(u).shape[0] - 1, aval_of(v).shape[0] - 1
    if m < n:
        return promotion.full_shape(promotion.scalar(0, u), (1,)), u
    lead = concatenation.slice_in_dim(v, 0, 1)
    parts = []
    for k in range(m - n + 1):
        d = lax.div(concatenation.slice_in_dim(u, k, k + 1), lead)
        parts.append(d)
        shifted = concatenation.pad(
            lax.mul(promotion.full_shape(d, (n + 1,)), v),
            promotion.scalar(0, v),
            [(k, m - n - k, 0)],
        )
        u = lax.sub(u, shifted)
    return concatenation.concatenate(parts, 0), u


@direct("polyder")
def polyder(p: ArrayLike, m: int = 1) -> Array:
    """The derivative of a polynomial.

    Differs from NumPy: integers give floats.

    Args:
      p: vector of coefficients, highest power first.
      m: how many times.

    Source: NumPy, `numpy.polyder`.

    Example:
      >>> jnp.polyder(jnp.array([1, 2, 3]))
      Array([2., 2.], dtype=float32)
    """
    check_arraylike("polyder", p)
    times = operator.index(m)
    if times < 0:
        raise ValueError("Order of derivative must be positive; numpy.polyder")
    (out,) = promotion.promote_inexact(creation.asarray(p))
    for _ in range(times):
        out = _derivative(out)
    return out


@promotion.program(1, name="polyder")
def _derivative(p: Any) -> Any:
    (p,) = promotion.promote_inexact(p)
    n = aval_of(p).shape[0]
    powers = np.arange(n - 1, 0, -1).astype(aval_of(p).dtype)
    return lax.mul(concatenation.slice_in_dim(p, 0, max(n - 1, 0)), powers)


@direct("polyint")
def polyint(p: ArrayLike, m: int = 1, k: OptionalArray = None) -> Array:
    """The integral of a polynomial.

    Differs from NumPy: integers give floats where `m` is 0 too.

    Args:
      p: vector of coefficients, highest power first.
      m: how many times.
      k: constants of integration, one for each time; default 0.

    Source: NumPy, `numpy.polyint`.

    Example:
      >>> jnp.polyint(jnp.array([2.0, 3.0]))
      Array([1., 3., 0.], dtype=float32)
    """
    check_arraylike("polyint", p)
    times = operator.index(m)
    if times < 0:
        raise ValueError(
            "Order of integral must be positive (see polyder); numpy.polyint"
        )
    if k is None and times == 1:
        return _integral(p)
    constants = [0] * times if k is None else _constants(k)
    constants = constants * times if len(constants) == 1 else constants
    if len(constants) != times:
        raise ValueError(
            "k must be a scalar or a rank-1 array of length 1 or m; numpy.polyint"
        )
    out = creation.asarray(p)
    if not constants:
        (out,) = promotion.promote_inexact(out)
    for c in constants:
        out = _integral(out, c)
    return out


def _constants(k: Any) -> list[Any]:
    """Numbers, or a vector of them, as a list."""
    if isinstance(k, (list, tuple)):
        return list(k)
    check_arraylike("polyint", k)
    return list(stacking.unstack(shaping.broadcast_to_rank(k, 1), 0))


@promotion.program(2, name="polyint")
def _integral(p: Any, c: Any = 0) -> Any:
    p, c = promotion.promote_mixed(p, c)
    n = aval_of(p).shape[0]
    powers = np.arange(n, 0, -1).astype(aval_of(p).dtype)
    last = promotion.full_shape(lax.convert(c, aval_of(p).dtype, False), (1,))
    return concatenation.concatenate([lax.div(p, powers), last], 0)


@direct("poly")
def poly(seq_of_zeros: ArrayLike) -> Array:
    """The polynomial that has given roots and a leading coefficient of one.

    Differs from NumPy: the result is complex for complex roots that come in pairs, and
    for any matrix, since the values may be unknown.

    Args:
      seq_of_zeros: vector of roots; or a square matrix, whose eigenvalues they are.

    Raises:
      ValueError: it is neither.

    Source: NumPy, `numpy.poly`.

    Example:
      >>> jnp.poly(jnp.array([1.0, 2.0]))
      Array([ 1., -3.,  2.], dtype=float32)
    """
    check_arraylike("poly", seq_of_zeros)
    shape = aval_of(seq_of_zeros).shape
    if len(shape) == 2 and shape[0] == shape[1] > 0:
        seq_of_zeros = decompositions.eigvals(seq_of_zeros)
    elif len(shape) > 1:
        raise ValueError(
            "numpy.poly: seq_of_zeros must be a vector of roots or a square matrix, "
            f"got {aval_of(seq_of_zeros).short()}"
        )
    if shape == (0,):
        (one,) = promotion.promote_inexact(seq_of_zeros)
        return creation.ones((), aval_of(one).dtype)
    return _poly(seq_of_zeros)


@promotion.program(1, name="poly")
def _poly(roots: Any) -> Any:
    (roots,) = promotion.promote_inexact(shaping.broadcast_to_rank(roots, 1))
    n = aval_of(roots).shape[0]
    out = promotion.full_shape(promotion.scalar(1, roots), (1,))
    zero = promotion.scalar(0, roots)
    for i in range(n):
        root = concatenation.slice_in_dim(roots, i, i + 1)
        shifted = concatenation.pad(out, zero, [(0, 1, 0)])
        scaled = lax.mul(out, promotion.full_shape(root, (i + 1,)))
        out = lax.sub(shifted, concatenation.pad(scaled, zero, [(1, 0, 0)]))
    return promotion.strong(out)


@direct("vander")
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Array:
    """The matrix of powers of a vector's elements.

    Args:
      x: vector.
      N: number of columns; default the number of elements.
      increasing: powers rise from left to right.

    Source: NumPy, `numpy.vander`.

    Example:
      >>> jnp.vander(jnp.array([2, 3]), 3)
      Array([[4, 2, 1],
             [9, 3, 1]], dtype=int32)
    """
    check_arraylike("vander", x)
    if aval_of(x).ndim != 1:
        raise ValueError(
            f"x must be a one-dimensional array; numpy.vander got {aval_of(x).short()}"
        )
    columns = aval_of(x).shape[0] if N is None else operator.index(N)
    if columns < 0:
        raise ValueError("N must be nonnegative; numpy.vander")
    return _vander(x, columns=columns, increasing=bool(increasing))


@promotion.program(1, name="vander")
def _vander(x: Any, *, columns: int, increasing: bool) -> Any:
    (x,) = promotion.promote_numeric(x)
    n = aval_of(x).shape[0]
    if not columns:
        return promotion.full_shape(promotion.scalar(0, x), (n, 0))
    line = promotion.full_shape(promotion.scalar(1, x), (n,))
    parts = [line]
    for _ in range(columns - 1):
        line = lax.mul(line, x)
        parts.append(line)
    return promotion.strong(stacking.stack(parts if increasing else parts[::-1], 1))
