"""Methods of ufuncs of olympus.numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries

entry = entries("numpy")


# -- methods of ufuncs -----------------------------------------------------------------


def draw_reduce(kinds: str) -> Any:
    def draw(d: Draw) -> Call:
        x = d.array(kinds, "axes", "plain ties")
        options = d.options(axis=lambda: d.axis(x), keepdims=[True])
        return d.call(x, **options)

    return draw


def draw_accumulate(kinds: str) -> Any:
    def draw(d: Draw) -> Call:
        x = d.array(kinds, "axes", "unit ties")
        return d.call(x, **d.options(axis=lambda: d.axis(x)))

    return draw


def draw_outer(kinds: str) -> Any:
    def draw(d: Draw) -> Call:
        dtype = d.dtype(kinds)
        shapes = [d.pick([(), (3,), (2, 2), (0,)]) for _ in range(2)]
        return d.call(*(d.filled(dtype, shape, "plain") for shape in shapes))

    return draw


def pieces(kinds: str) -> Any:
    def draw(d: Draw) -> Call:
        x = d.array(kinds, d.pick([(5,), (6, 2)]), "plain ties")
        axis = d.axis(x)
        starts = d.rng.integers(0, x.shape[axis], d.integer(1, 4))
        return d.call(x, starts.astype(np.int32), axis=axis)

    return draw


def updates(kinds: str) -> Any:
    def draw(d: Draw) -> Call:
        dtype = d.dtype(kinds)
        x = d.filled(dtype, d.pick([(5,), (4, 2)]), "plain")
        spots = d.rng.integers(-len(x), len(x), 3).astype(np.int32)
        change = d.pick([(), (3, *x.shape[1:])])
        return d.call(x, spots, d.filled(dtype, change, "plain"))

    return draw


def update_at(f: Any, x: Any, spots: Any, change: Any) -> Any:
    """`ufunc.at`, which NumPy does in place."""
    if isinstance(x, np.ndarray) and f.__self__.__class__ is np.ufunc:
        out = x.copy()
        f(out, spots, change)
        return out
    return f(x, spots, change, inplace=False)


def methods(names: str, kinds: str, **settings: Any) -> list[Any]:
    """The methods of ufuncs of two arguments."""
    draws = {"reduce": draw_reduce, "accumulate": draw_accumulate, "outer": draw_outer}
    draws |= {"reduceat": pieces}
    found = []
    for name in names.split():
        for method, draw in draws.items():
            found += entry(f"{name}.{method}", draw(kinds), **settings)
        found += entry(f"{name}.at", updates(kinds), call=update_at, **settings)
    return found


ENTRIES = [
    *methods("add multiply", "int uint single complex", ulps=64, scale="args"),
    *methods("subtract", "int single", ulps=64, scale="args"),
    *methods("maximum minimum", "int uint float"),
    *methods("logical_and logical_or logical_xor", "bool int float"),
    *methods("bitwise_and bitwise_or bitwise_xor", "bool int uint"),
    *methods("logaddexp logaddexp2", "single", ulps=32, scale="args"),
    *entry(
        "negative.at",
        lambda d: d.call(d.array("int float", (4,)), np.array([1])),
        call=lambda f, x, i: (
            np.array([x[0], -x[1], *x[2:]])
            if isinstance(f.__self__, np.ufunc)
            else f(x, i, inplace=False)
        ),
    ),
    *entry("add.reduce add.accumulate", types="v; v, dtype=D"),
    *entry(
        """multiply.reduce multiply.accumulate subtract.reduce subtract.accumulate
        maximum.reduce maximum.accumulate logical_and.reduce logical_and.accumulate
        bitwise_or.reduce bitwise_or.accumulate""",
        types="v",
    ),
    *entry("add.outer", types="v, w"),
    *entry("add.at multiply.at", types="v, np.array([0, 1]), b, inplace=False"),
    *entry("add.reduceat", types="v, np.array([0, 1])"),
]
