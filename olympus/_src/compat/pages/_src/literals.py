"""Python numbers that carry a dtype: olympus hands rules arrays or plain numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


class TypedInt(int):
    """An integer with a dtype."""

    dtype: Any

    def __new__(cls, value: int, dtype: Any) -> TypedInt:
        self = super().__new__(cls, value)
        self.dtype = np.dtype(dtype)
        return self


class TypedFloat(float):
    """A float with a dtype."""

    dtype: Any

    def __new__(cls, value: float, dtype: Any) -> TypedFloat:
        self = super().__new__(cls, value)
        self.dtype = np.dtype(dtype)
        return self


class TypedComplex(complex):
    """A complex number with a dtype."""

    dtype: Any

    def __new__(cls, value: complex, dtype: Any) -> TypedComplex:
        self = super().__new__(cls, value)
        self.dtype = np.dtype(dtype)
        return self


class TypedNdArray:
    """An array of NumPy with a weak type; none is ever made here."""


__all__ = ["TypedComplex", "TypedFloat", "TypedInt", "TypedNdArray"]
