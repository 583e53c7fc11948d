"""Integration of a vector's slope over time, by steps of adapted length."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from olympus._src import tree
from olympus._src.control_flow import while_loop
from olympus._src.control_flow.scan import scan
from olympus._src.core import avals
from olympus._src.numpy import (
    arithmetic,
    creation,
    elementary,
    indexing,
    join_split,
    logic,
    manipulation,
    reductions,
    selection,
)
from olympus._src.ode import runge_kutta
from olympus._src.ode.runge_kutta import Slope

_ORDER_OF_ESTIMATE = 4
where = selection.where


class Tolerance(NamedTuple):
    """How exact a solution must be, and how many and how long steps may be.

    Args:
      rtol, atol: tolerated error of a step, relative and absolute.
      mxstep: the most steps from one time to the next.
      hmax: the longest step.
    """

    rtol: float
    atol: float
    mxstep: float
    hmax: float


def solve_forward(func: Slope, y0: Any, ts: Any, tolerance: Tolerance) -> Any:
    """The states at rising times [m], the first of which is that of `y0`: [m, n].

    Steps are as long as the tolerance allows; states are read from the polynomials that
    interpolate them. A time that is not reached has the state NaN.
    """
    first, t0 = y0, ts[0]
    f0 = func(y0, t0)
    dt = _first_step(func, t0, y0, f0, tolerance)
    fit = join_split.stack([y0] * 5)

    def reach(carry: Any, target: Any) -> Any:
        carry = _loop(lambda c: _step(func, c, tolerance), carry, target, tolerance)
        _, _, t, _, t_before, fit = carry
        share = (target - t_before) / (t - t_before)
        y = _evaluate(fit, creation.astype(share, avals.aval_of(y0).dtype))
        y = where(target == t_before, fit[-1], y)
        return carry, where(t >= target, y, np.nan)

    carry = (y0, f0, t0, dt, t0, fit)
    _, ys = scan(reach, carry, ts[1:])
    return join_split.concatenate([manipulation.expand_dims(first, 0), ys])


def _first_step(func: Slope, t0: Any, y0: Any, f0: Any, tolerance: Tolerance) -> Any:
    rtol, atol, _, hmax = tolerance
    order = _ORDER_OF_ESTIMATE
    dt = runge_kutta.initial_step_size(func, t0, y0, order, rtol, atol, f0)
    return creation.astype(arithmetic.minimum(dt, hmax), avals.aval_of(t0).dtype)


def _loop(step: Any, carry: Any, target: Any, tolerance: Tolerance) -> Any:
    """Steps until the third of the carry, the time, is at the target.

    They end too where a step would not advance the time, or is NaN.
    """

    def goes_on(state: Any) -> Any:
        count, (_, _, t, dt, *_) = state
        is_short = logic.logical_and(t < target, t + dt > t)
        if tolerance.mxstep == np.inf:
            return is_short
        return logic.logical_and(is_short, count < tolerance.mxstep)

    def advance(state: Any) -> Any:
        count, carry = state
        return count + 1, step(carry)

    start = (np.int32(0), carry)
    return while_loop.while_loop(goes_on, advance, start)[1]


def _step(func: Slope, carry: Any, tolerance: Tolerance) -> Any:
    y, f, t, dt, _, _ = carry
    new_y, slopes = runge_kutta.take_stages(func, y, f, t, dt)
    rtol, atol, _, hmax = tolerance
    error = runge_kutta.estimate_error(slopes, dt)
    ratio = runge_kutta.mean_error_ratio(error, rtol, atol, y, new_y)
    ratio = _reject_nan(ratio)
    is_good = ratio <= 1.0
    # A step that is not good is followed by another, so the last fit is of a good one.
    fit = join_split.stack(runge_kutta.fit_step(y, new_y, slopes, dt))
    longest = arithmetic.minimum(runge_kutta.optimal_step_size(dt, ratio), hmax)
    return (
        where(is_good, new_y, y),
        where(is_good, slopes[-1], f),
        where(is_good, t + dt, t),
        creation.astype(longest, avals.aval_of(dt).dtype),
        t,
        fit,
    )


def _evaluate(fit: Any, share: Any) -> Any:
    """A polynomial at a share of its step, by Horner's rule."""
    value = indexing.getitem(fit, 0)
    for i in range(1, 5):
        value = value * share + indexing.getitem(fit, i)
    return value


# -- with integrals beside -------------------------------------------------------------


def solve_with_integrals(
    func: Any, state: Any, target: Any, tolerance: Tolerance
) -> Any:
    """Steps up to a time, and exactly there, of a state and integrals along it.

    Integrals do not act on the state, so only the whole step is taken of them.

    Args:
      func: the slope of the state, and a list of arrays to be integrated.
      state: ((state, slope), (integrals, integrands), time, length of the step).
      target: the time.
      tolerance: what is tolerated, of state and integrals.
    """
    return _loop(
        lambda c: _step_with_integrals(func, c, target, tolerance),
        state,
        target,
        tolerance,
    )


def _step_with_integrals(func: Any, carry: Any, target: Any, tol: Tolerance) -> Any:
    (y, f), (totals, g), t, dt = carry
    is_last = t + dt >= target
    step = where(is_last, target - t, dt)
    integrands = [g]

    def slope(y: Any, t: Any) -> Any:
        f, g = func(y, t)
        integrands.append(g)
        return f

    new_y, slopes = runge_kutta.take_stages(slope, y, f, t, step)
    stages = list(zip(*integrands, strict=True))  # of each integral
    new_totals = [
        x + runge_kutta.advance_by(x, gs, step)
        for x, gs in zip(totals, stages, strict=True)
    ]
    errors = [runge_kutta.estimate_error(s, step) for s in (slopes, *stages)]
    ratio = _error_ratio(errors, [y, *totals], [new_y, *new_totals], tol)
    is_good = ratio <= 1.0
    longest = arithmetic.minimum(runge_kutta.optimal_step_size(step, ratio), tol.hmax)
    # The last step is cut short: the next may be as long as it would have been.
    longest = where(
        logic.logical_and(is_last, is_good), arithmetic.maximum(dt, longest), longest
    )
    kept = tree.tree_map(
        lambda new, old: where(is_good, new, old),
        ((new_y, slopes[-1]), (new_totals, integrands[-1])),
        ((y, f), (totals, g)),
    )
    time = where(is_good, where(is_last, target, t + dt), t)
    return *kept, time, creation.astype(longest, avals.aval_of(dt).dtype)


def _error_ratio(errors: Any, before: Any, after: Any, tol: Tolerance) -> Any:
    """As `mean_error_ratio`, of several arrays together."""
    total: Any = 0.0
    count = 0
    for error, x, y in zip(errors, before, after, strict=True):
        largest = arithmetic.maximum(arithmetic.absolute(x), arithmetic.absolute(y))
        ratios = error / (tol.atol + tol.rtol * largest)
        total = total + reductions.sum(runge_kutta.abs2(ratios))
        count += avals.aval_of(error).size
    return _reject_nan(elementary.sqrt(total / count))


def _reject_nan(ratio: Any) -> Any:
    """A step that leaves the numbers is too long."""
    return where(ratio == ratio, ratio, np.inf)
