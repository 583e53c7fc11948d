"""Images with any number of axes, with SciPy's names."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.scipy.interpolate import map_coordinates

__all__ = ["map_coordinates"]

_claim(__name__)
