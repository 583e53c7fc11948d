"""Changes in words: each by its path, in five lines at most."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from olympus._src.explanations.changes import Change

MAX_LINES = 5
_MAX_PATHS = 4  # that one line lists
_MAX_PATH = 160  # letters of one


class Group:
    """Changes that are alike but for their paths.

    Attributes:
      subjects: their paths, where numbers that differ are written as ranges.
      count: how many paths these are.
      change: the first of them.
    """

    __slots__ = ("change", "count", "subjects")

    def __init__(self, changes: Sequence[Change]) -> None:
        self.change = changes[0]
        self.count = len(changes)
        self.subjects = merge_paths([c.subject for c in changes])

    def as_change(self) -> Change:
        """One change with the merged paths."""
        return self.change._replace(subject=", ".join(self.subjects))


def grouped(changes: Iterable[Change]) -> list[Group]:
    """Changes, those with the same old and new value together."""
    alike: dict[Any, list[Change]] = {}
    for change in changes:
        alike.setdefault(change[1:], []).append(change)
    return [Group(group) for group in alike.values()]


_NUMBER = re.compile(r"\d+")


def merge_paths(paths: Sequence[str]) -> list[str]:
    """Paths, those that differ in one number as one: `layers[{0..9}]['w']`."""
    merged = list(dict.fromkeys(paths))
    while len(merged) > 1:
        shorter = _merge_once(merged)
        if len(shorter) == len(merged):
            break
        merged = shorter
    return merged


def _merge_once(paths: list[str]) -> list[str]:
    """Merges along the one number that makes most paths one."""
    best = paths
    most = max(len(_NUMBER.findall(path)) for path in paths[:8])
    for place in range(most):
        by_text: dict[tuple[str, str], list[str]] = {}
        for path in paths:
            by_text.setdefault(_without(path, place), []).append(path)
        if len(by_text) < len(best):
            best = [_merged(key, place, group) for key, group in by_text.items()]
    return best


def _without(path: str, place: int) -> tuple[str, str]:
    """A path's text before and after its number of that place."""
    matches = [m for m in _NUMBER.finditer(path) if not _is_in_braces(path, m.start())]
    if place >= len(matches):
        return path, ""
    match = matches[place]
    return path[: match.start()], path[match.end() :]


def _is_in_braces(path: str, at: int) -> bool:
    return path.rfind("{", 0, at) > path.rfind("}", 0, at)


def _merged(key: tuple[str, str], place: int, group: list[str]) -> str:
    if len(group) == 1:
        return group[0]
    before, after = key
    numbers = sorted(int(p[len(before) : len(p) - len(after)]) for p in group)
    return f"{before}{{{_ranges(numbers)}}}{after}"


def _ranges(numbers: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    shown = [str(a) if a == b else f"{a}..{b}" for a, b in runs[:6]]
    return ",".join(shown) + (",..." if len(runs) > 6 else "")


# -- sentences -------------------------------------------------------------------------


def cause(changes: Sequence[Change], record: Any) -> str:
    """All changes, in five lines at most."""
    if not changes and record.what == "operation":
        return (
            "a program of the same types was compiled before, for a trace that is not "
            "kept any more"
        )
    if not changes:
        return (
            "the same call was traced before, and its program is not kept any more: "
            "it held traced values of a function that has ended, or too many were kept"
        )
    groups = grouped(sorted(changes, key=_is_not_remade))
    lines = [_sentence(group) for group in groups]
    if len(lines) > MAX_LINES:
        more = sum(group.count for group in groups[MAX_LINES - 1 :])
        lines = [*lines[: MAX_LINES - 1], f"and {more} more changes"]
    return "; ".join(lines) if len(lines) < 3 else "\n  ".join(lines)


def _is_not_remade(change: Change) -> bool:
    return change.attribute != "made again"


def _sentence(group: Group) -> str:
    change = group.change
    text = _SENTENCES.get(change.attribute, _CHANGED)
    subject = _subject_text(group)
    extra = ""
    if change.attribute == "shape":
        extra = _axis_text(change)
    return (
        text.format(s=subject, a=change.attribute, o=change.old, n=change.new) + extra
    )


def _subject_text(group: Group) -> str:
    shown = ", ".join(map(_clip_path, group.subjects[:_MAX_PATHS]))
    more = len(group.subjects) - _MAX_PATHS
    if more > 0:
        shown += f" and {more} more"
    ranged = any("{" in subject for subject in group.subjects)
    return f"{shown} ({group.count} leaves)" if ranged else shown


def _clip_path(path: str) -> str:
    """A path without its middle, if it is long."""
    if len(path) <= _MAX_PATH:
        return path
    half = _MAX_PATH // 2
    return f"{path[:half]}...{path[-half:]}"


def _axis_text(change: Change) -> str:
    old = change.old.strip("[]").split(", ")
    new = change.new.strip("[]").split(", ")
    if len(old) < 2:
        return ""
    axes = [
        f"axis {i}: {a} to {b}"
        for i, (a, b) in enumerate(zip(old, new, strict=True))
        if a != b
    ]
    return f" ({', '.join(axes)})"


_CHANGED = "the {a} of {s} changed from {o} to {n}"
_SENTENCES = {
    "rank": "the rank of {s} changed: the shape was {o} and is {n}",
    "added": "{s} was added, of type {n}",
    "removed": "{s} is left out, which was of type {o}",
    "structure": "{s} was {o} and is {n}",
    "class": "the class of {s}, {n}, was made again: it is another class of that name",
    "order": "the order of the keys of {s} changed from {o} to {n}",
    "passed": "{s} was passed {n}, earlier {o}",
    "static value": "the static argument {s} changed from {o} to {n}",
    "static field": "the static field {s} changed from {o} to {n}",
    "static": "{s} became a static argument, with the value {n}",
    "no longer static": "{s} is no longer a static argument",
    "parameter": "the parameter {s} changed from {o} to {n}",
    "identity": "the static argument {s} was {o} and is {n}, which Python compares by "
    "identity",
    "cell": "the variable {s} of its closure changed from {o} to {n}",
    "default": "the default of {s} changed from {o} to {n}",
    "global": "the global {s} that it reads changed from {o} to {n}",
    "partial": "the argument {s} of the partial changed from {o} to {n}",
    "instance": "the attribute {s} of its instance changed from {o} to {n}",
    "transformation": "the option {s} of a transformation changed from {o} to {n}",
    "made again": "{s} is a new function object, of code that was traced before",
    "option": "the option {s} of jit changed from {o} to {n}",
    "setting": "the setting {s} changed from {o} to {n}",
    "axes": "the named axes around the call changed from {o} to {n}",
    "cleared": "the same call was traced before, and the caches were cleared since",
    "committed": "{s} was committed to {o} and is committed to {n}",
    "device": "{s} was on {o} and is on {n}",
}


def describe(record: Any) -> str:
    """A record in a few lines: function, cause, cure, line, cost."""
    cause_text = record.cause
    stages = (
        ("trace", record.trace_s),
        ("lower", record.lower_s),
        ("compile", record.compile_s),
    )
    costs = ", ".join([f"{name} {s * 1e3:.1f} ms" for name, s in stages if s])
    if record.program_reused:
        costs += "; traced again, program reused"
    notes = [text for text in (costs, record.disk) if text]
    cure = f" {record.cure}" if record.cure else ""
    where = f" Called at {record.site}." if record.site else ""
    end = "." if not cause_text.endswith((".", "\n")) else ""
    return f"{record.function}: {cause_text}{end}{cure}{where} ({'; '.join(notes)})"
