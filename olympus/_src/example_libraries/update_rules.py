"""Rules of optimizers for one array."""

from __future__ import annotations

import functools
from typing import Any

from olympus._src.core import avals
from olympus._src.example_libraries.optimizers import optimizer
from olympus._src.example_libraries.schedules import Schedule, make_schedule
from olympus._src.numpy import (
    arithmetic,
    creation,
    elementary,
    manipulation,
    reductions,
    selection,
)

# What a maker returns: the functions `init`, `update` and `get_params` of one array.
_Rule = tuple[Any, Any, Any]


def _with_state(update: Any, *, slots: int) -> _Rule:
    """A rule whose state is the array and arrays like it, which are zero at first."""

    def init(x: Any) -> tuple[Any, ...]:
        return (x, *[creation.zeros_like(x) for _ in range(slots)])

    return init, update, lambda state: state[0]


def _scale_by_root(g: Any, squares: Any) -> Any:
    """`g / sqrt(squares)`, and 0 where `squares` is 0."""
    inverse = selection.where(squares > 0, 1 / elementary.sqrt(squares), 0.0)
    return g * inverse


def _mix(share: float, old: Any, new: Any) -> Any:
    """A moving average."""
    return (1 - share) * new + share * old


@optimizer
def sgd(step_size: float | Schedule) -> _Rule:
    """Gradient descent: `x - step_size * g`.

    Args:
      step_size: number, or a function of the step's number.

    Returns:
      An `Optimizer`.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> init, update, params = optimizers.sgd(0.5)
      >>> params(update(0, 2.0, init(1.0)))
      0.0
    """
    schedule = make_schedule(step_size)
    return (lambda x: x), (lambda i, g, x: x - schedule(i) * g), (lambda x: x)


@optimizer
def momentum(step_size: float | Schedule, mass: float) -> _Rule:
    """Gradient descent with momentum: a step along `v`, the decaying sum of gradients.

    Args:
      step_size: number, or a function of the step's number.
      mass: how much of `v` is kept at each step.

    Returns:
      An `Optimizer`.

    Source: Polyak, Some methods of speeding up the convergence of iteration methods,
    1964.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> init, update, params = optimizers.momentum(0.5, mass=0.9)
      >>> print(params(update(1, 2.0, update(0, 2.0, init(1.0)))))
      -1.9
    """
    schedule = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - schedule(i) * velocity, velocity

    return _with_state(update, slots=1)


@optimizer
def nesterov(step_size: float | Schedule, mass: float) -> _Rule:
    """Gradient descent with Nesterov's momentum: the step looks ahead along `v`.

    Args:
      step_size: number, or a function of the step's number.
      mass: how much of `v` is kept at each step.

    Returns:
      An `Optimizer`.

    Source: Sutskever et al., On the importance of initialization and momentum in deep
    learning, 2013.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> init, update, params = optimizers.nesterov(0.5, mass=0.9)
      >>> print(params(update(0, 2.0, init(1.0))))
      -0.9
    """
    schedule = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - schedule(i) * (mass * velocity + g), velocity

    return _with_state(update, slots=1)


@optimizer
def adagrad(step_size: float | Schedule, momentum: float = 0.9) -> _Rule:
    """AdaGrad: gradients divided by the root of the sum of their squares so far.

    Args:
      step_size: number, or a function of the step's number.
      momentum: share of the old direction that is kept at each step.

    Returns:
      An `Optimizer`.

    Source: Duchi, Hazan and Singer, Adaptive subgradient methods for online learning
    and stochastic optimization, 2011.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> init, update, params = optimizers.adagrad(1.0, momentum=0.5)
      >>> print(params(update(0, 8.0, init(1.0))))
      0.5
    """
    schedule = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, direction = state
        squares = squares + arithmetic.square(g)
        direction = _mix(momentum, direction, _scale_by_root(g, squares))
        return x - schedule(i) * direction, squares, direction

    return _with_state(update, slots=2)


@optimizer
def rmsprop(
    step_size: float | Schedule, gamma: float = 0.9, eps: float = 1e-8
) -> _Rule:
    """RMSProp: gradients divided by the root of a moving average of their squares.

    Args:
      step_size: number, or a function of the step's number.
      gamma: share of the old average that is kept at each step.
      eps: is added to the average, so that no root is zero.

    Returns:
      An `Optimizer`.

    Source: Tieleman and Hinton, Lecture 6.5, 2012.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> init, update, params = optimizers.rmsprop(0.5, gamma=0.75)
      >>> print(params(update(0, 8.0, init(1.0))))
      0.0
    """
    schedule = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, average = state
        average = _mix(gamma, average, arithmetic.square(g))
        return x - schedule(i) * g / elementary.sqrt(average + eps), average

    return _with_state(update, slots=1)


@optimizer
def rmsprop_momentum(
    step_size: float | Schedule,
    gamma: float = 0.9,
    eps: float = 1e-8,
    momentum: float = 0.9,
) -> _Rule:
    """RMSProp with momentum: a step along the decaying sum of RMSProp's steps.

    Args:
      step_size: number, or a function of the step's number.
      gamma: share of the old average of squares that is kept at each step.
      eps: is added to the average, so that no root is zero.
      momentum: how much of the sum is kept at each step.

    Returns:
      An `Optimizer`.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> init, update, params = optimizers.rmsprop_momentum(0.5, gamma=0.75)
      >>> print(params(update(0, 8.0, init(1.0))))
      0.0
    """
    schedule = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, average, velocity = state
        average = _mix(gamma, average, arithmetic.square(g))
        step = schedule(i) * g / elementary.sqrt(average + eps)
        velocity = momentum * velocity + step
        return x - velocity, average, velocity

    return _with_state(update, slots=2)


def _correct_bias(average: Any, share: float, i: Any) -> Any:
    """A moving average without the weight of the zero that it began with."""
    start = creation.asarray(share, dtype=avals.aval_of(average).dtype) ** (i + 1)
    return average / (1 - start)


@optimizer
def adam(
    step_size: float | Schedule,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> _Rule:
    """Adam: the mean gradient divided by the root of the mean square.

    Args:
      step_size: number, or a function of the step's number.
      b1, b2: shares of the old means of gradients and squares kept at each step.
      eps: is added to the root.

    Returns:
      An `Optimizer`.

    Source: Kingma and Ba, Adam: a method for stochastic optimization, 2015.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> init, update, params = optimizers.adam(0.5)
      >>> print(jnp.round(params(update(0, 8.0, init(1.0))), 3))
      0.5
    """
    schedule = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean, squares = state
        mean = _mix(b1, mean, g)
        squares = _mix(b2, squares, arithmetic.square(g))
        root = elementary.sqrt(_correct_bias(squares, b2, i))
        step = schedule(i) * _correct_bias(mean, b1, i) / (root + eps)
        return x - step, mean, squares

    return _with_state(update, slots=2)


@optimizer
def adamax(
    step_size: float | Schedule,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> _Rule:
    """AdaMax: Adam with the decaying largest magnitude in place of the root.

    Args:
      step_size: number, or a function of the step's number.
      b1, b2: shares of the old mean of gradients, and of the old magnitude, that are
        kept at each step.
      eps: is added to the magnitude.

    Returns:
      An `Optimizer`.

    Source: Kingma and Ba, Adam: a method for stochastic optimization, 2015, section 7.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> init, update, params = optimizers.adamax(0.5)
      >>> print(jnp.round(params(update(0, 8.0, init(1.0))), 3))
      0.5
    """
    schedule = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean, largest = state
        mean = _mix(b1, mean, g)
        largest = arithmetic.maximum(b2 * largest, arithmetic.absolute(g))
        step = schedule(i) * _correct_bias(mean, b1, i) / (largest + eps)
        return x - step, mean, largest

    return _with_state(update, slots=2)


@optimizer
def sm3(step_size: float | Schedule, momentum: float = 0.9) -> _Rule:
    """SM3: AdaGrad with one sum of squares for each slice along each axis.

    Of an array [m, n] it keeps m + n sums and not m times n: the sum of an element is
    taken to be the smallest of its slices.

    Args:
      step_size: number, or a function of the step's number.
      momentum: share of the old direction that is kept at each step.

    Returns:
      An `Optimizer`.

    Source: Anil et al., Memory-efficient adaptive optimization, 2019, algorithm SM3-II.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> init, update, params = optimizers.sm3(1.0, momentum=0.5)
      >>> print(params(update(0, 8.0, init(1.0))))
      0.5
    """
    schedule = make_schedule(step_size)

    def init(x: Any) -> Any:
        shape = avals.aval_of(x).shape
        sums = [creation.zeros(n, avals.aval_of(x).dtype) for n in shape or (1,)]
        return x, creation.zeros_like(x), sums

    def update(i: Any, g: Any, state: Any) -> Any:
        x, direction, sums = state
        shape = avals.aval_of(x).shape
        line = manipulation.atleast_1d(g)
        bounds = functools.reduce(
            arithmetic.minimum, [_along(v, k, line.ndim) for k, v in enumerate(sums)]
        )
        squares = bounds + arithmetic.square(line)
        scaled = manipulation.reshape(_scale_by_root(line, squares), shape)
        direction = _mix(momentum, direction, scaled)
        sums = [_largest_of_slices(squares, k) for k in range(line.ndim)]
        return x - schedule(i) * direction, direction, sums

    return init, update, lambda state: state[0]


def _along(v: Any, axis: int, rank: int) -> Any:
    """A vector along one axis of arrays of a rank."""
    return manipulation.expand_dims(v, tuple([k for k in range(rank) if k != axis]))


def _largest_of_slices(x: Any, axis: int) -> Any:
    others = tuple([k for k in range(x.ndim) if k != axis])
    return reductions.max(x, axis=others) if others else x
