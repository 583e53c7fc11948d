"""Where it is said that work takes long: on stderr, or in a line of a notebook."""

from __future__ import annotations

import html
import itertools
import sys
from typing import Any

_numbers = itertools.count()


def notebook() -> Any:
    """IPython's shell, where it runs a notebook; else None."""
    package = sys.modules.get("IPython")
    shell = package.get_ipython() if package is not None else None
    return shell if type(shell).__name__ == "ZMQInteractiveShell" else None


class Lines:
    """Lines on stderr."""

    every_s: float | None = None  # as often as nobody is disturbed

    def show(
        self, text: str, share: float | None = None, is_last: bool = False
    ) -> None:
        """Prints a line."""
        if sys.stderr is not None:
            print(f"olympus: {text}", file=sys.stderr, flush=True)


class NotebookLine:
    """One line of a notebook, which is written again in place.

    Args:
      shell: IPython's.
    """

    every_s: float | None = 1.0

    def __init__(self, shell: Any) -> None:
        self._publisher = shell.display_pub
        self._id = f"olympus-progress-{next(_numbers)}"
        self._is_shown = False

    def show(
        self, text: str, share: float | None = None, is_last: bool = False
    ) -> None:
        """Writes the line.

        Args:
          text: what it says.
          share: of the work that is done, from 0 to 1, where that can be told.
          is_last: whether the work is done.
        """
        value = "" if share is None else f' value="{share:.2f}"'
        bar = "" if is_last else f'<progress max="1"{value}></progress> '
        # Of the classes that notebooks have, so that it follows their themes.
        page = f'<div class="olympus-progress">{bar}{html.escape(text)}</div>'
        self._publisher.publish(
            {"text/plain": text, "text/html": page},
            transient={"display_id": self._id},
            update=self._is_shown,
        )
        self._is_shown = True


def choose() -> Lines | NotebookLine:
    """What the running program is shown on."""
    shell = notebook()
    return Lines() if shell is None else NotebookLine(shell)
