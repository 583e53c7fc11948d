"""Groups of flat values, as the parameters `ft_in` and `ft_out` of `scan` list them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.control_flow import operand_groups

FTTuple = operand_groups.Groups
FlatTree = operand_groups.Group


def nones(count: int) -> Any:
    """A group of as many places."""
    return operand_groups.Group([None] * count)


def pack(groups: Sequence[Any]) -> Any:
    """Groups in their order."""
    return operand_groups.Groups(groups)


__all__ = ["FTTuple", "FlatTree", "nones", "pack"]
