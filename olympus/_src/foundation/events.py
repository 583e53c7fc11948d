"""Events: what olympus reports about its own work to listeners.

There are four kinds, each with its own listeners: that something happened, how long
it took, a number, and a span of time. Without a listener, a report costs one look-up.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

from olympus._src.foundation import vocabulary

Listener = Callable[..., None]

_lock = threading.Lock()


class _Kind:
    """The listeners of one kind of event; a tuple, replaced whole at each change."""

    __slots__ = ("listeners", "what")

    def __init__(self, what: str) -> None:
        self.what = what
        self.listeners: tuple[Listener, ...] = ()

    def add(self, callback: Listener) -> None:
        if not callable(callback):
            raise TypeError(
                f"monitoring: a listener for {self.what} must be callable, got "
                f"{type(callback).__name__}; pass a function"
            )
        with _lock:
            self.listeners = (*self.listeners, callback)

    def remove(self, callback: Listener) -> None:
        with _lock:
            remaining = list(self.listeners)
            if callback not in remaining:
                raise ValueError(
                    f"monitoring: only a registered listener for {self.what} can be "
                    f"unregistered, got {callback!r}; register it first"
                )
            remaining.remove(callback)
            self.listeners = tuple(remaining)


_events = _Kind("events")
_durations = _Kind("durations")
_spans = _Kind("time spans")
_scalars = _Kind("scalars")


# JAX's words for what happens, where they are others.
_OF_JAX = {
    "/olympus/core/compile/trace_duration": "/jax/core/compile/jaxpr_trace_duration",
    "/olympus/core/compile/to_mlir_module_duration": (
        "/jax/core/compile/jaxpr_to_mlir_module_duration"
    ),
}


def spoken_name(event: str) -> str:
    """The name by which listeners are told of an event: JAX's in a program for it."""
    if not vocabulary.is_jax():
        return event
    return _OF_JAX.get(event) or re.sub("^/olympus/", "/jax/", event)


def record_event(event: str, **kwargs: str | float) -> None:
    """Reports that something happened.

    Args:
      event: its name, a path such as "/olympus/core/compile".
      **kwargs: labels, passed to the listeners.
    """
    for listener in _events.listeners:
        listener(spoken_name(event), **kwargs)


def record_event_duration_secs(
    event: str, duration: float, **kwargs: str | float
) -> None:
    """Reports how long something took.

    Args:
      event: its name.
      duration: seconds.
      **kwargs: labels, passed to the listeners.
    """
    for listener in _durations.listeners:
        listener(spoken_name(event), duration, **kwargs)


def record_event_time_span(
    event: str, start_time: float, end_time: float, **kwargs: str | float
) -> None:
    """Reports when something began and ended.

    Args:
      event: its name.
      start_time: seconds since the epoch.
      end_time: seconds since the epoch.
      **kwargs: labels, passed to the listeners.
    """
    for listener in _spans.listeners:
        listener(spoken_name(event), start_time, end_time, **kwargs)


def record_scalar(event: str, value: float, **kwargs: str | float) -> None:
    """Reports a number.

    Args:
      event: its name.
      value: the number.
      **kwargs: labels, passed to the listeners.
    """
    for listener in _scalars.listeners:
        listener(spoken_name(event), value, **kwargs)


def register_event_listener(callback: Listener) -> None:
    """Registers `callback(event, **labels)` for events.

    Example:
      >>> from olympus import monitoring
      >>> seen = []
      >>> listener = lambda event, **labels: seen.append(event)
      >>> monitoring.register_event_listener(listener)
      >>> monitoring.record_event("/my/program/started")
      >>> seen
      ['/my/program/started']
      >>> monitoring.unregister_event_listener(listener)
    """
    _events.add(callback)


def register_event_duration_secs_listener(callback: Listener) -> None:
    """Registers `callback(event, seconds, **labels)` for durations."""
    _durations.add(callback)


def register_event_time_span_listener(callback: Listener) -> None:
    """Registers `callback(event, start, end, **labels)` for spans of time."""
    _spans.add(callback)


def register_scalar_listener(callback: Listener) -> None:
    """Registers `callback(event, value, **labels)` for numbers."""
    _scalars.add(callback)


def unregister_event_listener(callback: Listener) -> None:
    """Stops calling `callback` for events; ValueError if it was not registered."""
    _events.remove(callback)


def unregister_event_duration_listener(callback: Listener) -> None:
    """Stops calling `callback` for durations; ValueError if it was not registered."""
    _durations.remove(callback)


def unregister_event_time_span_listener(callback: Listener) -> None:
    """Stops calling `callback` for time spans; ValueError if it was not registered."""
    _spans.remove(callback)


def unregister_scalar_listener(callback: Listener) -> None:
    """Stops calling `callback` for numbers; ValueError if it was not registered."""
    _scalars.remove(callback)


def clear_event_listeners() -> None:
    """Removes the listeners of all kinds."""
    with _lock:
        for kind in (_events, _durations, _spans, _scalars):
            kind.listeners = ()
