"""Functions by SciPy's names; each page loads at its first use."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from olympus.scipy import cluster as cluster
    from olympus.scipy import fft as fft
    from olympus.scipy import integrate as integrate
    from olympus.scipy import interpolate as interpolate
    from olympus.scipy import linalg as linalg
    from olympus.scipy import ndimage as ndimage
    from olympus.scipy import optimize as optimize
    from olympus.scipy import signal as signal
    from olympus.scipy import sparse as sparse
    from olympus.scipy import spatial as spatial
    from olympus.scipy import special as special
    from olympus.scipy import stats as stats

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
