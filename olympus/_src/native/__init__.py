"""The parts in C, where they were built with the package.

`calls` is the module of `calls.c`, the hot path of calls, or None: then calls take the
Python path, which gives the same results and costs about a microsecond more.
`load_products()` is that of `products.c`, kernels of sparse products, cumulative sums
and small matrices, or None: then programs have operations of XLA instead.
`OLYMPUS_NATIVE=0` in the environment leaves both alone.
"""

from __future__ import annotations

import functools
import importlib
import os
from types import ModuleType
from typing import Any

# Of what both sides pass to each other; the sources in C have the same.
_VERSIONS = {"calls": 14, "products": 4}

CSR_PRODUCT = "olympus_csr_product"
COO_PRODUCT = "olympus_coo_product"
COO_PRODUCT_FLIPPED = "olympus_coo_product_flipped"
# Each begins with this, and may end with `REVERSE`.
PREFIXES = "olympus_cum"
REVERSE = "_reverse"
SMALL_LU = "olympus_small_lu"  # "olympus_small_lu_solve" begins with it
SMALL_LU_SOLVE = "olympus_small_lu_solve"
TRANSPOSED = "_transposed"


def _load(name: str) -> ModuleType | None:
    if os.environ.get("OLYMPUS_NATIVE", "1") == "0":
        return None
    try:
        module = importlib.import_module(f"olympus._src.native.{name}")
    except ImportError:
        return None
    # A module that was built from another version of the source would misread objects.
    return module if getattr(module, "VERSION", None) == _VERSIONS[name] else None


calls: Any = _load("calls")


@functools.cache
def load_products() -> Any:
    """The module of `products.c`, which few programs need, or None."""
    return _load("products")
