"""Axes of reductions."""

from __future__ import annotations

from typing import Any

from olympus._src.numpy import reductions


def _reduction_dims(a: Any, axis: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes that are reduced, twice: JAX tells positions from axes of `pmap`.

    Args:
      a: an array.
      axis: one or several of its axes; None for all.
    """
    axes = reductions.axes_of("reduction", a, axis)
    return axes, axes


__all__ = ["_reduction_dims"]
