"""The loop over a grid, and the position of a step in it."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from olympus._src.control_flow.loops import fori_loop
from olympus._src.core.array_type import Array
from olympus._src.lax import elementwise as e


class _Steps(threading.local):
    """Of each thread: positions and grids of kernels that are traced, inner last."""

    def __init__(self) -> None:
        self.entered: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = []


_steps = _Steps()


@contextlib.contextmanager
def _step_at(position: tuple[Any, ...], grid: tuple[Any, ...]) -> Iterator[None]:
    _steps.entered.append((position, grid))
    try:
        yield
    finally:
        _steps.entered.pop()


def run(grid: Sequence[Any], step: Callable[..., None]) -> None:
    """Calls `step(*position)` for each position of a grid, the last axis fastest."""
    grid = tuple(grid)
    if not grid:
        with _step_at((), grid):
            step()
        return

    def body(n: Any, _: None) -> None:
        position = _unravel(e.convert(n, np.dtype(np.int32)), grid)
        with _step_at(position, grid):
            step(*position)

    fori_loop(0, math.prod(grid), body, None)


def _unravel(n: Any, grid: tuple[Any, ...]) -> tuple[Any, ...]:
    position = []
    for size in reversed(grid[1:]):
        size = e.convert(size, np.dtype(np.int32))
        position.append(e.rem(n, size))
        n = e.div(n, size)
    return n, *reversed(position)


def _look_up(what: str, axis: int, part: int) -> Any:
    if not _steps.entered:
        raise ValueError(
            f"{what}: there is no grid outside of a kernel; call it in a function that "
            "is passed to pallas_call"
        )
    values = _steps.entered[-1][part]
    if not 0 <= axis < len(values):
        grid = _steps.entered[-1][1]
        raise ValueError(
            f"{what}: axis must be one of a grid of {len(grid)} axes, got {axis} for "
            f"the grid {grid}; axes are counted from 0"
        )
    return values[axis]


def program_id(axis: int) -> Array:
    """The position of a step along an axis of the grid.

    Args:
      axis: an axis of the grid.

    Returns:
      int32 scalar.

    Raises:
      ValueError: the grid has no such axis, or it is called outside of a kernel.

    Example:
      >>> import olympus
      >>> from olympus.experimental import pallas as pl
      >>> def positions(out):
      ...     out[pl.program_id(0)] = pl.program_id(0)
      >>> out = olympus.ShapeDtypeStruct((4,), 'int32')
      >>> pl.pallas_call(positions, out, grid=(4,), interpret=True)()
      Array([0, 1, 2, 3], dtype=int32)
    """
    return _look_up("program_id", axis, 0)


def num_programs(axis: int) -> Array | int:
    """The size of the grid along an axis; see `program_id`."""
    return _look_up("num_programs", axis, 1)
