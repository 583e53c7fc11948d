"""Warnings that point at the user's line, not at olympus's own."""

from __future__ import annotations

import sys
import threading
import warnings

from olympus._src.foundation import source_info, vocabulary


class _Count(threading.local):
    value = 0


_warned = _Count()


def count() -> int:
    """How often this thread has warned."""
    return _warned.value


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the nearest frame of the user's code."""
    _warned.value += 1
    if vocabulary.is_jax():
        message = vocabulary.translate(message)
    depth, frame = 1, sys._getframe(0)
    while frame.f_back is not None and source_info.is_internal(
        frame.f_code.co_filename
    ):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)
