"""A module's text as MLIR prints it."""

from __future__ import annotations

import itertools
import re

from olympus._src.lowering.canonical import attributes, functions
from olympus._src.lowering.canonical.errors import UnknownForm

_MODULE = re.compile(
    r"(module @[A-Za-z_][\w$.]* attributes \{mhlo\.num_partitions = \d+ : i32, "
    r"mhlo\.num_replicas = \d+ : i32\} \{)\n",
    re.ASCII,
)
_MESH = re.compile(
    r'sdy\.mesh @\w+ = <\[(?:"\w+"=[1-9]\d*(?:, "\w+"=[1-9]\d*)*'
    r"|\], device_ids=\[0)\]>",
    re.ASCII,
)
_FUNCTION = re.compile(r"func\.func (public|private) @([\w.$]+)\(", re.ASCII)


def canonical_text(text: str) -> str | None:
    """The module as MLIR prints it; None where it has a form that is not known here.

    Args:
      text: a module as `lowering.module` writes it, without places in the user's
        program.
    """
    try:
        return _module(text)
    except (ValueError, LookupError, RecursionError):  # also of what reads its parts
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
    head, _, body = text.partition("\n")
    match = _FUNCTION.match(head)
    if match is None or body.startswith(" "):
        return _printed(text)
    visibility, symbol = match.groups()
    arguments, arrow, outs = head[match.end() :].partition(") -> (")
    if not arrow or not outs.endswith(") {"):
        raise UnknownForm(head)
    names, listed = _arguments(arguments)
    outs = outs[:-3]
    if "{" in outs:
        outs = f"({attributes.with_sorted_dictionaries(outs)})"
    elif ", " in outs:
        outs = f"({outs})"
    result = f" -> {outs}" if outs else ""
    return (
        f"  func.func {visibility} {attributes.symbol(symbol)}({listed}){result} {{\n"
        f"{functions.body(body, names)}\n  }}"
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
    names = [part.partition(":")[0] for part in text.split("%")[1:]]
    if names != [f"arg{i}" for i in range(len(names))]:
        if len(_ARGUMENT.findall(text)) != len(names):
            raise UnknownForm(text)
        numbers = itertools.count()
        text = _ARGUMENT.sub(lambda _: f"%arg{next(numbers)}: ", text)
    return names, text
