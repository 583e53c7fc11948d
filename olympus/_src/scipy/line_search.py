"""Line search: how far to go in a direction that decreases a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from olympus._src.control_flow import while_loop
from olympus._src.numpy import arithmetic, contractions, logic, selection
from olympus._src.scipy import checks

aval_of, where = checks.aval_of, selection.where

# Of the conditions of Wolfe: how much of the decrease that the slope promises a step
# must bring, and how much of the slope may remain.
_DECREASE, _SLOPE = 1e-4, 0.9


class Search(NamedTuple):
    """A step between `low`, which decreases the value, and `high`, too long."""

    step: Any
    low: Any
    low_value: Any
    low_rate: Any
    high: Any
    high_value: Any
    value: Any
    slope: Any
    is_found: Any
    count: Any


def search(
    evaluate: Callable[[Any], tuple[Any, Any]],
    x: Any,
    value: Any,
    slope: Any,
    direction: Any,
    tries: int,
) -> Search:
    """A step that fulfils the strong conditions of Wolfe, or the last one tried.

    Args:
      evaluate: the function and its gradient.
      x: array [n], where the step starts.
      value, slope: of the function there.
      direction: array [n], where to go.
      tries: how many values to compute at most.

    Source: Nocedal and Wright, Numerical optimization, 2006, section 3.5.
    """
    rate = contractions.dot(slope, direction)
    number = np.dtype(aval_of(value).dtype).type

    def is_running(s: Search) -> Any:
        return ~s.is_found & (s.count < tries)

    def try_step(s: Search) -> Search:
        there, slope_there = evaluate(x + s.step * direction)
        here = contractions.dot(slope_there, direction)
        return _narrow(s, value, rate, there, slope_there, here)

    start = Search(
        step=number(1),
        low=number(0),
        low_value=value,
        low_rate=rate.astype(aval_of(value).dtype),
        high=number(np.inf),
        high_value=number(np.inf),
        value=value,
        slope=slope,
        is_found=rate >= 0,
        count=0,
    )
    end = while_loop.while_loop(is_running, try_step, start)
    return end._replace(is_found=end.is_found & (rate < 0))


def _narrow(
    s: Search, value: Any, rate: Any, there: Any, slope_there: Any, here: Any
) -> Search:
    """The search after a step was tried.

    Args:
      s: the search before.
      value, rate: of the function at the start, the rate along the direction.
      there, slope_there, here: value, gradient and rate where the step leads.
    """
    worse = ~(there <= value + _DECREASE * s.step * rate)
    worse = worse | (there >= s.low_value) & (s.low > 0)
    good = ~worse & (abs(here) <= -_SLOPE * rate)
    down = ~worse & (here < 0)
    low, low_value, low_rate = (
        where(down, new, old)
        for new, old in ((s.step, s.low), (there, s.low_value), (here, s.low_rate))
    )
    high = where(down, s.high, s.step)
    high_value = where(down, s.high_value, there)
    following = _choose_step(low, low_value, low_rate, high, high_value)
    return Search(
        step=where(good, s.step, following),
        low=low,
        low_value=low_value,
        low_rate=low_rate,
        high=high,
        high_value=high_value,
        value=there,
        slope=slope_there,
        is_found=good,
        count=s.count + 1,
    )


def _choose_step(low: Any, value: Any, rate: Any, high: Any, high_value: Any) -> Any:
    """The next step to try: twice as far, or where a parabola is least."""
    width = high - low
    bend = high_value - value - rate * width
    usable = logic.isfinite(bend) & (bend > 0)
    share = where(usable, -rate * width / (2 * where(usable, bend, 1)), 0.5)
    inside = low + arithmetic.clip(share, 0.1, 0.9) * width
    return where(logic.isfinite(high), inside, 2 * low).astype(aval_of(value).dtype)
