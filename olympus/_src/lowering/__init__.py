"""From an olympuspr to StableHLO text."""

from olympus._src.foundation.late_files import load_late

load_late(
    __name__,
    "attributes compiler_calls dynamic_shapes frontend_attributes partitioning "
    "portable recording",
)
