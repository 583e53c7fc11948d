"""Reports of many misses: of one function, and of a whole program."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from olympus._src.explanations import records as records_
from olympus._src.explanations.records import Retrace

_MAX_FUNCTIONS = 20


class Retraces(Sequence[Retrace]):
    """Records of misses, which print as a report.

    Args:
      records: the misses, oldest first.
      by_function: whether the report adds up functions, and does not list all.
    """

    def __init__(self, records: Iterable[Retrace], by_function: bool) -> None:
        self._records = list(records)
        self._by_function = by_function

    def __getitem__(self, i: Any) -> Any:
        return self._records[i]

    def __len__(self) -> int:
        return len(self._records)

    def __repr__(self) -> str:
        if not self._records:
            return "no function was traced"
        if self._by_function:
            return summary(self._records)
        return "\n".join(map(repr, self._records))


def of_records(records: Iterable[Retrace], by_function: bool) -> Retraces:
    """Records as users get them."""
    return Retraces(records, by_function)


class _Total:
    """What the misses of one function cost."""

    def __init__(self) -> None:
        self.records: list[Retrace] = []

    @property
    def lost_s(self) -> float:
        """The seconds of all misses but the first."""
        return sum(r.seconds for r in self.records[1:])

    @property
    def seconds(self) -> float:
        """The seconds of all misses."""
        return sum(r.seconds for r in self.records)

    def lines(self) -> list[str]:
        """The function, its commonest cause and the cure."""
        first = self.records[0]
        lines = [
            f"{self.lost_s:8.2f} s  {_times(len(self.records) - 1):>11} again  "
            f"{first.function} (first time {first.seconds:.2f} s)"
        ]
        causes: dict[Any, list[Retrace]] = {}
        for record in self.records[1:]:
            key = tuple([(c.subject, c.attribute) for c in record.changes])
            causes.setdefault(key, []).append(record)
        if causes:
            most = max(causes.values(), key=lambda group: sum(r.seconds for r in group))
            last = most[-1]
            cause = last.cause.replace("\n", "\n" + " " * 10)
            is_one = len({r.changes for r in most}) == 1
            which = "" if is_one else ", of which the last"
            lines.append(f"{'':10}{_times(len(most))}{which}: {cause}")
            if last.cure:
                lines.append(f"{'':10}cure: {last.cure}")
            if last.site:
                lines.append(f"{'':10}called at {last.site}")
        return lines


def _times(n: int) -> str:
    return f"{n} time" if n == 1 else f"{n} times"


def summary(records: Iterable[Retrace]) -> str:
    """Functions by the seconds that making their programs again took."""
    totals: dict[str, _Total] = {}
    for record in records:
        totals.setdefault(record.function, _Total()).records.append(record)
    ordered = sorted(totals.values(), key=lambda t: (-t.lost_s, -t.seconds))
    lost, seconds = sum(t.lost_s for t in ordered), sum(t.seconds for t in ordered)
    lines = [
        f"olympus: {seconds:.2f} s of tracing, lowering and compiling, of which "
        f"{lost:.2f} s again for functions that had a program"
    ]
    again = [t for t in ordered if len(t.records) > 1]
    for total in again[:_MAX_FUNCTIONS]:
        lines += total.lines()
    if len(again) > _MAX_FUNCTIONS:
        lines.append(f"          and {len(again) - _MAX_FUNCTIONS} more functions")
    return "\n".join(lines)


# -- at the end of a program -----------------------------------------------------------

_MAX_KEPT = 10_000
_kept: list[Retrace] = []


def keep(record: Retrace) -> None:
    """Keeps a miss for the summary."""
    if len(_kept) < _MAX_KEPT:
        _kept.append(record)


def start() -> None:
    """Has the summary printed when the program ends."""
    atexit.register(_print)
    # What is loaded at exit may make Python forget that it was interrupted.
    records_.load_words()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_kept.clear)


def _print() -> None:
    if _kept and sys.stderr is not None:
        print(summary(_kept), file=sys.stderr)
