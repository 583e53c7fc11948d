"""Slopes of pytrees as functions of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src.core.array_type import Array, PyTree
from olympus._src.numpy.tree_raveling import ravel_pytree


def ravel_first_arg(
    f: Callable[..., PyTree], unravel: Callable[..., PyTree]
) -> Callable[..., Array]:
    """A function of a state as a function of a vector.

    Args:
      f: function of a tree of arrays, and of other arguments, that returns such a tree.
      unravel: makes a tree of a vector, see `flatten_util.ravel_pytree`.

    Returns:
      A function that takes a vector first, and returns one.

    Example:
      >>> from olympus.experimental import ode
      >>> from olympus.flatten_util import ravel_pytree
      >>> flat, unravel = ravel_pytree({"a": 1.0, "b": 2.0})
      >>> swap = lambda y, t: {"a": y["b"], "b": y["a"]}
      >>> print(ode.ravel_first_arg(swap, unravel)(flat, 0.0))
      [2. 1.]
    """
    return FlatSlope(f, unravel)


class FlatSlope:
    """A slope as a function of vectors."""

    __slots__ = ("_f", "_unravel")

    def __init__(self, f: Any, unravel: Any) -> None:
        self._f, self._unravel = f, unravel

    def __call__(self, y: Any, *args: Any) -> Any:
        slope, _ = ravel_pytree(self._f(self._unravel(y), *args))
        return slope
