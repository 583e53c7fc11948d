"""Debugging of running programs: prints, callbacks, breakpoints."""

from olympus._src.api.debug import breakpoint
from olympus._src.callbacks.debugging import DebugEffect, OrderedDebugEffect
from olympus._src.callbacks.debugging import debug_callback as callback
from olympus._src.callbacks.debugging import debug_log as log
from olympus._src.callbacks.debugging import debug_print as print
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "DebugEffect",
    "OrderedDebugEffect",
    "breakpoint",
    "callback",
    "log",
    "print",
]

_claim(__name__)
