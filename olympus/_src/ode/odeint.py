"""`odeint`: solutions of ordinary differential equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api import staging
from olympus._src.api.custom_gradient import closure_convert
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import ArrayLike, PyTree
from olympus._src.numpy import creation, join_split, promotion
from olympus._src.numpy.tree_raveling import ravel_pytree
from olympus._src.ode import adjoint
from olympus._src.ode.integration import Tolerance
from olympus._src.ode.slopes import FlatSlope

_NAME = "ode.odeint"
# So many times finer than its rounding a state may be asked for: errors are estimated.
_STEPS_OF_A_ROUNDING = 8


def odeint(
    func: Callable[..., PyTree],
    y0: PyTree,
    t: ArrayLike,
    *args: PyTree,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = np.inf,
    hmax: float = np.inf,
) -> PyTree:
    """Solutions of the differential equation `dy/dt = func(y, t, *args)`.

    Steps are those of the Dormand-Prince method of order 5, of adapted length. The
    gradient with respect to `y0`, `t` and `args` solves the adjoint equation backwards
    in time; forward mode (`jvp`) is not supported.

    Args:
      func: the slope, like the state, of a state and a time.
      y0: the state at `t[0]`: arrays, real or complex.
      t: times [m], floating, rising or falling.
      *args: more arguments of `func`, arrays.
      rtol, atol: tolerated error of a step, relative and absolute.
      mxstep: the most steps from one of the times to the next.
      hmax: the longest step.

    Returns:
      The states at the times, in the structure of `y0`: arrays [m, ...]. They are NaN
      at times that are not reached with `mxstep` steps, or because no step is short
      enough.

    Raises:
      TypeError: `func` is not a function, its result is not like the state, `t` is not
        a vector of floats, or arguments are not arrays.
      ValueError: there are no times, or 16-bit states cannot be told apart as finely as
        rtol and atol say.

    Source: Hairer, Nørsett and Wanner, Solving ordinary differential equations I; Chen
    et al., Neural ordinary differential equations, 2018, for the gradient.

    Example:
      >>> from olympus.experimental.ode import odeint
      >>> def decay(y, t, rate):
      ...     return -rate * y
      >>> print(odeint(decay, 1.0, jnp.array([0.0, 1.0, 2.0]), 0.5).round(2))
      [1.   0.61 0.37]
      >>> last = lambda rate: odeint(decay, 1.0, jnp.array([0.0, 2.0]), rate)[-1]
      >>> print(olympus.grad(last)(0.5).round(2))
      -0.74
    """
    if not callable(func):
        raise TypeError(
            f"{_NAME}: func must be a function of a state and a time, got {func!r}; "
            "give the function that returns the slope"
        )
    _check_arrays("y0", y0)
    _check_arrays("*args", args)
    times = _check_times(t)
    state = tree.tree_map(lambda x: promotion.promote_inexact(x)[0], y0)
    _check_slope(func, state, times, args)
    _check_tolerance(state, rtol, atol)
    converted, closed_over = closure_convert(func, state, times[0], *args)
    tolerance = Tolerance(float(rtol), float(atol), float(mxstep), float(hmax))
    flat, unravel = ravel_pytree(state)
    slope = FlatSlope(converted, unravel)
    ys = adjoint.solve(slope, tolerance, flat, times, (*args, *closed_over))
    columns = tree.tree_leaves(state)
    return tree.tree_unflatten(tree.tree_structure(state), _cut(ys, columns))


def _cut(ys: Any, leaves: Any) -> list[Any]:
    """The columns [m, n] of flat states as arrays like each leaf."""
    shapes = [avals.aval_of(x) for x in leaves]
    ends = np.cumsum([x.size for x in shapes])
    parts = join_split.split(ys, ends[:-1].tolist(), axis=1)
    return [
        creation.astype(part, x.dtype).reshape((part.shape[0], *x.shape))
        for part, x in zip(parts, shapes, strict=True)
    ]


def _check_arrays(what: str, values: Any) -> None:
    for leaf in tree.tree_leaves(values):
        if not avals.is_array_like(leaf):
            raise TypeError(
                f"{_NAME}: {what} must be arrays or numbers, got {leaf!r}; let func "
                "close over what is none"
            )


def _check_times(t: Any) -> Any:
    aval = avals.aval_of(t) if avals.is_array_like(t) else None
    if aval is None or aval.ndim != 1 or dtypes.kind(aval.dtype) != "f":
        got = repr(t) if aval is None else aval.short()
        raise TypeError(
            f"{_NAME}: t must be a vector of floats, got {got}; give the times of the "
            "solution, the first that of y0, as numpy.linspace(0., 1., 5)"
        )
    if aval.shape[0] == 0:
        raise ValueError(f"{_NAME}: t must hold the time of y0 first, got no times")
    return creation.asarray(t)


def _check_tolerance(state: Any, rtol: float, atol: float) -> None:
    """Refuses steps so short that a state of 16 bits would stand still."""
    for leaf in tree.tree_leaves(state):
        dtype = avals.aval_of(leaf).dtype
        finest = float(dtypes.finfo(dtype).eps) / _STEPS_OF_A_ROUNDING
        if dtype.itemsize == 2 and max(float(rtol), float(atol)) < finest:
            raise ValueError(
                f"{_NAME}: rtol or atol must be at least {finest:.1e} for a state of "
                f"{dtype}, got {rtol} and {atol}; give rtol={4 * finest:.1e}, or y0 in "
                "float32"
            )


def _check_slope(func: Any, y0: Any, times: Any, args: Any) -> None:
    slope = staging.eval_shape(func, y0, times[0], *args)
    expected = [avals.aval_of(x).shape for x in tree.tree_leaves(y0)]
    results = [x.shape for x in tree.tree_leaves(slope)]
    structures = tree.tree_structure(y0), tree.tree_structure(slope)
    if structures[0] != structures[1] or expected != results:
        raise TypeError(
            f"{_NAME}: the result of func must be like the state, of structure "
            f"{structures[0]} and shapes {expected}, got {structures[1]} and shapes "
            f"{results}; return the slope of each leaf of y0"
        )
