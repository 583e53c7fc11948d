"""Guards of transfers, of arrays in reference cycles and of threads: jaxlib's own.

jaxlib looks at their levels, one set for all threads and one for each, where it moves
data. The settings write them.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from olympus._src import native
from olympus._src.foundation import config, setting_states
from olympus._src.runtime import kernel_use, versions

_guards = versions.guards
_TRANSFERS = {
    config.transfer_guard_host_to_device: "host_to_device",
    config.transfer_guard_device_to_device: "device_to_device",
    config.transfer_guard_device_to_host: "device_to_host",
}


def _transfer_level(value: str | None) -> Any:
    if value is None:
        return None
    return getattr(_guards.TransferGuardLevel, value.upper())


def _collection_level(value: str | None) -> Any:
    if value is None:
        return None
    return getattr(_guards.GarbageCollectionGuardLevel, value.upper())


# The guards that have another level than 'allow', each with its thread; None for all.
_active: set[tuple[str, int | None]] = set()


def are_active() -> bool:
    """Whether some guard refuses or logs anything, in any thread."""
    return bool(_active)


def _note(guard: str, thread: int | None, value: Any) -> None:
    """Turns off what the part in C copies by itself while a guard may look at it."""
    if value in (None, False, "allow"):
        _active.discard((guard, thread))
    else:
        _active.add((guard, thread))
    if native.calls is not None:
        native.calls.use_staging(not _active)
    kernel_use.note_guards(bool(_active))


def _write(field: str, level: Callable[[Any], Any], where: Any, value: Any) -> None:
    value = None if value is setting_states.MISSING else value
    is_global = where is _guards.global_state
    _note(field, None if is_global else threading.get_ident(), value)
    setattr(where(), field, level(value))


def _follow(state: Any, field: str, level: Callable[[Any], Any]) -> None:
    of_all = functools.partial(_write, field, level, _guards.global_state)
    of_thread = functools.partial(_write, field, level, _guards.thread_local_state)
    state.watch(of_all, of_thread)
    if state.base is not None:  # by an environment variable
        of_all(state.base)


for _state, _field in _TRANSFERS.items():
    _follow(_state, _field, _transfer_level)
_follow(
    config.array_garbage_collection_guard, "garbage_collect_array", _collection_level
)


def _guard_threads(value: Any) -> None:
    if value is setting_states.MISSING:
        value = config.thread_guard.base
    _note("thread_guard", None, value)
    _guards.update_thread_guard_global_state(bool(value))


config.thread_guard.watch(_guard_threads, _guard_threads)
if config.thread_guard.base:
    _guard_threads(True)


_DIRECTIONS = config.transfer_guard.followers


def are_on() -> bool:
    """Whether some guard of transfers has a level, in this thread."""
    # Each `device_put` asks: no generator.
    first, second, third = _DIRECTIONS
    return not (first.value is second.value is third.value is None)


@contextlib.contextmanager
def explicit(direction: str) -> Iterator[None]:
    """Transfers in this block were asked for: `direction` is 'put' or 'get'."""
    state, field = _guards.thread_local_state(), f"explicit_device_{direction}"
    before = getattr(state, field)
    setattr(state, field, True)
    try:
        yield
    finally:
        setattr(state, field, before)


def lift() -> contextlib.AbstractContextManager[None]:
    """A block that moves values between host and device which are not the user's.

    Such as numbers that a function makes, and constants of programs.
    """
    return _lift() if are_on() else contextlib.nullcontext()


@contextlib.contextmanager
def _lift() -> Iterator[None]:
    state = _guards.thread_local_state()
    before = state.host_to_device, state.device_to_host
    state.host_to_device = state.device_to_host = _guards.TransferGuardLevel.ALLOW
    try:
        yield
    finally:
        state.host_to_device, state.device_to_host = before


def explain(error: versions.XlaRuntimeError) -> Exception:
    """The error for one of a transfer, which says what to do about a guard."""
    text = str(error)
    if "compile-only client" in text:
        return RuntimeError(
            "device_put: arrays must be put on devices that are here, got one that is "
            "only described, of get_topology_desc; describe the arguments of programs "
            "for it by ShapeDtypeStruct"
        )
    if "Disallowed" not in text:
        return error
    direction = text.partition("Disallowed ")[2].partition(" transfer")[0]
    setting = f"transfer_guard_{direction.replace('-', '_')}"
    return versions.XlaRuntimeError(
        f"{text}\nThe setting olympus_{setting} refuses it; put values with "
        "olympus.device_put where 'disallow' is set, or allow it in a block, as in "
        f"`with olympus.{setting}('allow'):`"
    )
