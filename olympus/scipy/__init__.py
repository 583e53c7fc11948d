"""Functions with SciPy's names; each module is loaded at its first use."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import Late as _Late

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

_late = _Late(__name__, _PAGES, {})
