"""The release of JAX that `jax` says it is."""

from __future__ import annotations

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
