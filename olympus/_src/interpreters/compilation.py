"""Compilation: executables, which programs of equal text share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.foundation import caching
from olympus._src.interpreters import dumps, inspections
from olympus._src.interpreters.lowered_programs import LoweredProgram
from olympus._src.runtime import build_options, callback, executable


def build_options_of(lowered: LoweredProgram, options: Any) -> Any:
    """XLA's options for a program, of a user's and of the settings of this thread."""
    processes = {device.process_index for device in lowered.devices}
    return build_options.complete(
        options,
        lowered.platform,
        has_barriers=lowered.has_barriers,
        is_small=lowered.is_small,
        is_over_processes=len(processes) > 1,
    )


def _loaded_key(lowered: LoweredProgram, built: Any) -> tuple[Any, ...]:
    ids: tuple[Any, ...] = tuple([device.id for device in lowered.devices])
    if executable.is_absent(lowered.devices):  # whose numbers are those of others, too
        ids = (*ids, lowered.devices[0].client)
    key = (lowered.text, ids, lowered.platform, built)
    # Elsewhere a program may still run when whoever started it has dropped it, so the
    # executable holds the callbacks.
    return (*key, lowered.callbacks) if _has_own_callbacks(lowered) else key


def _has_own_callbacks(lowered: LoweredProgram) -> bool:
    """Whether the program is compiled with its callbacks, and finds no others."""
    is_shared = lowered.platform == "cpu" and not lowered.is_on_several_devices
    return lowered.callbacks is not None and not is_shared


def is_loaded(lowered: LoweredProgram, built: Any) -> bool:
    """Whether an executable of the program's text is in memory."""
    return _loaded.get(_loaded_key(lowered, built)) is not None


def is_ready(lowered: LoweredProgram, built: Any) -> bool:
    """Whether `load` need not compile: the program is in memory or on disk."""
    return is_loaded(lowered, built) or executable.is_stored(
        lowered.text, options=built, devices=lowered.devices
    )


quick_options = build_options.quick
has_quick_build = build_options.has_quick


def load(lowered: LoweredProgram, built: Any) -> Any:
    """Compiles, or finds the same text compiled for the same device before.

    Args:
      lowered: the program.
      built: what `build_options_of` gave.
    """
    key = _loaded_key(lowered, built)
    loaded = _loaded.get(key)
    if loaded is None:
        dumps.write(lowered)
        loaded = _loaded[key] = executable.compile(
            inspections.install(lowered.inspections, lowered.text),
            options=built,
            devices=lowered.devices,
            host_callbacks=_host_callbacks(lowered),
            has_dynamic_sizes=lowered.has_dynamic_sizes,
            may_keep=not lowered.inspections,
        )
    return loaded


def _host_callbacks(lowered: LoweredProgram) -> Sequence[Any]:
    """The functions to compile a program with."""
    table = lowered.callbacks
    if table is None:
        return ()
    if _has_own_callbacks(lowered):
        return table.bound()
    return callback.routes(len(table.functions))


# Programs that functions still hold live on when they go from here; then their text, if
# it comes again, is compiled again. An executable takes some 200 times the memory of
# its text: 0.2 MB for one operation, 4.5 MB for a hundred.
_BASE_BYTES, _BYTES_PER_LETTER = 100_000, 200
_MAX_LOADED_BYTES = 128 << 20


def _executable_bytes(key: tuple[Any, ...]) -> int:
    return _BASE_BYTES + _BYTES_PER_LETTER * len(key[0])


_loaded = caching.BoundedBytes(
    4096, _MAX_LOADED_BYTES, _executable_bytes, "executables by text"
)
