"""Questions about traces and types."""

from __future__ import annotations

from typing import Any

from olympus._src.api.value_types import pytype_aval_mappings as pytype_aval_mappings
from olympus._src.core import avals, trace

# The state of the running thread; its attribute `trace` is the current interpreter.
trace_ctx = trace.current


def trace_state_clean() -> bool:
    """Whether nothing is traced at the moment."""
    return trace.current.trace is trace.base()


def get_aval(x: Any) -> Any:
    """The type of a value."""
    return avals.aval_of(x)


def full_lower(x: Any) -> Any:
    """A traced value as the value that it wraps, if it wraps one."""
    return x.full_lower() if isinstance(x, trace.Tracer) else x


def physical_aval(aval: Any) -> Any:
    """The type of the arrays that hold the elements of a type."""
    return getattr(aval, "storage", aval)


__all__ = [
    "full_lower",
    "get_aval",
    "physical_aval",
    "trace_ctx",
    "trace_state_clean",
]
