"""Pictures of how an array is divided: which devices hold which part of it.

The last two axes of an array are drawn as a grid of parts whose sides are in the
proportion of their sizes. Where leading axes are divided too, there is a grid for each
of their parts.
"""

from __future__ import annotations

import colorsys
import html
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Color = tuple[float, float, float]

_CELL_ASPECT = 2  # a character of a terminal is about twice as high as wide
_MAX_LINES = 10  # of a grid, unless the parts need more
_MOST_ROWS = 16
_MOST_GRIDS = 6
_LISTED_DEVICES = 8
_MOST_LETTERS = 20  # of a label on one line, if it can be divided


class Grid(NamedTuple):
    """The parts that devices hold for one part of the leading axes.

    Attributes:
      title: the part of the leading axes; empty where there are none.
      labels: the devices of each part, in rows.
      sizes: the two sides of a part; of an array of one axis the first is 0.
    """

    title: str
    labels: list[list[str]]
    sizes: tuple[int, int]


class Diagram:
    """How an array of a shape is divided, to be drawn.

    Args:
      shape: of the array.
      sharding: how it is divided.

    Raises:
      ValueError: the sharding has no devices, or cannot divide this shape.
    """

    def __init__(self, shape: Sequence[int], sharding: Any) -> None:
        self.shape = tuple(shape)
        self.sharding = sharding
        self.grids = _grids(self.shape, sharding)

    def text(
        self,
        *,
        scale: float = 1.0,
        min_width: int = 9,
        max_width: int = 80,
        color_of: Callable[[float], Color] | None = None,
    ) -> str:
        """The diagram in characters.

        Args:
          scale: of the heights of the parts.
          min_width: the least width of a part with its border.
          max_width: the greatest width of a grid.
          color_of: from a number below 1 the background of a part; None for no colours.
        """
        lines: list[str] = []
        for grid in _ends(self.grids, _MOST_GRIDS):
            if grid is None:
                lines.append(f"... {len(self.grids) - _MOST_GRIDS} more ...")
                continue
            if grid.title:
                lines.append(grid.title)
            lines += _draw(grid, scale, min_width, max_width, color_of)
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def svg(self, color_of: Callable[[float], Color] | None = None) -> str:
        """The diagram as a picture for web pages."""
        pictures = [_svg(grid, color_of or color) for grid in self.grids[:_MOST_GRIDS]]
        more = len(self.grids) - len(pictures)
        return "".join(pictures) + (f"<div>{more} more</div>" if more else "")

    def _repr_html_(self) -> str:
        return self.svg()


# -- which parts there are -------------------------------------------------------------


def _grids(shape: tuple[int, ...], sharding: Any) -> list[Grid]:
    ndim = len(shape)
    padded = (1,) * (2 - ndim) + shape
    holders: dict[tuple[int, ...], list[Any]] = {}
    for device, index in sharding.devices_indices_map(shape).items():
        starts = (0,) * (2 - ndim) + tuple([s.start or 0 for s in index])
        holders.setdefault(starts, []).append(device)
    part = (1,) * (2 - ndim) + tuple(sharding.shard_shape(shape))
    by_leading: dict[tuple[int, ...], dict[tuple[int, int], str]] = {}
    for starts in sorted(holders):
        cell = starts[-2], starts[-1]
        by_leading.setdefault(starts[:-2], {})[cell] = _label(holders[starts])
    grids = []
    for leading, cells in by_leading.items():
        rows = sorted({row for row, _ in cells})
        columns = sorted({column for _, column in cells})
        labels = [[cells[row, column] for column in columns] for row in rows]
        title = _title(leading, part, padded)
        grids.append(Grid(title, labels, (part[-2] if ndim > 1 else 0, part[-1])))
    return grids


def _title(leading: Any, part: Any, shape: Any) -> str:
    if not leading:
        return ""
    ranges = [
        ":" if n == size else f"{start}:{start + n}"
        for start, n, size in zip(leading, part, shape, strict=False)
    ]
    return f"[{', '.join(ranges)}, ...]"


def _label(devices: Sequence[Any]) -> str:
    """The devices of a part, as in 'CPU 0,1'."""
    name = devices[0].platform.upper()
    ids = [d.id for d in devices]
    if len(ids) <= _LISTED_DEVICES:
        return f"{name} {','.join(map(str, ids))}"
    runs: list[list[int]] = []
    for i in ids:
        if runs and i == runs[-1][-1] + 1:
            runs[-1][1:] = [i]
        else:
            runs.append([i])
    return f"{name} {','.join(['-'.join(map(str, run)) for run in runs])}"


def _ends(items: list[Any], limit: int) -> list[Any]:
    """The items, or the first and last of them around a None if there are too many."""
    if len(items) <= limit:
        return items
    first = (limit + 1) // 2
    return [*items[:first], None, *items[len(items) - (limit - first) :]]


# -- in characters ---------------------------------------------------------------------


def _draw(
    grid: Grid, scale: float, min_width: int, max_width: int, color_of: Any
) -> list[str]:
    n_columns = len(grid.labels[0])
    labels = [x for row in grid.labels for x in row]
    longest = max(len(word) for x in labels for word in _words(x))
    letters = max(longest, min(_MOST_LETTERS, max(map(len, labels))))
    least = max(min_width - 2, letters + 2)
    fitting = max(2, (max_width - 1) // (least + 1))
    shown = n_columns if n_columns <= fitting else fitting - 1
    columns = _ends(list(range(n_columns)), shown)
    rows = _ends(list(range(len(grid.labels))), _MOST_ROWS)
    most = max(least, (max_width - 1) // len(columns) - 1)
    height_of_one, width_of_one = grid.sizes
    proportion = height_of_one / max(width_of_one, 1) / _CELL_ASPECT
    width = _between(least, round(1 / proportion) if proportion else least, most)
    texts = [[_wrap(x, width - 2) for x in row] for row in grid.labels]
    needed = max(len(lines) for row in texts for lines in row)
    allowed = max(needed, round(_MAX_LINES * scale / len(rows)))
    height = _between(needed, round(width * proportion * scale), allowed)
    lines = [_rule("┌┬┐", width, len(columns))]
    count = len(grid.labels) * n_columns
    for row in rows:
        if len(lines) > 1:
            lines.append(_rule("├┼┤", width, len(columns)))
        if row is None:
            lines.append("│" + "│".join(["⋮".center(width)] * len(columns)) + "│")
            continue
        for line in range(height):
            cells = []
            for column in columns:
                if column is None:
                    cells.append("…".center(width))
                    continue
                cell = _line_of(texts[row][column], line, height).center(width)
                number = (row * n_columns + column) / count
                cells.append(_paint(cell, color_of and color_of(number)))
            lines.append("│" + "│".join(cells) + "│")
    lines.append(_rule("└┴┘", width, len(columns)))
    return lines


def _between(least: int, n: int, most: int) -> int:
    return max(least, min(n, most))


def _rule(corners: str, width: int, n: int) -> str:
    return corners[0] + corners[1].join(["─" * width] * n) + corners[2]


def _words(label: str) -> list[str]:
    """The pieces of a label that stay on one line."""
    *others, last = label.split(",")
    return [*[f"{word}," for word in others], last]


def _wrap(label: str, width: int) -> list[str]:
    lines = [""]
    for word in _words(label):
        if lines[-1] and len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += word
    return lines


def _line_of(lines: list[str], line: int, height: int) -> str:
    """One line of a cell in which the text stands in the middle."""
    position = line - (height - len(lines)) // 2
    return lines[position] if 0 <= position < len(lines) else ""


def _paint(text: str, background: Color | None) -> str:
    if background is None:
        return text
    r, g, b = [round(255 * c) for c in background]
    ink = 30 if _is_light(background) else 97
    return f"\x1b[{ink};48;2;{r};{g};{b}m{text}\x1b[0m"


# -- colours ---------------------------------------------------------------------------

_GOLDEN_ANGLE = 0.381966


def color(number: float) -> Color:
    """A colour for a number below 1; near numbers differ."""
    hue = (round(number * 1024) * _GOLDEN_ANGLE) % 1.0
    return colorsys.hls_to_rgb(hue, 0.72, 0.5)


def _is_light(background: Color) -> bool:
    r, g, b = background
    return 0.3 * r + 0.59 * g + 0.11 * b > 0.5


# -- as a picture ----------------------------------------------------------------------

_PICTURE_PIXELS = 480
_LEAST_PIXELS = (22, 64)  # of a part, so that its text fits
_LETTER_PIXELS = 7


def _svg(grid: Grid, color_of: Callable[[float], Color]) -> str:
    n_rows, n_columns = len(grid.labels), len(grid.labels[0])
    sides = [
        max(n, 1) * k for n, k in zip(grid.sizes, (n_rows, n_columns), strict=True)
    ]
    unit = _PICTURE_PIXELS / max(sides)
    height = max(_LEAST_PIXELS[0], sides[0] * unit / n_rows)
    label_pixels = max(len(x) for row in grid.labels for x in row) * _LETTER_PIXELS
    width = max(_LEAST_PIXELS[1], sides[1] * unit / n_columns)
    parts = []
    for row, labels in enumerate(grid.labels):
        for column, label in enumerate(labels):
            fill = color_of((row * n_columns + column) / (n_rows * n_columns))
            r, g, b = [round(255 * c) for c in fill[:3]]
            x, y = column * width, row * height
            fit = f' textLength="{width - 6:.0f}"' if label_pixels > width else ""
            parts.append(
                f'<g><title>{html.escape(label)}</title><rect x="{x:.0f}" y="{y:.0f}" '
                f'width="{width:.0f}" height="{height:.0f}" fill="rgb({r},{g},{b})" '
                f'stroke="#444"/><text x="{x + width / 2:.0f}" '
                f'y="{y + height / 2:.0f}" font-size="11" text-anchor="middle" '
                f'dominant-baseline="middle"{fit} lengthAdjust="spacingAndGlyphs">'
                f"{html.escape(label)}</text></g>"
            )
    title = f"<div><code>{html.escape(grid.title)}</code></div>" if grid.title else ""
    return (
        f'{title}<svg xmlns="http://www.w3.org/2000/svg" '
        f'width="{width * n_columns:.0f}" height="{height * n_rows:.0f}" '
        f'font-family="monospace">{"".join(parts)}</svg>'
    )
