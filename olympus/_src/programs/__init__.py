"""Shared by primitives that hold programs: tracing, lowering, running them."""

from olympus._src.foundation.late_files import load_late

load_late(
    __name__,
    "branch_slots call_metadata call_rules captured rematerialization",
)
