"""The difference of two lenses: which lines came, went and changed, and the costs."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from olympus._src.api import stages
from olympus._src.foundation import source_info
from olympus._src.lens import alignment, diff_page, diff_text
from olympus._src.lens.alignment import Line, Row
from olympus._src.lens.nodes import Node, Places, unfolded
from olympus._src.lens.shown import Shown

if TYPE_CHECKING:
    from olympus._src.lens.terminal import Branch
    from olympus._src.lens.view import Lens, Stage

_PANES = ("olympuspr", "StableHLO", "XLA")


class PaneDiff(NamedTuple):
    """The lines of one pane of two programs.

    Attributes:
      title: of the pane.
      rows: the lines in order.
      old, new: the lines of each, to which the rows refer.
    """

    title: str
    rows: list[Row]
    old: list[tuple[int, Node]]
    new: list[tuple[int, Node]]

    def count(self, kind: str) -> int:
        """How many rows are 'same', 'changed', 'added' or 'removed'."""
        return sum(row.kind == kind for row in self.rows)


class SourceLine(NamedTuple):
    """A line of the user's program.

    Attributes:
      file, line: where it is.
      text: the line.
      costs: microseconds, bytes and operations of a run.
    """

    file: str
    line: int
    text: str
    costs: Sequence[float]


class SourceRow(NamedTuple):
    """A line of the user's program before and after; None where it is not there."""

    kind: str
    old: SourceLine | None
    new: SourceLine | None


class Total(NamedTuple):
    """A number of the whole program, before and after.

    Attributes:
      name: what it is.
      unit: 'us', 'bytes', 'flops' or 'count'.
      old, new: the number; None where it was not measured.
    """

    name: str
    unit: str
    old: float | None
    new: float | None


class LensDiff(Shown):
    """The difference of two lenses, line by line.

    In a notebook it shows itself; `save` writes a page that needs no network, `show`
    opens it, and `str` gives it as text.

    Attributes:
      name: of both functions.
      old, new: the lenses.
      totals: a `Total` for time, operations, bytes, memory, kernels and compilation.
      source: a `SourceRow` for each line of the users' functions, with its costs.
      panes: a `PaneDiff` each for olympuspr, StableHLO and XLA.
    """

    def __init__(self, old: Lens, new: Lens) -> None:
        self.old = old
        self.new = new
        self.name = old.name if old.name == new.name else f"{old.name} → {new.name}"
        self.totals = _totals(old, new)
        self.source = _source(old, new)
        sides = zip(_PANES, _nodes(old), _nodes(new), strict=True)
        self.panes = [
            PaneDiff(title, _align(a, old.places, b, new.places), a, b)
            for title, a, b in sides
        ]

    def is_same(self) -> bool:
        """Whether the programs are equal but for the names of values.

        Arrays that functions close over are arguments of programs: their values do not
        count, as those of other arguments do not.
        """
        return all(row.kind == "same" for pane in self.panes for row in pane.rows)

    def to_html(self) -> str:
        """The page."""
        return diff_page.html(self)

    def tree(self) -> Branch:
        """What terminals show."""
        return diff_text.tree(self)

    def __str__(self) -> str:
        return str(self.tree())

    def __repr__(self) -> str:
        counts = [f"{pane.title} {diff_text.counts(pane)}" for pane in self.panes]
        return f"<LensDiff of {self.name}: {', '.join(counts)}>"


def _nodes(view: Lens) -> list[list[tuple[int, Node]]]:
    return [list(unfolded(pane)) for pane in (view.olympuspr, view.stablehlo, view.hlo)]


def _align(
    old: list[tuple[int, Node]],
    old_places: Places,
    new: list[tuple[int, Node]],
    new_places: Places,
) -> list[Row]:
    return alignment.align(_lines(old, old_places), _lines(new, new_places))


def _lines(nodes: list[tuple[int, Node]], places: Places) -> list[Line]:
    codes = [_code(places, i) for i in range(len(places.spans))]
    return [
        Line(node.text, codes[node.place] if node.place >= 0 else "", depth)
        for depth, node in nodes
    ]


def _code(places: Places, number: int) -> str:
    """The text of an expression's first line, from where it begins."""
    file, line, last, start, end = places.spans[number]
    text = linecache.getline(places.files[file], line).rstrip()
    return text[start - 1 : end - 1 if line == last else None] if start else text


def _totals(old: Lens, new: Lens) -> list[Total]:
    a, b = old.costs, new.costs
    kernels = [sum(line.cost.kernels for line in costs.lines) for costs in (a, b)]
    return [
        Total("run", "us", _run_us(old), _run_us(new)),
        Total("flops", "flops", a.flops, b.flops),
        Total("read and written", "bytes", a.size_bytes, b.size_bytes),
        Total("peak memory", "bytes", a.peak_bytes, b.peak_bytes),
        Total("kernels", "count", kernels[0], kernels[1]),
        *[
            Total(before.name, "us", _stage_us(old, before), _stage_us(new, after))
            for before, after in zip(old.stages, new.stages, strict=True)
        ],
    ]


def _run_us(view: Lens) -> float | None:
    return None if view.times is None else view.times.run_us


def _stage_us(view: Lens, stage: Stage) -> float | None:
    """Microseconds; None for a compilation that was not needed."""
    _, built = stages.parts_of(view.compiled)
    is_found = stage.name == "compile" and built.reused
    return None if is_found else stage.seconds * 1e6


def _source(old: Lens, new: Lens) -> list[SourceRow]:
    before, after = _source_lines(old), _source_lines(new)
    rows = alignment.align_source([x.text for x in before], [x.text for x in after])
    return [
        SourceRow(
            row.kind,
            before[row.old] if row.old >= 0 else None,
            after[row.new] if row.new >= 0 else None,
        )
        for row in rows
    ]


def _source_lines(view: Lens) -> list[SourceLine]:
    costs = view.line_costs()
    lines = []
    for excerpt in view.python:
        file = view.places.files[excerpt.file]
        for n, text in enumerate(excerpt.lines, excerpt.start):
            row = costs.pop((excerpt.file, n), [0.0, 0.0, 0.0])
            lines.append(SourceLine(file, n, text, row))
    for (number, n), row in sorted(costs.items()):  # lines whose text is not there
        file = view.places.files[number]
        lines.append(
            SourceLine(file, n, f"# {source_info.short_file(file)}, line {n}", row)
        )
    return lines
