"""Comparing and showing snapshots: by value, by field, and by identity last."""

from __future__ import annotations

import functools
import types
from typing import Any

from olympus._src.explanations.changes import Change
from olympus._src.explanations.snapshots import Snapshot
from olympus._src.foundation import source_info

_MAX_SHOWN = 80
_ANOTHER = "another "


def compare(
    path: str, attribute: str, old: Snapshot, new: Snapshot, by_identity: bool = False
) -> list[Change]:
    """What differs between two values, part by part.

    Args:
      path: how the value is reached.
      attribute: what it is called, as in 'cell'.
      old, new: the values.
      by_identity: whether objects that are equal in all parts, but which Python
        compares by identity, count as different.
    """
    if old.kind != new.kind or old.type is not new.type:
        if _is_made_again(old.type, new.type):
            return [Change(path, "class", show(old), show(new))]
        return [Change(path, attribute, show(old), show(new))]
    rule = _RULES[old.kind]
    return rule(path, attribute, old, new, by_identity)


def _is_made_again(old: Any, new: Any) -> bool:
    return old is not new and _full_name(old) == _full_name(new)


def _full_name(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _compare_plain(
    path: str, attribute: str, old: Snapshot, new: Snapshot, by_identity: bool
) -> list[Change]:
    return [] if old.value == new.value else [_change(path, attribute, old, new)]


def _compare_arrays(
    path: str, attribute: str, old: Snapshot, new: Snapshot, by_identity: bool
) -> list[Change]:
    texts = _array_text(old), _array_text(new)
    if texts[0] != texts[1]:
        return [Change(path, attribute, *texts)]
    if old.is_same_object(new):
        return []
    return [Change(path, attribute, texts[0], _ANOTHER + texts[1])]


def _compare_parts(
    path: str, attribute: str, old: Snapshot, new: Snapshot, by_identity: bool
) -> list[Change]:
    before, after = old.parts or {}, new.parts or {}
    if old.value != new.value or before.keys() != after.keys():
        return [_change(path, attribute, old, new)]
    changes: list[Change] = []
    for key, value in after.items():
        place = f".{key}" if new.kind == "object" else f"[{key!r}]"
        changes += compare(path + place, attribute, before[key], value, by_identity)
    if len(changes) > 1 and new.type is tuple and _is_of_plain(new):
        return [_change(path, attribute, old, new)]
    return changes


def _is_of_plain(value: Snapshot) -> bool:
    return all(part.kind == "plain" for part in (value.parts or {}).values())


def _compare_objects(
    path: str, attribute: str, old: Snapshot, new: Snapshot, by_identity: bool
) -> list[Change]:
    changes = _compare_parts(path, attribute, old, new, False)
    are_others = all(change.new.startswith(_ANOTHER) for change in changes)
    if not are_others or not by_identity or old.is_same_object(new):
        return changes
    if not compares_by_identity(new.type):
        return []
    return [Change(path, "identity", show(old), _ANOTHER + show(new))]


def _compare_functions(
    path: str, attribute: str, old: Snapshot, new: Snapshot, by_identity: bool
) -> list[Change]:
    if old.value is not new.value or old.text != new.text:  # names tell apart what
        return [_change(path, attribute, old, new)]  # one decorator made
    if not by_identity or old.is_same_object(new):
        return []
    return [Change(path, "identity", _place(old), "another of the same line")]


def _compare_opaque(
    path: str, attribute: str, old: Snapshot, new: Snapshot, by_identity: bool
) -> list[Change]:
    if old.is_same_object(new) or not compares_by_identity(new.type):
        return []
    if old.text != new.text:
        return [_change(path, attribute, old, new)]
    if by_identity:
        return [Change(path, "identity", show(old), _ANOTHER + show(new))]
    return [Change(path, attribute, show(old), _ANOTHER + show(new))]


def compares_by_identity(kind: Any) -> bool:
    """Whether Python compares instances of a class by identity."""
    return kind.__eq__ is object.__eq__


def _change(path: str, attribute: str, old: Snapshot, new: Snapshot) -> Change:
    return Change(path, attribute, show(old), show(new))


_RULES = {
    "plain": _compare_plain,
    "array": _compare_arrays,
    "items": _compare_parts,
    "keys": _compare_parts,
    "object": _compare_objects,
    "function": _compare_functions,
    "opaque": _compare_opaque,
}


# -- showing ---------------------------------------------------------------------------


def show(value: Snapshot) -> str:
    """A value as text: objects by their fields, not by addresses."""
    text = _show(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "..."


def another(value: Snapshot) -> str:
    """An object that differs from one before it in no more than its identity."""
    return _ANOTHER + show(value)


def _show(value: Snapshot) -> str:
    if value.kind == "function":
        return _place(value) if value.text == "<lambda>" else value.text
    if value.kind == "array":
        return _array_text(value)
    if value.kind == "plain" or value.text:
        return value.text
    name = getattr(value.type, "__name__", "object")
    parts = value.parts or {}
    if value.kind == "items":
        inside = ", ".join(map(_show, parts.values()))
        inside += ", ..." if value.value > len(parts) else ""
        if value.type is list:
            return f"[{inside}]"
        return f"({inside},)" if value.value == 1 else f"({inside})"
    if value.kind == "keys":
        return "{" + ", ".join(f"{k!r}: {_show(v)}" for k, v in parts.items()) + "}"
    if value.type is functools.partial:
        keywords = parts["keywords"].parts or {}
        arguments = [_show(v) for v in (parts["args"].parts or {}).values()]
        arguments += [f"{k}={_show(v)}" for k, v in keywords.items()]
        return f"partial({', '.join([_show(parts['func']), *arguments])})"
    if value.type is types.MethodType:
        return f"{_show(parts['self'])}.{parts['func'].text}"
    return f"{name}({', '.join(f'{k}={_show(v)}' for k, v in parts.items())})"


def _array_text(value: Snapshot) -> str:
    typed = value.value
    if isinstance(typed, tuple):
        dtype, shape = typed
    elif hasattr(typed, "shape"):
        dtype, shape = typed.dtype, typed.shape
    else:
        return str(typed)
    return f"{dtype}[{', '.join(map(str, shape))}]"


def _place(value: Snapshot) -> str:
    code = value.value
    name = value.text
    file = source_info.shown_file(code.co_filename)
    return f"{name} at {file}:{code.co_firstlineno}"


def show_option(value: Any) -> str:
    """An option of `jit` as text."""
    places = getattr(value, "places", value)
    return _clip(repr(places))


def show_setting(value: Any) -> str:
    """The value of a setting as text."""
    if getattr(value, "empty", False) is True:
        return "none"
    return _clip(repr(value))


def _clip(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "..."
