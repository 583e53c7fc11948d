"""Running a program of the table, and judging what it was told."""

from __future__ import annotations

import inspect
import typing

from olympus._src.explanations import records, wording


class Verdict(typing.NamedTuple):
    """What a program was told of its last miss.

    Attributes:
      told: the changes, those alike together.
      is_right: whether they are those of the cause, and no others.
      is_wrong: whether something is named that is not.
      cure: the kind of the cure.
      at_line: whether the line is the marked one.
      record: the note; None if nothing was noted at the line.
    """

    told: tuple
    is_right: bool
    is_wrong: bool
    cure: str
    at_line: bool
    record: typing.Any


def marked_line(run):
    """The line of a program that has the mark."""
    lines, start = inspect.getsourcelines(run)
    (line,) = [i for i, text in enumerate(lines) if "# miss" in text]
    return start + line


def misses_of(run):
    """All misses of a program that are reported, in order."""
    found = []
    stop = records.listen(found.append)
    try:
        run()
    finally:
        stop()
    return found


def judge(cause):
    """Runs the program of a cause, and compares what was told with it."""
    file, line = inspect.getsourcefile(cause.run), marked_line(cause.run)
    site = f"{file}:{line}"
    found = misses_of(cause.run)
    here = [r for r in found if r.site == site]
    record = (here or found or [None])[-1]
    if record is None:
        return Verdict((), False, False, "", False, None)
    told = record.changes
    if len(told) > 5:
        told = [group.as_change() for group in wording.grouped(told)]
    told = tuple(map(tuple, told))
    named = [any(_fits(want, is_) for want in cause.changes) for is_ in told]
    missing = [w for w in cause.changes if not any(_fits(w, is_) for is_ in told)]
    return Verdict(
        told,
        all(named) and not missing and bool(told),
        not all(named),
        record.cure_kind,
        bool(here),
        record,
    )


def _fits(wanted, told):
    return all(w is ... or w == t for w, t in zip(wanted, told, strict=True))
