"""What differs between a call and the most similar of the calls before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from olympus._src.explanations import cures, structures, values, wording
from olympus._src.explanations.changes import Change
from olympus._src.explanations.records import Retrace, Static
from olympus._src.explanations.snapshots import is_same

# A change of a class of arguments weighs more than one of a type: the most similar of
# two calls is that with the same containers.
_WEIGHTS = {
    "rank": 2.0,
    "added": 2.0,
    "removed": 2.0,
    "container": 3.0,
    "structure": 3.0,
    "class": 3.0,
    "made again": 0.5,
    "cleared": 0.5,
}


class Explanation(NamedTuple):
    """Why a program was made.

    Attributes:
      changes: what differs from the most similar call; () for a first call.
      cause, cure: in words.
      cure_kind: one word for the cure.
      nearest: the call it was compared with, or None.
    """

    changes: Sequence[Change]
    cause: str
    cure: str
    cure_kind: str
    nearest: Retrace | None


def explain(record: Retrace) -> Explanation:
    """Compares a miss with all that are known of the same line of code."""
    best: tuple[float, list[Change], Retrace | None] = (math.inf, [], None)
    earlier = record.earlier()
    for old in reversed(earlier):
        changes = differences(old, record)
        weight = _weight(changes)
        if weight < best[0]:
            best = weight, changes, old
    _, changes, nearest = best
    if nearest is None:
        return Explanation((), "first call", "", "", None)
    has_owner = nearest.owner is not None
    if has_owner and not changes and nearest.generation is not record.generation:
        changes = [Change("caches", "cleared", "", "")]
    if not changes:
        changes = _other_objects(nearest, record)
    kind, cure = cures.choose(changes, record, earlier)
    return Explanation(changes, wording.cause(changes, record), cure, kind, nearest)


def explain_failure(error: Exception) -> Explanation:
    """What is said where values cannot be compared."""
    cause = f"not known: comparing the calls raised {type(error).__name__}: {error}"
    return Explanation((), cause, "", "", None)


def _weight(changes: Sequence[Change]) -> float:
    return sum(map(_weight_of, changes))


def _weight_of(change: Change) -> float:
    if change.attribute == "shape":  # each axis counts
        pairs = zip(change.old.split(", "), change.new.split(", "), strict=True)
        return 0.75 + 0.25 * sum(a.strip("[]") != b.strip("[]") for a, b in pairs)
    return _WEIGHTS.get(change.attribute, 1.0)


def differences(old: Retrace, new: Retrace) -> list[Change]:
    """All that differs between two calls."""
    changes = _function_changes(old, new)
    changes += _option_changes(old.options, new.options)
    changes += _setting_changes(old, new)
    changes += _axis_changes(old, new)
    static = _static_changes(old, new)
    moved = {c.subject for c in static if c.attribute in ("static", "no longer static")}
    leaves = structures.changes(old.signature, new.signature)
    if any(change.subject == "in_shardings" for change in changes):  # it sets both
        leaves = [change for change in leaves if change.attribute != "sharding"]
    return changes + static + [c for c in leaves if c.subject not in moved]


# -- the function ----------------------------------------------------------------------


def _function_changes(old: Retrace, new: Retrace) -> list[Change]:
    mine, theirs = new.subject, old.subject
    if mine is theirs or new.what == "operation":
        return []
    if old.owner is not None and old.owner is new.owner:
        return []
    is_same = _is_same_function(old, new)
    if is_same and old.options != new.options:
        return []
    changes = _compare_parts(theirs.parts, mine.parts)
    if is_same and new.owner is None:
        return changes  # what it reads was looked at again
    return [*changes, Change(mine.name, "made again", "", "")]


def _is_same_function(old: Retrace, new: Retrace) -> bool:
    """Whether two snapshots are of one function object, if wrappers are the user's."""
    if new.what != "body" and not new.subject.is_plain:
        return False
    return is_same(old.subject.inner, new.subject.inner)


def _compare_parts(old: Any, new: Any) -> list[Change]:
    changes = []
    for key, value in new.items():
        name, attribute = key
        known = old.get(key)
        if known is not None:
            changes += values.compare(name, attribute, known, value)
    return changes


# -- options, settings, axes -----------------------------------------------------------


def _option_changes(old: Any, new: Any) -> list[Change]:
    if old is new or old is None or new is None or old == new:
        return []
    changes = []
    inferred = {*old.inferred, *new.inferred} - {*old.written, *new.written}
    for name in new.names():
        before, after = getattr(old, name), getattr(new, name)
        if before == after or name in inferred:
            continue
        if name == "compiler_options":
            changes += _compiler_option_changes(dict(before), dict(after))
        else:
            text = values.show_option(before), values.show_option(after)
            changes.append(Change(name, "option", *text))
    return changes


def _compiler_option_changes(old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    missing = "<not given>"
    return [
        Change(f"compiler_options[{name!r}]", "option", before, after)
        for name in sorted({*old, *new})
        for before, after in [
            (
                repr(old[name]) if name in old else missing,
                repr(new[name]) if name in new else missing,
            )
        ]
        if before != after
    ]


def _setting_changes(old: Retrace, new: Retrace) -> list[Change]:
    if old.settings is new.settings:
        return []
    changes = [
        Change(
            name.removeprefix("olympus_").removeprefix("olympus "),
            "setting",
            values.show_setting(before),
            values.show_setting(after),
        )
        for name, after, before in new.settings.differences(old.settings)
    ]
    if any(change.subject == "mesh" for change in changes):  # `set_mesh` sets both
        changes = [change for change in changes if change.subject != "default mesh"]
    return changes


def _axis_changes(old: Retrace, new: Retrace) -> list[Change]:
    if old.axes == new.axes:
        return []
    return [Change("mapped axes", "axes", _axes(old.axes), _axes(new.axes))]


def _axes(axis_env: Sequence[Any]) -> str:
    named = [f"{name!r} of size {size}" for name, size in axis_env]
    return ", ".join(named) or "none"


# -- static arguments ------------------------------------------------------------------


def _static_changes(old: Retrace, new: Retrace) -> list[Change]:
    before = {static.name: static for static in old.signature.static}
    changes = []
    for static in new.signature.static:
        known = before.pop(static.name, None)
        if known is None:
            text = values.show(static.value)
            changes.append(Change(static.name, "static", "", text))
        elif known.hash != static.hash:
            changes += _value_changes(known, static, new.signature.attribute)
        elif known.passed != static.passed:
            changes.append(Change(static.name, "passed", known.passed, static.passed))
    changes += [
        Change(name, "no longer static", values.show(static.value), "")
        for name, static in before.items()
    ]
    return changes


def _other_objects(old: Retrace, new: Retrace) -> list[Change]:
    """Static objects of equal hash that are not one object: they may be unequal."""
    before = {static.name: static.value for static in old.signature.static}
    return [
        Change(
            static.name,
            "identity",
            values.show(before[static.name]),
            values.another(static.value),
        )
        for static in new.signature.static
        if static.value.kind in ("object", "opaque")
        if static.name in before
        and not static.value.is_same_object(before[static.name])
    ]


def _value_changes(old: Static, new: Static, attribute: str) -> list[Change]:
    """What differs between two static values, which the caches take for different."""
    name = new.name
    changes = values.compare(name, attribute, old.value, new.value, by_identity=True)
    if len(changes) == 1 and attribute != "parameter":
        return changes
    texts = values.show(old.value), values.show(new.value)
    if attribute == "parameter" and texts[0] == texts[1]:
        return [Change(name, attribute, texts[0], values.another(new.value))]
    if attribute == "parameter" or (not changes and texts[0] != texts[1]):
        return [Change(name, attribute, *texts)]
    return changes or [Change(name, "identity", texts[0], values.another(new.value))]
