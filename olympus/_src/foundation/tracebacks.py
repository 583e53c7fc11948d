"""Removes olympus's own frames from the tracebacks that users see.

Public functions are wrapped by `api_boundary`. An error that passes one loses, from its
traceback, the frames between the user's own; errors that olympus met and handled before
it are not printed. Nothing else about it changes, and the whole traceback stays with it
as `__olympus_full_traceback__`.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from olympus._src.foundation import config, error_codes, source_info, vocabulary

FULL = "__olympus_full_traceback__"

NOTE = (
    "(olympus left its own frames out of this traceback; "
    "OLYMPUS_TRACEBACK_FILTERING=off shows them)"
)

F = TypeVar("F", bound=Callable[..., Any])


def api_boundary(fun: F) -> F:
    """Wraps a public function so that its errors show the user's frames alone.

    Args:
      fun: the function; the wrapper has its name, signature and documentation.
    """

    @functools.wraps(fun)
    def boundary(*args: Any, **kwargs: Any) -> Any:
        try:
            return fun(*args, **kwargs)
        except Exception as error:
            hide(error)
            # Bare, since this form adds no frame of ours to the traceback.
            raise

    boundary.shortens_errors = True  # type: ignore[attr-defined]
    return boundary  # type: ignore[return-value]


def hide(error: BaseException) -> None:
    """Removes olympus's frames from an error's traceback, as the settings say.

    Call it in the `except` clause of a public function, and then `raise` by itself.
    """
    vocabulary.translate_error(error)
    _name_code(error)
    mode = config.traceback_filtering.value
    if mode == "auto":  # IPython prints the last frame though it is marked
        mode = "quiet_remove_frames"
    if mode == "off" or error.__traceback__ is None:
        return
    if mode == "tracebackhide":
        _mark(error.__traceback__)
    else:
        _remove(error, error.__traceback__, noted=mode == "quiet_remove_frames")


def _name_code(error: BaseException) -> None:
    """Notes the code of the error, by which the documentation explains it."""
    code = None if vocabulary.is_jax() else error_codes.code_of(error)
    if code is None or any(code in note for note in getattr(error, "__notes__", ())):
        return
    with contextlib.suppress(Exception):  # a class of users may refuse attributes
        error.add_note(f"({code}: `python -m olympus explain {code}` says more)")


def full_traceback(error: BaseException) -> TracebackType | None:
    """The traceback of an error with olympus's frames in it."""
    full = getattr(error, FULL, None)
    return error.__traceback__ if full is None else full


def _mark(traceback: TracebackType) -> None:
    """Sets the variable by which IPython and pytest know frames to hide."""
    here: TracebackType | None = traceback
    while here is not None:
        if source_info.is_internal(here.tb_frame.f_code.co_filename):
            here.tb_frame.f_locals["__tracebackhide__"] = True
        here = here.tb_next


def _remove(error: BaseException, traceback: TracebackType, *, noted: bool) -> None:
    entries = _entries(traceback)
    user_entries = _entries_of_users(entries)
    if len(user_entries) == len(entries):
        return
    try:
        _remember(error, entries)
    except AttributeError:
        # An error class with slots keeps nothing, so its traceback stays whole.
        return
    error.__traceback__ = _chain(user_entries, None)
    _shorten_earlier(error)
    if noted and NOTE not in getattr(error, "__notes__", ()):
        error.add_note(NOTE)


def _shorten_earlier(error: BaseException) -> None:
    """Removes our frames from what Python prints before an error.

    A cause is named, so its text stays. An error that we met and handled by ourselves,
    as a miss in a table is, says nothing to users.
    """
    cause, context = error.__cause__, error.__context__
    if cause is not None:
        if cause.__traceback__ is not None:
            _remove(cause, cause.__traceback__, noted=False)
    elif context is not None and not error.__suppress_context__:
        error.__suppress_context__ = _is_ours(context)


def _is_ours(error: BaseException) -> bool:
    """Whether no frame of an error, or of those before it, is the user's."""
    seen: set[int] = set()
    here: BaseException | None = error
    while here is not None and id(here) not in seen:
        seen.add(id(here))
        files = [e.tb_frame.f_code.co_filename for e in _entries(here.__traceback__)]
        if not all(map(source_info.is_internal, files)):
            return False
        here = here.__cause__ or here.__context__
    return True


def _remember(error: BaseException, entries: list[TracebackType]) -> None:
    """Keeps the whole traceback, including what an inner boundary removed."""
    full = getattr(error, FULL, None)
    if full is None:
        setattr(error, FULL, entries[0])
        return
    # The frames an inner boundary has seen are in `full` already: those not in it are
    # the frames that the error passed since.
    seen = {id(e.tb_frame) for e in _entries(full)}
    outer = [e for e in entries if id(e.tb_frame) not in seen]
    setattr(error, FULL, _chain(outer, full))


def _entries(traceback: TracebackType | None) -> list[TracebackType]:
    entries = []
    here: TracebackType | None = traceback
    while here is not None:
        entries.append(here)
        here = here.tb_next
    return entries


def _entries_of_users(entries: list[TracebackType]) -> list[TracebackType]:
    return [
        e for e in entries if not source_info.is_internal(e.tb_frame.f_code.co_filename)
    ]


def without_own_frames(traceback: TracebackType) -> TracebackType | None:
    """A traceback without olympus's frames; None where it has no others."""
    return _chain(_entries_of_users(_entries(traceback)), None)


def _chain(
    entries: list[TracebackType], end: TracebackType | None
) -> TracebackType | None:
    """A traceback of these entries, followed by `end`; the entries stay as they are."""
    for e in reversed(entries):
        end = TracebackType(end, e.tb_frame, e.tb_lasti, e.tb_lineno)
    return end
