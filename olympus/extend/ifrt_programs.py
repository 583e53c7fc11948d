"""Programs of jaxlib's runtime interface."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.api.jaxlib_names import ifrt_programs as ifrt_programs

_LATE = {
    "api.jaxlib_names": ("ifrt_programs"),
}

_late = _Late(__name__, (), _LATE)

__all__ = [
    "ifrt_programs",
]

_claim(__name__)
