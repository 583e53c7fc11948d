"""Kernels of the CPU besides XLA's own: jaxlib's (LAPACK, sparse products) and ours.

LAPACK itself is SciPy's, and finding it takes 30 ms, so each kind waits for the first
program that calls it. So do the kernels of GPUs that have LAPACK do a part.
"""

from __future__ import annotations

import threading

from olympus._src import native
from olympus._src.runtime import plugins, versions

# A call in StableHLO and in the HLO of a compiled program.
_MARKS = (b"custom_call", b"custom-call", b"lapack_")

_HYBRID = b"hybrid_"  # as in cuhybrid_eig_real

_OWN = tuple(
    name.encode()
    for name in (
        native.CSR_PRODUCT,
        native.COO_PRODUCT,
        native.PREFIXES,
        native.SMALL_LU,
    )
)

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
                _register_own()
                _registered = True
    if any(name in code for name in _OWN) and native.load_products() is None:
        raise versions.XlaRuntimeError(
            "compile: the program calls a kernel of olympus's part in C, which was not "
            "built here or is left alone by OLYMPUS_NATIVE=0; compile it here again"
        )
    if not _has_lapack and b"lapack_" in code:
        with _lock:
            if not _has_lapack:
                versions.load_lapack()
                _has_lapack = True
    if _HYBRID in code:
        plugins.give_lapack()


def _register_own() -> None:
    products = native.load_products()
    if products is not None:
        for name, kernel in products.KERNELS.items():
            versions.register_target(name, kernel, 1, 0)
