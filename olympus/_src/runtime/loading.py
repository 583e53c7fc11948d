"""Loads jaxlib's library, quietly.

XLA's C++ logs lines of "device count" at INFO when a client starts. Each library that
has it reads the variable that silences them once, when it is loaded or starts, so the
variable need not outlive that; if the user has set it, it is kept.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

_LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_WARNING = "1"


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Has a library of XLA's that is loaded meanwhile log no less than warnings."""
    if _LOG_LEVEL in os.environ:
        yield
        return
    os.environ[_LOG_LEVEL] = _WARNING
    try:
        yield
    finally:
        os.environ.pop(_LOG_LEVEL, None)


with quietly():
    from jaxlib import _jax as _jax  # type: ignore[attr-defined]
