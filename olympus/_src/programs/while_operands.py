"""The operands of a loop with a condition, by what they are for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Parts:
    """The operands of one application, by what they are for."""

    __slots__ = ("body_consts", "carry", "cond_consts")

    def __init__(self, operands: Sequence[Any], params: Any) -> None:
        n, m = params["cond_nconsts"], params["body_nconsts"]
        self.cond_consts = list(operands[:n])
        self.body_consts = list(operands[n : n + m])
        self.carry = list(operands[n + m :])
