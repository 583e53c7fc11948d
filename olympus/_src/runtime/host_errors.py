"""Errors of Python callbacks, kept until the one who waits for the result sees them.

A callback runs on a thread of the compiler's; what it raises reaches the waiting thread
as text inside the compiler's error. The compiler copies that text as C does, and dies
of some: so only a mark passes through it. The exception stays here under the mark, and
becomes the cause of the error the user sees. It holds what its callback's frames held,
arrays too, so it is let go with that error.
"""

from __future__ import annotations

import itertools
import re
import threading
import weakref
from typing import Any

from olympus._src.foundation import errors
from olympus._src.runtime import waiting
from olympus._src.runtime.versions import XlaRuntimeError

_lock = threading.Lock()
_numbers = itertools.count(1)
# Nobody asks for some: of several callbacks that fail in one program, one is reported.
_MAX_KEPT = 8
_kept: dict[int, BaseException] = {}
# Each result of a program that failed may be requested its error. The first to be asked
# leads to the others' while someone has it, and to its text for a while longer.
_MAX_SHOWN = 64
_MAX_TEXT = 1000
_shown: dict[int, tuple[weakref.ref[XlaRuntimeError], str]] = {}
_MARK = re.compile(r"olympus-callback-error-(\d+)")


class CallbackFailed(RuntimeError):
    """What a failed callback raises into the compiler: it carries the mark."""


def keep(error: BaseException) -> CallbackFailed:
    """Keeps an exception; returns the error to raise in its place."""
    with _lock:
        number = next(_numbers)
        _kept[number] = error
        _shorten(_kept, _MAX_KEPT)
    return CallbackFailed(f"olympus-callback-error-{number}")


def _shorten(table: dict[int, Any], size: int) -> None:
    while len(table) > size:
        del table[next(iter(table))]


def explain(error: Exception) -> BaseException:
    """What a user should see for an error of the compiler's.

    Returns:
      For a callback's error one that says so, caused by the callback's exception; an
      interrupt itself; for one that follows from the failure of another process that
      failure; for any other error the same.
    """
    error = waiting.explain(error)
    mark = _MARK.search(str(error))
    if mark is None:
        return error
    number = int(mark.group(1))
    with _lock:
        cause = _kept.pop(number, None)
        reference, text = _shown.get(number, (None, ""))
    if cause is None:
        first = None if reference is None else reference()
        cause = None if first is None else first.__cause__
    elif not isinstance(cause, Exception):
        cause.__suppress_context__ = True  # an interrupt goes its own way
        return cause
    text = text or _describe(cause)
    user_error = XlaRuntimeError(text)
    user_error.__cause__ = cause
    with _lock:
        _shown.setdefault(number, (weakref.ref(user_error), text[:_MAX_TEXT]))
        _shorten(_shown, _MAX_SHOWN)
    return user_error


def _describe(cause: BaseException | None) -> str:
    if cause is None:
        return "a callback of the program raised an error, which is no longer kept"
    return f"a callback of the program raised {errors.describe(cause)}"
