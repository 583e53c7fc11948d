"""Options of compilation over devices."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.api.backends import (
        create_compile_options as create_compile_options,
    )

_LATE = {
    "api.backends": ("create_compile_options"),
}

_late = _Late(__name__, (), _LATE)

__all__ = [
    "create_compile_options",
]

_claim(__name__)
