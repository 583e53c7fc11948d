"""Linear programs in exact fractions, of the few unknowns that sizes of arrays have."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

CONTRADICTION = "contradiction"
_CONSTANT: Any = ()
_MAX_STEPS = 300


def minimum(
    objective: Mapping[Any, int], facts: Sequence[Mapping[Any, int]]
) -> Fraction | str | None:
    """The best lower bound of a linear form under linear inequalities.

    Args:
      objective: factors of the unknowns; the constant is at the key `()`.
      facts: linear forms that are never negative.

    Returns:
      The bound; None if there is none, or if it takes too long to find; CONTRADICTION
      if the facts exclude one another. By duality the bound is the largest constant
      that leaves the objective a sum of multiples of facts.
    """
    rows = _unknowns(objective, facts)
    columns = [[fact.get(m, 0) for m in rows] for fact in facts]
    cost = [-fact.get(_CONSTANT, 0) for fact in facts]
    target = [objective.get(m, 0) for m in rows]
    best = _maximum(columns, target, cost)
    if best is None or best == CONTRADICTION:
        return best
    return best + objective.get(_CONSTANT, 0)


def _unknowns(
    objective: Mapping[Any, int], facts: Sequence[Mapping[Any, int]]
) -> list[Hashable]:
    names = dict.fromkeys(m for p in (objective, *facts) for m in p)
    names.pop(_CONSTANT, None)
    return list(names)


def _maximum(
    columns: Sequence[Sequence[int]], target: Sequence[int], cost: Sequence[int]
) -> Any:
    """The largest cost.y with y >= 0 and sum(y[i] * columns[i]) == target."""
    height, width = len(target), len(columns)
    rows: list[list[Fraction]] = []
    for j in range(height):
        sign = -1 if target[j] < 0 else 1
        row = [Fraction(sign * column[j]) for column in columns]
        slack = [Fraction(int(i == j)) for i in range(height)]
        rows.append([*row, *slack, Fraction(sign * target[j])])
    basis = [width + j for j in range(height)]
    # First the artificial unknowns go: the sum of them is made zero.
    missing = [sum((row[i] for row in rows), Fraction(0)) for i in range(width)]
    gain = [*missing, *[Fraction(0)] * height, sum((r[-1] for r in rows), Fraction(0))]
    if _climb(rows, basis, gain, width) is None or gain[-1] != 0:
        return None
    gain = [*map(Fraction, cost), *[Fraction(0)] * (height + 1)]
    for j, i in enumerate(basis):
        if i < width and gain[i]:
            _subtract(gain, rows[j], gain[i])
    ended = _climb(rows, basis, gain, width)
    if ended is None:
        return None
    return -gain[-1] if ended else CONTRADICTION


def _climb(
    rows: list[list[Fraction]], basis: list[int], gain: list[Fraction], width: int
) -> bool | None:
    """Steps of the simplex method by Bland's rule, until no column gains.

    Returns:
      Whether there is a largest value; None after too many steps.
    """
    for _ in range(_MAX_STEPS):
        entering = next((i for i in range(width) if gain[i] > 0), None)
        if entering is None:
            return True
        leaving = _find_leaving_row(rows, basis, entering, width)
        if leaving is None:
            return False
        pivot = rows[leaving]
        scale = pivot[entering]
        pivot[:] = [x / scale if x else x for x in pivot]
        for j, row in enumerate(rows):
            if j != leaving and row[entering]:
                _subtract(row, pivot, row[entering])
        _subtract(gain, pivot, gain[entering])
        basis[leaving] = entering
    return None


def _find_leaving_row(
    rows: list[list[Fraction]], basis: list[int], entering: int, width: int
) -> int | None:
    """The row that limits the entering unknown first."""
    best: tuple[Fraction, int] | None = None
    leaving_row = None
    for j, row in enumerate(rows):
        if row[entering] > 0:
            key = row[-1] / row[entering], basis[j]
        elif basis[j] >= width and row[entering] and row[-1] == 0:
            key = Fraction(0), basis[j]  # an artificial unknown stays zero
        else:
            continue
        if best is None or key < best:
            best, leaving_row = key, j
    return leaving_row


def _subtract(row: list[Fraction], pivot: list[Fraction], factor: Fraction) -> None:
    row[:] = [x - factor * y if y else x for x, y in zip(row, pivot, strict=True)]
