"""Loads jaxlib's library, quietly.

XLA's C++ logs lines of "device count" at INFO when a client starts. It reads the
variable that silences them once, while its library loads, so the variable need not
outlive the import; if the user has set it, it is kept.
"""

from __future__ import annotations

import os

_LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_WARNING = "1"

_quiet = _LOG_LEVEL not in os.environ
if _quiet:
    os.environ[_LOG_LEVEL] = _WARNING

# The variable comes first.
from jaxlib import _jax as _jax  # type: ignore[attr-defined]  # noqa: E402

if _quiet:
    del os.environ[_LOG_LEVEL]
