"""Minimization of a function of a vector, by quasi-Newton steps."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from olympus._src import tree
from olympus._src.api import grad
from olympus._src.control_flow import while_loop
from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.numpy import contractions, creation, linalg, logic, selection
from olympus._src.scipy import checks, lbfgs, line_search

aval_of, where = checks.aval_of, selection.where


@tree.returned_by("olympus.scipy.optimize.OptimizeResults")
class OptimizeResults(NamedTuple):
    """The result of `minimize`.

    Args:
      x: the point.
      success: whether the gradient is small enough there.
      status: 0 for success; 1 if there were too many steps; 3 if no step was found that
        decreases the value. For L-BFGS also 2 and 3 for too many values and gradients,
        4 if a step decreased the value too little, and 5 if none was found.
      fun: the value.
      jac: the gradient.
      hess_inv: an approximation of the inverse of the Hessian; None for L-BFGS.
      nfev, njev: how many values and gradients were computed.
      nit: how many steps were made.
    """

    x: Array
    success: Array
    status: Array
    fun: Array
    jac: Array
    hess_inv: Array | None
    nfev: Array
    njev: Array
    nit: Array


class _State(NamedTuple):
    x: Any
    value: Any
    slope: Any
    inverse: Any  # of the Hessian, as far as steps have shown
    evaluations: Any
    steps: Any
    failed: Any


def minimize(
    fun: Callable[..., Any],
    x0: ArrayLike,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """Finds a minimum of a function of a vector.

    Differs from SciPy: `method` has to be given; the gradient comes from
    differentiating `fun`, so it must be traceable; there are no bounds, constraints and
    callbacks, other options, or a message in the result.

    Args:
      fun: `fun(x, *args)` returns a number; it must be differentiable.
      x0: where to start, a floating vector.
      args: further arguments of `fun`.
      method: "BFGS", or "l-bfgs-experimental-do-not-rely-on-this", which is L-BFGS and
        keeps no matrix.
      tol: as the option `gtol`, where that is not given.
      options: `gtol` (1e-5), how small the gradient has to be; `norm` (infinity), the
        order of its norm; `maxiter` (200 times the number of unknowns);
        `line_search_maxiter` (10), values computed at most for one step. For L-BFGS
        `maxls` (20) in its place, and: `maxcor` (10), how many steps are remembered;
        `ftol` (2.2e-9), the least decrease, relative to the value where that is above
        1; `maxfun` and `maxgrad` (no bound), after how many values or gradients no
        further step is taken.

    Returns:
      `OptimizeResults`.

    Raises:
      ValueError: there is no such method, `x0` is not a vector, or `maxcor` is not
        positive.
      TypeError: `args` is not a tuple, `x0` is not floating, or there is no such
        option.

    Source: Nocedal and Wright, Numerical optimization, 2006, chapters 3, 6 and 7.

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
    if not isinstance(method, str) or method.lower() not in _METHODS:
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
    minimizer, defaults = _METHODS[method.lower()]
    chosen = {**defaults, "gtol": 1e-5 if tol is None else tol}
    unknown = set(options or ()) - set(chosen)
    if unknown:
        raise TypeError(
            f"{name}: unexpected options {sorted(unknown)}; known are {list(chosen)}"
        )
    chosen.update(options or {})
    return minimizer(lambda x: fun(x, *args), creation.asarray(x0), **chosen)


def _bfgs(
    fun: Any, x0: Any, gtol: Any, norm: Any, maxiter: Any, line_search_maxiter: Any
) -> OptimizeResults:
    evaluate = grad.value_and_grad(fun)
    size, dtype = aval_of(x0).size, aval_of(x0).dtype
    most = 200 * size if maxiter is None else operator.index(maxiter)
    tries = operator.index(line_search_maxiter)

    def converged(state: _State) -> Any:
        return linalg.norm(state.slope, norm) < gtol

    def is_running(state: _State) -> Any:
        return ~converged(state) & ~state.failed & (state.steps < most)

    def step(state: _State) -> _State:
        direction = -contractions.matmul(state.inverse, state.slope)
        start = state.x, state.value, state.slope
        search = line_search.search(evaluate, *start, direction, tries)
        change = search.step * direction
        turn = search.slope - state.slope
        moved = search.is_found
        return _State(
            where(moved, state.x + change, state.x),
            where(moved, search.value, state.value),
            where(moved, search.slope, state.slope),
            where(moved, _update_inverse(state.inverse, change, turn), state.inverse),
            state.evaluations + search.count,
            state.steps + 1,
            ~moved,
        )

    value, slope = evaluate(x0)
    identity = creation.eye(size, dtype=dtype)
    start = _State(x0, value, slope, identity, 1, 0, ~logic.isfinite(value))
    end = while_loop.while_loop(is_running, step, start)
    return _results_of(end, converged(end) & ~end.failed)


def _results_of(end: _State, success: Any) -> OptimizeResults:
    return OptimizeResults(
        end.x,
        success,
        where(success, 0, where(end.failed, 3, 1)),
        end.value,
        end.slope,
        end.inverse,
        end.evaluations,
        end.evaluations,
        end.steps,
    )


def _update_inverse(inverse: Any, change: Any, turn: Any) -> Any:
    """The formula of Broyden, Fletcher, Goldfarb, Shanno, where it stays positive."""
    along = contractions.dot(change, turn)
    safe = where(along > 0, along, 1)
    image = contractions.matmul(inverse, turn)
    both = contractions.outer(image, change)
    scale = (1 + contractions.dot(turn, image) / safe) / safe
    new = inverse - (both + both.T) / safe + scale * contractions.outer(change, change)
    return where(along > 0, new, inverse)


def _lbfgs(fun: Any, x0: Any, **options: Any) -> OptimizeResults:
    end, status = lbfgs.minimize(fun, x0, **options)
    return OptimizeResults(
        end.x,
        (status == 0).astype(bool),
        status,
        end.value,
        end.slope,
        None,
        end.evaluations,
        end.evaluations,
        end.steps,
    )


_COMMON = {"gtol": None, "norm": np.inf, "maxiter": None}
_METHODS: dict[str, tuple[Callable[..., OptimizeResults], dict[str, Any]]] = {
    "bfgs": (_bfgs, {**_COMMON, "line_search_maxiter": 10}),
    "l-bfgs-experimental-do-not-rely-on-this": (
        _lbfgs,
        {
            **_COMMON,
            "maxcor": 10,
            "ftol": 2.220446049250313e-09,
            "maxfun": None,
            "maxgrad": None,
            "maxls": 20,
        },
    ),
}
