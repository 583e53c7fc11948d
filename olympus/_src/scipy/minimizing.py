"""The least value of a function of a vector, by quasi-Newton steps."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from olympus._src import tree
from olympus._src.api import grad
from olympus._src.core import dtypes
from olympus._src.higher_order import while_loop
from olympus._src.numpy import (
    arithmetic,
    contractions,
    creation,
    linalg,
    logic,
    selection,
)
from olympus._src.scipy import checks

aval_of, where = checks.aval_of, selection.where

# Of the conditions of Wolfe: how much of the decrease that the slope promises a step
# must bring, and how much of the slope may remain.
_DECREASE, _SLOPE = 1e-4, 0.9


@tree.returned_by("olympus.scipy.optimize.OptimizeResults")
class OptimizeResults(NamedTuple):
    """What `minimize` found.

    Args:
      x: the place.
      success: whether the gradient is small enough there.
      status: 0 for success; 1 if there were too many steps; 3 if no step was found that
        brings the value down.
      fun: the value.
      jac: the gradient.
      hess_inv: an approximation of the inverse of the Hessian.
      nfev, njev: how many values and gradients were computed.
      nit: how many steps were made.
    """

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


class _State(NamedTuple):
    x: Any
    value: Any
    slope: Any
    inverse: Any  # of the Hessian, as far as steps have shown
    evaluations: Any
    steps: Any
    failed: Any


class _Search(NamedTuple):
    """A step between `low`, which brings the value down, and `high`, too long."""

    step: Any
    low: Any
    low_value: Any
    low_rate: Any
    high: Any
    high_value: Any
    value: Any
    slope: Any
    found: Any
    count: Any


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """Finds a place where a function of a vector has a least value.

    Differs from SciPy: `method` has to be given, and is "BFGS"; the gradient comes from
    differentiating `fun`, so it must be traceable; there are no bounds, constraints and
    callbacks, other options, or a message in the result.

    Args:
      fun: `fun(x, *args)` returns a number; it must be differentiable.
      x0: where to start, a floating vector.
      args: further arguments of `fun`.
      method: "BFGS".
      tol: as the option `gtol`, where that is not given.
      options: `gtol` (1e-5), how small the gradient has to be; `norm` (infinity), the
        order of its norm; `maxiter` (200 times the number of unknowns);
        `line_search_maxiter` (10), values computed at most for one step.

    Returns:
      `OptimizeResults`.

    Raises:
      ValueError: there is no such method, or `x0` is no vector.
      TypeError: `args` is no tuple, `x0` is not floating, or there is no such option.

    Source: Nocedal and Wright, Numerical optimization, 2006, chapters 3 and 6.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import optimize
      >>> found = optimize.minimize(
      ...     lambda x: ((x - 1) ** 2).sum(), np.zeros(2, "float32"), method="BFGS"
      ... )
      >>> print(found.x, found.success)
      [1. 1.] True
    """
    name = "scipy.optimize.minimize"
    if not isinstance(args, tuple):
        raise TypeError(
            f"args argument to {name} must be a tuple, got {args!r}; write (x,)"
        )
    if not isinstance(method, str) or method.lower() != "bfgs":
        raise ValueError(f"{name}: Method {method} not recognized; take 'BFGS'")
    checks.check_arrays("optimize.minimize", x0)
    aval = aval_of(x0)
    if aval.ndim != 1:
        raise ValueError(
            f"{name}: x0 must be a vector, got {aval.short()}; flatten it with "
            "flatten_util.ravel_pytree"
        )
    if dtypes.kind(aval.dtype) != "f":
        raise TypeError(
            f"{name}: x0 must be real and floating, got {aval.short()}; convert it "
            "with astype"
        )
    chosen = {
        "gtol": 1e-5 if tol is None else tol,
        "norm": np.inf,
        "maxiter": None,
        "line_search_maxiter": 10,
    }
    unknown = set(options or ()) - set(chosen)
    if unknown:
        raise TypeError(
            f"{name}: unexpected options {sorted(unknown)}; known are {list(chosen)}"
        )
    chosen.update(options or {})
    return _bfgs(lambda x: fun(x, *args), creation.asarray(x0), **chosen)


def _bfgs(
    fun: Any, x0: Any, gtol: Any, norm: Any, maxiter: Any, line_search_maxiter: Any
) -> OptimizeResults:
    evaluate = grad.value_and_grad(fun)
    size, dtype = aval_of(x0).size, aval_of(x0).dtype
    most = 200 * size if maxiter is None else operator.index(maxiter)
    tries = operator.index(line_search_maxiter)

    def converged(state: _State) -> Any:
        return linalg.norm(state.slope, norm) < gtol

    def unfinished(state: _State) -> Any:
        return ~converged(state) & ~state.failed & (state.steps < most)

    def step(state: _State) -> _State:
        direction = -contractions.matmul(state.inverse, state.slope)
        search = _line_search(evaluate, state, direction, tries)
        change = search.step * direction
        turn = search.slope - state.slope
        moved = search.found
        return _State(
            where(moved, state.x + change, state.x),
            where(moved, search.value, state.value),
            where(moved, search.slope, state.slope),
            where(moved, _updated(state.inverse, change, turn), state.inverse),
            state.evaluations + search.count,
            state.steps + 1,
            ~moved,
        )

    value, slope = evaluate(x0)
    start = _State(
        x0,
        value,
        slope,
        creation.eye(size, dtype=dtype),
        np.int32(1),
        np.int32(0),
        ~logic.isfinite(value),
    )
    end = while_loop.while_loop(unfinished, step, start)
    success = converged(end) & ~end.failed
    status = where(success, 0, where(end.failed, 3, 1)).astype(np.int32)
    return OptimizeResults(
        end.x,
        success,
        status,
        end.value,
        end.slope,
        end.inverse,
        end.evaluations,
        end.evaluations,
        end.steps,
    )


def _updated(inverse: Any, change: Any, turn: Any) -> Any:
    """The formula of Broyden, Fletcher, Goldfarb, Shanno, where it stays positive."""
    along = contractions.dot(change, turn)
    safe = where(along > 0, along, 1)
    image = contractions.matmul(inverse, turn)
    both = contractions.outer(image, change)
    scale = (1 + contractions.dot(turn, image) / safe) / safe
    new = inverse - (both + both.T) / safe + scale * contractions.outer(change, change)
    return where(along > 0, new, inverse)


def _line_search(evaluate: Any, state: _State, direction: Any, tries: int) -> _Search:
    """A step that fulfils the strong conditions of Wolfe, or the best one found."""
    rate = contractions.dot(state.slope, direction)
    dtype = aval_of(state.value).dtype
    number = np.dtype(dtype).type

    def unfinished(s: _Search) -> Any:
        return ~s.found & (s.count < tries)

    def narrow(s: _Search) -> _Search:
        value, slope = evaluate(state.x + s.step * direction)
        here = contractions.dot(slope, direction)
        worse = ~(value <= state.value + _DECREASE * s.step * rate)
        worse = worse | (value >= s.low_value) & (s.low > 0)
        good = ~worse & (abs(here) <= -_SLOPE * rate)
        down = ~worse & (here < 0)
        low, low_value, low_rate = (
            where(down, new, old)
            for new, old in (
                (s.step, s.low),
                (value, s.low_value),
                (here, s.low_rate),
            )
        )
        high = where(down, s.high, s.step)
        high_value = where(down, s.high_value, value)
        following = _between(low, low_value, low_rate, high, high_value)
        return _Search(
            where(good, s.step, following),
            low,
            low_value,
            low_rate,
            high,
            high_value,
            value,
            slope,
            good,
            s.count + 1,
        )

    zero, far = number(0), number(np.inf)
    start = _Search(
        number(1),
        zero,
        state.value,
        rate.astype(dtype),
        far,
        far,
        state.value,
        state.slope,
        rate >= 0,
        np.int32(0),
    )
    end = while_loop.while_loop(unfinished, narrow, start)
    return end._replace(found=end.found & (rate < 0))


def _between(low: Any, value: Any, rate: Any, high: Any, high_value: Any) -> Any:
    """The next step to try: twice as far, or where a parabola is least."""
    width = high - low
    bend = high_value - value - rate * width
    usable = logic.isfinite(bend) & (bend > 0)
    share = where(usable, -rate * width / (2 * where(usable, bend, 1)), 0.5)
    inside = low + arithmetic.clip(share, 0.1, 0.9) * width
    return where(logic.isfinite(high), inside, 2 * low).astype(aval_of(value).dtype)
