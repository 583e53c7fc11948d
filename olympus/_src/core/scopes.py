"""The scopes that an equation is recorded in: names, and attributes for the compiler.

The scope of an equation is a tuple, the outermost first. A string is the name of a
`named_scope`; a `Transform` says that what follows is part of a derivative, or of a
mapped function; a `Metadata` holds attributes of `set_xla_metadata`. Programs are
traced from the scope `base()`, since the caches of programs are keyed by the setting
that it reads: names belong to the place of a call, attributes to the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from olympus._src.foundation import config

Attributes = tuple[tuple[str, str], ...]
Changes = tuple[tuple[str, str | None], ...]
Scope = tuple[Any, ...]


class Metadata(NamedTuple):
    """Attributes of operations.

    Attributes:
      changes: pairs of a name and a text, or None, which takes an attribute away.
    """

    changes: Changes


class Transform(str):
    """The name of a transformation that the operations inside were made by."""

    __slots__ = ()


JVP = (Transform("jvp"),)
TRANSPOSE = (Transform("transpose"),)
VMAP = (Transform("vmap"),)


def names(scope: Scope) -> tuple[str, ...]:
    """The names of a scope, the first one in each transformation wrapped by it.

    Example:
      >>> from olympus._src.core import scopes
      >>> scopes.names((*scopes.TRANSPOSE, *scopes.JVP, 'layer', 'dense'))
      ('transpose(jvp(layer))', 'dense')
    """
    reversed_names: list[str] = []  # the innermost first
    for part in reversed(scope):
        if type(part) is Transform:
            inner = reversed_names.pop() if reversed_names else ""
            reversed_names.append(f"{part}({inner})")
        elif type(part) is not Metadata:
            reversed_names.append(part)
    return tuple(reversed(reversed_names))


def within(scope: Scope, outer: Scope) -> Scope:
    """The part of a scope inside of another; it keeps all attributes."""
    n = len(outer)
    return metadata(outer) + scope[n:] if scope[:n] == outer else scope


def metadata(scope: Scope) -> tuple[Metadata, ...]:
    """The other parts of a scope."""
    return tuple([part for part in scope if type(part) is Metadata])


def has_metadata(scope: Scope) -> bool:
    """Whether there are attributes in a scope."""
    return any(type(part) is Metadata for part in scope)


def attributes(scope: Scope) -> Attributes:
    """The attributes of an equation, sorted by name; an inner scope's come first."""
    changes = [part.changes for part in scope if type(part) is Metadata]
    return merge_changes(changes) if changes else ()


def merge_changes(changes: Sequence[Changes]) -> Attributes:
    """The attributes that changes make one after another, sorted by name."""
    merged = {name: text for part in changes for name, text in part}
    return tuple(sorted([(k, v) for k, v in merged.items() if v is not None]))


def base() -> Scope:
    """The scope in which a function's program begins."""
    open_attributes = config.xla_metadata.value
    return (Metadata(open_attributes),) if open_attributes else ()


def call_within(scope: Scope, fun: Callable[..., Any], *args: Any) -> Any:
    """Calls a function that treats an equation of a scope.

    Functions that it traces, as in the rules that users write, have the equation's
    attributes too.
    """
    changes = [part.changes for part in scope if type(part) is Metadata]
    if not changes:
        return fun(*args)
    merged = merge_changes([config.xla_metadata.value, *changes])
    with config.xla_metadata(merged):
        return fun(*args)


def derive(make: Callable[[Any], Any], program: Any) -> Any:
    """What is made of a program alone, wherever that happens.

    The operations of the result have the attributes of those of the program, and no
    others, so that it may be kept.
    """
    if not config.xla_metadata.value:
        return make(program)
    with config.xla_metadata(()):
        return make(program)
