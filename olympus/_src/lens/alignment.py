"""Which lines of two programs belong together, whatever their values are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from olympus._src.lens import names

_MAX_EDITS = 256  # that one search makes; its time is the square of them

Pairs = list[tuple[int, int]]


class Line(NamedTuple):
    """A line of a program.

    Attributes:
      text: the line.
      code: what the user wrote for it; '' where that is not known.
      depth: how deep it is nested.
    """

    text: str
    code: str
    depth: int


class Row(NamedTuple):
    """A line of one of two programs, or of both.

    Attributes:
      kind: 'same', 'changed', 'added' or 'removed'.
      old, new: the numbers of the lines; -1 where there is none.
    """

    kind: str
    old: int
    new: int


def align(old: Sequence[Line], new: Sequence[Line]) -> list[Row]:
    """The lines of two programs, in an order that keeps that of each.

    Lines belong together if they are equal but for the names of values: first those
    that the same user's code made, then others, then those of the same operation, which
    are changed. A line that takes other values than its partner has changed too.
    """
    splits = [[names.split(line.text) for line in side] for side in (old, new)]

    def keys(key: Callable[[Line, str], Hashable]) -> list[list[Hashable]]:
        sides = zip((old, new), splits, strict=True)
        return [
            [key(line, s[0]) for line, s in zip(*side, strict=True)] for side in sides
        ]

    levels = [
        keys(lambda line, text: (line.depth, text, line.code)),
        keys(lambda line, text: (line.depth, text)),
        keys(lambda line, text: (line.depth, _operation(text))),
    ]
    return _rows(_pairs_by_levels(levels, len(old), len(new)), splits)


def align_source(old: Sequence[str], new: Sequence[str]) -> list[Row]:
    """The lines of two texts of Python; those that begin alike belong together."""
    sides = old, new
    levels = [
        [[line.strip() for line in side] for side in sides],
        [[_BEGINNING.match(line)[0].strip() for line in side] for side in sides],  # type: ignore[index]
    ]
    pairs = _pairs_by_levels(levels, len(old), len(new))
    return _rows(pairs, [[(line.rstrip(), ()) for line in side] for side in sides])


_BEGINNING = re.compile(r"\s*(?:def |return |if |for |with )?[\w.]*(?: = [\w.]+)?")
_OPERATION = re.compile(r"(?:.* = (?:\(.*?\) |\w+\[[^\]]*\] )?)?\s*([\w\-\".]*)")


def _operation(wiped: str) -> str:
    """The operation of a line, or its first word."""
    match = _OPERATION.match(wiped)
    return match[1] if match else ""


def _pairs_by_levels(levels: Sequence[Any], n_old: int, n_new: int) -> Pairs:
    """Pairs of the first level, and between them those of the next ones."""
    pairs: Pairs = []
    for old, new in levels:
        joined = list(pairs)
        i = j = 0
        for end_i, end_j in [*pairs, (n_old, n_new)]:
            inner = common(old[i:end_i], new[j:end_j])
            joined += [(i + a, j + b) for a, b in inner]
            i, j = end_i + 1, end_j + 1
        pairs = sorted(joined)
    return pairs


def common(old: Sequence[Hashable], new: Sequence[Hashable]) -> Pairs:
    """The numbers of the items of a longest common subsequence, or nearly so."""
    i = j = 0
    n, m = len(old), len(new)
    while min(n, m) > max(i, j) and old[n - 1] == new[m - 1]:
        n, m = n - 1, m - 1
    pairs: Pairs = []
    while i < n and j < m:
        inner, end_i, end_j = _shortest_edits(old[i:n], new[j:m])
        pairs += [(i + a, j + b) for a, b in inner]
        i, j = i + end_i, j + end_j
    return pairs + [(n + k, m + k) for k in range(len(old) - n)]


def _shortest_edits(
    old: Sequence[Hashable], new: Sequence[Hashable]
) -> tuple[Pairs, int, int]:
    """The pairs of a longest common subsequence, and where it ends.

    Where too many edits are needed, it ends before, as far as some edits lead.

    Source: E. W. Myers, An O(ND) difference algorithm and its variations (1986).
    """
    n, m = len(old), len(new)
    furthest = {1: 0}
    history = []
    for d in range(_MAX_EDITS + 1):
        history.append(dict(furthest))
        for k in range(-d, d + 1, 2):
            down = k == -d or (k != d and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            y = x - k
            while x < n and y < m and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[k] = x
            if x >= n and y >= m:
                return _trace_back(history, n, m), n, m
    ends = [(x, x - k) for k, x in furthest.items() if (k - _MAX_EDITS) % 2 == 0]
    x, y = max([(x, y) for x, y in ends if x <= n and y <= m], key=sum)
    return _trace_back(history, x, y), x, y


def _trace_back(history: Sequence[dict[int, int]], x: int, y: int) -> Pairs:
    pairs: Pairs = []
    for d in range(len(history) - 1, -1, -1):
        furthest, k = history[d], x - y
        down = k == -d or (k != d and furthest[k - 1] < furthest[k + 1])
        before_k = k + 1 if down else k - 1
        before_x = furthest[before_k]
        before_y = before_x - before_k
        while x > max(before_x, 0) and y > max(before_y, 0) and (x, y) != (0, 0):
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = before_x, before_y
    return pairs[::-1]


def _rows(pairs: Pairs, splits: Sequence[Any]) -> list[Row]:
    rows: list[Row] = []
    n_old, n_new = map(len, splits)
    renamed = _Renaming()
    i = j = 0
    for end_i, end_j in [*pairs, (n_old, n_new)]:
        rows += [Row("removed", a, -1) for a in range(i, end_i)]
        rows += [Row("added", -1, b) for b in range(j, end_j)]
        if end_i < n_old:
            (text, its_names), (other, others) = splits[0][end_i], splits[1][end_j]
            same_values = renamed.note(its_names, others)
            same = same_values and text == other
            rows.append(Row("same" if same else "changed", end_i, end_j))
        i, j = end_i + 1, end_j + 1
    return rows


class _Renaming:
    """What the values of one program are called in the other."""

    def __init__(self) -> None:
        self._new: dict[str, str] = {}
        self._old: dict[str, str] = {}

    def note(self, old: Sequence[str], new: Sequence[str]) -> bool:
        """Whether the names of two lines stand for the same values so far."""
        same = len(old) == len(new)
        pairs = list(zip(old, new, strict=False))
        for a, b in pairs if same else pairs[:1]:  # a line defines its first name
            known = self._new.setdefault(a, b) == b and self._old.setdefault(b, a) == a
            same = same and known
        return same
