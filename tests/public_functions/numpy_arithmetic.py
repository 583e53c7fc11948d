"""Arithmetic of olympus.numpy, and rounding to whole numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import olympus.numpy as jnp
from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import as_floats, entries, in_common_dtype
from tests.public_functions.numpy_elementwise import (
    NUMBERS,
    REAL,
    ROUND,
    Drawn,
    one,
    one_option,
    two,
)
from tests.public_functions.points import M, N, SharedCall, X, Y, Z, numbers
from tests.public_functions.reasons import DISCRETE

entry = entries("numpy")


def quotient(d: Draw) -> Call:
    """A dividend and a divisor; a repeated divisor has a reciprocal that is normal.

    XLA multiplies by the reciprocals of those: see docs/accuracy.
    """
    call = two("float", "special")(d)
    x, y = call.args
    repeated = np.shape(y) != np.broadcast_shapes(np.shape(x), np.shape(y))
    if repeated and isinstance(y, (np.ndarray, np.generic)):
        limit = 0.5 / ml_dtypes.finfo(y.dtype).smallest_normal
        y = np.where(np.abs(y) > limit, y.dtype.type(1.5), y)
    return d.call(x, y)


def whole_power(d: Draw) -> Call:
    """Whole numbers to powers that are not negative."""
    x = d.array("int uint", values="plain ties")
    if d.chance():
        return d.call(x, d.integer(0, 4))
    y = d.array("int uint", d.alike(x.shape))
    return d.call(x, np.abs(y) % 5)


def real_power(d: Draw) -> Call:
    """Floats to powers that are floats, whole arrays, or Python numbers."""
    x = d.array("float", values="positive zeros")
    if d.chance():
        return d.call(x, d.pick([0, 1, 2, 3, -1, -2, 0.5, 2.0, -1.5]))
    return d.call(x, d.array("float int", d.alike(x.shape), "plain ties"))


def divisors(kinds: str) -> Drawn:
    """Two arrays, no zero in the second where they are whole."""

    def draw(d: Draw) -> Call:
        x, y = d.arrays(2, kinds, values="plain ties special extreme", mixed=False)
        if y.dtype.kind in "iu":
            # Neither a quotient by zero nor one beyond the range has a meaning.
            y = np.where(y == 0, 3, np.where(y == np.array(-1), 2, y)).astype(y.dtype)
        return d.call(x, y)

    return draw


def bounds(d: Draw) -> Call:
    """Limits of `clip`: arrays or numbers, either or both of them."""
    x = d.array("int uint float", values="plain ties infinite")
    low = d.pick([0, 1, d.filled(x.dtype, d.alike(x.shape), "plain")])
    high = d.pick([2, 4, d.filled(x.dtype, d.alike(x.shape), "plain")])
    which = d.integer(0, 4)
    if which < 2:
        return d.call(x, low, high)
    if which == 2:
        return d.call(x, min=low)
    return d.call(x, max=high) if which == 3 else d.call(x, None, high)


def replacements(d: Draw) -> Call:
    x = d.array("int float complex", values="infinite special")
    return d.call(x, **d.options(nan=[0.0, 1.5], posinf=[3.0, None], neginf=[-2.0]))


def mantissas(d: Draw) -> Call:
    """Floats, and powers of two that leave them within the range."""
    x = d.array("float", values="plain zeros infinite")
    places = np.asarray(d.rng.integers(-5, 6, d.alike(x.shape)))
    return d.call(x, places.astype(d.dtype("int")))


def common_factors(d: Draw) -> Call:
    x, y = d.arrays(2, "int uint", values="plain ties", mixed=False)
    return d.call(x, y)


def angles(d: Draw) -> Call:
    """Angles that jump, along an axis that is not empty."""
    x = d.array("single int", "full") * 4
    options = d.options(discont=[2.0, 4.0], period=[5.0], axis=lambda: d.axis(x))
    return d.call(x, **options)


def three_choices(d: Draw) -> Call:
    condition, x, y = d.arrays(3, NUMBERS, values="plain special")
    return d.call(np.asarray(condition) == 0, x, y)


def neighbours(d: Draw) -> Call:
    """Numbers and directions; those that a processor flushes to zero left out."""
    x, y = d.arrays(2, "single half", values="positive", mixed=False)
    y = np.where(d.rng.uniform(size=y.shape) < 0.2, np.inf, y - 1).astype(x.dtype)
    return d.call(x * np.asarray(d.pick([1, -1]), x.dtype), y)


def finite(x: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """`nan_to_num`, with the ends of the dtype given, not of double precision."""
    if x.dtype.kind in "biu":
        return x
    if x.dtype.kind == "c":
        parts = [finite(p, nan, posinf, neginf) for p in (x.real, x.imag)]
        return parts[0] + 1j * parts[1]
    limits = ml_dtypes.finfo(x.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    return np.nan_to_num(x.astype(np.float64), nan=nan, posinf=high, neginf=low)


WHOLE = [
    *entry(
        "floor ceil trunc",
        one(REAL, ROUND),
        ulps=0,
        signs=True,
        kinds=False,
        smooth=(X,),
        types="v",
        standard="x, /: real -> same",
    ),
    *entry(
        "rint",
        one(REAL, ROUND),
        ulps=0,
        signs=True,
        kinds=False,
        smooth=(X,),
        types="v",
    ),
    *entry(
        "round",
        one_option("int float complex", decimals=[0, 1, 2]),
        ulps=4,
        smooth=[(X,), (lambda x: jnp.round(x, 1), X)],
        types="v; a; v, 1",
        standard="x, /: numeric -> same",
    ),
    *entry(
        "sign",
        one("int uint float", ROUND),
        ulps=0,
        kinds=False,
        smooth=(X,),
        types="v; a",
        standard="x, /: numeric -> same",
    ),
    *entry(
        "signbit",
        one("int uint float", ROUND),
        kinds=False,
        smooth=DISCRETE,
        types="v",
        standard="x, /: real_float -> bool",
    ),
    *entry("fabs", one(REAL, ROUND), ulps=0, signs=True, smooth=(X,), types="v"),
    *entry(
        "modf", one(REAL, "plain zeros infinite"), signs=True, smooth=(X,), types="v"
    ),
    *entry(
        "frexp",
        one("float", "plain zeros"),
        wide=False,
        smooth=(lambda x: jnp.frexp(x)[0], X),
        types="v",
    ),
    *entry(
        "ldexp",
        mantissas,
        ulps=0,
        signs=True,
        smooth=(lambda x: jnp.ldexp(x, 3), X),
        types="v, 2; v, w",
    ),
    *entry(
        "nextafter",
        neighbours,
        ulps=0,
        wide=False,
        smooth=DISCRETE,
        types="v, w",
        standard="x1, x2, /: real_float -> same",
    ),
    *entry(
        "spacing",
        one("half single", "positive"),
        ulps=0,
        wide=False,
        smooth=DISCRETE,
        types="v",
    ),
    *entry(
        "gcd lcm",
        common_factors,
        prepare=in_common_dtype,
        smooth=DISCRETE,
        types="v, w",
    ),
]
ARITHMETIC = [
    *entry(
        "add",
        two("int uint float complex", "plain extreme"),
        prepare=in_common_dtype,
        ulps=8,
        scale="args",
        smooth=(M, N),
        types="v, 2; v, 2.0; v, w; a, b",
        standard="x1, x2, /: numeric -> same",
    ),
    *entry(
        "subtract",
        two("int uint float complex", "plain extreme"),
        prepare=in_common_dtype,
        ulps=8,
        scale="args",
        smooth=(M, N),
        types="2.0, v; v, w",
        standard="x1, x2, /: numeric -> same",
    ),
    *entry(
        "multiply",
        two("int uint float complex", "plain extreme"),
        prepare=in_common_dtype,
        ulps=8,
        scale="args",
        smooth=(M, N),
        types="v, 2; v, 2.0; v, w; a, b; v, 1.5",
        standard="x1, x2, /: numeric -> same",
    ),
    *entry(
        "add multiply",
        two("float", "special"),
        prepare=in_common_dtype,
        label="special",
    ),
    *entry(
        "maximum",
        two(REAL, "plain ties special"),
        ulps=0,
        prepare=in_common_dtype,
        smooth=(M, N),
        types="v, 2.0; v, w",
        standard="x1, x2, /: real -> same",
    ),
    *entry(
        "minimum",
        two(REAL, "plain ties special"),
        ulps=0,
        prepare=in_common_dtype,
        smooth=(M, N),
        types="v, w",
        standard="x1, x2, /: real -> same",
    ),
    *entry(
        "fmax fmin",
        two("int uint float", "plain special"),
        ulps=0,
        prepare=in_common_dtype,
        smooth=(M, N),
        types="v, w",
    ),
    *entry(
        "negative",
        one("int uint float complex", "plain extreme zeros"),
        ulps=0,
        signs=True,
        smooth=(X,),
        types="v; a",
        standard="x, /: numeric -> same",
    ),
    *entry(
        "positive",
        one("int uint float complex", ROUND),
        ulps=0,
        signs=True,
        smooth=(X,),
        types="v",
        standard="x, /: numeric -> same",
    ),
    *entry(
        "abs",
        one(NUMBERS, "plain zeros extreme"),
        signs=True,
        smooth=[(M,), (Z,)],
        types="v; a",
        standard="x, /: numeric -> real",
    ),
    *entry(
        "square",
        one("int uint float", "plain extreme special"),
        smooth=[(X,), (Z,)],
        types="v; a",
        standard="x, /: numeric -> same",
    ),
    *entry(
        "reciprocal",
        one("float", "plain special"),
        signs=True,
        smooth=[(X,), (Z,)],
        types="v; a",
        standard="x, /: float -> same",
    ),
    *entry(
        "divide",
        two(NUMBERS, "positive unit"),
        prepare=as_floats,
        ulps=32,
        smooth=(M, N),
        types="2.0, v; v, w",
        standard="x1, x2, /: float -> same",
    ),
    *entry("divide", quotient, prepare=as_floats, label="special"),
    *entry(
        "floor_divide",
        divisors("int uint"),
        prepare=in_common_dtype,
        ulps=0,
        smooth=(M, N),
        types="v, 2; v, w",
        standard="x1, x2, /: real -> same",
    ),
    *entry(
        "remainder",
        divisors("int uint"),
        prepare=in_common_dtype,
        ulps=0,
        smooth=(M, numbers(3, 4)),
        types="v, 2.0; v, w",
        standard="x1, x2, /: real -> same",
    ),
    *entry(
        "fmod",
        divisors("int uint"),
        prepare=in_common_dtype,
        ulps=0,
        smooth=(M, numbers(3, 4)),
        types="v, w",
    ),
    *entry(
        "floor_divide remainder fmod divmod",
        two("single", "plain zeros"),
        prepare=in_common_dtype,
        ulps=16,
        scale="args",
        label="float",
    ),
    *entry(
        "divmod",
        divisors("int uint"),
        prepare=in_common_dtype,
        ulps=0,
        smooth=(lambda x, y: jnp.divmod(x, y)[1], M, numbers(3, 4)),
        types="v, w",
    ),
    *entry(
        "power",
        whole_power,
        prepare=in_common_dtype,
        smooth=[(X, M[0][0]), (X, Y), (SharedCall(lambda f, x: f(x, 3)), M)],
        types="v, 2; v, 2.0; 2.0, v; v, w; a, b",
    ),
    *entry("power", real_power, prepare=in_common_dtype, ulps=32, label="float"),
    *entry(
        "power float_power",
        two("complex", "unit"),
        prepare=in_common_dtype,
        ulps=64,
        label="complex",
    ),
    *entry(
        "float_power",
        real_power,
        prepare=as_floats,
        ulps=32,
        smooth=[(X, M[0][0]), (X, Y), (SharedCall(lambda f, x: f(x, 3)), M)],
        types="v, 2; v, 2.0; v, w",
    ),
    *entry(
        "copysign",
        two("int float", "plain zeros"),
        prepare=as_floats,
        ulps=0,
        smooth=(M, N),
        types="2.0, v; v, w",
        standard="x1, x2, /: real_float -> same",
    ),
    *entry(
        "heaviside",
        two("int float", "ties missing"),
        prepare=as_floats,
        ulps=0,
        smooth=(M, N),
        types="v, w",
    ),
    *entry(
        "clip",
        bounds,
        ulps=0,
        prepare=None,
        smooth=[
            (lambda x: jnp.clip(x, -0.5, 0.6), M),
            (M, numbers(3, 4) - 1, N * 0 + 0.6),
        ],
        types="v, w, v; v, np.float32(0), w; v, w, None; v, 0, 1; v, 0.5",
        standard="x, /, min=None, max=None",
    ),
    *entry(
        "nan_to_num",
        replacements,
        oracle=finite,
        wide=False,
        smooth=(X,),
        types="v; v, nan=w; v, nan=1.5, posinf=3",
    ),
    *entry(
        "unwrap",
        angles,
        ulps=16,
        scale="args",
        smooth=(X,),
        types="v; v, discont=2, period=b; v, period=4",
    ),
    *entry(
        "where",
        three_choices,
        ulps=0,
        prepare=lambda c, x, y: [c, *in_common_dtype(x, y)],
        smooth=(lambda x, y: jnp.where(M > 0, x, y), M, N),
        types=(
            "np.array([True, False, True]), v, w; "
            "v, np.float32(1), np.int8(2); v, 1, 2.0; v, size=2"
        ),
        standard="condition, x1, x2, /",
    ),
]
ENTRIES = [
    *WHOLE,
    *ARITHMETIC,
    *entry("absolute", alias="abs", smooth=(X,), types="v"),
    *entry(
        "around",
        alias="round",
        smooth=(SharedCall(lambda f, x: f(x, 0)), X),
        types="v; v, 1; v, 1.5",
    ),
    *entry("mod", alias="remainder", smooth=(M, numbers(3, 4)), types="v, w"),
    *entry(
        "pow",
        alias="power",
        smooth=[(X, M[0][0]), (X, Y), (SharedCall(lambda f, x: f(x, 3)), M)],
        types="v, w",
        standard="x1, x2, /: numeric -> same",
    ),
    *entry("true_divide", alias="divide", smooth=(M, N), types="v, w"),
]
