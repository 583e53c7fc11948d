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
_NAME = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)
_LABEL = re.compile(r"[ !#-[\]-~]*")  # printable, without quotes and backslashes


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
        name, equals, content = key(part)
        if name in entries:
            raise UnknownForm(part)
        entries[name] = value(content) if equals else ""
    return dict(sorted(entries.items()))


def key(part: str) -> tuple[str, str, str]:
    """The name of an entry, what separates it from its value, and the value."""
    quoted = part.startswith('"')
    name, equals, content = part[quoted:].partition('" = ' if quoted else " = ")
    known = equals and _LABEL.fullmatch(name) if quoted else _NAME.fullmatch(name)
    if not known:
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
    if _STRING.fullmatch(text) is None:
        raise UnknownForm(text)
    return text.replace("\\5C", "\\\\")


# Printable characters, and numbers of those that are not, of quotes and backslashes.
_STRING = re.compile(r'"(?:[ !#-[\]-~]|\\(?:[01][0-9A-F]|22|5C|7F|[89A-F][0-9A-F]))*"')

# -- values ----------------------------------------------------------------------------

# Those that are printed as they are written.
_SAME = re.compile(
    r"true|false|array<i(?:64|32|8|1)>|array<i1: (?:true|false)(?:, (?:true|false))*>"
    r"|@[A-Za-z_][\w$.]*|u?i\d+|bf16|f\d+|tensor<(?:\d+x)*(?:bf16|f\d+|u?i\d+)>"
    r"|#stablehlo\.output_operand_alias<output_tuple_indices = \[\d*\], "
    r"operand_index = \d+, operand_tuple_indices = \[\]>"
    r"|#stablehlo\.channel_handle<handle = \d+, type = \d+>"
    r"|#stablehlo<(?:precision|comparison_type|comparison_direction|transpose|rng_\w+) "
    r"\w+>"
    r"|#sdy\.op_sharding_rule<[^%\\]*>"
    r"|#sdy\.sharding<@\w+, \[[^]]*\]>"
    r"|#sdy\.sharding_per_value<\[(?:<@\w+, \[[^]]*\]>(?:, )?)*\]>",
    re.ASCII,
)
_FLOAT = re.compile(r"(-?\d[\d.]*(?:E[-+]?\d+)?|0x[0-9A-F]+) : (b?f\d+)", re.ASCII)
_INTEGER = re.compile(r"(-?\d+) : (u?i\d+|index)", re.ASCII)
_ARRAY = re.compile(r"array<(i(?:8|32|64)): (-?\d+(?:, -?\d+)*)>", re.ASCII)
_LISTS = r"\[*-?\d+\]*(?:, \[*-?\d+\]*)*"
_INTEGERS = re.compile(
    rf"dense<({_LISTS}|\[*\]*)> : tensor<([\dx]*)(u?i\d+|index)>", re.ASCII
)


@caching.bounded_cache(4096, "printed attributes")
def value(text: str) -> str:
    """An attribute as MLIR prints it."""
    if _SAME.fullmatch(text):
        return text
    first = text[:1]
    if first == '"' and text.endswith('"') and '"' not in text[1:-1]:
        return string(text)
    if first == "[" and text.endswith("]"):
        return f"[{', '.join([_item(part) for part in split(text[1:-1])])}]"
    if first == "{" and text.endswith("}"):
        return f"{{{write(read(text[1:-1]))}}}"
    for form, how in _FORMS:
        match = form.fullmatch(text)
        if match is not None:
            return how(match)
    raise UnknownForm(text)


_USUAL = re.compile(r"[-+.\de]+ : [if]64", re.ASCII)


def _item(text: str) -> str:
    """An element of a list; finite numbers of 64 bits without their types."""
    printed = value(text)
    return printed[: -len(" : i64")] if _USUAL.fullmatch(printed) else printed


def _integer(match: re.Match[str]) -> str:
    numbers.check_integer(match[1], match[2])
    return match[0]


def _array(match: re.Match[str]) -> str:
    for item in match[2].split(", "):
        numbers.check_integer(item, match[1])
    return match[0]


def _float(match: re.Match[str]) -> str:
    return f"{numbers.float_text(match[1], match[2])} : {match[2]}"


def _dense(match: re.Match[str]) -> str:
    """Integers: one where all are equal."""
    elements, shape, kind = match.groups()
    items = re.findall(r"-?\d+", elements)
    for item in items:
        numbers.check_integer(item, kind)
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
    (_INTEGER, _integer),
    (_ARRAY, _array),
    (_FLOAT, _float),
    (_INTEGERS, _dense),
    (re.compile(r"#stablehlo\.(gather|scatter)<([\w = \[\],]*)>"), _dimension_numbers),
]


_DICTIONARY = re.compile(r'\{((?:[^{}"]|"[^"]*"|\{[^{}]*\})*)\}')


def with_sorted_dictionaries(text: str) -> str:
    """A list of types, each with its attributes as MLIR prints them."""
    if "{" not in text:
        return text
    parts = _DICTIONARY.split(text)
    if any("{" in part or "}" in part for part in parts[::2]):
        raise UnknownForm(text)  # dictionaries in those of dictionaries
    parts[1::2] = [f"{{{_ordered(part)}}}" for part in parts[1::2]]
    return "".join(parts)


@caching.bounded_cache(4096, "printed attributes")
def _ordered(text: str) -> str:
    return write(read(text))
