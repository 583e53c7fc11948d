"""The operands of a scan, by what they are for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Parts:
    """Operands, or what is known of each operand, of one application.

    Attributes:
      consts: the same in all steps.
      carry: of the first step.
      xs: scanned over.
    """

    __slots__ = ("carry", "consts", "xs")

    def __init__(self, items: Sequence[Any], params: Any) -> None:
        n, m = params["num_consts"], params["num_carry"]
        self.consts = list(items[:n])
        self.carry = list(items[n : n + m])
        self.xs = list(items[n + m :])
