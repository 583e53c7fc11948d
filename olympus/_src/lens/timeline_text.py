"""The timeline of a session in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olympus._src.foundation import source_info
from olympus._src.lens.terminal import Branch, Part, branch

if TYPE_CHECKING:
    from olympus._src.lens.timeline import Making, Timeline

STAGES = ("trace", "lower", "compile", "load")
_MAX_FUNCTIONS = 20


def seconds_text(seconds: float) -> str:
    """A duration in a unit that suits it."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s"


def headline(timeline: Timeline) -> str:
    """How many programs were made, how often again, and the seconds by stage."""
    makings = timeline.makings
    again = sum(making.is_again for making in makings)
    sums = stage_sums(makings)
    stages = [f"{s} {seconds_text(n)}" for s, n in zip(STAGES, sums, strict=True) if n]
    parts = [f"{len(makings)} made, {again} of them again", *stages]
    return ", ".join([*parts, f"in {seconds_text(timeline.seconds)}"])


def stage_sums(makings: tuple[Making, ...]) -> list[float]:
    """Seconds by stage, traces within others once."""
    sums = dict.fromkeys(STAGES, 0.0)
    for making in makings:
        for span in making.spans:
            if not (making.depth and span.stage == "trace"):
                sums[span.stage] += span.seconds
    return list(sums.values())


def short(place: str) -> str:
    """A place without the folder."""
    return source_info.short_file(place)


def tree(timeline: Timeline) -> Branch:
    """The timeline as a tree: what was made in its order, and the functions."""
    makings = timeline.makings
    return Branch(
        [Part(f"{timeline.name}  ", "title"), Part(headline(timeline), "number")],
        [
            branch("in order", list(map(_making, makings)), "title"),
            branch("functions", _functions(makings), "title"),
        ],
    )


def _making(making: Making) -> Branch:
    stages = ", ".join([f"{s.stage} {seconds_text(s.seconds)}" for s in making.spans])
    parts = [
        Part(f"{making.start_s:9.3f} s  ", "soft"),
        Part("  " * making.depth),
        Part(making.name or "?", "changed" if making.is_again else ""),
        Part(f"  {stages}", "number"),
        Part(f"  at {short(making.site)}", "soft"),
    ]
    if making.is_reused:
        parts.append(Part("  (an equal program was in memory)", "soft"))
    why = [branch(making.cause, style="changed")] if making.cause else []
    if making.cure:
        why.append(branch(f"cure: {making.cure}", style="added"))
    return Branch(parts, why)


def _functions(makings: tuple[Making, ...]) -> list[Branch]:
    """The functions, those of the most seconds first."""
    totals = by_function(makings)
    rows = []
    for (name, place), group in totals[:_MAX_FUNCTIONS]:
        seconds = sum(making.seconds for making in group)
        times = "once" if len(group) == 1 else f"{len(group)} times"
        rows.append(
            Branch(
                [
                    Part(f"{seconds_text(seconds):>8}  ", "number"),
                    Part(f"{name or '?'}  {times}"),
                    Part(f"  {short(place)}", "soft"),
                ]
            )
        )
    if len(totals) > _MAX_FUNCTIONS:
        rows.append(branch(f"and {len(totals) - _MAX_FUNCTIONS} more", style="soft"))
    return rows


def by_function(
    makings: tuple[Making, ...],
) -> list[tuple[tuple[str, str], list[Making]]]:
    """Makings by name and place of the function, the longest together first."""
    groups: dict[tuple[str, str], list[Making]] = {}
    for making in makings:
        groups.setdefault((making.name, making.place), []).append(making)
    ordered = sorted(groups.items(), key=lambda item: -sum(m.seconds for m in item[1]))
    return ordered
