"""What figures of two sides say: medians, ratios, noise, and what is lost.

Nothing here measures.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

TOLERANCE = 0.05  # of a row, beyond its noise


class Figure(NamedTuple):
    """One process's figure of a case.

    Attributes:
      wall: seconds, or bytes.
      cpu: seconds of all threads; None where they are not counted.
    """

    wall: float
    cpu: float | None = None


Figures = Mapping[str, Mapping[str, Sequence[Figure]]]  # by case and side


class Row(NamedTuple):
    """A case on two sides.

    Attributes:
      case: its name.
      first, second: medians of the wall times.
      ratio: of the first to the second, the median of the rounds'.
      cpu: the same ratio of CPU times; None where they are not counted.
      noise: see `noise`; of the rounds' ratios.
    """

    case: str
    first: float
    second: float
    ratio: float
    cpu: float | None
    noise: float


def noise(values: Sequence[float]) -> float:
    """How far equal work differs: the distance of the quartiles, of the median.

    Zero for fewer than two values.
    """
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / middle if middle else 0.0


def row(case: str, first: Sequence[Figure], second: Sequence[Figure]) -> Row:
    """The row of a case, from the figures of both sides."""
    walls = [[figure.wall for figure in side] for side in (first, second)]
    one, other = map(statistics.median, walls)
    # Rounds are compared one by one: what slows one of them falls on both sides.
    ratios = [_ratio(a, b) for a, b in zip(*walls, strict=False)]
    middle = statistics.median(ratios)
    return Row(case, one, other, middle, _cpu(first, second), noise(ratios))


def _cpu(first: Sequence[Figure], second: Sequence[Figure]) -> float | None:
    pairs = zip(first, second, strict=False)
    ratios = [a.cpu / b.cpu for a, b in pairs if a.cpu is not None and b.cpu]
    return statistics.median(ratios) if ratios else None


def _ratio(one: float, other: float) -> float:
    if other:
        return one / other
    return 1.0 if one == other else float("inf")


def rows(figures: Figures, sides: tuple[str, str]) -> tuple[list[Row], list[str]]:
    """The rows of cases that both sides have, and the names of the others."""
    whole, missing = [], []
    for case, by_side in figures.items():
        if all(by_side.get(side) for side in sides):
            whole.append(row(case, by_side[sides[0]], by_side[sides[1]]))
        else:
            missing.append(case)
    return whole, missing


def is_lost(r: Row, tolerance: float = TOLERANCE) -> bool:
    """Whether the first side takes more than the second, beyond the noise.

    Args:
      r: a row, whose first side is the change.
      tolerance: the part that may be lost beside the noise.
    """
    return r.ratio > 1 + tolerance + r.noise


def lost(
    figures: Figures, sides: tuple[str, str], tolerance: float = TOLERANCE
) -> list[str]:
    """The cases that a change loses; those that only the old side has are lost too."""
    whole, _ = rows(figures, sides)
    slower = [r.case for r in whole if is_lost(r, tolerance)]
    gone = [
        case
        for case, by_side in figures.items()
        if by_side.get(sides[1]) and not by_side.get(sides[0])
    ]
    return slower + gone
