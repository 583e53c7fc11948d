"""The profiler of jaxlib: sessions, events on the timeline, memory by client."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from typing import Any

from jaxlib import _profile_data, _profiler  # type: ignore[attr-defined]

from olympus._src.runtime import client, kernel_use

ProfileData = _profile_data.ProfileData
ProfileEvent = _profile_data.ProfileEvent
ProfileLine = _profile_data.ProfileLine
ProfilePlane = _profile_data.ProfilePlane
ProfileOptions = _profiler.ProfileOptions
Annotation = _profiler.TraceMe

get_profiled_instructions_proto: Callable[[str], bytes] = (
    _profiler.get_profiled_instructions_proto
)


_SMALLEST = "planes { lines { events { stats {} } } }"


def _iterators() -> list[Any]:
    """One iterator of each type that jaxlib makes when it is first needed.

    Python warns when it makes them. Where warnings are errors the process would end.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        planes = ProfileData.from_text_proto(_SMALLEST).planes
        plane = next(planes)
        lines = plane.lines
        events = next(lines).events
        return [planes, plane.stats, lines, events, next(events).stats]


_kept = _iterators()  # a type ends with its last instance


class Session:
    """A recording that is under way.

    Args:
      options: what to record; None for the defaults.
    """

    __slots__ = ("_is_recording", "_session")

    def __init__(self, options: Any = None) -> None:
        # A device's own tracer is registered by its client, so that must be there.
        client.default_device()
        options = ProfileOptions() if options is None else options
        self._session = _profiler.ProfilerSession(options)
        kernel_use.note_recording(1)
        self._is_recording = True

    def stop(self) -> bytes:
        """Ends the recording; its events as a serialized XSpace."""
        if self._is_recording:
            self._is_recording = False
            kernel_use.note_recording(-1)
        return self._session.stop()

    def __del__(self) -> None:
        if getattr(self, "_is_recording", False):
            kernel_use.note_recording(-1)

    def export(self, data: bytes, folder: str | os.PathLike[str]) -> None:
        """Writes a recording's files below a folder."""
        self._session.export(data, os.fspath(folder))


class _Server:
    lock = threading.Lock()
    current: Any = None


def start_server(port: int, needs_client: bool = True) -> Any:
    """Serves recordings to others by a port, until `stop_server`."""
    with _Server.lock:
        if _Server.current is not None:
            raise ValueError(
                "start_server: one server may run at a time, got another one while it "
                "does; call stop_server first"
            )
        if needs_client:
            client.default_device()
        _Server.current = _profiler.start_server(port)
        return _Server.current


def stop_server() -> None:
    """Ends the server."""
    with _Server.lock:
        if _Server.current is None:
            raise ValueError("stop_server: a server must run, got none")
        _Server.current = None  # it ends with its object


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Adds what another process of this machine records; returns what ends that."""
    return _profiler.register_subprocess(pid, port)


def heap_profile(platform: str | None = None) -> bytes:
    """What is in the memory of a platform's devices, as a profile of pprof."""
    device = (
        client.default_device() if platform is None else client.devices(platform)[0]
    )
    return device.client.heap_profile()
