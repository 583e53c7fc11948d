"""The page of a difference of two lenses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from olympus._src.lens import diff_text, shell

if TYPE_CHECKING:
    from olympus._src.lens.diff import LensDiff, PaneDiff, SourceLine

_KINDS = ("same", "changed", "added", "removed")


def html(diff: LensDiff) -> str:
    """The page."""
    return shell.html("diff", diff.name, _data(diff), "diff.js")


def _data(diff: LensDiff) -> dict[str, Any]:
    return {
        "name": diff.name,
        "facts": [],
        "totals": [
            [
                total.name,
                *[diff_text.number_text(total.unit, n) for n in (total.old, total.new)],
                diff_text.change_text(total.old, total.new),
                diff_text.change_style(total.old, total.new),
            ]
            for total in diff.totals
        ],
        "source": [
            [_KINDS.index(row.kind), _source_line(row.old), _source_line(row.new)]
            for row in diff.source
        ],
        "panes": [
            {
                "title": pane.title,
                "detail": diff_text.counts(pane),
                "rows": _rows(diff, pane),
            }
            for pane in diff.panes
        ],
    }


def _source_line(line: SourceLine | None) -> list[Any] | None:
    if line is None:
        return None
    costs = [round(n, 2) for n in line.costs]
    return [line.file, line.line, line.text, costs]


def _rows(diff: LensDiff, pane: PaneDiff) -> list[list[Any]]:
    """Kind, text before, text after, and numbers of the lines of the user's program.

    The text after is left out where only the names of values are other ones.
    """
    old_rows, new_rows = _places(diff, is_old=True), _places(diff, is_old=False)
    rows = []
    for row in pane.rows:
        kind = _KINDS.index(row.kind)
        depth, node = pane.new[row.new] if row.new >= 0 else pane.old[row.old]
        places = diff.new.places if row.new >= 0 else diff.old.places
        known = new_rows if row.new >= 0 else old_rows
        place = -1
        if node.place >= 0:
            file, line = places.spans[node.place][:2]
            place = known.get((places.files[file], line), -1)
        before = "" if row.kind != "changed" else pane.old[row.old][1].text
        rows.append([kind, "  " * depth + node.text, place, "  " * depth + before])
        if row.kind != "changed":
            rows[-1].pop()
    return rows


def _places(diff: LensDiff, *, is_old: bool) -> dict[tuple[str, int], int]:
    """By file and line, the number of the row of the source."""
    numbers = {}
    for i, row in enumerate(diff.source):
        line = row.old if is_old else row.new
        if line is not None:
            numbers[line.file, line.line] = i
    return numbers
