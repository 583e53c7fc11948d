"""The entry of `jax` among installed packages.

Who asks for one has loaded `importlib.metadata`, which takes 5 ms.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterator
from typing import Any

from olympus._src.compat import release


class Distribution(importlib.metadata.Distribution):
    """What `importlib.metadata` says of the package `jax`."""

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        version = f"Version: {release.version()}"
        lines = ("Metadata-Version: 2.1", "Name: jax", version)
        return "\n".join((*lines, "Summary: olympus, in place of JAX", ""))

    def locate_file(self, path: Any) -> Any:
        return os.path.join(os.path.dirname(__file__), path)


def find(context: Any) -> Iterator[Distribution]:
    """The entries that a search with this context finds: the one of `jax`, or none."""
    if context.name is None or context.name.lower() == "jax":
        yield Distribution()
