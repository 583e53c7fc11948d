"""Where the operations of a module come from: their paths, and the user's lines.

The path of an operation is the compiled function, the scopes and control flow around it
and its primitive, as in `jit(step)/transpose(jvp(layer))/dot_general`; what the
function of an inner `jit` contains begins again, since all its callers share it. The
paths and call stacks become MLIR's locations in the text that is made for readers.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from olympus._src.core import scopes
from olympus._src.foundation import config
from olympus._src.lowering import types

Path = tuple[str, ...]


def of_module(name: str) -> str:
    """The first part of all paths of a module, which is named `jit_` and a name."""
    kind, separator, function = name.partition("_")
    return f"{kind}({function})" if separator else name


def of_equation(outer: Path, eqn: Any) -> Path:
    """The path of an equation of a program at a path."""
    return (*outer, *scopes.names(eqn.scope), _label(eqn))


def of_function(path: Path) -> Path:
    """The path of what a function contains that is first called at a path."""
    return path if len(path) == 1 else (path[0], path[-1])


def _label(eqn: Any) -> str:
    name = eqn.primitive.name
    function = eqn.params.get("name")
    # "jit" is its name where programs run in place of JAX.
    return f"jit({function})" if name in ("pjit", "jit") and function else str(name)


def location(path: Path, position: Any) -> str:
    """MLIR's text for a path and a place in the user's program, after an operation."""
    name = types.string("/".join(path))
    if position is None:
        return f" loc({name})"
    limit = config.traceback_in_locations_limit.value
    callers = position.callers
    if not config.include_full_tracebacks_in_locations.value:
        callers = ()
    elif limit >= 0:
        callers = callers[: max(limit - 1, 0)]
    if not callers:
        return f" loc({name}({_place(position)}))"
    frames = [f"{types.string(p.function)}({_place(p)})" for p in (position, *callers)]
    calls = frames.pop()
    for frame in reversed(frames):
        calls = f"callsite({frame} at {calls})"
    return f" loc({name}({calls}))"


class Origin(NamedTuple):
    """Where an operation comes from.

    Attributes:
      path: see `of_equation`.
      position: the user's, with its callers; None where it is not known.
    """

    path: Path
    position: Any

    @property
    def direction(self) -> str:
        """'backward', 'forward' within a derivative, or '' outside of one."""
        inner = "/".join(self.path)
        if "transpose(" in inner:
            return "backward"
        return "forward" if "jvp(" in inner else ""


_NUMBER = r" loc\((\d+)\)$"


class Numbering:
    """Notes the origins of operations while a module is written, by number.

    The text of the module is then that which is compiled, but for a number behind each
    operation: XLA, which names the line of the text that an instruction comes from, so
    tells the user's line, and the text that is compiled need not hold it.
    """

    __slots__ = ("_origins",)

    def __init__(self) -> None:
        self._origins: list[Origin] = []

    def note(self, path: Path, position: Any) -> str:
        """The text behind an operation."""
        self._origins.append(Origin(path, position))
        return f" loc({len(self._origins) - 1})"

    def of_lines(self, numbered: str, plain: str) -> list[Origin | None]:
        """The origin of each line of a text, from the same text with numbers.

        An operation with regions has its number at its end; it starts some lines above.
        """
        origins: list[Origin | None] = []
        starts: list[int] = []  # of the operations and functions that are open
        for i, line in enumerate(numbered.splitlines()):
            match = re.search(_NUMBER, line)
            body = line[: match.start()] if match else line
            origin = self._origins[int(match[1])] if match else None
            origins.append(origin)
            if body.startswith("}") and not body.endswith("{"):
                start = starts.pop() if starts else i
                origins[start] = origin
            elif body.endswith("{") and not body.startswith("}"):
                starts.append(i)
        rows = zip(numbered.splitlines(), plain.splitlines(), strict=False)
        same = [re.sub(_NUMBER, "", row) == text for row, text in rows]
        return [o if ok else None for o, ok in zip(origins, same, strict=False)]


# What names an operation whose line XLA would forget, before the line's number.
LINE_NAME = "olympus line "


def with_named_lines(numbered: str) -> str:
    """A text of a module with numbers, in which operations are named by their lines.

    XLA's partitioner drops the lines of operations, and keeps their names.
    """
    rows = [
        re.sub(_NUMBER, f' loc("{LINE_NAME}{i}"("-":{i}:1))', row)
        for i, row in enumerate(numbered.splitlines(), 1)
    ]
    return "\n".join(rows) + "\n"


def file_of(position: Any) -> str:
    """The file of a position, as modules name it."""
    return canonical_file(str(position.file))


def canonical_file(name: str) -> str:
    """A file's name without what a setting takes from all of them."""
    pattern = config.hlo_source_file_canonicalization_regex.value
    return re.sub(pattern, "", name) if pattern else name


def _place(position: Any) -> str:
    file = types.string(file_of(position))
    return f"{file}:{position.line}:{max(position.column, 1)}"
