"""What has a page: a lens, a difference of two, a timeline."""

from __future__ import annotations

import abc
import os
import sys
import webbrowser

from olympus._src.lens import shell, terminal
from olympus._src.lens.terminal import Branch


class Shown(abc.ABC):
    """Something that is shown as a page, in notebooks, and in terminals.

    Attributes:
      name: of what it shows.
    """

    name: str

    @abc.abstractmethod
    def to_html(self) -> str:
        """The page."""

    @abc.abstractmethod
    def tree(self) -> Branch:
        """What terminals show."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file, which any browser opens without a network."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_html())

    def show(self, where: str | None = None) -> str:
        """Opens the page in the browser, or shows a tree in the terminal.

        Args:
          where: 'browser' or 'terminal'. By default the terminal if the program has
            one and there is no browser with a screen, else the browser.

        Returns:
          The path of the page's file; '' where the terminal showed the tree.

        Raises:
          ValueError: `where` is something else.
        """
        if where not in (None, "browser", "terminal"):
            raise ValueError(
                f"show: where must be 'browser' or 'terminal', got {where!r}; leave it "
                "out to have it chosen"
            )
        if where == "terminal" or (where is None and _prefers_terminal()):
            terminal.show(self.tree())
            return ""
        path = shell.temporary_path(self.name)
        self.save(path)
        webbrowser.open(f"file://{path}")
        return path

    def _repr_html_(self) -> str:
        return shell.frame(self.to_html())


def _prefers_terminal() -> bool:
    stream = sys.stdout
    if stream is None or not stream.isatty():
        return False
    has_screen = any(os.environ.get(v) for v in ("DISPLAY", "WAYLAND_DISPLAY"))
    return sys.platform.startswith("linux") and not has_screen
