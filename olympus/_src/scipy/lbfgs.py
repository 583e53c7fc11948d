"""L-BFGS: quasi-Newton steps that remember the last changes in place of a matrix."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from olympus._src.api import grad
from olympus._src.control_flow import scan, while_loop
from olympus._src.numpy import (
    contractions,
    creation,
    join_split,
    linalg,
    logic,
    selection,
)
from olympus._src.scipy import checks, line_search

aval_of, dot, where = checks.aval_of, contractions.dot, selection.where

_FAILED = 5  # the status where no step is found


class State(NamedTuple):
    """The state of the method.

    Attributes:
      x: array [n], the current point.
      value, slope: of the function there.
      changes, turns: arrays [maxcor, n], by how much the last steps changed the place
        and the gradient; the newest is last, and rows of zeros are not steps.
      scale: the inverse of the Hessian before those, a multiple of the identity.
      decrease: how much the last step brought, relative to the value.
      evaluations, steps: how many were made.
      failed: whether no step was found.
    """

    x: Any
    value: Any
    slope: Any
    changes: Any
    turns: Any
    scale: Any
    decrease: Any
    evaluations: Any
    steps: Any
    failed: Any


def minimize(
    fun: Callable[[Any], Any],
    x0: Any,
    *,
    gtol: Any,
    ftol: Any,
    norm: Any,
    maxiter: Any,
    maxcor: Any,
    maxfun: Any,
    maxgrad: Any,
    maxls: Any,
) -> tuple[State, Any]:
    """The last state, and why the method ended there, as `minimize` numbers it.

    Source: Nocedal and Wright, Numerical optimization, 2006, algorithms 7.4 and 7.5.
    """
    evaluate = grad.value_and_grad(fun)
    tries, memory = operator.index(maxls), _check_memory(operator.index(maxcor))
    most = 200 * aval_of(x0).size if maxiter is None else operator.index(maxiter)
    # Each value comes with its gradient.
    bounds = [np.inf if n is None else operator.index(n) for n in (maxfun, maxgrad)]

    def reasons(state: State) -> list[Any]:
        """What ends the method, by rising status from 0."""
        return [
            linalg.norm(state.slope, norm) < gtol,
            state.steps >= most,
            *[state.evaluations > n for n in bounds],
            state.decrease <= ftol,
        ]

    def is_running(state: State) -> Any:
        return ~(join_split.stack(reasons(state)).any() | state.failed)

    def step(state: State) -> State:
        direction = _direction(state)
        start = state.x, state.value, state.slope
        search = line_search.search(evaluate, *start, direction, tries)
        change = search.step * direction
        moved = State(
            state.x + change,
            search.value,
            search.slope,
            *_remember(state, change, search.slope - state.slope),
            _relative_decrease(state.value, search.value),
            state.evaluations + search.count,
            state.steps + 1,
            state.failed,
        )
        stayed = state._replace(
            evaluations=moved.evaluations, steps=moved.steps, failed=~state.failed
        )
        pairs = zip(moved, stayed, strict=True)
        return State(*[where(search.is_found, new, old) for new, old in pairs])

    end = while_loop.while_loop(is_running, step, _first_state(evaluate, x0, memory))
    return end, _status_of(reasons(end), end.failed)


def _check_memory(maxcor: int) -> int:
    if maxcor < 1:
        raise ValueError(
            f"scipy.optimize.minimize: maxcor must be positive, got {maxcor}; say how "
            "many steps to remember"
        )
    return maxcor


def _status_of(reasons: list[Any], failed: Any) -> Any:
    """The number of the first reason that holds."""
    status: Any = _FAILED
    for number, reason in reversed(list(enumerate(reasons))):
        status = where(reason, number, status)
    return where(failed, _FAILED, status)


def _first_state(evaluate: Any, x0: Any, memory: int) -> State:
    value, slope = evaluate(x0)
    rows = creation.zeros((memory, aval_of(x0).size), aval_of(x0).dtype)
    length = linalg.norm(slope)
    return State(
        x0,
        value,
        slope,
        rows,
        rows,
        1 / where(length > 1, length, 1),  # the first step has a length of 1 at most
        np.asarray(np.inf, aval_of(value).dtype),
        1,
        0,
        ~logic.isfinite(value),
    )


def _remember(state: State, change: Any, turn: Any) -> tuple[Any, Any, Any]:
    """The last changes with one more, where the function curves up along it."""
    along, length = dot(change, turn), dot(turn, turn)
    good = (along > 0) & (length > 0)

    def push(rows: Any, row: Any) -> Any:
        return where(good, join_split.concatenate([rows[1:], row[None]]), rows)

    scale = where(good, along / where(good, length, 1), state.scale)
    return push(state.changes, change), push(state.turns, turn), scale


def _relative_decrease(old: Any, new: Any) -> Any:
    sizes = join_split.stack([abs(old), abs(new)])
    return (old - new) / where(sizes.max() > 1, sizes.max(), 1)


def _direction(state: State) -> Any:
    """The product of the inverse of the Hessian and the gradient, downwards."""
    along = (state.changes * state.turns).sum(1)
    weights = where(along > 0, 1 / where(along > 0, along, 1), 0)

    def take_off(q: Any, row: Any) -> Any:
        change, turn, weight = row
        share = weight * dot(change, q)
        return q - share * turn, share

    def put_on(r: Any, row: Any) -> Any:
        change, turn, weight, share = row
        return r + (share - weight * dot(turn, r)) * change, None

    rows = state.changes, state.turns, weights
    q, shares = scan.scan(take_off, state.slope, rows, reverse=True)
    r, _ = scan.scan(put_on, state.scale * q, (*rows, shares))
    return -r
