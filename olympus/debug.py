"""Debugging of programs: prints, callbacks, breakpoints, views of shardings."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.debug import breakpoint
from olympus._src.api.sharding_diagrams import (
    visualize_array_sharding,
    visualize_sharding,
)
from olympus._src.callbacks.debugging import DebugEffect, OrderedDebugEffect
from olympus._src.callbacks.debugging import debug_callback as callback
from olympus._src.callbacks.debugging import debug_log as log
from olympus._src.callbacks.debugging import debug_print as print
from olympus._src.callbacks.sharding_inspection import inspect_array_sharding
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "DebugEffect",
    "OrderedDebugEffect",
    "breakpoint",
    "callback",
    "inspect_array_sharding",
    "log",
    "print",
    "visualize_array_sharding",
    "visualize_sharding",
]

_claim(__name__)
