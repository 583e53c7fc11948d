"""Reductions and scans of olympus.numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import as_floats, entries
from tests.public_functions.points import M, SharedCall, X
from tests.public_functions.reasons import DISCRETE, NOT_IN_JAX

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


def draw_count(d: Draw) -> Call:
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


def draw_spread_beside_nan(d: Draw) -> Call:
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


OF_ALL_AND_ROWS = [(M,), (SharedCall(lambda f, x: f(x, axis=1)), M)]
ENTRIES = [
    *entry(
        "sum",
        reduction,
        ulps=64,
        scale="args",
        smooth=OF_ALL_AND_ROWS,
        types=(
            "v; a; v, axis=0; v, dtype=D; v, initial=2; v, initial=2.5; "
            "v, initial=a; v, where=np.array([True, False, True]); "
            "v, where=w; v, promote_integers=False"
        ),
        standard="x, /, *, axis=None, dtype=None, keepdims=False: numeric -> wide",
    ),
    *entry(
        "prod",
        reduction,
        ulps=64,
        scale="args",
        smooth=OF_ALL_AND_ROWS,
        types=(
            "v; v, axis=0; v, dtype=D; v, initial=2; v, initial=2.5; "
            "v, where=np.array([True, False, True]); "
            "v, promote_integers=False"
        ),
        standard="x, /, *, axis=None, dtype=None, keepdims=False: numeric -> wide",
    ),
    *entry("sum prod", some_of, ulps=64, scale="args", label="where"),
    *entry("sum prod mean", in_a_dtype, ulps=64, scale="args", label="dtype"),
    *entry(
        "mean",
        reduction,
        ulps=16,
        scale="args",
        smooth=OF_ALL_AND_ROWS,
        types=(
            "v; a; v, axis=0; v, dtype=D; "
            "v, where=np.array([True, False, True]); v, where=w"
        ),
        standard="x, /, *, axis=None, keepdims=False: float -> same",
    ),
    *entry("mean", mean_of_some, ulps=16, scale="args", label="where"),
    *entry(
        "var",
        spread,
        ulps=64,
        scale=lambda x: 20,
        smooth=OF_ALL_AND_ROWS,
        types=(
            "v; v, axis=0; v, dtype=D; "
            "v, where=np.array([True, False, True]); v, ddof=1"
        ),
        standard=(
            "x, /, *, axis=None, correction=0.0, keepdims=False: real_float -> same"
        ),
    ),
    *entry(
        "std",
        spread,
        ulps=64,
        scale=1.0,
        smooth=OF_ALL_AND_ROWS,
        types=(
            "v; v, axis=0; v, dtype=D; "
            "v, where=np.array([True, False, True]); v, ddof=1"
        ),
        standard=(
            "x, /, *, axis=None, correction=0.0, keepdims=False: real_float -> same"
        ),
    ),
    *entry(
        "all",
        truth,
        smooth=DISCRETE,
        types="v; v, axis=0; m, 1, keepdims=True",
        standard="x, /, *, axis=None, keepdims=False: bool numeric -> bool",
    ),
    *entry(
        "any",
        truth,
        smooth=DISCRETE,
        types=(
            "v; v, axis=0; m, 1, keepdims=True; "
            "v, where=np.array([True, False, True]); v, where=w"
        ),
        standard="x, /, *, axis=None, keepdims=False: bool numeric -> bool",
    ),
    *entry(
        "count_nonzero",
        draw_count,
        smooth=DISCRETE,
        types="v; v, axis=0",
        standard="x, /, *, axis=None, keepdims=False: bool numeric -> index",
    ),
    *entry(
        "max",
        extremum,
        ulps=0,
        smooth=OF_ALL_AND_ROWS,
        types=(
            "v; v, axis=0; m, 1, keepdims=True; v, initial=2; "
            "v, initial=2.5; v, initial=a; "
            "v, where=np.array([True, False, True]), initial=1"
        ),
        standard="x, /, *, axis=None, keepdims=False: real -> same",
    ),
    *entry(
        "min",
        extremum,
        ulps=0,
        smooth=OF_ALL_AND_ROWS,
        types=(
            "v; v, axis=0; m, 1, keepdims=True; v, initial=2; "
            "v, initial=2.5; "
            "v, where=np.array([True, False, True]), initial=1"
        ),
        standard="x, /, *, axis=None, keepdims=False: real -> same",
    ),
    *entry("max min", extremum_of_some, ulps=0, label="where"),
    *entry("minmax", extremum, oracle=ends, ulps=0, smooth=(M,), unrecorded=NOT_IN_JAX),
    *entry(
        "ptp",
        range_of,
        ulps=4,
        smooth=OF_ALL_AND_ROWS,
        types="v; v, axis=0",
    ),
    *entry(
        "argmax",
        place,
        smooth=DISCRETE,
        types="v; a; m, 1, keepdims=True",
        standard="x, /, *, axis=None, keepdims=False: real -> index",
    ),
    *entry(
        "argmin",
        place,
        smooth=DISCRETE,
        types="v; m, 1, keepdims=True",
        standard="x, /, *, axis=None, keepdims=False: real -> index",
    ),
    *entry(
        "nanargmax",
        place_beside_nan,
        oracle=places_beside_nan(np.argmax),
        smooth=DISCRETE,
        types="v",
    ),
    *entry(
        "nanargmin",
        place_beside_nan,
        oracle=places_beside_nan(np.argmin),
        smooth=DISCRETE,
        types="v",
    ),
    *entry(
        "nansum",
        beside_nan,
        ulps=64,
        scale="args",
        smooth=[(M,)],
        types="v; a; v, axis=0; v, dtype=D; v, initial=2.5",
    ),
    *entry(
        "nanprod",
        beside_nan,
        ulps=64,
        scale="args",
        smooth=[(M,)],
        types="v; a; v, axis=0",
    ),
    *entry(
        "nanmean",
        beside_nan,
        ulps=32,
        scale="args",
        smooth=[(M,)],
        types="v; a; v, axis=0; v, dtype=D",
    ),
    *entry(
        "nanmax nanmin",
        extremum_beside_nan,
        ulps=0,
        smooth=[(M,)],
        types="v; a; v, axis=0",
    ),
    *entry(
        "nanvar",
        draw_spread_beside_nan,
        ulps=64,
        scale=lambda x: 20,
        prepare=as_floats,
        smooth=[(M,)],
        types="v; a; v, axis=0; v, ddof=1",
    ),
    *entry(
        "nanstd",
        draw_spread_beside_nan,
        ulps=64,
        scale=1.0,
        prepare=as_floats,
        smooth=[(M,)],
        types="v; a; v, axis=0",
    ),
    *entry(
        "cumsum",
        scan,
        ulps=64,
        scale="args",
        smooth=[(M,), (SharedCall(lambda f, x: f(x, 1)), M)],
        types="v; a; v, axis=0; v, dtype=D",
    ),
    *entry(
        "cumprod",
        scan,
        ulps=64,
        scale="args",
        smooth=[(M,), (SharedCall(lambda f, x: f(x, 1)), M)],
        types="v; v, axis=0; v, dtype=D",
    ),
    *entry(
        "nancumsum",
        scan_beside_nan,
        ulps=64,
        scale="args",
        smooth=[(M,), (SharedCall(lambda f, x: f(x, 1)), M)],
        types="v; v, axis=0; v, dtype=D",
    ),
    *entry(
        "nancumprod",
        scan_beside_nan,
        ulps=64,
        scale="args",
        smooth=[(M,), (SharedCall(lambda f, x: f(x, 1)), M)],
        types="v; v, axis=0",
    ),
    *entry(
        "cumulative_sum",
        scan_of_standard,
        ulps=64,
        scale="args",
        smooth=[
            (X,),
            (SharedCall(lambda f, x: f(x, axis=1, include_initial=True)), M),
        ],
        types="v; v, axis=0; v, dtype=D",
        standard=(
            "x, /, *, axis=None, dtype=None, include_initial=False: numeric -> wide"
        ),
    ),
    *entry(
        "cumulative_prod",
        scan_of_standard,
        ulps=64,
        scale="args",
        smooth=[
            (X,),
            (SharedCall(lambda f, x: f(x, axis=1, include_initial=True)), M),
        ],
        types="v; v, axis=0",
        standard=(
            "x, /, *, axis=None, dtype=None, include_initial=False: numeric -> same"
        ),
    ),
    *entry(
        "amax",
        alias="max",
        smooth=OF_ALL_AND_ROWS,
        types="v; v, axis=0",
    ),
    *entry(
        "amin",
        alias="min",
        smooth=OF_ALL_AND_ROWS,
        types="v; v, axis=0",
    ),
]
