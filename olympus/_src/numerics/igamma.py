"""Incomplete gamma functions, elementwise, by loops that run to convergence.

The regularized gamma function is a series where x is below max(a, 1), and one minus a
continued fraction elsewhere (Abramowitz, Stegun 6.5.29 and 6.5.31), but for another
expansion where a is large and x near it. Fractions are evaluated by Lentz's method
(Thompson, Barnett 1986). The derivatives in the parameters carry tangents through the
same loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import ad
from olympus._src.lax import elementwise as e
from olympus._src.lax import special
from olympus._src.numerics import gamma_terms as terms
from olympus._src.numerics import igamma_expansion
from olympus._src.numerics.converging_loop import Loop


def _series_step(n: Any, state: Any, operands: Any) -> Any:
    """Terms x^n / ((a+1) ... (a+n)) and their sum."""
    term, total = state
    a, x = operands
    term = e.mul(term, e.div(x, e.add(a, n)))
    total = e.add(total, term)
    return (term, total), e.gt(term, e.mul(total, terms.epsilon(total)))


def _fraction_step(n: Any, state: Any, operands: Any) -> Any:
    """Lentz's method for 1 / (x+1-a - 1(1-a) / (x+3-a - ...))."""
    c, d, h = state
    a, x = operands
    tiny = terms.number(x, float(dtypes.finfo(avals.aval_of(x).dtype).tiny) * 1e3)
    numerator = e.mul(n, e.sub(a, n))
    b = e.add(e.sub(x, a), e.add(e.mul(n, terms.number(x, 2)), terms.number(x, 1)))

    def nonzero(v: Any) -> Any:
        return e.select(e.lt(e.abs_(v), tiny), tiny, v)

    d = e.div(terms.number(x, 1), nonzero(e.add(e.mul(numerator, d), b)))
    c = nonzero(e.add(b, e.div(numerator, c)))
    factor = e.mul(c, d)
    change = e.abs_(e.sub(factor, terms.number(x, 1)))
    return (c, d, e.mul(h, factor)), e.gt(change, terms.epsilon(x))


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
    """x^a exp(-x) / Gamma(a+1); for large a by powers.

    The exponential of its logarithm loses as many digits as a has: the powers are
    (x/a)^a exp(a-x), halved so that neither leaves the range of floats alone, over what
    Stirling's formula leaves of the gamma function.
    """
    one, half = terms.number(a, 1), terms.number(a, 0.5)
    ratio, change = terms.divide_exactly(x, a)
    double = dtypes.itemsize_bits(avals.aval_of(a).dtype) == 64
    limit = terms.number(a, 1200 if double else 150)
    fits = e.bitwise_and(
        e.lt(e.abs_(e.mul(a, e.log(ratio))), limit), e.lt(e.abs_(e.sub(a, x)), limit)
    )
    is_large = e.gt(a, terms.number(a, 20))
    fits = e.bitwise_and(fits, is_large)
    safe = e.select(is_large, a, terms.like(a, 20))
    ratio = e.select(fits, ratio, terms.like(a, 1))
    difference = e.select(fits, e.sub(a, x), terms.like(a, 0))
    correction = e.add(
        one, e.mul(e.mul(half, safe), e.select(fits, change, terms.like(a, 0)))
    )
    root = e.mul(e.pow_(ratio, e.mul(half, safe)), e.exp(e.mul(half, difference)))
    root = e.mul(root, correction)
    left = e.exp(e.neg(terms.stirling(safe)))
    left = e.mul(left, e.rsqrt(e.mul(safe, terms.number(a, 2 * np.pi))))
    by_powers = e.mul(e.mul(root, left), root)
    gap = e.div(e.sub(x, safe), safe)
    by_distance = e.mul(e.exp(e.mul(safe, terms.log1p_without_lead(gap))), left)
    plain = e.select(is_large, by_distance, e.exp(_log_scale(a, x)))
    return e.select(fits, by_powers, plain)


def _series(a: Any, x: Any) -> Any:
    _, total = _SERIES(a, x)
    return e.mul(total, _scale(a, x))


def _fraction(a: Any, x: Any) -> Any:
    *_, h = _FRACTION(a, x)
    return e.mul(h, e.mul(a, _scale(a, x)))


def _fraction_start(a: Any, x: Any) -> tuple[Any, Any, Any]:
    b = e.add(e.sub(x, a), terms.number(x, 1))
    safe = e.select(e.eq(b, terms.number(b, 0)), terms.epsilon(b), b)
    d = e.div(terms.number(x, 1), safe)
    return (
        terms.like(x, 1 / float(dtypes.finfo(avals.aval_of(x).dtype).tiny) / 1e3),
        d,
        d,
    )


def _series_start(a: Any, x: Any) -> tuple[Any, Any]:
    return terms.like(x, 1), terms.like(x, 1)


_SERIES = Loop(_series_start, _series_step, 2)
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
    complement = e.sub(terms.number(x, 1), _fraction(fa, fx))
    inner = e.select(regions.by_series, _series(sa, sx), complement)
    lower, _ = igamma_expansion.lower_and_upper(*regions.near_large())
    inner = e.select(regions.is_central, lower, inner)
    return regions.join_ends(inner, 0, 1, 1)


@terms.wide
def _upper_gamma(a: Any, x: Any) -> Any:
    regions = _Regions(a, x)
    sa, sx, fa, fx = regions.split()
    complement = e.sub(terms.number(x, 1), _series(sa, sx))
    complement = e.max_(complement, terms.number(x, 0))
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
