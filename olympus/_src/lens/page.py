"""The page of a lens: one file, without a network."""

from __future__ import annotations

from typing import Any

from olympus._src.api.collectives import bytes_text
from olympus._src.api.program_costs import count_text
from olympus._src.lens import shell
from olympus._src.lens.nodes import Node

_MAX_HELD = 60


def html(view: Any) -> str:
    """The page."""
    return shell.html("lens", view.name, _data(view), "lens.js")


def _data(view: Any) -> dict[str, Any]:
    return {
        "name": view.name,
        "facts": facts(view),
        "files": view.places.files,
        "spans": view.places.spans,
        "python": view.python,
        "panes": [
            {"title": "olympuspr", "nodes": list(map(_node, view.olympuspr))},
            {"title": "StableHLO", "nodes": list(map(_node, view.stablehlo))},
            {"title": "XLA", "nodes": list(map(_node, view.hlo))},
        ],
        "lines": [
            [file, line, *_rounded(row)]
            for (file, line), row in sorted(view.line_costs().items())
        ],
        "memory": _memory(view),
        "stages": [[name, round(s * 1e3, 3)] for name, s in view.stages],
    }


def facts(view: Any) -> list[tuple[str, str]]:
    """What the head of the page says, by name."""
    costs = view.costs
    shown = [
        ("flops", count_text(costs.flops)),
        ("read and written", bytes_text(costs.size_bytes)),
        ("flops per byte", f"{costs.intensity:.2g}"),
        ("peak memory", bytes_text(costs.peak_bytes)),
    ]
    if view.times is not None:
        shown.insert(0, ("run", time_text(view.times.run_us)))
        shown.insert(1, ("outside of instructions", time_text(view.times.outside_us)))
    return shown


def time_text(us: float) -> str:
    """A number of microseconds."""
    if us >= 999.5:
        return f"{us / 1000:.4g} ms" if us >= 999_500 else f"{us / 1000:.3g} ms"
    return f"{us:.3g} µs"


def _node(node: Node) -> list[Any]:
    """The fields of a node, without those at the end that say nothing."""
    row: list[Any] = [node.text, node.place, node.direction]
    row.append(_rounded([node.time_us, node.size_bytes, node.flops]))
    row.append(list(map(_node, node.children)))
    row.append(int(node.is_open))
    if not row[5] and not row[4]:
        del row[4:]
        if not any(row[3]):
            del row[3:]
    return row


def _rounded(numbers: list[float]) -> list[float]:
    return [round(n, 2) if n % 1 else int(n) for n in numbers]


def _memory(view: Any) -> dict[str, Any]:
    memory = view.memory
    return {
        "names": memory.names,
        "bytes": memory.held_bytes,
        "places": view.memory_places,
        "peak": memory.peak,
        "held": _held(view)[:_MAX_HELD],
    }


def _held(view: Any) -> list[list[Any]]:
    """Kind, type, bytes, place, number and names of alike values, the largest first."""
    names = iter([value.code for value in view.costs.held])
    groups: dict[Any, list[Any]] = {}
    for value, place in zip(view.memory.values, view.held_places, strict=True):
        if not value.size_bytes:  # as in the costs
            continue
        key = value.kind, value.type, -1 if value.kind == "argument" else place
        row = groups.setdefault(key, [*key[:2], 0, key[2], 0, []])
        row[2] += value.size_bytes
        row[4] += 1
        row[5].append(next(names))
    rows = sorted(groups.values(), key=lambda row: -row[2])
    for row in rows:
        row[5] = ", ".join(row[5]) if row[0] == "argument" else ""
    return rows
