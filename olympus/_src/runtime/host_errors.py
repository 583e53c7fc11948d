"""Errors of Python callbacks, kept until the one who waits for the result sees them.

A callback runs on a thread of the compiler's; its exception reaches the waiting thread
as text inside the compiler's error. The exception itself is kept here, under a mark
that its text carries, and becomes the cause of the error the user sees.
"""

from __future__ import annotations

import itertools
import re
import threading

_lock = threading.Lock()
_numbers = itertools.count(1)
_kept: dict[int, BaseException] = {}
_MAX_KEPT = 64
_MARK = re.compile(r"olympus-callback-error-(\d+)")


class CallbackFailed(RuntimeError):
    """What a failed callback raises into the compiler: it carries the mark."""


def keep(error: BaseException) -> CallbackFailed:
    """Keeps an exception; returns the error to raise in its place."""
    with _lock:
        number = next(_numbers)
        _kept[number] = error
        while len(_kept) > _MAX_KEPT:
            del _kept[next(iter(_kept))]
    return CallbackFailed(
        f"{type(error).__name__}: {error} [olympus-callback-error-{number}]"
    )


def cause_of(error: BaseException) -> BaseException | None:
    """The exception of a callback behind an error of the compiler, where one is."""
    found = _MARK.search(str(error))
    if found is None:
        return error.__cause__
    with _lock:
        return _kept.get(int(found.group(1)))
