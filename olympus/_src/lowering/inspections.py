"""Values whose sharding a program reports when it is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Inspection:
    """A value of a module, and who wants to know how the compiler divides it.

    Args:
      callback: takes a sharding.
      ndim: the number of axes of the value.
      manual: the mesh and its axes along which each device has its own; or None.
      number: tells it from all others of this process.

    Attributes:
      chosen: XLA's shardings of the value, one for each place that the compiler
        copied it to.
      note: adds one.
    """

    __slots__ = ("callback", "chosen", "manual", "ndim", "note", "number")

    def __init__(
        self, callback: Callable[[Any], None], ndim: int, manual: Any, number: int
    ) -> None:
        self.callback = callback
        self.ndim = ndim
        self.manual = manual
        self.number = number
        self.chosen: list[Any] = []
        self.note = self.chosen.append  # one object: XLA does not keep it alive

    @property
    def placeholder(self) -> str:
        """What stands in the text for the function that XLA calls."""
        return f"olympus inspection {self.number}."
