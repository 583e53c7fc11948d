"""Kernels of the CPU that jaxlib brings besides XLA's own: LAPACK and sparse products.

LAPACK itself is SciPy's, and finding it takes 0.2 s, so each kind waits for the first
program that calls it.
"""

from __future__ import annotations

import threading

from olympus._src.runtime import versions

# A call in StableHLO and in the HLO of a compiled program.
_MARKS = (b"custom_call", b"custom-call", b"lapack_")

_lock = threading.Lock()
_registered = False
_has_lapack = False


def prepare_for(code: bytes) -> None:
    """Makes known to XLA what a module, or a compiled program, calls."""
    global _registered, _has_lapack
    if not _registered and any(mark in code for mark in _MARKS):
        with _lock:
            if not _registered:
                versions.register_cpu_kernels()
                _registered = True
    if not _has_lapack and b"lapack_" in code:
        with _lock:
            if not _has_lapack:
                versions.load_lapack()
                _has_lapack = True
