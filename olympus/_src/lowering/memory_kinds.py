"""Marks of values that a program keeps in another memory of their device."""

from __future__ import annotations

from typing import Any

# Platforms whose programs may keep values in the memory of the host.
_WITH_HOST_MEMORY = ("cuda", "rocm", "gpu", "tpu")

# The kind of memory in which their programs keep values that no one moves.
DEFAULT = "device"


def are_marked(platform: str) -> bool:
    """Whether programs for a platform say in which memory values are."""
    return platform in _WITH_HOST_MEMORY


def emit_move(block: Any, platform: str, x: str, kind: str, memory_kind: str) -> str:
    """A value in another memory.

    Args:
      block: takes the operation.
      platform: elsewhere the memory is the host's, and the value is given back.
      x: the value.
      kind: its type, as text.
      memory_kind: the kind of memory.
    """
    if not are_marked(platform):
        return x
    name: str = block.emit(
        f"stablehlo.custom_call @annotate_device_placement({x}) {{has_side_effect = "
        "true, mhlo.frontend_attributes = {_xla_buffer_placement = "
        f'"{memory_kind}"}}}} : ({kind}) -> {kind}'
    )
    return name
