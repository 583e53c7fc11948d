"""The solution at times as an operation, whose gradient solves the adjoint equation.

Source: Chen et al., Neural ordinary differential equations, 2018, appendix B.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api import jit as jit_
from olympus._src.api.custom_vjp import custom_vjp
from olympus._src.api.reverse_mode import vjp
from olympus._src.control_flow.scan import scan
from olympus._src.core import avals, dtypes
from olympus._src.numpy import (
    arithmetic,
    creation,
    join_split,
    reductions,
    selection,
)
from olympus._src.numpy.tree_raveling import ravel_pytree
from olympus._src.ode import integration
from olympus._src.ode.integration import Tolerance
from olympus._src.ode.slopes import FlatSlope


def _directed(slope: Any, direction: Any, args: Any) -> Any:
    """The slope over times that are multiplied by 1 or -1, so that they rise."""

    def func(y: Any, t: Any) -> Any:
        f = slope(y, t * direction, *args)
        return creation.astype(f * direction, avals.aval_of(y).dtype)

    return func


def _direction(times: Any) -> Any:
    return selection.where(times[-1] < times[0], -1, 1).astype(times.dtype)


@functools.partial(custom_vjp, nondiff_argnums=(0, 1))
def solve(slope: Any, tolerance: Tolerance, y0: Any, times: Any, args: Any) -> Any:
    def run(y0: Any, times: Any, args: Any) -> Any:
        direction = _direction(times)
        func = _directed(slope, direction, args)
        return integration.solve_forward(func, y0, times * direction, tolerance)

    return jit_.jit(run)(y0, times, args)


def _solve_fwd(slope: Any, tolerance: Tolerance, y0: Any, times: Any, args: Any) -> Any:
    ys = solve(slope, tolerance, y0, times, args)
    return ys, (ys, times, args)


def _solve_bwd(slope: Any, tolerance: Tolerance, residuals: Any, cts: Any) -> Any:
    ys, times, args = residuals
    leaves, structure = tree.tree_flatten(args)
    is_smooth = [dtypes.kind(avals.aval_of(x).dtype) in "fc" for x in leaves]
    chosen = [x for x, smooth in zip(leaves, is_smooth, strict=True) if smooth]

    def of_chosen(y: Any, t: Any, *chosen: Any) -> Any:
        values = iter(chosen)
        pairs = zip(leaves, is_smooth, strict=True)
        full = [next(values) if smooth else x for x, smooth in pairs]
        f = slope(y, t, *tree.tree_unflatten(structure, full))
        return creation.astype(f, avals.aval_of(y).dtype)

    y0_ct, times_ct, chosen_cts = _solve_adjoint(
        of_chosen, tolerance, ys, times, cts, chosen
    )
    values = iter(chosen_cts)
    args_cts = [next(values) if smooth else None for smooth in is_smooth]
    return y0_ct, times_ct, tree.tree_unflatten(structure, args_cts)


solve.defvjp(_solve_fwd, _solve_bwd)


# -- the way back ----------------------------------------------------------------------


class _AdjointSlope:
    """The slopes of a state, of its cotangent and of the integrals, backwards in time.

    Called with the state and its cotangent [2, n], the time of the way back, which
    rises, its direction, and the arguments; returns the slope of the former, and those
    of the cotangents of time and arguments.
    """

    __slots__ = ("_func",)

    def __init__(self, func: Any) -> None:
        self._func = func

    def __call__(self, pair: Any, s: Any, direction: Any, *args: Any) -> Any:
        f, pull = vjp(self._func, pair[0], -s * direction, *args)
        y_ct, *integrands = pull(pair[1])
        slopes = join_split.stack([-f, y_ct])
        return _turn(slopes, direction), [_turn(x, direction) for x in integrands]


def _turn(x: Any, direction: Any) -> Any:
    return x * creation.astype(direction, avals.aval_of(x).dtype)


def _time_cotangent(func: Any, y: Any, t: Any, args: Any, ct: Any) -> Any:
    """The cotangent of a time at which the state is read."""
    product = reductions.sum(func(y, t, *args) * ct)
    return creation.astype(arithmetic.real(product), avals.aval_of(t).dtype)


def _go_back(
    func: Any, ys: Any, times: Any, cts: Any, args: Any, carry: Any, cross: Any
) -> Any:
    """From each time to the one before; the cotangents of y0, times and arguments.

    Where a time is reached, the cotangent of its state is added, and the state is that
    of the solution again, without the error of the way back.

    Args:
      func: the slope of the state.
      ys, times, cts: states [m, n], times [m] and cotangents of the states.
      args: the arguments of the slope.
      carry: what `cross` passes on from interval to interval, at first.
      cross: `(pair, totals, start, end, carry)` to the state with its cotangent, the
        integrals and the carry at the end of an interval of the way back.
    """
    clock = -times * _direction(times)
    zeros = [creation.zeros_like(times[0]), *map(creation.zeros_like, args)]

    def body(state: Any, step: Any) -> Any:
        y_ct, totals, carry = state
        y, t, start, end, ct = step
        t_ct = _time_cotangent(func, y, t, args, ct)
        pair = join_split.stack([y, y_ct + ct])
        pair, totals, carry = cross(pair, totals, start, end, carry)
        totals = [totals[0] - t_ct, *totals[1:]]
        return (pair[1], totals, carry), t_ct

    steps = (ys[1:], times[1:], clock[1:], clock[:-1], cts[1:])
    start = (creation.zeros_like(ys[0]), zeros, carry)
    (y_ct, totals, _), times_cts = scan(body, start, steps, reverse=True)
    times_ct = join_split.concatenate([totals[0].reshape(1), times_cts])
    return y_ct + cts[0], times_ct, totals[1:]


def _solve_adjoint_once(
    func: Any, tolerance: Tolerance, ys: Any, times: Any, cts: Any, args: Any
) -> Any:
    slope, direction = _AdjointSlope(func), _direction(times)

    def slope_at(pair: Any, s: Any) -> Any:
        return slope(pair, s, direction, *args)

    def cross(pair: Any, totals: Any, start: Any, end: Any, dt: Any) -> Any:
        f, integrands = slope_at(pair, start)
        state = (pair, f), (totals, integrands), start, dt
        state = integration.solve_with_integrals(slope_at, state, end, tolerance)
        (pair, _), (totals, _), s, dt = state
        failure = selection.where(s >= end, 0.0, np.nan)
        totals = [x + creation.astype(failure, x.dtype) for x in totals]
        return pair + creation.astype(failure, pair.dtype), totals, dt

    # The first interval in one step, which is shortened until it is good enough.
    dt = arithmetic.absolute(times[-1] - times[0])
    return _go_back(func, ys, times, cts, args, dt, cross)


@functools.partial(custom_vjp, nondiff_argnums=(0, 1))
def _solve_adjoint(
    func: Any, tolerance: Tolerance, ys: Any, times: Any, cts: Any, args: Any
) -> Any:
    def run(*operands: Any) -> Any:
        return _solve_adjoint_once(func, tolerance, *operands)

    return jit_.jit(run)(ys, times, cts, args)


def _solve_adjoint_fwd(func: Any, tolerance: Tolerance, *operands: Any) -> Any:
    return _solve_adjoint(func, tolerance, *operands), operands


def _solve_adjoint_bwd(func: Any, tolerance: Tolerance, operands: Any, cts: Any) -> Any:
    """Of the same equation, written with `solve`, which has a gradient."""

    def run(*operands: Any) -> Any:
        return _solve_adjoint_by_solve(func, tolerance, *operands)

    return vjp(run, *operands)[1](cts)


_solve_adjoint.defvjp(_solve_adjoint_fwd, _solve_adjoint_bwd)


def _solve_adjoint_by_solve(
    func: Any, tolerance: Tolerance, ys: Any, times: Any, cts: Any, args: Any
) -> Any:
    slope, direction = _AdjointSlope(func), _direction(times)

    def slope_of_all(state: Any, s: Any, *operands: Any) -> Any:
        return slope(state[0], s, *operands)

    def cross(pair: Any, totals: Any, start: Any, end: Any, carry: Any) -> Any:
        flat, unravel = ravel_pytree((pair, totals))
        way = join_split.stack([start, end])
        flat_slope = FlatSlope(slope_of_all, unravel)
        path = solve(flat_slope, tolerance, flat, way, (direction, *args))
        pair, totals = unravel(path[-1])
        return pair, totals, carry

    return _go_back(func, ys, times, cts, args, (), cross)
