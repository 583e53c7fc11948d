"""For libraries that extend olympus with operations and passes of their own."""

from olympus.extend import core

__all__ = ["core"]
