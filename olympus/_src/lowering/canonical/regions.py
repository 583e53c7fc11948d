"""Operations that hold regions, read from the lines of a function."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from olympus._src.lowering.canonical.errors import UnknownForm


class Region(NamedTuple):
    """A region.

    Attributes:
      arguments: pairs of a name without `%` and a type.
      lines: its lines, those of regions in it too.
    """

    arguments: list[tuple[str, str]]
    lines: list[str]


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


def read(head: str, rows: Iterator[str]) -> Operation:
    """The operation that begins with a line, from that line and those behind it."""
    regions = []
    lines: list[str] = []
    depth = 0
    for line in rows:
        if line.startswith("}"):
            if not depth:
                regions.append(_region(lines))
                if line != "}, {":
                    return _operation(head, regions, line)
                lines = []
                continue
            depth -= not line.endswith("{")
        elif line.endswith("{"):
            depth += 1
        lines.append(line)
    raise UnknownForm(head)


def _operation(head: str, regions: list[Region], last: str) -> Operation:
    if head.endswith(" ({") and last.startswith("})"):
        return Operation(head[:-3], regions, last[2:])
    manual = _MANUAL.fullmatch(head)
    if manual is None or not last.startswith("} : ") or len(regions) != 1:
        raise UnknownForm(head)
    region = Region(_pairs(manual[2]), regions[0].lines)
    return Operation(manual[1], [region], last[1:])


# Its axes are strings, which must hold nothing that is printed in another way.
_MANUAL = re.compile(
    r"((?:%\w+(?::\d+)? = )?sdy\.manual_computation\([^()]*\) in_shardings=[^%\\]*)"
    r"\((.*)\) \{"
)
_ARGUMENT = re.compile(r"%(\w+): ([^ ,]+)")


def _region(lines: list[str]) -> Region:
    if not lines or not lines[0].startswith("^"):
        return Region([], lines)
    first, *remaining = lines
    if not first.startswith("^bb0(") or not first.endswith("):"):
        raise UnknownForm(first)
    return Region(_pairs(first[5:-2]), remaining)


def _pairs(listed: str) -> list[tuple[str, str]]:
    """Names and types of arguments."""
    pairs = _ARGUMENT.findall(listed)
    if len(pairs) != listed.count("%"):
        raise UnknownForm(listed)
    return pairs
