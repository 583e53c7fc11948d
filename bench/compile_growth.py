"""Times how compilation grows with the number of layers, beside jax, and draws it.

usage: python -m bench.compile_growth [--models NAME,...] [--rounds N]
                                      [--picture FILE.svg] [--limit SECONDS]

Each figure is the median processor time, with that of the compiler's threads, of
tracing, lowering and compiling the gradient of a model in a fresh process, after one
program that starts the compiler. Both libraries take turns. No cache on disk is read.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench import models

LIBRARIES = ("olympus", "jax")
SIZES = {
    "mlp": (5, 20, 50, 100),
    "transformer": (2, 4, 8, 16),
    "convnet": (5, 20, 50),
    "oscillator": (5, 10, 20),
}
TITLES = {
    "mlp": "perceptron, layers",
    "transformer": "transformer, layers",
    "convnet": "convolutions, layers",
    "oscillator": "Runge and Kutta, steps",
}


def measure(library: str, model: str, size: int) -> float:
    """Seconds of processor time for one first gradient in this process."""
    lib = models.Library(library)
    loss, *args = getattr(models, model)(lib, size)
    lib.top.jit(lambda x: x + 1)(lib.np.ones(3))
    start = time.process_time()
    lib.top.jit(lib.top.grad(loss)).lower(*args).compile()
    return time.process_time() - start


def times(
    model: str, size: int, rounds: int, limit: float
) -> dict[str, list[float] | None]:
    """Seconds by library; None where a process took longer than the limit."""
    found: dict[str, list[float] | None] = {name: [] for name in LIBRARIES}
    for _ in range(rounds):
        for name in LIBRARIES:
            taken = found[name]
            if taken is not None:
                second = _in_a_process(name, model, size, limit)
                found[name] = None if second is None else [*taken, second]
    return found


def _in_a_process(library: str, model: str, size: int, limit: float) -> float | None:
    command = [sys.executable, "-m", "bench.compile_growth", "--one"]
    off = {"OLYMPUS_ENABLE_COMPILATION_CACHE": "0", "JAX_ENABLE_COMPILATION_CACHE": "0"}
    try:
        out = subprocess.run(
            [*command, library, model, str(size)],
            env=os.environ | off,
            capture_output=True,
            check=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return None
    return float(json.loads(out.stdout.splitlines()[-1]))


def slope(curve: Mapping[int, float]) -> float:
    """Seconds for each further layer, between the smallest and the largest size."""
    first, last = min(curve), max(curve)
    return (curve[last] - curve[first]) / (last - first)


# -- the picture -----------------------------------------------------------------------

_WIDTH, _HEIGHT, _MARGIN = 230, 170, 34
_COLOURS = {"olympus": "#2563eb", "jax": "#d97706"}


def picture(curves: Mapping[str, Mapping[str, Mapping[int, float]]]) -> str:
    """Curves by model and library as SVG, one panel for each model."""
    panels = [
        _panel(i * (_WIDTH + 10), TITLES[model], by_library)
        for i, (model, by_library) in enumerate(curves.items())
    ]
    width = len(curves) * (_WIDTH + 10)
    style = "text{font:11px sans-serif;fill:#666}line{stroke:#999}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_HEIGHT + 50}">'
        f"<style>{style}</style>{''.join(panels)}</svg>\n"
    )


def _panel(left: int, title: str, by_library: Mapping[str, Mapping[int, float]]) -> str:
    longest = max(n for curve in by_library.values() for n in curve)
    highest = max(s for curve in by_library.values() for s in curve.values())
    x0, y0 = left + _MARGIN, _HEIGHT + 16
    x1, y1 = left + _WIDTH - 8, 20
    parts = [
        f'<text x="{x0}" y="12">{title}</text>',
        f'<line x1="{x0}" y1="{y0}" x2="{x1}" y2="{y0}"/>',
        f'<line x1="{x0}" y1="{y0}" x2="{x0}" y2="{y1}"/>',
        f'<text x="{x1 - 16}" y="{y0 + 14}">{longest}</text>',
        f'<text x="{left}" y="{y1 + 10}">{highest:.1f} s</text>',
    ]
    for i, (name, curve) in enumerate(by_library.items()):
        points = [
            (
                x0 + (x1 - x0) * n / longest,
                y0 - (y0 - y1) * second / highest,
            )
            for n, second in curve.items()
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        colour = _COLOURS[name]
        parts += [
            f'<polyline points="{line}" fill="none" stroke="{colour}" '
            'stroke-width="2"/>',
            *[
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
                for x, y in points
            ],
            f'<text x="{x0 + 8 + 70 * i}" y="{y0 + 28}" style="fill:{colour}">'
            f"{name}</text>",
        ]
    return "".join(parts)


# -- the table -------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", nargs=3, metavar=("LIBRARY", "MODEL", "SIZE"))
    parser.add_argument("--models", default=",".join(SIZES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args(argv)
    if options.one:
        library, model, size = options.one
        print(json.dumps(measure(library, model, int(size))))
        return
    curves: dict[str, dict[str, dict[int, float]]] = {}
    print("| gradient of | | olympus | jax | ratio |\n|---|--:|--:|--:|--:|")
    for model in options.models.split(","):
        curves[model] = {name: {} for name in LIBRARIES}
        for size in SIZES[model]:
            row = times(model, size, options.rounds, options.limit)
            medians = {k: v and statistics.median(v) for k, v in row.items()}
            for name, second in medians.items():
                if second:
                    curves[model][name][size] = second
            print(_row(TITLES[model], size, medians), flush=True)
        ours, theirs = (slope(curves[model][name]) for name in LIBRARIES)
        print(
            f"| {TITLES[model]} | each further one | {ours * 1e3:.1f} ms "
            f"| {theirs * 1e3:.1f} ms | {ours / theirs:.2f} |",
            flush=True,
        )
    if options.picture:
        options.picture.write_text(picture(curves))


def _row(title: str, size: int, medians: Mapping[str, float | None]) -> str:
    ours, theirs = (medians[name] for name in LIBRARIES)
    ratio = f"{ours / theirs:.2f}" if ours and theirs else "—"
    cells = [f"{s:.2f} s" if s else "over the limit" for s in (ours, theirs)]
    return f"| {title} | {size} | {' | '.join(cells)} | {ratio} |"


if __name__ == "__main__":
    main()
