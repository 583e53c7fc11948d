"""For libraries that extend olympus."""

from olympus.extend import core as core

__all__ = ["core"]
