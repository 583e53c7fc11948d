"""Programs that were loaded from bytes, and how they become bytes again.

jaxlib keeps the machine code that it compiled, not the code that it loaded: of a loaded
program it writes bytes without code, which load again and then compute nothing. So a
loaded program keeps the way to the bytes it came from.
"""

from __future__ import annotations

from collections.abc import Callable

from olympus._src.runtime.versions import LoadedExecutable


class StoredProgram:
    """A program that jaxlib loaded from bytes.

    Attributes:
      loaded: the executable of jaxlib.
      serialize: gives bytes from which it can be loaded again.
    """

    __slots__ = ("loaded", "serialize")

    def __init__(
        self, loaded: LoadedExecutable, serialize: Callable[[], bytes]
    ) -> None:
        self.loaded = loaded
        self.serialize = serialize
