"""Functions by SciPy's names; each page loads at its first use."""

import importlib as _importlib
from typing import Any as _Any

__all__: list[str] = []

_PAGES = frozenset(
    [
        "cluster",
        "fft",
        "integrate",
        "interpolate",
        "linalg",
        "ndimage",
        "optimize",
        "signal",
        "sparse",
        "spatial",
        "special",
        "stats",
    ]
)


def __getattr__(name: str) -> _Any:
    """Loads a page at its first use, so that `import olympus.scipy` stays light."""
    if name in _PAGES:
        return _importlib.import_module(f"olympus.scipy.{name}")
    raise AttributeError(f"module 'olympus.scipy' has no attribute {name!r}")
