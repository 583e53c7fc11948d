"""olympus.numpy.fft against NumPy's transforms in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.differential.drawing import Call, Draw
from tests.differential.entries import entries

entry = entries("numpy.fft")

NORMS = ["ortho", "forward", "backward", None]
SHAPES = [(1,), (5,), (8,), (3, 4), (2, 6)]
LONGER = SHAPES[1:]  # of one number there is no real transform back, in NumPy


def energy(x: Any, *_: Any) -> float:
    """Sums of as many numbers as there are, four times over for longer transforms."""
    found = np.abs(x.astype(complex))
    return float(np.sum(found)) * 2 + 1


def along_an_axis(kinds: str, shapes: Any = SHAPES) -> Any:
    def draw(d: Draw) -> Call:
        x = d.array(kinds, d.pick(shapes))
        lengths = [1, 3, 6, 9, None]
        options = d.options(n=lengths, axis=[d.axis(x)], norm=NORMS)
        return d.call(x, **options)

    return draw


def along_two(kinds: str) -> Any:
    def draw(d: Draw) -> Call:
        x = d.array(kinds, d.pick([(3, 4), (2, 3, 4), (2, 5)]))
        options = d.options(s=[(2, 4), (5, 3)], norm=NORMS)
        if x.ndim > 2 or d.chance():
            options |= d.options(axes=[(0, 1), (-1, 0), (-2, -1)])
        return d.call(x, **options)

    return draw


def along_several(kinds: str) -> Any:
    def draw(d: Draw) -> Call:
        x = d.array(kinds, d.pick([(5,), (3, 4), (2, 3, 4)]))
        axes = [int(a) for a in d.rng.permutation(x.ndim)[: d.integer(1, x.ndim)]]
        options = d.options(axes=[tuple(axes)], norm=NORMS)
        if "axes" in options and d.chance():
            options["s"] = tuple(d.pick([2, 3, 5]) for _ in axes)
        return d.call(x, **options)

    return draw


def moved(d: Draw) -> Call:
    x = d.array("int single complex", d.pick([(5,), (4,), (3, 4), (0,)]))
    return d.call(x, **d.options(axes=d.axes(x)))


def frequencies(d: Draw) -> Call:
    return d.call(d.integer(1, 9), **d.options(d=[0.5, 2.0, 3]))


REAL, ANY = "bool int single", "bool int single complex half"
ENTRIES = [
    *entry("fft ifft", along_an_axis(ANY), scale=energy, ulps=8),
    *entry("hfft irfft", along_an_axis(ANY, LONGER), scale=energy, ulps=8),
    *entry("rfft ihfft", along_an_axis(REAL), scale=energy, ulps=8),
    *entry("fft2 ifft2 irfft2", along_two(ANY), scale=energy, ulps=8),
    *entry("rfft2", along_two(REAL), scale=energy, ulps=8),
    *entry("fftn ifftn irfftn", along_several(ANY), scale=energy, ulps=8),
    *entry("rfftn", along_several(REAL), scale=energy, ulps=8),
    *entry("fftshift ifftshift", moved),
    *entry("fftfreq rfftfreq", frequencies),
]
