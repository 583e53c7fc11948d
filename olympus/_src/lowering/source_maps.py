"""Source maps: which line of the user's program each line of a text comes from.

The format is ECMA-426's: a group of segments for each line of the text, each number
relative to the one before it and written in base 64, least significant digit first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

Segment = tuple[int, ...]
Texts = Sequence[str]
Mappings = Sequence[Sequence[Segment]]


class SourceMap(NamedTuple):
    """Where each line of a text comes from.

    Attributes:
      version: of the format, 3.
      sources: the files.
      sources_content: their texts, or nothing.
      names: identifiers that segments may refer to.
      mappings: the segments of each line; a segment is a column of the text and the
        number of a file, a line and a column in it, all from 0, each less the value of
        the segment before it. The column of the text is from 0 in each line.

    Example:
      >>> from olympus.experimental.source_mapper import SourceMap
      >>> SourceMap(3, ["f.py"], [], [], [[(4, 0, 2, 8)], []]).to_json()
      '{"version": 3, "sources": ["f.py"], "sourcesContent": [], "names": [], "mappings": "IAEQ;"}'
    """  # noqa: E501 - an output

    version: int
    sources: Texts
    sources_content: Texts
    names: Texts
    mappings: Mappings

    def to_json(self) -> str:
        """The map as other programs read it."""
        return json.dumps(
            {
                "version": self.version,
                "sources": self.sources,
                "sourcesContent": self.sources_content,
                "names": self.names,
                "mappings": _encode_mappings(self.mappings),
            }
        )

    @classmethod
    def from_json(cls, json_data: str) -> SourceMap:
        """Reads what `to_json` wrote.

        Raises:
          KeyError: a field is missing.
          ValueError: the mappings have a character that is not of base 64.
        """
        fields = json.loads(json_data)
        return cls(
            version=fields["version"],
            sources=fields["sources"],
            sources_content=fields["sourcesContent"],
            names=fields["names"],
            mappings=_decode_mappings(fields["mappings"]),
        )


class MappingsGenerator:
    """Builds mappings from absolute numbers, line by line.

    Example:
      >>> from olympus.experimental.source_mapper import MappingsGenerator
      >>> generator = MappingsGenerator()
      >>> generator.new_group()
      >>> generator.new_segment(4, 0, 7, 2)
      >>> generator.new_group()
      >>> generator.new_segment(4, 0, 8, 6)
      >>> generator.mappings()
      [[(4, 0, 7, 2)], [(4, 0, 1, 4)]]
    """

    def __init__(self) -> None:
        self._mappings: list[list[Segment]] = []
        self._last: list[int] = [0] * 5

    def new_group(self) -> None:
        """Begins the next line."""
        self._mappings.append([])
        self._last[0] = 0

    def new_segment(self, *seg: int) -> None:
        """Adds a segment to the line.

        Args:
          *seg: a column of the text; and, where it comes from somewhere, the number of
            a file, a line and a column in it; and the number of a name. All from 0.

        Raises:
          RuntimeError: no line has begun.
        """
        if not self._mappings:
            raise RuntimeError(
                "MappingsGenerator.new_segment: a segment requires a group, got none; "
                "call new_group() at the start of each line"
            )
        relative = [n - last for n, last in zip(seg, self._last, strict=False)]
        self._mappings[-1].append(tuple(relative))
        self._last[: len(seg)] = seg

    def mappings(self) -> Mappings:
        """The segments of each line."""
        return self._mappings


# -- numbers in base 64 ----------------------------------------------------------------

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _encode_mappings(mappings: Mappings) -> str:
    lines = [",".join(["".join(map(_encode, s)) for s in line]) for line in mappings]
    return ";".join(lines)


def _encode(number: int) -> str:
    left = -number << 1 | 1 if number < 0 else number << 1
    digits = ""
    while True:
        left, digit = left >> 5, left & 31
        digits += _DIGITS[digit | (32 if left else 0)]
        if not left:
            return digits


def _decode_mappings(text: str) -> Mappings:
    return [
        [_decode(segment) for segment in line.split(",")] if line else []
        for line in text.split(";")
    ]


def _decode(text: str) -> Segment:
    numbers = []
    value = shift = 0
    for character in text:
        digit = _DIGITS.find(character)
        if digit < 0:
            raise ValueError(
                "SourceMap.from_json: mappings must be in base 64, got "
                f"{character!r} in {text!r}"
            )
        value |= (digit & 31) << shift
        shift += 5
        if not digit & 32:
            numbers.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    return tuple(numbers)


# -- places of lines -------------------------------------------------------------------


class Place(NamedTuple):
    """A place in a file; line and column are from 0."""

    file: str
    line: int
    column: int


def of_lines(rows: Sequence[tuple[str, Place | None]]) -> SourceMap:
    """The map of a text, from the place that each of its lines comes from.

    A line has one segment, at its first column that is not blank.
    """
    sources: dict[str, int] = {}
    generator = MappingsGenerator()
    for line, place in rows:
        generator.new_group()
        if place is not None:
            column = len(line) - len(line.lstrip())
            number = sources.setdefault(place.file, len(sources))
            generator.new_segment(column, number, place.line, place.column)
    return SourceMap(3, list(sources), [], [], generator.mappings())


# Where MLIR's text begins at no file: the text itself, or standard input.
_NO_FILES = {"-", ""}
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_DEFINITION = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_USE = re.compile(r"loc\((#loc\d*)\)$")
_PLACE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')
_REFERENCE = re.compile(r"#loc\d*")


def create_mlir_sourcemap(mlir_dump: str) -> SourceMap:
    """The map of the text of a module that was printed with its locations.

    A call stack counts by its innermost place.
    """
    lines = mlir_dump.split("\n")
    definitions = {}
    for line in lines:
        definition = _DEFINITION.match(line)
        if definition:
            definitions[definition[1]] = definition[2]
    rows = []
    for line in lines:
        use = _USE.search(line.rstrip())
        rows.append((line, _mlir_place(use[1], definitions) if use else None))
    return of_lines(rows)


def _mlir_place(name: str, definitions: dict[str, str]) -> Place | None:
    for _ in definitions:  # as many steps as there are names, at most
        text = definitions.get(name, "")
        place = _PLACE.search(text)
        if place is not None:
            file = _unescape(place[1])
            line, column = int(place[2]) - 1, int(place[3]) - 1
            return None if file in _NO_FILES else Place(file, line, column)
        inner = _REFERENCE.search(_STRING.sub("", text))
        if inner is None:
            return None
        name = inner[0]
    return None


_ESCAPE = re.compile(r"((?:\\[0-9A-F]{2})+)|\\(.)")


def _unescape(text: str) -> str:
    """What a string stands for that MLIR or XLA wrote between quotes."""
    return _ESCAPE.sub(
        lambda m: bytes.fromhex(m[1].replace("\\", "")).decode() if m[1] else m[2], text
    )


_METADATA = re.compile(r"metadata=\{((?:[^}\"]|\"(?:[^\"\\]|\\.)*\")*)\}")
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_FILE = re.compile(r'source_file="((?:[^"\\]|\\.)*)"')
_LINE = re.compile(r"source_line=(\d+)")
_TABLE_ROW = re.compile(r'^(\d+) (?:"(.*)"|\{(.*)\})$')


def parse_hlo_dump(text: str) -> SourceMap:
    """The map of XLA's text; it counts lines, and no columns."""
    lines = text.split("\n")
    frames = _hlo_frames(lines)
    rows = []
    for line in lines:
        metadata = _METADATA.search(line)
        rows.append((line, _hlo_place(metadata[1], frames) if metadata else None))
    return of_lines(rows)


def _hlo_place(metadata: str, frames: dict[int, Place]) -> Place | None:
    frame = _FRAME.search(metadata)
    if frame is not None:
        return frames.get(int(frame[1]))
    file, line = _FILE.search(metadata), _LINE.search(metadata)
    if file is None or line is None or file[1] in _NO_FILES:
        return None
    return Place(_unescape(file[1]), int(line[1]) - 1, 0)


def _hlo_frames(lines: Sequence[str]) -> dict[int, Place]:
    """The innermost places of the call stacks that a text lists before its program."""
    tables: dict[str, dict[int, Any]] = {}
    table: dict[int, Any] = {}
    for line in lines:
        row = _TABLE_ROW.match(line)
        if row is not None:
            table[int(row[1])] = row[2] if row[3] is None else _fields(row[3])
        elif line.isalpha():
            table = tables[line] = {}
        elif line.endswith("{") and tables:
            break
    files, places = tables.get("FileNames", {}), tables.get("FileLocations", {})
    frames = {}
    for number, fields in tables.get("StackFrames", {}).items():
        place = places.get(fields["file_location_id"], {})
        file = files.get(place.get("file_name_id"), "")
        if file not in _NO_FILES:
            frames[number] = Place(file, place["line"] - 1, 0)
    return frames


def _fields(text: str) -> dict[str, int]:
    pairs = [field.split("=") for field in text.split()]
    return {name: int(value) for name, value in pairs}
