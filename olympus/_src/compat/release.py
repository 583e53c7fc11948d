"""The release of JAX that `jax` says it is, and its entry among installed packages."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterator
from typing import Any

from olympus._src.runtime import versions

# The oldest release that current libraries ask for; they read versions to choose names,
# and the names that olympus has are those of this release and later ones.
_OLDEST = (0, 11, 1)


def version_info() -> tuple[int, ...]:
    """The version: that of the installed jaxlib, but not one that libraries refuse."""
    return max(_parse(versions.version.__version__), _OLDEST)


def _parse(text: str) -> tuple[int, ...]:
    return tuple([int(part) for part in text.split(".") if part.isdigit()])


def version() -> str:
    """The version as text."""
    return ".".join(map(str, version_info()))


class Distribution(importlib.metadata.Distribution):
    """What `importlib.metadata` says of the package `jax`."""

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        lines = ("Metadata-Version: 2.1", "Name: jax", f"Version: {version()}")
        return "\n".join((*lines, "Summary: olympus, in place of JAX", ""))

    def locate_file(self, path: Any) -> Any:
        return os.path.join(os.path.dirname(__file__), path)


def distributions(context: Any) -> Iterator[Distribution]:
    """The entries that a search with this context finds: the one of `jax`, or none."""
    if context.name is None or context.name.lower() == "jax":
        yield Distribution()
