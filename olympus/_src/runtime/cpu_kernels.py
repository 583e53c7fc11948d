"""Kernels of the CPU that jaxlib brings besides XLA's own: LAPACK and sparse products.

Registering takes 20 ms, mostly SciPy's LAPACK being found, so it waits for the first
program that calls a custom target.
"""

from __future__ import annotations

import threading

from olympus._src.runtime import versions

_lock = threading.Lock()
_done = False


def register() -> None:
    """Makes the kernels known to XLA, once in the process."""
    global _done
    if _done:
        return
    with _lock:
        if not _done:
            versions.register_cpu_kernels()
            _done = True
