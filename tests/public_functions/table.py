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
    neural: 7,
    numpy_creation: 7,
    numpy_fft: 7,
    numpy_linalg: 7,
    numpy_products: 7,
    numpy_shapes: 7,
    numpy_selection: 7,
    numpy_elementwise: 4,
    numpy_arithmetic: 4,
    numpy_logic: 4,
    numpy_reductions: 4,
    numpy_ufuncs: 4,
    numpy_sorting: 4,
    numpy_statistics: 4,
    resampling: 7,
    scipy_linalg: 18,
    scipy_solvers: 10,
    scipy_special: 10,
    scipy_stats: 18,
    scipy_transforms: 4,
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
