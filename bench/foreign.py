"""Calls of a kernel through the foreign function interface."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from bench.models import Library


def foreign(lib: Library) -> dict[str, Any]:
    """What a call of jaxlib's Cholesky factorization costs, of a small matrix."""
    top, wait = lib.top, lib.wait
    ffi = importlib.import_module(f"{top.__name__}.ffi")
    lib.np.linalg.cholesky(lib.np.eye(2))  # after which both know the kernel
    kinds = (
        top.ShapeDtypeStruct((8, 8), np.float32),
        top.ShapeDtypeStruct((), np.int32),
    )
    call = ffi.ffi_call("lapack_spotrf_ffi", kinds, vmap_method="sequential")
    factor = top.jit(lambda x: call(x, uplo=np.uint8(ord("L")))[0])
    x = lib.np.eye(8)
    rows = lib.np.stack([x] * 100)
    mapped = top.jit(top.vmap(factor))
    return {
        "foreign call": lambda: wait(factor(x)),
        "foreign calls in a loop of 100": lambda: wait(mapped(rows)),
    }


GROUPS = {"foreign": foreign}
