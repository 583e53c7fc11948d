"""The text of a function as a tree: lines, and operations that hold regions."""

from __future__ import annotations

import re
from typing import NamedTuple

from olympus._src.lowering.canonical.errors import UnknownForm


class Operation(NamedTuple):
    """An operation with regions.

    Attributes:
      head: the text before its first region, as in `%3 = "stablehlo.sort"(%1)`.
      regions: its regions.
      tail: the text behind its last region, as in ` {is_stable = true} : ...`.
    """

    head: str
    regions: list[Region]
    tail: str


class Region(NamedTuple):
    """A region, or the body of a function.

    Attributes:
      arguments: pairs of a name without `%` and a type.
      items: in their order; a text is of lines that have no region.
    """

    arguments: list[tuple[str, str]]
    items: list[str | Operation]


_BRACE = re.compile(r" (\(\{)\n|\n(\}, \{)\n|\n(\}\))")
_ARGUMENTS = re.compile(r"\^bb0\((.*)\):")
_ARGUMENT = re.compile(r"%(\w+): ([^ ]+)")


def parse(body: str) -> Region:
    """The tree of the lines of a function."""
    if "({" not in body:
        return Region([], [body])
    parts = [part for part in _BRACE.split(body) if part is not None]
    reader = _Reader(parts)
    region = reader.region()
    if reader.position != len(parts):
        raise UnknownForm("}")
    return region


class _Reader:
    """Reads texts and the braces between them."""

    def __init__(self, parts: list[str]) -> None:
        self.parts = parts
        self.position = 1
        self.text = parts[0]

    def brace(self) -> str:
        """What ends the text."""
        if self.position >= len(self.parts):
            return ""
        found = self.parts[self.position]
        self.position += 1
        return found

    def next_text(self) -> None:
        self.text = self.parts[self.position]
        self.position += 1

    def region(self) -> Region:
        """The region that begins with the text, up to the brace that ends it."""
        arguments = self.arguments()
        items: list[str | Operation] = []
        while True:
            lines = self.text
            if self.position >= len(self.parts) or self.parts[self.position] != "({":
                if lines:
                    items.append(lines)
                return Region(arguments, items)
            before, newline, head = lines.rpartition("\n")
            if before:
                items.append(before)
            items.append(self.operation(head))

    def operation(self, head: str) -> Operation:
        regions = []
        brace = self.brace()
        while brace in ("({", "}, {"):
            self.next_text()
            regions.append(self.region())
            brace = self.brace()
        if brace != "})":
            raise UnknownForm(head)
        self.next_text()
        tail, _, self.text = self.text.partition("\n")
        return Operation(head, regions, tail)

    def arguments(self) -> list[tuple[str, str]]:
        if not self.text.startswith("^bb0"):
            return []
        first, _, self.text = self.text.partition("\n")
        listed = _ARGUMENTS.fullmatch(first)
        if listed is None:
            raise UnknownForm(first)
        pairs = []
        for part in listed[1].split(", "):
            match = _ARGUMENT.fullmatch(part)
            if match is None:
                raise UnknownForm(first)
            pairs.append((match[1], match[2]))
        return pairs
