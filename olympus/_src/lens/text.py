"""The lens in a terminal: the costs, and the functions with the share of each line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from olympus._src.api.collectives import bytes_text
from olympus._src.api.program_costs import count_text
from olympus._src.foundation import source_info
from olympus._src.lens import page
from olympus._src.lens.nodes import Node, unfolded
from olympus._src.lens.terminal import Branch, Part, branch

_BARS = " ▁▂▃▄▅▆▇█"
_METRICS = ("time", "bytes", "flops")


def text(view: Any) -> str:
    """The lens as plain text."""
    return "\n\n".join([str(view.costs), _stages(view), _source(view)])


def _stages(view: Any) -> str:
    parts = [f"{name} {seconds * 1e3:.3g} ms" for name, seconds in view.stages]
    if view.times is not None:
        run_us, outside_us = view.times.run_us, view.times.outside_us
        parts.append(f"run {run_us:.4g} us ({outside_us:.3g} outside of instructions)")
    return ", ".join(parts)


def _source(view: Any) -> str:
    """Each line of the user's functions behind bars of its shares."""
    sums = view.line_costs()
    most = [max([row[i] for row in sums.values()], default=0.0) for i in range(3)]
    shown = [i for i in range(3) if most[i]]
    lines = [f"{' '.join(_METRICS[i][:1] for i in shown)}  share of the largest line"]
    for excerpt in view.python:
        lines.append(source_info.short_file(view.places.files[excerpt.file]))
        for n, row in enumerate(excerpt.lines, excerpt.start):
            costs = sums.get((excerpt.file, n), (0.0, 0.0, 0.0))
            bars = " ".join([_bar(costs[i], most[i]) for i in shown])
            lines.append(f"{bars} {n:5} {row}")
    return "\n".join(lines)


def _bar(value: float, most: float) -> str:
    share = value / most if most else 0.0
    return _BARS[round(share * (len(_BARS) - 1))] if share < 1 else _BARS[-1]


# -- as a tree -------------------------------------------------------------------------

_STYLES = ("", "forward", "backward")


def tree(view: Any) -> Branch:
    """The lens as a tree: the user's lines, what they became, and the panes."""
    facts = "  ".join([f"{name} {value}" for name, value in page.facts(view)])
    panes = [
        ("olympuspr", view.olympuspr),
        ("StableHLO", view.stablehlo),
        ("XLA", view.hlo),
    ]
    source = _source_branches(view, [panes[0], panes[2]])
    return Branch(
        [Part(view.name, "title"), Part(f"  {facts}", "number")],
        [
            branch(_stages(view), style="soft"),
            *source,
            *[branch(name, list(map(_node, nodes)), "title") for name, nodes in panes],
        ],
    )


def _node(node: Node) -> Branch:
    parts = [Part(node.text, _STYLES[node.direction] if not node.is_fold else "soft")]
    costs = _costs_text((node.time_us, node.size_bytes, node.flops))
    if costs:
        parts.append(Part(f"  {costs}", "number"))
    # What the page folds at first stays folded where nobody can unfold it.
    return Branch(parts, [] if node.is_fold else list(map(_node, node.children)))


def _costs_text(costs: Sequence[float]) -> str:
    formats = (page.time_text, bytes_text, lambda n: f"{count_text(n)} flops")
    pairs = zip(formats, costs, strict=True)
    return ", ".join([write(n) for write, n in pairs if n])


def _source_branches(view: Any, panes: Sequence[tuple[str, Iterable[Node]]]) -> Any:
    """The files, their lines, and below a line what it became."""
    sums = view.line_costs()
    most = [max([row[i] for row in sums.values()], default=0.0) for i in range(3)]
    metric = 0 if most[0] else 1
    below: dict[tuple[int, int], list[Branch]] = {}
    for name, nodes in panes:
        for _, node in unfolded(nodes):
            if node.place >= 0 and " = " in node.text:
                key = view.places.spans[node.place][:2]
                parts = [Part(f"{name}  ", "soft"), *_node(node).parts]
                parts[1] = Part(parts[1].text.strip(), parts[1].style)
                below.setdefault(key, []).append(Branch(parts))
    below = {key: _first(rows) for key, rows in below.items()}
    branches = []
    for excerpt in view.python:
        rows = []
        for n, row in enumerate(excerpt.lines, excerpt.start):
            costs = sums.get((excerpt.file, n), (0.0, 0.0, 0.0))
            head = [
                Part(_bar(costs[metric], most[metric]), "heat"),
                Part(f"{n:5} ", "soft"),
                Part(row),
            ]
            told = _costs_text(costs)
            head += [Part(f"  {told}", "number")] * bool(told)
            rows.append(Branch(head, below.get((excerpt.file, n), [])))
        name = view.places.files[excerpt.file]
        branches.append(branch(f"{name}, heat by {_METRICS[metric]}", rows, "title"))
    return branches


_MAX_BELOW = 12


def _first(rows: list[Branch]) -> list[Branch]:
    n = len(rows) - _MAX_BELOW
    more = [branch(f"and {n} more lines", style="soft")] if n > 0 else []
    return rows[:_MAX_BELOW] + more
