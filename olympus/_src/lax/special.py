"""Special functions, elementwise: error functions, gamma functions and related ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Cost, LateRule, Primitive
from olympus._src.lax import elementwise, families, half_turns
from olympus._src.lax.elementwise import (
    abs_,
    add,
    exp,
    exp2,
    log1p,
    max_,
    mul,
    neg,
    square,
    sub,
)
from olympus._src.lax.offered_operations import offer_decomposition
from olympus._src.lax.precision import AccuracyMode, Tolerance, bind_accurately


def _chlo(name: str) -> Callable[..., str]:
    """A lowering to an operation of CHLO, which the compiler expands."""

    def lower(ctx: Any, *operands: str, **_: Any) -> str:
        return ctx.block.chlo(name, operands, ctx.avals_out[0])

    return lower


def _special(
    name: str,
    derivative: Callable[..., Any] | None,
    reference: Callable[..., Any],
    **facts: Any,
) -> Primitive:
    return families.elementwise(
        name,
        accepts=families.FLOAT,
        lower=_chlo(name),
        reference=reference,
        derivatives=None if derivative is None else (derivative,),
        cost=Cost.EXPENSIVE,
        **facts,
    )


def _vectorize_function(function: Callable[[float], float]) -> Callable[..., Any]:
    """A function of Python floats as one of NumPy arrays."""

    def apply(x: Any) -> Any:
        wide = np.asarray(x, np.float64)
        out = np.array([function(float(v)) for v in wide.reshape(-1)], np.float64)
        return out.reshape(wide.shape).astype(x.dtype)

    return apply


def _lgamma_of(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def _digamma_of(x: float) -> float:
    """By recurrence up to 8, then the asymptotic series (Abramowitz, Stegun 6.3.18)."""
    if x <= 0 and x == math.floor(x):
        return math.nan
    if x < 0:
        return _digamma_of(1 - x) - math.pi / math.tan(math.pi * x)
    total = 0.0
    while x < 8:
        total -= 1 / x
        x += 1
    z = 1 / (x * x)
    tail = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z / 132))))
    return total + math.log(x) - 0.5 / x - tail


def _erf_inv_of(y: float) -> float:
    """By bisection of erf, which Python has."""
    if abs(y) >= 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    low, high = 0.0, 6.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if math.erf(middle) < abs(y) else (low, middle)
    return math.copysign(low, y)


_TWO_BY_ROOT_PI = 2 / math.sqrt(math.pi)


def _bell(x: Any, factor: float) -> Any:
    """`factor * exp(-x^2)`."""
    return mul(families.scalar_like(x, factor), exp(neg(square(x))))


erf_p = _special(
    "erf",
    lambda t, out, x: mul(t, _bell(x, _TWO_BY_ROOT_PI)),
    _vectorize_function(math.erf),
    may_make_nan=False,
)
erfc_p = _special(
    "erfc",
    lambda t, out, x, **_: mul(t, _bell(x, -_TWO_BY_ROOT_PI)),
    _vectorize_function(math.erfc),
)
erf_inv_p = _special(
    "erf_inv",
    lambda t, out, x: mul(
        t, mul(families.scalar_like(x, 1 / _TWO_BY_ROOT_PI), exp(square(out)))
    ),
    _vectorize_function(_erf_inv_of),
)
lgamma_p = families.elementwise(
    "lgamma",
    accepts=families.FLOAT,
    lower=LateRule("numerics.log_gamma", "lower"),
    reference=_vectorize_function(_lgamma_of),
    derivatives=(lambda t, out, x: mul(t, digamma(x)),),
    cost=Cost.EXPENSIVE,
    needs_full_build=True,  # it calls a function
)
digamma_p = _special(
    "digamma",
    lambda t, out, x: mul(t, _digamma_slope(x)),
    _vectorize_function(_digamma_of),
)


def _digamma_slope(x: Any) -> Any:
    """`polygamma(1, x)`, reflected below 0, where that has no digits."""
    one = families.scalar_like(x, 1)
    is_low = elementwise.lt(x, families.full_like(x, 0))
    right = polygamma(one, elementwise.select(is_low, sub(one, x), x))
    low = elementwise.select(is_low, x, families.full_like(x, -0.5))
    sine = half_turns.sine_of_pi(low)
    both = square(elementwise.div(families.scalar_like(x, math.pi), sine))
    is_flat = elementwise.eq(x, families.scalar_like(x, math.inf))
    right = elementwise.select(is_flat, families.full_like(x, 0), right)
    return elementwise.select(is_low, sub(both, right), right)


def _refuse_derivative(name: str, which: str, cure: str) -> Callable[..., Any]:
    """In place of a derivative that is not known: better an error than zero."""

    def refuse(t: Any, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(
            f"lax.{name}: there is no derivative with respect to {which}{cure}"
        )

    return refuse


zeta_p = families.elementwise(
    "zeta",
    accepts=families.FLOAT,
    lower=_chlo("zeta"),
    derivatives=(
        _refuse_derivative("zeta", "the exponent", "; use olympus.scipy.special.zeta"),
        lambda t, out, s, q: mul(t, _zeta_slope(s, q)),
    ),
)
polygamma_p = families.elementwise(
    "polygamma",
    accepts=families.FLOAT,
    lower=_chlo("polygamma"),
    derivatives=(
        _refuse_derivative(
            "polygamma", "the order", ", which is an integer; apply stop_gradient to it"
        ),
        lambda t, out, m, x: mul(t, polygamma(add(m, families.scalar_like(m, 1)), x)),
    ),
)


def _zeta_slope(s: Any, q: Any) -> Any:
    return mul(neg(s), zeta(add(s, families.scalar_like(s, 1)), q))


# -- sums of exponentials --------------------------------------------------------------


def _log_of_sum(x: Any, y: Any, power: Any, log1p_: Any) -> Any:
    high = max_(x, y)
    gap = sub(x, y)
    # Equal infinities have no difference, and NaN none with anything; x + y is right.
    apart = elementwise.ne(gap, gap)
    tail = log1p_(power(neg(abs_(gap))))
    return elementwise.select(apart, add(x, y), add(high, tail))


def _share(x: Any, y: Any, base: float) -> Any:
    """The derivative by x, which has no kink at x = y.

    Of the operands' difference, which keeps the digits that their sum has lost.
    """
    infinite = families.full_like(x, math.inf)
    equal = elementwise.bitwise_and(
        elementwise.eq(x, infinite), elementwise.eq(y, infinite)
    )
    gap = elementwise.select(equal, infinite, sub(x, y))
    if base != math.e:
        gap = mul(gap, families.scalar_like(gap, math.log(base)))
    return elementwise.logistic_p.bind(gap)


def _log_sum(
    name: str, base: float, power: Any, log1p_: Any, reference: Callable[..., Any]
) -> Primitive:
    return families.elementwise(
        name,
        accepts=families.FLOAT,
        decompose=lambda x, y: _log_of_sum(x, y, power, log1p_),
        derivatives=(
            lambda t, out, x, y: mul(t, _share(x, y, base)),
            lambda t, out, x, y: mul(t, _share(y, x, base)),
        ),
        reference=reference,
        cost=Cost.EXPENSIVE,
        offer=offer_decomposition,
    )


logaddexp_p = _log_sum("logaddexp", math.e, exp, log1p, np.logaddexp)
logaddexp2_p = _log_sum(
    "logaddexp2",
    2,
    exp2,
    lambda x: mul(log1p(x), families.scalar_like(x, 1 / math.log(2))),
    np.logaddexp2,
)


# -- functions -------------------------------------------------------------------------


def erf(x: ArrayLike) -> Array:
    """Error function, `2/sqrt(pi)` times the integral of `exp(-t^2)` from 0 to x.

    Args:
      x: array of floats.

    Source: `chlo.erf`.

    Example:
      >>> lax.erf(jnp.array([0.0, jnp.inf]))
      Array([0., 1.], dtype=float32)
    """
    return erf_p.bind(x)


def erfc(x: ArrayLike, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
    """`1 - erf(x)`, exact where erf(x) is close to 1.

    Args:
      x: array of floats.
      accuracy: a `Tolerance` or an `AccuracyMode`; there is one implementation.

    Source: `chlo.erfc`.

    Example:
      >>> lax.erfc(jnp.array([0.0, jnp.inf]))
      Array([1., 0.], dtype=float32)
    """
    return bind_accurately(erfc_p, x, accuracy)


def erf_inv(x: ArrayLike) -> Array:
    """The number whose error function is `x`.

    Args:
      x: array of floats in [-1, 1].

    Source: `chlo.erf_inv`.

    Example:
      >>> lax.erf_inv(jnp.array([0.0, 1.0]))
      Array([ 0., inf], dtype=float32)
    """
    return erf_inv_p.bind(x)


def lgamma(x: ArrayLike) -> Array:
    """Logarithm of the absolute value of the gamma function.

    Args:
      x: array of floats.

    Source: Abramowitz, Stegun, chapter 6.1.

    Example:
      >>> lax.lgamma(jnp.array([1.0, 0.0]))
      Array([ 0., inf], dtype=float32)
    """
    return lgamma_p.bind(x)


def digamma(x: ArrayLike) -> Array:
    """Derivative of `lgamma`.

    Args:
      x: array of floats.

    Source: `chlo.digamma`.

    Example:
      >>> lax.digamma(jnp.array([1.0])).round(4)
      Array([-0.5772], dtype=float32)
    """
    return digamma_p.bind(x)


def polygamma(m: ArrayLike, x: ArrayLike) -> Array:
    """Derivative of order `m` of `digamma`.

    Args:
      m: order, array of floats with integer values from 0 on.
      x: array of floats, of m's shape and dtype; scalars are broadcast.

    Source: `chlo.polygamma`.

    Example:
      >>> lax.polygamma(1.0, jnp.array([1.0])).round(3)
      Array([1.6450001], dtype=float32)
    """
    return polygamma_p.bind(m, x)


def zeta(x: ArrayLike, q: ArrayLike) -> Array:
    """Hurwitz' zeta function, the sum of `(q + k)^-x` over k = 0, 1, ...

    Args:
      x: array of floats above 1.
      q: array of floats, of x's shape and dtype; scalars are broadcast.

    Source: `chlo.zeta`.

    Example:
      >>> lax.zeta(jnp.array([2.0]), jnp.array([1.0])).round(4)
      Array([1.6449], dtype=float32)
    """
    return zeta_p.bind(x, q)


def logaddexp(x: Any, y: Any) -> Any:
    """`log(exp(x) + exp(y))` without overflow.

    Args:
      x: array of floats.
      y: array of floats, of x's shape and dtype; scalars are broadcast.
    """
    return logaddexp_p.bind(x, y)


def logaddexp2(x: Any, y: Any) -> Any:
    """`log2(2**x + 2**y)` without overflow.

    Args:
      x: array of floats.
      y: array of floats, of x's shape and dtype; scalars are broadcast.
    """
    return logaddexp2_p.bind(x, y)
