"""Operations that run at once, and values of other types."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.api.backends import Backend as Backend
    from olympus._src.api.value_types import apply_primitive as apply_primitive
    from olympus._src.api.value_types import (
        canonicalize_dtype_handlers as canonicalize_dtype_handlers,
    )

_LATE = {
    "api.backends": ("Backend"),
    "api.value_types": ("apply_primitive canonicalize_dtype_handlers"),
}

_late = _Late(__name__, (), _LATE)

__all__ = [
    "Backend",
    "apply_primitive",
    "canonicalize_dtype_handlers",
]

_claim(__name__)
