"""Curves of olympus.numpy, and parts of complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import as_floats, entries
from tests.public_functions.points import ABOVE, M, N, X, Z

entry = entries("numpy")
Drawn = Callable[[Draw], Call]
REAL = "bool int uint float"
NUMBERS = "bool int uint float complex"
ROUND = "plain unit special"


def one(kinds: str, values: str = "plain", shape: str = "any") -> Drawn:
    """A call of one array."""
    return lambda d: d.call(d.array(kinds, shape, values))


def two(kinds: str, values: str = "plain") -> Drawn:
    """A call of two arrays that broadcast, or of an array and a number."""
    return lambda d: d.call(*d.arrays(2, kinds, values=values))


def one_option(kinds: str, values: str = "plain", **options: Any) -> Drawn:
    return lambda d: d.call(d.array(kinds, "any", values), **d.options(**options))


def curve(names: str, draw: Drawn, **settings: Any) -> Any:
    """Entries of functions whose results are floats, of whole numbers too."""
    return entry(names, draw, prepare=as_floats, **settings)


CURVES = [
    # The compiler's log1p loses two digits in double precision, its cosh of large
    # numbers one in single precision.
    *curve(
        "sin cos tanh",
        one(REAL, ROUND),
        signs=True,
        smooth=[(X,), (Z,)],
        types="v",
        standard="x, /: float -> same",
    ),
    *curve("arctan", one(REAL, ROUND), signs=True, smooth=[(X,), (Z,)], types="v"),
    *curve(
        "atan asinh",
        one(REAL, ROUND),
        signs=True,
        smooth=(X,),
        types="v",
        standard="x, /: float -> same",
    ),
    *curve("arcsinh", one(REAL, ROUND), signs=True, smooth=(X,), types="v"),
    *curve(
        "sinh",
        one(REAL, ROUND),
        signs=True,
        ulps=32,
        smooth=[(X,), (Z,)],
        types="v",
        standard="x, /: float -> same",
    ),
    *curve(
        "tan",
        one(REAL, "plain unit zeros infinite"),
        signs=True,
        ulps=8,
        smooth=(X,),
        types="v",
        standard="x, /: float -> same",
    ),
    *curve(
        "cosh",
        one(REAL, ROUND),
        ulps=32,
        smooth=(X,),
        types="v",
        standard="x, /: float -> same",
    ),
    *curve(
        "exp",
        one(REAL, ROUND),
        ulps=32,
        smooth=[(X,), (Z,)],
        types="v; a",
        standard="x, /: float -> same",
    ),
    *curve("exp2", one(REAL, ROUND), ulps=32, smooth=(X,), types="v"),
    *curve(
        "expm1",
        one(REAL, ROUND),
        signs=True,
        ulps=8,
        smooth=[(X,), (Z,)],
        types="v",
        standard="x, /: float -> same",
    ),
    *curve("cbrt", one(REAL, ROUND), signs=True, ulps=8, smooth=(X,), types="v"),
    *curve("arcsin arccos", one(REAL, "unit special"), ulps=8, smooth=(X,), types="v"),
    *curve(
        "asin acos",
        one(REAL, "unit special"),
        ulps=8,
        smooth=(X,),
        types="v",
        standard="x, /: float -> same",
    ),
    *curve("arctanh", one(REAL, "unit special"), ulps=160, smooth=(X,), types="v"),
    *curve(
        "atanh",
        one(REAL, "unit special"),
        ulps=160,
        smooth=(X,),
        types="v",
        standard="x, /: float -> same",
    ),
    *curve(
        "arccosh", one(REAL, "positive special"), ulps=8, smooth=(ABOVE,), types="v"
    ),
    *curve(
        "acosh",
        one(REAL, "positive special"),
        ulps=8,
        smooth=(ABOVE,),
        types="v",
        standard="x, /: float -> same",
    ),
    *curve(
        "log",
        one(REAL, "positive special"),
        ulps=8,
        smooth=[(X,), (Z,)],
        types="v",
        standard="x, /: float -> same",
    ),
    *curve(
        "log2 log10",
        one(REAL, "positive special"),
        ulps=8,
        smooth=(X,),
        types="v",
        standard="x, /: float -> same",
    ),
    *curve(
        "log1p",
        one(REAL, "unit positive special"),
        ulps=160,
        signs=True,
        smooth=[(X,), (Z,)],
        types="v",
        standard="x, /: float -> same",
    ),
    *curve(
        "sqrt",
        one(REAL, "positive special"),
        signs=True,
        smooth=[(X,), (Z,)],
        types="v",
        standard="x, /: float -> same",
    ),
    *curve(
        "deg2rad radians rad2deg degrees",
        one(REAL, ROUND),
        signs=True,
        smooth=(X,),
        types="v",
    ),
    *curve("i0", one(REAL, "plain"), ulps=64, smooth=(X,), types="v"),
    *curve(
        "sinc",
        one(REAL, "plain ties"),
        ulps=16,
        scale=1.0,
        smooth=[(M,), (Z,)],
        types="v",
    ),
    *entry(
        """sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh exp
        exp2 expm1 sqrt square reciprocal sinc""",
        one("complex", "plain unit"),
        ulps=32,
        label="complex",
    ),
    # XLA's logarithm of a modulus close to 1 has the error of one of 1.
    *entry(
        "log log2 log10 log1p",
        one("complex", "plain unit"),
        ulps=64,
        scale=1.0,
        label="complex",
    ),
    *entry(
        "arctan2",
        two(REAL, "plain zeros"),
        prepare=as_floats,
        ulps=8,
        smooth=(M, N),
        types="2.0, v; v, w",
    ),
    *entry(
        "hypot",
        two(REAL, "plain zeros"),
        prepare=as_floats,
        ulps=8,
        smooth=(M, N),
        types="v, 2.0; v, w",
        standard="x1, x2, /: real_float -> same",
    ),
    *entry(
        "logaddexp",
        two(REAL, "plain infinite"),
        prepare=as_floats,
        ulps=8,
        scale="args",
        smooth=(M, N),
        types="v, w; a, b",
        standard="x1, x2, /: real_float -> same",
    ),
    *entry(
        "logaddexp2",
        two(REAL, "plain infinite"),
        prepare=as_floats,
        ulps=8,
        scale="args",
        smooth=(M, N),
        types="v, w",
    ),
]
PARTS = [
    *entry(
        "real",
        one("int float complex", ROUND),
        ulps=0,
        signs=True,
        smooth=[(X,), (Z,)],
        types="v",
        standard="x, /: complex -> real",
    ),
    *entry(
        "imag",
        one("int float complex", ROUND),
        ulps=0,
        signs=True,
        smooth=(Z,),
        types="v",
        standard="x, /: complex -> real",
    ),
    *entry(
        "conj",
        one("int float complex", ROUND),
        ulps=0,
        signs=True,
        smooth=[(X,), (Z,)],
        types="v",
        standard="x, /: numeric -> same",
    ),
    *entry(
        "angle",
        one_option("int float complex", deg=[True, False]),
        ulps=8,
        prepare=as_floats,
        smooth=(Z,),
        types="v",
    ),
]
ENTRIES = [
    *CURVES,
    *PARTS,
    *entry(
        "atan2",
        alias="arctan2",
        smooth=(M, N),
        types="v, w",
        standard="x1, x2, /: real_float -> same",
    ),
    *entry("conjugate", alias="conj", smooth=(X,), types="v"),
]
