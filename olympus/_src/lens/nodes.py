"""Lines of the panes, and the places of the user's program that they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

# Of an operation: outside of derivatives, of the forward pass, of the backward pass.
_DIRECTIONS = {"": 0, "forward": 1, "backward": 2}


class Node:
    """A line of a pane, which may hold others.

    Attributes:
      text: the line.
      place: the number of the user's expression in `Places`; -1 where none is known.
      direction: 0 outside of derivatives, 1 in the forward, 2 in the backward pass.
      children: lines that fold away under it.
      is_open: whether they are shown at first.
      is_fold: whether it is no line of the program, but stands for its children.
      time_us, size_bytes, flops: its own, without those of its children.
    """

    __slots__ = (
        "children", "direction", "flops", "is_fold", "is_open", "place", "size_bytes",
        "text", "time_us",
    )  # fmt: skip

    def __init__(
        self,
        text: str,
        place: int = -1,
        direction: int = 0,
        children: list[Node] | None = None,
        is_open: bool = False,
        is_fold: bool = False,
    ) -> None:
        self.text = text
        self.place = place
        self.direction = direction
        self.children = children or []
        self.is_open = is_open
        self.is_fold = is_fold
        self.time_us = 0.0
        self.size_bytes = 0.0
        self.flops = 0.0


def unfolded(nodes: Iterable[Node], depth: int = 0) -> Iterator[tuple[int, Node]]:
    """All lines of a pane in their order, and how deep they are nested."""
    for node in nodes:
        if not node.is_fold:
            yield depth, node
        yield from unfolded(node.children, depth + (not node.is_fold))


class Places:
    """Expressions of the user's program, numbered as they are met.

    Attributes:
      files: names of files.
      spans: for each expression the number of the file, first line, last line, first
        column and last column; columns count from 1, and 0 where they are not known.
    """

    __slots__ = ("_by_position", "_files", "_numbers", "files", "spans")

    def __init__(self) -> None:
        self.files: list[str] = []
        self.spans: list[tuple[int, int, int, int, int]] = []
        self._by_position: dict[Any, int] = {}
        self._files: dict[str, int] = {}
        self._numbers: dict[tuple[int, int, int, int, int], int] = {}

    def number(self, position: Any) -> int:
        """The number of a position; -1 for None."""
        if position is None:
            return -1
        number = self._by_position.get(position)
        if number is None:
            number = self._by_position[position] = self._number(position)
        return number

    def _number(self, position: Any) -> int:
        if not position.line:
            return -1
        span = (
            self._file(position.file),
            position.line,
            position.end_line,
            position.column,
            position.end_column,
        )
        number = self._numbers.get(span)
        if number is None:
            number = self._numbers[span] = len(self.spans)
            self.spans.append(span)
        return number

    def _file(self, name: str) -> int:
        if name not in self._files:
            self._files[name] = len(self.files)
            self.files.append(name)
        return self._files[name]


def direction_number(name: str) -> int:
    """The number of a direction's name, of `Origin.direction`."""
    return _DIRECTIONS[name]
