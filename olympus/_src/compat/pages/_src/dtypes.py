"""Classes of dtypes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.dtypes import extended as extended
from olympus._src.foundation.errors import (
    TypePromotionError as TypePromotionError,
)


class _OfAny(type):
    """Has olympus's own extended dtypes be instances, too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, dtypes.ExtendedDType)


class ExtendedDType(dtypes.ExtendedDType, metaclass=_OfAny):
    """A dtype whose elements are opaque; libraries give its rules as `_rules`.

    Their functions take the dtype: `physical_element_aval`, `tangent_dtype`,
    `convert_from`, `convert_to`, `zero` and `add`.
    """

    _rules: Any

    @property
    def physical(self) -> Any:  # type: ignore[override]
        aval = self._rules.physical_element_aval(self)
        return tuple(aval.shape), np.dtype(aval.dtype)

    @property
    def itemsize(self) -> int:  # type: ignore[override]
        shape, word = self.physical
        return math.prod(shape) * int(word.itemsize)

    @property
    def tangent_dtype(self) -> Any:
        return self._rules.tangent_dtype(self)

    def converts(self, dtype: np.dtype) -> bool:
        rules = self._rules
        may = getattr(rules, "convert_to", None), getattr(rules, "convert_from", None)
        if None in may or self.physical != ((), dtype):
            return False
        return bool(rules.convert_to(dtype, self) and rules.convert_from(self, dtype))

    def zero(self) -> Any:
        return self._rules.zero(self)

    def add(self, x: Any, y: Any) -> Any:
        return self._rules.add(self, x, y)


DType = np.dtype
JAXType = np.dtype | ExtendedDType


def to_complex_dtype(dtype: Any) -> Any:
    """The complex dtype whose parts hold a dtype's numbers."""
    return np.result_type(dtype, np.complex64)


def supports_inf(dtype: Any) -> bool:
    """Whether a dtype has infinities."""
    info = dtypes.finfo(dtype)
    return bool(np.isinf(np.asarray(np.inf, dtype))) and info is not None


__all__ = ["DType", "ExtendedDType", "JAXType", "extended", "to_complex_dtype"]
