"""Choices, functions along axes, differences and bits of olympus.numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

import olympus.numpy as jnp
from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries
from tests.public_functions.points import PLACES, M, N, SharedCall, X
from tests.public_functions.reasons import DISCRETE

entry = entries("numpy")
ANY = "bool int uint float complex"
SHAPES = [(), (0,), (1,), (5,), (3, 4), (1, 4), (2, 0), (2, 3, 2)]


# -- choosing --------------------------------------------------------------------------


def by_conditions(d: Draw) -> Call:
    shape = d.pick([(4,), (2, 3), ()])
    n = d.integer(1, 3)
    conditions = [d.array("bool", shape) for _ in range(n)]
    choices = [d.array("single int", shape) for _ in range(n)]
    return d.call(conditions, choices, **d.options(default=[0, 2.5, -1]))


def by_pieces(d: Draw) -> Call:
    x = d.array("single", d.pick([(5,), (2, 3), ()]))
    conditions = [np.asarray(x < 0), np.asarray(x > 1)]
    functions: list[Any] = [lambda v: -v, 3.5]
    if d.chance():
        functions.append(lambda v: v * 2)
    return d.call(x, conditions, functions)


def by_number(d: Draw) -> Call:
    choices = [d.array("int single", (3,)) for _ in range(3)]
    mode = d.pick(["wrap", "clip"])
    return d.call(d.array("int", (3,), "plain"), choices, mode=mode)


def where_it_holds(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(5,), (4, 5)]))
    axis = d.pick([None, 0, -1]) if x.ndim > 1 else 0
    n = x.size if axis is None else x.shape[axis]
    return d.call(d.array("bool", (d.pick([n, n - 1]),)), x, axis=axis)


def taken_out(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(5,), (2, 3)]))
    return d.call(d.array("bool", x.shape), x)


# -- along axes ------------------------------------------------------------------------


def by_vectors(d: Draw) -> Call:
    x = d.array("int single", d.pick([(5,), (3, 4), (2, 3, 2)]))
    f = d.pick([lambda v: v[::-1] * 2, lambda v: v.sum(), lambda v: v[:, None] * v])
    return d.call(f, d.axis(x), x)


def over_axes(d: Draw) -> Call:
    x = d.array("int single", d.pick([(3, 4), (2, 3, 2)]))
    return d.call(lambda v, axis: v.sum(axis), x, d.pick([0, (0, 1), [-1]]))


# -- differences and bits --------------------------------------------------------------


def differences(d: Draw) -> Call:
    x = d.array(ANY, d.pick([(5,), (3, 4), (1,), (2, 0)]))
    options = d.options(n=[0, 1, 2, 4], axis=[0, -1])
    if x.ndim == 1 and x.dtype.kind in "if":
        options |= d.options(prepend=[0, np.ones(2, x.dtype)], append=[1])
    return d.call(x, **options)


def flat_differences(d: Draw) -> Call:
    x = d.array("int single", d.pick([(5,), (2, 3), (1,), (0,)]))
    return d.call(x, **d.options(to_end=[1, np.ones(2, np.int8)], to_begin=[-1]))


def slopes(d: Draw) -> Call:
    x = d.array("int single complex", d.pick([(5,), (3, 4), (2, 3, 2)]))
    if x.dtype.kind == "i":
        x = x.astype(np.int32)  # NumPy takes differences in the narrow dtype
    axis = d.pick([None, 0, -1])
    if d.chance(0.3):
        places = np.cumsum(d.rng.uniform(0.5, 2, x.shape[0])).astype(np.float32)
        return d.call(x, places, axis=0)
    return d.call(x, *d.pick([(), (2,), (0.5,)]), axis=axis)


def bits(d: Draw) -> Call:
    x = d.array("bool int", d.pick([(5,), (3, 9), (8,), (0,)]), "ties")
    return d.call(x, **d.options(axis=[None, 0, -1], bitorder=["big", "little"]))


def from_bits(d: Draw) -> Call:
    x = d.filled(np.uint8, d.pick([(3,), (2, 3), (0,)]), "extreme")
    options = d.options(axis=[None, 0, -1], bitorder=["big", "little"])
    # NumPy leaves the bits beyond an empty array as they are in memory.
    counts = [None, 3, 0, -2, 30] if x.size else [None, 0]
    return d.call(x, **options, **d.options(count=counts))


# -- places ----------------------------------------------------------------------------


def flat_places(d: Draw) -> Call:
    dims = d.pick([(3, 4), (2, 3, 2), (5,)])
    mode = d.pick(["wrap", "clip"])
    rows = tuple(d.array("int", (4,), "plain").astype(np.int32) for _ in dims)
    return d.call(rows, dims, mode, **d.options(order=["C", "F"]))


def draw_unravel_index(d: Draw) -> Call:
    dims = d.pick([(3, 4), (2, 3, 2), (5,)])
    n = int(np.prod(dims))
    return d.call(d.rng.integers(0, n, d.pick([(), (4,)])).astype(np.int32), dims)


ENTRIES = [
    *entry(
        "select",
        by_conditions,
        smooth=(lambda x, y: jnp.select([M > 0, N > 0], [x, x * y], y), M, N),
        types=(
            "[np.array([True, False, True])], [v], w; "
            "[np.array([True, False, True])] * 2, [v, w]; "
            "[np.array([True, False, True])] * 2, [v, w], 1.5; [v], [w]"
        ),
    ),
    *entry(
        "piecewise",
        by_pieces,
        smooth=(
            lambda x: jnp.piecewise(x, [x < 0, x >= 0], [lambda v: v * v, jnp.sin]),
            M,
        ),
        types=(
            "v, [np.array([True, False, True])], [b, 3]; "
            "v, [np.array([True, False, True])], [lambda x: x, 2.5]"
        ),
    ),
    *entry(
        "choose",
        by_number,
        smooth=(lambda x, y: jnp.choose(PLACES // 2, [x, y]), M[:, 0], N[:, 0]),
        types=("np.array([0, 1, 1]), [v, w], mode='wrap'; v, [1, 2, 3], mode='clip'"),
    ),
    *entry(
        "compress",
        where_it_holds,
        jit=False,
        smooth=(SharedCall(lambda f, x: f(np.arange(5) > 2, x)), X),
        types="v > 0, w, size=2",
    ),
    *entry(
        "extract",
        taken_out,
        jit=False,
        smooth=(SharedCall(lambda f, x: f(np.arange(5) > 2, x)), X),
        types=(
            "v > 0, w, size=2; np.array([True, False, True]), v, fill_value=2, size=2"
        ),
    ),
    *entry(
        "apply_along_axis",
        by_vectors,
        ulps=16,
        scale="args",
        smooth=(lambda x: jnp.apply_along_axis(jnp.cumsum, 0, x), M),
        types="lambda x: x.sum(), 0, m",
    ),
    *entry(
        "apply_over_axes",
        over_axes,
        ulps=16,
        scale="args",
        smooth=(lambda x: jnp.apply_over_axes(jnp.sum, x, [0]), M),
        types="jnp.sum, m, (0, 1)",
    ),
    *entry(
        "diff",
        differences,
        ulps=16,
        scale="args",
        smooth=(X,),
        types="v; v, 2; v, prepend=w, append=1",
        standard="x, /, *, axis=-1, n=1, prepend=None, append=None: numeric -> same",
    ),
    *entry("ediff1d", flat_differences, scale="args", smooth=(X,), types="v; v, w"),
    *entry("gradient", slopes, ulps=16, scale="args", smooth=(X,), types="v; v, w"),
    *entry("packbits", bits, smooth=DISCRETE, types="v, 0"),
    *entry("unpackbits", from_bits, smooth=DISCRETE, types="v, 0"),
    *entry(
        "ravel_multi_index",
        flat_places,
        smooth=DISCRETE,
        types="(v, w), (3, 4), mode='clip'",
    ),
    *entry(
        "unravel_index",
        draw_unravel_index,
        smooth=DISCRETE,
        types="a, (3, 4); v, (3, 4)",
    ),
]
