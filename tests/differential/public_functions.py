"""The tables, and the pages whose functions they must hold."""

from __future__ import annotations

import importlib
import types
from typing import Any

from tests.differential import (
    neural,
    numpy_creation,
    numpy_elementwise,
    numpy_fft,
    numpy_linalg,
    numpy_products,
    numpy_reductions,
    numpy_shapes,
    numpy_sorting,
    numpy_statistics,
    resampling,
    scipy_linalg,
    scipy_solvers,
    scipy_special,
    scipy_stats,
    scipy_transforms,
)
from tests.differential.entries import Entry

# Of each table one in so many entries is taken in a run of all tests.
TABLES: dict[types.ModuleType, int] = {
    neural: 4,
    numpy_creation: 4,
    numpy_fft: 4,
    numpy_linalg: 4,
    numpy_products: 4,
    numpy_shapes: 4,
    numpy_elementwise: 2,
    numpy_reductions: 2,
    numpy_sorting: 2,
    numpy_statistics: 2,
    resampling: 4,
    scipy_linalg: 12,
    scipy_solvers: 6,
    scipy_special: 6,
    scipy_stats: 12,
    scipy_transforms: 2,
}
ENTRIES: list[Entry] = [e for table in TABLES for e in table.ENTRIES]
SHARES: dict[str, int] = {
    e.id: share for table, share in TABLES.items() for e in table.ENTRIES
}
# Names of a page that are another function of it, or are tested elsewhere; by page.
ALIASES: dict[str, dict[str, str]] = {}
for _table in TABLES:
    for _page in {e.page for e in _table.ENTRIES}:
        ALIASES.setdefault(_page, {}).update(getattr(_table, "ALIASES", {}))


def functions(page: str) -> set[str]:
    """The public functions of a page, and what is indexed as they are called."""
    own = importlib.import_module(f"olympus.{page}")
    names = {n for n in own.__all__ if not n.startswith("__")}
    return {n for n in names if is_function(getattr(own, n))}


def is_function(x: Any) -> bool:
    if isinstance(x, (type, str)):
        return False
    return callable(x) or hasattr(type(x), "__getitem__")


def covered(page: str) -> set[str]:
    """The names of a page that are in a table."""
    found = {e.name.split(".")[0] for e in ENTRIES if e.page == page}
    return found | set(ALIASES.get(page, {}))
