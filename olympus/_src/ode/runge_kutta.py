"""Steps of the Dormand-Prince method 5(4), their control, and values between them.

Source: Dormand and Prince, A family of embedded Runge-Kutta formulae, 1980; Hairer,
Nørsett and Wanner, Solving ordinary differential equations I, section II.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.numpy import (
    arithmetic,
    creation,
    elementary,
    join_split,
    linalg,
    logic,
    reductions,
    selection,
)

# The tableau: times of the stages, weights of earlier slopes in each, the weights of
# the last stage, which are those of the step, and of the difference from order 4.
_TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_STEP = (*_STAGES[-1], 0.0)
_FOURTH_ORDER = (
    1951 / 21600,
    0.0,
    22642 / 50085,
    451 / 720,
    -12231 / 42400,
    649 / 6300,
    1 / 60,
)
_ERROR = tuple([a - b for a, b in zip(_STEP, _FOURTH_ORDER, strict=True)])
# Weights of the value at half a step, of order 4.
# Source: Shampine, Some practical Runge-Kutta formulas, 1986.
_MIDDLE_RATIOS = (
    (6025192743, 30085553152),
    (0, 1),
    (51252292925, 65400821598),
    (-2691868925, 45128329728),
    (187940372067, 1594534317056),
    (-1776094331, 19743644256),
    (11237099, 235043384),
)
_MIDDLE = tuple([n / d / 2 for n, d in _MIDDLE_RATIOS])

Slope = Callable[[Any, Any], Any]  # of a state and a time


def combine(weights: Sequence[float], slopes: Sequence[Any]) -> Any:
    """The sum of slopes with weights; terms of weight 0 are left out."""
    terms = [w * k for w, k in zip(weights, slopes, strict=True) if w]
    return sum(terms[1:], start=terms[0])


def take_stages(func: Slope, y0: Any, f0: Any, t0: Any, dt: Any) -> tuple[Any, list]:
    """The state after a step, and the slopes of its seven stages.

    The last slope is that of the new state, the first one of the next step.
    """
    slopes, y = [f0], y0
    for time, weights in zip(_TIMES, _STAGES, strict=True):
        y = y0 + _cast(dt * combine(weights, slopes), y0)
        slopes.append(func(y, t0 + time * dt))
    return y, slopes


def estimate_error(slopes: Sequence[Any], dt: Any) -> Any:
    """The difference of the steps of order 5 and 4."""
    return dt * combine(_ERROR, slopes)


def advance_by(x: Any, slopes: Sequence[Any], dt: Any) -> Any:
    """What a step adds to an array of whose slope the stages are known."""
    return _cast(dt * combine(_STEP, slopes), x)


def runge_kutta_step(
    func: Slope, y0: Array, f0: Array, t0: ArrayLike, dt: ArrayLike
) -> tuple[Array, Array, Array, Array]:
    """One step of the Dormand-Prince method of order 5.

    Args:
      func: the slope, a function of the state and the time.
      y0: state, a vector [n].
      f0: its slope, `func(y0, t0)`.
      t0: time.
      dt: length of the step.

    Returns:
      The state after the step, its slope, an estimate of the error, and the slopes of
      the stages [7, n].

    Source: Dormand and Prince, A family of embedded Runge-Kutta formulae, 1980.

    Example:
      >>> from olympus.experimental import ode
      >>> y, f, error, slopes = ode.runge_kutta_step(
      ...     lambda y, t: -y, jnp.ones(1), -jnp.ones(1), 0.0, 0.1
      ... )
      >>> print(jnp.round(y, 5), slopes.shape)
      [0.90484] (7, 1)
    """
    y, slopes = take_stages(func, y0, f0, t0, dt)
    return y, slopes[-1], estimate_error(slopes, dt), join_split.stack(slopes)


# -- control of the step's length ------------------------------------------------------


def abs2(x: ArrayLike) -> Array:
    """Squared magnitude, elementwise.

    Args:
      x: array or number, real or complex.

    Returns:
      A real array of x's shape.

    Example:
      >>> from olympus.experimental import ode
      >>> print(ode.abs2(3.0 + 4.0j))
      25.0
    """
    if dtypes.kind(avals.aval_of(x).dtype) == "c":
        return arithmetic.real(x) ** 2 + arithmetic.imag(x) ** 2
    return arithmetic.square(x)


def mean_error_ratio(
    error_estimate: ArrayLike, rtol: ArrayLike, atol: ArrayLike, y0: Array, y1: Array
) -> Array:
    """The root mean square of errors divided by what is tolerated.

    Args:
      error_estimate: errors of a step, a vector.
      rtol, atol: tolerated error, relative to the larger of both states, and absolute.
      y0, y1: states before and after the step.

    Returns:
      A real scalar; the step is good where it is at most 1.

    Example:
      >>> from olympus.experimental import ode
      >>> one = jnp.ones(2)
      >>> print(ode.mean_error_ratio(0.2 * one, 0.0, 0.1, one, one))
      2.0
    """
    largest = arithmetic.maximum(arithmetic.absolute(y0), arithmetic.absolute(y1))
    errors: Any = error_estimate
    ratios = errors / (atol + rtol * largest)
    return elementary.sqrt(reductions.mean(abs2(ratios)))


def optimal_step_size(
    last_step: ArrayLike,
    mean_error_ratio: ArrayLike,
    safety: float = 0.9,
    ifactor: float = 10.0,
    dfactor: float = 0.2,
    order: float = 5.0,
) -> Array:
    """The length of the next step.

    Args:
      last_step: length of the last step.
      mean_error_ratio: its error, see the function of this name.
      safety: factor by which the next step is shorter than it could be.
      ifactor, dfactor: most and least of the change; good steps are never shortened.
      order: order of the method.

    Returns:
      A scalar.

    Source: Hairer, Nørsett and Wanner, section II.4, equation 4.13.

    Example:
      >>> from olympus.experimental import ode
      >>> print(jnp.round(ode.optimal_step_size(1.0, 32.0), 3))
      0.45000002
    """
    ratio = creation.asarray(mean_error_ratio)
    least = selection.where(ratio < 1, 1.0, dfactor)
    change = arithmetic.minimum(
        ifactor, arithmetic.maximum(safety * ratio ** (-1.0 / order), least)
    )
    last: Any = last_step
    return last * selection.where(ratio == 0, ifactor, change)


def initial_step_size(
    fun: Slope,
    t0: ArrayLike,
    y0: Array,
    order: int,
    rtol: ArrayLike,
    atol: ArrayLike,
    f0: Array,
) -> Array:
    """The length of a first step, from one more slope.

    Args:
      fun: the slope, a function of the state and the time.
      t0: time.
      y0: state, a vector.
      order: order of the method's error estimate, 4 for Dormand-Prince.
      rtol, atol: tolerated errors.
      f0: slope of the state.

    Returns:
      A scalar.

    Source: Hairer, Nørsett and Wanner, section II.4, "Starting step size".

    Example:
      >>> from olympus.experimental import ode
      >>> step = ode.initial_step_size(
      ...     lambda y, t: -y, 0.0, jnp.ones(1), 4, 1e-3, 1e-3, -jnp.ones(1)
      ... )
      >>> print(jnp.round(step, 3))
      0.115
    """
    scale = atol + rtol * arithmetic.absolute(y0)
    size, slope = linalg.norm(y0 / scale), linalg.norm(f0 / scale)
    is_flat = logic.logical_or(size < 1e-5, slope < 1e-5)
    trial = selection.where(is_flat, 1e-6, 0.01 * size / slope)
    f1 = fun(y0 + _cast(trial * f0, y0), t0 + trial)
    bend = linalg.norm((f1 - f0) / scale) / trial
    is_straight = logic.logical_and(slope <= 1e-15, bend <= 1e-15)
    step = selection.where(
        is_straight,
        arithmetic.maximum(1e-6, trial * 1e-3),
        (0.01 / arithmetic.maximum(slope, bend)) ** (1.0 / (order + 1.0)),
    )
    return arithmetic.minimum(100.0 * trial, step)


def _cast(x: Any, like: Any) -> Any:
    """In the dtype of the state: times may be of a wider one."""
    return creation.astype(x, avals.aval_of(like).dtype)


# -- values between steps --------------------------------------------------------------


def fit_4th_order_polynomial(
    y0: ArrayLike,
    y1: ArrayLike,
    y_mid: ArrayLike,
    dy0: ArrayLike,
    dy1: ArrayLike,
    dt: Any,
) -> tuple[Array, Array, Array, Array, Array]:
    """The polynomial of degree 4 through three values with slopes at both ends.

    Args:
      y0, y1, y_mid: values at 0, 1 and 1/2.
      dy0, dy1: slopes at 0 and 1, in units of time.
      dt: the time from 0 to 1.

    Returns:
      The coefficients, that of the highest power first.

    Example:
      >>> from olympus.experimental import ode
      >>> ode.fit_4th_order_polynomial(0.0, 1.0, 0.0625, 0.0, 4.0, 1.0)
      (1.0, 0.0, 0.0, 0.0, 0.0)
    """
    return _fit(y0, y1, y_mid, dt * dy0, dt * dy1)


def _fit(y0: Any, y1: Any, y_mid: Any, rise0: Any, rise1: Any) -> Any:
    # What is left of the values above the tangent at 0.
    end, middle = y1 - y0 - rise0, y_mid - y0 - 0.5 * rise0
    slope = rise1 - rise0
    return (
        2.0 * slope - 8.0 * end + 16.0 * middle,
        -3.0 * slope + 14.0 * end - 32.0 * middle,
        slope - 5.0 * end + 16.0 * middle,
        rise0,
        y0,
    )


def interp_fit_dopri(y0: Array, y1: Array, k: Array, dt: ArrayLike) -> Array:
    """The polynomial that interpolates a step of the Dormand-Prince method.

    Args:
      y0, y1: states before and after the step, vectors [n].
      k: slopes of the stages [7, n].
      dt: length of the step.

    Returns:
      Coefficients [5, n] of powers of the share of the step, the highest first.

    Source: Shampine, Some practical Runge-Kutta formulas, 1986.

    Example:
      >>> from olympus.experimental import ode
      >>> zero, one = jnp.zeros(1), jnp.ones(1)
      >>> print(ode.interp_fit_dopri(zero, one, jnp.ones((7, 1)), 1.0)[-2])
      [1.]
    """
    rows = [k[i] for i in range(len(_MIDDLE))]
    return join_split.stack(fit_step(y0, y1, rows, dt))


def fit_step(y0: Any, y1: Any, slopes: Sequence[Any], dt: Any) -> tuple[Any, ...]:
    """The coefficients, of slopes in a sequence."""
    middle = y0 + _cast(dt * combine(_MIDDLE, slopes), y0)
    rise0, rise1 = (_cast(dt * k, y0) for k in (slopes[0], slopes[-1]))
    return _fit(y0, y1, middle, rise0, rise1)
