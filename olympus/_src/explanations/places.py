"""Showing devices and shardings of arguments."""

from __future__ import annotations

from typing import Any

from olympus._src.sharding.named import NamedSharding


def is_division(place: Any) -> bool:
    """Whether an argument is divided over a mesh."""
    return isinstance(place, NamedSharding)


def show(place: Any) -> str:
    """Where an argument is committed to."""
    if place is None:
        return "no device"
    if isinstance(place, NamedSharding):
        sizes = ", ".join(f"{k}={v}" for k, v in place.mesh.shape.items())
        return f"{place.spec} of a mesh of {sizes}"
    platform = getattr(place, "platform", None)
    if platform is None:
        return str(place)
    return f"{platform}:{place.id}"
