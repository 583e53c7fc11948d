"""Loops and branches: `scan`, `while`, `cond`, and what is made of them."""

from olympus._src.foundation.late_files import load_late

load_late(
    __name__,
    "bounded_while cond cond_derivatives counted_scan known_carries loop_batching "
    "loop_lowering operand_groups reduce scan scan_derivatives while_loop",
)
