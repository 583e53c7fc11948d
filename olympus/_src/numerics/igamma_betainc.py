"""Incomplete gamma and beta functions, elementwise, by loops that run to convergence.

The regularized gamma function is a series where x is below max(a, 1), and one minus a
continued fraction elsewhere (Abramowitz, Stegun 6.5.29 and 6.5.31), but for another
expansion where a is large and x near it. The beta function is a continued fraction
(26.5.8). Fractions are evaluated by Lentz's method (Thompson, Barnett 1986). The
derivatives in the parameters carry tangents through the same loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.control_flow.while_loop import while_loop
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import ad
from olympus._src.lax import elementwise as e
from olympus._src.lax import families, reductions, shaping, sharding_rules, special
from olympus._src.numerics import igamma_expansion

_MAX_STEPS = 2000


def _number(x: Any, value: float) -> Any:
    return families.number_of(value, avals.aval_of(x).dtype)


def _like(x: Any, value: float) -> Any:
    return shaping.full_like(x, value)


def _epsilon(x: Any) -> Any:
    return _number(x, float(dtypes.finfo(avals.aval_of(x).dtype).eps))


def _any(flags: Any) -> Any:
    return reductions.reduce_or(flags, range(avals.aval_of(flags).ndim))


Step = Callable[..., tuple[Any, ...]]


def iterate(step: Step, state: tuple[Any, ...], operands: tuple[Any, ...]) -> Any:
    """Repeats `(n, state, operands) -> (state, unfinished)` until all are finished.

    An element that is finished keeps its state.
    """

    def going(carry: Any) -> Any:
        n, active, _ = carry
        return e.bitwise_and(_any(active), e.lt(n, np.int32(_MAX_STEPS)))

    def body(carry: Any) -> Any:
        n, active, old = carry
        count = e.convert(e.add(n, np.int32(1)), avals.aval_of(old[0]).dtype)
        new, unfinished = step(count, old, operands)
        next_state = tuple(
            [e.select(active, a, b) for a, b in zip(new, old, strict=True)]
        )
        return e.add(n, np.int32(1)), e.bitwise_and(active, unfinished), next_state

    active = e.eq(operands[0], operands[0])
    return while_loop(going, body, (np.int32(0), active, state))[2]


class _Loop:
    """What an iteration converges to, as an elementwise function of its operands.

    Args:
      start: `(*operands) -> state`.
      step: as in `iterate`.
      count: the size of the state.
      has_tangent: for each derivative that was taken, which operands have a nonzero
        tangent. These tangents follow the operands, derivative by derivative; the
        tangents of the state follow the state.
    """

    __slots__ = ("count", "has_tangent", "start", "step")

    def __init__(
        self,
        start: Callable[..., Any],
        step: Step,
        count: int,
        has_tangent: tuple[tuple[bool, ...], ...] = (),
    ) -> None:
        self.start, self.step, self.count, self.has_tangent = (
            start,
            step,
            count,
            has_tangent,
        )

    def _key(self) -> tuple[Any, ...]:
        return self.start, self.step, self.has_tangent

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Loop) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return self.step.__name__.strip("_")

    def along(self, *has_tangent: bool) -> _Loop:
        """The loop of the state and its tangents."""
        return _Loop(
            self.start, self.step, self.count, (*self.has_tangent, has_tangent)
        )

    def size(self) -> int:
        """How many results there are."""
        return self.count << len(self.has_tangent)

    def _without_last(self, operands: Any) -> tuple[_Loop, Any, list[Any]]:
        """The loop that was differentiated, its arguments, and their tangents."""
        *before, last = self.has_tangent
        own, directions = operands[: len(last)], iter(operands[len(last) :])
        tangents = [
            next(directions) if moves else Zero(avals.aval_of(g).to_tangent())
            for g, moves in zip(own, last, strict=True)
        ]
        return _Loop(self.start, self.step, self.count, tuple(before)), own, tangents

    def begin(self, operands: Any) -> tuple[Any, ...]:
        """The state to begin with."""
        if not self.has_tangent:
            return tuple(self.start(*operands))
        inner, own, tangents = self._without_last(operands)
        outs, moved = ad.jvp(lambda *xs: list(inner.begin(xs)), [*own], tangents)
        return (*outs, *_whole(outs, moved))

    def advance(self, n: Any, state: Any, operands: Any) -> Any:
        """One step. It is the last one if the tangents converged as well."""
        if not self.has_tangent:
            return self.step(n, state, operands)
        inner, own, tangents = self._without_last(operands)
        count = inner.size()
        values, slopes = state[:count], state[count:]

        def advance(*xs: Any) -> Any:
            new, unfinished = inner.advance(n, xs[:count], xs[count:])
            return [*new, unfinished]

        outs, moved = ad.jvp(advance, [*values, *own], [*slopes, *tangents])
        *new, unfinished = outs
        new_slopes = _whole(new, moved[:count])
        change = e.abs_(e.sub(new_slopes[-1], slopes[-1]))
        bound = e.mul(e.abs_(new_slopes[-1]), _epsilon(change))
        unfinished = e.bitwise_or(unfinished, e.gt(change, bound))
        return (*new, *new_slopes), unfinished

    def __call__(self, *operands: Any) -> Any:
        """The final state."""
        return loop_p.bind(*operands, loop=self)


def _whole(values: Any, tangents: Any) -> list[Any]:
    return [
        _like(v, 0) if type(t) is Zero else t
        for v, t in zip(values, tangents, strict=True)
    ]


def _loop_abstract(*operands: Any, loop: _Loop) -> Any:
    return [avals.ShapedArray(operands[0].shape, operands[0].dtype)] * loop.size()


def _loop_decompose(*operands: Any, loop: _Loop) -> Any:
    return list(iterate(loop.advance, loop.begin(operands), operands))


def _loop_jvp(primals: Any, tangents: Any, *, loop: _Loop) -> Any:
    """Slopes times tangents, as of any elementwise function of a few numbers.

    The slopes are computed beside the values, by loops that carry tangents forwards,
    so what depends on the tangents can be transposed.
    """
    outs, size = loop(*primals), loop.size()
    sums: list[Any] = [Zero(avals.aval_of(o).to_tangent()) for o in outs]
    for i, t in enumerate(tangents):
        if type(t) is Zero:
            continue
        derivative = loop.along(*[i == k for k in range(len(primals))])
        slopes = derivative(*primals, _like(primals[i], 1))[size:]
        sums = [
            families.add_tangents(total, e.mul(t, slope))
            for total, slope in zip(sums, slopes, strict=True)
        ]
    return outs, sums


def _loop_batch(axis: Any, args: Any, dims: Any, *, loop: _Loop) -> Any:
    args = [
        families.insert_axis(x, 0, axis.size)
        if d is None
        else families.move_axis(x, d, 0)
        for x, d in zip(args, dims, strict=True)
    ]
    return loop(*args), [0] * loop.size()


loop_p = Primitive(
    "converging_loop",
    shard=sharding_rules.keep_each_joined,
    multiple_results=True,
    abstract=_loop_abstract,
    decompose=_loop_decompose,
    jvp=_loop_jvp,
    batch=_loop_batch,
)


# -- the gamma function ----------------------------------------------------------------


def _series_step(n: Any, state: Any, operands: Any) -> Any:
    """Terms x^n / ((a+1) ... (a+n)) and their sum."""
    term, total = state
    a, x = operands
    term = e.mul(term, e.div(x, e.add(a, n)))
    total = e.add(total, term)
    return (term, total), e.gt(term, e.mul(total, _epsilon(total)))


def _fraction_step(n: Any, state: Any, operands: Any) -> Any:
    """Lentz's method for 1 / (x+1-a - 1(1-a) / (x+3-a - ...))."""
    c, d, h = state
    a, x = operands
    tiny = _number(x, float(dtypes.finfo(avals.aval_of(x).dtype).tiny) * 1e3)
    numerator = e.mul(n, e.sub(a, n))
    b = e.add(e.sub(x, a), e.add(e.mul(n, _number(x, 2)), _number(x, 1)))

    def nonzero(v: Any) -> Any:
        return e.select(e.lt(e.abs_(v), tiny), tiny, v)

    d = e.div(_number(x, 1), nonzero(e.add(e.mul(numerator, d), b)))
    c = nonzero(e.add(b, e.div(numerator, c)))
    factor = e.mul(c, d)
    change = e.abs_(e.sub(factor, _number(x, 1)))
    return (c, d, e.mul(h, factor)), e.gt(change, _epsilon(x))


def _log_scale(a: Any, x: Any) -> Any:
    """The logarithm of x^a exp(-x) / Gamma(a+1), what the series is multiplied with."""
    one = _number(a, 1)
    return e.sub(e.sub(e.mul(a, e.log(x)), x), special.lgamma(e.add(a, one)))


def _scale(a: Any, x: Any) -> Any:
    """x^a exp(-x) / Gamma(a+1); for large a by powers.

    The exponential of its logarithm loses as many digits as a has: the powers are
    (x/a)^a exp(a-x), halved so that neither leaves the range of floats alone, over what
    Stirling's formula leaves of the gamma function.
    """
    one, half = _number(a, 1), _number(a, 0.5)
    ratio, change = _divide_exactly(x, a)
    double = dtypes.itemsize_bits(avals.aval_of(a).dtype) == 64
    limit = _number(a, 1200 if double else 150)
    fits = e.bitwise_and(
        e.lt(e.abs_(e.mul(a, e.log(ratio))), limit), e.lt(e.abs_(e.sub(a, x)), limit)
    )
    is_large = e.gt(a, _number(a, 20))
    fits = e.bitwise_and(fits, is_large)
    safe = e.select(is_large, a, _like(a, 20))
    ratio = e.select(fits, ratio, _like(a, 1))
    difference = e.select(fits, e.sub(a, x), _like(a, 0))
    correction = e.add(
        one, e.mul(e.mul(half, safe), e.select(fits, change, _like(a, 0)))
    )
    root = e.mul(e.pow_(ratio, e.mul(half, safe)), e.exp(e.mul(half, difference)))
    root = e.mul(root, correction)
    left = e.exp(e.neg(_stirling(safe)))
    left = e.mul(left, e.rsqrt(e.mul(safe, _number(a, 2 * np.pi))))
    by_powers = e.mul(e.mul(root, left), root)
    gap = e.div(e.sub(x, safe), safe)
    by_distance = e.mul(e.exp(e.mul(safe, _log1p_without_lead(gap))), left)
    plain = e.select(is_large, by_distance, e.exp(_log_scale(a, x)))
    return e.select(fits, by_powers, plain)


def _log1p_without_lead(x: Any) -> Any:
    """log(1 + x) - x, whose terms cancel near 0."""
    near = e.lt(e.abs_(x), _number(x, 0.1))
    small = e.select(near, x, _like(x, 0))
    total = _like(x, -1 / 16)
    for k in range(15, 1, -1):
        total = e.add(e.mul(total, small), _number(x, (-1) ** (k + 1) / k))
    series = e.mul(e.mul(small, small), total)
    return e.select(near, series, e.sub(e.log1p(x), x))


def _stirling(a: Any) -> Any:
    """Stirling's correction to the logarithm of the gamma function of a + 1, a > 20."""
    inverse = e.div(_number(a, 1), a)
    square = e.mul(inverse, inverse)
    total = _number(a, -1 / 1680)
    for c in (1 / 1260, -1 / 360, 1 / 12):  # Abramowitz, Stegun 6.1.41
        total = e.add(e.mul(total, square), _number(a, c))
    return e.mul(total, inverse)


def _divide_exactly(n: Any, d: Any) -> tuple[Any, Any]:
    """`n / d` rounded, and the share of itself that it lacks (T. J. Dekker, 1971)."""
    q = e.div(n, d)
    (qh, ql), (dh, dl) = _halves(q), _halves(d)
    product = e.mul(q, d)
    tail = e.sub(e.mul(qh, dh), product)
    for u, v in ((qh, dl), (ql, dh), (ql, dl)):
        tail = e.add(tail, e.mul(u, v))
    return q, e.div(e.sub(e.sub(n, product), tail), n)


def _halves(x: Any) -> tuple[Any, Any]:
    double = dtypes.itemsize_bits(avals.aval_of(x).dtype) == 64
    moved = e.mul(x, _number(x, 2.0**27 + 1 if double else 2.0**12 + 1))
    high = e.sub(moved, e.sub(moved, x))
    return high, e.sub(x, high)


def _series(a: Any, x: Any) -> Any:
    _, total = _SERIES(a, x)
    return e.mul(total, _scale(a, x))


def _fraction(a: Any, x: Any) -> Any:
    *_, h = _FRACTION(a, x)
    return e.mul(h, e.mul(a, _scale(a, x)))


def _fraction_start(a: Any, x: Any) -> tuple[Any, Any, Any]:
    b = e.add(e.sub(x, a), _number(x, 1))
    safe = e.select(e.eq(b, _number(b, 0)), _epsilon(b), b)
    d = e.div(_number(x, 1), safe)
    return _like(x, 1 / float(dtypes.finfo(avals.aval_of(x).dtype).tiny) / 1e3), d, d


def _series_start(a: Any, x: Any) -> tuple[Any, Any]:
    return _like(x, 1), _like(x, 1)


_SERIES = _Loop(_series_start, _series_step, 2)
_FRACTION = _Loop(_fraction_start, _fraction_step, 3)


class _Regions:
    """Where a series, a fraction or an expansion is used, with harmless arguments for
    the others.
    """

    __slots__ = (
        "a",
        "by_series",
        "is_bad",
        "is_central",
        "is_flat",
        "is_infinite",
        "is_zero",
        "x",
    )

    def __init__(self, a: Any, x: Any) -> None:
        zero, one = _number(x, 0), _number(x, 1)
        not_numbers = e.bitwise_or(e.ne(a, a), e.ne(x, x))
        self.is_flat = e.bitwise_and(e.eq(a, zero), e.gt(x, zero))
        outside = e.bitwise_or(e.le(a, zero), e.lt(x, zero))
        outside = e.bitwise_and(outside, e.bitwise_not(self.is_flat))
        self.is_bad = e.bitwise_or(not_numbers, outside)
        self.is_zero = e.eq(x, zero)
        self.is_infinite = e.eq(x, _number(x, np.inf))
        special_case = e.bitwise_or(
            e.bitwise_or(self.is_bad, self.is_flat),
            e.bitwise_or(self.is_zero, self.is_infinite),
        )
        self.a = e.select(special_case, one, a)
        self.x = e.select(special_case, one, x)
        self.is_central = igamma_expansion.is_central(self.a, self.x)
        self.by_series = e.lt(self.x, e.max_(self.a, one))

    def split(self) -> Any:
        """Arguments of the series, and of the fraction."""
        one, half, two = (_number(self.x, v) for v in (1, 0.5, 2))
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
        large = _like(self.a, 1e5)
        return (
            e.select(self.is_central, self.a, large),
            e.select(self.is_central, self.x, large),
        )

    def joined(
        self, inner: Any, at_zero: float, at_infinity: float, without_shape: float
    ) -> Any:
        """The result, with the values at the ends and where a is 0, and NaN outside."""
        x = inner
        x = e.select(self.is_zero, _number(x, at_zero), x)
        x = e.select(self.is_infinite, _number(x, at_infinity), x)
        x = e.select(self.is_flat, _number(x, without_shape), x)
        return e.select(self.is_bad, _number(x, np.nan), x)


def _wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """Computes small floats in float32, and scalars with arrays as arrays."""

    def run(*xs: Any) -> Any:
        kinds = [avals.aval_of(x) for x in xs]
        shape = max([k.shape for k in kinds], key=len)
        dtype = kinds[0].dtype
        wide = dtype if dtypes.itemsize_bits(dtype) >= 32 else np.dtype(np.float32)
        grown = [
            e.convert(x if k.shape == shape else shaping.broadcast(x, shape), wide)
            for x, k in zip(xs, kinds, strict=True)
        ]
        return e.convert(function(*grown), dtype)

    return run


@_wide
def _lower_gamma(a: Any, x: Any) -> Any:
    regions = _Regions(a, x)
    sa, sx, fa, fx = regions.split()
    complement = e.sub(_number(x, 1), _fraction(fa, fx))
    inner = e.select(regions.by_series, _series(sa, sx), complement)
    lower, _ = igamma_expansion.lower_and_upper(*regions.near_large())
    inner = e.select(regions.is_central, lower, inner)
    return regions.joined(inner, 0, 1, 1)


@_wide
def _upper_gamma(a: Any, x: Any) -> Any:
    regions = _Regions(a, x)
    sa, sx, fa, fx = regions.split()
    complement = e.sub(_number(x, 1), _series(sa, sx))
    inner = e.select(regions.by_series, complement, _fraction(fa, fx))
    _, upper = igamma_expansion.lower_and_upper(*regions.near_large())
    inner = e.select(regions.is_central, upper, inner)
    return regions.joined(inner, 1, 0, 0)


def _log_scale_slope(a: Any, x: Any) -> Any:
    return e.sub(e.log(x), special.digamma(e.add(a, _number(a, 1))))


def _series_slope_unscaled(a: Any, x: Any) -> Any:
    _, total, _, slope = _SERIES.along(True, False)(a, x, _like(a, 1))
    return e.add(slope, e.mul(total, _log_scale_slope(a, x)))


def _series_slope(a: Any, x: Any) -> Any:
    return e.mul(_series_slope_unscaled(a, x), e.exp(_log_scale(a, x)))


def _fraction_slope_unscaled(a: Any, x: Any) -> Any:
    values = _FRACTION.along(True, False)(a, x, _like(a, 1))
    total, slope = values[2], values[5]
    moved = e.add(e.div(_number(a, 1), a), _log_scale_slope(a, x))
    return e.add(slope, e.mul(total, moved))


def _fraction_slope(a: Any, x: Any) -> Any:
    scale = e.mul(a, e.exp(_log_scale(a, x)))
    return e.mul(scale, _fraction_slope_unscaled(a, x))


@_wide
def _gamma_slope(a: Any, x: Any) -> Any:
    regions = _Regions(a, x)
    sa, sx, fa, fx = regions.split()
    by_fraction = e.neg(_fraction_slope(fa, fx))
    inner = e.select(regions.by_series, _series_slope(sa, sx), by_fraction)
    a, x = regions.near_large()
    moved = e.mul(igamma_expansion.variate_slope(a, x), igamma_expansion.density(a, x))
    inner = e.select(regions.is_central, e.neg(moved), inner)
    return regions.joined(inner, 0, 0, np.nan)


@_wide
def _gamma_curvature(a: Any, x: Any) -> Any:
    """The second derivative in a."""
    still = Zero(avals.aval_of(x).to_tangent())
    _, (inner,) = ad.jvp(lambda *xs: [_gamma_slope(*xs)], [a, x], [_like(a, 1), still])
    return _Regions(a, x).joined(inner, 0, 0, np.nan)


def _times_log(power: Any, log: Any) -> Any:
    """`power * log`, and 0 where the power is, for the logarithm of 0^0 = 1."""
    nothing = e.eq(power, _number(power, 0))
    return e.select(nothing, _like(log, 0), e.mul(power, log))


@_wide
def _gamma_density(a: Any, x: Any) -> Any:
    """The derivative of the lower function in x."""
    power = _times_log(e.sub(a, _number(a, 1)), e.log(x))
    plain = e.exp(e.sub(e.sub(power, x), special.lgamma(a)))
    is_central = igamma_expansion.is_central(a, x)
    large = _like(a, 1e5)
    a, x = (e.select(is_central, v, large) for v in (a, x))
    return e.select(is_central, igamma_expansion.density(a, x), plain)


@_wide
def _gamma_density_slope(a: Any, x: Any) -> Any:
    """The derivative of the density in a."""
    change = e.sub(e.log(x), special.digamma(a))
    density = _gamma_density(a, x)
    nothing = e.eq(density, _number(x, 0))
    return e.select(nothing, density, e.mul(density, change))


# -- the beta function -----------------------------------------------------------------


def _beta_step(n: Any, state: Any, operands: Any) -> Any:
    """Two of Lentz's steps: the even and the odd coefficient."""
    c, d, h = state
    a, b, x = operands
    one, two = _number(x, 1), _number(x, 2)
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
    return (c, d, h), e.gt(change, _epsilon(x))


def _beta_fraction(a: Any, b: Any, x: Any) -> Any:
    *_, h = _BETA(a, b, x)
    return e.div(h, a)


def _beta_start(a: Any, b: Any, x: Any) -> tuple[Any, Any, Any]:
    one = _number(x, 1)
    slope = e.div(e.mul(e.add(a, b), x), e.add(a, one))
    d = e.div(one, e.sub(one, slope))
    return _like(x, 1), d, d


_BETA = _Loop(_beta_start, _beta_step, 3)


def _log_beta_scale(a: Any, b: Any, x: Any) -> Any:
    """The logarithm of x^a (1-x)^b / B(a, b)."""
    powers = e.add(_times_log(a, e.log(x)), _times_log(b, e.log1p(e.neg(x))))
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
        zero, one, half = (_number(x, v) for v in (0, 1, 0.5))
        inside = e.bitwise_and(e.gt(x, zero), e.lt(x, one))
        self.good = e.bitwise_and(e.gt(a, zero), e.gt(b, zero))
        usual = e.bitwise_and(inside, self.good)
        a, b = (e.select(usual, v, one) for v in (a, b))
        self.x, x = x, e.select(usual, x, half)
        mean = e.div(e.add(a, one), e.add(e.add(a, b), _number(x, 2)))
        self.swapped = e.gt(x, mean)
        self.p, self.q = e.select(self.swapped, b, a), e.select(self.swapped, a, b)
        self.y = e.select(self.swapped, e.sub(one, x), x)

    def joined(self, inner: Any, at_zero: float, at_one: float) -> Any:
        """The result, with the values at the ends and NaN outside."""
        x, out = self.x, inner
        zero, one = _number(x, 0), _number(x, 1)
        for end, value in ((zero, at_zero), (one, at_one)):
            out = e.select(e.eq(x, end), _number(x, value), out)
        ends = e.bitwise_and(e.ge(x, zero), e.le(x, one))
        return e.select(e.bitwise_and(self.good, ends), out, _number(x, np.nan))


@_wide
def _beta(a: Any, b: Any, x: Any) -> Any:
    r = _BetaRegions(a, b, x)
    part = e.mul(_beta_fraction(r.p, r.q, r.y), e.exp(_log_beta_scale(r.p, r.q, r.y)))
    return r.joined(e.select(r.swapped, e.sub(_number(x, 1), part), part), 0, 1)


def _beta_slope(which: int) -> Callable[..., Any]:
    """The derivative in a (0) or b (1), by tangents through the fraction's loop."""

    @_wide
    def slope(a: Any, b: Any, x: Any) -> Any:
        r = _BetaRegions(a, b, x)
        zero, one = _like(x, 0), _like(x, 1)
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


# -- the records -----------------------------------------------------------------------


def _elementwise(name: str, decompose: Any, derivatives: Any) -> Primitive:
    return families.elementwise(
        name,
        accepts=families.FLOAT,
        decompose=decompose,
        derivatives=derivatives,
    )


igamma_grad_a_p = _elementwise(
    "igamma_grad_a",
    _gamma_slope,
    (
        lambda t, out, a, x: e.mul(t, _gamma_curvature(a, x)),
        lambda t, out, a, x: e.mul(t, _gamma_density_slope(a, x)),
    ),
)
igamma_p = _elementwise(
    "igamma",
    _lower_gamma,
    (
        lambda t, out, a, x: e.mul(t, igamma_grad_a(a, x)),
        lambda t, out, a, x: e.mul(t, _gamma_density(a, x)),
    ),
)
igammac_p = _elementwise(
    "igammac",
    _upper_gamma,
    (
        lambda t, out, a, x: e.neg(e.mul(t, igamma_grad_a(a, x))),
        lambda t, out, a, x: e.neg(e.mul(t, _gamma_density(a, x))),
    ),
)


@_wide
def _beta_density(a: Any, b: Any, x: Any) -> Any:
    one = _number(x, 1)
    low = _times_log(e.sub(a, one), e.log(x))
    high = _times_log(e.sub(b, one), e.log1p(e.neg(x)))
    return e.exp(e.sub(e.add(low, high), _log_beta(a, b)))


_beta_slope_in_a, _beta_slope_in_b = _beta_slope(0), _beta_slope(1)
regularized_incomplete_beta_p = _elementwise(
    "regularized_incomplete_beta",
    _beta,
    (
        lambda t, out, a, b, x: e.mul(t, _beta_slope_in_a(a, b, x)),
        lambda t, out, a, b, x: e.mul(t, _beta_slope_in_b(a, b, x)),
        lambda t, out, a, b, x: e.mul(t, _beta_density(a, b, x)),
    ),
)


@_wide
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
    return regions.joined(inner, 0, np.nan, np.nan)


@_wide
def _variate_curvature(a: Any, x: Any) -> Any:
    """Its derivative in a."""
    still = Zero(avals.aval_of(x).to_tangent())
    return ad.jvp(lambda *xs: [_variate_slope(*xs)], [a, x], [_like(a, 1), still])[1][0]


def _variate_slope_in_x(t: Any, out: Any, a: Any, x: Any) -> Any:
    one = _number(x, 1)
    change = e.sub(e.log(x), special.digamma(a))
    tilt = e.sub(e.div(e.sub(a, one), x), one)
    return e.neg(e.mul(t, e.add(change, e.mul(out, tilt))))


random_gamma_grad_p = _elementwise(
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
