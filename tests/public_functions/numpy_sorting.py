"""Sorting, searching and sets of olympus.numpy."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import olympus.numpy as jnp
from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries, in_common_dtype
from tests.public_functions.points import M, X, Z
from tests.public_functions.reasons import DISCRETE, NOT_IN_JAX

entry = entries("numpy")

REAL = "bool int uint float"
ANY = "bool int uint float complex"
PARTS = ["return_index", "return_inverse", "return_counts"]
MANY = "plain ties infinite extreme zeros"


def along(kinds: str, values: str) -> Any:
    def draw(d: Draw) -> Call:
        x = d.array(kinds, "axes", values)
        axes = [None, d.axis(x), d.axis(x)]
        return d.call(x, **d.options(axis=axes, descending=[True, False]))

    return draw


def arranged(x: Any, axis: Any = -1, descending: bool = False) -> Any:
    """`sort`; descending it is the reverse of ascending, with NaN in front."""
    x, axis = (x.ravel(), 0) if axis is None else (x, axis)
    out = np.sort(x, axis)
    return np.flip(out, axis) if descending else out


def order(x: Any, axis: Any = -1, descending: bool = False) -> Any:
    """A stable `argsort`: equal elements keep their order, descending too."""
    x, axis = (x.ravel(), 0) if axis is None else (x, axis)
    if not descending:
        return np.argsort(x, axis, stable=True)
    backwards = np.argsort(np.flip(x, axis), axis, stable=True)
    return x.shape[axis] - 1 - np.flip(backwards, axis)


def keys(d: Draw) -> Call:
    shape = d.pick([(5,), (3, 4), (0,), (1,)])
    found = tuple(d.array(REAL, shape, "ties missing") for _ in range(d.integer(1, 3)))
    return d.call(found, **d.options(axis=[-1, 0]))


def parted(d: Draw) -> Call:
    x = d.array(REAL, "full", "distinct ties missing")
    axis = d.axis(x)
    n = x.shape[axis]
    return d.call(x, d.integer(-n, n - 1), axis=axis)


def at_its_place(f: Any, x: Any, kth: int, axis: int = -1) -> Any:
    """What every partition has in common: the element, and the sets beside it.

    `argpartition` gives positions, of which the elements are taken.
    """
    out = f(x, kth, axis=axis)
    lib = np if isinstance(out, np.ndarray) else _jnp(f)
    if "arg" in f.__name__:
        out = lib.take_along_axis(lib.asarray(x), out, axis)
    kth %= x.shape[axis]
    below = lib.sort(lib.take(out, np.arange(kth), axis), axis)
    above = lib.sort(lib.take(out, np.arange(kth + 1, x.shape[axis]), axis), axis)
    return below, lib.take(out, kth, axis), above


def _jnp(f: Any) -> Any:
    package = f.__module__.split(".")[0]
    return importlib.import_module(f"{package}.numpy")


def largest_few(d: Draw) -> Call:
    x = d.array("int uint float", "full", "plain distinct ties")
    options = d.options(axis=lambda: d.axis(x), mode=["largest", "smallest"])
    return d.call(x, d.integer(1, x.shape[options.get("axis", -1)]), **options)


def few_largest(x: Any, k: int, axis: int = -1, mode: str = "largest") -> Any:
    spots = order(x, axis, descending=False)
    if mode == "largest":  # of equal elements the first ones
        spots = order(-x.astype(np.float64), axis)
    spots = np.take(spots, np.arange(k), axis)
    return np.take_along_axis(x, spots, axis), spots


def complex_order(d: Draw) -> Call:
    return d.call(d.array("int float complex", "axes", "plain ties"))


# -- searches --------------------------------------------------------------------------


def nonzeros(d: Draw) -> Call:
    return d.call(d.array(ANY, "axes", "ties zeros missing"))


def nonzeros_of_size(d: Draw) -> Call:
    x = d.array(ANY, "axes", "ties zeros")
    return d.call(x, size=d.pick([0, 2, 20]), **d.options(fill_value=[-1, 7]))


def padded(found: Any, size: int, fill: Any = 0) -> Any:
    """The first of some positions, filled up."""
    found = np.asarray(found)[:size]
    rest = np.full((size - len(found), *found.shape[1:]), fill)
    return np.concatenate([found, rest]).astype(found.dtype)


def nonzero_of_size(x: Any, size: int, fill_value: Any = 0) -> Any:
    return tuple(padded(i, size, fill_value) for i in np.nonzero(x))


def argwhere_of_size(x: Any, size: int, fill_value: Any = 0) -> Any:
    return padded(np.argwhere(x), size, fill_value)


def flatnonzero_of_size(x: Any, size: int, fill_value: Any = 0) -> Any:
    return padded(np.flatnonzero(x), size, fill_value)


# -- sets ------------------------------------------------------------------------------


def collection(d: Draw) -> Call:
    x = d.array(ANY, "any", "ties missing zeros")
    flags = {name: [True] for name in PARTS}
    options = d.options(**flags, equal_nan=[True, False])
    if x.ndim and d.chance(0.3):
        x = d.array("bool int float", x.shape, "ties")
        options["axis"] = d.axis(x)
    return d.call(x, **options)


def collection_of_size(d: Draw) -> Call:
    x = d.array("int uint float", "full", "ties")
    flags = {name: [True] for name in PARTS}
    size = d.pick([1, 3, 6])
    return d.call(x, size=size, **d.options(**flags, fill_value=[-2, 1]))


def unique_of_size(
    x: Any,
    size: int,
    fill_value: Any = None,
    return_inverse: bool = False,
    **flags: Any,
) -> Any:
    """`unique`, the first of them; the rest is filled with the smallest element."""
    found = np.unique(x, return_inverse=return_inverse, **flags)
    outs = list(found) if isinstance(found, tuple) else [found]
    fill = fill_value if fill_value is not None else (outs[0][0] if x.size else 0)
    outs[0] = padded(outs[0], size, np.asarray(fill).astype(x.dtype))
    if flags.get("return_index"):
        outs[1] = padded(outs[1], size, outs[1][0] if len(outs[1]) else 0)
    if flags.get("return_counts"):
        outs[-1] = padded(outs[-1], size, 0)
    return tuple(outs) if len(outs) > 1 else outs[0]


def alone(d: Draw) -> Call:
    return d.call(d.array(ANY, "any", "ties missing"))


def two_sets(d: Draw) -> Call:
    x, y = (d.array("bool int uint float", "axes", "ties plain") for _ in range(2))
    return d.call(x, y)


def two_sets_of_size(d: Draw) -> Call:
    x, y = (d.array("int", "full", "ties") for _ in range(2))
    return d.call(x, y, size=d.pick([0, 2, 8]), **d.options(fill_value=[-5, 9]))


def intersection(d: Draw) -> Call:
    x, y = two_sets(d).args
    if d.chance(0.3):
        x, y = np.unique(x), np.unique(y)
        return d.call(x, y, assume_unique=True, **d.options(return_indices=[True]))
    return d.call(x, y, **d.options(return_indices=[True]))


def intersection_of_size(d: Draw) -> Call:
    call = two_sets_of_size(d)
    return call._replace(kwargs=call.kwargs | d.options(return_indices=[True]))


def of_size(f: Any) -> Any:
    """Filled with the first element, or a zero, where no other fill is given."""

    def oracle(x: Any, y: Any, size: int, fill_value: Any = None, **flags: Any) -> Any:
        found = f(x, y, **flags)
        if isinstance(found, tuple):
            values, *places = found
            ends = zip(places, (x.size, y.size), strict=True)
            rest = [padded(i, size, n) for i, n in ends]
            return filled(values, size, fill_value), *rest
        if f is np.setdiff1d and fill_value is None:
            fill_value = 0
        return filled(found, size, fill_value)

    def filled(found: Any, size: int, fill_value: Any) -> Any:
        first = found[0] if len(found) else 0
        return padded(found, size, first if fill_value is None else fill_value)

    return oracle


def members(d: Draw) -> Call:
    x = d.array("bool int uint float", "any", "ties plain missing")
    y = d.array("bool int float", "any", "ties missing")
    methods = ["auto", "compare_all", "binary_search", "sort"]
    return d.call(x, y, **d.options(invert=[True, False], method=methods))


def is_in(x: Any, y: Any, invert: bool = False, method: str = "") -> Any:
    return np.isin(x, y, invert=invert)


ENTRIES = [
    *entry(
        "sort",
        along(ANY, MANY),
        oracle=arranged,
        ulps=0,
        smooth=[(M,), (lambda x: jnp.sort(x, axis=0), M)],
        types="v; a",
        standard="x, /, *, axis=-1, descending=False, stable=True: real -> same",
    ),
    *entry(
        "argsort",
        along(ANY, MANY),
        oracle=order,
        smooth=DISCRETE,
        types="v; v, dtype=D",
        standard="x, /, *, axis=-1, descending=False, stable=True: real -> index",
    ),
    *entry("lexsort", keys, smooth=DISCRETE, types="[v, w]"),
    *entry(
        "partition",
        parted,
        call=at_its_place,
        ulps=0,
        smooth=(lambda x: jnp.partition(x, 2), X),
        types="v, 1",
    ),
    *entry(
        "argpartition", parted, call=at_its_place, ulps=0, smooth=DISCRETE, types="v, 1"
    ),
    *entry(
        "top_k",
        largest_few,
        oracle=few_largest,
        ulps=0,
        smooth=(lambda x: jnp.top_k(x, 2)[0], M),
        unrecorded=NOT_IN_JAX,
    ),
    *entry("sort_complex", complex_order, ulps=0, smooth=(Z,), types="v"),
    *entry(
        "nonzero",
        nonzeros,
        jit=False,
        smooth=DISCRETE,
        types="v, size=2; v, size=2, fill_value=b",
        standard="x, /",
    ),
    *entry(
        "argwhere flatnonzero", nonzeros, jit=False, smooth=DISCRETE, types="v, size=2"
    ),
    *entry("where", nonzeros, jit=False, label="positions"),
    *entry("nonzero where", nonzeros_of_size, oracle=nonzero_of_size, label="size"),
    *entry("argwhere", nonzeros_of_size, oracle=argwhere_of_size, label="size"),
    *entry("flatnonzero", nonzeros_of_size, oracle=flatnonzero_of_size, label="size"),
    *entry(
        "unique",
        collection,
        jit=False,
        ulps=0,
        smooth=DISCRETE,
        types=(
            "v, size=2; v, return_index=True, return_counts=True, size=2; "
            "v, return_inverse=True, size=2, fill_value=2"
        ),
    ),
    *entry("unique", collection_of_size, oracle=unique_of_size, ulps=0, label="size"),
    *entry(
        "unique_all unique_counts unique_inverse",
        alone,
        jit=False,
        ulps=0,
        smooth=DISCRETE,
        types="v, size=3",
        standard="x, /",
    ),
    *entry(
        "unique_values",
        alone,
        oracle=lambda x: np.unique(x, equal_nan=False),
        jit=False,
        ulps=0,
        smooth=DISCRETE,
        types="v, size=2",
        standard="x, /",
    ),
    *entry(
        "union1d setdiff1d",
        two_sets,
        prepare=in_common_dtype,
        jit=False,
        ulps=0,
        kinds=False,
        smooth=DISCRETE,
        types="v, w, size=4; v, w, size=4, fill_value=3",
    ),
    *entry(
        "setxor1d",
        two_sets,
        prepare=in_common_dtype,
        jit=False,
        ulps=0,
        kinds=False,
        smooth=DISCRETE,
        types="v, w, size=4",
    ),
    *entry(
        "intersect1d",
        intersection,
        prepare=in_common_dtype,
        jit=False,
        ulps=0,
        smooth=DISCRETE,
        types="v, w, size=4",
    ),
    *entry("union1d", two_sets_of_size, oracle=of_size(np.union1d), label="size"),
    *entry("setdiff1d", two_sets_of_size, oracle=of_size(np.setdiff1d), label="size"),
    *entry("setxor1d", two_sets_of_size, oracle=of_size(np.setxor1d), label="size"),
    *entry(
        "intersect1d",
        intersection_of_size,
        oracle=of_size(np.intersect1d),
        label="size",
    ),
    *entry(
        "isin",
        members,
        oracle=is_in,
        prepare=in_common_dtype,
        smooth=DISCRETE,
        types="v, w",
        standard="x1, x2, /, *, invert=False",
    ),
]
