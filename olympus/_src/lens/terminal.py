"""Trees in a terminal: coloured and paged by `rich` if it is installed, else plain."""

from __future__ import annotations

import contextlib
import importlib
import pydoc
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

# What the styles of parts are in `rich`.
_COLORS = {
    "": "",
    "title": "bold",
    "soft": "dim",
    "number": "cyan",
    "added": "green",
    "removed": "red",
    "changed": "yellow",
    "forward": "blue",
    "backward": "magenta",
    "heat": "rgb(226,88,34)",
}


class Part(NamedTuple):
    """Text in one style.

    Attributes:
      text: the text.
      style: 'title', 'soft', 'number', 'added', 'removed', 'changed', 'forward',
        'backward', 'heat' or ''.
    """

    text: str
    style: str = ""


class Branch(NamedTuple):
    """A line of a tree and what is below it."""

    parts: Sequence[Part]
    children: Sequence[Branch] = ()

    def __str__(self) -> str:
        return plain(self)


def branch(text: str, children: Sequence[Branch] = (), style: str = "") -> Branch:
    """A branch of one part."""
    return Branch([Part(text, style)], children)


def plain(tree: Branch) -> str:
    """A tree as text."""
    return "\n".join([_text(tree), *_lines(tree.children, "")])


def _text(tree: Branch) -> str:
    return "".join([part.text for part in tree.parts]).rstrip()


def _lines(trees: Sequence[Branch], before: str) -> Iterator[str]:
    for i, tree in enumerate(trees):
        is_last = i == len(trees) - 1
        yield f"{before}{'└── ' if is_last else '├── '}{_text(tree)}"
        yield from _lines(tree.children, before + ("    " if is_last else "│   "))


def show(tree: Branch) -> None:
    """Prints a tree; a terminal shows it page by page, and in colours if it can."""
    if sys.stdout is None:
        return
    rich = _rich() if sys.stdout.isatty() else None
    if rich is not None:
        console, built = rich
        with console.pager(styles=True):
            console.print(_rich_tree(tree, built))
    elif sys.stdout.isatty():
        pydoc.pager(plain(tree))
    else:
        print(plain(tree))


def _rich() -> Any:
    """A console and the constructors of trees and texts; None without `rich`."""
    with contextlib.suppress(ImportError):
        console: Any = importlib.import_module("rich.console")
        tree: Any = importlib.import_module("rich.tree")
        text: Any = importlib.import_module("rich.text")
        return console.Console(), (tree.Tree, text.Text)
    return None


def _rich_tree(tree: Branch, built: Any) -> Any:
    make_tree, make_text = built
    rich = make_tree(_rich_text(tree, make_text), guide_style="dim")
    pending = [(rich, child) for child in reversed(tree.children)]
    while pending:
        parent, child = pending.pop()
        added = parent.add(_rich_text(child, make_text))
        pending += [(added, inner) for inner in reversed(child.children)]
    return rich


def _rich_text(tree: Branch, make_text: Any) -> Any:
    pairs = [(part.text, _COLORS[part.style]) for part in tree.parts]
    return make_text.assemble(*pairs)
