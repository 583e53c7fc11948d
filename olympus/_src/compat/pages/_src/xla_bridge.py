"""Clients of platforms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from olympus._src.api import backends as backends_


class _Backends(Mapping[str, Any]):
    """The clients that have started."""

    def __getitem__(self, platform: str) -> Any:
        return backends_.backends()[platform]

    def __iter__(self) -> Iterator[str]:
        return iter(backends_.backends())

    def __len__(self) -> int:
        return len(backends_.backends())


_backends = _Backends()

__all__: list[str] = []
