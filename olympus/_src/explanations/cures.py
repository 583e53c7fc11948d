"""What to write instead: the cure that fits what changed."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.explanations.changes import Change

Chosen = tuple[str, str]

_READS = ("cell", "default", "global", "partial", "instance")
_MANY_SIZES = 3


def choose(changes: Sequence[Change], record: Any, earlier: Sequence[Any]) -> Chosen:
    """The kind of the cure that removes the first cause of a miss, and its text.

    Args:
      changes: what differs from the most similar call.
      record: the miss.
      earlier: the misses before it.
    """
    by_attribute: dict[str, list[Change]] = {}
    for change in changes:
        by_attribute.setdefault(change.attribute, []).append(change)
    for attributes, rule in _RULES:
        alike = [c for a in attributes for c in by_attribute.get(a, ())]
        if alike:
            return rule(alike, record, earlier, by_attribute)
    if record.what == "jit":
        return "argument", (
            "Give the traced values that the function captures to it as arguments."
        )
    return "", ""


def _setting(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    subject = alike[0].subject
    if subject in ("mesh", "abstract mesh", "default mesh"):
        return "setting", "Set the mesh once, around all calls."
    return "setting", f"Set {subject} once, before the first call."


def _option(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    names = ", ".join(dict.fromkeys(c.subject for c in alike))
    return "options", (
        f"Call jit once, with one choice of {names}, and use that function everywhere."
    )


def _cleared(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    return "cleared", "Clear caches only where their memory is needed."


def _remade(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    changed = [c for a in _READS for c in others.get(a, ())]
    name = record.subject.name
    if "transformation" in others:
        option = others["transformation"][0].subject
        return "hoist", f"Make one function for each {option}, before the loop."
    if changed:
        return _changed_variable(changed[0], record)
    if record.subject.form == "method" and _has_same_instance(record, earlier):
        return "method", (
            f"Each access of a method gives a new object: call jit once, as in "
            f"`self.{name} = jit(self.{name})` where the instance is made."
        )
    if record.what == "body":
        return "hoist", (
            f"Define {name} once, outside of the loop or function that makes it again; "
            "or call the loop inside of one jitted function."
        )
    return "hoist", (
        "Make the function once, outside of the loop or function that makes it again, "
        "and call jit there."
    )


def _has_same_instance(record: Any, earlier: Sequence[Any]) -> bool:
    key = "self", "instance"
    mine = record.subject.parts.get(key)
    others = [r.subject.parts.get(key) for r in earlier]
    return any(o is not None and mine.is_same_object(o) for o in others)


_BY_VALUE = ("'", '"', "True", "False", "None")


def _changed_variable(change: Change, record: Any) -> Chosen:
    name = change.subject
    part = record.subject.parts.get((name.split("[")[0], change.attribute))
    if part is not None and part.type is tuple:
        return _static_variable(name.split("[")[0])
    numeric = _is_number(change.new) or "[" in change.new
    if numeric and not change.new.startswith(_BY_VALUE):
        return "argument", (
            f"Give {name} to the function as an argument, and make the function once."
        )
    return _static_variable(name)


def _static_variable(name: str) -> Chosen:
    return "static", (
        f"Make the function once, and give {name} to it as an argument that is marked "
        "static, by static_argnames."
    )


def _is_number(text: str) -> bool:
    try:
        complex(text)
    except ValueError:
        return False
    return True


# -- containers ------------------------------------------------------------------------


def _remade_class(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    return (
        "hoist",
        f"Define the class {alike[0].new} once, at the top of the module.",
    )


def _structure(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    change = alike[0]
    if change.attribute == "structure" and "None" in (change.old, change.new):
        return "none", (
            f"Always pass an array for {change.subject}, such as zeros; or expect one "
            "program with it and one without."
        )
    if change.attribute == "passed":
        return "structure", f"Always pass {change.subject} {change.old}."
    if change.attribute == "order":
        return "structure", "Make the keys in one order; a dict needs none."
    if change.attribute == "container":
        return "structure", f"Always pass a {change.old} for {change.subject}."
    if "." not in change.subject and "[" not in change.subject:
        return "structure", (
            f"Pass {change.subject} in every call, or in none: arguments and keyword "
            "names are part of the signature."
        )
    return "structure", (
        f"Pass the same containers each time, with {_parent(change.subject)} of the "
        "same keys and lengths."
    )


def _parent(path: str) -> str:
    return path[: max(path.rfind("["), path.rfind("."), 0)] or path


def _static_field(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    return "field", (
        f"Make {alike[0].subject} a field of data if its value is only computed with; "
        "else expect one program for each value."
    )


# -- static arguments ------------------------------------------------------------------


def _identity(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    change = alike[0]
    kinds = {static.name: static.value for static in record.signature.static}
    value = kinds.get(change.subject)
    kind = None if value is None else value.type
    if kind in (types.FunctionType, functools.partial, types.MethodType):
        return "hoist", (
            f"Define the function that is passed for {change.subject} once, outside of "
            "the loop."
        )
    name = getattr(kind, "__name__", "its class")
    return "eq_hash", (
        f"Define __eq__ and __hash__ for {name}, as @dataclass(frozen=True) does, or "
        "pass the same object each time."
    )


def _static_value(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    shapes = others.get("shape", ())
    change = alike[0]
    if any(f" {change.new}," in f" {s.new.strip('[]')}," for s in shapes):
        return _shape(shapes, record, earlier, others)
    numeric = _is_number(change.new) and change.new not in ("True", "False")
    if numeric and _is_number(change.old):
        return "array", (
            f"Pass {change.subject} as an array, not as static, if the function only "
            "computes with it; else expect one program for each value."
        )
    return "expected", (
        f"Each value of {change.subject} needs a program of its own; keep them few."
    )


def _parameter(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    change = alike[0]
    if change.new == f"another {change.old}":
        return "hoist", (
            f"Make what is passed for {change.subject} once, outside of the loop or "
            "function that makes it again."
        )
    return "expected", "Each choice of parameters needs a program of its own."


# -- arrays ----------------------------------------------------------------------------


def _dtype(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    change = alike[0]
    at = f" at {record.site}" if record.site else ""
    if change.old.startswith("key<") or change.new.startswith("key<"):
        return "dtype", f"Make keys in one way; {change.subject} comes in{at}."
    return "dtype", (
        f"Give {_first(change.subject)} the dtype {change.old} where it is made, or "
        f"write `.astype('{change.old}')`{at}."
    )


def _first(path: str) -> str:
    return path.split(", ")[0]


def _weak(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    return "weak", (
        f"Pass an array in place of a Python number for {alike[0].subject}, or always "
        "a Python number: a number has a weak type, an array has not."
    )


def _rank(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    return "rank", (
        f"Give {alike[0].subject} one number of axes, as with x[None] or reshape; or "
        "use vmap for a batch."
    )


def _shape(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    sizes = _sizes_seen(alike[0].subject, earlier, record)
    if len(sizes) >= _MANY_SIZES:
        return "pad", (
            f"{alike[0].subject} has had {len(sizes)} shapes: pad to a few sizes, such "
            "as powers of two, and mask the rest."
        )
    return "pad", "Pad to one shape, or expect one compilation for each shape."


def _sizes_seen(path: str, earlier: Sequence[Any], record: Any) -> set[Any]:
    """The shapes of an argument in all calls that are known, if it is one array."""
    alike = set()
    for known in (*earlier, record):
        start = 0
        for root in known.signature.roots():
            if root.name == path and root.structure.num_leaves == 1:
                alike.add(getattr(known.signature.avals[start], "shape", None))
            start += root.structure.num_leaves
    return alike


def _place(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    return "place", (
        f"Move {alike[0].subject} once, before the first call, with olympus.device_put."
    )


def _axes(alike: Any, record: Any, earlier: Any, others: Any) -> Chosen:
    return "axes", "Name axes of vmap only where a collective refers to them."


_RULES: Sequence[tuple[tuple[str, ...], Callable[..., Chosen]]] = (
    (("setting",), _setting),
    (("option",), _option),
    (("cleared",), _cleared),
    (("made again",), _remade),
    (("class",), _remade_class),
    (("added", "removed", "container", "structure", "order", "passed"), _structure),
    (("static field",), _static_field),
    (("identity",), _identity),
    (("static value", "static", "no longer static"), _static_value),
    (("dtype", "type"), _dtype),
    (("rank",), _rank),
    (("weak type",), _weak),
    (("shape",), _shape),
    (("parameter",), _parameter),
    (("axes",), _axes),
    (("committed", "device", "sharding", "varying axes"), _place),
    (_READS, lambda alike, *rest: _changed_variable(alike[0], rest[0])),
)
