"""The table of types of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from olympus._src.tree import registry


class _Registry(Mapping[type, Any]):
    """Types of nodes that are registered."""

    def __getitem__(self, kind: type) -> Any:
        if kind not in registry.registered_types():
            raise KeyError(kind)
        return kind

    def __contains__(self, kind: object) -> bool:
        return kind in registry.registered_types()

    def __iter__(self) -> Iterator[type]:
        return iter(registry.registered_types())

    def __len__(self) -> int:
        return len(registry.registered_types())


_registry = _Registry()

__all__: list[str] = []
