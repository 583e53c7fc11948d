"""Functions of olympus.numpy on numbers one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.differential.drawing import Call, Draw
from tests.differential.entries import as_floats, entries, in_common_dtype

entry = entries("numpy")
Drawn = Callable[[Draw], Call]

REAL = "bool int uint float"
NUMBERS = "bool int uint float complex"


def one(kinds: str, values: str = "plain", shape: str = "any") -> Drawn:
    """A call of one array."""
    return lambda d: d.call(d.array(kinds, shape, values))


def two(kinds: str, values: str = "plain") -> Drawn:
    """A call of two arrays that broadcast, or of an array and a number."""
    return lambda d: d.call(*d.arrays(2, kinds, values=values))


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


def one_option(kinds: str, values: str = "plain", **options: Any) -> Drawn:
    return lambda d: d.call(d.array(kinds, "any", values), **d.options(**options))


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


def shifts(d: Draw) -> Call:
    """Whole numbers, and places within their width."""
    x = d.array("int uint", values="plain extreme")
    places = d.rng.integers(0, x.dtype.itemsize * 8, d.alike(x.shape))
    if d.chance(0.3):
        return d.call(x, int(places.ravel()[0]) if places.size else 2)
    return d.call(x, np.asarray(places).astype(x.dtype))


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


def nearly(d: Draw) -> Call:
    """Numbers that differ by about the tolerance."""
    x = d.array("int float complex", values="plain infinite")
    y = x
    if x.dtype.kind not in "iu":
        y = x + (d.rng.choice([0.0, 0.0, 1e-2, 1.0], size=x.shape)).astype(x.dtype)
    options = d.options(equal_nan=[True, False], rtol=[0.1, 0.5], atol=[0.05, 1.0])
    return d.call(x, y, **options)


def maybe_equal(d: Draw) -> Call:
    x = d.array("int float", "axes", "ties missing")
    y = x.copy() if d.chance(0.6) else d.array("int float", x.shape, "ties")
    y = y if d.chance(0.8) else y[..., :1]
    return d.call(x, y)


def maybe_equal_nan(d: Draw) -> Call:
    return maybe_equal(d)._replace(kwargs=d.options(equal_nan=[True, False]))


def curve(names: str, draw: Drawn, **settings: Any) -> Any:
    """Entries of functions whose results are floats, of whole numbers too."""
    return entry(names, draw, prepare=as_floats, **settings)


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


ROUND = "plain unit special"
CURVES = [
    # The compiler's log1p loses two digits in double precision, its cosh of large
    # numbers one in single precision.
    *curve("sin cos tanh arctan atan arcsinh asinh", one(REAL, ROUND), signs=True),
    *curve("sinh", one(REAL, ROUND), signs=True, ulps=32),
    *curve("tan", one(REAL, "plain unit zeros infinite"), signs=True, ulps=8),
    *curve("cosh exp exp2", one(REAL, ROUND), ulps=32),
    *curve("expm1 cbrt", one(REAL, ROUND), signs=True, ulps=8),
    *curve("arcsin asin arccos acos", one(REAL, "unit special"), ulps=8),
    *curve("arctanh atanh", one(REAL, "unit special"), ulps=160),
    *curve("arccosh acosh log log2 log10", one(REAL, "positive special"), ulps=8),
    *curve("log1p", one(REAL, "unit positive special"), ulps=160, signs=True),
    *curve("sqrt", one(REAL, "positive special"), signs=True),
    *curve("deg2rad radians rad2deg degrees", one(REAL, ROUND), signs=True),
    *curve("i0", one(REAL, "plain"), ulps=64),
    *curve("sinc", one(REAL, "plain ties"), ulps=16, scale=1.0),
    *entry(
        """sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh exp
        exp2 expm1 log log2 log10 log1p sqrt square reciprocal sinc""",
        one("complex", "plain unit"),
        ulps=32,
        label="complex",
    ),
    *entry("arctan2 hypot", two(REAL, "plain zeros"), prepare=as_floats, ulps=8),
    *entry("logaddexp logaddexp2", two(REAL, "plain infinite"), prepare=as_floats,
           ulps=8, scale="args"),
]  # fmt: skip
WHOLE = [
    *entry("floor ceil trunc", one(REAL, ROUND), ulps=0, signs=True, kinds=False),
    *entry("rint", one(REAL, ROUND), ulps=0, signs=True, kinds=False),
    *entry("round", one_option("int float complex", decimals=[0, 1, 2]), ulps=4),
    *entry("sign", one("int uint float", ROUND), ulps=0, kinds=False),
    *entry("signbit", one("int uint float", ROUND), kinds=False),
    *entry("fabs", one(REAL, ROUND), ulps=0, signs=True),
    *entry("modf", one(REAL, "plain zeros infinite"), signs=True),
    *entry("frexp", one("float", "plain zeros"), wide=False),
    *entry("ldexp", mantissas, ulps=0, signs=True),
    *entry("nextafter", neighbours, ulps=0, wide=False),
    *entry("spacing", one("half single", "positive"), ulps=0, wide=False),
    *entry("gcd lcm", common_factors, prepare=in_common_dtype),
]
ARITHMETIC = [
    *entry("add subtract multiply", two("int uint float complex", "plain extreme"),
           prepare=in_common_dtype, ulps=8, scale="args"),
    *entry("add multiply", two("float", "special"), prepare=in_common_dtype,
           label="special"),
    *entry("maximum minimum", two(REAL, "plain ties special"), ulps=0,
           prepare=in_common_dtype),
    *entry("fmax fmin", two("int uint float", "plain special"), ulps=0,
           prepare=in_common_dtype),
    *entry("negative", one("int uint float complex", "plain extreme zeros"),
           ulps=0, signs=True),
    *entry("positive", one("int uint float complex", ROUND), ulps=0, signs=True),
    *entry("abs", one(NUMBERS, "plain zeros extreme"), signs=True),
    *entry("square", one("int uint float", "plain extreme special")),
    *entry("reciprocal", one("float", "plain special"), signs=True),
    *entry("divide", two(NUMBERS, "positive unit"), prepare=as_floats, ulps=32),
    *entry("divide", quotient, prepare=as_floats, label="special"),
    *entry("floor_divide", divisors("int uint"), prepare=in_common_dtype, ulps=0),
    *entry("remainder fmod", divisors("int uint"), prepare=in_common_dtype, ulps=0),
    *entry("floor_divide remainder fmod divmod", two("single", "plain zeros"),
           prepare=in_common_dtype, ulps=16, scale="args", label="float"),
    *entry("divmod", divisors("int uint"), prepare=in_common_dtype, ulps=0),
    *entry("power", whole_power, prepare=in_common_dtype),
    *entry("power", real_power, prepare=in_common_dtype, ulps=32, label="float"),
    *entry("power float_power", two("complex", "unit"), prepare=in_common_dtype,
           ulps=64, label="complex"),
    *entry("float_power", real_power, prepare=as_floats, ulps=32),
    *entry("copysign", two("int float", "plain zeros"), prepare=as_floats, ulps=0),
    *entry("heaviside", two("int float", "ties missing"), prepare=as_floats, ulps=0),
    *entry("clip", bounds, ulps=0, prepare=None),
    *entry("nan_to_num", replacements, oracle=finite, wide=False),
    *entry("unwrap", angles, ulps=16, scale="args"),
    *entry("where", three_choices, ulps=0,
           prepare=lambda c, x, y: [c, *in_common_dtype(x, y)]),
]  # fmt: skip
PARTS = [
    *entry("real imag conj", one("int float complex", ROUND), ulps=0, signs=True),
    *entry(
        "angle",
        one_option("int float complex", deg=[True, False]),
        ulps=8,
        prepare=as_floats,
    ),
]
BITS = [
    *entry("bitwise_and bitwise_or bitwise_xor", two("bool int uint", "plain extreme"),
           prepare=in_common_dtype),
    *entry("bitwise_not bitwise_invert invert", one("bool int uint", "plain extreme")),
    *entry("bitwise_count", one("int uint", "plain extreme")),
    *entry("left_shift right_shift bitwise_left_shift bitwise_right_shift", shifts,
           prepare=in_common_dtype),
]  # fmt: skip
LOGIC = [
    *entry("equal not_equal", two(NUMBERS, "ties special"), prepare=in_common_dtype),
    *entry("less less_equal greater greater_equal", two(REAL, "ties special"),
           prepare=in_common_dtype),
    *entry("less less_equal greater greater_equal", two("complex int", "ties"),
           prepare=in_common_dtype, label="complex"),
    *entry("logical_and logical_or logical_xor", two(NUMBERS, "ties missing"),
           prepare=in_common_dtype),
    *entry("logical_not", one(NUMBERS, "ties zeros missing")),
    *entry("isfinite isnan isinf", one(NUMBERS, "special infinite"), wide=False),
    *entry("isneginf isposinf", one(REAL, "special infinite")),
    *entry("iscomplex isreal", one(NUMBERS, "ties missing")),
    *entry("isclose allclose", nearly),
    *entry("array_equal", maybe_equal_nan),
    *entry("array_equiv", maybe_equal),
]  # fmt: skip
ENTRIES = [*CURVES, *WHOLE, *ARITHMETIC, *PARTS, *BITS, *LOGIC]
ALIASES = {
    "absolute": "abs",
    "around": "round",
    "atan2": "arctan2",
    "conjugate": "conj",
    "mod": "remainder",
    "pow": "power",
    "true_divide": "divide",
}
