"""Samples of the operations that act element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus import lax
from olympus._src.lax import contraction, families
from tests.lax.sampling import (
    Sample,
    array,
    b1,
    bf16,
    c64,
    distinct,
    f16,
    f32,
    i8,
    i32,
    u8,
    u32,
)

S = Sample
E = lax  # the page: a primitive is sampled as users find it

FLOATS = (f32, bf16, f16)
INTS = (i8, i32, u8, u32)
# Lowest and highest argument of functions that are defined, or gentle, in between.
RANGES = {
    "log": (0.1, 3), "log2": (0.1, 3),
    "log1p": (-0.9, 3), "sqrt": (0.1, 3), "rsqrt": (0.2, 3),
    "acos": (-0.9, 0.9), "asin": (-0.9, 0.9), "atanh": (-0.9, 0.9),
    "acosh": (1.2, 3), "cbrt": (0.2, 3), "tan": (-1.2, 1.2), "exp2": (-2, 2),
}  # fmt: skip
ROUNDED = {"floor", "ceil", "sign"}  # flat, with jumps where the samples are not


def _unary() -> Any:
    real_and_complex = (
        "exp", "exp2", "expm1", "log", "log1p", "sqrt", "rsqrt", "logistic", "sin",
        "cos", "tan", "tanh", "sinh", "cosh", "asin", "acos", "atan", "asinh",
        "acosh", "atanh", "log2", "one_minus_square",
    )  # fmt: skip
    for name in (*real_and_complex, "cbrt", "floor", "ceil"):
        p = getattr(E, f"{name}_p")
        low, high = RANGES.get(name, (-3, 3))
        for kind in FLOATS:
            yield S(p, array((3, 4), kind, low=low, high=high))
        yield S(p, array((), low=low, high=high))
        yield S(p, array((0, 2), low=low, high=high))
        if name in real_and_complex:
            x = array((5,), c64, low=0.1, high=0.9)
            yield S(p, x, tolerance=1e-3)
    for name in ("neg", "abs", "square", "sign"):
        p = getattr(E, f"{name}_p")
        for kind in (*FLOATS, *INTS, c64):
            unsigned_neg = name == "neg" and kind in (u8, u32)
            if not unsigned_neg:
                yield S(p, array((3, 4), kind), linear=(0,) if name == "neg" else ())
    for name in ("not", "population_count", "clz"):
        for kind in INTS:
            yield S(getattr(E, f"{name}_p"), array((3, 4), kind, low=-90, high=90))
    yield S(E.not_p, array((3,), b1))
    yield S(E.is_finite_p, np.array([1, np.inf, -np.inf, np.nan], f32))
    for power in (-2, -1, 0, 1, 2, 3, 7):
        yield S(E.integer_pow_p, array((4,), low=0.5), y=power)
    yield S(E.integer_pow_p, array((4,), i32), y=3)
    halves = np.array([-2.5, -1.5, -0.5, 0.3, 0.5, 1.5, 2.5], f32)
    for method in E.RoundingMethod:
        yield S(E.round_p, halves, rounding_method=method, smooth=False)
    yield S(E.real_p, array((3,), c64), linear=(0,))
    yield S(E.imag_p, array((3,), c64), linear=(0,))
    yield S(E.conj_p, array((3,), c64), input_dtype=c64, linear=(0,))
    yield S(E.conj_p, array((3,)), input_dtype=f32, linear=(0,))
    for old, new in [(f32, i32), (f32, bf16), (i32, f32), (f32, b1), (b1, u8),
                     (c64, f32), (f32, c64), (i32, u8), (u32, f16)]:  # fmt: skip
        yield S(E.convert_element_type_p, array((3,), old, low=0), new_dtype=new,
                weak_type=False, sharding=None, smooth=old == new)  # fmt: skip
    yield S(E.convert_element_type_p, array((3,)), new_dtype=f32, weak_type=True,
            sharding=None, linear=(0,))  # fmt: skip


def _pair(kind: Any) -> tuple[np.ndarray, np.ndarray]:
    y = array((3, 4), kind, seed=5, low=1, high=4)
    return distinct((3, 4), f32).astype(kind), y


def _binary() -> Any:
    linear = {"add": (0, 1), "sub": (0, 1), "mul": (0, 1), "div": (0,)}
    for name in ("add", "sub", "mul", "div", "max", "min"):
        p = getattr(E, f"{name}_p")
        for kind in (*FLOATS, *INTS, c64):
            if kind == c64 and name in ("max", "min"):
                continue
            yield S(p, *_pair(kind), linear=linear.get(name, ()))
        yield S(p, array((3, 4)), f32.type(1.5), linear=linear.get(name, ()))
        yield S(p, f32.type(1.5), array((3, 4), low=1), linear=linear.get(name, ()))
    yield S(families.add_any_p, *_pair(f32), linear=(0, 1))
    for kind in INTS:
        wide = array((6,), kind, low=-90, high=90)
        yield S(E.mulhi_p, wide, np.full_like(wide, 77))
    for kind in (*FLOATS, *INTS):
        yield S(E.rem_p, *_pair(kind), smooth=False)
    yield S(E.rem_p, array((4,), low=3.1, high=3.9), np.full((4,), 3, f32))
    yield S(E.pow_p, array((4,), low=0.5), array((4,), seed=1))
    yield S(E.pow_p, array((4,), low=0.5), array((4,), i32, seed=1))
    yield S(E.pow_p, array((4,), low=0.5), f32.type(2))
    for kind in (f32, f16):
        yield S(E.atan2_p, *_pair(kind))
    yield S(E.nextafter_p, array((4,)), array((4,), seed=1), smooth=False)
    yield S(E.complex_p, array((3,)), array((3,), seed=1), linear=(0, 1))
    for name in ("and", "or", "xor"):
        for kind in (b1, *INTS):
            yield S(getattr(E, f"{name}_p"), *_pair(kind))
    for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical"):
        for kind in INTS:
            x = array((6,), kind, low=-90, high=90)
            yield S(getattr(E, f"{name}_p"), x, np.array([0, 1, 3, 7, 9, 40], kind))
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        p = getattr(E, f"{name}_p")
        for kind in (*FLOATS, *INTS, b1):
            x = array((3, 4), kind)
            yield S(p, x, np.roll(x, 1))
        yield S(p, np.array([np.nan, 1, np.nan], f32), np.array([1, 1, np.nan], f32))
    for name in ("eq_to", "le_to", "lt_to"):
        p = getattr(E, f"{name}_p")
        yield S(p, np.array([np.nan, -0.0, 1], f32), np.array([np.nan, 0, 2], f32))
        yield S(p, *_pair(i32))


def _several() -> Any:
    which = array((3, 4), b1, seed=3)
    x, y = array((3, 4)), array((3, 4), seed=1)
    yield S(E.select_n_p, which, x, y, linear=(1, 2))
    yield S(E.select_n_p, np.bool_(True), x, y, linear=(1, 2))
    yield S(E.select_n_p, which, x, f32.type(2))
    number = array((3, 4), i32, low=-1, high=3)
    yield S(E.select_n_p, number, x, y, -x)
    yield S(E.select_n_p, which, x > 0, y > 0)
    low, high = f32.type(-1), f32.type(1)
    yield S(E.clamp_p, low, x, high)
    yield S(E.clamp_p, np.full_like(x, -1), x, np.full_like(x, 0.5))
    yield S(E.clamp_p, np.int8(-1), array((3, 4), i8), np.int8(1))


def _products() -> Any:
    def dot(x, y, contract, batch=((), ()), preferred=None, **options):
        return S(
            contraction.dot_general_p, x, y,
            dimension_numbers=(contract, batch), precision=None,
            preferred_element_type=preferred, out_sharding=None, **options,
        )  # fmt: skip

    both = (0, 1)
    yield dot(array((2, 3)), array((3, 4)), ((1,), (0,)), linear=both)
    yield dot(array((3,)), array((3,)), ((0,), (0,)), linear=both)
    yield dot(array((2,)), array((3,)), ((), ()), linear=both)
    yield dot(
        array((5, 2, 3)), array((3, 5, 4)), ((2,), (0,)), ((0,), (1,)), linear=both
    )
    yield dot(array((2, 3, 4)), array((4, 3)), ((1, 2), (1, 0)), linear=both)
    yield dot(array((2, 0)), array((0, 4)), ((1,), (0,)))
    yield dot(array((2, 3), c64), array((3, 4), c64), ((1,), (0,)), linear=both)
    yield dot(array((2, 3), bf16), array((3, 4), bf16), ((1,), (0,)), preferred=f32)
    yield dot(array((2, 3), i8), array((3, 4), i8), ((1,), (0,)), preferred=i32)


SAMPLES = [*_unary(), *_binary(), *_several(), *_products()]

# Batching and transposition look at shapes alone: one dtype of each shape is enough.
_seen: set[Any] = set()
for _s in SAMPLES:
    _key = (_s.p.name, *[a.shape for a in _s.args])
    if _key in _seen and "c" not in {a.dtype.kind for a in _s.args}:
        _s.loop, _s.linear = False, ()
    _seen.add(_key)

x23 = array((2, 3))
x4 = array((4,))

ERRORS = [
    *(
        (name, lambda name=name: getattr(E, f"{name}_p").bind(x23, x4))
        for name in ("add", "sub", "mul", "div", "rem", "max", "min", "pow", "atan2",
                     "eq", "ne", "lt", "le", "gt", "ge", "nextafter", "complex")
    ),
    *(
        (name, lambda name=name: getattr(E, f"{name}_p").bind(x23, x23 > 0))
        for name in ("add", "mul", "lt")
    ),
    *(
        (name, lambda name=name: getattr(E, f"{name}_p").bind(x23 > 0))
        for name in ("sin", "exp", "log", "floor", "neg", "sqrt", "tanh", "clz")
    ),
    *(
        (name, lambda name=name: getattr(E, f"{name}_p").bind(x23, x23))
        for name in ("and", "or", "xor", "shift_left")
    ),
    ("select_n", lambda: E.select_n(x23, x23, x23)),
    ("select_n", lambda: E.select_n(x23 > 0, x23, x4)),
    ("select_n", lambda: E.select_n(x23 > 0, x23, x23, x23)),
    ("select_n", lambda: E.select_n(x4 > 0, x23, x23)),
    ("clamp", lambda: E.clamp(x4, x23, x4)),
    ("clamp", lambda: E.clamp(np.int32(1), x23, np.int32(2))),
    ("dot_general",
     lambda: contraction.dot_general(x23, x23, (((1,), (0,)), ((), ())))),
    ("dot_general", lambda: contraction.dot_general(x23, x4, (((7,), (0,)), ((), ())))),
    ("dot", lambda: contraction.dot(x23, x4)),
]  # fmt: skip
