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
      loaded: the executable of jaxlib, for running.
      serialize: gives bytes from which it can be loaded again.
      load_whole: loads it with all that it says of itself; None where `loaded` says it.
    """

    __slots__ = ("_load", "_whole", "loaded", "serialize")

    def __init__(
        self,
        loaded: LoadedExecutable,
        serialize: Callable[[], bytes],
        load_whole: Callable[[], LoadedExecutable] | None = None,
    ) -> None:
        self.loaded = loaded
        self.serialize = serialize
        self._load = load_whole
        self._whole: LoadedExecutable | None = None

    def load_whole(self) -> LoadedExecutable:
        """The executable for descriptions: its instructions, their cost and memory."""
        if self._load is None:
            return self.loaded
        if self._whole is None:
            self._whole = self._load()
        return self._whole
