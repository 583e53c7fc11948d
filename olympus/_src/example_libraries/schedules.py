"""Schedules: step sizes as functions of the step's number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.array_type import ArrayLike
from olympus._src.numpy import arithmetic, creation, indexing, reductions

Step = int
Schedule = Callable[[Step], float]


def constant(step_size: float) -> Schedule:
    """The same step size at each step.

    Args:
      step_size: number.

    Returns:
      A function of the step's number.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> optimizers.constant(0.1)(5)
      0.1
    """
    return lambda i: step_size


def exponential_decay(
    step_size: float, decay_steps: float, decay_rate: float
) -> Schedule:
    """`step_size * decay_rate ** (i / decay_steps)`.

    Args:
      step_size: the size at step 0.
      decay_steps: after so many steps the size is multiplied by the rate.
      decay_rate: number, below 1 for smaller steps.

    Returns:
      A function of the step's number.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> optimizers.exponential_decay(8.0, 10, 0.5)(20)
      2.0
    """
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(
    step_size: float, decay_steps: float, decay_rate: float, staircase: bool = False
) -> Schedule:
    """`step_size / (1 + decay_rate * i / decay_steps)`.

    Args:
      step_size: the size at step 0.
      decay_steps, decay_rate: the size decays by this rate in so many steps.
      staircase: the size changes only after each `decay_steps` steps.

    Returns:
      A function of the step's number.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> optimizers.inverse_time_decay(6.0, 10, 1.0)(20)
      2.0
    """

    def schedule(i: Any) -> Any:
        periods = arithmetic.floor(i / decay_steps) if staircase else i / decay_steps
        return step_size / (1 + decay_rate * periods)

    return schedule


def polynomial_decay(
    step_size: float,
    decay_steps: float,
    final_step_size: float,
    power: float = 1.0,
) -> Schedule:
    """From one step size to another along a power of the steps that are left.

    Args:
      step_size: the size at step 0.
      decay_steps: the step from which on the size is final.
      final_step_size: the size then.
      power: exponent; 1 for a straight line.

    Returns:
      A function of the step's number.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> print(optimizers.polynomial_decay(4.0, 10, 2.0)(5))
      3.0
    """

    def schedule(i: Any) -> Any:
        left = 1 - arithmetic.minimum(i, decay_steps) / decay_steps
        return final_step_size + (step_size - final_step_size) * left**power

    return schedule


def piecewise_constant(boundaries: ArrayLike, values: ArrayLike) -> Schedule:
    """Step sizes that change after given steps.

    Args:
      boundaries: rising steps [n]; the size changes after each.
      values: the sizes [n + 1].

    Returns:
      A function of the step's number.

    Raises:
      ValueError: there is not one size more than boundaries.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> schedule = optimizers.piecewise_constant([10, 20], [0.3, 0.2, 0.1])
      >>> print(schedule(15))
      0.2
    """
    steps, sizes = np.asarray(boundaries), creation.asarray(values)
    name = "optimizers.piecewise_constant"
    if steps.ndim != 1 or sizes.ndim != 1:
        raise ValueError(
            f"{name}: boundaries and values must be sequences of numbers, got shapes "
            f"{steps.shape} and {sizes.shape}; use constant(size) for one size"
        )
    if sizes.shape[0] != steps.shape[0] + 1:
        raise ValueError(
            f"{name}: there must be one value more than boundaries, got "
            f"{steps.shape[0]} boundaries and {sizes.shape[0]} values; the first value "
            "is the size up to the first boundary, the last one the size in the end"
        )
    return lambda i: indexing.getitem(sizes, reductions.sum(i > steps))


def make_schedule(scalar_or_schedule: float | Schedule) -> Schedule:
    """A schedule of a step size, which may be a schedule already.

    Args:
      scalar_or_schedule: number, or a function of the step's number.

    Returns:
      A function of the step's number.

    Raises:
      TypeError: it is neither.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> optimizers.make_schedule(0.5)(3)
      0.5
    """
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    is_number = avals.is_array_like(scalar_or_schedule)
    if is_number and not avals.aval_of(scalar_or_schedule).shape:
        return constant(scalar_or_schedule)
    raise TypeError(
        "optimizers.make_schedule: a step size must be a number or a function of the "
        f"step, got {scalar_or_schedule!r}; use piecewise_constant for a list of sizes"
    )
