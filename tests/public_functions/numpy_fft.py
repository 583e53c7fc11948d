"""olympus.numpy.fft against NumPy's transforms in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

import olympus.numpy as jnp
from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries
from tests.public_functions.points import TALL, X, Z, parts
from tests.public_functions.reasons import CONSTANT

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


def draw_moved_axes(d: Draw) -> Call:
    x = d.array("int single complex", d.pick([(5,), (4,), (3, 4), (0,)]))
    return d.call(x, **d.options(axes=d.axes(x)))


def frequencies(d: Draw) -> Call:
    return d.call(d.integer(1, 9), **d.options(d=[0.5, 2.0, 3]))


REAL, ANY = "bool int single", "bool int single complex half"
ENTRIES = [
    *entry(
        "fft ifft",
        along_an_axis(ANY),
        scale=energy,
        ulps=8,
        smooth=(Z,),
        types="v",
        standard="x, /, *, n=None, axis=-1, norm='backward'",
    ),
    *entry(
        "hfft",
        along_an_axis(ANY, LONGER),
        scale=energy,
        ulps=8,
        smooth=(Z,),
        types="v",
        standard="x, /, *, n=None, axis=-1, norm='backward'",
    ),
    *entry(
        "irfft",
        along_an_axis(ANY, LONGER),
        scale=energy,
        ulps=8,
        smooth=[(Z,), (lambda x: jnp.fft.irfft(x, 5, norm="ortho"), Z)],
        types="v",
        standard="x, /, *, n=None, axis=-1, norm='backward'",
    ),
    *entry(
        "rfft ihfft",
        along_an_axis(REAL),
        scale=energy,
        ulps=8,
        smooth=[(X,), (X[:4],)],
        types="v",
        standard="x, /, *, n=None, axis=-1, norm='backward'",
    ),
    *entry(
        "fft2 ifft2 irfft2",
        along_two(ANY),
        scale=energy,
        ulps=8,
        smooth=(parts(2, 3),),
        types="m",
    ),
    *entry("rfft2", along_two(REAL), scale=energy, ulps=8, smooth=(TALL,), types="m"),
    *entry(
        "fftn ifftn irfftn",
        along_several(ANY),
        scale=energy,
        ulps=8,
        smooth=(parts(2, 3),),
        types="v",
        standard="x, /, *, s=None, axes=None, norm='backward'",
    ),
    *entry(
        "rfftn",
        along_several(REAL),
        scale=energy,
        ulps=8,
        smooth=(TALL,),
        types="v",
        standard="x, /, *, s=None, axes=None, norm='backward'",
    ),
    *entry(
        "fftshift ifftshift",
        draw_moved_axes,
        smooth=(X,),
        types="v",
        standard="x, /, *, axes=None",
    ),
    *entry(
        "fftfreq rfftfreq",
        frequencies,
        smooth=CONSTANT,
        types="4, dtype=D; 4, a",
        standard="n, /, *, d=1.0, dtype=None, device=None",
    ),
]
