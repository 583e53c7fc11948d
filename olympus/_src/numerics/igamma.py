"""Incomplete gamma functions, elementwise, by loops that run to convergence.

The regularized gamma function is a series where x is below max(a, 1), and one minus a
continued fraction elsewhere (Abramowitz, Stegun 6.5.29 and 6.5.31), but for another
expansion where a is large and x near it. Where a and x are small the upper function is
not what the lower one leaves of 1, but follows from the other series of 6.5.29.
Fractions are evaluated by Steed's method (Barnett, Feng, Steed, Goldfarb 1974). The
derivatives in the parameters carry tangents through the same loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import ad
from olympus._src.lax import elementwise as e
from olympus._src.lax import special
from olympus._src.numerics import gamma_terms as terms
from olympus._src.numerics import igamma_expansion, log_gamma
from olympus._src.numerics.converging_loop import Loop


def _series_step(n: Any, state: Any, operands: Any) -> Any:
    """Terms x^n / ((a+1) ... (a+n)) and their sum."""
    term, total = state
    a, x = operands
    term = e.mul(term, e.div(x, e.add(a, n)))
    total = e.add(total, term)
    return (term, total), e.gt(term, e.mul(total, terms.epsilon(total)))


def _complement_step(n: Any, state: Any, operands: Any) -> Any:
    """The same, or where shapes are small (-x)^n / n!, whose sum has a + n below."""
    term, total = state
    a, x, is_small = operands
    is_small = e.gt(is_small, terms.number(x, 0))
    divisor = e.add(e.select(is_small, terms.like(a, 0), a), n)
    term = e.mul(term, e.div(e.select(is_small, e.neg(x), x), divisor))
    change = e.div(term, e.select(is_small, e.add(a, n), terms.like(a, 1)))
    total = e.add(total, change)
    bound = e.mul(e.abs_(total), terms.epsilon(total))
    return (term, total), e.gt(e.abs_(change), bound)


def _fraction_step(n: Any, state: Any, operands: Any) -> Any:
    """Steed's method for 1 / (x+1-a - 1(1-a) / (x+3-a - ...))."""
    d, change, total = state
    a, x = operands
    numerator = e.mul(n, e.sub(a, n))
    b = e.add(e.sub(x, a), e.add(e.mul(n, terms.number(x, 2)), terms.number(x, 1)))
    next_d = e.div(terms.number(x, 1), e.add(e.mul(numerator, d), b))
    # `b * next_d - 1`, without what cancels.
    change = e.neg(e.mul(change, e.mul(e.mul(numerator, d), next_d)))
    total = e.add(total, change)
    bound = e.mul(e.abs_(total), terms.epsilon(x))
    return (next_d, change, total), e.gt(e.abs_(change), bound)


def _log_scale(a: Any, x: Any) -> Any:
    """The logarithm of x^a exp(-x) / Gamma(a+1), what the series is multiplied with."""
    one = terms.number(a, 1)
    plain = e.sub(e.sub(e.mul(a, e.log(x)), x), special.lgamma(e.add(a, one)))
    is_large = e.gt(a, terms.number(a, 20))
    safe = e.select(is_large, a, terms.like(a, 20))
    by_distance = log_scale_of_large(safe, e.select(is_large, x, safe))
    return e.select(is_large, by_distance, plain)


def log_scale_of_large(a: Any, x: Any) -> Any:
    """The same for a from 20 on, by how far x is from it, since the terms are large."""
    half = terms.number(a, 0.5)
    change = e.sub(x, a)
    gap = e.div(change, a)
    is_near = e.le(e.abs_(gap), half)
    near = terms.log1p_without_lead(e.select(is_near, gap, terms.like(a, 0)))
    # Of x far from a the gap is no term: slopes in a would be what it leaves of itself.
    is_above = e.gt(gap, half)
    above = e.log1p(e.select(is_above, gap, terms.like(a, 0)))
    log = e.select(is_above, above, e.sub(e.log(x), e.log(a)))
    far = e.sub(e.mul(a, log), change)
    power = e.select(is_near, e.mul(a, near), far)
    root = e.mul(half, e.log(e.mul(a, terms.number(a, 2 * np.pi))))
    return e.sub(power, e.add(terms.stirling(a), root))


def _scale(a: Any, x: Any) -> Any:
    """x^a exp(-x) / Gamma(a+1), by powers.

    The exponential of its logarithm loses as many digits as that has: the powers are
    x^a exp(-x), or, where Stirling's series holds, (x/a)^a exp(a-x). Of these a root is
    taken, so that neither leaves the range of floats alone.
    """
    is_double = terms.is_double(a)
    least, count = (8, 9) if is_double else (3, 5)
    is_large = e.gt(a, terms.number(a, least))
    safe = e.select(is_large, a, terms.like(a, least))
    ratio, change = terms.divide_exactly(x, safe)
    base, shift = e.select(is_large, ratio, x), e.select(is_large, a, terms.like(a, 0))
    exponent, rounding = terms.subtract_exactly(shift, x)
    size = e.max_(e.abs_(e.mul(a, e.log(base))), e.abs_(exponent))
    limit = 1400 if is_double else 172
    fits = e.lt(size, terms.number(a, 4 * limit))
    root = _root_of_powers(a, base, exponent, e.gt(size, terms.number(a, limit)))
    half, one = terms.number(a, 0.5), terms.number(a, 1)
    missing = e.mul(half, e.add(e.mul(safe, change), rounding))
    missing = e.select(e.bitwise_and(fits, is_large), missing, terms.like(a, 0))
    root = e.add(root, e.mul(root, missing))
    log_left = e.select(
        is_large, terms.stirling(safe, count), special.lgamma(e.add(a, one))
    )
    width = e.rsqrt(e.mul(safe, terms.number(a, 2 * np.pi)))
    left = e.mul(e.exp(e.neg(log_left)), e.select(is_large, width, terms.like(a, 1)))
    by_powers = e.mul(e.mul(root, left), root)
    gap = e.div(e.sub(x, safe), safe)
    by_distance = e.mul(e.exp(e.mul(safe, terms.log1p_without_lead(gap))), left)
    return e.select(fits, by_powers, by_distance)


def _root_of_powers(a: Any, base: Any, exponent: Any, is_far: Any) -> Any:
    """The square root of `base^a exp(exponent)`, by the eighth one where it is far."""
    part = e.select(is_far, terms.like(a, 0.125), terms.like(a, 0.5))
    root = e.mul(e.pow_(base, e.mul(part, a)), e.exp(e.mul(part, exponent)))
    square = e.mul(root, root)
    return e.select(is_far, e.mul(square, square), root)


def _series(a: Any, x: Any) -> Any:
    _, total = _SERIES(a, x)
    return e.mul(total, _scale(a, x))


def _complement(a: Any, x: Any, is_small: Any) -> Any:
    """What the series leaves of 1.

    Of a small shape that is the product of a with a number. There the lower function is
    x^a / Gamma(a+1) times 1 + a sum((-x)^n / (n! (a+n))).
    """
    one = terms.number(x, 1)
    _, total = _COMPLEMENT(a, x, e.convert(is_small, avals.aval_of(a).dtype))
    small = e.select(is_small, a, terms.like(a, 0.5))
    lead = e.sub(e.mul(small, e.log(x)), log_gamma.lgamma1p(small))
    product = e.mul(e.exp(lead), e.mul(small, total))
    by_product = e.neg(e.add(e.expm1(lead), product))
    difference = e.sub(one, e.mul(total, _scale(a, x)))
    out = e.select(is_small, by_product, difference)
    return e.max_(out, terms.number(x, 0))


def _fraction(a: Any, x: Any) -> Any:
    *_, h = _FRACTION(a, x)
    return e.mul(h, e.mul(a, _scale(a, x)))


def _fraction_start(a: Any, x: Any) -> tuple[Any, Any, Any]:
    d = e.div(terms.number(x, 1), e.add(e.sub(x, a), terms.number(x, 1)))
    return d, d, d


def _series_start(a: Any, x: Any) -> tuple[Any, Any]:
    return terms.like(x, 1), terms.like(x, 1)


def _complement_start(a: Any, x: Any, is_small: Any) -> tuple[Any, Any]:
    return terms.like(x, 1), e.sub(terms.like(x, 1), is_small)


_SERIES = Loop(_series_start, _series_step, 2)
_COMPLEMENT = Loop(_complement_start, _complement_step, 2)
_FRACTION = Loop(_fraction_start, _fraction_step, 3)


class _Regions:
    """Where a series, a fraction or an expansion is used, with harmless arguments for
    the others.
    """

    __slots__ = (
        "a",
        "by_series",
        "is_bad",
        "is_central",
        "is_endless",
        "is_flat",
        "is_infinite",
        "is_zero",
        "x",
    )

    def __init__(self, a: Any, x: Any) -> None:
        zero, one = terms.number(x, 0), terms.number(x, 1)
        infinity = terms.number(x, np.inf)
        not_numbers = e.bitwise_or(e.ne(a, a), e.ne(x, x))
        self.is_endless = e.eq(a, infinity)
        both_endless = e.bitwise_and(self.is_endless, e.eq(x, infinity))
        not_numbers = e.bitwise_or(not_numbers, both_endless)
        self.is_flat = e.bitwise_and(e.eq(a, zero), e.gt(x, zero))
        outside = e.bitwise_or(e.le(a, zero), e.lt(x, zero))
        outside = e.bitwise_and(outside, e.bitwise_not(self.is_flat))
        self.is_bad = e.bitwise_or(not_numbers, outside)
        self.is_zero = e.eq(x, zero)
        self.is_infinite = e.eq(x, infinity)
        special_case = self.is_bad
        for other in (self.is_flat, self.is_zero, self.is_infinite, self.is_endless):
            special_case = e.bitwise_or(special_case, other)
        self.a = e.select(special_case, one, a)
        self.x = e.select(special_case, one, x)
        self.is_central = igamma_expansion.is_central(self.a, self.x)
        self.by_series = e.lt(self.x, e.max_(self.a, one))

    def split(self) -> Any:
        """Arguments of the series, and of the fraction."""
        one, half, two = (terms.number(self.x, v) for v in (1, 0.5, 2))
        in_series = e.bitwise_and(self.by_series, e.bitwise_not(self.is_central))
        elsewhere = e.bitwise_or(self.by_series, self.is_central)
        return (
            e.select(in_series, self.a, one),
            e.select(in_series, self.x, half),
            e.select(elsewhere, one, self.a),
            e.select(elsewhere, two, self.x),
        )

    def near_large(self) -> tuple[Any, Any]:
        """Arguments of the expansion."""
        large = terms.like(self.a, 1e5)
        return (
            e.select(self.is_central, self.a, large),
            e.select(self.is_central, self.x, large),
        )

    def join_ends(
        self, inner: Any, at_zero: float, at_infinity: float, without_shape: float
    ) -> Any:
        """The result, with the values at the ends and where a is 0, and NaN outside."""
        x = inner
        at_start = e.bitwise_or(self.is_zero, self.is_endless)
        x = e.select(at_start, terms.number(x, at_zero), x)
        x = e.select(self.is_infinite, terms.number(x, at_infinity), x)
        x = e.select(self.is_flat, terms.number(x, without_shape), x)
        return e.select(self.is_bad, terms.number(x, np.nan), x)


@terms.wide
def _lower_gamma(a: Any, x: Any) -> Any:
    regions = _Regions(a, x)
    sa, sx, fa, fx = regions.split()
    one = terms.number(x, 1)
    by_series = e.min_(_series(sa, sx), one)
    inner = e.select(regions.by_series, by_series, e.sub(one, _fraction(fa, fx)))
    lower, _ = igamma_expansion.lower_and_upper(*regions.near_large())
    inner = e.select(regions.is_central, lower, inner)
    return regions.join_ends(inner, 0, 1, 1)


@terms.wide
def _upper_gamma(a: Any, x: Any) -> Any:
    regions = _Regions(a, x)
    sa, sx, fa, fx = regions.split()
    complement = _complement(sa, sx, e.lt(sa, terms.number(sa, 0.5)))
    inner = e.select(regions.by_series, complement, _fraction(fa, fx))
    _, upper = igamma_expansion.lower_and_upper(*regions.near_large())
    inner = e.select(regions.is_central, upper, inner)
    return regions.join_ends(inner, 1, 0, 0)


def _log_scale_slope(a: Any, x: Any) -> Any:
    return e.sub(e.log(x), special.digamma(e.add(a, terms.number(a, 1))))


def _series_slope_unscaled(a: Any, x: Any) -> Any:
    _, total, _, slope = _SERIES.with_tangents(True, False)(a, x, terms.like(a, 1))
    return e.add(slope, e.mul(total, _log_scale_slope(a, x)))


def _series_slope(a: Any, x: Any) -> Any:
    return e.mul(_series_slope_unscaled(a, x), e.exp(_log_scale(a, x)))


def _fraction_slope_unscaled(a: Any, x: Any) -> Any:
    values = _FRACTION.with_tangents(True, False)(a, x, terms.like(a, 1))
    total, slope = values[2], values[5]
    moved = e.add(e.div(terms.number(a, 1), a), _log_scale_slope(a, x))
    return e.add(slope, e.mul(total, moved))


def _fraction_slope(a: Any, x: Any) -> Any:
    scale = e.mul(a, e.exp(_log_scale(a, x)))
    return e.mul(scale, _fraction_slope_unscaled(a, x))


@terms.wide
def _gamma_slope(a: Any, x: Any) -> Any:
    regions = _Regions(a, x)
    sa, sx, fa, fx = regions.split()
    by_fraction = e.neg(_fraction_slope(fa, fx))
    inner = e.select(regions.by_series, _series_slope(sa, sx), by_fraction)
    a, x = regions.near_large()
    moved = e.mul(igamma_expansion.variate_slope(a, x), igamma_expansion.density(a, x))
    inner = e.select(regions.is_central, e.neg(moved), inner)
    return regions.join_ends(inner, 0, 0, np.nan)


@terms.wide
def _gamma_curvature(a: Any, x: Any) -> Any:
    """The second derivative in a."""
    still = Zero(avals.aval_of(x).to_tangent())
    _, (inner,) = ad.jvp(
        lambda *xs: [_gamma_slope(*xs)], [a, x], [terms.like(a, 1), still]
    )
    return _Regions(a, x).join_ends(inner, 0, 0, np.nan)


@terms.wide
def _gamma_density(a: Any, x: Any) -> Any:
    """The derivative of the lower function in x."""
    is_zero = e.eq(x, terms.number(x, 0))
    # A power, unlike its logarithm, has derivatives at 0.
    power = e.pow_(e.select(is_zero, x, terms.like(x, 1)), e.sub(a, terms.number(a, 1)))
    at_zero = e.mul(power, e.exp(e.sub(e.neg(x), special.lgamma(a))))
    elsewhere = _positive_density(a, e.select(is_zero, terms.like(x, 1), x))
    return e.select(is_zero, at_zero, elsewhere)


def _positive_density(a: Any, x: Any) -> Any:
    power = terms.times_log(e.sub(a, terms.number(a, 1)), e.log(x))
    plain = e.exp(e.sub(e.sub(power, x), special.lgamma(a)))
    inside = e.bitwise_and(
        e.gt(x, terms.number(x, 0)), e.lt(x, terms.number(x, np.inf))
    )
    is_large = e.bitwise_and(e.gt(a, terms.number(a, 20)), inside)
    safe_a, safe_x = (e.select(is_large, v, terms.like(a, 21)) for v in (a, x))
    shift = e.sub(e.log(safe_a), e.log(safe_x))
    by_distance = e.exp(e.add(log_scale_of_large(safe_a, safe_x), shift))
    endless = e.eq(a, terms.number(a, np.inf))
    plain = e.select(endless, terms.like(a, 0), e.select(is_large, by_distance, plain))
    is_central = igamma_expansion.is_central(a, x)
    large = terms.like(a, 1e5)
    a, x = (e.select(is_central, v, large) for v in (a, x))
    return e.select(is_central, igamma_expansion.density(a, x), plain)


@terms.wide
def _gamma_density_slope(a: Any, x: Any) -> Any:
    """The derivative of the density in a."""
    change = e.sub(e.log(x), special.digamma(a))
    density = _gamma_density(a, x)
    nothing = e.eq(density, terms.number(x, 0))
    return e.select(nothing, density, e.mul(density, change))


# -- the records -----------------------------------------------------------------------


igamma_grad_a_p = terms.elementwise(
    "igamma_grad_a",
    _gamma_slope,
    (
        lambda t, out, a, x: e.mul(t, _gamma_curvature(a, x)),
        lambda t, out, a, x: e.mul(t, _gamma_density_slope(a, x)),
    ),
)
igamma_p = terms.elementwise(
    "igamma",
    _lower_gamma,
    (
        lambda t, out, a, x: e.mul(t, igamma_grad_a(a, x)),
        lambda t, out, a, x: e.mul(t, _gamma_density(a, x)),
    ),
)
igammac_p = terms.elementwise(
    "igammac",
    _upper_gamma,
    (
        lambda t, out, a, x: e.neg(e.mul(t, igamma_grad_a(a, x))),
        lambda t, out, a, x: e.neg(e.mul(t, _gamma_density(a, x))),
    ),
)


@terms.wide
def _variate_slope(a: Any, x: Any) -> Any:
    """The slope of the lower function in a over the density, without the density.

    That cancels, and far from a there would be nothing left of it to divide by.
    """
    regions = _Regions(a, x)
    sa, sx, fa, fx = regions.split()
    by_series = e.neg(e.mul(_series_slope_unscaled(sa, sx), e.div(sx, sa)))
    by_fraction = e.mul(fx, _fraction_slope_unscaled(fa, fx))
    inner = e.select(regions.by_series, by_series, by_fraction)
    by_expansion = igamma_expansion.variate_slope(*regions.near_large())
    inner = e.select(regions.is_central, by_expansion, inner)
    return regions.join_ends(inner, 0, np.nan, np.nan)


@terms.wide
def _variate_curvature(a: Any, x: Any) -> Any:
    """Its derivative in a."""
    still = Zero(avals.aval_of(x).to_tangent())
    return ad.jvp(lambda *xs: [_variate_slope(*xs)], [a, x], [terms.like(a, 1), still])[
        1
    ][0]


def _variate_slope_in_x(t: Any, out: Any, a: Any, x: Any) -> Any:
    one = terms.number(x, 1)
    change = e.sub(e.log(x), special.digamma(a))
    tilt = e.sub(e.div(e.sub(a, one), x), one)
    return e.neg(e.mul(t, e.add(change, e.mul(out, tilt))))


random_gamma_grad_p = terms.elementwise(
    "random_gamma_grad",
    _variate_slope,
    (
        lambda t, out, a, x: e.mul(t, _variate_curvature(a, x)),
        _variate_slope_in_x,
    ),
)


# -- functions -------------------------------------------------------------------------


def igamma(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularized lower incomplete gamma function, elementwise.

    Args:
      a: positive floating array; 0 where x is positive gives 1.
      x: non-negative floating array; NaN is given outside.

    Example:
      >>> lax.igamma(1.0, jnp.array([0.0, jnp.inf]))
      Array([0., 1.], dtype=float32)
    """
    return igamma_p.bind(a, x)


def igammac(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularized upper incomplete gamma function, elementwise: 1 - igamma.

    Args:
      a: positive floating array; 0 where x is positive gives 0.
      x: non-negative floating array; NaN is given outside.

    Example:
      >>> lax.igammac(1.0, jnp.array([0.0, jnp.inf]))
      Array([1., 0.], dtype=float32)
    """
    return igammac_p.bind(a, x)


def igamma_grad_a(a: ArrayLike, x: ArrayLike) -> Array:
    """The derivative of `igamma` in `a`, elementwise.

    Args:
      a: positive floating array.
      x: non-negative floating array.

    Example:
      >>> lax.igamma_grad_a(jnp.array([1.0]), jnp.array([0.0]))
      Array([0.], dtype=float32)
    """
    return igamma_grad_a_p.bind(a, x)


def random_gamma_grad(a: ArrayLike, x: ArrayLike) -> Array:
    """Derivative of a gamma variate `x` with respect to its shape `a`, elementwise.

    Args:
      a: positive floating array.
      x: positive floating array, the variates.

    Example:
      >>> lax.random_gamma_grad(jnp.array([1.0]), jnp.array([1.0])).shape
      (1,)
    """
    return random_gamma_grad_p.bind(a, x)
