"""The names of values in the lines of the panes, apart from the rest of the text."""

from __future__ import annotations

import re

# What stands in a line for each name of a value.
BLANK = "_"

# In an olympuspr, what is defined is before a colon, and what is taken at the end of an
# equation or of a list; what follows an equals sign is a primitive, short as it may be.
_PROGRAM = (
    r"(?<![\w.'\"=-])[a-z]{1,4}(?=:[a-z]\w*\[)"
    r"|(?<=[ (,])(?<!= )(?!let\b|in\b|lambda\b)[a-z]{1,4}(?=[ ,)]|$)"
)
_PERCENT = r"%[\w.\-]+(?:#\d+)?|(?<= )@[\w.\-]+"
_PERCENT_NAMES, _PROGRAM_NAMES = re.compile(_PERCENT), re.compile(_PROGRAM)
_XLA = re.compile(r"^(\s*(?:ROOT )?)([\w.\-]+) = (.*?) ([\w\-]+)\(([^()]*)\)(.*)$")


def split(text: str) -> tuple[str, tuple[str, ...]]:
    """A line with blanks for the names of its values, and these names.

    Example:
      >>> split("c:f32[8] = sin b")
      ('_:f32[8] = sin _', ('c', 'b'))
      >>> split("ROOT add.3 = f32[8] add(p.1, p.2), calls=%f.7")
      ('ROOT _ = f32[8] add(_, _), calls=_', ('add.3', 'p.1', 'p.2', '%f.7'))
    """
    xla = _XLA.match(text)
    if xla is not None and "%" not in xla[2] + xla[3] and ":" not in xla[2]:
        return _split_xla(xla)
    names: list[str] = []
    pattern = _PERCENT_NAMES if "%" in text or "@" in text else _PROGRAM_NAMES
    return _blank(pattern, text, names), tuple(names)


def _split_xla(match: re.Match[str]) -> tuple[str, tuple[str, ...]]:
    root, name, kind, opcode, operands, attributes = match.groups()
    names = [name]
    if opcode not in ("parameter", "constant"):  # which hold a number and a value
        listed = operands.split(", ") if operands else []
        names += listed
        operands = ", ".join([BLANK] * len(listed))
    attributes = _blank(_PERCENT_NAMES, attributes, names)
    wiped = f"{root}{BLANK} = {kind} {opcode}({operands}){attributes}"
    return wiped, tuple(names)


def _blank(pattern: re.Pattern[str], text: str, names: list[str]) -> str:
    def note(match: re.Match[str]) -> str:
        names.append(match[0])
        return BLANK

    return pattern.sub(note, text)
