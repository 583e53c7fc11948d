"""Where an operation comes from, as libraries read and write it."""

from __future__ import annotations

from typing import Any, NamedTuple


class NameStack(NamedTuple):
    """The names of the scopes that are open.

    Attributes:
      stack: the names, the outermost first.

    Example:
      >>> from olympus.extend import source_info_util
      >>> print(source_info_util.new_name_stack('layer').extend('dense'))
      layer/dense
    """

    stack: tuple[str, ...] = ()

    def extend(self, name: str) -> NameStack:
        """The stack with one more scope inside."""
        return NameStack((*self.stack, name))

    def transform(self, transform_name: str) -> NameStack:
        """The stack with a transformation inside, as in `jvp()`."""
        return NameStack((*self.stack, f"{transform_name}()"))

    def __add__(self, other: Any) -> NameStack:
        return NameStack((*self.stack, *other.stack))

    def __radd__(self, other: Any) -> NameStack:
        return NameStack((*other.stack, *self.stack))

    def __str__(self) -> str:
        return "/".join(self.stack)


class SourceInfo:
    """Where an operation comes from.

    Args:
      traceback: the user's position; None where it is not known.
      name_stack: the scopes around it.
    """

    __slots__ = ("name_stack", "traceback")

    def __init__(self, traceback: Any, name_stack: NameStack) -> None:
        self.traceback = traceback
        self.name_stack = name_stack

    def replace(self, **changes: Any) -> SourceInfo:
        """The same with another traceback or name stack."""
        fields = {"traceback": self.traceback, "name_stack": self.name_stack}
        return SourceInfo(**{**fields, **changes})
