"""`debug.visualize_sharding`: which devices hold which part of an array."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.callbacks.sharding_inspection import inspect_array_sharding
from olympus._src.core.array_type import ArrayLike
from olympus._src.core.avals import aval_of
from olympus._src.runtime.shardings import Sharding
from olympus._src.sharding import diagrams


def visualize_sharding(
    shape: Sequence[int],
    sharding: Sharding,
    *,
    use_color: bool = True,
    scale: float = 1.0,
    min_width: int = 9,
    max_width: int = 80,
    color_map: Callable[[float], tuple[float, ...]] | None = None,
) -> None:
    """Prints which devices hold which part of an array of a shape.

    Boxes are in proportion to the sizes of the parts, and hold the devices that have a
    part. The last two axes are drawn; where others are divided too there is a grid for
    each of their parts. In a notebook the diagram is a picture.

    Args:
      shape: of the array, of any number of axes.
      sharding: how it is divided.
      use_color: paint the boxes, where the output is a terminal.
      scale: of the boxes' heights.
      min_width: the least width of a box, in characters.
      max_width: the width of the diagram; further columns are left out.
      color_map: from a number below 1 a colour, as three or more numbers up to 1.

    Raises:
      TypeError: `sharding` is none.
      ValueError: the sharding has no devices, or cannot divide this shape.

    Example:
      >>> import olympus
      >>> from olympus.sharding import SingleDeviceSharding
      >>> place = SingleDeviceSharding(olympus.devices('cpu')[0])
      >>> olympus.debug.visualize_sharding((2, 8), place)
      ┌────────┐
      │ CPU 0  │
      └────────┘
    """
    if not isinstance(sharding, Sharding):
        raise TypeError(
            f"debug.visualize_sharding: sharding must be a Sharding, got {sharding!r}; "
            "write NamedSharding(mesh, P(...))"
        )
    diagram = diagrams.Diagram(shape, sharding)
    color_of: Any = diagrams.color if color_map is None else _without_alpha(color_map)
    display = _notebook_display()
    if display is not None:
        display({"text/plain": str(diagram), "text/html": diagram.svg(color_of)})
        return
    text = diagram.text(
        scale=scale,
        min_width=min_width,
        max_width=max_width,
        color_of=color_of if use_color and _is_color_terminal() else None,
    )
    print(text)


def visualize_array_sharding(arr: ArrayLike, **kwargs: Any) -> None:
    """Prints which devices hold which part of an array.

    In a compiled program it prints how the compiler divides the value, when it has
    compiled it.

    Args:
      arr: the array.
      **kwargs: options of `visualize_sharding`.

    Raises:
      ValueError: see `visualize_sharding`.

    Example:
      >>> import olympus
      >>> import olympus.numpy as jnp
      >>> olympus.debug.visualize_array_sharding(jnp.zeros((2, 8)))
      ┌────────┐
      │ CPU 0  │
      └────────┘
    """
    shape = aval_of(arr).shape
    inspect_array_sharding(arr, callback=_Visualization(shape, kwargs))


class _Visualization:
    """Draws an array of a shape with options, whatever its sharding is."""

    __slots__ = ("_options", "_shape")

    def __init__(self, shape: tuple[int, ...], options: dict[str, Any]) -> None:
        self._shape = shape
        self._options = options

    def __call__(self, sharding: Sharding) -> None:
        visualize_sharding(self._shape, sharding, **self._options)


def _without_alpha(color_map: Callable[[float], tuple[float, ...]]) -> Any:
    return lambda number: tuple(color_map(number))[:3]


def _is_color_terminal() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _notebook_display() -> Callable[[dict[str, str]], None] | None:
    """What shows a picture where the program runs in a notebook, else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    show = sys.modules["IPython.core.display_functions"].display
    return lambda bundle: show(bundle, raw=True)
