"""Dictionaries of attributes as MLIR prints them: sorted, in its forms of values."""

from __future__ import annotations

import re
from collections.abc import Callable

from olympus._src.foundation import caching
from olympus._src.lowering.canonical import numbers
from olympus._src.lowering.canonical.errors import UnknownForm

Entries = dict[str, str]

_OPEN, _CLOSE = "[{(<", "]})>"
_TOKEN = re.compile(r'"[^"]*"|->|[\[\]{}()<>,]|[^\[\]{}()<>,"-]+|-')
_NAME = re.compile(r"[A-Za-z_][\w$.]*")
_ESCAPE = re.compile(r"\\(..)")


def split(text: str) -> list[str]:
    """The parts of a list between its own commas."""
    parts, depth, start = [], 0, 0
    for token in _TOKEN.finditer(text):
        c = token.group()
        if c in _OPEN:
            depth += 1
        elif c in _CLOSE:
            depth -= 1
        elif c == "," and not depth:
            parts.append(text[start : token.start()].strip())
            start = token.end()
    remaining = text[start:].strip()
    return [*parts, remaining] if remaining else parts


def read(text: str) -> Entries:
    """The entries of a dictionary, values as printed, in the order of their names."""
    if "%" in text:  # in a string: it could be taken for the name of a value
        raise UnknownForm(text)
    entries = {}
    for part in split(text):
        name, equals, content = _key(part)
        if name in entries:
            raise UnknownForm(part)
        entries[name] = value(content) if equals else ""
    return dict(sorted(entries.items()))


def _key(part: str) -> tuple[str, str, str]:
    if not part.startswith('"'):
        return part.partition(" = ")
    name, equals, content = part[1:].partition('" = ')
    if not equals or "\\" in name or '"' in name:
        raise UnknownForm(part)
    return name, equals, content


def write(entries: Entries) -> str:
    """The entries between the braces."""
    rows = [f"{_label(k)} = {v}" if v else _label(k) for k, v in entries.items()]
    return ", ".join(rows)


def _label(name: str) -> str:
    return name if _NAME.fullmatch(name) else f'"{name}"'


def symbol(name: str) -> str:
    """A reference to a symbol."""
    return f"@{name}" if _NAME.fullmatch(name) else f'@"{name}"'


def string(text: str) -> str:
    """A quoted string, whose backslashes `types.string` writes by their number."""
    if "\\" not in text:
        return text
    codes = _ESCAPE.findall(text)
    if not all(re.fullmatch("[0-9A-F]{2}", code) for code in codes):
        raise UnknownForm(text)
    return text.replace("\\5C", "\\\\")


# -- values ----------------------------------------------------------------------------

# Those that are printed as they are written.
_SAME = re.compile(
    r"true|false|unit|-?\d+ : (?:u?i\d+|index)|array<i(?:64|32|8|1)(?:: [-\w, ]+)?>"
    r"|@[A-Za-z_][\w$.]*|u?i\d+|b?f\d+|tensor<[\dx]*\w+>"
    r"|#stablehlo\.output_operand_alias<output_tuple_indices = \[[\d, ]*\], "
    r"operand_index = \d+, operand_tuple_indices = \[\]>"
    r"|#stablehlo\.channel_handle<handle = \d+, type = \d+>"
    r"|#stablehlo<(?:precision|comparison_type|comparison_direction|transpose|rng_\w+) "
    r"\w+>"
    r"|#sdy\.op_sharding_rule<[^%\\]*>"
    r"|#sdy\.sharding<@\w+, \[[^]]*\]>"
    r"|#sdy\.sharding_per_value<\[(?:<@\w+, \[[^]]*\]>(?:, )?)*\]>"
)
_FLOAT = re.compile(r"(-?\d[\d.]*(?:E[-+]?\d+)?|0x[0-9A-F]+) : (b?f\d+)")
_INTEGERS = re.compile(r"dense<([-\d, \[\]]*)> : tensor<([\dx]*)(u?i\d+|index)>")


@caching.bounded_cache(4096, "printed attributes")
def value(text: str) -> str:
    """An attribute as MLIR prints it."""
    if _SAME.fullmatch(text):
        return text
    first = text[:1]
    if first == '"' and text.endswith('"') and '"' not in text[1:-1]:
        return string(text)
    if first == "[" and text.endswith("]"):
        return f"[{', '.join([value(part) for part in split(text[1:-1])])}]"
    if first == "{" and text.endswith("}"):
        return f"{{{write(read(text[1:-1]))}}}"
    for form, how in _FORMS:
        match = form.fullmatch(text)
        if match is not None:
            return how(match)
    raise UnknownForm(text)


def _float(match: re.Match[str]) -> str:
    return f"{numbers.float_text(match[1], match[2])} : {match[2]}"


def _dense(match: re.Match[str]) -> str:
    """Integers: one where all are equal."""
    elements, shape, kind = match.groups()
    items = re.findall(r"-?\d+", elements)
    if len(items) > numbers.MOST_LISTED:
        raise UnknownForm(elements)
    if len(set(items)) == 1:
        elements = items[0]
    elif items and "[" not in elements:
        raise UnknownForm(elements)
    elif not items:
        elements = ""
    return f"dense<{elements}> : tensor<{shape}{kind}>"


def _dimension_numbers(match: re.Match[str]) -> str:
    """Dimensions of a gather or a scatter, without those that are empty or zero."""
    kept = [
        part
        for part in split(match[2])
        if not part.endswith("= []") and part != "index_vector_dim = 0"
    ]
    return f"#stablehlo.{match[1]}<{', '.join(kept)}>"


_FORMS: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
    (_FLOAT, _float),
    (_INTEGERS, _dense),
    (re.compile(r"#stablehlo\.(gather|scatter)<([\w = \[\],]*)>"), _dimension_numbers),
]


_DICTIONARY = re.compile(r'\{((?:[^{}"]|"[^"]*"|\{[^{}]*\})*)\}')


def with_sorted_dictionaries(text: str) -> str:
    """A list of types, each with its attributes as MLIR prints them."""
    if "{" not in text:
        return text
    return _DICTIONARY.sub(lambda match: f"{{{_ordered(match[1])}}}", text)


@caching.bounded_cache(4096, "printed attributes")
def _ordered(text: str) -> str:
    return write(read(text))
