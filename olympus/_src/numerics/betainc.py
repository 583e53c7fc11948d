"""The incomplete beta function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.interpreters import ad
from olympus._src.lax import elementwise as e
from olympus._src.lax import special
from olympus._src.numerics import gamma_terms as terms
from olympus._src.numerics.converging_loop import Loop


def _beta_step(n: Any, state: Any, operands: Any) -> Any:
    """Two of Lentz's steps: the even and the odd coefficient."""
    c, d, h = state
    a, b, x = operands
    one, two = terms.number(x, 1), terms.number(x, 2)
    twice = e.mul(n, two)
    even = e.div(
        e.mul(e.mul(n, e.sub(b, n)), x),
        e.mul(e.sub(e.add(a, twice), one), e.add(a, twice)),
    )
    odd = e.div(
        e.neg(e.mul(e.mul(e.add(a, n), e.add(e.add(a, b), n)), x)),
        e.mul(e.add(a, twice), e.add(e.add(a, twice), one)),
    )
    factor = one
    for coefficient in (even, odd):
        d = e.div(one, e.add(one, e.mul(coefficient, d)))
        c = e.add(one, e.div(coefficient, c))
        factor = e.mul(c, d)
        h = e.mul(h, factor)
    change = e.abs_(e.sub(factor, one))
    return (c, d, h), e.gt(change, terms.epsilon(x))


def _beta_fraction(a: Any, b: Any, x: Any) -> Any:
    *_, h = _BETA(a, b, x)
    return e.div(h, a)


def _beta_start(a: Any, b: Any, x: Any) -> tuple[Any, Any, Any]:
    one = terms.number(x, 1)
    slope = e.div(e.mul(e.add(a, b), x), e.add(a, one))
    d = e.div(one, e.sub(one, slope))
    return terms.like(x, 1), d, d


_BETA = Loop(_beta_start, _beta_step, 3)


def _log_beta_scale(a: Any, b: Any, x: Any) -> Any:
    """The logarithm of x^a (1-x)^b / B(a, b)."""
    powers = e.add(terms.times_log(a, e.log(x)), terms.times_log(b, e.log1p(e.neg(x))))
    return e.sub(powers, _log_beta(a, b))


def _log_beta(a: Any, b: Any) -> Any:
    parts = e.add(special.lgamma(a), special.lgamma(b))
    return e.sub(parts, special.lgamma(e.add(a, b)))


class _BetaRegions:
    """Arguments for which the fraction converges fast, and what they stand for.

    It does below the mean; above it the complement is computed, with a and b swapped.
    """

    __slots__ = ("good", "p", "q", "swapped", "x", "y")

    def __init__(self, a: Any, b: Any, x: Any) -> None:
        zero, one, half = (terms.number(x, v) for v in (0, 1, 0.5))
        inside = e.bitwise_and(e.gt(x, zero), e.lt(x, one))
        self.good = e.bitwise_and(e.gt(a, zero), e.gt(b, zero))
        usual = e.bitwise_and(inside, self.good)
        a, b = (e.select(usual, v, one) for v in (a, b))
        self.x, x = x, e.select(usual, x, half)
        mean = e.div(e.add(a, one), e.add(e.add(a, b), terms.number(x, 2)))
        self.swapped = e.gt(x, mean)
        self.p, self.q = e.select(self.swapped, b, a), e.select(self.swapped, a, b)
        self.y = e.select(self.swapped, e.sub(one, x), x)

    def joined(self, inner: Any, at_zero: float, at_one: float) -> Any:
        """The result, with the values at the ends and NaN outside."""
        x, out = self.x, inner
        zero, one = terms.number(x, 0), terms.number(x, 1)
        for end, value in ((zero, at_zero), (one, at_one)):
            out = e.select(e.eq(x, end), terms.number(x, value), out)
        ends = e.bitwise_and(e.ge(x, zero), e.le(x, one))
        return e.select(e.bitwise_and(self.good, ends), out, terms.number(x, np.nan))


@terms.wide
def _beta(a: Any, b: Any, x: Any) -> Any:
    r = _BetaRegions(a, b, x)
    part = e.mul(_beta_fraction(r.p, r.q, r.y), e.exp(_log_beta_scale(r.p, r.q, r.y)))
    return r.joined(e.select(r.swapped, e.sub(terms.number(x, 1), part), part), 0, 1)


def _beta_slope(which: int) -> Callable[..., Any]:
    """The derivative in a (0) or b (1), by tangents through the fraction's loop."""

    @terms.wide
    def slope(a: Any, b: Any, x: Any) -> Any:
        r = _BetaRegions(a, b, x)
        zero, one = terms.like(x, 0), terms.like(x, 1)
        moved = [e.select(r.swapped, zero, one), e.select(r.swapped, one, zero)]
        dp, dq = moved if which == 0 else reversed(moved)
        total, log_slope = _beta_log_slope(r.p, r.q, r.y, dp, dq)
        part = e.mul(total, e.exp(_log_beta_scale(r.p, r.q, r.y)))
        out = e.mul(part, log_slope)
        return r.joined(e.select(r.swapped, e.neg(out), out), 0, 0)

    return slope


def _beta_log_slope(p: Any, q: Any, y: Any, dp: Any, dq: Any) -> tuple[Any, Any]:
    """The fraction over p, and the slope of the logarithm of the whole function."""
    state = _BETA.along(True, True, False)(p, q, y, dp, dq)
    total, slope = state[2], state[5]
    _, (scale_slope,) = ad.jvp(
        lambda p, q: [e.sub(_log_beta_scale(p, q, y), e.log(p))], [p, q], [dp, dq]
    )
    return e.div(total, p), e.add(e.div(slope, total), scale_slope)


@terms.wide
def _beta_density(a: Any, b: Any, x: Any) -> Any:
    one = terms.number(x, 1)
    low = terms.times_log(e.sub(a, one), e.log(x))
    high = terms.times_log(e.sub(b, one), e.log1p(e.neg(x)))
    return e.exp(e.sub(e.add(low, high), _log_beta(a, b)))


_beta_slope_in_a, _beta_slope_in_b = _beta_slope(0), _beta_slope(1)
regularized_incomplete_beta_p = terms.elementwise(
    "regularized_incomplete_beta",
    _beta,
    (
        lambda t, out, a, b, x: e.mul(t, _beta_slope_in_a(a, b, x)),
        lambda t, out, a, b, x: e.mul(t, _beta_slope_in_b(a, b, x)),
        lambda t, out, a, b, x: e.mul(t, _beta_density(a, b, x)),
    ),
)


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The regularized incomplete beta function, elementwise.

    Args:
      a: positive floating array.
      b: positive floating array.
      x: floating array from 0 to 1; NaN is given outside.

    Example:
      >>> lax.betainc(1.0, 1.0, jnp.array([0.25]))
      Array([0.24999976], dtype=float32)
    """
    return regularized_incomplete_beta_p.bind(a, b, x)
