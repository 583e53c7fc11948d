"""Where operations come from, for libraries that record or read equations."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any, NamedTuple

from olympus._src.core import scopes, trace
from olympus._src.core.provenance import NameStack as NameStack
from olympus._src.core.provenance import SourceInfo as SourceInfo
from olympus._src.foundation import source_info

register_exclusion = source_info.register_exclusion


def current() -> SourceInfo:
    """Where the caller is, and which scopes are open."""
    return SourceInfo(_find_position(), current_name_stack())


def _find_position() -> Any:
    """The innermost place in a user's file."""
    if trace.current.position is not None:
        return trace.current.position
    return source_info.capture()


def new_source_info() -> SourceInfo:
    """No place, and no scopes."""
    return SourceInfo(None, NameStack())


def current_name_stack() -> NameStack:
    """The scopes that are open."""
    return NameStack(scopes.names(trace.current.scope))


def _rename(scope: scopes.Scope, name_stack: NameStack) -> scopes.Scope:
    return (*scopes.metadata(scope), *name_stack.stack)


def new_name_stack(name: str = "") -> NameStack:
    """A stack of one scope, or of none."""
    return NameStack((name,) if name else ())


def summarize(source_info: SourceInfo, num_frames: int = 1) -> str:
    """A place as text, `file:line:column (function)`.

    Args:
      source_info: a `SourceInfo`, or an equation's `source`.
      num_frames: has no effect: one place is kept.
    """
    del num_frames
    place = getattr(source_info, "traceback", source_info)
    return "unknown" if place is None else str(place)


class Frame(NamedTuple):
    """A place in a file."""

    file_name: str
    """As Python compiled it."""
    function_name: str
    """The qualified one."""
    start_line: int
    """From 1."""
    start_column: int
    """From 0."""
    end_line: int
    """On which the expression ends."""
    end_column: int
    """After its last character, from 0."""


def user_frames(traceback: Any) -> Iterator[Frame]:
    """The user's calls that led to a place, innermost first.

    Args:
      traceback: that of a `SourceInfo`; None for no place.
    """
    for place in () if traceback is None else (traceback, *traceback.callers):
        yield Frame(
            place.file,
            place.function,
            place.line,
            max(place.column - 1, 0),
            place.end_line,
            max(place.end_column - 1, 0),
        )


def user_frame(traceback: Any) -> Frame | None:
    """The user's innermost call that led to a place; None where there is none.

    Args:
      traceback: that of a `SourceInfo`; None for no place.
    """
    return next(user_frames(traceback), None)


class set_name_stack:
    """Has a stack be the scopes that are open, for a `with` block."""

    __slots__ = ("_name_stack", "_outer")

    def __init__(self, name_stack: NameStack) -> None:
        self._name_stack = name_stack

    def __enter__(self) -> NameStack:
        self._outer = trace.current.scope
        trace.current.scope = _rename(self._outer, self._name_stack)
        return self._name_stack

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        trace.current.scope = self._outer


class extend_name_stack(set_name_stack):
    """Opens one more scope, for a `with` block."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__(current_name_stack().extend(name))


class transform_name_stack(set_name_stack):
    """Opens the scope of a transformation, for a `with` block."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__(current_name_stack().transform(name))


@contextlib.contextmanager
def reset_name_stack() -> Iterator[None]:
    """Leaves all scopes, for a `with` block."""
    with set_name_stack(NameStack()):
        yield


class user_context:
    """Has operations be recorded as from another place, for a `with` block.

    Args:
      traceback: the place, as of `current().traceback`; None for no change.
      name_stack: the scopes; None for no change.
    """

    __slots__ = ("_name_stack", "_outer", "_traceback")

    def __init__(self, traceback: Any, *, name_stack: NameStack | None = None) -> None:
        self._traceback = traceback
        self._name_stack = name_stack

    def __enter__(self) -> None:
        self._outer = trace.current.position, trace.current.scope
        if self._traceback is not None:
            trace.current.position = self._traceback
        if self._name_stack is not None:
            trace.current.scope = _rename(self._outer[1], self._name_stack)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        trace.current.position, trace.current.scope = self._outer
