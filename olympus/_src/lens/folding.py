"""Folds what is repeated: layers that differ in the names of their values alone."""

from __future__ import annotations

from collections.abc import Sequence

from olympus._src.lens import names
from olympus._src.lens.nodes import Node

_WINDOW = 6  # lines that must be equal before a repetition is looked for
_MIN_LINES = 6  # shorter ones are quicker read than unfolded


def fold(nodes: Sequence[Node]) -> list[Node]:
    """The lines, with repetitions of a block folded under one line each."""
    shapes = [_shape(node) for node in nodes]
    following = _next_alike(shapes)
    folded: list[Node] = []
    i = 0
    while i < len(nodes):
        period = following[i] - i
        times = _repetitions(shapes, i, period) if period >= _MIN_LINES else 0
        if times == 0:
            folded.append(nodes[i])
            i += 1
            continue
        folded.extend(nodes[i : i + period])
        others = list(nodes[i + period : i + (times + 1) * period])
        again = "once more" if times == 1 else f"{times} more times"
        title = f"the {period} lines above, {again}"
        folded.append(Node(title, children=others, is_fold=True))
        i += (times + 1) * period
    return folded


def _shape(node: Node) -> int:
    """Equal for lines that are equal but for the names of values."""
    text, _ = names.split(node.text)
    return hash((text, node.place, tuple([_shape(child) for child in node.children])))


def _next_alike(shapes: Sequence[int]) -> list[int]:
    """For each line the next one from which some lines are the same; 0 for none."""
    last: dict[tuple[int, ...], int] = {}
    following = [0] * len(shapes)
    for i in range(len(shapes) - _WINDOW, -1, -1):
        window = tuple(shapes[i : i + _WINDOW])
        following[i] = last.get(window, 0)
        last[window] = i
    return following


def _repetitions(shapes: Sequence[int], start: int, period: int) -> int:
    """How often the block of lines at a start comes again, directly behind."""
    block = shapes[start : start + period]
    times = 0
    at = start + period
    while shapes[at : at + period] == block:
        times += 1
        at += period
    return times
