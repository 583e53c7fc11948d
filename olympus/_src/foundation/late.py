"""Names of a public page that are loaded at their first use.

Importing every function would make `import olympus` a third slower, and a program uses
few of those that are seldom needed. A page lists them by the file they come from; type
checkers and editors read the same imports under `if TYPE_CHECKING`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any


class Late:
    """What a page loads late.

    Args:
      page: the page's name.
      pages: pages below it.
      names: for each file of `olympus._src`, which of its names are the page's, with
        spaces between.
    """

    __slots__ = ("_home", "_page", "_pages")

    def __init__(
        self, page: str, pages: Iterable[str], names: Mapping[str, str]
    ) -> None:
        self._page = page
        self._pages = frozenset(pages)
        self._home = {
            name: file for file, found in names.items() for name in found.split()
        }

    def load(self, name: str) -> Any:
        """The page's attribute; what `__getattr__` of the page returns.

        Raises:
          AttributeError: the page has no such name.
        """
        if name in self._pages:
            return importlib.import_module(f"{self._page}.{name}")
        if name in self._home:
            file = importlib.import_module(f"olympus._src.{self._home[name]}")
            # From here on it is an ordinary attribute, which a test may replace.
            return vars(sys.modules[self._page]).setdefault(name, getattr(file, name))
        raise AttributeError(f"module {self._page!r} has no attribute {name!r}")

    def names(self) -> list[str]:
        """The page's names, loaded or not; what `__dir__` of the page returns."""
        return sorted({*vars(sys.modules[self._page]), *self._pages, *self._home})
