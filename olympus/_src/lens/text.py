"""The lens in a terminal: the costs, and the functions with the share of each line."""

from __future__ import annotations

import os
from typing import Any

_BARS = " ▁▂▃▄▅▆▇█"
_METRICS = ("time", "bytes", "flops")


def text(view: Any) -> str:
    """The lens as plain text."""
    return "\n\n".join([str(view.costs), _stages(view), _source(view)])


def _stages(view: Any) -> str:
    parts = [f"{name} {seconds * 1e3:.3g} ms" for name, seconds in view.stages]
    if view.times is not None:
        parts.append(f"run {view.times.run_us:.4g} us")
    return ", ".join(parts)


def _source(view: Any) -> str:
    """Each line of the user's functions behind bars of its shares."""
    sums = view.line_costs()
    most = [max([row[i] for row in sums.values()], default=0.0) for i in range(3)]
    shown = [i for i in range(3) if most[i]]
    lines = [f"{' '.join(_METRICS[i][:1] for i in shown)}  share of the largest line"]
    for excerpt in view.python:
        lines.append(os.path.basename(view.places.files[excerpt.file]))
        for n, row in enumerate(excerpt.lines, excerpt.start):
            costs = sums.get((excerpt.file, n), (0.0, 0.0, 0.0))
            bars = " ".join([_bar(costs[i], most[i]) for i in shown])
            lines.append(f"{bars} {n:5} {row}")
    return "\n".join(lines)


def _bar(value: float, most: float) -> str:
    share = value / most if most else 0.0
    return _BARS[round(share * (len(_BARS) - 1))] if share < 1 else _BARS[-1]
