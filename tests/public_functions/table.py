"""The table: all entries, and the pages whose functions must be among them."""

from __future__ import annotations

import importlib
import types
import typing

from tests.public_functions import (
    initializers,
    lax_arrays,
    lax_control_flow,
    lax_elementwise,
    lax_indexing,
    lax_linalg,
    lax_products,
    neural,
    numpy_arithmetic,
    numpy_creation,
    numpy_dtypes,
    numpy_elementwise,
    numpy_fft,
    numpy_indexing,
    numpy_linalg,
    numpy_logic,
    numpy_products,
    numpy_reductions,
    numpy_selection,
    numpy_shapes,
    numpy_sorting,
    numpy_statistics,
    numpy_ufuncs,
    resampling,
    scipy_linalg,
    scipy_solvers,
    scipy_special,
    scipy_stats,
    scipy_transforms,
)
from tests.public_functions.entries import Entry

# Of each module's drawn entries one in so many is taken in a run of all tests.
MODULES: dict[types.ModuleType, int] = {
    neural: 4,
    numpy_creation: 4,
    numpy_fft: 4,
    numpy_linalg: 4,
    numpy_products: 4,
    numpy_shapes: 4,
    numpy_selection: 4,
    numpy_elementwise: 2,
    numpy_arithmetic: 2,
    numpy_logic: 2,
    numpy_reductions: 2,
    numpy_ufuncs: 2,
    numpy_sorting: 2,
    numpy_statistics: 2,
    resampling: 4,
    scipy_linalg: 12,
    scipy_solvers: 6,
    scipy_special: 6,
    scipy_stats: 12,
    scipy_transforms: 2,
    # Without drawn entries.
    initializers: 1,
    lax_arrays: 1,
    lax_control_flow: 1,
    lax_elementwise: 1,
    lax_indexing: 1,
    lax_linalg: 1,
    lax_products: 1,
    numpy_dtypes: 1,
    numpy_indexing: 1,
}
ENTRIES: list[Entry] = [e for module in MODULES for e in module.ENTRIES]
DRAWN: list[Entry] = [e for e in ENTRIES if e.draw is not None]
SHARES: dict[str, int] = {
    e.id: share for module, share in MODULES.items() for e in module.ENTRIES
}

# Pages of which all functions are in the table; of the first, with smooth points.
SMOOTH_PAGES = ["numpy", "numpy.fft", "numpy.linalg", "nn", "lax", "lax.linalg"]
PAGES = [
    *SMOOTH_PAGES,
    "image",
    "nn.initializers",
    "ops",
    "scipy.cluster.vq",
    "scipy.fft",
    "scipy.integrate",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.signal",
    "scipy.sparse.linalg",
    "scipy.special",
]
# Pages of which all names are: also classes, and modules of distributions.
PAGES_OF_CLASSES = ["scipy.interpolate", "scipy.spatial.transform", "scipy.stats"]


def functions(page: str) -> set[str]:
    """The public functions of a page, and what is indexed as they are called."""
    own = importlib.import_module(f"olympus.{page}")
    return {name for name in own.__all__ if is_function(getattr(own, name))}


def is_function(x: object) -> bool:
    is_type = isinstance(x, type) or typing.get_origin(x) is not None
    if is_type or isinstance(x, str) or hasattr(x, "bind"):
        return False
    return callable(x) or hasattr(type(x), "__getitem__")


def entries_of(page: str) -> dict[str, list[Entry]]:
    """The entries of each name of a page; methods of a name are among its own."""
    by_name: dict[str, list[Entry]] = {}
    for entry in ENTRIES:
        if entry.page == page:
            by_name.setdefault(entry.name.split(".")[0], []).append(entry)
    return by_name
