"""Frames that tracebacks leave out."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any

from olympus._src.foundation import source_info, tracebacks


class _Excluded(list[str]):
    """Files that are left out; what is appended is left out from then on."""

    def append(self, path: str) -> None:
        super().append(path)
        source_info.register_exclusion(path)

    def remove(self, path: str) -> None:
        super().remove(path)
        source_info.unregister_exclusion(path)


_exclude_paths = _Excluded()


def register_exclusion(path: str) -> None:
    """Leaves the frames of a file out."""
    _exclude_paths.append(path)


def include_frame(frame: Any) -> bool:
    """Whether tracebacks show a frame."""
    return not source_info.is_internal(frame.f_code.co_filename)


def filter_traceback(tb: TracebackType) -> TracebackType | None:
    """A traceback with the user's frames alone; None where it has none of theirs."""
    return tracebacks.without_own_frames(tb)


def api_boundary(
    fun: Callable[..., Any] | None = None, **options: Any
) -> Callable[..., Any]:
    """Wraps a function so that its errors show the user's frames alone.

    Args:
      fun: the function; None: a decorator is returned.
      **options: of JAX's reproducers, which olympus does not write.
    """
    if fun is None:
        return functools.partial(api_boundary, **options)
    return tracebacks.api_boundary(fun)


__all__ = ["api_boundary", "filter_traceback", "include_frame", "register_exclusion"]
