"""Distributions of counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.control_flow import scan as scans
from olympus._src.control_flow import while_loop as loops
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    DTypeLike,
    KeyArray,
    Placement,
    Shape,
)
from olympus._src.lax import cumulative, reductions, shaping, sizes, special
from olympus._src.lax import elementwise as ew
from olympus._src.numerics import gamma_terms
from olympus._src.numpy import promotion
from olympus._src.random import arguments, keys
from olympus._src.random.arguments import (
    as_dtype,
    broadcast_parameter,
    number,
    one_program,
)
from olympus._src.random.continuous import parameters
from olympus._src.random.uniform import draw_uniform, split_in

_BOOL = np.dtype(np.bool_)


def _any(mask: Any) -> Any:
    return reductions.reduce_or(mask, tuple(range(avals.aval_of(mask).ndim)))


def _constant(value: Any, shape: Any, dtype: Any) -> Any:
    return shaping.full(shape, number(value, dtype))


class _Numbers:
    """Numbers of one dtype, for formulas that combine them with arrays."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __call__(self, value: float) -> Any:
        return number(value, self.dtype)


def _draw_pair(u_key: Any, v_key: Any, shape: Any, n: _Numbers) -> tuple[Any, ...]:
    """U uniform from -1/2 to 1/2; 1/2 - |u|; and v uniform from 0 to 1."""
    u = ew.sub(draw_uniform(u_key, shape, n.dtype), n(0.5))
    v = draw_uniform(v_key, shape, n.dtype)
    return u, ew.sub(n(0.5), ew.abs_(u)), v


def _until_accepted(key: Any, trial: Any, shape: Any, dtype: Any) -> Any:
    """What `trial(keys)` returns, per element from the first time it is accepted.

    The key may have served another method: elements take the numbers of one of the two.

    `trial(key, key)` returns values and whether each is accepted.
    """

    def is_running(state: Any) -> Any:
        return _any(ew.bitwise_not(state[1]))

    def again(state: Any) -> Any:
        out, done, key = state
        key, first, second = split_in(key, 3)
        value, accepted = trial(first, second)
        # An element that was accepted before takes a later accepted value too: all
        # are of the distribution, and whether it does hangs on others alone.
        return ew.select(accepted, value, out), ew.bitwise_or(done, accepted), key

    key = keys.random_clone_p.bind(key)
    first = (_constant(-1, shape, dtype), _constant(False, shape, _BOOL), key)
    return loops.while_loop(is_running, again, first)[0]


# -- Poisson ---------------------------------------------------------------------------

# From this mean on rejection is used, which needs few draws whatever the mean.
_REJECTION_FROM = 10.0


@promotion.divides_result("random.poisson")
def poisson(
    key: KeyArray,
    lam: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    method: str | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Counts of events that happen independently at a mean rate.

    Args:
      key: one key.
      lam: means, not negative.
      shape: shape of the result, to which `lam` broadcasts; default that of `lam`.
      dtype: integer dtype; default the default one.
      method: None.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Integers [*shape]; -1 where the mean is negative or NaN.

    Raises:
      ValueError: several keys are given, the dtype is of the wrong kind, or `lam` does
        not broadcast to `shape`.
      NotImplementedError: the generator of the key is not Threefry.

    Source: Knuth, "The art of computer programming", volume 2, 3.4.1, for means below
      10; else Hörmann, "The transformed rejection method for generating Poisson random
      variables" (1993), algorithm PTRS.

    Example:
      >>> from olympus import random
      >>> random.poisson(random.key(0), 3.0, shape=(2,)).dtype
      dtype('int32')
    """
    key = keys.single_key("poisson", key)
    if method is not None:
        raise ValueError(
            f"random.poisson: method must be None, which chooses by the mean, got "
            f"{method!r}; leave it out"
        )
    kind: Any = key.dtype
    name = kind.implementation.name
    if name != "threefry2x32":
        raise NotImplementedError(
            f"random.poisson: keys must be of the generator threefry2x32, got {name}; "
            "make one with random.key(seed, impl='threefry2x32')"
        )
    dtype = arguments.integer_dtype("poisson", dtype, ValueError)
    shape = arguments.result_shape("poisson", shape, lam)
    return _poisson(key, lam, shape=shape, dtype=dtype)


@one_program
def _poisson(key: Any, lam: Any, *, shape: Any, dtype: Any) -> Any:
    real = np.dtype(np.float32)
    lam = broadcast_parameter(as_dtype(lam, real), shape)
    n = _Numbers(real)
    small = ew.bitwise_or(ew.ne(lam, lam), ew.lt(lam, n(_REJECTION_FROM)))
    # Each method gets a harmless mean where the other one is used.
    by_product = _poisson_by_product(
        key, ew.select(small, lam, _constant(0, shape, real)), dtype
    )
    by_rejection = _poisson_by_rejection(
        key, ew.select(small, _constant(1e5, shape, real), lam), dtype
    )
    out = ew.select(small, by_product, by_rejection)
    return ew.select(ew.eq(lam, n(0)), _constant(0, shape, dtype), out)


def _poisson_by_product(key: Any, lam: Any, dtype: Any) -> Any:
    """How many uniform numbers keep their product above exp(-lam)."""
    aval = avals.aval_of(lam)
    bound = ew.neg(lam)
    limit = number(int(dtypes.iinfo(dtype).max), dtype)

    def is_running(state: Any) -> Any:
        turn, _, log_product, _ = state
        return ew.bitwise_and(_any(ew.gt(log_product, bound)), ew.lt(turn, limit))

    def again(state: Any) -> Any:
        turn, count, log_product, key = state
        key, subkey = split_in(key, 2)
        more = ew.add(count, number(1, dtype))
        count = ew.select(ew.gt(log_product, bound), more, count)
        u = draw_uniform(subkey, aval.shape, aval.dtype)
        turn = ew.add(turn, number(1, dtype))
        return turn, count, ew.add(log_product, ew.log(u)), key

    first = (
        number(0, dtype),
        _constant(0, aval.shape, dtype),
        _constant(0, aval.shape, aval.dtype),
        key,
    )
    count = loops.while_loop(is_running, again, first)[1]
    return ew.sub(count, number(1, dtype))


def _poisson_by_rejection(key: Any, lam: Any, dtype: Any) -> Any:
    """PTRS; the constants are the paper's."""
    aval = avals.aval_of(lam)
    n = _Numbers(aval.dtype)
    log_lam = ew.log(lam)
    b = ew.add(n(0.931), ew.mul(n(2.53), ew.sqrt(lam)))
    a = ew.add(n(-0.059), ew.mul(n(0.02483), b))
    inverse_alpha = ew.add(n(1.1239), ew.div(n(1.1328), ew.sub(b, n(3.4))))
    v_r = ew.sub(n(0.9277), ew.div(n(3.6224), ew.sub(b, n(2))))
    is_many = ew.ge(lam, n(_many(aval.dtype)))
    log_constant = ew.add(log_lam, n(0.5 * math.log(2 * math.pi)))

    def trial(u_key: Any, v_key: Any) -> Any:
        u, us, v = _draw_pair(u_key, v_key, aval.shape, n)
        slope = ew.add(ew.div(ew.mul(n(2), a), us), b)
        k = ew.floor(ew.add(ew.add(ew.mul(slope, u), lam), n(0.43)))
        hat = ew.add(ew.div(a, ew.mul(us, us)), b)
        s = ew.log(ew.div(ew.mul(v, inverse_alpha), hat))
        t = ew.sub(
            ew.add(ew.neg(lam), ew.mul(k, log_lam)), special.lgamma(ew.add(k, n(1)))
        )
        distance = ew.sub(_log_poisson(ew.sub(lam, k), k), log_constant)
        t = ew.select(is_many, distance, t)
        quick = ew.bitwise_and(ew.ge(us, n(0.07)), ew.le(v, v_r))
        corner = ew.bitwise_and(ew.lt(us, n(0.013)), ew.gt(v, us))
        refused = ew.bitwise_or(ew.lt(k, n(0)), corner)
        exact = ew.bitwise_and(ew.bitwise_not(refused), ew.le(s, t))
        return k, ew.bitwise_or(quick, exact)

    return as_dtype(_until_accepted(key, trial, aval.shape, aval.dtype), dtype)


# -- geometric -------------------------------------------------------------------------


@promotion.divides_result("random.geometric")
def geometric(
    key: KeyArray,
    p: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """How many trials it takes to the first success.

    Args:
      key: one key.
      p: probability of success in each trial.
      shape: shape of the result, to which `p` broadcasts; default that of `p`.
      dtype: integer dtype; default the default one.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Integers [*shape] from 1 on.

    Raises:
      ValueError: several keys are given, the dtype is of the wrong kind, or `p` does
        not broadcast to `shape`.

    Example:
      >>> from olympus import random
      >>> random.geometric(random.key(0), 0.5, shape=(4,)).min() >= 1
      Array(True, dtype=bool)
    """
    key = keys.single_key("geometric", key)
    dtype = arguments.integer_dtype("geometric", dtype, ValueError)
    shape = arguments.result_shape("geometric", shape, p)
    (p,) = arguments.floats("geometric", p)
    return _geometric(key, p, shape=shape, dtype=dtype)


@one_program
def _geometric(key: Any, p: Any, *, shape: Any, dtype: Any) -> Any:
    real = avals.aval_of(p).dtype
    n = _Numbers(real)
    u = draw_uniform(key, shape, real)
    u = ew.select(ew.eq(u, n(0)), _constant(1, shape, real), u)
    log_failure = broadcast_parameter(ew.log1p(ew.neg(p)), shape)
    trials = ew.add(ew.floor(ew.div(ew.log(u), log_failure)), n(1))
    return as_dtype(trials, dtype)


# -- binomial --------------------------------------------------------------------------


def binomial(
    key: KeyArray,
    n: ArrayLike,
    p: ArrayLike,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """How many of `n` independent trials succeed.

    Args:
      key: one key.
      n: number of trials, not negative.
      p: probability of success in each, from 0 to 1.
      shape: shape of the result, to which `n` and `p` broadcast; default their shape.
      dtype: float dtype; default the default one. Numbers are drawn in the one that `n`
        and `p` promote to.

    Returns:
      Integers as floats [*shape]; NaN where the parameters have no meaning.

    Raises:
      ValueError: several keys are given, the dtype is of the wrong kind, or `n` and `p`
        do not broadcast to `shape`.

    Source: sums of geometric numbers where `n p` is at most 10; else Hörmann, "The
      generation of binomial random variates" (1993), algorithm BTRS.

    Example:
      >>> from olympus import random
      >>> random.binomial(random.key(0), 10, 0.5, shape=(3,)).shape
      (3,)
    """
    args = parameters("binomial", key, shape, dtype, n, p)
    return _binomial(args.key, n, p, shape=args.shape, dtype=args.dtype)


@one_program
def _binomial(key: Any, n: Any, p: Any, *, shape: Any, dtype: Any) -> Any:
    n, p = (
        broadcast_parameter(x, shape)
        for x in arguments.floats("binomial", n, p, mixed=True)
    )
    return as_dtype(draw_binomial(key, n, p), dtype)


def draw_binomial(key: Any, count: Any, prob: Any) -> Any:
    """Binomial numbers for counts and probabilities of one shape and dtype."""
    aval = avals.aval_of(count)
    n = _Numbers(aval.dtype)

    def full(value: float) -> Any:
        return _constant(value, aval.shape, aval.dtype)

    flipped = ew.bitwise_not(ew.lt(prob, n(0.5)))
    q = ew.select(flipped, ew.sub(n(1), prob), prob)
    bad_count = ew.bitwise_or(ew.ne(count, count), ew.lt(count, n(0)))
    bad_prob = ew.bitwise_or(ew.ne(q, q), ew.lt(q, n(0)))
    endless = ew.eq(ew.abs_(count), n(math.inf))
    q = ew.select(bad_prob, full(0.01), q)
    few = ew.bitwise_or(bad_count, ew.le(ew.mul(count, q), n(10)))
    whole = ew.floor(count)
    summed = _binomial_by_sum(key, ew.select(few, whole, full(0)), q)
    known = ew.bitwise_or(few, endless)  # no number is accepted of an infinite count
    rejected = _binomial_by_rejection(
        key, ew.select(known, full(1e4), whole), ew.select(known, full(0.5), q)
    )
    out = ew.select(few, summed, rejected)
    bad = ew.bitwise_or(bad_prob, bad_count)
    out = ew.select(bad, full(math.nan), out)
    of_endless = ew.select(ew.eq(prob, n(0)), full(0), full(math.inf))
    out = ew.select(ew.bitwise_and(endless, ew.bitwise_not(bad)), of_endless, out)
    mirrored = ew.bitwise_and(
        flipped,
        ew.bitwise_not(ew.bitwise_or(ew.bitwise_or(bad_count, bad_prob), endless)),
    )
    return ew.select(mirrored, ew.sub(whole, out), out)


def _binomial_by_sum(key: Any, count: Any, prob: Any) -> Any:
    """How many geometric numbers add up to at most `count`."""
    aval = avals.aval_of(count)
    one = number(1, aval.dtype)
    log_failure = ew.log1p(ew.neg(prob))

    def again(state: Any) -> Any:
        terms, total, key = state
        subkey, key = split_in(key, 2)
        terms = ew.select(ew.le(total, count), ew.add(terms, one), terms)
        u = draw_uniform(subkey, aval.shape, aval.dtype)
        total = ew.add(total, ew.ceil(ew.div(ew.log(u), log_failure)))
        return terms, total, key

    zeros = _constant(0, aval.shape, aval.dtype)
    terms, _, _ = loops.while_loop(
        lambda state: _any(ew.le(state[1], count)), again, (zeros, zeros, key)
    )
    return ew.sub(terms, one)


def _binomial_by_rejection(key: Any, count: Any, prob: Any) -> Any:
    """BTRS; the constants are the paper's."""
    aval = avals.aval_of(count)
    n = _Numbers(aval.dtype)
    failure = ew.sub(n(1), prob)
    deviation = ew.sqrt(ew.mul(ew.mul(count, prob), failure))
    b = ew.add(n(1.15), ew.mul(n(2.53), deviation))
    a = ew.add(ew.add(n(-0.0873), ew.mul(n(0.0248), b)), ew.mul(n(0.01), prob))
    c = ew.add(ew.mul(count, prob), n(0.5))
    v_r = ew.sub(n(0.92), ew.div(n(4.2), b))
    odds = ew.div(prob, failure)
    alpha = ew.mul(ew.add(n(2.83), ew.div(n(5.1), b)), deviation)
    mode = ew.floor(ew.mul(ew.add(count, n(1)), prob))
    at_mode = _log_weight(count, mode, odds)
    mean = ew.mul(count, prob)
    weight_at_mode = _log_weight_of_many(count, mean, mode)
    is_many = ew.ge(count, n(_many(aval.dtype)))

    def trial(u_key: Any, v_key: Any) -> Any:
        u, us, v = _draw_pair(u_key, v_key, aval.shape, n)
        quick = ew.bitwise_and(ew.ge(us, n(0.07)), ew.le(v, v_r))
        slope = ew.add(ew.div(ew.mul(n(2), a), us), b)
        k = ew.floor(ew.add(ew.mul(slope, u), c))
        outside = ew.bitwise_or(ew.lt(k, n(0)), ew.gt(k, count))
        hat = ew.add(ew.div(a, ew.mul(us, us)), b)
        height = ew.log(ew.div(ew.mul(v, alpha), hat))
        weight = ew.sub(_log_weight_of_many(count, mean, k), weight_at_mode)
        below = ew.le(height, ew.select(is_many, weight, at_mode(k)))
        exact = ew.bitwise_and(ew.bitwise_not(outside), below)
        return k, ew.bitwise_or(quick, exact)

    return _until_accepted(key, trial, aval.shape, aval.dtype)


def _log_weight(count: Any, mode: Any, odds: Any) -> Any:
    """A function of k: the logarithm of P(k) / P(mode)."""
    n = _Numbers(avals.aval_of(count).dtype)
    one, half = n(1), n(0.5)
    left = ew.add(ew.sub(count, mode), one)
    at_mode = ew.mul(
        ew.add(mode, half), ew.log(ew.div(ew.add(mode, one), ew.mul(odds, left)))
    )
    tails = _stirling_tail(mode), _stirling_tail(ew.sub(count, mode))

    def of(k: Any) -> Any:
        remaining = ew.add(ew.sub(count, k), one)
        total = ew.add(
            at_mode, ew.mul(ew.add(count, one), ew.log(ew.div(left, remaining)))
        )
        at_k = ew.log(ew.div(ew.mul(odds, remaining), ew.add(k, one)))
        total = ew.add(total, ew.mul(ew.add(k, half), at_k))
        total = ew.add(ew.add(total, tails[0]), tails[1])
        total = ew.sub(total, _stirling_tail(k))
        return ew.sub(total, _stirling_tail(ew.sub(count, k)))

    return of


def _many(dtype: Any) -> float:
    """Counts from which on terms of logarithms of factorials lose too many digits."""
    return 2.0**40 if dtypes.itemsize_bits(dtype) == 64 else 2.0**13


def _log_weight_of_many(count: Any, mean: Any, k: Any) -> Any:
    """The logarithm of P(k), but for a constant, by how far k is from the mean."""
    gap = ew.sub(mean, k)
    of_rest = _log_poisson(ew.neg(gap), ew.sub(count, k))
    return ew.add(_log_poisson(gap, k), of_rest)


def _log_poisson(gap: Any, k: Any) -> Any:
    """`k log m - m - log k!` for the mean m = k + gap, but for half of log(2 pi / m^2).

    Its terms are large where m is (Loader 2000).
    """
    n = _Numbers(avals.aval_of(k).dtype)
    next_one = ew.add(k, n(1))
    away = ew.div(ew.sub(gap, n(1)), next_one)
    lead = ew.mul(next_one, gamma_terms.log1p_without_lead(away))
    lead = ew.add(lead, ew.mul(n(0.5), ew.log(next_one)))
    return ew.sub(lead, _stirling_tail(k))


def _exact_tail(k: int) -> float:
    """What Stirling's formula lacks at k: log k! less its main terms."""
    main = (k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi)
    return math.lgamma(k + 1) - main


_TAILS = [_exact_tail(k) for k in range(10)]


def _stirling_tail(k: Any) -> Any:
    """The same for arrays: from a table up to 9, else by its series."""
    aval = avals.aval_of(k)
    n = _Numbers(aval.dtype)
    held = ew.clamp(n(0), k, n(9))
    next_one = ew.add(k, n(1))
    square = ew.mul(next_one, next_one)
    series = ew.sub(n(1 / 360), ew.div(n(1 / 1260), square))
    series = ew.div(ew.sub(n(1 / 12), ew.div(series, square)), next_one)
    exact = _constant(_TAILS[0], aval.shape, aval.dtype)
    at = ew.floor(held)
    for i in range(1, 10):
        exact = ew.select(
            ew.eq(at, n(i)), _constant(_TAILS[i], aval.shape, aval.dtype), exact
        )
    return ew.select(ew.le(k, n(9)), exact, series)


# -- multinomial -----------------------------------------------------------------------


def multinomial(
    key: KeyArray,
    n: ArrayLike,
    p: ArrayLike,
    *,
    shape: int | Shape | None = None,
    dtype: DTypeLike | None = None,
    unroll: int | bool = 1,
) -> Array:
    """How often each of several outcomes happens in `n` independent trials.

    Args:
      key: one key.
      n: number of trials [...].
      p: probabilities [..., k] of the outcomes, which add up to 1.
      shape: shape of the result, which ends with k; default what `n` and `p` broadcast
        to.
      dtype: float or integer dtype; default the default float. Numbers are drawn in the
        one that `n` and `p` promote to.
      unroll: how many outcomes are computed in one step of the loop.

    Returns:
      Integers [*shape]; they add up to `n` along the last axis.

    Raises:
      ValueError: several keys are given, the dtype is of the wrong kind, or the shapes
        do not fit.

    Example:
      >>> from olympus import random
      >>> random.multinomial(random.key(0), 10, jnp.array([0.2, 0.8])).sum()
      Array(10., dtype=float32)
    """
    key = keys.single_key("multinomial", key)
    dtype = _count_dtype("multinomial", dtype)
    outcomes = avals.aval_of(p).shape
    if not outcomes:
        raise ValueError(
            "random.multinomial: p must have an axis of outcomes, got a scalar; give "
            "one probability for each"
        )
    argument_shape = sizes.broadcast_shapes(avals.aval_of(n).shape, outcomes[:-1])
    argument_shape += outcomes[-1:]
    shape = (
        argument_shape if shape is None else arguments.shape_of("multinomial", shape)
    )
    arguments.check_broadcast("multinomial", shape, argument_shape)
    return _multinomial(key, n, p, shape=shape, dtype=dtype, unroll=unroll)


def _count_dtype(name: str, dtype: Any) -> Any:
    """A user's dtype of counts, which may be floats."""
    canonical = dtypes.check_user_dtype(float if dtype is None else dtype, name)
    if dtypes.kind(canonical) not in "uif":
        raise ValueError(
            f"random.{name}: dtype must be a float or integer dtype, got {canonical}; "
            "for example dtype='float32'"
        )
    return canonical


@one_program
def _multinomial(
    key: Any, n: Any, p: Any, *, shape: Any, dtype: Any, unroll: int | bool
) -> Any:
    """One outcome after the other, among the trials that are left."""
    n, p = arguments.floats("multinomial", n, p)
    n, p = broadcast_parameter(n, shape[:-1]), broadcast_parameter(p, shape)
    real = avals.aval_of(p).dtype
    last = len(shape) - 1
    left = cumulative.cumsum(p, axis=last, reverse=True)
    left = ew.select(ew.eq(left, number(0, real)), _constant(1, shape, real), left)
    share = shaping.transpose(ew.div(p, left), (last, *range(last)))
    own = keys.random_split_p.bind(key, shape=(shape[-1],))

    def step(remaining: Any, this: Any) -> Any:
        key, prob = this
        prob = ew.min_(number(1, real), ew.max_(number(0, real), prob))
        drawn = draw_binomial(key, remaining, prob)
        return ew.sub(remaining, drawn), drawn

    _, drawn = scans.scan(step, n, (own, share), unroll=unroll)
    return as_dtype(shaping.transpose(drawn, (*range(1, last + 1), 0)), dtype)
