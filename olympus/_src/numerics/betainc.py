"""The regularized incomplete beta function, elementwise.

Below its mean it is a power of x and of 1 - x over the beta function, which is
evaluated by how far x is from the mean (Loader 2000), times what is left of the
integral: a continued fraction (DiDonato, Morris 1992, equation 9), and where a and b
are large, whose fractions need as many steps as their root, Gauss and Legendre's
formula. Above the mean the complement is computed, with a and b swapped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Primitive
from olympus._src.interpreters import ad
from olympus._src.lax import barriers, slicing, special
from olympus._src.lax import elementwise as e
from olympus._src.numerics import gamma_terms as terms
from olympus._src.numerics.converging_loop import Loop

# From here on Stirling's formula holds.
_LARGE = 20.0


# -- the power over the beta function --------------------------------------------------


def _excess(a: Any, b: Any, x: Any) -> Any:
    """(a + b) x - a, without the rounding of the sum and the product."""
    total = e.add(a, b)
    own = e.sub(total, a)
    lost = e.add(e.sub(a, e.sub(total, own)), e.sub(b, own))
    tail = e.add(terms.product_tail(total, x), e.mul(lost, x))
    limit = terms.number(x, 1e250 if terms.is_double(x) else 1e30)
    tail = e.select(e.lt(total, limit), tail, terms.like(x, 0))
    return e.add(e.sub(e.mul(total, x), a), barriers.stop_gradient_p.bind(tail))


def _log_power(a: Any, b: Any, x: Any, y: Any, excess: Any) -> Any:
    """The logarithm of x^a y^b / B(a, b), for y = 1 - x."""
    swapped = e.gt(a, b)
    low, high = e.select(swapped, b, a), e.select(swapped, a, b)
    least = terms.number(x, _LARGE)
    high_is_large, both_are_large = e.ge(high, least), e.ge(low, least)
    low_gamma = special.lgamma(low)
    beta = e.add(low_gamma, e.sub(special.lgamma(high), special.lgamma(e.add(a, b))))
    log_x, log_y = e.log(x), e.log1p(e.neg(x))
    plain = e.sub(e.add(e.mul(a, log_x), e.mul(b, log_y)), beta)
    small, large = terms.like(x, 1), terms.like(x, _LARGE)
    mixed = _log_power_of_one_large(
        e.select(high_is_large, low, small),
        e.select(high_is_large, high, large),
        e.select(swapped, y, x),
        e.select(swapped, log_x, log_y),
        low_gamma,
    )
    central = _log_power_of_large(
        e.select(both_are_large, a, large),
        e.select(both_are_large, b, large),
        e.select(both_are_large, x, terms.like(x, 0.5)),
        e.select(both_are_large, excess, terms.like(x, 0)),
    )
    return e.select(both_are_large, central, e.select(high_is_large, mixed, plain))


def _log_power_of_one_large(p: Any, q: Any, x: Any, log_y: Any, gamma: Any) -> Any:
    """The same for large q, and the logarithm of the gamma function of p.

    The term that may be larger than all others comes last, so that its size rounds one
    sum only.
    """
    both = e.add(p, q)
    lead = e.sub(e.mul(p, e.log(e.mul(x, both))), p)
    less = e.sub(q, terms.number(q, 0.5))
    lead = e.add(lead, e.mul(less, e.log1p(e.div(p, q))))
    correction = e.sub(terms.stirling(both), terms.stirling(q))
    return e.add(e.add(lead, e.sub(correction, gamma)), e.mul(q, log_y))


def _log_power_of_large(a: Any, b: Any, x: Any, excess: Any) -> Any:
    """The same for large a and b: how far x is from the mean, in two parts.

    What is linear in both cancels, and is left out. Far from the mean it is not, since
    it would be larger than what is left of it, and so would be slopes.
    """
    both, half = e.add(a, b), terms.number(x, 0.5)
    zero, one = terms.like(x, 0), terms.like(x, 1)
    up, down = e.div(excess, a), e.neg(e.div(excess, b))
    is_far = e.bitwise_or(e.lt(up, e.neg(half)), e.gt(up, one))
    ratio = e.select(is_far, e.mul(e.div(both, a), x), one)
    near = e.select(is_far, zero, up)
    first = e.select(is_far, e.log(ratio), terms.log1p_without_lead(near))
    second = e.select(is_far, e.log1p(down), terms.log1p_without_lead(down))
    lead = e.add(e.mul(a, first), e.mul(b, second))
    correction = e.add(terms.stirling(a), terms.stirling(b))
    correction = e.sub(terms.stirling(both), correction)
    root = e.log(e.mul(e.mul(e.div(a, both), b), terms.number(x, 0.5 / math.pi)))
    return e.add(lead, e.add(correction, e.mul(half, root)))


# -- the fraction ----------------------------------------------------------------------


def _fraction_terms(n: Any, p: Any, q: Any, x: Any, y: Any, gap: Any) -> Any:
    """The n-th numerator and denominator, from 0 on; gap is p - (p + q) x."""
    one, two = terms.number(x, 1), terms.number(x, 2)
    before = e.sub(e.add(p, e.mul(two, n)), one)
    less = e.sub(n, one)
    share = e.mul(e.sub(q, n), e.div(e.mul(n, x), before))
    ratio = e.div(e.add(p, less), before)
    top = e.mul(e.mul(ratio, e.mul(e.add(e.add(p, q), less), x)), share)
    inner = e.add(e.add(gap, one), e.mul(n, e.add(one, y)))
    inner = e.mul(e.div(e.add(p, n), e.add(before, two)), inner)
    return top, e.add(e.add(n, share), inner)


def _fraction_step(n: Any, state: Any, operands: Any) -> Any:
    """One of Lentz's steps."""
    c, d, h = state
    top, bottom = _fraction_terms(n, *operands)
    one = terms.number(h, 1)
    d = e.div(one, e.add(bottom, e.mul(top, d)))
    c = e.add(bottom, e.div(top, c))
    factor = e.mul(c, d)
    change = e.abs_(e.sub(factor, one))
    return (c, d, e.mul(h, factor)), e.gt(change, terms.epsilon(h))


def _fraction_start(p: Any, q: Any, x: Any, y: Any, gap: Any) -> tuple[Any, Any, Any]:
    one = terms.like(x, 1)
    inverse = e.div(e.add(p, one), e.mul(p, e.add(gap, one)))
    return (
        terms.like(x, float(dtypes.finfo(avals.aval_of(x).dtype).max)),
        inverse,
        inverse,
    )


_FRACTION = Loop(_fraction_start, _fraction_step, 3)


# -- the integral ----------------------------------------------------------------------


@cache
def _nodes(dtype: np.dtype[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Places from 0 to 1, and their weights, with one more of no weight."""
    count = 24 if dtypes.itemsize_bits(dtype) == 64 else 12
    places, weights = np.polynomial.legendre.leggauss(count)
    return (
        np.append((places + 1) / 2, 1.0).astype(dtype),
        np.append(weights / 2, 0.0).astype(dtype),
    )


def _reach(both: Any, x: Any, y: Any, gap: Any, above: Any) -> Any:
    """Where the integrand has vanished, downwards (negative) or upwards.

    Its logarithm falls almost as a parabola does. One of Newton's steps goes a little
    too far, since the fall is convex.
    """
    depth = terms.number(x, 36 if terms.is_double(x) else 18)
    double = e.add(depth, depth)
    root = e.sqrt(e.mul(double, e.mul(both, e.mul(x, y))))
    widest = e.max_(gap, root)
    left, right = e.div(gap, widest), e.div(root, widest)
    length = e.sqrt(e.add(e.mul(left, left), e.mul(right, right)))
    size = e.div(double, e.add(gap, e.mul(widest, length)))
    t = e.select(above, size, e.neg(size))
    grown = e.mul(x, e.expm1(t))
    slope = e.mul(e.mul(both, y), e.div(grown, e.add(terms.number(x, 1), grown)))
    slope = e.add(gap, e.abs_(slope))
    size = e.add(size, e.div(e.sub(depth, _fall(both, x, gap, t)), slope))
    return e.select(above, size, e.neg(size))


def _fall(both: Any, x: Any, gap: Any, t: Any) -> Any:
    """How far the logarithm of the power falls where x / (1 - x) grows by exp(t)."""
    bend = e.mul(x, terms.expm1_without_lead(t))
    bend = e.add(bend, terms.log1p_without_lead(e.mul(x, e.expm1(t))))
    return e.add(e.mul(gap, e.abs_(t)), e.mul(both, bend))


def _integral_step(n: Any, state: Any, operands: Any) -> Any:
    """One more place."""
    both, x, gap, reach = operands
    (total,) = state
    places, weights = _nodes(avals.aval_of(x).dtype)
    last = np.int32(len(places) - 1)
    row = e.min_(e.sub(e.convert(n, np.dtype(np.int32)), np.int32(1)), last)
    place, weight = (
        slicing.dynamic_index_in_dim(v, row, keepdims=False) for v in (places, weights)
    )
    fall = _fall(both, x, gap, e.mul(reach, place))
    total = e.add(total, e.mul(weight, e.exp(e.neg(fall))))
    unfinished = e.lt(n, terms.number(x, float(last)))
    return (total,), e.bitwise_and(e.ne(reach, terms.number(x, 0)), unfinished)


def _integral_start(both: Any, x: Any, gap: Any, reach: Any) -> tuple[Any]:
    return (terms.like(both, 0),)


_INTEGRAL = Loop(_integral_start, _integral_step, 1)


# -- the function ----------------------------------------------------------------------


class _Regions:
    """Where the fraction and the integral are used, with harmless arguments for both.

    From 1/2 on, x is exchanged for 1 - x, which is exact.
    """

    __slots__ = (
        "a",
        "above",
        "b",
        "by_integral",
        "excess",
        "exchanged",
        "good",
        "is_high",
        "is_low",
        "original",
        "usual",
        "x",
        "y",
    )

    def __init__(self, a: Any, b: Any, x: Any) -> None:
        zero, one, half = (terms.number(x, v) for v in (0, 1, 0.5))
        inside = e.bitwise_and(e.gt(x, zero), e.lt(x, one))
        infinity = terms.number(x, np.inf)
        sized = [e.bitwise_and(e.gt(v, zero), e.lt(v, infinity)) for v in (a, b)]
        usual = e.bitwise_and(inside, e.bitwise_and(*sized))
        # The mean is at 0, or at 1.
        low = e.bitwise_or(e.eq(a, zero), e.eq(b, infinity))
        high = e.bitwise_or(e.eq(b, zero), e.eq(a, infinity))
        self.is_low = e.bitwise_and(low, e.bitwise_not(high))
        self.is_high = e.bitwise_and(high, e.bitwise_not(low))
        at_end = e.ne(low, high)
        self.good = e.bitwise_and(e.ge(a, zero), e.ge(b, zero))
        self.good = e.bitwise_and(self.good, e.eq(e.bitwise_or(low, high), at_end))
        a, b = (e.select(usual, v, one) for v in (a, b))
        self.usual = usual
        self.original = x
        x = e.select(usual, x, half)
        self.exchanged = e.gt(x, half)
        self.a, self.b = (
            e.select(self.exchanged, b, a),
            e.select(self.exchanged, a, b),
        )
        self.y = e.sub(one, x)
        self.x, self.y = (
            e.select(self.exchanged, self.y, x),
            e.select(self.exchanged, x, self.y),
        )
        self.excess = _excess(self.a, self.b, self.x)
        least = terms.number(x, _LARGE)
        self.by_integral = e.bitwise_and(e.ge(a, least), e.ge(b, least))
        beyond = e.sub(one, e.add(self.x, self.x))
        limit = e.select(self.by_integral, terms.like(x, 0), beyond)
        self.above = e.ge(self.excess, limit)

    def gap(self) -> Any:
        """How far x is from the mean, in units of 1 / (a + b)."""
        return e.select(self.above, self.excess, e.neg(self.excess))

    def fraction(self) -> list[Any]:
        """Arguments of the fraction."""
        pairs = ((self.b, self.a), (self.a, self.b), (self.y, self.x), (self.x, self.y))
        args = [e.select(self.above, high, low) for high, low in pairs]
        harmless = (1, 1, 0.5, 0.5, 0)
        return [
            e.select(self.by_integral, terms.like(v, number), v)
            for v, number in zip([*args, self.gap()], harmless, strict=True)
        ]

    def integral(self) -> list[Any]:
        """Arguments of the integral."""
        both = e.add(self.a, self.b)
        reach = _reach(both, self.x, self.y, self.gap(), self.above)
        reach = barriers.stop_gradient_p.bind(reach)
        args = ((both, 2), (self.x, 0.5), (self.gap(), 0), (reach, 0))
        return [e.select(self.by_integral, v, terms.like(v, n)) for v, n in args]

    def log_power(self, places: tuple[Any, Any] | None = None) -> Any:
        """See `_log_power`; of other places x and y where these are not large."""
        x, y = places or (self.x, self.y)
        return _log_power(self.a, self.b, x, y, self.excess)

    def slopes(self, which: int) -> tuple[Any, Any]:
        """How a and b move, as they are here, with the caller's a (0) or b (1)."""
        zero, one = terms.like(self.x, 0), terms.like(self.x, 1)
        pair = (
            e.select(self.exchanged, zero, one),
            e.select(self.exchanged, one, zero),
        )
        return pair if which == 0 else pair[::-1]

    def choose_side(self, part: Any, *, upper: bool, sloped: bool = False) -> Any:
        """The part of the integral that was computed, or what it lacks of the whole."""
        other = e.neg(part) if sloped else e.sub(terms.number(part, 1), part)
        flipped = e.ne(self.exchanged, self.above)
        sides = (part, other) if upper else (other, part)
        return e.select(flipped, *sides)

    def join_ends(self, inner: Any, at_zero: float, at_one: float) -> Any:
        """The result, with the values at the ends and NaN outside."""
        x, out = self.original, inner
        zero, one = terms.number(x, 0), terms.number(x, 1)
        for where, value in (
            (self.is_low, at_one),
            (self.is_high, at_zero),
            (e.eq(x, zero), at_zero),
            (e.eq(x, one), at_one),
        ):
            out = e.select(where, terms.number(x, value), out)
        ends = e.bitwise_and(e.ge(x, zero), e.le(x, one))
        return e.select(e.bitwise_and(self.good, ends), out, terms.number(x, np.nan))


def _beta(*, upper: bool) -> Callable[..., Any]:
    @terms.wide
    def value(a: Any, b: Any, x: Any) -> Any:
        regions = _Regions(a, b, x)
        *_, by_fraction = _FRACTION(*regions.fraction())
        where = regions.integral()
        (total,) = _INTEGRAL(*where)
        by_integral = e.mul(total, e.abs_(where[-1]))
        part = e.select(regions.by_integral, by_integral, by_fraction)
        part = e.mul(part, e.exp(regions.log_power()))
        # No chance exceeds 1, and none that it lacks of the whole is negative.
        part = e.min_(part, terms.number(x, 1))
        out = regions.choose_side(part, upper=upper)
        return regions.join_ends(out, float(upper), float(not upper))

    return value


def _beta_slope(which: int, *, upper: bool) -> Callable[..., Any]:
    """The derivative in a (0) or b (1), by tangents through the loops."""

    @terms.wide
    def slope(a: Any, b: Any, x: Any) -> Any:
        regions = _Regions(a, b, x)
        da, db = regions.slopes(which)
        both = e.add(da, db)
        excess = e.sub(e.mul(regions.x, both), da)
        gap = e.select(regions.above, excess, e.neg(excess))
        where = regions.fraction()
        fraction = _FRACTION.with_tangents(True, True, False, False, True)
        dp, dq = (
            e.select(regions.above, db, da),
            e.select(regions.above, da, db),
        )
        values = fraction(*where, dp, dq, gap)
        by_fraction, in_fraction = values[2], e.div(values[5], values[2])
        where = regions.integral()
        integral = _INTEGRAL.with_tangents(True, False, True, False)
        total, moved = integral(*where, both, gap)
        by_integral = e.mul(total, e.abs_(where[-1]))
        part = e.select(regions.by_integral, by_integral, by_fraction)
        in_part = e.select(regions.by_integral, e.div(moved, total), in_fraction)
        power, in_power = _log_power_slope(regions, da, db, excess)
        out = e.mul(e.mul(part, e.exp(power)), e.add(in_part, in_power))
        return regions.join_ends(
            regions.choose_side(out, upper=upper, sloped=True), 0, 0
        )

    return slope


def _log_power_slope(regions: _Regions, da: Any, db: Any, excess: Any) -> Any:
    def power(a: Any, b: Any, excess: Any) -> Any:
        return [_log_power(a, b, regions.x, regions.y, excess)]

    own = [regions.a, regions.b, regions.excess]
    (value,), (slope,) = ad.jvp(power, own, [da, db, excess])
    return value, slope


@terms.wide
def log_density(a: Any, b: Any, x: Any) -> Any:
    """The logarithm of the derivative in x, inside."""
    return _log_density(_Regions(a, b, x))


def _log_density(regions: _Regions) -> Any:
    """See `log_density`.

    Unless both parameters are large, its slope in x is (a - 1) / x - (b - 1) / y as
    written: 1 / x taken from the slope of the power, a / x, cancels for a = 1.
    """
    x, y = regions.x, regions.y
    still_x, still_y = (
        e.select(regions.by_integral, v, barriers.stop_gradient_p.bind(v))
        for v in (x, y)
    )
    log_x, log_y = e.log(still_x), e.log1p(e.neg(still_x))
    moved_x, moved_y = e.sub(e.log(x), log_x), e.sub(e.log1p(e.neg(x)), log_y)
    one = terms.number(x, 1)
    moved = e.mul(e.sub(regions.a, one), moved_x)
    moved = e.add(moved, e.mul(e.sub(regions.b, one), moved_y))
    power = regions.log_power((still_x, still_y))
    return e.add(e.sub(power, e.add(log_x, log_y)), moved)


@terms.wide
def _beta_density(a: Any, b: Any, x: Any) -> Any:
    one = terms.number(x, 1)
    regions = _Regions(a, b, x)
    inner = e.exp(_log_density(regions))
    # At the ends, which may be infinite.
    low = terms.times_log(e.sub(a, one), e.log(x))
    high = terms.times_log(e.sub(b, one), e.log1p(e.neg(x)))
    beta = e.sub(
        e.add(special.lgamma(a), special.lgamma(b)), special.lgamma(e.add(a, b))
    )
    plain = e.exp(e.sub(e.add(low, high), beta))
    return e.select(regions.usual, inner, plain)


# -- the records -----------------------------------------------------------------------


def _record(name: str, *, upper: bool) -> Primitive:
    in_a, in_b = (_beta_slope(which, upper=upper) for which in (0, 1))
    sign = e.neg if upper else (lambda x: x)
    return terms.elementwise(
        name,
        _beta(upper=upper),
        (
            lambda t, out, a, b, x: e.mul(t, in_a(a, b, x)),
            lambda t, out, a, b, x: e.mul(t, in_b(a, b, x)),
            lambda t, out, a, b, x: sign(e.mul(t, _beta_density(a, b, x))),
        ),
    )


regularized_incomplete_beta_p = _record("regularized_incomplete_beta", upper=False)
regularized_incomplete_beta_complement_p = _record(
    "regularized_incomplete_beta_complement", upper=True
)


# -- functions -------------------------------------------------------------------------


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The regularized incomplete beta function, elementwise.

    Args:
      a: positive floating array.
      b: positive floating array.
      x: floating array from 0 to 1; NaN is given outside.

    Example:
      >>> lax.betainc(1.0, 1.0, jnp.array([0.25]))
      Array([0.25], dtype=float32)
    """
    return regularized_incomplete_beta_p.bind(a, b, x)


def betaincc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """One minus `betainc`, which has digits where that is almost 1."""
    return regularized_incomplete_beta_complement_p.bind(a, b, x)
