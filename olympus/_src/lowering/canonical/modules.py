"""A module's text as MLIR prints it."""

from __future__ import annotations

import itertools
import re

from olympus._src.lowering.canonical import attributes, functions
from olympus._src.lowering.canonical.errors import UnknownForm

_MODULE = re.compile(
    r"(module @[A-Za-z_][\w$.]* attributes \{mhlo\.num_partitions = \d+ : i32, "
    r"mhlo\.num_replicas = \d+ : i32\} \{)\n"
)
_MESH = re.compile(
    r'sdy\.mesh @\w+ = <\[(?:"\w+"=\d+(?:, "\w+"=\d+)*|\], device_ids=\[0)\]>'
)
_FUNCTION = re.compile(
    r"func\.func (public|private) @([\w.$]+)\(([^\n]*)\) -> (\([^\n]*\)) \{\n"
)
_END = "\n}"


def canonical_text(text: str) -> str | None:
    """The module as MLIR prints it; None where it has a form that is not known here.

    Args:
      text: a module as `lowering.module` writes it, without places in the user's
        program.
    """
    try:
        return _module(text)
    except UnknownForm:
        return None


def _module(text: str) -> str:
    head = _MODULE.match(text)
    if head is None or not text.endswith("\n}\n}\n"):
        raise UnknownForm("module")
    out = [head[1]]
    parts = text[head.end() : -len("\n}\n}\n")].split("\n}\n")
    meshes, func, first = parts[0].partition("func.func ")
    for mesh in meshes.splitlines():
        if _MESH.fullmatch(mesh) is None:
            raise UnknownForm(mesh)
        out.append(f"  {mesh}")
    parts[0] = func + first
    out += map(_function, parts)
    out.append("}\n")
    return "\n".join(out)


def _function(text: str) -> str:
    match = _FUNCTION.match(text)
    if match is None or text[match.end()] == " ":
        return _printed(text)
    visibility, symbol, arguments, outs = match.groups()
    names, listed = _arguments(arguments)
    if "{" in outs:
        outs = attributes.with_sorted_dictionaries(outs)
    elif ", " not in outs:
        outs = outs[1:-1]
    result = f" -> {outs}" if outs else ""
    return (
        f"  func.func {visibility} {attributes.symbol(symbol)}({listed}){result} {{\n"
        f"{functions.body(text[match.end() :], names)}\n  }}"
    )


_PRINTED = re.compile(r"func\.func private @[^\n]* \{(?:\n  [^\n]*)+")


def _printed(text: str) -> str:
    """A function that MLIR has printed: from an exported program, or a user's rule."""
    if _PRINTED.fullmatch(text) is None or "loc(" in text:
        raise UnknownForm(text[:80])
    return "  " + text.replace("\n", "\n  ") + "\n  }"


_ARGUMENT = re.compile(r"%(\w+): ")


def _arguments(text: str) -> tuple[list[str], str]:
    """The names of a function's arguments, and their list as printed."""
    if "{" in text:
        text = attributes.with_sorted_dictionaries(text)
    names = _ARGUMENT.findall(text)
    if any(name != f"arg{i}" for i, name in enumerate(names)):
        numbers = itertools.count()
        text = _ARGUMENT.sub(lambda _: f"%arg{next(numbers)}: ", text)
    return names, text
