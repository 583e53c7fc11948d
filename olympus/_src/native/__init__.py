"""The hot path of calls in C, where it was built with the package.

`calls` is the module of `calls.c`, or None: then calls take the Python path, which
gives the same results and costs about a microsecond more. `OLYMPUS_NATIVE=0` in the
environment leaves the module alone.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import Any

_VERSION = 4  # of what both sides pass to each other; `calls.c` has the same


def _load() -> ModuleType | None:
    if os.environ.get("OLYMPUS_NATIVE", "1") == "0":
        return None
    try:
        module = importlib.import_module("olympus._src.native.calls")
    except ImportError:
        return None
    # A module that was built from another version of the source would misread objects.
    return module if getattr(module, "VERSION", None) == _VERSION else None


calls: Any = _load()
