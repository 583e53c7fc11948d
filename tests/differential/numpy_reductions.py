"""Reductions, scans and methods of ufuncs of olympus.numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.differential.drawing import Call, Draw
from tests.differential.entries import as_floats, entries

entry = entries("numpy")

NUMBERS = "bool int uint float complex"


def reduction(d: Draw) -> Call:
    x = d.array(NUMBERS)
    return d.call(x, **d.options(axis=d.axes(x), keepdims=[True, False]))


def some_of(d: Draw) -> Call:
    """With `where`, and with `initial` where that is a number of the same kind."""
    x = d.array(NUMBERS)
    options = d.options(axis=d.axes(x), keepdims=[True], initial=[2])
    return d.call(x, where=d.mask(x), **options)


def mean_of_some(d: Draw) -> Call:
    x = d.array(NUMBERS, "axes")
    options = d.options(axis=d.axes(x), keepdims=[True])
    return d.call(x, where=d.mask(x), **options)


def in_a_dtype(d: Draw) -> Call:
    x = d.array("bool int uint float", "full")
    dtypes = [np.float32, np.complex64, np.float16]
    if x.dtype.kind in "biu":
        dtypes += [np.int32, np.uint8]
    return d.call(x, dtype=d.pick(dtypes), **d.options(axis=d.axes(x, several=False)))


def truth(d: Draw) -> Call:
    x = d.array(NUMBERS, values="ties zeros missing")
    options = d.options(axis=d.axes(x), keepdims=[True, False], where=lambda: d.mask(x))
    return d.call(x, **options)


def counted(d: Draw) -> Call:
    x = d.array(NUMBERS, values="ties zeros missing")
    return d.call(x, **d.options(axis=d.axes(x), keepdims=[True, False]))


def extremum(d: Draw) -> Call:
    x = d.array("bool int uint float float", values="plain ties infinite extreme")
    return d.call(x, **d.options(axis=d.axes(x), keepdims=[True, False]))


def extremum_of_some(d: Draw) -> Call:
    x = d.array("int uint float", values="plain ties infinite")
    options = d.options(axis=d.axes(x), keepdims=[True])
    return d.call(x, where=d.mask(x), initial=d.pick([0, 1, 3]), **options)


def range_of(d: Draw) -> Call:
    x = d.array("int float", values="plain ties infinite")
    return d.call(x, **d.options(axis=d.axes(x), keepdims=[True, False]))


def place(d: Draw) -> Call:
    """Of equal elements the first one counts, and NaN before all."""
    x = d.array("bool int uint float", values="plain ties infinite extreme")
    options = d.options(axis=d.axes(x, several=False), keepdims=[True, False])
    return d.call(x, **options)


def place_beside_nan(d: Draw) -> Call:
    x = d.array("int float", "full", values="ties missing infinite")
    options = d.options(axis=d.axes(x, several=False), keepdims=[True, False])
    return d.call(x, **options)


def places_beside_nan(f: Any) -> Any:
    """NumPy refuses a slice of nothing but NaN, which has the place -1 here."""

    def oracle(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        empty = np.isnan(x).all(axis=axis, keepdims=keepdims)
        worst = -np.inf if f is np.argmax else np.inf
        spot = f(np.where(np.isnan(x), worst, x), axis, keepdims=keepdims)
        return np.where(empty, -1, spot)

    return oracle


def beside_nan(d: Draw) -> Call:
    x = d.array("int float complex", values="plain missing")
    return d.call(x, **d.options(axis=d.axes(x), keepdims=[True, False]))


def extremum_beside_nan(d: Draw) -> Call:
    x = d.array("int float", "full", values="plain missing infinite")
    return d.call(x, **d.options(axis=d.axes(x), keepdims=[True, False]))


def spread(d: Draw) -> Call:
    x = d.array(NUMBERS, "axes")
    options = d.options(axis=d.axes(x), keepdims=[True])
    if d.chance():
        return d.call(x, **options, where=d.mask(x))
    # As many as there are elements or more give NaN, where NumPy divides by zero.
    key = d.pick(["ddof", "correction"])
    return d.call(x, **options, **{key: d.pick([0, 1])})


def spread_beside_nan(d: Draw) -> Call:
    x = d.array("int float complex", "axes", values="plain missing")
    options = d.options(axis=d.axes(x), keepdims=[True], ddof=[0, 1])
    return d.call(x, **options)


def scan(d: Draw) -> Call:
    x = d.array(NUMBERS, values="plain unit")
    return d.call(x, **d.options(axis=d.axes(x, several=False)))


def scan_beside_nan(d: Draw) -> Call:
    x = d.array("int float complex", values="unit missing")
    return d.call(x, **d.options(axis=d.axes(x, several=False)))


def scan_of_standard(d: Draw) -> Call:
    """The standard's scans: without `axis` for vectors alone."""
    x = d.array("int uint float complex", "axes", values="unit")
    options = d.options(include_initial=[True, False])
    if x.ndim > 1 or d.chance():
        options["axis"] = d.axis(x)
    return d.call(x, **options)


def ends(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.min(x, axis, keepdims=keepdims), np.max(x, axis, keepdims=keepdims)


# -- methods of ufuncs -----------------------------------------------------------------


def folded(kinds: str) -> Any:
    def draw(d: Draw) -> Call:
        x = d.array(kinds, "axes", "plain ties")
        options = d.options(axis=lambda: d.axis(x), keepdims=[True])
        return d.call(x, **options)

    return draw


def accumulated(kinds: str) -> Any:
    def draw(d: Draw) -> Call:
        x = d.array(kinds, "axes", "unit ties")
        return d.call(x, **d.options(axis=lambda: d.axis(x)))

    return draw


def crossed(kinds: str) -> Any:
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


def updated(f: Any, x: Any, spots: Any, change: Any) -> Any:
    """`ufunc.at`, which NumPy does in place."""
    if isinstance(x, np.ndarray) and f.__self__.__class__ is np.ufunc:
        out = x.copy()
        f(out, spots, change)
        return out
    return f(x, spots, change, inplace=False)


def methods(names: str, kinds: str, **settings: Any) -> list[Any]:
    """The methods of ufuncs of two arguments."""
    draws = {"reduce": folded, "accumulate": accumulated, "outer": crossed}
    draws |= {"reduceat": pieces}
    found = []
    for name in names.split():
        for method, draw in draws.items():
            found += entry(f"{name}.{method}", draw(kinds), **settings)
        found += entry(f"{name}.at", updates(kinds), call=updated, **settings)
    return found


UFUNCS = [
    *methods("add multiply", "int uint single complex", ulps=64, scale="args"),
    *methods("subtract", "int single", ulps=64, scale="args"),
    *methods("maximum minimum", "int uint float"),
    *methods("logical_and logical_or logical_xor", "bool int float"),
    *methods("bitwise_and bitwise_or bitwise_xor", "bool int uint"),
    *methods("logaddexp logaddexp2", "single", ulps=32, scale="args"),
    *entry("negative.at", lambda d: d.call(d.array("int float", (4,)), np.array([1])),
           call=lambda f, x, i: np.array([x[0], -x[1], *x[2:]])
           if isinstance(f.__self__, np.ufunc) else f(x, i, inplace=False)),
]  # fmt: skip
ENTRIES = [
    *entry("sum prod", reduction, ulps=64, scale="args"),
    *entry("sum prod", some_of, ulps=64, scale="args", label="where"),
    *entry("sum prod mean", in_a_dtype, ulps=64, scale="args", label="dtype"),
    *entry("mean", reduction, ulps=16, scale="args"),
    *entry("mean", mean_of_some, ulps=16, scale="args", label="where"),
    *entry("var", spread, ulps=64, scale=lambda x: 20),
    *entry("std", spread, ulps=64, scale=1.0),
    *entry("all any", truth),
    *entry("count_nonzero", counted),
    *entry("max min", extremum, ulps=0),
    *entry("max min", extremum_of_some, ulps=0, label="where"),
    *entry("minmax", extremum, oracle=ends, ulps=0),
    *entry("ptp", range_of, ulps=4),
    *entry("argmax argmin", place),
    *entry("nanargmax", place_beside_nan, oracle=places_beside_nan(np.argmax)),
    *entry("nanargmin", place_beside_nan, oracle=places_beside_nan(np.argmin)),
    *entry("nansum nanprod", beside_nan, ulps=64, scale="args"),
    *entry("nanmean", beside_nan, ulps=32, scale="args"),
    *entry("nanmax nanmin", extremum_beside_nan, ulps=0),
    *entry("nanvar", spread_beside_nan, ulps=64, scale=lambda x: 20, prepare=as_floats),
    *entry("nanstd", spread_beside_nan, ulps=64, scale=1.0, prepare=as_floats),
    *entry("cumsum cumprod", scan, ulps=64, scale="args"),
    *entry("nancumsum nancumprod", scan_beside_nan, ulps=64, scale="args"),
    *entry("cumulative_sum cumulative_prod", scan_of_standard, ulps=64, scale="args"),
    *UFUNCS,
]

ALIASES = {"amax": "max", "amin": "min"}
