"""The errors of olympus: what causes them, and classes for `except` clauses."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.errors import (
    BadNumberError,
    ConcretizationTypeError,
    InconclusiveDimensionOperation,
    InternalError,
    KeyReuseError,
    LeakError,
    NonConcreteBooleanIndexError,
    OlympusIndexError,
    OlympusprTypeError,
    OlympusTypeError,
    ProcessFailureError,
    ShardingTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    TypePromotionError,
    UnexpectedTracerError,
)
from olympus._src.runtime.versions import XlaRuntimeError as OlympusRuntimeError

__all__ = [
    "BadNumberError",
    "ConcretizationTypeError",
    "InconclusiveDimensionOperation",
    "InternalError",
    "KeyReuseError",
    "LeakError",
    "NonConcreteBooleanIndexError",
    "OlympusIndexError",
    "OlympusRuntimeError",
    "OlympusTypeError",
    "OlympusprTypeError",
    "ProcessFailureError",
    "ShardingTypeError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "TypePromotionError",
    "UnexpectedTracerError",
]
