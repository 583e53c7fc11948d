"""Looking into programs while they run: prints, callbacks, breakpoints."""

from olympus._src.api.debug import breakpoint
from olympus._src.foundation.late import claim as _claim
from olympus._src.higher_order.debugging import DebugEffect, OrderedDebugEffect
from olympus._src.higher_order.debugging import debug_callback as callback
from olympus._src.higher_order.debugging import debug_log as log
from olympus._src.higher_order.debugging import debug_print as print

__all__ = [
    "DebugEffect",
    "OrderedDebugEffect",
    "breakpoint",
    "callback",
    "log",
    "print",
]

_claim(__name__)
