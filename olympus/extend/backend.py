"""Clients of platforms, and options of compilation."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim

if _TYPE_CHECKING:
    from olympus._src.api.backends import backend_xla_version as backend_xla_version
    from olympus._src.api.backends import backends as backends
    from olympus._src.api.backends import clear_backends as clear_backends
    from olympus._src.api.backends import (
        clear_in_memory_compilation_cache as clear_in_memory_compilation_cache,
    )
    from olympus._src.api.backends import get_backend as get_backend
    from olympus._src.api.backends import get_compile_options as get_compile_options
    from olympus._src.api.backends import get_default_device as get_default_device
    from olympus._src.api.backends import (
        register_backend_cache as register_backend_cache,
    )
    from olympus._src.api.backends import (
        register_backend_factory as register_backend_factory,
    )

_LATE = {
    "api.backends": (
        "backend_xla_version backends clear_backends "
        "clear_in_memory_compilation_cache get_backend "
        "get_compile_options get_default_device "
        "register_backend_cache register_backend_factory"
    ),
}

_late = _Late(__name__, (), _LATE)

__all__ = [
    "backend_xla_version",
    "backends",
    "clear_backends",
    "clear_in_memory_compilation_cache",
    "get_backend",
    "get_compile_options",
    "get_default_device",
    "register_backend_cache",
    "register_backend_factory",
]

_claim(__name__)
