"""olympus.image against loops over samples, and sums over segments (olympus.ops)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries

# -- images ----------------------------------------------------------------------------

METHODS = ["linear", "cubic", "lanczos3", "lanczos5", "area", "cubic-pytorch"]
IMAGES = [(1,), (5,), (3, 4), (1, 4), (2, 3, 2)]


def triangle(x: float) -> float:
    return max(0.0, 1.0 - x)


def keys(x: float, slope: float = -0.5) -> float:
    """Cubic convolution: cubics that meet at 1 with a given slope, and end at 2."""
    if x <= 1:
        return (slope + 2) * x**3 - (slope + 3) * x**2 + 1
    return slope * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else 0.0


def lanczos(radius: int) -> Callable[[float], float]:
    def kernel(x: float) -> float:
        return float(np.sinc(x) * np.sinc(x / radius)) if x < radius else 0.0

    return kernel


KERNELS: dict[str, Callable[[float], float]] = {
    "linear": triangle,
    "cubic": keys,
    "cubic-pytorch": keys,
    "lanczos3": lanczos(3),
    "lanczos5": lanczos(5),
}


def shares(
    method: str, size: int, count: int, scale: float, move: float, antialias: bool
) -> Any:
    """How much each of `size` samples counts in each of `count`, one by one."""
    out = np.zeros((count, size))
    for j in range(count):
        center = (j + 0.5 - move) / scale
        if method == "cubic-pytorch" and not antialias:
            for k in range(-2, 3):  # beyond an edge, its sample is repeated
                i = int(np.floor(center - 0.5)) + k
                share = keys(abs(center - 0.5 - i), -0.75)
                out[j, min(max(i, 0), size - 1)] += share
        elif method == "area":
            ends = (j - move) / scale, (j + 1 - move) / scale
            for i in range(size):
                out[j, i] = max(0.0, min(i + 1, ends[1]) - max(i, ends[0]))
        else:
            width = max(1.0, 1 / scale) if antialias else 1.0
            for i in range(size):
                out[j, i] = KERNELS[method](abs(i + 0.5 - center) / width)
        total = out[j].sum()
        if method != "cubic-pytorch" or antialias:
            out[j] = out[j] / total if abs(total) > 1e-4 else 0.0
        if method != "area" and not 0 <= center <= size:
            out[j] = 0.0
    return out


def resized(x: Any, shape: Any, method: str = "linear", antialias: bool = True) -> Any:
    x = np.asarray(x)
    for axis, (size, count) in enumerate(zip(x.shape, shape, strict=True)):
        if method == "nearest":
            places = [(2 * j + 1) * size // (2 * count) for j in range(count)]
            x = np.take(x, places, axis)
        elif size != count:
            found = shares(method, size, count, count / size, 0.0, antialias)
            x = along(found, x, axis)
    return x if method == "nearest" or x.dtype.kind in "fc" else x.astype(float)


def along(weights: Any, x: Any, axis: int) -> Any:
    return np.moveaxis(np.tensordot(weights, x, (1, axis)), 0, axis)


def scale_axes(
    x: Any,
    shape: Any,
    axes: Any,
    scale: Any,
    translation: Any,
    method: str,
    antialias: bool = True,
) -> Any:
    x = np.asarray(x)
    x = x if x.dtype.kind in "fc" else x.astype(float)
    for axis, by, move in zip(axes, scale, translation, strict=True):
        found = shares(method, x.shape[axis], shape[axis], by, move, antialias)
        x = along(found, x, axis)
    return x


def new_sizes(d: Draw) -> Call:
    x = d.array("int float single complex", d.pick(IMAGES))
    shape = tuple(n if d.chance(0.3) else d.integer(1, 7) for n in x.shape)
    return d.call(
        x, shape, d.pick([*METHODS, "nearest"]), **d.options(antialias=[True, False])
    )


def frames(d: Draw) -> Call:
    x = d.array("int single complex", d.pick(IMAGES))
    moved = sorted(d.rng.permutation(x.ndim)[: d.integer(1, x.ndim)].tolist())
    shape = tuple(d.integer(1, 7) if i in moved else n for i, n in enumerate(x.shape))
    by, move = (
        d.rng.uniform(low, high, len(moved)).astype(np.float32)
        for low, high in ((0.4, 2.5), (-1.5, 1.5))
    )
    options = d.options(antialias=[True, False])
    return d.call(x, shape, tuple(moved), by, move, d.pick(METHODS), **options)


# -- segments --------------------------------------------------------------------------


def segments(kinds: str) -> Callable[[Draw], Call]:
    """Numbers of segments are in any order; some are of none and are left out."""

    def draw(d: Draw) -> Call:
        x = d.array(kinds, d.pick([(0,), (1,), (6,), (5, 2), (4, 2, 3)]))
        count = d.pick([1, 3, 4])
        ids = d.rng.integers(-2, count + 2, x.shape[:1])
        options: dict[str, Any] = d.options(
            bucket_size=[1, 2, 9], mode=["fill", "drop", "clip", "promise_in_bounds"]
        )
        if options.get("mode") == "promise_in_bounds":
            ids = ids.clip(0, count - 1)
        if d.chance(0.3):
            ids, options["indices_are_sorted"] = np.sort(ids), True
        return d.call(x, ids.astype(d.dtype("int")), count, **options)

    return draw


def in_turn(combine: Any, empty: Callable[[Any], Any]) -> Callable[..., Any]:
    """Rows put into their segments one after the other."""

    def oracle(x: Any, ids: Any, count: int, mode: str = "fill", **options: Any) -> Any:
        out = np.full((count, *x.shape[1:]), empty(x.dtype), x.dtype)
        for row, i in zip(x, ids, strict=True):
            i = min(max(i, 0), count - 1) if mode == "clip" else i
            if 0 <= i < count:
                out[i] = combine(out[i], row)
        return out

    return oracle


def least(dtype: Any) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def greatest(dtype: Any) -> Any:
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


image, ops = entries("image"), entries("ops")
NUMBERS, ORDERED = "int uint float complex", "int uint float"
ENTRIES = [
    *image("resize", new_sizes, oracle=resized, ulps=64, scale="args"),
    *image("scale_and_translate", frames, oracle=scale_axes, ulps=1024, scale="args"),
    *ops(
        "segment_sum",
        segments(NUMBERS),
        oracle=in_turn(np.add, lambda _: 0),
        ulps=8,
        scale="args",
    ),
    *ops(
        "segment_prod",
        segments(NUMBERS),
        oracle=in_turn(np.multiply, lambda _: 1),
        ulps=16,
    ),
    *ops("segment_max", segments(ORDERED), oracle=in_turn(np.maximum, least)),
    *ops("segment_min", segments(ORDERED), oracle=in_turn(np.minimum, greatest)),
]
