"""The page of a lens: one file, without a network."""

from __future__ import annotations

import base64
import json
import os
import re
import tempfile
from importlib import resources
from typing import Any

from olympus._src.api.collectives import bytes_text
from olympus._src.api.program_costs import count_text
from olympus._src.lens.nodes import Node

_MAX_HELD = 60


def html(view: Any) -> str:
    """The page."""
    template = resources.files("olympus._src.lens").joinpath("page.html")
    data = json.dumps(_data(view), separators=(",", ":"), ensure_ascii=False)
    # Within a script, these letters would end it.
    data = data.replace("<", "\\u003c")
    text = template.read_text(encoding="utf-8")
    return text.replace("__TITLE__", _escape(view.name)).replace("__DATA__", data)


def frame(page: str) -> str:
    """A page within another, as notebooks show it."""
    data = base64.b64encode(page.encode()).decode()
    return (
        '<iframe style="width:100%;height:720px;border:1px solid #8884" '
        f'src="data:text/html;base64,{data}"></iframe>'
    )


def temporary_path(name: str) -> str:
    """A path for the page of a function."""
    folder = tempfile.mkdtemp(prefix="olympus-lens-")
    return os.path.join(folder, f"{re.sub(r'[^A-Za-z0-9_]', '_', name)}.html")


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _data(view: Any) -> dict[str, Any]:
    return {
        "name": view.name,
        "facts": _facts(view),
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


def _facts(view: Any) -> list[tuple[str, str]]:
    costs = view.costs
    facts = [
        ("flops", count_text(costs.flops)),
        ("read and written", bytes_text(costs.size_bytes)),
        ("flops per byte", f"{costs.intensity:.2g}"),
        ("peak memory", bytes_text(costs.peak_bytes)),
    ]
    if view.times is not None:
        facts.insert(0, ("run", _time_text(view.times.run_us)))
    return facts


def _time_text(us: float) -> str:
    return f"{us:.3g} µs" if us < 1000 else f"{us / 1000:.3g} ms"


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
