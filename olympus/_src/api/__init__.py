"""What users call: jit, shapes, placement, stages, debug."""

from olympus._src.foundation.late_files import load_late

load_late(
    __name__,
    "accumulation derivative_checks differentiation forward_mode layouts stages "
    "vmappable",
)
