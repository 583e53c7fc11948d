"""The error that the compiler and the devices raise.

It is the engine's own class, so that one `except` clause catches it wherever it comes
from; a subclass of ours would miss those raised from C++.
"""

from __future__ import annotations

from jaxlib import _jax  # type: ignore[attr-defined]

OlympusRuntimeError = _jax.JaxRuntimeError
