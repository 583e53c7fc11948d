"""Checks inside of compiled functions, which return failures as values."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.checkify import (
    Error,
    ErrorCategory,
    all_checks,
    automatic_checks,
    check,
    check_error,
    checkify,
    debug_check,
    div_checks,
    float_checks,
    index_checks,
    init_error,
    nan_checks,
    user_checks,
)
from olympus._src.checkify.failures import CheckRuntimeError as JaxRuntimeError
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "Error",
    "ErrorCategory",
    "JaxRuntimeError",
    "all_checks",
    "automatic_checks",
    "check",
    "check_error",
    "checkify",
    "debug_check",
    "div_checks",
    "float_checks",
    "index_checks",
    "init_error",
    "nan_checks",
    "user_checks",
]

_claim(__name__)
