"""When programs may have their kernels called without XLA's runtime.

Not while the profiler records, which sees only what the runtime starts, nor while a
guard is on, which sees only what jaxlib holds.
"""

from __future__ import annotations

import threading
from typing import Any

from olympus._src import native
from olympus._src.foundation import compiler_settings as compiler
from olympus._src.foundation import setting_states

_NEVER = -1
_MOST = (1 << 31) - 1  # no program runs so often

_setting = compiler.host_kernels_after


class _State:
    """What decides, in the whole process."""

    lock = threading.Lock()
    after = _setting.value
    recordings = 0
    is_guarded = False


def apply() -> None:
    """Tells the part in C."""
    if native.calls is not None:
        is_watched = _State.recordings > 0 or _State.is_guarded
        after = _NEVER if is_watched else _State.after
        native.calls.use_kernels(min(max(after, _NEVER), _MOST))


def note_recording(n: int) -> None:
    """Notes that a recording starts (1) or ends (-1)."""
    with _State.lock:
        _State.recordings += n
        apply()


def note_guards(are_active: bool) -> None:
    """Notes whether some guard refuses or logs anything."""
    with _State.lock:
        _State.is_guarded = are_active
        apply()


def _follow(value: Any) -> None:
    with _State.lock:
        is_over = value is setting_states.MISSING  # a block ended
        _State.after = _setting.base if is_over else value
        apply()


_setting.watch(_follow, _follow)
