"""The page of a timeline."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

from olympus._src.lens import shell, timeline_text

if TYPE_CHECKING:
    from olympus._src.lens.timeline import Making, Timeline


def html(timeline: Timeline) -> str:
    """The page."""
    return shell.html("timeline", timeline.name, _data(timeline), "timeline.js")


def _data(timeline: Timeline) -> dict[str, Any]:
    makings = timeline.makings
    functions = timeline_text.by_function(makings)
    numbers = {key: i for i, (key, _) in enumerate(functions)}
    return {
        "name": timeline.name,
        "facts": _facts(timeline, makings),
        "stages": timeline_text.STAGES,
        "functions": [
            [name or "?", place, sum(m.seconds for m in group), len(group)]
            for (name, place), group in functions
        ],
        "makings": [
            {
                "function": numbers[making.name, making.place],
                "depth": making.depth,
                "thread": making.spans[0].thread,
                "spans": [
                    [
                        timeline_text.STAGES.index(span.stage),
                        round(span.start_s * 1e6, 1),
                        round(span.seconds * 1e6, 1),
                    ]
                    for span in making.spans
                ],
                "site": making.site,
                "code": _code(making),
                "cause": making.cause,
                "cure": making.cure,
                "disk": making.disk,
                "again": making.is_again,
                "reused": making.is_reused,
            }
            for making in makings
        ],
    }


def _facts(timeline: Timeline, makings: tuple[Making, ...]) -> list[tuple[str, str]]:
    again = [making for making in makings if making.is_again]
    sums = timeline_text.stage_sums(makings)
    stages = zip(timeline_text.STAGES, sums, strict=True)
    lost = sum(making.seconds for making in again)
    return [
        ("session", timeline_text.seconds_text(timeline.seconds)),
        ("programs", str(len(makings))),
        *[(name, timeline_text.seconds_text(n)) for name, n in stages if n],
        ("made again", f"{len(again)} in {timeline_text.seconds_text(lost)}"),
    ]


def _code(making: Making) -> str:
    position = making.spans[0].position
    return linecache.getline(position.file, position.line).strip()
