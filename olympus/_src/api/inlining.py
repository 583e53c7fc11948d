"""Where the program of a jitted function becomes part of the one that calls it."""

from __future__ import annotations

import enum
from typing import Any


class Inline(enum.Enum):
    """What `jit(inline=...)` takes besides booleans.

    OLYMPUS_EARLY: while the caller is traced, as True. OLYMPUS_LATE, XLA_EARLY,
    XLA_LATE, AUTO: not before the caller is compiled, as False; the compiler inlines
    all calls. The names JAX_EARLY and JAX_LATE mean the same as OLYMPUS_EARLY and
    OLYMPUS_LATE.

    Example:
      >>> import olympus
      >>> double = olympus.jit(lambda x: 2 * x, inline=olympus.Inline.OLYMPUS_EARLY)
      >>> print(olympus.make_olympuspr(double)(1.0))
      { lambda ; a:f32[]. let b:f32[] = mul 2.0:f32[] a in (b,) }
    """

    OLYMPUS_EARLY = enum.auto()
    OLYMPUS_LATE = enum.auto()
    XLA_EARLY = enum.auto()
    XLA_LATE = enum.auto()
    AUTO = enum.auto()
    JAX_EARLY = OLYMPUS_EARLY
    JAX_LATE = OLYMPUS_LATE


def is_early(inline: Any) -> bool:
    """Whether a program is spliced into its caller's while that is traced."""
    return (
        inline is Inline.OLYMPUS_EARLY if isinstance(inline, Inline) else bool(inline)
    )
