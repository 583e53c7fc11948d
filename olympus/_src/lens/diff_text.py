"""The difference of two lenses in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olympus._src.api.collectives import bytes_text
from olympus._src.api.program_costs import count_text
from olympus._src.foundation import source_info
from olympus._src.lens.page import time_text
from olympus._src.lens.terminal import Branch, Part, branch

if TYPE_CHECKING:
    from olympus._src.lens.diff import LensDiff, PaneDiff, SourceRow, Total

_FORMATS = {
    "us": time_text,
    "bytes": bytes_text,
    "flops": count_text,
    "count": lambda n: f"{n:.0f}",
}
_UNITS = ("us", "bytes", "flops")
_SIGNS = {"same": "  ", "added": "+ ", "removed": "- ", "changed": "~ "}


def number_text(unit: str, number: float | None) -> str:
    """A number in its unit; '-' for None."""
    return "-" if number is None else _FORMATS[unit](number)


def change_text(old: float | None, new: float | None) -> str:
    """How much a number changed, in percent or by a factor."""
    if old is None or new is None or old == new:
        return ""
    if not old:
        return "new"
    if not new:
        return "gone"
    share = new / old
    if share >= 3:
        return f"x {share:.3g}"
    change = 100 * (share - 1)
    if abs(change) < _LEAST:
        return ""
    return f"{change:+.0f} %" if abs(change) >= 1 else f"{change:+.1g} %"


_LEAST = 0.1  # percent that are told


def counts(pane: PaneDiff) -> str:
    """How many lines of a pane came, went and changed."""
    shown = [f"{pane.count(k)} {k}" for k in ("added", "removed", "changed")]
    told = [text for text in shown if not text.startswith("0 ")]
    return ", ".join(told) or "no changes"


def tree(diff: LensDiff) -> Branch:
    """The difference as a tree: totals, the user's lines, and each pane's changes."""
    totals = [_total(total) for total in diff.totals]
    lines = [_source_row(row) for row in diff.source if is_told(row)]
    panes = [
        Branch(
            [Part(pane.title, "title"), Part(f"  {counts(pane)}", "soft")],
            _pane_rows(pane),
        )
        for pane in diff.panes
    ]
    return Branch(
        [Part(diff.name, "title")],
        [
            branch("the whole program", totals, "title"),
            branch("Python, where the code or its cost is another", lines, "title"),
            *panes,
        ],
    )


def is_told(row: SourceRow) -> bool:
    """Whether a line's text, bytes or operations changed; times always do a little."""
    if row.kind != "same" or row.old is None or row.new is None:
        return True
    return list(row.old.costs[1:]) != list(row.new.costs[1:])


def _total(total: Total) -> Branch:
    old, new = [number_text(total.unit, n) for n in (total.old, total.new)]
    change = change_text(total.old, total.new)
    return Branch(
        [
            Part(f"{total.name:17}"),
            Part(f"{old:>10} → {new:>10}  ", "number"),
            Part(change, change_style(total.old, total.new)),
        ]
    )


def change_style(old: float | None, new: float | None) -> str:
    """Less is better."""
    if old is None or new is None or old == new:
        return ""
    return "removed" if new > old else "added"


def _source_row(row: SourceRow) -> Branch:
    shown = row.new or row.old
    if shown is None:
        return branch("")
    old = row.old.costs if row.old else (0.0,) * 3
    new = row.new.costs if row.new else (0.0,) * 3
    deltas = [
        f"{number_text(unit, a)} → {number_text(unit, b)}"
        for unit, a, b in zip(_UNITS, old, new, strict=True)
        if a != b
    ]
    place = f"{source_info.short_file(shown.file)}:{shown.line}"
    style = row.kind if row.kind != "same" else ""
    head = [
        Part(_SIGNS[row.kind], style),
        Part(f"{place}  ", "soft"),
        Part(shown.text.strip(), style),
    ]
    if row.kind == "changed" and row.old is not None:
        head.append(Part(f"   before: {row.old.text.strip()}", "removed"))
    return Branch(head, [branch(", ".join(deltas), style="number")] if deltas else [])


def _pane_rows(pane: PaneDiff) -> list[Branch]:
    rows = []
    for row in pane.rows:
        if row.kind in ("removed", "changed"):
            depth, node = pane.old[row.old]
            rows.append(branch(f"- {'  ' * depth}{node.text}", style="removed"))
        if row.kind in ("added", "changed"):
            depth, node = pane.new[row.new]
            rows.append(branch(f"+ {'  ' * depth}{node.text}", style="added"))
    return rows
