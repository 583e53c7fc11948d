"""Functions with SciPy's names; each module is loaded at its first use."""

from typing import Any as _Any

from olympus._src.foundation.lazy_names import Late as _Late

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

_late = _Late(__name__, _PAGES, {})


def __getattr__(name: str) -> _Any:
    """Loads a page at its first use, so that `import olympus.scipy` stays light."""
    return _late.load(name)
