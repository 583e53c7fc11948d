"""Classes of dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.dtypes import ExtendedDType as ExtendedDType
from olympus._src.core.dtypes import extended as extended
from olympus._src.foundation.errors import (
    TypePromotionError as TypePromotionError,
)

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
