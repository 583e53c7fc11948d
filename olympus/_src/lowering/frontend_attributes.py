"""Attributes by which operations tell the compiler and its tools something."""

from __future__ import annotations

import re
from collections.abc import Sequence

from olympus._src.lowering import types

Attributes = Sequence[tuple[str, str]]

_NAME = "mhlo.frontend_attributes"
# Quotes within a string are written by their codes, so a string ends at the next one.
_OWN = re.compile(_NAME.replace(".", r"\.") + r' = \{((?:[^"}]|"[^"]*")*)\}')
_ENTRY = re.compile(r'("[^"]*"|[^\s",=]+) = ("[^"]*")')
_LOCATION = re.compile(r' loc\("[^"]*"(?:\("[^"]*":\d+:\d+\))?\)$')


def text(attributes: Attributes) -> str:
    """The attributes as an entry of an operation's dictionary."""
    rows = [f"{types.string(name)} = {types.string(v)}" for name, v in attributes]
    return f"{_NAME} = {{{', '.join(rows)}}}"


def split_location(line: str) -> tuple[str, str]:
    """A line without its place in the user's program, and this place."""
    match = _LOCATION.search(line)
    return (line, "") if match is None else (line[: match.start()], match.group())


def tag(operation: str, attributes: Attributes) -> str:
    """An operation with more attributes, those that it has already first in right.

    Args:
      operation: its text without a place; of several lines if it has regions.
      attributes: pairs of a name and a text. Constants get none, since all who need
        a number share it, nor do operations whose text ends in a region.
    """
    head, colon, kinds = operation.rpartition(" : ")
    if not colon or "stablehlo.constant " in operation.split("\n", 1)[0]:
        return operation
    begin, barrier, operands = head.partition("stablehlo.optimization_barrier ")
    if barrier and "\n" not in begin:  # its dictionary comes first
        return f"{begin}{barrier}{{{text(attributes)}}} {operands} : {kinds}"
    if not head.endswith("}"):
        return f"{head} {{{text(attributes)}}} : {kinds}"
    start = _find_brace(head)
    if head[start + 1] == "\n":
        return operation
    own = _OWN.search(head, start)
    if own is None:
        return f"{head[:-1]}, {text(attributes)}}} : {kinds}"
    merged = _merge(own[1], attributes)
    return f"{head[: own.start()]}{merged}{head[own.end() :]} : {kinds}"


def _merge(own: str, attributes: Attributes) -> str:
    """Entries of a dictionary of attributes, and attributes of other names."""
    rows = {types.string(name): types.string(value) for name, value in attributes}
    for name, value in _ENTRY.findall(own):
        rows[name if name.startswith('"') else f'"{name}"'] = value
    entries = [f"{name} = {value}" for name, value in sorted(rows.items())]
    return f"{_NAME} = {{{', '.join(entries)}}}"


def _find_brace(head: str) -> int:
    """Where the brace begins that ends the text; strings hold no quotes."""
    depth, quoted = 0, False
    for i in range(len(head) - 1, -1, -1):
        c = head[i]
        if c == '"':
            quoted = not quoted
        elif not quoted and c == "}":
            depth += 1
        elif not quoted and c == "{":
            depth -= 1
            if not depth:
                return i
    return 0
