"""Derivatives by nested dual numbers: an oracle that shares nothing with olympus.

A function here takes and returns NumPy arrays of objects, whose elements are floats or
duals; `numpy` is what it may use in place of NumPy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

_levels = itertools.count()


class Dual:
    """`value + slope * e` with `e * e = 0`; each derivative has an `e` of its own."""

    __slots__ = ("level", "slope", "value")

    def __init__(self, level: int, value: Any, slope: Any) -> None:
        self.level = level
        self.value = value
        self.slope = slope

    def __add__(self, other: Any) -> Any:
        level, a, da, b, db = _aligned(self, other)
        return Dual(level, a + b, da + db)

    def __mul__(self, other: Any) -> Any:
        level, a, da, b, db = _aligned(self, other)
        return Dual(level, a * b, a * db + da * b)

    def __neg__(self) -> Any:
        return self * -1.0

    def __sub__(self, other: Any) -> Any:
        return self + other * -1.0

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Any:
        return other + self * -1.0

    def __truediv__(self, other: Any) -> Any:
        return self * _power(other, -1)

    def __rtruediv__(self, other: Any) -> Any:
        return other * _power(self, -1)


def _aligned(a: Any, b: Any) -> tuple[int, Any, Any, Any, Any]:
    """Both operands as duals of the innermost derivative that either belongs to."""
    level = max(a.level, b.level if type(b) is Dual else -1)
    return level, *_parts(a, level), *_parts(b, level)


def _parts(x: Any, level: int) -> tuple[Any, Any]:
    if type(x) is Dual and x.level == level:
        return x.value, x.slope
    return x, 0.0


def _power(x: Any, n: int) -> Any:
    if type(x) is not Dual:
        return float(x) ** n
    return Dual(x.level, _power(x.value, n), x.slope * _power(x.value, n - 1) * n)


def _sin(x: Any) -> Any:
    if type(x) is not Dual:
        return math.sin(x)
    return Dual(x.level, _sin(x.value), x.slope * _cos(x.value))


def _cos(x: Any) -> Any:
    if type(x) is not Dual:
        return math.cos(x)
    return Dual(x.level, _cos(x.value), x.slope * _sin(x.value) * -1.0)


def _exp(x: Any) -> Any:
    if type(x) is not Dual:
        return math.exp(x)
    grown = _exp(x.value)
    return Dual(x.level, grown, x.slope * grown)


def _tanh(x: Any) -> Any:
    if type(x) is not Dual:
        return math.tanh(x)
    t = _tanh(x.value)
    return Dual(x.level, t, x.slope * (1.0 - t * t))


class numpy:
    """The functions of NumPy that programs here may use."""

    sin = np.frompyfunc(_sin, 1, 1)
    cos = np.frompyfunc(_cos, 1, 1)
    exp = np.frompyfunc(_exp, 1, 1)
    tanh = np.frompyfunc(_tanh, 1, 1)
    roll = staticmethod(np.roll)
    sum = staticmethod(np.sum)


Function = Callable[[np.ndarray], np.ndarray]


def derivative(f: Function, x: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The derivative of `f` at `x` in a direction."""
    level = next(_levels)
    moving = [Dual(level, a, float(d)) for a, d in zip(x, along, strict=True)]
    outs = f(np.array(moving, dtype=object))
    return np.array([_parts(y, level)[1] for y in outs], dtype=object)


def pullback(f: Function, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The gradient at `x` of the weighted sum of `f`'s results."""
    units = np.eye(len(x))
    return np.array(
        [np.sum(derivative(f, x, unit) * weights) for unit in units], dtype=object
    )
