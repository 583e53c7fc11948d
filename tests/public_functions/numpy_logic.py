"""Bits, comparisons and logic of olympus.numpy."""

from __future__ import annotations

import numpy as np

from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries, in_common_dtype
from tests.public_functions.numpy_elementwise import NUMBERS, REAL, one, two
from tests.public_functions.reasons import DISCRETE

entry = entries("numpy")


def shifts(d: Draw) -> Call:
    """Whole numbers, and places within their width."""
    x = d.array("int uint", values="plain extreme")
    places = d.rng.integers(0, x.dtype.itemsize * 8, d.alike(x.shape))
    if d.chance(0.3):
        return d.call(x, int(places.ravel()[0]) if places.size else 2)
    return d.call(x, np.asarray(places).astype(x.dtype))


def nearly(d: Draw) -> Call:
    """Numbers that differ by about the tolerance."""
    x = d.array("int float complex", values="plain infinite")
    y = x
    if x.dtype.kind not in "iu":
        y = x + (d.rng.choice([0.0, 0.0, 1e-2, 0.97], size=x.shape)).astype(x.dtype)
    options = d.options(equal_nan=[True, False], rtol=[0.1, 0.5], atol=[0.05, 1.0])
    return d.call(x, y, **options)


def maybe_equal(d: Draw) -> Call:
    x = d.array("int float", "axes", "ties missing")
    y = x.copy() if d.chance(0.6) else d.array("int float", x.shape, "ties")
    y = y if d.chance(0.8) else y[..., :1]
    return d.call(x, y)


def maybe_equal_nan(d: Draw) -> Call:
    return maybe_equal(d)._replace(kwargs=d.options(equal_nan=[True, False]))


BITS = [
    *entry(
        "bitwise_and bitwise_or bitwise_xor",
        two("bool int uint", "plain extreme"),
        prepare=in_common_dtype,
        smooth=DISCRETE,
        types="v, w",
        standard="x1, x2, /: bool integer -> same",
    ),
    *entry(
        "bitwise_not invert",
        one("bool int uint", "plain extreme"),
        smooth=DISCRETE,
        types="v",
    ),
    *entry(
        "bitwise_invert",
        one("bool int uint", "plain extreme"),
        smooth=DISCRETE,
        types="v",
        standard="x, /: bool integer -> same",
    ),
    *entry(
        "bitwise_count", one("int uint", "plain extreme"), smooth=DISCRETE, types="v"
    ),
    *entry(
        "left_shift",
        shifts,
        prepare=in_common_dtype,
        smooth=DISCRETE,
        types="v, 2; v, w",
    ),
    *entry(
        "right_shift", shifts, prepare=in_common_dtype, smooth=DISCRETE, types="v, w"
    ),
    *entry(
        "bitwise_left_shift bitwise_right_shift",
        shifts,
        prepare=in_common_dtype,
        smooth=DISCRETE,
        types="v, w",
        standard="x1, x2, /: integer -> same",
    ),
]
LOGIC = [
    *entry(
        "equal not_equal",
        two(NUMBERS, "ties special"),
        prepare=in_common_dtype,
        smooth=DISCRETE,
        types="v, w",
        standard="x1, x2, /: bool numeric -> bool",
    ),
    *entry(
        "less less_equal greater greater_equal",
        two(REAL, "ties special"),
        prepare=in_common_dtype,
        smooth=DISCRETE,
        types="v, w",
        standard="x1, x2, /: real -> bool",
    ),
    *entry(
        "less less_equal greater greater_equal",
        two("complex int", "ties"),
        prepare=in_common_dtype,
        label="complex",
    ),
    *entry(
        "logical_and logical_or logical_xor",
        two(NUMBERS, "ties missing"),
        prepare=in_common_dtype,
        smooth=DISCRETE,
        types="v, w",
        standard="x1, x2, /: bool -> bool",
    ),
    *entry(
        "logical_not",
        one(NUMBERS, "ties zeros missing"),
        smooth=DISCRETE,
        types="v",
        standard="x, /: bool -> bool",
    ),
    *entry(
        "isfinite",
        one(NUMBERS, "special infinite"),
        wide=False,
        smooth=DISCRETE,
        types="v; a",
        standard="x, /: numeric -> bool",
    ),
    *entry(
        "isnan isinf",
        one(NUMBERS, "special infinite"),
        wide=False,
        smooth=DISCRETE,
        types="v",
        standard="x, /: numeric -> bool",
    ),
    *entry(
        "isneginf isposinf", one(REAL, "special infinite"), smooth=DISCRETE, types="v"
    ),
    *entry(
        "iscomplex isreal", one(NUMBERS, "ties missing"), smooth=DISCRETE, types="v"
    ),
    *entry("isclose allclose", nearly, smooth=DISCRETE, types="v, w; v, w, 0.5"),
    *entry("array_equal", maybe_equal_nan, smooth=DISCRETE, types="v, w; a, b"),
    *entry("array_equiv", maybe_equal, smooth=DISCRETE, types="v, w"),
]
ENTRIES = [
    *BITS,
    *LOGIC,
]
